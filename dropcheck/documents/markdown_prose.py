"""The prose of a Markdown document: what its reader reads, with the place of every character."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from dropcheck.documents.carrier import HIDDEN, Piece, Prose

_SHOWS_SOMETHING = re.compile(r"[0-9$]|\\[(\[b]")
_TAG = re.compile(r"<[^<>]*>")
_UNREAD = re.compile(r"<(?:script|style|pre|textarea|svg)\b", re.IGNORECASE)
# What a link leads to, in its three forms; none is longer, so that the search is short.
_TARGET = re.compile(
    r"!\[[^\[\]]{0,500}(?=\])"  # what stands for a picture
    r"|\]\([^()\n]{0,2000}(?:\([^()\n]{0,2000}\)[^()\n]{0,2000})?\)"
    r"|\]\[[^\[\]\n]{0,200}\]"
    r"|<[A-Za-z][\w.+-]{1,31}:[^<>\s]{0,2000}>"
)

Region = Callable[[int, int], Piece]
"""Lines of a document, from one up to another, with their places."""


def prose_of(tokens: Sequence[Any], region: Region) -> Iterator[Prose]:
    """The passages of a document that may hold a figure or a formula.

    Args:
        tokens: of markdown-it.
        region: what gives the lines that a token stands for, without what quotes them.
    """
    heading = False
    read = [one for one in tokens if one.type in ("inline", "html_block", "heading_open")]
    # the cells of a row stand on its line each, and are one passage
    for (kind, where), group in groupby(read, key=lambda token: (token.type, token.map)):
        if kind == "heading_open":
            heading = True
            continue
        piece = region(*where)
        if _SHOWS_SOMETHING.search(piece.text):
            hide = _of_html if kind == "html_block" else _of_inline
            text = hide(piece.text, [child for one in group for child in one.children or ()])
            yield Prose(piece=Piece(text, piece.places), heading=heading)
        heading = False


def _of_html(text: str, _: Sequence[Any]) -> str:
    if _UNREAD.search(text):
        return HIDDEN * len(text)
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        closed = text.find("-->", start)
        end = closed + 3 if closed >= 0 else len(text)
        parts += [text[at:start], HIDDEN * (end - start)]
        at = end
    parts.append(text[at:])
    return _TAG.sub(_hidden, "".join(parts))


def _of_inline(text: str, children: Sequence[Any]) -> str:
    parts: list[str] = []
    at = 0
    for child in children:
        if child.type in ("html_inline", "code_inline"):
            start, end = _found(text, child, at)
            parts += [text[at:start], HIDDEN * (end - start)]
            at = end
    parts.append(text[at:])
    return _TARGET.sub(_hidden, "".join(parts))


def _found(text: str, child: Any, at: int) -> tuple[int, int]:
    """Where code or a tag stands; all that is left, where it cannot be placed."""
    written = f"{child.markup}{child.content}{child.markup}"
    start = text.find(written, at)
    if start >= 0:
        return start, start + len(written)
    # a line may end where a space is read, and a bar in a table has a backslash
    words = r"\s+".join(map(re.escape, child.content.split())).replace(r"\|", r"\\?\|")
    found = re.compile(rf"{child.markup}\s*{words}\s*{child.markup}").search(text, at)
    return found.span() if found is not None else (at, len(text))


def _hidden(found: re.Match[str]) -> str:
    return HIDDEN * len(found.group())
