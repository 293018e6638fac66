"""The check: every error of a claim that can be found without draws and large fixed arrays."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dropcheck.claims.registry import DTYPE, Case, Claim, Registry, SourceText
from dropcheck.claims.select import option_of, select
from dropcheck.claims.values import NUMBER_FORMATS, WORDS, parameter_text
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
    CaseGraphs,
    ParsedClaim,
    check_requires,
    context_of,
    define_parameters,
)
from dropcheck.language.hints import LONGEST_SHOWN, name_hint, slip_of
from dropcheck.language.lowering.builder import Scope, Skipped
from dropcheck.language.lowering.calls import unknown_function
from dropcheck.language.lowering.draws import unknown_law
from dropcheck.language.lowering.loops import SLOT_HOME
from dropcheck.language.lowering.statements import note_on_within
from dropcheck.language.parser import model_lines, parse_expression
from dropcheck.language.syntax import (
    Call,
    Name,
    Node,
    Position,
    Subscript,
    children,
    expressions_of,
    lines_of,
    loops_of,
    names_in,
    walk,
)
from dropcheck.results import ParameterValue
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.function import slot_and_mode
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

_CALLED = frozenset({*FUNCTIONS, *OPERATORS, *OF_LAWS, *LAWS})


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found: errors, and notes, which do not stop a run.

    `unfit` holds the keys of cases that the number format rules out; a note says so.
    """

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    unfit: frozenset[str] = frozenset()


def check_registry(registry: Registry, graphs: CaseGraphs | None = None) -> Checked:
    """Check every case of every claim.

    Args:
        registry: the claims.
        graphs: stores the graphs that are built here, for whoever judges the cases.
    """
    graphs = graphs or CaseGraphs(keep=0)
    claims = registry.claims.values()
    used = used_places(claims, graphs)
    of_claims = (check_claim(claim, claim.expand(), graphs, used=used) for claim in claims)
    merged = _merged(itertools.chain(of_claims, _check_slots(claims)))
    return dataclasses.replace(merged, notes=(*merged.notes, *registry.notes))


def notes_on_resolutions(registry: Registry) -> Iterator[Problem]:
    """Notes on absolute resolutions that may be meant as tolerances, for claims without errors."""
    graphs = CaseGraphs(keep=0)
    for claim in registry.claims.values():
        if claim.within is not None:
            with suppress(DropcheckError):
                first = graphs.checked(claim.expand()[0])
                note = note_on_within(claim, graphs.parsed(claim).statement, first.operands)
                yield from () if note is None else (note,)


def check_cases(
    cases: Sequence[Case],
    graphs: CaseGraphs | None = None,
    options: Mapping[str, str] | None = None,
    used: Collection[Place] = frozenset(),
) -> Checked:
    """Check cases, which may have parameter values that are not in the file.

    Args:
        cases: what to check.
        graphs: stores the graphs that are built here, for whoever judges the cases.
        options: parameters that an option sets, and the option, such as `--law`: an error in a law
            given there names the option instead of a place in the file.
        used: places of names that other claims use, from `used_places`.
    """
    by_claim: dict[str, list[Case]] = {}
    for case in cases:
        by_claim.setdefault(case.claim.id, []).append(case)
    graphs, groups = graphs or CaseGraphs(keep=0), by_claim.values()
    of_claims = (check_claim(own[0].claim, own, graphs, options, used) for own in groups)
    return _merged(itertools.chain(of_claims, _check_slots(one.claim for one in cases)))


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
    """The selected cases, after a check of the whole registry.

    Args:
        registry: the claims.
        graphs: stores what the check builds: nothing is read again to judge the cases.
        patterns: with the rest as for `select`.
        tags: as for `select`.
        overrides: as for `select`.

    Raises:
        DropcheckError: for every error of the registry, or of the values given for parameters.
        NothingSelected: no claim has such an id and such a tag.
    """
    checked = check_registry(registry, graphs)
    cases: tuple[Case, ...] = ()
    if not checked.problems:
        cases = select(registry, patterns, tags, overrides)
    if overrides or len({case.claim.id for case in cases}) < len(registry.claims):
        options = {name: option_of(name) for name in overrides or {}}
        own = check_cases(cases, graphs, options, used_places(registry.claims.values(), graphs))
        of_code = [note for note in registry.notes if note.location is None]
        problems = checked.problems or _of_values(own.problems, overrides or {})
        checked = dataclasses.replace(own, problems=problems, notes=(*of_code, *own.notes))
    if checked.problems:
        raise DropcheckError(in_file_order(checked.problems))
    cases = tuple(case for case in cases if case.key not in checked.unfit)  # by number format
    if not cases:
        raise DropcheckError(checked.notes)
    graphs.keep_only(cases)
    return Chosen(registry=registry, cases=cases, notes=in_file_order(checked.notes), graphs=graphs)


