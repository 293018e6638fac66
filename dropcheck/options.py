"""The options of the command line, and the values that settings take.

`OPTIONS` has all that help says. `VALUES` is one table for the command line, `[tool.dropcheck]` in
pyproject.toml, pytest's ini keys and the arguments of `dropcheck.verify`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.settings import (
    LEAST_MEMORY,
    MOST_DRAWS,
    MOST_MEMORY,
    MOST_SEED,
    THREADS_A_CORE,
    most_threads,
    one_of,
)

REPEATED = (
    *("alpha", "resolution", "max_draws", "time_limit", "max_memory"),
    *("plain", "asymptotic", "exact", "draws_only"),
)
"""The settings that change a result: the command that repeats a case has them too."""

CHOICE, CODE = "What is checked", "Code under test"
LIMITS, WAYS, SHOWN = "How sure, and how long", "How it is judged", "What is shown"
_EVERY = "run plan list show check mutate"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the command line: its name, the commands that have it, and what help says.

    One without a `metavar` has no value. `letter` is its short form. `several`: it may be given
    several times, one without a value to be counted.
    """

    name: str
    of: str
    panel: str
    text: str
    metavar: str = ""
    letter: str = ""
    several: bool = False
    flag: str = ""

    @property
    def spellings(self) -> tuple[str, ...]:
        """What is typed for it: the short form last."""
        flag = self.flag or flag_of(self.name)
        return (flag, self.letter) if self.letter else (flag,)


def flag_of(name: str) -> str:
    """The option of a setting.

    >>> flag_of("max_draws")
    '--max-draws'
    """
    return f"--{name.replace('_', '-')}"


# fmt: off
OPTIONS = (
    Option("file", _EVERY, CHOICE,
           "A claims file, a document or a folder, or 'shipped': the claims that ship with "
           "dropcheck. May be given several times. Default: claims.yaml in this folder.",
           "FILE", "-f", several=True),
    Option("sets", "run plan", CHOICE, "Set a parameter by its name.", "NAME=VALUE",
           several=True, flag="--set"),
    Option("tag", "run plan list mutate", CHOICE, "Only claims with this tag.", "TAG",
           several=True),
    Option("expect_claims", "run check", CHOICE,
           "How many claims the documents must hold: with another number, such as where a mark "
           "was deleted, the command fails.", "N"),
    Option("code", "run plan list show", CODE,
           "Also check code that implements the slots of the claims: torch, jax or numpy, or "
           "NAME:SLOT=MODULE:FUNCTION. It is imported and called. May be given several times.",
           "CODE", several=True, flag="--with"),
    Option("dtype", "run plan list show", CODE,
           "The number formats in which code is checked, in place of each claim's own: "
           "float32,bfloat16.", "FORMATS"),
    Option("alpha", "run plan mutate", LIMITS,
           "The probability that any verdict of a full run is wrong. Default: 1e-6.", "NUMBER"),
    Option("resolution", "run plan", LIMITS,
           "The smallest difference to look for, as a share of each claim's scale: "
           "0.01, 1%. Default: the claim's own.", "SHARE"),
    Option("seed", "run plan mutate", LIMITS, "The seed of all draws. Default: 0.", "N|fresh"),
    Option("max_draws", "run plan mutate", LIMITS, "The most draws of a case: 1e6, 2**20.", "N"),
    Option("time_limit", "run plan", LIMITS,
           "The time that all cases take together, shared by those that stay undecided: 10s, "
           "500ms, 2m.", "TIME"),
    Option("max_memory", "run plan", LIMITS,
           "The memory that one draw may take: 500MB, 2GiB. Default: 1GiB.", "SIZE"),
    Option("threads", "run plan mutate", LIMITS,
           "How many threads draw; no result depends on it. Default: one a processor.", "N"),
    Option("scheduler", "run", LIMITS,
           "Judge on the workers of the Dask cluster at this address, tcp://host:8786. No result "
           "depends on it.", "ADDRESS"),
    Option("plain", "run plan", WAYS,
           "Make a new independent draw for every value, even where independent draws could be "
           "paired, or a net of points would take fewer."),
    Option("asymptotic", "run plan", WAYS,
           "Judge by the limit theorem what the model does not bound, and mark it so in every "
           "report; without it, that is undecided, except where code draws."),
    Option("exact", "run", WAYS,
           "Draw nothing: decide the cases whose values are known exactly from the model."),
    Option("draws_only", "run plan", WAYS,
           "Decide by draws alone, where the model gives an exact value too."),
    Option("fail_fast", "run", WAYS, "Stop at the first case that fails.", letter="-x"),
    Option("unclaimed", "list", SHOWN,
           "In place of the claims, list the figures and formulas of documents that no mark "
           "speaks of."),
    Option("format", "run", SHOWN, "What to print: {printed}. Default: table.",
           "FORMAT"),
    Option("format", "plan list show check mutate", SHOWN, "What to print. Default: table.",
           "table|json"),
    Option("output", "run", SHOWN,
           "Also write a report to a file. The ending of its name says which kind: "
           "{written}. May be given several times.", "FILE", "-o", several=True),
    Option("plot", "run", SHOWN,
           "Draw the curves of a sweep in the .svg or .png file that -o names."),
    Option("quiet", "run mutate", SHOWN, "Print only what did not pass, and the summary.",
           letter="-q"),
    Option("verbose", "run", SHOWN,
           "Print a row for each statement, and with -vv a row for each case.", letter="-v",
           several=True),
    Option("verbose", "mutate", SHOWN, "Name every mutant that was not refuted.", letter="-v"),
    Option("exit_zero", "run", SHOWN, "Exit with 0 even where cases fail or stay undecided."),
    Option("no_progress", "run plan mutate", SHOWN, "Show no progress on a terminal."),
)
# fmt: on

