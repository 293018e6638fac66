"""Drawing: a compiled case and a stream in, sums of blocks out."""
