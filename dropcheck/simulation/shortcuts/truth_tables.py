"""Integrands that depend on a few truths alone: counted, not computed draw by draw.

A dropout mask times a constant takes two values, whatever is done to it afterwards. Where all
randomness that an integrand sees comes through at most a few truths, element by element, its value
is worked out once for every combination of them, and a block's sum is the values weighted by how
often each combination came. Nothing is approximated.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.shapes import Shape

# 2^4 combinations, which 15 counts determine: past that a draw costs less than its counting.
MOST_TRUTHS = 4


@dataclass(frozen=True, slots=True)
class TruthTable:
    """Integrands of a program that depend on the same truths.

    `sources` are the registers of the truths, of `elements` elements each; `terms` the integrands'
    columns; `held` the registers at every combination, the first source varying slowest.
    """

    sources: tuple[int, ...]
    terms: tuple[int, ...]
    elements: int
    held: tuple[tuple[int, Array], ...]


def truths(values: Sequence[Value]) -> tuple[Value, ...] | None:
    """The truths through which alone some values see their draws; None where there are none.

    They are taken as far down as possible, a Bernoulli draw itself where it is one. All must have
    the values' own shape, and every fixed number on the way must be a single one, so that each
    element is treated alike.
    """
    shapes = {value.shape for value in values if value.random}
    if len(shapes) != 1 or not all(value.random for value in values):
        return None
    (shape,) = shapes
    distinct: dict[int, Value] = {}
    for value in values:
        known: dict[int, list[Value] | None] = {}
        for below in ordered([value]):  # inputs first: a model may be very deep
            _truths_below(below, shape or (), known)
        parts = known[id(value)]
        if parts is None:
            return None
        distinct.update({id(truth): truth for truth in parts})
    return tuple(distinct.values()) if 0 < len(distinct) <= MOST_TRUTHS else None


def _truths_below(
    value: Value, shape: Shape, known: dict[int, list[Value] | None]
) -> list[Value] | None:
    if not value.random:
        return [] if not value.shape else None
    if id(value) in known:
        return known[id(value)]
    these: list[Value] | None = None
    if value.kind == Kind.DRAW:
        if value.binary and value.shape == shape:
            these = [value]
    elif value.function.by_element and value.shape == shape:
        parts = [_truths_below(below, shape, known) for below in value.inputs]
        if all(part is not None for part in parts):
            each = {id(truth): truth for part in parts if part is not None for truth in part}
            these = list(each.values())[: MOST_TRUTHS + 1]  # of more it need not be known which
    if these is None and value.truth and value.shape == shape:
        these = [value]
    known[id(value)] = these
    return these


def combinations(count: int) -> npt.NDArray[np.bool_]:
    """Every combination of so many truths: [count, 2^count]."""
    return np.array(list(itertools.product([False, True], repeat=count))).T


def occurrences(sources: Sequence[Array], blocks: int) -> npt.NDArray[np.float64] | None:
    """How often each combination came in each block: [blocks, 2^k]; None where one is no truth.

    Args:
        sources: k arrays of truths, draws last.
        blocks: in how many blocks the draws lie.

    >>> a, b = np.array([True, True, False, False]), np.array([True, False, True, True])
    >>> occurrences([a, b], 2).tolist()  # neither, b alone, a alone, both
    [[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 0.0, 0.0]]
    """
    if any(source.dtype != np.bool_ for source in sources):
        return None
    count = len(sources)
    # how often all truths of a subset hold, and from that how often exactly those hold
    together = np.empty((blocks, 2**count))
    together[:, 0] = sources[0].size // blocks
    held: dict[int, Array] = {}
    for subset in range(1, 2**count):
        lowest = subset & -subset
        source = sources[count - lowest.bit_length()]
        rest = subset ^ lowest
        held[subset] = source if not rest else source & held[rest]
        together[:, subset] = counts(held[subset], blocks)
    for bit in range(count):
        for subset in range(2**count):
            if not subset >> bit & 1:
                together[:, subset] -= together[:, subset | 1 << bit]
    return together


# Truths of a word, each a byte that is 0 or 1: so many words can be added up without a carry.
OF_WORD = 8
MOST_WORDS = 255
EVERY_OTHER_BYTE = np.uint64(0x00FF00FF00FF00FF)
# Truths of a block beyond which a call a block is quicker than one for all (measured: 5,000). Two
# bytes can count as many.
LONG = 4096


def counts(truths: npt.NDArray[np.bool_], blocks: int) -> npt.NDArray[np.intp]:
    """How many hold in each block, all elements together: [blocks].

    >>> counts(np.arange(48) % 3 == 0, 2).tolist()
    [8, 8]
    """
    by_draw = truths.transpose(-1, *range(truths.ndim - 1))
    if truths.ndim > 1 and by_draw.flags.c_contiguous:  # blocks lie one after the other
        truths = by_draw.reshape(-1)
    draws = truths.shape[-1] // blocks
    if draws > LONG:
        starts = range(0, blocks * draws, draws)
        by_block = [np.count_nonzero(truths[..., start : start + draws]) for start in starts]
        return np.array(by_block, dtype=np.intp)
    if draws % OF_WORD:
        by_row = truths.reshape(-1, blocks, draws).sum(axis=-1)
    else:
        words = np.ascontiguousarray(truths).view(np.uint64)
        by_row = _ones_of_words(words.reshape(-1, blocks, draws // OF_WORD))
    return np.asarray(by_row.sum(axis=0), dtype=np.intp)


def _ones_of_words(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """How many of the bytes of words are 1, along the last axis; the others are 0."""
    doubles = np.zeros(words.shape[:-1], dtype=np.uint64)  # four sums a word, of two bytes each
    for first in range(0, words.shape[-1], MOST_WORDS):
        bytewise = np.add.reduce(words[..., first : first + MOST_WORDS], axis=-1)
        doubles += bytewise & EVERY_OTHER_BYTE
        doubles += bytewise >> np.uint64(8) & EVERY_OTHER_BYTE
    # the product's topmost two bytes are the sum of all four
    return doubles * np.uint64(0x0001000100010001) >> np.uint64(48)


def weighted(
    occurred: npt.NDArray[np.float64], values: npt.NDArray[np.float64], elements: int
) -> npt.NDArray[np.float64]:
    """Sums of an integrand in each block: [blocks]. A combination that never came does not count.

    Args:
        occurred: [blocks, combinations].
        values: the integrand at each combination.
        elements: elements of a draw, over whose mean the integrand is.
    """
    parts = np.where(occurred > 0, occurred * values, 0.0)
    total: npt.NDArray[np.float64] = parts.sum(axis=1) / elements
    return total
