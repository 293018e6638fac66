"""What is known of a draw with random arguments, from what is known of the arguments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from dropcheck.vocabulary.defined_where import GENERIC, NEVER, SURE, Known
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.distributions.domains import LARGEST_COUNT
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull, proper, union
from dropcheck.vocabulary.law import Law

# The most corners of the box of possible arguments that are tried.
MOST_CORNERS = 64
# Stands for an infinite end.
FAR = 1e150


def ends_of(law: Law, arguments: Sequence[Known]) -> Hull:
    """An interval that holds all values of a draw.

    The ends of a law are monotone in each argument, so that the corners of the arguments suffice.
    """
    if not callable(law.ends):
        return Hull(*law.ends)
    with np.errstate(all="ignore"):
        ends = [law.ends(*corner) for corner in _corners(law, arguments)]
    hulls = [proper(Hull(float(low), float(high))) for low, high in ends]
    return union(hulls) if hulls else EVERYWHERE


def _corners(law: Law, arguments: Sequence[Known]) -> Iterator[tuple[float, ...]]:
    """The corners of the arguments; none if some are lists, or if there are too many corners."""
    choices = [sorted({one.hull.low, one.hull.high}) for one in arguments]
    few = math.prod(map(len, choices)) <= MOST_CORNERS
    if few and not any(parameter.axes for parameter in law.parameters):
        yield from itertools.product(*choices)


def arguments_fit(law: Law, arguments: Sequence[Known], apart: bool) -> int:
    """How sure it is that a law takes its arguments.

    Args:
        law: the law.
        arguments: what is known of each argument.
        apart: whether no two of them depend on the same draw. Only then are the conditions between
            arguments tried at their ends: the ends of x and of x + 1 say nothing of
            `uniform(x, x + 1)`.
    """
    answers = [SURE]
    for parameter, known in zip(law.parameters, arguments, strict=True):
        domain = parameter.domain
        # the bound of counts, 2**53, is far above any draw, and counts as no bound
        low, high = (
            math.copysign(math.inf, end) if abs(end) == LARGEST_COUNT else end
            for end in (domain.low, domain.high)
        )
        answers.append(known.inside(low, high))
        answers += [
            known.never(end)
            for end, is_open in ((low, domain.low_open), (high, domain.high_open))
            if is_open and math.isfinite(end)
        ]
        if domain.whole and not known.whole:
            answers.append(NEVER)
    if law.conditions and apart:
        far = [one if one.hull.low == one.hull.high else _within_reach(one) for one in arguments]
        with np.errstate(all="ignore"):
            answers += [
                NEVER
                for corner in _corners(law, far)
                for _, where in law.conditions
                if not np.all(where(*(np.array([end]) for end in corner)))
            ]
    return min(answers)


def _within_reach(known: Known) -> Known:
    """The same with finite ends: a difference of infinities says nothing."""
    low, high = (min(max(end, -FAR), FAR) for end in (known.hull.low, known.hull.high))
    return replace(known, hull=Hull(low, high))


def has_density(law: Law, arguments: Sequence[Known]) -> bool:
    """Whether a draw of a continuous law with random arguments has a density."""
    if all(one.smooth for one in arguments):
        return True
    if law.degenerate is None and callable(law.ends):
        return False  # its two ends may be equal, and the draw a constant
    closed = (
        known
        for parameter, known in zip(law.parameters, arguments, strict=True)
        if parameter.domain.low == 0 and not parameter.domain.low_open
    )
    return all(known.nonzero for known in closed)


def inside_support(law: Law, arguments: Sequence[Known], x: Known) -> int:
    """How sure it is that the density of a law is above 0 and finite at x."""
    if law.own_axes is not None:
        return GENERIC if not law.discrete else NEVER
    ends = ends_of(law, arguments)
    if any(one.hull.width for one in arguments) and callable(law.ends):
        return NEVER
    if law.discrete:
        listed = law.values in (Values.LISTED, Values.SIGNS)
        inside = x.inside(ends.low, ends.high) if x.whole and not listed else NEVER
    else:
        inside = x.inside(ends.low, ends.high, open_ends=True)
    return min(inside, arguments_fit(law, arguments, apart=True))
