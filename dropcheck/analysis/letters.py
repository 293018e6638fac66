"""The quantities of a graph as polynomials in letters, and the expectations of these.

A draw is its mean plus its deviation from it; a value that is neither a polynomial nor a function
of one draw is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np

from dropcheck.analysis.bounds import fixed_arguments
from dropcheck.analysis.ring import (
    EPSILON,
    ITSELF,
    MOST_WORK,
    TINY,
    Atom,
    FunctionPowers,
    Monomial,
    Polynomial,
    PolynomialError,
    Root,
    Space,
    lettered,
    moved,
    multiplied,
    product_of,
    substituted,
)
from dropcheck.analysis.single_draw import (
    Found,
    Integrals,
    Norm,
    Steps,
    draw_below,
)
from dropcheck.array_types import Floats
from dropcheck.known.cells import Estimate
from dropcheck.language.graph import (
    Kind,
    Sources,
    Value,
    in_order,
    kernel_of,
    number,
    random_inputs,
)
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions.arrays import TAKE
from dropcheck.vocabulary.law import Law, Values
from dropcheck.vocabulary.laws.continuous import NORMAL
from dropcheck.vocabulary.laws.vectors import MULTIVARIATE_NORMAL, square_root
from dropcheck.vocabulary.moments import HIGHEST_ORDER
from dropcheck.vocabulary.shapes import Shape

# ---- expectation ---------------------------------------------------------------------------------
#
# Expectations of terms: the expectation is taken over one draw after the other, by its cumulants.
#
# The expectation of a product of functions of the elements of one draw is a sum over all partitions
# of the factors into blocks. Each summand is the product of the blocks' joint cumulants, and the
# indices of each block are identified, as elements with different indices are independent (Leonov
# and Shiryaev 1959; Brillinger 1975, theorem 2.3.2; McCullagh 1987, "Tensor Methods in Statistics",
# chapter 2). Draws are centred, so that blocks of one factor vanish; for normal draws only pairs
# are left (Isserlis 1918).
#
# For a covariance, the factors of its two sides are distinguished. A block with factors of both
# sides links them by the group of its draw; terms that are not linked make up the product of the
# two means. For two averages over all combinations of B draws of each group, the part linked by a
# set L of groups counts with the factor B^-|L| (Hoeffding 1948, section 5).


ElementNumbers = float | Floats
"""One number for all elements of a draw, or an array that broadcasts to the draw's shape."""

PartitionBlock = tuple[FunctionPowers, ...]

# the relative error of the moments of laws, and of the arithmetic with them
PRECISION = 4e-12


class MomentSource:
    """A draw, or another letter with independent elements whose joint moments are known.

    `group` is its group of draws. `below` are the numbers of the draws that it is made of; these
    must not be used by anything else.
    """

    group: int
    below: frozenset[int] = frozenset()

    def __init__(self) -> None:
        self._known: dict[PartitionBlock, tuple[ElementNumbers, float]] = {}
        self.partitions: dict[tuple[tuple[Atom, ...], frozenset[int]], list[Identified]] = {}

    def moment(self, powers: FunctionPowers) -> tuple[ElementNumbers, float]:
        """The expectation of a product of powers of functions, and its loss.

        Raises:
            PolynomialError: it is not known, or not finite.
        """
        raise NotImplementedError

    def cumulant(self, block: PartitionBlock) -> tuple[ElementNumbers, float]:
        """The joint cumulant of functions of one element, and its loss.

        κ(1…n) = E(1…n) − Σ κ(B) E(the rest), over B with 1 in it (Smith 1995, "A recursive
        formulation of the old problem of obtaining moments from cumulants and vice versa", The
        American Statistician 49, equation 4, for several variables).

        Raises:
            PolynomialError: it is not known, or not finite.
        """
        cumulant = self._known.get(block)
        if cumulant is None:
            cumulant = self._known[block] = self._cumulant(block)
        return cumulant

    def _cumulant(self, block: PartitionBlock) -> tuple[ElementNumbers, float]:
        whole, growth = self.moment(multiplied(block))
        if len(block) == 1:
            return whole, growth
        total, size = whole, growth * np.abs(whole)
        first, rest = block[0], range(1, len(block))
        for count in range(len(block) - 1):
            for chosen in combinations(rest, count):
                others = [block[at] for at in rest if at not in chosen]
                outside, growth = self.moment(multiplied(others))
                if not np.any(outside):
                    continue
                inside, loss = self.cumulant(tuple(sorted((first, *(block[at] for at in chosen)))))
                total = total - inside * outside
                size = size + (loss + growth) * np.abs(inside * outside)
        # if the result is 0, the possible rounding error stands for it
        total = np.where((total == 0) & (size > 0), EPSILON * size, total)
        if not total.any():
            return 0.0, 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = float(np.max(np.where(total != 0, size / np.abs(total), 1.0)))
        return (float(total) if total.ndim == 0 else total), max(loss, 1.0)


