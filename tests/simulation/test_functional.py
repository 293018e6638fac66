"""How averages combine, and the sizes that the scale of a claim is made from."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from trials import compiled, judged

from dropcheck.simulation.integrands import means_of

Floats = npt.NDArray[np.float64]

# two laws of which every draw has the same square: rms 3 and 4 whatever is drawn
THREE_AND_FOUR = "x = 3 * a; y = 4 * b"
SIGNS = "a ~ rademacher(); b ~ rademacher(); "


def averages(model: str, claim: str, centre: float = 0.0) -> tuple[dict[int, Floats], list[float]]:
    """The operands of a statement and their sizes, from one span of draws."""
    found = compiled(model, claim)
    centres = np.full(found.program.size, centre)
    sums = found.program.span(np.random.default_rng(1), centres, 0).sums
    means = means_of(sums, found.program.span_draws)
    functional = found.functional
    return functional.evaluate(means[:, np.newaxis], centres), functional.sizes(means, centres)


@pytest.mark.parametrize(
    ("side", "size"),
    [
        # each operator by the size of what it measures
        ("E(x)", 3.0), ("Var(x)", 9.0), ("Std(x)", 3.0), ("Cov(x, y)", 12.0), ("Cov(x, x)", 9.0),
        ("Corr(x, y)", 1.0), ("P(x > 0)", 1.0), ("E(x, given=y > 0)", 3.0),
        # every sign by plus
        ("E(x) - E(y)", 7.0), ("-E(x)", 3.0), ("E(x) - 2", 5.0), ("2 - Var(x)", 11.0),
        ("E(x) * E(y)", 12.0), ("-2 * E(x)", 6.0), ("E(x)**2", 9.0), ("E(x) * E(x)", 9.0),
        # denominators kept as they are
        ("E(x) / 2", 1.5), ("E(x) / E(y**2)", 3 / 16), ("Var(x) / (E(y**2) - 7)", 1.0),
        # and so are other functions
        ("exp(E(x**2) / 9)", math.e), ("log(E(x**2))", math.log(9.0)),
        # but not those that carry a magnitude along
        ("sqrt(E(x**2))", 3.0), ("abs(E(x))", 3.0), ("maximum(E(x), E(y))", 4.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("centre", [0.0, 2.5])
def test_size(side: str, size: float, centre: float) -> None:
    _, sizes = averages(SIGNS + THREE_AND_FOUR, f"{side} == 0", centre)
    assert sizes[0] == pytest.approx(size, rel=0.1 if side.startswith("Var(x) /") else 1e-9)


@pytest.mark.parametrize(
    ("claim", "scale"),
    [
        ("E(x**2) == 9", 9.0),  # |R|, where R holds no operator
        ("E(x**2) == -9", 9.0),
        ("9 == E(x**2)", 9.0),
        ("E(x) == 0", 3.0),  # R is 0: the magnitude of L
        ("0 == E(x)", 3.0),
        ("E(x) == E(y)", 4.0),  # both sides are 0: the magnitude of R
        ("E(x**2) - 9 == E(y) - 1", 1.0),  # the larger side
        ("8 <= E(x**2) <= 10", 10.0),  # the larger of the ends
        ("-20 <= E(x**2) <= 10", 20.0),
        ("E(x) <= E(x**2) <= E(y**2)", 16.0),
        ("Corr(x, y) == 0", 1.0),
        ("P(x > 0) == 0.5", 0.5),
    ],
)
def test_scale_of_a_claim(claim: str, scale: float) -> None:
    found = judged(SIGNS + THREE_AND_FOUR, claim, most=2000)
    assert found.scale == pytest.approx(scale, rel=1e-9)


def test_an_absolute_resolution_needs_no_scale() -> None:
    wide = judged("x ~ normal(0, 1)", "E(x) == 0", "within: 0.1", most=100_000)
    sharp = judged("x ~ normal(0, 1)", "E(x) == 0", "within: 0.001", most=100_000)
    assert wide.verdict == "verified"
    assert sharp.verdict == "undecided"


MIXED = "x ~ exponential(1); z ~ normal(0, 1); y = x + z"


@pytest.mark.parametrize("centre", [0.0, 1.0, -3.0])
def test_operators_are_what_the_sample_has(centre: float) -> None:
    terms = [
        "E(y)", "Var(y)", "Std(y)", "Cov(x, y)", "Corr(x, y)", "P(y > 0)", "Skew(y)", "Kurt(y)",
        "E(y, given=x > 1)", "Var(y, given=x > 1)",
    ]  # fmt: skip
    rng = np.random.default_rng(1)
    draws = compiled(MIXED, "E(y) == 0").program.span_draws
    found = {}
    for first, second in pairwise([*terms, terms[0]]):
        program = compiled(MIXED, f"{first} == {second}").program
        assert program.span_draws <= draws
        operands, _ = averages(MIXED, f"{first} == {second}", centre)
        found[first] = (float(operands[0][0]), program.span_draws)
    for term, (value, count) in found.items():
        rng = np.random.default_rng(1)
        x = rng.exponential(1, count)
        y = x + rng.normal(0, 1, count)
        kept = y[x > 1]
        expected = {
            "E(y)": y.mean(),
            "Var(y)": y.var(),
            "Std(y)": y.std(),
            "Cov(x, y)": np.cov(x, y, ddof=0)[0, 1],
            "Corr(x, y)": np.corrcoef(x, y)[0, 1],
            "P(y > 0)": (y > 0).mean(),
            "Skew(y)": stats.skew(y),
            "Kurt(y)": stats.kurtosis(y, fisher=False),
            "E(y, given=x > 1)": kept.mean(),
            "Var(y, given=x > 1)": kept.var(),
        }
        assert value == pytest.approx(float(expected[term]), rel=1e-9), term


def test_a_probability_is_one_whatever_its_centre() -> None:
    # the median of a likely event is 1, and that is where its average is taken about
    found = judged("x ~ normal(0, 1); y ~ normal(0, 1)", "P(x > -1) * P(y > -1) == 0.70786098174")
    assert found.verdict == "verified"
    assert found.estimate == pytest.approx(0.70786, rel=0.01)


def test_arithmetic_on_operators_is_pythons() -> None:
    operands, _ = averages(
        SIGNS + THREE_AND_FOUR, "E(x**2) / E(y**2) + sqrt(E(y**2)) == -E(x**2)**2"
    )
    assert [float(side[0]) for side in operands.values()] == pytest.approx([9 / 16 + 4, -81.0])


@pytest.mark.parametrize("unit", ["1e-200", "1e-160"])
@pytest.mark.parametrize("claim", ["Std(x) == 1", "E(x) == 0", "Kurt(x) == 3"])
def test_what_is_too_small_to_be_squared_is_not_judged(claim: str, unit: str) -> None:
    found = judged("z ~ normal(0, 1); x = z * " + unit, claim, most=700_000)
    assert found.verdict == "undecided"
    assert "too small" in str(found.explanation)


def test_what_is_small_but_can_be_raised_to_the_fourth_power_is() -> None:
    """The variance of a square has fourth powers, below which 0 may stand for it."""
    model = "z ~ normal(0, 1); x = z * 1e-70"
    assert judged(model, "Std(x) == 1e-70").verdict == "verified"
    assert judged(model, "Std(x) == 1.05e-70").verdict == "refuted"
    rare = "z ~ normal(0, 1); u ~ uniform(0, 1); x = z * 1e-100 + where(u < 1e-7, 1e-96, 0)"
    assert judged(rare, "Std(x) == 1e-100", most=100_000).verdict == "undecided"
