"""Code as a run calls it: what it is given, in which modes, and what it may not do."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fake_framework
import numpy as np
import pytest
from fake_framework import FakeAdapter, Tensor
from slots_made import Generator, X, bound, drawn, numpy_code, ours

from dropcheck.code import calls as shared
from dropcheck.code.adapters.numpy_adapter import NumpyAdapter
from dropcheck.errors import DropcheckError

WEIGHT = np.array([[1.0], [2.0], [3.0]])  # does not vary
SINGLE = pytest.mark.parametrize("single", [False, True])


def fault(code: Any, *inputs: Any, draws: int = 40, **more: Any) -> str:
    """The message and the hint of the error that code ends in."""
    with pytest.raises(DropcheckError) as caught:
        drawn(code, draws, *inputs, **more)
    (problem,) = caught.value.problems
    assert problem.message.startswith("ours:function ")
    return f"{problem.message.removeprefix('ours:function ')} | {problem.hint}"


# ---- what code is given --------------------------------------------------------------------------


@SINGLE
def test_code_may_compute_in_place(single: bool) -> None:
    """An array that does not vary has no axis of draws, and is another one in each call."""

    def scaled(x: Any, w: Any, training: bool) -> Any:
        x *= w
        w *= 0
        return x if training else -x

    code = numpy_code(scaled, ("x", "w"))
    for _ in range(2):
        found = drawn(code, 40, X, WEIGHT, modes=("train", "eval"), single=single)
        assert np.array_equal(found["train"], X * WEIGHT)
        assert np.array_equal(found["eval"], -X * WEIGHT)


def buffered() -> Callable[[Any], Any]:
    """Code that returns one buffer again and again."""
    kept = np.empty(3)

    def double(x: Any) -> Any:
        kept[...] = 2 * x
        return kept

    return double


@pytest.mark.parametrize(
    ("code", "wanted", "more"),
    [
        (lambda x: np.where(x > 1.5, np.nan, np.inf), np.where(X > 1.5, np.nan, np.inf), {}),
        (lambda x: x > 1.5, X > 1.5, {}),
        (lambda x: x.astype(np.int8), X.astype(np.int8), {}),
        (lambda x: (2 * x).tolist(), 2 * X, {}),
        (lambda x: x - x.mean(), X - X.mean(axis=0), {"single": True}),
        (buffered(), 2 * X, {"single": True}),
        (np.tanh, np.tanh(X), {}),  # what draws nothing is no error
    ],
    ids=["nan", "truths", "whole numbers", "a list", "one draw a call", "a buffer", "no draws"],
)
def test_what_is_returned_is_taken_as_float64(
    code: Callable[[Any], Any], wanted: Any, more: dict[str, Any]
) -> None:
    found = drawn(numpy_code(code, ("x",)), 40, X, **more)["train"]
    assert found.dtype == np.float64
    assert np.allclose(found, wanted, rtol=1e-12, atol=0, equal_nan=True)


# ---- whose arguments are whose -------------------------------------------------------------------


class Half:
    p = 0.5

    def __call__(self, x: Any) -> Any:
        return x * self.p


class Asked:
    p = 0.5

    def __call__(self, x: Any, p: float) -> Any:
        return x * p


@pytest.mark.parametrize(
    "function",
    [
        lambda x, *, p=0.1: x * p,
        lambda p, x: x * p,
        lambda *, p, x: x * p,
        lambda rng, p, *, x: x * p + 0 * rng.random(),
        lambda a, b: a * b,
        lambda a, rng, b: a * b + 0 * rng.random(),
        lambda *given, rng: given[0] * given[1] + 0 * rng.random(),
        lambda x, p, /, *, deterministic: x * p * (not deterministic),
        Half(),  # is not called with what it was built with
        Asked(),
    ],
)
def test_each_parameter_gets_its_own(function: Any) -> None:
    (found,) = drawn(numpy_code(function), 40, X, 0.5).values()
    assert np.allclose(found, 0.5 * X)


def ours_and_more(x: Any, p: float, more: Any) -> Any:
    return x * p * more


class Bare:
    def __call__(self, x: Any) -> Any:
        return x


class Two:
    def __init__(self, p: float) -> None:
        self.p = p

    def __call__(self, x: Any, mask: Any) -> Any:
        return x * mask


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (
            lambda x: x,
            "takes (x) | the slot gives it (x, p): write a function of these around it",
        ),
        (ours_and_more, "takes (x, p, more)"),
        (lambda p, rate: p * rate, "takes (p, rate) | the slot gives it (x, p)"),  # which is p?
        (lambda x, *, q: x * q, "takes (x, *, q)"),
        (lambda rng, *given: given[0] * rng.random(), "takes (rng, *given)"),
        (lambda *, p, x, q: x * p * q, "takes (*, p, x, q)"),
        (Two, "takes (x, mask) | the slot gives it (x): it is built from (p)"),
        (Bare, "| a class is built from what does not vary, here (p=0.5)"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(function: Any, said: str) -> None:
    assert said in fault(numpy_code(function), X, 0.5)


def test_an_object_that_was_built_with_another_number_is_refused() -> None:
    said = "was built with p=0.5, and is asked for p=0.25 | bind a class, such as Half"
    assert said in fault(numpy_code(Half()), X, 0.25)
    (found,) = drawn(numpy_code(Asked()), 40, X, 0.25).values()
    assert np.allclose(found, 0.25 * X)


@pytest.mark.parametrize(
    "function",
    [
        lambda low, high, size, rng: rng.uniform(low, high, size),
        lambda high, low, *, shape, rng: rng.uniform(low, high, shape),
    ],
)
def test_a_sampler_is_given_its_size(function: Any) -> None:
    found = drawn(numpy_code(function, ("low", "high")), 40, 1.0, 2.0, size=(3, 5))["train"]
    assert found.shape == (3, 5, 40)
    assert 1 <= found.min() < found.max() <= 2


# ---- randomness ----------------------------------------------------------------------------------


def of_global_sources(x: Any, p: float) -> Any:
    return np.where(np.random.random_sample(x.shape) >= p, x / (1 - p), 0.0)


@pytest.mark.parametrize("function", [ours, of_global_sources])
def test_draws_are_those_of_the_seed(function: Any) -> None:
    code = numpy_code(function)
    one, again, other = (drawn(code, 40, X, 0.5, seed=seed)["train"] for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_nothing_that_varies_is_called_once_a_draw() -> None:
    code = numpy_code(lambda n, rng: rng.standard_normal(n), ("n",))
    found = drawn(code, 20, 7.0, single=True)["train"]
    assert found.shape == (7, 20)
    assert len(np.unique(found)) == found.size


def test_seeds_and_calls_are_loops() -> None:
    seeds: list[int] = []

    class Noted(NumpyAdapter):
        def begin(self, seed: int) -> None:
            seeds.append(seed)
            super().begin(seed)

    x = np.zeros((4, 3, 2, 5))  # seeds, calls, of one draw, draws
    code = bound(Noted(), lambda x, rng: x + rng.random(x.shape), ("x",))
    found = drawn(code, 5, x, seeds=4, calls=3, single=True)["train"]
    assert found.shape == x.shape
    assert len(seeds) == 4 * 5
    for draw in range(5):
        first = seeds[4 * draw]
        assert seeds[4 * draw : 4 * draw + 4] == [first, first + 1, first + 2, first + 3]
        for number in range(4):
            stream = np.random.default_rng(first + number).random(6)
            assert np.array_equal(found[number, ..., draw].ravel(), stream)


# ---- one shape, other frameworks, modes ----------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x, deterministic: x if deterministic else 2 * x,
        lambda x, train: 2 * x if train else x,
    ],
)
def test_other_names_of_modes_are_known(function: Any) -> None:
    found = drawn(numpy_code(function, ("x",)), 40, X, modes=("train", "eval"))
    assert np.array_equal(found["train"], 2 * found["eval"])


def test_a_mode_or_a_format_that_code_has_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "has no mode of evaluation" in fault(numpy_code(ours), X, 0.5, modes=("eval",))
    assert "numpy has no gradients" in fault(numpy_code(ours), X, 0.5, modes=("grad",))
    code = bound(FakeAdapter(), fake_framework.dropout)
    assert "cannot be given float64 | it takes float32" in fault(code, X, 0.5, dtype="float64")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    said = fault(numpy_code(ours), X, 0.5, dtype="bfloat16")
    assert said.startswith("cannot be given bfloat16: ")
    assert said.endswith("| pip install ml_dtypes, in the environment that runs dropcheck")


# ---- what is no array of draws -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "returned None | return one array"),
        ("y", "returned a str"),
        ((X.T, X.T), "returned a tuple"),
        ({"y": X.T}, "returned a dict"),
        (X.T + 1j, "returned an array of complex128"),
        (np.full((40, 3), "a"), "returned an array of <U1"),
        (np.full((40, 3), object()), "returned an array of object"),
        (1.5, "returned one number, and 40 draws were asked for"),
        (X, "returned an array of shape [3, 40], and 40 draws were asked for"),
        (np.ma.masked_greater(X.T, 1.5), "returned an array with values that are masked"),
        (Tensor(X.T, "float32"), "returned a tensor of this framework"),
        ([[1], [1, 2]], "of type 'list' that cannot be read: setting an array"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_array_of_draws_is_refused(returned: Any, said: str) -> None:
    assert said in fault(numpy_code(lambda _: returned, ("x",)), X)


def test_another_shape_is_refused() -> None:
    code = numpy_code(lambda size, rng: rng.random(size[:-1]), ())
    assert "of shape [40], and [40, 2] was asked for" in fault(code, size=(2,))
    count = iter(range(1000))
    code = numpy_code(lambda x: np.zeros((len(x), 1 + next(count) // 30)), ("x",))
    drawn(code, 40, X)
    next(itertools.islice(count, 30, None))
    assert "of shape [1] in one call, and of shape [2] in another" in fault(code, X)


def test_what_code_raises_is_told_with_its_place_and_what_it_was_given() -> None:
    def broken(x: Any, p: float) -> Any:
        raise RuntimeError("no kernel\nfor this")

    def mistaken(x: Any, p: float) -> Any:
        return np.linalg.inv(x)

    line = broken.__code__.co_firstlineno + 1
    place = f"({Path(__file__).relative_to(Path.cwd())}:{line})"
    given = "it was given x: float32 [40, 3], p: 0.5"
    said = fault(numpy_code(broken), X, 0.5, dtype="float32")
    assert said == f"raised RuntimeError: no kernel {place} | {given}"
    line = mistaken.__code__.co_firstlineno + 1
    assert f"{Path(__file__).name}:{line}) | it was given" in fault(numpy_code(mistaken), X, 0.5)
    assert ".py" not in fault(numpy_code(np.linalg.inv, ("x",)), X)  # of a library


# ---- what takes too long -------------------------------------------------------------------------


def hangs(x: Any) -> Any:
    time.sleep(60)
    return x


def test_a_call_that_hangs_is_ended() -> None:
    start = time.monotonic()
    code = numpy_code(hangs, ("x",), limit=0.05)
    assert "took more than 0.05 s for one call" in fault(code, X)
    assert time.monotonic() - start < 30


# ---- what draws depend on ------------------------------------------------------------------------


OWN = np.random.default_rng()


class Kept:
    """A layer that keeps a generator."""

    def __init__(self, p: float = 0.5, seed: int = 0) -> None:
        self.p, self.parts = p, {"rng": np.random.default_rng(seed)}

    def __call__(self, x: Any) -> Any:
        return np.where(self.parts["rng"].random(x.shape) >= self.p, x / (1 - self.p), 0.0)


class Built(Kept):
    """A layer that is given its generator."""

    def __init__(self, p: float, rng: Generator) -> None:
        super().__init__(p)
        self.parts = {"rng": rng}


REFUSED: dict[str, tuple[Any, str]] = {
    "another source": (
        lambda x: x + np.random.default_rng().random(x.shape),
        "returned other draws when called again with the same seed",
    ),
    "a seed of its own": (
        lambda x: x + np.random.default_rng(0).random(x.shape),
        "returned the same draws when called with another seed",
    ),
    "draws that are mixed": (
        lambda x: (x - x.mean(axis=0)) / x.std(axis=0),
        "when only the draw after it changes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_draws_that_allow_no_verdict_are_refused(name: str) -> None:
    function, said = REFUSED[name]
    assert said in fault(
        numpy_code(function, ("x",)), np.random.default_rng(0).normal(size=(3, 40))
    )


def in_some_order(x: Any) -> Any:
    """As kernels add up that share the rows of a call out to several threads."""
    return x * (1 + 1e-16 * np.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1)))


def truncated(x: Any, rng: Generator) -> Any:
    """Draws again until it fits."""
    y = rng.normal(x)
    while (far := np.abs(y - x) > 1).any():
        y[far] = rng.normal(x[far])
    return y


def test_what_looks_like_a_fault_and_is_none_passes() -> None:
    drawn(numpy_code(in_some_order, ("x",)), 40, X)
    drawn(numpy_code(ours), 40, X, 0.0)
    drawn(numpy_code(REFUSED["draws that are mixed"][0], ("x",)), 40, X, single=True)
    drawn(
        numpy_code(REFUSED["another source"][0], ("x",)), 5, np.zeros((3, 5)), calls=3, single=True
    )
    for kept in (Kept, Built):
        found = drawn(numpy_code(kept), 400, np.ones((3, 400)), 0.25)["train"]
        assert abs(found.mean() - 1) < 0.1
    for own in (Kept(), lambda x: x + OWN.random(x.shape)):
        one, again, other = (drawn(numpy_code(own, ("x",)), 40, X, seed=at) for at in (1, 1, 2))
        assert np.array_equal(one["train"], again["train"])
        assert not np.array_equal(one["train"], other["train"])
    code = numpy_code(truncated, ("x",))
    for seed in range(20):
        drawn(code, 40, np.random.default_rng(seed).normal(size=(3, 40)), seed=seed)


Noise = Callable[[Generator, int, int], Any]


def calls(noise: Noise, elements: int, draws: int, seed: int) -> Any:
    """What calls give, [calls, elements, draws]."""
    made = [noise(np.random.default_rng((seed, one)), draws, elements) for one in range(32)]
    return np.stack([shared.rows_of(np.broadcast_to(one, (draws, elements)).T) for one in made])


def blocks(g: Generator, n: int, e: int) -> Any:
    return np.repeat(g.random((-(-n // 8), e)) < 0.9, 8, axis=0)[:n]


def halves(g: Generator, n: int, e: int, mirror: int = 1) -> Any:
    half = g.normal(size=((n + 1) // 2, e))
    return np.concatenate([half, -half[::mirror]])[:n]


def windows(g: Generator, n: int, e: int) -> Any:
    return np.lib.stride_tricks.sliding_window_view(g.normal(size=n + e - 1), e)


def one_element(g: Generator, n: int, e: int) -> Any:
    noise = g.normal(size=(n, e))
    noise[:, -1] = noise[0, -1]
    return noise


def sixteen_seeds(g: Generator, n: int, e: int) -> Any:
    first = int(g.integers(2**31))
    return np.stack([np.random.default_rng(first + one % 16).normal(size=e) for one in range(n)])


SHARED: dict[str, Noise] = {
    "one mask of a call": lambda g, n, e: np.tile(g.random(e) < 0.9, (n, 1)),
    "one number of a call": lambda g, n, e: g.random() < 0.9,  # noqa: ARG005 - all take the same
    "one scale of a call": lambda g, n, e: g.gamma(2) * g.normal(size=(n, e)),
    "one sign of a call": lambda g, n, e: g.choice([-1, 1]) * np.abs(g.normal(size=(n, e))),
    "one p of a call": lambda g, n, e: g.random((n, e)) < g.uniform(0.2, 0.8),
    "noise of a call beside that of draws": lambda g, n, e: (
        g.normal(size=(n, e)) + g.normal(size=e)
    ),
    "a seed of sixteen": sixteen_seeds,
    "blocks of eight": blocks,
    "a period": lambda g, n, e: g.normal(size=(37, e))[np.arange(n) % 37],
    "a table": lambda g, n, e: g.normal(size=(16, e))[g.integers(16, size=n)],
    "sorted": lambda g, n, e: np.sort(g.normal(size=(n, e)), axis=0),
    "antithetic halves": halves,
    "mirrored halves": lambda g, n, e: halves(g, n, e, -1),
    "windows of one stream": windows,
    "one element of sixteen": one_element,
}
DRAWN_APART: dict[str, Noise] = {
    "normal": lambda g, n, e: g.normal(size=(n, e)),
    "without a variance": lambda g, n, e: g.standard_cauchy(size=(n, e)),
    "a mask": lambda g, n, e: g.random((n, e)) < 0.9,
    "a rare mask": lambda g, n, e: g.random((n, e)) < 0.001,
    "one number a draw": lambda g, n, e: np.tile(g.gamma(0.3, size=(n, 1)), (1, e)),
    "a permutation a draw": lambda g, n, e: g.permuted(np.tile(np.arange(e), (n, 1)), axis=1),
    "missing numbers": lambda g, n, e: np.where(g.random((n, e)) < 0.3, np.nan, 1.0),
    "numbers without an end": lambda g, n, e: np.where(g.random((n, e)) < 0.3, np.inf, 1.0),
    "nothing random": lambda g, n, e: np.ones((n, e)),  # noqa: ARG005 - all take the same
}


@pytest.mark.parametrize("noise", SHARED.values(), ids=SHARED)
def test_what_draws_of_a_call_share_is_seen(noise: Noise) -> None:
    """It is missed less than once in a million times: the sums are far beyond their bounds."""
    told = shared.shared_numbers(calls(noise, 16, 128, seed=0))
    assert told is not None
    assert noise is not halves or "that are 64 apart" in told


@pytest.mark.parametrize("noise", DRAWN_APART.values(), ids=DRAWN_APART)
@pytest.mark.parametrize("elements", [1, 6])
def test_independent_draws_pass(noise: Noise, elements: int) -> None:
    """False alarms: 1e-9 for each, by bounds for normal variables."""
    for seed in range(5):
        assert shared.shared_numbers(calls(noise, elements, 200, seed)) is None
