"""The check: every error of a claim that can be found without draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dropcheck.claims.registry import DTYPE, Case, Claim, Registry
from dropcheck.claims.select import option_of, select
from dropcheck.claims.values import NUMBER_FORMATS, parameter_text
from dropcheck.errors import (
    MOST_PROBLEMS,
    About,
    DropcheckError,
    Location,
    Problem,
    at_most,
    in_file_order,
)
from dropcheck.language.compile import (
    BrokenCondition,
    CaseGraphs,
    ParsedClaim,
    lower_case,
    parse_claim,
)
from dropcheck.language.hints import LONGEST_SHOWN, slip_of
from dropcheck.language.parser import model_lines, parse_expression
from dropcheck.language.syntax import (
    expressions_of,
    lines_of,
    names_in,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check found: errors, and notes, which do not stop a run.

    `unfit` holds the keys of cases that the number format rules out; a note says so.
    """

    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()
    unfit: frozenset[str] = frozenset()
    alone: tuple[Problem, ...] = ()  # of claims of code alone, where none is bound


def check_registry(registry: Registry, graphs: CaseGraphs | None = None) -> Checked:
    """Check every case of every claim.

    `graphs` stores the graphs that are built here, for whoever judges the cases.
    """
    checked = check_cases(registry.expand(), graphs, registry)
    return dataclasses.replace(checked, notes=(*checked.notes, *registry.notes))


