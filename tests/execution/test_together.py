"""Statements of one claim are drawn once, and each has the result that it would have alone."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate, count

import numpy as np
import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case, Registry
from dropcheck.errors import DropcheckError
from dropcheck.execution.together import together
from dropcheck.judging.case import Prepared, prepare_together
from dropcheck.language.compile import CaseGraphs
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation import Compiled, Counted, Program, Request, SpanSums, stream

# Every way to judge a statement: exact moments, bounded ones, counts, certainties, the limit
# theorem, a condition, products over groups of draws, arithmetic; and one that is not drawn at all.
TEXT = """\
dropcheck: 1
claims:
  layer:
    title: T
    parameters: {p: [0.2, 0.5]}
    model: |
      x ~ normal(1, 1)
      m ~ bernoulli(1 - p)
      y = m * x / (1 - p)
      spare ~ exponential(2)
      h = 1 / (1 + abs(x))**0.5
      c ~ cauchy(0, 1)
    claims:
      mean: E(y) == E(x)
      root: {claim: E(h) == 0.745, tolerance: 0.02}
      share: P(y > 1) == (1 - p) / 2
      never: P(y > 0 and m == 0) == 0
      given: E(x, given=y == 0) == 1
      heavy: E(abs(c) / (1 + abs(c))) <= 0.6
      spread: {claim: Std(y) == 1, expect: refuted}
      number: p <= 1
      no-mean: E(c) == 0
"""
SETTINGS = Settings(threads=1, asymptotic=True)
Seen = dict[str, tuple[object, ...]]


def registry() -> Registry:
    return read_text(TEXT)


def seen(results: Iterator[CaseResult]) -> Seen:
    return {
        f"{one.claim} {one.parameters}": (
            *(one.estimate, one.interval, one.standard_error, one.draws, one.blocks),
            *(one.verdict, one.method, one.guarantee, one.explanation, one.sampling, one.warnings),
        )
        for one in results
    }


def of(claims: Registry, cases: tuple[Case, ...], settings: Settings = SETTINGS) -> Seen:
    # each alone has the share of α that it has among all
    return seen(verify_cases(cases, settings, claims))


@pytest.fixture(scope="module")
def all_together() -> Seen:
    return of(registry(), registry().expand())


def test_one_statement_alone_gives_the_same_numbers(all_together: Seen) -> None:
    assert {value[5] for value in all_together.values()} == {*Verdict}
    for case in registry().expand():
        alone = of(registry(), (case,))
        assert alone == {name: all_together[name] for name in alone}, case.key


@pytest.mark.parametrize("threads", [2, 3])
def test_it_depends_on_neither_threads_nor_the_order(threads: int, all_together: Seen) -> None:
    backwards = registry().expand()[::-1]
    assert of(registry(), backwards, replace(SETTINGS, threads=threads)) == all_together


# ---- what is drawn -------------------------------------------------------------------------------


def prepared(text: str = TEXT) -> list[Prepared]:
    claims = read_text(text)
    cases = [case for case in claims.expand() if case.parameters.get("p", 0.5) == 0.5]
    found = prepare_together(cases, CaseGraphs())
    return [one for one in found if isinstance(one, Prepared)]


def programs(cases: list[Prepared]) -> list[Program]:
    found = [one.compiled for one in cases if isinstance(one.compiled, Compiled | Counted)]
    return [one.program for one in found if one.program.shared]


def test_each_program_has_from_one_stream_the_sums_that_it_has_alone() -> None:
    own = programs(prepared())
    assert len(own) == 8
    centres = [one.origin + index % 3 for index, one in enumerate(own)]
    own = [one.in_blocks_of(32 << index) for index, one in enumerate(own)]
    assert len({one.span_draws for one in own}) == 1
    assert len({one.span_blocks for one in own}) > 2
    both = Program.joined(own)
    about = np.zeros((len(own), both.size))
    for row, one in zip(about, centres, strict=True):
        row[: len(one)] = one
    for span in range(3):
        found = both.span(stream(1, "key", 0, span), about, span)
        for program, centre, sums in zip(own, centres, found.members, strict=True):
            alone = program.span(stream(1, "key", 0, span), centre, span)
            assert np.array_equal(alone.sums, sums.sums)
            assert (alone.undefined, alone.first_undefined) == (
                sums.undefined,
                sums.first_undefined,
            )


def test_what_is_undefined_in_one_statement_is_so_in_it_alone() -> None:
    text = """
