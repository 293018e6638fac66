"""The HTML report: one page that needs no network, to read, to send and to keep.

It fetches nothing, and its content policy forbids everything but its one style sheet and its one
script, by their hashes. Without the script it is complete, but has no filter. Claims that did not
pass come first and stand open; others are folded where there are many.

A picture is a small SVG of any width: places are percentages, and all text is HTML beside it, so
that it is legible on a phone too. Colours are those of the other pictures, by class.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files

from dropcheck import __version__
from dropcheck.claims.registry import Registry
from dropcheck.report import Report, words
from dropcheck.report import conformance as pivoting
from dropcheck.report.facts import facts, summary
from dropcheck.report.numbers import plural
from dropcheck.report.pictures import COLOURS, Ends, Placed, limits, placed, ticks_between
from dropcheck.report.screen import one_line, plain
from dropcheck.results import SEVERITY, CaseResult, Outcome, RunResult, Verdict

FEW = 12  # the most cases of a page on which every claim stands open
MOST_TICKS = 9  # labels that a phone has room for
# on the line of a case; what else is said of it is folded below, or is the same for all cases
LINE = ("parameters", "result", "claimed", "estimated", "interval", "exact")
CODE = ("written", "statement", "model", "requires", "truth", "repeat")
LEGEND = (
    "Each line is an interval that holds the quantity, with its estimate. A claim is verified "
    "where the line touches what is claimed and stays within the shaded band, and refuted where it "
    "misses what is claimed. Where the model gives the exact value, a diamond, that decides. "
    "Beyond ±1 the scale is logarithmic, and a line to the edge goes on."
)
_MARKS = {
    Verdict.VERIFIED: '<circle r="4.5"/>',
    Verdict.REFUTED: '<path d="M-4.5-4.5 4.5 4.5M-4.5 4.5 4.5-4.5"/>',
    Verdict.INCONCLUSIVE: '<path d="M-4-4H4V4H-4Z"/>',
}
_EXACT = '<path class="exact" d="M-3.5 0 0-3.5 3.5 0 0 3.5Z"/>'


def html_report(report: Report) -> str:
    """The report of a run as one HTML document."""
    run, said = report.run, dict(summary(report.run))
    style, script = _colours() + _asset("report.css"), _asset("report.js")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    )
    name, (standing, outcome) = escape(said.pop("registry")), _outcome(run)
    figures = " · ".join(said[label] for label in said if label not in ("interrupted", "cases"))
    groups = sorted(words.by_claim(run.cases).values(), key=_severity, reverse=True)
    claims = "\n".join(_claim(cases, report) for cases in groups)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,"><title>{name}: {outcome}</title><style>{style}</style></head>
<body><a class="skip" href="#claims">Skip to the claims</a>
<header><h1 dir="auto">{name}</h1><p class="lead {standing}">{outcome}</p>
<p class="quiet">{escape(figures)}</p></header>
<main>{_conformance(run.cases)}{_warnings(run)}
<h2 id="claims" tabindex="-1">Claims</h2><p class="quiet">{LEGEND}</p>{_filters(run)}
{claims}</main>
<footer>{_foot(report)}</footer><script>{script}</script></body></html>
"""


def _asset(name: str) -> str:
    return files("dropcheck.report").joinpath("assets", name).read_text(encoding="utf-8")


def _plain(text: str) -> str:
    """A user's text on one line, which no terminal and no browser obeys."""
    return escape(one_line(text))


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _colours() -> str:
    light, dark = (
        ";".join(f"--{name}:{pair[which]}" for name, pair in COLOURS.items()) for which in (0, 1)
    )
    return f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _outcome(run: RunResult) -> tuple[Outcome, str]:
    """The worst result, and the run in one phrase."""
    worst = max((case.result for case in run.cases), key=SEVERITY.__getitem__, default=Outcome.PASS)
    text = words.counts(run)
    if run.cases and worst is Outcome.PASS:
        text = f"{'All ' * (len(run.cases) > 1)}{plural(len(run.cases), 'case')} passed"
    if run.interrupted or not run.cases:
        worst = max(worst, Outcome.UNDECIDED, key=SEVERITY.__getitem__)
    return worst, escape(", ".join(filter(None, (words.interrupted(run), text))))


def _severity(cases: Iterable[CaseResult]) -> int:
    return max(SEVERITY[case.result] for case in cases)


def _warnings(run: RunResult) -> str:
    """What to know before one relies on it, each text once."""
    notes = [f"{words.case_name(case)}: {text}" for case in run.cases if (text := words.note(case))]
    own = (text for case in run.cases for text in case.warnings)
    texts = dict.fromkeys([*run.warnings, *own, *notes])
    items = "".join(f'<li dir="auto">{_plain(text)}</li>' for text in texts)
    return f"<h2>Warnings</h2><ul>{items}</ul>" if items else ""


