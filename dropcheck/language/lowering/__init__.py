"""Lowering: nodes to the typed graph of a case."""
