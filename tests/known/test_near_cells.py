"""Functions on cells: nothing real leaves the range, nothing complex strays further than said.

The functions are evaluated by mpmath, which knows them for complex numbers, at points all around
random intervals, up to the very edge of what a rule speaks of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from dropcheck.known.enclosure import Enclosure, Near, applied
from dropcheck.vocabulary import special
from dropcheck.vocabulary.functions import SIGNS, operation

INTERVALS = 20
ANGLES = np.exp(2j * np.pi * np.arange(6) / 6)
ROUNDING = 1e-9  # of the functions in float64, beside mpmath's


def mp_sigmoid(z: Any) -> Any:
    return 1 / (1 + mpmath.exp(-z))


def mp_phi(z: Any) -> Any:
    return mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)


def mp_normal(z: Any) -> Any:
    return mpmath.erfc(-z / mpmath.sqrt(2)) / 2


def mp_cbrt(z: Any) -> Any:
    return mpmath.cbrt(z) if z.real > 0 else -mpmath.cbrt(-z)


ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805
SMOOTH: dict[str, Callable[[Any], Any]] = {
    "exp": mpmath.exp, "expm1": lambda z: mpmath.exp(z) - 1, "log": mpmath.log,
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "log1p": lambda z: mpmath.log(1 + z), "sqrt": mpmath.sqrt, "cbrt": mp_cbrt, "sin": mpmath.sin,
    "cos": mpmath.cos, "arcsin": mpmath.asin, "arccos": mpmath.acos, "arctan": mpmath.atan,
    "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh, "arcsinh": mpmath.asinh,
    "arctanh": mpmath.atanh, "gelu": lambda z: z * mp_normal(z),
    "silu": lambda z: z * mp_sigmoid(z),
    "softplus": lambda z: mpmath.log(1 + mpmath.exp(z)),
    "sigmoid": mp_sigmoid, "logit": lambda z: mpmath.log(z / (1 - z)), "erf": mpmath.erf,
    "erfc": mpmath.erfc, "Phi": mp_normal, "phi": mp_phi,
    # in pieces: above 0, and below
    "abs": lambda z: z if z.real > 0 else -z, "relu": lambda z: z if z.real > 0 else 0 * z,
    "elu": lambda z: z if z.real > 0 else mpmath.exp(z) - 1,
    "selu": lambda z: SCALE * (z if z.real > 0 else ALPHA * (mpmath.exp(z) - 1)),
}  # fmt: skip
IN_PIECES = ("abs", "relu", "elu", "selu")


def cells(low: Any, high: Any, off: Any = 0.0, error: Any = 0.0) -> Enclosure:
    """Cells with these ends, and how far from them is looked."""
    ends = [np.atleast_1d(np.asarray(one, np.float64)) for one in (low, high)]
    near = [np.broadcast_to(one, ends[0].shape) for one in (off, error)]
    return Enclosure(ends[0], ends[1], Near(near[0], near[1]))


def offs(x: Enclosure) -> tuple[Any, Any]:
    return x.smooth.off, x.smooth.error


def intervals(seed: int, positive: bool = False) -> Enclosure:
    """Random intervals of all places and widths, and how far from them is looked."""
    generator = np.random.default_rng(seed)
    place = generator.normal(size=INTERVALS) * np.exp(generator.uniform(-4, 2, INTERVALS))
    width = np.exp(generator.uniform(-9, 1, INTERVALS))
    reach = width * generator.uniform(0, 1, INTERVALS)
    low = np.abs(place) if positive else place
    return cells(low, low + width, reach, reach * 1e-3)


def around(interval: Enclosure, row: int, cell: int) -> list[complex]:
    """Complex points on and around an interval, as far off as its row says."""
    low, high, off = interval.low[cell], interval.high[cell], offs(interval)[row][cell]
    inner = [low + (high - low) * share for share in (0, 0.13, 0.5, 0.77, 1)]
    return [*inner, *(complex(p + off * angle) for p in inner[::2] for angle in ANGLES)]


def strays(found: Enclosure, row: int, cell: int, value: Any) -> bool:
    """Whether a complex value is further from the hull than is said."""
    low, high, off = float(found.low[cell]), float(found.high[cell]), float(offs(found)[row][cell])
    number = complex(value)
    beside = max(low - number.real, number.real - high, 0.0)
    return math.hypot(beside, number.imag) > off * (1 + ROUNDING) + ROUNDING * abs(number) + 1e-300


def found_for(name: str, *arguments: Any) -> Enclosure:
    function = operation(name)
    return applied(function, function.kernel, arguments)


def smooth_cells(found: Enclosure) -> list[int]:
    return [int(cell) for cell in np.flatnonzero(np.isfinite(found.smooth.off))]


@pytest.mark.parametrize("name", SMOOTH)
def test_nothing_strays_further_than_a_rule_says(name: str) -> None:
    assert np.isfinite(found_for(name, cells(0.25, 0.3, 1e-3)).smooth.off).all()
    looked_at = 0
    for positive in (False, True):
        x = intervals(len(name), positive)
        found = found_for(name, x)
        for cell in smooth_cells(found):
            looked_at += 1
            sign = 1 if x.low[cell] >= 0 else -1
            for row in (0, 1):
                for z in around(x, row, cell):
                    if name in IN_PIECES and z.real * sign <= 0:
                        continue  # the other piece, which the continuation knows nothing of
                    value = SMOOTH[name](mpmath.mpc(z))
                    assert not strays(found, row, cell, value), (name, z, row)
    assert looked_at > 8, "the rule says nothing of almost all intervals"


PAIRS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[complex, complex], complex]]] = {
    "+": (np.add, lambda a, b: a + b),
    "-": (np.subtract, lambda a, b: a - b),
    "*": (np.multiply, lambda a, b: a * b),
    "/": (np.divide, lambda a, b: a / b),
    "x log y": (special.xlogy, lambda a, b: a * complex(np.log(b))),
    "x ** y": (np.power, lambda a, b: complex(np.exp(b * np.log(a)))),
    "softplus(x - y) + y": (np.logaddexp, lambda a, b: complex(np.log(np.exp(a) + np.exp(b)))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_rules_of_two_quantities(name: str) -> None:
    rule, value = PAIRS[name]
    positive = name == "x ** y"
    a, b = intervals(5, positive), intervals(6, name == "x log y")
    found = rule(a, b)
    cells = smooth_cells(found)
    assert len(cells) > 8
    for cell in cells:
        for row in (0, 1):
            for x in around(a, row, cell)[::3]:
                for y in around(b, row, cell)[::3]:
                    assert not strays(found, row, cell, value(complex(x), complex(y))), (x, y)


@pytest.mark.parametrize("exponent", [1, 2, 3, 4, 7, -1, -2, -3, 0.5, 1.5, 2.25, -0.5, 40])
def test_fixed_powers(exponent: float) -> None:
    for positive in (False, True):
        x = intervals(7, positive)
        found: Any = np.power(x, exponent)
        for cell in smooth_cells(found):
            for row in (0, 1):
                for z in around(x, row, cell):
                    value = mpmath.power(mpmath.mpc(z), exponent)
                    assert not strays(found, row, cell, value), (z, exponent)


# ---- functions in pieces, and truths -------------------------------------------------------------


def cell_of(*ends: tuple[float, float]) -> list[Enclosure]:
    return [cells(low, high, 1e-3) for low, high in ends]


@pytest.mark.parametrize(
    ("name", "ends", "low", "high", "smooth"),
    [
        ("floor", [(0.2, 0.9)], 0, 0, True), ("floor", [(0.2, 1.1)], 0, 1, False),
        ("ceil", [(0.2, 0.9)], 1, 1, True), ("round", [(0.6, 1.4)], 1, 1, True),
        ("round", [(0.4, 0.6)], 0, 1, False), ("sign", [(0.2, 0.9)], 1, 1, True),
        ("sign", [(-0.2, 0.9)], -1, 1, False),
        ("minimum", [(0.2, 0.5), (0.7, 0.9)], 0.2, 0.5, True),
        ("minimum", [(0.2, 0.8), (0.7, 0.9)], 0.2, 0.8, False),
        ("maximum", [(0.2, 0.5), (0.7, 0.9)], 0.7, 0.9, True),
        ("maximum", [(0.2, 0.8), (0.7, 0.9), (-1, 0)], 0.7, 0.9, False),
        ("clip", [(0.2, 0.5), (0, 0), (1, 1)], 0.2, 0.5, True),
        ("clip", [(0.2, 1.5), (0, 0), (1, 1)], 0.2, 1, False),
        ("clip", [(2, 3), (0, 0), (1, 1)], 1, 1, True),
        ("leaky_relu", [(-2, -1), (0.1, 0.1)], -0.2, -0.1, True),
        ("leaky_relu", [(1, 2), (0.1, 0.1)], 1, 2, True),
        ("leaky_relu", [(-1, 2), (0.1, 0.1)], -0.1, 2, False),
        ("where", [(1, 1), (2, 3), (5, 7)], 2, 3, True),
        ("where", [(0, 0), (2, 3), (5, 7)], 5, 7, True),
        ("where", [(0, 1), (2, 3), (5, 7)], 2, 7, False),
    ],
)  # fmt: skip
def test_functions_in_pieces(
    name: str, ends: list[tuple[float, float]], low: float, high: float, smooth: bool
) -> None:
    found = found_for(name, *cell_of(*ends))
    assert (float(found.low[0]), float(found.high[0])) == pytest.approx((low, high))
    assert bool(np.isfinite(found.smooth.off[0])) is smooth


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons_are_decided_only_where_they_hold_throughout(sign: str) -> None:
    kernel = SIGNS[sign].kernel
    generator = np.random.default_rng(8)
    decided = 0
    for _ in range(300):
        ends = np.sort(generator.integers(0, 5, size=(2, 2)), axis=1).astype(float)
        found: Any = kernel(*(cells(low, high) for low, high in ends))
        x = np.linspace(ends[0, 0], ends[0, 1], 41)[:, None]
        y = np.linspace(ends[1, 0], ends[1, 1], 41)
        truths = kernel(x, y)
        low, high = found.low[0], found.high[0]
        assert low <= truths.min() <= truths.max() <= high
        decided += low == high
    assert decided > 10


def test_logic() -> None:
    yes, no, open_ = cell_of((1, 1), (0, 0), (0, 1))
    for a, b in [(a, b) for a in (yes, no, open_) for b in (yes, no, open_)]:
        both, either = found_for("and", a, b), found_for("or", a, b)
        assert both.low[0] == a.low[0] * b.low[0]
        assert both.high[0] == a.high[0] * b.high[0]
        assert either.low[0] == max(a.low[0], b.low[0])
        assert either.high[0] == max(a.high[0], b.high[0])
        neither = found_for("not", a)
        assert (neither.low[0], neither.high[0]) == (1 - a.high[0], 1 - a.low[0])
