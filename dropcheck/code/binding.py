"""`--with torch` and `--with NAME:slot=module:function`: the implementations of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from dropcheck.claims.registry import Claim
from dropcheck.code.implementations import COMPILED, FRAMEWORKS, Implementation
from dropcheck.code.targets import Target, read_target
from dropcheck.errors import DropcheckError, Problem, nearest

_NAME = re.compile(r"[^\W_][\w.-]*")
_MINE = "mine"  # the name of an implementation in hints
_EXAMPLES = "write --with torch, or --with torch:dropout=torch.nn.functional:dropout"


def implementations_of(given: Sequence[str], folder: Path) -> tuple[Implementation, ...]:
    """The implementations that are asked for, in order.

    Nothing of them is imported.

    Args:
        given: texts as on the command line; several with one name are one implementation.
        folder: modules are looked for there.

    Raises:
        DropcheckError: a text cannot be read, or an implementation is not known; with all problems.
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
    for name, targets in asked.items():
        if name.removesuffix(COMPILED) not in FRAMEWORKS and not targets:
            problems.append(_unknown(name))
    if problems:
        raise DropcheckError(problems)
    return tuple(_made(name, targets, folder) for name, targets in asked.items())


def needed(given: Sequence[str], claim: Claim) -> list[str]:
    """The texts of the command line that bind the column of a claim."""
    if claim.column is None:
        return []
    called = "\n".join(one.text for one in (claim.model, claim.statement) if one is not None)
    parts = [(text, *re.split("[:=]", text, maxsplit=2)) for text in given]
    own = [part for part in parts if part[1].strip() == claim.column.name]
    used = [
        text for text, _, *rest in own if not rest or re.search(rf"\b{rest[0].strip()}\b", called)
    ]
    return used or [text for text, *_ in own]


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


def _made(name: str, targets: Mapping[str, Target], folder: Path) -> Implementation:
    """The implementation of a name and the targets that it is given."""
    plain = name.removesuffix(COMPILED)
    return Implementation(
        name=name,
        framework=FRAMEWORKS.get(plain, FRAMEWORKS["numpy"]),
        given=targets,
        xfail={},
        folder=folder,
        shipped=plain in FRAMEWORKS and not targets,
        compiled=name != plain,
    )


def _unknown(name: str) -> Problem:
    near = nearest(name, FRAMEWORKS)
    bind = f"bind code to a slot: --with {name}:SLOT=MODULE:FUNCTION"
    hint = f"did you mean {near!r}?" if near else bind
    return Problem(f"no implementation {name!r} is known", hint=hint)
