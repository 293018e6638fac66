"""Jupyter notebooks: the text of their Markdown cells, with the place of each line in the file.

Format: nbformat 4, https://nbformat.readthedocs.io/en/latest/format_description.html.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from dropcheck.claims.yaml_places import LINE_END, LineColumn, Source, forbidden
from dropcheck.errors import DropcheckError, NotebookCell

FORMAT = 4
_JSON = json.JSONDecoder(parse_int=float)  # int() refuses some numbers that JSON allows
_BETWEEN = re.compile(r"[ \t\n\r,:]*")


def cells_of(source: Source) -> Source:
    """The Markdown cells of a notebook as one text, with places that count within each cell.

    Args:
        source: the file.

    Raises:
        DropcheckError: it is not a notebook that can be read.
    """
    try:
        notebook = _JSON.decode(source.text)
    except json.JSONDecodeError as error:
        message = f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise _error(source, error.pos, message, "a notebook is saved as JSON") from None
    except RecursionError:
        raise _error(source, 0, "this notebook is nested too deep") from None
    if not isinstance(notebook, dict):
        raise _error(source, 0, "this is no notebook: a notebook is a JSON object")
    version = notebook.get("nbformat")
    old = isinstance(version, float) and version < FORMAT
    if old or "worksheets" in notebook:
        message = f"this notebook has nbformat {version if old else 3:g}, and nbformat 4 is read"
        raise _error(source, 0, message, "open it in Jupyter and save it")
    cells = notebook.get("cells")
    if version != FORMAT or not isinstance(cells, list):
        message = f"this is no notebook of nbformat {FORMAT}"
        raise _error(source, 0, message, "it has keys 'nbformat' and 'cells'")
    return _joined(source, cells)


def _joined(source: Source, cells: Sequence[object]) -> Source:
    """The text of the Markdown cells as one source.

    Raises:
        DropcheckError: a key is repeated, or a cell contains a forbidden character.
    """
    ends = [found.end() for found in LINE_END.finditer(source.text)]
    top = _members(source, source.text.index("{"))
    lines: list[str] = []
    read: list[NotebookCell] = []
    begins = _parts(source.text, top["cells"])
    for number, (at, cell) in enumerate(zip(begins, cells, strict=True), 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "markdown":
            continue
        given, start = cell.get("source"), _members(source, at).get("source", 0)
        starts = list(_parts(source.text, start)) if isinstance(given, list) else [start]
        pieces = [
            one if isinstance(one, str) else ""
            for one in (given if isinstance(given, list) else [given])
        ]
        text = "".join(pieces)
        if not text:
            continue
        within = LINE_END.split(text)
        sizes = list(accumulate(map(len, pieces), initial=0))
        heads = [0, *(found.end() for found in LINE_END.finditer(text))]
        owners = [min(bisect_right(sizes, head), len(pieces)) - 1 for head in heads]
        file_lines = tuple(bisect_right(ends, starts[owner]) + 1 for owner in owners)
        read.append(NotebookCell(number, file_lines, len(lines)))
        lines += within
        hidden = forbidden(text)
        if hidden is not None:
            before = LINE_END.split(text[: hidden[0]])
            so_far = Source(source.name, "", tuple(lines), tuple(read))
            place = (len(lines) - len(within) + len(before) - 1, len(before[-1]))
            raise DropcheckError(so_far.problem(place, f"the cell contains {hidden[1]}"))
    return Source(source.name, "\n".join(lines), tuple(lines), tuple(read))


def _parts(text: str, at: int) -> Iterator[int]:
    """Where the items of a list begin in valid JSON, or the keys and values of an object.

    >>> list(_parts('{"a": [1], "b": 2}', 0))
    [1, 6, 11, 16]
    """
    at += 1
    while (found := _BETWEEN.match(text, at)) is not None and text[found.end()] not in "]}":
        yield found.end()
        at = _JSON.raw_decode(text, found.end())[1]


def _members(source: Source, at: int) -> dict[str, int]:
    """Where the values of an object begin, by their keys.

    Raises:
        DropcheckError: a key is repeated.
    """
    parts = list(_parts(source.text, at))
    found: dict[str, int] = {}
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        name = _JSON.raw_decode(source.text, key)[0]
        if name in found:
            message = f"the key {name[:40]!r} is given twice"
            raise _error(source, key, message, "take one of the two out")
        found[name] = value
    return found


def _error(source: Source, at: int, message: str, hint: str | None = None) -> DropcheckError:
    """An error at a character of the file."""
    before = LINE_END.split(source.text[:at])
    place: LineColumn = (len(before) - 1, len(before[-1]))
    return DropcheckError(source.problem(place, message, hint))
