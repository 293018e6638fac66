"""Means over cells of one draw: no bound is below the true error, and none is claimed in vain."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from law_table import CASES, as_arrays
from lowered import lowered
from scipy import special

from dropcheck.analysis.single_draw import diverges
from dropcheck.known import cells
from dropcheck.known.enclosure import Enclosure, Near
from dropcheck.vocabulary.laws import LAWS

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Function:
    """A function of the draw, with a bound of its norms."""

    of: Callable[[Any], Any]
    bound: float = math.inf

    def evaluated(self, points: Floats) -> Floats:
        return np.asarray(self.of(points), np.float64)

    def enclosed(self, draw: Enclosure) -> Enclosure:
        found: Enclosure = self.of(draw)
        return found

    def norm(self, _order: float) -> float:
        return self.bound


CONTINUOUS = [
    case
    for case in CASES
    if case[1] and LAWS[case[0]].own_axes is None and not LAWS[case[0]].discrete
]


@pytest.mark.parametrize(("name", "arguments"), CONTINUOUS)
def test_the_density_is_enclosed_on_its_cells(name: str, arguments: tuple[float, ...]) -> None:
    law = LAWS[name]
    with np.errstate(all="ignore"):
        if law.constant(*arguments) is not None:
            return
        cut = cells.cut_law(law, arguments)
        assert cut is not None
        first = cut.first
        points = (
            first.draw.low[:, None]
            + np.linspace(0, 1, 9) * (first.draw.high - first.draw.low)[:, None]
        )
        at = law.density(as_arrays(arguments), points.ravel()).reshape(points.shape)
        inner = at[:, 1:-1]
        assert (inner >= first.density.low[:, None] * (1 - cut.error) - 1e-300).all()
        assert (inner <= first.density.high[:, None] * (1 + cut.error) + 1e-300).all()
        total = first.weights.sum(axis=1)
        rounding = first.density.smooth.error * (first.draw.high - first.draw.low)
        error = cells._error_of(first.density, first.draw) + cut.error * total + rounding
        assert cut.error < (1e-4 if abs(arguments[0]) == 1e8 else 1e-9)  # float64 has few digits
        smooth = error < 1e-9
        assert (np.abs(total - first.most) <= error + (first.most - first.least))[smooth].all()


def test_a_rule_that_knows_no_kink_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def smoothed(draw: Enclosure) -> Enclosure:
        found: Any = np.abs(draw)
        return Enclosure(found.low, found.high, Near(draw.smooth.off, found.smooth.error))

    function = Function(np.abs, 1e4)
    monkeypatch.setattr(Function, "enclosed", lambda _, draw: smoothed(draw))
    found = cells.mean(LAWS["normal"], (0.1, 1.0), function)
    truth = math.sqrt(2 / math.pi) * math.exp(-0.005) + 0.1 * (1 - 2 * special.ndtr(-0.1))
    assert abs(found.value - truth) > 10 * found.error


# ---- means that do not exist ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "quantity", "order", "none"),
    [
        ("u ~ uniform(0, 1)", "1 / u", 1, True), ("u ~ uniform(0, 1)", "u**-0.5", 2, True),
        ("z ~ normal(0, 1)", "1 / z", 1, True), ("z ~ normal(0, 1)", "exp(0.51 * z**2)", 1, True),
        ("w ~ exponential(1)", "exp(w)", 1, True), ("w ~ gamma(2, 1)", "1 / w", 2, True),
        ("t ~ student_t(1.5)", "abs(t)**1.5", 1, True), ("t ~ student_t(5)", "exp(t)", 1, True),
        # all of these have one, however large
        ("u ~ uniform(0, 1)", "u**-0.99999", 1, False), ("w ~ gamma(2, 1)", "1 / w", 1, False),
        ("u ~ uniform(0, 1)", "1 / (u * (1 - log(u))**2)", 1, False),
        ("z ~ normal(0, 1)", "exp(0.4999 * z**2)", 1, False),
        ("z ~ normal(0, 1)", "1 / (z * log(abs(z) / 9)**2)", 1, False),
        ("x ~ cauchy(0, 1)", "abs(x)**0.9999", 1, False), ("x ~ lognormal(0, 5)", "x", 3, False),
        ("u ~ uniform(1, 2)", "1 / u", 4, False), ("z ~ normal(0, 1)", "exp(z)", 4, False),
    ],
)  # fmt: skip
def test_a_mean_that_does_not_exist_is_told_from_one_that_does(
    model: str, quantity: str, order: int, none: bool
) -> None:
    assert diverges(lowered(model, quantity), float(order)) is none
