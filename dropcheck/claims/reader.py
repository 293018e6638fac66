"""Reads claims files into a registry, or reports all errors of their keys at once.

Texts in the language (`claim`, `model`, `requires`) are stored with their places in the file; the
language parses them later.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dropcheck.claims.claimsfile import CLAIM, FILE, FORMAT, OF_ELEMENTS, SLOT, Field, mapping_at
from dropcheck.claims.models import Models
from dropcheck.claims.registry import (
    Claim,
    Document,
    Family,
    Registry,
    Slot,
    Stated,
    renamed,
    truth_id,
)
from dropcheck.claims.yaml_places import (
    Broken,
    Listing,
    Problems,
    Scalar,
    Source,
    Tree,
    YamlNode,
    compose,
    decode,
    read_bytes,
    shown,
)
from dropcheck.errors import DropcheckError, Location, Problem, at_most, in_file_order
from dropcheck.packs.pack_files import PACK, pack_file
from dropcheck.results import Passage

USUAL_NAME = "claims.yaml"
MISTAKEN_NAME = "claims.yml"
SHIPPED = "shipped"  # stands for the claims that ship; a file of that name is `./shipped`
SHIPPED_NAME = "claims.yaml (shipped with dropcheck)"


def load_registry(
    files: Sequence[str | Path] = (), read: Callable[[str | Path, str], Registry] | None = None
) -> Registry:
    """The registry for a command; `read` reads one file, by default `read_registry`.

    It holds the files named on the command line, as `read_registries` joins them. Without files, it
    is that of `claims.yaml` in the current folder, or else of the claims that ship.

    Raises:
        DropcheckError: a file cannot be read or has errors; two files use the same id; or no file
            is named and the folder holds a `claims.yml`.
    """
    if files:
        return read_registries(files, read)
    if Path(USUAL_NAME).is_file():
        return read_registry(USUAL_NAME)
    if Path(MISTAKEN_NAME).is_file():
        hint = f"rename it to {USUAL_NAME}, or name it: --file {MISTAKEN_NAME}"
        raise DropcheckError(Problem(f"{MISTAKEN_NAME} is not read", hint=hint))
    return read_registries([SHIPPED])


def read_registries(
    paths: Sequence[str | Path], read: Callable[[str | Path, str], Registry] | None = None
) -> Registry:
    """Read one or more claims files into one registry, in the given order.

    `shipped` stands for the claims that ship with the package, `pack:NAME` for a pack. If another
    file has an id of a pack, all ids of the pack get the pack's name and a slash in front.
    Documents and defaults apply to their own file only. A file that is named twice is read once.

    Raises:
        DropcheckError: files cannot be read or have errors, or two files use the same id; all the
            problems are in it.
    """
    registries: list[Registry] = []
    problems: list[Problem] = []
    distinct: dict[Path, str | Path] = {}
    for path in paths:
        distinct.setdefault(Path(path).absolute(), path)
    for path in distinct.values():
        try:
            file, name = _named(path)
            registries.append((read or read_registry)(file, name))
        except DropcheckError as error:
            problems.extend(error.problems)
    registries = _with_names_of_packs(registries)
    problems.extend(_shared_ids(registries))
    if problems:
        raise DropcheckError(at_most(in_file_order(problems)))
    return registries[0] if len(registries) == 1 else _joined(registries)


def _with_names_of_packs(registries: Sequence[Registry]) -> list[Registry]:
    """The registries, with `NAME/id` for each id of a pack if it shares an id with another file."""
    entries = [{claim.entry for claim in one.claims.values()} for one in registries]
    count = Counter(itertools.chain.from_iterable(entries))
    return [
        _behind(f"{one.name.removeprefix(PACK)}/", one)
        if one.name.startswith(PACK) and any(count[entry] > 1 for entry in own)
        else one
        for one, own in zip(registries, entries, strict=True)
    ]


def _behind(name: str, registry: Registry) -> Registry:
    claims = [renamed(one, lambda id_: f"{name}{id_}") for one in registry.claims.values()]
    return replace(registry, claims={one.id: one for one in claims})


_UNIQUE = "ids are unique over all files of a run"


def _shared_ids(registries: Sequence[Registry]) -> Iterator[Problem]:
    """A problem for each id that an earlier file uses too."""
    first: dict[str, tuple[Registry, Location]] = {}
    for registry in registries:
        entries: dict[str, Claim] = {}  # the first claim of each
        for claim in registry.claims.values():
            entries.setdefault(claim.entry, claim)
        for name, claim in entries.items():
            owner, place = first.setdefault(name, (registry, claim.location))
            if owner is not registry:
                message = f"the id {name!r} is already used in {place.file}, {place.line_in_words}"
                hint = f"{_UNIQUE}: rename one of the two claims"
                if registry.coverage or owner.coverage:  # most ids in documents are generated
                    hint = f"{_UNIQUE}: give one of the two a name, as in dropcheck #another: …"
                yield Problem(message, claim.location, hint)


def _joined(registries: Sequence[Registry]) -> Registry:
    """One registry for several that share no id.

    If two files describe different documents under one key, the later key is followed by the name
    of its file.
    """
    documents: dict[str, Document] = {}
    claims: dict[str, Claim] = {}
    for registry in registries:
        keys: dict[str | None, str] = {}
        for key, document in registry.documents.items():
            differs = documents.get(key, document) != document
            keys[key] = f"{key} ({registry.name})" if differs else key
            documents[keys[key]] = replace(document, key=keys[key])
        for claim in registry.claims.values():
            sources = [replace(one, document=keys.get(one.document)) for one in claim.sources]
            claims[claim.id] = replace(claim, sources=tuple(sources))
    notes = tuple(note for registry in registries for note in registry.notes)
    return Registry(
        name=", ".join(one.name for one in registries),
        documents=documents,
        claims=claims,
        notes=notes,
        coverage=tuple(one for registry in registries for one in registry.coverage),
    )


def _named(path: str | Path) -> tuple[str | Path, str]:
    """The file, and its name in messages.

    Raises:
        DropcheckError: there is no such pack.
    """
    if path == SHIPPED:
        return _shipped(), SHIPPED_NAME
    if isinstance(path, str) and path.startswith(PACK):
        return pack_file(path.removeprefix(PACK)), path
    return path, str(path)


def _shipped() -> Path:
    """The claims file that ships: among the modules if installed, above them in a checkout."""
    from importlib.resources import as_file, files

    with as_file(files("dropcheck") / USUAL_NAME) as packaged:
        return packaged if packaged.is_file() else packaged.parent.parent / USUAL_NAME


def read_registry(path: str | Path, name: str | None = None) -> Registry:
    """Read a claims file; `name` is its name in messages, by default its path.

    Raises:
        DropcheckError: the file cannot be read, or has errors: all of them.
    """
    name = str(path) if name is None else name
    return _read(decode(read_bytes(Path(path), name), name))


def read_text(text: str | bytes, name: str = "<text>") -> Registry:
    r"""Read claims from the text of a file.

    Raises:
        DropcheckError: the text has errors: all of them.

    >>> registry = read_text("dropcheck: 1\nclaims: {one: {title: One, claim: 1 == 1}}")
    >>> registry.claims["one"].statement.text
    '1 == 1'
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return _read(decode(data, name))


