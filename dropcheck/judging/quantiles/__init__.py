"""Quantiles, judged by counts of draws beside them: exact, whatever the law is."""
