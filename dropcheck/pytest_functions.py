"""Functions of test files as code for slots: `test_layers.py::dropout::values@torch[p=0.5]`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dropcheck.claims.reader import SHIPPED, read_registries
from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.values import case_name
from dropcheck.code.decorator import Implements, adapter_of, slot_of
from dropcheck.documents.any_file import read_any
from dropcheck.errors import DropcheckError
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.language.checks import problems_of
from dropcheck.pytest_claims import CaseItem, ClaimsPlugin, checked, items, text_of


class CodeTests(pytest.Collector):
    """The claims of a file about a function of a test file that implements a slot of it."""

    def __init__(
        self, *, function: Any, asked: Implements, plugin: ClaimsPlugin, **node: Any
    ) -> None:
        super().__init__(**node)
        self.function = function
        self.asked = asked
        self.plugin = plugin
        self.graphs = CaseGraphs(plugin.settings.max_memory)

    def collect(self) -> Iterable[CaseItem]:
        """A test a case of the claims that call the slot.

        Raises:
            CollectError: with every error of the file, or what keeps the function from it.
        """
        from dropcheck.code.binding import of_functions
        from dropcheck.code.columns import with_columns

        file = self.asked.file
        try:
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
            registry = with_columns(registry, [own], self.asked.dtypes, self.graphs)
            found = checked(registry, self.graphs)
        except DropcheckError as error:
            raise self.CollectError(text_of(problems_of(error))) from None
        for note in found.notes:
            self.warn(UserWarning(f"dropcheck: {note.message}"))
        cases = [case for case in registry.expand() if case.claim.column is not None]
        yield from items(self, registry, [one for one in cases if one.key not in found.unfit])

    def repeat(self, case: Case, _: Registry) -> str:
        """The command that repeats a case."""
        here = os.path.relpath(self.path, self.config.invocation_params.dir)
        own = self.nodeid.partition("::")[2]
        return shlex.join(["pytest", f"{here}::{own}::{case_name(case.claim.id, case.parameters)}"])

    def place(self, case: Case) -> Path:
        """The claims file; of a pack its name."""
        file = case.claim.location.file
        return Path(file) if ":" in file else self.config.invocation_params.dir / file


def code_tests(
    collector: pytest.Collector,
    name: str,
    function: object,
    asked: Sequence[Implements],
    plugin: ClaimsPlugin,
) -> list[CodeTests]:
    """The tests of a function, for each file of whose slots it is code."""
    return [
        CodeTests.from_parent(
            collector,
            name=name if len(asked) == 1 else f"{name}({one.file})",
            function=function,
            asked=one,
            plugin=plugin,
        )
        for one in asked
    ]
