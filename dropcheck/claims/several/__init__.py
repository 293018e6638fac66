"""Texts that stand for several values of a parameter: ranges and searches."""
