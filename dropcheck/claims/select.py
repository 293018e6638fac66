"""Which cases a command works on, and the command that runs one of them again.

A claim is selected if a pattern matches its id and if it has one of the tags; without patterns or
tags, all are selected. The order is that of the file, whatever the order of the patterns.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from dropcheck.claims.registry import COLUMN, MOST_CASES, Case, Claim, Registry
from dropcheck.claims.values import (
    ACCEPTED,
    WrongValueError,
    read_values,
    shortened,
    split_values,
    written_value,
)
from dropcheck.errors import DropcheckError, NothingSelected, Problem, suggestion
from dropcheck.results import ParameterValue
from dropcheck.settings import RUN_OPTIONS

ALL = "all"
_WILD = frozenset("*?[")


def select(
    registry: Registry,
    patterns: Sequence[str] = (),
    tags: Sequence[str] = (),
    overrides: Mapping[str, str] | None = None,
) -> tuple[Case, ...]:
    """The cases of the selected claims, with the parameter values of the command line.

    Patterns are ids, globs, or "all"; none means all. A claim has one of the tags, if some are
    given. Overrides are, by parameter, the values as text (`"0.1,0.2"`) that replace the claim's
    own; a selected claim without the parameter keeps its values, if another claim has it.

    Raises:
        NothingSelected: no claim matches a glob, a tag, or all of them together.
        DropcheckError: an unknown id, an unknown parameter, or a value that cannot be read.
    """
    claims = select_claims(registry, patterns, tags)
    values = _override_values(claims, overrides or {})
    return tuple(case for claim in claims for case in _cases(claim, values))


def select_claims(
    registry: Registry, patterns: Sequence[str] = (), tags: Sequence[str] = ()
) -> tuple[Claim, ...]:
    """The claims that the patterns and tags select, in file order.

    Raises:
        NothingSelected: no claim matches a glob, a tag, or all of them together.
        DropcheckError: no claim has one of the ids.
    """
    if not registry.claims:  # only a document can have none
        hint = "a mark stands right behind a figure or a formula: 8<!-- dropcheck: == E(y) -->"
        raise NothingSelected(Problem(f"{registry.name} holds no claim", hint=hint))
    every, known = registry.claims.values(), {*_ids(registry)}
    ids = [one for one in patterns if one != ALL and not _WILD & {*one}]
    if unknown := [_unknown_id(one, registry) for one in ids if one not in known]:
        raise DropcheckError(unknown)
    unused = [
        Problem(f"no claim's id matches {one!r}", hint="dropcheck list shows every id")
        for one in patterns
        if not any(_is_selected(claim, one) for claim in every)
    ]
    known_tags = list(dict.fromkeys(tag for claim in every for tag in claim.tags))
    names = "the tags are " + ", ".join(known_tags[:20])
    names = names if known_tags else "the claims of this file have no tags"
    unused += [
        Problem(f"no claim has the tag {tag!r}", hint=suggestion(tag, known_tags) or names)
        for tag in tags
        if tag not in known_tags
    ]
    if unused:
        raise NothingSelected(unused)
    selected = tuple(
        claim
        for claim in every
        if not patterns or any(_is_selected(claim, one) for one in patterns)
        if not tags or not {*tags}.isdisjoint(claim.tags)
    )
    if not selected:
        asked = ", ".join(map(repr, patterns)) or "all"
        wanted = " or ".join(map(repr, tags))
        hint = "dropcheck list --tag TAG shows those that have it"
        raise NothingSelected(Problem(f"no claim among {asked} has the tag {wanted}", hint=hint))
    return selected


def _is_selected(claim: Claim, pattern: str) -> bool:
    """Whether a pattern matches a claim's id, or the id of its entry."""
    return pattern == ALL or any(fnmatchcase(name, pattern) for name in _names(claim))


def _names(claim: Claim) -> set[str]:
    """The names that select a claim: its id and its entry's, with and without its column."""
    names = {claim.id, claim.entry}
    return names if claim.column is None else names | {one.rpartition(COLUMN)[0] for one in names}


def parse_values(option: str, text: str) -> tuple[ParameterValue, ...]:
    """The distinct values of an option, from its text.

    Raises:
        DropcheckError: one of them is not a value; the message names the option.

    >>> parse_values("--dk", "64, 2**7"), parse_values("--p", "0.1..0.3 by 0.1")
    ((64.0, 128.0), (0.1, 0.2, 0.3))
    """
    values: dict[ParameterValue, None] = {}
    problems = []
    for part in split_values(text):
        try:
            values |= dict.fromkeys(read_values(part))
        except WrongValueError as error:
            what = f"{shortened(part)!r} {error}" if part else f"a value in {text!r} is empty"
            hint = error.hint or ACCEPTED
            hint += "; separate several with commas: 0.1,0.2,0.5" * (hint == ACCEPTED)
            problems.append(Problem(f"{option}: {what}", hint=hint))
    if problems:
        raise DropcheckError(problems)
    return tuple(values)


