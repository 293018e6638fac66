"""`mutate`: plant errors in claims, and see that each is refuted."""

from __future__ import annotations

import shlex
import sys
import time
from typing import TYPE_CHECKING

from dropcheck.claims.select import select_claims
from dropcheck.cli.arguments import Given, checked_registry, refuse_in_automation
from dropcheck.cli.output import ExitCode, interactive, print_out
from dropcheck.settings import Settings

if TYPE_CHECKING:  # imported where it is needed: `--help` needs no numpy
    from dropcheck.mutation import ClaimResult, MutationRun


def mutate(given: Given) -> ExitCode:
    """Judge the mutants of the selected claims, report them, and return the exit code."""
    settings, format_name = given.settings(), given.value("format")
    given.finish()
    refuse_in_automation(given.files)
    run = _mutated(given, settings)

    from dropcheck.report.json_report import mutation_json
    from dropcheck.report.screen import terminal_of
    from dropcheck.report.terminal.mutation_table import mutation_report

    if format_name == "json":
        print_out(mutation_json(run))
    else:
        verbose, quiet = given.flag("verbose"), given.flag("quiet")
        print_out(mutation_report(run, terminal_of(sys.stdout), verbose=verbose, quiet=quiet))
    return exit_code(run)


def exit_code(run: MutationRun) -> ExitCode:
    """The exit code: an error that passes outranks one that is undecided."""
    if run.interrupted:
        return ExitCode.INTERRUPTED
    if any(claim.failed for claim in run.claims):
        return ExitCode.FAILED
    if any(claim.undecided for claim in run.claims):
        return ExitCode.UNDECIDED
    return ExitCode.PASSED


def _mutated(given: Given, settings: Settings) -> MutationRun:
    """Choose the claims and plant errors in them; an interruption ends it early."""
    from dropcheck.language.compile import CaseGraphs
    from dropcheck.mutation import MutationRun, mutate_claims
    from dropcheck.report.terminal.progress import progress

    graphs = CaseGraphs(settings.max_memory, forget=False)  # a claim is judged with each mutant
    registry, _ = checked_registry(given, graphs)
    selected = select_claims(registry, given.patterns, given.several("tag"))
    started = time.perf_counter()
    done: list[ClaimResult] = []
    interrupted = False
    shown = not (given.flag("no_progress") or given.flag("quiet")) and interactive()
    try:
        with progress(len(selected), shown) as advance:
            for result in mutate_claims(selected, settings, registry, graphs):
                done.append(result)
                advance(result.claim.id)
    except KeyboardInterrupt:
        interrupted = True
    seconds = time.perf_counter() - started
    repeats = {claim.id: _repeat(claim.id, settings.seed, given) for claim in selected}
    return MutationRun(
        registry=registry.name,
        settings=settings,
        claims=tuple(done),
        seconds=seconds,
        interrupted=interrupted,
        repeats=repeats,
    )


def _repeat(claim: str, seed: int, given: Given) -> str:
    """The command that judges one claim's mutants again, with the same draws."""
    words = ["dropcheck", "mutate", claim, "--verbose"]
    words += [word for file in given.files for word in ("--file", file)]
    words += [f"{name}={text}" for name, text in given.repeated_options().items()]
    return shlex.join([*words, "--seed", str(seed)])
