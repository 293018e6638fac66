"""Jupyter notebooks: the text of their Markdown cells, with the place of each line in the file.

The standard library parses the JSON; this module only finds the places of its strings.
Format: nbformat 4, https://nbformat.readthedocs.io/en/latest/format_description.html.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dropcheck.claims.yaml_places import LINE_END, LineColumn, Source, forbidden
from dropcheck.errors import DropcheckError, NotebookCell

DEEPEST = 100  # the format needs six levels, and real metadata and outputs about ten
FORMAT = 4
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"|[{}\[\],:]', re.DOTALL)
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class JsonString:
    """A string in a JSON text: its path of keys and indices, and its place."""

    path: Path
    text: str
    start: int  # of the character after the opening quote


def cells_of(source: Source) -> Source:
    """The Markdown cells of a notebook as one text, with places that count within each cell.

    Args:
        source: the file.

    Raises:
        DropcheckError: it is not a notebook that can be read.
    """
    strings = list(strings_of(source))  # first, since it refuses what is nested too deeply
    notebook = _loaded(source)
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
    markdown = {
        number
        for number, cell in enumerate(cells)
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown"
    }
    return _joined(source, _sources(strings, markdown))


def _loaded(source: Source) -> Any:
    """The JSON value of the file.

    Raises:
        DropcheckError: it is not JSON.
    """
    try:
        # int() refuses some numbers that JSON allows
        return json.loads(source.text, parse_int=float, parse_float=str)
    except json.JSONDecodeError as error:
        message = f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise _error(source, error.pos, message, "a notebook is saved as JSON") from None


def strings_of(source: Source) -> Iterator[JsonString]:
    """The strings of a JSON text in order, except keys.

    Raises:
        DropcheckError: a key is repeated, or the text is nested too deeply.
    """
    path: list[str | int] = []  # for each level, the key or the index
    keys: list[set[str] | None] = []  # for each level, the keys so far; None in a list
    key: tuple[str, int] | None = None  # the last string, which is a key if a colon follows
    for found in _TOKEN.finditer(source.text):
        sign = found.group()
        if sign[0] == '"':
            if key is not None and keys and keys[-1] is None:
                yield JsonString(tuple(path), *key)
            key = sign[1:-1], found.start() + 1
        elif sign == ":" and keys and keys[-1] is not None and key is not None:
            name, start = _decoded(key[0]), key[1]
            if name in keys[-1]:
                message = f"the key {name[:40]!r} is given twice"
                raise _error(source, start - 1, message, "take one of the two out")
            keys[-1].add(name)
            path[-1], key = name, None
        else:
            if key is not None:
                yield JsonString(tuple(path), *key)
                key = None
            if sign in "{[":
                if len(keys) >= DEEPEST:
                    message = f"this notebook is nested more than {DEEPEST} deep"
                    raise _error(source, found.start(), message)
                keys.append(set() if sign == "{" else None)
                path.append("" if sign == "{" else 0)
            elif sign in "}]" and keys:
                keys.pop()
                path.pop()
            elif sign == "," and keys and keys[-1] is None:
                path[-1] = int(path[-1]) + 1


def _sources(
    strings: list[JsonString], markdown: set[int]
) -> Iterator[tuple[int, list[JsonString]]]:
    """The index of each Markdown cell, and the strings of its text."""
    parts: dict[int, list[JsonString]] = {number: [] for number in sorted(markdown)}
    for one in strings:
        match one.path:
            case ("cells", int(number), "source") | ("cells", int(number), "source", int()):
                if number in parts:
                    parts[number].append(one)
    yield from parts.items()


def _joined(source: Source, parts: Iterator[tuple[int, list[JsonString]]]) -> Source:
    """The text of the cells as one source.

    Raises:
        DropcheckError: a cell contains a forbidden character.
    """
    ends = [found.end() for found in LINE_END.finditer(source.text)]
    lines: list[str] = []
    cells: list[NotebookCell] = []
    at = 0  # in `ends`; the strings are in order, so that each end is passed once
    for number, strings in parts:
        text, file_lines = "", [0]
        for one in strings:
            while at < len(ends) and ends[at] <= one.start:
                at += 1
            if file_lines[-1] == 0 or text.endswith(("\n", "\r")):
                file_lines[-1] = at + 1
            decoded = _decoded(one.text)
            text += decoded
            file_lines += [at + 1] * len(LINE_END.findall(decoded))
        within = LINE_END.split(text)
        file_lines = [*file_lines, *file_lines[-1:] * len(within)][: len(within)]
        if not text:
            continue
        cells.append(NotebookCell(number + 1, tuple(file_lines), len(lines)))
        lines += within
        hidden = forbidden(text)
        if hidden is not None:
            before = LINE_END.split(text[: hidden[0]])
            so_far = Source(source.name, "", tuple(lines), tuple(cells))
            place = (len(lines) - len(within) + len(before) - 1, len(before[-1]))
            raise DropcheckError(so_far.problem(place, f"the cell contains {hidden[1]}"))
    return Source(source.name, "\n".join(lines), tuple(lines), tuple(cells))


def _decoded(text: str) -> str:
    """The value of a JSON string; as written if it is invalid, which is reported elsewhere."""
    try:
        return str(json.loads(f'"{text}"'))
    except (json.JSONDecodeError, RecursionError):
        return text


def _error(source: Source, at: int, message: str, hint: str | None = None) -> DropcheckError:
    """An error at a character of the file."""
    before = LINE_END.split(source.text[:at])
    place: LineColumn = (len(before) - 1, len(before[-1]))
    return DropcheckError(source.problem(place, message, hint))
