"""The results of planted errors, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum

from dropcheck.claims.registry import Claim
from dropcheck.records import record
from dropcheck.results import ParameterValue, Verdict
from dropcheck.settings import Settings


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


@record
class Mutant:
    """A claim with one error planted in it."""

    claim: Claim
    operator: str
    changed: str  # the line that differs, `model: …` or `claim: …`
    in_model: bool = False


@record
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


@record
class ClaimResult:
    """All mutants of one claim; `skipped` says why there are none."""

    claim: Claim
    verdict: Verdict | None  # of the claim itself, at the case where its mutants are judged first
    parameters: dict[str, ParameterValue]
    mutants: tuple[MutantResult, ...]
    draws: int
    seconds: float
    skipped: str | None = None

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


@record
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
