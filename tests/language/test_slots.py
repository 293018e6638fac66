"""Slots in a claims file: how they are called and what stands in for them."""

from __future__ import annotations

import numpy as np
import pytest
from slots_made import DROPOUT

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import SourceText
from dropcheck.language.check import check_registry
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.language.parser import parse_statement
from dropcheck.language.printing import unparse_statement
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.vocabulary.functions.number_formats import EPSILONS, rounded

FILE = (
    "\ndropcheck: 1\nslots:\n"
    + DROPOUT
    + """\
    gradient: m / (1 - p)
    evaluation: x
  die:
    takes: [n]
    law: discrete_uniform(1, n)
claims:
  a:
    title: T
    parameters: {p: 0.5}
    model: |
%s
    claim: "%s"
"""
)


def file_of(statement: str, *lines: str) -> str:
    return FILE % ("\n".join(f"      {line}" for line in lines), statement)


def lowered(statement: str, *lines: str) -> list[Value]:
    claim = read_text(file_of(statement, *lines)).claims["a"]
    case = lower_case(parse_claim(claim), {"p": 0.5})
    return ordered([value for side in case.operands for value in side.inputs])


def draws(values: list[Value]) -> list[str]:
    return [value.name or "" for value in values if value.kind is Kind.DRAW]


@pytest.mark.parametrize(
    "text", ["grad(f)(x, p) == y / x", "f.eval(x) == x", "E(f(x)) == 1", "f.eval(x) == x + 1"]
)
def test_what_is_printed_reads_back(text: str) -> None:
    statement = parse_statement(SourceText.plain(text))
    assert unparse_statement(statement) == text


def test_two_calls_draw_apart_and_a_gradient_belongs_to_its_call() -> None:
    x = "x ~ uniform(1, 2)[4]"
    apart = lowered("E(a * b) == 1", x, "a = dropout(x, p)", "b = dropout(x, p)")
    assert len(draws(apart)) == 3
    of_one = lowered("P(grad(dropout)(x, p) == y / x) == 1", x, "y = dropout(x, p)")
    assert len(draws(of_one)) == 2


def test_a_slot_stands_for_its_lines() -> None:
    short = file_of(
        "Var(y) == (1 + 1 / 12 / 2.25) * 2.25", "x ~ uniform(1, 2)[3]", "y = dropout(x, p)"
    )
    registry = read_text(short)
    [result] = verify_cases(registry.expand(), Settings(exact=True), registry)
    # E y² = E x² / (1 - p) and E y = E x, by hand, p = 1/2: 2 (9/4 + 1/12) - 9/4
    assert result.exact is not None
    assert result.exact.value == pytest.approx(2 * (2.25 + 1 / 12) - 2.25, rel=1e-12)


def test_a_sampler_is_drawn_from_as_a_law_is() -> None:
    registry = read_text(file_of("y ~ discrete_uniform(1, 6)", "y ~ die(6)[4]"))
    assert check_registry(registry).problems == ()
    [result] = verify_cases(registry.expand(), Settings(), registry)
    assert result.verdict.value == "verified"


@pytest.mark.parametrize("name", [name for name in EPSILONS if name != "float64"])
def test_rounding_is_to_the_nearest_number_of_the_format(name: str) -> None:
    """Against the neighbours of each number, for bfloat16 among all that its bits can say."""
    generator = np.random.default_rng(5)
    x = generator.normal(size=4000) * 10.0 ** generator.uniform(-45, 39, size=4000)
    found = rounded(x, name)
    if name == "bfloat16":
        with np.errstate(invalid="ignore"):  # some bits are no number
            bits = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32).astype(np.float64)
        known = np.unique(bits[np.isfinite(bits)])
        at = np.clip(np.searchsorted(known, x), 1, len(known) - 1)
        gap = np.minimum(np.abs(known[at] - x), np.abs(known[at - 1] - x))
        inside = np.abs(x) <= known[-1]
        assert np.abs(found - x)[inside] == pytest.approx(gap[inside], rel=1e-12, abs=0)
        assert np.isin(found[inside], known).all()
        assert np.isinf(found[np.abs(x) > known[-1] * (1 + 2.0**-8)]).all()
    else:
        with np.errstate(over="ignore"):
            assert np.array_equal(found, x.astype(name).astype(np.float64))


def test_ties_go_to_the_even_number() -> None:
    assert rounded(np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8]), "bfloat16").tolist() == [1.0, 1.015625]
