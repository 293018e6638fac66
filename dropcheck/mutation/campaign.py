"""Every claim of a selection with errors planted in it, and the fates of these mutants.

A mutant is judged as any claim is, first at the case whose values hide least. Where it is the same
as the claim itself, it is taken to another case. Where it is verified too, it is judged at the most
different case before it is called true, and then at values that the claim does not list, to say
where it would show. Where it claims another number, too near to be seen, it is judged at the case
at which that number changes most.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import islice, zip_longest

from dropcheck.analysis.strategy import Laws, averages_of
from dropcheck.claims.registry import Case, Claim, Registry, SourceText
from dropcheck.claims.values import format_value
from dropcheck.errors import DropcheckError
from dropcheck.execution.pool import shared
from dropcheck.execution.schedule import carried_out, in_order
from dropcheck.judging.case import prepare
from dropcheck.judging.judge import run_case
from dropcheck.language.compile import CaseGraphs, ParsedClaim
from dropcheck.language.printing import unparse_model, unparse_statement
from dropcheck.language.syntax import Binary, Model, Name, Number, lines_of, loops_of
from dropcheck.mutation.mutators import MUTATORS, ClaimFacts, Readings
from dropcheck.processors import default_threads
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, ParameterValue, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation import compile_averages, compile_strategy
from dropcheck.vocabulary.distribution import Values
from dropcheck.vocabulary.laws import LAWS

# ---- outcome -------------------------------------------------------------------------------------
#
# The results of planted errors, as plain data.


class Fate(StrEnum):
    """The result of one mutant.

    A mutant is a statement of its own, either true or false. A true one cannot be refuted and
    counts neither for nor against its claim; nor does one that nothing can decide. A false one that
    is not refuted is a survivor.
    """

    REFUTED = "refuted"
    SAME = "the same"  # at every case of the claim it is the claim itself
    TRUE = "true as well"  # verified, at each case at which it was judged
    BELOW = "below the resolution"  # false, and too near to the truth to be distinguished
    UNDECIDED = "undecided"
    BORDER = "on the border"  # `<` and `>` where the sides are equal, which no draws can decide
    MEANINGLESS = "meaningless"  # no number to judge: undefined or infinite, or without a moment


# From fewer errors in a model nothing is concluded.
FEW = 3
SURVIVING = (Fate.BELOW, Fate.UNDECIDED)
TRUE = (Fate.SAME, Fate.TRUE)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A claim with one error planted in it."""

    claim: Claim
    operator: str
    changed: str  # the line that differs, `model: …` or `claim: …`
    in_model: bool = False


@dataclass(frozen=True, slots=True)
class MutantResult:
    """The result of one mutant, judged at `parameters`.

    `shows_at` has values that the claim does not list, at which the claim is verified and the
    mutant refuted.
    """

    mutant: Mutant
    fate: Fate
    parameters: dict[str, ParameterValue]
    draws: int
    reason: str | None = None
    shows_at: dict[str, ParameterValue] | None = None


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """All mutants of one claim; `skipped` says why there are none."""

    claim: Claim
    verdict: Verdict | None  # of the claim itself, at the case where its mutants are judged first
    parameters: dict[str, ParameterValue]
    mutants: tuple[MutantResult, ...]
    draws: int
    seconds: float
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
        """Whether none of several errors in the model was refuted: any model may satisfy it."""
        planted = [one for one in self.mutants if one.mutant.in_model]
        return len(planted) >= FEW and all(one.fate is not Fate.REFUTED for one in planted)

    @property
    def hidden(self) -> tuple[MutantResult, ...]:
        """Mutants that are the same as the claim at all of its cases, for want of other values.

        Mutants with a reason are left out: where they differ, the claim itself is not verified.
        """
        return tuple(one for one in self.mutants if one.fate is Fate.SAME and one.reason is None)

    @property
    def failed(self) -> bool:
        """Whether the claim lets an error pass, cannot fail at all, or is refuted itself."""
        return bool(self.count(Fate.BELOW)) or self.toothless or self.verdict is Verdict.REFUTED

    @property
    def undecided(self) -> bool:
        """Whether the claim or one of its mutants is undecided."""
        return bool(self.count(Fate.UNDECIDED)) or self.verdict is Verdict.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class MutationRun:
    """All claims of one run."""

    registry: str
    settings: Settings
    claims: tuple[ClaimResult, ...]
    seconds: float
    interrupted: bool = False
    repeats: Mapping[str, str] = field(default_factory=dict)  # the command for each claim alone

    def count(self, *fates: Fate) -> int:
        """How many mutants of all claims ended in one of these ways."""
        return sum(claim.count(*fates) for claim in self.claims)

    @property
    def mutants(self) -> Iterable[MutantResult]:
        """The mutants of all claims, in order."""
        return (mutant for claim in self.claims for mutant in claim.mutants)

    @property
    def score(self) -> float | None:
        """The share of refuted mutants among those that are not true; None where there are none."""
        refuted = self.count(Fate.REFUTED)
        false = refuted + self.count(*SURVIVING)
        return refuted / false if false else None


