"""What a program computes for whole blocks, against one draw at a time in plain numpy.

The second method knows nothing of graphs, kernels or the axis of draws: it walks the nodes for one
draw, with numpy's own functions on arrays of that draw's shape.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lowered import expressed, lowering
from scipy import special

from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import number
from dropcheck.language.parser import parse_expression
from dropcheck.language.syntax import (
    ArrayLiteral,
    Binary,
    Call,
    Compare,
    Conditional,
    Logic,
    Name,
    Negative,
    NewAxis,
    Node,
    Not,
    Number,
    Rest,
    Slice,
    Subscript,
    Transpose,
)
from dropcheck.simulation.compile import ProgramBuilder

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


# -- one draw at a time ----------------------------------------------------------------------------


def over(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(x: Any, axis: Any = None, keepdims: Any = 0) -> Any:
        axes = None if axis is None else tuple(int(a) for a in np.ravel(axis))
        return function(x, axis=axes, keepdims=bool(keepdims))

    return apply


def _own(axis: Any) -> int | None:
    return None if axis is None else int(axis)


def along(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=-1: function(x, axis=int(axis))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "tanh": np.tanh,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "relu": lambda x: np.where(np.isnan(x), np.nan, np.where(x > 0, x, 0.0)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Phi": lambda x: (1 + special.erf(x / math.sqrt(2))) / 2,
    "minimum": lambda *xs: reduce(np.minimum, xs),
    "maximum": lambda *xs: reduce(np.maximum, xs),
    "sum": over(np.sum),
    "mean": over(np.mean),
    "max": over(np.max),
    "min": over(np.min),
    "prod": over(np.prod),
    "any": over(lambda x, **how: np.any(x != 0, **how) * 1.0),
    "all": over(lambda x, **how: np.all(x != 0, **how) * 1.0),
    "cumsum": along(np.cumsum),
    "cumprod": along(np.cumprod),
    "cummax": along(np.maximum.accumulate),
    "diff": along(np.diff),
    "sort": along(np.sort),
    "argmax": lambda x, axis=None: np.argmax(x, axis=_own(axis)) * 1.0,
    "softmax": along(special.softmax),
    "logsumexp": over(special.logsumexp),
    "var": lambda x, ddof=0, axis=None: np.var(x, ddof=int(ddof), axis=_own(axis)),
    "median": over(np.median),
    "norm": lambda x, axis=None: np.linalg.norm(x, axis=_own(axis)),
    "outer": np.multiply.outer,
    "dot": lambda a, b: np.sum(a * b, axis=-1),
    "det": np.linalg.det,
    "inv": np.linalg.inv,
    "solve": np.linalg.solve,
    "trace": np.trace,
    "diag": np.diag,
    "take": lambda x, j: np.asarray(x)[np.asarray(j).astype(int)],
    "concat": lambda *xs, axis=-1: np.concatenate([np.atleast_1d(x) for x in xs], axis=int(axis)),
    "stack": lambda *xs, axis=-1: np.stack(xs, axis=int(axis)),
    "one_hot": lambda j, n: np.eye(int(n))[np.asarray(j).astype(int)],
    "size": lambda x: float(np.size(x)),
    "where": lambda c, a, b: np.where(np.isnan(c), np.nan, np.where(c, a, b)),
    "isnan": lambda x: np.isnan(x) * 1.0,
    "isinf": lambda x: np.isinf(x) * 1.0,
    "roll": lambda x, shift, axis=-1: np.roll(x, int(shift), int(axis)),
    "flip": lambda x, axis=-1: np.flip(x, int(axis)),
    "tril": lambda x, k=0: np.tril(x, int(k)),
    "triu": lambda x, k=0: np.triu(x, int(k)),
    "reshape": lambda x, shape: np.reshape(x, np.asarray(shape, dtype=int)),
    "transpose": np.transpose,
    "repeat": lambda x, n, axis=-1: np.repeat(x, int(n), int(axis)),
    "tile": lambda x, n: np.tile(x, np.asarray(n, dtype=int)),
    "kron": np.kron,
    "svdvals": lambda x: np.linalg.svd(x, compute_uv=False),
    "pinv": np.linalg.pinv,
}
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.mod,
    "**": np.float_power,
    "@": np.matmul,
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def compared(sign: str, a: Any, b: Any) -> Any:
    """1 or 0, NaN where one side is."""
    unknown = np.isnan(a) | np.isnan(b)
    return np.where(unknown, np.nan, SIGNS[sign](a, b))


def joined(operator: str, a: Any, b: Any) -> Any:
    """Kleene's three-valued logic, NaN for what is not known."""
    a, b = np.broadcast_arrays(a, b)
    decisive = 0 if operator == "and" else 1
    truths = [np.where(np.isnan(x), np.nan, x != 0) for x in (a, b)]
    decided = (truths[0] == decisive) | (truths[1] == decisive)
    unknown = np.isnan(truths[0]) | np.isnan(truths[1])
    return np.where(decided, decisive, np.where(unknown, np.nan, 1 - decisive))


