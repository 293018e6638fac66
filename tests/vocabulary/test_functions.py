"""The table of functions: parameters, exact values, and the errors of shape rules."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.shapes import ShapeError

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
    assert size.does == "shape"
    assert shape.does == "shape"
    x = np.full((2, 3, 1), NAN)
    assert (size.kernel(x).tolist(), size.kernel(x[0, 0]).tolist()) == ([6.0], [1.0])
    assert shape.kernel(x).tolist() == [[2.0], [3.0]]
    assert (shape.shape(((),), {}), shape.kernel(x[0, 0]).tolist()) == ((0,), [])
