"""Every claim of a selection with errors planted in it, and the fates of these mutants.

A mutant is judged as any claim is, first at the case whose values hide least. Where it is the same
as the claim itself, it is taken to another case. Where it is verified too, it is judged at the most
different case before it is called true, and then at values that the claim does not list, to say
where it would show. Where it claims another number, too near to be seen, it is judged at the case
at which that number changes most.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from dropcheck.analysis.strategy import Laws, averages_of
from dropcheck.claims.registry import Case, Claim, Registry, SourceText
from dropcheck.claims.values import format_value
from dropcheck.errors import DropcheckError
from dropcheck.execution.pool import shared
from dropcheck.execution.schedule import carried_out, in_order
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.language.cases import ParsedClaim
from dropcheck.language.printing import unparse_statement
from dropcheck.mutation.distinguishing import most_revealing_first, probes, spread
from dropcheck.mutation.outcome import ClaimResult, Fate, Mutant, MutantResult
from dropcheck.mutation.planting import MOST_MUTANTS, facts_of, mutants_of
from dropcheck.mutation.readings import Readings
from dropcheck.processors import default_threads
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import run_claim_case
from dropcheck.settings import Settings
from dropcheck.simulation import compile_averages, compile_strategy

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
        """The result of a case, from at most so many draws; None where nothing can be judged."""
        settings = self.settings if most is None else replace(self.settings, max_draws=most)
        judged = run_claim_case(case, settings, self.alpha, lambda _: "", graphs=graphs)
        try:
            result = carried_out(judged)
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
