"""A lenient look at a command's arguments, before the command itself reads them.

Which options `run` has depends on the claims that are selected, and those stand among the
arguments; so they are looked for first, and nothing is an error here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dropcheck.records import dataclass

SELECTION = "dropcheck.selection"  # where the context of a command keeps what was found


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The positional arguments, and the values of each option that takes one, in order."""

    positional: tuple[str, ...]
    values: Mapping[str, Sequence[str]]
    flags: frozenset[str]

    def of(self, *names: str) -> tuple[str, ...]:
        """All values of an option, under any of its names."""
        return tuple(value for name in names for value in self.values.get(name, ()))


def glimpse(arguments: Sequence[str], takes_value: Mapping[str, bool]) -> Glimpse:
    """Read arguments given the options that are known, and whether each takes a value.

    A long option that is not known is taken to have a value: a claim's parameters do.

    >>> found = glimpse(["qk", "--dk", "512", "-xf", "a.yaml"], {"-f": True, "-x": False})
    >>> found.positional, found.values, found.flags
    (('qk',), {'--dk': ['512'], '-f': ['a.yaml']}, frozenset({'-x'}))
    """
    positional: list[str] = []
    values: dict[str, list[str]] = {}
    flags: set[str] = set()
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            positional += rest
            break
        if argument.startswith("--"):
            name, separator, value = argument.partition("=")
            if separator:
                values.setdefault(name, []).append(value)
            elif not takes_value.get(name, True):
                flags.add(name)
            elif rest:
                values.setdefault(name, []).append(rest.pop(0))
        elif argument.startswith("-") and len(argument) > 1:
            _cluster(argument[1:], takes_value, rest, values, flags)
        else:
            positional.append(argument)
    return Glimpse(tuple(positional), values, frozenset(flags))


def _cluster(
    letters: str,
    takes_value: Mapping[str, bool],
    rest: list[str],
    values: dict[str, list[str]],
    flags: set[str],
) -> None:
    """Short options written together, the last of which may have a value: `-xf FILE`."""
    for index, letter in enumerate(letters):
        name = f"-{letter}"
        if not takes_value.get(name, False):
            flags.add(name)
            continue
        attached = letters[index + 1 :]
        if attached:
            values.setdefault(name, []).append(attached)
        elif rest:
            values.setdefault(name, []).append(rest.pop(0))
        return


def asked_format(arguments: Sequence[str]) -> str | None:
    """What `--format` asks for, also where the rest of the arguments cannot be read.

    >>> asked_format(["run", "--format", "json"]), asked_format(["run", "--", "--format=csv"])
    ('json', None)
    """
    found = _values(arguments, re.compile(r"--format(?:=(.*))?", re.DOTALL))
    return found[-1] if found else None


def asked_outputs(arguments: Sequence[str]) -> tuple[str, ...]:
    """The files that `--output` asks for, likewise.

    >>> asked_outputs(["-qoa.xml", "-o", "b.md", "--output=c.json"])
    ('a.xml', 'b.md', 'c.json')
    """
    return tuple(_values(arguments, re.compile(r"(?:--output(?:=|$)|-[qvx]*o)(.*)", re.DOTALL)))


def _values(arguments: Sequence[str], option: re.Pattern[str]) -> list[str]:
    """What stands in the option's group, or in the argument after it."""
    values: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            break
        found = option.fullmatch(argument)
        if found is not None:
            value = found.group(1) or next(rest, None)
            values += [] if value is None else [value]
    return values
