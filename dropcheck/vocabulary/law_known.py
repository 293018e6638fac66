"""What is known of a law whose arguments are random, from what is known of these."""

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

# Corners of what the arguments may be, that are looked at.
MOST_CORNERS = 64
# In place of an infinite end.
FAR = 1e150


def ends_of(law: Law, arguments: Sequence[Known]) -> Hull:
    """What holds its values. Its ends rise or fall in each argument: they are those of corners."""
    if not callable(law.ends):
        return Hull(*law.ends)
    with np.errstate(all="ignore"):
        found = [law.ends(*corner) for corner in _corners(law, arguments)]
    hulls = [proper(Hull(float(low), float(high))) for low, high in found]
    return union(hulls) if hulls else EVERYWHERE


def _corners(law: Law, arguments: Sequence[Known]) -> Iterator[tuple[float, ...]]:
    """The corners of the arguments; none where these are lists, or there are too many."""
    choices = [sorted({one.hull.low, one.hull.high}) for one in arguments]
    few = math.prod(map(len, choices)) <= MOST_CORNERS
    if few and not any(parameter.axes for parameter in law.parameters):
        yield from itertools.product(*choices)


def arguments_fit(law: Law, arguments: Sequence[Known], apart: bool) -> int:
    """How surely a law takes its arguments.

    Args:
        law: the law.
        arguments: what is known of each argument.
        apart: whether they depend on no draw together: what must hold between them is asked only
            then, as of `uniform(x, x + 1)` it is not known from the ends.
    """
    found = [SURE]
    for parameter, known in zip(law.parameters, arguments, strict=True):
        domain = parameter.domain
        # counts are bounded by what float64 tells apart, which no draw comes near
        low, high = (
            math.copysign(math.inf, end) if abs(end) == LARGEST_COUNT else end
            for end in (domain.low, domain.high)
        )
        found.append(known.inside(low, high))
        found += [
            known.never(end)
            for end, is_open in ((low, domain.low_open), (high, domain.high_open))
            if is_open and math.isfinite(end)
        ]
        if domain.whole and not known.whole:
            found.append(NEVER)
    if law.conditions and apart:
        far = [one if one.hull.low == one.hull.high else _within_reach(one) for one in arguments]
        with np.errstate(all="ignore"):
            found += [
                NEVER
                for corner in _corners(law, far)
                for _, where in law.conditions
                if not np.all(where(*(np.array([end]) for end in corner)))
            ]
    return min(found)


def _within_reach(known: Known) -> Known:
    """The same where no end is infinite, as differences of infinities say nothing."""
    low, high = (min(max(end, -FAR), FAR) for end in (known.hull.low, known.hull.high))
    return replace(known, hull=Hull(low, high))


def has_density(law: Law, arguments: Sequence[Known]) -> bool:
    """Whether a continuous law is never a constant, or no more so than its arguments are."""
    if all(one.smooth for one in arguments):
        return True
    if law.degenerate is None and callable(law.ends):
        return False  # its ends may be one
    closed = (
        known
        for parameter, known in zip(law.parameters, arguments, strict=True)
        if parameter.domain.low == 0 and not parameter.domain.low_open
    )
    return all(known.nonzero for known in closed)


def inside_support(law: Law, arguments: Sequence[Known], x: Known) -> int:
    """How surely a law has a density above 0, and no pole of it, at x."""
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
