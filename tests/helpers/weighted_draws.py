"""The left side of a claim worked out without a draw: a quadrature over what its model draws.

Each draw becomes nodes with weights, and the graph of the case is computed on all combinations of
nodes by the kernels that draws go through. Nothing that bounds or judges a claim has a part in it.
The nodes lie so close together near both ends of a law, and near points that are named, that a
spike there is as well covered as the middle.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from law_table import TWINS
from numpy.typing import NDArray
from scipy import stats

from dropcheck.language.compile import LoweredCase
from dropcheck.language.graph import Kind, Value, in_order, kernel_of, number
from dropcheck.vocabulary.law import Values

Floats = NDArray[np.float64]
Atoms = tuple[Any, Any]
"""The values of a draw, each of its shape, and their probabilities."""

GAUSS = 6  # nodes of a panel
FINE = 2.0**-48  # down to this distance from a point, OCTAVE panels in each halving; then one
OCTAVE = 8
NEAREST = 1e-290
COARSE = 40  # nodes of a law whose arguments are random, and of noise that adds
LONGEST = 4000  # of the whole numbers that are listed


@dataclass(frozen=True)
class Nodes:
    """What a case needs beside its model.

    `draws` gives the atoms of draws that are no single numbers, or of several that are lumped;
    `near` names values of a draw about which its nodes are dense; `noise` are normal draws on
    which all depends as a polynomial, so that few nodes are exact.
    """

    draws: Mapping[str, Atoms] = field(default_factory=dict)
    near: Mapping[str, Sequence[float]] = field(default_factory=dict)
    noise: Sequence[str] = ("h", "g")
    nearest: float = NEAREST


def panels(around: Sequence[float] = (), nearest: float = NEAREST) -> tuple[Floats, Floats, Floats]:
    """Nodes in (0, 1), their distances from 1, and their weights; dense about each point named."""
    x, w = np.polynomial.legendre.leggauss(GAUSS)
    points = sorted({0.0, 1.0, *around})
    below, above, weights = [], [], []
    for low, high in itertools.pairwise(points):
        half = (high - low) / 2
        fine = np.arange(0, -math.log2(FINE) * OCTAVE + 1) / OCTAVE
        coarse = np.arange(-math.log2(FINE) + 1, -math.log2(nearest))
        ends = half * 2.0 ** -np.concatenate([fine, coarse])[::-1]
        ends = ends[ends > (0.0 if low == 0.0 else 4e-16)]
        ends = np.concatenate([[0.0], ends])
        middle, radius = (ends[1:] + ends[:-1]) / 2, (ends[1:] - ends[:-1]) / 2
        distance = (middle[:, None] + radius[:, None] * x).ravel()
        weight = (radius[:, None] * w).ravel()
        below += [low + distance, high - distance]
        above += [1 - low - distance, (1.0 - high) + distance]
        weights += [weight, weight]
    return np.concatenate(below), np.concatenate(above), np.concatenate(weights)


def of_law(
    law: Any, arguments: Sequence[Any], near: Sequence[float], nearest: float
) -> tuple[Floats, Floats]:
    """Nodes and weights of a law of numbers with fixed arguments, by scipy's twin of it."""
    twin = TWINS[law.name](*arguments)
    if law.values is Values.NUMBERS:
        u, v, weights = panels([float(twin.cdf(point)) for point in near], nearest)
        with np.errstate(all="ignore"):
            values = np.where(u < 0.5, twin.ppf(u), twin.isf(v))
        low, high = twin.support()  # where no value of a law lies, but a rounded node may
        values = np.clip(values, np.nextafter(low, high), np.nextafter(high, low))
        keep = np.isfinite(values)
        return values[keep], weights[keep]
    if law.values is Values.LISTED:
        values = np.asarray(twin.xk, dtype=float)
        return values, np.asarray(twin.pk, dtype=float)
    low, high = twin.support()
    values = np.arange(max(low, -LONGEST), min(high, low + LONGEST) + 1, dtype=float)
    return values, np.asarray(twin.pmf(values), dtype=float)


def spread(law: Any, arguments: Sequence[Floats]) -> tuple[Floats, Floats]:
    """For each combination of random arguments, nodes [nodes, …] and their weights."""
    twin = TWINS[law.name](*(argument[None] for argument in arguments))
    if law.values is Values.NUMBERS:
        x, w = np.polynomial.legendre.leggauss(COARSE)
        u = ((x + 1) / 2)[:, None]
        with np.errstate(all="ignore"):
            values = np.asarray(twin.ppf(u), dtype=float)
        values = np.where(np.isnan(values), 0.0, values)  # scipy's NaN for a scale of 0
        return values, np.broadcast_to((w / 2)[:, None], values.shape)
    low = 1.0 if law.name == "geometric" else 0.0
    values = (low + np.arange(COARSE))[:, None]
    weights = np.asarray(twin.pmf(values), dtype=float)
    return np.broadcast_to(values, weights.shape), weights


