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


def norm_of(value: Value, p: float, norm: Norm | None = None, centre: float = 0.0) -> float:
    """A bound of (E|φ - centre|^p)^(1/p) of a function of one draw."""
    return Integrals(norm, most=1).norm(value, p, centre)
