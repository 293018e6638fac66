"""What expressions and models are: values, shapes and draws, against numpy on one draw at a time.

The second method knows nothing of this language: Python's own parser reads the expression, and
numpy's own functions work on arrays of the shape of one draw.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from law_table import CASES, as_arrays
from lowered import ARRAYS, expressed, lowered, lowering
from scipy import special

from dropcheck.analysis.norms import Norms, Quantity
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import number
from dropcheck.simulation.compile import ProgramBuilder
from dropcheck.vocabulary.functions import FUNCTIONS as ALL_FUNCTIONS
from dropcheck.vocabulary.laws import LAWS

Here = dict[str, Any]  # one draw: name → array of that draw's shape
DRAWS = 7

MODEL = (
    "s ~ normal(0, 1); c ~ bernoulli(0.5); v ~ normal(1, 2)[3]; w ~ poisson(2)[3]; "
    "m ~ normal(0, 1)[2, 3]; k ~ normal(0, 3)[3, 3]; i ~ discrete_uniform(-3, 2)[4]; "
    "f = [2, 0, -1]; g = [[1, 2, 3], [4, 5, 6]]; h ~ normal(s, 1)[3]; z ~ uniform(0, p)"
)
DRAWN = ("s", "c", "v", "w", "m", "k", "i", "h", "z")
FIXED: Here = {
    "f": np.array([2.0, 0.0, -1.0]),
    "g": np.array([[1.0, 2, 3], [4, 5, 6]]),
    "p": 0.25,
    "pi": math.pi,
    "inf": math.inf,
}


# ---- one draw at a time --------------------------------------------------------------------------


def over(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(x: Any, axis: Any = None, keepdims: Any = 0) -> Any:
        axes = None if axis is None else tuple(int(a) for a in np.ravel(axis))
        return function(x, axis=axes, keepdims=bool(keepdims))

    return apply


def along(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=-1: function(x, axis=int(axis))


def one_axis(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None: function(x, axis=None if axis is None else int(axis)) * 1.0


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "tanh": np.tanh, "abs": np.abs, "sqrt": np.sqrt, "floor": np.floor,
    "relu": lambda x: np.where(np.isnan(x), np.nan, np.where(x > 0, x, 0.0)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Phi": lambda x: (1 + special.erf(x / math.sqrt(2))) / 2,
    "sum": over(np.sum), "mean": over(np.mean), "max": over(np.max), "min": over(np.min),
    "prod": over(np.prod), "median": over(np.median), "logsumexp": over(special.logsumexp),
    "any": over(lambda x, **how: np.any(x != 0, **how) * 1.0),
    "all": over(lambda x, **how: np.all(x != 0, **how) * 1.0),
    "norm": over(lambda x, **how: np.sqrt(np.sum(x**2, **how))),
    "var": lambda x, ddof=0, axis=None, keepdims=0: over(
        lambda x, **how: np.var(x, ddof=int(ddof), **how))(x, axis, keepdims),
    "std": over(np.std), "argmax": one_axis(np.argmax), "argmin": one_axis(np.argmin),
    "quantile": np.quantile,
    "cumsum": along(np.cumsum), "cumprod": along(np.cumprod), "diff": along(np.diff),
    "cummax": along(np.maximum.accumulate), "sort": along(np.sort),
    "softmax": along(special.softmax),
    "argsort": along(lambda x, axis: np.argsort(x, axis=axis, kind="stable")),
    "outer": np.multiply.outer, "det": np.linalg.det, "inv": np.linalg.inv,
    "solve": np.linalg.solve, "trace": np.trace, "diag": np.diag,
    "take": lambda x, j: np.asarray(x)[np.asarray(j).astype(int)],
    "concat": lambda *xs, axis=-1: np.concatenate([np.atleast_1d(x) for x in xs], axis=int(axis)),
    "stack": lambda *xs, axis=-1: np.stack(xs, axis=int(axis)),
    "one_hot": lambda j, n: np.eye(int(n))[np.asarray(j).astype(int)],
    "size": lambda x: float(np.size(x)),
    "where": lambda c, a, b: np.where(np.isnan(c), np.nan, np.where(c, a, b)),
    "isnan": lambda x: np.isnan(x) * 1.0, "isinf": lambda x: np.isinf(x) * 1.0,
    "roll": lambda x, shift, axis=-1: np.roll(x, int(shift), int(axis)),
    "flip": lambda x, axis=-1: np.flip(x, int(axis)),
    "tril": lambda x, k=0: np.tril(x, int(k)), "triu": lambda x, k=0: np.triu(x, int(k)),
    "reshape": lambda x, shape: np.reshape(x, np.asarray(shape, dtype=int)),
    "transpose": np.transpose, "kron": np.kron,
    "repeat": lambda x, n, axis=-1: np.repeat(x, int(n), int(axis)),
    "tile": lambda x, n: np.tile(x, np.asarray(n, dtype=int)),
}  # fmt: skip
SIGNS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide, ast.Mod: np.mod, ast.Pow: np.float_power,
    ast.MatMult: np.matmul, ast.Eq: np.equal, ast.NotEq: np.not_equal, ast.Lt: np.less,
    ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal,
}  # fmt: skip


def compared(sign: ast.cmpop, a: Any, b: Any) -> Any:
    """1 or 0, NaN where one side is."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, SIGNS[type(sign)](a, b))


