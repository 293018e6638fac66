"""`run`: the options, and from them to a run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from dropcheck.claims.registry import Registry
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
from dropcheck.cli.execute import Given, Reporting, choose, exit_code, try_cases
from dropcheck.cli.exits import complain
from dropcheck.cli.tell import tell
from dropcheck.errors import DropcheckError, Problem


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
            help="Run only the cases that did not pass when they were last run; "
            "where there are none, run all.",
        ),
    ] = False,
    no_progress: NoProgress = False,
) -> None:
    """Try claims by simulation: all of them, or those named.

    A parameter of the selected claims is an option of its own:
    `dropcheck run qk-variance --help` lists them.
    """
    from dropcheck.cli.last_failed import remember, rerun
    from dropcheck.report.formats import see_that_they_can_be_made

    read = Reader()
    settings = replace(
        read.settings(
            alpha=alpha,
            seed=seed,
            resolution=resolution,
            max_draws=max_draws,
            time_limit=time_limit,
            max_memory=max_memory,
            threads=threads,
            no_crossing=no_crossing,
        ),
        fail_fast=fail_fast,
    )
    reporting = Reporting(
        format=read.run_format(format_name),
        outputs=read.outputs(output or ()),
        quiet=quiet,
        verbose=verbose,
        math=math,
        plot=plot,
        progress=not no_progress,
    )
    read.problems += _of_no_use(reporting)
    read.finish()
    see_that_they_can_be_made(reporting.outputs)
    refuse_in_automation(file)
    chosen = choose(ctx, file, claims, tag, assign, settings.max_memory)
    registry, cases = chosen.registry, chosen.cases
    _spare_the_claims(reporting.outputs, registry)
    stand_in = fallback_note(file)
    complain([stand_in] if stand_in is not None else [], "note")
    if last_failed:
        again = rerun(cases, registry, settings.max_memory, swept=chosen.swept)
        cases = again.cases
        complain([Problem(again.note)], "note")
    if plot:
        from dropcheck.report.pictures.curve import require_sweep

        require_sweep(cases)
    limits = {
        "--alpha": alpha,
        "--resolution": resolution,
        "--max-draws": max_draws,
        "--time-limit": time_limit,
        "--max-memory": max_memory,
    }
    given = Given(file, limits, chosen.notes, ("--no-crossing",) if no_crossing else ())
    result, problems = try_cases(cases, settings, registry, reporting, given)
    remember(registry, result.cases)
    problems += tell(result, problems, reporting, registry)
    raise typer.Exit(exit_code(result, problems, exit_zero=exit_zero))


def _of_no_use(reporting: Reporting) -> Iterator[Problem]:
    """Options that nothing which is asked for would show."""
    from dropcheck.report.formats import PICTURES

    endings = {path.suffix.lower() for path in reporting.outputs}
    if reporting.math and reporting.format != "markdown" and ".md" not in endings:
        hint = "add '--format markdown', or '-o FILE.md'"
        yield Problem("option '--math' is of use in Markdown only", hint=hint)
    if reporting.plot and reporting.format != "table" and endings.isdisjoint(PICTURES):
        hint = "add '-o FILE.svg', or leave '--format' out"
        yield Problem("option '--plot' draws above the table, or in a file", hint=hint)


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
