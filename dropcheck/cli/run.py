"""`run`: the options, and from them to a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from dropcheck.claims.registry import Registry
from dropcheck.cli import values
from dropcheck.cli.common import (
    Alpha,
    Assignments,
    Claims,
    File,
    Memory,
    NoCrossing,
    NoProgress,
    Reader,
    Resolution,
    RunFormat,
    RunOutputs,
    Seed,
    Tags,
    Threads,
    draws_option,
    time_option,
)
from dropcheck.cli.default_file import fallback_note, refuse_in_automation
from dropcheck.cli.execute import Given, Reporting, exit_code, selected_cases, try_cases
from dropcheck.cli.exits import complain
from dropcheck.cli.parameters import selection_of
from dropcheck.cli.tell import tell
from dropcheck.errors import DropcheckError, Problem
from dropcheck.options import DEFAULT_MEMORY
from dropcheck.results import Settings

_Value = TypeVar("_Value")


def run(  # one argument an option: this is the list that `--help` shows
    ctx: typer.Context,
    *,
    claims: Claims = None,
    file: File = None,
    assign: Assignments = None,
    tag: Tags = None,
    alpha: Alpha = None,
    resolution: Resolution = None,
    seed: Seed = None,
    max_draws: Annotated[
        str | None, draws_option("Give up on a case after so many draws: 1e6, 2**20.")
    ] = None,
    time_limit: Annotated[
        str | None,
        time_option("End the run after so long: 10s, 500ms, 2m; undecided cases share the time."),
    ] = None,
    max_memory: Memory = None,
    threads: Threads = None,
    no_crossing: NoCrossing = False,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", "-x", help="Stop at the first case that fails.")
    ] = False,
    format_name: RunFormat = "table",
    output: RunOutputs = None,
    math: Annotated[
        bool, typer.Option("--math", help="In Markdown, write statements as LaTeX.")
    ] = False,
    plot: Annotated[
        bool,
        typer.Option(
            "--plot", help="Plot a sweep: here, and in the .svg or .png file that -o names."
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print what did not pass and the summary, no more."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print a row a case, and more of each.")
    ] = False,
    exit_zero: Annotated[
        bool,
        typer.Option("--exit-zero", help="Exit with 0 also where cases fail or stay undecided."),
    ] = False,
    last_failed: Annotated[
        bool,
        typer.Option(
            "--last-failed",
            help="Run what failed or stayed undecided at the last run of this file; "
            "where nothing did, run all.",
        ),
    ] = False,
    no_progress: NoProgress = False,
) -> None:
    """Try claims by simulation: all of them, or those named.

    A parameter of the selected claims is an option of its own:
    `dropcheck run qk-variance --help` lists them.
    """
    from dropcheck.claims.reader import load_registry
    from dropcheck.cli.last_failed import remember, rerun
    from dropcheck.report.formats import PICTURES, see_that_they_can_be_made

    selection = selection_of(ctx)
    read = Reader()
    settings = Settings(
        alpha=_or(read.alpha(alpha), 1e-6),
        seed=_or(read.seed(seed), 0),
        resolution=read.resolution(resolution),
        max_draws=read.max_draws(max_draws),
        time_limit=read.time_limit(time_limit),
        threads=read.threads(threads),
        fail_fast=fail_fast,
        crossing=not no_crossing,
        max_memory=_or(read.max_memory(max_memory), DEFAULT_MEMORY),
    )
    chosen = read.run_format(format_name)
    outputs = read.outputs(output or ())
    if math and chosen != "markdown" and not any(path.suffix.lower() == ".md" for path in outputs):
        hint = "add '--format markdown', or '-o FILE.md'"
        read.problems.append(Problem("option '--math' is of use in Markdown only", hint=hint))
    if plot and chosen != "table" and not any(path.suffix.lower() in PICTURES for path in outputs):
        hint = "add '-o FILE.svg', or leave '--format' out"
        read.problems.append(
            Problem("option '--plot' draws above the table, or in a file", hint=hint)
        )
    read.finish()
    see_that_they_can_be_made(outputs)
    refuse_in_automation(file)
    reporting = Reporting(
        format=chosen,
        outputs=outputs,
        quiet=quiet,
        verbose=verbose,
        math=math,
        plot=plot,
        progress=not no_progress,
    )
    overrides = values.assignments(assign or (), selection.overrides, selection.names)
    # the registry was read when the claims' parameters became options
    registry = selection.registry or load_registry(file)
    cases, notes = selected_cases(registry, claims or (), tag or (), overrides, settings.max_memory)
    _spare_the_claims(outputs, registry)
    stand_in = fallback_note(file)
    complain([stand_in] if stand_in is not None else [], "note")
    if last_failed:
        again = rerun(cases, registry, settings.max_memory, swept=bool(overrides))
        cases = again.cases
        complain([Problem(again.note)], "note")
    if plot:
        from dropcheck.report.curve import require_sweep

        require_sweep(cases)
    limits = {
        "--alpha": alpha,
        "--resolution": resolution,
        "--max-draws": max_draws,
        "--time-limit": time_limit,
        "--max-memory": max_memory,
    }
    given = Given(file, limits, notes, ("--no-crossing",) if no_crossing else ())
    result, problems = try_cases(cases, settings, registry, reporting, given)
    remember(registry, result.cases)
    problems += tell(result, problems, reporting, registry)
    raise typer.Exit(exit_code(result, problems, exit_zero=exit_zero))


def _spare_the_claims(outputs: Sequence[Path], registry: Registry) -> None:
    """See that no report takes the place of the claims themselves: JSON is YAML too.

    Raises:
        DropcheckError: one would.
    """
    claims = os.path.realpath(registry.name)
    for path in outputs:
        if os.path.realpath(path) == claims:
            message = f"option '--output' names the claims file itself: {str(path)!r}"
            raise DropcheckError(Problem(message, hint="name another file"))


def _or(value: _Value | None, default: _Value) -> _Value:
    return default if value is None else value
