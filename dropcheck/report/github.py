"""Annotations: the workflow commands by which GitHub marks lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from dropcheck.claims.reader import SHIPPED_NAME
from dropcheck.errors import Location, Problem
from dropcheck.report import Report, numbers, words
from dropcheck.report.screen import one_line, place, plain
from dropcheck.report.words import not_passed
from dropcheck.results import CaseResult

# GitHub shows ten errors of a step and drops the rest: the tenth says how many they are
MOST = 9
LONGEST_NAME = 150  # characters of a case's name in a title
LONGEST = 4000  # characters of one message; GitHub cuts those that are much longer


def run_annotations(report: Report) -> str:
    """An annotation for each problem and each case that did not pass, failures first; then notices.

    GitHub shows ten of each level in a step.
    """
    commands = [
        *(_of_problem(problem, report.workspace) for problem in report.problems),
        *(_of_case(case, report.workspace) for case in not_passed(report.run.cases)),
    ]
    notices = [one for case in report.run.cases if (one := _notice(case, report.workspace))]
    more = _more(len(report.problems[MOST:]), len(commands) - MOST)
    return "".join(f"{line}\n" for line in [*commands[:MOST], *more, *notices[:MOST]])


def problem_annotations(problems: Iterable[Problem], workspace: Path | None) -> str:
    """An annotation for each error of a file that prevents a run."""
    listed = list(problems)
    commands = [_of_problem(problem, workspace) for problem in listed[:MOST]]
    more = _more(len(listed) - MOST, len(listed) - MOST)
    return "".join(f"{line}\n" for line in [*commands, *more])


def _more(problems: int, rest: int) -> Sequence[str]:
    if rest <= 0:
        return ()
    if problems >= rest:
        text = f"and {numbers.plural(rest, 'more error')}"
    elif problems > 0:
        text = f"and {rest} more errors, and cases that did not pass"
    else:
        text = f"and {numbers.plural(rest, 'more case')} that did not pass"
    return (_command({"title": text}, f"{text}: the log has them"),)


def _of_problem(problem: Problem, workspace: Path | None) -> str:
    where = problem.location
    known = _file(where, workspace) if where is not None else {}
    lines = [one_line(problem.message)]
    if problem.hint:
        lines.append(f"hint: {one_line(problem.hint)}")
    if where is not None and not known:
        lines.append(f"where: {place(where)}")
    return _command({**known, "title": "dropcheck"}, "\n".join(lines))


def _of_case(case: CaseResult, workspace: Path | None) -> str:
    lines = [
        one_line(case.title),
        *([f"written: {one_line(case.written.text)}"] if case.written else []),
        f"statement: {one_line(case.statement)}",
        f"claimed: {words.claimed(case)}",
        f"estimated: {words.estimated_in_full(case)}",
        *([f"within: {words.within(case)}"] if case.within is not None else []),
        *([f"exact: {exact}"] if (exact := words.exactly(case)) else []),
        f"reading: {words.reading(case)}",
        *([f"reason: {case.explanation}"] if case.explanation else []),
        f"repeat: {one_line(case.repeat)}",
    ]
    known = _file(case.location, workspace)
    if not known:
        lines.append(f"where: {place(case.location)}")
    name = words.case_name(case)
    name = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    title = f"{name}: {case.verdict}, expected {case.expect}"
    return _command({**known, "title": title}, "\n".join(lines))


def _notice(case: CaseResult, workspace: Path | None) -> str | None:
    """What to know of a verified case before one relies on it."""
    note = words.note(case)
    if note is None:
        return None
    known = _file(case.location, workspace)
    return _command({**known, "title": words.case_name(case)[:LONGEST_NAME]}, note, "notice")


def _file(where: Location, workspace: Path | None) -> dict[str, str]:
    """The place as GitHub needs it: a file within the repository, or nothing."""
    if where.file == SHIPPED_NAME:  # not a file of the repository
        return {}
    root = (workspace or Path()).resolve()
    try:
        inner = Path(where.file).resolve().relative_to(root)
    except (ValueError, OSError, RuntimeError):  # outside, no name of a file, a loop of links
        return {}
    properties = {"file": str(PurePosixPath(*inner.parts))}
    if where.file_line is not None:
        properties["line"] = str(where.file_line)
        if where.column is not None and where.cell is None:  # columns of cells are not the file's
            properties["col"] = str(where.column)
    return properties


def _command(properties: Mapping[str, str], message: str, level: str = "error") -> str:
    """One command on one line.

    >>> _command({"file": "a,b.yaml", "line": "3"}, "50%")
    '::error file=a%2Cb.yaml,line=3::50%25'
    """
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    if len(message) > LONGEST:
        message = message[: LONGEST - 1] + "…"
    return f"::{level} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(one_line(text)).replace(":", "%3A").replace(",", "%2C")
