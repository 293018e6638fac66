"""Draws that functions of the user make, and what can be seen of them before any verdict."""
