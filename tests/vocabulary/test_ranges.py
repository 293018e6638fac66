"""Ranges of functions: nothing real leaves the hull, and nothing complex strays further than said.

The functions are evaluated by mpmath, which knows them for complex numbers, at points all around
random intervals, up to the very edge of what a rule speaks of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest

from dropcheck.vocabulary import smoothness
from dropcheck.vocabulary.functions import FUNCTIONS_OF_NUMBERS, SIGNS
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, SUBTRACT
from dropcheck.vocabulary.smoothness import Ranges

INTERVALS = 30
ANGLES = np.exp(2j * np.pi * np.arange(8) / 8)
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
# Rules of one number that are tested elsewhere below, or of several.
OTHERS = {
    *("sign", "floor", "ceil", "round", "clip", "minimum", "maximum", "leaky_relu", "xlogy"),
    *("where",),
}


def intervals(seed: int, positive: bool = False) -> Ranges:
    """Random intervals of all places and widths, and how far from them is looked."""
    generator = np.random.default_rng(seed)
    place = generator.normal(size=INTERVALS) * np.exp(generator.uniform(-4, 2, INTERVALS))
    width = np.exp(generator.uniform(-9, 1, INTERVALS))
    reach = width * generator.uniform(0, 1, INTERVALS)
    low = np.abs(place) if positive else place
    return Ranges(low, low + width, np.stack([reach, reach * 1e-3]))


def around(interval: Ranges, row: int, cell: int) -> list[complex]:
    """Complex points on and around an interval, as far off as its row says."""
    low, high, off = interval.low[cell], interval.high[cell], interval.off[row, cell]
    inner = [low + (high - low) * share for share in (0, 0.13, 0.5, 0.77, 1)]
    return [*inner, *(complex(p + off * angle) for p in inner[::2] for angle in ANGLES)]


def strays(found: Ranges, row: int, cell: int, value: Any) -> bool:
    """Whether a complex value is further from the hull than is said."""
    low, high, off = float(found.low[cell]), float(found.high[cell]), float(found.off[row, cell])
    number = complex(value)
    beside = max(low - number.real, number.real - high, 0.0)
    return math.hypot(beside, number.imag) > off * (1 + ROUNDING) + ROUNDING * abs(number) + 1e-300


def applied(name: str, *arguments: Ranges) -> Ranges:
    function = FUNCTIONS_OF_NUMBERS[name]
    assert function.ranges is not None
    with np.errstate(all="ignore"):
        return function.ranges(arguments, function.kernel, False)


def smooth_cells(found: Ranges) -> list[int]:
    return [int(cell) for cell in np.flatnonzero(np.isfinite(found.off[0]))]


@pytest.mark.parametrize("name", SMOOTH)
def test_nothing_strays_further_than_a_rule_says(name: str) -> None:
    looked_at = 0
    for positive in (False, True):
        x = intervals(len(name), positive)
        found = applied(name, x)
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


@pytest.mark.parametrize("name", SMOOTH)
def test_real_values_lie_in_the_hull_where_nothing_is_known_to_be_smooth_too(name: str) -> None:
    x = intervals(1 + len(name))
    x = Ranges(x.low * 3, x.high * 3, x.off)
    found = applied(name, x)
    with np.errstate(all="ignore"):
        points = x.low + (x.high - x.low) * np.linspace(0, 1, 301)[:, None]
        values = FUNCTIONS_OF_NUMBERS[name].kernel(np.clip(points, x.low, x.high))
        room = 1e-12 * np.abs(values) + 1e-15
        outside = (values < found.low - room) | (values > found.high + room)
    assert not outside.any()


def test_every_rule_of_one_number_is_tested_here() -> None:
    ruled = {name for name, one in FUNCTIONS_OF_NUMBERS.items() if one.ranges is not None}
    assert ruled == set(SMOOTH) | OTHERS, "name its twin in SMOOTH, or the function in OTHERS"


def test_a_slope_too_small_by_a_fifth_is_seen() -> None:
    """The tests above can fail."""
    x = intervals(3)
    low = smoothness.smooth(
        lambda low, high, off: 0.8 * np.exp(high + off) * (low <= high), rises=1
    )
    with np.errstate(all="ignore"):
        found = low((x,), np.exp, False)
    wrong = [
        cell
        for cell in smooth_cells(found)
        for z in around(x, 0, cell)
        if strays(found, 0, cell, mpmath.exp(mpmath.mpc(z)))
    ]
    assert wrong


Rule = Callable[[Sequence[Ranges]], Ranges]
PAIRS: dict[str, tuple[Rule, Callable[[complex, complex], complex]]] = {
    "+": (lambda both: smoothness.add(both, np.add, False), lambda a, b: a + b),
    "-": (lambda both: smoothness.subtract(both, np.add, False), lambda a, b: a - b),
    "*": (lambda both: smoothness.multiply(both, np.add, False), lambda a, b: a * b),
    "/": (lambda both: smoothness.divide(both, np.add, False), lambda a, b: a / b),
    "x log y": (
        lambda both: smoothness.x_log_y(both, np.multiply, False),
        lambda a, b: a * complex(np.log(b)),
    ),
    "x ** y": (
        lambda both: smoothness.power(both, np.power, False),
        lambda a, b: complex(np.exp(b * np.log(a))),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_rules_of_two_quantities(name: str) -> None:
    rule, value = PAIRS[name]
    positive = name == "x ** y"
    a, b = intervals(5, positive), intervals(6, name == "x log y")
    with np.errstate(all="ignore"):
        found = rule((a, b))
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
        with np.errstate(all="ignore"):
            found = smoothness.power((x, smoothness.fixed(exponent, INTERVALS)), np.power, False)
        for cell in smooth_cells(found):
            for row in (0, 1):
                for z in around(x, row, cell):
                    value = mpmath.power(mpmath.mpc(z), exponent)
                    assert not strays(found, row, cell, value), (z, exponent)


def test_a_square_of_one_quantity_is_not_negative() -> None:
    x = Ranges(np.array([-1.0]), np.array([2.0]), np.zeros((2, 1)))
    found = smoothness.multiply((x, x), np.multiply, True)
    assert (found.low[0], found.high[0]) == (0.0, 4.0)
    nothing = smoothness.subtract((x, x), np.subtract, True)
    assert (nothing.low[0], nothing.high[0]) == (0.0, 0.0)


def test_operators_have_their_rules() -> None:
    assert ADD.ranges is smoothness.add
    assert SUBTRACT.ranges is smoothness.subtract
    assert MULTIPLY.ranges is smoothness.multiply
    assert DIVIDE.ranges is smoothness.divide
    assert all(SIGNS[sign].ranges for sign in ("<", "<=", ">", ">=", "==", "!=", "and", "or"))


# ---- functions in pieces, and truths -------------------------------------------------------------


def cell_of(*ends: tuple[float, float]) -> list[Ranges]:
    return [Ranges(np.array([low]), np.array([high]), np.full((2, 1), 1e-3)) for low, high in ends]


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
    found = applied(name, *cell_of(*ends))
    assert (float(found.low[0]), float(found.high[0])) == pytest.approx((low, high))
    assert bool(np.isfinite(found.off[0, 0])) is smooth


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons_are_decided_only_where_they_hold_throughout(sign: str) -> None:
    rule = smoothness.comparison(sign)
    kernel = SIGNS[sign].kernel
    generator = np.random.default_rng(8)
    decided = 0
    for _ in range(300):
        ends = np.sort(generator.integers(0, 5, size=(2, 2)), axis=1).astype(float)
        a, b = (
            Ranges(low[None], high[None], np.zeros((2, 1)))
            for low, high in ends[:, :, None][..., 0]
        )
        found = rule((a, b), kernel, False)
        x = np.linspace(ends[0, 0], ends[0, 1], 41)[:, None]
        y = np.linspace(ends[1, 0], ends[1, 1], 41)
        truths = kernel(x, y)
        low, high = found.low[0], found.high[0]
        assert low <= truths.min() <= truths.max() <= high
        decided += low == high
    assert decided > 10


def test_remainders() -> None:
    x, by = cell_of((2.25, 2.75), (1, 1))
    rule = SIGNS["%"].ranges
    assert rule is not None
    found = rule((x, by), np.remainder, False)
    assert (float(found.low[0]), float(found.high[0])) == pytest.approx((0.25, 0.75))
    assert np.isfinite(found.off[0, 0])
    across = rule((Ranges(x.low, x.high + 1, x.off), by), np.remainder, False)
    assert (float(across.low[0]), float(across.high[0])) == pytest.approx((0, 1))
    assert not np.isfinite(across.off[0, 0])


def test_logic() -> None:
    yes, no, open_ = cell_of((1, 1), (0, 0), (0, 1))
    both = [(a, b) for a in (yes, no, open_) for b in (yes, no, open_)]
    for a, b in both:
        conjunction = smoothness.conjunction((a, b), np.logical_and, False)
        disjunction = smoothness.disjunction((a, b), np.logical_or, False)
        assert conjunction.low[0] == a.low[0] * b.low[0]
        assert conjunction.high[0] == a.high[0] * b.high[0]
        assert disjunction.low[0] == max(a.low[0], b.low[0])
        assert disjunction.high[0] == max(a.high[0], b.high[0])
        negation = smoothness.negation((a,), np.logical_not, False)
        assert (negation.low[0], negation.high[0]) == (1 - a.high[0], 1 - a.low[0])
