"""Enclosures of statements' quantities: no point of the box leaves them, and what they come to.

The averages are those of a span of draws, so that they are of some law; points of a box about them
stand for the true ones. Beside them stands a remainder left out, which the points must show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog
from trials import compiled, lowered

from dropcheck.claims.registry import Tolerance
from dropcheck.inference.region import Comparison, read_statement
from dropcheck.known import enclosure as enclosures
from dropcheck.known.enclosure import Enclosure, enclose, gradient, over
from dropcheck.simulation.compile import Compiled
from dropcheck.simulation.program import means_of

Floats = npt.NDArray[np.float64]

MODEL = "x ~ normal(0.4, 1.3); w ~ exponential(1); y = w + x / 3"
QUANTITIES = [
    "E(x)", "Var(x)", "Std(x)", "Cov(x, y)", "Corr(x, y)", "Skew(x)", "Kurt(y)", "P(x > 0.5)",
    "E(x * y) / E(y**2)", "E(y) - E(x)", "Std(y) / Std(x)", "Var(x) * Var(y) - 1",
    "sqrt(E(y**2))", "log(Var(y))", "exp(E(x) - Var(x) / 2)", "Std(x) / abs(E(y))",
    "E(x, given=y > 1)", "sigmoid(E(x)) * relu(E(y) - 0.9)", "maximum(E(x), E(y))**3",
    "max([E(x), E(y), Std(x)])", "sum([E(x), 2 * E(y)]) / 3", "sum([1, 2] * E(x))",
    "norm([E(x), E(y)])", "E(x)**2 + E(y)**2", "Corr(x, y)**2 + Skew(y)",
    "gelu(E(x)) - softplus(E(y))", "2**E(x)", "E(y) // 3 + E(y) % 3", "arctan(Kurt(x) - 3)",
    "Var(y, given=x > 0) / Var(y)",
]  # fmt: skip
# of these an interval of the values is all that is known
BY_VALUES = ["(E(x) if E(y) > 0.2 else 2 * E(x))", "elu(E(x) - 0.3)", "floor(E(y))"]


@dataclass(frozen=True)
class Case:
    """The comparison of a statement with the averages of a span of draws."""

    comparison: Comparison
    compiled: Compiled
    means: Floats
    centres: Floats

    def enclosed(self, averages: Enclosure) -> Enclosure:
        wanted = self.comparison.looked_at
        operands = self.compiled.functional.enclosed(averages, self.centres, wanted)
        return self.comparison.enclosed(operands)

    def values(self, points: Floats) -> Floats:
        """The quantity at points [terms, points], each asked for by itself: [points]."""
        functional, wanted = self.compiled.functional, self.comparison.looked_at
        return np.concatenate(
            [
                self.comparison.quantity(functional.evaluate(point[:, None], self.centres, wanted))
                for point in points.T
            ]
        )


def case_of(claim: str, model: str = MODEL, tolerance: float | None = None, place: int = 0) -> Case:
    """A statement, with the averages of a span about centres that are a little off."""
    found = compiled(model, claim)
    program = found.program
    centres = np.random.default_rng(2).uniform(-0.2, 0.2, program.size)
    sums = program.span(np.random.default_rng(1), centres, 0).sums
    allowed = None if tolerance is None else Tolerance(tolerance)
    comparison = read_statement(lowered(model, claim), allowed).comparisons[place]
    return Case(comparison, found, means_of(sums, program.span_draws), centres)


def sampled(rng: np.random.Generator, centre: Floats, box: Floats, points: int = 100) -> Floats:
    """Points of a box, corners among them: [terms, points]."""
    steps = rng.uniform(-1, 1, (len(box), points))
    steps[:, : points // 2] = rng.choice([-1.0, 1.0], (len(box), points // 2))
    return np.asarray(centre[:, np.newaxis] + box[:, np.newaxis] * steps, np.float64)


def of_a_law(case: Case, points: Floats) -> npt.NDArray[np.bool_]:
    """Which points could be averages of a law: no variance or even power is negative."""
    kept = np.ones(points.shape[1], dtype=bool)
    for leaf in case.compiled.functional.leaves.values():
        share = points[leaf.columns["g"]] if "g" in leaf.columns else 1.0
        for letter in "uv":
            if letter * 2 in leaf.columns:
                mean, square = (points[leaf.columns[letter * n]] / share for n in (1, 2))
                kept &= square - mean**2 >= 0
    return kept


def beyond(case: Case, size: float, seed: int = 0) -> float:
    """How far a point of the box leaves the enclosure, with a condition and without."""
    rng = np.random.default_rng(seed)
    box = size * rng.uniform(0, 1, len(case.means))
    points = sampled(rng, case.means, box)
    points = points[:, of_a_law(case, points)]
    values = case.values(points)
    low, high = enclose(case.enclosed, case.means, box)
    most = float(np.max(np.maximum(low - values, values - high)))
    slopes = gradient(case.enclosed, case.means)
    for direction in (slopes, slopes + rng.normal(0, 0.1, len(box)), rng.normal(size=len(box))):
        moved = direction @ (points - case.means[:, np.newaxis])
        ends = (-0.3 * float(np.abs(moved).max()), 0.5 * float(np.abs(moved).max()))
        kept = (moved >= ends[0]) & (moved <= ends[1])
        if kept.any():
            low, high = enclose(case.enclosed, case.means, box, direction, ends)
            off = np.maximum(low - values, values - high)[kept]
            most = max(most, float(off.max()))
    return most / max(1.0, float(np.abs(values).max()))


@pytest.mark.parametrize("quantity", QUANTITIES + BY_VALUES)
def test_no_point_of_the_box_leaves_the_enclosure(quantity: str) -> None:
    case = case_of(f"{quantity} == 1")
    for size in (0.3, 0.03, 1e-3, 1e-6):
        assert beyond(case, size) <= 0


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_value_and_gradient_are_those_of_the_formulas_and_the_rest_is_of_second_order(
    quantity: str,
) -> None:
    case = case_of(f"{quantity} == 1")
    found = case.enclosed(over(case.means, np.full(len(case.means), 1e-3)))
    assert float(found.order.value[0]) == pytest.approx(float(case.values(case.means[:, None])[0]))
    unit = 1e-6 * np.eye(len(case.means))
    numeric = np.subtract(*(case.values(case.means[:, None] + s * unit) for s in (1, -1))) / 2e-6
    slopes = gradient(case.enclosed, case.means)
    assert slopes == pytest.approx(numeric, rel=1e-4, abs=1e-5)
    excess = []
    for size in (1e-4, 1e-5):
        box = size * (1 + np.abs(case.means))
        first = 2 * float(np.abs(slopes) @ box)
        low, high = enclose(case.enclosed, case.means, box)
        assert high - low <= 1.1 * first + 1e-12
        # a combination known to a tenth as well as the averages makes it as narrow
        low, high = enclose(case.enclosed, case.means, box, slopes, (-0.05 * first, 0.05 * first))
        excess.append(high - low - 0.1 * first)
    assert excess[1] <= 0.02 * excess[0] + 1e-11  # a hundredth for a tenth


@pytest.mark.parametrize(
    ("claim", "tolerance", "place"),
    [
        ("Var(x) == Var(y)", None, 0),
        ("Var(x) == Var(y)", 0.01, 0),
        ("E(x) < E(y) < 3 * E(y)", None, 0),
        ("E(x) < E(y) < 3 * E(y)", None, 1),
        ("1 <= Std(x) <= 2", None, 0),
        ("2 == Var(x)", 0.1, 0),
    ],
)
def test_every_way_to_compare(claim: str, tolerance: float | None, place: int) -> None:
    case = case_of(claim, tolerance=tolerance, place=place)
    for size in (0.1, 1e-3):
        assert beyond(case, size) <= 0


def test_a_remainder_left_out_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of("Cov(x, y) == 1")
    assert beyond(case, 0.3) <= 0
    product = enclosures.multiply

    def first_order(a: Enclosure, b: Enclosure) -> Enclosure:
        found = product(a, b)
        slopes = found.order.slopes
        first = replace(found.order, low=slopes, high=slopes, stray=np.zeros_like(found.low))
        low, high = first.value - first.reach, first.value + first.reach
        return Enclosure(low, high, None, first)

    monkeypatch.setitem(enclosures.RULES, "multiply", first_order)
    assert beyond(case, 0.3) > 1e-4


# ---- the box and the slab -----------------------------------------------------------------------


def test_the_ends_over_a_slab_are_those_of_the_linear_programme() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        terms = int(rng.integers(1, 6))
        slopes, direction = rng.normal(size=(2, terms)) * rng.choice([0, 1, 1, 1], (2, terms))
        box = rng.uniform(0, 1, terms)
        most = float(np.abs(direction) @ box)
        along = (-float(rng.uniform(0, 1)) * most, float(rng.uniform(0, 1)) * most)
        rows = np.stack([direction, -direction])
        limits = [along[1], -along[0]]
        sides = [(-half, half) for half in box]
        high = -linprog(-slopes, rows, limits, bounds=sides).fun
        low = linprog(slopes, rows, limits, bounds=sides).fun

        def quantity(m: Enclosure, slopes: Floats = slopes) -> Enclosure:
            found: Enclosure = sum(float(s) * one for s, one in zip(slopes, m, strict=True))
            return found

        found = enclose(quantity, np.zeros(terms), box, direction, along)
        assert found == pytest.approx((low, high), abs=1e-9)


def test_a_quotient_whose_denominator_may_be_0_is_anything() -> None:
    case = case_of("E(x) / E(y) == 1")
    box = np.full(len(case.means), 10.0)
    assert enclose(case.enclosed, case.means, box) == (-math.inf, math.inf)
    slopes = gradient(case.enclosed, case.means)
    found = enclose(case.enclosed, case.means, box, slopes, (-0.1, 0.1))
    assert found == (-math.inf, math.inf)


def test_numbers_too_small_for_their_squares_are_anything() -> None:
    case = case_of("Std(x) == 1", model="y ~ normal(0, 1); x = 1e-160 * y")
    case = Case(case.comparison, case.compiled, case.means, np.zeros_like(case.centres))
    means = np.array([1e-161, 1e-320])
    assert enclose(case.enclosed, means, means) == (-math.inf, math.inf)
