"""Execution: who draws, in what order, until when."""
