"""The adapter that docs/code.md shows works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from slots_made import bound, drawn

from dropcheck.code.adapters.adapter import Adapter, numbers_of

PAGE = Path(__file__).parents[2] / "docs" / "code.md"
X = np.linspace(1, 2, 120).reshape(3, 40).astype(np.float32).astype(float)


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
    one, again, other = (
        drawn(code, 40, X, 0.5, seed=at, modes=("train", "grad")) for at in (1, 1, 2)
    )
    assert np.array_equal(one["train"], again["train"])
    assert not np.array_equal(one["train"], other["train"])
    assert np.array_equal(one["grad"], one["train"] / X)
    assert set(np.unique(one["grad"])) == {0.0, 2.0}
