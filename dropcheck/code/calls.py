"""The code of one slot, which is called when the programs of a run ask for draws."""

from __future__ import annotations

import inspect
import itertools
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.claims.registry import CodeRequest, Slot
from dropcheck.code.adapters.adapter import (
    GRADIENT,
    Adapter,
    FrameworkFunction,
    generators_of,
    kind_of,
    raised,
    said_by,
)
from dropcheck.errors import DropcheckError, Problem
from dropcheck.settings import Stopwatch
from dropcheck.vocabulary.function import Array

# ---- arguments -----------------------------------------------------------------------------------
#
# A function is read by its signature. Where it has parameters with the names of all arguments of
# its slot, each argument goes to the parameter of its name; else they go to its first parameters,
# in the order of the slot. A function with one of these names at the place of another is refused,
# as one of the two is wrong. Other parameters are filled by name, wherever they stand:
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
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class PreparedFunction:
    """A function of the arguments of its slot, in their order, and of what is `filled` by name."""

    target: Any  # the code that it calls
    function: FrameworkFunction
    filled: tuple[str, ...] = ()
    has_modes: bool = False


def prepared(
    adapter: Adapter, target: Any, takes: Sequence[str], given: Sequence[str]
) -> PreparedFunction:
    """A function, made ready to be called with the arguments of its slot.

    Args:
        adapter: of its framework.
        target: what is called: a function, or an object.
        takes: the names of all arguments of the slot; none of them is filled.
        given: the names of the arguments in a call; for a sampler `size` is the last.

    Raises:
        TypeError: it does not take them; the text says what it takes.
    """
    switched = adapter.evaluating(target, evaluate=False)
    try:
        signature = adapter.signature(target)
    except (TypeError, ValueError):  # of a function that is not written in Python
        return PreparedFunction(target, target, has_modes=switched)
    own = signature.parameters
    known = {DTYPE, *adapter.sources, *(() if switched else (*TRAINING, *EVALUATING))}
    known -= {*takes, *(("key",) if "query" in own else ())}
    filled = tuple(name for name in own if name in known)
    named = {name for name, one in own.items() if name not in known and one.kind in _BY_NAME}
    names = [name if name in named else _SIZES.get(name, name) for name in given]
    swapped = False
    if not {*names} <= named:
        first = [name for name, one in own.items() if name not in known and one.kind in _BY_PLACE]
        names = [name for name, _ in zip(first, given, strict=False)]
        pairs = zip(names, given, strict=False)
        swapped = any(name != wanted and name in given for name, wanted in pairs)
    by_name = len(names) == len(given) and {*names} <= named
    try:
        if swapped:
            raise TypeError
        places, words = ((), names) if by_name else (range(len(given)), ())
        signature.bind(*places, **dict.fromkeys((*words, *filled)))
    except TypeError:
        bare = [one.replace(annotation=one.empty) for one in own.values()]
        none = inspect.Signature.empty
        shown = signature.replace(parameters=bare, return_annotation=none)
        raise TypeError(f"takes {shown}") from None
    modes = switched or not {*TRAINING, *EVALUATING}.isdisjoint(filled)
    function = _called_by_name(target, names) if by_name else target
    return PreparedFunction(target, function, filled, modes)


def _called_by_name(target: Any, names: Sequence[str]) -> FrameworkFunction:
    """A function of arguments in the order of these names, and the method that has its gradient."""

    def function(*values: Any, **more: Any) -> Any:
        return target(**dict(zip(names, values, strict=True)), **more)

    if hasattr(target, GRADIENT):
        vars(function)[GRADIENT] = _called_by_name(getattr(target, GRADIENT), names)
    return function


# ---- call limit ----------------------------------------------------------------------------------
#
# A time limit for one call of code under test.
#
# A signal reaches the main thread alone, on systems that have SIGALRM, and does not interrupt a
# function that is written in C. There, and where something else uses the signal, a call that takes
# too long is noticed when it is over. The alarm is set once for the calls of a span, since setting
# it takes longer than a call may, and rings repeatedly: a signal that comes just before a function
# in C begins to wait does not wake that function.


