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
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cache, partial
from typing import Any
from weakref import WeakValueDictionary

from dropcheck.claims.registry import Case, Claim, Registry, SourceText
from dropcheck.errors import DropcheckError
from dropcheck.execution.schedule import Task, drive, in_order
from dropcheck.language import graph, syntax
from dropcheck.language.compile import CaseGraphs, LoweredCase, ParsedClaim
from dropcheck.language.parser import parse_expression
from dropcheck.language.printing import unparse_model, unparse_statement
from dropcheck.processors import default_threads
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, ParameterValue, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
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
unit of the constant. An error too small to be seen in what is claimed is not planted: it would test
its size and not the claim.
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

    A true one cannot be refuted and counts neither for nor against its claim; nor does one that
    nothing can decide. A false one that is not refuted is a survivor.
    """

    REFUTED = "refuted"
    SAME = "the same"  # at every case of the claim it is the claim itself
    TRUE = "true as well"  # verified, at each case at which it was judged
    BELOW = "below the resolution"  # false, and too near to the truth to be distinguished
    UNDECIDED = "undecided"
    BORDER = "on the border"  # `<` and `>` where the sides are equal, which no draws can decide
    MEANINGLESS = "meaningless"  # no number to judge: undefined or infinite, or without a moment


SURVIVING = (Fate.BELOW, Fate.UNDECIDED)
TRUE = (Fate.SAME, Fate.TRUE)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A claim with one error planted in it, and what became of it at `parameters`.

    `changed` is the line that differs, `model: …` or `claim: …`.
    """

    claim: Claim
    error: str
    changed: str
    fate: Fate = Fate.SAME
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

    def count(self, *fates: Fate) -> int:
        """How many mutants ended in one of these ways."""
        return sum(mutant.fate in fates for mutant in self.mutants)

    @property
    def toothless(self) -> bool:
        """Whether no planted error was refuted although there were some: it cannot fail."""
        return bool(self.mutants) and not self.count(Fate.REFUTED)

    @property
    def blind(self) -> bool:
        """Whether none of three or more errors in the model was refuted: any may satisfy it."""
        fates = [one.fate for one in self.mutants if one.changed.startswith("model")]
        return len(fates) >= 3 and Fate.REFUTED not in fates

    @property
    def hidden(self) -> tuple[Mutant, ...]:
        """Mutants that are the same as the claim at all of its cases, for want of other values."""
        return tuple(one for one in self.mutants if one.fate is Fate.SAME)

    @property
    def failed(self) -> bool:
        """Whether the claim lets an error pass, cannot fail at all, or is refuted itself."""
        return bool(self.count(Fate.BELOW)) or self.toothless or self.verdict is Verdict.REFUTED

    @property
    def undecided(self) -> bool:
        """Whether the claim or one of its mutants is undecided."""
        return bool(self.count(Fate.UNDECIDED)) or self.verdict is Verdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class MutationRun:
    """All claims of one run; `repeats` has the command for each claim alone."""

    registry: str
    settings: Settings
    claims: tuple[ClaimResult, ...]
    seconds: float
    interrupted: bool = False
    repeats: Mapping[str, str] = field(default_factory=dict)

    def count(self, *fates: Fate) -> int:
        """How many mutants of all claims ended in one of these ways."""
        return sum(claim.count(*fates) for claim in self.claims)

    @property
    def mutants(self) -> tuple[Mutant, ...]:
        """The mutants of all claims, in order."""
        return tuple(mutant for claim in self.claims for mutant in claim.mutants)

    @property
    def score(self) -> float | None:
        """The share of refuted mutants among those that are not true; None where there are none."""
        false = self.count(Fate.REFUTED, *SURVIVING)
        return self.count(Fate.REFUTED) / false if false else None


# ---- the trial of a claim ------------------------------------------------------------------------

MOST_MUTANTS = 16  # of a claim: each kind of error once on average
MOST_COMPARED = 64  # cases at which a mutant is compared with its claim by arithmetic
STEP = 3.0  # a constant is changed by so many times the resolution: more than may be verified
# A mutant may draw so many times what its claim took, or the number below if that is larger; where
# it is still open, so many times that once more.
GENEROSITY = 8
FEWEST_DRAWS = 2**18
COSTLY = 2**24  # numbers to compute: beyond, there are half as many mutants, judged at one case
MOST_KEPT = 2**22  # bytes that the graphs of one mutant may hold
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
    own = replace(settings, alpha=alpha, threads=1)

    def start(claim: Claim) -> Generator[Task, ClaimResult, ClaimResult]:
        if workers == 1:
            return _tried(claim, own, graphs)
        return (yield Task(function=_tried_in_worker, arguments=(claim, own, id(graphs))))

    _at_hand[id(graphs)] = graphs
    starts = [partial(start, claim) for claim in apart]
    return in_order(drive(starts, workers, processes=workers if workers > 1 else 0))


