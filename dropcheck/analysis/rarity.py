"""How many draws it takes to see what a model itself says is rare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from dropcheck.language.graph import Kind, Value

# Conditions of a model whose outcomes are counted, and their pairs: with more nothing is trusted.
MOST_CONDITIONS = 512


def is_condition(value: Value) -> bool:
    """Whether a value is 1 or 0, so that its rarer outcome may be too rare to be seen."""
    return value.binary or (value.kind == Kind.COMPUTED and value.function.indicator)


def rarest(values: Sequence[Value], picked: frozenset[str]) -> float:
    """Draws that it takes to see the rarest known outcome of some laws; 0 where none is known.

    Every element of a draw counts, unless single elements of it are picked.

    Args:
        values: what is drawn, among others.
        picked: the draws of which single elements are looked at.
    """
    return max((_rarity(value, picked) for value in values), default=0.0)


def picked_sources(values: Iterable[Value]) -> frozenset[str]:
    """The draws of which single elements are looked at."""
    found: set[str] = set()
    for value in values:
        if value.kind == Kind.COMPUTED and value.function.picks:
            found |= value.sources
    return frozenset(found)


def _rarity(value: Value, picked: frozenset[str]) -> float:
    if value.kind != Kind.DRAW or not value.random or value.law is None or value.law.rare is None:
        return 0.0
    known = [
        np.asarray(np.nan if below.constant is None else below.constant, dtype=np.float64)
        for below in value.inputs
    ]
    with np.errstate(all="ignore"):
        chances = np.asarray(value.law.rare(*known))
    rare = chances[(chances > 0) & (chances < 1)]
    if not rare.size:
        return 0.0
    count = 1 if value.sources & picked else math.prod(value.shape or ())
    return 1.0 / (float(rare.min()) * count)