def joined(decisive: int, a: Any, b: Any) -> Any:
    """Kleene's three-valued logic, NaN for what is not known: `and` of 0, `or` of 1."""
    a, b = (np.where(np.isnan(x), np.nan, x != 0) for x in np.broadcast_arrays(a, b))
    unknown = np.isnan(a) | np.isnan(b)
    decided = (a == decisive) | (b == decisive)
    return np.where(decided, decisive, np.where(unknown, np.nan, 1 - decisive))


def one_draw(node: ast.expr, here: Here) -> Any:
    """The value of an expression in one draw."""

    def of(below: ast.expr) -> Any:
        return one_draw(below, here)

    match node:
        case ast.Constant(value=value):
            return float(value)  # type: ignore[arg-type]  # numbers alone are written here
        case ast.Name(id=name):
            return here[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -np.asarray(of(operand))
        case ast.UnaryOp(operand=operand):
            denied = np.asarray(of(operand))
            return np.where(np.isnan(denied), np.nan, denied == 0)
        case ast.BinOp(left=left, op=sign, right=right):
            return SIGNS[type(sign)](of(left), of(right))
        case ast.Compare(left=left, ops=signs, comparators=others):
            values = [of(left), *map(of, others)]
            links = map(compared, signs, values, values[1:])
            return reduce(lambda a, b: joined(0, a, b), links)
        case ast.BoolOp(op=sign, values=operands):
            decisive = 0 if isinstance(sign, ast.And) else 1
            return reduce(lambda a, b: joined(decisive, a, b), map(of, operands))
        case ast.IfExp(test=condition, body=then, orelse=otherwise):
            return FUNCTIONS["where"](np.asarray(of(condition)), of(then), of(otherwise))
        case ast.List(elts=items):
            return np.stack([of(item) for item in items])
        case ast.Attribute(value=base):
            return np.swapaxes(of(base), -1, -2)
        case ast.Subscript(value=base, slice=index):
            entries = index.elts if isinstance(index, ast.Tuple) else [index]
            return np.asarray(of(base))[tuple(picked(entry, here) for entry in entries)]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
            named = {str(one.arg): of(one.value) for one in keywords}
            return FUNCTIONS[name](*map(of, arguments), **named)
    raise AssertionError(ast.dump(node))


def picked(node: ast.expr, here: Here) -> Any:
    if isinstance(node, ast.Constant) and node.value in (None, ...):
        return node.value
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if end is None else int(one_draw(end, here)) for end in ends))
    found = np.asarray(one_draw(node, here))
    mask = isinstance(node, ast.Compare)
    return found.astype(bool if mask else int) if found.shape else int(found)


# ---- and all draws at once -----------------------------------------------------------------------


def all_draws(expression: str) -> tuple[Any, list[Here]]:
    """The expression by a program, draws last, and every draw of the model."""
    scope = lowering(MODEL, {"p": FIXED["p"]})
    value = expressed(scope, expression)
    builder = ProgramBuilder()
    drawn = {name: builder.register(expressed(scope, name)) for name in DRAWN}
    register = builder.register(value)
    for target in (*drawn.values(), register):
        builder.term(((target, 1),), None)
    with np.errstate(all="ignore"):
        held = builder.build().registers(np.random.default_rng(7), DRAWS)
    result = held[register]
    assert result is not None
    assert result.shape == (*value.shape, DRAWS if value.random else 1)
    blocks = {name: number(np.asarray(held[place])) for name, place in drawn.items()}
    draws = [FIXED | {name: block[..., n] for name, block in blocks.items()} for n in range(DRAWS)]
    return number(result), draws


