"""`--with torch` and `--with NAME:slot=module:function`: the implementations of a run."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dropcheck.claims.registry import Claim, Code, Column, Slot
from dropcheck.code.adapters.adapter import Adapter
from dropcheck.code.calls import SECONDS, Bound
from dropcheck.code.targets import Target, imported, read_target
from dropcheck.errors import DropcheckError, Problem, nearest
from dropcheck.packs.pack_files import PACK

# ---- implementations -----------------------------------------------------------------------------
#
# Implementations: code for slots under one name, that of a column of the results.
#
# An implementation is imported when its code is bound: in a run, and not in a check.


@dataclass(frozen=True, slots=True)
class Framework:
    """What is known of a framework before it is imported."""

    adapter: str  # its adapter: module and class
    dtypes: tuple[str, ...]  # the number formats, the usual one first
    package: str  # what pip installs
    shipped: str  # the module with code for the slots of packs
    libraries: tuple[tuple[str, str], ...] = ()  # number formats that need a library, and which


_ADAPTERS = "dropcheck.code.adapters"
_SHIPPED = "dropcheck.packs.implementations"
_LONG = ("float64", "float32", "bfloat16", "float16")
_SHORT = ("float32", "bfloat16", "float16", "float64")
FRAMEWORKS: Mapping[str, Framework] = {
    "numpy": Framework(
        "numpy_adapter.NumpyAdapter",
        _LONG,
        "numpy",
        "numpy_reference",
        libraries=(("bfloat16", "ml_dtypes"),),
    ),
    "torch": Framework("torch_adapter.TorchAdapter", _SHORT, "torch", "torch_functions"),
    "jax": Framework("jax_adapter.JaxAdapter", _SHORT, "jax", "jax_functions"),
}
"""The frameworks whose code can be bound, by the names of their adapters."""

COMPILED = "-compiled"
"""The column of compiled code has the name of its implementation, and this at the end."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """Code for slots, under the name of its column.

    By slot, `given` are the targets of the command line.
    """

    name: str
    framework: Framework
    given: Mapping[str, Target]
    folder: Path  # where modules of the command line are looked for
    shipped: bool = False  # whether code that ships is used for the slots of packs
    compiled: bool = False

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The number formats of its framework, the usual one first."""
        return self.framework.dtypes

    @property
    def lacking(self) -> Mapping[str, str]:
        """The libraries that are not installed, by the number formats that need them."""
        find = importlib.util.find_spec
        return {name: one for name, one in self.framework.libraries if find(one) is None}

    def bind(self, slots: Mapping[str, Slot]) -> Mapping[str, Code]:
        """Import its code, by slot; slots for which it has none are left out.

        Raises:
            DropcheckError: its framework is not installed, or code that it names is not there.
        """
        functions: dict[str, tuple[str, Any]] = {}
        for name, slot in slots.items():
            if name in self.given:
                target = self.given[name]
                functions[name] = (str(target), imported(target, self.folder, name))
            elif self.shipped and slot.location.file.startswith(PACK):
                function = _shipped_function(self.framework, name)
                if function is not None:
                    functions[name] = (f"{self.framework.package}'s {name}", function)
        if not functions:
            return {}
        adapter = self._adapter()
        return {
            name: Bound(slots[name], adapter, function, name=shown, limit=SECONDS)
            for name, (shown, function) in functions.items()
        }

    def rebuilder(self, slots: Mapping[str, Slot]) -> Callable[[], Column]:
        """A function that makes the column in another process."""
        return partial(_column_anew, self, slots)

    def _adapter(self) -> Adapter:
        """Its framework's adapter, which imports the framework."""
        try:
            name, kind = self.framework.adapter.split(".")
            module = importlib.import_module(f"{_ADAPTERS}.{name}")
            made: Adapter = getattr(module, kind)(self.compiled)
        except ImportError as error:
            raise DropcheckError(_not_installed(self.framework, self.name, error)) from error
        except ValueError as error:
            raise DropcheckError(Problem(f"{self.name}: {error}")) from error
        return made


_bound: list[tuple[Implementation, Mapping[str, Slot], Column]] = []  # columns of this worker


def _column_anew(own: Implementation, slots: Mapping[str, Slot]) -> Column:
    """The column of an implementation in a worker, bound once for all cases that it judges.

    Raises:
        DropcheckError: as `Implementation.bind`.
    """
    for known, its_slots, column in _bound:
        if known == own and its_slots == slots:
            return column
    column = Column(own.name, own.bind(slots))
    _bound.append((own, slots, column))
    return column


def _shipped_function(framework: Framework, slot: str) -> Callable[..., Any] | None:
    """The code that ships for a slot of a pack; None where the framework has none."""
    try:
        module = importlib.import_module(f"{_SHIPPED}.{framework.shipped}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("dropcheck"):
            return None  # nothing ships for this framework
        raise DropcheckError(_not_installed(framework, framework.package, error)) from error
    function: Callable[..., Any] | None = getattr(module, slot, None)
    return function


def _not_installed(framework: Framework, name: str, error: ImportError) -> Problem:
    missing = error.name or framework.package
    hint = f"pip install {missing.split('.')[0]}, in the environment that runs dropcheck"
    return Problem(f"{name}: {missing!r} is not installed", hint=hint)


# ---- binding -------------------------------------------------------------------------------------


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
        folder=folder,
        shipped=plain in FRAMEWORKS and not targets,
        compiled=name != plain,
    )


def _unknown(name: str) -> Problem:
    near = nearest(name, FRAMEWORKS)
    bind = f"bind code to a slot: --with {name}:SLOT=MODULE:FUNCTION"
    hint = f"did you mean {near!r}?" if near else bind
    return Problem(f"no implementation {name!r} is known", hint=hint)
