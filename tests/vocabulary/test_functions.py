"""The table of functions: parameters, exact values, and the errors of shape rules."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.shapes import Shape, ShapeError

NAN, INF = math.nan, math.inf


def test_exact_values() -> None:
    table: list[tuple[str, tuple[float, ...], float]] = [
        ("round", (0.5,), 0), ("round", (1.5,), 2), ("round", (2.5,), 2), ("round", (-0.5,), 0),
        ("factorial", (5,), 120), ("factorial", (170,), float(math.factorial(170))),
        ("factorial", (171,), INF), ("factorial", (2.5,), NAN), ("factorial", (-1,), NAN),
        ("comb", (5, 2), 10), ("comb", (60, 30), float(math.comb(60, 30))), ("comb", (5, 6), 0),
        ("comb", (5, -1), 0), ("comb", (2.5, 1), NAN), ("comb", (-3, 1), NAN),
        ("comb", (1e300, 1), 1e300), ("comb", (1e6, 5e5), INF), ("comb", (1e300, 1e299), INF),
        ("digamma", (1,), -0.5772156649015329), ("isclose", (INF, INF), 1),
        ("isclose", (INF, 1), 0), ("isclose", (0.3, 0.1 + 0.2), 1), ("isclose", (1, 1 + 1e-8), 0),
        ("isclose", (0, 1e-13), 1),
        ("where", (NAN, 1, 2), NAN), ("where", (0, NAN, 2), 2), ("clip", (5, 0, 1), 1),
        ("erf", (INF,), 1), ("Phi", (0,), 0.5), ("leaky_relu", (-2, 0.1), -0.2),
    ]  # fmt: skip
    for name, arguments, expected in table:
        kernel = FUNCTIONS[name].kernel
        with np.errstate(all="ignore"):
            found = kernel(*(np.array([float(argument)]) for argument in arguments))
        np.testing.assert_allclose(found, [expected], rtol=3e-15, err_msg=name)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_parameters_are_well_formed(function: Any) -> None:
    names = [parameter.name for parameter in function.parameters]
    assert len(set(names)) == len(names)
    assert function.summary
    for parameter in function.parameters:
        if parameter.default is not None:
            assert parameter.option
            assert not parameter.required


def test_signatures() -> None:
    written = {
        "var": ["x", "ddof", "axis", "keepdims"], "norm": ["x", "ord", "axis", "keepdims"],
        "quantile": ["x", "u", "axis", "keepdims"], "leaky_relu": ["x", "slope"],
        "xlogy": ["x", "y"], "comb": ["n", "k"], "clip": ["x", "low", "high"],
        "where": ["c", "a", "b"], "isclose": ["a", "b", "rtol", "atol"], "solve": ["A", "b"],
        "take": ["x", "i"], "one_hot": ["i", "n"], "bincount": ["i", "n"], "first":
        ["event", "axis", "keepdims"], "linspace": ["a", "b", "n"], "full": ["shape", "v"],
    }  # fmt: skip
    for name, parameters in written.items():
        assert [parameter.name for parameter in FUNCTIONS[name].parameters] == parameters


ERRORS: list[tuple[str, tuple[Shape, ...], dict[str, Any], str]] = [
    ("sum", ((),), {}, "an array is needed, and this is a single number"),
    ("sum", ((3,),), {"axis": 1.0}, "axis 1 does not exist in [3]"),
    ("sum", ((3,),), {"axis": -2}, "axis -2 does not exist in [3]"),
    ("sum", ((3,),), {"axis": 0.5}, "'axis' must be a whole number, and is 0.5"),
    ("sum", ((3,),), {"axis": INF}, "'axis' must be a whole number, and is inf"),
    ("sum", ((2, 3),), {"axis": (0, -2)}, "'axis' names one axis twice"),
    ("sum", ((2, 3),), {"axis": ()}, "'axis' is an empty list"),
    ("sum", ((2, 3),), {"keepdims": 2.0}, "'keepdims' must be 1 or 0, and is 2"),
    ("max", ((0,),), {}, "there are no elements"),
    ("median", ((2, 0),), {}, "there are no elements"),
    ("cumsum", ((2, 3),), {"axis": (0, 1)}, "'axis' must be one axis"),
    ("sort", ((2, 3),), {"axis": (0, 1)}, "'axis' must be one axis"),
    ("cumsum", ((),), {}, "an array is needed"),
    ("clip", ((3,), (4,), ()), {}, "shapes [3] and [4] do not go together"),
    ("minimum", ((3, 2), (3,)), {}, "shapes [3, 2] and [3] do not go together"),
    ("quantile", ((3,),), {"u": 1.5}, "'u' must satisfy 0 <= u <= 1, and is 1.5"),
    ("quantile", ((3,),), {"u": NAN}, "'u' must satisfy"),
    ("dot", ((3,), (1,)), {}, "the elements of [3] and [1] do not pair"),
    ("dot", ((3,), (4,)), {}, "[3] and [4] do not go together"),
    ("dot", ((), ()), {}, "an array is needed"),
    ("outer", ((3,), ()), {}, "a vector is needed"),
    ("trace", ((2, 3),), {}, "a square matrix is needed, and this is [2, 3]"),
    ("inv", ((3,),), {}, "a square matrix is needed, and this is [3]"),
    ("solve", ((3, 3), (2,)), {}, "the right-hand side [2] does not fit a matrix [3, 3]"),
    ("solve", ((3, 3), ()), {}, "the right-hand side a single number"),
    ("qr_q", ((3,),), {}, "a matrix is needed"),
    ("diag", ((),), {}, "a vector or a matrix is needed"),
    ("take", ((), (3,)), {}, "an array to take from is needed"),
    ("bincount", ((),), {"n": 3}, "an array is needed"),
    ("one_hot", ((),), {"n": -1.0}, "'n' must be 0 or more, and is -1"),
    ("one_hot", ((),), {"n": 2.5}, "'n' must be a whole number, and is 2.5"),
    ("concat", ((2, 3), (3, 2)), {}, "[2, 3] and [3, 2] cannot be joined"),
    ("concat", ((2, 3), (3,)), {}, "[2, 3] and [3] cannot be joined"),
    ("stack", ((2,), (3,)), {}, "equal shapes are needed, and not [2] and [3]"),
    ("arange", (), {"n": 1e300 + 0.5j}, "'n' must be a whole number"),
    ("linspace", ((2,), ()), {"n": 3}, "the ends must be single numbers"),
    ("zeros", (), {"sizes": (2, -3)}, "'shape' must be 0 or more"),
    ("full", ((4,),), {"shape": (3,)}, "shapes [3] and [4] do not go together"),
    ("full", ((2, 3),), {"shape": (3,)}, "[2, 3] does not fit into [3]"),
]


@pytest.mark.parametrize(("name", "given", "options", "message"), ERRORS)
def test_shapes_that_do_not_fit(
    name: str, given: tuple[Shape, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ShapeError) as caught:
        FUNCTIONS[name].shape(given, options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ((), (3,), "its left side is a single number"),
        ((3,), (), "its right side is a single number"),
        ((3,), (4,), "shapes [3] and [4] do not go together in '@'"),
        ((2, 3), (2, 3), "shapes [2, 3] and [2, 3] do not go together in '@'"),
        ((5, 2, 3), (4, 3, 2), "shapes [5] and [4] do not go together"),
    ],
)
def test_products_that_do_not_exist(a: Shape, b: Shape, message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        shapes.matmul(a, b)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ((4,), "index 4 is out of range for an axis of length 4"),
        ((-5,), "index -5 is out of range"),
        ((0, 0, 0), "3 indices are too many for [4, 3]"),
        ((slice(None, None, 0),), "the step of a slice must not be 0"),
    ],
)
def test_indices_that_do_not_exist(index: tuple[int | slice, ...], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        shapes.subscript((4, 3), index)
    assert message in str(caught.value)


def test_lists_and_transposes_that_do_not_exist() -> None:
    with pytest.raises(ShapeError, match="must have one shape"):
        shapes.array_of([(2,), (3,)])
    with pytest.raises(ShapeError, match="swaps the last two axes"):
        shapes.transpose((3,))


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


def test_size_and_shape_follow_from_the_shape_alone() -> None:
    size, shape = FUNCTIONS["size"], FUNCTIONS["shape"]
    assert size.of_shape
    assert shape.of_shape
    x = np.full((2, 3, 1), NAN)
    assert (size.kernel(x).tolist(), size.kernel(x[0, 0]).tolist()) == ([6.0], [1.0])
    assert shape.kernel(x).tolist() == [[2.0], [3.0]]
    assert (shape.shape(((),), {}), shape.kernel(x[0, 0]).tolist()) == ((0,), [])