def _filters(run: RunResult) -> str:
    """The filters, hidden until their script has started."""
    results = (f"<option>{one}</option>" for one in Outcome if run.count(one))
    return (
        '<form id="filters" role="search" aria-label="Filter the cases" hidden>'
        '<label>Text<input type="search" name="text" autocomplete="off"></label>'
        f'<label>Result<select name="result"><option value="">any</option>{"".join(results)}'
        '</select></label><button type="reset">Reset</button></form>'
        '<p id="status" role="status" class="quiet"></p>'
    )


def _foot(report: Report) -> str:
    """What another machine needs to make the same page."""
    said = summary(report.run)
    date = f"{report.started:%Y-%m-%d %H:%M UTC}" if report.started else None
    parts = filter(None, (date, f"dropcheck {__version__}", said["seed"], said["alpha"]))
    command = f"<p><code>{_plain(report.command)}</code></p>" if report.command else ""
    return f'<p class="quiet">{" · ".join(map(escape, parts))}</p>{command}'


# ---- a claim -------------------------------------------------------------------------------------


def anchor(claim: str) -> str:
    """The id of a claim's part of the page.

    >>> anchor("mean-kept")
    'claim-mean-kept'
    """
    return "claim-" + re.sub(r"[^\w.-]", "-", claim)


def _claim(cases: Sequence[CaseResult], report: Report) -> str:
    """A claim: what it says, a line for each case, and what is the same for all of them."""
    rows, said = [placed(case) for case in cases], [facts(case) for case in cases]
    ends, worst = limits(rows), words.worst(cases)
    shared = {
        label: text
        for label, text in said[0].items()
        if label not in LINE and all(one.get(label) == text for one in said)
    }
    lines = "".join(
        _case(case, row, {key: text for key, text in of.items() if key not in shared}, ends)
        for case, row, of in zip(cases, rows, said, strict=True)
    )
    passed = sum(case.result is Outcome.PASS for case in cases)
    count = f" {passed}/{len(cases)}" if len(cases) > 1 else ""
    is_open = " open" * (worst.result is not Outcome.PASS or len(report.run.cases) <= FEW)
    name, title = escape(shared.pop("claim")), escape(shared.pop("title", ""))
    about = _markup({label: shared.pop(label, "") for label in ("written", "statement")})
    about |= _markup(_from_file(cases[0], report.registry))
    rest = _markup(shared)
    if "document" in rest:
        keys = dict.fromkeys(one.document for one in cases[0].sources if one.document is not None)
        rest["document"] = "; ".join(_document(key, report.registry) for key in keys)
    return (
        f'<details class="claim"{is_open}><summary><h3>{name}</h3>'
        f'<b class="{worst.result}">{escape(words.outcome(worst))}{count}</b>'
        f'<span class="title" dir="auto">{title}</span></summary>'
        f'<div id="{anchor(cases[0].claim)}" class="body"><dl class="about">{_pairs(about)}</dl>'
        f'{lines}<div class="row axis"><span></span>{_axis(ends)}'
        '<span class="quiet">distance from the claim; ±1: edge of the band</span></div>'
        f"<dl>{_pairs(rest)}</dl></div></details>"
    )


def _from_file(case: CaseResult, registry: Registry) -> dict[str, str]:
    """What the claims file says beside the statement."""
    claim = registry.claims.get(case.claim)
    if claim is None:
        return {}
    true = registry.claims.get(claim.truth or "")
    return {
        "model": claim.model.text.strip("\n") if claim.model else "",
        "requires": "\n".join(one.text.strip() for one in claim.requires),
        "says": claim.says or "",
        "note": claim.note or "",
        "truth": f"{true.id}: {true.statement.text.strip()}" if true else "",
    }


def _markup(said: Mapping[str, str]) -> dict[str, str]:
    """Texts as markup: code as it is written, other text in the direction that it has."""
    return {
        label: f'<pre dir="ltr">{escape(plain(text))}</pre>'
        if label in CODE
        else f'<span dir="auto">{_plain(text)}</span>'
        for label, text in said.items()
        if text
    }


def _pairs(shown: Mapping[str, str]) -> str:
    return "".join(f"<div><dt>{label}</dt><dd>{text}</dd></div>" for label, text in shown.items())


def _document(key: str, registry: Registry) -> str:
    """A document by its title and its date, with a link that runs no script."""
    document = registry.documents.get(key)
    if document is None:
        return f"<bdi>{_plain(key)}</bdi>"
    title, url = f"<bdi>{_plain(document.title)}</bdi>", document.url or ""
    if url.lower().startswith(("https://", "http://")):
        title = f'<a href="{_plain(url)}" rel="noopener noreferrer">{title}</a>'
    return ", ".join(filter(None, (title, _plain(document.date or ""))))


