"""Products of independent draws: averaged over all combinations of a block's draws."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from trials import averaged, entry, judged, lowered, registry_of

from dropcheck.analysis.products import separated
from dropcheck.judging.prepared import prepare
from dropcheck.language.graph import operators
from dropcheck.simulation.integrands import Held, Moments
from dropcheck.simulation.program import Program
from dropcheck.simulation.shortcuts.combinations import GroupMeans, Separation

Floats = npt.NDArray[np.float64]

DROPOUT = "x ~ normal(1, 1); m ~ bernoulli(0.9); y = m * x / 0.9"


def program_of(model: str, claim: str, *, crossing: bool = True) -> Program:
    return averaged(lowered(model, claim), crossing=crossing).program


def first_of(program: Program) -> Separation:
    """The first integrand, which is a product over groups of draws."""
    assert program.separations is not None
    product = program.separations.terms[0]
    assert product is not None
    return product


def groups(model: str, claim: str) -> list[list[int]] | None:
    """For each quantity that is looked at the groups of draws that meet in it."""
    case = lowered(model, claim)
    looked_at = [value for found in operators(case.operands) for value in found.inputs]
    found = separated(dict.fromkeys(looked_at, 1))
    return None if found is None else [[group for group, _ in one.groups] for one in found.values()]


@pytest.mark.parametrize(
    ("model", "claim", "expected"),
    [
        (DROPOUT, "Var(y) == 1", [[0, 1]]),
        (DROPOUT, "Std(y) == Std(x)", [[1], [0, 1]]),
        ("x ~ normal(0, 1); w ~ uniform(1, 2); y = -x / w", "Var(y) == 1", [[0, 1]]),
        ("x ~ normal(0, 1); w ~ normal(0, 1); y = (x * w)**2", "Var(y) == 1", [[0, 1]]),
        ("a, b, c ~ normal(0, 1); y = a * b * c", "Var(y) == 1", [[0, 1, 2]]),
        # what meets outside of a product is one group
        ("a, b, c ~ normal(0, 1); y = (a + b) * c", "Var(y) == 2", [[0, 1]]),
        ("x ~ normal(0, 1)[3]; m ~ bernoulli(0.5)[3]; y = m * x", "Var(y) == 1", [[0, 1]]),
        # nothing meets, or all that meets does so elsewhere too
        ("x ~ normal(0, 1); y = 2 * x", "Var(y) == 4", None),
        ("x ~ normal(0, 1); w ~ normal(0, 1)", "Var(x) == Var(w)", None),
        ("x ~ normal(0, 1); w ~ normal(0, 1); y = x * w", "E(y + x) == 0", None),
        ("x ~ normal(0, 1); w ~ normal(0, 1); y = x * w", "Corr(y, x + w) == 0", None),
        ("x ~ normal(0, 1); w ~ normal(0, 1); y = (x * w)**0.5", "Var(y) == 1", None),
        ("x ~ normal(0, 1); w ~ normal(0, 1); y = (x * w)**9", "Var(y) == 1", None),
        # moments that are not known to exist
        ("x ~ normal(0, 1); w ~ uniform(0, 1); y = x / w", "Var(y) == 1", None),
        ("x ~ normal(0, 1); t ~ student_t(2); y = x * t", "Var(y) == 1", None),
        ("a ~ normal(0, 1); b ~ normal(a, 1); c ~ normal(0, 1); y = b * c", "Var(y) == 2", None),
        # m / m is not 1 where m is 0
        ("x ~ normal(0, 1); m ~ bernoulli(0.5); y = x * m / m", "Var(y) == 1", None),
    ],
)
def test_where_draws_meet_in_products_alone(
    model: str, claim: str, expected: list[list[int]] | None
) -> None:
    assert groups(model, claim) == expected


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        (DROPOUT, "E(y, given=m == 1) == 1"),  # conditions
        ("u ~ uniform(0, 1); w ~ uniform(0, 1); y = u * w", "E(y) == 0.25"),  # a bounded mean
        ("a, b ~ bernoulli(0.5); y = 3 * a * b", "Std(y) == 1"),  # counted
        ("q ~ normal(0, 1)[64]; k ~ normal(0, 1)[64]", "Var(q @ k) == 64"),  # a matrix product
    ],
)
def test_what_has_a_better_way_is_left_to_it(model: str, claim: str) -> None:
    assert program_of(model, claim).separations is None


def over_all_combinations(values: Any, arrays: Sequence[Floats]) -> float:
    """The mean of a function over all combinations of single draws, one by one."""
    draws = [range(array.shape[-1]) for array in arrays]
    found = [
        np.mean(values(*(array[..., i] for array, i in zip(arrays, places, strict=True))))
        for places in itertools.product(*draws)
    ]
    return float(np.mean(found))


CASES = [
    ("x ~ normal(1, 1); m ~ bernoulli(0.75); y = m * x / 0.75", lambda x, m: m * x / 0.75),
    ("x ~ normal(1, 1); w ~ uniform(1, 2); y = -x / w", lambda x, w: -x / w),
    (
        "x ~ normal(1, 1); w ~ normal(2, 1); y = (x * exp(w))**2 * x",
        lambda x, w: (x * np.exp(w)) ** 2 * x,
    ),
    ("x ~ normal(1, 1)[3]; w ~ normal(2, 1); y = 2 * x * w", lambda x, w: 2 * x * w),
    (
        "x ~ normal(1, 1)[3]; w ~ normal(2, 1)[2, 3]; y = arange(3) * x * w",
        lambda x, w: np.arange(3) * x * w,
    ),
]


@pytest.mark.parametrize(("model", "values"), CASES)
@pytest.mark.parametrize("blocks", [1, 4])
def test_averages_over_all_combinations_are_those_of_brute_force(
    model: str, values: Any, blocks: int
) -> None:
    draws = 12
    program = replace(program_of(model, "Skew(y) == 0"), span_draws=draws, span_blocks=blocks)
    assert program.separations is not None
    centres = np.zeros(program.size)
    found, _, undefined = program.drawn(np.random.default_rng(5), centres)
    assert undefined is None
    steps = tuple(replace(step, frees=()) for step in program.apart)
    held = program.registers(np.random.default_rng(5), draws, steps=steps)
    drawn = {step.value.name: held[step.target] for step in steps if step.kernel is None}
    arrays = [
        np.asarray(drawn[name], dtype=np.float64) for name in ("x", "m", "w") if name in drawn
    ]
    size = draws // blocks
    for block in range(blocks):
        parts = [array[..., block * size : (block + 1) * size] for array in arrays]
        for column, term in enumerate(program.terms):
            ((_, power),) = term.factors
            expected = over_all_combinations(lambda *a, p=power: values(*a) ** p, parts)
            assert found[block, column] / size == pytest.approx(expected, rel=1e-12)


def pilot(program: Program, seed: int = 3) -> tuple[Program, Floats]:
    """The program with those integrands separated that 512 draws let be, and centres."""
    ((centres, separations),) = program.centres(np.random.default_rng(seed), 512)
    return replace(program, separations=separations), centres


def test_quantities_within_one_group_keep_their_centre() -> None:
    model = "x ~ normal(50, 1); w ~ normal(0, 1); y = x * w"
    program = replace(program_of(model, "Std(y) == Std(x)"), span_draws=64, span_blocks=4)
    program, centres = pilot(program)
    (x,) = [step.target for step in program.steps if step.value.name == "x"]
    assert centres[x] == pytest.approx(50, abs=0.5)
    assert program.separations is not None
    found, _, _ = program.drawn(np.random.default_rng(2), centres)
    held = program.registers(np.random.default_rng(2), 64)
    plain = Moments(Held(held, centres, 64, 4))
    of_x = [c for c, term in enumerate(program.terms) if all(r == x for r, _ in term.factors)]
    assert len(of_x) == 2
    for column in of_x:
        assert found[:, column] == pytest.approx(plain.sums(program.terms[column]), rel=1e-12)


def test_their_variance_is_smaller_and_their_mean_the_same() -> None:
    """The mean of y² = 4 m x² has relative variance 5 / n draw by draw, 3 / n + 2 / n² crossed."""
    model = "x ~ normal(0, 1); m ~ bernoulli(0.5); y = 2 * m * x"
    relative = {}
    for crossing in (True, False):
        program = program_of(model, "Var(y) == 2", crossing=crossing)
        program = replace(program, span_draws=64_000, span_blocks=2000)
        column = [term.factors[0][1] for term in program.terms].index(2)
        parts = [
            program.drawn(np.random.default_rng(seed), np.zeros(program.size))[0][:, column]
            for seed in range(8)
        ]
        averages = np.concatenate(parts) / 32
        error = averages.std() / np.sqrt(averages.size)
        assert abs(averages.mean() - 2) < 5 * error  # false alarm: 6e-7
        relative[crossing] = averages.var() / 4 * 32
    # 16,000 averages give their variance to about 1.5%
    assert relative[False] == pytest.approx(5, rel=0.1)
    assert relative[True] == pytest.approx(3 + 2 / 32, rel=0.1)


def test_products_without_means_are_averaged_draw_by_draw() -> None:
    """Of x · w without means nothing is normal over all combinations, but its square is."""
    program = program_of("x ~ normal(0, 1); w ~ normal(0, 1); y = x * w", "Var(y) == 1")
    assert program.separations is not None
    assert program.separations.whole
    program, _ = pilot(program)
    assert program.separations is not None
    kept = {
        term.factors[0][1]: one is not None
        for term, one in zip(program.terms, program.separations.terms, strict=True)
    }
    assert kept == {1: False, 2: True}


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        # a product about a centre
        ("x ~ normal(100, 1); w ~ normal(100, 1); y = x * w", "Std(y) == 141"),
        # powers that lose digits or overflow, of a part and of what is fixed
        ("x ~ normal(1, 1e150); w ~ normal(1e-161, 2e-162); y = x * w", "Var(y) == 4e-24"),
        ("x ~ normal(1, 1); w ~ normal(1, 1); y = 1e200 * x * w * 1e-200", "Var(y) == 3"),
        ("x ~ normal(1, 1); w ~ normal(1, 1); y = x * w / [0, 1]", "Var(y) == 3"),
        # what no draw met: nothing is known of it
        ("x ~ normal(1, 1); m ~ bernoulli(1e-6); y = x * m", "Std(y) == 1e-3"),
        # only the size of what is claimed, and no average that it is made of
        ("x ~ normal(0, 1); w ~ normal(0, 1); y = x * w", "E(y) == E(x) * E(w)"),
        # elements that are large, or cancel: what is left is no first order
        ("a, b ~ normal(0, 1); y = [1, 1000] * ([5 + a, a] * [5 + b, b])", "E(y) == 12.5"),
        ("a, b ~ normal(0, 1); y = [1 + a, 1 - a] * [1 + b, 1 - b]", "E(y) == 1"),
    ],
)
def test_no_product_is_separated_where_it_does_not_pay(model: str, claim: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program, _ = pilot(program_of(model, claim))
    assert program.separations is None


def test_blocks_of_few_draws_are_not_separated() -> None:
    program = program_of("x ~ normal(1, 1); m ~ bernoulli(0.5); y = m * x", "Var(y) == 0.75")
    short = replace(program, span_draws=64, span_blocks=16)
    assert pilot(program)[0].separations is not None
    assert pilot(short)[0].separations is None


@pytest.mark.parametrize("block", [1, 8, 32])
@pytest.mark.parametrize("factor", ["1", "[1, 2]"])
def test_the_share_of_the_first_order_is_that_of_repeated_blocks(block: int, factor: str) -> None:
    """The variance of mean(a) · mean(b), for a of mean 0.5 and b of mean 0, by simulation."""
    model = f"a ~ normal(0.5, 1); b ~ normal(0, 1); y = {factor} * a * b"
    program = program_of(model, "E(y) == 0.2")
    product = first_of(program)
    held = program.registers(np.random.default_rng(1), 200_000)
    means = GroupMeans(Held(held, np.zeros(program.size), 200_000))
    share = means.first_order(product, block)
    a, b = np.random.default_rng(2).normal(size=(2, 20_000, block)).mean(axis=2)
    assert share == pytest.approx(np.var(0.5 * b) / np.var((0.5 + a) * b), rel=0.06)


def test_three_groups_have_at_least_the_share_that_is_told() -> None:
    program = program_of("a, b, c ~ normal(0.5, 1); y = a * b * c", "E(y) == 0.2")
    product = first_of(program)
    held = program.registers(np.random.default_rng(1), 100_000)
    means = GroupMeans(Held(held, np.zeros(program.size), 100_000))
    share = means.first_order(product, 32)
    a, b, c = 0.5 + np.random.default_rng(2).normal(size=(3, 40_000, 32)).mean(axis=2)
    first, rest = 3 * 0.5**4, 3 * 0.5**2 + 1  # variances of single groups' parts, and of others
    assert share == pytest.approx(first / (first + rest / 32), rel=0.05)
    assert share <= first / 32 / np.var(a * b * c) + 0.02


def test_parts_that_are_many_but_few_once_merged_are_separated() -> None:
    model = "a, b, c ~ normal(1, 1); y = a**2 * b**2 * c**2 * a * b * c * -a * -b * -c"
    assert groups(model, "E(y) == -1000") == [[0, 1, 2]]
    assert judged(model, "E(y) == -1000", most=100_000).reason is not None


def test_one_quantity_that_cannot_be_taken_apart_keeps_others_from_nothing() -> None:
    model = "x, w, v ~ normal(1, 1); m ~ bernoulli(0.5); y = m * x; z = v**3 * v**3"
    assert groups(model, "Var(y) == E(z)") == [[1], [0, 2]]


@pytest.mark.parametrize(
    ("claim", "crossed"),
    [("Var(y) == 1", True), ("Var(x) == 1", False), ("E(y, given=m == 1) == 1", False)],
)
def test_what_a_claim_says_of_it_beforehand(claim: str, crossed: bool) -> None:
    (case,) = registry_of(entry("claim", DROPOUT, claim)).expand()
    assert ("all combinations" in prepare(case).rests_on) is crossed