def option_of(name: str) -> str:
    """The option that sets a parameter on the command line, for messages.

    >>> option_of("dk"), option_of("alpha")
    ('--dk', '--set alpha')
    """
    return f"--set {name}" if name in RUN_OPTIONS else f"--{name}"


def repeat_command(
    case: Case, seed: int, files: Sequence[str] = (), options: Sequence[str] = ()
) -> str:
    """The command that runs one case again, quoted for a POSIX shell.

    `seed`, `files` and further `options` are those of the run (no files: the usual one).
    """
    words = ["dropcheck", "run", case.claim.id]
    words += [word for file in files for word in ("--file", file)]
    for name, value in case.parameters.items():
        text = written_value(value)
        if name in RUN_OPTIONS:
            words += ["--set", f"{name}={text}"]
        else:  # a minus would be taken for an option
            words += [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]
    return shlex.join([*words, "--seed", str(seed), *options])


def _unknown_id(name: str, registry: Registry) -> Problem:
    """A word that is no id: it may be a slip, or a file or folder."""
    hint = suggestion(name, [*_ids(registry), ALL])
    if "," in name:
        hint = "between ids stand spaces: " + " ".join(name.replace(",", " ").split())
    for one in (f"{name}/", f"{name}.yaml") if hint is None and name else ():
        hint = f"write {one} for the claims in it" if Path(one).exists() else hint
    message = f"there is no claim {name!r} in {registry.name}"
    message = f"{message}, and no such file" if "." in name else message
    return Problem(message, hint=hint or "dropcheck list shows every id")


def _ids(registry: Registry) -> Iterable[str]:
    """All names that select claims on a command line, globs aside."""
    return dict.fromkeys(
        name for claim in registry.claims.values() for name in sorted(_names(claim))
    )


def _override_values(
    claims: Sequence[Claim], overrides: Mapping[str, str]
) -> dict[str, tuple[ParameterValue, ...]]:
    known = tuple(dict.fromkeys(name for claim in claims for name in claim.parameter_names))
    values: dict[str, tuple[ParameterValue, ...]] = {}
    problems: list[Problem] = []
    for asked, text in overrides.items():
        name = asked if asked in known else asked.replace("-", "_")
        if name not in known:
            names = f"the parameters here are {', '.join(known[:20]) or 'none'}"
            message = f"no selected claim has a parameter {asked!r}"
            problems.append(Problem(message, hint=suggestion(asked, known) or names))
            continue
        try:
            values[name] = parse_values(option_of(name), text)
        except DropcheckError as error:
            problems.extend(error.problems)
    if problems:
        raise DropcheckError(problems)
    return values


def _cases(claim: Claim, overrides: Mapping[str, tuple[ParameterValue, ...]]) -> tuple[Case, ...]:
    """The claim's cases, with the values from the command line in place of its own."""
    own = {name: values for name, values in overrides.items() if name in claim.parameter_names}
    if not own:
        return claim.expand()
    grid = {name: own.get(name, values) for name, values in claim.parameters.items()}
    points = math.prod(map(len, grid.values()))
    listed = {name: values for name, values in own.items() if name not in grid}
    count, rows = _rows_at(claim.cases or ({},), listed)
    if points * count > MOST_CASES:
        message = f"{claim.id} would have {points * count:,} cases, and the most is {MOST_CASES:,}"
        raise DropcheckError(Problem(message, claim.location, "ask for fewer values"))
    expanded = dataclasses.replace(claim, parameters=grid, cases=tuple(rows)).expand()
    order = claim.parameter_names
    return tuple(
        # without code under test, the number format is left out
        Case(claim, {name: one.parameters[name] for name in order if name in one.parameters})
        for one in expanded
    )


def _rows_at(
    rows: Sequence[Mapping[str, ParameterValue]], asked: Mapping[str, tuple[ParameterValue, ...]]
) -> tuple[int, Iterable[Mapping[str, ParameterValue]]]:
    """The listed cases that have the requested values, and new ones for values that none has.

    A listed case with these values is kept as it is, since its other values belong to them. A new
    value is combined with everything that is listed for the other parameters. The number of all
    cases is returned first, since the cases are made one by one and may be very many.
    """
    wanted = {name: frozenset(values) for name, values in asked.items()}
    agreeing = [row for row in rows if all(row[name] in wanted[name] for name in wanted)]
    present = {name: {row[name] for row in agreeing} for name in asked}
    remaining = [{k: v for k, v in row.items() if k not in asked} for row in rows]
    others = {frozenset(row.items()): row for row in remaining}.values()
    new = math.prod(map(len, asked.values())) - math.prod(map(len, present.values()))
    made = (
        {**other, **dict(zip(asked, values, strict=True))}
        for other in (others if new else ())
        for values in itertools.product(*asked.values())
        if any(value not in present[name] for name, value in zip(asked, values, strict=True))
    )
    return len(agreeing) + new * len(others), itertools.chain(agreeing, made)
