"""Every constant of the language by its name."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A number with a name that a claim cannot use for anything else, unless it `yields`.

    Attributes:
        name: its name in claims.
        value: the nearest float64.
        latex: the command that is read as it.
        note: what to tell a user who may mean something else by the name.
        yields: whether a line of a model may give the name to something else, if no line above
            uses the number: papers write e for errors, and π for probabilities and policies.
    """

    name: str
    value: float
    latex: str
    note: str = ""
    yields: bool = False


_ALL = (
    Constant(name="pi", value=math.pi, latex=r"\pi",
        note="pi is 3.14159… here: choose another name, such as pi_",
        yields=True),
    Constant(name="e", value=math.e, latex=r"\mathrm{e}",
        note="e is Euler's number, 2.718…: choose another name, such as eps",
        yields=True),
    Constant(name="inf", value=math.inf, latex=r"\infty"),
    Constant(name="euler_gamma", value=0.57721566490153286060651209008240243,
        latex=r"\gamma_{\mathrm{E}}"),
)  # fmt: skip

CONSTANTS = {constant.name: constant for constant in _ALL}

PROBABILITY = "P"
"""The operator on events; a statement about every draw says that its value is 1."""