def assert_same(expression: str, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    """The program's result and that of every draw by itself, up to rounding."""
    node = ast.parse(expression, mode="eval").body
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # numpy's of empty slices and overflows
        result, draws = all_draws(expression)
        for n, here in enumerate(draws):
            found = result[..., n if result.shape[-1] > 1 else 0]
            expected = np.asarray(one_draw(node, here), dtype=np.float64)
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol, atol, err_msg=expression)


@pytest.mark.parametrize(
    "expression",
    [
        # a scalar argument is shared by all elements; laws with arguments that are drawn
        "h - s", "z < p", "v + m", "m @ v", "v @ k @ w", "g @ k", "k @ g.T", "f @ v", "m.T @ m",
        "[s, c, 1]", "[[s, 1], [c, 0]] @ [1, s]", "[v, f]", "m[0] + m[-1, ::-1]",
        "k[1:, :2] @ m[:, 1:]", "g[1, 2] * s", "take(v, i)", "v[i]", "take(f, i)", "take(g.T, i)",
        "one_hot(argmax(v), 3) @ v", "v if s > 0 else w", "sqrt(s) if s >= 0 else -1",
        "where(c, m, -1)", "0 < s < z < 1", "s > 0 and v > 0 or not (w > 0)", "1 if c else s",
        "sum(m, axis=0) + sum(m, axis=1, keepdims=1)", "sum(k, axis=[0, 1])",
        "max(k, axis=0) - min(k)", "cumsum(m, axis=0)", "softmax(k, axis=0) @ softmax(v)",
        "outer(v, w) @ f", "solve(k, v) + inv(k) @ v", "det(k) * trace(k) + sum(diag(k))",
        "concat(v, w, f)", "stack(v, w)", "stack(v, w, axis=0)",
        "var(v, ddof=1) + var(m, axis=0)[1]", "median(v) + norm(v) + logsumexp(v)",
        # how signs bind, as in Python
        "s - h - z * 2 / p // 3 % 4", "-s**2 + (-s)**2 - 2**-w", "2**w**2", "s < z == c != 0",
        "not s == z and c or not (z < p)", "s if c else z if s > 0 else p", "(s < z) < c",
        "m[0][1:] + m.T.T[1, ::-1][:2]", "v[-1] + v[(0)]", "1_0 * 1e-1 + 0x10 + .5 + z",
        "w % 2 + w // 2", "2 ** -w", "any(v > 0) + all(v > 0)", "size(m) * p",
    ],
)  # fmt: skip
def test_as_one_draw_at_a_time(expression: str) -> None:
    assert_same(expression)


REDUCED = ("sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin", "median", "any",
           "all", "norm", "logsumexp")  # fmt: skip
KEEPING = ("softmax", "cumsum", "cumprod", "sort", "argsort", "cummax", "diff", "flip")


@pytest.mark.parametrize("name", [*REDUCED, *KEEPING, "quantile"])
def test_a_reduction_is_over_all_axes_and_the_rest_along_the_last(name: str) -> None:
    for array in ("f", "g", "m", "[[[2, 0, 5], [1, 1, -2]], [[3, -1, 0], [0, 4, 2]]]"):
        assert_same(f"{name}({array}{', 0.3' if name == 'quantile' else ''})")
        if name in REDUCED and name not in ("argmax", "argmin"):
            assert_same(f"{name}({array}, axis=-1)")
            assert_same(f"{name}({array}, keepdims=1)")


