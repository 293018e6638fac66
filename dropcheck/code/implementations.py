"""Implementations: code for slots under one name, which is that of a column of the answer.

Nothing of an implementation is imported before its code is bound, which a run does and a check
does not.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
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
from dropcheck.records import record


@record
class Framework:
    """An adapter, before anything of its framework is imported."""

    adapter: str  # its module and its class there
    dtypes: tuple[str, ...]  # the number formats, the usual one first
    package: str  # what pip installs
    shipped: str  # the module that has code for the slots of packs
    libraries: tuple[tuple[str, str], ...] = ()  # that number formats need beside it


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
    "flax": Framework("jax_adapter.JaxAdapter", _SHORT, "flax", "flax_functions"),
    "keras": Framework("keras_adapter.KerasAdapter", _SHORT, "keras", "keras_functions"),
}
"""The frameworks whose code can be bound, by the names of their adapters."""

COMPILED = "-compiled"
"""What the column of compiled code is called, after the name of its implementation."""


@record
class Implementation:
    """Code for slots, under the name of its column.

    `given` are the targets of the command line, each for a slot of this run; `listed` those of
    pyproject.toml, which serve many claims files. `functions` are handed over as they are.
    """

    name: str
    framework: Framework
    given: Mapping[str, Target]
    listed: Mapping[str, Target]
    functions: Mapping[str, Callable[..., Any]]
    dtypes: tuple[str, ...]
    xfail: Mapping[str, str]  # the reason by a pattern of ids of claims
    folder: Path  # where modules of the command line are looked for
    home: Path  # that of pyproject.toml, where those of its table are
    shipped: bool = False  # whether code that ships is taken for the slots of packs
    device: str | None = None
    compiled: bool = False
    call_limit: float = SECONDS

    @property
    def lacking(self) -> Mapping[str, str]:
        """The libraries that are not installed, by the number formats that need them."""
        find = importlib.util.find_spec
        return {name: one for name, one in self.framework.libraries if find(one) is None}

    def bind(self, slots: Mapping[str, Slot]) -> Mapping[str, Code]:
        """Its code by slot; slots for which it has none are left out. The code is imported.

        Raises:
            DropcheckError: its framework is not installed, or code that it names is not there.
        """
        targets = {**self.listed, **self.given}
        found: dict[str, tuple[str, Any]] = {}
        for name, slot in slots.items():
            if name in self.functions:
                own = self.functions[name]
                found[name] = (getattr(own, "__qualname__", repr(own)), own)
            elif name in targets:
                folder = self.folder if name in self.given else self.home
                found[name] = (str(targets[name]), imported(targets[name], folder, name))
            elif self.shipped and slot.location.file.startswith(PACK):
                function = _shipped_function(self.framework, name)
                if function is not None:
                    found[name] = (f"{self.framework.package}'s {name}", function)
        if not found:
            return {}
        adapter = self._adapter()
        return {
            name: Bound(slots[name], adapter, function, name=shown, limit=self.call_limit)
            for name, (shown, function) in found.items()
        }

    def rebuilder(self, slots: Mapping[str, Slot]) -> Callable[[], Column] | None:
        """What gives its column in another process; None where code is called in this one alone.

        Functions that are handed over have no names to import them by, and the memory of a device
        may have room for one process alone.
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


_bound: list[tuple[Implementation, Mapping[str, Slot], Column]] = []  # in a worker


def _column_anew(own: Implementation, slots: Mapping[str, Slot]) -> Column:
    """In a worker: the column of an implementation, bound once for all cases that it judges.

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
    """What ships for a slot of a pack, where the framework has it."""
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
    """What is wrong with the number formats that an implementation is to be tried in."""
    for name in dtypes:
        if name not in framework.dtypes:
            near = nearest(name, framework.dtypes)
            known = ", ".join(framework.dtypes)
            return f"{name!r} is no number format; " + (
                f"did you mean {near!r}?" if near else f"it is one of {known}"
            )
    return None
