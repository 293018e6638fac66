"""Products of independent draws: averaged over all combinations of a block's draws."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from trials import compiled, crossed, judged, lowered

from dropcheck.analysis.products import separated
from dropcheck.language.graph import operators
from dropcheck.results import Verdict
from dropcheck.simulation.integrands import Moments, SpanRegisters
from dropcheck.simulation.program import Program

Floats = npt.NDArray[np.float64]

DROPOUT = "x ~ normal(1, 1); m ~ bernoulli(0.9); y = m * x / 0.9"


def program_of(model: str, claim: str) -> Program:
    program = crossed(model, claim)
    assert program is not None
    return program


def groups(model: str, claim: str) -> list[list[int]] | None:
    """For each quantity that is looked at the groups of draws that meet in it."""
    case = lowered(model, claim)
    looked_at = [value for found in operators(case.operands) for value in found.inputs]
    found = separated(dict.fromkeys(looked_at, 1))
    if found is None:
        return None
    return [[group for group, _ in one.groups] for one in found[0].values()]


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
        # what hangs on another draw is in its group
        ("a, c ~ normal(0, 1); b ~ normal(a, 1); y = b * c", "Var(y) == 2", [[0, 1]]),
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
        # what is fixed overflows
        ("x ~ normal(1, 1); w ~ normal(1, 1); y = 1e200 * x * w * 1e-200", "Var(y) == 3"),
        ("x ~ normal(1, 1); w ~ normal(1, 1); y = x * w / [0, 1]", "Var(y) == 3"),
    ],
)
def test_what_cannot_be_combined_is_not(model: str, claim: str) -> None:
    assert crossed(model, claim) is None


def test_a_matrix_product_is_paired() -> None:
    program = program_of("q ~ normal(0, 1)[64]; k ~ normal(0, 1)[64]", "Var(q @ k) == 64")
    assert program.paired
    assert program.separations is None


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
    span = program.span(np.random.default_rng(5), centres, 0)
    found = span.sums
    assert span.undefined == 0
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


def test_quantities_within_one_group_keep_their_centre() -> None:
    model = "x ~ normal(50, 1); w ~ normal(0, 1); y = x * w"
    program = replace(program_of(model, "Std(y) == Std(x)"), span_draws=64, span_blocks=4)
    (x,) = [step.target for step in program.steps if step.value.name == "x"]
    (y,) = [register for register in program.targets if register != x]
    centres = program.origin
    centres[x] = 50
    assert program.sums_about(centres)
    about_y = program.origin
    about_y[y] = 1
    assert not program.sums_about(about_y)  # a product is combined about 0 alone
    found = program.span(np.random.default_rng(2), centres, 0).sums
    held = program.registers(np.random.default_rng(2), 64)
    plain = Moments(SpanRegisters(held, centres, 64, 4))
    of_x = [c for c, term in enumerate(program.terms) if all(r == x for r, _ in term.factors)]
    assert len(of_x) == 2
    for column in of_x:
        assert found[:, column] == pytest.approx(plain.sums(program.terms[column]), rel=1e-12)


def test_their_variance_is_smaller_and_their_mean_the_same() -> None:
    """The mean of y² = 4 m x² has relative variance 5 / n draw by draw, 3 / n + 2 / n² crossed."""
    model = "x ~ normal(0, 1); m ~ bernoulli(0.5); y = 2 * m * x"
    relative = {}
    programs = {
        False: compiled(model, "Var(y) == 2").program,
        True: program_of(model, "Var(y) == 2"),
    }
    for combined, plain in programs.items():
        assert plain.combined is combined
        program = replace(plain, span_draws=64_000, span_blocks=2000)
        column = [term.factors[0][1] for term in program.terms].index(2)
        parts = [
            program.span(np.random.default_rng(seed), np.zeros(program.size), 0).sums[:, column]
            for seed in range(8)
        ]
        averages = np.concatenate(parts) / 32
        error = averages.std() / np.sqrt(averages.size)
        assert abs(averages.mean() - 2) < 5 * error  # false alarm: 6e-7
        relative[combined] = averages.var() / 4 * 32
    # 16,000 averages give their variance to about 1.5%
    assert relative[False] == pytest.approx(5, rel=0.1)
    assert relative[True] == pytest.approx(3 + 2 / 32, rel=0.1)


@pytest.mark.parametrize(
    ("model", "claim", "combined"),
    [
        ("a, b, c ~ normal(0, 1); y = a * b * c", "Var(y) == 1", True),
        # the middle of a product that is far from 0 is subtracted draw by draw
        ("x ~ normal(100, 1); w ~ normal(100, 1); y = x * w", "Std(y) == 141.4249", False),
        # the factors of each element hang on the same draws: nothing is saved by more of them
        ("x ~ normal(0, 1); w ~ normal(0, 1); y = x * w", "Corr(y, y) == 1", None),
    ],
)
def test_draws_are_combined_where_that_saves_some(
    model: str, claim: str, combined: bool | None
) -> None:
    found = judged(model, claim, most=3_000_000)
    assert found.verdict is Verdict.VERIFIED
    if combined is not None:
        assert found.sampling.startswith("crossed") is combined


def test_parts_that_are_many_but_few_once_merged_are_separated() -> None:
    model = "a, b, c ~ normal(1, 1); y = a**2 * b**2 * c**2 * a * b * c * -a * -b * -c"
    assert groups(model, "E(y) == -1000") == [[0, 1, 2]]
    assert program_of(model, "E(y) == -1000").separations is not None


def test_one_quantity_that_cannot_be_taken_apart_keeps_others_from_nothing() -> None:
    model = "x, w, v ~ normal(1, 1); m ~ bernoulli(0.5); y = m * x; z = v**3 * v**3"
    assert groups(model, "Var(y) == E(z)") == [[1], [0, 2]]
