"""`dropcheck.run`: the claims of files judged from Python, on whatever workers there are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Literal

from dropcheck.claims.reader import load_registry
from dropcheck.claims.selection import repeat_command, select
from dropcheck.documents.any_file import read_any
from dropcheck.errors import DropcheckError, NothingSelected, Problem, in_file_order
from dropcheck.execution.clusters import Engine, of_lost
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.language.checks import check_registry
from dropcheck.options import RUN_OPTIONS
from dropcheck.processors import default_threads
from dropcheck.results import RunResult
from dropcheck.running import verify_cases
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.verify_arguments import check_options, settings_of


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
    require: Literal["exact", "finite-sample", "moments", "asymptotic"] | None = None,
) -> RunResult:
    """Judge the claims of files, as `dropcheck run` does.

    Args:
        *files: claims files and documents; without one `claims.yaml` of this folder.
        claims: ids of claims, or globs of them; all claims where none is given.
        executor: any `concurrent.futures.Executor`, such as that of a Dask client, of mpi4py or of
            loky: it judges in place of this machine's processes. No result depends on it.
        workers: how many workers it has; by default as many as this machine has processors.
        alpha: the probability that any verdict of a full run is wrong.
        seed: the seed of all draws.
        max_draws: the most draws of a case.
        time_limit: the most seconds that all cases take together.
        threads: threads to draw with; no result depends on it.
        max_memory: the most bytes that one draw may take.
        require: what a verdict must rest on at least; resting on less, it is undecided.

    Returns:
        A result for each case, in the order of the files.

    Raises:
        DropcheckError: the files cannot be read or hold errors: every one of them.
    """
    limits = {"max_draws": max_draws, "time_limit": time_limit, "threads": threads}
    options: dict[str, Any] = {"alpha": alpha, "seed": seed, "max_memory": max_memory, **limits}
    options["require"] = require
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
    engine = None
    if executor is not None:
        engine = Engine(executor=executor, workers=workers or default_threads())
    lost: list[None] = []
    started = time.perf_counter()
    found = verify_cases(
        cases,
        settings,
        registry,
        repeat=lambda case: repeat_command(case, settings.seed, [*map(str, files)], RUN_OPTIONS),
        engine=engine,
        lost=lambda: lost.append(None),
        graphs=graphs,
    )
    results = tuple(found)
    return RunResult(
        registry=registry.name,
        settings=settings,
        cases=results,
        seconds=time.perf_counter() - started,
        warnings=(*(note.message for note in checked.notes), *of_lost(len(lost))),
        coverage=registry.coverage,
    )


_ABSENT: dict[str, object] = dict.fromkeys(("resolution", "within", "require"))
_ABSENT |= dict.fromkeys(("max_draws", "time_limit", "threads"))
