"""A claim about any value of a parameter: values are tried until one is a counterexample.

Each value that is tried is a case of its own, judged with an equal share of the α of the whole
search. What is tried depends on verdicts so far, each of which is wrong with at most its share
whatever came before, so that the shares of the most values that are ever tried add (Bonferroni).

A counterexample is shrunk to the simplest value that still is one (Hughes, QuickCheck 2000;
MacIver and Donaldson, Test-Case Reduction via Test-Case Generation: Insights from the Hypothesis
Reducer, ECOOP 2020, order values as here: fewer digits, then nearer to 0).
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

from dropcheck.claims.registry import Case
from dropcheck.claims.several.searches import (
    Searches,
    SearchPoint,
    beside,
    between,
    every_point,
    simpler,
)
from dropcheck.claims.values import parameter_text
from dropcheck.errors import About, DropcheckError, Problem
from dropcheck.execution.schedule import Deadline
from dropcheck.judging.case_run import DEFAULT_WORK, MOST_DRAWS_BY_DEFAULT
from dropcheck.judging.judge import run_case
from dropcheck.judging.prepared import Prepared, prepare
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.language.search_points import SearchPoints
from dropcheck.results import CaseResult, Guarantee, Outcome, Searched, Tried, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation import Request, SpanSums

# Values that are tried, and cases judged beyond these: to shrink a counterexample, or to look again
# at what a small budget left undecided. Each has its share of α, used or not.
MOST_TRIED = 50
MOST_AGAIN = 50
# Of the default budget of a case, what each value has; and what some that this leaves undecided
# have when they are looked at again. So a search costs as much as two cases at most.
SHARE_OF_BUDGET = 1 / 100
LARGER_SHARE = 1 / 5
MOST_LARGER = 5
# Values that are drawn for one that is new and that the claim allows.
MOST_REFUSED = 40 * MOST_TRIED
# Simpler values that are looked at before the way to the simplest is halved.
MOST_SIMPLER = 12

CaseGenerator = Generator[Request, SpanSums, CaseResult]


def search_case(
    case: Case, settings: Settings, alpha: float, deadline: Deadline, graphs: CaseGraphs
) -> CaseGenerator:
    """Search a case for values at which it does not pass.

    Args:
        case: a case with parameters that are searched.
        settings: seed and limits; `max_draws` is what each value has.
        alpha: the error of the whole search.
        deadline: when to stop.
        graphs: where its claim is parsed.

    Raises:
        DropcheckError: where no value is allowed, or the claim has an error at one that is tried.
    """
    search = _Search(
        case=case,
        settings=settings,
        alpha=alpha,
        deadline=deadline,
        points=SearchPoints(case, graphs),
        graphs=graphs,
    )
    return (yield from search.result())


@dataclass(slots=True)
class _Search:
    """A search under way."""

    case: Case
    settings: Settings
    alpha: float
    deadline: Deadline
    points: SearchPoints
    graphs: CaseGraphs
    # every case that was judged: those that were tried, and those after
    tried: list[tuple[SearchPoint, CaseResult]] = field(default_factory=list)
    again: list[tuple[SearchPoint, CaseResult]] = field(default_factory=list)

    @property
    def searches(self) -> Searches:
        return self.points.searches

    def result(self) -> CaseGenerator:
        """The whole search as one result."""
        complete = self._every_point()
        share = self.alpha / (MOST_AGAIN + len(complete or range(MOST_TRIED)))
        for point in complete or self._drawn_points():
            found = yield from self._tried_at(point, share)
            self.tried.append((point, found))
            if found.result is Outcome.FAIL or self.deadline.passed():
                break
        if self._worst()[1].result is Outcome.UNDECIDED:
            yield from self._look_again(share)
        point, shown = self._worst()
        if shown.result is Outcome.FAIL:
            point, shown = yield from self._shrunk(point, shown, share)
        return self._summary(point, shown, complete)

    def _worst(self) -> tuple[SearchPoint, CaseResult]:
        return max(self.tried, key=lambda one: one[1].badness)

    # ---- which values ------------------------------------------------------------------------

    def _every_point(self) -> tuple[SearchPoint, ...] | None:
        """All points that the claim allows, where they are few."""
        points = every_point(self.searches, MOST_TRIED)
        return None if points is None else tuple(filter(self.points.allows, points))

    def _drawn_points(self) -> Iterator[SearchPoint]:
        """Corners, a point within, and then drawn ones, each once."""
        given = [*self.points.corners(), self.points.middle]
        drawn = random.Random(f"{self.settings.seed}\n{self.case.stream_key}")  # no secret
        seen: set[tuple[float, ...]] = set()
        for index in range(MOST_REFUSED):
            if len(seen) >= MOST_TRIED:
                return
            if index < len(given):
                point = given[index]
            else:
                shares = [(drawn.random(), drawn.random()) for _ in self.searches]
                pairs = zip(self.searches.items(), shares, strict=True)
                point = {name: search.at(*both) for (name, search), both in pairs}
                if tuple(point.values()) in seen or not self.points.allows(point):
                    continue
            if tuple(point.values()) not in seen:
                seen.add(tuple(point.values()))
                yield point

    # ---- judging one -------------------------------------------------------------------------

    def _tried_at(
        self, point: SearchPoint, alpha: float, budget: float = SHARE_OF_BUDGET
    ) -> CaseGenerator:
        case = self.points.at(point)
        try:
            prepared = prepare(case, self.graphs, crossing=self.settings.crossing)
            most = self.settings.max_draws or _most_draws(prepared, budget)
            settings = replace(self.settings, max_draws=most)
            found = yield from run_case(prepared, settings, alpha, deadline=self.deadline)
            if found.result is not Outcome.UNDECIDED or found.exact is None:
                return found
            # what draws leave open is decided by the exact value, if they do not contradict it
            exact = yield from run_case(prepared, replace(settings, exact=True), alpha)
            if exact.result is Outcome.UNDECIDED:
                return found
            return replace(
                exact,
                draws=found.draws,
                blocks=found.blocks,
                seconds=found.seconds,
                warnings=found.warnings,
            )
        except DropcheckError as error:
            raise DropcheckError(_named(problem, case) for problem in error.problems) from None

    def _look_again(self, alpha: float) -> Generator[Request, SpanSums, None]:
        """Give some values that a small budget left undecided a larger one."""
        if self.settings.max_draws is not None:
            return
        left = MOST_LARGER
        for index, (point, found) in enumerate(self.tried):
            hopeful = found.result is Outcome.UNDECIDED and found.more_draws is not None
            if not hopeful or not left or self.deadline.passed():
                continue
            left -= 1
            once_more = yield from self._tried_at(point, alpha, budget=LARGER_SHARE)
            self.again.append((point, once_more))
            self.tried[index] = point, once_more
            if once_more.result is Outcome.FAIL:
                return

    # ---- the simplest counterexample ---------------------------------------------------------

    def _shrunk(
        self, point: SearchPoint, failing: CaseResult, alpha: float
    ) -> Generator[Request, SpanSums, tuple[SearchPoint, CaseResult]]:
        """The simplest point found at which the case fails in the same way."""
        improved = True
        while improved and not self._spent():
            improved = False
            for name in self.searches:
                for value in simpler(self.searches[name], point[name])[:MOST_SIMPLER]:
                    other = {**point, name: value}
                    found = yield from self._if_fails(other, failing.verdict, alpha)
                    if found is not None:
                        point, failing, improved = other, found, True
                        break
                near = min(self._ends(name), key=abs)
                while (value_ := self._between(name, near, point)) is not None:
                    other = {**point, name: value_}
                    found = yield from self._if_fails(other, failing.verdict, alpha)
                    if found is None:
                        near = value_
                    else:
                        point, failing, improved = other, found, True
        return point, failing

    def _ends(self, name: str) -> tuple[float, ...]:
        """Both ends of a search, and 0 where it is between them."""
        search = self.searches[name]
        inside = (0.0,) if search.low <= 0 <= search.high else ()
        return search.low, search.high, *inside

    def _between(self, name: str, near: float, point: SearchPoint) -> float | None:
        """A value about half-way to a simpler one; None where there is none, or enough is judged.

        Where the middle is none of the search, or not allowed, the next ones are looked at.
        """
        search, far = self.searches[name], point[name]
        value = None if self._spent() else between(near, far)
        for _ in range(MOST_SIMPLER):
            if value is None or value == far:
                return None
            if search.near(value) == value and self.points.allows({**point, name: value}):
                return value
            value = beside(value, far)
        return None

    def _if_fails(
        self, point: SearchPoint, verdict: Verdict, alpha: float
    ) -> Generator[Request, SpanSums, CaseResult | None]:
        """The case at a point, if it fails there as it does elsewhere; each is judged once."""
        known = any(point == other for other, _ in (*self.tried, *self.again))
        if known or self._spent() or not self.points.allows(point):
            return None
        try:
            found = yield from self._tried_at(point, alpha)
        except DropcheckError:  # a value that the claim does not take is no counterexample
            return None
        self.again.append((point, found))
        fails = found.result is Outcome.FAIL and found.verdict is verdict
        return found if fails else None

    def _spent(self) -> bool:
        return len(self.again) >= MOST_AGAIN or self.deadline.passed()

    # ---- the result --------------------------------------------------------------------------

    def _summary(
        self, point: SearchPoint, shown: CaseResult, complete: Sequence[SearchPoint] | None
    ) -> CaseResult:
        every = [found for _, found in (*self.tried, *self.again)]
        passed = shown.result is Outcome.PASS
        guarantees = (one.guarantee for one in every if one.guarantee is not None)
        weakest = max(guarantees, key=[*Guarantee].index, default=None)
        return replace(
            shown,
            parameters=dict(self.case.parameters),
            search=Searched(
                at=dict(point),
                tried=tuple(Tried.of(*one) for one in self.tried),
                again=tuple(Tried.of(*one) for one in self.again),
                most=len(complete) if complete is not None else MOST_TRIED,
                every=complete is not None and len(self.tried) == len(complete),
            ),
            guarantee=weakest if passed else shown.guarantee,
            confirmed=all(one.confirmed for one in every) if passed else shown.confirmed,
            draws=sum(one.draws for one in every),
            seconds=sum(one.seconds for one in every),
            more_draws=None,
            more_seconds=None,
            warnings=tuple(dict.fromkeys(text for one in every for text in one.warnings)),
        )


def _most_draws(prepared: Prepared, budget: float) -> int | None:
    """A share of a case's default budget, in draws; None where nothing is drawn."""
    if prepared.compiled is None:
        return None
    most = min(MOST_DRAWS_BY_DEFAULT, DEFAULT_WORK / prepared.compiled.program.cost)
    return max(1, int(budget * most))


def _named(problem: Problem, case: Case) -> Problem:
    """A problem of one case, with the values in its message."""
    if problem.about is About.NAMED_VALUES:
        return problem
    values = parameter_text(case.parameters)
    return replace(problem, message=f"{problem.message} ({case.claim.id} with {values})")
