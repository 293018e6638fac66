"""What the audit prints, and its command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from audits import ALPHA, OWN

from dropcheck.audit.error_rates import Audit, AuditRow, Truth, VerdictCounts
from dropcheck.cli import main
from dropcheck.inference import catoni
from dropcheck.report.command_json import audit_json
from dropcheck.report.terminal.audit_table import audit_report
from dropcheck.report.terminal.screen import Terminal


def an_audit(wrong: int) -> Audit:
    counts = VerdictCounts(verified=1000 - wrong, refuted=wrong, draws=2_000_000)
    row = AuditRow("normal-mean", {"off": 0.0}, "E(x) == 1", Truth.TRUE, "", ALPHA, counts)
    return Audit("the built-in set 'laws'", (row,), 3, 1.5, 2)


def test_the_report_says_that_the_promise_is_kept() -> None:
    text = audit_report(an_audit(20), Terminal())
    assert text.splitlines()[2].split() == (
        ["normal-mean", "true", "1,000", "20", "0.02", "0.033", "0.05", "0", "2k", "kept"]
    )
    assert "0 above the promise" in text
    assert "ALARM" not in text


def test_the_report_raises_the_alarm() -> None:
    text = audit_report(an_audit(200), Terminal())
    assert "ALARM  normal-mean, true: refuted in 200 of 1,000 runs" in text
    assert "where 0.05 is promised\n" in text  # of a claim whose truth is known
    assert "1 above the promise" in text


def test_one_run_is_told_as_one() -> None:
    row = AuditRow(
        "mean", {}, "E(x) == 1", Truth.UNDEFINED, "no such moment", 0.0, VerdictCounts(verified=1)
    )
    text = audit_report(Audit("a set", (row,), 0, 1.0, 1), Terminal())
    assert "verified in 1 of 1 run, so" in " ".join(text.split())
    assert "1 row, 1 run · " in text


@pytest.mark.parametrize("width", [40, 60, 100])
def test_the_report_fits_a_narrow_terminal(width: int) -> None:
    for one in (an_audit(200), by_class(1)):
        text = audit_report(one, Terminal(width=width))
        assert max(map(len, text.splitlines())) <= width


def by_class(wrong: int) -> Audit:
    """Three claims of one class, each with so many wrong verdicts of 20, and one of another."""

    def row(claim: str, truth: Truth, counts: VerdictCounts, group: str) -> AuditRow:
        promise = 0.0 if truth is Truth.UNDEFINED else 1e-6
        off = {Truth.UNDEFINED: "no such moment", Truth.FALSE: "+2 resolutions"}.get(truth, "")
        return AuditRow(claim, {}, "E(y) == 1", truth, off, promise, counts, 1e-7, group)

    spikes = [
        row("a", Truth.TRUE, VerdictCounts(18 - wrong, wrong, 2, draws=40_000), "a spike"),
        row("b", Truth.TRUE, VerdictCounts(20 - wrong, wrong, draws=40_000), "a spike"),
        row("c", Truth.FALSE, VerdictCounts(wrong, 20 - wrong, draws=40_000), "a spike"),
    ]
    tail = row("d", Truth.UNDEFINED, VerdictCounts(inconclusive=20), "no moment")
    return Audit("the built-in set 'hostile'", (*spikes, tail), 0, 1.0, 1)


def test_the_rows_of_classes_are_added_up() -> None:
    text = audit_report(by_class(0), Terminal())
    heading, _, spikes, none, *_ = text.splitlines()
    assert heading.split()[:4] == ["class", "claims", "runs", "verified"]
    assert spikes.split() == ["a", "spike", "3", "60", "38", "20", "2", "0", "1e-6", "2k", "kept"]
    assert none.split() == ["no", "moment", "1", "20", "0", "0", "20", "0", "0", "0", "kept"]
    assert "0 above the promise" in text
    assert "\nwrong  " not in text


def test_single_errors_of_a_class_add_up_to_an_alarm() -> None:
    audit = by_class(1)
    assert not any(row.alarm for row in audit.rows)
    assert [group.alarm for group in audit.groups] == [True, False]
    assert audit.alarms == 1
    text = audit_report(audit, Terminal())
    assert "wrong  a, true: refuted in 1 of 20 runs\n" in text
    assert "wrong  c, off by +2 resolutions: verified in 1 of 20 runs\n" in text
    assert "undefined decided 0 · 1 above the promise" in text
    (spikes, _) = json.loads(audit_json(audit))["classes"]
    assert (spikes["wrong"], spikes["alarm"], spikes["verified"]) == (3, True, 37)


def test_a_moment_that_does_not_exist_is_not_refuted_either() -> None:
    row = AuditRow(
        "m", {}, "E(x) == 1", Truth.UNDEFINED, "no such moment", 0.0, VerdictCounts(0, 1)
    )
    assert row.wrong == 1
    text = audit_report(Audit("a set", (row,), 0, 1.0, 1), Terminal())
    assert "m, no such moment: refuted in 1 of 1 run" in text
    assert "undefined decided 1" in text


def test_json_holds_every_count() -> None:
    data = json.loads(audit_json(an_audit(200)))
    assert data["summary"] == {
        "rows": 1,
        "runs": 1000,
        "alarms": 1,
        "true_refuted": 200,
        "false_verified": 0,
        "undefined_decided": 0,
    }
    assert data["classes"] == []
    (row,) = data["rows"]
    assert (row["verified"], row["refuted"], row["inconclusive"]) == (800, 200, 0)
    assert row["at_least"] < row["rate"] < row["at_most"]
    assert row["parameters"] == {"off": 0}


def test_the_command_passes_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["audit", "normal-mean", "-n", "5", "--processes", "1", "--seed", "3"]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    assert "3 rows, 15 runs" in first
    assert main([*arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["seed"] == 3


def test_the_command_fails_on_an_alarm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(catoni, "_constant", lambda _: 0.01)
    arguments = ["audit", "normal-mean", "-n", "60", "--processes", "1"]
    assert main(arguments) == 1
    assert "ALARM" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "lawss"], "it must be laws, moments, hostile, distributions, nets or code"),
        (["--alpha", "0.05,2"], "numbers between 1e-30 and 1"),
        (["--shift", "2%"], "needs '--file'"),
        (["--full", "-n", "3"], "both say how many repetitions"),
        (["--file", "x.yaml", "--set", "laws"], "both say which claims"),
        (["--repetitions", "0"], "a whole number from 1 to"),
        (["--processes", "0"], "from 1 to"),
        (["no-such-claim"], "no-such-claim"),
    ],
)
def test_bad_options_are_told(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (["--file", "x.yaml", "--shift", "2"], 2, "hint: --shift 2%\n"),
        (["nosuch"], 2, "hint: dropcheck audit -n 1 shows every id\n"),
        (["nosuch", "--set", "moments"], 2, "dropcheck audit --set moments -n 1 shows every id\n"),
        (["nosuch-*"], 5, "hint: dropcheck audit -n 1 shows every id\n"),
        (["normal-men"], 2, "hint: did you mean 'normal-mean'?\n"),
    ],
)
def test_hints_say_what_to_write(
    arguments: list[str], code: int, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *arguments]) == code
    assert hint in capsys.readouterr().err


def test_a_text_that_is_no_share_has_no_hint(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("-2", "some", "0"):
        assert main(["audit", "--file", "x.yaml", f"--shift={text}"]) == 2
        assert "hint" not in capsys.readouterr().err


def test_the_command_audits_a_file(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    arguments = ["audit", "mean", "--file", str(path), "--shift", "20%", "-n", "2"]
    assert main([*arguments, "--processes", "1", "--max-draws", "1e5"]) == 0
    text = capsys.readouterr().out
    assert "off by +0.2 of the scale" in text
    assert "3 rows, 6 runs" in text


def test_the_alarm_about_a_claim_of_a_file_may_be_the_claim_s(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    claim = "title: T\n    model: x ~ normal(0, 1)\n    claim: E(x) == 1"
    (tmp_path / "my own.yaml").write_text(f"dropcheck: 1\nclaims:\n  false:\n    {claim}\n")
    arguments = ["--file", "my own.yaml", "-n", "30", "--processes", "1"]
    assert main(["audit", *arguments]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "is promised: a fault of dropcheck, or the claim is not what its file says: "
        "see dropcheck run false --file 'my own.yaml'" in told
    )
    assert main(["run", "false", "--file", "my own.yaml"]) == 1