def _case(case: CaseResult, row: Placed, said: Mapping[str, str], ends: Ends) -> str:
    """A case: its picture, its result and its figures; the rest of what is said is folded."""
    figures = ", ".join(f"{label} {escape(said[label])}" for label in LINE[2:] if label in said)
    line = (
        f"<span>{escape(said.get('parameters', ''))}</span>{_picture(case, row, ends)}"
        f'<span><b class="{case.result}">{escape(said["result"])}</b><br>{figures}</span>'
    )
    more = _pairs(_markup({label: text for label, text in said.items() if label not in LINE}))
    if not more:
        return f'<div class="case row {case.result}">{line}</div>'
    is_open = " open" * (case.result is not Outcome.PASS)
    return (
        f'<details class="case {case.result}"{is_open}><summary class="row">{line}</summary>'
        f"<dl>{more}</dl></details>"
    )


def _at(place: float, ends: Ends) -> str:
    """A place as a percentage; what is beyond the axis is at the edge."""
    if not ends[0] <= place <= ends[1]:
        return "0%" if place < ends[0] else "100%"
    return f"{3 + 94 * (place - ends[0]) / (ends[1] - ends[0]):.2f}%"


def _picture(case: CaseResult, row: Placed, ends: Ends) -> str:
    """The band, the allowed region, the interval and the estimate of a case."""
    parts = []
    for name, (low, high) in (("band", row.verified), ("allowed", row.allowed)):
        if low < high:
            left, right = _at(low, ends), _at(high, ends)
            width = float(right[:-1]) - float(left[:-1])
            parts.append(
                f'<rect class="{name}" x="{left}" y="2" width="{width:.2f}%" height="24"/>'
            )
    claimed = {_at(end, ends) for end in row.allowed if math.isfinite(end)}
    parts += [_upright("claimed", x, 2, 26) for x in sorted(claimed)]
    if row.interval[0] <= row.interval[1]:
        left, right = (_at(end, ends) for end in row.interval)
        parts.append(f'<line class="reach" x1="{left}" x2="{right}" y1="14" y2="14"/>')
        caps = (x for x in (left, right) if x not in ("0%", "100%"))
        parts += [_upright("reach", x, 9, 19) for x in caps]
    if ends[0] <= row.estimate <= ends[1]:
        mark = f'<g class="mark">{_MARKS[case.verdict]}</g>'
        x = _at(row.estimate, ends)
        parts.append(f'<svg x="{x}" y="14" overflow="visible">{mark}</svg>')
    if ends[0] <= row.exact <= ends[1]:
        x = _at(row.exact, ends)
        parts.append(f'<svg x="{x}" y="14" overflow="visible">{_EXACT}</svg>')
    return f'<svg class="{case.verdict}" aria-hidden="true">{"".join(parts)}</svg>'


def _upright(name: str, x: str, top: int, bottom: int) -> str:
    return f'<line class="{name}" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>'


def _axis(ends: Ends) -> str:
    labels = (
        f'<text x="{_at(place, ends)}" y="12" text-anchor="middle">{label}</text>'
        for place, label in ticks_between(ends, MOST_TICKS).items()
    )
    return f'<svg aria-hidden="true">{"".join(labels)}</svg>'


# ---- the conformance table: claims by columns, and texts on single cells -------------------------


def _conformance(cases: Sequence[CaseResult]) -> str:
    """The table, the meaning of its signs, and a line for each cell that does not simply hold."""
    table = pivoting.conformance(cases)
    if table is None:
        return ""
    names = [f"{_plain(head.name)}<br>{_plain(head.dtype or '')}" for head in table.heads]
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("claim", "parameters", *names))
    rows = "".join(
        f'<tr><th scope="row">{_plain(row.claim)}</th><td>{_plain(row.parameters)}</td>'
        f"{''.join(map(_cell, row.cells))}</tr>"
        for row in table.rows
    )
    known = [f"{one.sign} {one.meaning}" for one in table.marks]
    signs = " · ".join(dict.fromkeys([*known, *pivoting.legend(table)]))
    said = "".join(
        f'<li><b class="{cell.worst.result}">{mark.sign}</b> '
        f"{_link(cell, _plain(pivoting.where(cell)))}: {_plain(text)} "
        f"<code>{_plain(cell.worst.repeat)}</code></li>"
        for cell, mark, text in pivoting.to_say(table)
    )
    return (
        '<h2 id="conformance">Conformance</h2>'
        '<div class="wide" role="region" tabindex="0" aria-labelledby="conformance"><table><thead>'
        f"<tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        f'<p class="quiet">{_plain(signs)}</p><ul>{said}</ul>'
    )


def _cell(cell: pivoting.ConformanceCell) -> str:
    if cell.mark is None:
        return f"<td>{pivoting.NOTHING}</td>"
    sign, meaning = cell.mark.sign, cell.mark.meaning
    said = f'<span aria-hidden="true">{sign}</span><span class="spoken">{meaning}</span>'
    return f'<td class="{cell.worst.result}">{_link(cell, said)}</td>'


def _link(cell: pivoting.ConformanceCell, text: str) -> str:
    return f'<a href="#{anchor(cell.worst.claim)}">{text}</a>'
