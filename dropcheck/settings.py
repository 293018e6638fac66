"""How a run is set, what an option is, and the bounds of numbers; standard library only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum, auto

from dropcheck.processors import default_threads
from dropcheck.records import record

DEFAULT_MEMORY = 2**30
"""Bytes that one draw of a claim may take, together with what is fixed in it."""

LEAST_MEMORY, MOST_MEMORY = 2**20, 2**60
"""Bounds of that number."""

MOST_DRAWS = 2**62
"""Draws that a budget may name: beyond it they could not be counted in 64 bits."""

MOST_SEED = 2**64 - 1
"""The last seed."""

THREADS_A_CORE = 16
"""Threads that may be asked for, for each core: with hundreds a run takes ten times as long."""

MOST_THREADS = 1024
"""Threads that may be asked for on a machine however large."""


@record
class Settings:
    """How to run: error budget, randomness and limits.

    `alpha` is the family-wise error rate of the whole registry. `resolution` overrides that of
    every claim. `max_draws` bounds each case; None means the default budget, which depends on the
    case alone. `time_limit` (seconds) is that of the whole run: it is shared by the cases that are
    still open, and takes the place of the default budget. `crossing` allows every pair of
    independent draws that meet in a matrix product to be evaluated, `nets` that draws come from
    nets of points. `max_memory` (bytes) bounds
    what one draw of a claim may take, together with what is fixed in it. A verdict that rests on
    less than `require`, the weakest guarantee that counts, is none; by default that is `moments`,
    and `asymptotic` where code of one's own draws, of which no model says anything. With `exact`
    nothing is drawn: a case is decided by the value that its model gives, or not at all.
    """

    alpha: float = 1e-6
    seed: int = 0
    resolution: float | None = None
    max_draws: int | None = None
    time_limit: float | None = None
    threads: int | None = None
    fail_fast: bool = False
    crossing: bool = True
    nets: bool = True
    max_memory: int = DEFAULT_MEMORY
    require: str | None = None
    exact: bool = False


def most_threads() -> int:
    """As many as may be asked for here."""
    return min(MOST_THREADS, THREADS_A_CORE * default_threads())


class OptionKind(Enum):
    """What the value of an option is; this decides how its text is read and what is accepted."""

    FLAG = auto()
    TEXT = auto()
    TAG = auto()
    FILE = auto()
    WORD = auto()  # one of a few words
    FORMAT = auto()  # the same; without words of its own, a format that `run` prints
    REPORT = auto()  # a file to write, whose ending is one of a few; else one that `run` writes
    NUMBER = auto()  # strictly between two bounds
    NUMBERS = auto()  # several of them, with commas
    SHARE = auto()  # a number, or a percentage
    WHOLE = auto()  # a whole number from one bound to the other
    SEED = auto()  # the same, or `fresh`
    THREADS = auto()  # the same, bounded by the machine
    SECONDS = auto()
    BYTES = auto()


_METAVARS = {
    OptionKind.TEXT: "TEXT", OptionKind.TAG: "TAG", OptionKind.FILE: "FILE",
    OptionKind.REPORT: "FILE", OptionKind.NUMBER: "NUMBER", OptionKind.NUMBERS: "NUMBERS",
    OptionKind.SHARE: "SHARE", OptionKind.WHOLE: "N", OptionKind.THREADS: "N",
    OptionKind.SEED: "N|fresh", OptionKind.SECONDS: "TIME", OptionKind.BYTES: "SIZE",
}  # fmt: skip


@record(kw_only=True)
class Option:
    """One option."""

    name: str  # as Python has it; `max_draws` is `--max-draws` on the command line
    commands: tuple[str, ...] = ()  # the commands that have it
    help: str = ""  # what `--help` says of it
    kind: OptionKind = OptionKind.FLAG  # what its value is
    low: float = 0  # the lower bound of a number; excluded, where the number need not be whole
    high: float = math.inf  # the upper bound, likewise
    words: tuple[str, ...] = ()  # what it may be, where that is one of a few words or endings
    accepts: str = ""  # what the command line and the pytest plugin accept, in words
    metavar: str = ""  # what stands for the value in `--help`, where its kind does not say
    letter: str = ""  # the short form
    written: tuple[str, ...] = ()  # the long forms, where `flag` is not the only one
    repeated: bool = False  # whether it may be given several times
    # other help texts, for commands in which it means something else
    help_in: Mapping[str, str] = field(default_factory=dict)
    # the field of `Settings` that it sets; a flag sets the opposite of the default
    setting: str = ""
    # whether the command that repeats a case has it too: it changes the result
    in_repeat: bool = False
    # what `dropcheck.verify` accepts, in words; empty where it has no such argument
    in_verify: str = ""
    ini: str = ""  # what the pytest plugin says of its key; empty where it has none
    ini_default: str = ""  # what the key is unless it is set

    @property
    def flag(self) -> str:
        """The option as it is written on the command line.

        >>> Option(name="max_draws").flag
        '--max-draws'
        """
        return f"--{self.name.replace('_', '-')}"

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every way to write the option.

        >>> Option(name="max_draws", letter="n").spellings
        ('-n', '--max-draws')
        """
        short = (f"-{self.letter}",) if self.letter else ()
        return (*short, *(self.written or (self.flag,)))

    @property
    def placeholder(self) -> str:
        """What stands for the value in `--help`; empty for a flag."""
        if self.kind in (OptionKind.WORD, OptionKind.FORMAT):
            return "|".join(self.words)
        return self.metavar or _METAVARS.get(self.kind, "")

    @property
    def highest(self) -> float:
        """The upper bound on this machine."""
        return most_threads() if self.kind is OptionKind.THREADS else self.high

    def accepted(self, in_python: bool = False) -> str:
        """What the option accepts, in words."""
        if self.kind is OptionKind.THREADS:
            return f"a whole number from 1 to {most_threads()}, at most {THREADS_A_CORE} a core"
        if in_python:
            return self.in_verify
        if self.kind is OptionKind.REPORT:
            return f"a file that ends in {one_of(self.words)}"
        return one_of(self.words) if self.words else self.accepts


def one_of(words: Sequence[str]) -> str:
    """Words of which one is to be chosen.

    >>> one_of(["a", "b", "c"]), one_of(["a", "b"])
    ('a, b or c', 'a or b')
    """
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
