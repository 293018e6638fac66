"""Code as steps of a program: how much is drawn at a time, and what is asked for together."""

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

# Draws of one span: enough that numpy's cost a call vanishes, few enough to decide soon.
MOST_SPAN_DRAWS = 131_072
# Where code draws: enough that a call's own cost vanishes, few enough for what it holds meanwhile,
# of which nothing is known. Code under test has more draws where each is of few numbers.
MOST_SAMPLE_DRAWS = 8192
# Numbers of one call whose draws are independent by the word of the slot: few enough that there are
# many calls, which show if they are not, and so many that what a span costs by itself is little.
DECLARED_NUMBERS = 2**16
# Numbers of one call whose draws may depend on each other, and its fewest draws: verdicts then rest
# on how many calls there are, and with more numbers each takes longer.
DEPENDENT_NUMBERS = 4096
FEWEST_DEPENDENT = 16
# Where each draw is a call of code.
MOST_CALLS = 256
# Of code whose draws count each: Student's quantile of as many calls is within a fifth of the
# normal's, for an error of 1e-9.
FEWEST_CALLS = 64


def calls_of(steps: Iterable[Step]) -> list[CodeCall]:
    """The calls of code among some steps."""
    return [step.value.call for step in steps if step.value.call is not None]


@contextmanager
def held(steps: Iterable[Step]) -> Iterator[None]:
    """Where spans follow each other: what calls of code need around them is set up once."""
    with ExitStack() as stack:
        for code in {id(call.code): call.code for call in calls_of(steps)}.values():
            stack.enter_context(code.held())
        yield


def counts_each(call: CodeCall) -> bool:
    """Whether draws of one call count each by the word of its slot alone."""
    return call.draws and not (call.dependent or call.asked.single)


def before_rounding(steps: Sequence[Step], keep: Collection[int]) -> list[Step]:
    """The steps, less those that round to float32 what nothing looks at but code that computes so.

    Code is given numbers of its format: what is rounded once is the same as what is rounded twice.

    Args:
        steps: those of a program.
        keep: registers that are looked at when all steps are done.
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
    """What the steps of a program ask of its calls of code, by the tag of each, in every span.

    What is asked of one call in several modes is asked together. `used` are the modes that
    something looks at. `declared` says that draws of one call count each, by the word of its slot,
    and `single` that each draw is a call.
    """

    modes: Mapping[str, frozenset[str]]
    used: Mapping[str, frozenset[str]]
    declared: bool
    single: bool

    @classmethod
    def of(
        cls, steps: Sequence[Step], targets: Iterable[int], terms: Iterable[Term] = ()
    ) -> CallsAsked:
        """Of the steps of a program, and what is looked at when all are done."""
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
    """The calls of code in one span: the first one seeds, and what is given is kept.

    Args:
        asked: what the steps of the program ask of each call.
        generator: what seeds the code.
        keep: whether all is to be had that steps ask for, and not what is looked at alone.
    """

    def __init__(self, asked: CallsAsked, generator: np.random.Generator, keep: bool) -> None:
        self._generator = generator
        self._asked = asked
        self._keep = keep
        self._given: dict[str, Mapping[str, Array]] = {}
        self._earlier: list[tuple[Code, np.random.Generator, CodeRequest, Sequence[Array]]] = []

    def given(self, value: Value, inputs: Sequence[Array], draws: int) -> Array:
        """What a call gives: float64, [*shape, draws].

        Args:
            value: what a call gives.
            inputs: float64 or truths, [*shape, draws], or [*shape, 1] of what does not vary.
            draws: how many draws.

        Raises:
            DropcheckError: the code raises, or returns what is not asked for.
        """
        call = value.call
        assert call is not None
        if call.tag not in self._given:
            modes, used = self._asked.modes[call.tag], self._asked.used[call.tag]
            several = len(self._asked.modes) > 1
            skipped: frozenset[str] = frozenset()
            last = [*self._asked.modes][-1]
            if call.tag == last and not self._keep and used - {EVAL}:
                skipped = (modes - used) & {EVAL}  # it comes last: all else is the same without it
            own = replace(
                call.asked, draws=draws, modes=modes, skipped=skipped, begin=not self._given
            )
            numbers = [np.asarray(array, dtype=np.float64) for array in inputs]
            state = None if used == modes else self._generator.bit_generator.state
            try:
                found = self._drawn(call, own, numbers, several=several)
            except DropcheckError:
                if state is None or not used:
                    raise
                # what fails may be asked for by other statements alone, such as an evaluation
                self._generator.bit_generator.state = state
                own = replace(own, modes=used, skipped=frozenset())
                found = self._drawn(call, own, numbers, several=several)
            self._given[call.tag] = found
        if call.mode not in self._given[call.tag]:
            return np.zeros((*value.shape, 1))  # nothing looks at it
        given = self._given[call.tag][call.mode]
        if given.shape[:-1] != value.shape:  # it would be stretched to what it is compared with
            raise DropcheckError(_other_shape(call, value.shape, given.shape[:-1]))
        return given

    def _drawn(
        self, call: CodeCall, own: CodeRequest, numbers: Sequence[Array], *, several: bool
    ) -> Mapping[str, Array]:
        # what looks at code seeds it anew: to go on as before, earlier calls are made again
        if not own.begin and call.code.looked_at(own, numbers):
            for code, generator, before, held in self._earlier:
                code.drawn(deepcopy(generator), before, held)
        seeded_by = deepcopy(self._generator) if several else self._generator
        found = call.code.drawn(self._generator, own, numbers)
        if several:
            self._earlier.append((call.code, seeded_by, own, numbers))
        return found


def _other_shape(call: CodeCall, shape: Shape, given: Shape) -> Problem:
    model, code = (str(list(one)) if one else "one number" for one in (shape, given))
    what = {TRAIN: "gives", EVAL: "gives in evaluation"}.get(call.mode, "has a gradient of")
    message = f"code for {call.slot.name!r} {what} {code} a draw, and by the slot's model {model}"
    name = getattr(call.code, "name", "the code")
    hint = f"{name} is to return, for each draw, what the slot in the file does"
    return Problem(message, hint=hint)


def most_of_span(values: Iterable[Value]) -> int:
    """The most draws of one span of a program with these values."""
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
    """The most numbers a draw that a call is given or gives."""
    return max(one.elements for one in (value, *value.inputs))
