"""The places of a document that claims speak of, and its text with numbers in their place.

What is claimed is taken out of the text before that is read as Markdown, and a number that no
document can write is put in its place; what is put back in the end is our own markup. So nothing of
a document is ever taken for markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dropcheck.claims.registry import Claim, Page
from dropcheck.claims.source import Position, Source
from dropcheck.report.html import Markup
from dropcheck.results.coverage import Coverage, Printed

# Private use characters (Unicode, section 23.5): a document's own are replaced before.
HELD = "\ue000"
_CLOSE, _ZERO = "\ue001", 0xE010
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_NUMBER = re.compile(f"{HELD}([{chr(_ZERO)}-{chr(_ZERO + 9)}]+){_CLOSE}")
_COMMENT_ENDS = "-->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place of a document: what is printed there, or a mark alone."""

    start: Position
    end: Position
    shown: str  # what is printed; empty of a mark that states something of its own
    formula: bool
    claims: tuple[Claim, ...]  # that speak of it; none of what is not claimed


def spots_of(page: Page, claims: Iterable[Claim], coverage: Iterable[Coverage] = ()) -> list[Spot]:
    """The places that claims speak of, and those that none does, in order and without overlap."""
    places: dict[tuple[Position, Position], list[Claim]] = {}
    for claim in claims:
        if claim.location.file == page.source.name and (ends := _ends(page, claim)) is not None:
            places.setdefault(ends, []).append(claim)
    found = [_claimed(ends, group) for ends, group in places.items()]
    found += _unclaimed(page.source, coverage)
    spots: list[Spot] = []
    for spot in sorted(found, key=lambda one: (one.start, one.end)):
        if not spots or spot.start >= spots[-1].end:
            spots.append(spot)
        elif spot.claims:  # a figure in a formula: both are told of there
            last = spots.pop()
            spots.append(_claimed((last.start, last.end), (*last.claims, *spot.claims)))
    return spots


def _claimed(ends: tuple[Position, Position], claims: Sequence[Claim]) -> Spot:
    written = claims[0].written
    return Spot(
        start=ends[0],
        end=ends[1],
        shown="" if written is None else written.text,
        formula=written is not None and written.digits is None,
        claims=tuple(claims),
    )


def _ends(page: Page, claim: Claim) -> tuple[Position, Position] | None:
    """Where what a claim speaks of stands, or its mark; None of one in a block."""
    if claim.written is not None:
        ends = claim.written.start, claim.written.end
        return ends[0].position, ends[1].position
    start = claim.location.position
    return (start, _end_of_mark(page.source, start)) if start in page.marks else None


def _unclaimed(source: Source, coverage: Iterable[Coverage]) -> Iterable[Spot]:
    for document in coverage:
        if document.file != source.name:
            continue
        for one in document.unclaimed:
            line, column = start = one.location.position
            end = line, column + len(one.text)
            if source.lines[line].startswith(one.text, column):  # else it goes over several lines
                formula = one.kind is Printed.FORMULA
                yield Spot(start=start, end=end, shown=one.text, formula=formula, claims=())


def _end_of_mark(source: Source, start: Position) -> Position:
    """Where a comment ends; of what is no comment, where it begins."""
    line, column = start
    if not source.lines[line].startswith("<!--", column):
        return start
    for number in range(line, len(source.lines)):
        at = source.lines[number].find(_COMMENT_ENDS, column if number == line else 0)
        if at >= 0:
            return number, at + len(_COMMENT_ENDS)
    return start


def held_texts(source: Source, spots: Sequence[Spot]) -> list[str]:
    """The text of a document, or of each cell of a notebook, with a number for each spot."""
    lines: list[str | None] = [
        _PRIVATE.sub("\N{REPLACEMENT CHARACTER}", line) for line in source.lines
    ]
    for number, spot in reversed(list(enumerate(spots))):
        (line, column), (last, end) = spot.start, spot.end
        held = "".join(chr(_ZERO + int(digit)) for digit in str(number))
        before, after = lines[line] or "", lines[last] or ""
        lines[line] = f"{before[:column]}{HELD}{held}{_CLOSE}{after[end:]}"
        lines[line + 1 : last + 1] = [None] * (last - line)  # the others stay where they are
    starts = [cell.first for cell in source.cells] or [0]
    return [
        "\n".join(one for one in lines[first:after] if one is not None)
        for first, after in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]


def put_back(shown: Markup, marks: Sequence[Markup]) -> Markup:
    """A document's markup with our own in place of the numbers."""

    def mark(found: re.Match[str]) -> str:
        return marks[int("".join(str(ord(one) - _ZERO) for one in found[1]))]

    return Markup(_NUMBER.sub(mark, shown))