def total(values: Floats) -> float:
    """A sum whose rounding is below that of what is summed."""
    return float(np.sum(values, dtype=np.longdouble))


class Weighted:
    """The values of a graph on all combinations of nodes, one draw after the other."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.weights: Floats = np.ones(1)
        self.values: dict[int, Any] = {}

    def _join(self, count: int, weights: Floats) -> None:
        """Every combination so far with each of so many nodes, the last axis running fastest."""
        self.values = {
            key: np.repeat(value, count, axis=-1) if value.shape[-1] > 1 else value
            for key, value in self.values.items()
        }
        self.weights = np.repeat(self.weights, count) * weights

    def draw(self, value: Value) -> None:
        """Add a draw."""
        law, name = value.law, value.name or ""
        assert law is not None
        before = self.weights.size
        if name in self.nodes.draws:
            atoms, shares = self.nodes.draws[name]
            values = np.moveaxis(np.asarray(atoms, dtype=float), 0, -1)
            weights = np.asarray(shares, dtype=float)
        elif any(one.random for one in value.inputs):
            assert value.shape == ()
            arguments = [np.broadcast_to(number(self.of(one)), (before,)) for one in value.inputs]
            grid, each = spread(law, arguments)
            self._join(grid.shape[0], each.T.ravel())
            self.values[id(value)] = grid.T.ravel()
            return
        else:
            assert value.shape == (), f"{name} has a shape: its atoms must be given"
            arguments = [one.constant[..., 0].tolist() for one in value.inputs]
            if name in self.nodes.noise and law.name == "normal":
                x, w = np.polynomial.hermite_e.hermegauss(6)
                mean, sd = arguments
                values, weights = mean + sd * x, w / w.sum()
            else:
                near = self.nodes.near.get(name, ())
                values, weights = of_law(law, arguments, near, self.nodes.nearest)
        self._join(weights.size, np.tile(weights, before))
        self.values[id(value)] = np.tile(values, before)

    def of(self, value: Value) -> Any:
        """The values of a quantity."""
        if value.constant is not None:
            return value.constant
        return self.values[id(value)]

    def compute(self, value: Value) -> None:
        """Add a value that is computed from others."""
        inputs = [self.of(one) for one in value.inputs]
        function = value.function
        if not function.takes_truth:
            inputs = [number(one) for one in inputs]
        with np.errstate(all="ignore"):
            kernel: Any = kernel_of(value)
            self.values[id(value)] = kernel(*inputs)

    def average(self, value: Any, given: Floats) -> float:
        """The weighted mean, over the elements too."""
        each = np.broadcast_to(value, (*value.shape[:-1], self.weights.size))
        each = each.mean(axis=tuple(range(each.ndim - 1)))
        weights = self.weights * given
        held = weights > 0
        return total(each[held] * weights[held]) / total(weights[held])

    def operate(self, value: Value) -> None:
        """Add an operator on the law."""
        name = value.operation
        conditions = {"E": 1, "P": 1, "Var": 1, "Std": 1, "Skew": 1, "Kurt": 1, "Cov": 2, "Corr": 2}
        count = conditions[name]
        quantities = [number(self.of(one)) for one in value.inputs[:count]]
        given = np.ones(self.weights.size)
        for condition in value.inputs[count:]:
            given = given * (number(self.of(condition)) != 0)
        means = [self.average(one, given) for one in quantities]
        if name in ("E", "P"):
            self.values[id(value)] = np.array([means[0]])
            return
        centred = [one - mean for one, mean in zip(quantities, means, strict=True)]

        def moment(*parts: Any) -> float:
            return self.average(math.prod(parts[1:], start=parts[0]), given)

        first, last = centred[0], centred[-1]
        variance = moment(first, first)
        formulas: dict[str, Callable[[], float]] = {
            "Var": lambda: variance,
            "Std": lambda: math.sqrt(variance),
            "Skew": lambda: moment(first, first, first) / variance**1.5,
            "Kurt": lambda: moment(first, first, first, first) / variance**2,
            "Cov": lambda: moment(first, last),
            "Corr": lambda: moment(first, last) / math.sqrt(variance * moment(last, last)),
        }
        self.values[id(value)] = np.array([formulas[name]()])


def worked_out(case: LoweredCase, nodes: Nodes, place: int = 0) -> float:
    """A side of a statement, counted from the left."""
    root = case.operands[place]
    below = in_order([root], lambda value: () if value.constant is not None else value.inputs)
    # nothing is computed before the last draw, so that no array is repeated more than need be
    grid = Weighted(nodes)
    for value in below:
        if value.constant is not None:
            continue
        match value.kind:
            case Kind.DRAW:
                grid.draw(value)
            case Kind.OPERATOR:
                grid.operate(value)
            case _:
                grid.compute(value)
    sum_of_all = total(grid.weights)
    assert abs(sum_of_all - 1) < 1e-6, f"the weights add up to {sum_of_all}"
    return float(np.asarray(grid.of(root)).ravel()[0])


# ---- atoms of arrays, of which only a few values matter -----------------------------------------


def lumped(count: int, high: float, low: float, share: float) -> Atoms:
    """An array whose elements are all at one value, or none of them is."""
    return [[high] * count, [low] * count], [share, 1 - share]


def first_ones(count: int, share: float, most: int) -> Atoms:
    """An array of truths of which only the number matters: the first few are true."""
    law = stats.binom(count, share)
    atoms = [[1.0] * k + [0.0] * (count - k) for k in range(most + 1)]
    return atoms, [*law.pmf(range(most)), law.sf(most - 1)]


def places(count: int, share: float) -> Atoms:
    """An array of truths of which at most one is true."""
    return [[0.0] * count, *np.eye(count)], [1 - count * share, *[share] * count]


def vectors(law: Any, count: int, rest: float = 0.0) -> Atoms:
    """One number of a law, and so many others at a fixed value."""
    u, v, weights = panels()
    with np.errstate(all="ignore"):
        values = np.where(u < 0.5, law.ppf(u), law.isf(v))
    keep = np.isfinite(values)
    values, weights = values[keep], weights[keep]
    return np.column_stack([values, np.full((values.size, count), rest)]), weights


def extremes(law: Any, count: int, top: bool = True) -> Atoms:
    """An array of which only the largest, or the smallest, matters: all elements are as that."""
    u, v, weights = panels()
    with np.errstate(divide="ignore"):
        if top:
            above = -np.expm1(np.log1p(-v) / count)
            values = np.where(u < 0.5, law.ppf(u ** (1 / count)), law.isf(above))
        else:
            below = -np.expm1(np.log1p(-u) / count)
            values = np.where(u < 0.5, law.ppf(below), law.isf(v ** (1 / count)))
    return np.repeat(values[:, None], count, axis=1), weights


def hermite(nodes: int, count: int = 0) -> Atoms:
    """Independent standard normals, for polynomials: exact to degree 2 * nodes - 1."""
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    if not count:
        return x, w
    grid = list(itertools.product(range(nodes), repeat=count))
    return x[grid], w[grid].prod(axis=1)


def dyadic(end: float) -> Atoms:
    """A uniform, dense at one end of its range, with few nodes."""
    x, w = np.polynomial.legendre.leggauss(12)
    edges = np.concatenate([[0.0], 2.0 ** -np.arange(30, -1, -1)])
    middle, radius = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    distance = (middle[:, None] + radius[:, None] * x).ravel()
    return np.abs(end - distance), (radius[:, None] * w / 1).ravel()


def beyond(law: Any, point: float) -> Atoms:
    """A law of which only what lies above a point matters."""
    x, weights = dyadic(0.0)
    share = float(law.sf(point))
    return [float(law.median()), *law.isf(share * x)], [1 - share, *(share * weights)]


def beta_share(a: float, others: int) -> Atoms:
    """Shares of a Dirichlet law of weights a, and 1 in all for the others, which are alike."""
    _, v, weights = panels()
    with np.errstate(under="ignore", divide="ignore"):
        first = np.exp(np.log1p(-v) / a)  # the distribution function of beta(a, 1) is x**a
    return np.column_stack([first] + [(1 - first) / others] * others), weights


def f_tail(d1: float, d2: float) -> Atoms:
    """An F, by its reciprocal where it is large: scipy's own is infinite there."""
    u, v, weights = panels((), 1e-100)
    values = np.where(u < 0.5, stats.f(d1, d2).ppf(u), 1 / stats.f(d2, d1).ppf(np.minimum(v, 0.9)))
    return values, weights
