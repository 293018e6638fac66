"""Code of one's own in place of a model: what it draws is judged, and its slips are told."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

from dropcheck import ClaimFailedError, InvalidClaimError, verify
from dropcheck.errors import DropcheckError
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.simulation.code_calls import MOST_SAMPLE_DRAWS
from dropcheck.simulation.streams import MAIN, stream
from dropcheck.simulation.user_code.draw_checks import PROBE_DRAWS
from dropcheck.simulation.user_code.own_code import own_code

Generator = np.random.Generator
Drawn = Mapping[str, Any]
Sampler = Callable[[Generator, int], Drawn]

P, X = 0.3, 2.0
STATEMENT = "Var(y) == p / (1 - p) * x**2"


def dropout(generator: Generator, count: int) -> Drawn:
    kept = generator.random(count) >= P
    return {"y": np.where(kept, X / (1 - P), 0.0)}


def unscaled(generator: Generator, count: int) -> Drawn:
    kept = generator.random(count) >= P
    return {"y": np.where(kept, X, 0.0)}


def tried(statement: str, sample: Callable[..., Any], **options: Any) -> CaseResult:
    """The result, whatever it is."""
    expect = options.pop("expect", "verified")
    try:
        return verify(statement, sample=sample, undecided="pass", expect=expect, **options)
    except ClaimFailedError as error:
        return error.result


# ---- verdicts ------------------------------------------------------------------------------------


def test_right_code_is_verified() -> None:
    assert tried(STATEMENT, dropout, p=P, x=X).verdict is Verdict.VERIFIED


def test_a_name_that_a_law_has_is_what_the_code_draws() -> None:
    found = tried("E(beta[2]) == 3", lambda g, n: {"beta": g.normal([1.0, 2.0, 3.0], 1, (n, 3))})
    assert found.verdict is Verdict.VERIFIED


def test_wrong_code_is_refuted() -> None:
    assert tried(STATEMENT, unscaled, p=P, x=X).verdict is Verdict.REFUTED


def test_code_agrees_with_the_model_that_it_is() -> None:
    model = "m ~ bernoulli(1 - p)\ny = m * x / (1 - p)"
    written = verify(STATEMENT, model=model, p=P, x=X)
    coded = tried(STATEMENT, dropout, p=P, x=X)
    assert coded.estimate == pytest.approx(written.estimate, rel=0.02)


def layer(generator: Generator, count: int) -> Drawn:
    """Scores of one layer: arrays with a shape, of float32."""
    q, k = generator.normal(size=(2, count, 4, 16)).astype(np.float32)
    return {"scores": q @ np.swapaxes(k, 1, 2) / 4, "q": q, "k": k}


def test_draws_may_have_a_shape() -> None:
    assert tried("Var(scores) == 1", layer).verdict is Verdict.VERIFIED
    assert tried("Var(scores[0, 1]) == 1.1", layer).verdict is Verdict.REFUTED


def test_model_may_go_on_from_the_names() -> None:
    model = "z ~ normal(y, 1)\nw = z + 1"
    assert tried("E(w) == x + 1", dropout, model=model, x=X).verdict is Verdict.VERIFIED
    assert tried("E(w) == x", dropout, model=model, x=X).verdict is Verdict.REFUTED


def test_model_may_not_take_a_name_again() -> None:
    with pytest.raises(InvalidClaimError, match="'y' is already defined"):
        verify("E(y) == 2", sample=dropout, model="y ~ normal(0, 1)")


def kept(generator: Generator, count: int) -> Drawn:
    m = generator.random(count) >= P
    y = m * X / (1 - P)
    return {"m": m, "n": m.astype(np.int8), "y": y, "z": y + generator.normal(size=count)}


def test_truths_are_counted_exactly() -> None:
    found = tried("P(m) == 0.7", kept)
    assert (found.verdict, found.guarantee) == (Verdict.VERIFIED, Guarantee.EXACT)
    assert tried("P(m) == 0.69", kept).verdict is Verdict.REFUTED


def test_whole_numbers_are_numbers() -> None:
    found = tried("E(n) == 0.7", kept)
    assert (found.verdict, found.guarantee) == (Verdict.VERIFIED, Guarantee.ASYMPTOTIC)


def test_certainty_is_refuted_by_a_counterexample() -> None:
    assert tried("P(y >= 0) == 1", kept).verdict is Verdict.VERIFIED
    assert tried("P(y > 0) == 1", kept).verdict is Verdict.REFUTED


def test_conditions_are_on_the_same_draw() -> None:
    assert tried("E(z, given=m) == 2 / 0.7", kept).verdict is Verdict.VERIFIED
    assert tried("E(z, given=not m) == 0", kept, within=0.01).verdict is Verdict.VERIFIED
    assert tried("E(z, given=m) == 2", kept).verdict is Verdict.REFUTED


def test_draws_that_all_agree_decide_nothing_of_code_that_has_no_bounds() -> None:
    for claim in ("E(y, given=m) == 2 / 0.7", "E(y, given=m) == 3"):
        found = tried(claim, kept)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "too rare to be seen" in str(found.explanation)


def test_names_of_one_call_depend_on_each_other() -> None:
    assert tried("Cov(y, n) == 0", kept, expect="refuted").verdict is Verdict.REFUTED


def test_moment_that_does_not_settle_is_never_verified() -> None:
    def cauchy(generator: Generator, count: int) -> Drawn:
        return {"y": generator.standard_cauchy(count)}

    assert tried("E(y) == 0", cauchy, max_draws=10**6).verdict is Verdict.INCONCLUSIVE


def test_fixed_code_is_no_error() -> None:
    def fixed(generator: Generator, count: int) -> Drawn:
        return {"y": np.full(count, 2.0)}

    assert tried("P(y == 2) == 1", fixed).verdict is Verdict.VERIFIED
    # nothing is known of what the code might return some other time
    for claim in ("E(y) == 2", "E(y) == 3", "Var(y) == 0"):
        assert tried(claim, fixed, max_draws=10**5).verdict is Verdict.INCONCLUSIVE


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
        return {"y": normal(generator, count)}

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

    found = tried("E(y) == 0", watched, resolution=0.003, threads=4)
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


def test_array_that_the_code_keeps_is_copied() -> None:
    kept_array = np.empty(2**14)

    def reusing(generator: Generator, count: int) -> Drawn:
        kept_array[:count] = generator.normal(size=count)
        return {"y": kept_array[:count]}

    sample = own_code(reusing, 0, 2**30)
    first = sample.draw(stream(0, "a", MAIN, 0), 100)["y"]
    before = first.copy()
    sample.draw(stream(0, "a", MAIN, 1), 100)
    assert np.array_equal(first, before)


# ---- slips ---------------------------------------------------------------------------------------


def normal(generator: Generator, count: int, shape: tuple[int, ...] = ()) -> Any:
    return generator.normal(size=(count, *shape))


def failing(generator: Generator, count: int) -> Drawn:
    raise ZeroDivisionError("so it goes")


def own_seed(generator: Generator, count: int) -> Drawn:
    return {"y": np.random.default_rng(0).normal(size=count)}


def rare_own_seed(generator: Generator, count: int) -> Drawn:
    return {"y": np.random.default_rng(0).random(count) < 0.05}


GLOBAL = np.random.default_rng(7)

SLIPS: dict[str, tuple[Any, str]] = {
    "no function": ({"y": 1}, "is a function of a generator and a count"),
    "raises": (failing, "raised ZeroDivisionError: so it goes"),
    "wrong signature": (lambda _generator: {}, "raised TypeError"),
    "an array": (normal, "returned a value of type 'ndarray', and named arrays are needed"),
    "nothing": (lambda _g, _n: None, "returned a value of type 'NoneType'"),
    "empty": (lambda _g, _n: {}, "returned an empty mapping"),
    "one number": (lambda g, _n: {"y": g.random()}, "'y' as one number"),
    "wrong count": (lambda g, _n: {"y": normal(g, 10)}, r"'y' as an array of shape \[10\]"),
    "draws last": (
        lambda g, n: {"y": normal(g, n, (2,)).T},
        r"shape \[2, 3\], and 3 draws were asked for",
    ),
    "no elements": (lambda _g, n: {"y": np.zeros((n, 0))}, "without elements"),
    "words": (lambda _g, n: {"y": ["a"] * n}, "'y' with values of type"),
    "masked": (
        lambda g, n: {"y": np.ma.masked_less(normal(g, n), 0)},
        "'y' with values that are masked",
    ),
    "complex": (lambda g, n: {"y": normal(g, n) * 1j}, "of type complex128"),
    "ragged": (lambda _g, _n: {"y": [[1], [1, 2], [3]]}, "no array can be made"),
    "name no text": (lambda g, n: {1: normal(g, n)}, "name '1', which is not a name"),
    "name with space": (lambda g, n: {"a b": normal(g, n)}, "name 'a b', which is not a name"),
    "name a keyword": (lambda g, n: {"lambda": normal(g, n)}, "'lambda', which is a word"),
    "name a constant": (lambda g, n: {"pi": normal(g, n)}, "'pi', which is a word"),
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
    "own seed": (own_seed, "the same draws when called with another generator"),
    "rare events by an own seed": (rare_own_seed, "the same draws when called with another"),
    "global generator": (
        lambda _g, n: {"y": GLOBAL.normal(size=n)},
        "other draws of 'y' when called again with the same generator",
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


def test_slip_later_on_is_told_too() -> None:
    def late(generator: Generator, count: int) -> Drawn:
        return {"y": normal(generator, count, (1 if count <= PROBE_DRAWS else 2,))}

    with pytest.raises(InvalidClaimError, match=r"draws of shape \[1\] in one call, and of shape"):
        verify("E(y) == 0", sample=late)


def test_what_the_code_raised_is_the_cause() -> None:
    with pytest.raises(InvalidClaimError) as caught:
        verify("E(y) == 0", sample=failing)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.__cause__.__traceback__ is not None


def test_code_that_exits_is_refused_and_does_not_end_the_run() -> None:
    def ends(generator: Generator, count: int) -> Drawn:
        raise SystemExit(0)

    with pytest.raises(InvalidClaimError, match="sample raised SystemExit: 0"):
        verify("E(y) == 0", sample=ends)


def test_cause_is_kept_where_a_later_call_fails() -> None:
    def late(generator: Generator, count: int) -> Drawn:
        if count > PROBE_DRAWS:
            raise KeyError("weights")
        return {"y": normal(generator, count)}

    with pytest.raises(InvalidClaimError, match="sample raised KeyError: 'weights'") as caught:
        verify("E(y) == 0", sample=late)
    assert isinstance(caught.value.__cause__, KeyError)


def test_name_of_a_parameter_is_told() -> None:
    with pytest.raises(InvalidClaimError, match="'y' is already defined by a parameter"):
        verify("E(y) == 2", sample=dropout, y=1)


def test_nan_now_and_then_is_undecided_and_counted() -> None:
    def holed(generator: Generator, count: int) -> Drawn:
        y = generator.random(count)
        return {"y": np.where(y < 0.01, np.nan, y)}

    found = tried("E(y) == 0.5", holed)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "NaN or infinite, the first of them draw" in str(found.explanation)


def test_nan_that_is_not_looked_at_does_no_harm() -> None:
    def holed(generator: Generator, count: int) -> Drawn:
        y = generator.random(count)
        return {"y": np.where(y < 0.5, np.nan, y), "seen": y >= 0.5}

    assert tried("E(y, given=seen) == 0.75", holed).verdict is Verdict.VERIFIED


def test_nan_on_every_draw_is_an_error() -> None:
    with pytest.raises(InvalidClaimError, match="NaN or infinite on every draw"):
        verify("E(y) == 0", sample=lambda _g, n: {"y": np.full(n, np.nan)})


def test_rounding_between_equal_calls_is_no_slip() -> None:
    off = iter(range(10**9))

    def rounding(generator: Generator, count: int) -> Drawn:
        return {"y": generator.normal(size=count) * (1 + 1e-7 * (next(off) % 2))}

    assert own_code(rounding, 0, 2**30).shapes == {"y": ()}


def test_draw_too_large_is_told() -> None:
    with pytest.raises(InvalidClaimError, match="one draw of 'y' alone"):
        verify("E(y) == 0", sample=lambda _g, n: {"y": np.zeros((n, 2**18))}, max_memory=2**20)


def test_probing_raises_what_the_language_raises() -> None:
    with pytest.raises(DropcheckError):
        own_code(failing, 0, 2**30)


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


def test_a_parameter_that_only_code_uses_is_used() -> None:
    def scaled(generator: Generator, count: int, scale: Any) -> Drawn:
        return {"y": scale * generator.random((count, len(scale)))}

    found = tried("E(y[1]) == 1", scaled, scale=[1.0, 2.0])  # notes are errors in tests
    assert found.verdict is Verdict.VERIFIED


def test_a_parameter_that_there_is_not_is_told() -> None:
    with pytest.raises(InvalidClaimError, match="sample takes 'p', which is no parameter"):
        verify("E(y) == 1", sample=of_parameters)
    with pytest.raises(InvalidClaimError, match="sample takes 'p', which is searched for"):
        verify("E(y) == 1", sample=of_parameters, p="any in 0..1")


class Layer:
    def __call__(self, generator: Generator, count: int) -> Drawn:
        return {"y": generator.random(count)}


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (Layer(), "Layer(...)"),
        (lambda generator, count: {"y": generator.random(count)}, "lambda generator, count: ..."),
        (functools.partial(of_parameters, p=0.5), "partial(of_parameters, p=0.5)"),
        (Layer().__call__, "Layer.__call__"),
    ],
)
def test_code_is_readable_in_the_call_that_repeats_it(code: Any, shown: str) -> None:
    with pytest.raises(ClaimFailedError) as caught:
        verify("E(y) == 7", sample=code)
    assert f"sample={shown}, seed=0)" in str(caught.value)


def test_arrays_of_bfloat16_are_numbers() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")

    def short(generator: Generator, count: int) -> Drawn:
        return {"y": generator.random(count).astype(ml_dtypes.bfloat16)}

    assert tried("E(y) == 0.5", short).verdict is Verdict.VERIFIED
