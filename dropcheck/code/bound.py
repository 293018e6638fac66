"""The code of one slot, which is called when the programs of a run ask for draws."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from dropcheck.claims.registry import CodeRequest, Slot
from dropcheck.code.adapters.adapter import Adapter, kind_of
from dropcheck.code.call_data import CallData, Taken
from dropcheck.code.call_limit import LEAST, CallTookTooLongError, TimedCalls, limited
from dropcheck.code.calling import SIZE, caller
from dropcheck.code.plans import CallPlan, UnfitCodeError, planned, varies
from dropcheck.code.shared_numbers import CALLS, FEWEST_COMPARED, draws_of_a_call, shared_numbers
from dropcheck.code.targets import raised, said_by
from dropcheck.errors import DropcheckError, Problem
from dropcheck.simulation.user_code.draw_checks import PROBE_DRAWS, Words, alike, check_draws
from dropcheck.vocabulary.function import Array

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
        plan = self._planned(asked, inputs)
        with limited(self._limit):
            if not plan.lead:
                self._check(plan, key, asked, inputs)
        self._plans[key] = plan

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
            call = plan.callers.get(modes)
            if call is None:
                dtype = asked.dtype or self._adapter.dtypes[0]
                call = plan.callers[modes] = caller(self._adapter, plan.code, dtype, modes)
            arguments = given.arguments(number, start)
            with calls:
                return call(arguments)
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
            shown = _described(self.slot.takes, arguments) or "nothing"
            raise self._fault(raised(error), f"it was given {shown}") from error

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
        train = frozenset({"train"}) if asked.modes - {"eval"} else asked.modes
        probe = _replaced(asked, draws=max(draws, 2), modes=train)
        same = _repeated(plan, inputs, probe.draws)

        def once(number: int) -> dict[str, Array]:
            return self._run(plan, key, probe, same, itertools.repeat(number).__next__)

        shared = replace(_WORDS, draw_each="")  # draws of a call may share all random numbers
        check_draws(once, _WORDS if self._counts_each else shared, self._fault)
        if "train" in train and not asked.single and asked.draws > 1:
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
        calls: list[Array] = []
        end = time.monotonic() + PROBE_SECONDS
        while len(calls) < CALLS and (len(calls) < FEWEST_COMPARED or time.monotonic() < end):
            seed = itertools.repeat(len(calls)).__next__
            calls.append(self._run(plan, key, own, same, seed)["train"])
        shared = shared_numbers(np.stack(calls))
        if shared is not None:
            declared = "or leave 'elements: independent' out of its slot: a call is then one draw"
            raise self._fault(
                f"gives {shared} random numbers in common",
                f"{_WORDS.draw_each}; {declared}" if self.slot.independent else _WORDS.draw_each,
            )

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
