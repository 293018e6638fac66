"""Functions of test files as code for slots: `test_layers.py::dropout::values@torch[p=0.5]`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dropcheck.claims.reader import SHIPPED, read_registries
from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.values import case_name
from dropcheck.code.decorator import Implements, adapter_of, slot_of
from dropcheck.documents import read_any
from dropcheck.pytest_claims import ClaimsCollector, ClaimsPlugin


class CodeTests(ClaimsCollector):
    """The claims of a file about a function of a test file that implements a slot of theirs."""

    def __init__(self, *, function: Any, asked: Implements, **node: Any) -> None:
        super().__init__(**node)
        self.function = function
        self.asked = asked

    def read(self) -> Registry:
        """The claims; those that call the slot get a column for the function.

        Raises:
            DropcheckError: the file cannot be read, or the function does not fit a slot of it.
        """
        from dropcheck.code.binding import of_functions
        from dropcheck.code.columns import with_columns

        file = self.asked.file
        if ":" not in file and file != SHIPPED:
            file = os.path.relpath(self.path.parent / file, self.config.invocation_params.dir)
        registry = read_registries([file], read_any)
        slots = {name for claim in registry.claims.values() for name in claim.slots}
        slot = slot_of(self.asked, self.function, slots)
        own = of_functions(
            {slot: self.function},
            name=self.asked.adapter or adapter_of(self.function),
            dtypes=self.asked.dtypes,
            folder=self.path.parent,
        )
        return with_columns(registry, [own], self.asked.dtypes, self.graphs)

    def is_tested(self, case: Case) -> bool:
        """Whether a case calls the function."""
        return case.claim.column is not None

    def repeat(self, case: Case) -> str:
        """The command that repeats a case."""
        here = os.path.relpath(self.path, self.config.invocation_params.dir)
        own = self.nodeid.partition("::")[2]
        return shlex.join(["pytest", f"{here}::{own}::{case_name(case.claim.id, case.parameters)}"])

    def place(self, case: Case) -> Path:
        """The claims file, or the name of a pack."""
        file = case.claim.location.file
        return Path(file) if ":" in file else self.config.invocation_params.dir / file


def code_tests(
    collector: pytest.Collector,
    name: str,
    function: object,
    asked: Sequence[Implements],
    plugin: ClaimsPlugin,
) -> list[CodeTests]:
    """The tests of a function: a collector for each file that it implements a slot of."""
    return [
        CodeTests.from_parent(
            collector,
            name=name if len(asked) == 1 else f"{name}({request.file})",
            function=function,
            asked=request,
            plugin=plugin,
        )
        for request in asked
    ]
