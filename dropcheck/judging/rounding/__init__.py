"""What rounding does to quantities, and what it decides."""
