"""The figures and formulas of a document that no mark is about.

A figure is a number with a decimal point, a percent sign, a power of ten or a thousands separator,
or a fraction below 1; a formula counts if it has a relation. Numbers that only look like figures
(of sections, versions, dates, addresses) are left out, and so are whole numbers, most of which
count or name something. A mark may still be about any of these.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from dropcheck.documents.figures import FIGURE, FRACTION, NUMBERED
from dropcheck.documents.marks import HIDDEN, FormulaSpan, Page, Prose, Spoken, formulas_in
from dropcheck.results import Coverage, Printed, Unclaimed

WORDS_AROUND = 40  # characters of context on either side
_NUMBER = re.compile(rf"(?=\.?[0-9]){FIGURE}")
_SIGNS = "-\N{MINUS SIGN}"
# A number is no figure where it is a part of a name, a version or a date: `A1`, `x_1.5`, `gpt-3.5`,
# `1.0.68`, `3.12rc1`, `12.05.`. A unit may follow a figure, `1.5x` or `16.5ms`; with digits after
# the letters it is a name.
_HYPHEN = "[-\N{HYPHEN}\N{NON-BREAKING HYPHEN}]"
_TOKEN = re.compile(
    r"(?<![^\W_])(?<![#@\\])(?<![^\W_][_.,:/'’])"
    rf"(?<![^\W\d_]{_HYPHEN})(?<!\.{_HYPHEN})(?:{FRACTION}(?![0-9])|{_NUMBER.pattern})"
    r"(?P<more>[.,:/][0-9][\w.:/-]*|\.[A-Za-z][\w.-]*|[_@]\w[\w.-]*"
    r"|[A-Za-z]+[0-9][\w.-]*|-?(?:rc|alpha|beta|dev|post)\b[\w.-]*)?"
)

# Texts that are not prose anywhere: addresses, and the attributes of Pandoc.
_ADDRESSES = tuple(
    (sign, re.compile(address, re.IGNORECASE))
    for sign, address in (
        ("://", r"[a-z][\w+.-]{1,15}://[^\s<>]{1,2000}"),
        ("", r"(?:www\.|doi:|arxiv:|mailto:)[^\s<>]{1,2000}"),
        ("@", r"[\w.+-]{1,64}@[\w.-]{1,255}"),
        ("10.", r"\b10\.\d{4,9}/[^\s<>]{1,500}"),
        ("{", r"\{(?:[#.][\w-]|[\w-]{1,40}=)[^{}\n]{0,500}\}"),
        ("{{", r"\{\{[^{}\n]{0,500}\}\}"),
    )
)
"""Each with a text that it must contain: most passages lack it, and need no search."""
_NUMBERED = re.compile(rf"{NUMBERED}[\s~\N{{NO-BREAK SPACE}}(\[*_]*(?:[<>=≥≤~^!]{{1,2}}\s?)?\Z")
_LONGEST_WORD = 24
# The text between two numbers of one list: "Sections 3.2, 3.3 and 4.1".
_LISTED = re.compile(r"[\s~,;()\[\]*_]*(?:(?:and|or|to|through|&|[-–—])[\s~(\[*_]*)?\Z")
_HEADING = re.compile(r"[\s#>*_]*(?:[A-Z]\.)?\Z")
_TIME = re.compile(r"\s?(?:[ap]\.?m\b|[AP]M\b)")


_Item = tuple[Printed, int, int]
"""The kind of a figure or formula in a passage, and where it begins and ends."""


def coverage_of(page: Page, passages: Iterable[Prose], marks: Iterable[Spoken]) -> Coverage:
    """Which figures and formulas of a document are claimed, by its prose and its marks."""
    about = [(one, one.printed) for one in marks if one.printed is not None]
    figures = {(printed.start, printed.end): one.figure is not None for one, printed in about}
    return Coverage(
        file=page.source.name,
        claimed_figures=sum(figures.values()),
        claimed_formulas=len(figures) - sum(figures.values()),
        unclaimed=tuple(_unclaimed_in(passages, sorted(figures), page)),
    )


def _unclaimed_in(
    passages: Iterable[Prose], spans: list[tuple[int, int]], page: Page
) -> Iterator[Unclaimed]:
    """The figures and formulas that no mark is about, in order."""
    starts = [start for start, _ in spans]
    for passage in passages:
        piece = passage.piece
        for kind, first, last in _items(piece.text, heading=passage.heading):
            start, end = piece.at[first], piece.at[last]
            before = bisect_left(starts, end)
            if before and spans[before - 1][1] > start:
                continue  # a part of it is claimed
            yield Unclaimed(
                kind=kind,
                text=_words(piece.text[first:last]).strip(),
                location=page.location(start),
                before=_before(piece.text, first),
                after=_after(piece.text, last),
            )


def _items(text: str, *, heading: bool) -> Iterator[_Item]:
    """The figures and formulas of a passage, in order."""
    prose = text
    for sign, address in _ADDRESSES:
        if sign in prose:
            prose = address.sub(lambda found: HIDDEN * len(found.group()), prose)
    at = 0
    for formula in formulas_in(prose):
        yield from _figures(prose, at, formula.start, heading=heading)
        yield from _of_formula(prose, formula)
        at = formula.end
    yield from _figures(prose, at, len(prose), heading=heading)


def _of_formula(text: str, formula: FormulaSpan) -> Iterator[_Item]:
    """A formula with a relation, or one that is only a figure."""
    if formula.has_relation:
        yield Printed.FORMULA, formula.start, formula.end
        return
    inner = text[formula.inner_start : formula.inner_end]
    bare = inner.strip().lstrip(_SIGNS)
    found = _TOKEN.fullmatch(bare)
    if found is not None and not found["more"] and _is_decimal(found):
        start = formula.inner_start + inner.find(bare)
        yield Printed.FIGURE, start, start + len(bare)


def _figures(text: str, first: int, end: int, *, heading: bool) -> Iterator[_Item]:
    """The figures of prose between two indices."""
    named = -1  # where the last number ends that only numbers something
    for found in _TOKEN.finditer(text, first, end):
        start = found.start()
        if found["more"]:
            continue
        listed = named >= 0 and _LISTED.match(text, named, start) is not None
        if listed or _NUMBERED.search(text, max(0, start - _LONGEST_WORD), start) is not None:
            named = found.end()
            continue
        named = -1
        in_heading = heading and _HEADING.match(text, 0, start) is not None
        if _is_decimal(found) and not in_heading and _TIME.match(text, found.end()) is None:
            sign = start > first and text[start - 1] in _SIGNS
            signed = sign and not (start - 1 > first and text[start - 2].isalnum())
            yield Printed.FIGURE, start - signed, found.end()


def _is_decimal(found: re.Match[str]) -> bool:
    """Whether a number is more than a whole number."""
    if found["number"] is None:
        return int(found["above"] or 0) < int(found["below"] or 1)
    plain = found["number"].isdigit()
    return not plain or any(found[name] for name in ("e", "power", "raised", "percent"))


def _before(text: str, start: int) -> str:
    """The words before an index, on one line."""
    words = _words(text[max(0, start - 4 * WORDS_AROUND) : start])
    return words if len(words) <= WORDS_AROUND else words[-WORDS_AROUND:].partition(" ")[2]


def _after(text: str, end: int) -> str:
    """The words after an index, on one line."""
    words = _words(text[end : end + 4 * WORDS_AROUND])
    return words if len(words) <= WORDS_AROUND else words[:WORDS_AROUND].rpartition(" ")[0]


def _words(part: str) -> str:
    """The visible text, with at most one space at each end."""
    shown = " ".join(part.replace(HIDDEN, "").split())
    return f"{' ' if part[:1].isspace() else ''}{shown}{' ' if part[-1:].isspace() else ''}"
