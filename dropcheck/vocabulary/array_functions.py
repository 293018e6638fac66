"""The functions of the array of one draw, and those that make a fixed one."""

from __future__ import annotations

from dropcheck.vocabulary import shape_rules, shapes
from dropcheck.vocabulary.entries import Function, Parameter, ShapeRule
from dropcheck.vocabulary.signatures import (
    AXIS,
    MORE,
    OVER,
    PAIR,
    SIZES,
    X,
    option,
    value,
)


def _array(
    name: str,
    kernel: str,
    summary: str,
    parameters: tuple[Parameter, ...],
    shape: ShapeRule,
    *,
    truth: bool = False,
    takes_truth: bool = False,
) -> Function:
    return Function(name, parameters, shape, kernel, summary, truth=truth, takes_truth=takes_truth)


def _reduction(
    name: str,
    kernel: str,
    summary: str,
    *more: Parameter,
    empty: bool = True,
    several: bool = True,
    truth: bool = False,
    takes_truth: bool = False,
) -> Function:
    rule = shapes.reduction(several=several, empty=empty)
    return _array(
        name, kernel, summary, (*X, *more, *OVER), rule, truth=truth, takes_truth=takes_truth
    )


def _along(name: str, kernel: str, summary: str, shift: int = 0, several: bool = False) -> Function:
    return _array(name, kernel, summary, (*X, AXIS), shapes.along(shift, several))


_DDOF = option("ddof", 0.0)

_REDUCTIONS = (
    _reduction("sum", "kernels.total", "sum", takes_truth=True),
    _reduction("prod", "kernels.product", "product"),
    _reduction("mean", "kernels.mean", "mean", takes_truth=True),
    _reduction(
        "var",
        "kernels.variance",
        "variance: squared distances from the mean, over n − ddof, which is n by default",
        _DDOF,
    ),
    _reduction("std", "kernels.deviation", "square root of var, over n − ddof likewise", _DDOF),
    _reduction("max", "kernels.largest", "largest", empty=False),
    _reduction("min", "kernels.smallest", "smallest", empty=False),
    _reduction(
        "argmax",
        "kernels.argmax",
        "index of the largest, the first of equals, from 0",
        empty=False,
        several=False,
    ),
    _reduction(
        "argmin",
        "kernels.argmin",
        "index of the smallest, the first of equals, from 0",
        empty=False,
        several=False,
    ),
    _reduction("any", "kernels.some", "whether any is true", truth=True, takes_truth=True),
    _reduction("all", "kernels.every", "whether all are true", truth=True, takes_truth=True),
    Function(
        "first",
        (value("event"), *OVER),
        shapes.reduction(several=False),
        "kernels.first",
        "index of the first true element, from 0; inf if none",
        takes_truth=True,
    ),
    _reduction(
        "norm",
        "kernels.norm",
        "vector norm of order ord along the last axis; of a whole matrix with axis=[0, 1]",
        option("ord", 2.0),
    ),
    _reduction("logsumexp", "kernels.logsumexp", "log of the sum of exponentials"),
    _reduction(
        "median", "kernels.median", "the middle element, or the mean of the middle two", empty=False
    ),
    Function(
        "quantile",
        (*X, option("u"), *OVER),
        shape_rules.quantile,
        "kernels.quantile",
        "quantile at level u, or at each of a list, interpolated between neighbours",
    ),
    _along("sort", "kernels.sort", "in ascending order"),
    _along("argsort", "kernels.argsort", "the indices that sort, from 0, ties in order"),
    _along("cumsum", "kernels.cumsum", "running sum"),
    _along("cumprod", "kernels.cumprod", "running product"),
    _along("cummax", "kernels.cummax", "running maximum"),
    _along("diff", "kernels.diff", "differences of neighbours", shift=-1),
    _along("softmax", "kernels.softmax", "exponentials, divided by their sum", several=True),
)

_SHAPED = (
    _array("dot", "kernels.dot", "sum of products", (*PAIR, *OVER), shape_rules.dot),
    _array("outer", "kernels.outer", "all products of two vectors", PAIR, shape_rules.outer),
    _array("trace", "kernels.trace", "sum of the diagonal", X, shapes.square(lambda _n: ())),
    _array("det", "kernels.det", "determinant", X, shapes.square(lambda _n: ())),
    _array("inv", "kernels.inv", "inverse matrix", X, shapes.square(lambda n: (n, n))),
    _array(
        "solve",
        "kernels.solve",
        "the x with A @ x == b",
        (value("A"), value("b")),
        shape_rules.solve,
    ),
    _array(
        "qr_q",
        "kernels.qr_q",
        "Q of the QR decomposition whose R has a positive diagonal",
        X,
        shape_rules.qr_q,
    ),
    _array(
        "cholesky",
        "kernels.cholesky",
        "the lower triangular L with L @ L.T == x, of a positive definite x",
        X,
        shapes.square(lambda n: (n, n)),
    ),
    _array(
        "eigvalsh",
        "kernels.eigvalsh",
        "eigenvalues of a symmetric matrix, ascending",
        X,
        shapes.square(lambda n: (n,)),
    ),
    _array(
        "diag",
        "kernels.diag",
        "the matrix with this diagonal, or a matrix's diagonal",
        X,
        shape_rules.diag,
    ),
    Function(
        "size",
        X,
        shape_rules.size,
        "kernels.size",
        "number of elements",
        from_shape=shape_rules.size_value,
    ),
    Function(
        "shape",
        X,
        shape_rules.shape_of,
        "kernels.shape",
        "lengths of the axes",
        from_shape=shape_rules.shape_values,
    ),
    _array(
        "one_hot",
        "kernels.one_hot",
        "1 at index i of n, else 0",
        (value("i"), option("n")),
        shape_rules.one_hot,
    ),
    _array(
        "bincount",
        "kernels.bincount",
        "how often each of 0 … n−1 occurs",
        (value("i"), option("n")),
        shape_rules.bincount,
    ),
    _array(
        "take",
        "kernels.take",
        "elements of a vector, or rows of a matrix, by index, from 0; −1 is the last",
        (*X, value("i")),
        shape_rules.take,
    ),
    _array(
        "concat",
        "kernels.concat",
        "one after the other, along the last axis unless axis says otherwise",
        (value("a"), MORE, AXIS),
        shape_rules.concat,
    ),
    _array(
        "stack",
        "kernels.stack",
        "side by side along a new axis, the last unless axis says otherwise",
        (value("a"), MORE, AXIS),
        shape_rules.stack,
    ),
)

_FIXED = (
    _array("arange", "kernels.arange", "0, 1, …, n−1", (option("n"),), shape_rules.arange),
    _array(
        "linspace",
        "kernels.linspace",
        "n numbers from a to b, both ends in, evenly spaced",
        (*PAIR, option("n")),
        shape_rules.linspace,
    ),
    _array(
        "ones", "kernels.ones", "all 1, of the shape given: ones(2, 3)", SIZES, shape_rules.constant
    ),
    _array(
        "zeros",
        "kernels.zeros",
        "all 0, of the shape given: zeros(2, 3)",
        SIZES,
        shape_rules.constant,
    ),
    _array(
        "full",
        "kernels.full",
        "all v, of the shape given: full([2, 3], v)",
        (option("shape"), value("v")),
        shape_rules.full,
    ),
    _array("eye", "kernels.eye", "identity matrix of n rows", (option("n"),), shape_rules.eye),
)

ARRAY_FUNCTIONS = (*_REDUCTIONS, *_SHAPED, *_FIXED)
