"""From Python: `dropcheck.verify` asserts one claim, `dropcheck.run` judges the claims of files."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dropcheck.api.verify_arguments import (
    call_text,
    check_options,
    check_texts,
    mistyped_options,
    read_parameters,
    read_tolerance,
    settings_of,
)
from dropcheck.claims.registry import Claim, Registry, Sample, SourceText
from dropcheck.errors import DropcheckError, Location, NothingSelected, Problem, in_file_order
from dropcheck.options import RUN_OPTIONS, VERIFY_OPTIONS
from dropcheck.processors import default_threads
from dropcheck.results import CaseResult, Outcome, ParameterValue, RunResult
from dropcheck.settings import DEFAULT_MEMORY, Settings

if TYPE_CHECKING:  # `verify` does not need it
    from concurrent.futures import Executor

ID = "claim"
"""The id of a claim that comes from no file."""


class ClaimFailedError(AssertionError):
    """A claim did not pass: the message says why, and `result` is its result."""

    def __init__(self, text: str, result: CaseResult) -> None:
        super().__init__(text, result)
        self.result = result

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidClaimError(DropcheckError, ValueError):
    """The arguments are not a claim: the message shows each problem and its place."""

    def __str__(self) -> str:
        from dropcheck.report.terminal.screen import Terminal, problems_text

        text = problems_text(self.problems, Terminal(), counted=False)
        return text.rstrip("\n").removeprefix("error: ")


def verify(
    claim: str,
    /,
    *,
    model: str | None = None,
    sample: Callable[..., Mapping[str, Any]] | None = None,
    parameters: Mapping[str, Any] | None = None,
    expect: Literal["verified", "refuted"] = "verified",
    undecided: Literal["fail", "skip", "pass"] = "fail",
    tolerance: float | Mapping[str, float] | None = None,
    resolution: float | None = None,
    within: float | None = None,
    alpha: float = 1e-6,
    seed: int = 0,
    max_draws: int | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    asymptotic: bool = False,
    **more_parameters: Any,
) -> CaseResult:
    """Check a claim by simulation, and assert that it holds.

    Args:
        claim: the statement: `"Var(y) == p / (1 - p)"`.
        model: lines `name ~ law` and `name = expression`, as in a claims file. With `sample` they
            come after it, and may use its names.
        sample: code that stands in for a model: a function of a numpy Generator and a count, and of
            parameters by their names if it has any, that returns named arrays of so many
            independent draws, first axis the draw.
        parameters: numbers, lists or arrays of them, or laws as text; for names that are options
            here.
        expect: the verdict with which the claim passes.
        undecided: what happens where the draws do not decide the claim: "fail" raises, "skip"
            skips the test, "pass" returns the result.
        tolerance: part of the claim: it allows this share of the right side, up or down; as
            `{"absolute": 0.05}`, this number.
        resolution: the smallest difference to look for, as a share of the claim's scale; 0.01 by
            default.
        within: the same as an absolute number.
        alpha: the probability that the verdict is wrong.
        seed: the seed of all draws.
        max_draws: the most draws to make.
        time_limit: the most seconds to take.
        threads: threads to draw with; no result depends on it.
        max_memory: the most bytes that one draw may take.
        asymptotic: whether the limit theorem judges what the model does not bound.
        **more_parameters: the same as `parameters`.

    Returns:
        The result: verdict, estimate, interval and everything else that a report shows.

    Raises:
        ClaimFailedError: an AssertionError; the claim did not pass.
        InvalidClaimError: a DropcheckError and a ValueError; the arguments are not a claim.

    >>> import dropcheck
    >>> result = dropcheck.verify("Var(2 * m) == 1", model="m ~ bernoulli(p)", p=0.5)
    >>> result.verdict.value
    'verified'
    """
    __tracebackhide__ = True  # a test that fails shows its own line
    arguments = dict(locals())
    caller = sys._getframe(1)
    file, here = Path(caller.f_code.co_filename), Path.cwd()
    file = file.relative_to(here) if file.is_relative_to(here) else file  # as seen from this folder
    options = {name: arguments[name] for name in VERIFY_OPTIONS}
    failures: list[Exception] = []
    try:
        check_texts(claim, model)
        check_options(options, verify.__kwdefaults__ or {})
        values = read_parameters({} if parameters is None else parameters, more_parameters)
        repeat = call_text(claim, {"model": model, "sample": sample, **options}, values, _DEFAULTS)
        settings = settings_of(options)
        read = Claim(
            id=ID,
            title="",
            statement=SourceText.plain(claim, "claim"),
            model=None if model is None else SourceText.plain(model, "model"),
            parameters={name: (value,) for name, value in values.items()},
            cases=None,
            requires=(),
            expect=expect,
            tolerance=read_tolerance(tolerance),
            resolution=0.01 if resolution is None else float(resolution),
            within=within,
            sources=(),
            says=None,
            note=None,
            truth=None,
            tags=(),
            location=Location(str(file), caller.f_lineno),
            parameter_locations={},
            sample=None if sample is None else _own_code(sample, settings, values, failures),
        )
        result, notes = _judge(read, settings, repeat, tuple(more_parameters))
    except DropcheckError as error:
        cause = failures[0] if failures else None
        raise InvalidClaimError(error.problems) from cause
    for text in (*notes, *result.warnings):
        warnings.warn(f"dropcheck: {text.removeprefix(f'{ID}: ')}", stacklevel=2)
    if result.result is Outcome.UNDECIDED and undecided == "skip":
        from unittest import SkipTest  # which every test runner understands

        raise SkipTest(f"undecided: {result.explanation or result.statement}")
    failed = result.result is Outcome.FAIL
    if failed or (result.result is Outcome.UNDECIDED and undecided == "fail"):
        raise ClaimFailedError(_failure(result), result)
    return result


_DEFAULTS: dict[str, object] = {**(verify.__kwdefaults__ or {}), "seed": None}  # a seed is shown


def _judge(
    claim: Claim, settings: Settings, repeat: str, keywords: Sequence[str]
) -> tuple[CaseResult, list[str]]:
    """The claim's result, and notes on it; `keywords` are the parameters given as arguments."""
    from dropcheck.language.case_graphs import CaseGraphs
    from dropcheck.language.checks import check_claim
    from dropcheck.running import verify_cases

    registry = Registry(claim.location.file, {}, {claim.id: claim})
    cases = registry.expand()
    graphs = CaseGraphs(settings.max_memory)
    checked = check_claim(claim, cases, graphs)
    problems = (*checked.problems, *mistyped_options(claim, keywords, graphs))
    if problems:
        raise DropcheckError(problems)
    [result] = verify_cases(cases, settings, registry, lambda _: repeat, graphs=graphs)
    return result, [note.message for note in checked.notes]


