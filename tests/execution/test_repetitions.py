"""Repetitions side by side: each is told of its own draws alone, whoever draws them.

Correlations below are of seeded samples; |r| √n < 5.5 fails with a chance of 4e-8 each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from trials import compiled, crossed, entry, registry_of

from dropcheck.audit.audited_claims import built_in
from dropcheck.audit.measurement import SPAN_BLOCKS, ready, run_once, side_by_side
from dropcheck.execution import repetitions
from dropcheck.execution.repetitions import (
    MOST_CENTRES,
    NUMBERS,
    Supply,
    spans_of_a_call,
)
from dropcheck.judging.case_run import Finding
from dropcheck.judging.prepared import prepare
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.integrands import filled, middle
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.streams import TOGETHER, stream

ONE_LAW = "x ~ normal(2, 1)"
TWO_VALUES = "m ~ bernoulli(0.2)"
SOME_BAD = "x ~ normal(3, 1)"


CROSSED = "q, k ~ normal(0, 1)[64]"
CROSSED_TRUTHS = "m ~ bernoulli(0.2)[6]; k ~ normal(0, 1)[6]"


def program_of(model: str, claim: str) -> Program:
    program = crossed(model, claim) if "@" in claim else compiled(model, claim).program
    assert program is not None
    return program.in_blocks_of(32, SPAN_BLOCKS * 32)


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        (ONE_LAW, "Var(x) == 1"),
        (TWO_VALUES, "Var(3 * m) == 1"),
        (SOME_BAD, "E(log(x)) == 1"),
        (CROSSED, "Var(q @ k) == 64"),
        (CROSSED, "P(q @ k > 1) == 0.3"),
        (CROSSED, "E(log(q @ k + 30)) == 3"),
        (CROSSED_TRUTHS, "Var(m @ k) == 1.2"),
    ],
)
def test_spans_of_one_call_are_the_parts_of_one_long_span(model: str, claim: str) -> None:
    program = program_of(model, claim)
    assert program.paired == ("@" in claim)
    assert spans_of_a_call(program) >= 3
    centres = np.zeros(program.size)
    parts = list(Supply(5, "key").shares(program, centres, [1] * 3))
    bulk = dataclasses.replace(
        program, span_draws=3 * program.span_draws, span_blocks=3 * program.span_blocks
    )
    whole = bulk.span(stream(5, "key", TOGETHER, 0), centres, 0)
    assert len(parts) == 3
    assert np.array_equal(np.concatenate([part.sums for part in parts]), whole.sums, equal_nan=True)
    assert sum(part.undefined for part in parts) == whole.undefined


@pytest.mark.parametrize(
    ("model", "claim"), [(SOME_BAD, "E(log(x)) == 1"), (CROSSED, "E(log(q @ k + 30)) == 3")]
)
def test_each_span_is_told_of_its_own_undefined_values(model: str, claim: str) -> None:
    program = program_of(model, claim)
    parts = list(Supply(1, "key").shares(program, np.zeros(program.size), [1] * 8))
    broken = [part.undefined > 0 for part in parts]
    assert any(broken)
    assert broken == [not np.isfinite(part.sums).all() for part in parts]
    assert all(
        (part.first_undefined is not None) == one for part, one in zip(parts, broken, strict=True)
    )
    assert all((part.first_undefined or 0) < program.span_values for part in parts)


@pytest.mark.parametrize(
    ("model", "claim"), [(ONE_LAW, "E(x) == 2"), (CROSSED, "E((q @ k)**2) == 64")]
)
def test_no_span_is_given_twice(model: str, claim: str) -> None:
    program = program_of(model, claim)
    supply, centres = Supply(3, "key"), np.zeros(program.size)
    many = 2 * spans_of_a_call(program) + 1
    sums = [
        part.sums.sum() for _ in range(3) for part in supply.shares(program, centres, [1] * many)
    ]
    assert len(set(sums)) == 3 * many


@pytest.mark.parametrize(
    ("model", "claim"),
    [(ONE_LAW, "Var(x) == 1"), (TWO_VALUES, "P(m == 1) == 0.2"), (SOME_BAD, "E(log(x)) == 1")],
)
def test_a_share_is_what_its_spans_would_be_one_by_one(
    model: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shares of one, three and two calls, of spans that are the same however they are shared."""
    program = program_of(model, claim)
    monkeypatch.setattr(repetitions, "NUMBERS", 4 * NUMBERS // spans_of_a_call(program))
    most = spans_of_a_call(program)
    assert 3 <= most <= 8
    centres, shared = np.zeros(program.size), [1, 2 * most, 2, most - 1]
    shares = list(Supply(5, "key").shares(program, centres, shared))
    single = list(Supply(5, "key").shares(program, centres, [1] * sum(shared)))
    for share, count in zip(shares, shared, strict=True):
        own, single = single[:count], single[count:]
        assert np.array_equal(
            share.sums, np.concatenate([part.sums for part in own]), equal_nan=True
        )
        assert share.undefined == sum(part.undefined for part in own)
        assert (share.first_undefined is None) == (share.undefined == 0)


def test_an_undefined_draw_changes_no_other_repetition() -> None:
    """Draws of separated groups are combined in every span but those with a draw that is not."""
    model = "x ~ normal(0, 1); m ~ bernoulli(0.5); y = m * sqrt(x + 3)"
    program = crossed(model, "Var(y) == 1")
    assert program is not None
    assert program.separations is not None
    program = dataclasses.replace(program, span_draws=512, span_blocks=1)
    centres = np.zeros(program.size)
    parts = list(Supply(5, "key").shares(program, centres, [1] * 12))
    broken = [part.undefined > 0 for part in parts]
    assert 2 < sum(broken) < 10
    kept_steps = tuple(dataclasses.replace(step, frees=()) for step in program.steps)
    bulk = dataclasses.replace(program, span_draws=12 * 512, span_blocks=12, steps=kept_steps)
    with np.errstate(invalid="ignore"):
        held = bulk.registers(stream(5, "key", TOGETHER, 0), bulk.span_draws)
    drawn = {step.value.operation: filled(held[step.target]) for step in program.steps}
    x, m = (drawn[law].reshape(12, 512) for law in ("normal", "bernoulli"))
    with np.errstate(invalid="ignore"):
        roots = np.sqrt(x + 3)
    for part, bad, root, kept in zip(parts, broken, roots, m, strict=True):
        assert bad == bool(np.isnan(root).any())
        assert part.undefined == np.isnan(root[kept == 1]).sum() or bad
        if not bad:  # the average of y over all combinations is the product of both averages
            assert part.sums.tolist()[0] == pytest.approx(
                [512 * float(np.mean(kept) * np.mean(root**power)) for power in _powers(program)]
            )


def _powers(program: Program) -> list[int]:
    """The power of y that each integrand is."""
    return [power for term in program.terms for _, power in term.factors]


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("x ~ normal(50, 1)", "Var(x) == 1"),
        ("x ~ normal(0.1, 1)", "Var(x) == 1"),
        ("q, k ~ normal(9, 1)[64]", "E(q @ k) == 5184"),
    ],
)
def test_centres_of_parts_are_those_that_each_part_tells(model: str, claim: str) -> None:
    program = crossed(model, claim) if "@" in claim else compiled(model, claim).program
    assert program is not None
    parts = 3
    bulk = dataclasses.replace(
        program, span_draws=parts * program.span_draws, span_blocks=parts * program.span_blocks
    )
    draws = program.span_draws if program.paired else 500
    told = bulk.centres(np.random.default_rng(3), draws, parts)
    held = bulk.registers(np.random.default_rng(3), parts * draws)
    assert len(told) == parts
    for part, centres in enumerate(told):
        for register in program.targets:
            own = np.array_split(filled(held[register]), parts, axis=-1)[part]
            assert centres[register] == middle(own)
    assert any(centres.any() for centres in told) == ("0.1" not in model)