LEAVES = st.sampled_from(["s", "c", "v", "w", "m", "k", "f", "g", "h", "z", "p", "2", "-0.5", "0"])
ELEMENTWISE = st.sampled_from(["exp", "tanh", "abs", "sqrt", "floor", "relu", "sigmoid", "Phi"])
OVER = st.sampled_from(["sum", "mean", "max", "min", "prod", "any", "all", "median", "logsumexp"])
ALONG = st.sampled_from(["cumsum", "cumprod", "cummax", "sort", "softmax", "diff"])
ARITHMETIC = st.sampled_from(["+", "-", "*", "/", "@", "%", "**", " and ", " or ", "<", "==", ">="])
INDEX = st.sampled_from(
    ["0", "-1", "1:", "::-1", ":, 0", "0, 1", ":2, 1:", ":, None", "None", "..., 0", "0, ...",
     "..., None", "[1, 0]", "[[0, 1], [1, 1]]", ":, [0, 0, 2]", "f > 0", "g > 3", "..., ::-2"]
)  # fmt: skip
PLACED = st.sampled_from(
    ["roll({}, 1)", "roll({}, -2, axis=0)", "flip({})", "flip({}, axis=0)", "tril({})",
     "triu({}, k=1)", "reshape({}, -1)", "reshape({}, [3, -1])", "reshape({}, [1, 3, 1])",
     "transpose({})", "repeat({}, 2)", "tile({}, 2)", "tile({}, [2, 1])", "kron({}, f)",
     "isnan({})", "isinf({})"]
)  # fmt: skip


def grown(below: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(below, ARITHMETIC, below).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        st.tuples(ELEMENTWISE, below).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(OVER, below, st.sampled_from(["", ", axis=0", ", axis=-1, keepdims=1"])).map(
            lambda t: f"{t[0]}({t[1]}{t[2]})"
        ),
        st.tuples(ALONG, below, st.sampled_from(["", ", axis=0"])).map(
            lambda t: f"{t[0]}({t[1]}{t[2]})"
        ),
        st.tuples(below, INDEX).map(lambda t: f"{t[0]}[{t[1]}]" if t[0][0] != "-" else t[0]),
        st.tuples(PLACED, below).map(lambda t: t[0].format(t[1])),
        below.map(lambda text: f"({text}).T"),
        below.map(lambda text: f"(-{text})"),
        st.tuples(below, below).map(lambda t: f"[{t[0]}, {t[1]}]"),
        st.tuples(below, below, below).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(below, below, below).map(lambda t: f"where({t[0]}, {t[1]}, {t[2]})"),
    )


@given(st.recursive(LEAVES, grown, max_leaves=6))
@settings(max_examples=80)
def test_any_expression_as_one_draw_at_a_time(expression: str) -> None:
    try:
        assert_same(expression, rtol=1e-6, atol=1e-9)
    except DropcheckError:
        assume(False)


# ---- shapes --------------------------------------------------------------------------------------

SHAPES = {
    # numpy's rule, aligned at the right
    "s + v": (3,), "m + v": (2, 3), "t * m": (5, 2, 3), "v + m[:, :1]": (2, 3), "v == f": (3,),
    "v > 0 and s > 0": (3,), "v if s > 0 else 0": (3,), "-m": (2, 3), "not m > 0": (2, 3),
    "where(s > 0, m, v)": (2, 3), "maximum(s, v, m)": (2, 3),
    # products of matrices: a vector is a row on the left and a column on the right
    "v @ v": (), "m @ v": (2,), "v @ k": (3,), "m @ k": (2, 3), "m @ m.T": (2, 2),
    "t @ k": (5, 2, 3), "t @ m.T": (5, 2, 2), "m.T": (3, 2), "t.T": (5, 3, 2),
    # indices
    "v[0]": (), "v[-1]": (), "v[1:]": (2,), "v[::-2]": (2,), "v[5:]": (0,), "m[0]": (3,),
    "m[0, 1]": (), "m[:, 1]": (2,), "t[1:3, 0]": (2, 3), "v[:, None]": (3, 1), "v[None]": (1, 3),
    "s[None]": (1,), "t[..., 0]": (5, 2), "t[0, ..., None]": (2, 3, 1), "m[...]": (2, 3),
    "v[[0, 2, 0, -1]]": (4,), "v[[[0, 1], [2, 0]]]": (2, 2), "t[:, [0], 1:]": (5, 1, 2),
    "t[:, :, [[0, 1]]]": (5, 2, 1, 2), "t[0, [1, 0]]": (2, 3), "v[f > 0.5]": (2,), "v[f > 9]": (0,),
    "w[concat([1, 2] > 1, [1, 2] > 0)]": (3,), "m[outer([1, 2], f) > 0]": (4,),
    "t[:, outer([1, 2], f) > 0]": (5, 4), "t[..., f > 0.5]": (5, 2, 2),
    "t[outer([1, 2, 3, 4, 5], [1, 2]) > 4]": (4, 3),
    # functions
    "v[s]": (), "m[[0, s]]": (2, 3), "size(m)": (), "shape(m)": (2,),
    "reshape(v, [size(v), shape(v)[0] / 3])": (3, 1),  # of one number each, which differ in shape
    "density(normal(0, 1), v)": (3,), "logdensity(normal(v, 1), s)": (3,),
    # operators on the law have a number for each entry
    "E(m)": (2, 3), "Cov(v, f)": (3,), "Cov(v)": (3, 3), "Cov(v[:, None], w)": (3, 4),
    "E(v, given=s > 0)": (3,), "E(s, given=v > 0)": (3,), "E(m)[0]": (3,),
    "sum(E(m), axis=0)": (3,),
}  # fmt: skip
DRAWS_OF = {
    "normal(0, 1)[[4, 2]]": (4, 2), "normal(0, 1)[n, size(ones(3))]": (5, 3),
    "normal([1, 2, 3], 1)": (3,), "normal([[1], [2]], [1, 2, 3])": (2, 3),
    "normal([1, 2, 3], 1)[4, 3]": (4, 3), "categorical([0.5, 0.5])[7]": (7,),
    "categorical([[0.5, 0.5], [0.1, 0.9]])": (2,), "choice([1, 2, 3])[2]": (2,),
    "multinomial(10, [0.5, 0.5])[4]": (4, 2), "dirichlet([1, 1, 1])": (3,),
    "multinomial([10, 20], [0.5, 0.3, 0.2])": (2, 3), "permutation(n)": (5,),
    "permutation(3)[2]": (2, 3), "multivariate_normal([0, 0], eye(2))[4]": (4, 2),
}  # fmt: skip


