"""Documents that are no Markdown, as text: LaTeX as it is written, HTML as it is read."""

from __future__ import annotations

from dropcheck.documents.html_source import paragraphs_of_html
from dropcheck.report.html import Markup, element, join

DEEPEST_HEADING = 6


def text_of_html(source: str) -> str:
    """The text of a piece of HTML on one line, without its tags."""
    return " ".join(shown for _, shown in paragraphs_of_html(source))


def html_markup(source: str) -> Markup:
    """The text of an HTML document, a paragraph for each of its blocks."""
    return join(
        element(f"h{min(level + 1, DEEPEST_HEADING)}" if level else "p", one)
        for level, one in paragraphs_of_html(source)
    )


def verbatim_markup(source: str) -> Markup:
    """A text as it is written."""
    return element("pre", source, class_="verbatim")
