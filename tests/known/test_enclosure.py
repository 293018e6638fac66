"""Functions on cells: nothing real leaves the range, nothing complex strays further than said.

The functions are evaluated by mpmath, which knows them for complex numbers, at points all around
random intervals, up to the very edge of what a rule speaks of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog
from trials import compiled, lowered

from dropcheck.claims.registry import Tolerance
from dropcheck.inference.region import Comparison, read_statement
from dropcheck.known import enclosure as enclosures
from dropcheck.known.enclosure import Enclosure, Near, applied, enclose, gradient, over
from dropcheck.simulation.compile import Compiled
from dropcheck.simulation.program import means_of
from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import Function
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


# ---- over averages -------------------------------------------------------------------------------
#
# Enclosures of functions: no sampled point leaves them, and their first order is exact.
#
# Every function that has a rule is applied to quantities over boxes of many sizes, of which points
# are sampled and corners taken. A rule with a part left out must be caught by the same samples.


Floats = npt.NDArray[np.float64]
Formula = Callable[..., Any]  # of numbers, arrays or enclosures

ANYWHERE, ABOVE_0, UNIT, HALF = (-3.0, 3.0), (0.05, 4.0), (-0.95, 0.95), (0.05, 0.95)


def _names(text: str) -> list[str]:
    return text.split()


ONE: dict[str, tuple[Formula, tuple[float, float]]] = {
    **{
        name: (getattr(np, name), ANYWHERE)
        for name in _names(
            "negative positive square absolute sign floor ceil rint exp expm1 sin cos tan arctan "
            "sinh cosh tanh arcsinh cbrt reciprocal"
        )
    },
    **{name: (getattr(np, name), ABOVE_0) for name in ("sqrt", "log", "log2", "log10", "log1p")},
    **{name: (getattr(np, name), UNIT) for name in ("arcsin", "arccos", "arctanh")},
    **{name: (getattr(special, name), ANYWHERE) for name in ("expit", "ndtr", "erf", "erfc")},
    **{name: (getattr(special, name), ABOVE_0) for name in ("gamma", "gammaln", "psi")},
    "logit": (special.logit, HALF),
    "entropy": (lambda x: special.xlogy(x, x), (0.0, 3.0)),
    "relu": (lambda x: np.maximum(x, 0.0), ANYWHERE),
    "softplus": (lambda x: np.logaddexp(x, 0.0), ANYWHERE),
    **{
        f"power {n}": (lambda x, n=n: x**n, ANYWHERE if n % 1 == 0 else ABOVE_0)
        for n in (-3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 5)
    },
    "exponent": (lambda x: 2.0**x, ANYWHERE),
}
TWO: dict[str, tuple[Formula, tuple[float, float]]] = {
    **{
        name: (getattr(np, name), ANYWHERE)
        for name in _names(
            "add subtract multiply divide maximum minimum logaddexp hypot floor_divide remainder "
            "greater greater_equal less less_equal equal not_equal arctan2"
        )
    },
    **{
        name: (lambda x, y, name=name: getattr(np, name)(x > 0, y > 0.5), ANYWHERE)
        for name in ("logical_and", "logical_or", "bitwise_and", "bitwise_or")
    },
    "logical_not": (lambda x, y: np.logical_not(x > y), ANYWHERE),
    "invert": (lambda x, y: ~(x > y), ANYWHERE),
    "where": (lambda x, y: np.where(x > y, np.exp(x), y), ANYWHERE),
    "power": (np.power, ABOVE_0),
    "xlogy": (special.xlogy, ABOVE_0),
    "xlog1py": (special.xlog1py, ABOVE_0),
    "cancelling": (lambda x, y: (x + y) ** 2 - x * x - 2 * x * y - y**2, ANYWHERE),
    "a ratio of alike": (lambda x, y: (x + y) / (2 * x + 2 * y), ABOVE_0),
}


def boxed(centre: list[float], half_widths: list[float]) -> list[Any]:
    """Quantities about some numbers."""
    return list(over(np.array(centre), np.array(half_widths)))


def sampled(rng: np.random.Generator, centre: Floats, box: Floats, points: int = 400) -> Floats:
    """Points of a box, its corners and the middles of its faces among them: [terms, points]."""
    steps = rng.uniform(-1, 1, (len(box), points))
    steps[:, : points // 2] = rng.choice([-1.0, 0.0, 1.0], (len(box), points // 2))
    return centre[:, np.newaxis] + box[:, np.newaxis] * steps


def outside(found: Enclosure, values: Floats, points: Floats, centre: Floats) -> float:
    """How far the values [points] leave what is enclosed, as a share of their magnitude.

    Both the interval is looked at and the first order with its remainder.
    """
    if found.everything.any():
        return 0.0
    offsets = points - centre[:, np.newaxis]
    first = found.order.value[0] + found.order.slopes @ offsets
    beyond = np.maximum(
        np.maximum(found.low[0] - values, values - found.high[0]),
        np.abs(values - first) - found.order.remainder[0],
    )
    assert not np.isnan(values).any()
    return float(beyond.max() / max(1.0, np.abs(values).max()))


def worst(formula: Formula, terms: int, domain: tuple[float, float], seed: int = 0) -> float:
    """How far any sampled point leaves its enclosure, over boxes of many sizes."""
    rng = np.random.default_rng(seed)
    most = -math.inf
    for _ in range(40):
        low, high = domain
        room = (high - low) / 2
        box = rng.choice([0.0, 1e-6, 1e-3, 0.1, 0.5], terms) * room * rng.uniform(0, 1, terms)
        centre = rng.uniform(low + box, high - box)
        points = sampled(rng, centre, box)
        with np.errstate(all="ignore"):
            values = np.asarray(formula(*points), np.float64)
        kept = np.isfinite(values)
        found = formula(*over(centre, box))
        if not kept.all():
            assert found.everything.all()
            continue
        most = max(most, outside(found, values, points, centre))
    return most


@pytest.mark.parametrize("name", ONE)
def test_no_point_leaves_the_enclosure_of_one_quantity(name: str) -> None:
    formula, domain = ONE[name]
    assert worst(formula, 1, domain) <= 0


@pytest.mark.parametrize("name", TWO)
def test_no_point_leaves_the_enclosure_of_two_quantities(name: str) -> None:
    formula, domain = TWO[name]
    assert worst(formula, 2, domain) <= 0


def test_every_rule_is_looked_at() -> None:
    named = {name.split()[0] for name in (*ONE, *TWO)}
    unnamed = set(enclosures.RULES) - named
    assert unnamed == set()


def test_a_slope_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    centre, points = np.array([0.2]), np.linspace(-0.8, 1.2, 1001)[np.newaxis]

    def beyond() -> float:
        return outside(np.tanh(*over(centre, np.ones(1))), np.tanh(points[0]), points, centre)

    assert beyond() <= 0
    flat = enclosures.Curve(function=np.tanh, slope=lambda x: 0.7 * np.cosh(x) ** -2.0)
    monkeypatch.setitem(enclosures.RULES, "tanh", flat)
    assert beyond() > 1e-2


# ---- the first order ----------------------------------------------------------------------------

# nothing is known of their slopes, or they have none
KINKED = {
    *("sign", "floor", "ceil", "rint", "floor_divide", "remainder", "arctan2", "where", "psi"),
    *("greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "logical_and"),
    *("logical_or", "logical_not", "bitwise_and", "bitwise_or", "invert"),
}


@pytest.mark.parametrize("name", [name for name in (*ONE, *TWO) if name not in KINKED])
def test_the_slopes_are_the_derivatives_and_the_rest_is_of_second_order(name: str) -> None:
    formula, (low, high) = {**ONE, **TWO}[name]
    terms = 1 if name in ONE else 2
    rng = np.random.default_rng(2)
    for _ in range(10):
        centre, step = rng.uniform(low + 0.02, high - 0.02, terms), 1e-5
        ahead, back = (centre[:, np.newaxis] + sign * step * np.eye(terms) for sign in (1, -1))
        with np.errstate(all="ignore"):
            numeric = (formula(*ahead) - formula(*back)) / (2 * step)
        if np.abs(numeric).max() > 50 or np.abs(centre).min() < 2 * step:
            continue  # near a pole or a kink
        slopes = formula(*over(centre, np.zeros(terms))).order.slopes
        assert slopes == pytest.approx(np.asarray(numeric), rel=1e-5, abs=1e-7)
    centre = np.linspace(0.37, 0.61, terms + 1)[:terms] * (high - low) + low
    boxes = [formula(*over(centre, np.full(terms, size))) for size in (1e-2, 1e-3)]
    first, second = (float(one.order.remainder[0]) for one in boxes)
    assert second <= 0.02 * first + 1e-12  # a hundredth for a tenth, down to rounding


def test_what_cancels_leaves_nothing_but_the_remainder() -> None:
    x, y = boxed([3.0, 2.0], [1e-3, 1e-3])
    low, high = (x / y - x / y + (x - y) - x + y).within()
    assert -2e-6 < low <= 0 <= high < 2e-6
    assert ((x + y) / (x + y)).within() == pytest.approx((1, 1), abs=1e-9)


# ---- the ends -----------------------------------------------------------------------------------


def test_what_may_be_undefined_is_everything_and_stays_so() -> None:
    x, y = boxed([0.05, 1.0], [0.1, 0.1])
    for nothing in (y / x, np.log(x), np.sqrt(x), x**-2, x**0.5, np.arcsin(y), np.tan(1.5 + x),
                    special.logit(y), special.gammaln(x), np.exp(8000 * y), x**y):  # fmt: skip
        assert nothing.everything.all()
        for more in (nothing * 0, np.tanh(nothing), np.maximum(nothing, 1.0), nothing - nothing,
                     y / nothing, np.sin(nothing), np.floor(nothing), nothing**2,
                     np.minimum(nothing, y), special.expit(nothing)):  # fmt: skip
            assert more.within() == (-math.inf, math.inf)
            assert more.within(np.array([1.0, 0.0]), (0.0, 0.0)) == (-math.inf, math.inf)


def test_an_end_that_is_known_by_other_means() -> None:
    x, y = boxed([0.05, -0.2], [0.1, 0.1])
    low, high = x.at_least(0.0).within()
    assert (low, high) == pytest.approx((0, 0.15))
    low, high = np.sqrt(x.at_least(0.0)).within()
    assert (low, high) == pytest.approx((0, math.sqrt(0.15)))
    assert y.at_least(0.0).within() == pytest.approx((0, 0))  # what contradicts the box
    centre, points = np.array([-0.05]), np.linspace(0, 0.05, 21)[np.newaxis]
    (held,) = (one.at_least(0.0) for one in over(centre, np.array([0.1])))
    alike: list[Any] = [np.maximum(held, 0.0), np.absolute(held), np.where(held >= 0, held, 1.0)]
    assert all(outside(found, points[0], points, centre) <= 0 for found in alike)


# ---- arrays -------------------------------------------------------------------------------------


def _applied(function: str, *inputs: Any, **options: Any) -> Enclosure:
    entry: Function = operation(function)
    return applied(entry, lambda *arrays: entry.kernel(*arrays, **options), inputs)


ARRAYS: dict[str, Formula] = {
    "array": lambda x, y: _applied("array", x, y, np.array([2.0])),
    "stack": lambda x, y: _applied("stack", x, y),
    "concat": lambda x, y: _applied("concat", x, y),
    "sum": lambda x, y: _applied("sum", _applied("array", x, y)),
    "mean": lambda x, y: _applied("mean", _applied("array", x, y)),
    "max": lambda x, y: _applied("max", _applied("array", x, y, np.array([0.5]))),
    "min": lambda x, y: _applied("min", _applied("array", x, y)),
    "prod": lambda x, y: _applied("prod", _applied("array", x, y, x)),
    "norm": lambda x, y: _applied("norm", _applied("array", x, y)),
    "cumsum": lambda x, y: _applied("cumsum", _applied("array", x, y)),
    "subscript": lambda x, y: _applied("subscript", _applied("array", x, y), index=(1,)),
    ".T": lambda x, y: _applied(
        ".T", _applied("array", _applied("array", x, y), _applied("array", y, 2 * x))
    ),
    "elu": lambda x, y: _applied("elu", x - y),
    "selu": lambda x, y: _applied("selu", x + y),
    "leaky_relu": lambda x, y: _applied("leaky_relu", x - y, np.array([0.1])),
    "gelu": lambda x, y: _applied("gelu", x * y),
    "silu": lambda x, y: _applied("silu", x + y),
    "phi": lambda x, y: _applied("phi", x + y),
    "clip": lambda x, y: _applied("clip", x, np.array([-0.5]), y),
    "greater": lambda x, y: _applied(">", x, y),
    "where": lambda x, y: _applied("where", _applied(">", x, y), x, y),
    "size": lambda x, y: _applied("size", _applied("array", x, y)),
    "lgamma": lambda x, y: _applied("lgamma", x * x + y * y + 1),
}


def at_points(formula: Formula, points: Floats) -> Floats:
    """The values of a formula at points, each a box of no size: [*shape, points]."""
    nothing = np.zeros(len(points))
    values = [formula(*over(point, nothing)).order.value for point in points.T]
    return np.concatenate(values, axis=-1)


@pytest.mark.parametrize("name", ARRAYS)
def test_functions_of_arrays_and_those_without_a_rule(name: str) -> None:
    rng = np.random.default_rng(3)
    formula = ARRAYS[name]
    for size in (0.5, 0.05, 1e-4):
        for _ in range(5):
            centre, box = rng.uniform(-1, 1, 2), size * rng.uniform(0, 1, 2)
            points = sampled(rng, centre, box, 16)
            values = at_points(formula, points)
            found = formula(*over(centre, box))
            assert found.shape == (*values.shape[:-1], 1)
            assert not found.everything.any()
            first = found.order.value + found.order.slopes @ (points - centre[:, np.newaxis])
            remainder = found.order.remainder
            assert (values >= np.maximum(found.low, first - remainder)).all()
            assert (values <= np.minimum(found.high, first + remainder)).all()


# ---- quantities of statements --------------------------------------------------------------------
#
# Enclosures of statements' quantities: no point of the box leaves them, and what they come to.
#
# The averages are those of a span of draws, so that they are of some law; points of a box about
# them stand for the true ones. Beside them stands a remainder left out, which the points must show.


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
    points = sampled(rng, case.means, box, 100)
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
