"""The arguments of calls of code, and the results: each number is copied once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dropcheck.claims.registry import CodeRequest
from dropcheck.code.adapters.adapter import Adapter
from dropcheck.code.plans import CallPlan, precision
from dropcheck.simulation.user_code.draws_first import draws_first
from dropcheck.vocabulary.function import Array

# How many numbers are copied at once, of an array that does not vary.
COPIED = 2**15
_Make = Callable[[int, int], Any]


class CallData:
    """The arguments of the calls of one span, each in its own array: code may compute in place.

    Args:
        adapter: of the code's framework.
        plan: how it is called.
        asked: what is asked for.
        inputs: [*shape, draws], or [*shape, 1] of what does not vary.
    """

    def __init__(
        self, adapter: Adapter, plan: CallPlan, asked: CodeRequest, inputs: Sequence[Array]
    ) -> None:
        self._adapter = adapter
        self._dtype = asked.dtype or adapter.dtypes[0]
        self._size = plan.call_draws(asked.draws)
        self._several = len(asked.modes - asked.skipped) > 1
        self._draws = asked.draws
        self._makers: list[_Make] = []
        for place in sorted({*plan.fixed, *plan.varying}):
            fixed = plan.fixed.get(place)
            if place not in plan.fixed:
                first = draws_first(inputs[place], precision(self._dtype))
                self._makers.append(self._varying(_by_call(first, plan, asked), plan))
            elif isinstance(fixed, np.ndarray):
                self._makers.append(self._copies(fixed))
            else:
                self._makers.append(_always(fixed))
        if asked.size is not None:
            one = asked.size[len(plan.lead) :]
            self._makers.append(_always(one if asked.single else (self._size, *one)))

    def arguments(self, number: int, start: int) -> list[Any]:
        """The arguments of one call, by its number over all seeds and its first draw."""
        return [make(number, start) for make in self._makers]

    def _varying(self, values: Array, plan: CallPlan) -> _Make:
        """A function that takes the parts of each call from [calls of all seeds, draws, …]."""
        # the functions must not hold this object: arrays would wait for the garbage collector
        adapter, dtype, size = self._adapter, self._dtype, self._size
        draws, several = self._draws, self._several
        if plan.single and not several:
            each = adapter.each(values.reshape(-1, *values.shape[2:]), dtype)
            return lambda number, start: each[number * draws + start]

        def part(number: int, start: int) -> Any:
            own = values[number, start if plan.single else slice(start, start + size)]
            if not plan.single and len(own) < size:
                own = _padded(own, size)
            elif several:
                own = own.copy()
            return adapter.given(own, dtype)

        return part

    def _copies(self, values: Array) -> _Make:
        adapter, dtype = self._adapter, self._dtype
        count = max(1, min(self._draws // self._size, COPIED // max(1, values.size)))
        left: list[Any] = []

        def copy(_number: int, _start: int) -> Any:
            if not left:
                copies = np.broadcast_to(values, (count, *values.shape)).copy()
                left.extend(adapter.each(copies, dtype))
            return left.pop()

        return copy


class Taken:
    """The outputs of the calls of one span in one mode, in one array of float64."""

    def __init__(self, plan: CallPlan, asked: CodeRequest, key: object, mode: str) -> None:
        self._size = plan.call_draws(asked.draws)
        self.plan = plan
        self.asked = asked
        self.key = key
        self.mode = mode
        self._whole: Array | None = None
        self.shape: tuple[int, ...] | None = None  # of what a call returns

    def begin(self, of_one: tuple[int, ...]) -> None:
        """Make room for draws of a shape, `of_one`."""
        draws = -(-self.asked.draws // self._size) * self._size
        self._whole = np.empty((draws, self.asked.seeds * self.asked.calls, *of_one))
        self.shape = of_one if self.plan.single else (self._size, *of_one)

    def put(self, number: int, start: int, array: Array) -> None:
        """Take what one call returned."""
        assert self._whole is not None
        at = start if self.plan.single else slice(start, start + self._size)
        self._whole[at, number] = array

    @property
    def draws(self) -> Array:
        """All draws: [*shape of one draw, draws], draws first in memory."""
        assert self._whole is not None
        whole = self._whole[: self.asked.draws]
        whole = whole.reshape(len(whole), *self.plan.lead, *whole.shape[2:])
        return whole.transpose(*range(1, whole.ndim), 0)


def _always(value: Any) -> _Make:
    return lambda _number, _start: value


def _by_call(values: Array, plan: CallPlan, asked: CodeRequest) -> Array:
    """[draws, …] as [calls of all seeds, draws, …]; an input without these axes is repeated."""
    if not plan.lead:
        return values[np.newaxis]
    number = asked.seeds * asked.calls
    if values.shape[1 : 1 + len(plan.lead)] == plan.lead:
        whole = values.reshape(len(values), number, *values.shape[1 + len(plan.lead) :])
        return np.ascontiguousarray(np.moveaxis(whole, 0, 1))
    return np.tile(values, (number, *(1 for _ in values.shape)))


def _padded(values: Array, draws: int) -> Array:
    """The draws, with the first one repeated up to the number of a call; results are cut again."""
    missing = np.broadcast_to(values[:1], (draws - len(values), *values.shape[1:]))
    return np.concatenate([values, missing])
