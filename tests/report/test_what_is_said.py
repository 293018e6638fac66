"""What is said of a case and of a run: once, in plain text, and in every format."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.report import Report
from dropcheck.report.facts import FACTS, facts, summary
from dropcheck.report.formats import FORMATS
from dropcheck.results import CaseResult, Outcome, Verdict

REGISTRY = Registry("claims.yaml", {}, {})
PICTURES = ("svg", "png")


def written(name: str, *cases: CaseResult) -> str:
    made = FORMATS[name].make(Report(run_of(*cases), REGISTRY))
    return made if isinstance(made, str) else made.decode()


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in PICTURES])
def test_a_new_fact_is_one_entry_and_every_format_has_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FACTS, "weather", lambda case: f"rain over {case.claim}")
    text = html.unescape(written(name, PASSED, FAILED))
    assert re.search(r"weather\W", text)
    assert "rain over naive-dropout" in text


def test_what_is_unknown_is_left_out() -> None:
    said = facts(replace(PASSED, estimate=None, interval=None, within=None))
    assert not {"estimated", "interval", "within", "reading", "note", "column"} & said.keys()


def test_every_text_is_plain_and_on_one_line() -> None:
    odd = replace(FAILED, title="\x1b[31mred\n\n\tand  blue\u202e", repeat="run --file 'a  b.yaml'")
    said = facts(odd)
    assert said["title"] == r"\x1b[31mred and  blue\u202e"
    assert said["repeat"] == "run --file 'a  b.yaml'"


@pytest.mark.parametrize(
    ("case", "result"),
    [
        (PASSED, "verified"),
        (replace(PASSED, confirmed=False), "verified, not confirmed"),
        (FAILED, "FAIL: refuted"),
        (replace(FAILED, expect=Verdict.REFUTED, result=Outcome.PASS), "refuted, as expected"),
        (
            replace(PASSED, expect=Verdict.REFUTED, result=Outcome.FAIL),
            "FAIL: verified, expected refuted",
        ),
        (UNDECIDED, "undecided"),
        (replace(UNDECIDED, expect=Verdict.REFUTED), "undecided, expected refuted"),
        (replace(UNDECIDED, result=Outcome.ERROR), "ERROR"),
    ],
)
def test_the_result_says_what_the_verdict_means(case: CaseResult, result: str) -> None:
    assert facts(case)["result"] == result


def test_an_interrupted_run_says_how_far_it_came() -> None:
    run = replace(run_of(PASSED, interrupted=True), planned=5)
    assert next(iter(summary(run).values())) == "interrupted: 1 of 5 cases judged"
    assert "interrupted" not in summary(run_of(PASSED))
