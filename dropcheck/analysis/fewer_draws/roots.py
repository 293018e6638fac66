"""Normal vectors as linear maps of independent normal numbers.

x of the mean m and the covariances S is m + R z in law, with R R' = S and z of independent standard
normal elements (Muirhead 1982, "Aspects of Multivariate Statistical Theory", theorem 1.2.9): so it
is made of draws whose moments are known, however many of them a product has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from dropcheck.analysis.fewer_draws.exchanges import exchanged
from dropcheck.language.drawn_from import Sources
from dropcheck.language.graph import Kind, Value, computed, constant_beside
from dropcheck.vocabulary.functions.elementwise import ADD
from dropcheck.vocabulary.functions.linear_algebra import MATMUL
from dropcheck.vocabulary.laws.unbounded import NORMAL
from dropcheck.vocabulary.laws.vectors import MULTIVARIATE_NORMAL, square_root


def with_roots(
    values: Sequence[Value], _operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """What stands for each value, normal vectors opened; None where there are none."""
    vectors = [one for one in values if one.kind == Kind.DRAW and one.law is MULTIVARIATE_NORMAL]
    stands = {id(one): _opened(one) for one in vectors if _has_root(one)}
    return exchanged(values, stands) if stands else None


def _has_root(value: Value) -> bool:
    covariances = value.inputs[1]
    return covariances.constant is not None and len(covariances.shape) == 2


def _opened(value: Value) -> Value:
    mean, covariances = value.inputs
    root = square_root(covariances.constant[..., 0])
    across = constant_beside(covariances, root.T[..., None])
    own = Sources([value.name]) & value.sources if value.name else value.sources
    standard = dataclasses.replace(
        value,
        operation=NORMAL.name,
        law=NORMAL,
        inputs=(constant_beside(value, 0.0), constant_beside(value, 1.0)),
        sources=own or value.sources,
    )
    return computed(ADD, computed(MATMUL, standard, across, like=value), mean, like=value)
