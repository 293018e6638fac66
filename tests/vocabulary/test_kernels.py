"""Kernels against the same function of numpy or scipy on the array of one draw at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions import FUNCTIONS, operation
from dropcheck.vocabulary.functions.number_formats import EPSILONS
from dropcheck.vocabulary.shapes import Shape

DRAWS = 5
NAN = math.nan
Twin = Callable[..., Any]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def inputs(
    given: tuple[Shape, ...], randoms: tuple[bool, ...], make: str, seed: int
) -> list[Array]:
    generator = np.random.default_rng(seed)
    arrays = []
    for shape, random in zip(given, randoms, strict=True):
        size = (*shape, DRAWS if random else 1)
        if make == "normal":
            array = generator.normal(size=size)
        elif make == "few":  # ties
            array = generator.integers(-2, 3, size=size).astype(np.float64)
        elif make == "index":
            array = generator.integers(0, 3, size=size).astype(np.float64)
        else:
            array = generator.uniform(0.05, 0.95, size=size)
        arrays.append(array)
    return arrays


def agree(
    kernel: Callable[..., Array],
    twin: Twin,
    rule: Callable[[tuple[Shape, ...]], Shape],
    given: tuple[Shape, ...],
    make: str = "normal",
) -> None:
    """The kernel gives what the twin gives draw by draw, in the shape that the rule says."""
    for randoms in itertools.product((True, False), repeat=len(given)):
        arrays = inputs(given, randoms, make, seed=len(given))
        before = [array.copy() for array in arrays]
        result = kernel(*arrays)
        assert result.shape == (*rule(given), DRAWS if any(randoms) else 1)
        for draw in range(result.shape[-1]):
            one = [array[..., draw if array.shape[-1] > 1 else 0] for array in arrays]
            expected = np.asarray(twin(*one))
            assert expected.shape == result.shape[:-1]
            np.testing.assert_allclose(result[..., draw], expected, rtol=1e-10, atol=1e-12)
        for array, kept in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, kept)  # kernels never write to their inputs


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
TERNARY: dict[str, Twin] = {"clip": np.clip, "where": lambda c, a, b: np.where(c != 0, a, b)}


def call(name: str, **options: Any) -> Callable[..., Array]:
    kernel = operation(name).kernel
    return lambda *arrays: kernel(*arrays, **options)


def rule_of(name: str, **options: Any) -> Callable[[tuple[Shape, ...]], Shape]:
    return lambda given: FUNCTIONS[name].shape(given, options)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("make", ["normal", "share"])
def test_unary(name: str, make: str) -> None:
    for shape in ((), (3,), (2, 3)):
        agree(call(name), UNARY[name], rule_of(name), (shape,), make)


@pytest.mark.parametrize("name", BINARY)
def test_binary_broadcasts_unlike_ranks(name: str) -> None:
    for given in (((), (3,)), ((2, 1), (3,)), ((2, 3), (2, 3)), ((), ())):
        agree(call(name), BINARY[name], rule_of(name), given)


@pytest.mark.parametrize("name", TERNARY)
def test_ternary(name: str) -> None:
    for given in (((3,), (), ()), ((2, 1), (3,), ()), ((3,), (3,), (2, 3))):
        agree(call(name), TERNARY[name], rule_of(name), given, "few")


def test_minimum_of_several() -> None:
    agree(
        call("minimum"),
        lambda *x: np.minimum(np.minimum(x[0], x[1]), x[2]),
        rule_of("minimum"),
        ((3,), (), (2, 3)),
    )


def over(function: Twin, axes: Any) -> Twin:
    """The function of flat elements, over the axes of one draw."""
    wanted = axes if isinstance(axes, tuple) else (axes,)

    def twin(x: Array) -> Array:
        at = tuple(int(axis) % x.ndim for axis in wanted)
        kept = [axis for axis in range(x.ndim) if axis not in at]
        flat = x.transpose(*kept, *at).reshape(*(x.shape[axis] for axis in kept), -1)
        return np.asarray(np.apply_along_axis(function, -1, flat))

    return twin


def position_of_first(x: Array) -> float:
    return next((float(at) for at, value in enumerate(x) if value != 0), math.inf)


REDUCTIONS: dict[str, tuple[Twin, dict[str, Any]]] = {
    "sum": (np.sum, {}), "prod": (np.prod, {}), "mean": (np.mean, {}), "var": (np.var, {}),
    "std": (lambda x: np.std(x, ddof=1) if x.size > 1 else NAN, {"ddof": 1.0}),
    "max": (np.max, {}), "min": (np.min, {}), "any": (np.any, {}), "all": (np.all, {}),
    "norm": (np.linalg.norm, {}), "logsumexp": (scipy.special.logsumexp, {}),
    "median": (np.median, {}),
    "quantile": (lambda x: np.quantile(x, 0.3), {"u": 0.3}),
}  # fmt: skip
SINGLE: dict[str, tuple[Twin, dict[str, Any]]] = {
    "argmax": (np.argmax, {}),
    "argmin": (np.argmin, {}),
    "first": (position_of_first, {}),
}


@pytest.mark.parametrize("make", ["normal", "few"])
@pytest.mark.parametrize("name", [*REDUCTIONS, *SINGLE])
def test_reductions_over_any_axes(name: str, make: str) -> None:
    twin, options = {**REDUCTIONS, **SINGLE}[name]
    cases: list[tuple[Shape, Any]] = [
        ((4,), -1.0), ((1,), 0), ((2, 3), -1), ((2, 3), 0), ((2, 3, 4), 1.0), ((2, 3, 4), -3),
    ]  # fmt: skip
    if name in REDUCTIONS:
        cases += [((2, 3), (0, 1)), ((2, 3, 4), (0.0, -1.0)), ((2, 3, 4), (2, 1)), ((2, 3), (-1,))]
    for shape, axis in cases:
        chosen = {**options, "axis": axis}
        agree(call(name, **chosen), over(twin, axis), rule_of(name, **chosen), (shape,), make)
        kept = {**chosen, "keepdims": 1.0}
        wide = rule_of(name, **kept)((shape,))
        agree(
            call(name, **kept),
            lambda x, twin=twin, axis=axis, wide=wide: over(twin, axis)(x).reshape(wide),
            rule_of(name, **kept),
            (shape,),
            make,
        )
    agree(call(name, **options), over(twin, -1), rule_of(name, **options), ((2, 3),), make)


@pytest.mark.parametrize("order", [0.0, 0.5, 1.0, 2.0, 3.0, math.inf, -math.inf, -1.0])
def test_norms(order: float) -> None:
    options = {"ord": order, "axis": (0, 1)}
    agree(
        call("norm", **options),
        lambda x: np.linalg.norm(x.ravel(), order),
        rule_of("norm", **options),
        ((2, 3),),
    )


def test_quantiles_at_a_list_of_levels() -> None:
    options = {"u": (0.0, 0.25, 1.0), "axis": 0}
    agree(
        call("quantile", **options),
        lambda x: np.quantile(x, (0, 0.25, 1), axis=0),
        rule_of("quantile", **options),
        ((6, 2),),
    )


ALONG: dict[str, Twin] = {
    "sort": np.sort,
    "argsort": lambda x, axis: np.argsort(x, axis=axis, kind="stable"),
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "diff": lambda x, axis: np.diff(x, axis=axis),
    "softmax": scipy.special.softmax,
}


@pytest.mark.parametrize("make", ["normal", "few"])
@pytest.mark.parametrize("name", ALONG)
def test_along_an_axis(name: str, make: str) -> None:
    for shape, axis in (((4,), -1), ((2, 3), 0.0), ((2, 3), -1.0), ((2, 3, 4), 1), ((2, 3, 4), -3)):
        agree(
            call(name, axis=axis),
            lambda x, axis=axis: ALONG[name](x, axis=int(axis)),
            rule_of(name, axis=axis),
            (shape,),
            make,
        )


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax"])
def test_running_results_of_many_draws(name: str) -> None:
    x = np.random.default_rng(2).normal(size=(3, 4, 400))  # enough to go by steps
    for axis in (0, 1):
        expected = ALONG[name](x, axis=axis)
        np.testing.assert_allclose(call(name, axis=axis)(x), expected, rtol=1e-14)
        np.testing.assert_allclose(call(name, axis=axis)(x[..., :5]), expected[..., :5], rtol=1e-14)
    assert call(name)(x[:, :0]).shape == (3, 0, 400)


def test_softmax_over_several_axes() -> None:
    options = {"axis": (0, 2)}
    agree(
        call("softmax", **options),
        lambda x: scipy.special.softmax(x, axis=(0, 2)),
        rule_of("softmax", **options),
        ((2, 3, 4),),
    )


def positive(x: Array) -> Array:
    """A positive definite matrix from any."""
    return x @ x.swapaxes(-1, -2) + np.eye(x.shape[-1])


def unique_q(x: Array) -> Array:
    q, r = np.linalg.qr(x)
    signs = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    return np.asarray(q * signs[..., None, :])


def turned_eigenvectors(x: Array) -> Array:
    lines = np.linalg.eigh(x)[1].swapaxes(-1, -2)
    turned = [one * np.sign(one[np.abs(one).argmax()]) for one in lines.reshape(-1, x.shape[-1])]
    return np.array(turned).reshape(lines.shape).swapaxes(-1, -2)


SHAPED: list[tuple[str, Twin, list[tuple[Shape, ...]], dict[str, Any], str]] = [
    ("dot", np.dot, [((3,), (3,))], {}, "normal"),
    ("dot", lambda a, b: (a * b).sum(-1), [((2, 3), (3,)), ((2, 1, 3), (4, 3))], {}, "normal"),
    ("dot", lambda a, b: (a * b).sum(0), [((2, 3), (2, 3))], {"axis": 0}, "normal"),
    ("outer", np.outer, [((3,), (2,))], {}, "normal"),
    ("outer", lambda a, b: np.einsum("...i,j->...ij", a, b), [((2, 3), (2,))], {}, "normal"),
    ("trace", lambda x: np.trace(x, axis1=-2, axis2=-1), [((3, 3),), ((2, 3, 3),)], {}, "normal"),
    ("det", np.linalg.det, [((1, 1),), ((3, 3),), ((2, 3, 3),)], {}, "normal"),
    ("inv", np.linalg.inv, [((1, 1),), ((3, 3),), ((2, 3, 3),)], {}, "normal"),
    ("solve", np.linalg.solve, [((3, 3), (3,)), ((3, 3), (3, 2)), ((3, 3), (2, 3, 2)),
                                ((2, 3, 3), (3, 2))], {}, "normal"),
    ("solve", lambda a, b: np.linalg.solve(a, b[:, None])[..., 0], [((2, 3, 3), (3,))], {},
        "normal"),
    ("qr_q", unique_q, [((3, 3),), ((4, 2),), ((2, 4),), ((2, 3, 3),)], {}, "normal"),
    ("svdvals", lambda x: np.linalg.svd(x, compute_uv=False), [((3, 3),), ((4, 2),), ((2, 2, 4),)],
        {}, "normal"),
    ("pinv", np.linalg.pinv, [((3, 3),), ((4, 2),), ((2, 2, 4),)], {}, "normal"),
    ("eigvecsh", turned_eigenvectors, [((1, 1),), ((3, 3),), ((2, 3, 3),)], {}, "normal"),
    ("eigvalsh", np.linalg.eigvalsh, [((1, 1),), ((3, 3),), ((2, 3, 3),)], {}, "normal"),
    ("diag", np.diag, [((3,),), ((3, 3),), ((2, 3),)], {}, "normal"),
    ("diag", lambda x: np.diagonal(x, axis1=-2, axis2=-1), [((2, 3, 3),)], {}, "normal"),
    ("diag", lambda x: np.diag(x, 1), [((3,),), ((3, 3),), ((2, 4),), ((4, 2),)], {"k": 1.0},
        "normal"),
    ("diag", lambda x: np.diag(x, -2), [((3,),), ((3, 3),), ((2, 4),), ((4, 2),)], {"k": -2.0},
        "normal"),
    ("tril", np.tril, [((3, 3),), ((2, 4),), ((2, 3, 2),)], {}, "normal"),
    ("tril", lambda x: np.tril(x, -1), [((3, 3),), ((2, 4),)], {"k": -1.0}, "normal"),
    ("triu", np.triu, [((3, 3),), ((2, 4),), ((2, 3, 2),)], {}, "normal"),
    ("triu", lambda x: np.triu(x, 1), [((3, 3),), ((2, 4),)], {"k": 1.0}, "normal"),
    ("kron", np.kron, [((3,), (2,)), ((2, 3), (3, 2)), ((2, 3), (2,)), ((2,), (2, 3)),
                       ((2, 1, 2), (1, 3))], {}, "normal"),
    ("reshape", lambda x: x.reshape(2, 6), [((12,),), ((3, 4),), ((2, 3, 2),)],
        {"shape": (2.0, -1.0)}, "normal"),
    ("reshape", np.ravel, [((12,),), ((3, 4),), ((),)], {"shape": -1.0}, "normal"),
    ("transpose", np.transpose, [((3,),), ((3, 4),), ((2, 3, 4),)], {}, "normal"),
    ("transpose", lambda x: np.transpose(x, (1, 2, 0)), [((2, 3, 4),)], {"axes": (1.0, -1.0, 0.0)},
        "normal"),
    ("flip", lambda x: np.flip(x, -1), [((3,),), ((2, 3, 4),)], {}, "normal"),
    ("flip", lambda x: np.flip(x, (0, 1)), [((2, 3, 4),)], {"axis": (0.0, 1.0)}, "normal"),
    ("roll", lambda x: np.roll(x, 2, -1), [((3,),), ((2, 3, 4),)], {"shift": 2.0}, "normal"),
    ("roll", lambda x: np.roll(x, -5, 0), [((3,),), ((4, 2),)], {"shift": -5.0, "axis": 0.0},
        "normal"),
    ("repeat", lambda x: np.repeat(x, 3, -1), [((3,),), ((2, 4),)], {"n": 3.0}, "normal"),
    ("repeat", lambda x: np.repeat(x, 0, 0), [((3,),), ((2, 4),)], {"n": 0.0, "axis": 0},
        "normal"),
    ("tile", lambda x: np.tile(x, 3), [((),), ((3,),), ((2, 4),)], {"n": 3.0}, "normal"),
    ("tile", lambda x: np.tile(x, (2, 3)), [((),), ((3,),), ((2, 2, 4),)], {"n": (2.0, 3.0)},
        "normal"),
    ("one_hot", lambda i: np.eye(4)[i.astype(int)], [((),), ((3,),), ((2, 3),)], {"n": 4.0},
        "index"),
    ("bincount", lambda i: np.bincount(i.astype(int), minlength=4), [((5,),)], {"n": 4.0}, "index"),
    ("bincount", lambda i: np.apply_along_axis(
        lambda line: np.bincount(line.astype(int), minlength=3), -1, i),
        [((2, 5),), ((2, 3, 4),)], {"n": 3}, "index"),
    ("take", lambda x, i: x[i.astype(int)],
        [((3,), ()), ((4,), (5,)), ((3,), (2, 2)), ((3, 2), ()), ((3, 2), (4,)),
         ((3, 2, 2), (2, 3))], {}, "index"),
    ("concat", lambda *x: np.concatenate(x), [((3,), (2,)), ((3,), (1,), (2,))], {}, "normal"),
    ("concat", lambda *x: np.concatenate(x, axis=-1), [((2, 3), (2, 1))], {}, "normal"),
    ("concat", lambda *x: np.concatenate(x, axis=0), [((2, 3), (1, 3))], {"axis": 0.0}, "normal"),
    ("concat", lambda *x: np.hstack(x), [((), (3,)), ((), ())], {}, "normal"),
    ("stack", lambda *x: np.stack(x, -1), [((), ()), ((3,), (3,)), ((2, 3),) * 3], {}, "normal"),
    ("stack", lambda *x: np.stack(x, 0), [((3,), (3,))], {"axis": 0}, "normal"),
    ("stack", lambda *x: np.stack(x, 1), [((2, 3),) * 3], {"axis": 1.0}, "normal"),
    ("size", np.size, [((2, 3),), ((),)], {}, "normal"),
    ("linspace", lambda a, b: np.linspace(a, b, 5), [((), ())], {"n": 5.0}, "normal"),
    ("full", lambda v: np.full((2, 3), v), [((),), ((3,),), ((2, 1),)], {"shape": (2.0, 3.0)},
        "normal"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "twin", "given", "options", "make"),
    SHAPED,
    ids=[f"{row[0]}-{at}" for at, row in enumerate(SHAPED)],
)
def test_shaped(
    name: str, twin: Twin, given: list[tuple[Shape, ...]], options: dict[str, Any], make: str
) -> None:
    for each in given:
        kernel = call(name, **options)
        if name == "size":  # fixed, whatever goes in
            assert kernel(np.ones((*each[0], DRAWS))).tolist() == [np.ones(each[0]).size]
        else:
            agree(kernel, twin, rule_of(name, **options), each, make)


@pytest.mark.parametrize(("axis", "places"), [(0, (2, 0, 2)), (1, (1,)), (2, ()), (2, (1, 0))])
def test_elements(axis: int, places: tuple[int, ...]) -> None:
    options = {"axis": float(axis), "places": places}
    agree(
        call("elements", **options),
        lambda x: np.take(x, np.array(places, dtype=int), axis=axis),
        lambda given: operation("elements").shape(given, options),
        ((4, 3, 2),),
    )


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 3, 3)])
def test_cholesky(shape: Shape) -> None:
    agree(
        lambda x: call("cholesky")(np.moveaxis(positive(np.moveaxis(x, -1, 0)), 0, -1)),
        lambda x: np.linalg.cholesky(positive(x)),
        rule_of("cholesky"),
        (shape,),
    )


def test_every_kernel_has_a_test_against_its_twin() -> None:
    tested = {*UNARY, *BINARY, *TERNARY, *REDUCTIONS, *SINGLE, *ALONG, *(row[0] for row in SHAPED)}
    fixed = {"arange", "eye", "ones", "zeros", "cholesky", "shape"}
    rounding = set(EPSILONS)  # against the neighbours of each number, in tests/language/test_slots
    assert tested | fixed | rounding == set(FUNCTIONS), "its twin belongs in UNARY, BINARY, …"
    assert call("shape")(np.ones((2, 3, DRAWS))).tolist() == [[2], [3]]


# -- operators -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((1, 1), (1, 1)),
        ((1, 3), (3, 1)), ((9, 8), (8, 7)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((4, 1, 9, 8), (5, 8, 7)), ((6, 5, 2, 3), (5, 3, 2)),
    ],
)  # fmt: skip
def test_matmul(given: tuple[Shape, Shape]) -> None:
    agree(call("matmul"), np.matmul, lambda g: shapes.matmul(*g), given)


def test_transpose_and_list() -> None:
    agree(
        call(".T"),
        lambda x: x.swapaxes(-1, -2),
        lambda g: shapes.transpose(*g),
        ((2, 3, 4),),
    )
    for given in (((), ()), ((3,), (3,), (3,)), ((2, 2),)):
        agree(call("array"), lambda *x: np.stack(x), shapes.array_of, given)
    assert call("array")().shape == (0, 1)


@pytest.mark.parametrize(
    "index",
    [(0,), (-1,), (slice(1, None),), (1, -2), (slice(None), 0),
     (slice(None, None, -2), slice(1, 9)), (0, 1, -1), (slice(5, 2),), (), (None,),
     (slice(None), None), (0, None, slice(1, 2), None)],
)  # fmt: skip
def test_subscript(index: tuple[int | slice | None, ...]) -> None:
    agree(
        call("subscript", index=index),
        lambda x: x[index],
        lambda g: shapes.subscript(g[0], index),
        ((4, 3, 2),),
    )
