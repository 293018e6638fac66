"""Expectations of terms: the expectation is taken over one draw after the other, by its cumulants.

The expectation of a product of functions of the elements of one draw is a sum over all partitions
of the factors into blocks. Each summand is the product of the blocks' joint cumulants, and the
indices of each block are identified, as elements with different indices are independent (Leonov and
Shiryaev 1959; Brillinger 1975, theorem 2.3.2; McCullagh 1987, "Tensor Methods in Statistics",
chapter 2). Draws are centred, so that blocks of one factor vanish; for normal draws only pairs are
left (Isserlis 1918).

For a covariance, the factors of its two sides are distinguished. A block with factors of both sides
links them by the group of its draw; terms that are not linked make up the product of the two means.
For two averages over all combinations of B draws of each group, the part linked by a set L of
groups counts with the factor B^-|L| (Hoeffding 1948, section 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from dropcheck.analysis.polynomials.term_space import Space, substituted
from dropcheck.analysis.polynomials.terms import (
    EPSILON,
    Atom,
    FunctionPowers,
    Monomial,
    multiplied,
    product_of,
)
from dropcheck.array_types import Floats
from dropcheck.vocabulary.functions.algebra import PolynomialError

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
            refuse_shared({atom.draw: sources[atom.draw] for atom in term.atoms})
        if any(atom.draw == draw for atom in term.atoms):
            taken += _without(space, term, draw, source, free)
        else:
            taken.append(term)
    return space.collected(taken, free, exactly=True)


def drawn_in(term: Monomial, sources: Mapping[int, MomentSource]) -> set[int]:
    """The letters in a term, and the draws that they are made of."""
    return {draw for atom in term.atoms for draw in (atom.draw, *sources[atom.draw].below)}


def refuse_shared(sources: Mapping[int, MomentSource]) -> None:
    """Check that no letter stands beside a draw that it is made of, or one made of the same draw.

    Raises:
        PolynomialError: one does; then they are not independent.
    """
    used = [draw for number, source in sources.items() for draw in (number, *source.below)]
    if len(set(used)) < len(used):
        raise PolynomialError


def _without(
    space: Space, term: Monomial, draw: int, source: MomentSource, free: frozenset[int]
) -> Iterator[Monomial]:
    """The expectation of a term over one draw: a term for each partition that is not 0."""
    own = [atom for atom in term.atoms if atom.draw == draw]
    rest = tuple([atom for atom in term.atoms if atom.draw != draw])
    labels = term.labels
    for blocks in _partitions(own, source):
        space.spend(1)
        same: dict[int, int] = {}
        if not all(_identified(block, same, free) for block, _, _ in blocks):
            continue
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
    near = [at for at, atom in enumerate(rest) if _may_meet(first, atom)]
    for count in range(len(near) + 1):
        for chosen in combinations(near, count):
            block = (first, *(rest[at] for at in chosen))
            value, loss = source.cumulant(tuple(sorted(atom.powers for atom in block)))
            if isinstance(value, float) and not value:
                continue
            others = [atom for at, atom in enumerate(rest) if at not in chosen]
            for partition in _partitions(others, source):
                yield [(block, value, loss), *partition]


def _may_meet(one: Atom, other: Atom) -> bool:
    """Whether two atoms may be at one element: on no axis they have different fixed places."""
    pairs = zip(one.indices, other.indices, strict=True)
    return all(a == b or a >= 0 or b >= 0 for a, b in pairs)


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
