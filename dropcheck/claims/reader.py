"""A claims file in, a registry out, or everything that is wrong with the file at once.

The only module that the rest of the package needs in order to read claims. Texts in the language
(`claim`, `model`, `requires`) are kept as they stand, with the way back to the file: the language
reads them later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dropcheck.claims.checks import check
from dropcheck.claims.compose import MOST_PROBLEMS, compose
from dropcheck.claims.expressions import source_text
from dropcheck.claims.nodes import Broken, Entry, Listing, Node, Scalar, Tree, plain, shown
from dropcheck.claims.quick import read_quickly
from dropcheck.claims.registry import Claim, Document, Registry, SourceText
from dropcheck.claims.source import Source, decode, read_bytes
from dropcheck.errors import DropcheckError, Location, Problem, in_file_order, nearest

if TYPE_CHECKING:
    from dropcheck.claims.schema import ClaimModel, DefaultsModel, FileModel

FORMAT = 1
USUAL_NAME = "claims.yaml"
MISTAKEN_NAME = "claims.yml"
SHIPPED = "shipped"  # names the claims that ship; a file of that name is `./shipped`
SHIPPED_NAME = "claims.yaml (shipped with dropcheck)"


def load_registry(files: str | Sequence[str | Path] | None) -> Registry:
    """The registry that a command works on.

    It holds the files named on the command line, where `shipped` names the claims that ship with
    the package. Where no file is named, it is `claims.yaml` in the current folder, or else the
    claims that ship.

    Raises:
        DropcheckError: a file cannot be read or holds errors; two files use one id; or no file is
            named, and the folder holds one under a name that is not looked for.
    """
    if files:
        return read_registries([files] if isinstance(files, str) else files)
    if Path(USUAL_NAME).is_file():
        return read_registry(USUAL_NAME)
    if Path(MISTAKEN_NAME).is_file():
        hint = f"rename it to {USUAL_NAME}, or name it: --file {MISTAKEN_NAME}"
        raise DropcheckError(Problem(f"{MISTAKEN_NAME} is not read", hint=hint))
    return read_registries([SHIPPED])


def read_registries(paths: Sequence[str | Path]) -> Registry:
    """Read several claims files into one registry, in the order in which they are named.

    Documents and defaults hold for their own file only; a file that is named twice is read once.

    Args:
        paths: the files, at least one; `shipped` stands for the claims that ship with the package.

    Raises:
        DropcheckError: files cannot be read or hold errors, or two of them use one id: all of it.
    """
    registries: list[Registry] = []
    problems: list[Problem] = []
    distinct: dict[Path, str | Path] = {}
    for path in paths:
        distinct.setdefault(Path(path).absolute(), path)
    for path in distinct.values():
        file, name = (_shipped(), SHIPPED_NAME) if path == SHIPPED else (path, str(path))
        try:
            registries.append(read_registry(file, name))
        except DropcheckError as error:
            problems.extend(error.problems)
    problems.extend(_shared_ids(registries))
    if problems:
        raise DropcheckError(problems)
    return registries[0] if len(registries) == 1 else _joined(registries)


def _shared_ids(registries: Sequence[Registry]) -> Iterator[Problem]:
    """A problem for each claim whose id a file before its own has already used."""
    first: dict[str, Location] = {}
    for registry in registries:
        for claim in registry.claims.values():
            place = first.setdefault(claim.id, claim.location)
            if place is not claim.location:
                message = f"the id {claim.id!r} is already used in {place.file}, line {place.line}"
                hint = "ids are unique over all files of a run: rename one of the two claims"
                yield Problem(message, claim.location, hint)


def _joined(registries: Sequence[Registry]) -> Registry:
    """One registry of several that share no id.

    Where two files describe different documents under one key, the later one's key is followed by
    the name of its file.
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
            document_key = keys.get(claim.document)
            same = document_key == claim.document
            claims[claim.id] = claim if same else replace(claim, document=document_key)
    return Registry(", ".join(one.name for one in registries), documents, claims)


def _shipped() -> Path:
    """In an installed package beside this one's modules; in a source checkout above them."""
    from importlib.resources import as_file, files

    with as_file(files("dropcheck") / USUAL_NAME) as packaged:
        return packaged if packaged.is_file() else packaged.parent.parent / USUAL_NAME


def read_registry(path: str | Path, name: str | None = None) -> Registry:
    """Read a claims file.

    Args:
        path: the file.
        name: what messages call it; the path itself unless given.

    Raises:
        DropcheckError: the file cannot be read, or holds errors: every one of them.
    """
    shown_name = name if name is not None else str(path)
    return _read(decode(read_bytes(Path(path), shown_name), shown_name))


