"""Bounds of norms beside the truth of small discrete models, all outcomes of which are known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from outcomes import outcomes_of

from dropcheck.analysis.norms import Norms, Quantity
from dropcheck.analysis.support import Support
from dropcheck.language.graph import Value, ordered
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.hulls import EVERYWHERE

ORDERS = (1.0, 1.3, 2.0, 3.0, 4.0, 6.0)


def below_the_truth(values: Sequence[Value], seed: int) -> list[str]:
    """The bounds of some quantities, and of all below them, that are below the truth.

    Of every other seed no hull is known, and of most nothing is integrated: so the rules have to
    stand by themselves.
    """
    table = outcomes_of(values)
    if table is None:
        return []
    live, known = table.chances > 0, Norms(integrate=seed % 3 == 0)
    chances = table.chances[live]
    with pytest.MonkeyPatch.context() as patch:
        if seed % 2:
            plain = Support()
            patch.setattr(
                known.support,
                "hull",
                lambda one: EVERYWHERE if one.random else plain.hull(one),
            )
        for value in ordered(values):
            known.quantity(value)
    found: list[str] = []
    for value in ordered(values):
        array = table.of(value)[:, live]
        if array.size and not np.isinf(array).any():
            found += [f"{value.operation}: {one}" for one in _wrong(known, value, array, chances)]
    return found


def _wrong(known: Norms, value: Value, array: Array, chances: Array) -> Iterator[str]:
    defined = not np.isnan(array).any()
    array = np.nan_to_num(array)  # what is undefined counts as 0

    def largest(of: Array) -> float:
        return float((of @ chances).max())

    with np.errstate(all="ignore"):
        truths = {f"norm {p}": (largest(np.abs(array) ** p) ** (1 / p), p) for p in ORDERS}
        for name, (truth, p) in truths.items():
            if not known.norm(value, p) >= truth * (1 - 1e-9):
                yield name
            if not known.centred_norm(value, 0.7, p) >= (
                largest(np.abs(array - 0.7 * defined) ** p) ** (1 / p) * (1 - 1e-9) - 0.7
            ):
                yield f"centred {name}"
        if defined:
            yield from _wrong_of_defined(known, value, array, chances)
        for r in (0.5, 1.0, 2.0):
            truth = largest(np.abs(array) ** -r) ** (1 / r)
            bound = known.norm(value, -r)
            if truth < math.inf and not bound >= truth * (1 - 1e-9):  # 0 may be an underflow
                yield f"inverse {r}"


def _wrong_of_defined(known: Norms, value: Value, array: Array, chances: Array) -> Iterator[str]:
    means = array @ chances
    for p in ORDERS:
        for centre in (means[:, np.newaxis], 0.7, -3.0):
            truth = float((np.abs(array - centre) ** p @ chances).max() ** (1 / p))
            if isinstance(centre, float):
                bound = known.centred_norm(value, centre, p)
            else:
                bound = known.ask(value, partial(Quantity.spread, p=p))
            if not bound >= truth * (1 - 1e-9) - 1e-13:
                yield f"about {centre}, {p}"
    for t in (0.5, -0.7, 2.0, -3.0):
        most = t * array.max() if t > 0 else t * array.min()
        truth = most + float(np.log((np.exp(t * array - most) @ chances).max()))
        bound = known.ask(value, partial(Quantity.log_moment, t=t))
        if not bound >= truth - 1e-9 * abs(truth) - 1e-13:
            yield f"log-moment {t}"
    quantity = known.quantity(value)
    if not quantity.mean.low - 1e-9 <= means.min() <= means.max() <= quantity.mean.high + 1e-9:
        yield "mean"
    if quantity.apart:
        yield from _dependent(array.reshape(-1, array.shape[-1]), chances)


def _dependent(elements: Array, chances: Array) -> Iterator[str]:
    """Whether two elements, [elements, outcomes], are not independent."""
    waves = [np.sin(elements + shift) for shift in (0.3, 1.1)]
    for i, j in combinations(range(len(elements)), 2):
        first, second = waves[0][i], waves[1][j]
        joint = (first * second) @ chances
        if abs(joint - (first @ chances) * (second @ chances)) > 1e-9:
            yield "apart"
