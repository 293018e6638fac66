"""How often verdicts are wrong: the whole procedure, repeated on claims whose truth is known.

    python benchmarks/calibration.py --set laws --repetitions 200 --processes 2
    python benchmarks/calibration.py --set hostile 'bits-*'

The claims stand in `benchmarks/known`. Each is judged as `run` judges a claim alone, with a seed
for each repetition. A verdict is wrong that refutes what is true, verifies what is false by more
than its resolution, or decides about a moment that does not exist. The exit code is 1 if more is
wrong than is promised and than chance explains.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from threadpoolctl import threadpool_limits

if __package__ in (None, ""):  # `python benchmarks/calibration.py`: not the folder it lies in
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.known_code import IMPLEMENTATIONS
from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.select import select_claims
from dropcheck.claims.values import format_parameters
from dropcheck.code.slots import with_columns
from dropcheck.execution.schedule import carried_out
from dropcheck.inference.intervals import clopper_pearson, upper_bound
from dropcheck.judging.case import Prepared, prepare
from dropcheck.judging.judge import run_case
from dropcheck.results import CaseResult, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation.compile import Compiled

KNOWN = Path(__file__).with_name("known")
# The chance of any false alarm of a run of this script; it is divided over the rows.
FALSE_ALARM = 1e-6
# The chance that a rate lies above the upper bound in its row.
UNSURE = 0.01
# Repetitions that a process is given at a time.
CHUNK = 25
OFF = "off"  # the parameter that says how many resolutions a claim is off by


class Truth(StrEnum):
    """What is known of a claim beforehand."""

    TRUE = "true"
    FALSE = "false"  # by more than its resolution
    NEAR = "false within"  # by less than its resolution: either verdict is right
    UNDEFINED = "no such moment"

    @property
    def wrong(self) -> tuple[Verdict, ...]:
        """The verdicts that are wrong about such a claim."""
        both = (Verdict.VERIFIED, Verdict.REFUTED)
        wrong = {Truth.TRUE: both[1:], Truth.FALSE: both[:1], Truth.UNDEFINED: both}
        return wrong.get(self, ())


@dataclass(frozen=True, slots=True)
class KnownSet:
    """How the claims of a set are repeated; `asymptotic` says whether the limit theorem is enough.

    Short blocks and coarse resolutions make repetitions cheap, and a large α gives something to
    count. At the α of `run` the question is whether any verdict is wrong.
    """

    repetitions: int
    alpha: float
    most_draws: int
    asymptotic: bool = False
    short_blocks: bool = False


SETS = {
    "laws": KnownSet(1000, 0.05, 4_000_000, short_blocks=True),
    "moments": KnownSet(100, 1e-6, 1_000_000, asymptotic=True),
    "hostile": KnownSet(20, 1e-6, 2_000_000),
    "distributions": KnownSet(200, 0.05, 4_000_000),
    "nets": KnownSet(50, 0.05, 100_000_000),
    "code": KnownSet(50, 0.05, 4_000_000),
}
# Draws of a short block, and of a claim tagged "long", whose laws take many draws; and how many
# blocks are drawn at a time: the fewest that an interval is made from.
SHORT_BLOCK, LONG_BLOCK, SPAN_BLOCKS = 32, 256, 64


@dataclass(frozen=True, slots=True)
class Known:
    """A case whose truth is known; `group` is the class in which it is counted, if there is one."""

    case: Case
    truth: Truth
    group: str
    block: int | None  # draws of a block; None for the blocks of `run`

    @property
    def name(self) -> str:
        """The claim with its parameters."""
        return f"{self.case.claim.id} {format_parameters(self.case.parameters)}".rstrip()


@lru_cache
def registry_of(name: str) -> Registry:
    """The claims of a set; of code, those in its columns."""
    registry = read_registry(KNOWN / f"{name}.yaml")
    if name != "code":
        return registry
    false = {f"{claim}@{one.name}" for one in IMPLEMENTATIONS for claim in one.false}
    columns = with_columns(registry, IMPLEMENTATIONS).claims.items()
    return replace(registry, claims={
        key: replace(one, expect="refuted" if key in false else "verified")
        for key, one in columns if one.column
    })  # fmt: skip


@lru_cache
def known(name: str) -> tuple[Known, ...]:
    """The cases of a set."""
    return tuple(_known(case, SETS[name]) for case in registry_of(name).expand())


def _known(case: Case, chosen: KnownSet) -> Known:
    claim, off = case.claim, case.parameters.get(OFF, 0.0)
    assert isinstance(off, float)
    assert off == 0 or abs(off) > 1, f"{claim.id} is off by {off:g} resolutions: what is wrong?"
    truth = Truth.FALSE if off or claim.expect == "refuted" else Truth.TRUE
    for tag, said in (("undefined", Truth.UNDEFINED), ("near", Truth.NEAR)):
        truth = said if tag in claim.tags else truth
    long = LONG_BLOCK if "long" in claim.tags else SHORT_BLOCK
    group = next((one.section or "" for one in claim.sources), "")
    return Known(case, truth, group, long if chosen.short_blocks else None)


def ready(case: Case, block: int | None = None) -> Prepared:
    """A case prepared once for all its repetitions; in blocks of so many draws, if it is said."""
    prepared = prepare(case)
    compiled = prepared.compiled
    if block is None or compiled is None:
        return prepared
    compiled = replace(compiled, program=compiled.program.in_blocks_of(block, SPAN_BLOCKS * block))
    if isinstance(compiled, Compiled) and compiled.crossed is not None:
        crossed = compiled.crossed.program.in_blocks_of(block, SPAN_BLOCKS * block)
        compiled = replace(compiled, crossed=replace(compiled.crossed, program=crossed))
    return replace(prepared, compiled=compiled)


def run_once(prepared: Prepared, settings: Settings, alpha: float) -> CaseResult:
    """One run of a case, from its first draw to its verdict, in this thread."""
    return carried_out(run_case(prepared, settings, alpha))


@dataclass(slots=True)
class Row:
    """The verdicts of a case, or of the cases of a class; `promise` is the rate that is allowed."""

    name: str
    truth: str
    promise: float
    group: str = ""
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    wrong: int = 0
    draws: int = 0

    @property
    def runs(self) -> int:
        """Repetitions made."""
        return self.verdicts.total()

    def broken(self, level: float) -> bool:
        """Whether more is wrong than is promised, at a chance of a false alarm."""
        # the two-sided interval has half its error on each side
        return clopper_pearson(self.wrong, self.runs, 2 * level)[0] > self.promise

    def line(self, level: float) -> str:
        """The row as it is printed."""
        runs, wrong = self.runs, self.wrong
        return (
            f"{self.name:50} {self.truth:14} {runs:7,} {wrong:6,} {wrong / runs:8.2g} "
            f"{upper_bound(wrong, runs, UNSURE):8.2g} {self.promise:8.2g} "
            f"{self.verdicts[Verdict.UNDECIDED]:9,} {self.draws / runs:11,.0f} "
            f"{'ALARM' if self.broken(level) else 'kept'}"
        )


HEAD = (
    f"{'claim':50} {'truth':14} {'runs':>7} {'wrong':>6} {'rate':>8} {'at most':>8} {'promise':>8} "
    f"{'undecided':>9} {'draws a run':>11} result"
)


def by_class(rows: Sequence[Row]) -> list[Row]:
    """The rows of classes, so that single errors of their claims add up; without classes none."""
    classes: dict[tuple[str, float], Row] = {}
    for row in rows:
        if row.group:
            key = (row.group, row.promise)
            total = classes.setdefault(key, Row(row.group, "", row.promise))
            total.verdicts += row.verdicts
            total.wrong, total.draws = total.wrong + row.wrong, total.draws + row.draws
    return list(classes.values())


Task = tuple[str, int, float, int, int, int]
"""A set, the place of a case in it, α, the first seed, how many seeds, and the most draws."""


@lru_cache(maxsize=2)  # tasks come case by case
def _prepared(name: str, place: int) -> Prepared:
    one = known(name)[place]
    return ready(one.case, one.block)


def repeated(task: Task) -> tuple[int, Counter[Verdict], int]:
    """The place of a case, its verdicts and the draws that they took."""
    name, place, alpha, first, count, most = task
    verdicts: Counter[Verdict] = Counter()
    draws = 0
    with threadpool_limits(1):
        for seed in range(first, first + count):  # hashed with the case into streams
            settings = Settings(
                draws_only=True,
                seed=seed,
                threads=1,
                max_draws=most,
                asymptotic=SETS[name].asymptotic,
            )
            result = run_once(_prepared(name, place), settings, alpha)
            verdicts[result.verdict] += 1
            draws += result.draws
    return place, verdicts, draws


def measured(
    name: str,
    patterns: Sequence[str] = (),
    *,
    alpha: float | None = None,
    repetitions: int | None = None,
    processes: int = 1,
    most: int | None = None,
) -> list[Row]:
    """A row for each case of a set, or for those whose claims fit a pattern."""
    usual = SETS[name]
    alpha = usual.alpha if alpha is None else alpha
    count = repetitions or usual.repetitions
    ids = {one.id for one in select_claims(registry_of(name), patterns, ())}
    rows = {
        place: Row(one.name, one.truth, 0 if one.truth is Truth.UNDEFINED else alpha, one.group)
        for place, one in enumerate(known(name))
        if one.case.claim.id in ids
    }
    tasks = [
        (name, place, alpha, first, min(CHUNK, count - first), most or usual.most_draws)
        for place in rows
        for first in range(0, count, CHUNK)
    ]
    with ProcessPoolExecutor(processes) as pool:
        for place, verdicts, draws in (pool.map if processes > 1 else map)(repeated, tasks):
            row, wrong = rows[place], known(name)[place].truth.wrong
            row.verdicts += verdicts
            row.wrong += sum(verdicts[one] for one in wrong)
            row.draws += draws
    return list(rows.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a promise is broken, else 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("claims", nargs="*", help="ids of claims, or globs of them")
    parser.add_argument("--set", choices=SETS, default="laws", dest="name")
    parser.add_argument("--alpha", type=float, help="the error rate that each run promises")
    parser.add_argument("--repetitions", type=int, help="runs of each claim")
    parser.add_argument("--processes", type=int, default=1)
    given = vars(parser.parse_args(arguments))
    started = time.perf_counter()
    rows = measured(given.pop("name"), given.pop("claims"), **given)
    classes = by_class(rows)
    level = FALSE_ALARM / (len(rows) + len(classes))
    shown = [HEAD, *(row.line(level) for row in classes or rows)]
    if classes:  # the row of a class does not show which claim was judged wrongly
        shown += [row.line(level) for row in rows if row.wrong]
    alarms = sum(row.broken(level) for row in (*rows, *classes))
    runs, wrong = sum(row.runs for row in rows), sum(row.wrong for row in rows)
    seconds = math.ceil(time.perf_counter() - started)
    shown += ["", f"{runs:,} runs, {wrong:,} wrong, {alarms} above the promise, {seconds} s"]
    print(*shown, sep="\n")  # noqa: T201 - a script
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