def test_repetitions_look_at_first_draws_of_their_own() -> None:
    program = program_of("x ~ normal(50, 1)", "Var(x) == 1")
    supply = Supply(5, "key")
    centres = [supply.centres(program, 512).max() for _ in range(3 * MOST_CENTRES)]
    assert len(set(centres)) == len(centres)
    middles = np.array(centres)
    # a median of 512 normals has a standard error of 0.055
    assert abs(middles.mean() - 50) < 5.5 * 0.0554 / np.sqrt(len(centres))
    assert 0.03 < middles.std() < 0.09
    assert abs(np.corrcoef(middles[:-1], middles[1:])[0, 1]) * np.sqrt(len(centres) - 1) < 5.5


def test_a_call_holds_no_more_numbers_than_it_may() -> None:
    """Both sides of each draw, and of each pair the product, its square, a sum and a logarithm."""
    program = program_of(CROSSED, "E(log((q @ k)**2 + 1)) == 1")
    held = 2 * 64 * program.span_draws + 4 * program.span_values
    assert NUMBERS / 2 < spans_of_a_call(program) * held <= NUMBERS


def results(name: str, count: int, first: int = 0) -> list[Finding]:
    prepared = ready(built_in("laws", [name])[0])
    settings = [Settings(seed=first + each) for each in range(count)]
    return list(side_by_side(prepared, settings, 0.05))


