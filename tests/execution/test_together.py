"""Statements of one claim are drawn once, and each has the result that it would have alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case, Registry
from dropcheck.errors import DropcheckError
from dropcheck.judging.case import Prepared, prepare_together
from dropcheck.language.compile import CaseGraphs
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import stream
from dropcheck.simulation.compile import Compiled, Counted
from dropcheck.simulation.program import Program

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


def test_it_depends_on_neither_threads_nor_the_order(all_together: Seen) -> None:
    backwards = registry().expand()[::-1]
    assert of(registry(), backwards, replace(SETTINGS, threads=2)) == all_together


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
    assert len(own) == 9
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
