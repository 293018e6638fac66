"""What the samplers of several laws share."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Size, inside, plain_argument

# [256, 8]: the eight bits of each byte, as 1 and -1
SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0


def exponentials(generator: Generator, size: Size) -> Array:
    """Exponential numbers of mean 1, above 0."""
    return inside(generator.standard_exponential(size), 0.0, math.inf)


def log_gammas(generator: Generator, size: Size, shape: Array) -> Array:
    """Logarithms of standard gamma numbers, also where these underflow.

    G(a) has the law of G(a + 1) * U**(1 / a) (Marsaglia and Tsang 2000, section 6).
    """
    out = np.log(generator.standard_gamma(plain_argument(shape + 1.0), size))
    out -= exponentials(generator, size) / shape
    return out


def random_words(generator: Generator, count: int) -> Array:
    """At least `count` random bytes as 64-bit words, the same bytes on every machine."""
    words = generator.bit_generator.random_raw(-(-count // 8))
    return words.astype("<u8", copy=False)


def signs(generator: Generator, size: Size) -> Array:
    """1 or -1 with equal probabilities, from one random bit each."""
    count = math.prod(size)
    eighths = -(-count // 8)
    octets = random_words(generator, eighths).view(np.uint8)[:eighths]
    return SIGNS.take(octets, axis=0).reshape(-1)[:count].reshape(size)
