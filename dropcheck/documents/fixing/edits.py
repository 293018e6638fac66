"""Changes of single figures in the bytes of a document: all else stays as it was read."""

from __future__ import annotations

import json
from collections.abc import Iterable

from dropcheck.claims.source import BYTE_ORDER_MARK, LINE_END
from dropcheck.documents.fixing.new_figures import Mend
from dropcheck.documents.notebook_source import place_in_file
from dropcheck.errors import Location
from dropcheck.results import Written


def edited(data: bytes, mends: Iterable[Mend]) -> bytes:
    """The bytes of a document with new figures.

    Line ends, a byte order mark and all else are kept.

    Args:
        data: the bytes that were read, in UTF-8.
        mends: what to write; each figure is found by `stands`.
    """
    text = data.decode("utf-8")
    changes = []
    for mend in mends:
        span = _span(text, mend.written)
        assert span is not None
        changes.append((*span, _spelled(mend.text, mend.written.start)))
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(changes):
        parts += [text[at:start], new]
        at = end
    return "".join((*parts, text[at:])).encode("utf-8")


def stands(data: bytes, written: Written) -> bool:
    """Whether a figure stands in a document character by character, without entities or escapes."""
    return _span(data.decode("utf-8"), written) is not None


def _span(text: str, written: Written) -> tuple[int, int] | None:
    """Where in the text of a file a figure begins and ends; None where it is not written so."""
    spelled = _spelled(written.text, written.start)
    at = _offset(text, written.start)
    if at is None or not text.startswith(spelled, at):
        return None
    return at, at + len(spelled)


def _spelled(text: str, place: Location) -> str:
    """A text as the file has it: in a notebook, that of a string of JSON."""
    return text if place.cell is None else json.dumps(text, ensure_ascii=False)[1:-1]


def _offset(text: str, place: Location) -> int | None:
    """Where in the text of a file a place is, which counts from behind a byte order mark."""
    assert place.line is not None
    assert place.column is not None
    skipped = len(text) - len(text.removeprefix(BYTE_ORDER_MARK))
    if place.cell is not None:
        at = place_in_file(text[skipped:], place.cell.number, place.line, place.column)
        return None if at is None else skipped + at
    starts = [skipped, *(found.end() for found in LINE_END.finditer(text))]
    return starts[place.line - 1] + place.column - 1
