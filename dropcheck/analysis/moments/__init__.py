"""Moments of what is averaged, from the model itself, before any draw."""
