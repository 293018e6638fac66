"""A reduction without `axis` is over all axes of one draw, as numpy's is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lowered import lowered
from scipy.special import logsumexp, softmax
from trials import entry, registry_of

from dropcheck.errors import DropcheckError
from dropcheck.language.check import check_registry

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum, "prod": np.prod, "mean": np.mean, "var": np.var, "std": np.std, "max": np.max,
    "min": np.min, "argmax": np.argmax, "argmin": np.argmin, "median": np.median, "any": np.any,
    "all": np.all, "norm": lambda x, **how: np.sqrt(np.sum(x**2, **how)), "logsumexp": logsumexp,
}  # fmt: skip
LAST: dict[str, Callable[..., Any]] = {
    "softmax": lambda x: softmax(x, axis=-1), "cumsum": lambda x: np.cumsum(x, axis=-1),
    "cumprod": lambda x: np.cumprod(x, axis=-1), "sort": np.sort, "argsort": np.argsort,
    "cummax": lambda x: np.maximum.accumulate(x, axis=-1), "diff": np.diff,
    "flip": lambda x: x[..., ::-1],
}  # fmt: skip
NUMBERS = {"[3]": (3,), "[2, 3]": (2, 3), "[2, 3, 4]": (2, 3, 4), "[1, 1]": (1, 1)}


def made(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Numbers in no order, one of them 0."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 5) % 7 - 2.0).reshape(shape)


def value(name: str, shape: str, options: str = "") -> Any:
    count = int(np.prod(NUMBERS[shape]))
    text = f"{name}(reshape((arange({count}) * 5) % 7 - 2, {shape}){options})"
    return np.asarray(lowered("", text).constant)[..., 0]


@pytest.mark.parametrize("shape", NUMBERS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_is_over_all_axes(name: str, shape: str) -> None:
    x = made(NUMBERS[shape])
    np.testing.assert_allclose(value(name, shape), REDUCTIONS[name](x), rtol=1e-12)
    kept = value(name, shape, ", keepdims=1")
    np.testing.assert_allclose(kept, REDUCTIONS[name](x, keepdims=True), rtol=1e-12)
    last = value(name, shape, ", axis=-1")
    np.testing.assert_allclose(last, REDUCTIONS[name](x, axis=-1), rtol=1e-12)


@pytest.mark.parametrize("shape", NUMBERS)
@pytest.mark.parametrize("name", LAST)
def test_what_keeps_the_shape_goes_along_the_last_axis(name: str, shape: str) -> None:
    expected = LAST[name](made(NUMBERS[shape]))
    if name == "argsort":
        expected = np.argsort(made(NUMBERS[shape]), axis=-1, kind="stable")
    np.testing.assert_allclose(value(name, shape), expected, rtol=1e-12)


def test_the_quantile_is_of_all_elements() -> None:
    found = value("quantile", "[2, 3]", ", 0.3")
    assert found == pytest.approx(np.quantile(made((2, 3)), 0.3), rel=1e-12)


def test_an_order_of_a_norm_of_a_matrix_needs_an_axis() -> None:
    for order in ("ord=1", "1", "ord=2"):
        with pytest.raises(DropcheckError, match="with 'ord' needs 'axis'"):
            value("norm", "[2, 3]", f", {order}")
    np.testing.assert_allclose(
        value("norm", "[2, 3]", ", ord=1, axis=-1"), np.abs(made((2, 3))).sum(axis=-1)
    )


def notes(model: str, claim: str) -> list[str]:
    return [note.message for note in check_registry(registry_of(entry("c", model, claim))).notes]


def test_a_reduction_of_several_axes_is_noted_once() -> None:
    model = "X ~ normal(1, 1)[3, 4]"
    (note,) = notes(model, "E(sum(X) + max(X)) < 100")
    assert note == "'sum' of shape [3, 4] without 'axis' is over all elements"
    assert notes(model, "E(sum(X, axis=[0, 1])) == 12") == []
    assert notes("x ~ normal(1, 1)[3]", "E(sum(x)) == 3") == []
