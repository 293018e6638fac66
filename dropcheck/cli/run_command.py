"""`run` and `plan`: simulate the selected cases, or estimate what that would take."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dropcheck import interrupt
from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.select import repeat_command
from dropcheck.cli.arguments import (
    Chosen,
    Given,
    chosen_cases,
    expect_claims,
    fallback_notes,
    refuse_in_automation,
)
from dropcheck.cli.option_table import RUN_OPTIONS
from dropcheck.cli.output import ExitCode, complain, interactive, print_out, printing_aside
from dropcheck.cli.reporting import report_run
from dropcheck.errors import DropcheckError, Problem
from dropcheck.results import CaseResult, Outcome, ParameterValue, RunResult
from dropcheck.settings import Settings

if TYPE_CHECKING:
    from dropcheck.execution.pool import Pool


def run(given: Given) -> ExitCode:
    """Simulate the selected cases, report them, and return the exit code."""
    from dropcheck.report.formats import require_libraries

    settings, format_name = given.settings(), given.value("format") or "table"
    outputs = _outputs(given)
    given.problems += _without_use(given, format_name, outputs)
    interrupt.unwritten[:] = map(str, outputs)
    given.finish()
    require_libraries(outputs)
    refuse_in_automation(given.files)
    chosen = chosen_cases(given, settings.max_memory)
    expect_claims(given.value("expect_claims"), chosen.registry.coverage)
    _spare_the_claims(outputs, given, chosen.registry)
    complain(fallback_notes(given.files), "note")
    if given.flag("plot"):
        from dropcheck.report.pictures import require_sweep

        require_sweep(chosen.cases)
    result, problems = verify_chosen(chosen, settings, given)
    problems += report_run(result, problems, chosen, given)
    return exit_code(result, problems, exit_zero=given.flag("exit_zero"))


def plan(given: Given) -> ExitCode:
    """Print what a run with the same options would take."""
    from dropcheck.planning import plan_cases
    from dropcheck.report.json_report import plan_json
    from dropcheck.report.screen import terminal_of
    from dropcheck.report.terminal.plan_table import plan_report
    from dropcheck.report.terminal.progress import progress

    settings, format_name = given.settings(), given.value("format")
    given.finish()
    chosen = chosen_cases(given, settings.max_memory)
    shown = not given.flag("no_progress") and interactive()
    with (
        printing_aside(needed=bool(given.several("with"))),
        progress(len(chosen.cases), shown) as advance,
    ):
        planned = plan_cases(
            chosen.cases,
            settings,
            chosen.registry,
            advance,
            graphs=chosen.graphs,
        )
    planned = replace(planned, warnings=chosen.notes)
    as_json = format_name == "json"
    print_out(plan_json(planned) if as_json else plan_report(planned, terminal_of(sys.stdout)))
    return ExitCode.INTERRUPTED if planned.interrupted else ExitCode.PASSED


def _outputs(given: Given) -> tuple[Path, ...]:
    """The files to write reports to, each once."""
    paths: tuple[Path, ...] = tuple(given.values("output"))
    seen: dict[str, Path] = {}
    for path in paths:
        if not Path(os.path.realpath(path)).parent.is_dir():  # to be reported before a run
            message = f"option '--output': there is no folder {str(path.parent)!r}"
            hint = "name a file in a folder that exists and may be written to"
            given.problems.append(Problem(message, hint=hint))
        # by its real path, as a link or another spelling may name the same file
        first = seen.setdefault(os.path.realpath(path), path)
        if first is not path:
            message = f"option '--output' names one file twice: {str(first)!r}"
            also = f" and {str(path)!r}" if str(first) != str(path) else ""
            given.problems.append(Problem(message + also, hint="give each report its own file"))
    return paths


def _without_use(given: Given, format_name: str, outputs: Sequence[Path]) -> Iterator[Problem]:
    """The problems of options that have no effect, alone or together."""
    from dropcheck.report.formats import PRINTED, written_as

    asked = [PRINTED[format_name], *filter(None, map(written_as, outputs))]
    if given.flag("plot") and not any(form.shows_curves for form in asked):
        hint = "add '-o FILE.svg' or '-o FILE.png'"
        yield Problem("option '--plot' draws curves in a picture", hint=hint)
    if given.flag("exact") and given.flag("draws_only"):
        hint = "keep one: the model decides alone, or the draws do"
        yield Problem("options '--exact' and '--draws-only' exclude each other", hint=hint)


def _spare_the_claims(outputs: Sequence[Path], given: Given, registry: Registry) -> None:
    """Refuse to write a report over a claims file, which may be JSON too.

    Raises:
        DropcheckError: a report would replace a claims file.
    """
    claims = {os.path.realpath(name) for name in (*given.files, registry.name)}
    for path in outputs:
        if os.path.realpath(path) in claims:
            message = f"option '--output' names the claims file itself: {str(path)!r}"
            raise DropcheckError(Problem(message, hint="name another file"))


def verify_chosen(
    chosen: Chosen, settings: Settings, given: Given
) -> tuple[RunResult, list[Problem]]:
    """Simulate the cases; finished cases are kept after an interruption or an error."""
    from dropcheck.execution.pool import of_lost
    from dropcheck.report.terminal.progress import progress
    from dropcheck.running import verify_cases

    cases, registry, graphs = chosen.cases, chosen.registry, chosen.graphs
    by_key = {_key(case.claim.id, case.parameters): case for case in cases}

    def repeat(case: Case, result: CaseResult | None = None) -> str:
        return _repeat(case, result, settings.seed, given)

    started = time.perf_counter()
    done: list[CaseResult] = []
    problems: list[Problem] = []
    interrupted = False
    lost: list[None] = []
    drawn_by: Counter[str] = Counter()
    shown = not (given.flag("no_progress") or given.flag("quiet")) and interactive()
    try:
        with (
            printing_aside(needed=bool(given.several("with"))),
            _pool(given.value("scheduler")) as pool,
            progress(len(cases), shown, settings.time_limit) as tally,
            closing(
                verify_cases(
                    cases,
                    settings,
                    registry,
                    repeat=repeat,
                    watch=tally.drew,
                    processes=True,
                    pool=pool,
                    lost=lambda: lost.append(None),
                    drawn_by=lambda who, cases: drawn_by.update({who: cases}),
                    graphs=graphs,
                    errors_of_code=True,
                )
            ) as results,
        ):
            for result in results:
                case = by_key[_key(result.claim, result.parameters)]
                done.append(replace(result, repeat=repeat(case, result)))
                tally(result.claim, result.draws)
                if settings.fail_fast and result.result in (Outcome.FAIL, Outcome.ERROR):
                    break
    except KeyboardInterrupt:
        interrupted = True
    except DropcheckError as error:
        problems.extend(error.problems)
    seconds = time.perf_counter() - started
    finished = RunResult(
        registry=registry.name,
        settings=settings,
        cases=tuple(done),
        seconds=seconds,
        planned=len(cases),
        interrupted=interrupted,
        warnings=(*chosen.notes, *of_lost(len(lost))),
        coverage=registry.coverage,
        drawn_by=drawn_by,
    )
    return finished, problems


def _key(claim: str, parameters: Mapping[str, ParameterValue]) -> tuple[object, ...]:
    return claim, *sorted(parameters.items())


def _pool(address: str | None) -> AbstractContextManager[Pool | None]:
    """The workers of a cluster, if one is named."""
    if address is None:
        return nullcontext()
    from dropcheck.execution.pool import cluster

    return cluster(address)


def _repeat(case: Case, result: CaseResult | None, seed: int, given: Given) -> str:
    """The command that repeats a case with the same draws and the same limits.

    Where the time limit ended the case, its number of draws is the limit instead.
    """
    from dropcheck.code.slots import needed

    options = given.repeated_options()
    by_clock = "--time-limit" in options and "--max-draws" not in options
    if result is not None and by_clock and result.result is Outcome.UNDECIDED and result.draws:
        del options["--time-limit"]
        options["--max-draws"] = str(result.draws)
    command = repeat_command(case, seed, given.files, RUN_OPTIONS)
    words = [f"--with={one}" for one in needed(given.several("with"), case.claim)]
    words += [name if text is None else f"{name}={text}" for name, text in options.items()]
    return f"{command} {shlex.join(words)}" if words else command


def exit_code(
    result: RunResult, problems: Sequence[Problem], *, exit_zero: bool = False
) -> ExitCode:
    """The exit code: an error outranks a failure, a failure an undecided case."""
    if result.interrupted:
        return ExitCode.INTERRUPTED
    if problems or result.count(Outcome.ERROR):
        return ExitCode.ERROR
    if exit_zero:
        return ExitCode.PASSED
    if result.count(Outcome.FAIL):
        return ExitCode.FAILED
    if result.count(Outcome.UNDECIDED):
        return ExitCode.UNDECIDED
    return ExitCode.PASSED
