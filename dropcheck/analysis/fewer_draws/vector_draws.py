"""Replace random vectors by one number, or by a linear map of independent numbers.

If only one element of a vector is used, this element is drawn alone. An element of a Dirichlet
vector is a beta variable, one of multinomial counts is binomial, one of a normal vector is normal
(`Law.element`). Its moments, probabilities and quantiles are then known, as for any draw.

A normal vector x with mean m and covariances S has the law of m + R z, where R R' = S and z has
independent standard normal elements (Muirhead 1982, "Aspects of Multivariate Statistical Theory",
theorem 1.2.9). The moments of products of such draws are known.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from dropcheck.analysis.fewer_draws.exchanges import exchanged
from dropcheck.analysis.fewer_draws.ranks import MOST_ELEMENTS
from dropcheck.analysis.moments.law_bounds import fixed_arguments
from dropcheck.language.drawn_from import Sources
from dropcheck.language.graph import Kind, Value, computed, constant_beside, kernel_of
from dropcheck.vocabulary.functions.elementwise import ADD
from dropcheck.vocabulary.functions.linear_algebra import MATMUL
from dropcheck.vocabulary.laws.unbounded import NORMAL
from dropcheck.vocabulary.laws.vectors import MULTIVARIATE_NORMAL, square_root


def with_marginals(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements of vectors by their only used element; None if there are none."""
    takers = {id(one): list[Value]() for one in values if one.law is not None and one.law.element}
    for value in values:
        for below in value.inputs:
            if id(below) in takers:
                takers[id(below)].append(value)
    stands: dict[int, Value] = {}
    for draw in values:
        element = _element(draw, takers[id(draw)]) if id(draw) in takers else None
        if element is not None and not any(one is draw for one in operands):
            stands.update({id(one): element for one in takers[id(draw)]})
    return exchanged(values, stands) if stands else None


def _element(draw: Value, takers: Sequence[Value]) -> Value | None:
    """The one element that all takers are, as a draw of its own; None if they use others."""
    arguments = fixed_arguments(draw)
    if not takers or arguments is None or draw.law is None or draw.law.element is None:
        return None
    if math.prod(draw.shape) > MOST_ELEMENTS:
        return None
    parameters = zip(draw.inputs, draw.law.parameters, strict=True)
    if any(len(one.shape) != parameter.axes for one, parameter in parameters):
        return None
    if draw.law.constant(*arguments) is not None:  # such as a single share, which is always 1
        return None
    numbers = np.arange(math.prod(draw.shape)).reshape(*draw.shape, 1)
    picked = []
    for one in takers:
        if one.kind != Kind.COMPUTED or not one.function.rearranges or len(one.inputs) != 1:
            return None
        picked.append(kernel_of(one)(numbers))
    rows, places = np.divmod(picked[0], draw.shape[-1])
    if not all(np.array_equal(one, picked[0]) for one in picked):
        return None
    if np.unique(places).size != 1 or np.unique(rows).size != rows.size:
        return None
    law, of_all = draw.law.element
    place = int(places.flat[0])
    own = [float(np.broadcast_to(one, draw.shape[-1:])[place]) for one in of_all(*arguments)]
    if law.constant(*own) is not None:
        return None
    name = f"element {place} of {draw.name}"
    return dataclasses.replace(
        draw,
        operation=law.name,
        law=law,
        shape=takers[0].shape,
        inputs=tuple(constant_beside(draw, one) for one in own),
        name=name,
        sources=Sources([name]),
    )


def with_roots(
    values: Sequence[Value], _operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements of normal vectors by linear maps of normal numbers; None if there are none."""
    vectors = [one for one in values if one.kind == Kind.DRAW and one.law is MULTIVARIATE_NORMAL]
    pairs = ((one, one.inputs[1]) for one in vectors)
    one_matrix = [one for one, cov in pairs if cov.constant is not None and len(cov.shape) == 2]
    stands = {id(one): _opened(one) for one in one_matrix}
    return exchanged(values, stands) if stands else None


def _opened(value: Value) -> Value:
    """A normal vector as a linear map of independent standard normal numbers."""
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