def _of_values(problems: Sequence[Problem], overrides: Mapping[str, str]) -> tuple[Problem, ...]:
    """Problems that the claims have with given values alone: each names the options."""
    given = " ".join(
        f"{option_of(name)} {text[:LONGEST_SHOWN]}" for name, text in overrides.items()
    )
    return tuple(
        dataclasses.replace(one, message=f"{one.message}, with {given}")
        if one.location is not None and overrides
        else one
        for one in problems
    )


def check_claim(
    claim: Claim,
    cases: Sequence[Case],
    graphs: CaseGraphs,
    options: Mapping[str, str] | None = None,
    used: Collection[Place] = frozenset(),
) -> Checked:
    """Check some cases of one claim. A problem that only some cases have says which.

    The arguments are those of `check_cases`.
    """
    try:
        parsed = graphs.parsed(claim)
    except DropcheckError as error:
        return Checked(tuple(dict.fromkeys((*error.problems, *_unread(claim)))), ())
    given = {name: Location(option) for name, option in (options or {}).items()}
    located = _with_places(parsed, given)
    cases_by_problem: dict[Problem, list[Case]] = {}
    notes: dict[Problem, None] = {}
    unfit: set[str] = set()
    for case in cases:
        try:
            elsewhere = any(isinstance(case.parameters.get(name), str) for name in given)
            lowered = graphs.checked(case, located if elsewhere else None)
        except DropcheckError as error:
            if _only_rounded(parsed, case):
                notes.update((_rounded(problem, case), None) for problem in error.problems)
                unfit.add(case.key)
                continue
            for problem in error.problems:
                cases_by_problem.setdefault(problem, []).append(case)
            if len(cases_by_problem) >= MOST_PROBLEMS:
                break
        else:
            notes.update(dict.fromkeys(lowered.notes))
    for problem in _unused(parsed, claim):
        if _place(problem.location) not in used:
            notes[problem] = None
    problems = [
        _named(problem, claim, where, len(cases)) for problem, where in cases_by_problem.items()
    ]
    options_given = frozenset(place.file for place in given.values())
    return Checked(
        _of_options(problems, options_given), _of_options(notes, options_given), frozenset(unfit)
    )


def _only_rounded(parsed: ParsedClaim, case: Case) -> bool:
    """Whether a case breaks a condition of its claim only because its parameters are rounded."""
    return (
        case.claim.column is not None
        and _breaks(parsed, case.parameters)
        and not _breaks(parsed, case.parameters, rounded=False)
    )


def _breaks(
    parsed: ParsedClaim, parameters: Mapping[str, ParameterValue], *, rounded: bool = True
) -> bool:
    """Whether parameters break a condition of their claim, rounded for code or not."""
    if not rounded:
        parsed = dataclasses.replace(parsed, claim=dataclasses.replace(parsed.claim, column=None))
    context = context_of(parsed, parameters, DEFAULT_MEMORY, postpone=True)
    # other problems of a condition are reported with the case
    define_parameters(parsed, context, parameters, [])
    return check_requires(parsed, context, parameters, [])


def _rounded(problem: Problem, case: Case) -> Problem:
    """The note that such a case is left out of the run."""
    message = f"{problem.message}, which {case.dtype} does not tell from a value that breaks it"
    return dataclasses.replace(problem, message=f"{message}: it is left out")


def _unread(claim: Claim) -> Iterator[Problem]:
    """The problems of a claim of which some texts cannot be parsed, and its undefined names."""
    names = [*claim.parameter_names, *(claim.sample.shapes if claim.sample is not None else ())]
    scope = Scope()
    scope.claim = claim
    texts = (claim.statement, *claim.requires)
    return _loose(scope, names, claim.model, texts, claim.slots)


def _check_slots(claims: Iterable[Claim]) -> Iterator[Checked]:
    """Check the texts of all slots, also those that no claim asks for, such as a gradient."""
    own = {one.location: (one, claim.slots) for claim in claims for one in claim.slots.values()}
    for slot, slots in own.values():
        scope = Scope()
        scope.home = SLOT_HOME
        texts = (slot.gives, slot.law, slot.evaluation, slot.gradient)
        known = _loose(scope, slot.takes, slot.model, filter(None, texts), slots)
        yield Checked(tuple(known), ())


