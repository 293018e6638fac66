"""Streams of random numbers: which one belongs to which draws."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
import numpy.random  # not when a thread first draws: it would hold a lock while others are forked
import numpy.typing as npt
from numpy.random.bit_generator import ISeedSequence

Words = npt.NDArray[np.uint32]

TOGETHER = 3
PROBE = 2
PILOT = 1
MAIN = 0
# What SeedSequence takes as one word.
WORD = 2**32
# Spans whose streams are seeded at a time.
AT_ONCE = 64


def stream(seed: int, case_key: str, purpose: int, span: int) -> np.random.Generator:
    """The generator of one span of draws of one case.

    It depends on the run's seed, the case and the span's number, and on nothing else: neither on
    the other claims of the registry nor on how many threads there are. The seed and the case are
    hashed to 256 bits, which numpy's SeedSequence mixes with the span's number (O'Neill's
    seed_seq_fe, 2015); SFC64 is Doty-Humphrey's generator (PractRand, 2010), the fastest that
    numpy has.

    >>> a, b = stream(0, "x", MAIN, 3).random(), stream(0, "x", MAIN, 3).random()
    >>> a == b, a == stream(0, "x", MAIN, 4).random()
    (True, False)
    """
    if span >= WORD:
        words = np.random.SeedSequence(_words(seed, case_key), spawn_key=(purpose, span))
        return np.random.Generator(np.random.SFC64(words))
    seeded = _Seeded(_seeds(seed, case_key, purpose, span // AT_ONCE)[span % AT_ONCE])
    return np.random.Generator(np.random.SFC64(seeded))  # type: ignore[arg-type]  # as its docs say


class _Seeded(ISeedSequence):
    """What a SeedSequence would seed a generator with, worked out already."""

    def __init__(self, state: npt.NDArray[np.uint64]) -> None:
        self._state = state

    def generate_state(
        self, n_words: int, dtype: npt.DTypeLike = np.uint64
    ) -> npt.NDArray[np.uint64]:
        """The words that SFC64 asks for: three of 64 bits."""
        return np.asarray(self._state[:n_words], dtype=dtype)


@lru_cache(maxsize=64)
def _words(seed: int, case_key: str) -> list[int]:
    """Seed and case, hashed to 256 bits."""
    digest = hashlib.blake2b(f"{seed}\n{case_key}".encode(), digest_size=32).digest()
    return [int(word) for word in np.frombuffer(digest, dtype="<u4")]


@lru_cache(maxsize=64)
def _seeds(seed: int, case_key: str, purpose: int, part: int) -> npt.NDArray[np.uint64]:
    """The states of SFC64 of some spans next to each other: [spans, 3].

    They are those of `SeedSequence([*words, purpose, span])`, of which only the last word differs:
    what comes before it is mixed once, by numpy, and the last word into all of these at once.
    """
    pool = np.random.SeedSequence([*_words(seed, case_key), purpose]).pool
    spans = np.arange(part * AT_ONCE, (part + 1) * AT_ONCE, dtype=np.uint32)[:, np.newaxis]
    hashed = _stirred((spans ^ _XOR_A) * _TIMES_A)
    pool = _stirred(pool * _MIX_LEFT - hashed * _MIX_RIGHT)
    words = _stirred((pool[:, [0, 1, 2, 3, 0, 1]] ^ _XOR_B) * _TIMES_B).astype(np.uint64)
    return np.ascontiguousarray(words[:, 0::2] | words[:, 1::2] << np.uint64(32))


def _stirred(words: Words) -> Words:
    stirred: Words = words ^ (words >> np.uint32(16))
    return stirred


def _powers(first: int, base: int, start: int, count: int) -> Words:
    return np.array([first * pow(base, start + k, WORD) % WORD for k in range(count)], np.uint32)


# SeedSequence's constants (O'Neill 2015, as in numpy/random/bit_generator.pyx). A hash is taken
# of each of the first four words, of each pair of different words, and four of each further word:
# 36 before the last of ten, and six of them make three words of 64 bits.
_XOR_A = _powers(0x43B0D7E5, 0x931E8875, 36, 4)
_TIMES_A = _powers(0x43B0D7E5, 0x931E8875, 37, 4)
_XOR_B = _powers(0x8B51F9DD, 0x58F38DED, 0, 6)
_TIMES_B = _powers(0x8B51F9DD, 0x58F38DED, 1, 6)
_MIX_LEFT, _MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