SECONDS = 60.0
"""The usual limit of one call: a thousand times what a call is meant to take."""
LEAST = 1.0
"""The limit is halved for code that took too long, down to this."""
RINGS = 0.1
"""How often the alarm looks at the call under way, in seconds."""


class CallTookTooLongError(BaseException):
    """Raised within a call at its limit; an `except Exception` of the code does not catch it."""


@contextmanager
def alarmed(look: Callable[[], None]) -> Iterator[None]:
    """A context in which `look` is called again and again, if Python runs here in between."""
    free = (
        hasattr(signal, "SIGALRM")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )
    if free:  # not within another such context
        signal.signal(signal.SIGALRM, lambda *_: look())
        signal.setitimer(signal.ITIMER_REAL, RINGS, RINGS)
    try:
        yield
    finally:
        if free:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def staying() -> Iterator[None]:
    """A context in which code that ends the program raises: a gate would read it as passed."""
    leave, own = os._exit, (os.getpid(), threading.get_ident())

    def refused(status: int) -> NoReturn:
        if (os.getpid(), threading.get_ident()) == own:  # no process that code forks
            raise SystemExit(status)
        leave(status)

    os._exit = refused
    try:
        yield
    finally:
        os._exit = leave


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlan:
    """The plan by which one function is called for one kind of request."""

    code: PreparedFunction
    dtype: str
    seeds: int = 1
    calls: int = 1  # for each seed
    fixed: Mapping[int, Any] = field(default_factory=dict)  # by place: the same in every call
    varying: tuple[int, ...] = ()  # the places of the other arguments
    size: tuple[int, ...] | None = None  # of one draw of a sampler, in one call
    elements: int = 1  # numbers of one draw
    one_shape: bool = False  # whether calls should have few shapes
    single: bool = False  # whether one draw is one call
    own: Sequence[Callable[[int], object]] = ()  # seeds each generator that the code keeps
    # what was called: modes and draws of a call, each of which may cost a compilation
    called: set[tuple[frozenset[str], int]] = field(default_factory=set)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of one draw, by mode

    @property
    def lead(self) -> tuple[int, ...]:
        """The lengths of the axes of seeds and calls, but for those of length 1."""
        return tuple(length for length in (self.seeds, self.calls) if length > 1)

    def call_draws(self, draws: int) -> int:
        """The draws of each call where so many are asked for in all."""
        if self.single:
            return 1
        if not self.one_shape:
            return draws
        least = max(1, LEAST_ELEMENTS // self.elements)
        most = max(1, MOST_ELEMENTS // self.elements)
        return min(_power_of_two(max(draws, least)), _power_of_two(most))


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


# ---- calls ---------------------------------------------------------------------------------------


class Bound:
    """Code that is bound to a slot: `Code` of `dropcheck.claims.registry`.

    Args:
        slot: the slot.
        adapter: of the code's framework.
        function: the code: a function, a class or an object.
        name: its name in messages, such as "torch.nn.functional:dropout".
        limit: seconds that one call may take.
    """

    subject = ""  # of what it returns in a mode, in messages
    returns = "return one array of real numbers or truths"
    first_axis = (
        "the first axis is the draw; where one call is one draw, call the first axis of what it is "
        "given 'batch'"
    )

    def __init__(
        self, slot: Slot, adapter: Adapter, function: Any, *, name: str, limit: float = SECONDS
    ) -> None:
        self.slot = slot
        self.name = name
        self._adapter = adapter
        self._function = function
        self._limit = limit
        self._end = math.inf  # the time at which the call under way will have taken too long
        self._plans: dict[object, CallPlan] = {}
        self.set_up = 0.0

    @property
    def has_gradient(self) -> bool:
        """Whether its framework has gradients of such code."""
        return self._adapter.has_gradient(self._function)

    def drawn(
        self, generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        """The draws that the code returns, by mode: float64, [*shape of one draw, draws].

        In memory draws come first, as code has them. Before anything is asked of its kind, the code
        is checked.

        Raises:
            DropcheckError: it fails, takes too long, returns something else than an array of so
                many draws, or draws in a way that allows no verdict.
        """
        key = self._key(asked, inputs)
        with self._calling():
            if key not in self._plans:
                with self._first():
                    self._plans[key] = self._looked_at(asked, inputs)
            plan, last = self._plans[key], self._adapter.seeds - asked.seeds

            def seed() -> int:
                return int(generator.integers(last))

            return self._run(plan, asked.draws, asked.modes, inputs, seed)

    @contextmanager
    def _calling(self) -> Iterator[None]:
        """A context for calls that follow each other: the alarm of their limit is set once."""
        one_thread = self._adapter.on_one_thread()
        with np.errstate(all="ignore"), alarmed(self._end_late_call), one_thread, staying():
            yield

    def _end_late_call(self) -> None:
        if time.monotonic() > self._end:
            raise CallTookTooLongError

    @contextmanager
    def _first(self) -> Iterator[None]:
        """A context for first calls, which import and compile: their time counts for no case."""
        watch, before = Stopwatch(), self.set_up
        try:
            yield
        finally:
            self.set_up = before + watch.seconds

    def _key(self, asked: CodeRequest, inputs: Sequence[Array]) -> object:
        """The key of a plan: all of a request but varying values, and the number of draws."""
        kept = tuple(
            one.tobytes() if asked.shapes[at] is None else one.shape[:-1]
            for at, one in enumerate(inputs)
        )
        trains = not asked.modes <= {"eval"}
        return asked.dtype, trains, asked.size, asked.single, asked.seeds, asked.calls, kept

    def _planned(self, asked: CodeRequest, inputs: Sequence[Array]) -> CallPlan:
        """The plan of calls for a request.

        Raises:
            DropcheckError: the code cannot be called so, or an object cannot be built.
        """
        adapter, target, takes = self._adapter, self._function, self.slot.takes
        dtype = asked.dtype or adapter.dtypes[0]
        try:
            if dtype not in adapter.dtypes:
                raise ValueError(f"it takes {', '.join(adapter.dtypes)}")
            adapter.dtype(dtype)
        except ImportError as error:
            hint = f"pip install {error.name}, in the environment that runs dropcheck"
            raise self._fault(f"cannot be given {dtype}: {error}", hint) from error
        except ValueError as error:
            raise self._fault(f"cannot be given {dtype}", str(error)) from error
        varying = tuple(at for at, shape in enumerate(asked.shapes) if shape is not None)
        fixed = {
            at: constant(one[..., 0], dtype, whole=takes[at] not in self.slot.fractions)
            for at, one in enumerate(inputs)
            if at not in varying
        }
        size = [SIZE] * (asked.size is not None)
        given, around = [*takes], "write a function of these around it"
        named: dict[str, Any] = {}
        if inspect.isclass(target):
            named = {
                takes[at]: adapter.given(one, dtype) if isinstance(one, np.ndarray) else one
                for at, one in fixed.items()
            }
            given, around = [takes[at] for at in varying], f"it is built from ({', '.join(named)})"
            fixed = {}
        hint = f"the slot gives it ({', '.join([*given, *size])}): {around}"
        function = self._layer(named, dtype)
        try:
            code = prepared(adapter, function, takes, [*given, *size])
        except TypeError as error:
            had = self._had({takes[at]: one for at, one in fixed.items()})
            fixed = {at: one for at, one in fixed.items() if takes[at] not in had}
            try:
                code = prepared(
                    adapter, function, takes, [*(one for one in given if one not in had), *size]
                )
            except TypeError:
                raise self._fault(str(error)[:300], hint) from error
        leads = (asked.seeds > 1) + (asked.calls > 1)
        own_size = None if asked.size is None else asked.size[leads:]
        shapes = [inputs[place].shape[leads:-1] for place in varying]
        return CallPlan(
            code=code,
            dtype=dtype,
            seeds=asked.seeds,
            calls=asked.calls,
            fixed=fixed,
            varying=varying,
            size=own_size,
            elements=max([1, *map(math.prod, (*shapes, own_size or ()))]),
            one_shape=adapter.one_shape,
            single=asked.single,
            own=generators_of(code.target),
        )

    def _begin(self, plan: CallPlan, seed: int) -> None:
        """Seed all that the code may draw from; generators of its own differ from each other."""
        self._adapter.begin(seed)
        for place, own in enumerate(plan.own):
            own(int(np.random.SeedSequence((seed, place)).generate_state(1)[0]))

    def _layer(self, named: Mapping[str, Any], dtype: str) -> Any:
        if inspect.isclass(self._function):  # a layer may draw its weights
            self._adapter.begin(0)
        try:
            return self._adapter.layer(self._function, named, dtype)
        except (DropcheckError, KeyboardInterrupt):
            raise
        except BaseException as error:  # a SystemExit of the code would end the run as passed
            given = ", ".join(f"{name}={str(one)[:50]}" for name, one in named.items())
            hint = f"a class is built from what does not vary, here ({given})"
            raise self._fault(raised(error), hint) from error

    def _had(self, fixed: Mapping[str, Any]) -> set[str]:
        """The names of fixed numbers with which an object was built: it is not called with these.

        Raises:
            DropcheckError: it was built with another number.
        """
        had: set[str] = set()
        for name, value in fixed.items() if not inspect.isroutine(self._function) else ():
            own = self._adapter.has_of(self._function, name) if np.ndim(value) == 0 else []
            for number in own:
                if not math.isclose(number, value, rel_tol=ROUNDED):
                    kind = type(self._function).__name__
                    raise self._fault(
                        f"was built with {name}={number:g}, and is asked for {name}={value:g}",
                        f"bind a class, such as {kind}, or a function",
                    )
            had |= {name} if own else set()
        return had

    # ---- a span ---------------------------------------------------------------------------------

    def _run(
        self,
        plan: CallPlan,
        draws: int,
        modes: frozenset[str],
        inputs: Sequence[Array],
        seed: Callable[[], int],
    ) -> dict[str, Array]:
        """Make all calls that are asked for: for each seed, each number of a call, and each part.

        Calls in evaluation come after all calls in training, with the same inputs and seeds: what
        code returns in one mode does not depend on what it is asked for in others.
        """
        training = modes - {"eval"}
        groups = [group for group in (training, modes - training) if group]
        size = plan.call_draws(draws)
        arguments = self._arguments(plan, draws, inputs)
        starts = range(0, draws, size)
        anew = plan.seeds > 1  # then each part has seeds of its own, in all modes
        bases = [seed() if anew or start == 0 else 0 for start in starts]
        shape = len(starts) * size, plan.seeds * plan.calls
        whole: dict[str, Array] = {}
        for group, (start, base) in itertools.product(groups, zip(starts, bases, strict=True)):
            part = start if plan.single else slice(start, start + size)
            for number in range(shape[1]):
                if (anew or start == 0) and number % plan.calls == 0:
                    self._begin(plan, base + number // plan.calls)
                for mode, output in self._call(plan, arguments(number, part), group, size):
                    array = self._taken(plan, mode, output, size)
                    if mode not in whole:
                        whole[mode] = np.empty((*shape, *plan.shapes[mode]))
                    whole[mode][part, number] = array
        return {
            mode: np.moveaxis(one[:draws].reshape(draws, *plan.lead, *plan.shapes[mode]), 0, -1)
            for mode, one in whole.items()
        }

    def _arguments(
        self, plan: CallPlan, draws: int, inputs: Sequence[Array]
    ) -> Callable[[int, int | slice], list[Any]]:
        """A function that gives the arguments of a call, by its number and the part of the draws.

        Each is in an array of its own: code may compute in place.
        """
        given, size, lead = self._adapter.given, plan.call_draws(draws), plan.lead
        total = -(-draws // size) * size
        values: dict[int, Any] = dict(plan.fixed)
        for place in plan.varying:  # [1 or numbers, draws, *shape]
            first = np.moveaxis(inputs[place], -1, 0)
            first = first.astype(precision(plan.dtype), order="C", copy=False)
            if len(first) < total:  # it is the same in all, or more are drawn than are kept
                first = np.resize(first, (total, *first.shape[1:]))
            shape = first.shape[1:]
            apart = bool(lead) and shape[: len(lead)] == lead
            each = first.reshape(total, -1, *shape[len(lead) :]) if apart else first[:, np.newaxis]
            values[place] = np.moveaxis(each, 1, 0)
        in_order = [(values[place], place in plan.varying) for place in sorted(values)]
        sizes = [] if plan.size is None else [plan.size if plan.single else (size, *plan.size)]

        def arguments(number: int, part: int | slice) -> list[Any]:
            each: list[Any] = []
            for value, varied in in_order:
                one = value[number % len(value), part] if varied else value
                is_array = varied or isinstance(value, np.ndarray)
                each.append(given(np.array(one, order="C"), plan.dtype) if is_array else one)
            return each + sizes

        return arguments

    def _call(
        self,
        plan: CallPlan,
        arguments: Sequence[Any],
        modes: frozenset[str],
        size: int,
    ) -> Iterable[tuple[str, Any]]:
        """What one call returns, in each mode: "eval" alone, or one or both of the others."""
        known = (modes, size) in plan.called
        plan.called.add((modes, size))
        self._end = time.monotonic() + self._limit
        try:
            with nullcontext() if known else self._first():
                outputs = self._outputs(plan, arguments, modes, size)
            self._end_late_call()
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
            raise self._fault(raised(error), self._given(arguments, size)) from error
        finally:
            self._end = math.inf
        return outputs

    def _outputs(
        self,
        plan: CallPlan,
        arguments: Sequence[Any],
        modes: frozenset[str],
        size: int,  # noqa: ARG002 - of a function that is given nothing else
    ) -> Iterable[tuple[str, Any]]:
        adapter, code, evaluate = self._adapter, plan.code, "eval" in modes
        if code.has_modes:  # another caller may have switched it
            adapter.evaluating(code.target, evaluate)
        elif evaluate and not _same_in_use(self.slot):
            raise self._fault(
                "has no mode of evaluation",
                "give it a parameter 'training', or bind a layer that has one",
            )
        filled: dict[str, Any] = {}
        for name in code.filled:
            if name in TRAINING or name in EVALUATING:
                filled[name] = evaluate == (name in EVALUATING)
            else:
                own = name == DTYPE
                filled[name] = adapter.dtype(plan.dtype) if own else adapter.source(name)
        if "grad" not in modes:
            return [(mode, code.function(*arguments, **filled)) for mode in modes]
        output, gradient = adapter.with_gradient(code.function, arguments, filled)
        return [("train", output)] * ("train" in modes) + [("grad", gradient)]

    def _given(self, arguments: Sequence[Any], size: int) -> str:  # noqa: ARG002 - likewise
        """What a call was given, in words."""
        return f"it was given {_described(self.slot.takes, arguments) or 'nothing'}"

    def _taken(self, plan: CallPlan, mode: str, output: Any, size: int) -> Array:
        """What a call returned as an array, if it has the right axes."""
        returned = f"returned {self.subject.format(mode)}"
        try:
            array = self._adapter.returned(output)
        except TypeError as error:
            raise self._fault(f"{returned}{error}", self.returns) from error
        except Exception as error:  # such as a tensor on the meta device, which has no numbers
            message = f"{returned}{kind_of(output)} that cannot be read: {said_by(error)}"
            raise self._fault(message, self.returns) from error
        shape = array.shape
        what = f"an array of shape {list(shape)}" if shape else "one number"
        if plan.size is not None:
            wanted = plan.size if plan.single else (size, *plan.size)
            if shape[: len(wanted)] != wanted:  # vectors have axes of their own behind it
                raise self._fault(
                    f"{returned}{what}, and {list(wanted)} was asked for",
                    "its last argument, `size`, is the shape of what it returns",
                )
        elif not plan.single and shape[:1] != (size,):
            raise self._fault(
                f"{returned}{what}, and {size:,} draws were asked for", self.first_axis
            )
        of_one = shape if plan.single else shape[1:]
        before = plan.shapes.setdefault(mode, of_one)
        if before != of_one:
            raise self._fault(
                f"{returned}draws of shape {list(before)} in one call, and of shape {list(of_one)} "
                "in another",
                "the shape of a draw may not change",
            )
        return array

    # ---- checks before anything is judged -------------------------------------------------------

    def _looked_at(self, asked: CodeRequest, inputs: Sequence[Array]) -> CallPlan:
        """The plan for a request of code whose draws allow a verdict.

        Refused is code whose draws do not follow from the seed, or depend on one another. Where
        draws are compared with each other, all have the same inputs. The seeds are not those of the
        run, whose draws do not depend on these checks.
        """
        plan = self._planned(asked, inputs)
        if plan.lead:
            return plan
        modes = frozenset({"train"}) if asked.modes & {"train", "grad"} else asked.modes

        def tried(number: int, given: Sequence[Array], draws: int) -> dict[str, Array]:
            return self._run(plan, draws, modes, given, lambda: number)

        def alike_inputs(draws: int) -> list[Array]:  # the first draw of what varies, repeated
            return [
                np.broadcast_to(one[..., :1], (*one.shape[:-1], draws))
                if at in plan.varying
                else one
                for at, one in enumerate(inputs)
            ]

        counts_each = self.slot.independent or self.slot.law is not None
        draws = max(2, min(asked.draws, SINGLE_PROBES if asked.single else PROBE_DRAWS))
        same = alike_inputs(draws)
        check_draws(lambda number: tried(number, same, draws), counts_each, self._fault)
        if counts_each and "eval" not in modes and not asked.single and asked.draws > 1:
            draws = draws_of_a_call(plan.elements)
            same = alike_inputs(draws)
            found = compared(lambda number: tried(number, same, draws))
            if found is not None:
                advice = EACH_ITS_OWN
                if self.slot.independent:
                    leave = "leave 'elements: independent' out of its slot"
                    advice += f"; or {leave}: a call is then one draw"
                raise self._fault(f"gives {found} random numbers in common", advice)
        if asked.single or not plan.varying or asked.draws < 3:
            return plan
        one, other = (
            [each if each.shape[-1] == 1 else each[..., places] for each in inputs]
            for places in ([0, 1], [0, 2])
        )
        for number in range(MIXING_PROBES):
            before, after = tried(number, one, 2), tried(number, other, 2)
            if all(alike(before[mode][..., 0], after[mode][..., 0]) for mode in modes):
                return plan
        raise self._fault(
            "gives a draw another value when only the draw after it changes",
            "it mixes draws along the first axis: where it is meant to, call the first axis of "
            "what it is given 'batch', and one draw is one call",
        )

    def _fault(self, message: str, hint: str) -> DropcheckError:
        return DropcheckError(Problem(f"{self.name} {message}", hint=hint))


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


# ---- what draws depend on ------------------------------------------------------------------------
#
# Checks of code before anything is judged: what its draws depend on, and what they share. Few of
# the mistakes that break a verdict show in what code returns. Those that do are looked for here.


# Calls that are compared, and the draws of each. Events of probability 1/64, for which calls agree
# most easily, are the same in five calls less than once in 10^9.
PROBES = 5
PROBE_DRAWS = 64
# Draws that are compared where each is a call.
SINGLE_PROBES = 8
# Pairs of draws of which one is changed. Code that rejects draws may change the other draw now and
# then; code that mixes draws changes it each time.
MIXING_PROBES = 6
# Two calls with one seed may differ by rounding, since sums on many cores are added in any order:
# by this share of the range of the values, or of their magnitude.
CALL_ROUNDING, FINEST = 1e-3, 1e-6
EACH_ITS_OWN = "each draw needs random numbers of its own: the first axis is the draw"

Called = Callable[[int], Mapping[str, Array]]
"""Makes a call with the seed of this number: arrays by mode, with the axis of draws last."""


def check_draws(
    called: Called, counts_each: bool, fault: Callable[[str, str], DropcheckError]
) -> None:
    """Refuse draws that depend on more than their seed, or on less.

    Two calls with one seed must agree. Calls with other seeds must differ, and so must the draws of
    one call where each counts, unless everything is fixed.

    Args:
        called: makes a call.
        counts_each: whether the draws of a call may not share all their random numbers.
        fault: makes an error from what is wrong and the advice.

    Raises:
        DropcheckError: the draws cannot be used.
    """
    once = called(1)
    again = called(1)
    if not all(alike(array, again[name]) for name, array in once.items()):
        raise fault(
            "returned other draws when called again with the same seed",
            "draw from the framework's own source, which is seeded before, or from the one that is "
            "given; what it keeps from call to call may not change what it returns",
        )
    varied = any(map(_varies, once.values()))
    for other in map(called, range(2, PROBES + 1)):
        differ = not all(np.array_equal(once[name], other[name], equal_nan=True) for name in once)
        if differ and counts_each and not (varied or any(map(_varies, other.values()))):
            raise fault(
                "returned draws that are all alike, and others in another call", EACH_ITS_OWN
            )
        if differ:
            return
    if varied:
        raise fault(
            "returned the same draws when called with another seed",
            "what seeds itself, or makes a generator in each call, repeats itself",
        )


def alike(once: Array, again: Array) -> bool:
    """Whether two arrays are equal up to rounding."""
    if once.dtype == bool:
        return np.array_equal(once, again)
    finite = once[np.isfinite(once)]
    if not finite.size:
        return np.array_equal(once, again, equal_nan=True)
    give = max(CALL_ROUNDING * float(np.ptp(finite)), FINEST * float(np.abs(finite).max()))
    return np.allclose(once, again, rtol=0.0, atol=give, equal_nan=True)


def _varies(array: Array) -> bool:
    """Whether the draws, on the last axis, differ by more than the order of sums explains."""
    return not alike(array, np.broadcast_to(array[..., :1], array.shape))


# ---- shared numbers ------------------------------------------------------------------------------
#
# Whether draws of one call share random numbers, by calls with several seeds.
#
# Where a slot declares the draws of a call independent, each counts by itself. Draws with the same
# inputs are then independent and of one law. So the products of numbers of two draws of a call add
# up to 0, but for chance: over all pairs of draws (which finds a mask or a scale of the call), over
# pairs that are k apart (blocks, a period, sorted values, antithetic halves), and over pairs whose
# places add up to k (mirrored halves). The numbers are the ranks of elements, the distances of the
# ranks from the middle, which show a shared scale, and the ranks of sums over all elements, which
# show what is shared between different elements.


CALLS = 32  # how many calls are compared: what a whole call shares shows only between calls
NUMBERS = 2**14  # of a call, with at least 64 and at most 1,024 draws
ELEMENTS = 8  # of each draw, that are compared
CHANCE = 1e-9  # of an error for independent draws, by bounds for normal variables


def compared(called: Called) -> str | None:
    """Which draws of a call share random numbers, in words, by calls with several seeds."""
    rows: dict[str, list[Floats]] = {}
    for number in range(CALLS):
        for mode, drawn in called(number).items():
            rows.setdefault(mode, []).append(rows_of(drawn))
    shared = (shared_numbers(np.stack(calls)) for calls in rows.values())
    return next((one for one in shared if one is not None), None)


def draws_of_a_call(elements: int) -> int:
    """How many draws of a call are compared, each of so many numbers."""
    return max(64, min(1024, NUMBERS // elements))


def rows_of(drawn: Array) -> Floats:
    """What is compared of a call, [*shape, draws]: some elements of a draw, and the sum of all."""
    whole = drawn.reshape(-1, drawn.shape[-1])
    elements = np.unique(np.linspace(0, len(whole) - 1, ELEMENTS).astype(int))
    return np.concatenate([whole[elements], whole.sum(axis=0, keepdims=True)])


def shared_numbers(calls: Floats) -> str | None:
    """Which draws of a call share random numbers, in words; None where no draws seem to.

    Args:
        calls: rows of calls with different seeds, for the same inputs: [calls, rows, draws].
    """
    ranks = np.stack([_standard(_ranks(one)) for one in np.moveaxis(calls[:, :-1], 1, 0)])
    ranks = ranks[ranks.any(axis=(1, 2))]
    if not len(ranks):
        return None
    scales = np.stack([_standard(np.abs(one)) for one in ranks])
    sums = _standard(_ranks(calls[:, -1]))[np.newaxis]
    shared = map(_shared, (ranks, scales[scales.any(axis=(1, 2))], sums[sums.any(axis=(1, 2))]))
    return next((one for one in shared if one is not None), None)


def _shared(numbers: Floats) -> str | None:
    """The same by numbers of mean 0 and variance 1: [kinds, calls, draws]."""
    kinds, count, draws = numbers.shape
    if not kinds:
        return None
    products = np.einsum("fkn,gkn->fg", numbers, numbers, optimize=True) / (count * draws)
    norm, largest = float(np.linalg.norm(products)), float(np.linalg.norm(products, 2))
    most = float(np.square(numbers).sum(axis=0).max())
    log = math.log(9 * draws / CHANCE)
    # sums of squares of normal variables: Laurent and Massart 2000, Lemma 1
    beyond = 2 * math.sqrt(count * log) * norm + 2 * log * largest
    if float(np.square(numbers.sum(axis=2)).sum()) > draws * (count * kinds + beyond):
        return "all draws of a call"
    # sums of products none of which is larger than `most`: Freedman 1975, Theorem 1.6
    apart = math.sqrt(4 * log * count * draws) * norm + 2 * log * most
    spectrum = np.fft.rfft(numbers)
    lags = np.abs(np.fft.irfft(np.square(np.abs(spectrum)).sum(axis=(0, 1)), draws))[1:]
    if lags.max(initial=0.0) > apart:
        lag = int(lags.argmax()) + 1
        return f"draws of a call that are {min(lag, draws - lag)} apart"
    mirrored = np.fft.irfft(np.square(spectrum).sum(axis=(0, 1)), draws)
    itself = np.bincount(2 * np.arange(draws) % draws, minlength=draws)  # a draw with itself
    if np.abs(mirrored - count * kinds * itself).max() > apart:
        return "draws at the start of a call and at its end"
    return None


def _ranks(values: Array) -> Array:
    """The ranks of an element among its values; equal values have the rank in their middle."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    return np.asarray(middle[place].reshape(values.shape))


def _standard(values: Array) -> Array:
    """The values scaled to mean 0 and variance 1; all 0 where they are equal."""
    deviations = values - values.mean()
    size = float(np.sqrt(np.square(deviations).mean()))
    varies = size > 1e-9 * float(np.abs(values).max(initial=0.0))
    return np.asarray(deviations / size if varies else 0.0 * deviations)
