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
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template

from dropcheck import __version__
from dropcheck.claims.registry import Registry
from dropcheck.report import Report, words
from dropcheck.report.facts import facts, summary
from dropcheck.report.numbers import plural
from dropcheck.report.pictures import COLOURS, Ends, Placed, limits, placed, ticks_between
from dropcheck.report.screen import one_line, plain
from dropcheck.report.table import remarks
from dropcheck.results import SEVERITY, CaseResult, Outcome, RunResult, Verdict

FEW = 12  # the most cases of a page on which every claim stands open
MOST_TICKS = 9  # labels that a phone has room for
# on the line of a case; what else is said of it is folded below, or is the same for all cases
LINE = ("parameters", "result", "claimed", "estimated", "interval", "exact")
CODE = ("written", "statement", "model", "requires", "truth", "repeat")
_MARKS = {
    Verdict.VERIFIED: '<circle class="mark" r="4.5"/>',
    Verdict.REFUTED: '<path class="mark" d="M-4.5-4.5 4.5 4.5M-4.5 4.5 4.5-4.5"/>',
    Verdict.UNDECIDED: '<path class="mark" d="M-4-4H4V4H-4Z"/>',
}
_EXACT = '<path class="exact" d="M-3.5 0 0-3.5 3.5 0 0 3.5Z"/>'


def html_report(report: Report) -> str:
    """The report of a run as one HTML document."""
    run, said = report.run, dict(summary(report.run))
    style, script = _colours() + _asset("report.css"), _asset("report.js")
    standing, outcome = _outcome(run)
    date = f"{report.started:%Y-%m-%d %H:%M UTC}" if report.started else ""
    foot = filter(None, (date, f"dropcheck {__version__}", said["seed"], said["alpha"]))
    groups = words.by_claim(run.cases).values()
    worst_first = sorted(groups, key=lambda cases: -SEVERITY[words.worst(cases).result])
    return Template(_asset("report.html")).substitute(
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        name=escape(said.pop("registry")),
        standing=standing,
        outcome=escape(outcome),
        figures=escape(
            " · ".join(said[key] for key in said if key not in ("interrupted", "cases"))
        ),
        warnings=_warnings(run),
        results="".join(f"<option>{one}</option>" for one in Outcome if run.count(one)),
        claims="\n".join(_claim(cases, report) for cases in worst_first),
        foot=escape(" · ".join(foot)),
        command=_plain(report.command),
    )


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
    results = [case.result for case in run.cases]
    unfinished = [Outcome.UNDECIDED] if run.interrupted or not results else []
    text = words.counts(run)
    if results and set(results) == {Outcome.PASS}:
        text = f"{'All ' * (len(results) > 1)}{plural(len(results), 'case')} passed"
    worst = max(results + unfinished, key=SEVERITY.__getitem__)
    return worst, ", ".join(filter(None, (words.interrupted(run), text)))


def _warnings(run: RunResult) -> str:
    """What to know before one relies on it."""
    items = "".join(f'<li dir="auto">{_plain(text)}</li>' for _, text in remarks(run))
    return f"<h2>Warnings</h2><ul>{items}</ul>" if items else ""


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
    about = {label: shared.pop(label, "") for label in ("written", "statement")}
    about |= _from_file(cases[0], report.registry)
    keys = dict.fromkeys(one.document for one in cases[0].sources if one.document)
    documents = "; ".join(_document(key, report.registry) for key in keys)
    return (
        f'<details class="claim"{is_open}><summary><h3>{name}</h3>'
        f'<b class="{worst.result}">{escape(words.outcome(worst))}{count}</b>'
        f'<span class="title" dir="auto">{title}</span></summary>'
        f'<div id="{anchor(cases[0].claim)}" class="body"><dl class="about">{_pairs(about)}</dl>'
        f'{lines}<div class="row axis"><span></span>{_axis(ends)}'
        '<span class="quiet">distance from the claim; ±1: edge of the band</span></div>'
        f"<dl>{_pairs(shared, documents)}</dl></div></details>"
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


def _pairs(said: Mapping[str, str], documents: str = "") -> str:
    """Labels and texts: code as it is written, other text in the direction that it has."""
    shown = {
        label: f'<pre dir="ltr">{escape(plain(text))}</pre>'
        if label in CODE
        else f'<span dir="auto">{_plain(text)}</span>'
        for label, text in said.items()
        if text
    }
    shown |= {"document": documents} if documents else {}
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
    more = _pairs({label: text for label, text in said.items() if label not in LINE})
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
    """The band, the allowed region, the interval, the estimate and the exact value of a case."""
    parts = []
    for name, (low, high) in (("band", row.verified), ("allowed", row.allowed)):
        if low < high:
            x, right = _at(low, ends), _at(high, ends)
            width = f"{float(right[:-1]) - float(x[:-1]):.2f}%"
            parts.append(f'<rect class="{name}" x="{x}" y="2" width="{width}" height="24"/>')
    claimed = sorted({_at(end, ends) for end in row.allowed if math.isfinite(end)})
    parts += [f'<line class="claimed" x1="{x}" x2="{x}" y1="2" y2="26"/>' for x in claimed]
    if row.interval[0] <= row.interval[1]:
        x, right = (_at(end, ends) for end in row.interval)
        parts.append(f'<line class="reach" x1="{x}" x2="{right}" y1="14" y2="14"/>')
        caps = (x for x in (x, right) if x not in ("0%", "100%"))
        parts += [f'<line class="reach" x1="{x}" x2="{x}" y1="9" y2="19"/>' for x in caps]
    for place, mark in ((row.estimate, _MARKS[case.verdict]), (row.exact, _EXACT)):
        if ends[0] <= place <= ends[1]:  # a path cannot be placed in per cent, but a picture can
            parts.append(f'<svg x="{_at(place, ends)}" y="14" overflow="visible">{mark}</svg>')
    return f'<svg class="{case.verdict}" aria-hidden="true">{"".join(parts)}</svg>'


def _axis(ends: Ends) -> str:
    labels = (
        f'<text x="{_at(place, ends)}" y="12" text-anchor="middle">{label}</text>'
        for place, label in ticks_between(ends, MOST_TICKS).items()
    )
    return f'<svg aria-hidden="true">{"".join(labels)}</svg>'
