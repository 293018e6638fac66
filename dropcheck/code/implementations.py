"""Implementations: code for slots under one name, that of a column of the results.

An implementation is imported when its code is bound: in a run, and not in a check.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dropcheck.claims.registry import Code, Column, Slot
from dropcheck.code.adapters.adapter import Adapter
from dropcheck.code.bound import Bound
from dropcheck.code.call_limit import SECONDS
from dropcheck.code.targets import Target, imported
from dropcheck.errors import DropcheckError, Problem, nearest
from dropcheck.packs.pack_files import PACK


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

    By slot, `given` are the targets of the command line, `listed` those of pyproject.toml, which
    serves many claims files, and `functions` are function objects.
    """

    name: str
    framework: Framework
    given: Mapping[str, Target]
    listed: Mapping[str, Target]
    functions: Mapping[str, Callable[..., Any]]
    dtypes: tuple[str, ...]
    xfail: Mapping[str, str]  # reasons by patterns of ids of claims
    folder: Path  # where modules of the command line are looked for
    home: Path  # where modules of pyproject.toml are looked for: the folder of that file
    shipped: bool = False  # whether code that ships is used for the slots of packs
    device: str | None = None
    compiled: bool = False
    call_limit: float = SECONDS

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
        targets = {**self.listed, **self.given}
        functions: dict[str, tuple[str, Any]] = {}
        for name, slot in slots.items():
            if name in self.functions:
                own = self.functions[name]
                functions[name] = (getattr(own, "__qualname__", repr(own)), own)
            elif name in targets:
                folder = self.folder if name in self.given else self.home
                functions[name] = (str(targets[name]), imported(targets[name], folder, name))
            elif self.shipped and slot.location.file.startswith(PACK):
                function = _shipped_function(self.framework, name)
                if function is not None:
                    functions[name] = (f"{self.framework.package}'s {name}", function)
        if not functions:
            return {}
        adapter = self._adapter()
        return {
            name: Bound(slots[name], adapter, function, name=shown, limit=self.call_limit)
            for name, (shown, function) in functions.items()
        }

    def rebuilder(self, slots: Mapping[str, Slot]) -> Callable[[], Column] | None:
        """A function that makes the column in another process; None where that cannot be.

        Function objects have no name to be imported by, and the memory of a device may have room
        for one process alone.
        """
        if self.functions or self.device not in (None, "cpu"):
            return None
        return partial(_column_anew, self, slots)

    def _adapter(self) -> Adapter:
        """Its framework's adapter, which imports the framework."""
        try:
            name, kind = self.framework.adapter.split(".")
            module = importlib.import_module(f"{_ADAPTERS}.{name}")
            made: Adapter = getattr(module, kind)(self.device, self.compiled)
        except ImportError as error:
            raise DropcheckError(_not_installed(self.framework, self.name, error)) from error
        except ValueError as error:
            where = f"see [tool.dropcheck.implementations.{self.name}] in pyproject.toml"
            raise DropcheckError(Problem(f"{self.name}: {error}", hint=where)) from error
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


def check_dtypes(framework: Framework, dtypes: Sequence[str]) -> str | None:
    """What is wrong with number formats for a framework; None where nothing is."""
    for name in dtypes:
        if name not in framework.dtypes:
            near = nearest(name, framework.dtypes)
            known = ", ".join(framework.dtypes)
            return f"{name!r} is no number format; " + (
                f"did you mean {near!r}?" if near else f"it is one of {known}"
            )
    return None
