"""Documents: claims where they are written, beside the figures and formulas that they speak of."""
