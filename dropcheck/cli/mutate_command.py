"""`mutate`: the options, and from them to errors planted in claims."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from dropcheck.cli.common import Claims, File, Format, NoProgress, Reader, Seed, Tags, draws_option
from dropcheck.cli.default_file import refuse_in_automation
from dropcheck.cli.exits import ExitCode, complain
from dropcheck.cli.output import emit, interactive
from dropcheck.errors import DropcheckError, in_file_order
from dropcheck.results import Settings

if TYPE_CHECKING:  # imported where it is needed: `--help` needs no numpy
    from dropcheck.mutation.outcome import ClaimResult, MutationRun


def mutate(  # one argument an option: this is the list that `--help` shows
    *,
    claims: Claims = None,
    file: File = None,
    tag: Tags = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            "--alpha",
            metavar="NUMBER",
            help="The chance that any verdict on a mutant of the file is wrong [default: 1e-6].",
        ),
    ] = None,
    seed: Seed = None,
    max_draws: Annotated[
        str | None,
        draws_option(
            "Give up on a trial after so many draws [default: 8 times what the claim took, "
            "and 8 times that at last]."
        ),
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option(
            "--threads", metavar="N", help="Claims to try at a time; no result depends on it."
        ),
    ] = None,
    format_name: Format = "table",
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print what survived and the summary, no more."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name every mutant that was not refuted.")
    ] = False,
    no_progress: NoProgress = False,
) -> None:
    """Plant errors in claims, and see that each is refuted.

    A claim that no error makes false says nothing. The exit code is 1 where a false mutant
    survives or a claim cannot fail, and 4 where a mutant is undecided.
    """
    read = Reader()
    settings = read.settings(alpha=alpha, seed=seed, max_draws=max_draws, threads=threads)
    chosen = read.format(format_name)
    read.finish()
    refuse_in_automation(file)
    limits = {"--alpha": alpha, "--max-draws": max_draws}
    run = _carried_out(
        file, claims or [], tag or [], settings, limits, progress=not (no_progress or quiet)
    )

    from dropcheck.report.terminal.mutation_table import mutation_json, mutation_report
    from dropcheck.report.terminal.screen import terminal_of

    if chosen == "json":
        text = mutation_json(run)
    else:
        text = mutation_report(run, terminal_of(sys.stdout), verbose=verbose, quiet=quiet)
    problem = emit(text, sys.stdout)
    complain([problem] if problem is not None else [])
    raise typer.Exit(ExitCode.ERROR if problem is not None else exit_code(run))


def exit_code(run: MutationRun) -> ExitCode:
    """The exit code: an error that passes outranks one that is undecided."""
    if run.interrupted:
        return ExitCode.INTERRUPTED
    if any(claim.failed for claim in run.claims):
        return ExitCode.FAILED
    if any(claim.undecided for claim in run.claims):
        return ExitCode.UNDECIDED
    return ExitCode.PASSED


def _carried_out(
    file: str | None,
    patterns: list[str],
    tags: list[str],
    settings: Settings,
    limits: Mapping[str, str | None],
    *,
    progress: bool,
) -> MutationRun:
    """Read the file, choose its claims, and plant errors in them; an interruption ends it early."""
    from dropcheck.claims.reader import load_registry
    from dropcheck.claims.selection import select_claims
    from dropcheck.language.checks import check_registry

    registry = load_registry(file)
    checked = check_registry(registry)
    if checked.problems:
        raise DropcheckError(in_file_order(checked.problems))
    selected = select_claims(registry, patterns, tags)

    from dropcheck.mutation.campaign import mutate_claims
    from dropcheck.mutation.outcome import MutationRun
    from dropcheck.report.terminal.progress import progress as shown

    started = time.perf_counter()
    done: list[ClaimResult] = []
    interrupted = False
    try:
        with shown(len(selected), progress and interactive()) as advance:
            for result in mutate_claims(selected, settings, registry):
                done.append(result)
                advance(result.claim.id)
    except KeyboardInterrupt:
        interrupted = True
    seconds = time.perf_counter() - started
    repeats = {claim.id: _repeat(claim.id, file, settings.seed, limits) for claim in selected}
    return MutationRun(registry.name, settings, tuple(done), seconds, interrupted, repeats)


def _repeat(claim: str, file: str | None, seed: int, limits: Mapping[str, str | None]) -> str:
    """The command that tries one claim's mutants again, with the same draws."""
    words = ["dropcheck", "mutate", claim, "--verbose"]
    words += ["--file", file] if file is not None else []
    words += [f"{name}={text}" for name, text in limits.items() if text is not None]
    return shlex.join([*words, "--seed", str(seed)])