# ---- distinguishing ------------------------------------------------------------------------------
#
# Which cases of a claim show an error, and at which other values it might show.


# Values at which different mathematics agrees: x, x**2 and sqrt(x) at 0 and 1, p and 1 - p at 0.5,
# 2 x and x**2 at 2.
_HIDE_MUCH = frozenset({0.0, 1.0, -1.0})
_HIDE_SOME = frozenset({0.5, 2.0, -2.0})
# Shares at which no such functions agree and nothing is rare; the second where the first is listed.
_SHARES = (0.3, 0.2)
_COUNTS = (3.0, 5.0)
# Sizes beyond this only cost more.
_LARGE = 16


def most_revealing_first(cases: Iterable[Case]) -> tuple[Case, ...]:
    r"""The cases, beginning with those whose values hide little and cost little.

    >>> from dropcheck.claims.reader import read_text
    >>> claim = "{title: t, parameters: {p: [0, 0.5, 0.25, 0.99]}, claim: 1 - p == 1 - p}"
    >>> cases = read_text(f"dropcheck: 1\nclaims: {{c: {claim}}}").expand()
    >>> [case.parameters["p"] for case in most_revealing_first(cases)]
    [0.25, 0.5, 0.99, 0.0]
    """
    return tuple(sorted(cases, key=lambda case: sum(map(dullness, case.parameters.values()))))


def dullness(value: ParameterValue) -> float:
    """A rank: greater for a value that hides errors, or costs much."""
    if isinstance(value, str):
        law = LAWS.get(value.partition("(")[0])
        return 2.0 if law is not None and law.values is Values.SIGNS else 0.0  # its square is 1
    if isinstance(value, tuple):
        return 0.0
    if value in _HIDE_MUCH:
        return 3.0
    if value in _HIDE_SOME:
        return 2.0
    if 0 < value < 1:
        return 4 * abs(value - _SHARES[0])
    return max(0.0, math.log2(abs(value) / _LARGE)) / 2


