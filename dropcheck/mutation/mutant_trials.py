"""One claim's mutants under trial: each is judged as any claim is, where it could tell.

A mutant is tried first at the case whose values hide least. Where it works out as the claim itself
it is taken to another case. Where it is verified too, it is tried at the case least like that one
before it is called true, and then at values that the claim does not try, to say where it would
show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dropcheck.analysis.strategy import averages_of
from dropcheck.claims.registry import Case, SourceText, Value
from dropcheck.claims.values import format_value
from dropcheck.language.cases import ParsedClaim, parse_claim
from dropcheck.language.printing import unparse_statement
from dropcheck.mutation.distinguishing import probes
from dropcheck.mutation.judge import Court
from dropcheck.mutation.outcome import Fate, Mutant, MutantResult
from dropcheck.mutation.readings import Readings
from dropcheck.results import CaseResult, Verdict
from dropcheck.simulation.compile import compile_averages

# Cases of the claim that a mutant is tried at, and values beside them, before it is called true.
MOST_TRIES = 2
MOST_PROBES = 2
# A mutant may draw so many times what its claim took at the same case, and no less than the floor:
# one that is still open then has so many times that once more, and is undecided after it.
GENEROSITY = 8
FEWEST_DRAWS = 2**18
# Draws that any trial makes beside those that it judges by: its pilot.
PILOT = 2**14
# Rough nanoseconds of a trial above which it is dear: then a claim has fewer mutants, and each is
# tried at its first case alone.
DEAR = 3e8


@dataclass(slots=True)
class ClaimTrial:
    """A claim whose mutants are tried; what is worked out of the claim itself is kept."""

    readings: Readings
    court: Court
    own_draws: int  # that the claim itself took at the first case
    verdicts: dict[str, Verdict | None] = field(default_factory=dict)

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases of the claim, in the order in which a mutant is tried at them."""
        return self.readings.cases

    @property
    def bound(self) -> int:
        """Draws that a mutant may take."""
        asked = self.court.settings.max_draws
        return asked or max(FEWEST_DRAWS, GENEROSITY * self.own_draws)

    def dear(self, parameters: Mapping[str, Value]) -> bool:
        """Whether a trial there is too costly to be made more often than need be."""
        return self.cost(parameters) * (self.own_draws + PILOT) > DEAR

    def cost(self, parameters: Mapping[str, Value]) -> float:
        """Rough nanoseconds of a draw there."""
        lowered = self.readings.own(parameters)
        return (
            compile_averages(averages_of(lowered), lowered.operands).program.cost
            if lowered is not None
            else 0.0
        )

    def fate(self, mutant: Mutant) -> MutantResult:
        """What becomes of one mutant."""
        parsed = parse_claim(mutant.claim)
        tried: list[tuple[Case, CaseResult]] = []
        first: Case | None = None
        for case in self.cases:
            if not self.readings.tells(parsed, case.parameters):
                continue
            if first is not None and self.dear(case.parameters):
                continue
            first = first or case
            found = self.court.try_case(Case(mutant.claim, case.parameters), self.bound)
            if found is not None and found.verdict is Verdict.REFUTED:
                return MutantResult(mutant, Fate.REFUTED, dict(case.parameters), found.draws)
            if found is not None and not _meaningless(found):
                tried.append((case, found))
                if len(tried) == MOST_TRIES:
                    break
        refused = self.readings.refused(parsed) if first is None else None
        if refused is not None:
            case, why = refused
            return MutantResult(mutant, Fate.MEANINGLESS, dict(case.parameters), 0, why)
        if first is None:
            same = MutantResult(mutant, Fate.SAME, dict(self.cases[0].parameters), 0)
            return self._with_probe(same, parsed)
        if not tried:
            why = "it gives no number to judge"
            return MutantResult(mutant, Fate.MEANINGLESS, dict(first.parameters), 0, why)
        return self._survived(mutant, parsed, tried)

    def _survived(
        self, mutant: Mutant, parsed: ParsedClaim, tried: Sequence[tuple[Case, CaseResult]]
    ) -> MutantResult:
        verified = [pair for pair in tried if pair[1].verdict is Verdict.VERIFIED]
        case, found = (verified or tried)[0]
        if not verified:
            found = self._last_chance(mutant, case, found)
        fates = {Verdict.REFUTED: Fate.REFUTED, Verdict.VERIFIED: Fate.TRUE}
        fate = fates.get(found.verdict, Fate.UNDECIDED)
        draws = sum(one.draws for _, one in tried)
        why = None if found.explanation is None else str(found.explanation)
        result = MutantResult(mutant, fate, dict(case.parameters), draws, why)
        change = self.readings.change(parsed, case.parameters)
        near = change is not None and (fate is Fate.TRUE or change <= 2 * found.resolution)
        if near and fate is not Fate.REFUTED and "==" in parsed.statement.operators:
            # the claim was verified and says another number: both cannot be true
            reason = (
                f"it changes the number that is claimed by {change:.2g} of itself, and the "
                f"resolution is {found.resolution:.2g}"
            )
            return replace(result, fate=Fate.BELOW, reason=reason)
        if fate is Fate.UNDECIDED and self._on_the_border(mutant, parsed, case):
            reason = (
                "its two sides are equal to within the resolution, and it claims that they differ"
            )
            return replace(result, fate=Fate.BORDER, reason=reason)
        return self._with_probe(result, parsed) if fate is Fate.TRUE else result

    def _last_chance(self, mutant: Mutant, case: Case, found: CaseResult) -> CaseResult:
        """The mutant once more, with more draws, where that is not too costly."""
        if self.court.settings.max_draws is not None or self.dear(case.parameters):
            return found
        more = self.court.try_case(Case(mutant.claim, case.parameters), GENEROSITY * self.bound)
        return more or found

    def _on_the_border(self, mutant: Mutant, parsed: ParsedClaim, case: Case) -> bool:
        """Whether a strict inequality is open because its sides are equal: `==` is verified."""
        statement = parsed.statement
        if statement.operators not in (("<",), (">",)):
            return False
        equal = unparse_statement(replace(statement, operators=("==",)))
        claim = replace(mutant.claim, statement=SourceText.plain(equal, case.claim.location.file))
        found = self.court.try_case(Case(claim, case.parameters), self.bound)
        return found is not None and found.verdict is Verdict.VERIFIED

    def _with_probe(self, result: MutantResult, parsed: ParsedClaim) -> MutantResult:
        """The result, with a value at which the error would show, if one is found."""
        probed = 0
        for name, case in probes(Case(self.readings.parsed.claim, result.parameters)):
            if probed == MOST_PROBES or self.dear(case.parameters):
                break
            if not self.readings.tells(parsed, case.parameters):
                continue
            probed += 1
            own = self._verdict(case)
            if own is not Verdict.VERIFIED:
                where = f"{name} = {format_value(case.parameters[name])}"
                fails = "does not hold" if own is Verdict.REFUTED else "is not decided"
                reason = f"it differs at {where}, where the claim itself {fails}"
                result = replace(result, reason=result.reason or reason)
                continue
            found = self.court.try_case(Case(result.mutant.claim, case.parameters), self.bound)
            if found is not None and found.verdict is Verdict.REFUTED:
                return replace(result, reason=None, shows_at={name: case.parameters[name]})
        return result

    def _verdict(self, case: Case) -> Verdict | None:
        """The claim's own verdict at a case that it does not list; None where it has none."""
        if case.key not in self.verdicts:
            found = self.court.try_case(case, self.bound)
            self.verdicts[case.key] = None if found is None else found.verdict
        return self.verdicts[case.key]


def _meaningless(found: CaseResult) -> bool:
    """Whether there was nothing to judge: no number at all, or a condition that never held."""
    if found.verdict is not Verdict.INCONCLUSIVE:
        return False
    return found.estimate is None or found.interval == (0.0, 1.0)