def _own_code(
    sample: Callable[..., Mapping[str, Any]],
    settings: Settings,
    parameters: Mapping[str, ParameterValue],
    failures: list[Exception],
) -> Sample:
    """The user's function as a source of draws; its errors are kept, to be shown as the cause."""
    from functools import wraps

    from dropcheck.simulation.user_code.own_code import own_code

    @wraps(sample, assigned=(), updated=())  # its parameters are read
    def noted(generator: Any, count: int, **given: Any) -> Mapping[str, Any]:
        try:
            return sample(generator, count, **given)
        except Exception as error:
            failures.append(error)
            raise

    code = noted if callable(sample) else sample
    return own_code(code, settings.seed, settings.max_memory, parameters)


def _failure(result: CaseResult) -> str:
    """The result in one line, which test runners show in their summaries, then its block.

    Options are written as in Python.
    """
    from dropcheck.report.phrases import DECIDED_EXACTLY, headline, needs
    from dropcheck.report.terminal.run_table import case_block

    block = case_block(result)
    text = f"{headline(result)}\n\n{block}".rstrip("\n").replace(DECIDED_EXACTLY, "")
    needed = needs(result)
    if needed is not None:
        text = text.replace(needed, needed.replace("--max-draws ", "max_draws="))
    return text


# ---- the claims of files -------------------------------------------------------------------------


def run(
    *files: str | Path,
    claims: str | Sequence[str] = (),
    executor: Executor | None = None,
    workers: int | None = None,
    alpha: float = 1e-6,
    seed: int = 0,
    max_draws: int | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    asymptotic: bool = False,
) -> RunResult:
    """Judge the claims of files, as `dropcheck run` does.

    Args:
        *files: claims files and documents; without one `claims.yaml` of this folder.
        claims: ids of claims, or globs of them; all claims where none is given.
        executor: any `concurrent.futures.Executor`, such as that of a Dask client, of mpi4py or of
            loky: it judges in place of this machine's threads. No result depends on it.
        workers: how many workers it has; by default as many as this machine has processors.
        alpha: the probability that any verdict of a full run is wrong.
        seed: the seed of all draws.
        max_draws: the most draws of a case.
        time_limit: the most seconds that all cases take together.
        threads: threads to draw with; no result depends on it.
        max_memory: the most bytes that one draw may take.
        asymptotic: whether the limit theorem judges what the model does not bound.

    Returns:
        A result for each case, in the order of the files.

    Raises:
        DropcheckError: the files cannot be read or hold errors: every one of them.
    """
    from dropcheck.claims.reader import load_registry
    from dropcheck.claims.selection import repeat_command, select
    from dropcheck.documents import read_any
    from dropcheck.execution.pool import Pool, of_lost
    from dropcheck.language.case_graphs import CaseGraphs
    from dropcheck.language.checks import check_registry
    from dropcheck.running import verify_cases

    limits = {"max_draws": max_draws, "time_limit": time_limit, "threads": threads}
    options: dict[str, Any] = {"alpha": alpha, "seed": seed, "max_memory": max_memory, **limits}
    options["asymptotic"] = asymptotic
    check_options({**options, "resolution": None, "within": None}, _ABSENT)
    settings = settings_of(options)
    registry = load_registry([str(one) for one in files], read_any)
    graphs = CaseGraphs(settings.max_memory)
    checked = check_registry(registry, graphs)
    if checked.problems:
        raise DropcheckError(in_file_order(checked.problems))
    patterns = (claims,) if isinstance(claims, str) else tuple(claims)
    cases = select(registry, patterns)
    if not cases:
        raise NothingSelected(Problem("no claim is selected"))
    pool = None
    if executor is not None:
        pool = Pool(executor=executor, workers=workers or default_threads())
    lost: list[None] = []
    started = time.perf_counter()
    results = verify_cases(
        cases,
        settings,
        registry,
        repeat=lambda case: repeat_command(case, settings.seed, [*map(str, files)], RUN_OPTIONS),
        pool=pool,
        lost=lambda: lost.append(None),
        graphs=graphs,
    )
    return RunResult(
        registry=registry.name,
        settings=settings,
        cases=tuple(results),
        seconds=time.perf_counter() - started,
        warnings=(*(note.message for note in checked.notes), *of_lost(len(lost))),
        coverage=registry.coverage,
    )


_ABSENT: dict[str, object] = dict.fromkeys(("resolution", "within"))
_ABSENT |= dict.fromkeys(("max_draws", "time_limit", "threads"))
