"""How many draws it takes to see what a model itself says is rare."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dropcheck.language.graph import Kind, Value

# The commonest value of counting laws, by their parameters; any other value is the rarer outcome.
_MODES: dict[str, Callable[..., Any]] = {
    "binomial": lambda n, p: np.minimum(np.floor((n + 1) * p), n),
    "geometric": np.ones_like,
    "negative_binomial": lambda n, p: np.floor(np.maximum(n - 1, 0) * (1 - p) / p),
    "poisson": np.floor,
    "hypergeometric": lambda good, bad, drawn: np.floor(
        (drawn + 1) * (good + 1) / (good + bad + 2)
    ),
}


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
        if value.operation in ("subscript", "take"):
            found |= value.sources
    return frozenset(found)


def _rarity(value: Value, picked: frozenset[str]) -> float:
    if value.kind != Kind.DRAW or not value.random or value.law is None:
        return 0.0
    known = [found.constant for found in value.inputs]
    chances: list[float] = []
    if value.law.name in _MODES:
        if all(constant is not None for constant in known):
            chances = _off_mode(value.law.name, known)
    elif value.law.name == "choice":
        if known[0] is not None:
            _, times = np.unique(np.asarray(known[0], dtype=np.float64), return_counts=True)
            chances = (times / times.sum()).tolist()
    else:
        for parameter, constant in zip(value.law.parameters, known, strict=True):
            if parameter.name == "p" and constant is not None:
                p = np.asarray(constant, dtype=np.float64).ravel()
                chances.extend(np.minimum(p, 1 - p).tolist())
    rare = [chance for chance in chances if 0 < chance < 1]
    if not rare:
        return 0.0
    count = 1 if value.sources & picked else math.prod(value.shape or ())
    return 1.0 / (min(rare) * count)


def _off_mode(law: str, arguments: list[Any]) -> list[float]:
    """Chances of any value but the commonest."""
    from dropcheck.vocabulary.densities import log_density

    numbers = [np.asarray(argument, dtype=np.float64) for argument in arguments]
    mode = np.asarray(_MODES[law](*numbers), dtype=np.float64)
    with np.errstate(all="ignore"):
        found: list[float] = (-np.expm1(log_density(law, numbers, mode))).ravel().tolist()
    return found
