"""How functions scale: by their kernels, at numbers of both signs, and at 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dropcheck.vocabulary.functions import FUNCTIONS, SIGNS, operation
from dropcheck.vocabulary.functions.degrees import ALONE, TOGETHER, degree_alone
from dropcheck.vocabulary.functions.elementwise import NEGATIVE

MATRICES = ("trace", "svdvals", "eigvalsh", "tril", "triu", "diag", ".T", "transpose")
OPTIONS: dict[str, dict[str, Any]] = {
    "subscript": {"index": (1,)},
    "elements": {"axis": 0, "places": (2, 0)},
    "reshape": {"shape": [3, 2]},
    "repeat": {"n": 2},
    "roll": {"shift": 1},
    "tile": {"n": 2},
    "take": {},
}
REARRANGING = [one.name for one in (*FUNCTIONS.values(), *SIGNS.values()) if one.rearranges]


def made(name: str, *arrays: np.ndarray) -> np.ndarray:
    return np.asarray(operation(name).kernel(*arrays, **OPTIONS.get(name, {})))


@pytest.mark.parametrize("name", [*ALONE, *REARRANGING])
def test_a_factor_goes_out_of_the_first_argument(name: str) -> None:
    degree = degree_alone(operation(name), {})
    assert degree is not None
    x = np.random.default_rng(1).normal(size=(3, 3, 5) if name in MATRICES else (6, 5))
    x = np.abs(x) if name == "sqrt" else x
    x = x + x.swapaxes(0, 1) if name == "eigvalsh" else x
    others = {"leaky_relu": [np.full(5, 0.1)], "take": [np.array([[2.0], [0.0]])]}.get(name, [])
    for scale in (0.0, 0.25, 3.0):
        scaled = made(name, scale * x, *others)
        assert scaled == pytest.approx(scale**degree * made(name, x, *others), abs=1e-12)


@pytest.mark.parametrize("name", TOGETHER)
def test_a_factor_goes_out_of_all_arguments(name: str) -> None:
    x, y = np.random.default_rng(2).normal(size=(2, 6, 5))
    assert made(name, 3 * x, 3 * y) == pytest.approx(3 ** TOGETHER[name] * made(name, x, y))


def test_a_norm_that_counts_does_not_scale() -> None:
    assert degree_alone(operation("norm"), {"ord": 0}) is None
    assert degree_alone(NEGATIVE, {}) == 1
