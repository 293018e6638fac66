"""The frameworks whose code can be bound, each in a file of its own."""
