"""Programs with fewer draws beside those that are written: whether laws differ, what is exact."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.analysis.rewriting import with_fewer_draws
from dropcheck.analysis.strategy import averages_of
from dropcheck.claims.reader import read_text
from dropcheck.judging.case import prepare
from dropcheck.judging.exact import exact_quantity
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.language.graph import Kind, in_order, joined_sources, kernel_of
from dropcheck.simulation.compile import compile_averages
from dropcheck.simulation.program import Program

# each of 24 claims holds two means against each other, twice: 1 - erf(6 / √2) for each is 2e-9
DEVIATIONS, DRAWS = 6.0, 20_000


def text_of(model: str, claim: str) -> str:
    lines = "\n".join(f"      {line}" for line in model.split("; "))
    return f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n{lines}\n    claim: {claim}\n"


def programs(model: str, claim: str) -> tuple[Program, Program]:
    """Of fewer draws, and as it is written."""
    return programs_of(text_of(model, claim))


def programs_of(text: str) -> tuple[Program, Program]:
    """Of the claim `c` of a file, with fewer draws and as it is written."""
    lowered = lower_case(parse_claim(read_text(text).claims["c"]), {})
    fewer, plain = (
        compile_averages(averages_of(one), one.operands, crossing=False).program
        for one in (with_fewer_draws(lowered), lowered)
    )
    assert fixed_as_written(fewer)
    assert sources_as_drawn(fewer)
    return fewer, plain


def fixed_as_written(program: Program) -> bool:
    """Whether all that is fixed is what its function makes of what it is made of."""
    steps = [step.value for step in program.steps]
    fixed = [one for one in in_order(steps, lambda value: value.inputs) if not one.random]
    made = [one for one in fixed if one.kind == Kind.COMPUTED]
    return all(
        np.array_equal(one.constant, kernel_of(one)(*(below.constant for below in one.inputs)))
        for one in made
    )


def sources_as_drawn(program: Program) -> bool:
    """Whether each value has the sources of what it is made of or drawn with."""
    values = in_order([step.value for step in program.steps], lambda value: value.inputs)
    below = [(joined_sources(one.inputs), one) for one in values if one.kind != Kind.OPERATOR]
    return all(sources <= one.sources for sources, one in below)


def numbers_a_draw(program: Program) -> int:
    drawn = [step.value for step in program.steps if step.value.law is not None]
    return sum(math.prod(one.shape) for one in drawn)


def are_alike(fewer: Program, plain: Program) -> bool:
    """Whether means and mean squares of what is looked at differ by chance alone."""
    for power in (1, 2):
        one, other = (
            next(iter(program.values(np.random.default_rng(seed), DRAWS).values())) ** power
            for seed, program in enumerate((fewer, plain))
        )
        off = math.hypot(one.std(), other.std()) / math.sqrt(DRAWS)
        if abs(one.mean() - other.mean()) >= DEVIATIONS * off:
            return False
    return True


def exactly(model: str, claim: str) -> float:
    """What the model says that a side is."""
    (case,) = read_text(text_of(model, f"{claim} == 1")).expand()
    prepared = prepare(case)
    compiled, knowledge = prepared.analysed.compiled, prepared.analysed.knowledge
    assert compiled is not None
    assert knowledge is not None
    (comparison,) = prepared.reading.comparisons
    exact = exact_quantity(compiled, knowledge, comparison)
    assert exact is not None
    assert exact.error <= 1e-8 * max(1.0, abs(exact.value))
    return exact.value
