"""Kernels against the same function of numpy or scipy, on the array of one draw at a time.

A function of the language is one row here, with its twin. Below are values that have no result, and
truths that cannot be told.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.special
import scipy.stats
from law_table import CASES, as_arrays

from dropcheck.known.enclosure import Enclosure, Near, applied
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.function import Array, KernelError, origin
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS, SIGNS, operation
from dropcheck.vocabulary.functions.elementwise import EPSILONS, rounded
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.shapes import Shape, ShapeError
from dropcheck.vocabulary.special import FEW, ndtri, student_quantile

DRAWS = 5
NAN, INF = math.nan, math.inf
Twin = Callable[..., Any]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def call(name: str, **options: Any) -> Callable[..., Array]:
    return partial(operation(name).kernel, **options)


class Row(NamedTuple):
    """A function, its twin, shapes of its arguments, what these are, and options."""

    name: str
    twin: Twin
    given: tuple[tuple[Shape, ...], ...]
    make: str
    options: dict[str, Any]


def row(name: str, twin: Twin, *given: Any, make: str = "normal", **options: Any) -> Row:
    return Row(name, twin, given, make, options)


# ---- element by element --------------------------------------------------------------------------

UNARY: dict[str, Twin] = {
    "abs": np.abs, "sign": np.sign, "sqrt": np.sqrt, "cbrt": np.cbrt, "exp": np.exp,
    "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "arcsin": np.arcsin, "arccos": np.arccos,
    "arctan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "arcsinh": np.arcsinh, "arctanh": np.arctanh, "floor": np.floor, "ceil": np.ceil,
    "round": np.round, "isfinite": np.isfinite, "isnan": np.isnan, "isinf": np.isinf,
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "elu": lambda x: np.where(x > 0, x, np.exp(x) - 1),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1)),
    "gelu": lambda x: x * scipy.stats.norm.cdf(x),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "logit": lambda x: np.log(x / (1 - x)),
    "erf": lambda x: 2 * scipy.stats.norm.cdf(x * math.sqrt(2)) - 1,
    "erfc": lambda x: 2 * scipy.stats.norm.sf(x * math.sqrt(2)),
    "Phi": scipy.stats.norm.cdf, "phi": scipy.stats.norm.pdf,
    "gamma": lambda x: scipy.special.gamma(x + 1) / x,
    "lgamma": lambda x: np.log(np.abs(scipy.special.gamma(x))),
    "digamma": lambda x: scipy.special.digamma(x + 1) - 1 / x,
    "factorial": lambda x: np.full(x.shape, NAN),
}  # fmt: skip
BINARY: dict[str, Twin] = {
    "xlogy": scipy.special.xlogy,
    "arctan2": np.arctan2,
    "leaky_relu": lambda x, slope: np.where(x > 0, x, x * slope),
    "minimum": np.minimum,
    "maximum": np.maximum,
    "isclose": lambda a, b: np.isclose(a, b, rtol=1e-9, atol=1e-12),
    "comb": lambda n, k: np.full(np.broadcast_shapes(n.shape, k.shape), NAN),
}
THREE = (((3,), (), ()), ((2, 1), (3,), ()), ((3,), (3,), (2, 3)))
ROWS = [
    *(row(name, twin, ((),), ((3,),), ((2, 3),), make=make)
      for name, twin in UNARY.items() for make in ("normal", "share")),
    *(row(name, twin, ((), (3,)), ((2, 1), (3,)), ((2, 3), (2, 3)))
      for name, twin in BINARY.items()),
    row("clip", np.clip, *THREE, make="few"),
    row("where", lambda c, a, b: np.where(c != 0, a, b), *THREE, make="few"),
    row("minimum", lambda *x: np.minimum(np.minimum(x[0], x[1]), x[2]), *THREE),
]  # fmt: skip


# ---- over axes, and along them -------------------------------------------------------------------


def over(function: Twin, axes: Any, keepdims: bool) -> Twin:
    """The function of flat elements, over the axes of one draw."""
    wanted = axes if isinstance(axes, tuple) else (axes,)

    def twin(x: Array) -> Array:
        at = tuple(int(axis) % x.ndim for axis in wanted)
        kept = [axis for axis in range(x.ndim) if axis not in at]
        flat = x.transpose(*kept, *at).reshape(*(x.shape[axis] for axis in kept), -1)
        found = np.asarray(np.apply_along_axis(function, -1, flat))
        return np.expand_dims(found, tuple(sorted(at))) if keepdims else found

    return twin


REDUCTIONS: dict[str, tuple[Twin, dict[str, Any]]] = {
    "sum": (np.sum, {}), "prod": (np.prod, {}), "mean": (np.mean, {}), "var": (np.var, {}),
    "std": (lambda x: np.std(x, ddof=1) if x.size > 1 else NAN, {"ddof": 1.0}),
    "max": (np.max, {}), "min": (np.min, {}), "any": (np.any, {}), "all": (np.all, {}),
    "norm": (np.linalg.norm, {}), "logsumexp": (scipy.special.logsumexp, {}),
    "median": (np.median, {}), "quantile": (lambda x: np.quantile(x, 0.3), {"u": 0.3}),
}  # fmt: skip
SINGLE: dict[str, tuple[Twin, dict[str, Any]]] = {
    "argmax": (np.argmax, {}),
    "argmin": (np.argmin, {}),
    "first": (lambda x: next((float(n) for n, one in enumerate(x) if one != 0), INF), {}),
}
ONE_AXIS: list[tuple[Shape, Any]] = [
    ((4,), -1.0), ((1,), 0), ((2, 3), -1), ((2, 3), 0), ((2, 3, 4), 1.0), ((2, 3, 4), -3),
]  # fmt: skip
AXES = [((2, 3), (0, 1)), ((2, 3, 4), (0.0, -1.0)), ((2, 3, 4), (2, 1)), ((2, 3), (-1,))]
ALONG: dict[str, Twin] = {
    "sort": np.sort,
    "argsort": lambda x, axis: np.argsort(x, axis=axis, kind="stable"),
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "diff": lambda x, axis: np.diff(x, axis=axis),
    "softmax": scipy.special.softmax,
}
ROWS += [
    row(name, over(twin, axis, bool(keepdims)), (shape,),
        make=make, axis=axis, keepdims=keepdims, **options)
    for name, (twin, options) in (REDUCTIONS | SINGLE).items()
    for shape, axis in ONE_AXIS + AXES * (name in REDUCTIONS)
    for keepdims, make in ((0.0, "normal"), (1.0, "few"))
]  # fmt: skip
ROWS += [
    row(name, lambda x, twin=twin, axis=axis: twin(x, axis=int(axis)), (shape,),
        make=make, axis=axis)
    for name, twin in ALONG.items()
    for shape, axis in ONE_AXIS
    for make in ("normal", "few")
]  # fmt: skip
ROWS += [
    row("norm", lambda x, p=p: np.linalg.norm(x.ravel(), p), ((2, 3),), ord=p, axis=(0, 1))
    for p in (0.0, 0.5, 1.0, 2.0, 3.0, INF, -INF, -1.0)
]
ROWS += [
    row("quantile", lambda x: np.quantile(x, (0, 0.25, 1), axis=0), ((6, 2),),
        u=(0.0, 0.25, 1.0), axis=0),
    row("softmax", lambda x: scipy.special.softmax(x, axis=(0, 2)), ((2, 3, 4),), axis=(0, 2)),
]  # fmt: skip

# ---- by shapes -----------------------------------------------------------------------------------


def unique_q(x: Array) -> Array:
    q, r = np.linalg.qr(x)
    signs = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    return np.asarray(q * signs[..., None, :])


def turned_eigenvectors(x: Array) -> Array:
    lines = np.linalg.eigh(x)[1].swapaxes(-1, -2)
    turned = [one * np.sign(one[np.abs(one).argmax()]) for one in lines.reshape(-1, x.shape[-1])]
    return np.array(turned).reshape(lines.shape).swapaxes(-1, -2)


SQUARE = (((1, 1),), ((3, 3),), ((2, 3, 3),))
ROWS += [
    row("dot", np.dot, ((3,), (3,))),
    row("dot", lambda a, b: (a * b).sum(-1), ((2, 3), (3,)), ((2, 1, 3), (4, 3))),
    row("dot", lambda a, b: (a * b).sum(0), ((2, 3), (2, 3)), axis=0),
    row("outer", lambda a, b: np.einsum("...i,j->...ij", a, b), ((3,), (2,)), ((2, 3), (2,))),
    row("trace", lambda x: np.trace(x, axis1=-2, axis2=-1), *SQUARE),
    row("det", np.linalg.det, *SQUARE), row("inv", np.linalg.inv, *SQUARE),
    row("cholesky", np.linalg.cholesky, *SQUARE, make="positive"),
    row("solve", np.linalg.solve, ((3, 3), (3,)), ((3, 3), (3, 2)), ((3, 3), (2, 3, 2)),
        ((2, 3, 3), (3, 2))),
    row("solve", lambda a, b: np.linalg.solve(a, b[:, None])[..., 0], ((2, 3, 3), (3,))),
    row("qr_q", unique_q, ((3, 3),), ((4, 2),), ((2, 4),), ((2, 3, 3),)),
    row("svdvals", lambda x: np.linalg.svd(x, compute_uv=False), ((4, 2),), ((2, 2, 4),)),
    row("pinv", np.linalg.pinv, ((3, 3),), ((4, 2),), ((2, 2, 4),)),
    row("eigvecsh", turned_eigenvectors, *SQUARE), row("eigvalsh", np.linalg.eigvalsh, *SQUARE),
    row("diag", np.diag, ((3,),), ((3, 3),), ((2, 3),)),
    row("diag", lambda x: np.diagonal(x, axis1=-2, axis2=-1), ((2, 3, 3),)),
    *(row("diag", lambda x, k=k: np.diag(x, k), ((3,),), ((3, 3),), ((2, 4),), ((4, 2),),
          k=float(k)) for k in (1, -2)),
    *(row(name, lambda x, f=f, k=k: f(x, k), ((3, 3),), ((2, 4),), ((2, 3, 2),), k=float(k))
      for name, f in (("tril", np.tril), ("triu", np.triu)) for k in (0, 1, -1)),
    row("kron", np.kron, ((3,), (2,)), ((2, 3), (3, 2)), ((2, 3), (2,)), ((2,), (2, 3)),
        ((2, 1, 2), (1, 3))),
    row("reshape", lambda x: x.reshape(2, 6), ((12,),), ((3, 4),), shape=(2.0, -1.0)),
    row("reshape", np.ravel, ((12,),), ((3, 4),), ((),), shape=-1.0),
    row("transpose", np.transpose, ((3,),), ((3, 4),), ((2, 3, 4),)),
    row("transpose", lambda x: np.transpose(x, (1, 2, 0)), ((2, 3, 4),), axes=(1.0, -1.0, 0.0)),
    row("flip", lambda x: np.flip(x, -1), ((3,),), ((2, 3, 4),)),
    row("flip", lambda x: np.flip(x, (0, 1)), ((2, 3, 4),), axis=(0.0, 1.0)),
    row("roll", lambda x: np.roll(x, 2, -1), ((3,),), ((2, 3, 4),), shift=2.0),
    row("roll", lambda x: np.roll(x, -5, 0), ((3,),), ((4, 2),), shift=-5.0, axis=0.0),
    row("repeat", lambda x: np.repeat(x, 3, -1), ((3,),), ((2, 4),), n=3.0),
    row("repeat", lambda x: np.repeat(x, 0, 0), ((3,),), ((2, 4),), n=0.0, axis=0),
    row("tile", lambda x: np.tile(x, 3), ((),), ((3,),), ((2, 4),), n=3.0),
    row("tile", lambda x: np.tile(x, (2, 3)), ((),), ((3,),), ((2, 2, 4),), n=(2.0, 3.0)),
    row("one_hot", lambda i: np.eye(4)[i.astype(int)], ((),), ((3,),), ((2, 3),), make="index",
        n=4.0),
    row("bincount", lambda i: np.apply_along_axis(
        lambda line: np.bincount(line.astype(int), minlength=3), -1, i),
        ((5,),), ((2, 5),), ((2, 3, 4),), make="index", n=3),
    row("take", lambda x, i: x[i.astype(int)], ((3,), ()), ((4,), (5,)), ((3,), (2, 2)),
        ((3, 2), ()), ((3, 2), (4,)), ((3, 2, 2), (2, 3)), make="index"),
    row("concat", lambda *x: np.concatenate(x, -1), ((3,), (2,)), ((3,), (1,), (2,)),
        ((2, 3), (2, 1))),
    row("concat", lambda *x: np.concatenate(x, axis=0), ((2, 3), (1, 3)), axis=0.0),
    row("concat", lambda *x: np.hstack(x), ((), (3,)), ((), ())),
    row("stack", lambda *x: np.stack(x, -1), ((), ()), ((3,), (3,)), ((2, 3),) * 3),
    row("stack", lambda *x: np.stack(x, 0), ((3,), (3,)), axis=0),
    row("linspace", lambda a, b: np.linspace(a, b, 5), ((), ()), n=5.0),
    row("full", lambda v: np.full((2, 3), v), ((),), ((3,),), ((2, 1),), shape=(2.0, 3.0)),
    *(row("elements", lambda x, at=at: x[tuple(
        np.array(i, dtype=int) if isinstance(i, tuple) else i for i in at)], ((4, 3, 2),), index=at)
      for at in (((2, 0, 2),), (slice(None), (1,)), (slice(None), slice(1, 3), ()),
                 (((0, 1), (2, 3)), slice(1, 2)), ((0, 3), (2, 1)), (1, slice(None), (1, 0)))),
    row("matmul", np.matmul,
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((1, 1), (1, 1)),
        ((1, 3), (3, 1)), ((9, 8), (8, 7)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((4, 1, 9, 8), (5, 8, 7)), ((6, 5, 2, 3), (5, 3, 2))),
    row(".T", lambda x: x.swapaxes(-1, -2), ((2, 3, 4),), ((2, 3),)),
    row("array", lambda *x: np.stack(x), ((), ()), ((3,), (3,), (3,)), ((2, 2),)),
    *(row("subscript", lambda x, at=at: x[at], ((4, 3, 2),), index=at)
      for at in ((0,), (-1,), (slice(1, None),), (1, -2), (slice(None), 0),
                 (slice(None, None, -2), slice(1, 9)), (0, 1, -1), (slice(5, 2),), (), (None,),
                 (slice(None), None), (0, None, slice(1, 2), None))),
]  # fmt: skip


def inputs(given: tuple[Shape, ...], randoms: tuple[bool, ...], make: str) -> list[Array]:
    generator = np.random.default_rng(len(given))
    arrays = []
    for shape, random in zip(given, randoms, strict=True):
        size = (*shape, DRAWS if random else 1)
        array = generator.normal(size=size)
        if make == "few":  # ties
            array = generator.integers(-2, 3, size=size).astype(np.float64)
        elif make == "index":
            array = generator.integers(0, 3, size=size).astype(np.float64)
        elif make == "share":
            array = generator.uniform(0.05, 0.95, size=size)
        elif make == "positive":
            array = np.einsum("...ikn,...jkn->...ijn", array, array) + np.eye(shape[-1])[..., None]
        arrays.append(array)
    return arrays


@pytest.mark.parametrize("one", ROWS, ids=[f"{one.name}-{at}" for at, one in enumerate(ROWS)])
def test_a_kernel_gives_what_its_twin_gives_draw_by_draw(one: Row) -> None:
    kernel, rule = call(one.name, **one.options), operation(one.name).shape
    for given in one.given:
        for randoms in itertools.product((True, False), repeat=len(given)):
            arrays = inputs(given, randoms, one.make)
            before = [array.copy() for array in arrays]
            result = kernel(*arrays)
            assert result.shape == (*rule(given, one.options), DRAWS if any(randoms) else 1)
            for draw in range(result.shape[-1]):
                alone = [array[..., draw if array.shape[-1] > 1 else 0] for array in arrays]
                expected = np.asarray(one.twin(*alone))
                assert expected.shape == result.shape[:-1]
                np.testing.assert_allclose(result[..., draw], expected, rtol=1e-10, atol=1e-12)
            for array, kept in zip(arrays, before, strict=True):
                np.testing.assert_array_equal(array, kept)  # kernels never write to their inputs


def test_every_kernel_has_a_test_against_its_twin() -> None:
    tested = {one.name for one in ROWS} - set(SIGNS)
    made = {"arange", "eye", "ones", "zeros", "size", "shape"}
    assert tested | made | set(EPSILONS) == set(FUNCTIONS), "its twin belongs in ROWS"


def test_fixed_arrays() -> None:
    rows: list[tuple[str, dict[str, Any], Any]] = [
        ("arange", {"n": 3.0}, [0, 1, 2]), ("arange", {"n": 0}, []), ("eye", {"n": 2}, np.eye(2)),
        ("ones", {"sizes": (2.0, 3)}, np.ones((2, 3))),
        ("zeros", {"sizes": ((2, 3),)}, np.zeros((2, 3))), ("zeros", {"sizes": (4,)}, np.zeros(4)),
    ]  # fmt: skip
    for name, options, expected in rows:
        result = call(name, **options)()
        np.testing.assert_array_equal(result[..., 0], expected)
        assert result.shape == (*FUNCTIONS[name].shape((), options), 1)
    x = np.full((2, 3, DRAWS), NAN)
    assert (call("size")(x).tolist(), call("shape")(x).tolist()) == ([6.0], [[2.0], [3.0]])


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax"])
def test_running_results_of_many_draws(name: str) -> None:
    x = np.random.default_rng(2).normal(size=(3, 4, 400))  # enough to go by steps
    for axis in (0, 1):
        expected = ALONG[name](x, axis=axis)
        np.testing.assert_allclose(call(name, axis=axis)(x), expected, rtol=1e-14)
        np.testing.assert_allclose(call(name, axis=axis)(x[..., :5]), expected[..., :5], rtol=1e-14)


def test_broadcast_is_numpys() -> None:
    lengths = [(), (0,), (1,), (2,), (3,), (2, 1), (1, 3), (2, 3), (3, 2), (2, 1, 3), (1, 0)]
    for given in itertools.product(lengths, repeat=2):
        try:
            expected = np.broadcast_shapes(*given)
        except ValueError:
            with pytest.raises(ShapeError, match="do not go together"):
                shapes.broadcast(given)
        else:
            assert shapes.broadcast(given) == expected


# ---- where elements come from, as read off kernels -----------------------------------------------

PLACED = {one.name for one in (*FUNCTIONS.values(), *SIGNS.values())
          if one.rearranges or one.does in ("joins", "gaps")}  # fmt: skip


@pytest.mark.parametrize("one", [one for one in ROWS if one.name in PLACED], ids=lambda one: one[0])
def test_elements_are_where_the_kernel_puts_them(one: Row) -> None:
    kernel = call(one.name, **one.options)
    for given in one.given:
        arrays = inputs(given, (False,) * len(given), one.make)
        if not kernel(*arrays).size:
            continue
        whole = np.zeros(())
        for at, array in enumerate(arrays):
            found = origin(kernel, [np.zeros(each.shape) for each in arrays], at)
            index = []
            for axes, places in found.axes:
                lengths = [n if axis in axes else 1 for axis, n in enumerate(found.shape)]
                index.append(np.broadcast_to(places.reshape(lengths), found.shape))
            whole = whole + array[tuple(index)] * found.kept
        assert np.array_equal(whole, kernel(*arrays))


# ---- values --------------------------------------------------------------------------------------

VALUES: list[tuple[str, tuple[float, ...], float]] = [
    ("round", (0.5,), 0), ("round", (1.5,), 2), ("round", (-0.5,), 0), ("factorial", (5,), 120),
    ("factorial", (170,), float(math.factorial(170))), ("factorial", (171,), INF),
    ("factorial", (2.5,), NAN), ("factorial", (-1,), NAN), ("comb", (5, 2), 10),
    ("comb", (60, 30), float(math.comb(60, 30))), ("comb", (5, 6), 0), ("comb", (5, -1), 0),
    ("comb", (2.5, 1), NAN), ("comb", (-3, 1), NAN), ("comb", (1e300, 1), 1e300),
    ("comb", (1e6, 5e5), INF), ("isclose", (INF, INF), 1), ("isclose", (INF, 1), 0),
    ("isclose", (0.3, 0.1 + 0.2), 1), ("isclose", (1, 1 + 1e-8), 0), ("isclose", (0, 1e-13), 1),
    ("where", (NAN, 1, 2), NAN), ("where", (0, NAN, 2), 2), ("where", (2, 3, NAN), 3),
    ("clip", (5, 0, 1), 1), ("erf", (INF,), 1), ("//", (-7, 2), -4), ("//", (-1, INF), -1),
    ("%", (7.5, -2), -0.5), ("%", (-7, 2), 1), ("**", (-8, 1e9), INF), ("**", (-8, 1 / 3), NAN),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "value"), VALUES)
def test_exact_values(name: str, arguments: tuple[float, ...], value: float) -> None:
    found = call(name)(*(np.array([float(one)]) for one in arguments))
    np.testing.assert_allclose(found, [value], rtol=3e-15)


@pytest.mark.parametrize("exponent", [3, 5, 8])
def test_a_power_of_a_small_whole_exponent_is_numpys_but_for_its_roundings(exponent: int) -> None:
    power, count = call("**"), np.array([float(exponent)])
    base = np.random.default_rng(1).normal(size=2000) * 10.0 ** np.arange(-100, 100).repeat(10)
    wanted = np.power(base, count)
    normal = np.isfinite(wanted) & (np.abs(wanted) > 1e-300)
    off = np.abs(power(base, count) - wanted)[normal]
    assert (off <= exponent * 2.0**-53 * np.abs(wanted[normal])).all()  # and numpy's own
    odd = np.array([0.0, -0.0, np.inf, -np.inf, NAN, 1e200, -1e200, 1e-200])
    np.testing.assert_array_equal(power(odd, count), np.power(odd, count))


def test_sums_of_truths_count() -> None:
    generator = np.random.default_rng(3)
    for n in (3, 300, 70_000):  # one byte, two bytes and more would overflow
        truths = np.ones((n, 2), dtype=np.bool_) if n > 1000 else generator.random((n, 2)) < 0.9
        assert call("sum")(truths).tolist() == truths.astype(np.float64).sum(axis=0).tolist()
        assert call("mean")(truths).tolist() == (truths.astype(np.float64).sum(axis=0) / n).tolist()


def test_large_numbers_keep_their_digits() -> None:
    x = np.array([[1000.0, 1000.0], [-np.inf, 0.0], [-np.inf, -np.inf], [np.inf, 0.0]]).T
    shares = np.array([[0.5, 0.5], [0, 1], [NAN, NAN], [NAN, NAN]]).T
    np.testing.assert_array_equal(call("softmax")(x), shares)
    np.testing.assert_allclose(
        call("logsumexp")(x), [1000 + math.log(2), 0, -np.inf, np.inf], 1e-15
    )
    far = 1e8 + np.array([[1.0], [2.0], [3.0], [4.0]])
    assert call("var", ddof=1)(far)[0] == pytest.approx(5 / 3, rel=1e-12)
    assert np.isnan(call("var", ddof=4)(far)).all()
    ends = np.array([[-np.inf, 0.0, np.inf, np.inf]]).T
    assert [call("quantile", u=u)(ends)[0] for u in (0.0, 0.9, 1.0)] == [-INF, INF, INF]


def test_qr_q_of_a_gaussian_matrix_is_uniform() -> None:
    # of Haar measure, E(Q00) = 0 and |Q00| ≤ 1: by Hoeffding, a mean of 40,000 draws beyond 0.03
    # has a chance below 4e-8; LAPACK's own signs give about −0.64
    x = np.random.default_rng(5).normal(size=(2, 2, 40_000))
    assert abs(call("qr_q")(x)[0, 0].mean()) < 0.03


# ---- truths that cannot be told, and values that have no result ----------------------------------


def test_logic_is_kleenes() -> None:
    three = np.array([1.0, 0.0, NAN])
    a, b = three[:, None], three[None, :]
    np.testing.assert_array_equal(call("and")(a, b), [[1, 0, NAN], [0, 0, 0], [NAN, 0, NAN]])
    np.testing.assert_array_equal(call("or")(a, b), [[1, 1, 1], [1, 0, NAN], [1, NAN, NAN]])
    np.testing.assert_array_equal(call("not")(three), [0, 1, NAN])
    lines = np.array(
        [[1, 0, NAN], [0, 0, NAN], [1, 1, NAN], [0, 0, 0], [1, 1, 1], [NAN, 1, 0], [0, NAN, 1]],
        dtype=np.float64,
    ).T
    np.testing.assert_array_equal(call("any")(lines), [1, NAN, 1, 0, 1, 1, 1])
    np.testing.assert_array_equal(call("all")(lines), [0, 0, NAN, 0, 1, 0, 0])
    np.testing.assert_array_equal(call("first")(lines), [0, NAN, 0, np.inf, 0, NAN, NAN])


@pytest.mark.parametrize("name", ["==", "!=", "<", "<=", ">", ">="])
def test_a_comparison_with_nan_is_nan_and_no_other(name: str) -> None:
    numbers = np.array([-np.inf, -1.0, 0.0, 1.0, np.inf, NAN])
    result = call(name)(numbers[:, None], numbers)
    for (i, a), (j, b) in itertools.product(enumerate(numbers), repeat=2):
        holds = {
            "==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b
        }[name]  # fmt: skip
        np.testing.assert_equal(result[i, j], NAN if np.isnan([a, b]).any() else float(holds))


def test_no_elements() -> None:
    nothing = np.empty((0, 2))
    found = {"any": 0, "all": 1, "first": INF, "sum": 0, "prod": 1, "mean": NAN, "var": NAN,
             "norm": 0, "logsumexp": -INF}  # fmt: skip
    for name, value in found.items():
        np.testing.assert_array_equal(call(name)(nothing), [value, value])
    for name in ("sort", "softmax", "diff"):
        assert call(name)(nothing).shape == (0, 2)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("others", [(8, 1024), (1024,), (1,)])
def test_a_choice_is_one_of_two_to_the_bit(share: float, others: tuple[int, ...]) -> None:
    """Numbers that arithmetic would lose: -0, NaN with its digits, what is infinite or tiny."""
    generator = np.random.default_rng(0)
    c = generator.random((8, 1024)) < share
    odd = np.array([-0.0, NAN, -NAN, math.inf, -math.inf, 5e-324, 1e308, 0.1])
    a, b = generator.choice(odd, c.shape), generator.choice(odd, others)
    for first, second in ((a, b), (b, a)):
        for truths in (c, np.asfortranarray(c)):
            result = call("where")(truths, first, second)
            assert result.tobytes() == np.where(c, first, second).tobytes()


@pytest.mark.parametrize(
    "name", ["argmax", "argmin", "argsort", "sort", "max", "min", "median", "softmax", "cummax"]
)
def test_order_is_unknown_beside_a_nan(name: str) -> None:
    result = call(name)(np.array([[NAN, 1.0, 2.0], [3.0, 0.0, np.inf]]).T)
    assert np.isnan(result[..., 0]).all()
    assert name == "softmax" or not np.isnan(result[..., 1]).any()


SINGULAR = np.stack([np.eye(2), [[1, 2], [2, 4]], np.full((2, 2), NAN), 2 * np.eye(2)], axis=-1)


@pytest.mark.parametrize("name", ["inv", "solve", "cholesky", "det", "eigvalsh", "qr_q"])
def test_a_bad_matrix_spoils_its_own_draw_only(name: str) -> None:
    more = [np.ones((2, 1))] if name == "solve" else []
    together = call(name)(SINGULAR, *more)
    assert np.isnan(together[..., 2]).all()
    if name in ("inv", "solve", "cholesky"):
        assert np.isnan(together[..., 1]).all()
        assert np.isnan(call(name)(SINGULAR[..., [1]], *more)).all()
    for draw in (0, 3):
        alone = call(name)(SINGULAR[..., [draw]], *more)
        assert np.isfinite(alone).all()
        np.testing.assert_allclose(together[..., [draw]], alone, rtol=1e-14)


def test_indices_count_from_the_end_and_those_out_of_range_are_nan() -> None:
    table, wild = np.array([10.0, 20.0, 30.0])[:, None], np.array([3.0, -4.0, NAN, INF, 1.0])
    assert call("take")(table, np.array([-1.0, 0.0, -3.0])).tolist() == [30, 10, 10]
    for one in (table, np.broadcast_to(table, (3, 5))):
        np.testing.assert_array_equal(call("take")(one, wild), [NAN, NAN, NAN, NAN, 20])
    found = call("one_hot", n=3)(np.array([1.0, -1.0, NAN]))
    np.testing.assert_array_equal(found, [[0, NAN, NAN], [1, NAN, NAN], [0, NAN, NAN]])
    counts = call("bincount", n=3)(np.array([[1.0, 1.0], [2.0, 3.0]]))
    np.testing.assert_array_equal(counts, [[0, NAN], [1, NAN], [1, NAN]])
    for index in ([[0.5, 1.0]], [[7.0]]):
        for name, of, how in (("take", [table], {}), ("one_hot", [], {"n": 3})):
            with pytest.raises(KernelError, match=r"whole number, and is 0\.5|out of range for 3"):
                call(name, **how)(*of, np.array(index))


# ---- number formats ------------------------------------------------------------------------------


def to_eight_bits(x: Any) -> Any:
    """The nearest multiple of the last of eight binary digits, ties to even."""
    _, exponent = np.frexp(x)
    unit = np.ldexp(1.0, np.maximum(exponent - 8, -133))
    nearest = np.rint(x / unit) * unit
    too_large = np.abs(nearest) > (2 - 2.0**-7) * 2.0**127
    return np.where(np.isfinite(x), np.where(too_large, np.copysign(np.inf, x), nearest), x)


@pytest.mark.parametrize("name", [name for name in EPSILONS if name != "float64"])
def test_rounding_is_to_the_nearest_number_of_the_format(name: str) -> None:
    """At every number of bfloat16, in the middles between two and beside them, and at any bits."""
    every = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32).astype(float)
    finite = np.sort(every[np.isfinite(every)])
    middles = (finite[1:] + finite[:-1]) / 2
    bits = np.random.default_rng(0).integers(0, 2**64, 100_000, dtype=np.uint64).view(float)
    ends = [0.0, -0.0, 5e-324, 2.0**-134, 1.5 * 2.0**-134, 3.3961775e38, 3.4e38, 1e308]
    for x in (every, middles, np.nextafter(middles, INF), np.nextafter(middles, -INF), bits, ends):
        numbers = np.asarray(x)
        wanted = to_eight_bits(numbers) if name == "bfloat16" else numbers.astype(name).astype("f8")
        found = rounded(numbers, name)
        assert np.array_equal(found, wanted, equal_nan=True)
        known = ~np.isnan(numbers)
        assert np.array_equal(np.signbit(found[known]), np.signbit(wanted[known]))


# ---- functions of a law --------------------------------------------------------------------------


def test_lists_of_a_law_may_be_random() -> None:
    p = np.array([[0.2, 0.1], [0.3, 0.1], [0.5, 0.8]])  # draws last
    own = {"law": "categorical"}
    np.testing.assert_allclose(call("cdf", **own)(p, np.array([1.0, 1.0])), [0.5, 0.2])
    np.testing.assert_allclose(call("quantile_of", **own)(p, np.array([0.5, 0.5])), [1.0, 2.0])


@pytest.mark.parametrize(
    ("name", "arguments"), [case for case in CASES if not any(np.ndim(one) for one in case[1])]
)
@pytest.mark.parametrize("function", OF_LAWS)
def test_no_value_leaves_the_enclosure(
    function: str, name: str, arguments: tuple[Any, ...]
) -> None:
    law, compute = LAWS[name], call(function, law=name)
    no_spread = law.constant(*arguments) is not None
    if "density" in function and (law.discrete or no_spread):  # of whole numbers alone, or none
        return
    generator = np.random.default_rng([3, *name.encode()])
    unknown = np.array([math.inf])
    for _ in range(2 if name == "von_mises" else 8):  # whose quantiles take long
        levels = np.sort(generator.random(2))
        ends = levels if function == "quantile_of" else law.quantile(levels, *arguments)
        x = Enclosure(ends[:1] * 1.0, ends[1:] * 1.0, Near(unknown, unknown * 0))
        found = applied(OF_LAWS[function], compute, [*as_arrays(arguments), x])
        points = generator.uniform(ends[0], ends[1], 200)
        if law.discrete and function != "quantile_of":
            points = np.round(points)
            points = points[(points >= ends[0]) & (points <= ends[1])]
        at = compute(*as_arrays(arguments), np.concatenate([points, ends]))
        give = 1e-12 * np.abs(at).max()  # the formula of a density rounds at several places
        assert found.low <= at.min() + give
        assert at.max() <= found.high + give


# ---- quantiles that need no scipy, with the digits of scipy's ------------------------------------


def test_quantiles_of_a_normal() -> None:
    tails = np.exp(-np.linspace(0.1, 690, FEW))
    for levels in (tails, 1.0 - tails[tails > 1e-15], 0.25, np.array([0.0, 0.5, 1.0, np.nan])):
        np.testing.assert_allclose(ndtri(levels), scipy.special.ndtri(levels), rtol=2e-15)


@pytest.mark.parametrize("df", [1, 2, 15, 63, 127, 1023, 2047, 4095])
def test_quantiles_of_students_law(df: int) -> None:
    for alpha in (0.9, 0.5, 0.05, 1e-3, 1e-6, 1e-9, 1e-12):
        truth = -scipy.special.stdtrit(df, alpha / 2)
        assert student_quantile(df, alpha) == pytest.approx(truth, rel=3e-11)
        assert student_quantile(df, alpha * 1.001) != pytest.approx(truth, rel=3e-11)
