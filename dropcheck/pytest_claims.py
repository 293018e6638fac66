"""Claims files as tests of pytest: each case is a test, `claims.yaml::qk-variance[dk=512]`."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.select import repeat_command
from dropcheck.claims.values import case_name, format_value
from dropcheck.documents import read_any
from dropcheck.errors import DropcheckError, Problem, file_suggestion
from dropcheck.language.check import check_registry
from dropcheck.language.compile import CaseGraphs
from dropcheck.options import REPEATED, VALUES, read_value
from dropcheck.report.facts import facts
from dropcheck.report.screen import Terminal, problems_text
from dropcheck.report.table import case_block
from dropcheck.report.words import headline
from dropcheck.results import Outcome
from dropcheck.settings import Settings

SEED = "dropcheck_seed"


class ClaimsPlugin:
    """The hooks of a session that collects claims files.

    Args:
        config: the configuration of the session.
        named: the ini key that names the files, and the one that names implementations.
        keys: the ini keys that set an option.

    Raises:
        UsageError: an ini key names no file, or has a value that it cannot have.
    """

    def __init__(
        self, config: pytest.Config, named: tuple[str, str], keys: Mapping[str, tuple[str, str]]
    ) -> None:
        files, implementations = named
        self.root = config.rootpath
        self.implementations: list[str] = config.getini(implementations)
        paths = _files(files, config.getini(files), self.root)
        self._resolved = {path.resolve() for path in paths}
        self._shown = ", ".join(os.path.relpath(path, self.root) for path in paths)
        values = _values(config, keys)
        self.policy = values.pop("undecided")
        worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        if worker is not None:  # workers share the cores; no result depends on that
            values |= {"seed": worker.get(SEED, values["seed"]), "threads": 1}
        self.settings = Settings(**values)
        texts = {name: config.getini(f"dropcheck_{name}") for name in keys}
        self.limits = [
            f"--{name.replace('_', '-')}" + ("" if VALUES[name].kind is bool else f"={text}")
            for name, text in texts.items()
            if name in REPEATED and text not in ("", keys[name][1])
        ]
        if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            # without names on the command line, pytest runs all configured files; it collects a
            # file once, also where it lies within another path
            config.args += map(str, paths)

    def pytest_report_header(self) -> str:
        """What is collected, and the seed that repeats it."""
        alpha = format_value(self.settings.alpha)
        return f"dropcheck: {self._shown}, seed {self.settings.seed}, alpha {alpha}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist the seed: a fresh one is drawn once."""
        node.workerinput[SEED] = self.settings.seed

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> ClaimsFile | None:
        """Collect a file that is configured."""
        if file_path.resolve() not in self._resolved:
            return None
        file: ClaimsFile = ClaimsFile.from_parent(parent, path=file_path, plugin=self)
        return file


class ClaimsFile(pytest.File):
    """A claims file, or a document: one test for each case, or an error with all problems."""

    def __init__(self, *, plugin: ClaimsPlugin, **node: Any) -> None:
        super().__init__(**node)
        self.plugin = plugin
        self.graphs = CaseGraphs(plugin.settings.max_memory)  # the check builds them, a test judges
        self.registry: Registry  # the claims, once they are collected

    def collect(self) -> Iterable[CaseItem]:
        """The tests, in the order of the file.

        Raises:
            CollectError: every error of the file's keys, or else of its language, with places.
        """
        try:
            self.registry = self.read()
            check = check_registry(self.registry, self.graphs)
            if check.problems:
                raise DropcheckError(check.problems)
        except DropcheckError as error:
            raise self.CollectError(text_of(error.problems)) from None
        for note in check.notes:
            self.warn(UserWarning(f"dropcheck: {note.message}"))
        for case in self.registry.expand():
            if case.key in check.unfit:
                continue
            name = case_name(case.claim.id, case.parameters)
            # with `nodeid` as text, pytest parses parameters as in an id, which `--lf` needs
            yield CaseItem.from_parent(self, name=name, nodeid=f"{self.nodeid}::{name}", case=case)

    def read(self) -> Registry:
        """The claims, with a column for each implementation that has code for them.

        Raises:
            DropcheckError: the file or an implementation cannot be read, or code cannot be found.
        """
        # the name that a command in the same folder would use
        name = os.path.relpath(self.path, self.config.invocation_params.dir)
        registry = read_any(self.path, name)
        given = self.plugin.implementations
        if not given or not any(claim.slots for claim in registry.claims.values()):
            return registry
        from dropcheck.code.slots import implementations_of, with_columns

        made = implementations_of(given, self.plugin.root)
        return with_columns(registry, made)

    def repeat(self, case: Case) -> str:
        """The command that repeats a case."""
        from dropcheck.code.slots import needed

        code = [f"--with={text}" for text in needed(self.plugin.implementations, case.claim)]
        options = [*self.plugin.limits, *code]
        return repeat_command(case, self.plugin.settings.seed, [self.registry.name], options)


