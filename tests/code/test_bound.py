"""Code as a run calls it: axes, seeds, calls, modes, and what it may not do."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from contextvars import ContextVar
from typing import Any

import fake_framework
import numpy as np
import pytest
from fake_framework import FakeAdapter, OneShape, Tensor
from slots_made import bound, drawn

from dropcheck.code.adapters.adapter import Adapter
from dropcheck.code.adapters.numpy_adapter import NumpyAdapter
from dropcheck.code.draws_first import BLOCK, draws_first, draws_last
from dropcheck.errors import DropcheckError

X = np.linspace(1, 2, 3 * 40).reshape(3, 40).astype(np.float32).astype(float)
Generator = np.random.Generator


def numpy_code(function: Any, takes: tuple[str, ...] = ("x", "p"), **more: Any) -> Any:
    return bound(NumpyAdapter(None, False), function, takes, **more)


def fault(code: Any, *inputs: Any, draws: int = 40, **more: Any) -> str:
    """The message and the hint of the error that code ends in."""
    with pytest.raises(DropcheckError) as caught:
        drawn(code, draws, *inputs, **more)
    (problem,) = caught.value.problems
    assert problem.message.startswith("ours:function ")
    return f"{problem.message.removeprefix('ours:function ')} | {problem.hint}"


# ---- what code is given --------------------------------------------------------------------------


def test_draws_come_first_and_go_last() -> None:
    given: list[Any] = []

    def double(x: Any, c: Any) -> Any:
        given.append((x, c))
        return x * c

    found = drawn(numpy_code(double), 40, X, 2.0, dtype="float32")
    assert np.array_equal(found["train"], 2 * X)
    x, c = given[-1]
    assert (x.shape, x.dtype, x.flags.c_contiguous) == ((40, 3), np.float32, True)
    assert (c, type(c)) == (2, int)


@pytest.mark.parametrize("value", [0.5, -0.25, 1e300, float("inf")])
def test_a_number_that_is_not_whole_is_a_float(value: float) -> None:
    given: list[Any] = []

    def kept(x: Any, c: Any) -> Any:
        given.append(c)
        return x

    drawn(numpy_code(kept), 40, X, value)
    assert (given[-1], type(given[-1])) == (value, float)


def test_an_array_that_does_not_vary_has_no_axis_of_draws() -> None:
    weight = np.array([[1.0], [2.0], [3.0]])
    code = numpy_code(lambda x, w: x * w, ("x", "w"))
    assert np.array_equal(drawn(code, 40, X, weight)["train"], X * weight)


def test_code_may_compute_in_place() -> None:
    weight = np.array([[1.0], [2.0], [3.0]])

    def scaled(x: Any, w: Any, training: bool) -> Any:
        x *= w
        w *= 0
        return x if training else -x

    for _ in range(2):
        found = drawn(numpy_code(scaled), 40, X, weight, modes=("train", "eval"))
        assert np.array_equal(found["train"], X * weight)
        assert np.array_equal(found["eval"], -X * weight)


@pytest.mark.parametrize("shape", [(1,), (7,), (BLOCK,), (3, 5), (2 * BLOCK + 3,)])
@pytest.mark.parametrize("draws", [1, 2, BLOCK - 1, BLOCK, 2 * BLOCK + 5])
def test_axes_are_exchanged_without_a_change(shape: tuple[int, ...], draws: int) -> None:
    values = np.random.default_rng(0).random((*shape, draws))
    first = draws_first(values, np.float64)
    assert np.array_equal(first, np.moveaxis(values, -1, 0))
    assert first.flags.c_contiguous
    assert np.array_equal(draws_last(first), values)


def test_nan_and_infinity_are_values() -> None:
    def odd(x: Any) -> Any:
        return np.where(x > 1.5, np.nan, np.inf)

    found = drawn(numpy_code(odd, ("x",)), 40, X)["train"]
    assert np.array_equal(np.isnan(found), X > 1.5)
    assert np.array_equal(np.isinf(found), X <= 1.5)


def test_truths_and_whole_numbers_are_numbers() -> None:
    assert set(drawn(numpy_code(lambda x: x > 1.5, ("x",)), 40, X)["train"].flat) == {0.0, 1.0}
    found = drawn(numpy_code(lambda x: x.astype(np.int8), ("x",)), 40, X)["train"]
    assert found.dtype == np.float64


def test_code_runs_in_the_thread_and_the_context_of_the_caller() -> None:
    where: ContextVar[str] = ContextVar("where", default="elsewhere")
    found: set[object] = set()

    def noted(x: Any) -> Any:
        found.add((where.get(), threading.get_ident()))
        return x

    where.set("here")
    drawn(numpy_code(noted, ("x",)), 40, X)
    assert found == {("here", threading.get_ident())}


# ---- randomness ----------------------------------------------------------------------------------


def ours(x: Any, p: float, rng: Generator) -> Any:
    return np.where(rng.random(x.shape) >= p, x / (1 - p), 0.0)


def test_a_generator_is_given_by_name() -> None:
    code = numpy_code(ours)
    one, again, other = (drawn(code, 40, X, 0.5, seed=seed)["train"] for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_the_generator_may_stand_anywhere() -> None:
    def first(generator: Generator, x: Any, p: float) -> Any:
        return ours(x, p, generator)

    def last(x: Any, p: float, *, rng: Generator) -> Any:
        return ours(x, p, rng)

    found = [drawn(numpy_code(code), 40, X, 0.5)["train"] for code in (ours, first, last)]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_global_sources_are_seeded() -> None:
    def old(x: Any, p: float) -> Any:
        return np.where(np.random.random_sample(x.shape) >= p, x / (1 - p), 0.0)

    code = numpy_code(old)
    one, again = (drawn(code, 40, X, 0.5)["train"] for _ in range(2))
    assert np.array_equal(one, again)


def test_a_name_that_the_slot_takes_is_not_filled() -> None:
    code = numpy_code(lambda rng: rng + 1, ("rng",))
    assert np.array_equal(drawn(code, 40, X)["train"], X + 1)


def test_a_stream_goes_on_where_it_is_not_to_begin() -> None:
    code = numpy_code(ours)
    first = drawn(code, 40, X, 0.5)["train"]
    more = drawn(code, 40, X, 0.5, begin=False)["train"]
    assert not np.array_equal(first, more)


def test_a_sampler_is_given_its_size_last() -> None:
    sizes: list[object] = []

    def sampler(low: float, high: float, size: Any, rng: Generator) -> Any:
        sizes.append(size)
        return rng.uniform(low, high, size)

    found = drawn(numpy_code(sampler, ("low", "high")), 40, 1.0, 2.0, size=(3, 5))["train"]
    assert found.shape == (3, 5, 40)
    assert sizes[-1] == (40, 3, 5)


def test_one_draw_is_one_call_where_it_is_so_asked() -> None:
    shapes: list[object] = []

    def centred(x: Any) -> Any:
        shapes.append(x.shape)
        return x - x.mean()

    found = drawn(numpy_code(centred, ("x",)), 40, X, single=True)["train"]
    assert np.allclose(found, X - X.mean(axis=0))
    assert set(shapes) == {(3,)}


def test_nothing_that_varies_is_called_once_a_draw() -> None:
    calls: list[int] = []

    def initial(n: int, rng: Generator) -> Any:
        calls.append(n)
        return rng.standard_normal(n)

    found = drawn(numpy_code(initial, ("n",)), 20, 7.0, single=True)["train"]
    assert found.shape == (7, 20)
    assert len(np.unique(found)) == found.size


def test_seeds_and_calls_are_loops() -> None:
    seeds: list[int] = []

    class Noted(NumpyAdapter):
        def begin(self, seed: int) -> None:
            seeds.append(seed)
            super().begin(seed)

    def noise(x: Any, rng: Generator) -> Any:
        return x + rng.random(x.shape)

    x = np.zeros((4, 3, 2, 5))  # seeds, calls, of one draw, draws
    code = bound(Noted(None, False), noise, ("x",))
    found = drawn(code, 5, x, seeds=4, calls=3, single=True)["train"]
    assert found.shape == x.shape
    assert len(seeds) == 4 * 5
    for draw in range(5):
        first = seeds[4 * draw]
        assert seeds[4 * draw : 4 * draw + 4] == [first, first + 1, first + 2, first + 3]
        for number in range(4):
            stream = np.random.default_rng(first + number).random(6)
            assert np.array_equal(found[number, ..., draw].ravel(), stream)


def test_calls_alone_go_on_from_one_another() -> None:
    count = iter(range(1000))

    def counting(x: Any) -> Any:
        return x + next(count)

    found = drawn(numpy_code(counting, ("x",)), 2, np.zeros((3, 2)), calls=3, single=True)["train"]
    assert np.array_equal(found, [[0, 3], [1, 4], [2, 5]])


# ---- one shape, other frameworks, modes ----------------------------------------------------------


def test_all_calls_have_one_shape_where_shapes_are_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dropcheck.code.plans.LEAST_ELEMENTS", 48)
    monkeypatch.setattr("dropcheck.code.plans.MOST_ELEMENTS", 192)
    fake_framework.seen.clear()
    code = bound(OneShape(None, False), fake_framework.dropout)
    for draws in (40, 7, 1000, 16):
        x = np.resize(X, (3, draws))
        found = drawn(code, draws, x, 0.5)["train"]
        assert found.shape == (3, draws)
        assert np.all((found == 0) | (found == 2 * x))
    assert {one.shape for one in fake_framework.seen} == {(16, 3), (64, 3)}


def test_what_is_drawn_depends_on_nothing_that_was_asked_before() -> None:
    code, other = (bound(OneShape(None, False), fake_framework.dropout) for _ in range(2))
    drawn(other, 1000, np.resize(X, (3, 1000)), 0.5)
    one, two = (drawn(of, 40, X, 0.5)["train"] for of in (code, other))
    assert np.array_equal(one, two)


def test_a_framework_is_given_its_own_arrays() -> None:
    fake_framework.seen.clear()
    code = bound(FakeAdapter(None, False), fake_framework.dropout)
    drawn(code, 40, X, 0.5, dtype="bfloat16")
    assert {one.dtype for one in fake_framework.seen} == {"bfloat16"}


@pytest.mark.parametrize("function", [fake_framework.dropout, fake_framework.Layer])
def test_modes_come_from_one_draw(function: Any) -> None:
    code = bound(FakeAdapter(None, False), function)
    found = drawn(code, 40, X, 0.5, modes=("train", "eval", "grad"))
    assert np.array_equal(found["eval"], X)
    assert np.array_equal(found["grad"], found["train"] / X)
    assert 0 < np.count_nonzero(found["grad"]) < X.size


def test_other_names_of_modes_are_known() -> None:
    def linen(x: Any, deterministic: bool) -> Any:
        return x if deterministic else 2 * x

    found = drawn(numpy_code(linen, ("x",)), 40, X, modes=("train", "eval"))
    assert np.array_equal(found["train"], 2 * found["eval"])


def test_number_format_is_given_by_name() -> None:
    def sampler(size: Any, rng: Generator, dtype: Any) -> Any:
        assert dtype == np.dtype("float16")
        return rng.random(size).astype(dtype)

    drawn(numpy_code(sampler, ()), 40, size=(2,), dtype="float16")


# ---- what code may not do ------------------------------------------------------------------------


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
        (1.5, "returned one number, and was given 40 draws"),
        (X, "returned an array of shape [3, 40], and was given 40 draws"),
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

    code = bound(Unreadable(None, False), lambda x: x, ("x",))
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
    assert "of shape [1] in one call, and of [2] in another" in fault(code, X)


def test_what_code_raises_is_told_with_what_it_was_given() -> None:
    def broken(x: Any, p: float) -> Any:
        raise RuntimeError("no kernel\nfor this")

    said = fault(numpy_code(broken), X, 0.5, dtype="float32")
    assert said == ("raised RuntimeError: no kernel | it was given x: float32 [40, 3], p: 0.5")


def ours_and_more(x: Any, p: float, more: Any) -> Any:
    return x * p * more


def test_arguments_that_do_not_fit_are_refused() -> None:
    assert fault(numpy_code(lambda x: x), X, 0.5) == "takes (x) | the slot gives it (x, p)"
    assert "takes (x, p, more)" in fault(numpy_code(ours_and_more), X, 0.5)


def test_a_number_format_that_a_framework_has_not_is_refused() -> None:
    code = bound(FakeAdapter(None, False), fake_framework.dropout)
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
    assert "returned other draws of 'train' when called again with the same seed" in said


def test_a_seed_of_its_own_is_refused() -> None:
    def fixed(x: Any) -> Any:
        return x + np.random.default_rng(0).random(x.shape)

    assert "returned the same draws when called with another seed" in fault(
        numpy_code(fixed, ("x",)), X
    )


def test_one_number_for_all_draws_is_refused() -> None:
    def shared(x: Any, rng: Generator) -> Any:
        return x * (rng.random(x.shape[1:]) >= 0.5)

    assert "returned draws that are all alike" in fault(numpy_code(shared, ("x",)), X)


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
