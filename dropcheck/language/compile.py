"""A claim's texts as syntax trees, and the typed graph of each of its cases."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from dropcheck.claims.registry import DTYPE, Case, Claim, SourceText, Stated
from dropcheck.claims.values import NUMBER_FORMATS, WORDS, parameter_text
from dropcheck.errors import MOST_PROBLEMS, About, DropcheckError, Location, Problem, at_most
from dropcheck.language.alike import is_event
from dropcheck.language.graph import LawClaim, Value
from dropcheck.language.hints import law_hint
from dropcheck.language.lowering.builder import Context, Skipped, Slots
from dropcheck.language.lowering.lower import lower
from dropcheck.language.lowering.model import (
    counts_draws,
    define_model,
    define_parameter,
    define_sampled,
    names_given,
)
from dropcheck.language.lowering.statements import (
    check_range,
    check_tolerance,
    law_claim,
    statement_sides,
)
from dropcheck.language.parser import model_lines, parse_expression, parse_statement
from dropcheck.language.syntax import (
    Call,
    Model,
    Name,
    Node,
    Number,
    Position,
    Statement,
    always,
    expressions_of,
    lines_of,
    names_in,
    unsigned,
)
from dropcheck.results import ParameterValue
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.laws import LAWS

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class ParsedClaim:
    """A claim's texts as syntax trees."""

    claim: Claim
    model: Model
    statement: Statement
    requires: tuple[Node, ...]
    # all statements of the claim if it has several, including this one; None for each that cannot
    # be parsed
    beside: tuple[Statement | None, ...] = ()
    problems: tuple[Problem, ...] = ()  # of the texts that cannot be parsed
    unsure: frozenset[str] = frozenset()  # words of lines of the model that cannot be parsed

    @property
    def stated(self) -> tuple[Stated, ...]:
        """All statements of the claim if it has several."""
        return () if self.claim.family is None else self.claim.family.statements

    @property
    def single(self) -> bool:
        """Whether each draw is one call of code, as claims on laws and quantiles need."""
        return self._single(self.statement)

    @property
    def sharing(self) -> tuple[Statement | None, ...]:
        """All statements of the claim; None for those that need draws of the other kind."""
        own = self.single
        return tuple(one if one and self._single(one) == own else None for one in self.beside)

    def _single(self, statement: Statement) -> bool:
        return self.claim.column is not None and counts_draws(statement)

    def uses(self, parameter: str) -> bool:
        """Whether the model, or a side of the statement that is more than its name, has it."""
        sides = [one for one in self.statement.operands if not isinstance(unsigned(one), Name)]
        return parameter in names_in(*expressions_of(self.model), *sides)

    def parameter(self, name: str) -> Name:
        """A parameter's name, at its place in the file."""
        source = SourceText.placed(name, (0, self._place(name)))
        return Name(Position(source, 0, 0), name)

    def law(self, name: str, text: str) -> Call:
        """The law that is the value of a parameter.

        Raises:
            DropcheckError: the text is not a law; the error is at the parameter's place.
        """
        return parse_law(text, self._place(name))

    def _place(self, name: str) -> Location:
        return self.claim.parameter_locations.get(name, self.claim.location)


@dataclass(frozen=True, slots=True)
class LoweredCase:
    """One case: the operands of its statement as graph values, ready to compile.

    If the statement compares arrays entry by entry, `operands` are the operands of each entry, one
    entry after another, and `entries` are the indices.
    """

    operators: tuple[str, ...]
    operands: tuple[Value, ...]
    at: Position
    size: int  # approximate, in bytes
    # if the claim has several statements: all of them, lowered in one graph; None for those that
    # have an error or make other draws. `place` is the position of this one among them
    beside: tuple[LoweredCase | None, ...] = ()
    place: int = 0
    entries: tuple[tuple[int, ...], ...] = ()
    # set if the statement is about laws; the operands are then the quantities it names
    law: LawClaim | None = None

    def of_entry(self, place: int) -> LoweredCase:
        """The statement of one entry by itself."""
        count = len(self.operators) + 1
        own = self.operands[place * count : (place + 1) * count]
        return dataclasses.replace(self, operands=own, entries=())


