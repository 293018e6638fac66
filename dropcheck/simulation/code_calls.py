"""Calls of code as steps of a program: how many draws one call makes, and what it returns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import replace

import numpy as np

from dropcheck.claims.registry import Code, CodeRequest
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.graph import CodeCall, Kind, Value
from dropcheck.records import record
from dropcheck.simulation.integrands import Term
from dropcheck.simulation.steps import Step
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.number_formats import ROUNDED, SINGLE
from dropcheck.vocabulary.shapes import Shape
from dropcheck.vocabulary.slot_calls import EVAL, TRAIN

# Draws of a span: enough to hide numpy's cost of a call, few enough for an early decision.
MOST_SPAN_DRAWS = 131_072
# Draws of a span by the user's code: enough to hide the cost of a call, few enough for its memory,
# which is not known. A span of code under test has more draws if each is of few numbers.
MOST_SAMPLE_DRAWS = 8192
# Numbers in a call whose draws the slot declares independent: few enough for many calls, which show
# if they are not, and enough to hide the cost of a span.
DECLARED_NUMBERS = 2**16
# Numbers in a call whose draws may depend on each other, and its fewest draws. Verdicts then rest
# on the number of calls, and larger calls take longer.
DEPENDENT_NUMBERS = 4096
FEWEST_DEPENDENT = 16
# Draws of a span in which each draw is a call of code.
MOST_CALLS = 256
# For code whose draws count one by one: with this many calls, for an error of 1e-9, Student's
# quantile is within a fifth of the normal quantile.
FEWEST_CALLS = 64


def calls_of(steps: Iterable[Step]) -> list[CodeCall]:
    """The calls of code in some steps."""
    return [step.value.call for step in steps if step.value.call is not None]


@contextmanager
def held(steps: Iterable[Step]) -> Iterator[None]:
    """A context for consecutive spans, in which code under test is set up once."""
    with ExitStack() as stack:
        for code in {id(call.code): call.code for call in calls_of(steps)}.values():
            stack.enter_context(code.held())
        yield


def counts_each(call: CodeCall) -> bool:
    """Whether the draws of one call count one by one, because its slot declares so."""
    return call.draws and not (call.dependent or call.asked.single)


def before_rounding(steps: Sequence[Step], keep: Collection[int]) -> list[Step]:
    """The steps, without roundings to float32 that only code in float32 reads.

    The code rounds its arguments itself, and rounding twice is the same as rounding once.

    Args:
        steps: the steps of a program.
        keep: the registers that are read when all steps are done.
    """

    def of_code(step: Step) -> bool:
        return step.value.call is not None and step.value.call.asked.dtype == SINGLE

    read = {*keep, *(one for step in steps if not of_code(step) for one in step.inputs)}
    before = {
        step.target: step.inputs[0]
        for step in steps
        if step.target not in read
        and step.value.kind == Kind.COMPUTED
        and step.value.function is ROUNDED[SINGLE]
    }
    return [
        replace(step, inputs=tuple([before.get(one, one) for one in step.inputs]))
        for step in steps
        if step.target not in before
    ]


@record
class CallsAsked:
    """What a program asks of its calls of code in every span, by the tag of each call.

    All modes of one call are computed together. `used` are the modes that something reads.
    `declared`: draws of one call count one by one, as its slot declares. `single`: each draw is a
    call.
    """

    modes: Mapping[str, frozenset[str]]
    used: Mapping[str, frozenset[str]]
    declared: bool
    single: bool

    @classmethod
    def of(
        cls, steps: Sequence[Step], targets: Iterable[int], terms: Iterable[Term] = ()
    ) -> CallsAsked:
        """From the steps of a program, and the registers read when all are done."""
        read = {*targets, *(term.given for term in terms)}
        read |= {register for step in steps for register in step.inputs}
        calls = [(step.value.call, step.target) for step in steps if step.value.call is not None]
        modes: dict[str, frozenset[str]] = {}
        used: dict[str, frozenset[str]] = {}
        for call, register in calls:
            modes[call.tag] = modes.get(call.tag, frozenset()) | {call.mode}
            seen = frozenset({call.mode} if register in read else ())
            used[call.tag] = used.get(call.tag, frozenset()) | seen
        return cls(
            modes=modes,
            used=used,
            declared=any(counts_each(call) for call, _ in calls),
            single=any(call.asked.single for call, _ in calls),
        )


class SpanCalls:
    """The calls of code in one span; the first one seeds, and results are stored by tag.

    Args:
        asked: what the program asks of each call.
        generator: seeds the code.
        keep: whether all modes are needed, even those that nothing reads.
    """

    def __init__(self, asked: CallsAsked, generator: np.random.Generator, keep: bool) -> None:
        self._generator = generator
        self._asked = asked
        self._keep = keep
        self._given: dict[str, Mapping[str, Array]] = {}
        self._earlier: list[tuple[Code, np.random.Generator, CodeRequest, Sequence[Array]]] = []

    def given(self, value: Value, inputs: Sequence[Array], draws: int) -> Array:
        """The array that a call gives: float64, [*shape, draws].

        Args:
            value: the value of the call in the graph.
            inputs: float64 or truths, [*shape, draws], or [*shape, 1] if they do not vary.
            draws: how many draws.

        Raises:
            DropcheckError: the code raises an error, or returns something else.
        """
        call = value.call
        assert call is not None
        if call.tag not in self._given:
            modes, used = self._asked.modes[call.tag], self._asked.used[call.tag]
            several = len(self._asked.modes) > 1
            skipped: frozenset[str] = frozenset()
            last = [*self._asked.modes][-1]
            if call.tag == last and not self._keep and used - {EVAL}:
                skipped = (modes - used) & {EVAL}  # it is computed last: nothing else changes
            own = replace(
                call.asked, draws=draws, modes=modes, skipped=skipped, begin=not self._given
            )
            numbers = [np.asarray(array, dtype=np.float64) for array in inputs]
            state = None if used == modes else self._generator.bit_generator.state
            try:
                results = self._drawn(call, own, numbers, several=several)
            except DropcheckError:
                if state is None or not used:
                    raise
                # the mode that fails may be needed by other statements only
                self._generator.bit_generator.state = state
                own = replace(own, modes=used, skipped=frozenset())
                results = self._drawn(call, own, numbers, several=several)
            self._given[call.tag] = results
        if call.mode not in self._given[call.tag]:
            return np.zeros((*value.shape, 1))  # nothing reads it
        given = self._given[call.tag][call.mode]
        if given.shape[:-1] != value.shape:  # or it would be broadcast in comparisons
            raise DropcheckError(_other_shape(call, value.shape, given.shape[:-1]))
        return given

    def _drawn(
        self, call: CodeCall, own: CodeRequest, numbers: Sequence[Array], *, several: bool
    ) -> Mapping[str, Array]:
        # inspecting code changes its seed: to continue as before, earlier calls are repeated
        if not own.begin and call.code.looked_at(own, numbers):
            for code, generator, before, held in self._earlier:
                code.drawn(deepcopy(generator), before, held)
        seeded_by = deepcopy(self._generator) if several else self._generator
        results = call.code.drawn(self._generator, own, numbers)
        if several:
            self._earlier.append((call.code, seeded_by, own, numbers))
        return results


def _other_shape(call: CodeCall, shape: Shape, given: Shape) -> Problem:
    model, code = (str(list(one)) if one else "one number" for one in (shape, given))
    what = {TRAIN: "gives", EVAL: "gives in evaluation"}.get(call.mode, "has a gradient of")
    message = f"code for {call.slot.name!r} {what} {code} a draw, and by the slot's model {model}"
    name = getattr(call.code, "name", "the code")
    hint = f"{name} is to return, for each draw, what the slot in the file does"
    return Problem(message, hint=hint)


def most_of_span(values: Iterable[Value]) -> int:
    """The most draws in a span of a program with these values."""
    most = MOST_SPAN_DRAWS
    for value in values:
        if value.call is not None and value.call.asked.single:
            return MOST_CALLS
        if value.call is not None and value.call.dependent:
            most = min(most, max(FEWEST_DEPENDENT, DEPENDENT_NUMBERS // _largest(value)))
        elif value.call is not None and value.call.draws:
            most = min(most, max(FEWEST_DEPENDENT, DECLARED_NUMBERS // _largest(value)))
        elif value.call is not None:
            most = min(most, max(MOST_SAMPLE_DRAWS, MOST_SPAN_DRAWS // _largest(value)))
        elif value.sample is not None:
            most = min(most, MOST_SAMPLE_DRAWS)
    return most


def _largest(value: Value) -> int:
    """The most numbers in one draw of a call's inputs or of its result."""
    return max(one.elements for one in (value, *value.inputs))