def one_draw(node: Node, here: Here) -> Any:
    """The value of an expression in one draw."""

    def of(below: Node) -> Any:
        return one_draw(below, here)

    match node:
        case Number(value=value):
            return value
        case Name(name=name):
            return here[name]
        case Negative(operand=operand):
            return -np.asarray(of(operand))
        case Not(operand=operand):
            denied = np.asarray(of(operand))
            return np.where(np.isnan(denied), np.nan, denied == 0)
        case Binary(operator=operator, left=left, right=right):
            return SIGNS[operator](of(left), of(right))
        case Compare(operators=operators, operands=operands):
            values = [of(operand) for operand in operands]
            links = [
                compared(sign, a, b)
                for sign, a, b in zip(operators, values, values[1:], strict=False)
            ]
            return reduce(lambda a, b: joined("and", a, b), links)
        case Logic(operator=operator, operands=operands):
            return reduce(lambda a, b: joined(operator, a, b), [of(o) for o in operands])
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            asked = np.asarray(of(condition))
            return np.where(np.isnan(asked), np.nan, np.where(asked, of(then), of(otherwise)))
        case ArrayLiteral(items=items):
            return np.stack([of(item) for item in items])
        case Transpose(base=base):
            return np.swapaxes(of(base), -1, -2)
        case Subscript(base=base, index=index):
            return np.asarray(of(base))[tuple(picked(entry, here) for entry in index)]
        case Call(name=name, arguments=arguments, keywords=keywords):
            given_by_name = {key: of(value) for key, value in keywords}
            return FUNCTIONS[name](*(of(argument) for argument in arguments), **given_by_name)
    raise AssertionError(node)


def picked(node: Node, here: Here) -> Any:
    if isinstance(node, NewAxis):
        return None
    if isinstance(node, Rest):
        return Ellipsis
    if isinstance(node, Slice):
        ends = (node.start, node.stop, node.step)
        return slice(*(None if end is None else int(one_draw(end, here)) for end in ends))
    found = np.asarray(one_draw(node, here))
    mask = isinstance(node, Compare)
    return found.astype(bool if mask else int) if found.shape else int(found)


# -- and all draws at once -------------------------------------------------------------------------


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
    assert result.shape[:-1] == value.shape
    assert result.shape[-1] == DRAWS if value.random else result.shape[-1] == 1
    blocks = {name: number(np.asarray(held[place])) for name, place in drawn.items()}
    draws = [FIXED | {name: block[..., n] for name, block in blocks.items()} for n in range(DRAWS)]
    return number(result), draws


def assert_same(expression: str, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    """The program's result and that of every draw by itself, up to rounding."""
    node = parse_expression(SourceText.plain(expression))
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
        "w % 2 + w // 2", "2 ** -w", "any(v > 0) + all(v > 0)", "size(m) * p",
    ],
)  # fmt: skip
def test_as_one_draw_at_a_time(expression: str) -> None:
    assert_same(expression)


def test_the_comparison_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FUNCTIONS, "cumsum", lambda x, axis=-1: np.cumsum(x, axis=int(axis)) + 1e-6)
    with pytest.raises(AssertionError):
        assert_same("cumsum(v)")


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
@settings(max_examples=250)
def test_any_expression_as_one_draw_at_a_time(expression: str) -> None:
    try:
        assert_same(expression, rtol=1e-6, atol=1e-9)
    except DropcheckError:
        assume(False)
