"""Single elements of one draw as one term, Σ c[k] z[k] in place of c[0] z[0] + … + c[n] z[n].

A loop adds up elements one by one, as `w = 0.9 * w + z[t]` does. In one term they cost no more than
a sum over all elements does, nor do their products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dropcheck.analysis.polynomials.term_space import LARGEST_ARRAY, Space
from dropcheck.analysis.polynomials.terms import Atom, FunctionPowers, Monomial, Tensor

# Of fewer elements each stays a term of its own, where there is no sum over elements beside them.
FEWEST = 8


class _Alike(NamedTuple):
    """What terms of single elements have in common; an index of None stands for fixed places."""

    draw: int
    side: int
    powers: FunctionPowers
    indices: tuple[int | None, ...]
    labels: tuple[tuple[int, ...], ...]
    linked: int


def gathered(space: Space, terms: Sequence[Monomial], free: frozenset[int]) -> list[Monomial]:
    """Terms, those of many single elements of one draw as a sum over its elements.

    So are those of few elements beside such a sum, of which they are then a part.

    >>> from dropcheck.analysis.polynomials.letters import lettered
    >>> space = Space()
    >>> z = lettered(space, (9,), 0)
    >>> (term,) = sum([z.picked(0, k) * float(k) for k in range(1, 9)], start=0.0).terms
    >>> space.array_of(*term.tensors)
    array([0., 1., 2., 3., 4., 5., 6., 7., 8.])
    """
    groups: dict[_Alike, list[Monomial]] = {}
    kept: list[Monomial] = []
    for term in terms:
        alike = _alike(space, term)
        if alike is None:
            kept.append(term)
        else:
            groups.setdefault(alike, []).append(term)
    sums = {_sum_of(term, free) for term in kept}
    for alike, single in groups.items():
        many = len(single) >= FEWEST or alike in sums
        kept += [_over_elements(space, alike, single)] if many else single
    return kept


def _sum_of(term: Monomial, free: frozenset[int]) -> _Alike | None:
    """What a term is the sum of, with an array of factors; None of any other."""
    if len(term.atoms) != 1 or len(term.tensors) != 1:
        return None
    (atom,), ((_, labels),) = term.atoms, term.tensors
    indices = tuple(None if one in labels and one not in free else one for one in atom.indices)
    if indices.count(None) != len(labels):
        return None
    return _Alike(atom.draw, atom.side, atom.powers, indices, (), term.linked)


def _alike(space: Space, term: Monomial) -> _Alike | None:
    """What a term of single elements has in common with others; None of any other."""
    if len(term.atoms) != 1 or len(term.tensors) > 1:
        return None
    (atom,), lengths = term.atoms, space.lengths.get(term.atoms[0].draw, ())
    fixed = [one < 0 and length > 1 for one, length in zip(atom.indices, lengths, strict=False)]
    size = math.prod(length for length, own in zip(lengths, fixed, strict=False) if own)
    size *= math.prod(space.sizes[one] for _, labels in term.tensors for one in labels)
    if not any(fixed) or size > LARGEST_ARRAY:
        return None
    indices = [None if own else one for one, own in zip(atom.indices, fixed, strict=True)]
    labels = tuple(labels for _, labels in term.tensors)
    return _Alike(atom.draw, atom.side, atom.powers, tuple(indices), labels, term.linked)


def _over_elements(space: Space, alike: _Alike, terms: Sequence[Monomial]) -> Monomial:
    """The sum of terms of single elements: an array of their factors, times the elements."""
    axes = [axis for axis, index in enumerate(alike.indices) if index is None]
    new = {axis: space.label(space.lengths[alike.draw][axis]) for axis in axes}
    labels = (*new.values(), *(one for own in alike.labels for one in own))
    array = np.zeros([space.sizes[one] for one in labels])
    space.spend(array.size // 20_000)
    for term in terms:
        factor = space.array_of(term.tensors[0]) if term.tensors else 1.0
        place = tuple(-1 - term.atoms[0].indices[axis] for axis in axes)
        array[place] += term.coefficient * factor
    tensor: Tensor = space.array(array), labels
    indices = [new.get(axis, index) for axis, index in enumerate(alike.indices)]
    atom = Atom(
        alike.draw, alike.side, alike.powers, tuple(one for one in indices if one is not None)
    )
    return Monomial(1.0, max(one.loss for one in terms), (tensor,), (atom,), alike.linked)