class BrokenCondition(DropcheckError):  # noqa: N818 - the problems say what it is
    """Parameters for which a condition of their claim is false."""


def parse_claim(claim: Claim, *, whole: bool = True) -> ParsedClaim:
    """Parse the texts of a claim; unless the `whole` is wanted, those that can be parsed.

    Raises:
        DropcheckError: with the problems of all its texts.
    """
    problems: list[Problem] = []

    def read(parse: Callable[[SourceText], _Read], text: SourceText) -> _Read | None:
        try:
            return parse(text)
        except DropcheckError as error:
            problems.extend(error.problems)
        return None

    model, unread = ((), ()) if claim.model is None else model_lines(claim.model)
    problems += at_most(problem for one in unread for problem in one.problems)
    statement = read(parse_statement, claim.statement)
    if statement is not None and claim.tolerance is not None and statement.operators != ("==",):
        message = "'tolerance' needs a claim of the form 'L == R'"
        hint = "put the tolerance into the numbers of the claim; laws have a 'resolution'"
        problems.append(Problem(message, statement.at.location, hint))
    requires = [read(parse_expression, text) for text in claim.requires]
    if problems and whole:
        raise DropcheckError(problems)
    statement = statement or always(Number(Position(claim.statement, 0, 0), 1.0))
    found = tuple(problems)
    stated = () if claim.family is None else claim.family.statements
    beside = tuple(read(parse_statement, one.statement) for one in stated)  # reported with theirs
    if beside:
        statement = beside[claim.place] or statement
    return ParsedClaim(
        claim=claim,
        model=model,
        statement=statement,
        requires=tuple(filter(None, requires)),
        beside=beside if whole else (),
        problems=found,
        unsure=frozenset(word for one in unread for word in WORDS.findall(one.text)),
    )


@lru_cache(4096)
def parse_law(text: str, at: Location) -> Call:
    """Parse a law that is given as a parameter's value.

    Raises:
        DropcheckError: the text is not a law; the error is at the parameter's place.
    """
    source = SourceText.placed(text, (0, at))
    try:
        node = parse_expression(source)
    except DropcheckError as error:
        raise DropcheckError(
            Problem(f"{text!r} is not a law: {p.message}", at, p.hint) for p in error.problems
        ) from None
    name = node.name if isinstance(node, Call) else text
    if not isinstance(node, Call) or name not in LAWS:
        hint = law_hint(name)
        if not isinstance(node, Call) or name in FUNCTIONS:
            hint = "a parameter is a number or a law, such as normal(0, 1): compute in 'model'"
        raise DropcheckError(Problem(f"{name!r} is not a law", at, hint))
    return node


def lower_case(
    parsed: ParsedClaim,
    parameters: Mapping[str, ParameterValue],
    memory: int = DEFAULT_MEMORY,
) -> LoweredCase:
    """The typed graph of one case.

    One draw may take so many bytes of `memory`, together with all fixed values.

    Raises:
        DropcheckError: with every problem of the case.
    """
    claim = parsed.claim
    context = context_of(parsed, parameters, memory)
    context.scope.unsure = parsed.unsure
    problems = define_names(parsed, context, parameters)
    broken = check_requires(parsed, context, parameters, problems)
    if broken:  # the errors that the condition guards against would be reported too
        raise BrokenCondition(problems)
    problems.extend(define_model(context, parsed.model))
    if len(problems) >= MOST_PROBLEMS:
        raise DropcheckError(at_most(problems))
    context.formula = claim.formula  # not set before: a model is never written as a formula
    all_lowered: list[LoweredCase | None] = []
    stated = zip(parsed.sharing, (one.tolerant for one in parsed.stated), strict=True)
    alone = ((parsed.statement, claim.tolerance is not None),)
    for statement, tolerant in stated if parsed.beside else alone:
        context.certain = statement is not None and statement.certain and not tolerant
        try:  # in the order of the file, whichever statement is judged: they share one graph
            all_lowered.append(_stated(context, statement, parameters, sound=not problems))
        except DropcheckError as error:
            all_lowered.append(None)
            if statement is parsed.statement:
                problems.extend(error.problems)
    if problems:
        raise DropcheckError(problems)
    place = claim.place if parsed.beside else 0
    own = all_lowered[place]
    assert own is not None
    check_tolerance(claim, parsed.statement, own.operands)
    beside = tuple(all_lowered) if len(all_lowered) > 1 else ()
    return dataclasses.replace(own, beside=beside, place=place, size=context.graph.size)


