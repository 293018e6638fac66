"""The exact value beside the estimate, and what verdicts rest on, in every format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Generator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from page import parse
from report_cases import CONFIRMED, FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.judging import judge
from dropcheck.judging.case import CaseRun, Finding
from dropcheck.pytest_claims import properties
from dropcheck.report import Report, words
from dropcheck.report.formats import FORMATS
from dropcheck.report.screen import Terminal
from dropcheck.report.terminal.claim_cards import claim_cards, exact_text
from dropcheck.report.terminal.run_table import run_report
from dropcheck.results import (
    CaseResult,
    Exact,
    Guarantee,
    Method,
    Outcome,
    Quantity,
    Resolution,
    Verdict,
)
from dropcheck.settings import Settings

OPEN = replace(UNDECIDED, exact=Exact(0.41), confirmed=False)
REFUTED = replace(FAILED, exact=Exact(0.7), confirmed=True)
ON_THE_LIMIT = replace(PASSED, guarantee=Guarantee.ASYMPTOTIC)


def written(name: str, *cases: CaseResult) -> str:
    made = FORMATS[name].make(Report(run_of(*cases), Registry("claims.yaml", {}, {})))
    return made if isinstance(made, str) else made.decode()


# ---- the table -----------------------------------------------------------------------------------


def test_where_there_is_room_the_exact_value_stands_beside_the_estimate() -> None:
    report = run_report(run_of(CONFIRMED, UNDECIDED), Terminal(120))
    assert report.splitlines()[:4] == [
        "claim        parameters        claimed  estimated  exact  interval        within  draws  "
        "verdict       result",
        "─" * 112,
        "qk-variance  dk=512                512      511.8    512  [509.1, 514.6]   ±5.12   262k  "
        "verified      pass",
        "heavy-tail               0.405 … 0.415      0.410         [0.390, 0.430]       -   262k  "
        "inconclusive  undecided",
    ]


def test_it_takes_no_line_of_its_own_and_pushes_no_column_out() -> None:
    for width in range(40, 161):
        known = run_report(run_of(CONFIRMED, REFUTED), Terminal(width)).splitlines()
        unknown = run_report(
            run_of(*(replace(case, exact=None) for case in (CONFIRMED, REFUTED))), Terminal(width)
        ).splitlines()
        table, plain = known[: known.index("")], unknown[: unknown.index("")]
        assert len(table) == len(plain)
        assert set("\n".join(plain).replace("─", "").split()) <= set("\n".join(table).split())
        assert all(len(line) <= width for line in table)


def test_a_run_that_knows_no_exact_value_has_no_such_column() -> None:
    assert "exact" not in run_report(run_of(PASSED, FAILED), Terminal(160), verbose=True)


def test_verbose_shows_what_a_verdict_rests_on_and_what_confirms_it() -> None:
    report = run_report(run_of(CONFIRMED, PASSED), Terminal(200), verbose=True)
    assert report.count("moments") == 2
    assert report.count("moments, confirmed") == 1


def test_a_case_that_did_not_pass_says_what_the_model_gives() -> None:
    report = run_report(run_of(REFUTED), Terminal())
    assert "  exact       0.7 by the model, which the draws confirm\n" in report


# ---- the other formats ---------------------------------------------------------------------------


def test_json_has_the_value_and_its_error() -> None:
    close = replace(CONFIRMED, exact=Exact(512.0, error=1e-9))
    known, unknown = json.loads(written("json", close, PASSED))["cases"]
    assert (known["exact"], known["confirmed"]) == ({"value": 512.0, "error": 1e-9}, True)
    assert (unknown["exact"], unknown["confirmed"]) == (None, None)


def test_csv_has_two_columns() -> None:
    known, unknown = csv.DictReader(io.StringIO(written("csv", CONFIRMED, PASSED), newline=""))
    assert (known["exact"], known["confirmed"]) == ("512", "true")
    assert (unknown["exact"], unknown["confirmed"]) == ("", "")


def test_junit_and_pytest_have_two_properties_where_the_value_is_known() -> None:
    suite = ElementTree.fromstring(written("junit", CONFIRMED))[0]
    found = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert found["qk-variance[dk=512].exact"] == "512"
    assert found["qk-variance[dk=512].confirmed"] == "true"
    assert "confirmed" not in written("junit", PASSED)
    kept = dict(properties(CONFIRMED, Settings()))
    assert (kept["exact"], kept["confirmed"]) == (512.0, True)
    assert not {"exact", "confirmed"} & dict(properties(PASSED, Settings())).keys()


def test_markdown_has_a_column_where_a_row_needs_it() -> None:
    head, rule, known, unknown = written("markdown", CONFIRMED, FAILED).splitlines()[:4]
    assert [line.split("|")[6].strip() for line in (head, rule, known, unknown)] == [
        "exact",
        "---:",
        "512",
        "",
    ]
    assert len({line.count("|") for line in (head, rule, known, unknown)}) == 1
    assert "exact" not in written("markdown", PASSED, FAILED)
    assert "interval [0.691, 0.710], exact 0.7\n" in written("markdown", REFUTED)


def test_annotations_say_it() -> None:
    assert "%0Aexact: 0.7 by the model, which the draws confirm%0A" in written("github", REFUTED)


def test_the_page_has_it_beside_the_estimate_and_among_the_facts() -> None:
    page = parse(written("html", CONFIRMED, replace(ON_THE_LIMIT, parameters={"dk": 64.0})))
    assert {"moments, confirmed", "asymptotic"} <= {one.text for one in page.all("dd")}
    assert "estimated 511.8, interval [509.1, 514.6], exact 512" in page.text


# ---- how it reads --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(512.0, "512"), (511.123456, "511.12"), (0.0, "0"), (2 / 3, "0.6667")],
)
def test_an_exact_value_has_a_digit_more_than_the_estimate(value: float, text: str) -> None:
    assert words.exact(replace(CONFIRMED, exact=Exact(value))) == text


def test_an_undecided_case_with_an_exact_value_can_be_decided_by_that() -> None:
    reading = "the model gives the exact value, 0.41: --exact decides by that"
    assert words.reading(replace(OPEN, more_draws=None)) == reading
    assert words.reading(OPEN) == f"{reading}; by draws it {words.needs(OPEN)}"


def test_a_case_that_is_decided_by_its_exact_value_shows_it_once() -> None:
    by_value = replace(PASSED, draws=0, method=Method.EXACT_VALUE, guarantee=Guarantee.EXACT)
    case = replace(by_value, estimate=512.0, interval=(512.0, 512.0), exact=Exact(512.0))
    assert "exact " not in run_report(run_of(case), Terminal(160)).splitlines()[0]
    assert json.loads(written("json", case))["cases"][0]["exact"]["value"] == 512.0


# ---- a claim's card ------------------------------------------------------------------------------

FOUND = Finding(verdict=Verdict.VERIFIED, method=Method.EXACT_VALUE)


def known(value: float, quantity: Quantity = Quantity.LEFT) -> Finding:
    return replace(FOUND, exact=Exact(value), quantity=quantity)


def test_a_card_shows_one_value_where_all_cases_have_it() -> None:
    assert exact_text([({"dk": 1.0}, known(1.0)), ({"dk": 2.0}, known(1.0))]) == "1"
    difference = known(0.0, Quantity.LEFT_MINUS_RIGHT)
    assert exact_text([({}, difference)]) == "left side minus right side: 0"
    assert exact_text([({}, None)]) == exact_text([]) == ""


def test_a_card_shows_what_is_no_larger_than_its_error_as_0() -> None:
    for error, shown in ((2e-16, "0"), (1e-19, "7e-18")):
        assert exact_text([({}, replace(FOUND, exact=Exact(7e-18, error)))]) == shown


def test_a_card_shows_the_values_of_the_cases_that_have_one() -> None:
    cases = [({"dk": 1.0}, known(1.0)), ({"dk": 2.0}, None), ({"dk": 4.0}, known(4.0))]
    assert exact_text(cases) == "1 at dk = 1\n4 at dk = 4"
    cases = [({"dk": dk}, known(dk, Quantity.LEFT_MINUS_RIGHT)) for dk in (1.0, 2.0)]
    assert exact_text(cases) == "left side minus right side:\n1 at dk = 1\n2 at dk = 2"
    many = [({"dk": float(dk)}, known(float(dk))) for dk in range(20)]
    assert exact_text(many).splitlines()[-2:] == ["7 at dk = 7", "and 12 more"]


def test_a_card_shows_no_value_that_has_no_digits() -> None:
    lost = replace(FOUND, exact=Exact(1.6e-9, 1.4e-4), sharpness=Resolution(5e-13, 5e-13))
    assert exact_text([({}, lost)]) == ""


def test_a_card_has_what_a_run_without_draws_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = "dropcheck: 1\nclaims:\n  a: {title: A, model: 'x ~ normal(0, 1)', claim: E(x) == 0}\n"
    registry = read_text(claims)

    def found(run: CaseRun) -> Generator[Any, Any, Finding]:
        assert run.settings.exact
        yield from ()
        return known(0.0)

    monkeypatch.setattr(judge, "judge", found)
    card = claim_cards(registry.claims.values(), registry, {"a": "dropcheck run a"}, Terminal())
    assert "  exact       0\n" in card


# ---- the limit theorem ---------------------------------------------------------------------------


def test_the_summary_counts_the_verdicts_that_rest_on_the_limit_theorem() -> None:
    run = run_of(ON_THE_LIMIT, CONFIRMED, replace(ON_THE_LIMIT, verdict=Verdict.REFUTED))
    for text in (run_report(run, Terminal()), written("markdown", *run.cases)):
        assert (
            "3 cases: 3 passed, 0 failed, 0 undecided · 2 of 3 rest on the limit theorem · 786k"
        ) in text
    assert json.loads(written("json", *run.cases))["summary"]["asymptotic"] == 2
    assert "1 of 2 rests on the limit theorem" in run_report(
        run_of(PASSED, ON_THE_LIMIT), Terminal()
    )


def test_what_is_confirmed_or_undecided_does_not_rest_on_it() -> None:
    confirmed = replace(CONFIRMED, guarantee=Guarantee.ASYMPTOTIC)
    undecided = replace(UNDECIDED, guarantee=Guarantee.ASYMPTOTIC)
    assert undecided.result is Outcome.UNDECIDED
    run = run_of(PASSED, confirmed, undecided)
    assert run.asymptotic == 0
    assert "limit theorem" not in run_report(run, Terminal())
