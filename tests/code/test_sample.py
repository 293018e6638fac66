"""Code of one's own in place of a model: what it draws is judged, and its slips are told."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest
from own_samples import Drawn, Generator, P, X, dropout, tried

from dropcheck import InvalidClaimError, verify
from dropcheck.code.probes import PROBE_DRAWS
from dropcheck.results import Guarantee, Verdict
from dropcheck.simulation.steps import MOST_SAMPLE_DRAWS

STATEMENT = "Var(y) == p / (1 - p) * x**2"
DROPPED = {"p": P, "x": X}


def unscaled(generator: Generator, count: int) -> Drawn:
    kept = generator.random(count) >= P
    return {"y": np.where(kept, X, 0.0)}


def layer(generator: Generator, count: int) -> Drawn:
    """Scores of one layer: arrays with a shape, of float32."""
    q, k = generator.normal(size=(2, count, 4, 16)).astype(np.float32)
    return {"scores": q @ np.swapaxes(k, 1, 2) / 4, "q": q, "k": k}


def kept(generator: Generator, count: int) -> Drawn:
    m = generator.random(count) >= P
    y = m * X / (1 - P)
    return {"m": m, "n": m.astype(np.int8), "y": y, "z": y + generator.normal(size=count)}


def arange(generator: Generator, count: int) -> Drawn:
    return {"beta": generator.normal([1.0, 2.0, 3.0], 1, (count, 3))}  # a name that a law has


def cauchy(generator: Generator, count: int) -> Drawn:
    return {"y": generator.standard_cauchy(count)}


def fixed(generator: Generator, count: int) -> Drawn:
    return {"y": np.full(count, 2.0)}


KEPT_ARRAY = np.empty(2**14)


def reusing(generator: Generator, count: int) -> Drawn:
    KEPT_ARRAY[:count] = generator.normal(size=count)
    return {"y": KEPT_ARRAY[:count]}


# ---- verdicts ------------------------------------------------------------------------------------


YES, NO, OPEN = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNDECIDED
JUDGED: list[tuple[str, Any, dict[str, Any], Verdict]] = [
    (STATEMENT, dropout, DROPPED, YES),
    (STATEMENT, unscaled, DROPPED, NO),
    ("E(beta[2]) == 3", arange, {}, YES),
    ("Var(scores) == 1", layer, {}, YES),
    ("Var(scores[0, 1]) == 1.1", layer, {}, NO),
    ("E(w) == x + 1", dropout, {"model": "z ~ normal(y, 1)\nw = z + 1", "x": X}, YES),
    ("E(w) == x", dropout, {"model": "z ~ normal(y, 1)\nw = z + 1", "x": X}, NO),
    ("P(m) == 0.69", kept, {}, NO),
    ("P(y >= 0) == 1", kept, {}, YES),
    # conditions are on the same draw, of which names depend on each other
    ("E(z, given=m) == 2 / 0.7", kept, {}, YES),
    ("E(z, given=not m) == 0", kept, {"within": 0.01}, YES),
    ("E(z, given=m) == 2", kept, {}, NO),
    ("Cov(y, n) == 0", kept, {"expect": "refuted"}, NO),
    # a moment that does not settle is never verified
    ("E(y) == 0", cauchy, {"max_draws": 10**6}, OPEN),
    # nothing is known of what fixed code might return some other time
    ("P(y == 2) == 1", fixed, {}, YES),
    ("E(y) == 2", fixed, {"max_draws": 10**5}, OPEN),
    ("E(y) == 3", fixed, {"max_draws": 10**5}, OPEN),
    ("Var(y) == 0", fixed, {"max_draws": 10**5}, OPEN),
    # an array that the code keeps is copied
    ("Var(y) == 1", reusing, {}, YES),
]


@pytest.mark.parametrize(("claim", "code", "options", "verdict"), JUDGED)
def test_a_claim_about_what_code_draws_is_judged(
    claim: str, code: Any, options: dict[str, Any], verdict: Verdict
) -> None:
    assert tried(claim, code, **options).verdict is verdict


@pytest.mark.parametrize(
    ("claim", "guarantee"),
    [("P(m) == 0.7", Guarantee.EXACT), ("E(n) == 0.7", Guarantee.ASYMPTOTIC)],
)
def test_truths_are_counted_exactly_and_whole_numbers_are_numbers(
    claim: str, guarantee: Guarantee
) -> None:
    found = tried(claim, kept)
    assert (found.verdict, found.guarantee) == (YES, guarantee)


def test_code_agrees_with_the_model_that_it_is() -> None:
    model = "m ~ bernoulli(1 - p)\ny = m * x / (1 - p)"
    written = verify(STATEMENT, model=model, p=P, x=X)
    coded = tried(STATEMENT, dropout, p=P, x=X)
    assert coded.estimate == pytest.approx(written.estimate, rel=0.02)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    ("statement", "p", "verdict"),
    [
        ("y in {0, x / (1 - p)}", 0.3, Verdict.VERIFIED),
        ("P(y == x / (1 - p)) == 0.7", 0.3, Verdict.VERIFIED),
        ("y in {0, x / (1 - p)}", 0.304, Verdict.REFUTED),
        ("z ~ normal(0, p * x / 0.6)", 0.3, Verdict.VERIFIED),
    ],
)
def test_what_is_equal_is_so_to_the_digits_that_code_returns(
    dtype: Any, statement: str, p: float, verdict: Verdict
) -> None:
    def short(generator: Generator, count: int) -> Drawn:
        kept = generator.random(count) >= 0.3
        scaled = np.where(kept, dtype(2) / dtype(0.7), dtype(0))
        return {"y": scaled, "z": generator.normal(size=count).astype(dtype)}

    assert tried(statement, short, p=p, x=2).verdict is verdict


def test_model_may_not_take_a_name_again() -> None:
    with pytest.raises(InvalidClaimError, match="'y' is already defined"):
        verify("E(y) == 2", sample=dropout, model="y ~ normal(0, 1)")


def test_certainty_is_refuted_by_a_counterexample() -> None:
    found = tried("P(y > 0) == 1", kept)
    assert (found.verdict, found.draws) == (Verdict.REFUTED, MOST_SAMPLE_DRAWS)  # those of one call
    assert str(found.explanation).endswith("the first with y = 0")


@pytest.mark.parametrize("repeat", [2, 16])
@pytest.mark.parametrize("names", ["y", "zy"])
def test_draws_that_share_numbers_refute_no_true_claim(repeat: int, names: str) -> None:
    def repeating(generator: Generator, count: int) -> Drawn:
        own = {name: generator.standard_normal(count) for name in names}
        return {**own, "y": np.repeat(generator.standard_normal(count), repeat)[:count]}

    with pytest.raises(InvalidClaimError, match="random numbers in common"):
        verify("P(y > 0) == 1 / 2", sample=repeating)


def test_draws_that_all_agree_decide_nothing_of_code_that_has_no_bounds() -> None:
    for claim in ("E(y, given=m) == 2 / 0.7", "E(y, given=m) == 3"):
        found = tried(claim, kept, max_draws=10**6)
        assert found.verdict is Verdict.UNDECIDED
        assert "too rare to be seen" in str(found.explanation)


# ---- streams and spans ---------------------------------------------------------------------------


def test_draws_are_the_same_for_any_number_of_threads() -> None:
    one = tried(STATEMENT, dropout, p=P, x=X, threads=1)
    four = tried(STATEMENT, dropout, p=P, x=X, threads=4)
    assert (one.estimate, one.interval, one.draws) == (four.estimate, four.interval, four.draws)


def test_another_seed_gives_other_draws() -> None:
    one, two = (tried(STATEMENT, dropout, p=P, x=X, seed=seed).estimate for seed in (0, 1))
    assert one != two


PRECISE: ContextVar[bool] = ContextVar("PRECISE", default=True)


@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 4}, {"time_limit": 60.0}])
def test_what_the_caller_keeps_for_its_thread_holds_where_the_code_runs(
    options: dict[str, Any],
) -> None:
    own = threading.local()
    callers: set[int] = set()

    def layer(generator: Generator, count: int) -> Drawn:
        """As under torch.autocast: its draws are others where the caller's setting is lost."""
        callers.add(threading.get_ident())
        set_here = hasattr(own, "on") and not PRECISE.get()
        return {"y": generator.normal(scale=1 if set_here else 2, size=count)}

    assert tried("Var(y) == 1", layer, resolution=0.02, **options).verdict is Verdict.REFUTED
    token = PRECISE.set(False)
    own.on = True
    try:
        found = tried("Var(y) == 1", layer, resolution=0.02, **options)
    finally:
        PRECISE.reset(token)
    assert found.verdict is Verdict.VERIFIED
    assert callers == {threading.get_ident()}


