"""Bounds of the norms of functions: one class of rules for each kind of function."""