def spread(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The same cases in another order: each is the one least like all before it."""

    def unlike(first: Case, second: Case) -> int:
        return sum(first.parameters[name] != second.parameters[name] for name in first.parameters)

    chosen, left = list(cases[:1]), list(cases[1:])
    while left:
        least_alike = max(left, key=lambda case: min(unlike(case, other) for other in chosen))
        left.remove(least_alike)
        chosen.append(least_alike)
    return tuple(chosen)


def probes(case: Case) -> Iterator[tuple[str, Case]]:
    """Names of numbers, each with the case in which that number is a value that shows more.

    The values that hide most are changed first. No probe is a case of the claim itself.
    """
    dullest = sorted(case.parameters.items(), key=lambda item: -dullness(item[1]))
    listed = {own.key for own in case.claim.expand()}
    for name, value in dullest:
        if not isinstance(value, float):
            continue
        for other in _revealing(value, case.claim, name):
            probe = Case(case.claim, {**case.parameters, name: other})
            if probe.key not in listed:
                yield name, probe
                break


def _revealing(value: float, claim: Claim, name: str) -> tuple[float, ...]:
    """Values that show more than this one, the best first."""
    if name in share_names(claim):
        return _SHARES
    if value == value // 1 and value >= 1:
        return _COUNTS
    return (1.7 * value if value else 1.7,)


def numbers_of(claim: Claim) -> Mapping[str, tuple[float, ...]]:
    """Each parameter that is a number throughout, with its values."""
    numbers: dict[str, tuple[float, ...]] = {}
    cases = claim.expand()
    for name in cases[0].parameters:  # those of the mathematics, without the number format
        values = {case.parameters[name] for case in cases}
        known = [value for value in values if isinstance(value, float)]
        if len(known) == len(values):
            numbers[name] = tuple(sorted(known))
    return numbers


def share_names(claim: Claim) -> frozenset[str]:
    """The parameters that may stand for probabilities: fractions between 0 and 1."""
    return frozenset(
        name
        for name, values in numbers_of(claim).items()
        if all(0 <= value <= 1 for value in values) and any(value % 1 for value in values)
    )


def whole_names(claim: Claim) -> frozenset[str]:
    """The parameters that are whole and positive throughout."""
    return frozenset(
        name
        for name, values in numbers_of(claim).items()
        if all(value >= 1 and not value % 1 for value in values)
    )


# ---- planting ------------------------------------------------------------------------------------
#
# A claim's mutants: a bounded number, chosen from every kind of error at every place.


# The most mutants of a claim: each of the sixteen kinds once on average. 70 claims then take two
# minutes on two cores.
MOST_MUTANTS = 16
# A constant is changed by so many times the resolution, which is more than may be verified.
STEP = 3.0


def facts_of(parsed: ParsedClaim, scale: float | None, readings: Readings) -> ClaimFacts:
    """The facts for the mutators; `scale` is that of the claim at the case that was judged."""
    claim = parsed.claim
    shares = set(share_names(claim))
    for line in lines_of(parsed.model):  # `q = 1 - p` is a probability where `p` is one
        match line.right:
            case Binary(operator="-", left=Number(value=1.0), right=Name(name=name)):
                if name in shares and not line.drawn:
                    shares.add(line.names[0].name)
    size = scale or 1.0
    sharpness = claim.resolution if claim.within is None else claim.within / size
    step = STEP * sharpness
    if claim.tolerance is not None:
        step += claim.tolerance.around(size) / size
    share = step if claim.within is None else 0.0  # `within` is a number, the same for each case
    return ClaimFacts(
        shares=frozenset(shares),
        whole=whole_names(claim),
        numbers=frozenset(numbers_of(claim)),
        step=step,
        zero=step * size,
        far_enough=partial(readings.far_enough, share=share, least=step * size),
    )


def mutants_of(
    readings: Readings, facts: ClaimFacts, case: Case, most: int = MOST_MUTANTS
) -> tuple[Mutant, ...]:
    """At most `most` mutants that are claims, as far as that is known before any draw.

    Kinds of error take turns, and each takes its places in an order that spreads over the claim, so
    that the choice is always the same. A mutant that the check refuses, at the case at which
    mutants are judged first, is left out: nobody can make that error unnoticed.
    """
    candidates = _candidates(readings.parsed, facts)
    claims = (one for one in candidates if _is_claim(one.claim, case, readings))
    return tuple(islice(claims, most))


def _candidates(parsed: ParsedClaim, facts: ClaimFacts) -> Iterator[Mutant]:
    """All mutants in the order in which they are chosen, each text once."""
    seen = {_written(parsed)}
    kinds = []
    for name, plant in MUTATORS.items():
        fresh = []
        for mutated in plant(parsed, facts):
            written = _written(mutated)
            if written not in seen:
                seen.add(written)
                fresh.append(_mutant(name, parsed, mutated))
        kinds.append(_scattered(fresh))
    for turn in zip_longest(*kinds):
        yield from (mutant for mutant in turn if mutant is not None)


def _written(parsed: ParsedClaim) -> tuple[str, str]:
    return unparse_model(parsed.model), unparse_statement(parsed.statement)


def _scattered(mutants: Sequence[Mutant]) -> list[Mutant]:
    """The mutants in van der Corput's order: the first ones are spread over all of them."""
    digits = max(1, (len(mutants) - 1).bit_length())
    order = (int(f"{index:0{digits}b}"[::-1], 2) for index in range(2**digits))
    return [mutants[place] for place in order if place < len(mutants)]


def _mutant(operator: str, original: ParsedClaim, mutated: ParsedClaim) -> Mutant:
    model, statement = _written(mutated)
    file = original.claim.location.file
    claim = replace(
        original.claim,
        statement=SourceText.plain(statement, file),
        model=SourceText.plain(model, file) if mutated.model else None,
    )
    if mutated.statement != original.statement:
        return Mutant(claim, operator, f"claim: {statement}")
    changed = _changed(original.model, mutated.model)
    return Mutant(claim, operator, f"model: {changed}", in_model=True)


def _changed(original: Model, mutated: Model) -> str:
    """The line, or the first line of the loop, in which two models differ."""
    for old, new in zip(lines_of(original), lines_of(mutated), strict=True):
        if old != new:
            return unparse_model((new,))
    for loop, other in zip(loops_of(original), loops_of(mutated), strict=True):
        if loop.over != other.over:
            return unparse_model((replace(other, body=()),)).rstrip()
    return ""


def _is_claim(claim: Claim, case: Case, readings: Readings) -> bool:
    try:
        readings.lowered(readings.mutant(claim), case.parameters)
    except DropcheckError:
        return False
    return True


# ---- campaign ------------------------------------------------------------------------------------


# Cases at which a mutant is compared with its claim by arithmetic.
MOST_COMPARED = 64
# Mutants of a claim that is costly to judge.
FEWER_MUTANTS = 8
# Cases of the claim, and other values, at which a mutant is judged before it is called true.
MOST_JUDGED = 2
MOST_PROBES = 2
# A mutant may draw so many times what its claim took at the same case, or the number below if that
# is larger. If it is still open it gets so many times that once more, and is then undecided.
GENEROSITY = 8
FEWEST_DRAWS = 2**18
# About the draws of a case's pilot, which come in addition to those that it is judged by.
PILOT = 2**14
# Rough nanoseconds of a case above which it is costly: then a claim has fewer mutants, and each is
# judged at its first case alone.
COSTLY = 3e8


def share_of_alpha(settings: Settings, registry: Registry) -> float:
    """The error of one verdict, so that any verdict of a full run is wrong with chance α at most.

    It depends on the registry and not on the selection, as in a run.
    """
    # two more: the last chance, and the border or the clearest case; the claim at each probe too
    a_mutant = MOST_JUDGED + 2 + 2 * MOST_PROBES
    a_claim = 2 + MOST_MUTANTS * a_mutant
    return settings.alpha / max(1, len(registry.claims) * a_claim)


def mutate_claims(
    claims: Sequence[Claim],
    settings: Settings,
    registry: Registry,
    graphs: CaseGraphs | None = None,
) -> Iterator[ClaimResult]:
    r"""Plant errors in claims and judge each, yielding claims in order as they are done.

    Claims are shared by processes. An interruption first yields what is finished. No result depends
    on the number of processes: every verdict has its own streams of draws. `graphs` are those of a
    check of the claims, which must keep what is taken from them.

    >>> from dropcheck.claims.reader import read_text
    >>> text = "{title: t, model: 'x ~ normal(0, 2)', claim: E(x**2) == 4, resolution: 0.05}"
    >>> registry = read_text(f"dropcheck: 1\nclaims: {{square: {text}}}")
    >>> claims = tuple(registry.claims.values())
    >>> [result.toothless for result in mutate_claims(claims, Settings(), registry)]
    [False]
    """
    graphs = graphs or CaseGraphs(settings.max_memory, forget=False)
    alpha = share_of_alpha(settings, registry)
    # an error is planted in one statement: the others of its entry do not matter
    apart = tuple(replace(claim, family=None) for claim in claims)
    one = partial(_mutate, apart, settings, alpha, graphs)
    workers = min(settings.threads or default_threads(), max(1, len(claims)))
    return in_order(shared(one, range(len(claims)), workers))


def _mutate(
    claims: Sequence[Claim], settings: Settings, alpha: float, graphs: CaseGraphs, place: int
) -> ClaimResult:
    """Plant errors in the claim at a place, and judge them."""
    started = time.perf_counter()
    claim = claims[place]
    cases = most_revealing_first(claim.expand())[:MOST_COMPARED]
    first = cases[0]
    skipped = partial(ClaimResult, claim=claim, parameters=dict(first.parameters), mutants=())
    if Verdict(claim.expect) is Verdict.REFUTED:
        why = "it is expected to be refuted: an error in a falsehood proves nothing"
        return skipped(verdict=None, draws=0, seconds=0.0, skipped=why)
    parsed = graphs.parsed(claim)
    judging = MutantJudge(Readings(parsed, spread(cases), graphs), settings, alpha)
    own = judging.result(first, graphs)
    if own is None or own.verdict is not Verdict.VERIFIED:
        verdict = own.verdict if own is not None else Verdict.INCONCLUSIVE
        return skipped(
            verdict=verdict,
            draws=judging.draws,
            seconds=time.perf_counter() - started,
            skipped=f"the claim itself is {verdict}: run says why",
        )
    judging.own_draws = own.draws
    if len(cases) > 1 and judging.is_costly(first):
        own = judging.start_cheaper(cases[1], own)
        first = judging.readings.cases[0]
    most = FEWER_MUTANTS if judging.is_costly(first) else MOST_MUTANTS
    facts = facts_of(parsed, own.scale, judging.readings)
    return ClaimResult(
        claim=claim,
        verdict=own.verdict,
        parameters=dict(first.parameters),
        mutants=tuple(map(judging.fate, mutants_of(judging.readings, facts, first, most))),
        draws=judging.draws,
        seconds=time.perf_counter() - started,
        warnings=own.warnings,
    )


@dataclass(slots=True)
class MutantJudge:
    """Judges the mutants of one claim; what is computed of the claim itself is kept."""

    readings: Readings  # at the cases of the claim, in the order in which a mutant is judged there
    settings: Settings
    alpha: float
    own_draws: int = 0  # that the claim itself took at the first case
    draws: int = 0  # of all that was judged
    verdicts: dict[str, Verdict | None] = field(default_factory=dict)

    @property
    def bound(self) -> int:
        """The most draws that a mutant may take."""
        return self.settings.max_draws or max(FEWEST_DRAWS, GENEROSITY * self.own_draws)

    def result(
        self, case: Case, graphs: CaseGraphs | None = None, most: int | None = None
    ) -> CaseResult | None:
        """The result of a case: by its exact value, or from at most so many draws.

        None where nothing can be judged.
        """
        settings = self.settings if most is None else replace(self.settings, max_draws=most)
        known = replace(settings, exact=True)
        try:
            prepared = prepare(case, graphs, crossing=not settings.plain)
            result = carried_out(run_case(prepared, known, self.alpha))
            if result.exact is None:
                result = carried_out(run_case(prepared, settings, self.alpha))
        except DropcheckError:
            return None
        self.draws += result.draws
        return result

    def is_costly(self, case: Case) -> bool:
        """Whether a case with these parameters costs too much to be judged often."""
        return self._cost(case) * (self.own_draws + PILOT) > COSTLY

    def _cost(self, case: Case) -> float:
        """Rough nanoseconds of one draw of a case."""
        lowered = self.readings.own(case.parameters)
        if lowered is None:
            return 0.0
        if lowered.law is not None:
            compiled = compile_strategy(Laws(lowered.law), lowered.operands)
            return 0.0 if compiled is None else compiled.program.cost
        return compile_averages(averages_of(lowered), lowered.operands).program.cost

    def start_cheaper(self, second: Case, own: CaseResult) -> CaseResult:
        """The result of the first case, after the cheaper of the two cases was put first."""
        cases = self.readings.cases
        if self._cost(second) > self._cost(cases[0]):
            return own
        result = self.result(second, self.readings.graphs)
        if result is None or result.verdict is not Verdict.VERIFIED or result.draws >= own.draws:
            return own
        others = [case for case in cases if case != second]
        self.readings = replace(self.readings, cases=spread([second, *others]))
        self.own_draws = result.draws
        return result

    def fate(self, mutant: Mutant) -> MutantResult:
        """Judge one mutant."""
        parsed = self.readings.mutant(mutant.claim)
        try:
            return self._fate(mutant, parsed)
        finally:
            self.readings.forget(parsed)

    def _fate(self, mutant: Mutant, parsed: ParsedClaim) -> MutantResult:
        judged: list[tuple[Case, CaseResult]] = []
        first: Case | None = None
        for case in self.readings.cases:
            if not self.readings.differs(parsed, case.parameters):
                continue
            if first is not None and self.is_costly(case):
                continue
            first = first or case
            result = self._mutated(parsed, case)
            if result is not None and result.verdict is Verdict.REFUTED:
                return _ended(mutant, Fate.REFUTED, case, draws=result.draws)
            if result is not None and not _meaningless(result):
                judged.append((case, result))
                if len(judged) == MOST_JUDGED:
                    break
        if judged:
            return self._survived(mutant, parsed, judged)
        if first is not None:
            return _ended(mutant, Fate.MEANINGLESS, first, "it gives no number to judge")
        refused = self.readings.refused(parsed)
        if refused is not None:
            return _ended(mutant, Fate.MEANINGLESS, *refused)
        return self._with_probe(_ended(mutant, Fate.SAME, self.readings.cases[0]), parsed)

    def _mutated(self, parsed: ParsedClaim, case: Case, times: int = 1) -> CaseResult | None:
        """The mutant's result at a case of its claim, from at most `times` the bound."""
        at = Case(parsed.claim, case.parameters)
        return self.result(at, self.readings.graphs_of(parsed), times * self.bound)

    def _survived(
        self, mutant: Mutant, parsed: ParsedClaim, judged: Sequence[tuple[Case, CaseResult]]
    ) -> MutantResult:
        verified = [pair for pair in judged if pair[1].verdict is Verdict.VERIFIED]
        case, result = (verified or judged)[0]
        if not verified and self.settings.max_draws is None and not self.is_costly(case):
            result = self._mutated(parsed, case, GENEROSITY) or result  # a last chance
        fates = {Verdict.REFUTED: Fate.REFUTED, Verdict.VERIFIED: Fate.TRUE}
        fate = fates.get(result.verdict, Fate.UNDECIDED)
        draws = sum(one.draws for _, one in judged)
        why = None if result.explanation is None else str(result.explanation)
        ended = _ended(mutant, fate, case, why, draws)
        change = self.readings.change(parsed, case.parameters)
        near = change is not None and (fate is Fate.TRUE or change <= 2 * result.resolution)
        if near and fate is not Fate.REFUTED and "==" in parsed.statement.operators:
            # the claim was verified and says another number: both cannot be true
            clearest = self._clearest(parsed)
            if all(clearest != one for one, _ in judged):
                shown = self._mutated(parsed, clearest)
                if shown is not None and shown.verdict is Verdict.REFUTED:
                    return _ended(mutant, Fate.REFUTED, clearest, draws=draws + shown.draws)
            reason = (
                f"it changes the number that is claimed by {change:.2g} of itself, and the "
                f"resolution is {result.resolution:.2g}"
            )
            return replace(ended, fate=Fate.BELOW, reason=reason)
        if fate is Fate.UNDECIDED and self._on_the_border(mutant, parsed, case):
            reason = (
                "its two sides are equal to within the resolution, and it claims that they differ"
            )
            return replace(ended, fate=Fate.BORDER, reason=reason)
        return self._with_probe(ended, parsed) if fate is Fate.TRUE else ended

    def _clearest(self, parsed: ParsedClaim) -> Case:
        """The case at which a mutant changes the claimed number most."""
        changes = (self.readings.change(parsed, case.parameters) for case in self.readings.cases)
        pairs = zip(changes, self.readings.cases, strict=True)
        return max(pairs, key=lambda pair: pair[0] or 0.0)[1]

    def _on_the_border(self, mutant: Mutant, parsed: ParsedClaim, case: Case) -> bool:
        """Whether a strict inequality is undecided because its sides are equal (`==` holds)."""
        statement = parsed.statement
        if statement.operators not in (("<",), (">",)):
            return False
        equal = unparse_statement(replace(statement, operators=("==",)))
        claim = replace(mutant.claim, statement=SourceText.plain(equal, case.claim.location.file))
        result = self.result(Case(claim, case.parameters), most=self.bound)
        return result is not None and result.verdict is Verdict.VERIFIED

    def _with_probe(self, ended: MutantResult, parsed: ParsedClaim) -> MutantResult:
        """The fate with a value at which the error would show, if there is one."""
        probed = 0
        for name, case in probes(Case(self.readings.parsed.claim, ended.parameters)):
            if probed == MOST_PROBES or self.is_costly(case):
                break
            if not self.readings.differs(parsed, case.parameters):
                continue
            probed += 1
            own = self._verdict(case)
            if own is not Verdict.VERIFIED:
                where = f"{name} = {format_value(case.parameters[name])}"
                fails = "does not hold" if own is Verdict.REFUTED else "is not decided"
                reason = f"it differs at {where}, where the claim itself {fails}"
                ended = replace(ended, reason=ended.reason or reason)
                continue
            result = self._mutated(parsed, case)
            if result is not None and result.verdict is Verdict.REFUTED:
                return replace(ended, reason=None, shows_at={name: case.parameters[name]})
        return ended

    def _verdict(self, case: Case) -> Verdict | None:
        """The claim's own verdict at a case that it does not list; None where it has none."""
        if case.key not in self.verdicts:
            result = self.result(case, self.readings.graphs, self.bound)
            self.verdicts[case.key] = None if result is None else result.verdict
        return self.verdicts[case.key]


def _ended(
    mutant: Mutant, fate: Fate, case: Case, reason: str | None = None, draws: int = 0
) -> MutantResult:
    return MutantResult(
        mutant=mutant, fate=fate, parameters=dict(case.parameters), draws=draws, reason=reason
    )


def _meaningless(result: CaseResult) -> bool:
    """Whether there was nothing to judge: no number at all, or a condition that was never true."""
    nothing = result.estimate is None or result.reason is Reason.CONDITION_NEVER_TRUE
    return nothing and result.verdict is Verdict.INCONCLUSIVE
