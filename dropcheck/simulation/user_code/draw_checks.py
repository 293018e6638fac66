"""Checks of code that draws: whether its draws depend on more than its seed, or on less.

Few of the mistakes that break a verdict show in what code returns. Those that do are looked for
before anything is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dropcheck.errors import DropcheckError
from dropcheck.vocabulary.function import Array

# Calls that are compared, and the draws of each. Events of probability 1/64, for which calls agree
# most easily, are the same in five calls less than once in 10^9.
PROBES = 5
PROBE_DRAWS = 64
# Two calls with one seed may differ by rounding, since sums on many cores are added in any order:
# by this share of the range of the values, or of their magnitude.
CALL_ROUNDING, FINEST = 1e-3, 1e-6


@dataclass(frozen=True, slots=True)
class Words:
    """The words for the source of randomness in messages, and the advice."""

    source: str  # such as "generator"
    draw_from_it: str  # if draws change with the same source
    draw_each: str  # if all draws of a call are equal; empty if they may be
    use_it: str  # if another source changes nothing


def check_draws(
    called: Callable[[int], Mapping[str, Array]],
    words: Words,
    fault: Callable[[str, str], DropcheckError],
) -> None:
    """Refuse draws that depend on more than their source, or on less.

    Two calls with one source must agree. Calls with other sources must differ, and so must the
    draws of one call, unless everything is fixed.

    Args:
        called: makes a call with the source of this number; the last axis is that of draws.
        words: the words for messages.
        fault: makes an error from what is wrong and the advice.

    Raises:
        DropcheckError: the draws cannot be used.
    """
    once = called(1)
    again = called(1)
    for name, array in once.items():
        if array.shape != again[name].shape or not alike(array, again[name]):
            raise fault(
                f"returned other draws of {name!r} when called again with the same {words.source}",
                words.draw_from_it,
            )
    varied = any(map(_varies, once.values()))
    for other in map(called, range(2, PROBES + 1)):
        differ = not all(np.array_equal(once[name], other[name], equal_nan=True) for name in once)
        if differ and words.draw_each and not (varied or any(map(_varies, other.values()))):
            raise fault(
                "returned draws that are all alike, and others in another call", words.draw_each
            )
        if differ:
            return
    if varied:
        raise fault(
            f"returned the same draws when called with another {words.source}", words.use_it
        )


def alike(once: Array, again: Array) -> bool:
    """Whether two arrays are equal up to rounding."""
    if once.dtype == bool:
        return np.array_equal(once, again)
    finite = once[np.isfinite(once)]
    if not finite.size:
        return np.array_equal(once, again, equal_nan=True)
    give = max(CALL_ROUNDING * float(np.ptp(finite)), FINEST * float(np.abs(finite).max()))
    return np.allclose(once, again, rtol=0.0, atol=give, equal_nan=True)


def _varies(array: Array) -> bool:
    """Whether the draws, on the last axis, differ by more than the order of sums explains."""
    return not alike(array, np.broadcast_to(array[..., :1], array.shape))
