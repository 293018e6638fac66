"""`run`: the options, and from them to a run."""

from __future__ import annotations

from typing import Annotated, TypeVar

import typer

from dropcheck.cli import completion, values
from dropcheck.cli.execute import Given, Reporting, exit_code, selected_cases, tell, try_cases
from dropcheck.cli.parameters import selection_of
from dropcheck.results import DEFAULT_MEMORY, Settings

_Value = TypeVar("_Value")


def run(  # one argument an option: this is the list that `--help` shows
    ctx: typer.Context,
    *,
    claims: Annotated[
        list[str] | None,
        typer.Argument(
            help="Ids or globs of claims; all of them where none is named.",
            metavar="CLAIMS",
            show_default=False,
            autocompletion=completion.claim_ids,
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            help="The claims file; otherwise claims.yaml here, otherwise the claims that ship.",
        ),
    ] = None,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter by its name."),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            metavar="TAG",
            help="Only claims with this tag.",
            autocompletion=completion.tags,
        ),
    ] = None,
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
            "--max-draws", metavar="N", help="Give up on a case after so many draws: 1e6, 2**20."
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit",
            metavar="TIME",
            help="End the run after so long: 10s, 500ms, 2m; undecided cases share the time.",
        ),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(
            "--max-memory",
            metavar="SIZE",
            help="What one draw of a claim may take: 500MB, 2GiB [default: 1GiB].",
        ),
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option(
            "--threads", metavar="N", help="Threads to draw with; no result depends on it."
        ),
    ] = None,
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
    format_name: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="table|json",
            help="What to print [default: table].",
            show_default=False,
            autocompletion=completion.formats,
        ),
    ] = "table",
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output", "-o", metavar="FILE.json", help="Write the report to a file as well."
        ),
    ] = None,
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
    no_progress: Annotated[
        bool, typer.Option("--no-progress", help="Show no progress on a terminal.")
    ] = False,
) -> None:
    """Try claims by simulation: all of them, or those named.

    A parameter of the selected claims is an option of its own:
    `dropcheck run qk-variance --help` lists them.
    """
    from dropcheck.claims.reader import load_registry

    selection = selection_of(ctx)
    read = values.Collector()
    settings = Settings(
        alpha=_or(
            read.read("--alpha", alpha, values.probability, "a number between 0 and 1"), 1e-6
        ),
        seed=_or(read.read("--seed", seed, values.seed, "a whole number, or fresh"), 0),
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
        fail_fast=fail_fast,
        crossing=not no_crossing,
        max_memory=_or(
            read.read("--max-memory", max_memory, values.size, "a size such as 500MB or 2GiB"),
            DEFAULT_MEMORY,
        ),
    )
    known = " or ".join(values.FORMATS)
    chosen = read.read("--format", format_name, values.one_of(values.FORMATS), known)
    endings = " or ".join(values.OUTPUT_ENDINGS)
    outputs = [
        read.read("--output", text, values.output_path, f"a file that ends in {endings}")
        for text in output or ()
    ]
    read.finish()
    reporting = Reporting(
        format=chosen or "table",
        outputs=tuple(path for path in outputs if path is not None),
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
    problems += tell(result, problems, reporting)
    raise typer.Exit(exit_code(result, problems, exit_zero=exit_zero))


def _or(value: _Value | None, default: _Value) -> _Value:
    return default if value is None else value
