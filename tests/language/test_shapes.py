"""The shapes of values: numpy's rules, and what does not go together."""

from __future__ import annotations

import pytest
from lowered import ARRAYS, lowered, refusal

SHAPES = {
    # numpy's rule, aligned at the right
    "s + v": (3,),
    "m + v": (2, 3),
    "t * m": (5, 2, 3),
    "v + m[:, :1]": (2, 3),
    "v == f": (3,),
    "v > 0 and s > 0": (3,),
    "v if s > 0 else 0": (3,),
    "-m": (2, 3),
    "not m": (2, 3),
    "where(s > 0, m, v)": (2, 3),
    "maximum(s, v, m)": (2, 3),
    # products of matrices: a vector is a row on the left and a column on the right
    "v @ v": (),
    "m @ v": (2,),
    "v @ k": (3,),
    "m @ k": (2, 3),
    "m @ m.T": (2, 2),
    "t @ k": (5, 2, 3),
    "t @ m.T": (5, 2, 2),
    "m.T": (3, 2),
    "t.T": (5, 3, 2),
    # indices
    "v[0]": (),
    "v[-1]": (),
    "v[1:]": (2,),
    "v[::-2]": (2,),
    "v[5:]": (0,),
    "m[0]": (3,),
    "m[0, 1]": (),
    "m[:, 1]": (2,),
    "t[1:3, 0]": (2, 3),
    # lists
    "[s, s, 1]": (3,),
    "[[s, 1], [0, s]]": (2, 2),
    "[v, v]": (2, 3),
    # functions
    "sum(m)": (2,),
    "sum(m, axis=0)": (3,),
    "sum(t, axis=[0, -1])": (2,),
    "max(m, keepdims=1)": (2, 1),
    "cumsum(m, axis=0)": (2, 3),
    "diff(v)": (2,),
    "sort(t)": (5, 2, 3),
    "softmax(m)": (2, 3),
    "outer(v, w)": (3, 4),
    "take(v, i)": (6,),
    "one_hot(i, 3)": (6, 3),
    "concat(v, w)": (7,),
    "stack(v, v)": (3, 2),
    "solve(k, v)": (3,),
    "solve(k, m.T)": (3, 2),
    "size(m)": (),
    "shape(m)": (2,),
    "density(normal(0, 1), v)": (3,),
    "logdensity(normal(v, 1), s)": (3,),
    # operators on the law make one number of anything
    "E(m)": (),
    "Cov(v, f)": (),
    "E(v, given=s > 0)": (),
}


@pytest.mark.parametrize("expression", SHAPES)
def test_shapes(expression: str) -> None:
    assert lowered(ARRAYS, expression).shape == SHAPES[expression]


MISFITS = {
    "v + w": "[3] and [4] do not go together",
    "m + w": "[2, 3] and [4] do not go together",
    "v @ w": "[3] and [4] do not go together in '@'",
    "m @ m": "[2, 3] and [2, 3] do not go together in '@'",
    "s @ v": "its left side is a single number",
    "v @ 2": "its right side is a single number",
    "s.T": "here is a single number",
    "v.T": "here is [3]",
    "v[3]": "index 3 is out of range",
    "v[-4]": "index -4 is out of range",
    "s[0]": "too many for a single number",
    "v[0, 0]": "too many for [3]",
    "v[0.5]": "needs a whole number, and this is 0.5",
    "v[inf]": "needs a whole number",
    "v[::0]": "step of a slice cannot be 0",
    "v[[0, 1]]": "is a number or a slice, and this is a list",
    "v[s]": "must be fixed, and this one is random",
    "[v, s]": "entries of a list need the same shape",
    "[v, w]": "entries of a list need the same shape",
    "sum(s)": "sum: an array is needed",
    "sum(v, axis=1)": "sum: axis 1 does not exist",
    "sum(v, axis=0.5)": "must be a whole number, and is 0.5",
    "sum(m, axis=[0, 0])": "names one axis twice",
    "sum(v, axis=s)": "must be fixed before any draw",
    "max(v, w)": "must be fixed before any draw",
    "det(m)": "det: a square matrix is needed",
    "solve(k, w)": "solve: the right-hand side [4]",
    "stack(v, w)": "stack: equal shapes",
    "concat(m, v)": "concat: ",
    "quantile(v, 2)": "must satisfy 0 <= u <= 1",
    "one_hot(i, -1)": "must be 0 or more",
    "linspace(0, v, 3)": "the ends must be single numbers",
    "shape(s)": "has no axes",
    "Cov(v, w)": "pair element by element",
    "E(v, given=w > 0)": "do not go together",
    "density(normal(0, 1)[3], s)": "takes no shape",
    "density(normal(w, 1), v)": "do not go together",
    "ones(arange(2000))": "a list of at most 1000",
    "E(v[5:])": "E of nothing: this has no elements",
    "P(arange(0) > 1)": "P of nothing: this has no elements",
    "1:2": "cannot be read",
}


@pytest.mark.parametrize("expression", MISFITS)
def test_misfits(expression: str) -> None:
    message, _, column = refusal(ARRAYS, expression)
    assert MISFITS[expression] in message
    assert column >= 1
