"""Errors are planted in claims, to see that each is refuted: a claim that cannot fail is empty.

`MUTATORS` is the table of errors: what people get wrong in such mathematics. A claim with one of
them is a mutant, and a claim like any other: `verify_cases` judges it, first at the case whose
values hide least, then at another one.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cache, partial
from typing import Any

from dropcheck.claims.registry import Case, Claim, Registry, SourceText
from dropcheck.errors import DropcheckError, InternalError
from dropcheck.execution.schedule import Task, drive, in_order
from dropcheck.language import syntax
from dropcheck.language.compile import CaseGraphs, ParsedClaim, parse_claim
from dropcheck.language.parser import parse_expression
from dropcheck.language.syntax import unparse_model, unparse_statement
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, ParameterValue, Verdict
from dropcheck.running import at_hand, graphs_of, verify_cases
from dropcheck.settings import Settings, default_threads
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.law import Values
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

# ---- the errors ----------------------------------------------------------------------------------

# Functions and operators that authors take for each other.
_MISTAKEN = (("var", "std"), ("std", "var"), ("Var", "Std"), ("Std", "Var"))
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "!=", "!=": "=="}

CONSTANT = "a constant changed"
MUTATORS: Mapping[str, tuple[str, ...]] = {
    "a factor dropped": ("f * g -> g; f", "a / f -> a"),
    "a factor 2 too many": ("s -> 2 * s",),
    CONSTANT: ("k -> k + d",),
    "p for 1 - p": ("1 - a -> a", "p -> 1 - p"),
    "a sign": ("a + b -> a - b", "a - b -> a + b", "-a -> a", "r -> -r"),
    "a square root": ("v -> sqrt(v)", "t -> sqrt(t)", "sqrt(a) -> a"),
    "Var for Std": tuple(
        f"{name}(a{more}) -> {other}(a{more})"
        for name, other in _MISTAKEN
        for more in ("", ", given=b", ", axis=b")
    ),
    "one off": ("n -> n + 1; n - 1",),
    "a term too many or dropped": ("a + b -> a + b + b; a; b", "a - b -> a - b - b; a"),
    "a factor repeated": ("a * f -> a * f * f", "a / f -> a / f / f"),
    "another power": ("a**b -> a**(b + 1); a",),
    "an inequality turned round": (
        *(f"a {sign} b -> a {other} b" for sign, other in _TURNED.items()),
        *(
            f"a {one} b {two} c -> c {one} b {two} 2 * c - a; 2 * a - c {one} b {two} a"
            for one, two in itertools.product(("<", "<="), repeat=2)
        ),
    ),
    "another event": (
        *("a or b -> a; b", "a or b or c -> b or c; a or c; a or b"),
        *("a and b -> a; b", "a and b and c -> b and c; a and c; a and b"),
        *("a in {b, c} -> a in {b}; a in {c}", "a in {b, c, d} -> a in {c, d}; a in {b, c}"),
        *(f"{name}(a, given=b) -> {name}(a)" for name in OPERATORS),
    ),
    "branches exchanged": ("a if c else b -> b if c else a",),
}
"""Every kind of error, the likeliest first, with what it puts in the place of what.

