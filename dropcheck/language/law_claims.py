"""A statement about laws, once its names are resolved to values."""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np

from dropcheck.language.graph import Plain, Value
from dropcheck.records import record
from dropcheck.vocabulary.law import Law


class Relation(StrEnum):
    """What a statement claims about the laws of quantities."""

    FOLLOWS = "follows a law"  # each entry of the quantity has the named law
    ALIKE = "have one law"  # corresponding entries of the two quantities have the same law
    INDEPENDENT = "are independent"


@record
class LawClaim:
    """A statement about laws.

    `quantities` are one that follows a law, two that have the same law, or those that are
    independent. `arguments` are the fixed arguments of `law`, in plain Python as `Law.cdf` takes
    them. `over` are the axes of a single quantity along which its entries are independent.
    """

    relation: Relation
    quantities: tuple[Value, ...]
    law: Law | None = None
    arguments: tuple[Plain | None, ...] = ()
    over: tuple[int, ...] = ()

    @property
    def entries(self) -> int:
        """How many numbers one draw of the largest quantity has."""
        return max((math.prod(value.shape) for value in self.quantities), default=1)


def pairs(claim: LawClaim) -> tuple[tuple[int, int], ...]:
    """The pairs of entries that are claimed to be independent, as pairs of numbers.

    Entries are numbered through all quantities, each in row-major order.
    """
    groups: list[int] = []
    for place, value in enumerate(claim.quantities):
        groups += [place] * math.prod(value.shape)
    if claim.over:
        (value,) = claim.quantities
        indices = [tuple(index[axis] for axis in claim.over) for index in np.ndindex(*value.shape)]
        names = {index: place for place, index in enumerate(dict.fromkeys(indices))}
        groups = [names[index] for index in indices]
    return tuple(
        (first, second)
        for first in range(len(groups))
        for second in range(first + 1, len(groups))
        if groups[first] != groups[second]
    )
