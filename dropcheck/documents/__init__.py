"""Claims in documents, beside the figures and formulas that they are about."""