def _stated(
    context: Context,
    statement: Statement | None,
    parameters: Mapping[str, ParameterValue],
    *,
    sound: bool,
) -> LoweredCase | None:
    """Lower a statement in the graph of its model."""
    if statement is None:
        return None
    sides: tuple[Value, ...] = ()
    entries: tuple[tuple[int, ...], ...] = ()
    law = None
    try:
        if statement.about_laws:
            law = law_claim(context, statement)
            sides = law.quantities
        else:
            sides, entries = statement_sides(context, statement, parameters)
    except Skipped:
        pass
    if sound and law is None:
        check_range(statement, sides)
    return LoweredCase(
        operators=statement.operators,
        operands=sides,
        entries=entries,
        at=statement.at,
        size=0,
        law=law,
    )


def context_of(
    parsed: ParsedClaim, parameters: Mapping[str, ParameterValue], memory: int = DEFAULT_MEMORY
) -> Context:
    """The context in which a case is lowered."""
    claim = parsed.claim
    dtype = parameters.get(DTYPE) if claim.slots else claim.sample and claim.sample.dtype
    statements = [one for one in (parsed.statement, *parsed.beside) if one is not None]
    given = names_given(parsed.model, statements, claim.slots) if claim.column is not None else ()
    slots = Slots(
        known=claim.slots,
        column=claim.column,
        dtype=dtype if isinstance(dtype, str) else None,
        given=frozenset(given),
        single=parsed.single,
    )
    return Context(lower, memory, slots)


def define_names(
    parsed: ParsedClaim, context: Context, parameters: Mapping[str, ParameterValue]
) -> list[Problem]:
    """Define the parameters of a case and the names that code draws, and return the problems."""
    problems: list[Problem] = []
    context.scope.claim, sample = parsed.claim, parsed.claim.sample
    for name in (*parameters, *(() if sample is None else sample.shapes)):
        node, value = parsed.parameter(name), parameters.get(name)
        try:
            if value is not None:
                law = isinstance(value, str) and value not in NUMBER_FORMATS
                define_parameter(context, node, parsed.law(name, str(value)) if law else value)
            elif sample is not None:
                define_sampled(context, node, sample)
        except DropcheckError as error:
            problems.extend(error.problems)
            context.scope.mark_broken([node])
    return problems


def check_requires(
    parsed: ParsedClaim,
    context: Context,
    parameters: Mapping[str, ParameterValue],
    problems: list[Problem],
) -> bool:
    """Append to `problems` the conditions on parameters that fail; return whether any fails."""
    broken = False
    for node in parsed.requires:
        try:
            value = context.lower(node)
            if value.shape != ():
                raise node.at.error(
                    f"a condition is one truth, and this has shape {list(value.shape)}",
                    "reduce it with all(…) or any(…)",
                )
        except Skipped:
            continue
        except DropcheckError as error:
            problems.extend(error.problems)
            continue
        known, names = value.known, names_in(node)
        if not isinstance(known, float) or not (known == 0 or math.isnan(known)):
            continue
        broken = True
        text = node.at.source
        used = parameter_text({n: v for n, v in parameters.items() if n in names})
        rounds = not context.slots.given.isdisjoint(names)
        once = f" once they are rounded to {context.slots.dtype}" if rounds else ""
        message = f"and {used}" if used else "which is false of all parameters"
        problems.append(
            Problem(
                f"{parsed.claim.entry} requires {text.text.strip()}, {message}",
                text.locate(0, 0),
                f"choose values for which it holds{once}" if used else "compare parameters in it",
                About.NAMED_VALUES,
            )
        )
    return broken


