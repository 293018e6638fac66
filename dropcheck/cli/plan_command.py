"""`plan`: the options, and from them to what a run with the same options would take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from dropcheck.cli.common import (
    Alpha,
    Assignments,
    Claims,
    File,
    Format,
    Memory,
    NoCrossing,
    NoProgress,
    Reader,
    Resolution,
    Seed,
    Tags,
    Threads,
    draws_option,
    time_option,
)
from dropcheck.cli.execute import Chosen, choose
from dropcheck.cli.exits import ExitCode
from dropcheck.cli.output import interactive, print_out
from dropcheck.results import Settings

if TYPE_CHECKING:  # imported where it is needed: `--help` needs no numpy
    from dropcheck.planning.plan import Plan


def plan(  # one argument an option: this is the list that `--help` shows
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
        str | None, draws_option("Plan for so many draws a case at most: 1e6, 2**20.")
    ] = None,
    time_limit: Annotated[
        str | None,
        time_option("Plan for a run of so long: 10s, 500ms, 2m; undecided cases share the time."),
    ] = None,
    max_memory: Memory = None,
    threads: Threads = None,
    no_crossing: NoCrossing = False,
    format_name: Format = "table",
    no_progress: NoProgress = False,
) -> None:
    """Tell what a run would take: draws and seconds to each verdict, and what they could see.

    Only a short pilot of each case is drawn. "could see" is the smallest error of the claim that
    the budget refutes, all but surely; it is never less than the claim's resolution.
    """
    read = Reader()
    settings = read.settings(
        alpha=alpha,
        seed=seed,
        resolution=resolution,
        max_draws=max_draws,
        time_limit=time_limit,
        max_memory=max_memory,
        threads=threads,
        no_crossing=no_crossing,
    )
    told_as = read.format(format_name)
    read.finish()
    chosen = choose(ctx, file, claims, tag, assign, settings.max_memory)
    found = _planned(chosen, settings, shown=not no_progress)
    print_out(_told(found, told_as))
    if found.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _planned(chosen: Chosen, settings: Settings, *, shown: bool) -> Plan:
    from dropcheck.planning.plan import plan_cases
    from dropcheck.report.terminal.progress import progress

    with progress(len(chosen.cases), shown and interactive()) as advance:
        found = plan_cases(chosen.cases, settings, chosen.registry, advance, processes=True)
    return replace(found, warnings=chosen.notes)


def _told(found: Plan, format_name: str) -> str:
    from dropcheck.report.terminal.plan_table import plan_json, plan_report
    from dropcheck.report.terminal.screen import terminal_of

    return plan_json(found) if format_name == "json" else plan_report(found, terminal_of())
