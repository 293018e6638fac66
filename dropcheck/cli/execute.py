"""From a selection to results, to what is told of them, to an exit code."""

from __future__ import annotations

import shlex
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from dropcheck.claims.registry import Case, Registry
from dropcheck.cli import option_values as values
from dropcheck.cli.exits import ExitCode
from dropcheck.cli.output import interactive
from dropcheck.cli.parameters import selection_of
from dropcheck.errors import DropcheckError, NothingSelected, Problem, in_file_order
from dropcheck.results import CaseResult, Outcome, RunResult, Settings
from dropcheck.settings import DEFAULT_MEMORY, RUN_OPTIONS


@dataclass(frozen=True, slots=True)
class Reporting:
    """How a result is told."""

    format: str = "table"
    outputs: tuple[Path, ...] = ()
    quiet: bool = False
    verbose: bool = False
    math: bool = False
    plot: bool = False
    progress: bool = True


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line said, as it was written: a command that repeats a case says it too.

    `notes` are those of the check on the selected cases, `flags` options without a value.
    """

    file: str | None = None
    options: Mapping[str, str | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def selected_cases(
    registry: Registry,
    patterns: Sequence[str],
    tags: Sequence[str],
    overrides: Mapping[str, str],
    memory: int = DEFAULT_MEMORY,
) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """The cases to try, once the whole registry has proved sound, and notes on them.

    Raises:
        DropcheckError: for every error of the registry, or of the values given for parameters.
        NothingSelected: where no claim answers to the patterns and tags.
    """
    from dropcheck.claims.selection import option_of, select
    from dropcheck.language.cases import CaseGraphs
    from dropcheck.language.checks import check_cases, check_registry

    graphs = CaseGraphs(memory, keep=0)
    checked = check_registry(registry, graphs)
    if checked.problems:
        raise DropcheckError(in_file_order(checked.problems))
    cases = select(registry, patterns, tags, overrides, reserved=RUN_OPTIONS)
    if not cases:
        raise NothingSelected(Problem("no claim is selected", hint="dropcheck list shows them all"))
    if overrides or len({case.claim.id for case in cases}) < len(registry.claims):
        options = {name: option_of(name, RUN_OPTIONS) for name in overrides}
        checked = check_cases(cases, graphs, options)  # with other values, or fewer notes
        if checked.problems:
            raise DropcheckError(in_file_order(checked.problems))
    return cases, tuple(_as_warning(note) for note in in_file_order(checked.notes))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The cases that a command is to try; `swept` where it set parameters itself."""

    registry: Registry
    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    swept: bool


def choose(
    context: typer.Context,
    file: str | None,
    patterns: Sequence[str] | None,
    tags: Sequence[str] | None,
    assignments: Sequence[str] | None,
    memory: int = DEFAULT_MEMORY,
) -> Chosen:
    """The cases that the options of `run`, or of its like, ask for.

    Raises:
        DropcheckError: as `selected_cases`, and for a text that assigns nothing.
    """
    from dropcheck.claims.reader import load_registry

    selection = selection_of(context)
    overrides = values.assignments(assignments or (), selection.overrides, selection.names)
    # the registry was read when the claims' parameters became options
    registry = selection.registry or load_registry(file)
    cases, notes = selected_cases(registry, patterns or (), tags or (), overrides, memory)
    return Chosen(registry, cases, notes, bool(overrides))


def _as_warning(note: Problem) -> str:
    from dropcheck.report.terminal.problem_text import place

    where = place(note.location)
    hint = f" ({note.hint})" if note.hint else ""
    return f"{where}: {note.message}{hint}" if where else f"{note.message}{hint}"


def try_cases(
    cases: Sequence[Case],
    settings: Settings,
    registry: Registry,
    reporting: Reporting,
    given: Given,
) -> tuple[RunResult, list[Problem]]:
    """Try the cases; an interruption, or an error met on the way, keeps what was finished."""
    from dropcheck.cli.last_failed import case_key
    from dropcheck.report.terminal.progress import progress
    from dropcheck.running import verify_cases

    by_key = {case_key(case): case for case in cases}
    started = time.perf_counter()
    done: list[CaseResult] = []
    problems: list[Problem] = []
    interrupted = False
    shown = reporting.progress and not reporting.quiet and interactive()
    try:
        with (
            progress(len(cases), shown, settings.time_limit) as tally,
            closing(
                _generator(
                    verify_cases(cases, settings, registry, watch=tally.drew, processes=True)
                )
            ) as results,
        ):
            for found in results:
                command = _command(by_key[case_key(found)], found, settings.seed, given)
                done.append(replace(found, repeat=command))
                tally(found.claim, found.draws)
                if settings.fail_fast and found.result is Outcome.FAIL:
                    break
    except KeyboardInterrupt:
        interrupted = True
    except DropcheckError as error:
        problems.extend(error.problems)
    seconds = time.perf_counter() - started
    result = RunResult(
        registry.name, settings, tuple(done), seconds, interrupted, warnings=given.notes
    )
    return result, problems


def _command(case: Case, found: CaseResult, seed: int, given: Given) -> str:
    """The command that repeats a case with the same draws and the same limits.

    Where the clock ended it, the draws that it had come to are the limit.
    """
    from dropcheck.claims.selection import repeat_command

    command = repeat_command(case, seed, given.file, RUN_OPTIONS)
    options = dict(given.options)
    by_clock = options.get("--time-limit") is not None and options.get("--max-draws") is None
    if by_clock and found.result is Outcome.UNDECIDED and found.draws:
        options |= {"--time-limit": None, "--max-draws": str(found.draws)}
    named = [f"{name}={text}" for name, text in options.items() if text is not None]
    extra = [*named, *given.flags]
    return f"{command} {shlex.join(extra)}" if extra else command


def _generator(results: Iterator[CaseResult]) -> Generator[CaseResult, None, None]:
    """The same as a generator, which can be closed: what draws ahead then stops."""
    yield from results


def exit_code(
    result: RunResult, problems: Sequence[Problem], *, exit_zero: bool = False
) -> ExitCode:
    """The exit code: an error outranks a failure, a failure an undecided case."""
    if result.interrupted:
        return ExitCode.INTERRUPTED
    if problems:
        return ExitCode.ERROR
    if exit_zero:
        return ExitCode.PASSED
    if result.count(Outcome.FAIL):
        return ExitCode.FAILED
    if result.count(Outcome.UNDECIDED):
        return ExitCode.UNDECIDED
    return ExitCode.PASSED
