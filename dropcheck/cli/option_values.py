"""From the text of an option to its value; what cannot be one is a problem that says why."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from dropcheck.claims.values import parse_number, percentage
from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.settings import LEAST_MEMORY, MOST_DRAWS, MOST_MEMORY, MOST_SEED

_Value = TypeVar("_Value")

FORMATS = ("table", "json")
OUTPUT_ENDINGS = (".json",)
# those of `run`, as `report.formats` has them; help and completion have no use for that
RUN_FORMATS = ("table", "json", "junit", "markdown", "github", "csv")
RUN_ENDINGS = (".json", ".xml", ".md", ".csv", ".html", ".svg", ".png")

_TIMES = {"ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_SIZES = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_SIZE = re.compile(r"(.*?)([kmg]?i?b)?\s*", re.DOTALL | re.IGNORECASE)
_TIME = re.compile(rf"(.*?)({'|'.join(_TIMES)})?\s*", re.DOTALL)


class Collector:
    """Reads options one by one and keeps what is wrong with them, to tell it all at once."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def read(
        self,
        option: str,
        text: str | None,
        convert: Callable[[str], _Value],
        accepted: str,
        hint: Callable[[str], str | None] = lambda _: None,
    ) -> _Value | None:
        """The option's value; None where it was not given, or is wrong.

        `hint` is asked for what to write in place of a text that is wrong.
        """
        if text is None:
            return None
        try:
            return convert(text)
        except (ValueError, OverflowError):
            message = f"option '{option}' cannot be {text[:100]!r}: it must be {accepted}"
            self.problems.append(Problem(message, hint=hint(text)))
            return None

    def finish(self) -> None:
        """Raise what was found wrong, if anything.

        Raises:
            DropcheckError: with a problem for each option that was wrong.
        """
        if self.problems:
            raise DropcheckError(self.problems)


def probability(text: str) -> float:
    """A number strictly between 0 and 1."""
    value = parse_number(text)
    if not 0 < value < 1:
        raise ValueError(text)
    return value


def positive(text: str) -> float:
    """A number above 0."""
    value = parse_number(text)
    if value <= 0:
        raise ValueError(text)
    return value


def share(text: str) -> float:
    """A number above 0, or a percentage.

    >>> share("0.01"), share("1%")
    (0.01, 0.01)
    """
    value = percentage(text)
    if value is None:
        return positive(text)
    if value <= 0:
        raise ValueError(text)
    return value


def whole(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers from `least` to `most`."""

    def convert(text: str) -> int:
        # plain digits are read as they are: a float would round a long seed
        digits = text.strip().replace("_", "")
        value = int(digits) if digits.isascii() and digits.isdecimal() else parse_number(text)
        if value != int(value) or not least <= value <= most:
            raise ValueError(text)
        return int(value)

    return convert


def seed(text: str) -> int:
    """A seed: a whole number, or `fresh` for one from the system, short enough to type again."""
    if text.strip().lower() == "fresh":
        import secrets

        return secrets.randbits(32)
    return whole(0, MOST_SEED)(text)


def draws(text: str) -> int:
    """A number of draws."""
    return whole(1, MOST_DRAWS)(text)


def seconds(text: str) -> float:
    """A time: seconds, or a number with a unit.

    >>> seconds("10s"), seconds("500ms"), seconds("2m"), seconds("10")
    (10.0, 0.5, 120.0, 10.0)
    """
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(text)
    value = parse_number(found.group(1)) * _TIMES[found.group(2) or "s"]
    if not 0 < value < math.inf:
        raise ValueError(text)
    return value


def size(text: str) -> int:
    """A size in bytes, at least one MiB: a number with a unit, or without.

    >>> size("2GiB"), size("500MB"), size("1e9")
    (2147483648, 500000000, 1000000000)
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    value = parse_number(found.group(1)) * _SIZES[(found.group(2) or "").lower()]
    if not LEAST_MEMORY <= value <= MOST_MEMORY:
        raise ValueError(text)
    return int(value)


def one_of(known: Iterable[str]) -> Callable[[str], str]:
    """A reader of one of several words."""
    words = tuple(known)

    def convert(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return convert


def format_hint(option: str, command: str) -> str | None:
    """The hint for the name of a format taken for an option of a command: `--json`."""
    name = option.lstrip("-")
    known = RUN_FORMATS if command == "dropcheck run" else FORMATS
    return f"did you mean '--format {name}'?" if name in known else None


def listed(words: Sequence[str]) -> str:
    """Words of which one is to be chosen.

    >>> listed(["a", "b", "c"]), listed(["a", "b"])
    ('a, b or c', 'a or b')
    """
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def output_path(text: str, endings: Collection[str] = OUTPUT_ENDINGS) -> Path:
    """A file to write, whose ending names a format that can be written."""
    path = Path(text)
    if path.suffix.lower() not in endings:
        raise ValueError(text)
    return path


def report_path(text: str) -> Path:
    """A file to write a run's report to, in any of its formats."""
    return output_path(text, RUN_ENDINGS)


def assignments(
    texts: Iterable[str], options: Mapping[str, str], known: Iterable[str]
) -> dict[str, str]:
    """The parameters set by `--set NAME=VALUE`, beside those set by options of their own.

    Raises:
        DropcheckError: for a text that is no assignment, for a name that no selected claim has,
            or for one that is set in both ways.
    """
    values = dict(options)
    names = list(known)
    problems: list[Problem] = []
    repeated: dict[str, list[str]] = {}
    for text in texts:
        name, separator, value = (part.strip() for part in text.partition("="))
        if not separator or not name or not value:
            problems.append(
                Problem(
                    f"option '--set' cannot be {text[:100]!r}: it must be NAME=VALUE",
                    hint="for example --set dk=512",
                )
            )
        elif name not in names:
            message = f"option '--set' names {name!r}, and no selected claim has such a parameter"
            problems.append(Problem(message, hint=suggestion(name, names) or _listed(names)))
        elif name in options:
            message = f"the parameter {name!r} is given twice, by '--{name}' and by '--set'"
            problems.append(Problem(message))
        else:
            repeated.setdefault(name, []).append(value)
    if problems:
        raise DropcheckError(problems)
    return values | {name: ",".join(parts) for name, parts in repeated.items()}


def _listed(names: list[str]) -> str:
    if not names:
        return "the selected claims have no parameters"
    return f"the parameters are {', '.join(names[:20])}" + (", …" if len(names) > 20 else "")
