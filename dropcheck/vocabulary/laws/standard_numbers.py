"""Normal and exponential numbers in standard units: numpy's, or the same ones of compiled code."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Size

Fill = Callable[[npt.NDArray[np.uint64], Array], None]
"""Fills an array, [n], and moves the four words of an SFC64's state on, both as numpy does."""

# Numbers of one call from which on compiled code is faster (measured: from 1,500 on): before that,
# taking the state out and putting it back costs more.
FEWEST = 4096


class StandardNumbers:
    """Numbers of one standard law, which numpy draws until `execution/compiled` gives a `fill`.

    `saved` is how many nanoseconds compiled code would have saved so far.

    Args:
        method: the method of numpy's Generator.
        saving: nanoseconds a number that compiled code saves (measured).
    """

    def __init__(self, method: str, saving: float) -> None:
        self.method = method
        self.fill: Fill | None = None
        self.saved = 0.0
        self._saving = saving

    def __call__(self, generator: Generator, size: Size) -> Array:
        """An array of them, and the generator as numpy leaves it: the same bits in any case."""
        count, bits = math.prod(size), generator.bit_generator
        if count >= FEWEST and isinstance(bits, np.random.SFC64):
            if self.fill is not None:
                out, state = np.empty(size), bits.state
                self.fill(state["state"]["state"], out.reshape(-1))
                bits.state = state
                return out
            self.saved += count * self._saving
        drawn: Array = getattr(generator, self.method)(size)
        return drawn


NORMALS = StandardNumbers("standard_normal", saving=6.0)
EXPONENTIALS = StandardNumbers("standard_exponential", saving=2.4)
