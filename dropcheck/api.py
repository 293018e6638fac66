"""From Python: `dropcheck.verify` asserts one claim, `dropcheck.run` judges the claims of files."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dropcheck.claims.registry import Claim, Registry, SourceText, Tolerance
from dropcheck.claims.values import (
    WrongValueError,
    described,
    name_problem,
    shortened,
    values_of,
)
from dropcheck.errors import DropcheckError, InternalError, Location, Problem, nearest
from dropcheck.options import VALUES, settings_of
from dropcheck.results import CaseResult, Outcome, ParameterValue, RunResult
from dropcheck.settings import DEFAULT_MEMORY, Settings, default_threads

if TYPE_CHECKING:
    from concurrent.futures import Executor


# ---- verify arguments ----------------------------------------------------------------------------
#
# The arguments of `dropcheck.verify`: checked and read.


ABSOLUTE = "absolute"
MOST_SHOWN = 60  # characters of a wrong value in a message

# All arguments of `verify` but the claim; the last three are not checked by the table of options.
_OPTIONS = tuple(VALUES)
ARGUMENTS = (*_OPTIONS, "model", "sample", "parameters")


def check_options(options: Mapping[str, object], defaults: Mapping[str, object]) -> None:
    """Refuse values that an option does not accept; None is accepted where it is the default.

    Raises:
        DropcheckError: with a problem for each.
    """
    problems = []
    for name, value in options.items():
        if not ((value is None and defaults[name] is None) or _accepts(name, value)):
            accepted = VALUES[name].in_python or VALUES[name].accepts
            message = f"option {name!r} cannot be {_short(value)}: it must be {accepted}"
            hint = f"a parameter of that name is given by parameters={{{name!r}: …}}"
            problems.append(Problem(message, hint=hint))
    if options["resolution"] is not None and options["within"] is not None:
        hint = "keep one: 'resolution' is relative to the claim's scale, 'within' is absolute"
        problems.append(Problem("both 'resolution' and 'within' are given", hint=hint))
    if problems:
        raise DropcheckError(problems)


def _accepts(name: str, value: object) -> bool:
    if name == "tolerance" and isinstance(value, Mapping) and [*value] == [ABSOLUTE]:
        return VALUES["within"].takes(value[ABSOLUTE])
    return VALUES[name].takes(value)


def check_texts(claim: object, model: object) -> None:
    """Refuse a claim or a model that is no text.

    Raises:
        DropcheckError: with a problem for each.
    """
    hint = "write verify('E(x) == 0', model='x ~ normal(0, 1)'); code goes into 'sample'"
    texts = {"the claim": claim, "'model'": "" if model is None else model}
    if wrong := [
        Problem(f"{name} is text, and not {described(one)}", hint=hint)
        for name, one in texts.items()
        if not isinstance(one, str)
    ]:
        raise DropcheckError(wrong)


def read_parameters(*parts: object) -> dict[str, ParameterValue]:
    """The parameters of a claim: numbers, and laws in one spelling.

    Raises:
        DropcheckError: with a problem for each name or value that cannot be one.

    >>> read_parameters({"p": 1}, {"law": "normal( 0,1 )"})
    {'p': 1.0, 'law': 'normal(0, 1)'}
    """
    given: list[tuple[str, object]] = []
    for part in parts:
        if not isinstance(part, Mapping):
            message = f"'parameters' is a mapping of names to values, and not {described(part)}"
            raise DropcheckError(Problem(message, hint="write parameters={'p': 0.5}"))
        given.extend(part.items())
    read: dict[str, ParameterValue] = {}
    problems: list[Problem] = []
    for name, value in given:
        wrong = name_problem(name)
        if wrong is not None:
            problems.append(Problem(f"the parameter {_short(name)} {wrong}"))
        elif name in read:
            problems.append(Problem(f"the parameter {name!r} is given twice"))
        else:
            try:
                # numpy's numbers and arrays are taken as numbers and lists
                several = values_of(value.tolist() if hasattr(value, "tolist") else value)
                if len(several) > 1:
                    raise WrongValueError(
                        "is a range, which has several values", "give one of them"
                    )
                read[name] = several[0]
            except WrongValueError as error:
                read[name] = 0.0
                near = nearest(name, ARGUMENTS)
                meant = f"was the option {near!r} meant?" if near else error.hint
                problems.append(Problem(f"the parameter {name!r} {error}", hint=meant))
    if problems:
        raise DropcheckError(problems)
    return read


def _short(value: object) -> str:
    return shortened(repr(value), MOST_SHOWN)


# ---- api -----------------------------------------------------------------------------------------


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
        from dropcheck.report.screen import Terminal, problems_text

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
    max_draws: float | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    max_memory: float = DEFAULT_MEMORY,
    asymptotic: bool = False,
    draws_only: bool = False,
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
        draws_only: whether draws alone decide, where the model gives an exact value too.
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
    options = {name: arguments[name] for name in _OPTIONS}
    try:
        check_texts(claim, model)
        check_options(options, _DEFAULTS)
        values = read_parameters({} if parameters is None else parameters, more_parameters)
        absolute = isinstance(tolerance, Mapping)
        size = tolerance[ABSOLUTE] if isinstance(tolerance, Mapping) else tolerance
        settings = settings_of(options | {"resolution": None})  # which is part of the claim
        drawn = None
        if sample is not None:
            from dropcheck.code.samples import sample_of

            drawn = sample_of(sample, values)
        read = Claim(
            id=ID,
            title="",
            statement=SourceText.plain(claim, "claim"),
            model=None if model is None else SourceText.plain(model, "model"),
            parameters={name: (value,) for name, value in values.items()},
            expect=expect,
            tolerance=None if size is None else Tolerance(float(size), absolute),
            resolution=0.01 if resolution is None else float(resolution),
            within=within,
            sharpness_given=resolution is not None or within is not None,
            location=Location(str(file), caller.f_lineno),
            sample=drawn,
        )
        result, notes = _judge(read, settings, tuple(more_parameters))
    except InternalError:
        raise
    except DropcheckError as error:
        raise InvalidClaimError(error.problems) from error.__cause__
    for text in (*notes, *result.warnings):
        warnings.warn(f"dropcheck: {text.removeprefix(f'{ID}: ')}", stacklevel=2)
    if result.result is Outcome.UNDECIDED and undecided == "skip":
        from unittest import SkipTest  # which every test runner understands

        raise SkipTest(f"undecided: {result.explanation or result.statement}")
    failed = result.result is Outcome.FAIL
    if failed or (result.result is Outcome.UNDECIDED and undecided == "fail"):
        raise ClaimFailedError(_failure(result), result)
    return result


_SHARP = ("resolution", "within")  # part of a claim: `run` has none
_DEFAULTS: dict[str, object] = verify.__kwdefaults__ or {}


def _judge(
    claim: Claim, settings: Settings, keywords: Sequence[str]
) -> tuple[CaseResult, list[str]]:
    """The claim's result, and notes on it; `keywords` are the parameters given as arguments."""
    from dropcheck.language.check import check_cases, used_names
    from dropcheck.language.compile import CaseGraphs, parse_claim
    from dropcheck.running import verify_cases

    registry = Registry(claim.location.file, {}, {claim.id: claim})
    cases = registry.expand()
    graphs = CaseGraphs(settings.max_memory)
    checked = check_cases(cases, graphs)
    if checked.problems:
        raise DropcheckError(checked.problems)
    used = used_names(parse_claim(claim))
    if mistyped := [
        Problem(f"the parameter {name!r} is not used", hint=f"did you mean the option {near!r}?")
        for name in keywords
        if name not in used and (near := nearest(name, ARGUMENTS))
    ]:
        raise DropcheckError(mistyped)
    [result] = verify_cases(cases, settings, registry, graphs=graphs)
    return result, [note.message for note in checked.notes]


