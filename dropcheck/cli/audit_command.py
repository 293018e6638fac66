"""`audit`: measure how often verdicts are wrong."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dropcheck.cli.chosen import chosen_cases
from dropcheck.cli.given import Given
from dropcheck.cli.output import ExitCode, complain, emit, interactive, write_file
from dropcheck.errors import DropcheckError, Problem
from dropcheck.processors import default_threads
from dropcheck.settings import Settings

if TYPE_CHECKING:  # imported where it is needed: `--help` needs no numpy
    from dropcheck.audit.audited_claims import Subject
    from dropcheck.audit.error_rates import Audit

FULL_REPETITIONS = 20_000  # a rate of 0.05 is then known to 0.0015


def audit(given: Given) -> ExitCode:
    """Repeat the whole procedure with fresh draws and count the wrong verdicts."""
    kind = given.value("set") or "laws"
    alphas, count = given.value("alpha"), given.value("repetitions")
    shift, resolution = given.value("shift"), given.value("resolution")
    seed, most = given.value("seed") or 0, given.value("max_draws")
    processes = given.value("processes") or default_threads()
    format_name, paths = given.value("format"), given.values("output")
    given.problems += _contradictions(given)
    given.finish()

    from dropcheck.audit.audited_claims import OWN, SETS
    from dropcheck.audit.measurement import AuditPlan, carry_out
    from dropcheck.report.command_json import audit_json
    from dropcheck.report.terminal.audit_table import audit_report
    from dropcheck.report.terminal.progress import progress
    from dropcheck.report.terminal.screen import terminal_of

    usual = OWN if given.files else SETS[kind]
    most = most or usual.most_draws
    settings = Settings(seed=seed, max_draws=most)
    subjects, left_out, name = _subjects(given, kind, shift, resolution, settings)
    plan = AuditPlan(
        subjects=subjects,
        alphas=alphas or (usual.alpha,),
        repetitions=FULL_REPETITIONS if given.flag("full") else count or usual.repetitions,
        seed=seed,
        max_draws=most,
    )
    shown = not given.flag("no_progress") and interactive()
    with progress(len(tuple(plan.tasks())), shown) as advance:
        measured = carry_out(plan, processes, name, advance)
    file = " ".join(given.files) or None
    measured = dataclasses.replace(measured, left_out=left_out, file=file)
    as_json = audit_json(measured)
    text = as_json if format_name == "json" else audit_report(measured, terminal_of(sys.stdout))
    problems = emit(text, sys.stdout)
    problems += [problem for path in paths for problem in write_file(path, as_json)]
    complain(problems)
    return _exit_code(measured, problems)


def _contradictions(given: Given) -> Iterator[Problem]:
    """The problems of options that do not go together."""
    if not given.files:
        for name in ("shift", "resolution"):
            if given.texts.get(name) is not None:
                message = f"option '--{name}' needs '--file'"
                yield Problem(message, hint="name the file")
    keep_one = "leave one of the two out"
    if given.flag("full") and given.texts.get("repetitions") is not None:
        yield Problem("'--full' and '--repetitions' both say how many repetitions", hint=keep_one)
    if given.files and given.texts.get("set") is not None:
        yield Problem("'--file' and '--set' both say which claims", hint=keep_one)


def _subjects(
    given: Given, kind: str, shift: float | None, resolution: float | None, settings: Settings
) -> tuple[tuple[Subject, ...], tuple[str, ...], str]:
    """The subjects of the audit, the claims without shifted copies, and the name of the set."""
    from dropcheck.audit.measurement import own_subjects

    if not given.files:
        return _built_in(kind, given.patterns), (), f"the built-in set '{kind}'"
    chosen = chosen_cases(given)
    return *own_subjects(chosen.cases, shift, resolution, settings), chosen.registry.name


def _built_in(kind: str, patterns: Sequence[str]) -> tuple[Subject, ...]:
    """The subjects of a built-in set; a hint is a near id of the set, or the command to list it."""
    from dropcheck.audit.audited_claims import built_in

    listing = "dropcheck audit" + (f" --set {kind}" if kind != "laws" else "") + " -n 1"
    try:
        return built_in(kind, patterns)
    except DropcheckError as error:
        problems = [
            problem
            if problem.hint and problem.hint.startswith("did you mean")
            else dataclasses.replace(problem, hint=f"{listing} shows every id")
            for problem in error.problems
        ]
        raise type(error)(problems) from None


def _exit_code(measured: Audit, problems: Sequence[Problem]) -> ExitCode:
    """The exit code: an error outranks an alarm."""
    if measured.interrupted:
        return ExitCode.INTERRUPTED
    if problems:
        return ExitCode.ERROR
    return ExitCode.FAILED if measured.alarms else ExitCode.PASSED