class Carried(MomentSource):
    """A polynomial that is a letter until the expectation over all later draws has been taken.

    So the expectation of a recurrence is taken step by step (the tower property: Williams 1991,
    "Probability with Martingales", section 9.7), and there are only as many terms as in one step.
    `axes` has the index of each of its axes, None for a length of 1.
    """

    def __init__(
        self, terms: Sequence[Monomial], axes: Sequence[int | None], below: frozenset[int]
    ) -> None:
        super().__init__()
        self.group = 0
        self.below = below
        self._terms, self._axes = terms, axes

    def written_out(
        self, space: Space, term: Monomial, draw: int, free: frozenset[int]
    ) -> list[Monomial]:
        """A term with one factor of this letter replaced by its terms; or the term itself."""
        at = next((at for at, atom in enumerate(term.atoms) if atom.draw == draw), None)
        if at is None:
            return [term]
        atom = term.atoms[at]
        ((function, power),) = atom.powers
        left = [Atom(draw, atom.side, ((function, power - 1),), atom.indices)] if power > 1 else []
        rest = term.with_atoms((*term.atoms[:at], *left, *term.atoms[at + 1 :]))
        own = {i for i in atom.indices if i >= 0}
        moved = {one: i for one, i in zip(self._axes, atom.indices, strict=True) if one is not None}
        terms = []
        for part in self._terms:
            space.spend(1)
            apart = space.apart(part, frozenset(moved))
            sided = tuple([Atom(one.draw, atom.side, *one[2:]) for one in apart.atoms])
            other = substituted(space, apart.with_atoms(sided), moved)
            made = space.product(rest, other, free | own)
            terms.append(space.without(made, own - free))
        return terms


def expected(
    space: Space,
    terms: Sequence[Monomial],
    sources: Mapping[int, MomentSource],
    free: frozenset[int] = frozenset(),
) -> list[Monomial]:
    """The expectation of a sum of terms, as terms without atoms.

    Raises:
        PolynomialError: it is not known, or takes too much work.
    """
    left = list(terms)
    while draws := _draws_of(left):
        if _are_carried(draws, sources):
            left = _of_last_step(space, left, sources, free)
        else:
            left = _without_last(space, left, max(draws), sources, free)
    return left


def _draws_of(terms: Sequence[Monomial]) -> set[int]:
    return {atom.draw for term in terms for atom in term.atoms}


def _are_carried(draws: set[int], sources: Mapping[int, MomentSource]) -> bool:
    return all(isinstance(sources[draw], Carried) for draw in draws)


def _of_last_step(
    space: Space,
    terms: Sequence[Monomial],
    sources: Mapping[int, MomentSource],
    free: frozenset[int],
) -> list[Monomial]:
    """The expectation of terms in carried letters over the last step, in earlier carried letters.

    Each term is treated separately. So a cancellation within a step costs only digits of this step,
    and the errors of steps add up instead of multiplying.
    """
    last = max(_draws_of(terms))
    known: dict[tuple[Any, ...], list[Monomial]] = {}
    taken: list[Monomial] = []
    for term in terms:
        if all(atom.draw != last for atom in term.atoms):
            taken.append(term)
            continue
        key = term.tensors, term.atoms
        if key not in known:
            left = [Monomial(1.0, 1.0, *key)]
            while last in (draws := _draws_of(left)) or not _are_carried(draws, sources):
                left = _without_last(space, left, max(draws), sources, free)
            known[key] = left
        for one in known[key]:
            coefficient = product_of(term.coefficient, one.coefficient)
            linked = term.linked | one.linked
            taken.append(Monomial(coefficient, term.loss + one.loss, *one[2:4], linked))
    return space.collected(taken, free, exactly=True)


