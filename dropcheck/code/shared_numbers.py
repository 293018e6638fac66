"""Whether draws of one call share random numbers, by calls with several seeds.

Where a slot declares the draws of a call independent, each counts by itself. Draws with the same
inputs are then independent and of one law. So the products of numbers of two draws of a call add up
to 0, but for chance: over all pairs of draws (which finds a mask or a scale of the call), over
pairs that are k apart (blocks, a period, sorted values, antithetic halves), and over pairs whose
places add up to k (mirrored halves). The numbers are the ranks of elements, the distances of the
ranks from the middle, which show a shared scale, and the ranks of sums over all elements, which
show what is shared between different elements.
"""

from __future__ import annotations

import math

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.vocabulary.function import Array

CALLS = 32  # how many calls are compared: what a whole call shares shows only between calls
FEWEST_COMPARED = 8  # the same, for slow code
NUMBERS = 2**14  # of a call, with at least 64 and at most 1,024 draws
ELEMENTS = 8  # of each draw, that are compared
CHANCE = 1e-9  # of an error for independent draws, by bounds for normal variables


def draws_of_a_call(elements: int) -> int:
    """How many draws of a call are compared, each of so many numbers."""
    return max(64, min(1024, NUMBERS // elements))


def shared_numbers(calls: Array) -> str | None:
    """Which draws of a call share random numbers, in words; None where no draws seem to.

    Args:
        calls: what calls with different seeds gave, all for the same inputs:
            [calls, *shape of one draw, draws].
    """
    whole = calls.reshape(len(calls), -1, calls.shape[-1])
    elements = np.unique(np.linspace(0, whole.shape[1] - 1, ELEMENTS).astype(int))
    ranks = np.stack([_standard(_ranks(whole[:, element])) for element in elements])
    ranks = ranks[ranks.any(axis=(1, 2))]
    if not len(ranks):
        return None
    scales = np.stack([_standard(np.abs(one)) for one in ranks])
    sums = _standard(_ranks(whole.sum(axis=1)))[np.newaxis]
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
