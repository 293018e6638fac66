"""The claims of a file with errors that can still be read, so that they are checked too.

An error elsewhere in the file, or in a key that the language does not read, such as `title`, does
not affect a claim's texts. A claim with an error in a key that the language reads is left out: its
other errors might all follow from that one.
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

# Keys that the language does not read, and keys that it reads.
_BESIDE = ("title", "says", "note", "truth", "tags", "document", "section", "sources", "expect",
           "resolution", "within", "tolerance", "tails")  # fmt: skip
_READ = ("claim", "claims", "model", "parameters", "cases", "requires")

_Values = Mapping[str, Any]
_Kept = tuple[_Values, Entry]  # what is readable of a claim, as values and as nodes
_Keep = Callable[[_Values, Entry, Sequence[LineColumn]], _Kept | None]


def readable(values: _Values, top: Tree, problems: Iterable[Problem]) -> tuple[_Values, Tree]:
    """The claims that the errors of their file do not affect, as values and as nodes.

    Args:
        values: the values of the file's keys.
        top: the root mapping of the file.
        problems: all errors of the file.
    """
    places = [
        one.location.position
        for one in problems
        if one.location is not None and one.location.line is not None
    ]
    concerned = {key for key in _by_key(top, places) if not _is_read(top, key)}
    # names of slots, or of a misspelled 'slots': the meaning of claims that use them is not known
    unsure = {
        name
        for key in concerned - {*values} | concerned & {"slots"}
        for name in mapping_at(top, key)
    }

    def sure(value: _Values, entry: Entry, wrong: Sequence[LineColumn]) -> _Kept | None:
        kept = _claim(value, entry, wrong)
        return None if kept is None or unsure & {*_words(kept[0])} else kept

    readable_claims = _unconcerned(values.get("claims"), top.entries.get("claims"), places, sure)
    if readable_claims is None:
        return {"claims": {}}, replace(top, entries={})
    entries = {"claims": readable_claims[1]}
    if "slots" not in values or "slots" in concerned:
        return {"claims": readable_claims[0]}, replace(top, entries=entries)
    entries["slots"] = top.entries["slots"]
    return {"claims": readable_claims[0], "slots": values["slots"]}, replace(top, entries=entries)


def _words(values: _Values) -> Iterator[str]:
    """The words in the texts of a claim."""
    for value in values.values():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, SourceText):
                yield from WORDS.findall(one.text)
            elif isinstance(one, Mapping):
                yield from _words(one)


def _unconcerned(
    values: _Values | None, entry: Entry | None, wrong: Sequence[LineColumn], keep: _Keep
) -> _Kept | None:
    """A mapping with the readable part of each of its values; None if nothing is readable."""
    if values is None or entry is None or not isinstance(entry.node, Tree):
        return None
    entries = entry.node.entries
    # errors below the second of two equal names do not affect other entries
    places = [(one.key_start, name) for name, one in entries.items()]
    elsewhere = [*(at for _, at in entry.node.repeated), *entry.node.ends]
    below = _below([*places, *((at, "") for at in elsewhere)], wrong)
    kept_entries = {
        name: kept
        for name, value in values.items()
        if value is not None
        and (kept := keep(value, entries[name], below.get(name, ()))) is not None
    }
    if not kept_entries:
        return None
    tree = replace(entry.node, entries={name: one for name, (_, one) in kept_entries.items()})
    return {name: value for name, (value, _) in kept_entries.items()}, replace(entry, node=tree)


def _claim(values: _Values, entry: Entry, wrong: Sequence[LineColumn]) -> _Kept | None:
    """The readable part of a claim: without its affected statements."""
    if not isinstance(entry.node, Tree):
        return None
    below = _by_key(entry.node, wrong)
    inside = below.pop("claims", [])
    own = _without(values, entry.node, below)
    if own is None or ("claim" in own) is ("claims" in own):  # it needs exactly one
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
    if not isinstance(entry.node, Tree):  # the statement's text, without other keys
        return None if wrong or values["claim"] is None else (values, entry)
    own = _without(values, entry.node, _by_key(entry.node, wrong))
    return None if own is None or "claim" not in own else (own, entry)


def _without(values: _Values, tree: Tree, concerned: Iterable[str]) -> dict[str, Any] | None:
    """The values without the wrong ones; None if the language reads a wrong one."""
    concerned = {key for key in concerned if not _is_read(tree, key)}
    kept = {key: value for key, value in values.items() if key not in concerned}
    unread = any(key in kept and _is_broken(kept[key]) for key in _READ)
    return kept if all(map(is_beside, concerned)) and not unread else None


def _is_broken(value: Any) -> bool:
    """Whether a value, or a part of it, could not be read, wherever the error is."""
    if isinstance(value, Mapping):
        return any(one is None or one == () for one in value.values())
    return value is None or (isinstance(value, tuple | list) and any(map(_is_broken, value)))


def _is_read(tree: Tree, key: str) -> bool:
    """Whether a misspelled key's value is also stored under the right key."""
    value = tree.entries[key].node
    others = (one for name, one in tree.entries.items() if name != key)
    return any(one.node is value and one.key_start == value.start for one in others)


def is_beside(key: str) -> bool:
    """Whether the language does not read a key, or the key of which it is a misspelling."""
    return (key if key in _READ else nearest(key, (*_BESIDE, *_READ))) in _BESIDE


def _by_key(tree: Tree, wrong: Sequence[LineColumn]) -> dict[str, list[LineColumn]]:
    """The places of errors below each key of a mapping; a key may be repeated."""
    entries = [(one.key_start, key) for key, one in tree.entries.items()]
    return _below([*entries, *((at, key) for key, at in tree.repeated)], wrong)


def _below(
    keys: Iterable[tuple[LineColumn, str]], wrong: Iterable[LineColumn]
) -> dict[str, list[LineColumn]]:
    """The places below each key; keys that share a place, as in a mark, share the errors."""
    names: dict[LineColumn, list[str]] = {}
    for at, name in keys:
        names.setdefault(at, []).append(name)
    starts = sorted(names)
    below: dict[str, list[LineColumn]] = {}
    for place in wrong:
        before = bisect_right(starts, place)
        for name in names[starts[before - 1]] if before else ():
            below.setdefault(name, []).append(place)
    return below
