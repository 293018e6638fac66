"""A run as comma-separated values (RFC 4180): a fixed header, and a row for each case."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping

from dropcheck.claims.values import format_parameters
from dropcheck.report import Report, words
from dropcheck.report.json_report import value_data
from dropcheck.report.screen import one_line
from dropcheck.results import CaseResult

# a spreadsheet reads a text with such a beginning as a formula (OWASP, "CSV Injection")
_FORMULA = tuple("=+-@＝＋－＠")


def csv_report(report: Report) -> str:
    """The cases; a field is empty where its value is unknown, or an end infinite."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    seed = str(report.run.settings.seed)
    for case in report.run.cases:
        writer.writerow({name: of(case) if of else seed for name, of in COLUMNS.items()})
    return stream.getvalue()


def text_field(text: str | None) -> str:
    """A user's text as a field: on one line, and never read as a formula.

    >>> text_field("-E(x) == 1"), text_field("E(x) == 1")
    ("'-E(x) == 1", 'E(x) == 1')
    """
    shown = one_line(text or "")
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def number_field(value: float | None) -> str:
    """A number with all digits that reading it back needs; empty where it is not finite.

    >>> number_field(512.0), number_field(0.1), number_field(float("inf"))
    ('512', '0.1', '')
    """
    if value is None or not math.isfinite(value):
        return ""
    return str(value_data(value))


def _three(sides: tuple[float, ...] | None) -> tuple[float | None, ...]:
    """Left side, middle and right side; None where there is none."""
    if sides is None:
        return (None, None, None)
    return sides if len(sides) > 2 else (sides[0], None, sides[1])


def _claimed(case: CaseResult) -> tuple[float | None, float | None]:
    return (None, None) if case.region is None else (case.region.low, case.region.high)


COLUMNS: Mapping[str, Callable[[CaseResult], str] | None] = {
    "claim": lambda case: text_field(case.claim),
    "parameters": lambda case: text_field(format_parameters(case.parameters)),
    "title": lambda case: text_field(case.title),
    "statement": lambda case: text_field(case.statement),
    "document": lambda case: text_field("; ".join(one.document or "" for one in case.sources)),
    "section": lambda case: text_field("; ".join(one.section or "" for one in case.sources)),
    "tags": lambda case: text_field(" ".join(case.tags)),
    "claimed_low": lambda case: number_field(_claimed(case)[0]),
    "claimed_high": lambda case: number_field(_claimed(case)[1]),
    "estimate": lambda case: number_field(case.estimate),
    "interval_low": lambda case: number_field(case.interval and case.interval[0]),
    "interval_high": lambda case: number_field(case.interval and case.interval[1]),
    "standard_error": lambda case: number_field(case.standard_error),
    "confidence": lambda case: number_field(case.confidence),
    "scale": lambda case: number_field(case.scale),
    "resolution": lambda case: number_field(case.resolution),
    "draws": lambda case: str(case.draws),
    "seconds": lambda case: number_field(round(case.seconds, 6)),
    "guarantee": lambda case: str(case.guarantee or ""),
    "verdict": lambda case: str(case.verdict),
    "expect": lambda case: str(case.expect),
    "result": lambda case: str(case.result),
    "reason": lambda case: text_field(None if case.explanation is None else str(case.explanation)),
    "file": lambda case: text_field(case.location.file),
    "line": lambda case: "" if case.location.file_line is None else str(case.location.file_line),
    "seed": None,  # of the run
    "repeat": lambda case: text_field(case.repeat),
    "exact": lambda case: number_field(None if case.exact is None else case.exact.value),
    "confirmed": lambda case: "" if case.confirmed is None else str(case.confirmed).lower(),
    "within": lambda case: number_field(case.within),
    "left": lambda case: number_field(_three(case.sides)[0]),
    "middle": lambda case: number_field(_three(case.sides)[1]),
    "right": lambda case: number_field(_three(case.sides)[2]),
    "entry": lambda case: "" if case.entry is None else str(list(case.entry)),
    "note": lambda case: text_field(words.note(case)),
    "written": lambda case: text_field(None if case.written is None else case.written.text),
    "rounding": lambda case: words.rounding(case) or "",
    "column": lambda case: text_field(case.column),
    "dtype": lambda case: case.dtype or "",
    "of": lambda case: text_field(case.of),
}
"""The field of a case in each column."""
