"""Slips in code of one's own are told, and parameters are given to it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from own_samples import Drawn, Generator, P, dropout, tried

from dropcheck import ClaimFailedError, InvalidClaimError, verify
from dropcheck.code.probes import PROBE_DRAWS
from dropcheck.results import Verdict

# ---- slips ---------------------------------------------------------------------------------------


def normal(generator: Generator, count: int, shape: tuple[int, ...] = ()) -> Any:
    return generator.normal(size=(count, *shape))


def ends(generator: Generator, count: int) -> Drawn:
    raise SystemExit(0)


def own_seed(generator: Generator, count: int) -> Drawn:
    return {"y": np.random.default_rng(0).normal(size=count)}


def rare_own_seed(generator: Generator, count: int) -> Drawn:
    return {"y": np.random.default_rng(0).random(count) < 0.05}


GLOBAL = np.random.default_rng(7)

SLIPS: dict[str, tuple[Any, str]] = {
    "no function": ({"y": 1}, "is a function of a generator and a count"),
    "exits": (ends, "raised SystemExit: 0"),
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
    "words": (lambda _g, n: {"y": ["a"] * n}, "'y' as an array of <U1"),
    "masked": (
        lambda g, n: {"y": np.ma.masked_less(normal(g, n), 0)},
        "'y' as an array with values that are masked",
    ),
    "complex": (lambda g, n: {"y": normal(g, n) * 1j}, "an array of complex128"),
    "ragged": (lambda _g, _n: {"y": [[1], [1, 2], [3]]}, "cannot be read: "),
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
    "own seed": (own_seed, "the same draws when called with another seed"),
    "rare events by an own seed": (rare_own_seed, "the same draws when called with another"),
    "global generator": (
        lambda _g, n: {"y": GLOBAL.normal(size=n)},
        "other draws when called again with the same seed",
    ),
    "global generator, far from 0": (
        lambda _g, n: {"y": 1000 + GLOBAL.random(size=n)},
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


def test_slip_later_on_is_told_too() -> None:
    def late(generator: Generator, count: int) -> Drawn:
        return {"y": normal(generator, count, (1 if count <= PROBE_DRAWS else 2,))}

    with pytest.raises(InvalidClaimError, match=r"draws of shape \[1\] in one call, and of shape"):
        verify("E(y) == 0", sample=late)


@pytest.mark.parametrize("draws", [0, PROBE_DRAWS])
def test_what_the_code_raised_is_the_cause(draws: int) -> None:
    def fails(generator: Generator, count: int) -> Drawn:
        if count > draws:
            raise KeyError("weights")
        return {"y": normal(generator, count)}

    with pytest.raises(InvalidClaimError, match="sample raised KeyError: 'weights'") as caught:
        verify("E(y) == 0", sample=fails)
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__cause__.__traceback__ is not None


def test_name_of_a_parameter_is_told() -> None:
    with pytest.raises(InvalidClaimError, match="'y' is already defined by a parameter"):
        verify("E(y) == 2", sample=dropout, y=1)


def with_nan(generator: Generator, count: int, share: float) -> Drawn:
    y = generator.random(count)
    return {"y": np.where(y < share, np.nan, y)}


@pytest.mark.parametrize("share", [0.001, 1.0])
def test_nan_refutes_what_is_claimed_of_numbers(share: float) -> None:
    for claim in ("E(y) == 0.5", "y ~ uniform(0, 1)", "P(y >= 0) == 1", "y in {y}"):
        found = tried(claim, with_nan, share=share)
        assert found.verdict is Verdict.REFUTED
        assert "y = nan" in str(found.explanation)
    assert tried("P(isnan(y)) == share", with_nan, share=share).verdict is Verdict.VERIFIED


def test_a_result_that_is_nan_is_said_of_the_code() -> None:
    found = tried("E(y) == 0.5", with_nan, share=1.0)
    assert str(found.explanation).startswith("what is claimed of your code is NaN or infinite in ")


def test_nan_that_is_not_looked_at_does_no_harm() -> None:
    def holed(generator: Generator, count: int) -> Drawn:
        y = generator.random(count)
        return {"y": np.where(y < 0.5, np.nan, y), "seen": y >= 0.5}

    assert tried("E(y, given=seen) == 0.75", holed).verdict is Verdict.VERIFIED


def test_rounding_between_equal_calls_is_no_slip() -> None:
    off = iter(range(10**9))

    def rounding(generator: Generator, count: int) -> Drawn:
        return {"y": generator.normal(size=count) * (1 + 1e-7 * (next(off) % 2))}

    assert tried("E(y) == 0", rounding, within=0.01).verdict is Verdict.VERIFIED


def test_draw_too_large_is_told() -> None:
    with pytest.raises(InvalidClaimError, match="one draw of 'y' alone"):
        verify("E(y) == 0", sample=lambda _g, n: {"y": np.zeros((n, 2**18))}, max_memory=2**20)


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
