"""Documents that are no Markdown, as text: LaTeX as it is written, HTML as it is read."""

from __future__ import annotations

from html.parser import HTMLParser

from dropcheck.report.html import Markup, element, join

# what is between their tags is no text
_UNREAD = frozenset({"script", "style", "template", "head", "svg", "math", "noscript", "iframe"})
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "nav", "ol", "p", "pre", "section", "table"),
        *("tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    }
)


class _Reader(HTMLParser):
    """Gathers text, a paragraph for each block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.paragraphs: list[list[str]] = [[]]
        self.unread: str | None = None  # the outermost open element that is not read
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - it is HTMLParser's
        if self.unread is None and tag in _UNREAD:
            self.unread = tag
        if tag == self.unread:
            self.depth += 1
        self._broken(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == self.unread:
            self.depth -= 1
            if not self.depth:
                self.unread = None
        self._broken(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - it is HTMLParser's
        self._broken(tag)

    def handle_data(self, data: str) -> None:
        if self.unread is None:
            self.paragraphs[-1].append(data)

    def _broken(self, tag: str) -> None:
        if tag in _BLOCKS and self.paragraphs[-1]:
            self.paragraphs.append([])


def paragraphs_of_html(source: str) -> list[str]:
    """The text of an HTML document, or of a piece of one, without its tags.

    >>> paragraphs_of_html("<p>1 &lt; <b>2</b><script>alert(1)</script><p onclick=x>3<!-- 4 -->")
    ['1 < 2', '3']
    """
    reader = _Reader()
    reader.feed(source)
    reader.close()
    shown = (" ".join("".join(parts).split()) for parts in reader.paragraphs)
    return [one for one in shown if one]


def text_of_html(source: str) -> str:
    """The same on one line."""
    return " ".join(paragraphs_of_html(source))


def html_markup(source: str) -> Markup:
    """The text of an HTML document, a paragraph for each of its blocks."""
    return join([element("p", one) for one in paragraphs_of_html(source)])


def verbatim_markup(source: str) -> Markup:
    """A text as it is written."""
    return element("pre", source, class_="verbatim")