@pytest.mark.parametrize("expression", SHAPES)
def test_shapes(expression: str) -> None:
    assert lowered(ARRAYS, expression).shape == SHAPES[expression]


@pytest.mark.parametrize("law", DRAWS_OF)
def test_shapes_of_draws(law: str) -> None:
    assert lowered(f"x ~ {law}", "x", {"n": 5.0}).shape == DRAWS_OF[law]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("s + 1", "s + 1.0", True), ("(v*s) + 1", "v * s + 1", True),
        ("sum(m, axis=[0, 1])", "sum(m)", True), ("-0.0", "0.0", False), ("1 / s", "s", False),
        ("s + [0, 0]", "s", False), ("m[0, 1:]", "m[0, :1]", False),
        ("sum(m)", "sum(m, axis=0)", False), ("E(s)", "E(s, given=s > 0)", False),
        ("var(v)", "var(v, ddof=1)", False),
    ],
)  # fmt: skip
def test_equal_expressions_are_one_value(first: str, second: str, same: bool) -> None:
    scope = lowering(ARRAYS)
    assert (expressed(scope, first) is expressed(scope, second)) is same


# ---- what is fixed -------------------------------------------------------------------------------

FOLDED = {
    "9**9**9": math.inf, "-9**9**9": -math.inf, "(-8) ** (1 / 3)": math.nan, "1 / 0": math.inf,
    "0 / 0": math.nan, "1 < 2 < 3": 1.0, "1 < 3 < 2": 0.0, "inf - inf == 0": math.nan,
    "0 and inf - inf": 0.0, "1 or inf - inf": 1.0, "1 and inf - inf": math.nan, "inf and -inf": 1.0,
    "3 if 2 > 1 else 1 / 0": 3.0, "where(0, 1 / 0, 4)": 4.0, "1 in {2, 1}": 1.0,
    "1 not in {2, 1}": 0.0, "size([1, 2]) + shape([[1, 2, 3]])[1]": 5.0,
    "2 * pi - e + euler_gamma": 2 * math.pi - math.e + 0.5772156649015329,
    "lgamma(-inf)": -math.inf, "digamma(-1e300)": math.nan, "ｘ": 3.0, "1_000 + 0x10": 1016.0,
}  # fmt: skip


@pytest.mark.parametrize("expression", FOLDED)
def test_what_is_fixed_is_worked_out(expression: str) -> None:
    found = expressed(lowering("", {"x": 3.0}), expression).known
    assert found == pytest.approx(FOLDED[expression], rel=1e-15, nan_ok=True)


