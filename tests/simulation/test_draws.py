"""What is drawn and summed: streams of numbers, block sums and their tally, operators of averages.

What is random is of fixed seeds; a test fails on what is right with a chance of at most 1e-6.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from trials import compiled, judged

from dropcheck.array_types import Floats
from dropcheck.simulation.blocks import MAIN, MOST_ROWS, PILOT, Request, Tally, stream
from dropcheck.simulation.program import Program, SpanSums, means_of

# ---- streams -------------------------------------------------------------------------------------

NAMES = [(0, "a", MAIN, 0), (1, "a", MAIN, 0), (0, "b", MAIN, 0), (0, "a", PILOT, 0)]
NAMES += [(0, "a", MAIN, 1), (0, "a;p=0x1p0", MAIN, 0), (10, "a", MAIN, 0), (0, "a", MAIN, 2**31)]
NAMES += [(1, "2", MAIN, 0), (12, "", MAIN, 0), (1, "2\n", MAIN, 0)]


def test_streams_of_unlike_names_have_nothing_in_common() -> None:
    draws = np.array([stream(*name).standard_normal(20_000) for name in NAMES])
    between = np.corrcoef(draws)[np.triu_indices(len(NAMES), 1)]
    assert np.abs(between).max() * np.sqrt(20_000) < 5.5
    assert np.array_equal(draws[0], stream(*NAMES[0]).standard_normal(20_000))
    # the same file, the same version, the same verdict: another stream is another version
    assert stream(0, "x", MAIN, 0).integers(2**32) == 3_466_747_028


@pytest.mark.parametrize("span", [0, 12_345, 2**32, 2**33 + 5])
def test_the_span_is_the_spawn_key_of_a_seed_sequence(span: int) -> None:
    for seed, key, purpose in ((0, "x", MAIN), (2**70, "y;p=1", PILOT)):
        digest = hashlib.blake2b(f"{seed}\n{key}".encode(), digest_size=32).digest()
        words = np.frombuffer(digest, dtype="<u4").tolist()
        seeded = np.random.SeedSequence(words, spawn_key=(purpose, span))
        plain = np.random.Generator(np.random.SFC64(seeded))
        assert np.array_equal(stream(seed, key, purpose, span).random(3), plain.random(3))


# ---- blocks --------------------------------------------------------------------------------------


def program(blocks: int = 16) -> Program:
    """A program with two integrands and short spans."""
    found = compiled("x ~ normal(0, 1)", "Var(x) == 1").program
    return replace(found, span_draws=16, span_blocks=blocks)


@pytest.mark.parametrize("blocks", [1, 16])
def test_a_tally_is_bounded_loses_nothing_and_depends_on_no_order_of_arrival(blocks: int) -> None:
    rng = np.random.default_rng(3)
    sums = rng.integers(0, 100, (10_007 * blocks, 2)).astype(np.float64)
    found = []
    for size in (1, 7, 500):
        tally = Tally(program(blocks))
        for place in range(0, len(sums), size * blocks):
            tally.add(SpanSums(sums=sums[place : place + size * blocks]))
            assert len(tally.sums) <= MOST_ROWS
        assert np.array_equal(tally.totals, sums.sum(axis=0))  # whole numbers: exact in any order
        assert tally.drawn == 10_007 * 16
        assert 0 <= tally.drawn - tally.draws < tally.block_draws
        found.append(tally)
    assert all(np.array_equal(one.sums, found[0].sums) for one in found)


def test_block_sums_are_sums_of_the_draws_whoever_draws_them() -> None:
    found = compiled("x ~ exponential(1)", "Var(x) == 1").program
    x = np.random.default_rng(6).exponential(1, found.span_draws).reshape(found.span_blocks, -1)
    sums = found.span(np.random.default_rng(6), np.full(found.size, 0.5), 0).sums
    assert sums[:, 0] == pytest.approx((x - 0.5).sum(axis=1), rel=1e-12)
    assert sums[:, 1] == pytest.approx(((x - 0.5) ** 2).sum(axis=1), rel=1e-12)
    request = Request(
        program=found, seed=5, case_key="claim", purpose=MAIN, centres=np.zeros(found.size),
        first=3, count=10,
    )  # fmt: skip
    parts = [part.carry_out().sums for part in request.shared(workers=1, least=2, most=4)]
    assert len(parts) > 1
    assert np.array_equal(np.concatenate(parts), request.carry_out().sums)


@pytest.mark.parametrize(
    ("claim", "least"),
    [
        ("E(log(x)) == 1", 0.0),
        ("E(log(x), given=x > 0) == 1", -math.inf),  # where the condition fails it does no harm
        ("E(log(x), given=x > -0.1) == 1", -0.1),
        ("E(log(abs(x))) == 1", -math.inf),
    ],
)
def test_undefined_draws_are_counted_and_the_first_is_named(claim: str, least: float) -> None:
    found = compiled("x ~ normal(2, 1)", claim).program
    tally, bad = Tally(found), []
    for span in range(4):
        x = np.random.default_rng(span).normal(2, 1, found.span_draws)
        wrong = x < 0 if "given" not in claim else (x < 0) & (x > least)
        wrong &= least > -math.inf
        bad += [span * found.span_draws + int(draw) for draw in np.flatnonzero(wrong)]
        tally.add(found.span(np.random.default_rng(span), np.zeros(found.size), span))
    assert tally.undefined == len(bad)
    assert tally.first_undefined == (bad[0] if bad else None)


# ---- operators of averages -----------------------------------------------------------------------

# two laws of which every draw has the same square: rms 3 and 4 whatever is drawn
THREE_AND_FOUR = "a ~ rademacher(); b ~ rademacher(); x = 3 * a; y = 4 * b"


def averages(model: str, claim: str, centre: float) -> tuple[dict[int, Floats], list[float], int]:
    """The operands of a statement and their sizes, from one span of so many draws."""
    found = compiled(model, claim)
    centres = np.full(found.program.size, centre)
    sums = found.program.span(np.random.default_rng(1), centres, 0).sums
    means = means_of(sums, found.program.span_draws)
    operands = found.functional.evaluate(means[:, np.newaxis], centres)
    return operands, found.functional.sizes(means, centres), found.program.span_draws


@pytest.mark.parametrize(
    ("side", "size"),
    [
        # each operator by the size of what it measures
        ("E(x)", 3.0), ("Var(x)", 9.0), ("Std(x)", 3.0), ("Cov(x, y)", 12.0), ("Cov(x, x)", 9.0),
        ("Corr(x, y)", 1.0), ("P(x > 0)", 1.0), ("E(x, given=y > 0)", 3.0),
        # every sign by plus
        ("E(x) - E(y)", 7.0), ("-E(x)", 3.0), ("E(x) - 2", 5.0), ("2 - Var(x)", 11.0),
        ("E(x) * E(y)", 12.0), ("-2 * E(x)", 6.0), ("E(x)**2", 9.0),
        # denominators kept as they are, and so are other functions
        ("E(x) / 2", 1.5), ("E(x) / E(y**2)", 3 / 16), ("Var(x) / (E(y**2) - 7)", 1.0),
        ("exp(E(x**2) / 9)", math.e), ("log(E(x**2))", math.log(9.0)),
        # but not those that carry a magnitude along
        ("sqrt(E(x**2))", 3.0), ("abs(E(x))", 3.0), ("maximum(E(x), E(y))", 4.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("centre", [0.0, 2.5])
def test_the_size_of_a_side(side: str, size: float, centre: float) -> None:
    _, sizes, _ = averages(THREE_AND_FOUR, f"{side} == 0", centre)
    assert sizes[0] == pytest.approx(size, rel=0.1 if side.startswith("Var(x) /") else 1e-9)


@pytest.mark.parametrize(
    ("claim", "scale"),
    [
        ("E(x**2) == -9", 9.0),  # |R|, where R holds no operator
        ("9 == E(x**2)", 9.0),
        ("E(x) == 0", 3.0),  # R is 0: the magnitude of L
        ("E(x) == E(y)", 4.0),  # both sides are 0: the magnitude of R
        ("E(x**2) - 9 == E(y) - 1", 1.0),  # the larger side
        ("-20 <= E(x**2) <= 10", 20.0),  # the larger of the ends
        ("E(x) <= E(x**2) <= E(y**2)", 16.0),
        ("Corr(x, y) == 0", 1.0),
        ("P(x > 0) == 0.5", 0.5),
    ],
)
def test_the_scale_of_a_claim(claim: str, scale: float) -> None:
    assert judged(THREE_AND_FOUR, claim, most=2000).scale == pytest.approx(scale, rel=1e-9)


@pytest.mark.parametrize("centre", [0.0, -3.0])
def test_operators_are_what_the_sample_has(centre: float) -> None:
    terms = [
        "E(y)", "Var(y)", "Std(y)", "Cov(x, y)", "Corr(x, y)", "P(y > 0)", "Skew(y)", "Kurt(y)",
        "E(y, given=x > 1)", "Var(y, given=x > 1)", "E(y) / E(y**2) + sqrt(E(y**2)) - E(x)**3",
    ]  # fmt: skip
    model = "x ~ exponential(1); z ~ normal(0, 1); y = x + z"
    for first, second in pairwise([*terms, terms[0]]):
        operands, _, count = averages(model, f"{first} == {second}", centre)
        rng = np.random.default_rng(1)
        x = rng.exponential(1, count)
        y = x + rng.normal(0, 1, count)
        kept, square = y[x > 1], (y**2).mean()
        values = (
            *(y.mean(), y.var(), y.std(), np.cov(x, y, ddof=0)[0, 1], np.corrcoef(x, y)[0, 1]),
            *((y > 0).mean(), stats.skew(y), stats.kurtosis(y, fisher=False)),
            *(kept.mean(), kept.var(), y.mean() / square + math.sqrt(square) - x.mean() ** 3),
        )
        assert float(operands[0][0]) == pytest.approx(values[terms.index(first)], rel=1e-9), first
