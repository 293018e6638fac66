"""`plan`: the options, and from them to what a run with the same options would take."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from dropcheck.claims.registry import Case, Registry
from dropcheck.cli import values
from dropcheck.cli.execute import selected_cases
from dropcheck.cli.look import File, Format, Tags, claims_argument
from dropcheck.cli.output import emit, interactive
from dropcheck.cli.parameters import selection_of
from dropcheck.errors import DropcheckError
from dropcheck.results import Settings


def plan(  # one argument an option: this is the list that `--help` shows
    ctx: typer.Context,
    *,
    claims: Annotated[
        list[str] | None,
        claims_argument("Ids or globs of claims; all of them where none is named."),
    ] = None,
    file: File = None,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter by its name."),
    ] = None,
    tag: Tags = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            "--alpha",
            metavar="NUMBER",
            help="The chance that any verdict of a full run is wrong [default: 1e-6].",
        ),
    ] = None,
    resolution: Annotated[
        str | None,
        typer.Option(
            "--resolution",
            metavar="NUMBER",
            help="How sharply to look, relative to each claim's scale, in place of its own.",
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="N|fresh", help="The seed of all draws [default: 0]."),
    ] = None,
    max_draws: Annotated[
        str | None,
        typer.Option(
            "--max-draws", metavar="N", help="Plan for so many draws a case at most: 1e6, 2**20."
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit",
            metavar="TIME",
            help="Plan for a run of so long: 10s, 500ms, 2m; undecided cases share the time.",
        ),
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option("--threads", metavar="N", help="Threads to draw with."),
    ] = None,
    format_name: Format = "table",
    no_progress: Annotated[
        bool, typer.Option("--no-progress", help="Show no progress on a terminal.")
    ] = False,
) -> None:
    """Tell what a run would take: draws and seconds to each verdict, and what they could see.

    Only a short pilot of each case is drawn. "could see" is the smallest error of the claim that
    the budget refutes, all but surely; it is never less than the claim's resolution.
    """
    from dropcheck.claims.reader import load_registry

    selection = selection_of(ctx)
    read = values.Collector()
    asked = Settings(
        resolution=read.read("--resolution", resolution, values.positive, "a number above 0"),
        max_draws=read.read(
            "--max-draws", max_draws, values.whole(1, 2**62), "a whole number from 1 on"
        ),
        time_limit=read.read(
            "--time-limit", time_limit, values.seconds, "a time above 0, such as 10s, 500ms or 2m"
        ),
        threads=read.read(
            "--threads",
            threads,
            values.whole(1, values.MOST_THREADS),
            f"a whole number from 1 to {values.MOST_THREADS}",
        ),
    )
    error_rate = read.read("--alpha", alpha, values.probability, "a number between 0 and 1")
    first = read.read("--seed", seed, values.seed, "a whole number, or fresh")
    known = " or ".join(values.FORMATS)
    chosen = read.read("--format", format_name, values.one_of(values.FORMATS), known)
    read.finish()
    settings = replace(
        asked,
        alpha=asked.alpha if error_rate is None else error_rate,
        seed=asked.seed if first is None else first,
    )
    overrides = values.assignments(assign or (), selection.overrides, selection.names)
    # the registry was read when the claims' parameters became options
    registry = selection.registry or load_registry(file)
    cases, notes = selected_cases(registry, claims or (), tag or (), overrides, settings.max_memory)
    text = _planned(cases, settings, registry, notes, chosen or "table", shown=not no_progress)
    problem = emit(text, sys.stdout)
    if problem is not None:
        raise DropcheckError(problem)


def _planned(
    cases: Sequence[Case],
    settings: Settings,
    registry: Registry,
    notes: tuple[str, ...],
    format_name: str,
    *,
    shown: bool,
) -> str:
    from dropcheck.planning import plan_cases
    from dropcheck.report.plan import plan_json, plan_report
    from dropcheck.report.progress import progress
    from dropcheck.report.terminal import terminal_of

    with progress(len(cases), shown and interactive()) as advance:
        found = plan_cases(cases, settings, registry, advance)
    found = replace(found, warnings=notes)
    return plan_json(found) if format_name == "json" else plan_report(found, terminal_of())
