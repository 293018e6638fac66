"""`run`: the options, and from them to a run."""

from __future__ import annotations

from typing import Annotated, TypeVar

import typer

from dropcheck.cli import values
from dropcheck.cli.common import (
    Alpha,
    Assignments,
    Claims,
    File,
    Memory,
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
from dropcheck.cli.execute import Given, Reporting, exit_code, selected_cases, try_cases
from dropcheck.cli.parameters import selection_of
from dropcheck.cli.tell import tell
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
    no_crossing: Annotated[
        bool,
        typer.Option(
            "--no-crossing",
            help="Draw anew for every value, also where independent draws could be paired.",
        ),
    ] = False,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", "-x", help="Stop at the first case that fails.")
    ] = False,
    format_name: RunFormat = "table",
    output: RunOutputs = None,
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
    no_progress: NoProgress = False,
) -> None:
    """Try claims by simulation: all of them, or those named.

    A parameter of the selected claims is an option of its own:
    `dropcheck run qk-variance --help` lists them.
    """
    from dropcheck.claims.reader import load_registry

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
    read.finish()
    reporting = Reporting(
        format=chosen,
        outputs=outputs,
        quiet=quiet,
        verbose=verbose,
        progress=not no_progress,
    )
    overrides = values.assignments(assign or (), selection.overrides, selection.names)
    # the registry was read when the claims' parameters became options
    registry = selection.registry or load_registry(file)
    cases, notes = selected_cases(registry, claims or (), tag or (), overrides, settings.max_memory)
    limits = {
        "--alpha": alpha,
        "--resolution": resolution,
        "--max-draws": max_draws,
        "--time-limit": time_limit,
        "--max-memory": max_memory,
    }
    given = Given(file, limits, notes, ("--no-crossing",) if no_crossing else ())
    result, problems = try_cases(cases, settings, registry, reporting, given)
    problems += tell(result, problems, reporting, registry)
    raise typer.Exit(exit_code(result, problems, exit_zero=exit_zero))


def _or(value: _Value | None, default: _Value) -> _Value:
    return default if value is None else value