A letter of a pattern is anything, or what `LETTERS` says; `d` is three times the resolution, in the
unit of the constant.
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the letters ask of a claim: names of shares, of whole numbers and of all numbers."""

    shares: Set[str] = frozenset()
    whole: Set[str] = frozenset()
    numbers: Set[str] = frozenset()
    step: float = 0.03  # by which share a constant is changed
    zero: float = 0.03  # by which number a side of 0 is


@dataclass(frozen=True, slots=True)
class Spot:
    """A node of a claim, what it is a part of, and whether it is a side, or the right of `=`."""

    node: syntax.Node
    statement: syntax.Statement
    facts: Facts
    above: syntax.Node | syntax.Loop | None = None
    side: bool = False
    line: bool = False

    @property
    def name(self) -> str:
        """The name that it is; empty for anything else, and for an exponent."""
        return self.node.name if isinstance(self.node, syntax.Name) and not self.power else ""

    @property
    def value(self) -> float:
        """The number that it is; NaN for anything else, and for an exponent."""
        return (
            self.node.value if isinstance(self.node, syntax.Number) and not self.power else math.nan
        )

    @property
    def power(self) -> bool:
        """Whether it is an exponent."""
        above = self.above
        return getattr(above, "operator", "") == "**" and getattr(above, "right", 0) is self.node


_INDEX = (syntax.Subscript, syntax.Slice, syntax.Loop)
LETTERS: Mapping[str, Callable[[Spot], bool]] = {
    "f": lambda spot: spot.value != 1,
    "g": lambda spot: spot.value != 1,
    "k": lambda spot: spot.value == spot.value and not isinstance(spot.above, _INDEX),
    "n": lambda spot: (
        spot.name in spot.facts.whole
        or (spot.value % 1 == 0 and isinstance(spot.above, _INDEX))
        or (spot.value % 1 == 0 and spot.value > 1 and isinstance(spot.above, syntax.Call))
    ),
    # in `1 - p` the other pattern gives the same
    "p": lambda spot: (
        spot.name in spot.facts.shares
        and getattr(getattr(spot.above, "left", None), "value", None) != 1
    ),
    "r": lambda spot: (
        spot.node is spot.statement.operands[-1]
        and spot.value != 0
        and not isinstance(spot.node, syntax.Negative)
    ),
    "s": lambda spot: (spot.side or spot.line) and spot.value != 0,
    # 0 and 1 are their own roots
    "t": lambda spot: (
        spot.side
        and not isinstance(spot.node, syntax.Name | syntax.Number)
        and {0, 1}.isdisjoint(getattr(side, "value", 2) for side in spot.statement.operands)
    ),
    "v": lambda spot: (
        spot.name in spot.facts.numbers | spot.facts.shares
        and not isinstance(spot.above, _INDEX)
        and getattr(spot.above, "name", None) not in FUNCTIONS
    ),
}
"""What a letter of a pattern is, other than anything."""


@cache
def patterns() -> tuple[tuple[str, syntax.Node, tuple[syntax.Node, ...]], ...]:
    """Every pattern of the table, read: the name of the error, what it fits, what it puts there."""
    read = [
        (name, [parse_expression(SourceText.plain(one)) for one in (old, *new.split(";"))])
        for name, rules in MUTATORS.items()
        for old, new in (rule.split(" -> ") for rule in rules)
    ]
    return tuple((name, old, tuple(new)) for name, (old, *new) in read)


def _fits(pattern: syntax.Node, spot: Spot, bound: dict[str, syntax.Node]) -> bool:
    """Whether a pattern fits a node; `bound` then has the node of each letter."""
    node = spot.node
    if isinstance(pattern, syntax.Name):
        bound[pattern.name] = node
        return pattern.name not in LETTERS or LETTERS[pattern.name](spot)
    own, parts = syntax.children(node), syntax.children(pattern)
    if type(pattern) is not type(node) or len(own) != len(parts):
        return False
    return syntax.rebuilt(pattern, own) == node and all(
        _fits(part, replace(spot, node=one, above=node, side=False, line=False), bound)
        for part, one in zip(parts, own, strict=True)
    )


def _filled(template: syntax.Node, bound: Mapping[str, syntax.Node]) -> syntax.Node:
    """A pattern with nodes in place of its letters; sums of numbers are computed."""
    if isinstance(template, syntax.Name):
        return bound[template.name]
    node = syntax.rebuilt(template, [_filled(one, bound) for one in syntax.children(template)])
    match node:
        case syntax.Binary(
            at=at,
            operator="+" | "-" as sign,
            left=syntax.Number(value=left),
            right=syntax.Number(value=right),
        ):
            return syntax.Number(at, float(f"{left + right if sign == '+' else left - right:.12g}"))
    return node


def _changed(name: str, spot: Spot) -> Iterator[Any]:
    """What stands in the place of a node by one kind of error."""
    for error, old, new in patterns():
        bound: dict[str, syntax.Node] = {}
        if error == name and _fits(old, spot, bound):
            share = spot.value * spot.facts.step or (spot.facts.zero if spot.side else 1.0)
            bound["d"] = syntax.Number(spot.node.at, share)
            yield from (_filled(one, bound) for one in new)


def everywhere(claim: ParsedClaim, name: str, facts: Facts) -> Iterator[ParsedClaim]:
    """The claim with one kind of error, at every place that matters; the statement comes first."""
    statement = claim.statement
    if statement.operators not in ((), ("==",)):  # as a whole it is a comparison
        whole = syntax.Compare(statement.at, statement.operators, statement.operands)
        for one in _changed(name, Spot(whole, statement, facts)):
            other = replace(statement, operators=one.operators, operands=one.operands)
            yield replace(claim, statement=other)
    for spot in _spots(claim, facts):
        for one in _changed(name, spot):
            changed = _swapped((statement, claim.model), spot.node, one)
            yield replace(claim, statement=changed[0], model=changed[1])


def _spots(claim: ParsedClaim, facts: Facts) -> Iterator[Spot]:
    """Every node of the statement, and of the lines that it rests on."""
    statement = claim.statement
    for side in statement.operands:
        yield from _below(Spot(side, statement, facts, side=True))
    needed = set().union(*map(syntax.names_in, (*statement.operands, *claim.requires)))
    known = -1
    while known < (known := len(needed)):  # a loop may carry a name through a later line
        for line in reversed([*syntax.lines_of(claim.model)]):
            if not needed.isdisjoint(one.name for one in line.names):
                needed |= syntax.names_in(line.right)

    def matters(part: syntax.ModelLine | syntax.Loop) -> bool:
        lines = syntax.lines_of((part,))
        return not needed.isdisjoint(one.name for line in lines for one in line.names)

    for loop in filter(matters, syntax.loops_of(claim.model)):
        for number in loop.over:
            yield from _below(Spot(number, statement, facts, above=loop))
    for line in filter(matters, syntax.lines_of(claim.model)):
        yield from _below(Spot(line.right, statement, facts, line=not line.drawn))


def _below(spot: Spot) -> Iterator[Spot]:
    """A node and all below it."""
    yield spot
    for child in syntax.children(spot.node):
        yield from _below(Spot(child, spot.statement, spot.facts, above=spot.node))


def _swapped(tree: Any, old: syntax.Node, new: syntax.Node) -> Any:
    """Nodes, statements or lines with one node in the place of another."""
    if tree is old:
        return new
    if isinstance(tree, tuple):
        return tuple(_swapped(one, old, new) for one in tree)
    if not isinstance(tree, syntax.Node | syntax.Statement | syntax.ModelLine | syntax.Loop):
        return tree
    parts = {one.name: _swapped(getattr(tree, one.name), old, new) for one in fields(tree)}
    return replace(tree, **parts)


# ---- what became of them -------------------------------------------------------------------------


class Fate(StrEnum):
    """The result of one mutant, which is a statement of its own, true or false.

    One that may be true, or that nothing can decide, counts neither for nor against its claim.
    """

    REFUTED = "refuted"
    SURVIVED = "survived"  # it is verified, as the claim is, and claims another number
    VERIFIED = "verified too"  # it is true, or as near to the truth as the claim allows
    UNDECIDED = "undecided"
    NEITHER = "neither"  # it has no number to judge, or equal sides and a strict inequality


@dataclass(frozen=True, slots=True)
class Mutant:
    """A claim with one error planted in it, and what became of it at `parameters`.

    `changed` is the line that differs, `model: …` or `claim: …`.
    """

    claim: Claim
    error: str
    changed: str
    fate: Fate = Fate.NEITHER
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    draws: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """All mutants of one claim; `skipped` says why there are none.

    `verdict` is that of the claim itself at `parameters`, the case where mutants are judged first.
    """

    claim: Claim
    verdict: Verdict | None
    parameters: Mapping[str, ParameterValue]
    mutants: tuple[Mutant, ...] = ()
    draws: int = 0
    seconds: float = 0.0
    skipped: str | None = None
    warnings: tuple[str, ...] = ()  # on the claim itself, as `run` gives them

    def count(self, fate: Fate) -> int:
        """How many mutants ended in this way."""
        return sum(mutant.fate is fate for mutant in self.mutants)

    @property
    def toothless(self) -> bool:
        """Whether no planted error was refuted although there were some: it cannot fail."""
        return bool(self.mutants) and not self.count(Fate.REFUTED)

    @property
    def failed(self) -> bool:
        """Whether the claim lets an error pass, cannot fail at all, or is refuted itself."""
        survived = bool(self.count(Fate.SURVIVED))
        return survived or self.toothless or self.verdict is Verdict.REFUTED

    @property
    def undecided(self) -> bool:
        """Whether the claim or one of its mutants is undecided."""
        return bool(self.count(Fate.UNDECIDED)) or self.verdict is Verdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class MutationRun:
    """All claims of one run."""

    registry: str
    settings: Settings
    claims: tuple[ClaimResult, ...]
    seconds: float
    interrupted: bool = False

    def count(self, fate: Fate) -> int:
        """How many mutants of all claims ended in this way."""
        return sum(claim.count(fate) for claim in self.claims)

    @property
    def mutants(self) -> tuple[Mutant, ...]:
        """The mutants of all claims, in order."""
        return tuple(mutant for claim in self.claims for mutant in claim.mutants)


# ---- the trial of a claim ------------------------------------------------------------------------

MOST_MUTANTS = 16  # of a claim: each kind of error once on average
STEP = 3.0  # a constant is changed by so many times the resolution: more than may be verified
# A mutant may draw so many times what its claim took, or the number below if that is larger.
GENEROSITY = 8
FEWEST_DRAWS = 2**18
# 0, 1 and -1 hide squares and roots, 0.5 the complement, 2 that a square is no double.
_HIDES = {**dict.fromkeys((0.0, 1.0, -1.0), 3.0), **dict.fromkeys((0.5, 2.0, -2.0), 2.0)}

Parameters = Mapping[str, ParameterValue]


def mutate_claims(
    claims: Sequence[Claim],
    settings: Settings,
    registry: Registry,
    graphs: CaseGraphs | None = None,
) -> Iterator[ClaimResult]:
    r"""Plant errors in claims and judge each, yielding claims in order as they are done.

    Claims are shared by processes. An interruption first yields what is finished. No result depends
    on the number of processes, nor on the selection: every verdict has its own streams of draws,
    and the share of α that it has in a run of the whole registry. `graphs` are those of a check of
    the claims, which must keep what is taken from them.

    >>> from dropcheck.claims.reader import read_text
    >>> text = "{title: t, model: 'x ~ normal(0, 2)', claim: E(x**2) == 4, resolution: 0.05}"
    >>> registry = read_text(f"dropcheck: 1\nclaims: {{square: {text}}}")
    >>> claims = tuple(registry.claims.values())
    >>> [result.toothless for result in mutate_claims(claims, Settings(), registry)]
    [False]
    """
    graphs = graphs or CaseGraphs(settings.max_memory)
    verdicts = 1 + 2 * MOST_MUTANTS  # of a claim
    alpha = settings.alpha / max(1, len(registry.claims) * verdicts)
    # an error is planted in one statement: the others of its entry do not matter
    apart = tuple(replace(claim, family=None) for claim in claims)
    workers = min(settings.threads or default_threads(), max(1, len(claims)))
    own, known = replace(settings, alpha=alpha, threads=1), at_hand(graphs)

    def start(claim: Claim) -> Generator[Task, ClaimResult, ClaimResult]:
        if workers == 1:
            return _tried(claim, own, graphs)
        return (yield Task(function=_tried_in_worker, arguments=(claim, own, known)))

    starts = [partial(start, claim) for claim in apart]
    return in_order(drive(starts, workers, processes=workers if workers > 1 else 0))


def _tried_in_worker(claim: Claim, settings: Settings, known: int) -> ClaimResult:
    return _tried(claim, settings, graphs_of(known, settings))


def _tried(claim: Claim, settings: Settings, graphs: CaseGraphs) -> ClaimResult:
    """Plant errors in a claim, and judge them."""
    started, cases = time.perf_counter(), tried_at(claim)
    result = ClaimResult(claim, None, cases[0])
    if claim.expect == Verdict.REFUTED:
        why = "it is expected to be refuted: an error in a falsehood proves nothing"
        return replace(result, skipped=why)
    own = _judged(claim, cases[0], settings, graphs, exact=True)
    verdict = Verdict.UNDECIDED if isinstance(own, str) else own.verdict
    if isinstance(own, str) or verdict is not Verdict.VERIFIED:
        why = f"the claim itself is {verdict}, and no error was planted: run says why"
        result = replace(result, skipped=why, draws=0 if isinstance(own, str) else own.draws)
    else:
        most = settings.max_draws or max(FEWEST_DRAWS, GENEROSITY * own.draws)
        limited = replace(settings, max_draws=most)
        planted = itertools.islice(
            planted_in(claim, graphs, own.scale or 1.0, cases[0]), MOST_MUTANTS
        )
        mutants = tuple(_fate(*one, cases, limited, own) for one in planted)
        draws = own.draws + sum(one.draws for one in mutants)
        result = replace(result, mutants=mutants, warnings=own.warnings, draws=draws)
    return replace(result, verdict=verdict, seconds=time.perf_counter() - started)


def tried_at(claim: Claim) -> list[Parameters]:
    """The case whose values hide least, and of the others the one that differs most from it."""
    listed = [case.parameters for case in claim.expand()]
    first, *others = sorted(listed, key=lambda one: sum(map(dullness, one.values())))

    def differing(other: Parameters) -> int:
        return sum(first[name] != other[name] for name in first)

    return [first, *([max(reversed(others), key=differing)] if others else [])]


def facts_of(claim: Claim, scale: float) -> Facts:
    """What the patterns ask of a claim, whose scale at the first case is given."""
    listed = [case.parameters for case in claim.expand()]
    numbers: dict[str, list[float]] = {}
    for name in listed[0]:
        own = [one for case in listed if isinstance(one := case[name], float)]
        numbers |= {name: own} if len(own) == len(listed) else {}
    shares = {
        name
        for name, own in numbers.items()
        if all(0 <= one <= 1 for one in own) and any(one % 1 for one in own)
    }
    whole = {name for name, own in numbers.items() if all(one >= 1 and not one % 1 for one in own)}
    sharp = claim.resolution * scale if claim.within is None else claim.within
    zero = STEP * sharp + (0.0 if claim.tolerance is None else claim.tolerance.around(scale))
    return Facts(shares, whole, frozenset(numbers), step=zero / scale, zero=zero)


def planted_in(
    claim: Claim, graphs: CaseGraphs, scale: float, at: Parameters
) -> Iterator[tuple[Mutant, CaseGraphs]]:
    """The mutants of a claim that are claims at these parameters, each text once, with its graphs.

    Kinds of error take turns, and each takes its places in an order that spreads over the claim, so
    that the choice is always the same.
    """
    parsed, facts = parse_claim(claim), facts_of(claim, scale)
    texts, kinds = {_texts(parsed)}, []
    for name in MUTATORS:
        fresh = {_texts(one): one for one in everywhere(parsed, name, facts)}
        kinds.append(_scattered([(name, fresh[one]) for one in fresh if one not in texts]))
        texts |= fresh.keys()
    for name, mutated in filter(None, itertools.chain(*itertools.zip_longest(*kinds))):
        mutant, built = _mutant(claim, parsed, name, mutated), CaseGraphs(graphs.memory)
        with suppress(DropcheckError):
            built.lowered(Case(mutant.claim, at))
            yield mutant, built


def _mutant(claim: Claim, parsed: ParsedClaim, error: str, mutated: ParsedClaim) -> Mutant:
    """The claim with the texts of a mutant."""
    (model, statement), file = _texts(mutated), claim.location.file
    changed = f"claim: {statement}"
    if mutated.statement == parsed.statement:
        lines = zip(_texts(parsed)[0].split("\n"), model.split("\n"), strict=True)
        changed = f"model: {next(line.strip() for own, line in lines if own != line)}"
    other = replace(
        claim,
        statement=SourceText.plain(statement, file),
        model=SourceText.plain(model, file) if model else None,
    )
    return Mutant(other, error, changed)


def _judged(
    claim: Claim, at: Parameters, settings: Settings, graphs: CaseGraphs, *, exact: bool
) -> CaseResult | str:
    """A case, by its exact value or else by draws; or why there is no number to judge."""
    alone = Registry(claim.location.file, {}, {})  # α is divided already
    for way in (True, False) if exact else (False,):
        own = replace(settings, exact=way)
        try:
            [result] = verify_cases([Case(claim, at)], own, alone, graphs=graphs)
        except InternalError:
            raise
        except DropcheckError as error:
            return error.problems[0].message
        if result.exact is not None:
            break
    nothing = result.estimate is None or result.reason is Reason.CONDITION_NEVER_TRUE
    if nothing and result.verdict is Verdict.UNDECIDED:
        return "it gives no number to judge"
    return result


_FATES = {Verdict.REFUTED: Fate.REFUTED, Verdict.VERIFIED: Fate.VERIFIED}


def _fate(
    mutant: Mutant,
    graphs: CaseGraphs,
    cases: Sequence[Parameters],
    settings: Settings,
    own: CaseResult,
) -> Mutant:
    """Judge one mutant at the first case, and where that does not refute it at the next.

    `own` is the result of its claim at the first case.
    """
    ended: list[Mutant] = []
    exact = own.exact is not None
    for at in cases:
        found, fate = _judged(mutant.claim, at, settings, graphs, exact=exact), Fate.NEITHER
        told = found if isinstance(found, str) else ""
        if isinstance(found, CaseResult):
            if found.reason is not Reason.AT_THE_EDGE:
                fate = _FATES.get(found.verdict, Fate.UNDECIDED)
            if fate is Fate.VERIFIED and at is cases[0] and mutant.error != CONSTANT:
                fate = Fate.SURVIVED if _claims_another(own, found) else fate
            if fate is not Fate.REFUTED and found.explanation is not None:
                told = str(found.explanation)
        draws = found.draws if isinstance(found, CaseResult) else 0
        ended.append(replace(mutant, fate=fate, parameters=at, draws=draws, reason=told or None))
        if fate is Fate.REFUTED:
            break
    clearest = min(ended, key=lambda one: [*Fate].index(one.fate))
    return replace(clearest, draws=sum(one.draws for one in ended))


def _claims_another(own: CaseResult, found: CaseResult) -> bool:
    """Whether two results claim two numbers of the same quantity: both cannot be true."""
    if own.region is None or found.region is None or own.expression != found.expression:
        return False
    ours, theirs = (one.low + one.half_width for one in (own.region, found.region))
    return abs(ours - theirs) > 1e-9 * max(abs(ours), abs(theirs))  # not where an end is infinite


def dullness(value: ParameterValue) -> float:
    """A rank: greater for a value that hides errors, or costs much."""
    if isinstance(value, str):
        law = LAWS.get(value.partition("(")[0])
        return 2.0 if law is not None and law.values is Values.SIGNS else 0.0  # its square is 1
    if isinstance(value, tuple):
        return 0.0
    if 0 < value < 1 and value not in _HIDES:
        return 4 * abs(value - 0.3)  # where nothing is rare
    return _HIDES.get(value) or max(0.0, math.log2(abs(value) / 16)) / 2


def _texts(parsed: ParsedClaim) -> tuple[str, str]:
    return unparse_model(parsed.model), unparse_statement(parsed.statement)


def _scattered(items: Sequence[Any]) -> list[Any]:
    """The items in van der Corput's order: the first ones are spread over all of them."""
    digits = max(1, (len(items) - 1).bit_length())
    order = (int(f"{index:0{digits}b}"[::-1], 2) for index in range(2**digits))
    return [items[place] for place in order if place < len(items)]
