"""Finds and reads claims files, and joins several into one registry.

What reads them, with pydantic, is imported only where a file is read.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dropcheck.claims.registry import Claim, Document, Registry, renamed
from dropcheck.errors import DropcheckError, Location, Problem, at_most, in_file_order
from dropcheck.packs import PACK, pack_file

USUAL_NAME = "claims.yaml"
MISTAKEN_NAME = "claims.yml"
SHIPPED = "shipped"  # stands for the claims that ship; a file of that name is `./shipped`
SHIPPED_NAME = "claims.yaml (shipped with dropcheck)"


def read_registries(
    paths: Sequence[str | Path] = (), read: Callable[[str | Path, str], Registry] | None = None
) -> Registry:
    """Read claims files into one registry, in the given order; `read` reads one of them.

    Without files, it is that of `claims.yaml` in the current folder, or of the claims that ship.

    `shipped` stands for the claims that ship with the package, `pack:NAME` for a pack. If another
    file has an id of a pack, all ids of the pack get the pack's name and a slash in front.
    Documents and defaults apply to their own file only. A file that is named twice is read once.

    Raises:
        DropcheckError: files cannot be read or have errors, or two files use the same id; all the
            problems are in it. Or no file is named and the folder holds a `claims.yml`.
    """
    usual = Path(USUAL_NAME).is_file()
    if not (paths or usual) and Path(MISTAKEN_NAME).is_file():
        hint = f"rename it to {USUAL_NAME}, or name it: --file {MISTAKEN_NAME}"
        raise DropcheckError(Problem(f"{MISTAKEN_NAME} is not read", hint=hint))
    registries: list[Registry] = []
    problems: list[Problem] = []
    distinct: dict[Path, str | Path] = {}
    for path in paths or [USUAL_NAME if usual else SHIPPED]:
        distinct.setdefault(Path(path).absolute(), path)
    for path in distinct.values():
        try:
            registries.append((read or read_registry)(*_named(path)))
        except DropcheckError as error:
            problems.extend(error.problems)
    entries = [{claim.entry for claim in one.claims.values()} for one in registries]
    count = Counter(itertools.chain.from_iterable(entries))
    for at, (one, own) in enumerate(zip(registries, entries, strict=True)):
        if one.name.startswith(PACK) and any(count[entry] > 1 for entry in own):
            behind = partial("{}/{}".format, one.name.removeprefix(PACK))
            claims = [renamed(claim, behind) for claim in one.claims.values()]
            registries[at] = replace(one, claims={claim.id: claim for claim in claims})
    problems.extend(_shared_ids(registries))
    if problems:
        raise DropcheckError(at_most(in_file_order(problems)))
    return registries[0] if len(registries) == 1 else _joined(registries)


def _shared_ids(registries: Sequence[Registry]) -> Iterator[Problem]:
    """A problem for each id that an earlier file uses too."""
    first: dict[str, tuple[Registry, Location]] = {}
    for registry in registries:
        for name, claim in {
            one.entry: one for one in reversed([*registry.claims.values()])
        }.items():
            owner, place = first.setdefault(name, (registry, claim.location))
            if owner is not registry:
                message = f"the id {name!r} is already used in {place.file}, {place.line_in_words}"
                hint = "rename one of the two claims"
                if registry.coverage or owner.coverage:  # most ids in documents are generated
                    hint = "give one of the two a name, as in dropcheck #another: …"
                hint = f"ids are unique over all files of a run: {hint}"
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
    return Registry(
        name=", ".join(one.name for one in registries),
        documents=documents,
        claims=claims,
        notes=tuple(note for one in registries for note in one.notes),
        coverage=tuple(covered for one in registries for covered in one.coverage),
    )


def _named(path: str | Path) -> tuple[str | Path, str]:
    """The file, and its name in messages.

    Raises:
        DropcheckError: there is no such pack.
    """
    if path == SHIPPED:  # it stands among the modules if installed, above them in a checkout
        from importlib.resources import as_file, files

        with as_file(files("dropcheck") / USUAL_NAME) as packaged:
            above = packaged.parent.parent / USUAL_NAME
            return packaged if packaged.is_file() else above, SHIPPED_NAME
    if isinstance(path, str) and path.startswith(PACK):
        return pack_file(path.removeprefix(PACK)), path
    return path, str(path)


def read_registry(path: str | Path, name: str | None = None) -> Registry:
    """Read a claims file; `name` is its name in messages, by default its path.

    Raises:
        DropcheckError: the file cannot be read, or has errors: all of them.
    """
    name = str(path) if name is None else name
    from dropcheck.claims.yaml_places import read_bytes

    return _read(read_bytes(Path(path), name), name)


def read_text(text: str | bytes, name: str = "<text>") -> Registry:
    r"""Read claims from the text of a file.

    Raises:
        DropcheckError: the text has errors: all of them.

    >>> registry = read_text("dropcheck: 1\nclaims: {one: {title: One, claim: 1 == 1}}")
    >>> registry.claims["one"].statement.text
    '1 == 1'
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return _read(data, name)


def _read(data: bytes, name: str) -> Registry:
    from dropcheck.claims.claimsfile import registry_of, top_level
    from dropcheck.claims.yaml_places import Problems, compose, decode

    report = Problems(decode(data, name))
    return registry_of(top_level(compose(report), report), report)
