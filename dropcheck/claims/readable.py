"""The claims of a file with errors that can be read all the same, so that they are checked too.

What is wrong elsewhere in the file, or in a key that the language has no use for, such as `title`,
says nothing of a claim's texts. A claim with an error in a key that the language reads is left out:
what would be said of it might follow from that error alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dropcheck.claims.grids import mapping_at
from dropcheck.claims.nodes import Entry, Tree
from dropcheck.claims.registry import SourceText
from dropcheck.claims.source import LineColumn
from dropcheck.claims.values import WORDS
from dropcheck.errors import Problem, nearest

# What the language has no use for, and what it reads.
_BESIDE = ("title", "says", "note", "truth", "tags", "document", "section", "sources", "expect",
           "resolution", "within", "tolerance", "tails")  # fmt: skip
_READ = ("claim", "claims", "model", "parameters", "cases", "requires")

_Values = Mapping[str, Any]
_Kept = tuple[_Values, Entry]
_Keep = Callable[[_Values, Entry, Sequence[LineColumn]], _Kept | None]


def readable(values: _Values, top: Tree, problems: Iterable[Problem]) -> tuple[_Values, Tree]:
    """The claims that are not concerned by what is wrong with their file: as values, and as nodes.

    Args:
        values: what the keys of the file hold, as they were read.
        top: the mapping that the file is.
        problems: everything that is wrong with it.
    """
    places = [
        one.location.position
        for one in problems
        if one.location is not None and one.location.line is not None
    ]
    concerned = {key for key in _by_key(top, places) if not _is_read(top, key)}
    # names of slots, or of what may be meant for slots: what a claim says by them is not known
    unsure = {
        name
        for key in concerned - {*values} | concerned & {"slots"}
        for name in mapping_at(top, key)
    }

    def sure(value: _Values, entry: Entry, wrong: Sequence[LineColumn]) -> _Kept | None:
        kept = _claim(value, entry, wrong)
        return None if kept is None or unsure & {*_words(kept[0])} else kept

    found = _unconcerned(values.get("claims"), top.entries.get("claims"), places, sure)
    if found is None:
        return {"claims": {}}, replace(top, entries={})
    entries = {"claims": found[1]}
    if "slots" not in values or "slots" in concerned:
        return {"claims": found[0]}, replace(top, entries=entries)
    entries["slots"] = top.entries["slots"]
    return {"claims": found[0], "slots": values["slots"]}, replace(top, entries=entries)


def _words(values: _Values) -> Iterator[str]:
    """The words in a claim's texts."""
    for value in values.values():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, SourceText):
                yield from WORDS.findall(one.text)
            elif isinstance(one, Mapping):
                yield from _words(one)


def _unconcerned(
    values: _Values | None, entry: Entry | None, wrong: Sequence[LineColumn], keep: _Keep
) -> _Kept | None:
    """A mapping of names with what `keep` keeps of each; None where that is nothing."""
    if values is None or entry is None or not isinstance(entry.node, Tree):
        return None
    entries = entry.node.entries
    # what stands below a name that is given twice is read once, and concerns nothing else
    places = [(one.key_start, name) for name, one in entries.items()]
    elsewhere = [*(at for _, at in entry.node.repeated), *entry.node.ends]
    below = _below([*places, *((at, "") for at in elsewhere)], wrong)
    found = {
        name: kept
        for name, value in values.items()
        if value is not None
        and (kept := keep(value, entries[name], below.get(name, ()))) is not None
    }
    if not found:
        return None
    tree = replace(entry.node, entries={name: one for name, (_, one) in found.items()})
    return {name: value for name, (value, _) in found.items()}, replace(entry, node=tree)


def _claim(values: _Values, entry: Entry, wrong: Sequence[LineColumn]) -> _Kept | None:
    """A claim, with those of its statements that are not concerned."""
    if not isinstance(entry.node, Tree):
        return None
    below = _by_key(entry.node, wrong)
    inside = below.pop("claims", [])
    own = _without(values, entry.node, below)
    if own is None or ("claim" in own) is ("claims" in own):  # neither, or both
        return None
    own = {"title": "", **own}
    if "claims" not in own:
        return own, entry
    statements = _unconcerned(own["claims"], entry.node.entries["claims"], inside, _statement)
    if statements is None:
        return None
    tree = replace(entry.node, entries={**entry.node.entries, "claims": statements[1]})
    return {**own, "claims": statements[0]}, replace(entry, node=tree)


def _statement(values: _Values, entry: Entry, wrong: Sequence[LineColumn]) -> _Kept | None:
    if not isinstance(entry.node, Tree):  # its text alone
        return None if wrong or values["claim"] is None else (values, entry)
    own = _without(values, entry.node, _by_key(entry.node, wrong))
    return None if own is None or "claim" not in own else (own, entry)


def _without(values: _Values, tree: Tree, concerned: Iterable[str]) -> dict[str, Any] | None:
    """Values without those that are wrong; None where the language reads one of these."""
    concerned = {key for key in concerned if not _is_read(tree, key)}
    kept = {key: value for key, value in values.items() if key not in concerned}
    unread = any(key in kept and _is_broken(kept[key]) for key in _READ)
    return kept if all(map(is_beside, concerned)) and not unread else None


def _is_broken(value: Any) -> bool:
    """Whether a value, or one within it, could not be read; it may stand elsewhere."""
    if isinstance(value, Mapping):
        return any(one is None or one == () for one in value.values())
    return value is None or (isinstance(value, tuple | list) and any(map(_is_broken, value)))


def _is_read(tree: Tree, key: str) -> bool:
    """Whether a key is a slip whose value is read as that of the key which is meant."""
    value = tree.entries[key].node
    others = (one for name, one in tree.entries.items() if name != key)
    return any(one.node is value and one.key_start == value.start for one in others)


def is_beside(key: str) -> bool:
    """Whether the language has no use for a key, or for the one that it is a slip of."""
    return (key if key in _READ else nearest(key, (*_BESIDE, *_READ))) in _BESIDE


def _by_key(tree: Tree, wrong: Sequence[LineColumn]) -> dict[str, list[LineColumn]]:
    """The places below each key of a mapping, which may be given twice."""
    entries = [(one.key_start, key) for key, one in tree.entries.items()]
    return _below([*entries, *((at, key) for key, at in tree.repeated)], wrong)


def _below(
    keys: Iterable[tuple[LineColumn, str]], wrong: Iterable[LineColumn]
) -> dict[str, list[LineColumn]]:
    """The places below each key: below several where these stand at one place, as in a mark."""
    names: dict[LineColumn, list[str]] = {}
    for at, name in keys:
        names.setdefault(at, []).append(name)
    starts = sorted(names)
    found: dict[str, list[LineColumn]] = {}
    for place in wrong:
        before = bisect_right(starts, place)
        for name in names[starts[before - 1]] if before else ():
            found.setdefault(name, []).append(place)
    return found
