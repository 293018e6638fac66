"""The sentence around a mark, which becomes the title of its claim."""

from __future__ import annotations

import re

LONGEST_TITLE = 100
# Abbreviations of papers whose full stop ends no sentence, in lower case.
_WORDS = (
    "al app appx approx ca cf ch chap cor def dr e.g ed eds eq eqn eqs ex fig figs i.e lem no nos "
    "nr p pp prof prop ref refs resp sec sect st tab thm vol vs w.r.t s.t"
)
_SHORT = frozenset(_WORDS.split())
_END = re.compile(r"[.!?][)\]\"'”’*_]*(?:\s+(?=\S)|\Z)")
_LAST_WORD = re.compile(r"[\w.]*\Z")


def sentence_at(before: str, after: str) -> str:
    """The sentence around a place, shortened to the length of a title.

    Args:
        before: the visible text of the paragraph before the place.
        after: the text after it.

    >>> sentence_at("It is so. Then, e.g. in Fig. 3, it rises by 41%", ", they say. No.")
    'Then, e.g. in Fig. 3, it rises by 41%, they say.'
    """
    ends = _ends(before)
    if ends and ends[-1] == len(before):  # the full stop before the place ends this sentence
        ends.pop()
    begun = before[ends[-1] :] if ends else before
    # "… 41%. Then": the full stop may follow the place
    rest = after[: next(iter(_ends(after)), len(after))]
    if before[len(before.rstrip()) - 1 :][:1] in (".", "!", "?") and begun.strip() and _ends(begun):
        rest = ""
    glue = "" if rest[:1] in ".,;:!?)" or rest[:1].isspace() or before[-1:].isspace() else " "
    return shortened(f"{begun}{glue}{rest}")


def shortened(text: str) -> str:
    """A text on one line, at most as long as a title."""
    text = " ".join(text.split())
    if len(text) > LONGEST_TITLE:
        text = text[: LONGEST_TITLE - 1].rpartition(" ")[0] + "…"
    return text


def _ends(text: str) -> list[int]:
    """The indices at which sentences end, after the white space that follows."""
    return [found.end() for found in _END.finditer(text) if not _shortened(text, found)]


def _shortened(text: str, found: re.Match[str]) -> bool:
    """Whether a full stop belongs to an abbreviation such as "Fig."."""
    if text[found.start()] != ".":
        return False
    last = _LAST_WORD.search(text, max(0, found.start() - 20), found.start())
    word = last.group().lower() if last is not None else ""
    return word in _SHORT
