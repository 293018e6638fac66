"""The claims of the HTML report: each in full, with its cases as pictures and as commands.

A picture is a small SVG of any width: places are percentages, and all text is HTML beside it, so
that it is legible on a phone too. Colours are those of the page, by class.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dropcheck.claims.registry import Claim, Registry
from dropcheck.report import phrases, pictures, promises
from dropcheck.report.html import Markup, element, join, lists
from dropcheck.report.numbers import exact, plural
from dropcheck.report.pictures import Placed
from dropcheck.report.terminal.claim_cards import parameters_text, tolerance_text
from dropcheck.report.terminal.screen import place
from dropcheck.results import CaseResult, Outcome, Passage, Verdict

FEW_COMMANDS = 3  # more commands are folded away


def anchor(claim: str) -> str:
    """The id of a claim's section."""
    return "claim-" + re.sub(r"[^\w.-]", "-", claim)


def claim_section(cases: Sequence[CaseResult], registry: Registry) -> Markup:
    """One claim: what it says, where it stands, and the results of its cases."""
    case = cases[0]
    claim = registry.claims.get(case.claim)
    heading = f"{anchor(case.claim)}-heading"
    return element(
        "article",
        element("h3", case.claim, id=heading),
        element("p", case.title, dir="auto", class_="searched"),
        _facts(cases, claim, registry),
        _figure(cases),
        _commands(cases),
        class_="claim",
        id=anchor(case.claim),
        data_claim=case.claim,
        aria_labelledby=heading,
    )


def _facts(cases: Sequence[CaseResult], claim: Claim | None, registry: Registry) -> Markup:
    case = cases[0]
    facts: dict[str, Markup | str | None] = {
        "written": _code(case.written.text, searched=True) if case.written else None,
        "claim" if case.written is None else "read": _code(case.statement, searched=True),
    }
    if claim is not None:
        facts |= {
            "model": _code(claim.model.text) if claim.model else None,
            "parameters": _code(parameters_text(claim)) if claim.parameter_names else None,
            "requires": _code("\n".join(one.text.strip() for one in claim.requires))
            if claim.requires
            else None,
            "says": element("q", claim.says, dir="auto") if claim.says else None,
            "note": element("span", claim.note, dir="auto") if claim.note else None,
            "truth": _truth(claim, registry),
            "tolerance": tolerance_text(claim.tolerance),
        }
    facts |= {
        "resolution": _resolution(cases),
        "guarantee": "; ".join(dict.fromkeys(promises.basis(one) for one in cases)),
        "expected": f"{case.expect}: it is kept because it is false"
        if case.expect == "refuted"
        else None,
        "source": _sources(case, registry),
        "tags": ", ".join(case.tags) or None,
        "where": place(case.location) or None,
    }
    pairs = [
        join([element("dt", name), element("dd", value)])
        for name, value in facts.items()
        if value is not None
    ]
    return element("dl", *pairs, class_="facts")


def _resolution(cases: Sequence[CaseResult]) -> str | None:
    """How sharply the cases were looked at; as a share of the scale where scales differ."""
    texts = {phrases.resolution(case) for case in cases} - {None}
    if len(texts) == 1:
        return texts.pop()
    return f"{exact(cases[0].resolution)} of the scale of each case" if texts else None


def _code(text: str, *, searched: bool = False) -> Markup:
    code = element("code", text.strip("\n"))
    return element("pre", code, dir="ltr", class_="searched" if searched else None)


def _truth(claim: Claim, registry: Registry) -> Markup | None:
    """The claim that says what holds instead of a false one."""
    true = registry.claims.get(claim.truth or "")
    if true is None:
        return None
    return join([element("span", f"{true.id}:"), _code(true.statement.text)])


def _sources(case: CaseResult, registry: Registry) -> Markup | None:
    """Each passage that the claim comes from."""
    shown = [_source(one, registry) for one in case.sources]
    return element("span", join(shown, "; "), class_="searched") if shown else None


def _source(source: Passage, registry: Registry) -> Markup:
    """The document with its date and address, and the section in it."""
    document = registry.documents.get(source.document or "")
    parts: list[str | Markup | None] = [source.document]
    if document is not None:
        title: str | Markup = document.title
        url = document.url or ""
        if url.lower().startswith(("https://", "http://")):  # not one that runs a script
            title = element("a", document.title, href=url, rel="noopener noreferrer")
        parts = [title, document.date, None if isinstance(title, Markup) else document.url]
    parts.append(source.section)
    return join([element("bdi", part) for part in parts if part], ", ")


def _figure(cases: Sequence[CaseResult]) -> Markup:
    """A list of the cases as intervals, with the axis below them."""
    rows = [pictures.placed(case) for case in cases]
    ends = pictures.limits(rows)
    items = [
        element(
            "li",
            element("span", phrases.parameters(row.case) or "the one case"),
            interval_picture(row, ends),
            _result(row.case),
        )
        for row in rows
    ]
    axis = element("li", element("span"), axis_picture(ends), element("span"))
    caption = "Distance from the claim: ±1 is the edge of the band in which it is verified."
    return element(
        "figure",
        *lists(items, height=2.75, class_="intervals"),
        element("ul", axis, class_="intervals", aria_hidden="true"),
        element("figcaption", caption),
    )


