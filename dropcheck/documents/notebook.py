"""Jupyter notebooks: the text of their Markdown cells, in which places are counted cell by cell.

Format: nbformat 4, https://nbformat.readthedocs.io/en/latest/format_description.html.
"""

from __future__ import annotations

import json

from dropcheck.claims.yaml_places import LINE_END, Source, checked
from dropcheck.errors import DropcheckError, NotebookCell

FORMAT = 4


def cells_of(source: Source) -> Source:
    """The Markdown cells of a notebook as one text, with places that count within each cell.

    Args:
        source: the file.

    Raises:
        DropcheckError: it is not a notebook that can be read, or holds a forbidden character.
    """
    try:
        notebook = json.loads(source.text, parse_int=float)  # int() refuses some numbers of JSON
    except json.JSONDecodeError as error:
        message = f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        place = (error.lineno - 1, error.colno - 1)
        raise DropcheckError(
            source.problem(place, message, "a notebook is saved as JSON")
        ) from None
    except RecursionError:
        raise _refused(source, "this notebook is nested too deep") from None
    if not isinstance(notebook, dict):
        raise _refused(source, "this is no notebook: a notebook is a JSON object")
    version = notebook.get("nbformat")
    cells = notebook.get("cells")
    if version != FORMAT or not isinstance(cells, list):
        message = f"this is no notebook of nbformat {FORMAT}"
        raise _refused(source, message, "open it in Jupyter and save it")
    lines: list[str] = []
    read: list[NotebookCell] = []
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "markdown":
            continue
        given = cell.get("source")
        pieces = given if isinstance(given, list) else [given]
        text = "".join(one for one in pieces if isinstance(one, str))
        if not text:
            continue
        read.append(NotebookCell(number, len(lines)))
        lines += LINE_END.split(text)
    return checked(Source(source.name, "\n".join(lines), tuple(lines), tuple(read)))


def _refused(source: Source, message: str, hint: str | None = None) -> DropcheckError:
    return DropcheckError(source.problem((0, 0), message, hint))
