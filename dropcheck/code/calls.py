"""The code of one slot, which is called when the programs of a run ask for draws."""

from __future__ import annotations

import inspect
import itertools
import math
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt

from dropcheck.array_types import Floats
from dropcheck.claims.registry import CodeRequest, Slot
from dropcheck.code.adapters.adapter import Adapter, FrameworkFunction, kind_of
from dropcheck.code.probes import (
    CALLS,
    FEWEST_COMPARED,
    PROBE_DRAWS,
    Words,
    alike,
    check_draws,
    draws_of_a_call,
    rows_of,
    shared_numbers,
)
from dropcheck.code.targets import raised, said_by
from dropcheck.errors import DropcheckError, Problem
from dropcheck.processors import Stopwatch
from dropcheck.vocabulary.function import Array

# ---- calling -------------------------------------------------------------------------------------
#
# How code is called: which of its parameters get the arguments of the slot, and which are filled.
#
# A function takes what its slot takes, in the same order. Where it has parameters with all these
# names, each argument goes to the parameter of its name, also in another order or by keyword alone.
# A function with one of these names at the place of another is refused, as one of the two is wrong.
# Other parameters are filled, wherever they stand:
#
# - `training` or `train` is whether it trains, `deterministic` or `inference` whether it does not;
# - `dtype` gets the number format, as the framework has it;
# - the source of randomness has the names that its framework's adapter says (`sources`).
#
# A name that the slot itself takes is never filled; nor is `key` beside a parameter `query`.


TRAINING = ("training", "train")
EVALUATING = ("deterministic", "inference")
DTYPE = "dtype"
SIZE = "size"
_SIZES = {SIZE: "shape"}  # another name of the same parameter
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class PreparedFunction:
    """A function, ready to be called with the arguments of its slot.

    `arguments` are those of a call by place: None for an argument of the slot, else the name of a
    parameter that is filled. `named` are the parameters that are filled by name.
    """

    function: FrameworkFunction
    arguments: tuple[str | None, ...]
    named: tuple[str, ...]
    has_modes: bool

    @property
    def first(self) -> int:
        """The place of the slot's first argument."""
        return self.arguments.index(None)


class ByName:
    """A function that gets the arguments of its slot by their names.

    Args:
        function: the function.
        names: of its parameters, in the order of the slot's arguments.
    """

    def __init__(self, function: FrameworkFunction, names: Sequence[str]) -> None:
        self._function = function
        self.names = names

    def __call__(self, *given: Any, **named: Any) -> Any:
        """What the function returns."""
        return self._function(**dict(zip(self.names, given, strict=True)), **named)


def prepared(
    adapter: Adapter, function: Any, takes: Sequence[str], given: Sequence[str]
) -> PreparedFunction:
    """A function with the plan of its arguments.

    Args:
        adapter: of its framework.
        function: what is called: a function, or an object.
        takes: the names of all arguments of the slot; none of them is filled.
        given: the names of the arguments in a call; for a sampler `size` is the last.

    Raises:
        TypeError: it does not take so many; the text says what it takes.
    """
    has_modes, count = adapter.evaluating(function, evaluate=False), len(given)
    try:
        signature = inspect.signature(adapter.entry(function))
    except (TypeError, ValueError):  # of a function that is not written in Python
        return PreparedFunction(function, (None,) * count, (), has_modes)
    parameters = signature.parameters
    known = {DTYPE, *adapter.sources}
    known |= set() if has_modes else {*TRAINING, *EVALUATING}
    known -= {*takes, *(("key",) if "query" in parameters else ())}
    places = _by_place(parameters, known, count)
    taken = [name for name, filled in zip(parameters, places, strict=False) if filled is None]
    swapped = any(name in given and name != own for name, own in zip(taken, given, strict=False))
    used = {own for own in list(parameters)[: len(places)] if parameters[own].kind in _BY_PLACE}
    if not has_modes and (swapped or places.count(None) < count):
        names = [name if name in parameters else _SIZES.get(name, name) for name in given]
        function, places, used, swapped = ByName(function, names), [], {*names}, False
    named = tuple(name for name in parameters if name in known and name not in used)
    by_name = function.names if isinstance(function, ByName) else ()
    try:
        if swapped or places.count(None) + len(by_name) < count:
            raise TypeError
        signature.bind(*places, **dict.fromkeys((*by_name, *named)))
    except TypeError:
        bare = [one.replace(annotation=one.empty) for one in parameters.values()]
        none = inspect.Signature.empty
        shown = signature.replace(parameters=bare, return_annotation=none)
        raise TypeError(f"takes {shown}") from None
    modes = has_modes or any(name in (*TRAINING, *EVALUATING) for name in (*used & known, *named))
    return PreparedFunction(function, tuple(places) or (None,) * count, named, modes)