def _result(case: CaseResult) -> Markup:
    """The verdict of a case and its figures; where it did not pass, also why."""
    drawn = f", {promises.drawn(case)}" if case.draws else ""
    known = phrases.exact(case)
    figures = [
        element("span", phrases.estimated(case), class_="figures"),
        " in ",
        element("span", phrases.interval(case), class_="figures"),
        ", " if case.sides else None,
        element("span", phrases.claimed(case), class_="figures") if case.sides else None,
        f", exact {known}" if known else None,
        drawn,
    ]
    parts: list[str | Markup | None] = [
        element("span", phrases.standing(case), class_=f"standing {case.verdict}"),
        None if case.within is None else f" within {promises.within(case)}",
        Markup("<br>"),
        join(figures) if case.interval is not None else None,
    ]
    note = promises.note(case)
    if note is not None:
        parts.append(element("span", Markup("<br>"), note, class_="quiet"))
    if case.result is not Outcome.PASS:
        notes = [phrases.distance(case), phrases.reading(case)]
        notes += [None if case.explanation is None else str(case.explanation)]
        parts += [element("span", Markup("<br>"), one, class_="quiet") for one in notes if one]
    return element("span", *parts)


def _commands(cases: Sequence[CaseResult]) -> Markup:
    """The commands that repeat the cases, each with a button that copies it."""

    def item(case: CaseResult) -> Markup:
        label = f"Copy the command for {case.claim} {phrases.parameters(case)}".rstrip()
        button = element(
            "button", "Copy", type="button", class_="copy", hidden=True, aria_label=label
        )
        return element("li", element("code", case.repeat, dir="ltr"), button)

    listed = lists(
        [item(case) for case in cases],
        height=3,
        class_="commands",
        aria_label="Commands that repeat the cases",
    )
    if len(cases) <= FEW_COMMANDS:
        return element("div", element("span", "Repeat", class_="quiet"), *listed)
    summary = element("summary", f"{plural(len(cases), 'command')} to repeat each case")
    return element("details", summary, *listed)


HEIGHT = 28
MIDDLE = HEIGHT // 2
MOST_TICKS = 9  # labels that a phone has room for

# centred on the origin
_SHAPES = {
    Verdict.VERIFIED: element("circle", r="4.5"),
    Verdict.REFUTED: element("path", d="M-4.5,-4.5L4.5,4.5M-4.5,4.5L4.5,-4.5"),
    Verdict.INCONCLUSIVE: element("path", d="M-4,-4H4V4H-4Z"),
}

Ends = tuple[float, float]


def interval_picture(row: Placed, ends: Ends) -> Markup:
    """The picture of one case: its band, the allowed region, its interval and its estimate."""
    parts = [*_ground(row, ends), *([] if row.interval is None else _interval(row.interval, ends))]
    if row.estimate is not None and ends[0] <= row.estimate <= ends[1]:
        parts.append(_mark(row.case.verdict, _share(row.estimate, ends)))
    return element(
        "svg",
        *parts,
        class_=f"interval {row.case.verdict}",
        width="100%",
        height=HEIGHT,
        role="img",
        aria_label=description(row),
    )


def description(row: Placed) -> str:
    """The picture in words, for readers who cannot see it."""
    case = row.case
    if case.interval is None:
        return f"claimed {phrases.claimed(case)}; no interval; {phrases.standing(case)}"
    return (
        f"claimed {phrases.claimed(case)}; estimated {phrases.estimated_in_full(case)}; "
        f"{phrases.standing(case)}"
    )


def axis_picture(ends: Ends) -> Markup:
    """The axis that all pictures of a page share."""
    labels = [
        element("text", label, x=_share(place, ends), y=12, text_anchor="middle")
        for place, label in pictures.ticks(ends, MOST_TICKS)
    ]
    return element("svg", *labels, class_="axis", width="100%", height=16, aria_hidden="true")


def key_picture(verdict: Verdict) -> Markup:
    """A verdict's mark, for the legend."""
    return element(
        "svg",
        _line("0%", "100%", "reach"),
        _mark(verdict, "50%"),
        class_=f"interval key {verdict}",
        width=36,
        height=HEIGHT,
        aria_hidden="true",
    )


def _share(place: float, ends: Ends) -> str:
    """A place as a percentage, with a little room at both ends."""
    [shown] = pictures.within(ends, place)
    share = (shown - ends[0]) / (ends[1] - ends[0])
    return f"{3 + 94 * share:.2f}%"


def _ground(row: Placed, ends: Ends) -> list[Markup]:
    parts = []
    for span, name in ((row.verified, "band"), (row.allowed, "allowed")):
        if span is not None and span[0] < span[1]:
            low, high = pictures.within(ends, *span)
            width = 94 * (high - low) / (ends[1] - ends[0])
            rect = element(
                "rect", x=_share(low, ends), y=2, width=f"{width:.2f}%", height=24, class_=name
            )
            parts.append(rect)
    for end in sorted(set(row.allowed or ())):
        if math.isfinite(end):
            x = _share(end, ends)
            parts.append(element("line", x1=x, x2=x, y1=2, y2=26, class_="claimed"))
    return parts


def _interval(interval: tuple[float, float], ends: Ends) -> list[Markup]:
    low, high = (_share(end, ends) for end in interval)
    parts = [_line(low, high, "reach")]
    for end, x in zip(interval, (low, high), strict=True):
        if ends[0] <= end <= ends[1]:
            cap = element("path", d="M0,-5V5", class_="reach")
        else:
            cap = element("path", d="M-4,-5L4,0L-4,5Z" if end > 0 else "M4,-5L-4,0L4,5Z")
        parts.append(_at(x, cap))
    return parts


def _line(low: str, high: str, name: str) -> Markup:
    return element("line", x1=low, x2=high, y1=MIDDLE, y2=MIDDLE, class_=name)


def _mark(verdict: Verdict, x: str) -> Markup:
    return _at(x, element("g", _SHAPES[verdict], class_="mark"))


def _at(x: str, shape: Markup) -> Markup:
    """A shape moved to a point in per cent, which a path cannot have as coordinates."""
    return element("svg", join([shape]), x=x, y=MIDDLE, overflow="visible")
