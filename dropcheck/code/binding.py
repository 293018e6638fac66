"""`--with NAME` and `--with NAME:slot=module:function`: the implementations of a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dropcheck.claims.registry import Claim
from dropcheck.code.call_limit import SECONDS
from dropcheck.code.implementations import COMPILED, FRAMEWORKS, Implementation, check_dtypes
from dropcheck.code.tables import PYPROJECT, ImplementationTable, tables_of
from dropcheck.code.targets import Target, read_target
from dropcheck.errors import DropcheckError, Problem, nearest

_NAME = re.compile(r"[^\W_][\w.-]*")
_MINE = "mine"  # the name of an implementation in hints
_EXAMPLES = "write --with torch, or --with torch:dropout=torch.nn.functional:dropout"
_NO_TABLE = ImplementationTable(
    adapter=None, device=None, compiled=False, dtypes=(), call_limit=None, xfail={}, slots={}
)


def implementations_of(given: Sequence[str], folder: Path) -> tuple[Implementation, ...]:
    """The implementations that are asked for, in order; a compiled one follows the plain one.

    Nothing of them is imported.

    Args:
        given: texts as on the command line; several with one name are one implementation.
        folder: modules are looked for there, and pyproject.toml there and above.

    Raises:
        DropcheckError: a text cannot be read, an implementation is not known, or pyproject.toml
            has errors; with all problems.
    """
    asked: dict[str, dict[str, Target]] = {}
    problems: list[Problem] = []
    for text in given:
        try:
            name, slot, target = _read(text)
        except ValueError as error:
            problems.append(Problem(f"--with {text[:100]!r} {error}", hint=_hint(text)))
            continue
        own = asked.setdefault(name, {})
        if slot is not None and target is not None:
            if own.get(slot, target) != target:
                problems.append(Problem(f"--with binds {slot!r} of {name!r} twice"))
            own[slot] = target
    if problems:
        raise DropcheckError(problems)
    if not asked:
        return ()
    tables, home = tables_of(folder)
    made: dict[str, Implementation] = {}
    for name, targets in asked.items():
        plain = name.removesuffix(COMPILED)
        if plain not in tables and plain not in FRAMEWORKS and not targets:
            problems.append(_unknown(name, tables))
            continue
        for one in _made(name, targets, tables.get(plain, _NO_TABLE), (folder, home)):
            made.setdefault(one.name, one)
    if problems:
        raise DropcheckError(problems)
    return tuple(made.values())


def needed(given: Sequence[str], claim: Claim) -> list[str]:
    """The texts of the command line that bind the column of a claim."""
    if claim.column is None:
        return []
    names = {claim.column.name, claim.column.name.removesuffix(COMPILED)}
    called = "\n".join(one.text for one in (claim.model, claim.statement) if one is not None)
    parts = [(text, *re.split("[:=]", text, maxsplit=2)) for text in given]
    own = [part for part in parts if part[1].strip() in names]
    used = [
        text for text, _, *rest in own if not rest or re.search(rf"\b{rest[0].strip()}\b", called)
    ]
    return used or list(dict.fromkeys(name for _, name, *_ in own))


def of_functions(
    functions: Mapping[str, Callable[..., Any]],
    *,
    name: str,
    dtypes: Sequence[str],
    folder: Path,
) -> Implementation:
    """An implementation by function objects, under the name of their adapter.

    Raises:
        DropcheckError: there is no such adapter, or it has no such number format.
    """
    if name not in FRAMEWORKS:
        near = nearest(name, FRAMEWORKS)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(FRAMEWORKS)}"
        raise DropcheckError(Problem(f"there is no adapter {name!r}", hint=hint))
    framework = FRAMEWORKS[name]
    wrong = check_dtypes(framework, dtypes)
    if wrong is not None:
        raise DropcheckError(Problem(wrong))
    return Implementation(
        name=name,
        framework=framework,
        given={},
        listed={},
        functions=functions,
        dtypes=tuple(dtypes) or framework.dtypes,
        xfail={},
        folder=folder,
        home=folder,
    )


def _read(text: str) -> tuple[str, str | None, Target | None]:
    """The name, the slot and the code of one text.

    Raises:
        ValueError: it is not written like that.
    """
    name, colon, binding = text.strip().partition(":")
    if _NAME.fullmatch(name) is None:
        raise ValueError("does not begin with the name of an implementation")
    if not colon:
        return name, None, None
    slot, equals, target = binding.partition("=")
    if not equals or not slot.strip():
        raise ValueError("binds no slot")
    try:
        return name, slot.strip(), read_target(target)
    except ValueError as error:
        raise ValueError(f"binds {slot.strip()!r} to what {error}") from None


def _hint(text: str) -> str:
    """The hint for a text that names a function, but lacks parts that must come before it."""
    slot, _, target = text.rpartition("=")
    if ":" not in target:  # layers.dropout
        target = ":".join(target.rsplit(".", 1))
    try:
        read_target(target)
    except ValueError:
        return _EXAMPLES
    name, _, slot = slot.rpartition(":")
    if not name and slot in (_MINE, *FRAMEWORKS):
        name, slot = slot, ""
    return f"write --with {name or _MINE}:{slot or 'SLOT'}={target}"


def _made(
    name: str, targets: Mapping[str, Target], table: ImplementationTable, folders: tuple[Path, Path]
) -> Sequence[Implementation]:
    """The implementation, and the compiled one beside it where its table says so."""
    folder, home = folders
    plain = name.removesuffix(COMPILED)
    framework = FRAMEWORKS[table.adapter or (plain if plain in FRAMEWORKS else "numpy")]
    one = Implementation(
        name=plain,
        framework=framework,
        given=targets,
        listed=table.slots,
        functions={},
        dtypes=table.dtypes or framework.dtypes,
        xfail=table.xfail,
        folder=folder,
        home=home,
        shipped=plain in FRAMEWORKS and not (table.slots or targets),
        device=table.device,
        call_limit=table.call_limit or SECONDS,
    )
    compiled = replace(one, name=f"{plain}{COMPILED}", compiled=True)
    if name != plain:
        return (compiled,)
    return (one, compiled) if table.compiled else (one,)


def _unknown(name: str, tables: Mapping[str, ImplementationTable]) -> Problem:
    known = [*tables, *FRAMEWORKS]
    near = nearest(name, known)
    hint = f"did you mean {near!r}?" if near else (
        f"add [tool.dropcheck.implementations.{name}] to {PYPROJECT}, or bind code here: "
        f"--with {name}:slot=module:function"
    )  # fmt: skip
    return Problem(f"no implementation {name!r} is known", hint=hint)
