"""What code may not do in a run, and what it is told."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_framework
import numpy as np
import pytest
from fake_framework import FakeAdapter, Tensor
from slots_made import Generator, X, bound, drawn, numpy_code, ours

from dropcheck.code.adapters.adapter import Adapter
from dropcheck.code.adapters.numpy_adapter import NumpyAdapter
from dropcheck.errors import DropcheckError


def fault(code: Any, *inputs: Any, draws: int = 40, **more: Any) -> str:
    """The message and the hint of the error that code ends in."""
    with pytest.raises(DropcheckError) as caught:
        drawn(code, draws, *inputs, **more)
    (problem,) = caught.value.problems
    assert problem.message.startswith("ours:function ")
    return f"{problem.message.removeprefix('ours:function ')} | {problem.hint}"


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
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_array_of_draws_is_refused(returned: Any, said: str) -> None:
    assert said in fault(numpy_code(lambda _: returned, ("x",)), X)


def test_a_tensor_of_another_framework_is_refused() -> None:
    said = fault(numpy_code(lambda x: Tensor(x, "float32"), ("x",)), X)
    assert "returned " in said


def test_an_array_that_cannot_be_read_is_refused() -> None:
    class Unreadable(NumpyAdapter):
        def returned(self, output: Any) -> Any:
            raise NotImplementedError("no data")

    code = bound(Unreadable(False), lambda x: x, ("x",))
    assert "of type 'ndarray' that cannot be read: no data" in fault(code, X)


def test_arrays_of_one_buffer_are_those_that_were_returned() -> None:
    kept = np.empty(3)

    def reused(x: Any) -> Any:
        kept[...] = 2 * x
        return kept

    found = drawn(numpy_code(reused, ("x",)), 40, X, single=True)
    assert np.array_equal(found["train"], 2 * X)


def test_a_size_that_was_not_asked_for_is_refused() -> None:
    code = numpy_code(lambda size, rng: rng.random(size[:-1]), ())
    assert "of shape [40], and [40, 2] was asked for" in fault(code, size=(2,))


def test_a_shape_that_changes_is_refused() -> None:
    count = iter(range(1000))

    def changing(x: Any) -> Any:
        return np.zeros((len(x), 1 + next(count) // 30))

    code = numpy_code(changing, ("x",))
    drawn(code, 40, X)
    next(itertools.islice(count, 30, None))
    assert "of shape [1] in one call, and of shape [2] in another" in fault(code, X)


def test_what_code_raises_is_told_with_what_it_was_given() -> None:
    def broken(x: Any, p: float) -> Any:
        raise RuntimeError("no kernel\nfor this")

    line = broken.__code__.co_firstlineno + 1
    place = f"({Path(__file__).relative_to(Path.cwd())}:{line})"
    said = fault(numpy_code(broken), X, 0.5, dtype="float32")
    given = "it was given x: float32 [40, 3], p: 0.5"
    assert said == f"raised RuntimeError: no kernel {place} | {given}"


def test_the_place_of_an_error_is_in_no_library() -> None:
    def mistaken(x: Any, p: float) -> Any:
        return np.linalg.inv(x)

    line = mistaken.__code__.co_firstlineno + 1
    said = fault(numpy_code(mistaken), X, 0.5)
    assert f"test_bound_refusals.py:{line}) | it was given" in said
    assert ".py" not in fault(numpy_code(np.linalg.inv, ("x",)), X)


def ours_and_more(x: Any, p: float, more: Any) -> Any:
    return x * p * more


def test_arguments_that_do_not_fit_are_refused() -> None:
    said = "takes (x) | the slot gives it (x, p): write a function of these around it"
    assert fault(numpy_code(lambda x: x), X, 0.5) == said
    assert "takes (x, p, more)" in fault(numpy_code(ours_and_more), X, 0.5)
    said = "takes (p, rate) | the slot gives it (x, p)"
    assert said in fault(numpy_code(lambda p, rate: p * rate), X, 0.5)  # which of both is p?
    assert "takes (x, *, q)" in fault(numpy_code(lambda x, *, q: x * q), X, 0.5)
    assert "takes (*, p, x, q)" in fault(numpy_code(lambda *, p, x, q: x * p * q), X, 0.5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, *, p=0.1: x * p,
        lambda p, x: x * p,
        lambda *, p, x: x * p,
        lambda rng, p, *, x: x * p + 0 * rng.random(),
    ],
)
def test_names_that_are_all_of_the_slot_get_each_its_own(function: Any) -> None:
    (found,) = drawn(numpy_code(function), 40, X, 0.5).values()
    assert np.allclose(found, 0.5 * X)


def test_a_sampler_may_have_its_size_by_name() -> None:
    code = numpy_code(lambda n, *, shape, rng: rng.random(shape) * n, ("n",))
    (found,) = drawn(code, 40, 3.0, size=(2,)).values()
    assert found.shape == (2, 40)


def test_an_object_is_not_called_with_what_it_was_built_with() -> None:
    class Half:
        p = 0.5

        def __call__(self, x: Any) -> Any:
            return x * self.p

    class Asked(Half):
        def __call__(self, x: Any, p: float) -> Any:  # type: ignore[override]  # a layer of its own kind
            return x * p

    (found,) = drawn(numpy_code(Half()), 40, X, 0.5).values()
    assert np.allclose(found, 0.5 * X)
    said = "was built with p=0.5, and is asked for p=0.25 | bind a class, such as Half"
    assert said in fault(numpy_code(Half()), X, 0.25)
    (found,) = drawn(numpy_code(Asked()), 40, X, 0.25).values()
    assert np.allclose(found, 0.25 * X)


def test_a_class_that_cannot_be_built_or_called_says_from_what_it_is_built() -> None:
    class Bare:
        def __call__(self, x: Any) -> Any:
            return x

    class Two:
        def __init__(self, p: float) -> None:
            self.p = p

        def __call__(self, x: Any, mask: Any) -> Any:
            return x * mask

    said = fault(numpy_code(Bare), X, 0.5)
    assert said.startswith("raised TypeError: ")
    assert said.endswith("| a class is built from what does not vary, here (p=0.5)")
    said = fault(numpy_code(Two), X, 0.5)
    assert said == "takes (x, mask) | the slot gives it (x): it is built from (p)"


def test_a_number_format_that_a_framework_has_not_is_refused() -> None:
    code = bound(FakeAdapter(False), fake_framework.dropout)
    assert "cannot be given float64 | it takes float32" in fault(code, X, 0.5, dtype="float64")


def test_bfloat16_of_numpy_needs_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    said = fault(numpy_code(ours), X, 0.5, dtype="bfloat16")
    assert said.startswith("cannot be given bfloat16: ")
    assert said.endswith("| pip install ml_dtypes, in the environment that runs dropcheck")


def test_what_has_no_mode_of_evaluation_says_so() -> None:
    assert "has no mode of evaluation" in fault(numpy_code(ours), X, 0.5, modes=("eval",))
    assert "numpy has no gradients" in fault(numpy_code(ours), X, 0.5, modes=("grad",))


def test_a_call_that_hangs_is_ended() -> None:
    def hangs(x: Any) -> Any:
        time.sleep(60)
        return x

    start = time.monotonic()
    assert "took more than 0.05 s for one call" in fault(numpy_code(hangs, ("x",), limit=0.05), X)
    assert time.monotonic() - start < 30


def test_code_that_hangs_in_each_case_takes_half_as_long_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hangs(x: Any) -> Any:
        time.sleep(60)
        return x

    monkeypatch.setattr("dropcheck.code.calls.LEAST", 0.03)
    code = numpy_code(hangs, ("x",), limit=0.1)
    said = [fault(code, X).partition(" s for")[0] for _ in range(4)]
    assert said == [f"took more than {limit}" for limit in ("0.1", "0.05", "0.03", "0.03")]


def test_a_call_that_hangs_is_ended_where_others_set_the_alarm_before() -> None:
    def hangs(x: Any) -> Any:
        time.sleep(60)
        return x

    slow, quick = (numpy_code(hangs, ("x",), limit=limit) for limit in (30.0, 0.05))
    start = time.monotonic()
    with slow.held():
        for _ in range(2):
            assert "took more than 0.05 s" in fault(quick, X)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert time.monotonic() - start < 20
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_call_that_hangs_is_ended_where_the_first_alarm_woke_nobody() -> None:
    def loses_it(x: Any) -> Any:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        signal.sigwait({signal.SIGALRM})
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        time.sleep(60)
        return x

    start = time.monotonic()
    assert "took more than 0.05 s" in fault(numpy_code(loses_it, ("x",), limit=0.05), X)
    assert time.monotonic() - start < 30


def test_a_call_that_hangs_beside_the_main_thread_is_told_afterwards() -> None:
    def slow(x: Any) -> Any:
        time.sleep(0.1)
        return x

    said: list[str] = []
    code = numpy_code(slow, ("x",), limit=0.05)
    thread = threading.Thread(target=lambda: said.append(fault(code, X)))
    thread.start()
    thread.join()
    assert "took more than 0.05 s" in said[0]


def test_draws_of_another_source_are_refused() -> None:
    own = np.random.default_rng()

    def unseeded(x: Any) -> Any:
        return x + own.random(x.shape)

    said = fault(numpy_code(unseeded, ("x",)), X)
    assert "returned other draws when called again with the same seed" in said


def test_a_seed_of_its_own_is_refused() -> None:
    def fixed(x: Any) -> Any:
        return x + np.random.default_rng(0).random(x.shape)

    assert "returned the same draws when called with another seed" in fault(
        numpy_code(fixed, ("x",)), X
    )


def test_what_draws_nothing_may_add_up_each_draw_in_an_order_of_its_own() -> None:
    """As kernels do that share the rows of a call out to several threads."""

    def in_some_order(x: Any) -> Any:
        return x * (1 + 1e-16 * np.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1)))

    drawn(numpy_code(in_some_order, ("x",)), 40, X)


def test_one_number_for_all_draws_is_refused_where_each_counts() -> None:
    def shared(x: Any, rng: Generator) -> Any:
        return x * (rng.random(x.shape[1:]) >= 0.5)

    drawn(numpy_code(shared, ("x",)), 40, X)  # a call is one draw
    declared = numpy_code(shared, ("x",))
    declared.slot = replace(declared.slot, independent=True)
    assert "returned draws that are all alike" in fault(declared, X)


def test_a_state_is_no_error_where_calls_are_claimed_about() -> None:
    own = np.random.default_rng(0)
    code = numpy_code(lambda x: x + own.random(x.shape), ("x",))
    drawn(code, 5, np.zeros((3, 5)), calls=3, single=True)


def test_draws_that_are_mixed_are_refused() -> None:
    def normalised(x: Any) -> Any:
        return (x - x.mean(axis=0)) / x.std(axis=0)

    x = np.random.default_rng(0).normal(size=(3, 40))
    assert "when only the draw after it changes" in fault(numpy_code(normalised, ("x",)), x)
    drawn(numpy_code(normalised, ("x",)), 40, x, single=True)  # one draw is one call


def test_drawing_again_until_it_fits_is_no_mixing() -> None:
    def truncated(x: Any, rng: Generator) -> Any:
        y = rng.normal(x)
        while (far := np.abs(y - x) > 1).any():
            y[far] = rng.normal(x[far])
        return y

    code = numpy_code(truncated, ("x",))
    for seed in range(20):
        drawn(code, 40, np.random.default_rng(seed).normal(size=(3, 40)), seed=seed)


def test_what_draws_nothing_is_no_error() -> None:
    drawn(numpy_code(np.tanh, ("x",)), 40, X)
    drawn(numpy_code(ours), 40, X, 0.0)


def test_an_adapter_is_as_small_as_it_can_be() -> None:
    wanted = {"dtype", "given", "returned", "with_gradient"}
    assert Adapter.__abstractmethods__ == wanted
