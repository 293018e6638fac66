"""What a distribution is: its parameters, its moments and its distribution function."""
