"""A run as Markdown, for a README, a paper or a pull request: GitHub's flavour, a row per claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dropcheck.errors import Problem
from dropcheck.report import Report, numbers, words
from dropcheck.report.conformance import (
    Conformance,
    ConformanceCell,
    ConformanceMark,
    conformance,
    legend,
    measured,
    sign,
    to_say,
    where,
)
from dropcheck.report.screen import one_line, place
from dropcheck.report.terminal.run_table import summary_parts
from dropcheck.report.words import not_passed
from dropcheck.results import CaseResult, Outcome

MOST = 20  # cases shown one by one; the rest are counted
MOST_CELLS = 40  # the same for cells of a conformance table, which take less room

HEADINGS = (
    *("claim", "statement", "parameters", "claimed", "estimated", "exact"),
    *("interval", "within", "draws", "verdict", "result"),
)
NUMBERS = ("claimed", "estimated", "exact", "within", "draws")

_MARKUP = re.compile(r"([\\`*_\[\]<>|~$&])")
# what GitHub turns into links and pictures, in text without markup
_REFERENCE = re.compile(r"(@(?=\w)|#(?=\w)|:(?=[\w+-]+:)|\w:(?=//)|\bwww(?=\.))", re.ASCII)


def markdown_report(report: Report) -> str:
    """The table, what did not pass, errors, warnings, and the summary."""
    table = conformance(report.run.cases, each=report.verbose)
    if table is None:
        shown = [_table(report.run.cases, report.verbose), _failures(report.run.cases)]
    else:
        shown = _conformance(table, verbose=report.verbose)
    parts = [
        *shown,
        *([_errors(report.problems)] if report.problems else []),
        "\n".join(_notes(report.run.cases)),
        "\n".join(f"- warning: {text(warning)}" for warning in report.run.warnings),
        summary_line(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary_line(report: Report) -> str:
    """The last line, which stands alone where there is no room for the rest."""
    errors = numbers.plural(len(report.problems), "error")
    if report.problems and not report.run.cases:  # there are no cases to count
        return f"{errors} · {text(report.run.registry)}"
    parts = [*([errors] if report.problems else []), *map(text, summary_parts(report.run))]
    return " · ".join(parts)


def text(written: str) -> str:
    r"""A user's text, escaped so that nothing in it is markup.

    >>> text("a|b *c* <i> @you")
    'a\\|b \\*c\\* \\<i\\> @<!-- -->you'
    """
    escaped = _MARKUP.sub(r"\\\1", one_line(written))
    return _REFERENCE.sub(r"\1<!-- -->", escaped)


def code(written: str) -> str:
    r"""A user's text as code, in a cell of a table and elsewhere.

    >>> code("P(x > 3) >= 0.9"), code("a|b")
    ('`P(x > 3) >= 0.9`', '<code>a&#124;b</code>')
    """
    shown = one_line(written)
    if not shown:
        return ""
    if set(shown) & set("`\\|"):  # a backquote ends code; escapes of the others differ by place
        inner = "".join(c if c.isalnum() or c in " ." else f"&#{ord(c)};" for c in shown)
        return f"<code>{inner}</code>"
    return f"`{shown}`"


def _table(cases: Sequence[CaseResult], verbose: bool) -> str:
    if not cases:
        return ""
    shown = words.rows(cases, each=verbose)
    rows = [[*HEADINGS], ["---:" if name in NUMBERS else "---" for name in HEADINGS]]
    rows += [list(_row(case, outcome)) for case, outcome in shown]
    if all(case.exact is None for case, _ in shown):
        place = HEADINGS.index("exact")
        rows = [row[:place] + row[place + 1 :] for row in rows]
    return "\n".join(map(_line, rows))


def _conformance(table: Conformance, *, verbose: bool) -> list[str]:
    """Claims by columns, the meaning of the signs, and texts on single cells."""
    several = any(row.parameters for row in table.rows)
    heads = [f"{text(head.name)}<br>{head.dtype}" if head.dtype else text(head.name)
             for head in table.heads]  # fmt: skip
    lines = [
        ["claim", *(["parameters"] if several else []), *heads],
        ["---", *(["---"] if several else []), *(":---:" for _ in heads)],
    ]
    for row in table.rows:
        cells = [_cell(one, verbose=verbose) for one in row.cells]
        lines.append([code(row.claim), *([text(row.parameters)] if several else []), *cells])
    texts = to_say(table)
    items = [f"- {_said(*one)}" for one in texts[:MOST_CELLS]]
    if len(texts) > MOST_CELLS:
        items.append(f"- and {numbers.plural(len(texts) - MOST_CELLS, 'more cell')}")
    return ["\n".join(map(_line, lines)), " · ".join(legend(table)), "\n".join(items)]


def _cell(cell: ConformanceCell, *, verbose: bool) -> str:
    below = measured(cell.worst).replace("\n", "<br>") if verbose and cell.cases else ""
    return "<br>".join(filter(None, (sign(cell), below)))


def _said(cell: ConformanceCell, mark: ConformanceMark, said: str) -> str:
    return f"{mark.sign} {code(where(cell))}: {text(said)}<br>{code(cell.worst.repeat)}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(case: CaseResult, result: str) -> Sequence[str]:
    return (
        code(case.claim),
        code(case.statement),
        text(words.parameters(case)),
        words.claimed(case),  # numbers need no escapes: brackets without an address are no link
        words.estimated(case),
        words.exact(case),
        words.interval(case),
        words.within(case),
        numbers.count(case.draws),
        str(case.verdict),
        result if case.result is Outcome.PASS else f"**{result}**",
    )


def _failures(cases: Sequence[CaseResult]) -> str:
    bad = not_passed(cases)
    items = [_failure(case) for case in bad[:MOST]]
    if len(bad) > MOST:
        items.append(f"- and {numbers.plural(len(bad) - MOST, 'more case')} that did not pass")
    return "\n".join(items)


def _failure(case: CaseResult) -> str:
    lines = [
        f"- **{words.outcome(case)}** {code(words.case_name(case))}: {text(case.title)}",
        *([f"  - written {code(case.written.text)}"] if case.written else []),
        f"  - claimed {words.claimed(case)}, "
        f"estimated {words.estimated_in_full(case)}"
        + (f", exact {exact}" if (exact := words.exact(case)) else ""),
        f"  - {text(words.reading(case))}",
        *([f"  - {text(str(case.explanation))}"] if case.explanation else []),
        f"  - {code(case.repeat)}",
    ]
    return "\n".join(lines)


def _notes(cases: Sequence[CaseResult]) -> list[str]:
    """What to know of verified cases before one relies on them."""
    noted = [(case, note) for case in cases if (note := words.note(case)) is not None]
    lines = [f"- note: {code(words.case_name(case))} {text(note)}" for case, note in noted[:MOST]]
    if len(noted) > MOST:
        lines.append(f"- and {numbers.plural(len(noted) - MOST, 'more note')}")
    return lines


def _errors(problems: Sequence[Problem]) -> str:
    items = []
    for problem in problems[:MOST]:
        where = place(problem.location)
        hint = f" ({text(problem.hint)})" if problem.hint else ""
        items.append(f"- **error** {code(where)} {text(problem.message)}{hint}".replace("  ", " "))
    if len(problems) > MOST:
        items.append(f"- and {numbers.plural(len(problems) - MOST, 'more error')}")
    return "\n".join(items)
