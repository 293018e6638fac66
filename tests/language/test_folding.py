"""What is fixed is worked out before any draw."""

from __future__ import annotations

import math
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowered import expressed, lowering

from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.shapes import elementwise

FOLDED = {
    "2 + 3 * 4 - 1": 13.0, "7 // 2 + -7 // 2 + 7 % 3 + -7 % 3": 2.0, "2**10 / 4": 256.0,
    "9**9**9": math.inf, "-9**9**9": -math.inf, "(-8) ** (1 / 3)": math.nan, "1 / 0": math.inf,
    "0 / 0": math.nan, "1 < 2 < 3": 1.0, "1 < 3 < 2": 0.0, "inf - inf == 0": math.nan,
    "0 and inf - inf": 0.0, "1 or inf - inf": 1.0, "1 and inf - inf": math.nan, "inf and -inf": 1.0,
    "not 0.5": 0.0, "3 if 2 > 1 else 1 / 0": 3.0, "where(0, 1 / 0, 4)": 4.0, "[5, 6, 7][-1]": 7.0,
    "[[1, 2], [3, 4]][1:, 0][0]": 3.0, "size([1, 2]) + shape([[1, 2, 3]])[1]": 5.0,
    "round(2.5) + floor(-0.5) + ceil(0.5)": 2.0, "comb(10, 3) + factorial(4)": 144.0,
    "minimum(3, 1, 2) + maximum(3, 1, 2)": 4.0, "Phi(0) + erf(0) + sigmoid(0)": 1.0,
    "isclose(0.1 + 0.2, 0.3) + (0.1 + 0.2 == 0.3)": 1.0,
    "lgamma(-inf)": -math.inf, "factorial(1e300)": math.inf, "comb(1e15, 5e14)": math.inf,
    "digamma(-1e300)": math.nan,
    "2 * pi - e + euler_gamma": 2 * math.pi - math.e + 0.5772156649015329,
}  # fmt: skip


@pytest.mark.parametrize("expression", FOLDED)
def test_folding(expression: str) -> None:
    assert expressed(lowering(), expression).known == pytest.approx(
        FOLDED[expression], rel=1e-15, nan_ok=True
    )


NUMBERS = st.sampled_from(
    [
        *("0", "1", "2", "-1", "0.5", "3", "-2.5", "7", "171", "20.5", "1e300", "1e-300"),
        *("inf", "(-inf)", "(inf - inf)", "(1 > 2)", "(1 < 2)"),
    ]
)
OF_NUMBERS = sorted(n for n, function in FUNCTIONS.items() if function.shape is elementwise)
SIGNS = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", ">", ">=", " and ", " or "]


def call_text(name: str, arguments: tuple[str, ...]) -> str:
    values = [p for p in FUNCTIONS[name].parameters if not p.option and not p.variadic]
    return f"{name}({', '.join(arguments[: len(values)])})"


def grown(below: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(below, st.sampled_from(SIGNS), below).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        below.map(lambda text: f"(-{text})"),
        below.map(lambda text: f"(not {text})"),
        st.tuples(below, below, below).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.builds(call_text, st.sampled_from(OF_NUMBERS), st.tuples(below, below, below)),
    )


@given(st.recursive(NUMBERS, grown, max_leaves=8))
@settings(max_examples=300)
def test_whatever_is_fixed_is_a_number_and_warns_of_nothing(expression: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(expressed(lowering(), expression).known, float)
