"""The words of statements about laws: `y ~ law`, `x ~ y`, `independent(x, y)`."""

from __future__ import annotations

FOLLOWS = "~"
"""Between a quantity and its law, or between two quantities of one law."""

INDEPENDENT = "independent"
OVER_KEY = "over"
"""`independent(u, over=[0])`: entries of u that differ in their place along axis 0."""

SIGNATURE = f"{INDEPENDENT}(x, y)"
"""How it is written, for a message."""
EXAMPLES = f"'y {FOLLOWS} normal(0, 1)', 'x {FOLLOWS} y' or '{SIGNATURE}'"

INDEPENDENT_ELSEWHERE = ("⊥", "⟂", "⫫", r"\perp", r"\bot", r"\indep", r"\independent", "_||_")
"""Signs between two quantities that papers write for it, or two of them side by side."""
