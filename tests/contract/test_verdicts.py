"""Verdict, reason and result of every case that is at hand, at seed 0: golden files for each set.

In the gate few draws are made, for some claims of large sets; more of them, or all, are judged with
hardly any, for what the model says of them (`NAME-numbers.yaml`). With `--full` every claim is
judged: those of known truth at a million draws, and what ships without a bound (`NAME-full.yaml`).
A line is `claim: verdict (reason) result`, for each case where cases differ; but for the full run,
numbers follow, in which the bounds of the model and the intervals of the draws show.

What few draws decide is decided by many in the same way, but for `LEFT_OPEN`; what they leave open
may be decided then, or not, and the golden file of the full run says which. `--update-contract`
rewrites what is judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import pytest

from contract.conftest import FOLDER, Agreed, difference
from dropcheck.claims.reader import read_registries, read_text
from dropcheck.claims.registry import Registry
from dropcheck.claims.values import format_parameters
from dropcheck.language.check import check_registry
from dropcheck.packs import PACK, pack_names
from dropcheck.reasons import Reason
from dropcheck.report.numbers import beyond_error, interval
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

TOP = Path(__file__).resolve().parents[2]
SHIPPED: dict[str, str | Path] = {
    "claims": TOP / "claims.yaml",
    "recipes": FOLDER / "claims" / "recipes.yaml",
    "cookbook": FOLDER / "claims" / "cookbook.yaml",
    **{f"pack-{name}": f"{PACK}{name}" for name in pack_names()},
}
KNOWN: dict[str, str | Path] = {
    "ordinary": TOP / "tests" / "judging" / "ordinary.yaml",
    **{
        name: TOP / "benchmarks" / "known" / f"{name}.yaml"
        for name in ("distributions", "hostile", "laws", "moments", "nets")
    },
    **{
        name: FOLDER / "claims" / f"{name}.yaml"
        for name in ("law-statements", "quantiles", "rounding", "twins")
    },
}
# The most draws of a case in the gate, and with --full; None is the budget of `run`.
DRAWS = dict.fromkeys(SHIPPED, (100_000, None)) | dict.fromkeys(KNOWN, (30_000, 1_000_000))
# In the gate draws are made for every so-many-th claim, where all would take minutes. True and
# false ones take turns in some sets: an odd step takes both. All shipped claims are run, and must
# end as expected, by the first command of `.ci/run`.
PACKS = {f"pack-{name}": 3 for name in pack_names()}
EVERY = {
    **PACKS, "claims": 5, "ordinary": 7, "hostile": 35, "moments": 3, "quantiles": 5, "rounding": 5
}  # fmt: skip
# The same, where so few draws are made that the time is the model's.
WITH_NUMBERS, HARDLY_ANY = {"ordinary": 1, "hostile": 5, "moments": 1}, 2048
# A draw of these costs a hundred times what one of others does: they have a hundredth of the draws.
SLOW = {"residual-layers", "residual-layers-false"}
# What few draws decide, or exact values, and many leave open: there they look for lost digits.
LEFT_OPEN = {"hostile-numbers": {"easy-deviation-of-constant"}, "rounding": {"average-3-false"}}
OTHERWISE = {"multinomial.second", "many-trials"}  # numpy 2.5 draws their binomials otherwise
OFF = "off"  # the parameter that says how far a claim of known truth is off


def judged(registry: Registry, most: int | None = None, every: int = 1) -> list[CaseResult]:
    """The results of the cases of every so-many-th claim at seed 0."""
    results: list[CaseResult] = []
    shapes = any(slot.shape for claim in registry.claims.values() for slot in claim.slots.values())
    of_code = check_registry(registry).unfit if shapes else ()
    for claim in [*registry.claims.values()][::every]:
        limit = most // 100 if most is not None and claim.id in SLOW else most
        settings = Settings(seed=0, max_draws=limit, threads=1)
        cases = [case for case in claim.expand() if case.key not in of_code]
        results += verify_cases(cases, settings, registry)
    return results


def outcomes(results: Iterable[CaseResult], *, numbers: bool = False) -> str:
    """The outcomes as a golden file has them, in the order of the file."""
    told: dict[str, str] = {}
    for claim, group in groupby(results, lambda one: one.claim):
        cases = [*group]
        said = [outcome(case) + numbers * numbers_of(case) for case in cases]
        if len({*said}) == 1:
            told[claim] = said[0]
        else:
            names = [f"{claim} {format_parameters(case.parameters)}" for case in cases]
            told.update(zip(names, said, strict=True))
    return "".join(f"{name}: {said}\n" for name, said in told.items())


def outcome(case: CaseResult) -> str:
    """The outcome of a case: `verified pass`, `undecided (too_wide) undecided`."""
    reason = f" ({case.reason.name.lower()})" if case.reason is not None else ""
    return f"{case.verdict}{reason} {case.result}"


def numbers_of(case: CaseResult) -> str:
    """What the model and a few draws say: `; 0.16 ± 2e-8; [0.05, 1.2] of 0.4; 7.2e+04 more`."""
    if case.reason is Reason.LOST_DIGITS or case.claim in OTHERWISE:
        return ""  # its numbers are rounding, which another numpy does otherwise
    known, scale, more = case.exact, case.scale or 1.0, case.more_draws or 0
    exact = known and f"{beyond_error(known.value, max(known.error, 1e-9 * scale)):.6g}"
    rough = f" ± {known.error:.0e}" if known and known.error > 1e-9 * scale else ""
    ends = interval(case.interval, case.estimate, more=1)
    return f"; {exact or '-'}{rough}; {ends} of {scale:.3g}; {more:.2g} more"


def wrong(results: Iterable[CaseResult]) -> set[str]:
    """The claims of known truth whose verdict is the opposite of it."""
    truths = (
        (case, Verdict.REFUTED if case.parameters.get(OFF) else case.expect) for case in results
    )
    return {case.claim for case, truth in truths if case.verdict not in (truth, Verdict.UNDECIDED)}


GOLDENS = [*DRAWS, *(f"{name}-numbers" for name in WITH_NUMBERS)]


def _full(name: str) -> Path:
    """The golden file of the full run of a set."""
    return FOLDER / "verdicts" / f"{name.removesuffix('-numbers')}-full.yaml"


def changed_by_draws(few: str, many: str) -> list[str]:
    """The lines of a golden file whose verdict is another in that of more draws, or is missing.

    >>> changed_by_draws("a: verified pass", "a: refuted fail")
    ['a: verified pass']
    >>> changed_by_draws("a: undecided (why) undecided", "a: refuted fail")
    []
    """
    found = [line.rpartition(": ")[::2] for line in many.splitlines()]

    def ends_otherwise(line: str) -> bool:
        name, _, said = line.rpartition(": ")
        same = [  # a line is of a claim, or of a case of it
            other
            for known, other in found
            if known == name or known.startswith(f"{name} ") or name.startswith(f"{known} ")
        ]
        decided = not said.startswith(Verdict.UNDECIDED)
        return decided and {one.split()[0] for one in same} != {said.split()[0]}

    return [*filter(ends_otherwise, few.splitlines())]


@pytest.mark.parametrize("name", DRAWS)
def test_claims_end_as_they_did(name: str, agreed: Agreed, full: bool) -> None:
    registry = read_registries([{**SHIPPED, **KNOWN}[name]])
    results = judged(registry, DRAWS[name][full], 1 if full else EVERY.get(name, 1))
    golden = f"verdicts/{name}{'-full' if full else ''}.yaml"
    agreed(golden, outcomes(results, numbers=not full))
    assert name not in KNOWN or not wrong(results)


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_what_the_model_says_is_as_it_was(name: str, agreed: Agreed) -> None:
    results = judged(read_registries([KNOWN[name]]), HARDLY_ANY, WITH_NUMBERS[name])
    agreed(f"verdicts/{name}-numbers.yaml", outcomes(results, numbers=True))
    assert not wrong(results)


@pytest.mark.parametrize("name", GOLDENS)
def test_what_few_draws_decide_many_decide_alike(name: str) -> None:
    few = (FOLDER / "verdicts" / f"{name}.yaml").read_text(encoding="utf-8")
    changed = changed_by_draws(few, _full(name).read_text(encoding="utf-8"))
    assert {line.split(":")[0].split()[0] for line in changed} <= LEFT_OPEN.get(name, set())


def test_a_verdict_that_more_draws_turn_is_noticed() -> None:
    golden = "c p=0.1: refuted fail\nc p=0.5: verified pass\nd: verified pass\n"
    assert changed_by_draws(golden, golden) == []
    assert changed_by_draws("c: refuted fail\n", golden) == ["c: refuted fail"]
    assert changed_by_draws(golden, "c: verified pass\n") == [
        "c p=0.1: refuted fail",
        "d: verified pass",
    ]


def test_another_verdict_reason_or_case_is_noticed() -> None:
    text = "dropcheck: 1\nclaims:\n  c: {title: T, parameters: {p: [0.1, 0.5]}, claim: p == 0.5}\n"
    golden = outcomes(judged(read_text(text)))
    assert golden == "c p=0.1: refuted fail\nc p=0.5: verified pass\n"
    planted = {"[0.1,": "[0.2,", "claim: p ==": "claim: p <=", "T,": "T, expect: refuted,"}
    for old, new in planted.items():
        assert difference(golden, outcomes(judged(read_text(text.replace(old, new)))))


def test_a_wrong_verdict_is_seen() -> None:
    text = "dropcheck: 1\nclaims:\n  c: {title: T, parameters: {off: [0, 2]}, claim: off == 0}\n"
    assert not wrong(judged(read_text(text)))
    assert wrong(judged(read_text(text.replace("== 0", "<= 2")))) == {"c"}
    assert wrong(judged(read_text(text.replace("== 0", "> 2")))) == {"c"}