def _read(source: Source) -> Registry:
    report = Problems(source)
    return registry_of(_top_level(compose(report), report), report)


def registry_of(top: Tree, report: Problems) -> Registry:
    """The registry of a mapping with the keys of a claims file.

    Raises:
        DropcheckError: all errors, including those that were reported before.
    """
    if _is_other_format(top, report):
        raise report.error()
    values = FILE.read(Field(top, "the file", report, (0, 0)))
    notes = _complete_models(values, top, report)
    if report:
        raise report.error()
    return _registry(values, top, report.source, notes)


def _complete_models(values: Mapping[str, Any], top: Tree, report: Problems) -> tuple[Problem, ...]:
    """Insert the lines of shared models for their names; return notes on unused models."""
    texts = values.get("models") or {}
    entries = mapping_at(top, "models")
    places = {name: report.source.location(entries[name].key_start) for name in texts}
    # an unknown key of the file may be a misspelling of 'models'
    unread = {*top.repeated} | {*top.entries} - {*values}
    models = Models(texts, places, all_read=not unread and values.get("models", {}) is not None)
    for claim in (values.get("claims") or {}).values():
        if claim is not None and claim.get("model") is not None:
            claim["model"] = models.completed(claim["model"])
    report.extend(models.problems)
    return models.notes


def _top_level(root: YamlNode | None, report: Problems) -> Tree:
    """The root mapping of a claims file.

    Raises:
        DropcheckError: the file is empty, or is not a mapping.
    """
    if isinstance(root, Tree):
        return root
    hint = f"a claims file begins with 'dropcheck: {FORMAT}', and 'claims:' below"
    if root is None or (isinstance(root, Scalar) and root.value is None):
        bare = "".join(report.source.lines).strip()
        message = "the file holds only comments" if "#" in bare else "the file is empty"
        report.add((0, 0), message, hint)
    elif not isinstance(root, Broken):
        message = f"a claims file is a mapping of names to values, and this is {shown(root)}"
        report.add(root.start, message, hint)
    raise report.error()


def _is_other_format(top: Tree, report: Problems) -> bool:
    """Whether the file has another format number; this is reported, and nothing else is read."""
    node = top.entries["dropcheck"].node if "dropcheck" in top.entries else None
    if not isinstance(node, Scalar) or type(node.value) is not int or node.value == FORMAT:
        return False
    message = f"format {shown(node)} is not known: this version reads format {FORMAT}"
    report.add(node.start, message, "a newer dropcheck may read it")
    return True


