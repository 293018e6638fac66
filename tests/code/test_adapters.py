"""The adapters with the frameworks that they are for; each is tested where that is installed.

One stands in for those that are not; another is the one that docs/code.md shows.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_framework
import numpy as np
import pytest
from fake_framework import FakeAdapter
from slots_made import bound, drawn

from dropcheck.code.adapters.adapter import Adapter, numbers_of

# In tests of a framework its own warnings are its own matter.
pytestmark = pytest.mark.filterwarnings("ignore")

PAGE = Path(__file__).parents[2] / "docs" / "code.md"
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

        def keyed(key: Any, x: Any, p: float, *, deterministic: bool) -> Any:
            if deterministic:
                return x
            return jnp.where(jax.random.bernoulli(key, 1 - p, x.shape), x / (1 - p), 0)

        found = [keyed]
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
        again, other = (drawn(code, 300, X, HALF, dtype=dtype, seed=at)["train"] for at in (1, 2))
        assert np.array_equal(y, again)
        assert not np.array_equal(y, other)
        x = np.ones((3, 2, 50, 2))
        y = drawn(code, 2, x, HALF, dtype=dtype, seeds=3, calls=2, single=True)["train"]
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
    assert np.array_equal(adapter.returned(adapter.given(values.copy(), dtype)), values)
    odd = np.array([np.nan, np.inf, -np.inf], "f4")
    assert np.array_equal(adapter.returned(adapter.given(odd, dtype)), odd, equal_nan=True)


# ---- the adapter of the page ---------------------------------------------------------------------


class Tensor:
    """An array of the framework of the page."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def cast(self, dtype: Any) -> Any:
        return Tensor(self.values.astype(dtype))

    def numpy(self) -> Any:
        return self.values

    def sum(self) -> Any:
        return self


class Framework(SimpleNamespace):
    """The framework: it is seeded as a whole."""

    Tensor = Tensor
    float32, float16 = np.float32, np.float16

    def seed(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def from_numpy(self, values: Any) -> Any:
        return Tensor(values)

    def gradient(self, total: Any, by: Any) -> Any:
        """Of what is linear in each element."""
        return Tensor(total.values / by.values)

    def dropout(self, x: Any, p: float) -> Any:
        kept = self.generator.random(x.values.shape) >= p
        return Tensor((kept * x.values / (1 - p)).astype(x.values.dtype))


def test_the_adapter_of_the_page_works() -> None:
    shown = re.findall(r"```python\n(class .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    framework = Framework()
    names: dict[str, Any] = {"Adapter": Adapter, "numbers_of": numbers_of, "minitensor": framework}
    exec(shown[0], names)
    code = bound(names["MinitensorAdapter"](), framework.dropout)
    one, again = (drawn(code, 300, X, 0.5, modes=("train", "grad")) for _ in range(2))
    assert np.array_equal(one["train"], again["train"])
    assert np.array_equal(one["grad"], one["train"] / X)
    assert set(np.unique(one["grad"])) == {0.0, 2.0}
