"""Checks of code before anything is judged: what its draws depend on, and what they share.

Few of the mistakes that break a verdict show in what code returns. Those that do are looked for
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.errors import DropcheckError
from dropcheck.vocabulary.function import Array

# ---- what draws depend on ------------------------------------------------------------------------


# Calls that are compared, and the draws of each. Events of probability 1/64, for which calls agree
# most easily, are the same in five calls less than once in 10^9.
PROBES = 5
PROBE_DRAWS = 64
# Draws that are compared where each is a call.
SINGLE_PROBES = 8
# Pairs of draws of which one is changed. Code that rejects draws may change the other draw now and
# then; code that mixes draws changes it each time.
MIXING_PROBES = 6
# Two calls with one seed may differ by rounding, since sums on many cores are added in any order:
# by this share of the range of the values, or of their magnitude.
CALL_ROUNDING, FINEST = 1e-3, 1e-6
EACH_ITS_OWN = "each draw needs random numbers of its own: the first axis is the draw"

Called = Callable[[int], Mapping[str, Array]]
"""Makes a call with the seed of this number: arrays by mode, with the axis of draws last."""


def check_draws(
    called: Called, counts_each: bool, fault: Callable[[str, str], DropcheckError]
) -> None:
    """Refuse draws that depend on more than their seed, or on less.

    Two calls with one seed must agree. Calls with other seeds must differ, and so must the draws of
    one call where each counts, unless everything is fixed.

    Args:
        called: makes a call.
        counts_each: whether the draws of a call may not share all their random numbers.
        fault: makes an error from what is wrong and the advice.

    Raises:
        DropcheckError: the draws cannot be used.
    """
    once = called(1)
    again = called(1)
    if not all(alike(array, again[name]) for name, array in once.items()):
        raise fault(
            "returned other draws when called again with the same seed",
            "draw from the framework's own source, which is seeded before, or from the one that is "
            "given; what it keeps from call to call may not change what it returns",
        )
    varied = any(map(_varies, once.values()))
    for other in map(called, range(2, PROBES + 1)):
        differ = not all(np.array_equal(once[name], other[name], equal_nan=True) for name in once)
        if differ and counts_each and not (varied or any(map(_varies, other.values()))):
            raise fault(
                "returned draws that are all alike, and others in another call", EACH_ITS_OWN
            )
        if differ:
            return
    if varied:
        raise fault(
            "returned the same draws when called with another seed",
            "what seeds itself, or makes a generator in each call, repeats itself",
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


# ---- shared numbers ------------------------------------------------------------------------------
#
# Whether draws of one call share random numbers, by calls with several seeds.
#
# Where a slot declares the draws of a call independent, each counts by itself. Draws with the same
# inputs are then independent and of one law. So the products of numbers of two draws of a call add
# up to 0, but for chance: over all pairs of draws (which finds a mask or a scale of the call), over
# pairs that are k apart (blocks, a period, sorted values, antithetic halves), and over pairs whose
# places add up to k (mirrored halves). The numbers are the ranks of elements, the distances of the
# ranks from the middle, which show a shared scale, and the ranks of sums over all elements, which
# show what is shared between different elements.


CALLS = 32  # how many calls are compared: what a whole call shares shows only between calls
NUMBERS = 2**14  # of a call, with at least 64 and at most 1,024 draws
ELEMENTS = 8  # of each draw, that are compared
CHANCE = 1e-9  # of an error for independent draws, by bounds for normal variables


def compared(called: Called) -> str | None:
    """Which draws of a call share random numbers, in words, by calls with several seeds."""
    rows: dict[str, list[Floats]] = {}
    for number in range(CALLS):
        for mode, drawn in called(number).items():
            rows.setdefault(mode, []).append(rows_of(drawn))
    shared = (shared_numbers(np.stack(calls)) for calls in rows.values())
    return next((one for one in shared if one is not None), None)


def draws_of_a_call(elements: int) -> int:
    """How many draws of a call are compared, each of so many numbers."""
    return max(64, min(1024, NUMBERS // elements))


def rows_of(drawn: Array) -> Floats:
    """What is compared of a call, [*shape, draws]: some elements of a draw, and the sum of all."""
    whole = drawn.reshape(-1, drawn.shape[-1])
    elements = np.unique(np.linspace(0, len(whole) - 1, ELEMENTS).astype(int))
    return np.concatenate([whole[elements], whole.sum(axis=0, keepdims=True)])


def shared_numbers(calls: Floats) -> str | None:
    """Which draws of a call share random numbers, in words; None where no draws seem to.

    Args:
        calls: rows of calls with different seeds, for the same inputs: [calls, rows, draws].
    """
    ranks = np.stack([_standard(_ranks(one)) for one in np.moveaxis(calls[:, :-1], 1, 0)])
    ranks = ranks[ranks.any(axis=(1, 2))]
    if not len(ranks):
        return None
    scales = np.stack([_standard(np.abs(one)) for one in ranks])
    sums = _standard(_ranks(calls[:, -1]))[np.newaxis]
    shared = map(_shared, (ranks, scales[scales.any(axis=(1, 2))], sums[sums.any(axis=(1, 2))]))
    return next((one for one in shared if one is not None), None)


def _shared(numbers: Floats) -> str | None:
    """The same by numbers of mean 0 and variance 1: [kinds, calls, draws]."""
    kinds, count, draws = numbers.shape
    if not kinds:
        return None
    products = np.einsum("fkn,gkn->fg", numbers, numbers, optimize=True) / (count * draws)
    norm, largest = float(np.linalg.norm(products)), float(np.linalg.norm(products, 2))
    most = float(np.square(numbers).sum(axis=0).max())
    log = math.log(9 * draws / CHANCE)
    # sums of squares of normal variables: Laurent and Massart 2000, Lemma 1
    beyond = 2 * math.sqrt(count * log) * norm + 2 * log * largest
    if float(np.square(numbers.sum(axis=2)).sum()) > draws * (count * kinds + beyond):
        return "all draws of a call"
    # sums of products none of which is larger than `most`: Freedman 1975, Theorem 1.6
    apart = math.sqrt(4 * log * count * draws) * norm + 2 * log * most
    spectrum = np.fft.rfft(numbers)
    lags = np.abs(np.fft.irfft(np.square(np.abs(spectrum)).sum(axis=(0, 1)), draws))[1:]
    if lags.max(initial=0.0) > apart:
        lag = int(lags.argmax()) + 1
        return f"draws of a call that are {min(lag, draws - lag)} apart"
    mirrored = np.fft.irfft(np.square(spectrum).sum(axis=(0, 1)), draws)
    itself = np.bincount(2 * np.arange(draws) % draws, minlength=draws)  # a draw with itself
    if np.abs(mirrored - count * kinds * itself).max() > apart:
        return "draws at the start of a call and at its end"
    return None


def _ranks(values: Array) -> Array:
    """The ranks of an element among its values; equal values have the rank in their middle."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    return np.asarray(middle[place].reshape(values.shape))


def _standard(values: Array) -> Array:
    """The values scaled to mean 0 and variance 1; all 0 where they are equal."""
    deviations = values - values.mean()
    size = float(np.sqrt(np.square(deviations).mean()))
    varies = size > 1e-9 * float(np.abs(values).max(initial=0.0))
    return np.asarray(deviations / size if varies else 0.0 * deviations)
