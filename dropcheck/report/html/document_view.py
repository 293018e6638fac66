"""A document as a reader sees it, with figures and formulas coloured by their verdicts.

Before the text is read as Markdown, each claimed place is replaced by a number in characters that
no document can have; in the end the numbers are replaced by our own markup. So no text of a
document becomes markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from dropcheck.claims.registry import Claim, Page, Registry
from dropcheck.claims.source import LineColumn, Source
from dropcheck.documents.carrier import HTML, LATEX
from dropcheck.documents.html_source import paragraphs_of_html
from dropcheck.records import record
from dropcheck.report import phrases
from dropcheck.report.html import Markup, element, join, text
from dropcheck.report.html.claim_sections import anchor
from dropcheck.report.html.formula_view import formula_markup
from dropcheck.report.html.markdown_view import DEEPEST_HEADING, markdown_markup
from dropcheck.report.numbers import draws, plural
from dropcheck.results import CaseResult, Outcome, RunResult, Verdict
from dropcheck.results.coverage import Coverage, Printed

LONGEST = 2_000_000  # the most characters of a document that is shown: a thousand pages
MOST_CASES = 3  # of a claim, that a figure's tip shows; the section of the claim has all of them
SIGNS = {Verdict.VERIFIED: "✓", Verdict.REFUTED: "✗", Verdict.INCONCLUSIVE: "?"}


def document_sections(run: RunResult, registry: Registry) -> list[Markup]:
    """Each document of a run with its figures coloured; none where claims stand in files alone."""
    cases = phrases.by_claim(run.cases)
    first = 0
    sections: list[Markup] = []
    for page in registry.pages:
        spots = spots_of(page, registry.claims.values(), registry.coverage)
        sections.append(_section(page, spots, cases, first, alone=len(registry.pages) == 1))
        first += len(spots)
    return sections


def _section(
    page: Page,
    spots: Sequence[DocumentPlace],
    cases: Mapping[str, Sequence[CaseResult]],
    first: int,
    *,
    alone: bool,
) -> Markup:
    marks = [_marked(first + place, spot, cases) for place, spot in enumerate(spots)]
    name = PurePath(page.source.name).name
    if sum(map(len, page.source.lines)) > LONGEST:
        shown = element("p", f"{name} is too long to be shown here.", class_="quiet")
    else:
        shown = put_back(_markup(page.source, spots), marks)
    return element(
        "section",
        None if alone else element("h2", page.title, dir="auto"),
        element("p", _key(spots, cases), class_="quiet") if spots else None,
        element("article", shown, class_="document", dir="auto", aria_label=page.title),
        aria_label=f"The document {name}",
    )


def _markup(source: Source, spots: Sequence[DocumentPlace]) -> Markup:
    """The document as markup, with a number in place of each claimed place."""
    texts = held_texts(source, spots)
    ending = PurePath(source.name).suffix.lower()
    if ending in HTML:
        return join(
            element(f"h{min(level + 1, DEEPEST_HEADING)}" if level else "p", shown)
            for level, shown in paragraphs_of_html(texts[0])
        )
    if ending in LATEX:
        return element("pre", texts[0], class_="verbatim")
    if not source.cells:
        return markdown_markup(_without_front(texts[0]), HELD)
    return join(markdown_markup(cell, HELD) for cell in texts)


def _without_front(whole: str) -> str:
    """A text without the YAML front matter."""
    from dropcheck.documents.markdown_source import FRONT

    front = FRONT.match(whole)
    return whole if front is None else whole[front.end() :]


# ---- figures and their verdicts ------------------------------------------------------------------


def _marked(number: int, spot: DocumentPlace, cases: Mapping[str, Sequence[CaseResult]]) -> Markup:
    """A figure or formula with its sign, and a tip with its results on hover and focus."""
    judged = [case for claim in spot.claims for case in cases.get(claim.id, ())]
    printed = _printed(spot)
    if not spot.claims:
        return element("span", printed, class_="figure unclaimed", title="not claimed")
    if not judged:
        return element("span", printed, class_="figure not-run", title="not run")
    case = phrases.worst(judged)
    tip = f"tip-{number}"
    sign = element("span", SIGNS[case.verdict], class_="sign", aria_hidden="true")
    link = element(
        "a",
        printed,
        sign,
        element("span", f" ({phrases.standing(case)})", class_="unseen"),
        href=f"#{anchor(case.claim)}",
        class_=f"figure {case.verdict} {case.result}",
        aria_describedby=tip,
    )
    results = [_results(claim, cases[claim.id]) for claim in spot.claims if claim.id in cases]
    return element(
        "span", link, element("span", *results, id=tip, role="tooltip", class_="tip"), class_="spot"
    )


def _printed(spot: DocumentPlace) -> Markup:
    if not spot.formula:
        return text(spot.shown)
    inner = re.sub(r"\A(?:\$\$?|\\[(\[])|(?:\$\$?|\\[)\]])\Z", "", spot.shown)
    return formula_markup(inner)


def _results(claim: Claim, cases: Sequence[CaseResult]) -> Markup:
    """A claim and the results of its cases, the worst first."""
    ordered = sorted(cases, key=lambda case: case.badness, reverse=True)
    rows = [_row(case) for case in ordered[:MOST_CASES]]
    if len(ordered) > MOST_CASES:
        rows.append(_line(f"and {plural(len(ordered) - MOST_CASES, 'more case')}", "quiet"))
    read = _line(join(["read as ", element("code", claim.statement.text.strip())]))
    return element("span", *rows, read, class_="told")


def _row(case: CaseResult) -> Markup:
    at = phrases.parameters(case)
    figures = {"claimed": phrases.claimed(case)}
    if case.interval is not None and not case.draws:
        figures["exactly"] = phrases.estimated(case)
    elif case.interval is not None:
        figures |= {
            "estimated": phrases.estimated(case),
            "interval": phrases.interval(case),
            "exact": phrases.exact(case),
            "drawn": draws(case.draws),
        }
    shown = ", ".join(
        f"{name} {value}" for name, value in figures.items() if value not in ("", "-")
    )
    words = f"{SIGNS[case.verdict]} {phrases.standing(case)}"
    standing = element("span", words, class_=f"standing {case.verdict}")
    reading = None if case.result is Outcome.PASS else phrases.reading(case)
    head = _line(join([standing, f" at {at}" if at else None]))
    return join([head, *(_line(text) for text in (shown, reading) if text)])


def _line(content: str | Markup, class_: str | None = None) -> Markup:
    return element("span", content, class_=f"line {class_}" if class_ else "line")


def _key(spots: Sequence[DocumentPlace], cases: Mapping[str, Sequence[CaseResult]]) -> Markup:
    """The meaning of the colours, and how often each occurs."""
    worst = [
        phrases.worst([case for claim in spot.claims for case in cases.get(claim.id, ())])
        for spot in spots
        if any(claim.id in cases for claim in spot.claims)
    ]
    counts = []
    for verdict in Verdict:
        if count := sum(case.verdict is verdict for case in worst):
            word = verdict if verdict is not Verdict.INCONCLUSIVE else "undecided"
            sign_class = f"sign-key {verdict}"
            sign = element("span", SIGNS[verdict], class_=sign_class, aria_hidden="true")
            counts.append(join([sign, f" {count} {word}"]))
    if free := sum(not spot.claims for spot in spots):
        dotted = element("span", "not claimed", class_="figure unclaimed")
        counts.append(join([f"{free} ", dotted]))
    how = ". Point at a figure, or go to it with the Tab key, to see what was found."
    return join(["Figures and formulas: ", join(counts, ", "), how])


# ---- the places of claims ------------------------------------------------------------------------


# Private use characters (Unicode, section 23.5); those of a document are replaced first.
HELD = "\ue000"
_CLOSE, _ZERO = "\ue001", 0xE010
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_NUMBER = re.compile(f"{HELD}([{chr(_ZERO)}-{chr(_ZERO + 9)}]+){_CLOSE}")
_COMMENT_ENDS = "-->"


@record(kw_only=True)
class DocumentPlace:
    """A place of a document: a printed figure or formula, or a mark alone."""

    start: LineColumn
    end: LineColumn
    shown: str  # what is printed; empty for a mark with a statement of its own
    formula: bool
    claims: tuple[Claim, ...]  # the claims about it; none where it is not claimed


def spots_of(
    page: Page, claims: Iterable[Claim], coverage: Iterable[Coverage] = ()
) -> list[DocumentPlace]:
    """The claimed and the unclaimed places, in order and without overlap."""
    places: dict[tuple[LineColumn, LineColumn], list[Claim]] = {}
    for claim in claims:
        if claim.location.file == page.source.name and (ends := _ends(page, claim)) is not None:
            places.setdefault(ends, []).append(claim)
    every = [_claimed(ends, group) for ends, group in places.items()]
    every += _unclaimed(page.source, coverage)
    spots: list[DocumentPlace] = []
    for spot in sorted(every, key=lambda one: (one.start, one.end)):
        if not spots or spot.start >= spots[-1].end:
            spots.append(spot)
        elif spot.claims:  # a figure in a formula: the formula has the claims of both
            last = spots.pop()
            spots.append(_claimed((last.start, last.end), (*last.claims, *spot.claims)))
    return spots


def _claimed(ends: tuple[LineColumn, LineColumn], claims: Sequence[Claim]) -> DocumentPlace:
    written = claims[0].written
    return DocumentPlace(
        start=ends[0],
        end=ends[1],
        shown="" if written is None else written.text,
        formula=written is not None and written.digits is None,
        claims=tuple(claims),
    )


def _ends(page: Page, claim: Claim) -> tuple[LineColumn, LineColumn] | None:
    """The ends of the printed text of a claim, or of its mark; None for a claim in a block."""
    if claim.written is not None:
        ends = claim.written.start, claim.written.end
        return ends[0].position, ends[1].position
    start = claim.location.position
    return (start, _end_of_mark(page.source, start)) if start in page.marks else None


def _unclaimed(source: Source, coverage: Iterable[Coverage]) -> Iterable[DocumentPlace]:
    for document in coverage:
        if document.file != source.name:
            continue
        for one in document.unclaimed:
            line, column = start = one.location.position
            end = line, column + len(one.text)
            if source.lines[line].startswith(one.text, column):  # else it has several lines
                formula = one.kind is Printed.FORMULA
                yield DocumentPlace(
                    start=start, end=end, shown=one.text, formula=formula, claims=()
                )


def _end_of_mark(source: Source, start: LineColumn) -> LineColumn:
    """The end of a comment; the start itself where there is no comment."""
    line, column = start
    if not source.lines[line].startswith("<!--", column):
        return start
    for number in range(line, len(source.lines)):
        at = source.lines[number].find(_COMMENT_ENDS, column if number == line else 0)
        if at >= 0:
            return number, at + len(_COMMENT_ENDS)
    return start


def held_texts(source: Source, spots: Sequence[DocumentPlace]) -> list[str]:
    """The text of a document, or of each cell of a notebook, with a number for each place."""
    lines: list[str | None] = [
        _PRIVATE.sub("\N{REPLACEMENT CHARACTER}", line) for line in source.lines
    ]
    for number, spot in reversed(list(enumerate(spots))):
        (line, column), (last, end) = spot.start, spot.end
        held = "".join(chr(_ZERO + int(digit)) for digit in str(number))
        before, after = lines[line] or "", lines[last] or ""
        lines[line] = f"{before[:column]}{HELD}{held}{_CLOSE}{after[end:]}"
        lines[line + 1 : last + 1] = [None] * (last - line)  # the other lines keep their numbers
    starts = [cell.first for cell in source.cells] or [0]
    return [
        "\n".join(one for one in lines[first:after] if one is not None)
        for first, after in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]


def put_back(shown: Markup, marks: Sequence[Markup]) -> Markup:
    """A document's markup, with the marks in place of their numbers."""

    def mark(match: re.Match[str]) -> str:
        return marks[int("".join(str(ord(one) - _ZERO) for one in match[1]))]

    return Markup(_NUMBER.sub(mark, shown))
