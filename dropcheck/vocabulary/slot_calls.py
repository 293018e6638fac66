"""How a model calls a slot: for its result, for its result in evaluation mode, for its gradient."""

from __future__ import annotations

import re

TRAIN, EVAL, GRAD = "train", "eval", "grad"
"""The modes of a call of code: its result, its result in evaluation mode, and the gradient of the
sum of its result with respect to its first argument."""

EVALUATED = f".{EVAL}"
"""The end of the name of a call in evaluation mode: `slot.eval(x)`."""
_GRADIENT = re.compile(rf"{GRAD}\(([^()]+)\)")


def evaluation_of(slot: str) -> str:
    """The name of a call of a slot in evaluation mode.

    >>> evaluation_of("dropout")
    'dropout.eval'
    """
    return slot + EVALUATED


def gradient_of(slot: str) -> str:
    """The name of a call for the gradient of a slot.

    >>> gradient_of("dropout")
    'grad(dropout)'
    """
    return f"{GRAD}({slot})"


def slot_and_mode(name: str) -> tuple[str, str]:
    """The slot and the mode of a call, from its name.

    >>> slot_and_mode("dropout"), slot_and_mode("dropout.eval"), slot_and_mode("grad(dropout)")
    (('dropout', 'train'), ('dropout', 'eval'), ('dropout', 'grad'))
    """
    match = _GRADIENT.fullmatch(name)
    if match is not None:
        return match[1], GRAD
    if name.endswith(EVALUATED):
        return name.removesuffix(EVALUATED), EVAL
    return name, TRAIN
