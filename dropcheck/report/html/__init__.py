"""The HTML report, and HTML that is safe by its type: text is escaped, and only markup is not.

A browser takes seconds to parse and to lay out what 10,000 cases are. So what is long stands in
folds: `noscript` elements, which a browser that runs scripts takes for one text each. The script
parses a fold when it comes into sight, or when there is time, and puts in its place a `sheaf` whose
layout waits until it is seen. Without scripts a fold is what it holds.
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
    """A user's text, whatever it holds; controls and marks that reorder text are spelled out.

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
    """Children one after the other; those that are None are none."""
    return Markup(
        separator.join(
            child if isinstance(child, Markup) else text(child)
            for child in children
            if child is not None
        )
    )


MANY = 300  # cases on a page without folds: a browser draws them in a moment
SHEAF = 100  # cases in a fold: some screens, and parsed within a frame or two


def fold(content: Markup, *, height: float, rows: bool = False) -> Markup:
    """What is drawn when it comes into sight; what holds folds itself stays as it is.

    Args:
        content: what is long.
        height: about how high it is, in rem, for the scroll bar.
        rows: whether it is a table, whose rows are drawn by and by.
    """
    if "<noscript" in content:  # its text ends at the first end tag
        return content
    return element("noscript", content, class_="fold", data_rows=rows, data_height=f"{height:g}")


def lists(items: Sequence[Markup], *, height: float, **attributes: str | None) -> list[Markup]:
    """Items as one list; many as several, folded. The height is that of an item, in rem."""
    if len(items) <= MANY:
        return [element("ul", *items, **attributes)]
    parts = (items[first : first + SHEAF] for first in range(0, len(items), SHEAF))
    return [fold(element("ul", *part, **attributes), height=height * len(part)) for part in parts]
