"""The HTML report, and HTML that is safe by its type: all text is escaped, except `Markup`.

A browser takes seconds to parse and to lay out a page of 10,000 cases. So long parts stand in
folds: `noscript` elements, each of which is one text to a browser that runs scripts. The script
parses a fold when it comes into sight, or when there is time, and replaces it by a `sheaf`, whose
layout waits until it is seen. Without scripts a fold shows its content.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from dropcheck.report.terminal.screen import plain

_VOID = frozenset({"br", "col", "input", "link", "meta", "line", "rect", "circle", "path"})


class Markup(str):
    """Text that is HTML already, made by the functions of this module alone."""

    __slots__ = ()


def text(value: str) -> Markup:
    """Any text of a user; controls and marks that reorder text are spelled out.

    >>> text('<script>"')
    '&lt;script&gt;&quot;'
    """
    return Markup(html.escape(plain(value)))


def element(
    name: str, /, *children: str | Markup | None, **attributes: str | int | bool | None
) -> Markup:
    """An element with its children, escaped where they are not markup.

    An attribute that is None or False is left out, True stands alone; `class_` is `class`, and an
    underscore a hyphen.

    >>> element("a", "1 < 2", href="#x", hidden=True, class_="y")
    '<a href="#x" hidden class="y">1 &lt; 2</a>'
    """
    shown = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{text(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID and not children:
        return Markup(f"<{name}{shown}>" if name in _HTML_VOID else f"<{name}{shown}/>")
    return Markup(f"<{name}{shown}>{join(children)}</{name}>")


_HTML_VOID = frozenset({"br", "col", "input", "link", "meta"})


def join(children: Iterable[str | Markup | None], separator: str = "") -> Markup:
    """Children one after the other, without those that are None."""
    return Markup(
        separator.join(
            child if isinstance(child, Markup) else text(child)
            for child in children
            if child is not None
        )
    )


MANY = 300  # the most cases of a page without folds: a browser draws them at once
SHEAF = 100  # cases in a fold: a few screens, parsed within a frame or two


def fold(content: Markup, *, height: float, rows: bool = False) -> Markup:
    """Content that is drawn when it comes into sight; content with folds in it stays as it is.

    Args:
        content: a long part of the page.
        height: its approximate height, in rem, for the scroll bar.
        rows: whether it is a table, whose rows are drawn bit by bit.
    """
    if "<noscript" in content:  # the text of a noscript ends at the first end tag
        return content
    return element("noscript", content, class_="fold", data_rows=rows, data_height=f"{height:g}")


def lists(items: Sequence[Markup], *, height: float, **attributes: str | None) -> list[Markup]:
    """Items as one list, or many items as several folds. The height is that of one item, in rem."""
    if len(items) <= MANY:
        return [element("ul", *items, **attributes)]
    parts = (items[first : first + SHEAF] for first in range(0, len(items), SHEAF))
    return [fold(element("ul", *part, **attributes), height=height * len(part)) for part in parts]