def _without_last(
    space: Space,
    terms: Sequence[Monomial],
    draw: int,
    sources: Mapping[int, MomentSource],
    free: frozenset[int],
) -> list[Monomial]:
    """The expectation over the last letter: a letter made of others comes after these."""
    source = sources[draw]
    taken: list[Monomial] = []
    for term in terms:
        if isinstance(source, Carried):
            taken += source.written_out(space, term, draw, free)
            continue
        if source.below:
            # a letter depends on the draws that it is made of, and on others made of these
            letters = {atom.draw for atom in term.atoms}
            used = [draw for one in letters for draw in (one, *sources[one].below)]
            if len(set(used)) < len(used):
                raise PolynomialError
        if any(atom.draw == draw for atom in term.atoms):
            taken += _without(space, term, draw, source, free)
        else:
            taken.append(term)
    return space.collected(taken, free, exactly=True)


def drawn_in(term: Monomial, sources: Mapping[int, MomentSource]) -> set[int]:
    """The letters in a term, and the draws that they are made of."""
    return {draw for atom in term.atoms for draw in (atom.draw, *sources[atom.draw].below)}


def _without(
    space: Space, term: Monomial, draw: int, source: MomentSource, free: frozenset[int]
) -> Iterator[Monomial]:
    """The expectation of a term over one draw: a term for each partition that is not 0."""
    own = tuple([atom for atom in term.atoms if atom.draw == draw])
    rest = tuple([atom for atom in term.atoms if atom.draw != draw])
    labels = term.labels
    for blocks, same in _identified_in(space, own, source, free):
        coefficient, loss, linked = term.coefficient, term.loss, term.linked
        tensors = term.tensors
        for block, value, growth in blocks:
            loss += growth
            if len({atom.side for atom in block}) > 1:
                linked |= 1 << source.group
            if isinstance(value, float):
                coefficient = product_of(coefficient, value)
            else:
                factor, more = space.tensor(value, block[0].indices)
                coefficient = product_of(coefficient, factor)
                tensors += more
        made = Monomial(coefficient, loss, tensors, rest, linked)
        roots = labels
        if same:
            made = substituted(space, made, {label: _root(label, same) for label in labels})
            roots = {_root(label, same) for label in labels}
        yield space.without(made, [one for one in roots if one >= 0 and one not in free])


Partition = list[tuple[tuple[Atom, ...], ElementNumbers, float]]
Identified = tuple[Partition, dict[int, int]]
"""A partition, and the indices that its blocks identify."""


def _identified_in(
    space: Space, own: tuple[Atom, ...], source: MomentSource, free: frozenset[int]
) -> list[Identified]:
    """The partitions of the atoms of one draw that are not 0; many terms have the same atoms."""
    found = source.partitions.get((own, free))
    if found is not None:
        space.spend(len(found))
        return found
    found = []
    for blocks in _partitions(own, source):
        space.spend(1)
        same: dict[int, int] = {}
        if all(_identified(block, same, free) for block, _, _ in blocks):
            found.append((blocks, same))
    source.partitions[own, free] = found
    return found


def _partitions(atoms: Sequence[Atom], source: MomentSource) -> Iterator[Partition]:
    """All partitions into blocks whose joint cumulants are not 0, with these cumulants."""
    if not atoms:
        yield []
        return
    first, rest = atoms[0], atoms[1:]
    if not rest:
        value, loss = source.cumulant((first.powers,))
        if not isinstance(value, float) or value:
            yield [((first,), value, loss)]
        return
    # atoms with different fixed places on an axis are at different elements
    near = [
        at
        for at, atom in enumerate(rest)
        if all(a == b or a >= 0 or b >= 0 for a, b in zip(first.indices, atom.indices, strict=True))
    ]
    for count in range(len(near) + 1):
        for chosen in combinations(near, count):
            block = (first, *(rest[at] for at in chosen))
            value, loss = source.cumulant(tuple(sorted(atom.powers for atom in block)))
            if isinstance(value, float) and not value:
                continue
            others = [atom for at, atom in enumerate(rest) if at not in chosen]
            for partition in _partitions(others, source):
                yield [(block, value, loss), *partition]


