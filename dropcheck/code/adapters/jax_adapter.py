"""JAX: functions of its arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

    def __init__(self, compiled: bool) -> None:
        super().__init__(compiled)
        self.one_shape = True  # each operation is compiled, also where the whole function is not
        try:
            self._cpu = jax.devices("cpu")[0]
        except RuntimeError as error:  # as JAX_PLATFORMS says
            raise ValueError(f"jax does not compute on the CPU: {str(error)[:200]}") from error
        self._compiled: dict[object, Callable[..., Any]] = {}

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

    def called(
        self, function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """The function, by jax.jit where asked for; other arguments than arrays are compiled in."""
        if not self.compiled:
            return function(*arguments, **named)
        values: dict[Any, Any] = {**dict(enumerate(arguments)), **named}
        traced = {str(at): one for at, one in values.items() if isinstance(one, jax.Array)}
        other = tuple((at, repr(one)) for at, one in values.items() if str(at) not in traced)
        key = (id(function), other, tuple(traced))
        if key not in self._compiled:

            def whole(traced: Mapping[str, Any]) -> Any:
                inside = {at: traced.get(str(at), one) for at, one in values.items()}
                first = [inside.pop(at) for at in range(len(arguments))]
                return function(*first, **inside)

            self._compiled[key] = jax.jit(whole)
        return self._compiled[key](traced)

    def with_gradient(
        self, function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """By jax.value_and_grad, in one call."""

        def summed(x: Any) -> tuple[Any, Any]:
            output = self.called(function, [x, *arguments[1:]], named)
            return output.astype(jnp.float32).sum(), output

        (_, output), gradient = jax.value_and_grad(summed, has_aux=True)(arguments[0])
        return output, gradient
