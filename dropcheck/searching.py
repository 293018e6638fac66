"""The search of a claim about any value of a parameter: values are tried for a counterexample.

Each value that is tried is a case of its own, judged with an equal share of the α of the whole
search. Which values are tried depends on earlier verdicts. But each verdict is wrong with at most
its share whatever came before, so that the shares of all values add to α at most (Bonferroni).

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

# The most values that are tried, and the most cases that are judged after them: to shrink a
# counterexample, or with a larger budget. Each has its share of α, used or not.
MOST_TRIED = 50
MOST_AGAIN = 50
# The share of the default budget of a case for each value, the larger share for a value that stays
# undecided, and the most values that get it. So a search costs at most as much as two cases.
SHARE_OF_BUDGET = 1 / 100
LARGER_SHARE = 1 / 5
MOST_LARGER = 5
# The most points that are drawn in all, with those that repeat or that the claim does not allow.
MOST_REFUSED = 40 * MOST_TRIED
# The most simpler values that are tried in a row, before values half-way to the simplest.
MOST_SIMPLER = 12

CaseGenerator = Generator[Request, SpanSums, CaseResult]


def search_case(
    case: Case, settings: Settings, alpha: float, deadline: Deadline, graphs: CaseGraphs
) -> CaseGenerator:
    """Search a case for values at which it does not pass.

    Args:
        case: a case with parameters that are searched.
        settings: seed and limits; `max_draws` holds for each value.
        alpha: the error of the whole search.
        deadline: when to stop.
        graphs: builds the graphs of the claim.

    Raises:
        DropcheckError: no value is allowed, or the claim has an error at a value that is tried.
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
    """The state of one search."""

    case: Case
    settings: Settings
    alpha: float
    deadline: Deadline
    points: SearchPoints
    graphs: CaseGraphs
    # all judged cases: the values that were tried, and the later ones
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
            result = yield from self._judged_at(point, share)
            self.tried.append((point, result))
            if result.result is Outcome.FAIL or self.deadline.passed():
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
        """All points that the claim allows; None where there are more than `MOST_TRIED`."""
        points = every_point(self.searches, MOST_TRIED)
        return None if points is None else tuple(filter(self.points.allows, points))

    def _drawn_points(self) -> Iterator[SearchPoint]:
        """Corners, a point within, and then drawn ones, each once."""
        given = [*self.points.corners(), self.points.middle]
        generator = random.Random(f"{self.settings.seed}\n{self.case.stream_key}")  # no secret
        seen: set[tuple[float, ...]] = set()
        for index in range(MOST_REFUSED):
            if len(seen) >= MOST_TRIED:
                return
            if index < len(given):
                point = given[index]
            else:
                shares = [(generator.random(), generator.random()) for _ in self.searches]
                pairs = zip(self.searches.items(), shares, strict=True)
                point = {name: search.at(*both) for (name, search), both in pairs}
                if tuple(point.values()) in seen or not self.points.allows(point):
                    continue
            if tuple(point.values()) not in seen:
                seen.add(tuple(point.values()))
                yield point

    # ---- judging one -------------------------------------------------------------------------

    def _judged_at(
        self, point: SearchPoint, alpha: float, budget: float = SHARE_OF_BUDGET
    ) -> CaseGenerator:
        case = self.points.at(point)
        try:
            prepared = prepare(case, self.graphs, crossing=self.settings.crossing)
            most = self.settings.max_draws or _most_draws(prepared, budget)
            settings = replace(self.settings, max_draws=most)
            drawn = yield from run_case(prepared, settings, alpha, deadline=self.deadline)
            if drawn.result is not Outcome.UNDECIDED or drawn.exact is None:
                return drawn
            # the exact value decides what the draws left open, if they do not contradict it
            exact = yield from run_case(prepared, replace(settings, exact=True), alpha)
            if exact.result is Outcome.UNDECIDED:
                return drawn
            return replace(
                exact,
                draws=drawn.draws,
                blocks=drawn.blocks,
                seconds=drawn.seconds,
                warnings=drawn.warnings,
            )
        except DropcheckError as error:
            raise DropcheckError(_named(problem, case) for problem in error.problems) from None

    def _look_again(self, alpha: float) -> Generator[Request, SpanSums, None]:
        """Judge some values that a small budget left undecided again, with a larger one."""
        if self.settings.max_draws is not None:
            return
        left = MOST_LARGER
        for index, (point, result) in enumerate(self.tried):
            hopeful = result.result is Outcome.UNDECIDED and result.more_draws is not None
            if not hopeful or not left or self.deadline.passed():
                continue
            left -= 1
            second = yield from self._judged_at(point, alpha, budget=LARGER_SHARE)
            self.again.append((point, second))
            self.tried[index] = point, second
            if second.result is Outcome.FAIL:
                return

    # ---- the simplest counterexample ---------------------------------------------------------

    def _shrunk(
        self, point: SearchPoint, failing: CaseResult, alpha: float
    ) -> Generator[Request, SpanSums, tuple[SearchPoint, CaseResult]]:
        """The simplest known point at which the case fails in the same way, and its result."""
        improved = True
        while improved and not self._spent():
            improved = False
            for name in self.searches:
                for value in simpler(self.searches[name], point[name])[:MOST_SIMPLER]:
                    other = {**point, name: value}
                    result = yield from self._if_fails(other, failing.verdict, alpha)
                    if result is not None:
                        point, failing, improved = other, result, True
                        break
                near = min(self._ends(name), key=abs)
                while (middle := self._between(name, near, point)) is not None:
                    other = {**point, name: middle}
                    result = yield from self._if_fails(other, failing.verdict, alpha)
                    if result is None:
                        near = middle
                    else:
                        point, failing, improved = other, result, True
        return point, failing

    def _ends(self, name: str) -> tuple[float, ...]:
        """The two ends of a search, and 0 where it lies between them."""
        search = self.searches[name]
        inside = (0.0,) if search.low <= 0 <= search.high else ()
        return search.low, search.high, *inside

    def _between(self, name: str, near: float, point: SearchPoint) -> float | None:
        """An allowed value about half-way from the point to `near`.

        If the middle itself is not allowed, it is the next allowed one. None where there is none,
        or where the search has judged as many cases as it may.
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
        """The result at a point that is not judged yet, if it fails there with this verdict."""
        known = any(point == other for other, _ in (*self.tried, *self.again))
        if known or self._spent() or not self.points.allows(point):
            return None
        try:
            result = yield from self._judged_at(point, alpha)
        except DropcheckError:  # a value at which the claim has an error is no counterexample
            return None
        self.again.append((point, result))
        fails = result.result is Outcome.FAIL and result.verdict is verdict
        return result if fails else None

    def _spent(self) -> bool:
        return len(self.again) >= MOST_AGAIN or self.deadline.passed()

    # ---- the result --------------------------------------------------------------------------

    def _summary(
        self, point: SearchPoint, shown: CaseResult, complete: Sequence[SearchPoint] | None
    ) -> CaseResult:
        every = [result for _, result in (*self.tried, *self.again)]
        passed = shown.result is Outcome.PASS
        guarantees = (result.guarantee for result in every if result.guarantee is not None)
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
            confirmed=all(result.confirmed for result in every) if passed else shown.confirmed,
            draws=sum(result.draws for result in every),
            seconds=sum(result.seconds for result in every),
            more_draws=None,
            more_seconds=None,
            warnings=tuple(dict.fromkeys(text for result in every for text in result.warnings)),
        )


def _most_draws(prepared: Prepared, budget: float) -> int | None:
    """The share `budget` of a case's default budget, in draws; None where nothing is drawn."""
    if prepared.compiled is None:
        return None
    most = min(MOST_DRAWS_BY_DEFAULT, DEFAULT_WORK / prepared.compiled.program.cost)
    return max(1, int(budget * most))


def _named(problem: Problem, case: Case) -> Problem:
    """A problem at one point, with the values of the point in its message."""
    if problem.about is About.NAMED_VALUES:
        return problem
    values = parameter_text(case.parameters)
    return replace(problem, message=f"{problem.message} ({case.claim.id} with {values})")
