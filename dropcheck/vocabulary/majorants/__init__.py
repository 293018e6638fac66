"""What bounds a function's size, as a fact of its entry: one class for each sort of function."""