# ---- case graphs ---------------------------------------------------------------------------------
#
# A cache of lowered cases, so that each is lowered once.


MOST_KEPT = 2**28  # bytes that the graphs of all cases may hold


class CaseGraphs:
    """Lowers each case once: what is checked is what is judged.

    A graph that would bring the total above `keep` bytes is lowered again when it is needed.

    Args:
        memory: bytes that one draw may take, together with all fixed values.
        keep: bytes that all graphs may take together.

    >>> from dropcheck.claims.reader import read_text
    >>> (case,) = read_text(
    ...     "{dropcheck: 1, claims: {c: {title: T, model: 'x ~ normal(0, 1)', claim: E(x) == 0}}}"
    ... ).expand()
    >>> graphs = CaseGraphs()
    >>> graphs.lowered(case) is graphs.lowered(case)
    True
    """

    def __init__(self, memory: int = DEFAULT_MEMORY, keep: int = MOST_KEPT) -> None:
        self.memory = memory
        self.keep = keep
        self._lowered: dict[tuple[str, bool], LoweredCase] = {}
        self._kept = 0  # bytes

    def sharing(self, case: Case) -> tuple[str, bool]:
        """The key of a case's graph: cases with equal keys share one graph and one set of draws.

        Raises:
            DropcheckError: as `parse_claim`.
        """
        return case.stream_key, parse_claim(case.claim).single

    def lowered(self, case: Case) -> LoweredCase:
        """The graph of a case.

        Raises:
            DropcheckError: as `lower_case`.
        """
        parsed = parse_claim(case.claim)
        key = case.stream_key, parsed.single
        stored = self._lowered.get(key)
        own = None if stored is None else _of_statement(stored, parsed)
        if own is None:
            own = lower_case(parsed, case.parameters, self.memory)
            if stored is None and self._kept + own.size <= self.keep:
                self._lowered[key] = own
                self._kept += own.size
        return own

    def beside(self, case: Case, other: LoweredCase) -> LoweredCase:
        """The graph of a case, taken from that of another statement of the same claim.

        Raises:
            DropcheckError: as `lower_case`.
        """
        return _of_statement(other, parse_claim(case.claim)) or self.lowered(case)


def _of_statement(found: LoweredCase, parsed: ParsedClaim) -> LoweredCase | None:
    """The lowered case of one statement, from a graph of its claim; None if it has errors."""
    if not (parsed.beside and found.beside):
        return None if parsed.beside or found.beside else found
    place = parsed.claim.place
    own = found.beside[place]
    if own is None:
        return None
    check_tolerance(parsed.claim, parsed.statement, own.operands)
    return dataclasses.replace(own, beside=found.beside, place=place, size=found.size)


@dataclass(frozen=True, slots=True)
class Known:
    """What a model says of a name: its number of axes, whether it is an event, and random."""

    axes: int = 0
    event: bool = False
    random: bool = False


def known_names(parsed: ParsedClaim, parameters: Mapping[str, ParameterValue]) -> dict[str, Known]:
    """What is known of each parameter and each name of the model.

    Raises:
        DropcheckError: with every problem of the model.
    """
    context = context_of(parsed, parameters)
    problems = define_names(parsed, context, parameters)
    problems.extend(define_model(context, parsed.model))
    if problems:
        raise DropcheckError(problems)
    numbers = {name for name, value in parameters.items() if not isinstance(value, str)}
    names = [parsed.parameter(name) for name in numbers]
    names += [name for line in lines_of(parsed.model) for name in line.names]
    meanings = ((one.name, context.scope.look_up(one.name, one.at)) for one in names)
    return {
        name: Known(len(value.shape), value.random and is_event(value), value.random)
        for name, value in meanings
        if isinstance(value, Value)
    }
