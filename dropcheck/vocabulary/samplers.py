"""Draws of every law of the language, whole blocks at a time.

Arrays have the axis of draws last, of length 1 where an argument is fixed. A parameter that is a
list has it on the axis before, a matrix on the two axes before.
"""

from __future__ import annotations

import numpy as np

from dropcheck.vocabulary.random_arguments import (
    BadArgument,
    check_arguments,
    first_bad_argument,
)
from dropcheck.vocabulary.sampler_parts import Arguments, Array, Sampler
from dropcheck.vocabulary.samplers_continuous import CONTINUOUS
from dropcheck.vocabulary.samplers_discrete import DISCRETE
from dropcheck.vocabulary.samplers_vector import VECTOR

__all__ = ["SAMPLERS", "BadArgument", "check_arguments", "first_bad_argument", "sample"]

SAMPLERS: dict[str, Sampler] = CONTINUOUS | DISCRETE | VECTOR


def sample(
    name: str,
    generator: np.random.Generator,
    arguments: Arguments,
    shape: tuple[int, ...],
    draws: int,
) -> Array:
    """Independent draws of a law.

    Args:
        name: The law's name, one of `SAMPLERS`.
        generator: Where the randomness comes from; its state alone decides the result.
        arguments: The law's arguments in order, in their domains (`check_arguments` tells), as
            float64 arrays that broadcast against the result without the law's own axes.
        shape: The shape of one draw, the law's own axes included.
        draws: How many draws.

    Returns:
        An array of shape `shape + (draws,)`: bool for `bernoulli`, float64 for all others.

    >>> generator = np.random.default_rng(0)
    >>> sample("normal", generator, [np.zeros(1), np.ones(1)], (2,), 1000).shape
    (2, 1000)
    """
    size = (*shape, draws)
    with np.errstate(all="ignore"):
        if 0 in size:
            return np.zeros(size, dtype=bool if name == "bernoulli" else np.float64)
        return SAMPLERS[name](generator, arguments, size)