def _by_place(
    parameters: Mapping[str, inspect.Parameter], known: Collection[str], count: int
) -> list[str | None]:
    """The use of each place: None for `count` arguments of the slot, else the name to fill in."""
    places: list[str | None] = []
    left = count
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL and left:
            places += [None] * left
            left = 0
        if not left or parameter.kind not in _BY_PLACE:
            break
        places.append(name if name in known else None)
        left -= name not in known
    return places


Caller = Callable[[Sequence[Any]], Iterable[tuple[str, Any]]]
"""A call: from the slot's arguments to what it returns, in each of its modes.

The modes are "eval" alone, or one or both of "train" and "grad"."""


def caller(adapter: Adapter, code: PreparedFunction, dtype: str, modes: frozenset[str]) -> Caller:
    """A function that calls the prepared function, any number of times."""
    evaluate = "eval" in modes
    known: dict[str, Any] = {
        **dict.fromkeys(TRAINING, not evaluate),
        **dict.fromkeys(EVALUATING, evaluate),
        DTYPE: adapter.dtype(dtype),
    }
    switched = code.has_modes and adapter.evaluating(code.function, evaluate)

    all_given = not any(code.arguments)
    gradient_too = "grad" in modes
    (alone,) = modes if not gradient_too else ("",)

    def fill(name: str) -> Any:
        return known[name] if name in known else adapter.source(name)

    def called(given: Sequence[Any]) -> Iterable[tuple[str, Any]]:
        if switched:  # another caller may have switched it
            adapter.evaluating(code.function, evaluate)
        by_place = given
        if not all_given:
            rest = iter(given)
            by_place = [next(rest) if name is None else fill(name) for name in code.arguments]
        named = {name: fill(name) for name in code.named} if code.named else {}
        if not gradient_too:
            return ((alone, adapter.called(code.function, by_place, named)),)
        output, gradient = adapter.with_gradient(code.function, by_place, named, code.first)
        return (("train", output), ("grad", gradient))[0 if "train" in modes else 1 :]

    return called


# ---- call limit ----------------------------------------------------------------------------------
#
# A time limit for one call of code under test, where the system has alarms.


SECONDS = 60.0
"""The usual limit of one call: a thousand times what a call is meant to take."""


LEAST = 1.0
"""The limit is halved for code that took too long, down to this."""


class CallTookTooLongError(BaseException):
    """Raised within a call at its limit; an `except Exception` of the code does not catch it."""


