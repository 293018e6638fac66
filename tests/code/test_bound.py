"""Code as a run calls it: axes, seeds, calls, modes, and what it may not do."""

from __future__ import annotations

import gc
import threading
from contextvars import ContextVar
from typing import Any

import fake_framework
import numpy as np
import pytest
from fake_framework import FakeAdapter, OneShape
from slots_made import Generator, X, bound, drawn, numpy_code, ours

from dropcheck.code.adapters.numpy_adapter import NumpyAdapter

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


def test_code_may_compute_in_place_where_each_draw_is_a_call() -> None:
    weight = np.array([[1.0], [2.0], [3.0]])

    def scaled(w: Any) -> Any:
        w *= 2
        return w

    found = drawn(numpy_code(scaled, ("w",)), 40, weight, single=True)["train"]
    assert np.array_equal(found, np.broadcast_to(2 * weight, (3, 40)))


@pytest.mark.parametrize("single", [False, True])
def test_draws_that_are_asked_for_one_by_one_are_of_one_plan(single: bool) -> None:
    """As those are of which one fills the memory of a block: code is looked at once."""
    given: list[int] = []

    def doubled(x: Any) -> Any:
        given.append(len(x))
        return 2 * x

    code = numpy_code(doubled, ("x",))
    for place in range(3):
        before, x = len(given), X[:, place : place + 1]
        assert np.array_equal(drawn(code, 1, x, single=single)["train"], 2 * x)
        assert (len(given) - before == 1) == (place > 0)


@pytest.mark.parametrize("single", [False, True])
def test_what_calls_are_given_is_gone_with_them(single: bool) -> None:
    weight = np.array([[1.0], [2.0], [3.0]])
    code = numpy_code(lambda x, w: x * w, ("x", "w"))
    drawn(code, 40, X, weight, single=single)  # it is looked at
    gc.collect()
    gc.disable()
    try:
        drawn(code, 40, X, weight, single=single)
        assert gc.collect() == 0  # a cycle would keep the arrays of many spans
    finally:
        gc.enable()


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

    def any_number(*given: Any, rng: Generator) -> Any:
        x, p = given
        return ours(x, p, rng)

    codes = (ours, first, last, any_number)
    found = [drawn(numpy_code(code), 40, X, 0.5)["train"] for code in codes]
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_global_sources_are_seeded() -> None:
    def old(x: Any, p: float) -> Any:
        return np.where(np.random.random_sample(x.shape) >= p, x / (1 - p), 0.0)

    code = numpy_code(old)
    one, again = (drawn(code, 40, X, 0.5)["train"] for _ in range(2))
    assert np.array_equal(one, again)


def test_a_name_that_the_slot_takes_is_not_filled() -> None:
    code = numpy_code(lambda rng: rng + 1, ("rng",))
    assert np.array_equal(drawn(code, 40, X)["train"], X + 1)


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
    code = bound(Noted(False), noise, ("x",))
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
    monkeypatch.setattr("dropcheck.code.calls.LEAST_ELEMENTS", 48)
    monkeypatch.setattr("dropcheck.code.calls.MOST_ELEMENTS", 192)
    fake_framework.seen.clear()
    code = bound(OneShape(False), fake_framework.dropout)
    for draws in (40, 7, 1000, 16):
        x = np.resize(X, (3, draws))
        found = drawn(code, draws, x, 0.5)["train"]
        assert found.shape == (3, draws)
        assert np.all((found == 0) | (found == 2 * x))
    assert {one.shape for one in fake_framework.seen} == {(16, 3), (64, 3)}


def test_what_is_drawn_depends_on_nothing_that_was_asked_before() -> None:
    code, other = (bound(OneShape(False), fake_framework.dropout) for _ in range(2))
    drawn(other, 1000, np.resize(X, (3, 1000)), 0.5)
    one, two = (drawn(of, 40, X, 0.5)["train"] for of in (code, other))
    assert np.array_equal(one, two)


def test_a_framework_is_given_its_own_arrays() -> None:
    fake_framework.seen.clear()
    code = bound(FakeAdapter(False), fake_framework.dropout)
    drawn(code, 40, X, 0.5, dtype="bfloat16")
    assert {one.dtype for one in fake_framework.seen} == {"bfloat16"}


@pytest.mark.parametrize("function", [fake_framework.dropout, fake_framework.Layer])
def test_modes_come_from_one_draw(function: Any) -> None:
    code = bound(FakeAdapter(False), function)
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
