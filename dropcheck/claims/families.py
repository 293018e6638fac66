"""References of a claim: to documents, and to the claim that is true in place of a false one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dropcheck.claims.grids import items_at, mapping_at
from dropcheck.claims.keys import Key, KeyTable
from dropcheck.claims.kinds import text
from dropcheck.claims.nodes import Entry, Scalar, Tree
from dropcheck.claims.registry import Claim, Family, Stated
from dropcheck.claims.source import Problems
from dropcheck.errors import suggestion
from dropcheck.results import Passage

LINE = text(tidy=lambda written: " ".join(written.split()))
PASSAGE = KeyTable(
    "passage",
    description="A passage that a claim comes from.",
    keys=(
        Key("document", text(), description="One of the keys under `documents`.",
            examples=("notes",), required="name it, 'document: …'"),
        Key("section", LINE, description="Where in the document it stands.",
            examples=("Scaling",)),
    ),
    hint="write '- {document: …, section: …}'",
)  # fmt: skip


def passages(*levels: Mapping[str, Any]) -> tuple[Passage, ...]:
    """The passages a claim comes from; each level of values overrides those before it.

    >>> passages({"document": "a", "section": "1"}, {"section": "2"})
    (Passage(document='a', section='2'),)
    """
    passage_list: tuple[Passage, ...] = ()
    for values in levels:
        if "sources" in values:
            passage_list = tuple(Passage(**one) for one in values["sources"])
        elif "document" in values or "section" in values:
            before = passage_list[0] if len(passage_list) == 1 else Passage()
            document = values.get("document", before.document)
            passage_list = (Passage(document, values.get("section", before.section)),)
    return passage_list


# ---- references must exist -----------------------------------------------------------------------


def check_documents(root: Tree, report: Problems) -> None:
    """Report unknown documents, and a section that may be of several documents."""
    documents = mapping_at(root, "documents")
    defaults = root.entries.get("defaults")
    if defaults is not None and isinstance(defaults.node, Tree):
        _check_documents_of(defaults.node, documents, report)
    for claim in _trees(mapping_at(root, "claims")):
        _check_documents_of(claim, documents, report)
        for statement in _trees(mapping_at(claim, "claims")):
            _check_documents_of(statement, documents, report)
            section = statement.entries.get("section")
            several = len(items_at(claim, "sources")) > 1 and "document" not in statement.entries
            if section is not None and several:
                message = "it is not known which document this section is in"
                report.add(section.key_start, message, "name it, 'document: …'")


def _check_documents_of(tree: Tree, documents: Mapping[str, Entry], report: Problems) -> None:
    for named in (tree, *(one for one in items_at(tree, "sources") if isinstance(one, Tree))):
        entry = named.entries.get("document")
        if entry is None or not isinstance(entry.node, Scalar):
            continue
        name = entry.node.value
        if not isinstance(name, str) or not name.strip() or name in documents:
            continue
        hint = suggestion(name, documents)
        if hint is None:
            names = "the documents are " + ", ".join(list(documents)[:10])
            hint = names if documents else "list it under 'documents', with its title"
        report.add(entry.node.start, f"there is no document {name!r}", hint)


def check_truths(root: Tree, report: Problems) -> None:
    """Report a 'truth' that is not a claim or is false, and one that a true claim names."""
    usual = _expects(root.entries["defaults"].node) if "defaults" in root.entries else None
    expected: dict[str, str] = {}
    named: list[tuple[str, str | None, Scalar]] = []
    for name, entry, family in _statements(root):
        node = entry.node
        own = node.entries if isinstance(node, Tree) else {}
        above = None if family is None else _expects(mapping_at(root, "claims")[family].node)
        expected[name] = _expects(node) or above or usual or "verified"
        truth = own["truth"].node if "truth" in own else None
        if isinstance(truth, Scalar) and isinstance(truth.value, str) and truth.value.strip():
            named.append((name, family, truth))
    for name, family, truth in named:
        meant = truth_id(str(truth.value), family, expected)
        if expected[name] == "verified":
            message = "'truth' belongs to a claim that is false"
            report.add(truth.start, message, "add 'expect: refuted', or take 'truth' out")
        elif meant not in expected:
            inside = [one for one in expected if one.startswith(f"{meant}.")]
            listed = "name one of its statements: " + ", ".join(inside[:5])
            hint = listed if inside else suggestion(str(truth.value), _names(family, expected))
            report.add(truth.start, f"there is no claim {truth.value!r}", hint)
        elif expected[meant] == "refuted":
            report.add(truth.start, f"{meant} is false itself", "name the claim that holds")


def truth_id(written: str, family: str | None, known: Mapping[str, object]) -> str:
    """The id of the claim that a truth names; a statement of the same claim needs only its name."""
    beside = f"{family}.{written}"
    return beside if family is not None and beside in known else written


def _names(family: str | None, known: Mapping[str, object]) -> list[str]:
    beside = [one.partition(".")[2] for one in known if one.startswith(f"{family}.")]
    return [*beside, *known]


def _statements(root: Tree) -> Iterator[tuple[str, Entry, str | None]]:
    """Each claim's id and entry, and the id of the claim that it is a statement of."""
    for name, entry in mapping_at(root, "claims").items():
        several = mapping_at(entry.node, "claims") if isinstance(entry.node, Tree) else {}
        if several:
            yield from ((f"{name}.{one}", inner, name) for one, inner in several.items())
        else:
            yield name, entry, None


def _expects(node: object) -> str | None:
    """The value of 'expect' in a mapping; None if it has none."""
    entry = node.entries.get("expect") if isinstance(node, Tree) else None
    if entry is None:
        return None
    value = entry.node.value if isinstance(entry.node, Scalar) else None
    return value if value in ("verified", "refuted") else "what cannot be read"


def _trees(entries: Mapping[str, Entry]) -> Iterator[Tree]:
    return (entry.node for entry in entries.values() if isinstance(entry.node, Tree))


def renamed(claim: Claim, rename: Callable[[str], str]) -> Claim:
    """A claim under another id, together with the other statements of its family."""
    family = claim.family
    if family is not None:
        beside = tuple(Stated(rename(one.id), one.statement) for one in family.statements)
        family = Family(rename(family.id), family.title, beside)
    return replace(claim, id=rename(claim.id), family=family)