def _root(index: int, same: Mapping[int, int]) -> int:
    while index in same:
        index = same[index]
    return index


def _identified(block: Sequence[Atom], same: dict[int, int], free: frozenset[int]) -> bool:
    """Identify the indices of a block on each axis; False if it has different fixed places."""
    for indices in zip(*(atom.indices for atom in block), strict=True):
        one = _root(indices[0], same)
        for index in indices[1:]:
            other = _root(index, same)
            if other == one:
                continue
            if one < 0 and other < 0:
                return False
            # a fixed place is kept, or else a free index
            if one in free and other in free:
                raise PolynomialError
            if other < 0 or (other in free and one >= 0):
                one, other = other, one
            if other in free:
                raise PolynomialError
            same[other] = one
    return True


# ---- sources -------------------------------------------------------------------------------------
#
# The moments of the letters of polynomials: draws minus their means, products of many elements.


class DrawnElements(MomentSource):
    """A draw of independent elements from a law with fixed arguments.

    Function 0 is the draw minus its mean; other functions of the draw can be added, each minus its
    mean. A draw may have no mean, and bounded functions of it have one.
    """

    def __init__(
        self,
        law: Law,
        arguments: Sequence[Any],
        shape: Shape,
        group: int,
        integrals: Integrals,
        draw: Value | None,
    ) -> None:
        super().__init__()
        self._integrals = integrals
        self._draw = draw  # None if only the moments of the law are known
        self.group = group
        self._law = law
        self._shape = shape
        self._arguments = arguments
        self._plain = all(isinstance(one, float) for one in arguments)
        self.mean: ElementNumbers | None = 0.0
        self.loss = 1.0
        try:
            self.mean, self.loss = self._of_law(1)
        except PolynomialError:
            self.mean = None
        self._functions: dict[int, tuple[Value, float]] = {}

    def _of_law(self, order: int) -> tuple[ElementNumbers, float]:
        """The mean, for order 1, or a central moment of the law; with its loss.

        Raises:
            PolynomialError: it is not finite, or not known.
        """
        if order > HIGHEST_ORDER:
            if self._draw is None or not isinstance(self.mean, float):
                raise PolynomialError
            return self._integrated([self._draw], [order], [self.mean])
        moment, error = self._law.moment(order, *self._arguments)
        if self._plain and order % 2 == 0 and moment < TINY:  # a constant
            raise PolynomialError
        return self._checked(moment), _loss_of(moment, error)

    def _checked(self, moment: Any) -> ElementNumbers:
        """A moment as a number, or as an array with the rank of the draw.

        Raises:
            PolynomialError: it is not finite.
        """
        array = np.asarray(moment, dtype=np.float64)
        if not np.isfinite(array).all():
            raise PolynomialError
        if array.size == 1:
            return float(array.reshape(()))
        return array.reshape((1,) * (len(self._shape) - array.ndim) + array.shape)

    # ---- functions of the draw -----------------------------------------------------------------

    def added(self, value: Value) -> tuple[int, float, float]:
        """Add a function of the draw: its number, its mean and the loss of the mean.

        Raises:
            PolynomialError: its mean is not known.
        """
        mean, loss = self._integrated([value], [1], [0.0])
        function = len(self._functions) + 1
        self._functions[function] = (value, mean)
        return function, mean, loss

    def _integrated(
        self, values: Sequence[Value], orders: Sequence[int], centres: Sequence[float]
    ) -> tuple[float, float]:
        found = self._integrals.moment(values, orders, centres)
        if not math.isfinite(found.error):
            raise PolynomialError
        return with_loss(found)

    # ---- moments -------------------------------------------------------------------------------

    def moment(self, powers: FunctionPowers) -> tuple[ElementNumbers, float]:
        """The expectation of a product of powers of functions, and its loss."""
        ((function, power), *others) = powers
        if not others and power == 1:
            return 0.0, 1.0
        if function == ITSELF and not others:
            return self._of_law(power)
        if self._draw is None:
            raise PolynomialError
        chosen = [
            (self._draw, self.mean) if function == ITSELF else self._functions[function]
            for function, _ in powers
        ]
        centres = [mean for _, mean in chosen if isinstance(mean, float)]
        if len(centres) < len(chosen):
            raise PolynomialError
        values = [value for value, _ in chosen]
        return self._integrated(values, [power for _, power in powers], centres)

    def _cumulant(self, block: PartitionBlock) -> tuple[ElementNumbers, float]:
        of_draw = all(powers == ((ITSELF, 1),) for powers in block)
        if not of_draw or len(block) <= 3:
            return super()._cumulant(block)
        # cumulants of the law itself may be exactly 0
        if len(block) > HIGHEST_ORDER:
            raise PolynomialError
        cumulant, error = self._law.cumulant(len(block), *self._arguments)
        return self._checked(cumulant), max(4.0, _loss_of(cumulant, error))


