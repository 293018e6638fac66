"""Mathematics as documents write it: a strict subset of LaTeX, read as statements."""
