"""Expectations over one draw, each by itself."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.analysis.single_draw import Integrals, Norm
from dropcheck.known.cells import Estimate
from dropcheck.language.graph import Value


def joint_moment(
    functions: Sequence[Value],
    powers: Sequence[float],
    centres: Sequence[float],
    norm: Norm | None = None,
) -> Estimate:
    """E Π (φ - c)^p over functions of one draw."""
    return Integrals(norm, most=1).moment(functions, powers, centres)


def expectation(value: Value, norm: Norm | None = None) -> Estimate:
    """The mean of a function of one draw."""
    return joint_moment([value], [1], [0.0], norm)