RUN_OPTIONS = frozenset(
    {one.spellings[0][2:].replace("-", "_") for one in OPTIONS if "run" in one.of} | {"help"}
)
"""The options of `dropcheck run`: a parameter with such a name is set by `--set`."""


# ---- their values --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a setting may be: a number of a kind, a truth (`bool`), or one of `words`.

    A number lies between `low` and `high`; only a whole number may be equal to one of them.
    """

    accepts: str  # the texts that are accepted, in words
    in_python: str = ""  # the values of Python, where they differ from the texts
    kind: type = float
    words: tuple[str, ...] = ()
    low: float = 0
    high: float = math.inf
    units: Mapping[str, float] = field(default_factory=dict)  # one may follow a number
    share: bool = False  # whether a percentage is accepted too
    fresh: bool = False  # whether `fresh` is

    def takes(self, value: object) -> bool:
        """Whether a value of Python is accepted.

        >>> VALUES["alpha"].takes(0.01), VALUES["max_draws"].takes(True)
        (True, False)
        """
        if self.words:
            return isinstance(value, str) and value in self.words
        if isinstance(value, bool) or self.kind is bool:
            return isinstance(value, bool) and self.kind is bool
        if self.kind is int:
            if isinstance(value, Real) and as_float(value).is_integer():  # as 3e6 is
                number: Any = value
                return bool(self.low <= int(number) <= self.high)
            return False
        return isinstance(value, Real) and self.low < as_float(value) < self.high

    def read(self, text: str) -> Any:
        """The value that a text stands for.

        Raises:
            ValueError: it stands for none that is accepted.
            OverflowError: it is a number that is too large.

        >>> VALUES["time_limit"].read("2m"), VALUES["max_memory"].read("500MB")
        (120.0, 500000000)
        """
        from dropcheck.claims.values import parse_number, percentage

        value: Any = text
        if self.kind is bool:
            value = {"true": True, "false": False}.get(text)
        elif self.fresh and text.strip().lower() == "fresh":
            import secrets

            value = secrets.randbits(32)  # short enough to type again
        elif self.share and (part := percentage(text)) is not None:
            value = part
        elif self.kind is int and text.strip().replace("_", "").isdecimal():
            value = int(text)  # a float would round a long seed
        elif not self.words:
            ending = re.search(rf"({'|'.join(self.units)})\s*$", text, re.IGNORECASE)
            unit = ending.group(1) if self.units and ending else ""
            number = parse_number(text.rstrip()[: -len(unit)] if unit else text)
            value = number * self.units.get(unit.lower(), 1.0)
            if self.kind is int and (self.units or value == int(value)):
                value = int(value)
        if not self.takes(value):
            raise ValueError(text)
        return value


def _one_of(*words: str) -> Value:
    return Value(words=words, accepts=one_of(words), in_python=one_of([repr(one) for one in words]))


_RATE = "a number between 0 and 1"
_COUNT = "a whole number from 1 on"
_TIMES = {"ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_SIZES = {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30}
_THREADS = most_threads()
_TRUTH = Value(kind=bool, accepts="true or false", in_python="True or False")

VALUES: Mapping[str, Value] = {
    # no generator of random numbers is good for a smaller α
    "alpha": Value(low=1e-30, high=1, accepts="a number between 1e-30 and 1"),
    "resolution": Value(
        high=1, share=True, accepts=f"{_RATE}, or a share such as 1%", in_python=_RATE
    ),
    "seed": Value(
        kind=int,
        high=MOST_SEED,
        fresh=True,
        accepts="a whole number, or fresh",
        in_python="a whole number from 0 on",
    ),
    "max_draws": Value(kind=int, low=1, high=MOST_DRAWS, accepts=_COUNT),
    "time_limit": Value(
        units=_TIMES,
        accepts="a time above 0, such as 10s, 500ms or 2m",
        in_python="seconds, a number above 0",
    ),
    "max_memory": Value(
        kind=int,
        low=LEAST_MEMORY,
        high=MOST_MEMORY,
        units=_SIZES,
        accepts="a size such as 500MB or 2GiB",
        in_python="bytes, a whole number from 2**20 on",
    ),
    "threads": Value(
        kind=int,
        low=1,
        high=_THREADS,
        accepts=f"a whole number from 1 to {_THREADS}, at most {THREADS_A_CORE} a core",
    ),
    "expect_claims": Value(kind=int, high=10**6, accepts="a whole number from 0 on"),
    "asymptotic": _TRUTH,
    "draws_only": _TRUTH,
    "expect": _one_of("verified", "refuted"),
    "undecided": _one_of("fail", "skip", "pass"),
    "tolerance": Value(high=1, accepts=f"{_RATE}, or {{'absolute': a number above 0}}"),
    "within": Value(accepts="a number above 0"),
}


def read_value(name: str, text: str, said: str) -> Any:
    """The value of a setting from its text; `said` is how a message names the setting.

    Raises:
        DropcheckError: the setting does not accept the text.

    >>> read_value("seed", "9007199254740993", "option '--seed'")
    9007199254740993
    """
    value = VALUES[name]
    try:
        return value.read(text)
    except (ValueError, OverflowError):
        message = f"{said} cannot be {text[:100]!r}: it must be {value.accepts}"
        raise DropcheckError(Problem(message, hint=_hint(value, text))) from None


def _hint(value: Value, text: str) -> str | None:
    from dropcheck.claims.values import parse_number, percentage_hint

    if value.words:
        return suggestion(text[:100], value.words)
    if value.share:
        with suppress(ValueError, OverflowError):
            if value.high <= parse_number(text) < 100:  # 2 was probably meant as 2%
                return f"did you mean {text.strip()}%?"
        return None
    return percentage_hint(text) if value.kind is float else None


def as_float(value: Real) -> float:
    """The number as a float; infinite where it is beyond the largest float."""
    try:
        return float(value)
    except OverflowError:  # only whole numbers and fractions can be so large
        return -math.inf if value < 0 else math.inf