class CaseItem(pytest.Item):
    """One case of a claim."""

    parent: ClaimsFile

    def __init__(self, *, case: Case, **node: Any) -> None:
        super().__init__(**node)
        self.case = case
        self.headline = ""  # of a case that did not pass, in one line
        self.extra_keyword_matches.update(case.claim.tags)  # so that `-k` selects by tag

    def runtest(self) -> None:
        """Judge the case alone, at its share of the error rate of the whole file.

        Raises:
            Failed: the case failed, or is undecided where that counts as a failure.
            DropcheckError: the case cannot be judged, which only a run can find.
        """
        from dropcheck.running import verify_cases  # imported late: collecting does not need it

        parent, plugin = self.parent, self.parent.plugin
        [result] = verify_cases([self.case], plugin.settings, parent.registry, graphs=parent.graphs)
        result = replace(result, repeat=parent.repeat(self.case))
        shown = {"seed": plugin.settings.seed, "alpha": plugin.settings.alpha}
        self.user_properties += [*facts(result).items(), *shown.items()]
        for text in result.warnings:
            self.warn(UserWarning(f"dropcheck: {text}"))
        if result.result is Outcome.PASS:
            return
        if result.result is Outcome.UNDECIDED:
            why = f"undecided: {result.explanation or result.statement}"
            if plugin.policy == "pass":
                return
            if plugin.policy == "skip":  # at the claim's place, not here
                raise pytest.skip.Exception(why, _use_item_location=True)
        self.headline = headline(result)
        pytest.fail(case_block(result).rstrip("\n"), pytrace=False)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The block of a table for a case that did not pass, in place of a traceback."""
        if isinstance(excinfo.value, DropcheckError):
            return text_of(excinfo.value.problems)
        shown: Any = super().repr_failure(excinfo, style)
        if self.headline and isinstance(excinfo.value, pytest.fail.Exception):
            path, line, _ = self.reportinfo()  # what pytest's summary, and its XML, say in a line
            crash = shown.reprcrash
            crash.path, crash.lineno, crash.message = str(path), line + 1, self.headline
        return shown

    def reportinfo(self) -> tuple[Path, int, str]:
        """The file, line (from 0) and heading of the claim."""
        alone = self.case.claim.family is None
        # pytest would show the dot in the name of a statement as `::`, which names no test
        heading = self.name if alone else f"statement {self.name}"
        line = (self.case.claim.location.file_line or 1) - 1
        return self.parent.path, line, heading


def text_of(problems: Iterable[Problem]) -> str:
    """Problems as a command shows them."""
    return problems_text(tuple(problems), Terminal(), counted=False).rstrip("\n")


def _files(key: str, patterns: Iterable[str], root: Path) -> list[Path]:
    """The files that fit the patterns of an ini key, each once."""
    named: dict[Path, None] = {}
    for pattern in patterns:
        names = glob.glob(pattern, root_dir=root, recursive=True)  # noqa: PTH207 - may be absolute
        files = [root / name for name in sorted(names) if (root / name).is_file()]
        if not files:
            meant = file_suggestion(pattern, root)
            hint = f"; {meant}" if meant else ""
            raise pytest.UsageError(f"{key}: no file fits {pattern!r} in {root}{hint}")
        named.update(dict.fromkeys(files))
    return list(named)


def _values(config: pytest.Config, names: Iterable[str]) -> dict[str, Any]:
    """The values of the ini keys that are set, read as on the command line."""
    texts = {name: config.getini(f"dropcheck_{name}") for name in names}
    try:
        return {
            name: read_value(VALUES[name], text, f"dropcheck_{name}")
            for name, text in texts.items()
            if text
        }
    except DropcheckError as error:
        raise pytest.UsageError(error.problems[0].message) from None
