"""Three functions to bind to the slot of `layer.yaml`."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.floating]


def dropout(x: Floats, p: float, rng: Generator, training: bool) -> Floats:
    """Inverted dropout."""
    if not training:
        return x
    keep = rng.random(x.shape) >= p
    return np.where(keep, x / x.dtype.type(1 - p), 0)


def forgetful(x: Floats, p: float, rng: Generator, training: bool) -> Floats:
    """It does not divide."""
    if not training:
        return x
    return np.where(rng.random(x.shape) >= p, x, 0)


def broken(x: Floats, p: float, rng: Generator, training: bool) -> Floats:
    """It raises."""
    raise ValueError("no such mode")
