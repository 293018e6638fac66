"""Enclosures of functions: no sampled point leaves them, and their first order is exact.

Every function that has a rule is applied to quantities over boxes of many sizes, of which points
are sampled and corners taken. A rule with a part left out must be caught by the same samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import special

from dropcheck.known import enclosure as enclosures
from dropcheck.known.enclosure import Enclosure, applied, over
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import operation

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
