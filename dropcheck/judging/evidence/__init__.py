"""Draws that are kept from one run to the next, and judged together."""
