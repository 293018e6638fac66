"""Reads the mathematics of documents: a strict subset of LaTeX, as statements."""