def test_an_interruption_of_the_code_ends_the_run_at_once() -> None:
    calls: list[int] = []

    def interrupted(generator: Generator, count: int) -> Drawn:
        calls.append(count)
        if count > PROBE_DRAWS:
            raise KeyboardInterrupt
        return {"y": generator.normal(size=count)}

    with pytest.raises(KeyboardInterrupt):
        verify("E(y) == 0", sample=interrupted, threads=4)
    assert len([count for count in calls if count > PROBE_DRAWS]) == 1


def test_calls_ask_for_a_moderate_count_and_never_overlap() -> None:
    counts: list[int] = []
    inside = threading.Lock()

    def watched(generator: Generator, count: int) -> Drawn:
        assert inside.acquire(blocking=False), "two calls at a time"
        try:
            counts.append(count)
            return {"y": generator.normal(size=count)}
        finally:
            inside.release()

    found = tried("E(y) == 0", watched, within=0.003, threads=4)
    assert found.verdict is Verdict.VERIFIED
    assert found.draws > 10 * MOST_SAMPLE_DRAWS
    assert max(counts) <= MOST_SAMPLE_DRAWS


def test_sides_of_one_call_are_not_crossed() -> None:
    def both(generator: Generator, count: int) -> Drawn:
        q = generator.normal(size=(count, 64))
        return {"q": q, "k": q}

    found = tried("E(q @ k) == 64", both)
    assert (found.sampling, found.verdict) == ("plain", Verdict.VERIFIED)


def test_a_call_is_multiplied_with_what_a_model_draws() -> None:
    """Draw by draw: of code's own draws nothing is known that could say what pairs would save."""
    counts: list[int] = []

    def one(generator: Generator, count: int) -> Drawn:
        counts.append(count)
        return {"q": generator.normal(size=(count, 16))}

    found = tried("Var(q @ k) == 16", one, model="k ~ normal(0, 1)[16]", resolution=0.05)
    assert found.sampling == "plain"
    assert found.guarantee is Guarantee.ASYMPTOTIC
    assert found.verdict is Verdict.VERIFIED
    assert max(counts) <= MOST_SAMPLE_DRAWS
