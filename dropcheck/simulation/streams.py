"""Streams of random numbers: which one belongs to which draws."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
import numpy.random  # not when a thread first draws: it would hold a lock while others are forked

TOGETHER = 3
PROBE = 2
PILOT = 1
MAIN = 0
# What SeedSequence takes as one word.
WORD = 2**32


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
    key = purpose.to_bytes(4, "little") + span.to_bytes(4 if span < WORD else 8, "little")
    # as a spawn_key of SeedSequence is taken in, which makes words of numbers one by one
    words = np.frombuffer(_digest(seed, case_key) + key, dtype="<u4")
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))


@lru_cache(maxsize=64)
def _digest(seed: int, case_key: str) -> bytes:
    """Seed and case, hashed to 256 bits."""
    return hashlib.blake2b(f"{seed}\n{case_key}".encode(), digest_size=32).digest()
