"""Simulation: programs, which draw and leave sums of blocks of draws."""
