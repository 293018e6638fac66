"""What rounding does to quantities, and verdicts that depend on it."""
