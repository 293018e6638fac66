"""Bounds of E exp(p q) of generated quadratic forms q of normal numbers, beside the closed form.

With q = c + b·u + u'Au / 2 of independent standard normal u, E exp(q) is det(I - A)^(-1/2) times
exp(c + b'(I - A)^(-1) b / 2) where I - A is positive definite, and infinite elsewhere (Mathai and
Provost 1992, Quadratic Forms in Random Variables, theorem 3.2a.2).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from lowered import expressed, lowering
from scipy import integrate, special, stats

from dropcheck.analysis.norms import Norms
from dropcheck.language.graph import Kind, Value, kernel_of, number, ordered
from dropcheck.vocabulary.function import Array

MODEL = "v ~ normal(0.5, 0.7)[4]; w ~ normal(0, 1)[4]; z ~ normal(-0.3, 0.4); y ~ normal(0, 1.2)"
MEANS = np.array([0.5] * 4 + [0.0] * 4 + [-0.3, 0.0])
DEVIATIONS = np.array([0.7] * 4 + [1.0] * 4 + [0.4, 1.2])
PLACES = {"v": slice(0, 4), "w": slice(4, 8), "z": 8, "y": 9}
COUNT = len(MEANS)
FACTORS = (0.01, 0.03, 0.05, 0.1, -0.1, 0.2, -0.4)
LINEAR = ("z", "y", "v[0]", "v[3]", "w[1]", "mean(v)", "sum(w[1:3])", "(v[2] - w[2])")


def line(pick: random.Random) -> str:
    parts = pick.sample(LINEAR, pick.randint(1, 3))
    return f"({' + '.join(f'{pick.choice((1, -1, 0.5, 2))} * {one}' for one in parts)} - 1)"


def term(pick: random.Random) -> str:
    first = pick.randint(0, 2)
    part = f"[{first}:{pick.randint(first + 1, 4)}]"
    form = pick.choice(
        (
            f"{line(pick)}**2", f"{line(pick)} * {line(pick)}", "(v @ w)", line(pick),
            f"sum(v{part} * w{part})", f"(v{part} @ w{part})", "(w @ w)", "sum(v**2)",
            f"sum(w{part}**2)", "(v[1:] @ v[:3])", "sum(v * z)", f"(w * y)[{first}]",
        )
    )  # fmt: skip
    return f"{pick.choice(FACTORS)} * {form}"


def evaluated(value: Value, points: Array) -> Array:
    """A quantity at points [numbers, points] of the draws in standard units."""
    drawn = MEANS[:, np.newaxis] + DEVIATIONS[:, np.newaxis] * points
    found: dict[int, Array] = {}
    for one in ordered([value]):
        found.update({id(below): below.constant for below in one.inputs if not below.random})
        if one.kind == Kind.DRAW:
            found[id(one)] = drawn[PLACES[str(one.name)]]
        else:
            found[id(one)] = kernel_of(one)(*(number(found[id(below)]) for below in one.inputs))
    return np.broadcast_to(found[id(value)], points.shape[1:])


def norm_of_exponential(value: Value, p: float) -> float:
    """(E exp(p q))^(1/p) by the closed form."""
    units = np.eye(COUNT)
    pairs = (units[:, :, np.newaxis] + units[:, np.newaxis, :]).reshape(COUNT, -1)
    at_zero = p * float(evaluated(value, np.zeros((COUNT, 1)))[0])
    up, down = p * evaluated(value, units) - at_zero, p * evaluated(value, -units) - at_zero
    slope = (up - down) / 2
    both = (p * evaluated(value, pairs) - at_zero).reshape(COUNT, COUNT)
    left = units - (both - up[:, np.newaxis] - up[np.newaxis, :])
    eigenvalues = np.linalg.eigvalsh(left)
    if eigenvalues[0] <= 1e-12:
        return math.inf
    exponent = slope @ np.linalg.solve(left, slope) / 2 - np.log(eigenvalues).sum() / 2
    return math.exp((at_zero + exponent) / p)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_no_bound_is_below_the_closed_form(first: int) -> None:
    wrong, finite = [], 0
    for seed in range(first, first + 50):
        pick = random.Random(seed)
        exponent = " + ".join(term(pick) for _ in range(pick.randint(1, 3)))
        value, known = expressed(lowering(MODEL), f"exp({exponent})"), Norms(integrate=False)
        for p in (1.0, 2.0, 4.0):
            bound = known.norm(value, p)
            finite += bound < math.inf
            if not bound >= norm_of_exponential(value.inputs[0], p) * (1 - 1e-9):
                wrong.append(f"{exponent}, order {p}")
    assert wrong == []
    assert finite >= 50


def test_the_closed_form_is_that_of_chi_square_numbers() -> None:
    value = expressed(lowering(MODEL), "0.1 * (w @ w) + 0.3 * y")
    truth = 0.8**-2 * math.exp((0.3 * 1.2) ** 2 / 2)
    assert norm_of_exponential(value, 1.0) == pytest.approx(truth, rel=1e-12)
    assert norm_of_exponential(value, 6.0) == math.inf


@pytest.mark.parametrize("shape", ["exp({0}) * exp({1})", "exp({0}) / exp(-({1}))"])
def test_exponentials_of_a_product_are_one(shape: str) -> None:
    wrong, finite = [], 0
    for seed in range(25):
        pick = random.Random(seed)
        parts = [term(pick), f"{term(pick)} + {term(pick)}"]
        scope, known = lowering(MODEL), Norms(integrate=False)
        whole = expressed(scope, f"{parts[0]} + {parts[1]}")
        for p in (1.0, 2.0):
            bound = known.norm(expressed(scope, shape.format(*parts)), p)
            finite += bound < math.inf
            if not bound >= norm_of_exponential(whole, p) * (1 - 1e-9):
                wrong.append(f"{parts}, order {p}")
    assert wrong == []
    assert finite >= 15


def test_what_two_densities_share_cancels() -> None:
    """The weights of a normal law about 1 for draws about 0 have E w^p = exp((p² - p) / 2)."""
    scope = lowering("x ~ normal(0, 1); z ~ normal(0, 1)[2]")
    ratio = "density(normal(1, 1), x) / density(normal(0, 1), x)"
    for p in (1.0, 2.0, 4.0):
        truth = math.exp((p - 1) / 2)
        known = Norms(integrate=False).norm(expressed(scope, ratio), p)
        assert known == pytest.approx(truth, rel=1e-6)
    crossed = expressed(scope, "outer(exp(z), 1 / exp(z))")
    assert Norms(integrate=False).norm(crossed, 2.0) >= math.exp(2.0)  # of exp(z[0] - z[1])


@pytest.mark.parametrize("low", [-8.0, 0.0, 1.0])
@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("1 / sigmoid({})", special.expit),
        ("1 / (1 - sigmoid({}))", lambda x: special.expit(-x)),
        ("1 / Phi({} / 2)", lambda x: special.ndtr(x / 2)),
        ("1 / (1 - Phi({} / 2))", lambda x: special.ndtr(-x / 2)),
    ],
)
def test_reciprocals_of_shares(text: str, share: Callable[[Array], Array], low: float) -> None:
    """Of a normal number, and of one that is held above an end."""
    law = stats.truncnorm(low, 8.0) if low > -8 else stats.norm
    model = f"x ~ truncated_normal(0, 1, {low}, 8)" if low > -8 else "x ~ normal(0, 1)"
    value = expressed(lowering(model), text.format("x"))
    for p in (1.0, 2.0):
        at = np.linspace(low, 8.0, 20_001)
        truth = integrate.trapezoid(law.pdf(at) * share(at) ** -p, at) ** (1 / p)
        bound = Norms(integrate=False).norm(value, p)
        assert truth * (1 - 1e-6) <= bound < (40 * truth if low == -8 else math.inf)
