"""Draws that are kept: one verdict for one set of them, and α once for all looks at it.

Rates of errors are judged by the exact binomial test of `trials.alarm`, with a false alarm of 1e-6.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from trials import alarm, entry, registry_of

from dropcheck.cli.evidence_file import Cases, merged
from dropcheck.execution.schedule import carried_out
from dropcheck.inference.finite_sample import clopper_pearson
from dropcheck.judging.evidence import units
from dropcheck.judging.evidence.held import STREAMS, simulated_key
from dropcheck.judging.evidence.units import level
from dropcheck.judging.judge import run_case
from dropcheck.judging.prepared import Prepared, prepare
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.results.drawn import Kept
from dropcheck.settings import Settings

ALPHA = 0.05
ONE_UNIT = Settings(max_draws=1024, require="asymptotic")
TIERS = {
    "proportion": ("m ~ bernoulli(0.5)", "P(m == 1) < 0.5", Guarantee.EXACT),
    "condition": ("m, k ~ bernoulli(0.5)", "P(m == 1, given=k == 1) < 0.5", Guarantee.EXACT),
    "certainty": ("x, w ~ normal(0, 1)", "P(x * w > -9) == 1", Guarantee.EXACT),
    "bounded": ("u ~ uniform(0, 1)", "E(u) < 0.5", Guarantee.FINITE_SAMPLE),
    "moments": ("x ~ normal(0, 1)", "Var(x) < 1", Guarantee.MOMENTS),
    "limit": ("x, w ~ normal(0, 1)", "E(log(abs(20 + x * w))) == 2.99446", Guarantee.ASYMPTOTIC),
}
"""Of each way to judge a claim that is at its edge, so that it is never verified."""


def ready(model: str, claim: str, keys: str = "") -> Prepared:
    """A claim in spans of 1,024 draws."""
    (case,) = registry_of(entry("claim", model, claim, keys)).expand()
    return prepare(case).with_programs(lambda program: program.fitted(2**15, 32))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units of one span, or as few as may be."""
    monkeypatch.setattr(units, "UNITS_A_NIGHT", 2**40)


@dataclass
class File:
    """What a machine keeps."""

    cases: Cases = field(default_factory=dict)

    def night(
        self, case: Prepared, seed: int, settings: Settings = ONE_UNIT, alpha: float = ALPHA
    ) -> CaseResult:
        """Run a case once; what it draws is kept."""
        kept = Kept("2026-01-01", self.cases)
        judge = run_case(case, replace(settings, seed=seed), alpha, kept=kept)
        result = carried_out(judge)
        if result.evidence is not None:
            own = result.evidence
            self.cases = merged(self.cases, {own.case: {own.simulated: own.units}}, "file")
        return result

    def look(self, case: Prepared, alpha: float = ALPHA) -> CaseResult:
        """What the file says, without a draw."""
        return self.night(case, 0, replace(ONE_UNIT, max_draws=1), alpha)

    def count(self) -> int:
        return sum(len(one) for of in self.cases.values() for one in of.values())


def together(files: Sequence[File]) -> File:
    whole: Cases = {}
    for file in files:
        whole = merged(whole, file.cases, "file")
    return File(whole)


def untimed(cases: Cases) -> Cases:
    """The same without how long each unit took, in which the same draws differ."""
    return {
        name: {key: tuple(replace(unit, seconds=0.0) for unit in of) for key, of in keys.items()}
        for name, keys in cases.items()
    }


@pytest.mark.parametrize("tier", TIERS)
def test_merged_in_any_order_there_is_one_verdict_to_the_last_bit(tier: str, small: None) -> None:
    model, claim, guarantee = TIERS[tier]
    case = ready(model, claim)
    machines = [File(), File(), File()]
    for night in range(6):
        for place, machine in enumerate(machines):
            machine.night(case, 3 * night + place)
    rng = random.Random(1)
    shown = set()
    for _ in range(4):
        order = rng.sample(machines, 3)
        whole = together([order[0], together(order[1:]), order[0]])
        found = whole.look(case)
        assert found.evidence is not None
        assert found.guarantee is guarantee
        assert (found.evidence.looks, found.evidence.units) == (whole.count(), ())
        shown.add((found.verdict, found.interval, found.estimate, found.draws))
    assert len(shown) == 1
    assert found.evidence is not None
    assert found.draws == found.evidence.draws
    assert found.draws > max(machine.look(case).draws for machine in machines)


def test_a_claim_undecided_tonight_is_decided_later() -> None:
    case = ready("m ~ bernoulli(0.5)", "P(m == 1) == 0.5")
    file, settings = File(), replace(ONE_UNIT, max_draws=2**16)
    verdicts = [file.night(case, seed, settings, 1e-8).verdict for seed in range(12)]
    decided = verdicts.index(Verdict.VERIFIED)
    assert 1 < decided < 11
    assert set(verdicts[decided:]) == {Verdict.VERIFIED}
    before, said = file.count(), file.look(case, 1e-8)
    assert file.night(case, 99, settings, 1e-8).draws == said.draws  # nothing more is drawn
    assert file.count() == before


