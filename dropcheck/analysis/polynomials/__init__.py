"""Quantities as polynomials in independent draws, and the expectations of these."""