def _loose(
    scope: Scope,
    names: Sequence[str],
    model: SourceText | None,
    texts: Iterable[SourceText],
    slots: Collection[str],
) -> Iterator[Problem]:
    """The problems of texts that are parsed only, with the names in them that are not known.

    Every word of a text that cannot be parsed may be defined by it, so it is not reported.
    """
    lines, unread = ((), ()) if model is None else model_lines(model)
    nodes: list[Node] = [node for loop in loops_of(lines) for node in loop.over]
    for line in lines_of(lines):
        law = line.right.base if isinstance(line.right, Subscript) else line.right
        if line.drawn and isinstance(law, Call) and law.name not in {*LAWS, *slots}:
            yield from unknown_law(law).problems
            nodes += children(law)
        else:
            nodes.append(line.right)
    for text in texts:
        try:
            nodes.append(parse_expression(text))
        except DropcheckError as error:
            yield from error.problems if scope.claim is None else ()  # else it is reported
    for one in unread:
        yield from one.problems
    nowhere = Position(SourceText.plain(""), 0, 0)
    scope.mark_broken(Name(nowhere, name) for name in names)
    scope.mark_broken(name for line in lines_of(lines) for name in line.names)
    scope.mark_broken(loop.name for loop in loops_of(lines))
    unsure = {word for one in unread for word in WORDS.findall(one.text)} | {*LAWS, *CONSTANTS}
    # names in lines that cannot be parsed may not be definitions: do not list them
    listed = [*names, *unsure] if unread else None
    called = _CALLED | set(slots)
    for node in walk(*nodes):
        try:
            if isinstance(node, Name) and node.name not in unsure:
                if listed is not None and node.name not in scope:
                    hint = name_hint(node.name, listed)
                    raise node.at.error(f"{node.name!r} is not defined", hint)
                scope.look_up(node.name, node.at)
            elif isinstance(node, Call) and not {node.name, slot_and_mode(node.name)[0]} & called:
                raise unknown_function(node)
        except Skipped:
            continue
        except DropcheckError as error:
            yield from error.problems


def _with_places(parsed: ParsedClaim, places: Mapping[str, Location]) -> ParsedClaim:
    """The claim with other places for some of its parameters, and nothing parsed from the old."""
    claim = parsed.claim
    claim = dataclasses.replace(claim, parameter_locations={**claim.parameter_locations, **places})
    return dataclasses.replace(parsed, claim=claim, _names={}, _laws={})


def _of_options(problems: Iterable[Problem], options: frozenset[str]) -> tuple[Problem, ...]:
    """The problems; those located in an option's text name the option and have no place."""
    return tuple(
        Problem(f"{problem.location.file}: {problem.message}", hint=problem.hint)
        if problem.location is not None and problem.location.file in options
        else problem
        for problem in problems
    )


def _named(problem: Problem, claim: Claim, where: Sequence[Case], cases: int) -> Problem:
    """The problem; if it depends on parameter values, its message names the claim and a case."""
    everywhere = len(where) == cases and problem.about is not About.VALUES
    if problem.about is About.NAMED_VALUES or everywhere:
        return problem
    values = parameter_text(where[0].parameters)
    named = f"{claim.entry} with {values}" if values else claim.entry
    more = f", and {len(where) - 1} more" if len(where) > 1 else ""
    return dataclasses.replace(problem, message=f"{problem.message} ({named}{more})")


def _unused(parsed: ParsedClaim, claim: Claim) -> Iterable[Problem]:
    used = used_names(parsed)
    for name in claim.parameter_names:
        if name not in used:
            from dropcheck.claims.claimsfile import ClaimKeys  # imported late: it is pydantic

            hint = slip_of(name, ClaimKeys.model_fields)
            hint = hint or "take it out, or use it in 'model' or 'claim'"
            place = claim.parameter_locations.get(name, claim.location)
            yield Problem(f"the parameter {name!r} of {claim.entry} is not used", place, hint)
    for line in lines_of(parsed.model):
        for node in line.names:
            if node.name not in used:
                hint = "take it out, or use it in 'claim'"
                yield Problem(f"the model's {node.name!r} is not used", node.at.location, hint)


Place = tuple[str, int | None, int | None]


def _place(at: Location | None) -> Place | None:
    return None if at is None else (at.file, at.line, at.column)


def used_places(claims: Iterable[Claim], graphs: CaseGraphs) -> frozenset[Place]:
    """The places, in parameters and models, of all names that some claim uses.

    A name may be used by one claim only, if claims share a model, or statements their parameters.
    """
    places_used: set[Place | None] = set()
    for claim in claims:
        try:
            parsed = graphs.parsed(claim)
        except DropcheckError:
            continue
        used = used_names(parsed)
        names = [name for line in lines_of(parsed.model) for name in line.names]
        places_used |= {_place(name.at.location) for name in names if name.name in used}
        places = claim.parameter_locations
        places_used |= {_place(places[name]) for name in places if name in used}
    return frozenset(filter(None, places_used))


def _merged(parts: Iterable[Checked]) -> Checked:
    kept: list[Checked] = []
    count = 0
    for part in parts:
        kept.append(part)
        count += len(part.problems)
        if count >= MOST_PROBLEMS:
            break
    return Checked(
        at_most(dict.fromkeys(problem for part in kept for problem in part.problems)),
        tuple(dict.fromkeys(note for part in kept for note in part.notes)),
        frozenset().union(*(part.unfit for part in kept)),
    )


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
