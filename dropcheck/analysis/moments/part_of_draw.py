"""A draw of a single number, given that it lies in a stratum, with its moments by quadrature."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import cache

import numpy as np

from dropcheck.analysis.moments.single_draw import joint_moment
from dropcheck.language.graph import Value
from dropcheck.vocabulary.law_parts import Stratum, part_of

# A moment of a part of a law is known to this share of its size, or not at all.
LARGEST_ERROR = 1e-2


def in_stratum(draw: Value, stratum: Stratum) -> tuple[Value, list[float]]:
    """A draw of a single number, given that it lies in a stratum, and how wrong its moments are.

    The list has an entry for each moment that was asked for so far: its error as a share of the
    power of the root mean square, or of the deviation.
    """
    law = draw.law
    if law is None:
        raise ValueError("the draw has no law")
    arguments = [one.known for one in draw.inputs]
    bare = part_of(law, arguments, stratum)
    plain = dataclasses.replace(draw, law=bare)
    errors: list[float] = []

    def norm(_: Value, p: float) -> float:
        return float(bare.norm(p, *arguments))

    def about(centre: float) -> Callable[[int], float]:
        @cache
        def moment(order: int) -> float:
            found = joint_moment([plain], [order], [centre], norm)
            size = float(np.power(max(found.value if order == 2 else moment(2), 0.0), order / 2))
            if not found.error <= LARGEST_ERROR * size:
                return math.nan
            errors.append(found.error / size if size else 0.0)
            return found.value

        return moment

    @cache
    def mean() -> float:
        return about(0.0)(1)

    @cache
    def about_mean() -> Callable[[int], float]:
        return about(mean())

    def moment(order: int) -> float:
        return about_mean()(order)

    law = part_of(law, arguments, stratum, mean, moment)
    return dataclasses.replace(draw, law=law), errors
