"""Keras on each of its backends: functions of tensors, classes of layers, and layers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import keras

from dropcheck.code.adapters.adapter import (
    Adapter,
    FrameworkFunction,
    built,
    described,
    kind_of,
    numbers_of,
)
from dropcheck.vocabulary.function import Array

_SEED = "seed_generator_state"
"""The variable with the state of the random numbers of a layer."""


class KerasAdapter(Adapter):
    """keras, on the backend that it is set to (KERAS_BACKEND)."""

    dtypes = ("float32", "bfloat16", "float16", "float64")

    def __init__(self, device: str | None, compiled: bool) -> None:
        if compiled:
            raise ValueError("functions of keras are not compiled: leave 'compiled' out")
        super().__init__(device, compiled)
        self._layers: list[keras.layers.Layer] = []
        self._backend = keras.backend.backend()

    @property
    def one_shape(self) -> bool:
        """True where the backend is JAX."""
        return bool(self._backend == "jax")

    def on_one_thread(self) -> AbstractContextManager[None]:
        """By torch, where that is the backend."""
        if self._backend != "torch":
            return super().on_one_thread()
        from dropcheck.code.adapters.torch_adapter import torch_on_one_thread

        return torch_on_one_thread()

    def begin(self, seed: int) -> None:
        """Seed keras, its backend, and layers, which have random numbers of their own."""
        super().begin(seed)
        keras.utils.set_random_seed(seed)
        states = (one for layer in self._layers for one in layer.variables)
        for place, state in enumerate(one for one in states if one.name == _SEED):
            state.assign([seed, place])

    def dtype(self, name: str) -> str:
        """The name itself, which keras takes."""
        return name

    def given(self, values: Array, dtype: str) -> Any:
        """A tensor of the backend."""
        with keras.device(self.device or "cpu"):
            return keras.ops.convert_to_tensor(values, dtype=dtype)

    def returned(self, output: Any) -> Array:
        """The values; bfloat16 becomes float32, which holds all its numbers."""
        if not keras.ops.is_tensor(output):
            return numbers_of(output)
        kind = keras.backend.standardize_dtype(output.dtype)
        if kind in ("bfloat16", "float16"):
            output = keras.ops.cast(output, "float32")
        elif kind.startswith("complex"):
            raise TypeError(f"{kind_of(output)} of {kind}")
        return numbers_of(keras.ops.convert_to_numpy(output))

    def layer(self, target: Any, fixed: Mapping[str, Any], dtype: str) -> Any:
        """A layer that computes in the number format of what it is given."""
        if isinstance(target, type) and issubclass(target, keras.layers.Layer):
            self._layers.append(made := built(target, fixed, dtype=dtype))
            return made
        return super().layer(target, fixed, dtype)

    def entry(self, target: Any) -> Any:
        """The `call` of a layer without `mask`, which keras passes on by itself."""
        if not isinstance(target, keras.layers.Layer):
            return target
        signature = inspect.signature(target.call)
        kept = [one for one in signature.parameters.values() if one.name != "mask"]
        return described(signature.replace(parameters=kept))

    def has_of(self, target: Any, name: str) -> list[float]:
        """The numbers of all layers in a layer."""
        layer = isinstance(target, keras.layers.Layer)
        parts = target._flatten_layers() if layer else [target]  # keras has no public way
        return [number for part in parts for number in super(KerasAdapter, self).has_of(part, name)]

    def with_gradient(
        self,
        function: FrameworkFunction,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        by: int,
    ) -> tuple[Any, Any]:
        """By the backend: torch.autograd, jax.grad, or a tape of TensorFlow."""
        if self._backend == "torch":
            from dropcheck.code.adapters.torch_adapter import TorchAdapter

            return TorchAdapter(self.device, False).with_gradient(function, arguments, named, by)
        if self._backend == "jax":
            from dropcheck.code.adapters.jax_adapter import JaxAdapter

            return JaxAdapter(self.device, False).with_gradient(function, arguments, named, by)
        if self._backend == "tensorflow":
            import tensorflow

            with tensorflow.GradientTape() as tape:
                tape.watch(arguments[by])
                output = function(*arguments, **named)
                total = tensorflow.reduce_sum(output)
            return output, tape.gradient(total, arguments[by])
        raise ValueError(f"keras has no gradients on {self._backend}")
