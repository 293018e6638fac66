"""The points at which a searched claim is checked before any draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dropcheck.claims.registry import Case, Claim
from dropcheck.claims.several.searches import Search, SearchPoint, corners, searched_in, spread
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.language.cases import (
    ParsedClaim,
    check_requires,
    context_of,
    define_parameters,
    lower_case,
)
from dropcheck.results import ParameterValue
from dropcheck.settings import DEFAULT_MEMORY

# The most points that are tried to find one that `requires` allows.
MOST_TRIED = 300


def breaks(
    parsed: ParsedClaim,
    parameters: Mapping[str, ParameterValue],
    memory: int = DEFAULT_MEMORY,
    *,
    rounded: bool = True,
) -> bool:
    """Whether parameters break a condition of their claim, rounded for code or not."""
    if not rounded:
        parsed = replace(parsed, claim=replace(parsed.claim, column=None))
    context = context_of(parsed, parameters, memory, postpone=True)
    # other problems of a condition are reported with the case
    define_parameters(parsed, context, parameters, [])
    return check_requires(parsed, context, parameters, [])


class SearchPoints:
    """The points of a searched case.

    Args:
        case: the case.
        graphs: the cache of its parsed claim.

    Raises:
        DropcheckError: the claim cannot be parsed, or `requires` allows none of the points tried.
    """

    def __init__(self, case: Case, graphs: CaseGraphs) -> None:
        self.case = case
        self._parsed = graphs.parsed(case.claim)
        self._memory = graphs.memory
        self.searches: Mapping[str, Search] = searched_in(case.parameters)
        if any(search.whole for search in self.searches.values()):
            self.searches = self._with_whole_numbers()
        allowed = (one for one in self._spread(self.searches) if self.allows(one))
        first = next(allowed, None) or next(filter(self.allows, corners(self.searches)), None)
        if first is None:
            named = " and ".join(str(case.parameters[name]) for name in self.searches)
            message = f"no value of {' and '.join(self.searches)} ({named}) was found that "
            place, hint = case.claim.requires[0].locate(0, 0), "search where the condition holds"
            raise DropcheckError(Problem(f"{message}{case.claim.id} allows", place, hint))
        self.middle = first

    def at(self, point: SearchPoint) -> Case:
        """The case at a point."""
        return Case(self.case.claim, {**self.case.parameters, **point})

    def allows(self, point: SearchPoint) -> bool:
        """Whether the claim's conditions hold at a point."""
        return not breaks(self._parsed, self.at(point).parameters, self._memory)

    def corners(self) -> Iterator[SearchPoint]:
        """The corners of the search region that the claim allows."""
        return filter(self.allows, corners(self.searches))

    def _spread(self, searches: Mapping[str, Search]) -> Iterator[SearchPoint]:
        return spread(searches, MOST_TRIED)

    def _with_whole_numbers(self) -> dict[str, Search]:
        """The searches, restricted to whole numbers where the claim takes no others.

        A parameter may be used as a shape, an index or a count. Whether it is, shows by trying.
        """
        own = dict(self.searches)
        unsure = [name for name, search in own.items() if search.whole]
        as_whole = {name: own[name].in_whole_numbers() for name in unsure}
        if self._taken(own):
            return own
        all_whole = own | as_whole
        if not self._taken(all_whole):
            return own  # there is another error, which a check reports
        return {
            name: as_whole[name]
            if name in as_whole and not self._taken(all_whole | {name: one})
            else one
            for name, one in own.items()
        }

    def _taken(self, searches: Mapping[str, Search]) -> bool:
        """Whether the first allowed point of these searches can be lowered."""
        point = next(filter(self.allows, self._spread(searches)), None)
        if point is None:
            return False
        try:
            lower_case(self._parsed, self.at(point).parameters, self._memory, postpone=True)
        except DropcheckError:
            return False
        return True


def representative(case: Case, graphs: CaseGraphs) -> Case:
    """The case itself, or for a searched case the case at one point of the search.

    Raises:
        DropcheckError: as in `SearchPoints`.
    """
    if not searched_in(case.parameters):
        return case
    points = SearchPoints(case, graphs)
    return points.at(points.middle)


def cases_to_check(case: Case, graphs: CaseGraphs) -> tuple[Case, ...]:
    """The case itself, or for a searched case the cases to check: one inside, and the corners.

    Raises:
        DropcheckError: as in `SearchPoints`.
    """
    if not searched_in(case.parameters):
        return (case,)
    points = SearchPoints(case, graphs)
    return tuple(map(points.at, (points.middle, *points.corners())))


def without_searches(claim: Claim, graphs: CaseGraphs) -> Claim:
    """The claim with its cases listed; searched cases are replaced by the cases to check.

    Raises:
        DropcheckError: as in `SearchPoints`.
    """
    cases = claim.expand()
    if not any(searched_in(case.parameters) for case in cases):
        return claim
    rows = [dict(one.parameters) for case in cases for one in cases_to_check(case, graphs)]
    return replace(claim, parameters={}, cases=tuple(rows))
