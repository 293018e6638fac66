"""The HTML report, and HTML that is safe by its type: text is escaped, and only markup is not."""

from __future__ import annotations

import html
from collections.abc import Iterable

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
