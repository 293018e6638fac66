"""The formats of a run's report: each is one function here, `Report` → text or bytes.

A format is chosen by its name for standard output, and by the ending of its name for a file. What
is said of a case comes from `facts`; a format only sets it, and escapes what is markup to it.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from dropcheck import __version__
from dropcheck.errors import DropcheckError, Location, Problem
from dropcheck.report import Report, table, words
from dropcheck.report.facts import facts, summary
from dropcheck.report.screen import Terminal, one_line, place, plain
from dropcheck.results import CaseResult, Outcome, Passage, Written, claimed_counts


@dataclass(frozen=True, slots=True)
class Format:
    """A format of a run's report.

    A format that cannot show an interruption would show a broken run as a whole one: its file is
    not written then.
    """

    make: Callable[[Report], str | bytes]
    ending: str | None = None  # of its files; None where it is only printed
    printed: bool = True  # whether `--format` offers it
    shows_interruption: bool = False  # whether it says that a run was interrupted
    picture: bool = False  # whether matplotlib draws it, and the curves that `--plot` asks for


def table_report(report: Report) -> str:
    """The table, what did not pass, and the summary."""
    terminal = report.terminal or Terminal()
    return table.run_report(report.run, terminal, verbose=report.verbose, quiet=report.quiet)


# ---- JSON ----------------------------------------------------------------------------------------

SCHEMA = 1


def json_report(report: Report) -> str:
    """Every field of a run and of its cases."""
    run = report.run
    named = {"passed": Outcome.PASS, "failed": Outcome.FAIL, "undecided": Outcome.UNDECIDED}
    return as_json(
        registry=run.registry,
        seed=run.settings.seed,
        alpha=run.settings.alpha,
        seconds=round(run.seconds, 3),
        interrupted=run.interrupted,
        planned=run.planned,
        summary={
            "cases": len(run.cases),
            **{name: run.count(outcome) for name, outcome in named.items()},
            "errors": run.count(Outcome.ERROR),
            "asymptotic": run.asymptotic,
            "draws": run.draws,
        },
        documents=[{"file": one.file, **claimed_counts([one])} for one in run.coverage],
        cases=[_case_data(case) for case in run.cases],
        warnings=run.warnings,
    )


def _case_data(case: CaseResult) -> dict[str, Any]:
    """Every field of a case, some further names, and what is said of it in words."""
    why = case.explanation
    return {
        **{one.name: getattr(case, one.name) for one in fields(case) if one.name != "explanation"},
        **sources_data(case.sources),
        "claimed": case.claimed,
        "rounding": words.rounding(case),
        "reason": None if why is None else str(why),
        "reason_code": None if why is None else why.reason.name.lower(),
        "details": {} if why is None else why.details,
        "facts": facts(case),
    }


def as_json(**keys: Any) -> str:
    """A report with these keys, in ASCII, which every stream and every locale can write."""
    document = plain_data({"schema": SCHEMA, "version": __version__, **keys})
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def errors_json(problems: Iterable[Problem]) -> str:
    """The report of errors that prevented a command."""
    document = plain_data({"schema": SCHEMA, "errors": list(problems)})
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def fields_of(record: object, names: str) -> dict[str, Any]:
    """Fields of a record, by names in a text, as a report has them."""
    return {name: getattr(record, name) for name in names.split()}


def plain_data(value: Any) -> Any:
    """A value as JSON has it: records as mappings, whole numbers without a point.

    Numbers that are not finite are null.

    >>> plain_data({"dk": 512.0, "p": 0.1, "law": "normal(0, 1)", "w": (0.5, -1.0, math.nan)})
    {'dk': 512, 'p': 0.1, 'law': 'normal(0, 1)', 'w': [0.5, -1, None]}
    """
    match value:
        case Location():
            # the lines of a notebook count from the beginning of its cell
            cell = {} if value.cell is None else {"cell": value.cell.number}
            return {"file": value.file, **cell, "line": value.line, "column": value.column}
        case Problem():
            where = plain_data(value.location or Location(""))
            where["file"] = where["file"] or None
            return {**where, "message": value.message, "hint": value.hint}
        case Written():
            half = None if value.unit is None or not value.rounded else value.unit / 2
            place_of_it = {"line": value.start.line, "column": value.start.column}
            numbers_of_it = {"value": value.digits, "half_unit": half}
            return plain_data({"text": value.text, **place_of_it, **numbers_of_it})
        case Mapping():
            return {str(key): plain_data(one) for key, one in value.items()}
        case list() | tuple():
            return [plain_data(one) for one in value]
        case str() | bool() | None:
            return value
        case Decimal():
            return float(value)
    if is_dataclass(value):
        return {one.name: plain_data(getattr(value, one.name)) for one in fields(value)}
    number = value.item() if hasattr(value, "item") else value  # of numpy
    if not math.isfinite(number):
        return None
    return int(number) if number == int(number) and abs(number) < 2**53 else number


def sources_data(sources: Sequence[Passage]) -> dict[str, Any]:
    """Where a claim stands: the first passage, and all of them."""
    return {**asdict(sources[0] if sources else Passage()), "sources": sources}


# ---- JUnit XML -----------------------------------------------------------------------------------


def junit_report(report: Report) -> str:
    """One suite in ASCII, with a test case for each case.

    In pytest's schema (junit-10.xsd) a test case has no properties, so they stand with those of the
    suite, under its name. An undecided case is a failure: viewers pass over skipped tests.
    """
    from xml.etree.ElementTree import Element, SubElement, tostring

    run = report.run
    suites = Element("testsuites", name="dropcheck")
    suite = SubElement(suites, "testsuite", name="dropcheck")
    suite.set("errors", str(run.count(Outcome.ERROR)))
    suite.set("failures", str(run.count(Outcome.FAIL) + run.count(Outcome.UNDECIDED)))
    suite.set("skipped", "0")
    suite.set("tests", str(len(run.cases)))
    suite.set("time", f"{run.seconds:.3f}")
    if report.started is not None:
        suite.set("timestamp", report.started.isoformat(timespec="seconds"))
    properties = {
        "version": __version__,
        "interrupted": str(run.interrupted).lower(),
        "seed": str(run.settings.seed),
        "alpha": f"{run.settings.alpha:g}",
    }
    properties = {**properties, **summary(run), **properties}
    for case in run.cases:
        name = one_line(words.case_name(case))
        properties |= {f"{name}.{label}": text for label, text in facts(case).items()}
    box = SubElement(suite, "properties")
    for name, text in properties.items():
        SubElement(box, "property", name=name, value=text)

    for case in run.cases:
        told = {"classname": one_line(case.location.file), "name": one_line(words.case_name(case))}
        element = SubElement(suite, "testcase", {**told, "time": f"{case.seconds:.3f}"})
        if case.result is Outcome.PASS:
            continue
        said, undecided = facts(case), case.result is Outcome.UNDECIDED
        why = f"{said['result']}; {said['reading']}"
        if case.result is Outcome.ERROR:
            error = SubElement(element, "error", message=said.get("reason", why))
        else:
            kind = "undecided" if undecided else str(case.verdict)
            error = SubElement(element, "failure", type=kind, message=why)
        error.text = table.case_block(case)
    text = tostring(suites, encoding="us-ascii", xml_declaration=False).decode("ascii")
    return f'<?xml version="1.0" encoding="utf-8"?>{text}\n'


# ---- Markdown ------------------------------------------------------------------------------------

HEADINGS = (
    *("claim", "statement", "parameters", "claimed", "estimated", "exact"),
    *("interval", "within", "draws", "passed", "result"),
)
CODE = ("claim", "statement", "written", "repeat")
_MARKUP = re.compile(r"([\\`*_\[\]<>|~$&])")
# what GitHub turns into links and pictures, in text without markup
_REFERENCE = re.compile(r"(@(?=\w)|#(?=\w)|:(?=[\w+-]+:)|\w:(?=//)|\bwww(?=\.))", re.ASCII)


def markdown_report(report: Report) -> str:
    """The table, what did not pass, notes, warnings, and the summary."""
    held = table.contents(report.run, report.verbose)
    lists = [
        [*map(_case_in_markdown, held.cases)],
        [f"- {held.more}"] if held.more else [],
        [f"- {kind}: {text(said)}" for kind, said in held.remarks],
    ]
    parts = [_rows_in_markdown(held), " · ".join(held.legend), *map("\n".join, lists)]
    return "\n\n".join(filter(None, [*parts, summary_line(report)])) + "\n"


def summary_line(report: Report) -> str:
    """The last line, which stands alone where there is no room for the rest."""
    return " · ".join(map(text, summary(report.run).values()))


def text(written: str) -> str:
    r"""A user's text, escaped so that nothing in it is markup.

    >>> text("a|b *c* <i> @you")
    'a\\|b \\*c\\* \\<i\\> @<!-- -->you'
    """
    return _REFERENCE.sub(r"\1<!-- -->", _MARKUP.sub(r"\\\1", one_line(written)))


def code(written: str) -> str:
    r"""A user's text as code, in a cell of a table and elsewhere.

    >>> code("P(x > 3) >= 0.9"), code("a|b")
    ('`P(x > 3) >= 0.9`', '<code>a&#124;b</code>')
    """
    shown = one_line(written)
    if set(shown) & set("`\\|"):  # a backquote ends code; escapes of the others differ by place
        inner = "".join(c if c.isalnum() or c in " ." else f"&#{ord(c)};" for c in shown)
        return f"<code>{inner}</code>"
    return shown and f"`{shown}`"


def _marked(label: str, cell: str | tuple[str, str]) -> str:
    """A text by its label, and in bold where it is the result of a case that did not pass."""
    written, style = (cell, "") if isinstance(cell, str) else cell
    mark = "**" * (label == "result" and style not in ("", words.STYLES[Outcome.PASS]))
    lines = (code(one) if label in CODE else text(one) for one in written.split("\n"))
    return f"{mark}{'<br>'.join(lines)}{mark}"


def _told(said: Mapping[str, str]) -> list[tuple[str, str]]:
    return [*table.told(said), ("repeat", said["repeat"])]


def _rows_in_markdown(held: table.Contents) -> str:
    names = held.columns.names if held.by_column else HEADINGS
    names = [name for name in names if any(row.get(name) for row in held.rows)]
    marks = dict.fromkeys(names[1:], ":---:") if held.by_column else {}
    marks |= {"parameters": "---", **dict.fromkeys(held.columns.right, "---:")}
    lines = [[_marked("", name) for name in names], [marks.get(name, "---") for name in names]]
    lines += [[_marked(name, row.get(name, "")) for name in names] for row in held.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if held.rows else ""


def _case_in_markdown(case: CaseResult) -> str:
    said = facts(case)
    told = (f"  - {label}: {_marked(label, one)}" for label, one in _told(said))
    return "\n".join([f"- **{text(said['result'])}** {code(words.case_name(case))}", *told])


# ---- annotations: the workflow commands by which GitHub marks lines of a pull request ------------

# GitHub shows ten errors of a step and drops the rest: the tenth says how many they are
MOST_ANNOTATIONS = 9
LONGEST_NAME = 150  # characters of a case's name in a title
LONGEST = 4000  # characters of one message; GitHub cuts those that are much longer


def run_annotations(report: Report) -> str:
    """An annotation for each case that did not pass; then notices."""
    errors: list[str] = []
    for case in words.not_passed(report.run.cases):
        told, name = facts(case), words.case_name(case)
        name = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
        said = [f"{label}: {one}" for label, one in _told(told) if label != "where"]
        title = f"{name}: {told['result']}"
        errors.append(_annotation("error", case.location, title, said, report.workspace))
    notices = [
        _annotation("notice", case.location, words.case_name(case), [note], report.workspace)
        for case in report.run.cases
        if (note := facts(case).get("note"))
    ]
    return _shortened(errors) + "".join(f"{one}\n" for one in notices[:MOST_ANNOTATIONS])


def error_annotations(problems: Iterable[Problem], workspace: Path | None) -> str:
    """An annotation for each error."""
    told = [(one, [one.message, *([f"hint: {one.hint}"] if one.hint else [])]) for one in problems]
    return _shortened(
        [_annotation("error", one.location, "dropcheck", said, workspace) for one, said in told]
    )


def _shortened(errors: list[str]) -> str:
    if (rest := len(errors) - MOST_ANNOTATIONS) > 0:
        more = f"and {rest} more"
        errors[MOST_ANNOTATIONS:] = [_annotation("error", None, more, [f"{more}: see the log"])]
    return "".join(f"{one}\n" for one in errors)


def _annotation(
    level: str,
    where: Location | None,
    title: str,
    lines: Iterable[str],
    workspace: Path | None = None,
) -> str:
    """One command on one line: a place in the repository, or else in words; a title, a message."""
    known = {} if where is None else _in_repository(where, workspace)
    apart = where is not None and "line" not in known
    said = [*map(one_line, lines), *([f"where: {place(where)}"] if apart else [])]
    message = "\n".join(said)
    message = message if len(message) <= LONGEST else message[: LONGEST - 1] + "…"
    properties = ",".join(
        f"{name}={_escaped(one_line(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in {**known, "title": title}.items()
    )
    return f"::{level} {properties}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _in_repository(where: Location, workspace: Path | None) -> dict[str, str]:
    """The place as GitHub needs it: a file within the repository, or nothing."""
    from dropcheck.claims.reader import SHIPPED_NAME

    if where.file == SHIPPED_NAME:  # not a file of the repository
        return {}
    try:
        inner = Path(where.file).resolve().relative_to((workspace or Path()).resolve())
    except (ValueError, OSError, RuntimeError):  # outside, no name of a file, a loop of links
        return {}
    known = {"file": str(PurePosixPath(*inner.parts))}
    if where.file_line is not None:
        known["line"] = str(where.file_line)
        if where.column is not None:
            known["col"] = str(where.column)
    return known


# ---- comma-separated values (RFC 4180) -----------------------------------------------------------

# a spreadsheet reads a text with such a beginning as a formula (OWASP, "CSV Injection")
_FORMULA = tuple("=+-@＝＋－＠")
Raw = Callable[[CaseResult], float | str | None]
NUMBERS: Mapping[str, Raw] = {
    "claimed_low": lambda case: case.region.low if case.region else None,
    "claimed_high": lambda case: case.region.high if case.region else None,
    "estimate": lambda case: case.estimate,
    "interval_low": lambda case: case.interval[0] if case.interval else None,
    "interval_high": lambda case: case.interval[1] if case.interval else None,
    "standard_error": lambda case: case.standard_error,
    "confidence": lambda case: case.confidence,
    "scale": lambda case: case.scale,
    "resolution": lambda case: case.resolution,
    "within": lambda case: case.within,
    "exact": lambda case: case.exact.value if case.exact else None,
    "confirmed": lambda case: None if case.confirmed is None else str(case.confirmed).lower(),
    "left": lambda case: case.sides[0] if case.sides else None,
    "middle": lambda case: case.sides[1] if case.sides and len(case.sides) > 2 else None,
    "right": lambda case: case.sides[-1] if case.sides else None,
    "entry": lambda case: None if case.entry is None else str(list(case.entry)),
    "draws": lambda case: case.draws,
    "seconds": lambda case: round(case.seconds, 6),
    "verdict": lambda case: str(case.verdict),
    "expect": lambda case: str(case.expect),
    "result": lambda case: str(case.result),
    "file": lambda case: case.location.file,
    "line": lambda case: case.location.file_line,
    "rounding": words.rounding,
    "of": lambda case: case.of,
}
"""What a spreadsheet computes with; the other columns are what is said of a case, in words."""


def csv_report(report: Report) -> str:
    """A row for each case; a field is empty where its value is unknown, or an end infinite."""
    import csv

    from dropcheck.claims.values import format_parameters
    from dropcheck.report.facts import FACTS

    said = [name for name in FACTS if name not in NUMBERS and name != "repeat"]
    names = [*said, *NUMBERS, "seed", "repeat"]
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, names, lineterminator="\r\n")
    writer.writeheader()
    for case in report.run.cases:
        row: dict[str, Any] = {**facts(case), "parameters": format_parameters(case.parameters)}
        row |= {name: of(case) for name, of in NUMBERS.items()}
        row["seed"] = report.run.settings.seed
        writer.writerow({name: field_of(row.get(name)) for name in names})
    return stream.getvalue()


def field_of(value: float | str | None) -> str:
    """A value as a field: a number with all its digits, a text never read as a formula.

    >>> field_of(512.0), field_of(float("inf")), field_of("-0.1"), field_of("-E(x) == 1")
    ('512', '', '-0.1', "'-E(x) == 1")
    """
    if isinstance(value, str):
        shown = one_line(value)
        number = re.fullmatch(r"-[0-9.]+(?:e-?[0-9]+)?", shown)
        return f"'{shown}" if shown.startswith(_FORMULA) and not number else shown
    return "" if value is None or not math.isfinite(value) else str(plain_data(value))


# ---- pages and pictures --------------------------------------------------------------------------


def html_report(report: Report) -> str:
    """One page."""
    from dropcheck.report.html import html_report

    return html_report(report)


def _picture(kind: str, report: Report) -> bytes:
    from dropcheck.report.pictures import picture

    return picture(kind, report)


# ---- all formats ---------------------------------------------------------------------------------

_DRAWN: dict[str, Any] = {"printed": False, "shows_interruption": True, "picture": True}
FORMATS: Mapping[str, Format] = {
    "table": Format(table_report, shows_interruption=True),
    "json": Format(json_report, ".json", shows_interruption=True),
    "junit": Format(junit_report, ".xml", shows_interruption=True),
    "markdown": Format(markdown_report, ".md", shows_interruption=True),
    "github": Format(run_annotations),
    "csv": Format(csv_report, ".csv"),
    "html": Format(html_report, ".html", printed=False, shows_interruption=True),
    "svg": Format(partial(_picture, "svg"), ".svg", **_DRAWN),
    "png": Format(partial(_picture, "png"), ".png", **_DRAWN),
}
PRINTED = {name: form for name, form in FORMATS.items() if form.printed}
WRITTEN = {form.ending: form for form in FORMATS.values() if form.ending is not None}


def written_as(path: Path) -> Format | None:
    """The format of a file, by its ending; None where there is none.

    >>> written_as(Path("out/run.SVG")) is FORMATS["svg"], written_as(Path("a.txt"))
    (True, None)
    """
    return WRITTEN.get(path.suffix.lower())


def require_libraries(paths: Iterable[Path]) -> None:
    """Check that the libraries for the files are installed, before a run spends time on them.

    Raises:
        DropcheckError: a library is not installed.
    """
    pictures = any(form.picture for form in map(written_as, paths) if form is not None)
    if pictures and find_spec("matplotlib") is None:
        hint = "pip install matplotlib; HTML reports do without"
        message = "pictures need matplotlib, which is not installed"
        raise DropcheckError(Problem(message, hint=hint))
