"""A framework as small as can be, which is seeded as a whole: for tests where none is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dropcheck.code.adapters.adapter import Adapter, numbers_of

_generator = np.random.default_rng(0)  # a framework keeps its own, for all


@dataclass
class Tensor:
    """An array that is none of numpy's, and knows its number format."""

    values: Any
    dtype: str

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("a tensor of this framework is no array of numpy")


class Layer:
    """A layer with modes, as frameworks have them."""

    def __init__(self, p: float) -> None:
        self.p = p
        self.training = True

    def __call__(self, x: Tensor) -> Tensor:
        return dropout(x, self.p, training=self.training)


class FakeAdapter(Adapter):
    """The framework's adapter."""

    dtypes = ("float32", "bfloat16", "float16")

    def begin(self, seed: int) -> None:
        global _generator  # noqa: PLW0603 - as frameworks have it
        super().begin(seed)
        _generator = np.random.default_rng(seed)

    def dtype(self, name: str) -> str:
        return name.upper()

    def given(self, values: Any, dtype: str) -> Tensor:
        assert values.flags.c_contiguous
        assert values.flags.writeable
        assert values.dtype == np.float32
        return Tensor(values, dtype)

    def returned(self, output: Any) -> Any:
        return output.values if isinstance(output, Tensor) else numbers_of(output)

    def evaluating(self, target: Any, evaluate: bool) -> bool:
        if isinstance(target, Layer):
            target.training = not evaluate
        return isinstance(target, Layer)

    def with_gradient(
        self, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Of what is linear in its first argument, element by element: y / x."""
        output = function(*arguments, **named)
        return output, Tensor(output.values / arguments[0].values, output.dtype)


def dropout(x: Tensor, p: float, training: bool = True) -> Tensor:
    """Inverted dropout."""
    if not training:
        return x
    kept = _generator.random(x.values.shape) >= p
    return Tensor(np.where(kept, x.values / np.float32(1 - p), np.float32(0)), x.dtype)


def uniform(low: float, high: float, size: tuple[int, ...]) -> Tensor:
    """A sampler."""
    return Tensor(_generator.uniform(low, high, size), "float32")
