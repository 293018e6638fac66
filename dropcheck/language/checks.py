"""The check: every error of a claim that is known before any draw, but of large fixed arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from dropcheck.claims.registry import Case, Claim, Registry
from dropcheck.claims.values import parameter_text
from dropcheck.errors import MOST_PROBLEMS, About, DropcheckError, Location, Problem, at_most
from dropcheck.language.cases import CaseGraphs, ParsedClaim, used_names
from dropcheck.records import dataclass


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found: errors, and notes that stop nothing."""

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]


def check_registry(registry: Registry, graphs: CaseGraphs | None = None) -> Checked:
    """Check every case of every claim.

    Args:
        registry: the claims.
        graphs: keeps what is built here for whoever judges the cases.
    """
    graphs = graphs or CaseGraphs(keep=0)
    return _merged(check_claim(claim, claim.expand(), graphs) for claim in registry.claims.values())


def check_cases(
    cases: Sequence[Case],
    graphs: CaseGraphs | None = None,
    options: Mapping[str, str] | None = None,
) -> Checked:
    """Check cases, which may have values that no file holds.

    Args:
        cases: what to check.
        graphs: keeps what is built here for whoever judges the cases.
        options: parameters and what sets them in place of the file, such as `--law`: an error
            within a law given there names the option, and no place in the file.
    """
    by_claim: dict[str, list[Case]] = {}
    for case in cases:
        by_claim.setdefault(case.claim.id, []).append(case)
    graphs, given = graphs or CaseGraphs(keep=0), options or {}
    return _merged(check_claim(found[0].claim, found, graphs, given) for found in by_claim.values())


def check_claim(
    claim: Claim,
    cases: Sequence[Case],
    graphs: CaseGraphs | None = None,
    options: Mapping[str, str] | None = None,
) -> Checked:
    """Check some cases of one claim; a problem that only some have says which.

    The arguments are those of `check_cases`.
    """
    graphs = graphs or CaseGraphs(keep=0)
    try:
        parsed = graphs.parsed(claim)
    except DropcheckError as error:
        return Checked(error.problems, ())
    given = {name: Location(option) for name, option in (options or {}).items()}
    located = _with_places(parsed, given)
    found: dict[Problem, list[Case]] = {}
    notes: dict[Problem, None] = {}
    for case in cases:
        try:
            elsewhere = any(isinstance(case.parameters.get(name), str) for name in given)
            lowered = graphs.checked(case, located if elsewhere else None)
        except DropcheckError as error:
            for problem in error.problems:
                found.setdefault(problem, []).append(case)
            if len(found) >= MOST_PROBLEMS:
                break
        else:
            notes.update(dict.fromkeys(lowered.notes))
    for problem in _unused(parsed, claim):
        notes[problem] = None
    problems = [_named(problem, claim, where, len(cases)) for problem, where in found.items()]
    options_given = frozenset(place.file for place in given.values())
    return Checked(_of_options(problems, options_given), _of_options(notes, options_given))


def _with_places(parsed: ParsedClaim, places: Mapping[str, Location]) -> ParsedClaim:
    """The claim with some of its parameters standing elsewhere."""
    claim = parsed.claim
    claim = dataclasses.replace(claim, parameter_locations={**claim.parameter_locations, **places})
    return ParsedClaim(claim, parsed.model, parsed.statement, parsed.requires)


def _of_options(problems: Iterable[Problem], options: frozenset[str]) -> tuple[Problem, ...]:
    """Problems of which those that stand in an option's text name it, and have no place."""
    return tuple(
        Problem(f"{problem.location.file}: {problem.message}", hint=problem.hint)
        if problem.location is not None and problem.location.file in options
        else problem
        for problem in problems
    )


def _named(problem: Problem, claim: Claim, where: Sequence[Case], cases: int) -> Problem:
    """The problem with the claim and the case in its message, where it comes from values."""
    everywhere = len(where) == cases and problem.about is not About.VALUES
    if problem.about is About.NAMED_VALUES or everywhere:
        return problem
    values = parameter_text(where[0].parameters)
    named = f"{claim.id} with {values}" if values else claim.id
    more = f", and {len(where) - 1} more" if len(where) > 1 else ""
    return dataclasses.replace(problem, message=f"{problem.message} ({named}{more})")


def _unused(parsed: ParsedClaim, claim: Claim) -> Iterable[Problem]:
    used = used_names(parsed)
    for name in claim.parameter_names:
        if name not in used:
            yield Problem(
                f"the parameter {name!r} of {claim.id} is not used",
                claim.parameter_locations.get(name, claim.location),
                "take it out, or use it in 'model' or 'claim'",
            )
    for line in parsed.model:
        for node in line.names:
            if node.name not in used:
                yield Problem(
                    f"the model's {node.name!r} is not used",
                    node.at.location,
                    "take it out, or use it in 'claim'",
                )


def _merged(parts: Iterable[Checked]) -> Checked:
    found: list[Checked] = []
    for part in parts:
        found.append(part)
        if sum(len(one.problems) for one in found) >= MOST_PROBLEMS:
            break
    return Checked(
        at_most(problem for part in found for problem in part.problems),
        tuple(note for part in found for note in part.notes),
    )