OF_NUMBERS = sorted(n for n, function in ALL_FUNCTIONS.items() if function.by_element)
NUMBERS = st.sampled_from(
    ["0", "1", "-1", "0.5", "-2.5", "171", "20.5", "1e300", "1e-300", "inf", "(-inf)",
     "(inf - inf)", "(1 > 2)"]
)  # fmt: skip


def call_text(name: str, arguments: tuple[str, ...]) -> str:
    values = [p for p in ALL_FUNCTIONS[name].parameters if not p.option and not p.variadic]
    return f"{name}({', '.join(arguments[: len(values)])})"


def of_numbers(below: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(below, ARITHMETIC, below).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.builds(call_text, st.sampled_from(OF_NUMBERS), st.tuples(below, below, below)),
    )


@given(st.recursive(NUMBERS, of_numbers, max_leaves=6))
@settings(max_examples=100)
def test_whatever_is_fixed_is_a_number_and_warns_of_nothing(expression: str) -> None:
    assume("@" not in expression)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(expressed(lowering(), expression).known, float)


# ---- loops ---------------------------------------------------------------------------------------


def draws(model: str, *expressions: str, count: int = 64, **parameters: float) -> list[Any]:
    """Some draws of each expression, [..., draws]."""
    scope, builder = lowering(model, parameters), ProgramBuilder()
    places = [builder.register(expressed(scope, one)) for one in expressions]
    for place in places:
        builder.term(((place, 1),), None)
    with np.errstate(all="ignore"):
        held = builder.build().registers(np.random.default_rng(3), count)
    return [np.asarray(held[place], float) for place in places]


AR1 = """\
x = 0
for t in range(T):
    w ~ normal(0, 1)
    x = 0.9 * x + w
    path = x
"""