def _failure(result: CaseResult) -> str:
    """The result in one line, which test runners show in their summaries, then its block.

    Options are written as in Python.
    """
    from dropcheck.report.table import case_block
    from dropcheck.report.words import headline, needs

    block = case_block(result)
    text = f"{headline(result)}\n\n{block}".rstrip("\n")
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
    max_draws: float | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    max_memory: float = DEFAULT_MEMORY,
    asymptotic: bool = False,
    draws_only: bool = False,
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
        draws_only: whether draws alone decide, where the model gives an exact value too.

    Returns:
        A result for each case, in the order of the files.

    Raises:
        DropcheckError: the files cannot be read or hold errors: every one of them.
    """
    given = locals()
    options = {name: given.get(name) for name in _OPTIONS if name in given or name in _SHARP}
    from dropcheck.claims.reader import read_registries
    from dropcheck.claims.select import repeat_command
    from dropcheck.documents import read_any
    from dropcheck.execution.pool import Pool
    from dropcheck.language.check import choose
    from dropcheck.language.compile import CaseGraphs
    from dropcheck.running import judge

    check_options(options, _DEFAULTS)
    settings = settings_of(options)
    registry = read_registries([str(one) for one in files], read_any)
    patterns = (claims,) if isinstance(claims, str) else tuple(claims)
    chosen = choose(registry, CaseGraphs(settings.max_memory), patterns)
    pool = None
    if executor is not None:
        pool = Pool(executor=executor, workers=workers or default_threads())
    names, notes = [*map(str, files)], [note.message for note in chosen.notes]
    finished = judge(
        chosen,
        settings,
        lambda case, _: repeat_command(case, settings.seed, names),
        notes=notes,
        pool=pool,
    )
    if finished.interrupted:
        raise KeyboardInterrupt
    return finished