@pytest.mark.parametrize("name", ["normal-mean", "correlation-none", "crossed-products"])
def test_repetitions_have_draws_of_their_own(name: str) -> None:
    found = results(name, 100)
    assert len(found) == 100
    estimates = np.array([result.estimate for result in found], dtype=np.float64)
    assert len(set(estimates)) == 100
    neighbours = np.corrcoef(estimates[:-1], estimates[1:])[0, 1]
    assert abs(neighbours) * np.sqrt(99) < 5.5
    another = results(name, 100, first=1000)
    assert not set(estimates) & {result.estimate for result in another}


def test_a_repetition_alone_is_what_run_does() -> None:
    (found,) = results("exponential-mean", 1, first=7)
    alone = run_once(ready(built_in("laws", ["exponential-mean"])[0]), Settings(seed=7), 0.05)
    for field in ("verdict", "estimate", "interval", "standard_error", "draws", "blocks"):
        assert getattr(found, field) == getattr(alone, field)


def test_side_by_side_and_alone_come_out_alike() -> None:
    """The same law of estimates: means within 5.5 standard errors, spreads within a third."""
    prepared = ready(built_in("laws", ["exponential-mean"])[0])
    settings = [Settings(seed=seed) for seed in range(300)]
    together = [one.estimate for one in side_by_side(prepared, settings, 0.05)]
    alone = [run_once(prepared, one, 0.05).estimate for one in settings]
    a, b = np.array(together, dtype=np.float64), np.array(alone, dtype=np.float64)
    assert abs(a.mean() - b.mean()) < 5.5 * np.hypot(a.std(), b.std()) / np.sqrt(300)
    assert 0.67 < a.std() / b.std() < 1.5


@pytest.mark.parametrize("keys", ["resolution: 0.3", "resolution: 0.1"])
def test_repetitions_that_ask_for_the_same_spans_share_a_call(
    keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the model says all covariances the looks of all repetitions are the same."""
    together: list[int] = []
    drawn_together = repetitions._drawn_together

    def watched(requests: Sequence[Request], supply: Supply) -> Iterator[SpanSums]:
        together.append(len(requests))
        return drawn_together(requests, supply)

    monkeypatch.setattr(repetitions, "_drawn_together", watched)
    model = "x, w ~ normal(0.1, 1); y = x * w"
    (case,) = registry_of(entry("claim", model, "Var(y) == 1.02", keys)).expand()
    prepared = prepare(case)
    found = list(side_by_side(prepared, [Settings(seed=seed) for seed in range(60)], 0.05))
    assert len(found) == 60
    assert together[0] == 60
    assert together == sorted(together, reverse=True)  # fewer as repetitions are decided
