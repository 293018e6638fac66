"""Statements: their sides as values, claims about laws, and the checks of each case."""
