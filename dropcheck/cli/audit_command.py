"""`audit`: the options, and from them to measured error rates."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dropcheck.claims.values import percentage_hint
from dropcheck.cli import completion
from dropcheck.cli import option_values as values
from dropcheck.cli.common import Format, NoCrossing, NoProgress, Outputs, Reader, Seed, draws_option
from dropcheck.cli.execute import selected_cases
from dropcheck.cli.exits import ExitCode, complain
from dropcheck.cli.output import emit, interactive, write_file
from dropcheck.errors import DropcheckError, Problem
from dropcheck.results import Settings
from dropcheck.settings import default_threads

if TYPE_CHECKING:  # imported where it is needed: `--help` needs no numpy
    from dropcheck.audit.audited_claims import Subject
    from dropcheck.audit.error_rates import Audit

SETS = ("laws", "moments")
REPETITIONS = 1000
FULL_REPETITIONS = 20_000  # a rate of 0.05 is then known to 0.0015
MOMENT_REPETITIONS = 100
ALPHA = 0.05
MOMENT_ALPHA = 1e-6  # of `run`: the question is whether a verdict is ever given
MOMENT_DRAWS = 1_000_000


def audit(  # one argument an option: this is the list that `--help` shows
    *,
    claims: Annotated[
        list[str] | None,
        typer.Argument(
            help="Ids or globs of claims; all of them where none is named.",
            metavar="CLAIMS",
            show_default=False,
        ),
    ] = None,
    set_name: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="laws|moments",
            help="The built-in claims to repeat [default: laws].",
            show_default=False,
            autocompletion=completion.among(SETS),
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            help="Repeat the claims of a file, taken to be what they are expected to be.",
        ),
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(
            "--shift",
            metavar="SHARE",
            help="With --file: repeat each claim's twins too, shifted by so much of its scale: 2%.",
        ),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            "--alpha",
            metavar="NUMBERS",
            help="The error rate that each trial promises: 0.05,0.01 "
            "[default: 0.05; for moments 1e-6].",
        ),
    ] = None,
    repetitions: Annotated[
        str | None,
        typer.Option(
            "--repetitions",
            "-n",
            metavar="N",
            help="Trials a row [default: 1000; for moments 100].",
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="20,000 trials a row.")] = False,
    resolution: Annotated[
        str | None,
        typer.Option(
            "--resolution",
            metavar="NUMBER",
            help="With --file: how sharply to look, in place of each claim's own.",
        ),
    ] = None,
    seed: Seed = None,
    max_draws: Annotated[
        str | None,
        draws_option("Give up on a trial after so many draws [default: 4e6; for moments 1e6]."),
    ] = None,
    no_crossing: NoCrossing = False,
    processes: Annotated[
        str | None,
        typer.Option(
            "--processes", metavar="N", help="Processes to work with; no count depends on it."
        ),
    ] = None,
    format_name: Format = "table",
    output: Outputs = None,
    no_progress: NoProgress = False,
) -> None:
    """Measure how often verdicts are wrong, on claims whose truth is known.

    The whole procedure is repeated with fresh draws. The exit code is 1 where a rate of wrong
    verdicts lies above the promise beyond chance: a fault of dropcheck, or, with --file, a claim
    that is not what its file says.
    """
    read = Reader()
    kind = read.read("--set", set_name, values.one_of(SETS), " or ".join(SETS)) or "laws"
    moments = kind == "moments" and file is None
    several = "numbers between 0 and 1, such as 0.05,0.01"
    alphas = read.read("--alpha", alpha, _alphas, several, percentage_hint)
    count = read.read(
        "--repetitions", repetitions, values.whole(1, 10**9), "a whole number from 1 to 1e9"
    )
    share = read.read("--shift", shift, _share, "a share such as 2% or 0.02", _as_percent)
    sharpness = read.resolution(resolution)
    seed_used = read.seed(seed) or 0
    most = read.max_draws(max_draws)
    workers = read.threads(processes, "--processes")
    chosen = read.format(format_name)
    paths = [
        read.read("--output", text, values.output_path, "a file that ends in .json")
        for text in output or ()
    ]
    if file is None:
        own = {"--shift": shift, "--resolution": resolution}
        read.problems += [
            Problem(f"option '{option}' is of use with '--file' only", hint="name the file")
            for option, given in own.items()
            if given is not None
        ]
    keep_one = "leave one of the two out"
    if full and repetitions is not None:
        message = "'--full' and '--repetitions' both say how many trials"
        read.problems.append(Problem(message, hint=keep_one))
    if file is not None and set_name is not None:
        message = "'--file' and '--set' both say which claims"
        read.problems.append(Problem(message, hint=keep_one))
    read.finish()

    from dropcheck.audit.measurement import MOST_DRAWS, AuditPlan, carry_out
    from dropcheck.report.terminal.progress import progress

    most = most or (MOMENT_DRAWS if moments else MOST_DRAWS)
    settings = Settings(seed=seed_used, max_draws=most)
    subjects, left_out, name = _subjects(file, kind, claims or (), share, sharpness, settings)
    usual = MOMENT_REPETITIONS if moments else REPETITIONS
    plan = AuditPlan(
        subjects,
        alphas or ((MOMENT_ALPHA,) if moments else (ALPHA,)),
        FULL_REPETITIONS if full else count or usual,
        seed_used,
        most,
        crossing=not no_crossing,
    )
    with progress(len(tuple(plan.tasks())), not no_progress and interactive()) as advance:
        name += ", without crossing" if no_crossing else ""
        found = carry_out(plan, workers or default_threads(), name, advance)
    found = dataclasses.replace(found, left_out=left_out, file=file)
    problems = _tell(found, chosen, [path for path in paths if path is not None])
    raise typer.Exit(_exit_code(found, problems))


def _subjects(
    file: str | None,
    kind: str,
    patterns: Sequence[str],
    shift: float | None,
    resolution: float | None,
    settings: Settings,
) -> tuple[tuple[Subject, ...], tuple[str, ...], str]:
    """What is audited, what has no shifted twins, and the name of it all."""
    from dropcheck.audit.measurement import own_subjects

    if file is None:
        return _built_in(kind, patterns), (), f"the built-in set '{kind}'"
    from dropcheck.claims.reader import load_registry

    registry = load_registry(file)
    cases, _ = selected_cases(registry, patterns, (), {})
    return *own_subjects(cases, shift, resolution, settings), registry.name


def _built_in(kind: str, patterns: Sequence[str]) -> tuple[Subject, ...]:
    """The subjects of a built-in set; hints that speak of a claims file speak of the set."""
    from dropcheck.audit.audited_claims import built_in

    listing = "dropcheck audit" + (f" --set {kind}" if kind != SETS[0] else "") + " -n 1"
    try:
        return built_in(kind, patterns)
    except DropcheckError as error:
        told = [
            dataclasses.replace(one, hint=one.hint and one.hint.replace("dropcheck list", listing))
            for one in error.problems
        ]
        raise type(error)(told) from None


def _tell(found: Audit, format_name: str, paths: Sequence[Path]) -> Sequence[Problem]:
    """Print the report and write the files asked for; what could not be written is returned."""
    from dropcheck.report.terminal.audit_table import audit_json, audit_report
    from dropcheck.report.terminal.screen import terminal_of

    as_json = audit_json(found)
    text = as_json if format_name == "json" else audit_report(found, terminal_of())
    unwritten = [emit(text, sys.stdout), *(write_file(path, as_json) for path in paths)]
    problems = [problem for problem in unwritten if problem is not None]
    complain(problems)
    return problems


def _exit_code(found: Audit, problems: Sequence[Problem]) -> ExitCode:
    """The exit code: an error outranks an alarm."""
    if found.interrupted:
        return ExitCode.INTERRUPTED
    if problems:
        return ExitCode.ERROR
    return ExitCode.FAILED if found.alarms else ExitCode.PASSED


def _alphas(text: str) -> tuple[float, ...]:
    return tuple(dict.fromkeys(values.probability(part) for part in text.split(",")))


def _share(text: str) -> float:
    if text.strip().endswith("%"):
        return values.share(text)
    return values.probability(text)  # 2 is hardly meant to be 200%


def _as_percent(text: str) -> str | None:
    """What a number of 1 or more was most likely meant to be."""
    with suppress(ValueError, OverflowError):
        if values.positive(text) >= 1:
            return f"--shift {text.strip()}%"
    return None
