"""What is given for an option, as text or from Python, and what is wrong with it.

The command line, the pytest plugin and `dropcheck.verify` read their options here, so that one
entry of the table of options is enough for all three.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from dropcheck.claims.values import parse_number, percentage, percentage_hint
from dropcheck.errors import Problem
from dropcheck.options import OPTIONS
from dropcheck.settings import Kind, Option

_TIMES = {"ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_SIZES = {"": 1.0, "b": 1.0} | {
    f"{letter}{ending}": base**power
    for power, letter in enumerate("kmg", start=1)
    for ending, base in (("b", 1e3), ("ib", 1024.0))
}
_SIZE = re.compile(r"(.*?)([kmg]?i?b)?\s*", re.DOTALL | re.IGNORECASE)
_TIME = re.compile(rf"(.*?)({'|'.join(_TIMES)})?\s*", re.DOTALL)


def option_named(name: str) -> Option:
    """The option of `dropcheck.verify` or of the pytest plugin that has this name."""
    return next(one for one in OPTIONS if one.name == name and (one.in_verify or one.ini))


# ---- from text -----------------------------------------------------------------------------------


def read_value(option: Option, text: str) -> Any:
    """The value that a text stands for.

    Raises:
        ValueError: the option does not accept the text.
        OverflowError: likewise, for a number that is too large.

    >>> read_value(option_named("time_limit"), "2m"), read_value(option_named("resolution"), "1%")
    (120.0, 0.01)
    >>> read_value(option_named("max_memory"), "500MB")
    500000000
    """
    return _READERS.get(option.kind, _any_text)(option, text)


def problem_with(option: Option, text: str) -> Problem:
    """What to say of a text that the option does not accept."""
    message = f"option '{option.flag}' cannot be {text[:100]!r}: it must be {option.accepted()}"
    hint = None
    if option.kind in (Kind.NUMBER, Kind.NUMBERS):
        hint = percentage_hint(text)
    elif option.kind is Kind.SHARE:
        with suppress(ValueError, OverflowError):
            if parse_number(text) >= option.high:  # 2 for 2%
                hint = f"{option.flag} {text.strip()}%"
    return Problem(message, hint=hint)


def _any_text(_: Option, text: str) -> str:
    return text


def _word(option: Option, text: str) -> str:
    if text not in option.words:
        raise ValueError(text)
    return text


def _path(option: Option, text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in option.words:
        raise ValueError(text)
    return path


def _number(option: Option, text: str) -> float:
    return _between(option, parse_number(text))


def _numbers(option: Option, text: str) -> tuple[float, ...]:
    return tuple(dict.fromkeys(_number(option, part) for part in text.split(",")))


def _share(option: Option, text: str) -> float:
    value = percentage(text)
    if value is None:
        return _number(option, text)
    if value <= 0:
        raise ValueError(text)
    return value


def _between(option: Option, value: float) -> float:
    if not option.low < value < option.high:
        raise ValueError(value)
    return value


def _whole(option: Option, text: str) -> int:
    # plain digits are read as they are: a float would round a long seed
    digits = text.strip().replace("_", "")
    value = int(digits) if digits.isascii() and digits.isdecimal() else parse_number(text)
    if value != int(value) or not option.low <= value <= option.highest:
        raise ValueError(text)
    return int(value)


def _seed(option: Option, text: str) -> int:
    """A whole number, or `fresh` for one from the system that is short enough to type again."""
    if text.strip().lower() == "fresh":
        import secrets

        return secrets.randbits(32)
    return _whole(option, text)


def _seconds(option: Option, text: str) -> float:
    return _between(option, _with_unit(text, _TIME, _TIMES, "s"))


def _bytes(option: Option, text: str) -> int:
    value = _with_unit(text, _SIZE, _SIZES, "")
    if not option.low <= value <= option.high:
        raise ValueError(text)
    return int(value)


def _with_unit(
    text: str, pattern: re.Pattern[str], units: Mapping[str, float], default: str
) -> float:
    """A number and the unit that may follow it."""
    parts = pattern.fullmatch(text)
    if parts is None:
        raise ValueError(text)
    return parse_number(parts.group(1)) * units[(parts.group(2) or default).lower()]


_READERS: Mapping[Kind, Callable[[Option, str], Any]] = {
    Kind.WORD: _word,
    Kind.FORMAT: _word,
    Kind.REPORT: _path,
    Kind.NUMBER: _number,
    Kind.NUMBERS: _numbers,
    Kind.SHARE: _share,
    Kind.WHOLE: _whole,
    Kind.THREADS: _whole,
    Kind.SEED: _seed,
    Kind.SECONDS: _seconds,
    Kind.BYTES: _bytes,
}


# ---- from Python ---------------------------------------------------------------------------------


def accepts(option: Option, value: object) -> bool:
    """Whether `dropcheck.verify` takes this value for the option.

    >>> accepts(option_named("alpha"), 0.01), accepts(option_named("max_draws"), True)
    (True, False)
    """
    if option.words:
        return isinstance(value, str) and value in option.words
    if isinstance(value, bool):
        return False
    if option.kind in (Kind.NUMBER, Kind.SHARE, Kind.SECONDS):
        return isinstance(value, Real) and option.low < as_float(value) < option.high
    return isinstance(value, Integral) and option.low <= int(value) <= option.highest


def as_float(value: Real) -> float:
    """A number in floating point; infinite where it is larger than all numbers there."""
    try:
        return float(value)
    except OverflowError:  # a whole number or a fraction
        return -math.inf if value < 0 else math.inf
