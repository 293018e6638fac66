"""JAX: functions of its arrays, and modules of flax, linen and nnx."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dropcheck.code.adapters.adapter import Adapter, FrameworkFunction, built, numbers_of
from dropcheck.vocabulary.function import Array


class JaxAdapter(Adapter):
    """jax: a parameter `key` or `rng` gets a key of its own in each call, `rngs` those of nnx.

    All calls of one claim have one shape, as each new shape is compiled anew.
    """

    dtypes = ("float32", "bfloat16", "float16", "float64")
    sources = ("key", "rng", "rngs")

    def __init__(self, device: str | None, compiled: bool) -> None:
        super().__init__(device, compiled)
        try:
            self._device = jax.devices(device or "cpu")[0]
        except RuntimeError as error:
            raise ValueError(f"jax has no device {device!r}: {str(error)[:200]}") from error
        self._compiled: dict[object, Callable[..., Any]] = {}
        self._seeded: list[Any] = []  # modules that keep sources of their own

    @property
    def one_shape(self) -> bool:
        """Always: JAX compiles each operation, also where the whole function is not compiled."""
        return True

    def begin(self, seed: int) -> None:
        """Make a key of this seed, number the calls from there, and seed modules of nnx."""
        super().begin(seed)
        for module in self._seeded:
            _reseed(module, seed)
        self._key = jax.random.key(seed)
        self._calls = 0

    def source(self, name: str) -> Any:
        """The key with the number of the call folded in; `rngs` as nnx takes them."""
        self._calls += 1
        key = jax.random.fold_in(self._key, self._calls)
        if name != "rngs":
            return key
        from flax import nnx

        return nnx.Rngs(key)

    def dtype(self, name: str) -> Any:
        """The number format of JAX, such as jax.numpy.float32.

        Raises:
            ValueError: float64, where JAX is not set to have it.
        """
        if name == "float64" and not jax.config.jax_enable_x64:
            raise ValueError("jax computes in float32 unless JAX_ENABLE_X64=1 is set")
        return jnp.dtype(name)

    def given(self, values: Array, dtype: str) -> Any:
        """An array on the device."""
        return jax.device_put(values.astype(self.dtype(dtype), copy=False), self._device)

    def returned(self, output: Any) -> Array:
        """The values; bfloat16 becomes float32, which holds all its numbers."""
        if not isinstance(output, jax.Array):
            return numbers_of(output)
        if jnp.issubdtype(output.dtype, jax.dtypes.prng_key):
            raise TypeError("a key")
        return numbers_of(np.asarray(output))

    def layer(self, target: Any, fixed: Mapping[str, Any], dtype: str) -> Any:
        """A module of flax; one of linen is called by `apply`, with parameters of seed 0."""
        linen, nnx = _flax("flax.linen"), _flax("flax.nnx")
        if nnx is not None and isinstance(target, type) and issubclass(target, nnx.Module):
            made = built(target, fixed, rngs=nnx.Rngs(0))
        else:
            made = super().layer(target, fixed, dtype)
        if _is_nnx(made):
            if self.compiled:
                raise ValueError("a module of nnx is compiled by a function: name one")
            self._seeded.append(made)
        if linen is not None and isinstance(made, linen.Module):
            return _Applied(made, self.source)
        return made

    def entry(self, target: Any) -> Any:
        """The `__call__` of a module of linen; anything else as it is."""
        return target.module.__call__ if isinstance(target, _Applied) else target

    def evaluating(self, target: Any, evaluate: bool) -> bool:
        """`train()` and `eval()` of a module of nnx."""
        if not _is_nnx(target):
            return False
        target.eval() if evaluate else target.train()
        return True

    def called(
        self, function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """The function, by jax.jit where asked for; other arguments than arrays are compiled in."""
        if not self.compiled:
            return function(*arguments, **named)
        return self._jitted(_call, function, arguments, named)

    def _jitted(
        self,
        use: FrameworkFunction,
        function: FrameworkFunction,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
    ) -> Any:
        """`use(function, arguments, named)`, compiled once for all arguments that are no arrays."""
        values: dict[Any, Any] = {**dict(enumerate(arguments)), **named}
        traced = {str(at): one for at, one in values.items() if isinstance(one, jax.Array)}
        other = tuple((at, repr(one)) for at, one in values.items() if str(at) not in traced)
        key = (use, id(function), other, tuple(traced))
        if key not in self._compiled:

            def whole(traced: Mapping[str, Any]) -> Any:
                inside: dict[Any, Any] = {
                    at: traced.get(str(at), one) for at, one in values.items()
                }
                first = [inside.pop(at) for at in range(len(arguments))]
                return use(function, first, inside)

            self._compiled[key] = jax.jit(whole)
        return self._compiled[key](traced)

    def with_gradient(
        self,
        function: FrameworkFunction,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        by: int,
    ) -> tuple[Any, Any]:
        """By jax.value_and_grad, in one call."""

        def summed(x: Any, function: Any, named: Mapping[str, Any]) -> tuple[Any, Any]:
            use = _call if _is_nnx(function) else self.called
            output = use(function, [*arguments[:by], x, *arguments[by + 1 :]], named)
            return output.astype(jnp.float32).sum(), output

        if _is_nnx(function):  # whose state may change within the gradients of nnx alone
            from flax import nnx

            of_first = nnx.value_and_grad(summed, has_aux=True)
            (_, output), gradient = of_first(arguments[by], function, named)
        else:
            of_first = jax.value_and_grad(lambda x: summed(x, function, named), has_aux=True)
            (_, output), gradient = of_first(arguments[by])
        return output, gradient


class _Applied:
    """A module of linen as a function: its variables are made in the first call."""

    def __init__(self, module: Any, source: Callable[[str], Any]) -> None:
        self.module = module
        self._source = source
        self._variables: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        rngs = {"dropout": self._source("key")}
        if self._variables is None:
            keys = {"params": jax.random.key(0), "dropout": jax.random.key(0)}
            self._variables = self.module.init(keys, *arguments, **named)
        return self.module.apply(self._variables, *arguments, rngs=rngs, **named)


def _is_nnx(value: object) -> bool:
    nnx = _flax("flax.nnx")
    return nnx is not None and isinstance(value, nnx.Module)


def _reseed(module: Any, seed: int) -> None:
    """Seed every source that a module of nnx, or a part of it, keeps."""
    from flax import nnx

    parts = (part for _, part in nnx.iter_graph(module))
    tags = {part.tag for part in parts if isinstance(part, nnx.RngStream)}
    nnx.reseed(module, **dict.fromkeys(tags, seed))


def _call(function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    return function(*arguments, **named)


def _flax(name: str) -> Any:
    """A module of flax, if the code under test has imported it."""
    return sys.modules.get(name)
