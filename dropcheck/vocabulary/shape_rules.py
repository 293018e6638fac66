"""The shape rules that belong to one function each."""

from __future__ import annotations

import math

from dropcheck.vocabulary import shapes as rules
from dropcheck.vocabulary.entries import Options, Shape, ShapeError
from dropcheck.vocabulary.shapes import broadcast, count, describe, need, normalise_axis


def dot(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """Sum of products along an axis on which both are of one length."""
    a, b = shapes
    common = broadcast(shapes)
    axis = options.get("axis", -1)
    for entry in rules.normalise_axes(axis, common) if common else ():
        from_right = len(common) - entry
        lengths = [shape[-from_right] for shape in shapes if len(shape) >= from_right]
        if len(lengths) < 2 or lengths[0] != lengths[1]:
            raise ShapeError(f"the elements of {describe(a)} and {describe(b)} do not pair")
    return rules.reduction()((common,), options)


def outer(shapes: tuple[Shape, ...], _options: Options) -> Shape:
    """Every product of an element of `a` and one of `b`, over their last axes."""
    a, b = shapes
    if not a or not b:
        raise need("a vector", ())
    return broadcast([a[:-1], b[:-1]]) + a[-1:] + b[-1:]


def solve(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """`solve(A, b)`: a vector b is one right-hand side, a matrix has one in each column."""
    a, b = shapes
    matrix = rules.square(lambda n: (n, n))((a,), options)
    if not b or (b[0] if len(b) == 1 else b[-2]) != matrix[-1]:
        raise ShapeError(f"the right-hand side {describe(b)} does not fit a matrix {describe(a)}")
    if len(b) == 1:
        return matrix[:-1]
    return broadcast([matrix[:-2], b[:-2]]) + b[-2:]


def qr_q(shapes: tuple[Shape, ...], _options: Options) -> Shape:
    """As many orthonormal columns as the matrix has rows or columns, whichever are fewer."""
    shape = shapes[0]
    if len(shape) < 2:
        raise need("a matrix", shape)
    return (*shape[:-1], min(shape[-2:]))


def diag(shapes: tuple[Shape, ...], _options: Options) -> Shape:
    """A vector becomes a matrix; of a matrix, the diagonal."""
    shape = shapes[0]
    if not shape:
        raise need("a vector or a matrix", shape)
    return shape * 2 if len(shape) == 1 else (*shape[:-2], min(shape[-2:]))


def quantile(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """As a reduction; a list of levels comes out as a new first axis."""
    level = options["u"]
    levels = level if isinstance(level, tuple | list) else (level,)
    if not all(0 <= entry <= 1 for entry in levels):
        raise ShapeError(f"'u' must satisfy 0 <= u <= 1, and is {level}")
    reduced = rules.reduction(empty=False)(shapes, options)
    return reduced if levels is not level else (len(levels), *reduced)


def size(shapes: tuple[Shape, ...], _options: Options) -> Shape:  # noqa: ARG001 — a ShapeRule
    """One number, whatever goes in."""
    return ()


def shape_of(shapes: tuple[Shape, ...], _options: Options) -> Shape:
    """A list of as many numbers as there are axes."""
    return (len(shapes[0]),)


def one_hot(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """A new last axis with a 1 at the index."""
    return (*shapes[0], count(options["n"], "n"))


def bincount(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """The counts of 0 … n−1 take the place of the last axis."""
    if not shapes[0]:
        raise need("an array", ())
    return (*shapes[0][:-1], count(options["n"], "n"))


def take(shapes: tuple[Shape, ...], _options: Options) -> Shape:
    """The indices' shape; of a matrix, whole rows."""
    table, indices = shapes
    if not table:
        hint = "the array stands first, then the indices: take([2, 3, 5], i)"
        raise need("an array to take from", table, hint)
    return indices + table[1:]


def concat(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """End to end along one axis; a single number counts as a list of one."""
    parts = [shape or (1,) for shape in shapes]
    axis = normalise_axis(options.get("axis", -1), parts[0])
    for part in parts:
        alike = len(part) == len(parts[0])
        if not alike or part[:axis] + part[axis + 1 :] != parts[0][:axis] + parts[0][axis + 1 :]:
            raise ShapeError(f"{describe(parts[0])} and {describe(part)} cannot be joined")
    return (*parts[0][:axis], sum(part[axis] for part in parts), *parts[0][axis + 1 :])


def stack(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """Side by side along a new axis, the last one unless `axis` says otherwise."""
    for shape in shapes:
        if shape != shapes[0]:
            raise ShapeError(
                f"equal shapes are needed, and not {describe(shapes[0])} and {describe(shape)}"
            )
    axis = normalise_axis(options.get("axis", -1), (*shapes[0], len(shapes)))
    return (*shapes[0][:axis], len(shapes), *shapes[0][axis:])


def arange(_shapes: tuple[Shape, ...], options: Options) -> Shape:
    """`arange(n)`: n numbers."""
    return (count(options["n"], "n"),)


def linspace(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """`linspace(a, b, n)`: n numbers between two single ones."""
    if shapes != ((), ()):
        raise ShapeError("the ends must be single numbers")
    return arange((), options)


def eye(_shapes: tuple[Shape, ...], options: Options) -> Shape:
    """`eye(n)`: n by n."""
    n = count(options["n"], "n")
    return (n, n)


def constant(_shapes: tuple[Shape, ...], options: Options) -> Shape:
    """`ones(2, 3)` or `ones([2, 3])`."""
    return rules.sizes(options["sizes"])


def full(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """`full(shape, v)`: v stretched to the shape."""
    wanted = rules.sizes(options["shape"])
    if broadcast([wanted, *shapes]) != wanted:
        raise ShapeError(f"{describe(shapes[0])} does not fit into {describe(wanted)}")
    return wanted


def shape_values(shape: Shape) -> tuple[int, ...]:
    """What `shape(x)` says of an x of this shape."""
    return shape


def size_value(shape: Shape) -> float:
    """What `size(x)` says of an x of this shape."""
    return float(math.prod(shape))
