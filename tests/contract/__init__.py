"""The contract of the program with its users."""
