"""JAX: functions of its arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dropcheck.code.adapters.adapter import Adapter, FrameworkFunction, numbers_of
from dropcheck.vocabulary.function import Array


class JaxAdapter(Adapter):
    """jax: a parameter `key` or `rng` gets a key of its own in each call.

    All calls of one claim have one shape, as each new shape is compiled anew.
    """

    sources = ("key", "rng")
    one_shape = True  # each operation is compiled

    def __init__(self) -> None:
        try:
            self._cpu = jax.devices("cpu")[0]
        except RuntimeError as error:  # as JAX_PLATFORMS says
            raise ValueError(f"jax does not compute on the CPU: {str(error)[:200]}") from error

    def begin(self, seed: int) -> None:
        """Make a key of this seed, and number the calls from there."""
        super().begin(seed)
        self._key = jax.random.key(seed)
        self._calls = 0

    def source(self, name: str) -> Any:
        """The key with the number of the call folded in."""
        self._calls += 1
        return jax.random.fold_in(self._key, self._calls)

    def dtype(self, name: str) -> Any:
        """The number format of JAX, such as jax.numpy.float32."""
        if name == "float64" and not jax.config.jax_enable_x64:
            raise ValueError("jax computes in float32 unless JAX_ENABLE_X64=1 is set")
        return jnp.dtype(name)

    def given(self, values: Array, dtype: str) -> Any:
        """An array on the CPU."""
        return jax.device_put(values.astype(self.dtype(dtype), copy=False), self._cpu)

    def returned(self, output: Any) -> Array:
        """The values; bfloat16 becomes float32, which holds all its numbers."""
        if not isinstance(output, jax.Array):
            return numbers_of(output)
        if jnp.issubdtype(output.dtype, jax.dtypes.prng_key):
            raise TypeError("a key")
        return numbers_of(np.asarray(output))

    def with_gradient(
        self, function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """By jax.value_and_grad, in one call."""

        def summed(x: Any) -> tuple[Any, Any]:
            output = function(x, *arguments[1:], **named)
            return output.astype(jnp.float32).sum(), output

        (_, output), gradient = jax.value_and_grad(summed, has_aux=True)(arguments[0])
        return output, gradient
