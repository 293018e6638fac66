"""Documents that are no Markdown, as text: LaTeX as it is written, HTML as it is read."""

from __future__ import annotations

from html.parser import HTMLParser

from dropcheck.report.html import Markup, element, join

# what is between their tags is no text
_UNREAD = frozenset({"script", "style", "template", "title", "svg", "math", "noscript", "iframe"})
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "nav", "ol", "p", "pre", "section", "table"),
        *("tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    }
)


DEEPEST_HEADING = 6


class _Reader(HTMLParser):
    """Gathers text, a paragraph for each block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.paragraphs: list[list[str]] = [[]]
        self.levels: list[int] = [0]  # of each that is a heading
        self.unread: str | None = None  # the outermost open element that is not read
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - it is HTMLParser's
        if self.unread is None and tag in _UNREAD:
            self.unread = tag
        if tag == self.unread:
            self.depth += 1
        self._broken(tag, opens=True)

    def handle_endtag(self, tag: str) -> None:
        if tag == self.unread:
            self.depth -= 1
            if not self.depth:
                self.unread = None
        self._broken(tag, opens=False)

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - it is HTMLParser's
        self._broken(tag, opens=False)

    def handle_data(self, data: str) -> None:
        if self.unread is None:
            self.paragraphs[-1].append(data)

    def _broken(self, tag: str, *, opens: bool) -> None:
        if tag not in _BLOCKS:
            return
        if self.paragraphs[-1]:
            self.paragraphs.append([])
            self.levels.append(0)
        if opens and tag[0] == "h" and tag[1:].isdigit():
            self.levels[-1] = int(tag[1:])

    def shown(self) -> list[tuple[int, str]]:
        """Each paragraph that has some text, with the level of its heading; 0 for none."""
        texts = (" ".join("".join(parts).split()) for parts in self.paragraphs)
        return [(level, one) for level, one in zip(self.levels, texts, strict=True) if one]


def paragraphs_of_html(source: str) -> list[str]:
    """The text of an HTML document, or of a piece of one, without its tags.

    >>> paragraphs_of_html("<p>1 &lt; <b>2</b><script>alert(1)</script><p onclick=x>3<!-- 4 -->")
    ['1 < 2', '3']
    """
    return [one for _, one in _read(source).shown()]


def _read(source: str) -> _Reader:
    reader = _Reader()
    reader.feed(source)
    reader.close()
    return reader


def text_of_html(source: str) -> str:
    """The same on one line."""
    return " ".join(paragraphs_of_html(source))


def html_markup(source: str) -> Markup:
    """The text of an HTML document, a paragraph for each of its blocks."""
    return join(
        element(f"h{min(level + 1, DEEPEST_HEADING)}" if level else "p", one)
        for level, one in _read(source).shown()
    )


def verbatim_markup(source: str) -> Markup:
    """A text as it is written."""
    return element("pre", source, class_="verbatim")
