"""An order of the summed indices of a term that follows from where they stand.

By refinement of what tells them apart, as in tests of the isomorphism of graphs (Weisfeiler and
Leman 1968). Where it leaves a choice, two terms that say the same may get different orders.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise

Factors = Sequence[tuple[Hashable, tuple[int, ...]]]
"""What the factors of a term are, but for their indices, and these."""


def ordered_indices(factors: Factors, ranges: Mapping[int, int]) -> list[int]:
    """The summed indices in order; `ranges` has them, and how far each of them goes.

    >>> ordered_indices([("W", (0, 1)), ("x", (1,)), ("y", (0,))], {0: 5, 1: 3})
    [1, 0]
    """
    colours = {index: hash((1, length)) for index, length in ranges.items()}
    while True:
        colours = _refined(factors, colours)
        # what nothing tells apart: any one of them comes first
        tied = next((a for a, b in pairwise(sorted(colours.values())) if a == b), None)
        if tied is None:
            return sorted(colours, key=lambda index: (ranges[index], colours[index]))
        chosen = min(index for index in colours if colours[index] == tied)
        colours[chosen] = hash((tied, 2))


def _refined(factors: Factors, colours: dict[int, int]) -> dict[int, int]:
    """Colours that tell apart what stands in different places, until they tell no more."""
    told_apart = 0
    while told_apart < (now := len(set(colours.values()))):
        told_apart = now
        places: dict[int, list[int]] = {index: [] for index in colours}
        for head, indices in factors:
            shade = hash((head, tuple([colours.get(index, index) for index in indices])))
            for place, index in enumerate(indices):
                if index in places:
                    places[index].append(hash((shade, place)))
        colours = {
            index: hash((colour, tuple(sorted(places[index])))) for index, colour in colours.items()
        }
    return colours
