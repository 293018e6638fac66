"""How a slot is called: for what it gives, for an evaluation, and for a gradient."""

from __future__ import annotations

import re

TRAIN, EVAL, GRAD = "train", "eval", "grad"
"""What a call of code may be asked for: what it gives, what it gives when it is only evaluated,
and the gradient of the sum of what it gives by its first argument."""

EVALUATED = f".{EVAL}"
"""`slot.eval(x)`: the attribute, as it stands in the name of such a call."""
_GRADIENT = re.compile(rf"{GRAD}\(([^()]+)\)")


def evaluation_of(slot: str) -> str:
    """What a call for an evaluation is called.

    >>> evaluation_of("dropout")
    'dropout.eval'
    """
    return slot + EVALUATED


def gradient_of(slot: str) -> str:
    """What a call for a gradient is called.

    >>> gradient_of("dropout")
    'grad(dropout)'
    """
    return f"{GRAD}({slot})"


def slot_and_mode(name: str) -> tuple[str, str]:
    """The slot that a call by this name is of, and what is asked of it.

    >>> slot_and_mode("dropout"), slot_and_mode("dropout.eval"), slot_and_mode("grad(dropout)")
    (('dropout', 'train'), ('dropout', 'eval'), ('dropout', 'grad'))
    """
    found = _GRADIENT.fullmatch(name)
    if found is not None:
        return found[1], GRAD
    if name.endswith(EVALUATED):
        return name.removesuffix(EVALUATED), EVAL
    return name, TRAIN
