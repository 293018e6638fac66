"""How functions scale: by their kernels, at numbers of both signs, and at 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dropcheck.analysis.rewriting import degree_of, scales_together
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import FUNCTIONS, SIGNS, operation

MATRICES = ("trace", "svdvals", "eigvalsh", "tril", "triu", "diag", ".T", "transpose")
OPTIONS: dict[str, dict[str, Any]] = {
    "subscript": {"index": (1,)},
    "elements": {"axis": 0, "places": (2, 0)},
    "reshape": {"shape": [3, 2]},
    "repeat": {"n": 2},
    "roll": {"shift": 1},
    "tile": {"n": 2},
    "take": {},
    "quantile": {"u": 0.3},
    "full": {"shape": [2, 6]},
}
ALL = (*FUNCTIONS.values(), *SIGNS.values())
ALONE = [one.name for one in ALL if degree_of(one, {}) is not None]
TOGETHER = [one for one in ALL if scales_together(one)]


def made(name: str, *arrays: np.ndarray) -> np.ndarray:
    return np.asarray(operation(name).kernel(*arrays, **OPTIONS.get(name, {})))


@pytest.mark.parametrize("name", ALONE)
def test_a_factor_goes_out_of_the_first_argument(name: str) -> None:
    degree = degree_of(operation(name), {})
    assert degree is not None
    x = np.random.default_rng(1).normal(size=(3, 3, 5) if name in MATRICES else (6, 5))
    x = np.abs(x) if name == "sqrt" else x
    x = x + x.swapaxes(0, 1) if name == "eigvalsh" else x
    others = {"leaky_relu": [np.full(5, 0.1)], "take": [np.array([[2.0], [0.0]])]}.get(name, [])
    for scale in (0.0, 0.25, 3.0):
        scaled = made(name, scale * x, *others)
        assert scaled == pytest.approx(scale**degree * made(name, x, *others), abs=1e-12)


@pytest.mark.parametrize("function", TOGETHER, ids=lambda one: one.name)
def test_a_factor_goes_out_of_all_arguments(function: Function) -> None:
    needed = [one for one in function.parameters if not (one.option or one.variadic)]
    arrays = np.random.default_rng(2).normal(size=(len(needed), 6, 5))
    found = made(function.name, *arrays)
    assert made(function.name, *(3 * arrays)) == pytest.approx(3 * found)


def test_a_norm_that_counts_does_not_scale() -> None:
    assert degree_of(operation("norm"), {"ord": 0}) is None
    assert degree_of(operation("norm"), {"ord": 3}) == 1
