"""What reads a document, by the ending of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dropcheck.claims.source import Problems, Source, decode
from dropcheck.documents.carrier import HTML, LATEX, MARKDOWN, NOTEBOOK, Marked
from dropcheck.documents.html_source import read_html
from dropcheck.documents.markdown_source import read_markdown
from dropcheck.documents.notebook_source import cells_of
from dropcheck.documents.tex_source import read_tex

Carrier = Callable[[Source, Problems], Marked]
CARRIERS: Mapping[str, Carrier] = {
    **dict.fromkeys((*MARKDOWN, *NOTEBOOK), read_markdown),
    **dict.fromkeys(LATEX, read_tex),
    **dict.fromkeys(HTML, read_html),
}


def marked_in(data: bytes, ending: str, name: str) -> tuple[Problems, Marked]:
    """The marks and passages of a document, and what takes what is wrong with it.

    Raises:
        DropcheckError: it cannot be read.
    """
    source = decode(data, name)
    report = Problems(cells_of(source) if ending in NOTEBOOK else source)
    return report, CARRIERS[ending](report.source, report)
