"""The adapters with the frameworks that they are for; each is tested where that is installed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import fake_framework
import numpy as np
import pytest
from fake_framework import FakeAdapter
from slots_made import bound, drawn

from dropcheck.code.adapters.adapter import Adapter
from dropcheck.errors import DropcheckError

# In tests of a framework its own warnings are its own matter.
pytestmark = pytest.mark.filterwarnings("ignore")

# Numbers that bfloat16 has.
X = np.resize(1 + np.arange(128) / 128, (4, 300))
HALF = 0.5
EACH = pytest.mark.parametrize("name", ["fake", "torch", "jax"])


def adapter_of(name: str) -> Adapter:
    """The adapter of a framework, or of one that stands in for those that are not installed."""
    if name == "fake":
        return FakeAdapter()
    pytest.importorskip(name, reason=f"{name} is not installed")
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    module = importlib.import_module(f"dropcheck.code.adapters.{name}_adapter")
    made: Adapter = getattr(module, f"{name.capitalize()}Adapter")()
    return made


def code_of(name: str) -> list[Any]:
    """Ways to have dropout of a framework: functions, classes, with modes each."""
    adapter = adapter_of(name)
    found: list[Any] = []
    if name == "fake":
        found = [fake_framework.dropout, fake_framework.Layer]
    elif name == "torch":
        import torch

        found = [torch.nn.functional.dropout, torch.nn.Dropout]
        found.append(torch.jit.script(torch.nn.functional.dropout))  # it has but a schema
    else:
        import jax
        import jax.numpy as jnp

        def ours(x: Any, p: float, key: Any, training: bool) -> Any:
            if not training:
                return x
            return jnp.where(jax.random.bernoulli(key, 1 - p, x.shape), x / (1 - p), 0)

        def keyed_first(key: Any, x: Any, p: float, *, deterministic: bool) -> Any:
            return ours(x, p, key, not deterministic)

        found = [ours, keyed_first]
    return [bound(adapter, one) for one in found]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@EACH
def test_dropout_in_all_its_modes(name: str, dtype: str) -> None:
    for code in code_of(name):
        found = drawn(code, 300, X, HALF, dtype=dtype, modes=("train", "eval", "grad"))
        y, gradient = found["train"], found["grad"]
        assert np.array_equal(found["eval"], X)
        assert set(np.unique(y / X)) == {0.0, 2.0}
        assert np.array_equal(gradient, y / X)
        # 1,200 numbers: of a fair share 0.5 ± 0.1 is 7 standard deviations wide
        assert 0.4 < np.mean(y == 0) < 0.6


@EACH
def test_draws_are_those_of_the_seed(name: str) -> None:
    for code in code_of(name):
        one, again, other = (drawn(code, 300, X, HALF, seed=at)["train"] for at in (1, 1, 2))
        assert np.array_equal(one, again)
        assert not np.array_equal(one, other)


@EACH
def test_one_draw_may_be_one_call_of_seeds_and_calls_that_differ(name: str) -> None:
    x = np.ones((3, 2, 50, 2))
    for code in code_of(name):
        y = drawn(code, 20, X[:, :20], HALF, single=True)["train"]
        assert set(np.unique(y / X[:, :20])) == {0.0, 2.0}
        y = drawn(code, 2, x, HALF, seeds=3, calls=2, single=True)["train"]
        assert y.shape == x.shape
        assert len(np.unique(np.moveaxis(y, 2, -1).reshape(12, 50), axis=0)) == 12


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["torch", "jax"])
def test_every_number_of_a_format_comes_back(name: str, dtype: str) -> None:
    adapter = adapter_of(name)
    import ml_dtypes

    bits = np.arange(2**16, dtype=np.uint16)
    short = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16}
    with np.errstate(all="ignore"):
        single = bits.view(short[dtype]).astype(np.float32) if dtype in short else bits.astype("f4")
    values = single[np.isfinite(single) & ((single == 0) | (np.abs(single) > 2e-38))]
    found = adapter.returned(adapter.given(values.copy(), dtype))
    assert np.array_equal(found, values)
    odd = np.array([np.nan, np.inf, -np.inf], "f4")
    assert np.array_equal(adapter.returned(adapter.given(odd, dtype)), odd, equal_nan=True)


def samplers(name: str) -> Sequence[Any]:
    if name == "fake":
        return [lambda size: fake_framework.uniform(-1, 1, size)]
    if name == "jax":
        import jax

        return [jax.random.normal]
    import torch

    def of_generator(size: Any, dtype: Any, generator: Any) -> Any:
        return torch.randn(size, dtype=dtype, generator=generator)

    return [lambda size, dtype: torch.randn(size, dtype=dtype), of_generator, torch.randn]


@EACH
def test_samplers_have_the_size_that_they_are_given(name: str) -> None:
    adapter = adapter_of(name)
    for function in samplers(name):
        found = drawn(bound(adapter, function, ()), 300, size=(2, 3))["train"]
        assert found.shape == (2, 3, 300)
        assert len(np.unique(found)) > 1700
        assert abs(found.mean()) < 0.2  # 8 standard deviations


def test_modules_of_torch_are_in_the_format_of_what_they_are_given() -> None:
    adapter = adapter_of("torch")
    import torch

    linear = bound(adapter, torch.nn.LayerNorm, ("x", "n"))
    found = drawn(linear, 300, X, 4.0, dtype="bfloat16", modes=("train", "eval"))
    assert found["train"].shape == X.shape
    instance = bound(adapter, torch.nn.Dropout(HALF), ("x",))
    assert np.array_equal(drawn(instance, 300, X, modes=("eval",))["eval"], X)


def test_an_object_has_the_rate_that_it_was_built_with() -> None:
    adapter = adapter_of("torch")
    import torch

    own = torch.nn.Dropout(HALF)
    found = [own, torch.nn.Sequential(own)]
    for one in found:
        code = bound(adapter, one)
        given = drawn(code, 300, X, HALF, modes=("train", "eval"))
        assert np.array_equal(given["eval"], X)
        assert set(np.unique(given["train"] / X)) == {0.0, 2.0}
        with pytest.raises(DropcheckError, match=r"was built with p=0\.5"):
            drawn(code, 300, X, 0.25)


def test_what_is_set_in_the_thread_of_the_caller_holds() -> None:
    adapter = adapter_of("torch")
    import torch

    seen: set[bool] = set()

    def noted(x: Any) -> Any:
        seen.add(torch.is_grad_enabled())
        return x @ x.mT

    code = bound(adapter, noted, ("x",))
    x = np.random.default_rng(0).normal(size=(2, 2, 300))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        found = drawn(code, 300, x)["train"]
    assert seen == {False}
    assert np.all(found.astype(np.float32).view(np.uint32) & 0xFFFF == 0)  # numbers of bfloat16


def test_tensors_are_read_or_refused() -> None:
    adapter = adapter_of("torch")
    given = adapter.given(np.ones(3, "f4"), "float32")
    with pytest.raises(TypeError, match="complex64"):
        adapter.returned(given * 1j)
    assert np.array_equal(adapter.returned((given * 1j).conj().imag), -np.ones(3))


def test_short_integers_of_jax_are_numbers() -> None:
    adapter = adapter_of("jax")
    given = adapter.given(np.ones(3, "f4"), "float32")
    assert np.array_equal(adapter.returned(given.astype("int4")), np.ones(3))


def test_float64_of_jax_has_to_be_set() -> None:
    adapter = adapter_of("jax")
    import jax

    if jax.config.jax_enable_x64:
        pytest.skip("float64 of jax is set")
    with pytest.raises(DropcheckError) as caught:
        drawn(bound(adapter, lambda x: x, ("x",)), 300, X, dtype="float64")
    assert "JAX_ENABLE_X64=1" in str(caught.value.problems[0].hint)


def test_jax_is_given_few_shapes() -> None:
    adapter = adapter_of("jax")
    shapes: set[tuple[int, ...]] = set()

    def noted(x: Any) -> Any:
        shapes.add(x.shape)
        return x

    code = bound(adapter, noted, ("x",))
    for draws in (1, 2, 7, 300, 1000, 1024):
        drawn(code, draws, np.ones((4, draws)))
    assert shapes == {(1024, 4)}


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_where_a_call_is_a_draw_what_computes_in_place_changes_no_other(name: str) -> None:
    adapter = adapter_of(name)

    def doubled(x: Any, c: float) -> Any:
        x *= c
        return x

    for dtype in ("float32", "bfloat16"):
        code = bound(adapter, doubled, takes=("x", "c"))
        found = drawn(code, X.shape[-1], X, 2.0, dtype=dtype, single=True)
        assert np.array_equal(found["train"], 2 * X)
