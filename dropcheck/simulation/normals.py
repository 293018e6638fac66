"""Standard normal numbers: many at a time from arrays of uniform ones, few by numpy's own way.

A pair of uniform numbers makes a pair of normal ones (Box and Muller 1958, "A Note on the
Generation of Random Normal Deviates", Annals of Mathematical Statistics 29): with an angle θ and a
radius r = √(−2 ln u), r sin θ and r cos θ are independent and standard normal. That is arithmetic
on whole arrays, which a processor does several numbers at a time; numpy's ziggurat goes one by
one.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Fewer than this are left to numpy: threads hold one another up between calls for arrays as short.
FEWEST = 32_768
# Made at a time: what is held meanwhile stays in a second-level cache.
CHUNK = 131_072

RIGHT_ANGLE = math.pi / 2
# Less this, numpy's uniforms, which are multiples of 2^-53 from 0 on, lie evenly about 0 and are
# never 0 itself.
MIDDLE = 0.5 - 2.0**-54


def standard_normals(generator: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Independent standard normal numbers.

    None is farther from 0 than 8.6, where one in 1e17 would be.

    >>> found = standard_normals(np.random.Generator(np.random.SFC64(1)), (3, 100_000))
    >>> found.shape, bool(abs(found.mean()) < 0.01), bool(abs(found.var() - 1) < 0.02)
    ((3, 100000), True, True)
    """
    out = np.empty(size)
    flat = out.reshape(-1)
    for first in range(0, flat.size, CHUNK):
        part = flat[first : first + CHUNK]
        pairs = part.size // 2 if part.size >= FEWEST else 0
        if pairs:
            generator.random(out=part[: 2 * pairs])
            make_normal(part[:pairs], part[pairs : 2 * pairs])
        rest = part[2 * pairs :]
        if rest.size:
            generator.standard_normal(out=rest)
    return out


def make_normal(one: Floats, other: Floats) -> None:
    """Two arrays of uniform numbers made into normal ones, in place, pair by pair.

    Sines are taken in float32, at a fifth of float64's price: of the angle, from −π/2 to π/2, and
    of what it leaves to a right angle, so that each number is good to a share of 2^-22 of itself,
    however near to 0 it is. The other half of the circle is the sign of one of the two.

    Args:
        one: as numpy draws them, from 0 on and below 1: [pairs].
        other: the same.
    """
    radius = np.empty(one.shape)
    sine, cosine = np.empty((2, *one.shape), dtype=np.float32)
    one -= MIDDLE  # a sign, and half of a uniform number
    np.abs(one, out=radius)
    radius *= 2.0
    np.log(radius, out=radius)
    radius *= -2.0
    np.sqrt(radius, out=radius)
    other -= 0.5
    other *= math.pi
    np.copyto(sine, other, casting="same_kind")
    np.sin(sine, out=sine)
    np.abs(other, out=other)
    np.subtract(RIGHT_ANGLE, other, out=cosine, casting="same_kind")
    np.sin(cosine, out=cosine)
    np.multiply(radius, sine, out=other)
    radius *= cosine
    np.copysign(radius, one, out=one)
