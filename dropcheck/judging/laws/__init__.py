"""Statements about laws, judged by counts in cells."""
