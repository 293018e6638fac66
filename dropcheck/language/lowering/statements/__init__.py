"""Statements: their sides as values, what they claim of laws, and what each case checks of them."""
