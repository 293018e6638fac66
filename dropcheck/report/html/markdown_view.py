"""Markdown as safe HTML: a list of known elements, around escaped text.

No tag, attribute or address of a document is passed on, except links to the web. Images are not
fetched: their descriptions are shown instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dropcheck.documents.formulas_in_text import formulas_in
from dropcheck.documents.html_source import paragraphs_of_html
from dropcheck.report.html import Markup, element, join, text
from dropcheck.report.html.formula_view import formula_markup

DEEPEST_HEADING = 6
_TAGS = {"paragraph": "p", "bullet_list": "ul", "ordered_list": "ol", "list_item": "li"}
_TAGS |= {tag: tag for tag in ("blockquote", "thead", "tbody", "tr", "th", "td", "em", "strong")}
_WEB = ("https://", "http://", "mailto:")
_ALIGNED = {"text-align:right": "number", "text-align:center": "middle"}
_CODE = re.compile(r"`[^`\n]*`")


def markdown_markup(source: str, held: str) -> Markup:
    """A Markdown text as HTML.

    Args:
        source: the text.
        held: a character that stands only where something is put in later, which must not be
            inside a link.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.inline.ruler.before("escape", "formula", _formula)
    return join(_blocks(parser.parse(source), held))


def _formula(state: Any, silent: bool) -> bool:
    """Read a formula, in which nothing else is markup."""
    if state.src[state.pos] not in "$\\":
        return False
    known = state.env.setdefault("formulas", {})
    if state.src not in known:  # all formulas of a passage are found at once
        hidden = _CODE.sub(lambda match: " " * len(match.group()), state.src)
        known[state.src] = {one.start: one for one in formulas_in(hidden)}
    formula = known[state.src].get(state.pos)
    if formula is None or formula.end > state.posMax:
        return False
    if not silent:
        content = state.src[formula.inner_start : formula.inner_end]
        state.push("formula", "code", 0).content = content
    state.pos = formula.end
    return True


def _blocks(tokens: Sequence[Any], held: str) -> Iterator[Markup]:
    for token in tokens:
        name, _, end = token.type.rpartition("_")
        if token.type == "inline":
            yield from _inline(token.children or (), held)
        elif token.type in ("fence", "code_block"):
            yield element("pre", element("code", token.content.rstrip("\n")))
        elif token.type == "html_block":
            shown = " ".join(shown for _, shown in paragraphs_of_html(token.content))
            yield element("p", shown) if shown else Markup("")
        elif token.type == "hr":
            yield Markup("<hr>")
        elif name == "heading":
            level = min(int(token.tag[1]) + 1, DEEPEST_HEADING)  # below the page's own
            yield Markup(f"<h{level}>" if end == "open" else f"</h{level}>")
        elif name == "table":
            around = '<div class="wide-table" tabindex="0"><table>', "</table></div>"
            yield Markup(around[end == "close"])
        elif not token.hidden:
            yield _tag(token, name, end)


def _tag(token: Any, name: str, end: str) -> Markup:
    """A known tag, with the attributes that are kept; nothing for an unknown one."""
    tag = _TAGS.get(name)
    if tag is None:
        return Markup("")
    if end == "close":
        return Markup(f"</{tag}>")
    aligned = _ALIGNED.get(str(token.attrGet("style") or ""))
    first = token.attrGet("start") if tag == "ol" else None
    shown = f' class="{aligned}"' if aligned else ""
    if isinstance(first, int):
        shown += f' start="{first:d}"'
    return Markup(f"<{tag}{shown}>")


def _inline(children: Sequence[Any], held: str) -> Iterator[Markup]:
    closing: list[Markup] = []  # end tags of the open links
    for place, child in enumerate(children):
        match child.type:
            case "text" | "text_special":
                yield text(child.content)
            case "softbreak":
                yield Markup("\n")
            case "hardbreak":
                yield Markup("<br>")
            case "code_inline":
                yield element("code", child.content)
            case "formula":
                yield formula_markup(child.content)
            case "image":
                yield element("span", f"[image: {child.content}]", class_="quiet")
            case "link_open":
                href = str(child.attrGet("href") or "")
                shown = href.lower().startswith(_WEB) and not _holds(children, place, held)
                closing.append(Markup("</a>" if shown else ""))
                if shown:
                    yield Markup(f'<a href="{text(href)}" rel="noopener noreferrer">')
            case "link_close":
                yield closing.pop() if closing else Markup("")
            case _:
                name, _, end = child.type.rpartition("_")
                yield _tag(child, name, end)


def _holds(children: Sequence[Any], opened: int, held: str) -> bool:
    """Whether a link has a place in it where something is put in later."""
    for child in children[opened + 1 :]:
        if child.type == "link_close":
            return False
        if held in child.content:
            return True
    return False
