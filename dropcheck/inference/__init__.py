"""Inference: sums of blocks in, a verdict out."""