dropcheck: 1
claims:
  c:
    title: T
    model: |
      x ~ normal(0, 1)
    claims: {log: E(log(x)) == 0, truth: P(log(abs(x)) > 100) == 0, mean: E(cos(x)) <= 2}
"""
    own = programs(prepared(text))
    both = Program.joined(own)
    found = both.span(stream(1, "key", 0, 1), np.zeros((len(own), both.size)), 1)
    alone = [one.span(stream(1, "key", 0, 1), one.origin, 1) for one in own]
    assert [one.undefined > 0 for one in found.members] == [True, False, False]
    for one, other in zip(alone, found.members, strict=True):
        assert np.array_equal(one.sums, other.sums, equal_nan=True)
        assert (one.undefined, one.first_undefined) == (other.undefined, other.first_undefined)


def test_a_span_is_drawn_once_for_all() -> None:
    cases = [one for one in prepared() if one.case.claim.id.endswith(("mean", "root", "share"))]
    asked: list[tuple[int, int]] = []

    def judge(draws: list[int], program: Program) -> Generator[Request, SpanSums, int]:
        first = 0
        for total in accumulate(draws):
            while first < total:  # fewer may come back than were asked for
                sums = (yield request(program, first, total - first)).sums
                first += len(sums) // program.span_blocks
        return first

    def request(program: Program, first: int, spans: int) -> Request:
        return Request(
            program=program, seed=0, case_key="k", purpose=0, centres=program.origin,
            first=first, count=spans, wanted=float(spans),
        )  # fmt: skip

    wanted = [[1, 4], [2, 2, 2], [3]]
    own = programs(cases)
    family = together([partial(judge, d, p) for d, p in zip(wanted, own, strict=False)])
    sums: SpanSums | None = None
    try:
        while True:
            step = family.send(sums)  # type: ignore[arg-type]  # None starts it
            asked += [(step.first, step.count)]
            sums = step.carry_out()
    except StopIteration as stop:
        drawn = stop.value
    assert [spans for first, count in asked for spans in range(first, first + count)] == [*range(6)]
    assert drawn == [5, 6, 3]


# ---- errors and limits ---------------------------------------------------------------------------


def test_an_error_in_a_draw_ends_the_statements_that_need_it() -> None:
    text = """
dropcheck: 1
claims:
  c:
    title: T
    model: |
      n ~ poisson(3)
      x = take([1, 2, 3, 4], minimum(n, 6) / 2)
    claims:
      taken: E(cos(x + n)) <= 0.5
      mean: E(cos(n) + sin(n)) <= 2
"""
    claims = read_text(text)
    found: list[CaseResult] = []
    with pytest.raises(DropcheckError) as caught:
        found.extend(verify_cases(claims.expand(), SETTINGS, claims))
    assert [one.claim for one in found] == ["c.mean"]
    assert found[0].verdict is Verdict.VERIFIED
    assert len(caught.value.problems) == 1


def test_under_a_time_limit_each_says_what_it_needs() -> None:
    claims = read_text(
        TEXT.replace("E(h) == 0.745, tolerance: 0.02", "E(sin(h * c)) == 0, within: 1e-4")
    )
    ticks = count()  # a clock that goes on by a hundredth of a second whenever it is looked at
    settings = replace(SETTINGS, time_limit=4.0)
    results = list(verify_cases(claims.expand(), settings, claims, clock=lambda: next(ticks) / 100))
    open_ones = [one for one in results if one.claim == "layer.root"]
    assert len(results) == 18
    assert all(one.verdict is Verdict.UNDECIDED and one.more_draws for one in open_ones)
    assert all(one.draws > 0 for one in open_ones)
