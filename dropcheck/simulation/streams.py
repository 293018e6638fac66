"""Streams of random numbers: one for each span of draws."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
import numpy.random  # not when a thread first draws: its lock would be held while others fork

PILOT = 1
MAIN = 0
# The numbers that SeedSequence takes as one word are below this.
WORD = 2**32


def stream(seed: int, case_key: str, purpose: int, span: int) -> np.random.Generator:
    """The generator of one span of draws of one case.

    It depends only on the run's seed, the case and the number of the span: not on other claims of
    the registry, nor on the number of threads. The seed and the case are hashed to 256 bits, which
    numpy's SeedSequence mixes with the span's number (O'Neill's seed_seq_fe, 2015). SFC64 is
    Doty-Humphrey's generator (PractRand, 2010), the fastest in numpy.

    >>> a, b = stream(0, "x", MAIN, 3).random(), stream(0, "x", MAIN, 3).random()
    >>> a == b, a == stream(0, "x", MAIN, 4).random()
    (True, False)
    """
    key = purpose.to_bytes(4, "little") + span.to_bytes(4 if span < WORD else 8, "little")
    # the same words as with a spawn_key of SeedSequence, which converts numbers one by one
    words = np.frombuffer(_digest(seed, case_key) + key, dtype="<u4")
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))


@lru_cache(maxsize=64)
def _digest(seed: int, case_key: str) -> bytes:
    """Seed and case, hashed to 256 bits."""
    return hashlib.blake2b(f"{seed}\n{case_key}".encode(), digest_size=32).digest()
