"""The shapes of values: numpy's rules."""

from __future__ import annotations

import pytest
from lowered import ARRAYS, lowered

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
    # elsewhere
    "reshape(t, [3, -1])": (3, 10), "reshape(s, [1, 1])": (1, 1), "transpose(t)": (3, 2, 5),
    "transpose(t, [1, 0, 2])": (2, 5, 3), "roll(m, 1, axis=0)": (2, 3), "kron(m, k)": (6, 9),
    "repeat(m, 2)": (2, 6), "tile(v, [2, 2])": (2, 6), "diag(v, k=-1)": (4, 4), "svdvals(m)": (2,),
    "pinv(m)": (3, 2),
    # lists
    "[s, s, 1]": (3,), "[[s, 1], [0, s]]": (2, 2), "[v, v]": (2, 3),
    # functions
    "sum(m)": (), "sum(m, axis=-1)": (2,), "sum(m, axis=0)": (3,), "sum(t, axis=[0, -1])": (2,),
    "max(m, keepdims=1)": (1, 1), "cumsum(m, axis=0)": (2, 3), "diff(v)": (2,),
    "sort(t)": (5, 2, 3), "softmax(m)": (2, 3), "outer(v, w)": (3, 4), "take(v, i)": (6,),
    "v[s]": (), "m[[0, s]]": (2, 3), "one_hot(i, 3)": (6, 3), "concat(v, w)": (7,),
    "stack(v, v)": (3, 2), "solve(k, v)": (3,), "solve(k, m.T)": (3, 2), "size(m)": (),
    "shape(m)": (2,),
    "reshape(v, [size(v), shape(v)[0] / 3])": (3, 1),  # of one number each, which differ in shape
    "density(normal(0, 1), v)": (3,), "logdensity(normal(v, 1), s)": (3,),
    # operators on the law have a number for each entry
    "E(m)": (2, 3), "Cov(v, f)": (3,), "Cov(v)": (3, 3), "Cov(v[:, None], w)": (3, 4),
    "E(v, given=s > 0)": (3,), "E(s, given=v > 0)": (3,), "E(m)[0]": (3,),
    "sum(E(m), axis=0)": (3,),
}  # fmt: skip


@pytest.mark.parametrize("expression", SHAPES)
def test_shapes(expression: str) -> None:
    assert lowered(ARRAYS, expression).shape == SHAPES[expression]
