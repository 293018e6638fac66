"""Verdict, reason and result of every case that is at hand, at seed 0: a golden file for each set.

In the gate few draws are made, of large sets for some claims alone. With `--full` every claim is
judged, those of known truth at a million draws, and what ships without a bound; that has golden
files of its own. A line is `claim: verdict (reason) result`, for each case where cases differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import pytest

from contract.conftest import Agreed, difference
from dropcheck.claims.reader import read_registries, read_text
from dropcheck.claims.registry import Registry
from dropcheck.claims.values import format_parameters
from dropcheck.packs.pack_files import PACK, pack_names
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

TOP = Path(__file__).resolve().parents[2]
SHIPPED: dict[str, str | Path] = {
    "claims": TOP / "claims.yaml",
    "recipes": TOP / "docs" / "recipes.yaml",
    "cookbook": TOP / "docs" / "cookbook.yaml",
    **{f"pack-{name}": f"{PACK}{name}" for name in pack_names()},
}
KNOWN: dict[str, str | Path] = {
    "ordinary": TOP / "tests" / "judging" / "ordinary.yaml",
    **{
        name: TOP / "benchmarks" / "known" / f"{name}.yaml"
        for name in ("distributions", "hostile", "laws", "moments", "nets")
    },
}
# The most draws of a case in the gate, and with --full; None is the budget of `run`.
DRAWS = dict.fromkeys(SHIPPED, (100_000, None)) | dict.fromkeys(KNOWN, (30_000, 1_000_000))
# In the gate every so-many-th claim, where all would take minutes.
EVERY = {"ordinary": 6, "hostile": 12, "moments": 2}
OFF = "off"  # the parameter that says how far a claim of known truth is off


def judged(registry: Registry, most: int | None = None, every: int = 1) -> list[CaseResult]:
    """The results of the cases of every so-many-th claim at seed 0."""
    settings = Settings(seed=0, max_draws=most, threads=1)
    cases = [case for claim in [*registry.claims.values()][::every] for case in claim.expand()]
    return [*verify_cases(cases, settings, registry)]


def outcomes(results: Iterable[CaseResult]) -> str:
    """The outcomes as a golden file has them, in the order of the file."""
    told: dict[str, str] = {}
    for claim, group in groupby(results, lambda one: one.claim):
        cases = [*group]
        said = [outcome(case) for case in cases]
        if len({*said}) == 1:
            told[claim] = said[0]
        else:
            names = [f"{claim} {format_parameters(case.parameters)}" for case in cases]
            told.update(zip(names, said, strict=True))
    return "".join(f"{name}: {said}\n" for name, said in told.items())


def outcome(case: CaseResult) -> str:
    """The outcome of a case: `verified pass`, `inconclusive (too_wide) undecided`."""
    reason = f" ({case.reason.name.lower()})" if case.reason is not None else ""
    return f"{case.verdict}{reason} {case.result}"


def wrong(results: Iterable[CaseResult]) -> list[str]:
    """The cases of known truth whose verdict is the opposite of it; no golden file may have one."""
    truths = (
        (case, Verdict.REFUTED if case.parameters.get(OFF) else case.expect) for case in results
    )
    return [
        case.claim for case, truth in truths if case.verdict not in (truth, Verdict.INCONCLUSIVE)
    ]


@pytest.mark.parametrize("name", DRAWS)
def test_claims_end_as_they_did(name: str, agreed: Agreed, full: bool) -> None:
    registry = read_registries([{**SHIPPED, **KNOWN}[name]])
    results = judged(registry, DRAWS[name][full], 1 if full else EVERY.get(name, 1))
    assert name not in KNOWN or not wrong(results)
    agreed(f"verdicts/{name}{'-full' if full else ''}.yaml", outcomes(results))


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
    assert wrong(judged(read_text(text.replace("== 0", "<= 2")))) == ["c"]
    assert wrong(judged(read_text(text.replace("== 0", "> 2")))) == ["c"]
