"""Functions of numpy's arrays, and any other code that takes and returns these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dropcheck.code.adapters.adapter import (
    FORMATS_OF_NUMPY,
    GRADIENT,
    Adapter,
    FrameworkFunction,
    numbers_of,
)
from dropcheck.vocabulary.function import Array


class NumpyAdapter(Adapter):
    """numpy: a parameter `generator` or `rng` gets a numpy Generator.

    `numpy.random` and Python's `random` are seeded too, for functions that use these.
    """

    dtypes = FORMATS_OF_NUMPY
    sources = ("generator", "rng")
    seeds = 2**63

    def begin(self, seed: int) -> None:
        """Seed the global sources, and make a Generator of this seed."""
        super().begin(seed)
        self._generator = np.random.default_rng(seed)

    def source(self, name: str) -> np.random.Generator:
        """The Generator, which goes on from call to call."""
        return self._generator

    def dtype(self, name: str) -> np.dtype[Any]:
        """The dtype; bfloat16 is that of ml_dtypes."""
        if name == "bfloat16":
            import ml_dtypes

            bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
            return bfloat16
        return np.dtype(name)

    def given(self, values: Array, dtype: str) -> Array:
        """The array, in its own number format."""
        return values.astype(self.dtype(dtype), copy=False)

    def returned(self, output: Any) -> Array:
        """The array that was returned."""
        if isinstance(output, np.ma.MaskedArray) and output.mask.any():
            raise TypeError("an array with values that are masked")
        return numbers_of(output)

    def has_gradient(self, target: Any) -> bool:
        """Whether the code has a method `with_gradient`, as numpy itself has no gradients."""
        return hasattr(target, GRADIENT)

    def with_gradient(
        self, function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """By a method `with_gradient` of the code, which gives both."""
        own = getattr(function, GRADIENT, None)
        if own is None:
            raise ValueError("numpy has no gradients: give the layer a method 'with_gradient'")
        output, gradient = own(*arguments, **named)
        return output, gradient
