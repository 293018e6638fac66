"""Functions that move the elements of one draw, repeat them, or put zeros between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dropcheck.vocabulary import defined_where, growth, hulls
from dropcheck.vocabulary.function import (
    AXIS,
    LINEAR,
    PAIR,
    Array,
    Function,
    Kernel,
    Parameter,
    X,
    axes_of,
    cheap,
    entry,
    option,
)
from dropcheck.vocabulary.functions import linear_maps
from dropcheck.vocabulary.hulls import picking
from dropcheck.vocabulary.majorants import elements
from dropcheck.vocabulary.majorants.rule import Came, Majorant, came
from dropcheck.vocabulary.shapes import (
    Options,
    Shape,
    along,
    count,
    need,
    normalise_axes,
    normalise_axis,
    of_matrices,
    permutation,
    reshaped,
    sizes,
    whole,
)

# ---- kernels ------------------------------------------------------------------------------------


def _triangle(keep: Callable[..., Array]) -> Callable[..., Array]:
    def kernel(x: Array, *, k: float = 0) -> Array:
        rows, columns = x.shape[-3:-1]
        inside = keep(np.ones((rows, columns), dtype=np.bool_), whole(k, "k"))
        return np.where(inside[:, :, None], x, 0.0)

    return kernel


def _diag(x: Array, *, k: float = 0) -> Array:
    """The matrix with the vector x as its k-th diagonal, or the k-th diagonal of a matrix."""
    above = whole(k, "k")
    if x.ndim > 2:
        return np.moveaxis(np.diagonal(x, above, axis1=-3, axis2=-2), -1, -2)
    n = x.shape[0]
    result = np.zeros((n + abs(above), n + abs(above), x.shape[-1]))
    result[np.arange(n) + max(-above, 0), np.arange(n) + max(above, 0)] = x
    return result


def _kron(a: Array, b: Array) -> Array:
    """All products of an element of a and one of b: a block of b for each element of a."""
    rank = max(a.ndim, b.ndim) - 1
    m, n = ((1,) * (rank - one.ndim + 1) + one.shape[:-1] for one in (a, b))
    left = a.reshape(*(length for one in m for length in (one, 1)), a.shape[-1])
    right = b.reshape(*(length for one in n for length in (1, one)), b.shape[-1])
    product = left * right
    joined = (one * other for one, other in zip(m, n, strict=True))
    return product.reshape(*joined, product.shape[-1])


# ---- shapes -------------------------------------------------------------------------------------


def _transpose_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    return tuple(shapes[0][axis] for axis in permutation(options.get("axes"), shapes[0]))


def _roll_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    whole(options["shift"], "shift")
    return along()(shapes, options)


def _repeat_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    shape = shapes[0]
    if not shape:
        raise need("an array", shape)
    axis = normalise_axis(options.get("axis", -1), shape)
    return (*shape[:axis], shape[axis] * count(options["n"], "n"), *shape[axis + 1 :])


def _tile_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    shape, times = shapes[0], sizes(options["n"], "n")
    rank = max(len(shape), len(times))
    own = (1,) * (rank - len(shape)) + shape
    factors = (1,) * (rank - len(times)) + times
    return tuple(length * factor for length, factor in zip(own, factors, strict=True))


def _triangle_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    whole(options.get("k", 0), "k")
    return of_matrices(lambda matrix: matrix)(shapes, options)


def _diag_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """The shape of a matrix with this diagonal, or of the diagonal of a matrix."""
    shape, above = shapes[0], whole(options.get("k", 0), "k")
    if not shape:
        raise need("a vector or a matrix", shape)
    if len(shape) == 1:
        return (shape[0] + abs(above),) * 2
    rows, columns = shape[-2] - max(-above, 0), shape[-1] - max(above, 0)
    return (*shape[:-2], max(min(rows, columns), 0))


def _kron_shape(shapes: tuple[Shape, ...], _options: Options) -> Shape:
    a, b = shapes
    if not a or not b:
        raise need("a vector or a matrix", ())
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    return tuple(one * other for one, other in pairs)


# ---- where each axis comes from -----------------------------------------------------------------


def _same_axes(shape: Shape, options: Options) -> list[Came | None]:
    """Where each axis comes from, if elements change places only along the named axes."""
    axes = normalise_axes(options.get("axis"), shape)
    way = ("places", options.get("shift"))
    return [Came((at,), way if at in axes else None) for at in range(len(shape))]


def _reshaped_axes(shape: Shape, options: Options) -> list[Came | None]:
    """Where each axis comes from: from the group of old axes with the same product of lengths."""
    origins: list[Came | None] = []
    new = reshaped(shape, options["shape"])
    for own, made in linear_maps.regrouped(shape, new):
        if len(own) == len(made) == 1:
            origins.append(Came(own, None))
        else:
            origins += [
                Came(own, ("part", at - made[0], tuple(new[i] for i in made))) if own else None
                for at in made
            ]
    return origins


# ---- the entries --------------------------------------------------------------------------------

_MOVED: dict[str, Any] = {
    "cost": cheap, "moves": True, "rearranges": True, "defined": defined_where.REARRANGED,
}  # fmt: skip
_GAPS: dict[str, Any] = {
    "cost": cheap, "moves": True, "degree": LINEAR, "defined": defined_where.WITH_GAPS,
}  # fmt: skip
_K = option("k", 0.0)


def _picked(name: str, kernel: Kernel, summary: str, majorant: Majorant, **more: Any) -> Function:
    """An entry of a function that picks elements along axes."""
    facts = {**_MOVED, "polynomial": linear_maps.picking(kernel), **more}
    return entry(name, kernel, summary, picking, growth.same_size(majorant), **facts)


RESHAPE = entry(
    "reshape", lambda x, *, shape: x.reshape(*reshaped(x.shape[:-1], shape), x.shape[-1]),
    "the elements in their order, in another shape; −1 stands for what is left over",
    picking, growth.same_size(elements.Rearranged(_reshaped_axes)),
    parameters=(*X, option("shape")), **_MOVED,
    polynomial=lambda x, *, shape: x.reshaped(reshaped(x.shape, shape)),
    shape=lambda shapes, options: reshaped(shapes[0], options["shape"]),
)  # fmt: skip

ARRAYS = (
    RESHAPE,
    entry("transpose",
          lambda x, *, axes=None: x.transpose(*permutation(axes, x.shape[:-1]), x.ndim - 1),
          "the axes in the order given, or in reverse order",
          picking, growth.same_size(elements.Rearranged(
              lambda shape, options: came(permutation(options.get("axes"), shape)))),
          parameters=(*X, Parameter("axes", option=True, required=False)), shape=_transpose_shape,
          polynomial=lambda x, *, axes=None: x.permuted(permutation(axes, x.shape)),
          view=True, aliases=("permute",), **_MOVED),
    _picked("flip", lambda x, *, axis=None: np.flip(x, axes_of(x, axis)), "in reverse order",
            elements.Rearranged(_same_axes), parameters=(*X, AXIS), shape=along(several=True),
            view=True, aliases=("reverse", "rev")),
    _picked("roll",
            lambda x, *, shift, axis=None: np.roll(x, whole(shift, "shift"), axes_of(x, axis)[0]),
            "shift places further on, and from the end back to the start",
            elements.Rearranged(_same_axes), parameters=(*X, option("shift"), AXIS),
            shape=_roll_shape),
    _picked("repeat", lambda x, *, n, axis=None: np.repeat(x, count(n, "n"), axes_of(x, axis)[0]),
            "each element n times, one after another", elements.Rearranged(),
            parameters=(*X, option("n"), AXIS), shape=_repeat_shape,
            aliases=("repeat_interleave",)),
    entry("tile", lambda x, *, n: np.tile(x, (*sizes(n, "n"), 1)),
          "the whole n times along the last axis, or along each of a list",
          picking, growth.same_size(elements.Rearranged()), parameters=(*X, option("n")),
          shape=_tile_shape, polynomial=linear_maps.tile, **_MOVED),
    entry("tril", _triangle(np.tril), "0 above the k-th diagonal", hulls.picking_or_zero,
          growth.Growth(elements.WithGaps()), parameters=(*X, _K), shape=_triangle_shape,
          polynomial=linear_maps.masked(_triangle(np.tril)), by_place=True, **_GAPS),
    entry("triu", _triangle(np.triu), "0 below the k-th diagonal", hulls.picking_or_zero,
          growth.Growth(elements.WithGaps()), parameters=(*X, _K), shape=_triangle_shape,
          polynomial=linear_maps.masked(_triangle(np.triu)), by_place=True, **_GAPS),
    entry("diag", _diag, "the matrix with this k-th diagonal, or a matrix's; above the main one "
          "k is positive", hulls.picking_or_zero, growth.Growth(elements.Rearranged(gaps=True)),
          parameters=(*X, _K), shape=_diag_shape, polynomial=linear_maps.diagonal,
          aliases=("diagonal", "diagflat"), **_GAPS),
    entry("kron", _kron, "Kronecker product: every element of a times the whole of b",
          hulls.products, growth.ALL_PRODUCTS, parameters=PAIR, shape=_kron_shape,
          bilinear=True, polynomial=linear_maps.kron,
          defined=defined_where.PRODUCT),
)  # fmt: skip
