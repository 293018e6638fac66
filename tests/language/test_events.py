"""An event is what the model knows to be 0 or 1; a number is none, and a point has no chance."""

from __future__ import annotations

import pytest
from lowered import lowered

from dropcheck.language.events import has_no_chance, is_event

MODEL = """
b, c ~ bernoulli(0.3)
d ~ discrete_uniform(1, 6)
z, w ~ normal(0, 1)
v ~ bernoulli(0.5)[3]
x ~ normal(0, 1)[3]
s ~ choice([0, 1, 1])
r ~ rademacher()
"""
EVENTS = [
    "b", "b * c", "1 - b", "b and c", "d == 1", "not b", "(z > 0) * b", "where(z > 0, b, c)",
    "b if z > 0 else 0", "v", "v[0]", "max(v)", "prod(v)", "maximum(b, c)", "abs(b - c)", "s",
    "(b + c) % 2", "b**2", "v[0] * v[1]", "any(v)", "all(x > 0)", "z in {0}",
    "concat(v, b)", "1",
]  # fmt: skip
NUMBERS = [
    "z", "d", "b + c", "2 * b", "b - c", "r", "d % 3", "sum(v)", "mean(v)", "z * b", "0.5", "x",
    "where(z > 0, b, 2)", "b / 2", "exp(b)",
]  # fmt: skip


@pytest.mark.parametrize("text", EVENTS)
def test_what_is_0_or_1_in_every_draw_is_an_event(text: str) -> None:
    assert is_event(lowered(MODEL, text))


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_no_event(text: str) -> None:
    assert not is_event(lowered(MODEL, text))


NO_CHANCE = [
    "z == 0", "z + w == 1", "z == w", "2 * z + d == 1", "exp(z) == 1", "x[0] == 0", "b and z == 0",
    "sum(x) == 0", "2 * z == 0", "abs(z) == 1",
]  # fmt: skip
SOME_CHANCE = [
    "z > 0", "d == 1", "z - z == 0", "z * b == 0", "relu(z) == 0", "floor(z) == 0", "b or z == 0",
    "z / z == 1", "z * d - d * z == 0", "0 * z == 0",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_CHANCE)
def test_a_continuous_quantity_takes_no_value(text: str) -> None:
    assert has_no_chance(lowered(MODEL, text))


@pytest.mark.parametrize("text", SOME_CHANCE)
def test_what_may_happen_has_a_chance(text: str) -> None:
    assert not has_no_chance(lowered(MODEL, text))


def test_a_long_model_is_walked_step_by_step() -> None:
    lines = ["m0 = 1", "c0 = 1"]
    for t in range(1500):
        lines += [f"z{t} ~ normal(0, 1)", f"m{t + 1} = m{t} * z{t}", f"b{t} ~ bernoulli(0.5)"]
        lines += [f"c{t + 1} = c{t} and b{t}"]
    model = "; ".join(lines)
    assert not is_event(lowered(model, "m1500 * c1500"))
    assert is_event(lowered(model, "c1500"))