def test_the_same_draws_count_once_and_a_seed_goes_on_where_it_was(small: None) -> None:
    case = ready(*TIERS["proportion"][:2])
    one, two, both = File(), File(), File()
    first, second = one.night(case, 7), two.night(case, 7)
    assert first.interval == second.interval
    assert together([one, two]).count() == 1
    for _ in range(3):
        both.night(case, 7)
    assert both.count() == 3
    assert untimed(together([both, one]).cases) == untimed(both.cases)
    numbers = [unit.number for of in both.cases.values() for us in of.values() for unit in us]
    assert numbers == [0, 1, 2]
    at_once = File()
    at_once.night(case, 7, replace(ONE_UNIT, max_draws=3 * 1024))
    assert at_once.look(case).interval == both.look(case).interval


def test_less_than_a_unit_is_said_and_nothing_is_kept(small: None) -> None:
    file = File()
    found = file.look(ready(*TIERS["moments"][:2]))
    assert found.reason is Reason.LESS_THAN_A_UNIT
    assert (found.verdict, found.draws, file.cases) == (Verdict.INCONCLUSIVE, 0, {})


def test_a_unit_that_time_cuts_short_is_not_kept() -> None:
    file = File()
    case = ready(*TIERS["proportion"][:2])
    found = file.night(case, 1, Settings(time_limit=1e-9))
    assert (found.verdict, file.cases) == (Verdict.INCONCLUSIVE, {})


def test_undefined_draws_stay_known(small: None) -> None:
    case = ready("x ~ normal(0, 1)", "E(log(x)) < 9")
    file = File()
    first = file.night(case, 4)
    assert first.reason is Reason.UNDEFINED_DRAWS
    again = file.look(case)
    assert (again.reason, str(again.explanation)) == (first.reason, str(first.explanation))


def test_another_claim_starts_anew() -> None:
    model = "x ~ normal(0, scale)"

    def keys(**changed: str) -> str:
        texts = {"model": model, "claim": "Std(x) == scale", "keys": "parameters: {scale: 1}"}
        (case,) = registry_of(entry("one", **{**texts, **changed})).expand()
        return simulated_key(case, Settings(), [1, 2])

    (case,) = registry_of(entry("one", model, "Std(x) == scale", "parameters: {scale: 1}")).expand()
    all_keys = [
        keys(),
        keys(model="x ~ normal(0, scale); y ~ normal(0, 1)"),
        keys(claim="Std(x) <= scale"),
        keys(keys="parameters: {scale: 2}"),
        keys(keys="parameters: {scale: 1}\nresolution: 0.02"),
        keys(keys="parameters: {scale: 1}\nwithin: 0.02"),
        keys(keys="parameters: {scale: 1}\ntolerance: 0.02"),
        simulated_key(case, Settings(resolution=0.5), [1, 2]),
        simulated_key(case, Settings(), [2, 2]),
    ]
    assert len(set(all_keys)) == len(all_keys)
    assert keys() == simulated_key(case, Settings(seed=5, alpha=0.1, max_draws=3), [1, 2])
    assert STREAMS == 1


def test_code_and_laws_keep_nothing() -> None:
    file = File()
    found = file.night(ready("x ~ normal(0, 1)", "x * 1 ~ normal(0, 1)"), 1, Settings())
    assert found.evidence is None
    assert found.draws
    assert file.cases == {}


def test_levels_add_up_to_alpha() -> None:
    total = sum(level(count, 1.0) for count in range(1, 10**5))
    assert 0.9 < total < 1
    assert level(1, 1.0) > level(2, 1.0) > level(3, 1.0) > 0


# ---- how often a verdict is wrong ---------------------------------------------------------------


def campaign(case: Prepared, number: int, nights: int) -> bool:
    """Whether a claim is ever refuted by a file that three machines put their nights into.

    It lies at its edge, so that no interval that holds the truth refutes it.

    Each machine goes on from its own file, or now and then from the common one.
    """
    rng = random.Random(number)
    machines, common = [File(), File(), File()], File()
    for night in range(nights):
        for place in rng.sample(range(3), 3):
            machine = machines[place]
            machine.night(case, 100_000 * number + 3 * night + place)
            if rng.random() < 0.5:
                common = together([common, machine])
                if common.look(case).verdict is Verdict.REFUTED:
                    return True
                if rng.random() < 0.3:
                    machine.cases = common.cases
    return together([common, *machines]).look(case).verdict is Verdict.REFUTED


def test_no_more_files_than_alpha_ever_miss_the_truth(small: None) -> None:
    case = ready(*TIERS["proportion"][:2])
    assert not alarm(sum(campaign(case, number, 6) for number in range(1, 11)), 10, ALPHA)


CAMPAIGNS, MOST_UNITS = 400, 60


def ever_missed(share: Callable[[int, float], float]) -> int:
    """Of many campaigns, those in which some look at a fair coin missed 1/2, a unit a look."""
    rng = np.random.default_rng(5)
    hits = rng.binomial(1024, 0.5, (CAMPAIGNS, MOST_UNITS)).cumsum(axis=1)
    missed = 0
    for row in hits:
        looks = enumerate(row.tolist(), 1)
        ends = (clopper_pearson(one, 1024 * count, share(count, ALPHA)) for count, one in looks)
        missed += any(not low <= 0.5 <= high for low, high in ends)
    return missed


def test_all_looks_together_miss_no_more_often_than_alpha() -> None:
    assert not alarm(ever_missed(level), CAMPAIGNS, ALPHA)


def test_looks_that_each_spend_the_whole_error_are_found() -> None:
    assert alarm(ever_missed(lambda _, alpha: alpha), CAMPAIGNS, ALPHA)
