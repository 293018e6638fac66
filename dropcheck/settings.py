"""The settings of a run, the description of an option, and bounds; standard library only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from dropcheck.processors import default_threads

DEFAULT_MEMORY = 2**30
"""The default of `Settings.max_memory`, in bytes."""

LEAST_MEMORY, MOST_MEMORY = 2**20, 2**60
"""Bounds of `Settings.max_memory`."""

MOST_DRAWS = 2**62
"""The largest budget in draws: more could not be counted in 64 bits."""

MOST_SEED = 2**64 - 1
"""The largest seed."""

THREADS_A_CORE = 16
"""The most threads for each core: with hundreds a run takes ten times as long."""

MOST_THREADS = 1024
"""The most threads on any machine."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run: error budget, randomness and limits.

    `alpha` is the family-wise error rate of the whole registry. `resolution` overrides that of
    every claim. `max_draws` bounds each case; None means the default budget, which depends on the
    case alone. `time_limit` (seconds) holds for the whole run: the open cases share it, and it
    takes the place of the default budget. With `plain` every value is a new independent draw: no
    pairs of draws that meet in a matrix product are evaluated, and no nets of points are drawn.
    `max_memory` (bytes) bounds the memory of one draw of a claim, together with its fixed values.
    With `asymptotic` the limit theorem judges what the model does not bound; otherwise such a case
    is undecided, except where code under test draws, for which there is no model. With `exact`
    nothing is drawn: a case is decided by the exact value from its model, or not at all. With
    `draws_only` exact values decide nothing.
    """

    alpha: float = 1e-6
    seed: int = 0
    resolution: float | None = None
    max_draws: int | None = None
    time_limit: float | None = None
    threads: int | None = None
    fail_fast: bool = False
    plain: bool = False
    max_memory: int = DEFAULT_MEMORY
    asymptotic: bool = False
    exact: bool = False
    draws_only: bool = False


def most_threads() -> int:
    """The most threads that a run may have on this machine."""
    return min(MOST_THREADS, THREADS_A_CORE * default_threads())


class OptionKind(Enum):
    """The kind of value of an option; it decides how the text is read and what is accepted."""

    FLAG = auto()
    TEXT = auto()
    TAG = auto()
    FILE = auto()
    WORD = auto()  # one of `words`
    FORMAT = auto()  # one of `words`; without them, a format that `run` prints
    REPORT = auto()  # a file to write that ends in one of `words`; without them, as `run` writes
    NUMBER = auto()  # strictly between two bounds
    SHARE = auto()  # a number strictly between two bounds, or a percentage
    WHOLE = auto()  # a whole number from one bound to the other
    SEED = auto()  # a whole number within the bounds, or `fresh`
    THREADS = auto()  # a whole number up to a bound that depends on the machine
    SECONDS = auto()
    BYTES = auto()


_METAVARS = {
    OptionKind.TEXT: "TEXT", OptionKind.TAG: "TAG", OptionKind.FILE: "FILE",
    OptionKind.REPORT: "FILE", OptionKind.NUMBER: "NUMBER",
    OptionKind.SHARE: "SHARE", OptionKind.WHOLE: "N", OptionKind.THREADS: "N",
    OptionKind.SEED: "N|fresh", OptionKind.SECONDS: "TIME", OptionKind.BYTES: "SIZE",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """The description of an option."""

    name: str  # in Python; `max_draws` is `--max-draws` on the command line
    commands: tuple[str, ...] = ()  # the commands that have it
    help: str = ""  # its text in `--help`
    kind: OptionKind = OptionKind.FLAG
    low: float = 0  # lower bound of a number; only whole numbers may be equal to it
    high: float = math.inf  # upper bound; only whole numbers may be equal to it
    words: tuple[str, ...] = ()  # the accepted words or endings of files, if they are a few
    accepts: str = ""  # the values that the command line and the pytest plugin accept, in words
    metavar: str = ""  # the placeholder of the value in `--help`, where the kind has none
    letter: str = ""  # the short form
    written: tuple[str, ...] = ()  # the long forms, if they are others than `flag`
    repeated: bool = False  # whether it may be given several times
    # other help texts, for commands in which it means something else
    help_in: Mapping[str, str] = field(default_factory=dict)
    # the field of `Settings` that it sets
    setting: str = ""
    # whether it changes results, so that the command that repeats a case has it too
    in_repeat: bool = False
    # the values that `dropcheck.verify` accepts, in words; empty where it has no such argument
    in_verify: str = ""
    ini: str = ""  # the help text of its key in the pytest plugin; empty where it has none
    ini_default: str = ""  # the default of the key

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
        """The placeholder of the value in `--help`; empty for a flag."""
        if self.kind in (OptionKind.WORD, OptionKind.FORMAT):
            return "|".join(self.words)
        return self.metavar or _METAVARS.get(self.kind, "")

    @property
    def highest(self) -> float:
        """The upper bound on this machine."""
        return most_threads() if self.kind is OptionKind.THREADS else self.high

    def accepted(self, in_python: bool = False) -> str:
        """The accepted values in words, on the command line or in Python."""
        if self.kind is OptionKind.THREADS:
            return f"a whole number from 1 to {most_threads()}, at most {THREADS_A_CORE} a core"
        if in_python:
            return self.in_verify
        if self.kind is OptionKind.REPORT:
            return f"a file that ends in {one_of(self.words)}"
        return one_of(self.words) if self.words else self.accepts


def one_of(words: Sequence[str]) -> str:
    """A list of alternatives in words.

    >>> one_of(["a", "b", "c"]), one_of(["a", "b"])
    ('a, b or c', 'a or b')
    """
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
