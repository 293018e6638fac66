"""The report of an audit: a row for each claim and error rate, the alarms, and a summary line."""

from __future__ import annotations

import shlex

from rich.console import RenderableType

from dropcheck.audit.audited_claims import OFF
from dropcheck.audit.error_rates import Audit, AuditRow, Group, Truth
from dropcheck.claims.values import format_parameters
from dropcheck.report import numbers
from dropcheck.report.terminal.layout import Fields, Row, TableCell, arrange, layout
from dropcheck.report.terminal.screen import Terminal, one_line, render, styled

FIELDS = Fields(
    right=("runs", "wrong", "rate", "at_most", "promise", "undecided", "draws"),
    prose=("truth",),
    headings={"at_most": "at most", "draws": "draws a run"},
)
CLASS_FIELDS = Fields(
    right=("claims", "runs", "verified", "refuted", "undecided", "wrong", "promise", "draws"),
    prose=("class",),
    headings={"draws": "draws a run"},
)
CLASS_LAYOUTS = (
    layout("class claims runs verified refuted undecided wrong promise draws result"),
    layout("class claims/runs verified/refuted undecided wrong/promise draws result"),
)
LAYOUTS = (
    layout("claim truth runs wrong rate at_most promise undecided draws result"),
    layout("claim/truth runs/wrong rate/at_most promise undecided/draws result"),
)


def audit_report(audit: Audit, terminal: Terminal) -> str:
    """The whole report."""
    items: list[RenderableType] = []
    if audit.groups:
        classes = [_class_row(group) for group in audit.groups]
        items += [*arrange(classes, CLASS_FIELDS, CLASS_LAYOUTS, terminal), ""]
    elif audit.rows:
        items += [*arrange([_row(row) for row in audit.rows], FIELDS, LAYOUTS, terminal), ""]
    # the row of a class does not show which claim had a wrong verdict
    wrong = [row for row in audit.rows if row.alarm or (row.group and row.wrong)]
    for row in wrong:
        items += [styled(_alarm(row, audit.file), "bold red"), *([] if row.group else [""])]
    if audit.groups and wrong:
        items.append("")
    items += [styled(f"left out: {one_line(text)}", "yellow") for text in audit.left_out]
    return render([*items, styled(_summary(audit))], terminal)


def _row(row: AuditRow) -> Row:
    return {
        "claim": one_line(_name(row)),
        "truth": _truth(row),
        "runs": f"{row.counts.runs:,}",
        "wrong": f"{row.wrong:,}",
        "rate": _share(row.rate),
        "at_most": _share(row.at_most),
        "promise": numbers.exact(row.promise),
        "undecided": _share(row.undecided),
        "draws": numbers.count(round(row.draws)),
        **_result(row.alarm),
    }


def _class_row(group: Group) -> Row:
    counts = group.counts
    return {
        "class": one_line(group.name),
        "claims": f"{group.claims:,}",
        "runs": f"{counts.runs:,}",
        "verified": f"{counts.verified:,}",
        "refuted": f"{counts.refuted:,}",
        "undecided": f"{counts.inconclusive:,}",
        "wrong": TableCell(f"{group.wrong:,}", "bold red" if group.wrong else ""),
        "promise": numbers.exact(group.promise),
        "draws": numbers.count(round(counts.draws / counts.runs)),
        **_result(group.alarm),
    }


def _result(alarm: bool) -> Row:
    return {"result": TableCell("ALARM", "bold red") if alarm else TableCell("kept", "green")}


def _name(row: AuditRow) -> str:
    # another column shows how far a built-in claim is off
    shown = {name: value for name, value in row.parameters.items() if name != OFF}
    return f"{row.claim} {format_parameters(shown)}".rstrip()


def _truth(row: AuditRow) -> str:
    match row.truth:
        case Truth.TRUE:
            return "true"
        case Truth.FALSE:
            return f"off by {row.off}" if row.off else "false"
        case _:
            return row.off


def _share(share: float) -> str:
    """A rate: two digits.

    >>> _share(0.0), _share(0.0123), _share(2.5e-5)
    ('0', '0.012', '2.5e-5')
    """
    return numbers.written(share, ".2g")


def _runs(number: int) -> str:
    """The number of trials in words.

    >>> _runs(1), _runs(20_000)
    ('1 run', '20,000 runs')
    """
    return f"{number:,} run" if number == 1 else f"{number:,} runs"


def _alarm(row: AuditRow, file: str | None) -> str:
    """A line on wrong verdicts; in a file, the claim itself may be to blame."""
    verdicts = " or ".join(verdict for verdict in row.truth.wrong if row.counts.of(verdict))
    text = (
        f"{one_line(_name(row))}, {_truth(row)}: {verdicts} in {row.wrong:,} of "
        f"{_runs(row.counts.runs)}"
    )
    if not row.alarm:
        return f"wrong  {text}"
    text = (
        f"ALARM  {text}, so in more than {_share(row.at_least)} of all, where "
        f"{numbers.exact(row.promise)} is promised"
    )
    if file is None:
        return text
    command = shlex.join(["dropcheck", "run", row.claim, "--file", file])
    return (
        f"{text}: a fault of dropcheck, or the claim is not what its file says: "
        f"see {one_line(command)}"
    )


def _summary(audit: Audit) -> str:
    undefined = any(row.truth is Truth.UNDEFINED for row in audit.rows)
    parts = [
        *(["interrupted"] if audit.interrupted else []),
        f"{numbers.plural(len(audit.rows), 'row')}, {_runs(audit.runs)}",
        f"true refuted {audit.wrong(Truth.TRUE):,}, "
        f"false verified {audit.wrong(Truth.FALSE):,}"
        + (f", undefined decided {audit.wrong(Truth.UNDEFINED):,}" if undefined else ""),
        f"{audit.alarms} above the promise",
        numbers.duration(audit.seconds),
        "1 process" if audit.processes == 1 else f"{audit.processes} processes",
        f"seed {audit.seed}",
        one_line(audit.name),
    ]
    return " · ".join(parts)
