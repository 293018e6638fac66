"""Draws from nets of points."""
