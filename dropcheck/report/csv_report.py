"""A run as comma-separated values (RFC 4180): a header that never changes, then a row a case."""

from __future__ import annotations

import csv
import io
import math

from dropcheck.claims.values import format_parameters
from dropcheck.report import Report, promises
from dropcheck.report import phrases as words
from dropcheck.report.json_report import value_data
from dropcheck.report.terminal.screen import one_line
from dropcheck.results import CaseResult

COLUMNS = (
    "claim",
    "parameters",
    "title",
    "statement",
    "document",
    "section",
    "tags",
    "claimed_low",
    "claimed_high",
    "estimate",
    "interval_low",
    "interval_high",
    "standard_error",
    "confidence",
    "scale",
    "resolution",
    "draws",
    "seconds",
    "guarantee",
    "verdict",
    "expect",
    "result",
    "reason",
    "file",
    "line",
    "seed",
    "repeat",
    "exact",
    "confirmed",
    "within",
    "left",
    "middle",
    "right",
    "entry",
    "tried",
    "at",
    "note",
    "written",
    "rounding",
    "column",
    "dtype",
    "of",
    "xfail",
    "nights",
    "earlier_draws",
)

# what makes a spreadsheet take a text for a formula, in full width too (OWASP, "CSV Injection")
_FORMULA = tuple("=+-@＝＋－＠")


def csv_report(report: Report) -> str:
    """The cases; an empty field is what is unknown, or an end that is open."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_row(case, report.run.settings.seed) for case in report.run.cases)
    return stream.getvalue()


def text_field(text: str | None) -> str:
    """A user's text as a field: on one line, and never run as a formula.

    >>> text_field("-E(x) == 1"), text_field("E(x) == 1")
    ("'-E(x) == 1", 'E(x) == 1')
    """
    shown = one_line(text or "")
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def number_field(value: float | None) -> str:
    """A number in as many digits as bring it back; nothing for what is not finite.

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


def _row(case: CaseResult, seed: int) -> dict[str, str]:
    low, high = (None, None) if case.region is None else (case.region.low, case.region.high)
    interval = case.interval or (None, None)
    place = case.location
    sides = _three(case.sides)
    return {
        "claim": text_field(case.claim),
        "parameters": text_field(format_parameters(case.parameters)),
        "title": text_field(case.title),
        "statement": text_field(case.statement),
        "document": text_field("; ".join(one.document or "" for one in case.sources)),
        "section": text_field("; ".join(one.section or "" for one in case.sources)),
        "tags": text_field(" ".join(case.tags)),
        "claimed_low": number_field(low),
        "claimed_high": number_field(high),
        "estimate": number_field(case.estimate),
        "interval_low": number_field(interval[0]),
        "interval_high": number_field(interval[1]),
        "standard_error": number_field(case.standard_error),
        "confidence": number_field(case.confidence),
        "scale": number_field(case.scale),
        "resolution": number_field(case.resolution),
        "draws": str(case.draws),
        "seconds": number_field(round(case.seconds, 6)),
        "guarantee": str(case.guarantee or ""),
        "verdict": str(case.verdict),
        "expect": str(case.expect),
        "result": str(case.result),
        "reason": text_field(None if case.explanation is None else str(case.explanation)),
        "file": text_field(place.file),
        "line": "" if place.file_line is None else str(place.file_line),
        "seed": str(seed),
        "repeat": text_field(case.repeat),
        "exact": number_field(None if case.exact is None else case.exact.value),
        "confirmed": str(case.confirmed).lower(),
        "within": number_field(case.within),
        "left": number_field(sides[0]),
        "middle": number_field(sides[1]),
        "right": number_field(sides[2]),
        "note": text_field(promises.note(case)),
        "entry": "" if case.entry is None else str(list(case.entry)),
        "tried": "" if case.search is None else str(len(case.search.tried)),
        "written": text_field(None if case.written is None else case.written.text),
        "rounding": words.rounding(case) or "",
        "column": text_field(case.column),
        "dtype": case.dtype or "",
        "of": text_field(case.of),
        "xfail": text_field(case.xfail),
        "nights": "" if case.evidence is None else str(case.evidence.nights),
        "earlier_draws": "" if case.evidence is None else str(case.evidence.earlier),
        "at": "" if case.search is None else text_field(format_parameters(case.search.at)),
    }
