"""The table of all options, and how their values are read.

From this table come the options of each command with their help and completion, the checks of the
arguments of `dropcheck.verify`, and the keys of the pytest plugin. A parameter of a claim that has
the name of an option of `run` has no option of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dropcheck.options import RUN_OPTIONS as RUN_OPTIONS  # noqa: PLC0414
from dropcheck.settings import (
    LEAST_MEMORY,
    MOST_DRAWS,
    MOST_MEMORY,
    MOST_SEED,
    Option,
    OptionKind,
)

if TYPE_CHECKING:  # pytest imports this module at every start, and it must be fast
    from dropcheck.errors import Problem

_CASES = ("run", "plan")  # both choose cases and take the same limits
_CHOOSE = (*_CASES, "list", "mutate")
_RATE = "a number between 0 and 1"
_ALPHA = "a number between 1e-30 and 1"  # no generator of random numbers is good for less
_COUNT = "a whole number from 1 on"

OPTIONS: tuple[Option, ...] = (
    Option(name="file", letter="f", commands=(*_CHOOSE, "show", "check"),
        kind=OptionKind.FILE, repeated=True,
        help="A claims file, or 'shipped': the claims that ship with dropcheck. May be given "
        "several times. Default: claims.yaml in this folder, otherwise (but not under CI) the "
        "claims that ship."),
    Option(name="set", commands=_CASES, kind=OptionKind.TEXT, metavar="NAME=VALUE", repeated=True,
        help="Set a parameter by its name."),
    Option(name="tag", commands=_CHOOSE, kind=OptionKind.TAG, repeated=True,
        help="Only claims with this tag."),
    Option(name="with", commands=("run", "plan", "list", "show"), kind=OptionKind.TEXT,
        metavar="CODE", repeated=True,
        help="Also check code that implements the slots of the claims: torch, "
        "jax or numpy, or NAME:SLOT=MODULE:FUNCTION. It is imported and called. May be given "
        "several times."),
    Option(name="dtype", commands=("run", "plan", "list", "show"), kind=OptionKind.TEXT,
        metavar="FORMATS",
        help="The number formats in which code is checked, in place of each claim's own: "
        "float32,bfloat16."),
    Option(name="unclaimed", commands=("list",),
        help="In place of the claims, list the figures and formulas of documents that no mark "
        "speaks of."),
    Option(name="expect_claims", commands=("run", "check"), kind=OptionKind.WHOLE, high=10**6,
        accepts="a whole number from 0 on",
        ini="how many claims the documents are to hold; another number is an error",
        help="How many claims the documents are to hold; another number is an error: a mark that "
        "was deleted claims nothing."),
    Option(name="alpha", commands=(*_CASES, "mutate"), kind=OptionKind.NUMBER, low=1e-30,
        high=1, accepts=_ALPHA, setting="alpha", in_repeat=True, in_verify=_ALPHA,
        ini="the probability that any verdict of a file is wrong", ini_default="1e-6",
        help="The probability that any verdict of a full run is wrong [default: 1e-6].",
        help_in={"mutate": "The probability that any verdict on a mutant of the file is wrong "
                 "[default: 1e-6]."}),
    Option(name="resolution", commands=_CASES, kind=OptionKind.SHARE, high=1,
        accepts="a number between 0 and 1, or a share such as 1%", setting="resolution",
        in_repeat=True, in_verify=_RATE,
        ini="the smallest difference to look for, in place of each claim's own",
        help="The smallest difference to look for, as a share of each claim's scale, in place of "
        "the claim's own."),
    Option(name="seed", commands=(*_CASES, "mutate"), kind=OptionKind.SEED, high=MOST_SEED,
        accepts="a whole number, or fresh", setting="seed", in_verify="a whole number from 0 on",
        ini="the seed of all draws, or fresh", ini_default="0",
        help="The seed of all draws [default: 0]."),
    Option(name="max_draws", commands=(*_CASES, "mutate"), kind=OptionKind.WHOLE, low=1,
        high=MOST_DRAWS, accepts=_COUNT, setting="max_draws", in_repeat=True, in_verify=_COUNT,
        ini="the limit of draws for each case: 1e6",
        help="Stop a case after this many draws: 1e6, 2**20.",
        help_in={"plan": "Plan for at most this many draws for each case: 1e6, 2**20.",
                 "mutate": "Stop a run after this many draws [default: 8 times what the claim "
                 "took, then 8 times that]."}),
    Option(name="time_limit", commands=_CASES, kind=OptionKind.SECONDS,
        accepts="a time above 0, such as 10s, 500ms or 2m", setting="time_limit", in_repeat=True,
        in_verify="seconds, a number above 0", ini="the time limit for each case: 10s, 500ms",
        help="End the run after this time: 10s, 500ms, 2m; undecided cases share the time.",
        help_in={"plan": "Plan for a run of this time: 10s, 500ms, 2m; undecided cases share the "
                 "time."}),
    Option(name="max_memory", commands=_CASES, kind=OptionKind.BYTES, low=LEAST_MEMORY,
        high=MOST_MEMORY, accepts="a size such as 500MB or 2GiB", setting="max_memory",
        in_repeat=True, in_verify="bytes, a whole number from 2**20 on",
        help="What one draw of a claim may take: 500MB, 2GiB [default: 1GiB]."),
    Option(name="threads", commands=(*_CASES, "mutate"), kind=OptionKind.THREADS, low=1,
        setting="threads",
        in_verify="a whole number",  # and how many at most, which depends on the machine
        help="Threads to draw with; no result depends on it.",
        help_in={"mutate": "Claims to work on at a time; no result depends on it."}),
    Option(name="scheduler", commands=("run",), kind=OptionKind.TEXT, metavar="ADDRESS",
        help="Judge on the workers of the Dask cluster at this address, tcp://host:8786. No result "
        "depends on it."),
    Option(name="plain", commands=_CASES, setting="plain", in_repeat=True,
        help="Make a new independent draw for every value, even where independent draws could be "
        "paired, or a net of points would take fewer."),
    Option(name="asymptotic", commands=_CASES, setting="asymptotic", in_repeat=True,
        in_verify="True or False", accepts="true or false",
        ini="whether the limit theorem judges what the model does not bound: true or false",
        ini_default="false",
        help="Judge by the limit theorem what the model does not bound, and mark it so in every "
        "report; by default it is undecided, except where code draws."),
    Option(name="exact", commands=("run",), setting="exact", in_repeat=True,
        help="Draw nothing: decide the cases whose values are known exactly from the model."),
    Option(name="draws_only", commands=_CASES, setting="draws_only", in_repeat=True,
        in_verify="True or False", accepts="true or false",
        ini="whether draws alone decide, where the model gives an exact value too: true or false",
        ini_default="false",
        help="Decide by draws alone, where the model gives an exact value too."),
    Option(name="fail_fast", letter="x", commands=("run",), setting="fail_fast",
        help="Stop at the first case that fails."),
    Option(name="format", commands=("run",), kind=OptionKind.FORMAT,
        help="What to print [default: table]."),
    Option(name="format", commands=("plan", "list", "show", "check", "mutate"),
        kind=OptionKind.FORMAT, words=("table", "json"), help="What to print [default: table]."),
    Option(name="output", letter="o", commands=("run",), kind=OptionKind.REPORT, repeated=True,
        help="Also write a report to a file. The ending of its name says which kind: {words}. "
        "May be given several times."),
    Option(name="plot", commands=("run",),
        help="Draw the curves of a sweep in the .svg or .png file that -o names."),
    Option(name="quiet", letter="q", commands=("run", "mutate"),
        help="Print only what did not pass, and the summary.",
        help_in={"mutate": "Print only what survived, and the summary."}),
    Option(name="verbose", letter="v", commands=("run", "mutate"),
        help="Print a row for every case, and more about each.",
        help_in={"mutate": "Name every mutant that was not refuted."}),
    Option(name="exit_zero", commands=("run",),
        help="Exit with 0 even where cases fail or stay undecided."),
    Option(name="no_progress", commands=(*_CASES, "mutate"),
        help="Show no progress on a terminal."),
    Option(name="force", commands=("init",),
        help="Write the file even where there is one already."),
    Option(name="expect", kind=OptionKind.WORD, words=("verified", "refuted"),
        in_verify="'verified' or 'refuted'"),
    Option(name="undecided", kind=OptionKind.WORD, words=("fail", "skip", "pass"),
        in_verify="'fail', 'skip' or 'pass'", ini="what an undecided case is: fail, skip or pass",
        ini_default="fail"),
    Option(name="tolerance", kind=OptionKind.NUMBER, high=1,
        in_verify=f"{_RATE}, or {{'absolute': a number above 0}}"),
    Option(name="within", kind=OptionKind.NUMBER, in_verify="a number above 0"),
)  # fmt: skip


def options_of(command: str) -> Iterator[Option]:
    """The options of a command, in the order in which `--help` lists them."""
    return (option for option in OPTIONS if command in option.commands)


VERIFY_OPTIONS = {option.name: option for option in OPTIONS if option.in_verify}
"""The options that are arguments of `dropcheck.verify`, by name."""


# ---- from text -----------------------------------------------------------------------------------

_TIMES = {"ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_SIZES = {"": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9}
_SIZES |= {"kib": 1024.0, "mib": 1024.0**2, "gib": 1024.0**3}
_TIME = re.compile(rf"(.*?)({'|'.join(_TIMES)})?\s*", re.DOTALL)
_SIZE = re.compile(r"(.*?)((?:[kmg]i?)?b)?\s*", re.DOTALL | re.IGNORECASE)


def read_value(option: Option, text: str) -> Any:
    """The value of an option, read from its text.

    Raises:
        ValueError: the option does not accept the text.
        OverflowError: the text is a number that is too large.

    >>> read_value(VERIFY_OPTIONS["time_limit"], "2m"), read_value(VERIFY_OPTIONS["alpha"], "0.05")
    (120.0, 0.05)
    >>> read_value(VERIFY_OPTIONS["max_memory"], "500MB")
    500000000
    """
    from dropcheck.claims.values import parse_number, percentage  # imported late: help needs none

    value: Any
    match option.kind:
        case OptionKind.FLAG:
            value, fits = text == "true", text in ("true", "false")
        case OptionKind.WORD | OptionKind.FORMAT:
            value, fits = text, text in option.words
        case OptionKind.REPORT:
            value = Path(text)
            fits = value.suffix.lower() in option.words
        case OptionKind.SHARE if (share := percentage(text)) is not None:
            value, fits = share, share > 0
        case OptionKind.NUMBER | OptionKind.SHARE:
            value = parse_number(text)
            fits = option.low < value < option.high
        case OptionKind.SECONDS:
            value = _with_unit(text, _TIME, _TIMES, "s")
            fits = option.low < value < option.high
        case OptionKind.BYTES:
            value = _with_unit(text, _SIZE, _SIZES, "")
            fits = option.low <= value <= option.high
            value = int(value)
        case OptionKind.SEED if text.strip().lower() == "fresh":
            import secrets

            return secrets.randbits(32)  # short enough to type again
        case OptionKind.WHOLE | OptionKind.THREADS | OptionKind.SEED:
            # plain digits are read as a whole number, as a float would round a long seed
            digits = text.strip().replace("_", "")
            plain = digits.isascii() and digits.isdecimal()
            number = int(digits) if plain else parse_number(text)
            value = int(number)
            fits = value == number and option.low <= value <= option.highest
        case _:
            return text
    if not fits:
        raise ValueError(text)
    return value


def _with_unit(
    text: str, pattern: re.Pattern[str], units: Mapping[str, float], default: str
) -> float:
    """The number in `text` times the unit that follows it, or times the default unit."""
    from dropcheck.claims.values import parse_number

    parts = pattern.fullmatch(text)
    if parts is None:
        raise ValueError(text)
    return parse_number(parts.group(1)) * units[(parts.group(2) or default).lower()]


def problem_with(option: Option, text: str) -> Problem:
    """The error message for a text that the option does not accept."""
    from dropcheck.claims.values import parse_number, percentage_hint
    from dropcheck.errors import Problem, suggestion

    message = f"option '{option.flag}' cannot be {text[:100]!r}: it must be {option.accepted()}"
    hint = suggestion(text[:100], option.words) if option.words else None
    if option.kind is OptionKind.NUMBER:
        hint = percentage_hint(text)
    elif option.kind is OptionKind.SHARE:
        with suppress(ValueError, OverflowError):
            if parse_number(text) >= option.high:  # 2 was probably meant as 2%
                hint = f"{option.flag} {text.strip()}%"
    return Problem(message, hint=hint)


# ---- from Python ---------------------------------------------------------------------------------


def accepts(option: Option, value: object) -> bool:
    """Whether `dropcheck.verify` takes this value for the option.

    >>> accepts(VERIFY_OPTIONS["alpha"], 0.01), accepts(VERIFY_OPTIONS["max_draws"], True)
    (True, False)
    """
    if option.words:
        return isinstance(value, str) and value in option.words
    if isinstance(value, bool) or option.kind is OptionKind.FLAG:
        return isinstance(value, bool) and option.kind is OptionKind.FLAG
    if option.kind in (OptionKind.NUMBER, OptionKind.SHARE, OptionKind.SECONDS):
        return isinstance(value, Real) and option.low < as_float(value) < option.high
    return isinstance(value, Integral) and option.low <= int(value) <= option.highest


def as_float(value: Real) -> float:
    """The number as a float; infinite where it is beyond the largest float."""
    try:
        return float(value)
    except OverflowError:  # only whole numbers and fractions can be so large
        return -math.inf if value < 0 else math.inf