def read_text(text: str | bytes, name: str = "<text>") -> Registry:
    r"""Read claims from the text of a file.

    Raises:
        DropcheckError: the text holds errors: every one of them.

    >>> registry = read_text("dropcheck: 1\nclaims: {one: {title: One, claim: 1 == 1}}")
    >>> registry.claims["one"].statement.text
    '1 == 1'
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return _read(decode(data, name))


def _read(source: Source) -> Registry:
    root, problems = compose(source)
    top = _top_level(root, source, problems)
    problems.extend(_version(top, source))
    if not problems or not _other_format(top):
        model, found = _validate(top, source)
        problems.extend(found)
        problems.extend(islice(check(top, source), MOST_PROBLEMS))
        if not problems and model is not None:
            return _build(model, top, source)
    raise DropcheckError(_first_in_order(problems))


def _first_in_order(problems: list[Problem]) -> list[Problem]:
    ordered = list(in_file_order(problems))
    if len(ordered) >= MOST_PROBLEMS:
        ordered[MOST_PROBLEMS:] = [Problem("there are more problems", hint="mend these first")]
    return ordered


def _top_level(root: Node | None, source: Source, problems: list[Problem]) -> Tree:
    """The mapping that a claims file is.

    Raises:
        DropcheckError: the file is empty, or is something else.
    """
    if isinstance(root, Tree):
        return root
    hint = f"a claims file begins with 'dropcheck: {FORMAT}', and 'claims:' below"
    if root is None or (isinstance(root, Scalar) and root.value is None):
        bare = "".join(source.lines).strip()
        message = "the file holds only comments" if "#" in bare else "the file is empty"
        problem = source.problem((0, 0), message, hint)
    elif isinstance(root, Broken):
        raise DropcheckError(problems)
    else:
        message = f"a claims file is a mapping of names to values, and this is {shown(root)}"
        problem = source.problem(root.start, message, hint)
    raise DropcheckError([*problems, problem])


def _version(top: Tree, source: Source) -> Iterator[Problem]:
    entry = top.entries.get("dropcheck")
    if entry is None:
        if nearest("dropcheck", [key for key in top.entries if key != "claims"]) is None:
            message = f"the file does not name its format: 'dropcheck: {FORMAT}' is missing"
            yield source.problem((0, 0), message, f"make 'dropcheck: {FORMAT}' its first line")
        # else the schema tells of a key that is nearly it
    elif _other_format(top):
        message = f"format {shown(entry.node)} is not known: this version reads format {FORMAT}"
        hint = "a newer dropcheck may read it"
        yield source.problem(entry.node.start, message, hint)
    elif not _is_format(entry.node) and not isinstance(entry.node, Broken):
        message = f"'dropcheck' is the number of the format, {FORMAT}, and is {shown(entry.node)}"
        yield source.problem(entry.node.start, message, f"write 'dropcheck: {FORMAT}'")


def _is_format(node: Node) -> bool:
    return isinstance(node, Scalar) and type(node.value) is int and node.value == FORMAT


def _other_format(top: Tree) -> bool:
    """Whether the file says that it is in a format of another number: nothing else then holds."""
    entry = top.entries.get("dropcheck")
    node = entry.node if entry is not None else None
    return isinstance(node, Scalar) and type(node.value) is int and node.value != FORMAT


def _validate(top: Tree, source: Source) -> tuple[FileModel | None, list[Problem]]:
    data = plain(top)
    data["dropcheck"] = FORMAT  # `_version` has said what is wrong with it
    read = read_quickly(data)
    return (read, []) if read is not None else _by_schema(data, top, source)


def _by_schema(
    data: Mapping[str, Any], top: Tree, source: Source
) -> tuple[FileModel | None, list[Problem]]:
    from pydantic import ValidationError

    from dropcheck.claims.schema import FileModel
    from dropcheck.claims.schema_errors import problems

    try:
        return FileModel.model_validate(data), []
    except ValidationError as error:
        return None, list(islice(problems(error, top, source), MOST_PROBLEMS))


def _build(model: FileModel, top: Tree, source: Source) -> Registry:
    documents = {
        key: Document(key, one.title, one.date, one.url) for key, one in model.documents.items()
    }
    entries = _subtree(top.entries["claims"].node)
    claims = {
        name: _claim(name, one, model.defaults, entries[name], source)
        for name, one in model.claims.items()
    }
    return Registry(source.name, documents, claims)


def _subtree(node: Node) -> Mapping[str, Entry]:
    return node.entries if isinstance(node, Tree) else {}


def _claim(
    name: str, model: ClaimModel, defaults: DefaultsModel, entry: Entry, source: Source
) -> Claim:
    keys = _subtree(entry.node)
    # a claim that sets one of the two ways to say how sharply to look sets the other aside
    own_way = model.resolution is not None or model.within is not None
    way = model if own_way else defaults
    return Claim(
        id=name,
        title=model.title,
        statement=_texts(keys["claim"].node, source)[0],
        model=_texts(keys["model"].node, source)[0] if model.model is not None else None,
        parameters={key: tuple(grid) for key, grid in model.parameters.items()},
        cases=tuple(model.cases) if model.cases is not None else None,
        requires=_texts(keys["requires"].node, source) if "requires" in keys else (),
        expect=model.expect or defaults.expect,
        tolerance=model.tolerance,
        resolution=way.resolution if way.resolution is not None else defaults.resolution,
        within=way.within,
        document=model.document if model.document is not None else defaults.document,
        section=model.section if model.section is not None else defaults.section,
        note=model.note.strip() if model.note is not None else None,
        tags=tuple(dict.fromkeys(model.tags if model.tags is not None else defaults.tags)),
        location=source.location(entry.key_start),
        parameter_locations=_parameter_locations(keys, source),
    )


def _texts(node: Node, source: Source) -> tuple[SourceText, ...]:
    """The expression texts of a scalar or of a list of scalars."""
    scalars = node.items if isinstance(node, Listing) else (node,)
    return tuple(source_text(one, source) for one in scalars if isinstance(one, Scalar))


def _parameter_locations(keys: Mapping[str, Entry], source: Source) -> dict[str, Location]:
    """Where each parameter is first named."""
    found: dict[str, Location] = {}
    trees = [keys["parameters"].node] if "parameters" in keys else []
    if "cases" in keys and isinstance(keys["cases"].node, Listing):
        trees.extend(keys["cases"].node.items)
    for tree in trees:
        for name, entry in _subtree(tree).items():
            if name not in found:
                found[name] = source.location(entry.key_start)
    return found
