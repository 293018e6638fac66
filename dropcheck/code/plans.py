"""How the code of a slot is called, for one kind of request."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dropcheck.claims.registry import CodeRequest, Slot
from dropcheck.code.adapters.adapter import Adapter
from dropcheck.code.calling import SIZE, Caller, PreparedFunction, prepared
from dropcheck.code.targets import raised
from dropcheck.errors import DropcheckError
from dropcheck.vocabulary.function import Array

# Where each new shape of an array costs a compilation, the draws of a call are a power of two, and
# have at least and at most so many numbers. So there are few shapes: spans of one program have one
# length, and there are few programs. What a call returns may depend on its shape, which therefore
# depends on the request alone, and not on earlier ones.
LEAST_ELEMENTS = 2**12
MOST_ELEMENTS = 2**20
LARGEST_INTEGER = 2**53
"""Beyond it every number of float64 is whole, and is passed as a float."""
ROUNDED = 2.0**-8
"""The largest relative error of rounding to a number format: that of bfloat16."""


class UnfitCodeError(Exception):
    """Code that cannot be called as the slot needs it: a message and a hint."""


@dataclass(frozen=True, slots=True)
class CallPlan:
    """The plan by which one function is called for one kind of request."""

    code: PreparedFunction
    fixed: Mapping[int, Any]  # arguments that are the same in every call, by place
    varying: tuple[int, ...]  # the places of the others
    lead: tuple[int, ...]  # the lengths of the axes of seeds and calls, without those of length 1
    elements: int  # numbers of one draw
    one_shape: bool  # whether calls should have few shapes
    single: bool  # whether one draw is one call
    callers: dict[frozenset[str], Caller] = field(default_factory=dict)  # by the modes of a call

    def call_draws(self, draws: int) -> int:
        """The draws of each call where so many are asked for in all."""
        if self.single:
            return 1
        if not self.one_shape:
            return draws
        least = max(1, LEAST_ELEMENTS // self.elements)
        most = max(1, MOST_ELEMENTS // self.elements)
        return min(_power_of_two(max(draws, least)), _power_of_two(most))


def planned(
    adapter: Adapter, target: Any, slot: Slot, asked: CodeRequest, inputs: Sequence[Array]
) -> CallPlan:
    """The plan of calls for a request.

    Args:
        adapter: of the code's framework.
        target: the code: a function, a class or an object.
        slot: what it is bound to.
        asked: what is asked for.
        inputs: what it is given, [*shape, draws], or [*shape, 1] where nothing varies.

    Raises:
        UnfitCodeError: the code cannot be called so, or an object cannot be built.
    """
    dtype = asked.dtype or adapter.dtypes[0]
    if dtype not in adapter.dtypes:
        raise UnfitCodeError(f"cannot be given {dtype}", f"it takes {', '.join(adapter.dtypes)}")
    try:
        adapter.dtype(dtype)
    except ImportError as error:
        hint = f"pip install {error.name}, in the environment that runs dropcheck"
        raise UnfitCodeError(f"cannot be given {dtype}: {error}", hint) from error
    except ValueError as error:
        raise UnfitCodeError(f"cannot be given {dtype}", str(error)) from error
    varying = tuple(at for at, one in enumerate(inputs) if varies(asked, at, one))
    takes = slot.takes
    fixed = {
        at: constant(one[..., 0], dtype, whole=takes[at] not in slot.fractions)
        for at, one in enumerate(inputs)
        if at not in varying
    }
    named: dict[str, Any] = {}
    given, around = [*takes], "write a function of these around it"
    if inspect.isclass(target):
        named = {takes[at]: _as_given(adapter, one, dtype) for at, one in fixed.items()}
        given, around = [takes[at] for at in varying], f"it is built from ({', '.join(named)})"
        fixed = {}
    function = _layer(adapter, target, named, dtype)
    size = [SIZE] * (asked.size is not None)
    try:
        code = prepared(adapter, function, takes, [*given, *size])
    except TypeError as error:
        had = _had(adapter, target, {takes[at]: one for at, one in fixed.items()})
        hint = f"the slot gives it ({', '.join([*given, *size])}): {around}"
        if not had:
            raise UnfitCodeError(str(error)[:300], hint) from error
        fixed = {at: one for at, one in fixed.items() if takes[at] not in had}
        given = [name for name in takes if name not in had]
        try:
            code = prepared(adapter, function, takes, [*given, *size])
        except TypeError:
            raise UnfitCodeError(str(error)[:300], hint) from error
    if "eval" in asked.modes and not code.has_modes and not _same_in_use(slot):
        raise UnfitCodeError(
            "has no mode of evaluation",
            "give it a parameter 'training', or bind a layer that has one",
        )
    lead = tuple(length for length in (asked.seeds, asked.calls) if length > 1)
    shapes = [inputs[place].shape[len(lead) : -1] for place in varying]
    shapes += [asked.size[len(lead) :]] if asked.size is not None else []
    largest = max(map(math.prod, shapes), default=1)
    return CallPlan(
        code=code,
        fixed=fixed,
        varying=varying,
        lead=lead,
        elements=max(1, largest),
        one_shape=adapter.one_shape,
        single=asked.single,
    )


def _had(adapter: Adapter, target: Any, fixed: Mapping[str, Any]) -> set[str]:
    """The names of fixed numbers with which an object was built: it is not called with these.

    Raises:
        UnfitCodeError: it was built with another number.
    """
    had: set[str] = set()
    for name, value in fixed.items() if not inspect.isroutine(target) else ():
        own = adapter.has_of(target, name) if isinstance(value, int | float) else []
        for number in own:
            if not math.isclose(number, value, rel_tol=ROUNDED):
                message = f"was built with {name}={number:g}, and is asked for {name}={value:g}"
                kind = type(target).__name__
                raise UnfitCodeError(message, f"bind a class, such as {kind}, or a function")
        had |= {name} if own else set()
    return had


def _layer(adapter: Adapter, target: Any, named: Mapping[str, Any], dtype: str) -> Any:
    try:
        return adapter.layer(target, named, dtype)
    except (DropcheckError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a SystemExit of the code would end the run as passed
        given = ", ".join(f"{name}={str(one)[:50]}" for name, one in named.items())
        hint = f"a class is built from what does not vary, here ({given})"
        raise UnfitCodeError(raised(error), hint) from error


def _power_of_two(number: int) -> int:
    """The least power of two that is at least a number."""
    return 1 << (number - 1).bit_length()


def _same_in_use(slot: Slot) -> bool:
    """Whether the mathematics of a slot draws nothing and has the same value in evaluation.

    Then a function without modes, such as a layer norm, serves for both.
    """
    draws = slot.law is not None or (slot.model is not None and "~" in slot.model.text)
    texts = {text.text.strip() for text in (slot.gives, slot.evaluation) if text is not None}
    return not draws and len(texts) == 1


def varies(asked: CodeRequest, place: int, values: Array) -> bool:
    """Whether an input may differ from draw to draw; a request has a shape for each that does."""
    return values.shape[-1] > 1 or (asked.draws == 1 and asked.shapes[place] is not None)


def constant(values: Array, dtype: str, *, whole: bool) -> Any:
    """An input that does not vary: a whole number as int, another number as float, or an array.

    `whole` says that the number may be int: it is not where other claims have fractions.

    >>> [constant(np.array(one), "float32", whole=True) for one in (3.0, 0.5)]
    [3, 0.5]
    """
    if values.ndim:
        return np.array(values, precision(dtype), order="C")
    number = float(values)
    whole = whole and number.is_integer() and abs(number) < LARGEST_INTEGER
    return int(number) if whole else number


def precision(dtype: str) -> str:
    """The format of numpy that holds each number of a format: all but float64 fit into float32."""
    return "float64" if dtype == "float64" else "float32"


def _as_given(adapter: Adapter, value: Any, dtype: str) -> Any:
    return adapter.given(value, dtype) if isinstance(value, np.ndarray) else value
