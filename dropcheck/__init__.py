"""dropcheck: try mathematical claims by Monte Carlo simulation, with verdicts that hold."""

__version__ = "0.1.0"