# a loop, an expression of it, and a model without loops of the same draws in the same order
WRITTEN_OUT = {
    "carried": (AR1, "x", "a, b, c ~ normal(0, 1); y = 0.9 * (0.9 * a + b) + c", "y"),
    "collected": (AR1, "path", "a, b, c ~ normal(0, 1); d = 0.9 * a + b; y = [a, d, 0.9 * d + c]",
        "y"),
    "one of the collected": (AR1, "path[-2]", "a, b, c ~ normal(0, 1)", "0.9 * a + b"),
    "drawn": ("x = 2\nfor t in range(2):\n  x ~ normal(x, t + 1)", "x",
        "a ~ normal(2, 1); b ~ normal(a, 2)", "b"),
    "drawn twice at a step": ("x = 2\nfor t in range(1):\n  x ~ normal(x, 1)\n  x ~ normal(x, 1)",
        "x", "a ~ normal(2, 1); b ~ normal(a, 1)", "b"),
    "drawn under one name in two loops": (
        "x = 2\nfor t in range(1):\n  x ~ normal(x, 1)\nfor t in range(1):\n  x ~ normal(x, 1)",
        "x", "a ~ normal(2, 1); b ~ normal(a, 1)", "b"),
    "several names": ("x = 0\nfor t in range(2):\n  u, v ~ uniform(0, 1)\n  x = x + u * v", "x",
        "a, b, c, d ~ uniform(0, 1)", "a * b + c * d"),
    "several assignments": ("x = 1\nfor t in range(2):\n  x = 3 * x\n  x = x + t", "x", "",
        "3 * 3 + 1"),
    "the old value under a new name": (
        "a = 1\nb = 1\nfor n in range(5):\n  c = a + b\n  a = b\n  b = c", "c", "",
        "[2, 3, 5, 8, 13]"),
    "nested, collected": ("for i in range(2):\n  for j in range(3):\n    y = 10 * i + j", "y", "",
        "[[0, 1, 2], [10, 11, 12]]"),
    "nested, one of the collected": (
        "for i in range(2):\n  for j in range(3):\n    y = 10 * i + j", "y[1, 2]", "", "12"),
    "nested, the inner one collected within": (
        "for i in range(2):\n  for j in range(3):\n    y = 10 * i + j\n  z = sum(y)", "z", "",
        "[3, 33]"),
    "nested, carried through": ("s = 0\nfor i in range(3):\n  for j in range(i):\n    s = s + 1",
        "s", "", "3"),
    "an index": ("w ~ normal(0, 1)[3]\nx = 0\nfor t in range(3):\n  x = 0.5 * x + w[t]", "x",
        "w ~ normal(0, 1)[3]", "0.5 * (0.5 * w[0] + w[1]) + w[2]"),
    "a start": ("x = 0\nfor t in range(2, 5):\n  x = x + t", "x", "", "9"),
    "a step": ("x = 0\nfor t in range(5, 0, -2):\n  x = 10 * x + t", "x", "", "531"),
    "a case that is known": ("x = 1\nfor t in range(3):\n  x = x / t if t > 0 else 8", "x", "",
        "4"),
    "a fixed list": ("for t in range(3):\n  y = t**2", "y", "", "[0, 1, 4]"),
    "no step": ("x = 7\nfor t in range(T - 3):\n  x = x + 1", "x", "", "7"),
    "one step": ("for t in range(1):\n  y = 5", "y", "", "[5]"),
    "a number that becomes an array": (
        "x = 0\nfor t in range(2):\n  w ~ normal(0, 1)[2]\n  x = x + w", "x",
        "a, b ~ normal(0, 1)[2]", "a + b"),
    "the number of the step again": (
        "x = 0\nfor t in range(2):\n  x = x + t\nfor t in range(3):\n  x = x + t", "x", "", "4"),
    "a constant's name": ("x = 0\nfor t in range(2):\n  e ~ normal(0, 1)\n  x = x + e", "x",
        "a, b ~ normal(0, 1)", "a + b"),
    "a body over several rows": (
        "x = 0\nfor t in range(2,\n 4):\n  x = (x +\nt)  # indented as it likes\n\n  # a comment",
        "x", "", "5"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_a_loop_is_its_lines_written_out(name: str) -> None:
    model, expression, plain, same = WRITTEN_OUT[name]
    (expected,), (found,) = draws(plain, same, T=3), draws(model, expression, T=3)
    assert np.array_equal(found, expected)


# ---- densities that are written out --------------------------------------------------------------

LISTS = ("categorical", "choice", "dirichlet", "multinomial", "multivariate_normal", "permutation")


@pytest.mark.parametrize(("name", "arguments"), [one for one in CASES if one[0] not in LISTS])
def test_a_log_density_is_what_the_law_says(name: str, arguments: tuple[Any, ...]) -> None:
    law = f"{name}({', '.join(repr(float(one)) for one in arguments)})"
    x, found = draws(f"x ~ {law}", "x", f"logdensity({law}, x)", count=300)
    wanted = LAWS[name].log_density(as_arrays(arguments), x)
    np.testing.assert_allclose(found, np.broadcast_to(wanted, found.shape), 1e-12, 1e-12)


@pytest.mark.parametrize("law", ["normal(m, exp(v))", "laplace(m, 2)", "logistic(m, 1)"])
def test_arguments_of_a_density_may_be_random(law: str) -> None:
    m, v, y, found, density = draws(
        "m, v ~ normal(0, 1); y ~ uniform(-3, 3)",
        *("m", "v", "y", f"logdensity({law}, y)", f"density({law}, y)"),
    )
    name, scale = law.split("(", maxsplit=1)[0], {"laplace": 2.0, "logistic": 1.0}
    wanted = LAWS[name].log_density([m, scale.get(name, np.exp(v))], y)
    np.testing.assert_allclose(found, wanted, 1e-12)
    np.testing.assert_allclose(density, np.exp(wanted), 1e-12)


@pytest.mark.parametrize(
    ("law", "expression"),
    [
        ("normal(0, 2)", "sigmoid(x)"), ("normal(0, 2)", "1 - sigmoid(x)"),
        ("normal(0, 3)", "Phi(x)"), ("laplace(1, 2)", "2 * exp(x) / (0.1 * exp(-x))"),
        ("normal(0, 2)", "0.3 * exp(-(x**2)) + 0.7 * exp(-((x - 2) ** 2))"),
        ("normal(0, 2)[3]", "softmax(x)"), ("gamma(3, 1)", "x / (1 + x)"),
    ],
)  # fmt: skip
def test_no_logarithm_is_larger_than_its_bound(law: str, expression: str) -> None:
    value = lowered(f"x ~ {law}", expression)
    (found,) = draws(f"x ~ {law}", f"log({expression})", count=300)
    for p in (1.0, 2.0, 4.0):

        def log_size(quantity: Quantity, p: float = p) -> float:
            return quantity.log_size(p)

        bound = Norms(integrate=False).ask(value, log_size)
        assert np.mean(np.abs(found) ** p) ** (1 / p) <= bound < 200
