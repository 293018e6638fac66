"""The norms of functions of one draw, as integrals: what bounds by parts would miss, they see."""

from __future__ import annotations

import math

from dropcheck.analysis.bounds import OUTWARD
from dropcheck.analysis.moments.cell_means import Norm
from dropcheck.analysis.moments.single_draw import (
    Found,
    KnownMeans,
    draw_below,
    expectation,
    norm_of,
)
from dropcheck.language.graph import Kind, Value, random_inputs
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY

# So many at most that differ, as each takes milliseconds.
MOST_INTEGRALS = 64


class Integrals:
    """The integrals of a case.

    Args:
        norm: bounds of norms by other means, for the tails.
        found: integrals that are known already.
    """

    def __init__(self, norm: Norm, found: Found | None = None) -> None:
        self._norm = norm
        self._means = KnownMeans(MOST_INTEGRALS, found)

    def norm(self, value: Value, p: float, centre: float = 0.0) -> float:
        """A bound of (E|x - centre|^p)^(1/p), of a function of one draw; infinite: none."""
        return norm_of(value, p, self._norm, centre, self._means) * (1 + OUTWARD)

    def spread(self, value: Value, p: float) -> float:
        """A bound of (E|x - E x|^p)^(1/p), of a function of one draw; infinite: none."""
        mean = expectation(value, self._norm, self._means)
        if not math.isfinite(mean.error):
            return math.inf
        return self.norm(value, p, mean.value) + mean.error


def is_function_of_one_draw(value: Value) -> bool:
    """Whether a quantity is a function of one draw and no line; of lines the laws say all."""
    if not value.random or len(value.sources) != 1:
        return False
    one = value
    while one.kind == Kind.COMPUTED:
        drawn = random_inputs(one)
        straight = (
            one.function.additive or one.function.rearranges or one.function in (MULTIPLY, DIVIDE)
        )
        if len(drawn) != 1 or not straight:
            return draw_below(value) is not None
        one = drawn[0]
    return False
