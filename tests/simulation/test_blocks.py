"""Block sums and their tally: the same to the last bit however they come in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from trials import compiled

from dropcheck.simulation.blocks import MOST_ROWS, Request, Tally
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.streams import MAIN

Floats = npt.NDArray[np.float64]


def program(spans_of: int = 16, blocks: int = 16, model: str = "x ~ normal(0, 1)") -> Program:
    """A program with two integrands, its spans as short as asked."""
    return replace(compiled(model, "Var(x) == 1").program, span_draws=spans_of, span_blocks=blocks)


def tallied(sums: Floats, parts: list[int], blocks: int = 16) -> Tally:
    """A tally of the same blocks, come in so many spans at a time."""
    tally = Tally(program(blocks=blocks))
    place = 0
    for spans in parts:
        tally.add(SpanSums(sums=sums[place : place + spans * blocks]))
        place += spans * blocks
    assert place == len(sums)
    return tally


@pytest.mark.parametrize("spans", [1, 128, 129, 200, 1000, 4097])
def test_tally_does_not_depend_on_how_blocks_come_in(spans: int) -> None:
    sums = np.random.default_rng(1).normal(size=(spans * 16, 2))
    whole = tallied(sums, [spans])
    for size in (1, 7, 128):
        parts = [size] * (spans // size) + [spans % size] * (spans % size > 0)
        found = tallied(sums, parts)
        assert np.array_equal(found.sums, whole.sums)
        assert np.array_equal(found.totals, whole.totals)
        assert found.block_draws == whole.block_draws


def test_sums_taken_in_another_order_differ_in_the_last_bit() -> None:
    sums = np.random.default_rng(1).normal(size=(4096, 2))
    shuffled = np.random.default_rng(2).permutation(sums)
    assert not np.array_equal(tallied(sums, [256]).totals, tallied(shuffled, [256]).totals)


@pytest.mark.parametrize("blocks", [1, 16])
def test_memory_is_bounded_and_nothing_is_lost(blocks: int) -> None:
    rng = np.random.default_rng(3)
    tally = Tally(program(blocks=blocks))
    total = np.zeros(2)
    for _ in range(60):
        sums = rng.integers(0, 100, (500 * blocks, 2)).astype(np.float64)
        total += sums.sum(axis=0)
        tally.add(SpanSums(sums=sums))
        assert len(tally.sums) <= MOST_ROWS
        assert np.array_equal(tally.totals, total)  # whole numbers: exact in any order
        assert 0 <= tally.drawn - tally.draws < tally.block_draws
        assert len(tally.sums) >= MOST_ROWS // 4 or tally.block_draws == 16 // blocks
    assert tally.drawn == 60 * 500 * 16


def test_joined_blocks_have_equal_draws() -> None:
    tally = tallied(np.ones((5000 * 16, 2)), [1] * 5000)
    assert tally.block_draws > 1
    assert np.array_equal(tally.sums, np.full_like(tally.sums, tally.block_draws))
    assert tally.draws == len(tally.sums) * tally.block_draws


def test_request_in_parts_is_the_request() -> None:
    found = compiled("x ~ normal(0, 1)", "Var(x) == 1").program
    request = Request(
        program=found,
        seed=5,
        case_key="claim",
        purpose=MAIN,
        centres=np.zeros(found.size),
        first=3,
        count=10,
    )
    whole = request.carry_out()
    shared = request.shared(workers=1, least=2, most=4)
    parts = [part.carry_out() for part in shared]
    assert [part.count for part in shared] == [4, 3, 2, 1]
    assert np.array_equal(np.concatenate([part.sums for part in parts]), whole.sums)
    later = replace(request, first=4).carry_out()
    assert np.array_equal(later.sums[: -found.span_blocks], whole.sums[found.span_blocks :])


def test_block_sums_are_sums_of_the_draws() -> None:
    found = compiled("x ~ exponential(1)", "Var(x) == 1").program
    rng = np.random.default_rng(6)
    x = np.random.default_rng(6).exponential(1, found.span_draws).reshape(found.span_blocks, -1)
    sums = found.span(rng, np.full(found.size, 0.5), 0).sums
    assert sums.shape == (found.span_blocks, 2)
    assert np.allclose(sums[:, 0], (x - 0.5).sum(axis=1), rtol=1e-12)
    assert np.allclose(sums[:, 1], ((x - 0.5) ** 2).sum(axis=1), rtol=1e-12)


def test_undefined_draws_are_counted_and_the_first_is_named() -> None:
    found = compiled("x ~ normal(3, 1)", "E(log(x)) == 1").program
    centres = np.zeros(found.size)
    bad: list[int] = []
    for span in range(4):
        x = np.random.default_rng(span).normal(3, 1, found.span_draws)
        bad += [span * found.span_draws + int(draw) for draw in np.flatnonzero(x < 0)]
    tally = Tally(found)
    for span in range(4):
        tally.add(found.span(np.random.default_rng(span), centres, span))
    assert bad
    assert tally.undefined == len(bad)
    assert tally.first_undefined == bad[0]


def test_where_all_is_defined_nothing_is_counted() -> None:
    found = compiled("x ~ normal(3, 1)", "E(log(abs(x))) == 1").program
    sums = found.span(np.random.default_rng(0), np.zeros(found.size), 0)
    assert (sums.undefined, sums.first_undefined) == (0, None)


def test_undefined_where_the_condition_fails_does_no_harm() -> None:
    found = compiled("x ~ normal(0, 1)", "E(log(x), given=x > 0) == 1").program
    assert found.span(np.random.default_rng(0), np.zeros(found.size), 0).undefined == 0
    found = compiled("x ~ normal(0, 1)", "E(log(x), given=x > -0.1) == 1").program
    assert found.span(np.random.default_rng(0), np.zeros(found.size), 0).undefined > 0
