"""Execution: which worker draws what, in what order, and until when."""