def check_cases(
    cases: Sequence[Case], graphs: CaseGraphs | None = None, registry: Registry | None = None
) -> Checked:
    """Check cases, which may have parameter values that are not in the file.

    `graphs` stores the graphs that are built here, for whoever judges the cases. Other claims of
    the `registry` may use what those of the cases do not.
    """
    graphs = graphs or CaseGraphs()
    by_claim: dict[str, list[Case]] = {}
    for case in cases:
        by_claim.setdefault(case.claim.id, []).append(case)
    claims = {own[0].claim.id: own[0].claim for own in by_claim.values()}
    known = {} if registry is None else registry.claims
    parts = [_check_slots(claims.values())]
    for own in by_claim.values():
        parts.append(_check_claim(own[0].claim, own, graphs))
        if sum(len(part.problems) for part in parts) >= MOST_PROBLEMS:
            break
    parts.append(_unused([known.get(one, claims[one]) for one in claims], known.values()))
    return Checked(
        problems=at_most(dict.fromkeys(problem for part in parts for problem in part.problems)),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        unfit=frozenset().union(*(part.unfit for part in parts)),
        alone=tuple(problem for part in parts for problem in part.alone),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The cases to work on, the notes of their check, and the graphs that it built of them."""

    registry: Registry
    cases: tuple[Case, ...]
    notes: tuple[Problem, ...]
    graphs: CaseGraphs


def choose(
    registry: Registry,
    graphs: CaseGraphs,
    patterns: Sequence[str] = (),
    tags: Sequence[str] = (),
    overrides: Mapping[str, str] | None = None,
) -> Chosen:
    """The selected cases, once their claims are checked; other claims' texts are not looked at.

    `graphs` stores what the check builds; the rest is as for `select`.

    Raises:
        DropcheckError: for every error of these claims, or of the values given for parameters.
        NothingSelected: no claim has such an id and such a tag.
    """
    cases = select(registry, patterns, tags, overrides)
    checked = check_cases([_located(case, overrides or {}) for case in cases], graphs, registry)
    if checked.problems:
        written = check_cases(select(registry, patterns, tags)) if overrides else checked
        raise DropcheckError(
            in_file_order(written.problems or _of_values(checked.problems, overrides or {}))
        )
    whole = not overrides and len({case.claim.id for case in cases}) == len(registry.claims)
    of_file = [note for note in registry.notes if whole or note.location is None]
    # some are unfit for a number format, or of code alone
    cases = tuple(case for case in cases if case.key not in checked.unfit)
    if not cases:
        raise DropcheckError(checked.alone or in_file_order((*checked.notes, *of_file)))
    beside = dict.fromkeys(note for case in cases for note in _wrong_beside(case, graphs))
    notes = in_file_order((*checked.notes, *of_file, *beside))
    if checked.alone:
        message = "claims of code alone are left out: no code is bound to their slots"
        notes = (*notes, Problem(message, hint="name it: --with mine:SLOT=MODULE:FUNCTION"))
    return Chosen(registry=registry, cases=cases, notes=notes, graphs=graphs)


def _wrong_beside(case: Case, graphs: CaseGraphs) -> Iterator[Problem]:
    """A note on each statement that has an error and would share the draws of a case."""
    parsed = parse_claim(case.claim)
    shared = graphs.lowered(case).beside if parsed.beside else ()
    for place, (stated, own) in enumerate(zip(parsed.stated, parsed.sharing, strict=True)):
        if parsed.beside[place] is None or (own and shared and shared[place] is None):
            message = f"{stated.id!r} has an error, and does not run"
            at = stated.statement.locate(0, 0)
            yield Problem(message, at, "dropcheck check tells every error of a file")


def _located(case: Case, overrides: Mapping[str, str]) -> Case:
    """The case, with the options in place of the places in the file of laws that they give."""
    laws = [name for name in overrides if isinstance(case.parameters.get(name), str)]
    given = {name: Location(option_of(name)) for name in laws}
    places = {**case.claim.parameter_locations, **given}
    claim = dataclasses.replace(case.claim, parameter_locations=places) if given else case.claim
    return Case(claim, case.parameters)


def _of_values(problems: Sequence[Problem], overrides: Mapping[str, str]) -> tuple[Problem, ...]:
    """Problems that the claims have with given values alone: each names the options."""
    given = " ".join(
        f"{option_of(name)} {text[:LONGEST_SHOWN]}" for name, text in overrides.items()
    )

    def named(one: Problem) -> Problem:
        if one.location is None or not given:
            return one
        if one.location.line is None:  # it is in the text of an option
            return Problem(f"{one.location.file}: {one.message}", hint=one.hint)
        return dataclasses.replace(one, message=f"{one.message}, with {given}")

    return tuple(map(named, problems))


def _check_claim(claim: Claim, cases: Sequence[Case], graphs: CaseGraphs) -> Checked:
    """Check some cases of one claim. A problem that only some cases have says which."""
    try:
        parse_claim(claim)
    except DropcheckError:
        return Checked(problems=tuple(_beside_unread(claim, cases[0])))
    cases_by_problem: dict[Problem, list[Case]] = {}
    notes: dict[Problem, None] = {}
    unfit: set[str] = set()
    alone: dict[Problem, None] = {}
    for case in cases:
        try:
            graphs.lowered(case)
        except BrokenCondition as error:
            if case.dtype is None:
                cases_by_problem.setdefault(error.problems[0], []).append(case)
                continue
            unfit.add(case.key)
            for problem in error.problems:
                message = f"{problem.message} breaks it in {case.dtype}: it is left out"
                notes[dataclasses.replace(problem, message=message)] = None
        except DropcheckError as error:
            wrong = _of_claim(error)
            if not wrong:
                unfit.add(case.key)
                alone.update(dict.fromkeys(error.problems))
                continue
            for problem in wrong:
                cases_by_problem.setdefault(problem, []).append(case)
            if len(cases_by_problem) >= MOST_PROBLEMS:
                break
    return Checked(
        problems=tuple(
            _named(problem, claim, where, len(cases)) for problem, where in cases_by_problem.items()
        ),
        notes=tuple(notes),
        unfit=frozenset(unfit),
        alone=tuple(alone),
    )


def _beside_unread(claim: Claim, case: Case) -> Iterator[Problem]:
    """What is wrong with a claim of which some texts cannot be parsed: in those and in the rest."""
    parsed = parse_claim(claim, whole=False)
    yield from parsed.problems
    try:
        lower_case(parsed, case.parameters)
    except DropcheckError as error:
        yield from _of_claim(error)


def _of_claim(error: DropcheckError) -> list[Problem]:
    """Its problems, but for those of code that is not bound: these are none of the claim."""
    return [one for one in error.problems if one.about is not About.NO_CODE]


def _check_slots(claims: Iterable[Claim]) -> Checked:
    """Parse the texts of all slots, also those that no claim asks for, such as a gradient."""
    slots = {one.location: one for claim in claims for one in claim.slots.values()}
    problems: list[Problem] = []
    for slot in slots.values():
        _, unread = ((), ()) if slot.model is None else model_lines(slot.model)
        problems += [problem for line in unread for problem in line.problems]
        for text in (slot.gives, slot.law, slot.evaluation, slot.gradient):
            try:
                _ = text and parse_expression(text)
            except DropcheckError as error:
                problems += error.problems
    return Checked(problems=tuple(problems))


def _named(problem: Problem, claim: Claim, where: Sequence[Case], cases: int) -> Problem:
    """The problem; if it depends on parameter values, its message names the claim and a case."""
    everywhere = len(where) == cases and problem.about is not About.VALUES
    if problem.about is About.NAMED_VALUES or everywhere:
        return problem
    values = parameter_text(where[0].parameters)
    named = f"{claim.entry} with {values}" if values else claim.entry
    more = f", and {len(where) - 1} more" if len(where) > 1 else ""
    return dataclasses.replace(problem, message=f"{problem.message} ({named}{more})")


def _unused(claims: Sequence[Claim], others: Iterable[Claim]) -> Checked:
    """Notes on the parameters and names of models of some claims that no claim uses.

    A name may be used by one claim only, if claims share a model, or statements their parameters:
    so other claims are read too, where these leave a name unused.
    """
    used: set[Location] = set()
    unused: dict[Location, Problem] = {}
    listed = {id(claim) for claim in claims}
    for claim in (*claims, *(one for one in others if id(one) not in listed)):
        own = id(claim) in listed
        if not (own or unused.keys() - used):
            break
        try:
            parsed = parse_claim(claim)
        except DropcheckError:
            continue
        names = used_names(parsed)
        for name in claim.parameter_names:
            place = claim.parameter_locations.get(name, claim.location)
            if name in names:
                used.add(place)
            elif own:
                from dropcheck.claims.claimsfile import ClaimKeys  # imported late: it is pydantic

                hint = slip_of(name, ClaimKeys.model_fields)
                hint = hint or "take it out, or use it in 'model' or 'claim'"
                message = f"the parameter {name!r} of {claim.entry} is not used"
                unused[place] = Problem(message, place, hint)
        for one in (name for line in lines_of(parsed.model) for name in line.names):
            if one.name in names:
                used.add(one.at.location)
            elif own:
                place, hint = one.at.location, "take it out, or use it in 'claim'"
                unused[place] = Problem(f"the model's {one.name!r} is not used", place, hint)
    return Checked(notes=tuple(note for place, note in unused.items() if place not in used))


def used_names(parsed: ParsedClaim) -> set[str]:
    """Every name in the claim's texts and in the laws that are its parameter values."""
    claim = parsed.claim
    values = [(name, value) for name, grid in claim.parameters.items() for value in grid]
    values += [one for row in claim.cases or () for one in row.items()]
    roots = [*parsed.statement.operands, *parsed.requires, *expressions_of(parsed.model)]
    for name, text in dict.fromkeys((n, v) for n, v in values if isinstance(v, str)):
        if text in NUMBER_FORMATS:
            continue
        with suppress(DropcheckError):  # reported with the case
            roots.append(parsed.law(name, text))
    code = {DTYPE} if claim.slots else set()  # the number format in which code computes
    if claim.sample is not None:
        code |= claim.sample.takes
    return code | names_in(*roots)
