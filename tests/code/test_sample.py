"""Code of one's own in place of a model: it is judged, its slips are told, and its time counts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

from dropcheck import ClaimFailedError, InvalidClaimError, verify
from dropcheck.judging import judge
from dropcheck.results import CaseResult, Verdict
from dropcheck.simulation.program import MOST_SAMPLE_DRAWS

Generator = np.random.Generator
Drawn = Mapping[str, Any]

P, X = 0.3, 2.0


def dropout(generator: Generator, count: int) -> Drawn:
    kept = generator.random(count) >= P
    return {"y": np.where(kept, X / (1 - P), 0.0)}


def tried(statement: str, sample: Callable[..., Any], **options: Any) -> CaseResult:
    """The result, whatever it is."""
    expect = options.pop("expect", "verified")
    try:
        return verify(statement, sample=sample, undecided="pass", expect=expect, **options)
    except ClaimFailedError as error:
        return error.result


STATEMENT = "Var(y) == p / (1 - p) * x**2"
DROPPED = {"p": P, "x": X}


def unscaled(generator: Generator, count: int) -> Drawn:
    kept = generator.random(count) >= P
    return {"y": np.where(kept, X, 0.0)}


def layer(generator: Generator, count: int) -> Drawn:
    """Scores of one layer: arrays with a shape, of float32."""
    q, k = generator.normal(size=(2, count, 2, 4)).astype(np.float32)
    return {"scores": q @ np.swapaxes(k, 1, 2) / 2, "q": q, "k": k}


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


def alike(generator: Generator, count: int) -> Drawn:
    x = generator.exponential(1, count)
    return {"x": x, "y": x.copy()}


def with_nan(generator: Generator, count: int, share: float) -> Drawn:
    y = generator.random(count)
    return {"y": np.where(y < share, np.nan, y)}


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
    ("P(m) == 0.7", kept, {}, YES),
    ("E(n) == 0.7", kept, {}, YES),
    # sides of one call are not crossed, and go with what a model draws
    ("E(q[0] @ q[0]) == 4", layer, {"within": 0.1}, YES),
    ("Var(q[0] @ w) == 4", layer, {"model": "w ~ normal(0, 1)[4]", "resolution": 0.05}, YES),
    # NaN refutes what is claimed of numbers, and does no harm where it is not looked at
    ("E(y) == 0.5", with_nan, {"share": 0.05}, NO),
    ("y ~ uniform(0, 1)", with_nan, {"share": 0.001}, NO),
    ("P(y >= 0) == 1", with_nan, {"share": 1}, NO),
    ("P(isnan(y)) == share", with_nan, {"share": 0.05}, YES),
    ("E(y, given=not isnan(y)) == 1", with_nan, {"share": 0.5, "expect": "refuted"}, NO),
    ("Var(scores) == 1", layer, {"resolution": 0.03}, YES),
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
    # what is the same in every draw may differ in one that was not seen
    ("Corr(y, x) == 1", alike, {}, YES),
    ("Corr(y, x) < 1", alike, {"resolution": 1e-4, "max_draws": 10**6}, OPEN),
    ("E(y) / E(x) == 0.999", alike, {"resolution": 1e-4, "max_draws": 10**6}, OPEN),
    # an array that the code keeps is copied
    ("Var(y) == 1", reusing, {}, YES),
]


@pytest.mark.parametrize(("claim", "code", "options", "verdict"), JUDGED)
def test_a_claim_about_what_code_draws_is_judged(
    claim: str, code: Any, options: dict[str, Any], verdict: Verdict
) -> None:
    assert tried(claim, code, **options).verdict is verdict


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
        other = generator.random(count, dtype=np.float32)  # the coarsest of all formats counts
        return {"y": scaled, "z": generator.normal(size=count).astype(dtype), "w": other}

    assert tried(statement, short, p=p, x=2).verdict is verdict


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


# ---- streams and spans ---------------------------------------------------------------------------


def test_draws_are_the_same_for_any_number_of_threads() -> None:
    one = tried(STATEMENT, dropout, p=P, x=X, threads=1)
    four = tried(STATEMENT, dropout, p=P, x=X, threads=4)
    assert (one.estimate, one.interval, one.draws) == (four.estimate, four.interval, four.draws)


PRECISE: ContextVar[bool] = ContextVar("PRECISE", default=True)


@pytest.mark.parametrize("options", [{"threads": 4}, {"time_limit": 60.0}])
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


# ---- slips ---------------------------------------------------------------------------------------


def normal(generator: Generator, count: int, shape: tuple[int, ...] = ()) -> Any:
    return generator.normal(size=(count, *shape))


def ends(generator: Generator, count: int) -> Drawn:
    raise SystemExit(0)


def ends_at_once(generator: Generator, count: int) -> Drawn:
    os._exit(0)


def own_seed(generator: Generator, count: int) -> Drawn:
    return {"y": np.random.default_rng(0).normal(size=count)}


GLOBAL = np.random.default_rng(7)

SLIPS: dict[str, tuple[Any, str]] = {
    "no function": ({"y": 1}, "is a function of a generator and a count"),
    "exits": (ends, "raised SystemExit: 0"),
    "exits at once": (ends_at_once, "raised SystemExit: 0"),
    "wrong signature": (lambda _generator: {}, "raised TypeError"),
    "an array": (normal, "returned a value of type 'ndarray', and named arrays are needed"),
    "draws last": (
        lambda g, n: {"y": normal(g, n, (2,)).T},
        r"shape \[2, 3\], and 3 draws were asked for",
    ),
    "name no text": (lambda g, n: {1: normal(g, n)}, "name '1', which is not a name"),
    "name an operator": (lambda g, n: {"E": normal(g, n)}, "'E', which is a word"),
    "shape by count": (
        lambda g, n: {"y": normal(g, n, (2 if n < 10 else 3,))},
        r"shape \[2\] in one call, and of shape \[3\]",
    ),
    "names by count": (
        lambda g, n: {"y" if n < 10 else "z": normal(g, n)},
        "returned 'y' in one call, and 'z' in another",
    ),
    "type by count": (
        lambda g, n: {"y": normal(g, n) > 0 if n < 10 else normal(g, n)},
        "'y' as truths in one call, and as numbers",
    ),
    "own seed": (own_seed, "the same draws when called with another seed"),
    "global generator": (
        lambda _g, n: {"y": GLOBAL.normal(size=n)},
        "other draws when called again with the same seed",
    ),
    "one draw for all": (
        lambda g, n: {"y": np.full(n, g.random())},
        "draws that are all alike, and others in another call",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slip_is_told(slip: str) -> None:
    function, message = SLIPS[slip]
    with pytest.raises(InvalidClaimError, match="^sample .*" + message) as caught:
        verify("E(y) == 1", sample=function)
    assert "\nhint: " in str(caught.value)


def test_a_result_that_is_nan_is_said_of_the_code() -> None:
    found = tried("E(y) == 0.5", with_nan, share=1.0)
    assert str(found.explanation).startswith("what is claimed of your code is NaN or infinite in ")


# ---- parameters ----------------------------------------------------------------------------------


def of_parameters(
    generator: Generator, count: int, p: float, n: int = 1, *, w: Any = None
) -> Drawn:
    kept = generator.random((count, n)) >= p
    return {"y": (kept / (1 - p)).sum(axis=1), "n_type": np.full(count, type(n) is int)}


def test_code_is_given_the_parameters_that_it_names() -> None:
    assert tried("E(y) == n", of_parameters, p=P, n=3).verdict is Verdict.VERIFIED
    assert tried("Var(y) == n * p / (1 - p)", of_parameters, p=P, n=3).verdict is Verdict.VERIFIED
    assert tried("P(n_type) == 1", of_parameters, p=P, n=3).verdict is Verdict.VERIFIED


def test_a_parameter_that_there_is_not_is_told() -> None:
    with pytest.raises(InvalidClaimError, match="sample takes 'p', which is no parameter"):
        verify("E(y) == 1", sample=of_parameters)


SECONDS = 0.3
TRUE, RESOLUTION = "E(y) == 1", 0.1
Wait = Callable[[], object]
Judged = Callable[[Wait], CaseResult]


def computes(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few seconds, however busy the machine is."""
    monkeypatch.setattr(judge, "CODE_SECONDS", SECONDS)
    monkeypatch.setattr(judge, "PATIENCE", 1000)


def as_sample(wait: Wait) -> CaseResult:
    def sample(generator: Generator, count: int) -> Drawn:
        wait()
        return {"y": generator.normal(1, 1, count)}

    return tried(TRUE, sample, resolution=RESOLUTION)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judged:
    on_the_processor(monkeypatch)
    return as_sample


def test_code_that_has_to_wait_is_judged_as_if_it_had_not(judged: Judged) -> None:
    at_once = judged(lambda: None)
    assert at_once.verdict is Verdict.VERIFIED
    assert at_once.calls is not None
    wait = 1.5 * SECONDS / at_once.calls.count
    began = time.monotonic()
    waited = judged(lambda: time.sleep(wait))
    assert time.monotonic() - began > SECONDS
    assert (waited.verdict, waited.draws) == (at_once.verdict, at_once.draws)


def test_code_that_computes_for_long_is_ended(judged: Judged) -> None:
    ended = judged(lambda: computes(SECONDS / 8))
    assert ended.verdict is Verdict.UNDECIDED
    assert ended.calls is not None
    assert ended.calls.count < 16