_at_hand: WeakValueDictionary[int, CaseGraphs] = WeakValueDictionary()
"""The graphs of a run, by id: a worker that was forked from it finds them."""


def _tried_in_worker(claim: Claim, settings: Settings, known: int) -> ClaimResult:
    return _tried(claim, settings, _at_hand.get(known) or CaseGraphs(settings.max_memory))


def _tried(claim: Claim, settings: Settings, graphs: CaseGraphs) -> ClaimResult:
    """Plant errors in a claim, and judge them."""
    started = time.perf_counter()
    trial = Trial(claim, settings, graphs)
    result = ClaimResult(trial.claim, None, trial.cases[0])
    if Verdict(trial.claim.expect) is Verdict.REFUTED:
        why = "it is expected to be refuted: an error in a falsehood proves nothing"
        return replace(result, skipped=why)
    own = trial.judged(trial.own, trial.cases[0], settings.max_draws)
    verdict = Verdict.UNDECIDED if isinstance(own, str) else own.verdict
    if isinstance(own, str) or verdict is not Verdict.VERIFIED:
        result = replace(
            result, skipped=f"the claim itself is {verdict}, and no error was planted: run says why"
        )
    else:
        trial.exact = own.exact is not None
        trial.most = settings.max_draws or max(FEWEST_DRAWS, GENEROSITY * own.draws)
        most = MOST_MUTANTS if trial.cheap(trial.cases[0], own.draws) else MOST_MUTANTS // 2
        planted = itertools.islice(trial.planted(own.scale), most)
        mutants = tuple([trial.fate(*one) for one in planted])
        result = replace(result, mutants=mutants, warnings=own.warnings)
    seconds = time.perf_counter() - started
    return replace(result, verdict=verdict, draws=trial.draws, seconds=seconds)


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim or a mutant of it, parsed, with the graphs of its cases."""

    parsed: ParsedClaim
    graphs: CaseGraphs

    def at(self, parameters: Parameters) -> LoweredCase | None:
        """The graph of a case; None where it is no claim at these parameters."""
        try:
            return self.graphs.lowered(Case(self.parsed.claim, parameters), self.parsed)
        except DropcheckError:
            return None


class Trial:
    """Plants errors in one claim, and judges the mutants."""

    def __init__(self, claim: Claim, settings: Settings, graphs: CaseGraphs) -> None:
        self.claim = claim
        self.settings = settings
        self.listed = [case.parameters for case in claim.expand()]
        by_rank = sorted(self.listed, key=lambda one: sum(map(dullness, one.values())))
        self.cases = by_rank[:MOST_COMPARED]
        self.own = Reading(graphs.parsed(claim), graphs)
        self.most = FEWEST_DRAWS  # that a mutant may take
        self.draws = 0  # of all that was judged
        self.exact = True  # whether the claim's value is known exactly, as a mutant's may be
        self._parts: dict[object, int] = {}  # a number for each quantity that is like no other

    def facts(self, scale: float) -> Facts:
        """What the patterns ask of the claim, whose scale at the first case is given."""
        numbers: dict[str, list[float]] = {}
        for name in self.listed[0]:
            values = [case[name] for case in self.listed]
            own = [one for one in values if isinstance(one, float)]
            numbers |= {name: own} if len(own) == len(values) else {}
        shares = {
            name
            for name, own in numbers.items()
            if all(0 <= one <= 1 for one in own) and any(one % 1 for one in own)
        }
        whole = {
            name for name, own in numbers.items() if all(one >= 1 and not one % 1 for one in own)
        }
        claim = self.claim
        sharp = claim.resolution * scale if claim.within is None else claim.within
        zero = STEP * sharp + (0.0 if claim.tolerance is None else claim.tolerance.around(scale))
        return Facts(shares, whole, frozenset(numbers), step=zero / scale, zero=zero)

    def planted(self, scale: float | None) -> Iterator[tuple[Mutant, Reading]]:
        """The mutants that the check takes, each text once.

        Kinds of error take turns, and each takes its places in an order that spreads over the
        claim, so that the choice is always the same.
        """
        facts, texts = self.facts(scale or 1.0), {_texts(self.own.parsed)}
        kinds = []
        for name in MUTATORS:
            fresh = {_texts(one): one for one in everywhere(self.own.parsed, name, facts)}
            kinds.append(_scattered([(name, fresh[one]) for one in fresh if one not in texts]))
            texts |= fresh.keys()
        for name, mutated in filter(None, itertools.chain(*itertools.zip_longest(*kinds))):
            mutant = self.mutant(name, mutated)
            graphs = CaseGraphs(self.own.graphs.memory, MOST_KEPT)
            try:
                reading = Reading(graphs.parsed(mutant.claim), graphs)
            except DropcheckError:
                continue
            if reading.at(self.cases[0]) and (name != CONSTANT or self.seen(reading, facts)):
                yield mutant, reading

    def seen(self, mutant: Reading, facts: Facts) -> bool:
        """Whether an error moves a claimed number far enough to be seen, where that is known.

        The first case counts at which the two differ, where the mutant is judged. A bound may have
        any room to spare, and what draws alone can show is taken to be seen.
        """
        found = (self.difference(mutant, one) for one in self.cases)
        sides = next((one for one in found if one is not None), ())
        if not sides or "==" not in mutant.parsed.statement.operators:
            return True
        share = 0.0 if self.claim.within is not None else facts.step * abs(sides[0])
        return abs(sides[1] - sides[0]) >= (1 - 1e-9) * (share or facts.zero)  # but for rounding

    def mutant(self, error: str, mutated: ParsedClaim) -> Mutant:
        """The claim with the texts of a mutant."""
        (model, statement), file = _texts(mutated), self.claim.location.file
        changed = f"claim: {statement}"
        if mutated.statement == self.own.parsed.statement:
            old = _texts(self.own.parsed)[0].split("\n")
            new = zip(old, model.split("\n"), strict=True)
            changed = f"model: {next(line.strip() for own, line in new if own != line)}"
        claim = replace(
            self.claim,
            statement=SourceText.plain(statement, file),
            model=SourceText.plain(model, file) if model else None,
        )
        return Mutant(claim, error, changed)

    def difference(self, mutant: Reading, parameters: Parameters) -> tuple[float, ...] | None:
        """How a mutant differs from the claim at these parameters, by arithmetic.

        None where it is the claim itself, or one of them is no claim. The fixed side of each, old
        and new, where that alone differs; of arrays, that of the entry which changes most. Empty
        where only draws can tell.
        """
        own, other = self.own.at(parameters), mutant.at(parameters)
        if own is None or other is None:
            return None
        (head, *old), (another, *new) = self._form(own), self._form(other)
        if (head, *old) == (another, *new):
            return None
        pairs = zip(own.operands, other.operands, old, new, strict=False)
        sides = [(a.known, b.known) for a, b, one, two in pairs if one != two]
        known = [(a, b) for a, b in sides if isinstance(a, float) and isinstance(b, float)]
        alone = len(sides) == 1 or bool(own.entries)
        if head != another or own.law is not None or not alone or len(known) < len(sides):
            return ()
        return max(known, key=_change)

    def _form(self, lowered: LoweredCase) -> list[object]:
        """The statement, and for each operand a number: equal where they are computed alike.

        Fixed values are equal to within rounding in another order; two draws from one law are two
        quantities, which their names tell apart.
        """
        law = lowered.law and (lowered.law.relation, lowered.law.law, lowered.law.arguments)
        numbers: dict[int, int] = {}
        for value in graph.in_order(lowered.operands, lambda one: one.inputs):
            part: tuple[object, ...] = (value.shape, _rounded(value.known or 0.0))
            if value.known is None:
                inputs = [numbers[id(one)] for one in value.inputs]
                if value.kind == graph.Kind.COMPUTED and value.function.commutes:
                    inputs.sort()
                name = value.name if value.kind == graph.Kind.DRAW else None
                part = (value.kind, value.operation, value.options, value.shape, name, *inputs)
            numbers[id(value)] = self._parts.setdefault(part, len(self._parts))
        over = lowered.law and lowered.law.over
        head = (lowered.operators, lowered.entries, law, over, len(lowered.operands))
        return [head, *(numbers[id(one)] for one in lowered.operands)]

    def judged(self, reading: Reading, at: Parameters, most: int | None) -> CaseResult | str:
        """A case, by its exact value or else by draws; or why there is no number to judge."""
        case = Case(reading.parsed.claim, at)
        alone = Registry(self.claim.location.file, {}, {})  # α is divided already
        for exact in (True, False) if self.exact else (False,):
            settings = replace(self.settings, max_draws=most, exact=exact)
            try:
                [result] = verify_cases([case], settings, alone, graphs=reading.graphs)
            except DropcheckError as error:
                return error.problems[0].message
            if result.exact is not None:
                break
        self.draws += result.draws
        nothing = result.estimate is None or result.reason is Reason.CONDITION_NEVER_TRUE
        if nothing and result.verdict is Verdict.UNDECIDED:
            return "it gives no number to judge"
        return result

    def fate(self, mutant: Mutant, reading: Reading) -> Mutant:
        """Judge one mutant, at one case and another one."""
        differ = [(one, self.difference(reading, one)) for one in self.cases]
        differ = [(one, sides) for one, sides in differ if sides is not None]
        if not differ:
            refused = next((one for one in self.cases if reading.at(one) is None), None)
            if refused is None:
                return replace(mutant, parameters=self.cases[0])
            return self.ended(mutant, reading, refused, None, self.most)
        first, *rest = differ
        # then where the claimed number changes most, or else where most parameters differ
        unlike = partial(_unlike, first[0])
        second = max(rest, key=lambda one: (_change(one[1]), unlike(one[0])), default=first)
        ended = self.ended(mutant, reading, *first, self.most)
        if not self.cheap(second[0], ended.draws):
            second = first
        given = self.settings.max_draws
        again = second is not first or (ended.fate in SURVIVING and not given)
        if ended.fate is Fate.REFUTED or not again:
            return ended
        other = self.ended(mutant, reading, *second, given or GENEROSITY * self.most)
        return min((ended, other), key=lambda one: _FIRST.index(one.fate))

    def cheap(self, at: Parameters, draws: int) -> bool:
        """Whether so many draws of a case cost little, by the random numbers that they compute."""
        lowered = self.own.at(at)
        sides = () if lowered is None else lowered.operands
        computed = graph.in_order(sides, lambda one: one.inputs)
        return draws * sum(math.prod(one.shape) for one in computed if one.random) < COSTLY

    def ended(
        self,
        mutant: Mutant,
        reading: Reading,
        at: Parameters,
        sides: tuple[float, ...] | None,
        most: int,
    ) -> Mutant:
        """What becomes of a mutant at one case."""
        result = self.judged(reading, at, most)
        if isinstance(result, str):
            return replace(mutant, fate=Fate.MEANINGLESS, parameters=at, reason=result)
        verified, change = result.verdict is Verdict.VERIFIED, _change(sides)
        signs = reading.parsed.statement.operators
        fate = Fate.TRUE if verified else Fate.UNDECIDED
        told = None if result.explanation is None else str(result.explanation)
        if result.verdict is Verdict.REFUTED:
            fate, told = Fate.REFUTED, None
        elif sides and "==" in signs and (verified or change <= 2 * result.resolution):
            # the claim was verified and says another number: both cannot be true
            fate, told = (
                Fate.BELOW,
                (
                    f"it changes the number that is claimed by {change:.2g} of itself, and the "
                    f"resolution is {result.resolution:.2g}"
                ),
            )
        elif not verified and result.reason is Reason.AT_THE_EDGE and {*signs} & {"<", ">"}:
            fate = Fate.BORDER
            told = (
                "its two sides are equal to within the resolution, and it claims that they differ"
            )
        return replace(mutant, fate=fate, parameters=at, draws=result.draws, reason=told)


_FIRST = (Fate.REFUTED, Fate.BELOW, Fate.TRUE, Fate.BORDER, Fate.UNDECIDED, Fate.MEANINGLESS)


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


def _change(sides: tuple[float, ...] | None) -> float:
    """The relative change of a fixed side."""
    return abs(sides[1] - sides[0]) / abs(sides[0] or 1.0) if sides else 0.0


def _unlike(first: Parameters, second: Parameters) -> int:
    return sum(first[name] != second[name] for name in first)


def _rounded(value: Any) -> Any:
    return tuple(map(_rounded, value)) if isinstance(value, tuple) else f"{value:.12g}"