def with_loss(estimate: Estimate) -> tuple[float, float]:
    """A number and its loss: its relative error in units of `PRECISION`.

    A number below its own error is replaced by the error. In products, relative errors are added
    up; the factor 16 allows for products of these errors, of up to 16 numbers.
    """
    value = estimate.value
    if estimate.error > abs(value):
        value = math.copysign(estimate.error, value)
    # in this order, as PRECISION times a number near the smallest underflows
    share = estimate.error / abs(value) if value else 0.0
    return value, max(1.0, (1.0 + min(1.0, 16.0 * share)) * share / PRECISION)


def _loss_of(moment: Any, error: Any) -> float:
    """The loss of a moment of a law, the largest of its elements; what is 0 is exactly 0."""
    with np.errstate(all="ignore"):
        shares = np.where(np.equal(moment, 0), 0.0, error / np.abs(moment))
    return max(1.0, float(np.max(shares)) / PRECISION)


class ProductOfElements(MomentSource):
    """A product of many independent elements minus its mean; its draws are used nowhere else.

    `raw` are the moments E g^k of its factors g of orders 1, 2, … as far as they are known, each
    with its loss: numbers if all factors have one law, or arrays with the factors on the last axis.
    `loss` is the loss of the product's mean.
    """

    def __init__(
        self,
        raw: Sequence[tuple[ElementNumbers, ElementNumbers]],
        count: int,
        group: int,
        below: frozenset[int],
    ) -> None:
        super().__init__()
        self.group = group
        self.below = below
        if not raw:
            raise PolynomialError
        self._raw = [1.0, *(_over_factors(value, count) for value, _ in raw)]
        # Π (1 + e) <= exp(Σ e): relative errors of factors add up
        losses = (one * count if isinstance(one, float) else float(np.sum(one)) for _, one in raw)
        self._off = [0.0, *(PRECISION * loss for loss in losses)]
        self.mean = self._raw[1]
        self.loss = _growth(self._off[1])

    def moment(self, powers: FunctionPowers) -> tuple[ElementNumbers, float]:
        """E (P − E P)^k = Σ C(k, j) E P^j (−E P)^(k − j)."""
        ((_, order),) = powers
        if order == 1:
            return 0.0, 1.0
        if order >= len(self._raw):
            raise PolynomialError
        grown = [_growth(self._off[j] + (order - j) * self._off[1]) for j in range(order + 1)]
        try:
            parts = [
                math.comb(order, j) * self._raw[j] * (-self.mean) ** (order - j)
                for j in range(order + 1)
            ]
            total = math.fsum(parts)
            size = math.fsum(abs(part) * loss for part, loss in zip(parts, grown, strict=True))
        except (OverflowError, ValueError):
            raise PolynomialError from None  # an overflow
        # if the result is below its rounding error, this error stands for it
        return with_loss(Estimate(total, PRECISION * size))


def _over_factors(value: ElementNumbers, count: int) -> float:
    with np.errstate(all="ignore"):
        product = float(np.power(value, count) if isinstance(value, float) else np.prod(value))
    lost = abs(product) < TINY and bool(np.all(value))
    if lost or not math.isfinite(product):
        raise PolynomialError
    return product


