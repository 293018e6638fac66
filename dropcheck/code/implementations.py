"""Implementations: code for slots under one name, that of a column of the results.

An implementation is imported when its code is bound: in a run, and not in a check.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dropcheck.claims.registry import Code, Column, Slot
from dropcheck.code.adapters.adapter import Adapter
from dropcheck.code.bound import Bound
from dropcheck.code.call_limit import SECONDS
from dropcheck.code.targets import Target, imported
from dropcheck.errors import DropcheckError, Problem
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

    By slot, `given` are the targets of the command line.
    """

    name: str
    framework: Framework
    given: Mapping[str, Target]
    xfail: Mapping[str, str]  # reasons by patterns of ids of claims
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
            made: Adapter = getattr(module, kind)(None, self.compiled)
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
