"""The values that settings take: read from text, and checked where Python gives them.

One table for the command line, `[tool.dropcheck]` in pyproject.toml, pytest's ini keys and the
arguments of `dropcheck.verify`.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any

from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.settings import (
    LEAST_MEMORY,
    MOST_DRAWS,
    MOST_MEMORY,
    MOST_SEED,
    THREADS_A_CORE,
    Settings,
    most_threads,
    one_of,
)

REPEATED = (
    *("alpha", "resolution", "max_draws", "time_limit", "max_memory"),
    *("plain", "asymptotic", "exact", "draws_only"),
)
"""The settings that change a result: the command that repeats a case has them too."""


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
    high: float = sys.float_info.max
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
        number: Any = value if isinstance(value, Real) else math.nan
        if self.kind is int:  # 3e6 is one too
            return bool(self.low <= number <= self.high) and number == int(number)
        return bool(self.low < number < self.high)

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


def one_word(*words: str, more: str = "") -> Value:
    """One of several words; `more` is what a message says behind them."""
    quoted = one_of([repr(one) for one in words])
    return Value(words=words, accepts=f"{one_of(words)}{more}", in_python=quoted)


_RATE = "a number between 0 and 1"
_COUNT = "a whole number from 1 on, such as 1e6"
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
        accepts="a whole number from 0 on, or fresh",
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
    "asymptotic": _TRUTH,
    "draws_only": _TRUTH,
    "expect": one_word("verified", "refuted"),
    "undecided": one_word("fail", "skip", "pass"),
    "tolerance": Value(high=1, accepts=f"{_RATE}, or {{'absolute': a number above 0}}"),
    "within": Value(accepts="a number above 0"),
}


def settings_of(values: Mapping[str, Any]) -> Settings:
    """The settings among checked values; None stands for the default."""
    given = {one.name: values.get(one.name) for one in fields(Settings)}
    return Settings(**{
        # a number of any library becomes one of Python's
        name: VALUES[name].kind(value) if name in VALUES else value
        for name, value in given.items()
        if value is not None
    })  # fmt: skip


def read_value(value: Value, text: str, said: str) -> Any:
    """What a text stands for; `said` is how a message names the setting.

    Raises:
        DropcheckError: the setting does not accept the text.

    >>> read_value(VALUES["seed"], "9007199254740993", "option '--seed'")
    9007199254740993
    """
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