def _growth(off: float) -> float:
    """The loss of a product whose factors have relative errors that add up to `off`.

    Raises:
        PolynomialError: the error is as large as the product.
    """
    if not off < 1:
        raise PolynomialError
    return max(1.0, math.expm1(off) / PRECISION)


# ---- normal forms --------------------------------------------------------------------------------
#
# A quantity of the graph as a polynomial: the kernels of its functions, applied to polynomials.


# the most values in a graph
MOST_VALUES = 20_000
# The most work of an analysis that goes through a recurrence step by step.
MOST_WORK_BY_STEPS = 25_000
_TWO_VALUES = {Values.TRUTHS: (0.0, 1.0), Values.SIGNS: (-1.0, 1.0)}
NO_POLYNOMIAL = (ValueError, TypeError, AttributeError, IndexError)
"""What a kernel raises that does not work on polynomials."""


def _compares(function: Function) -> bool:
    """Whether it is a truth about numbers: a polynomial only if it always or never holds."""
    return function.truth and not function.takes_truth


class NormalForms:
    """The polynomials of a graph's values, each computed once.

    Their letters are for expectations: a draw is its mean plus its deviation from it. `groups` has
    the group of each draw by its name; None means that all are in one group. `carried` has the ids
    of values that are letters of their own; the expectation over them is taken after that over all
    later draws.
    """

    def __init__(
        self,
        groups: Mapping[str, int] | None = None,
        bounds: Norm | None = None,
        found: Found | None = None,
        carried: Collection[int] = (),
    ) -> None:
        self.space = Space(self._product, MOST_WORK_BY_STEPS if carried else MOST_WORK)
        self._carried = carried
        self.sources: dict[int, MomentSource] = {}
        # by id: polynomials in draws, and those with other letters; None where there is none
        self._plain: dict[int, Polynomial | Root | None] = {}
        self._known: dict[int, Polynomial | Root | None] = {}
        self._kept: list[Value] = []  # keeps the values alive, so that no id is used again
        self._groups = groups
        self._integrals = Integrals(bounds, found)
        self._draws: dict[int, int] = {}  # the number of a draw, by the id of its value

    def polynomial(self, value: Value) -> Polynomial:
        """A value as a polynomial.

        Raises:
            PolynomialError: it is no polynomial, or too large.
        """
        found = self.read(value)
        if not isinstance(found, Polynomial):
            raise PolynomialError
        return found

    def read(self, value: Value) -> Polynomial | Root | None:
        """A value as a polynomial or a root of one; None if it is neither.

        Raises:
            PolynomialError: it is too large.
        """
        if id(value) not in self._plain:
            below = in_order(
                [value], lambda v: [one for one in random_inputs(v) if id(one) not in self._plain]
            )
            if len(self._plain) + len(below) > MOST_VALUES:
                raise PolynomialError
            for one in below:
                self._kept.append(one)
                self._plain[id(one)] = self._read_plainly(one)
        for one in in_order([value], self._needed):
            if id(one) not in self._known:
                self._known[id(one)] = self._read(one)
        return self._known[id(value)]

    def _read_plainly(self, value: Value) -> Polynomial | Root | None:
        """A value as a polynomial in draws."""
        with suppress(*NO_POLYNOMIAL):
            if not value.random:
                if value.constant is None:
                    return None
                return Polynomial.constant(self.space, number(value.constant))
            if value.kind == Kind.DRAW:
                return self.draw(value)
            if all(self._plain[id(one)] is not None for one in random_inputs(value)):
                return self.made(value, self._plain)
        return None

    def _needed(self, value: Value) -> Sequence[Value]:
        """The values whose polynomials with other letters are needed for that of a value."""
        done = id(value) in self._known or isinstance(self._plain[id(value)], Polynomial)
        if done or value.kind != Kind.COMPUTED:
            return ()
        if self.below(value) is not None and not _compares(value.function):
            return ()
        return random_inputs(value)

    def _read(self, value: Value) -> Polynomial | Root | None:
        plain = self._plain[id(value)]
        if isinstance(plain, Polynomial) or value.kind != Kind.COMPUTED:
            return plain
        if self.below(value) is None or _compares(value.function):
            with suppress(*NO_POLYNOMIAL):
                return self.made(value, self._known)
        with suppress(*NO_POLYNOMIAL):
            return self.other(value)
        return plain

    def made(
        self, value: Value, known: Mapping[int, Polynomial | Root | None]
    ) -> Polynomial | Root:
        """A value by its kernel, from the polynomials of its inputs."""
        function, kernel = value.function, kernel_of(value)
        inputs = [known[id(one)] if one.random else one.constant for one in value.inputs]
        if any(one is None for one in inputs):
            raise PolynomialError
        if (
            function.rearranges
            or function.does in ("joins", "gaps")
            or (function is TAKE and not value.inputs[1].random)
        ):
            found: Any = moved(kernel, inputs, (value.operation, value.options))
        else:
            found = kernel(*inputs)
        if not isinstance(found, Polynomial | Root) or found.shape != (*value.shape, 1):
            raise PolynomialError
        if isinstance(found, Root):
            return found
        if value.truth:
            found.binary = True
        return self.carried(value, found)

    # ---- letters -------------------------------------------------------------------------------

    def group(self, names: Sources) -> int:
        """The group of some draws.

        Raises:
            PolynomialError: they are in several groups.
        """
        if self._groups is None:
            return 0
        found = {self._groups[name] for name in names if name in self._groups}
        if len(found) != 1:
            raise PolynomialError
        return found.pop()

    def draw(self, value: Value) -> Polynomial:
        """A draw as its mean plus its deviation; with random arguments, as loc + scale · z."""
        law, arguments = value.law, fixed_arguments(value)
        if law is MULTIVARIATE_NORMAL and arguments is not None:
            return self._normal_vector(value, *arguments)
        if law is None or law.own_axes is not None:
            raise PolynomialError
        if arguments is not None:
            return self._elements(value, law, arguments)
        given = [self.polynomial(argument) for argument in value.inputs]
        line = law.as_line(*given)
        if line is None:
            raise PolynomialError
        loc, scale, own = line
        arrays = [one.fixed if isinstance(one, Polynomial) else one for one in own]
        if any(one is None for one in arrays):
            raise PolynomialError
        arguments = [float(a.item()) if a.ndim < 2 else a[..., 0] for a in map(np.asarray, arrays)]
        found = self._elements(value, law, arguments) * scale + loc
        if not isinstance(found, Polynomial) or found.shape != (*value.shape, 1):
            raise PolynomialError
        return found

    def _normal_vector(self, value: Value, mean: Any, covariances: Any) -> Polynomial:
        """A normal vector m + R z, where R R' are its covariances and z is standard normal.

        (Muirhead 1982, "Aspects of Multivariate Statistical Theory", theorem 1.2.9.)
        """
        if np.ndim(covariances) != 2:
            raise PolynomialError
        standard = self._elements(value, NORMAL, [0.0, 1.0])
        found: Polynomial = square_root(covariances) @ standard + np.asarray(mean)[..., np.newaxis]
        return found

    def _elements(self, value: Value, law: Law, arguments: Sequence[Any]) -> Polynomial:
        own = value.name or ""
        names = Sources([own]) if own in value.sources else value.sources
        known = value.law is law and not any(argument.random for argument in value.inputs)
        source = DrawnElements(
            law,
            arguments,
            value.shape,
            self.group(names),
            self._integrals,
            value if known else None,
        )
        draw = len(self.sources)
        self.sources[draw] = source
        if known:
            self._draws[id(value)] = draw
        if source.mean is None:
            raise PolynomialError
        if isinstance(source.mean, float) and law.values in _TWO_VALUES:
            low, high = (end - source.mean for end in _TWO_VALUES[law.values])
            self.space.squares[draw] = (low + high, -low * high)
        found = lettered(self.space, value.shape, draw)
        mean = source.mean
        if isinstance(mean, float) and source.loss > 1.0:  # the mean is known as an integral
            found = found.with_number(mean, source.loss)
        else:
            found = found + (mean if isinstance(mean, float) else mean[..., np.newaxis])
        found.binary = law.values is Values.TRUTHS
        return found

    def below(self, value: Value) -> Value | None:
        """The draw of which a value is a function."""
        found = draw_below(value)
        return found if found is not None and found.kind == Kind.DRAW else None

    def carried(self, value: Value, found: Polynomial) -> Polynomial:
        """A letter for a value that is to be carried; an atom or a truth is left as it is."""
        single = len(found.terms) == 1 and len(found.terms[0].atoms) == 1
        if id(value) not in self._carried or not found.terms or single or found.binary:
            return found
        below = frozenset(one for term in found.terms for one in drawn_in(term, self.sources))
        draw = len(self.sources)
        self.sources[draw] = Carried(found.terms, found.axes[:-1], below)
        return lettered(self.space, found.shape[:-1], draw)

    def other(self, value: Value) -> Polynomial:
        """A function of one draw as its mean plus its deviation."""
        below = self.below(value)
        draw = None if below is None else self._draws.get(id(below))
        if below is None or draw is None:
            raise PolynomialError
        source = self.sources[draw]
        if not isinstance(source, DrawnElements):
            raise PolynomialError
        if draw in self.space.squares:
            return self._of_two_values(value, below)
        function, centre, loss = source.added(value)
        found = lettered(self.space, value.shape, draw, function)
        found = found.with_number(centre, loss)
        found.binary = value.truth
        return found

    def _of_two_values(self, value: Value, draw: Value) -> Polynomial:
        """A function of a draw with two values: the line through the function's two values."""
        ends = (0.0, 0.0) if draw.law is None else _TWO_VALUES[draw.law.values]
        with np.errstate(all="ignore"):
            steps, points = Steps.to([value], draw), np.array(ends)
            (computed,) = steps.evaluated(points)
            again = [np.allclose(one, computed, 1e-9, 0.0) for (one,) in steps.again(points)]
        if not (np.isfinite(computed).all() and all(again)):
            raise PolynomialError  # rounding decides one of the values
        first, last = computed.tolist()
        slope = (last - first) / (ends[1] - ends[0])
        line: Polynomial = (self.polynomial(draw) + -ends[0]) * slope + first
        line.binary = value.truth
        return line

    def _product(self, quantity: Polynomial, axes: tuple[int, ...], keepdims: bool) -> Polynomial:
        """The product of independent elements along some axes, as a draw of its own."""
        if len(axes) > 1 or quantity.ndim != 2 or keepdims:
            raise PolynomialError
        label, _ = quantity.axes
        draws = {atom.draw for term in quantity.terms for atom in term.atoms}
        if label is None or not draws or any(self.sources[one].below for one in draws):
            raise PolynomialError
        for term in quantity.terms:
            # each element may depend only on the elements of draws at its own index
            if any(atom.indices != (label,) for atom in term.atoms) or term.labels - {label}:
                raise PolynomialError
        raw = self._raw_moments(quantity, label)
        groups = {self.sources[one].group for one in draws}
        if len(groups) > 1:
            raise PolynomialError
        source = ProductOfElements(raw, quantity.shape[0], groups.pop(), frozenset(draws))
        draw = len(self.sources)
        self.sources[draw] = source
        return lettered(self.space, (), draw).with_number(source.mean, source.loss)

    def _raw_moments(self, quantity: Polynomial, label: int) -> list[tuple[Any, Any]]:
        """E g^k of the elements g for k = 1, 2, … as far as they are known, each with its loss."""
        moments: list[tuple[Any, Any]] = []
        power = quantity
        free = frozenset({label})
        while len(moments) < 8:
            try:
                terms = expected(self.space, power.terms, self.sources, free)
                total: Any = 0.0
                size: Any = 0.0
                for term in terms:
                    array: Any = 1.0
                    for tensor in term.tensors:
                        if tensor[1] != (label,):
                            raise PolynomialError
                        array = array * self.space.array_of(tensor)
                    total = total + term.coefficient * array
                    size = size + np.abs(term.coefficient * array) * term.loss
                with np.errstate(all="ignore"):
                    loss = np.where(size > 0, size / np.abs(total), 0.0)
                one = isinstance(total, float)
                moments.append((total, float(loss)) if one else (np.asarray(total), loss))
                power = power * quantity
            except PolynomialError:
                break
        return moments
