"""The words of statements about laws: `y ~ law`, `x ~ y`, `independent(x, y)`."""

from __future__ import annotations

FOLLOWS = "~"
"""Between a quantity and its law, or between two quantities of one law."""

INDEPENDENT = "independent"
OVER_KEY = "over"
"""`independent(u, over=[0])`: entries of u that differ in their place along axis 0."""

SIGNATURE = f"{INDEPENDENT}(x, y)"
"""How independence is written, for messages."""
EXAMPLES = f"'y {FOLLOWS} normal(0, 1)', 'x {FOLLOWS} y' or '{SIGNATURE}'"

INDEPENDENT_ELSEWHERE = ("⊥", "⟂", "⫫", r"\perp", r"\bot", r"\indep", r"\independent", "_||_")
"""Signs for independence that papers write between two quantities; some write a sign twice."""