def _registry(
    values: Mapping[str, Any], top: Tree, source: Source, notes: tuple[Problem, ...]
) -> Registry:
    documents = {key: Document(key, **one) for key, one in values.get("documents", {}).items()}
    defaults = values.get("defaults", {})
    claims: dict[str, Claim] = {}
    for name, entry in mapping_at(top, "claims").items():
        own = dict(values["claims"][name])
        several = own.pop("claims", None)
        places = _parameter_locations(entry.node, source)
        if several is None:
            at = source.location(entry.key_start)
            claims[name] = _claim(name, (defaults, own), at, places)
            continue
        assert isinstance(entry.node, Tree)  # or an error would have been reported
        stated = [
            Stated(f"{name}.{part}", one["claim"], tolerant="tolerance" in {**own, **one})
            for part, one in several.items()
        ]
        family = Family(name, own["title"], tuple(stated))
        for one, inner in zip(stated, mapping_at(entry.node, "claims").items(), strict=True):
            at, part = source.location(inner[1].key_start), several[inner[0]]
            if len(several) > 1:  # each gets a title of its own
                part = {"title": f"{family.title} ({inner[0]})", **part}
            claims[one.id] = _claim(one.id, (defaults, own, part), at, places, family)
    slots = _slots_of(values, top, source)
    if slots:
        fractions = frozenset(_with_fractions(claims.values()))
        slots = {
            name: replace(slot, fractions=fractions.intersection(slot.takes))
            for name, slot in slots.items()
        }
        claims = {name: replace(claim, slots=slots) for name, claim in claims.items()}
    for name, claim in claims.items():
        if claim.truth is not None:
            family_id = None if claim.family is None else claim.family.id
            claims[name] = replace(claim, truth=truth_id(claim.truth, family_id, claims))
    return Registry(source.name, documents, claims, notes)


def _claim(
    name: str,
    levels: Sequence[Mapping[str, Any]],
    at: Location,
    parameter_locations: Mapping[str, Location],
    family: Family | None = None,
) -> Claim:
    """A claim with the values of all levels; later levels override earlier ones.

    The tags of a statement are added to those of its claim, which replace the default tags.
    """
    values: dict[str, Any] = dict(_ABSENT)
    for level in levels:
        values |= level
        if "resolution" in level:  # it overrides a 'within' of an earlier level
            values["within"] = None
    tags = [tag for level in levels[1:] for tag in level.get("tags", ())]
    given = any("tags" in level for level in levels[1:])
    values["tags"] = tuple(dict.fromkeys(tags if given else values["tags"]))
    values["sources"] = _passages(*levels)
    values["sharpness_given"] = any({"resolution", "within"} & level.keys() for level in levels)
    for key in ("document", "section", "claims"):
        del values[key]
    return Claim(
        id=name,
        family=family,
        statement=values.pop("claim"),
        location=at,
        parameter_locations=parameter_locations,
        **values,
    )


_ABSENT = {key.name: key.default for key in CLAIM.keys}


def _with_fractions(claims: Iterable[Claim]) -> Iterator[str]:
    """The parameters that have some value that is not a whole number."""
    for claim in claims:
        for values in (claim.parameters, *(claim.cases or ())):
            for name, value in values.items():
                several = value if isinstance(value, tuple) else (value,)
                if any(isinstance(one, float) and not one.is_integer() for one in several):
                    yield name


def _parameter_locations(claim: YamlNode, source: Source) -> dict[str, Location]:
    """Where each parameter is first named, in the grid or in the first listed case."""
    places: dict[str, Location] = {}
    keys = claim.entries if isinstance(claim, Tree) else {}
    for key in ("parameters", "cases"):
        node = keys[key].node if key in keys else None
        tree = node.items[0] if isinstance(node, Listing) else node
        if isinstance(tree, Tree):
            places |= {name: source.location(one.key_start) for name, one in tree.entries.items()}
    return places


def _slots_of(values: Mapping[str, Any], top: Tree, source: Source) -> dict[str, Slot]:
    """The slots of a file, from the values of its keys."""
    entries = mapping_at(top, "slots")
    slots: dict[str, Slot] = {}
    for name, one in (values.get("slots") or {}).items():
        own = dict.fromkeys(key.name for key in SLOT.keys) | one
        slots[name] = Slot(
            name=name,
            independent=own.pop("elements") == OF_ELEMENTS,
            location=source.location(entries[name].key_start),
            **own,
        )
    return slots


def _passages(*levels: Mapping[str, Any]) -> tuple[Passage, ...]:
    """The passages a claim comes from; each level of values overrides those before it.

    >>> _passages({"document": "a", "section": "1"}, {"section": "2"})
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