class TimedCalls:
    """A context for each of the calls within one `limited`, which times it.

    Args:
        seconds: what one call may take.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start: float | None = None  # of the call under way

    def __enter__(self) -> None:
        """Begin a call."""
        self._start = time.monotonic()

    def __exit__(self, *error: object) -> None:
        """End it.

        Raises:
            CallTookTooLongError: it took too long, and no alarm ended it.
        """
        start, self._start = self._start, None
        if error[0] is None and start is not None and time.monotonic() - start > self.seconds:
            raise CallTookTooLongError

    @property
    def left(self) -> float:
        """Seconds that the call under way has left, or the next one."""
        return self.seconds - (0.0 if self._start is None else time.monotonic() - self._start)


_armed: list[TimedCalls] = []  # the calls that the alarm is set for, each within the one before
_here: ContextVar[bool] = ContextVar("armed", default=False)  # whether it is set in this thread


@contextmanager
def limited(seconds: float) -> Iterator[TimedCalls]:
    """A context in which calls end after this time, if they run Python in the main thread.

    A signal reaches the main thread alone, on systems that have SIGALRM, and does not interrupt a
    function that is written in C. There, and where something else uses the signal, a call that
    takes too long is noticed when it is over. The alarm is set once for all calls, also for those
    of a context within this one: setting it takes longer than many calls. It rings repeatedly: a
    signal that comes just before a function in C begins to wait does not wake that function.
    """
    calls = TimedCalls(seconds)
    if _here.get():
        with _among_armed(calls):
            yield calls
    elif _can_be_armed():
        token = _here.set(True)
        signal.signal(signal.SIGALRM, _ring)
        try:
            with _among_armed(calls):
                yield calls
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            _here.reset(token)
    else:
        yield calls


@contextmanager
def _among_armed(calls: TimedCalls) -> Iterator[None]:
    sooner = all(calls.seconds < one.seconds for one in _armed)
    _armed.append(calls)
    try:
        if sooner:
            _set_alarm(calls.seconds)
        yield
    finally:
        _armed.remove(calls)


def _ring(_: int, __: FrameType | None) -> None:
    """End a call that has taken too long, or set the alarm for the time when it will have.

    Raises:
        CallTookTooLongError: within the call.
    """
    left = min((one.left for one in _armed), default=0.0)
    if left > 0:
        _set_alarm(left)
    elif _armed:
        raise CallTookTooLongError


def _set_alarm(seconds: float) -> None:
    """Ring after some seconds, and then again after each limit; 0 seconds would stop the alarm."""
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), min(one.seconds for one in _armed))


def _can_be_armed() -> bool:
    """Whether there is a SIGALRM that nothing uses and this thread can handle."""
    if not hasattr(signal, "SIGALRM") or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        return False
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    except ValueError:  # this is not the main thread
        return False
    return signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


# ---- plans ---------------------------------------------------------------------------------------
#
# How the code of a slot is called, for one kind of request.


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
    # by the modes of a call and the number of its draws, each of which may cost a compilation
    callers: dict[tuple[frozenset[str], int], Caller] = field(default_factory=dict)

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


# ---- draws first ---------------------------------------------------------------------------------
#
# Moves the axis of draws from the last place, as in programs, to the first, as in code.
#
# numpy copies a transpose number by number. If the rows are a power of two apart, as in spans of
# draws, all numbers of a column share a few lines of the cache, and copying each takes ten times as
# long (Hill and Smith, Evaluating associativity in CPU caches, 1989). So blocks are copied through
# a buffer whose rows have another length.


BLOCK = 256  # columns: in smaller blocks, numpy's calls cost more; larger ones leave the cache
PADDING = 16  # numbers by which a row of the buffer is longer than a block


def draws_first(values: Array, dtype: npt.DTypeLike) -> Array:
    """From [*shape, draws] to [draws, *shape], contiguous and of another type.

    >>> draws_first(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "float32").tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    """
    first = values.transpose(-1, *range(values.ndim - 1))
    if first.flags.c_contiguous:  # draws come first in memory already
        return first.astype(dtype)
    *shape, draws = values.shape
    return _transposed(values.reshape(math.prod(shape), draws), dtype).reshape(draws, *shape)


def _transposed(values: Array, dtype: npt.DTypeLike) -> Array:
    """The transpose of a table, in another type."""
    rows, columns = values.shape
    result = np.empty((columns, rows), dtype)
    if rows >= columns:  # cut the longer side into blocks
        buffer = np.empty((BLOCK, columns + PADDING), values.dtype)
        for start in range(0, rows, BLOCK):
            block = values[start : start + BLOCK]
            buffer[: len(block), :columns] = block
            result[:, start : start + BLOCK] = buffer[: len(block), :columns].T
        return result
    buffer = np.empty((rows, BLOCK + PADDING), dtype)
    for start in range(0, columns, BLOCK):
        block = values[:, start : start + BLOCK]
        buffer[:, : block.shape[1]] = block
        result[start : start + BLOCK] = buffer[:, : block.shape[1]].T
    return result


# ---- call data -----------------------------------------------------------------------------------
#
# The arguments of calls of code, and the results: each number is copied once.


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


# ---- bound ---------------------------------------------------------------------------------------


# Draws that are compared before anything is judged, where each draw is a call.
SINGLE_PROBES = 8
# Pairs of draws of which one is changed. Code that rejects draws may change the other draw now and
# then; code that mixes draws changes it each time.
MIXING_PROBES = 6
# Code that is slower than this is compared by fewer calls.
PROBE_SECONDS = 2.0
_WORDS = Words(
    source="seed",
    draw_from_it="draw from the framework's own source, which is seeded before, or from the one "
    "that is given; what it keeps from call to call may not change what it returns",
    draw_each="each draw needs random numbers of its own: the first axis is the draw",
    use_it="what seeds itself, or makes a generator in each call, repeats itself",
)


class Bound:
    """Code that is bound to a slot: `Code` of `dropcheck.claims.registry`.

    Args:
        slot: the slot.
        adapter: of the code's framework.
        function: the code: a function, a class or an object.
        name: its name in messages, such as "torch.nn.functional:dropout".
        limit: seconds that one call may take.
    """

    def __init__(
        self, slot: Slot, adapter: Adapter, function: Any, *, name: str, limit: float
    ) -> None:
        self.slot = slot
        self.name = name
        self._adapter = adapter
        self._function = function
        self._limit = limit
        self._plans: dict[object, CallPlan] = {}
        self._shapes: dict[tuple[object, str], tuple[int, ...]] = {}
        self.set_up = 0.0
        self._setting_up = False

    @property
    def _counts_each(self) -> bool:
        """Whether the slot declares the draws of a call independent."""
        return self.slot.independent or self.slot.law is not None

    @property
    def has_gradient(self) -> bool:
        """Whether its framework has gradients of such code."""
        return self._adapter.has_gradient(self._function)

    def drawn(
        self, generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        """The draws that the code returns, by mode: float64, [*shape of one draw, draws].

        In memory draws come first, as code has them.

        Raises:
            DropcheckError: it fails, takes too long, returns something else than an array of so
                many draws, or draws in a way that allows no verdict.
        """
        key = self._key(asked, inputs)
        with np.errstate(all="ignore"), self._adapter.on_one_thread():
            if key not in self._plans:
                self._look_at(key, asked, inputs)
            return self._run(self._plans[key], key, asked, inputs, self._seeds(generator, asked))

    @contextmanager
    def held(self) -> Iterator[None]:
        """A context for calls that follow each other: the alarm of their limit is set once."""
        with limited(self._limit), self._adapter.on_one_thread():
            yield

    def looked_at(self, asked: CodeRequest, inputs: Sequence[Array]) -> bool:
        """Check the code before it is asked for this, once; returns whether that called it.

        Raises:
            DropcheckError: it cannot be called so, or draws in a way that allows no verdict.
        """
        key = self._key(asked, inputs)
        if key in self._plans:
            return False
        with np.errstate(all="ignore"), self._adapter.on_one_thread():
            self._look_at(key, asked, inputs)
        return not self._plans[key].lead

    def _look_at(self, key: object, asked: CodeRequest, inputs: Sequence[Array]) -> None:
        with self._first(), limited(self._limit):
            plan = self._planned(asked, inputs)
            if not plan.lead:
                self._check(plan, key, asked, inputs)
        self._plans[key] = plan

    @contextmanager
    def _first(self) -> Iterator[None]:
        """A context for first calls, which import and compile: their time counts for no case."""
        watch, within = Stopwatch(), self._setting_up
        self._setting_up = True
        try:
            yield
        finally:
            self._setting_up = within
            self.set_up += 0.0 if within else watch.seconds

    def _key(self, asked: CodeRequest, inputs: Sequence[Array]) -> object:
        """The key of a plan: all of a request but varying values, number of draws, and seeds."""
        kept = tuple(
            one.shape[:-1] if varies(asked, at, one) else one.tobytes()
            for at, one in enumerate(inputs)
        )
        return asked.dtype, asked.modes, asked.size, asked.single, asked.seeds, asked.calls, kept

    def _seeds(self, generator: np.random.Generator, asked: CodeRequest) -> Callable[[], int]:
        """A function that returns the first of `asked.seeds` consecutive seeds, each time anew."""
        return lambda: int(generator.integers(self._adapter.seeds - asked.seeds))

    def _planned(self, asked: CodeRequest, inputs: Sequence[Array]) -> CallPlan:
        try:
            return planned(self._adapter, self._function, self.slot, asked, inputs)
        except UnfitCodeError as error:
            raise self._fault(*error.args) from error.__cause__

    # ---- calls ----------------------------------------------------------------------------------

    def _run(
        self,
        plan: CallPlan,
        key: object,
        asked: CodeRequest,
        inputs: Sequence[Array],
        seed: Callable[[], int],
    ) -> dict[str, Array]:
        """Make all calls that are asked for: for each seed, each number of a call, and each part.

        Calls in evaluation come after all calls in training, with the same numbers.
        """
        given = CallData(self._adapter, plan, asked, inputs)
        called = asked.modes - asked.skipped
        taken = {mode: Taken(plan, asked, key, mode) for mode in called}
        training = called - {"eval"}
        groups = [modes for modes in (training, called - training) if modes]
        starts = range(0, asked.draws, plan.call_draws(asked.draws))
        anew = asked.seeds > 1  # then each part has seeds of its own, in all modes
        bases = [seed() if anew or (asked.begin and start == 0) else 0 for start in starts]
        with limited(self._limit) as calls:
            for modes, (start, base) in itertools.product(groups, zip(starts, bases, strict=True)):
                seeded = anew or (asked.begin and start == 0 and modes is groups[0])
                for number in range(asked.seeds * asked.calls):
                    if seeded and number % asked.calls == 0:
                        self._adapter.begin(base + number // asked.calls)
                    for mode, output in self._call(plan, asked, given, number, start, modes, calls):
                        self._take(taken[mode], output, number, start)
        return {mode: one.draws for mode, one in taken.items()}

    def _call(
        self,
        plan: CallPlan,
        asked: CodeRequest,
        given: CallData,
        number: int,
        start: int,
        modes: frozenset[str],
        calls: TimedCalls,
    ) -> Iterable[tuple[str, Any]]:
        """What one call returns, in each mode."""
        arguments: Sequence[Any] = ()
        try:
            kind = modes, plan.call_draws(asked.draws)
            first = kind not in plan.callers
            if first:
                plan.callers[kind] = self._caller(plan, asked, modes)
            arguments = given.arguments(number, start)
            with self._first() if first else nullcontext(), calls:
                return plan.callers[kind](arguments)
        except (DropcheckError, KeyboardInterrupt):
            raise
        except CallTookTooLongError:
            # code that hangs does so in each case, and a pack has many cases
            limit, self._limit = self._limit, max(self._limit / 2, min(self._limit, LEAST))
            raise self._fault(
                f"took more than {limit:g} s for one call",
                "a call is meant to take milliseconds",
            ) from None
        except BaseException as error:
            raise self._fault(raised(error), self._given(arguments)) from error

    def _caller(self, plan: CallPlan, asked: CodeRequest, modes: frozenset[str]) -> Caller:
        dtype = asked.dtype or self._adapter.dtypes[0]
        return caller(self._adapter, plan.code, dtype, modes)

    def _given(self, arguments: Sequence[Any]) -> str:
        """What a call was given, in words."""
        return f"it was given {_described(self.slot.takes, arguments) or 'nothing'}"

    def _take(self, taken: Taken, output: Any, number: int, start: int) -> None:
        """Keep what a call returned, if it has the right axes."""
        try:
            array = self._adapter.returned(output)
        except TypeError as error:
            raise self._fault(
                f"returned {error}", "return one array of real numbers or truths"
            ) from error
        except Exception as error:  # such as a tensor on the meta device, which has no numbers
            raise self._fault(
                f"returned {kind_of(output)} that cannot be read: {said_by(error)}",
                "return one array of real numbers or truths",
            ) from error
        if array.shape != taken.shape:
            of_one = self._of_one(taken.plan, taken.asked, array)
            self._compare(taken.key, taken.mode, of_one)
            taken.begin(of_one)
        taken.put(number, start, array)

    def _of_one(self, plan: CallPlan, asked: CodeRequest, array: Array) -> tuple[int, ...]:
        """The shape of one draw in what was returned."""
        draws = plan.call_draws(asked.draws)
        size = None if asked.size is None else asked.size[len(plan.lead) :]
        if size is not None and not asked.single:
            size = (draws, *size)
        if size is not None and array.shape != size:
            raise self._fault(
                f"returned an array of shape {list(array.shape)}, and {list(size)} was asked for",
                "its last argument, `size`, is the shape of what it returns",
            )
        if not asked.single and size is None and (array.ndim == 0 or len(array) != draws):
            what = "one number" if array.ndim == 0 else f"an array of shape {list(array.shape)}"
            raise self._fault(
                f"returned {what}, and was given {draws:,} draws",
                "the first axis is the draw; where one call is one draw, call the first axis of "
                "what it is given 'batch'",
            )
        return array.shape if asked.single else array.shape[1:]

    def _compare(self, key: object, mode: str, shape: tuple[int, ...]) -> None:
        """Refuse another shape of one draw than that of the first call."""
        before = self._shapes.setdefault((key, mode), shape)
        if before != shape:
            raise self._fault(
                f"returned draws of shape {list(before)} in one call, and of {list(shape)} in "
                "another",
                "the shape of a draw may not change",
            )

    # ---- checks before anything is judged -------------------------------------------------------

    def _check(
        self, plan: CallPlan, key: object, asked: CodeRequest, inputs: Sequence[Array]
    ) -> None:
        """Refuse code whose draws do not follow from the seed, or depend on one another.

        Where draws are compared with each other, all have the same inputs. The seeds are not those
        of the run, whose draws do not depend on these checks.
        """
        draws = min(asked.draws, SINGLE_PROBES if asked.single else PROBE_DRAWS)
        train = frozenset({"train"}) if asked.modes & {"train", "grad"} else asked.modes
        probe = _replaced(asked, draws=max(draws, 2), modes=train)
        same = _repeated(plan, inputs, probe.draws)

        def once(number: int) -> dict[str, Array]:
            return self._run(plan, key, probe, same, itertools.repeat(number).__next__)

        shared = replace(_WORDS, draw_each="")  # draws of a call may share all random numbers
        check_draws(once, _WORDS if self._counts_each else shared, self._fault)
        if "eval" not in train and not asked.single and asked.draws > 1:
            self._check_independence(plan, key, probe, inputs)
        if asked.single or not plan.varying or asked.draws < 3:
            return
        pair = _replaced(asked, draws=2, modes=train)
        changed = []
        both = _columns(inputs, 0, 1), _columns(inputs, 0, 2)
        for number in range(MIXING_PROBES):
            own = itertools.repeat(number).__next__
            one, other = (self._run(plan, key, pair, some, own) for some in both)
            changed.append(any(not alike(one[name][..., 0], other[name][..., 0]) for name in train))
        if all(changed):
            raise self._fault(
                "gives a draw another value when only the draw after it changes",
                "it mixes draws along the first axis: where it is meant to, call the first axis of "
                "what it is given 'batch', and one draw is one call",
            )

    def _check_independence(
        self, plan: CallPlan, key: object, probe: CodeRequest, inputs: Sequence[Array]
    ) -> None:
        """Refuse draws of one call that share random numbers where each counts by itself."""
        if not self._counts_each:
            return
        own = _replaced(probe, draws=draws_of_a_call(plan.elements), modes=probe.modes)
        same = _repeated(plan, inputs, own.draws)
        rows: dict[str, list[Floats]] = {mode: [] for mode in own.modes}
        made, end = 0, time.monotonic() + PROBE_SECONDS
        while made < CALLS and (made < FEWEST_COMPARED or time.monotonic() < end):
            drawn = self._run(plan, key, own, same, itertools.repeat(made).__next__)
            for mode, one in drawn.items():
                rows[mode].append(rows_of(one))
            made += 1
        shared = (shared_numbers(np.stack(calls)) for calls in rows.values())
        found = next((one for one in shared if one is not None), None)
        if found is not None:
            advice = _WORDS.draw_each
            if self.slot.independent:
                advice += (
                    "; or leave 'elements: independent' out of its slot: a call is then one draw"
                )
            raise self._fault(f"gives {found} random numbers in common", advice)

    # ---- messages -------------------------------------------------------------------------------

    def _fault(self, message: str, hint: str) -> DropcheckError:
        return DropcheckError(Problem(f"{self.name} {message}", hint=hint))


def _replaced(asked: CodeRequest, *, draws: int, modes: frozenset[str]) -> CodeRequest:
    return CodeRequest(
        draws=draws, shapes=asked.shapes, dtype=asked.dtype, modes=modes, size=asked.size,
        seeds=asked.seeds, calls=asked.calls, single=asked.single, begin=True,
    )  # fmt: skip


def _repeated(plan: CallPlan, inputs: Sequence[Array], draws: int) -> list[Array]:
    """The first draw of inputs that vary, repeated; other inputs as they are."""
    return [
        np.broadcast_to(one[..., :1], (*one.shape[:-1], draws)) if at in plan.varying else one
        for at, one in enumerate(inputs)
    ]


def _columns(inputs: Sequence[Array], *draws: int) -> list[Array]:
    return [one if one.shape[-1] == 1 else one[..., list(draws)] for one in inputs]


def _described(names: Sequence[str], arguments: Sequence[Any]) -> str:
    """Arguments as a message shows them: arrays by their type and shape, numbers as they are.

    One more argument than there are names is the size that a sampler gets.
    """
    parts = []
    for name, value in zip((*names, SIZE), arguments, strict=False):
        shape = getattr(value, "shape", None)
        kind = str(getattr(value, "dtype", "")).removeprefix("torch.")
        parts.append(f"{name}: {value!r}" if shape is None else f"{name}: {kind} {list(shape)}")
    return ", ".join(parts)
