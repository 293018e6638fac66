"""Nets: the points of a scrambled Sobol' net, turned into draws by quantile functions.

A net is 2^m points of Sobol's sequence (1967) in the unit cube, with the direction numbers of Joe
and Kuo (2008, "Constructing Sobol sequences with better two-dimensional projections"). It is
scrambled at random: the digits of each coordinate are multiplied by a random lower triangular
matrix over GF(2), and random digits are added (Matoušek 1998, "On the L2-discrepancy for anchored
boxes", Journal of Complexity 14). The points are more evenly distributed than independent ones, so
the mean of a smooth function over a net varies far less.

The judgment uses only two facts, and the added random digits give both. Each point is uniform in
the cube, so the mean over a net has the expectation of one draw. Each net has its own random
digits, so nets are independent and have the same law. The points of one net depend on each other:
a net counts as one draw, and no assumption is made on how little its mean varies.
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

# For each coordinate after the first: the inner coefficients of a primitive polynomial over GF(2),
# and the first direction numbers (Joe and Kuo's file new-joe-kuo-6).
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
    numbers = list(first)
    degree = len(first)
    while len(numbers) < levels:
        new = numbers[-degree] ^ (numbers[-degree] << degree)
        for place, coefficient in enumerate(middle, start=1):
            new ^= (numbers[-place] << place) * int(coefficient)
        numbers.append(new)
    return tuple(numbers[:levels])


def net_points(generator: np.random.Generator, numbers: int, size: int, nets: int) -> Points:
    """The points of scrambled nets; a coordinate is 64 binary digits: [numbers, nets · size].

    Args:
        generator: the stream to draw from.
        numbers: how many coordinates, at most `MOST_NUMBERS`.
        size: how many points a net has, a power of two.
        nets: how many nets; the points of each net are consecutive.
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
    """The points of nets for each register; `drawn` has the shapes of draws: [..., draws]."""
    numbers = sum(map(math.prod, drawn.values()))
    points = net_points(generator, numbers, size, -(-draws // size))[:, :draws]
    by_register: dict[int, Points] = {}
    start = 0
    for register, shape in drawn.items():
        end = start + math.prod(shape)
        by_register[register] = points[start:end].reshape(*shape, draws)
        start = end
    return by_register


def at_points(law: Law, arguments: Sequence[Array], points: Points) -> Array:
    """The values of a law at points of the unit cube, computed from the nearer end: [..., draws].

    A point stands for the middle of the interval of numbers that begin with its digits.
    """
    values = np.empty(points.shape, dtype=bool if law.values is Values.TRUTHS else np.float64)
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
        values[own] = quantile(levels, *fitting)
    return values


@record(kw_only=True)
class Clip:
    """What is stored of each net along one direction: the deviation of its mean, and the square.

    `weights` has a factor for each integrand, [terms]. Deviations of the weighted mean from
    `centre` are clipped at `below` and `above`.
    """

    weights: tuple[float, ...]
    centre: float
    below: float
    above: float


def with_clips(sums: Floats, clips: Sequence[Clip], size: int, blocks: int) -> Floats:
    """The sums of blocks from those of nets with `size` points, and two columns for each clip."""
    columns = [sums]
    for clip in clips:
        deviation = sums @ np.array(clip.weights) / size - clip.centre
        deviation = np.clip(deviation, -clip.below, clip.above)
        columns.append(np.stack([deviation, deviation * deviation], axis=1))
    together = np.concatenate(columns, axis=1)
    in_blocks: Floats = together.reshape(blocks, -1, together.shape[1]).sum(axis=1)
    return in_blocks
