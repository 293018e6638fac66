"""Programs that draw in nets: the points of a scrambled Sobol' net, through quantile functions.

A net is 2^m points of Sobol's sequence (1967) in the unit cube, with the direction numbers of Joe
and Kuo (2008, "Constructing Sobol sequences with better two-dimensional projections"), scrambled
at random: the digits of each coordinate are multiplied by a random lower triangular matrix over
GF(2), and random digits are added (Matoušek 1998, "On the L2-discrepancy for anchored boxes",
Journal of Complexity 14). The points are spread more evenly than independent ones, so that the
mean of a smooth function over a net varies far less.

Two facts alone are needed of it, and the added random digits give both: each point is uniform in
the cube, so that the mean over a net has the mean of one draw; and each net has random digits of
its own, so that nets are independent and of one law. The points of one net depend on each other:
a net counts as one draw, and nothing is assumed of how little its mean varies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dropcheck.array_types import Floats
from dropcheck.records import record
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.shapes import Shape

Points = npt.NDArray[np.uint64]

# Of each coordinate but the first: the coefficients of a primitive polynomial over GF(2) between
# the first and the last, and the first direction numbers (Joe and Kuo's file new-joe-kuo-6).
_JOE_KUO = (
    ("", (1,)),
    ("1", (1, 3)),
    ("01", (1, 3, 1)),
    ("10", (1, 1, 1)),
    ("001", (1, 1, 3, 3)),
    ("100", (1, 3, 5, 13)),
    ("0010", (1, 1, 5, 5, 17)),
    ("0100", (1, 1, 5, 5, 5)),
    ("0111", (1, 1, 7, 11, 19)),
)
MOST_NUMBERS = len(_JOE_KUO) + 1
_DIGITS = 64


@lru_cache
def direction_numbers(coordinate: int, levels: int) -> tuple[int, ...]:
    """The first odd numbers m_k of a coordinate, m_k < 2^k (Joe and Kuo 2008, equation 2).

    >>> direction_numbers(0, 4), direction_numbers(1, 4)
    ((1, 1, 1, 1), (1, 3, 5, 15))
    """
    if coordinate == 0:
        return (1,) * levels
    middle, first = _JOE_KUO[coordinate - 1]
    found = list(first)
    degree = len(first)
    while len(found) < levels:
        new = found[-degree] ^ (found[-degree] << degree)
        for place, coefficient in enumerate(middle, start=1):
            new ^= (found[-place] << place) * int(coefficient)
        found.append(new)
    return tuple(found[:levels])


def net_points(generator: np.random.Generator, numbers: int, size: int, nets: int) -> Points:
    """The points of scrambled nets, each coordinate as 64 binary digits: [numbers, nets · size].

    Args:
        generator: the stream to draw from.
        numbers: coordinates, up to `MOST_NUMBERS`.
        size: points of each net, a power of two.
        nets: how many; the points of each come one after another.
    """
    levels = size.bit_length() - 1
    words = generator.integers(0, 2**64 - 1, (numbers, levels + 1, nets), np.uint64, endpoint=True)
    points = np.empty((numbers, nets, size), dtype=np.uint64)
    points[..., 0] = words[:, levels]
    for coordinate in range(numbers):
        # the columns of a lower triangular matrix with ones on its diagonal
        matrix = [
            (words[coordinate, digit] >> np.uint64(digit)) | np.uint64(1 << (_DIGITS - 1 - digit))
            for digit in range(levels)
        ]
        own = points[coordinate]
        for level, direction in enumerate(direction_numbers(coordinate, levels)):
            column = np.zeros(nets, dtype=np.uint64)
            for digit in range(level + 1):
                if direction >> (level - digit) & 1:
                    column ^= matrix[digit]
            half = 1 << level
            np.bitwise_xor(own[:, :half], column[:, np.newaxis], out=own[:, half : 2 * half])
    return points.reshape(numbers, nets * size)


def laws_points(
    generator: np.random.Generator, drawn: Mapping[int, Shape], size: int, draws: int
) -> Mapping[int, Points]:
    """Points of nets for each register that is drawn, from the shape of one draw: [..., draws]."""
    numbers = sum(map(math.prod, drawn.values()))
    points = net_points(generator, numbers, size, -(-draws // size))[:, :draws]
    found: dict[int, Points] = {}
    start = 0
    for register, shape in drawn.items():
        end = start + math.prod(shape)
        found[register] = points[start:end].reshape(*shape, draws)
        start = end
    return found


def at_points(law: Law, arguments: Sequence[Array], points: Points) -> Array:
    """The values of a law at points of the unit cube, from the nearer end: [..., draws].

    A point stands for the middle of the interval of numbers that begin with its digits.
    """
    found = np.empty(points.shape, dtype=bool if law.values is Values.TRUTHS else np.float64)
    upper = points >= np.uint64(1 << (_DIGITS - 1))
    for own, digits, quantile in (
        (~upper, points, law.quantile),
        (upper, ~points, law.upper_quantile),
    ):
        levels = (digits[own] + 0.5) * 2.0**-_DIGITS
        fitting = (
            one.item() if one.size == 1 else np.broadcast_to(one, points.shape)[own]
            for one in arguments
        )
        found[own] = quantile(levels, *fitting)
    return found


@record(kw_only=True)
class Clip:
    """What is kept of each net along one direction: how far its mean is off, and the square.

    `weights` has a factor for each integrand, [terms]; deviations of the weighted means from
    `centre` count as far as `below` and `above`.
    """

    weights: tuple[float, ...]
    centre: float
    below: float
    above: float


def with_clips(sums: Floats, clips: Sequence[Clip], size: int, blocks: int) -> Floats:
    """The sums of blocks, from those of nets of such a size, and two columns for each clip."""
    columns = [sums]
    for clip in clips:
        off = sums @ np.array(clip.weights) / size - clip.centre
        off = np.clip(off, -clip.below, clip.above)
        columns.append(np.stack([off, off * off], axis=1))
    together = np.concatenate(columns, axis=1)
    in_blocks: Floats = together.reshape(blocks, -1, together.shape[1]).sum(axis=1)
    return in_blocks
