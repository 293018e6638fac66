"""Programs that draw from strata: the same averages, fewer draws of what is common."""

from __future__ import annotations

import itertools
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from trials import compiled

from dropcheck.analysis.strata import DrawInStrata, candidates
from dropcheck.judging.knowledge import integrands_of
from dropcheck.language.graph import Kind
from dropcheck.simulation import Compiled, Program, Tally, stratified
from dropcheck.simulation.blocks import Request
from dropcheck.vocabulary.law import QuantileLevel, Stratum

ENDS = [
    *(QuantileLevel.from_below(one) for one in (0.0, 0.01, 0.5)),
    *(QuantileLevel.from_above(one) for one in (0.01, 1e-5, 0.0)),
]
STRATA = tuple(Stratum(*pair) for pair in itertools.pairwise(ENDS))
SHARES = (0.15, 0.2, 0.25, 0.25, 0.15)


def in_strata(case: Compiled, name: str = "x") -> Program:
    """The case's program with one draw from strata."""
    steps = [step.value for step in case.program.steps]
    (draw,) = [one for one in steps if one.kind == Kind.DRAW and one.name == name]
    return stratified(case.program, draw, STRATA, SHARES)


def request(program: Program, spans: int, seed: int) -> Request:
    """So many of its spans, about 0."""
    return Request(
        program=program, seed=seed, case_key="k", purpose=1, centres=program.origin,
        first=0, count=spans,
    )  # fmt: skip


def means_of(program: Program, spans: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The averages of a program about 0, and their standard errors."""
    tally = Tally(program)
    tally.add(request(program, spans, seed).carry_out())
    rows = tally.sums / tally.block_values
    return rows.mean(axis=0), rows.std(axis=0, ddof=1) / math.sqrt(len(rows))


@pytest.mark.parametrize(
    ("model", "claim", "truth"),
    [
        ("x ~ normal(0, 1)", "Var(x) == 1", [0.0, 1.0]),
        ("x ~ normal(0, 1); y ~ normal(x, 1)[3]", "E(y * x) == 1", [1.0]),
        ("x ~ normal(0, 1)", "E(x ** 2, given=x > 2) == 1", [0.02275013]),
        ("x ~ normal(0, 1); b ~ bernoulli(0.5)[4]", "E(b * (x > 1)) == 1", [0.07932763]),
    ],
)
def test_averages_are_those_of_the_model(model: str, claim: str, truth: list[float]) -> None:
    program = in_strata(compiled(model, claim))
    means, errors = means_of(program, 10)
    # a single average is as far off with chance 1e-8 at most
    assert np.abs(means - truth)[: len(truth)] == pytest.approx(0, abs=6 * errors.max())
    assert (np.abs(means[: len(truth)] - truth) < 6 * errors[: len(truth)] + 1e-12).all()


def test_what_is_rare_is_met_often() -> None:
    case = compiled("x ~ normal(0, 1)", "E(x > 5) == 1")
    plain, _ = means_of(case.program, 4)
    means, errors = means_of(in_strata(case), 4)
    assert plain[0] < 1e-5
    assert means[0] == pytest.approx(2.8665e-7, rel=0.1)
    assert errors[0] < 0.06 * means[0]


def test_without_weights_the_averages_are_others() -> None:
    case = compiled("x ~ normal(0, 1)", "Var(x) == 1")
    program = in_strata(case)
    means, errors = means_of(
        replace(program, terms=case.program.terms),
        10,
    )
    assert abs(means[1] - 1) > 6 * errors[1]


def test_a_program_sent_to_another_process_draws_the_same() -> None:
    program = in_strata(compiled("x ~ normal(0, 1)", "Var(x) == 1"))
    received = pickle.loads(pickle.dumps(program))
    assert (means_of(program, 2)[0] == means_of(received, 2)[0]).all()


@pytest.mark.parametrize(
    ("law", "function"),
    [
        ("normal(1, 2)", "x ** 2"),
        ("normal(1, 2)", "relu(x - 8) + h"),
        ("gamma(0.3, 2)", "relu(x - 4)"),
        ("gamma(0.3, 2)", "(x > 3) * x"),
        ("student_t(3)", "relu(x - 8) + h"),
        ("student_t(3)", "relu(x - 4)"),
        ("lognormal(0, 1)", "x ** 2"),
        ("lognormal(0, 1)", "(x > 3) * x"),
        ("weibull(0.7, 1)", "relu(x - 4)"),
        ("weibull(0.7, 1)", "x ** 2"),
    ],
)
def test_means_and_variances_are_those_that_the_model_says(law: str, function: str) -> None:
    case = compiled(f"x ~ {law}; h ~ normal(0, 1)", f"E({function}) > 0")
    integrands = integrands_of(case, case.program.origin)
    draw = next(one for one in candidates(integrands) if one.name == "x")
    own = DrawInStrata(draw, integrands, [0])
    first = own.first()
    assert first is not None
    direction = np.array([[1.0]])
    known = own.shared_out(own.cut_further(first[0], direction), direction, first[1])
    program = stratified(case.program, draw, known.strata, known.shares)
    tally = Tally(program)
    tally.add(request(program, 3, 1).carry_out())
    rows = (tally.sums / tally.block_values)[:, 0]
    variance = known.covariance[0, 0] / tally.block_draws
    # of many blocks, each a mean of many draws: six deviations are met once in 10^8 times
    assert abs(rows.mean() - known.means[0]) < 6 * math.sqrt(variance / len(rows))
    assert abs(rows.var(ddof=1) / variance - 1) < 6 * math.sqrt(2 / len(rows))


def test_it_says_so() -> None:
    case = compiled("x ~ normal(0, 1)", "Var(x) == 1")
    assert case.program.sampling == "plain"
    assert in_strata(case).sampling == "stratified in x"


def test_a_draw_of_another_model_is_refused() -> None:
    case, other = (compiled("x ~ normal(0, 1)", "Var(x) == 1") for _ in range(2))
    draw = other.program.steps[0].value
    with pytest.raises(ValueError, match="does not make this draw"):
        stratified(case.program, draw, STRATA, SHARES)
