"""The steps of a program: each fills one register, by a draw or from earlier registers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.claims.registry import Code
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.graph import SAMPLE, CodeCall, Kind, Value, kernel_of, number
from dropcheck.simulation.integrands import Term
from dropcheck.vocabulary.domains import argument_problem
from dropcheck.vocabulary.function import EVAL, TRAIN, Array, Kernel
from dropcheck.vocabulary.shapes import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """What is stored of each unit along one direction: the deviation of its mean, and the square.

    A unit is a draw, or the draws of a call of code, which depend on each other.
    `weights` are factors of the integrands in `columns`. Deviations of the weighted mean from
    `centre` are clipped at `below` and `above`.
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]
    centre: float
    below: float
    above: float


def with_clips(sums: Floats, clips: Sequence[Clip], size: int, blocks: int) -> Floats:
    """The sums of blocks from those of units of `size` draws, [terms, units].

    Returns:
        With two columns for each clip: [blocks, terms + 2 · clips].
    """
    rows = [*sums]
    for clip in clips:
        deviation = np.full(sums.shape[1], -clip.centre)
        for column, weight in zip(clip.columns, clip.weights, strict=True):
            deviation += sums[column] * (weight / size)
        deviation = deviation.clip(-clip.below, clip.above)
        rows += [deviation, deviation * deviation]
    in_blocks = np.array([row.reshape(blocks, -1).sum(axis=1) for row in rows])
    return np.ascontiguousarray(in_blocks.T)


# ---- steps ---------------------------------------------------------------------------------------


# From this many numbers on each side of a batch, one call for each batch costs less than copying
# the sides (measured: from 2,000 on; at 65,000 the product takes half the time).
LARGE_SIDE = 4096


@dataclass(frozen=True, slots=True)
class Step:
    """Fill one register from others; one whose kernel is None makes a draw."""

    target: int
    value: Value
    inputs: tuple[int, ...]
    frees: tuple[int, ...] = ()  # registers that no later step needs
    crossed: bool = False  # whether it pairs the two sides, in a paired program
    kernel: Kernel | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kernel = None if self.value.kind == Kind.DRAW else kernel_of(self.value)
        object.__setattr__(self, "kernel", crossed_product if self.crossed else kernel)

    def __reduce__(self) -> tuple[type[Step], tuple[object, ...]]:
        """Send a step to another process, where its kernel is found by the function's name."""
        return Step, (self.target, self.value, self.inputs, self.frees, self.crossed)


def freeing(steps: Sequence[Step], keep: Iterable[int]) -> tuple[Step, ...]:
    """The same steps; each frees the registers that no later one needs."""
    later: set[int] = set(keep)
    freed: list[Step] = []
    for step in reversed(steps):
        frees = tuple(below for below in set(step.inputs) if below not in later)
        later |= set(step.inputs)
        freed.append(replace(step, frees=frees))
    return tuple(freed[::-1])


def computed_by(step: Step, inputs: list[Array], **extra: int) -> Array:
    """The value that a step computes from its inputs.

    Raises:
        DropcheckError: its function does not take a value; the error is at its place in the text.
    """
    assert step.kernel is not None  # it is not a draw
    truths = [array for array in inputs if array.dtype == np.bool_]
    if truths and not step.value.function.takes_truth:
        inputs = [number(array) for array in inputs]
    try:
        return step.kernel(*inputs, **extra)
    except ValueError as error:
        raise step.value.at.error(str(error), getattr(error, "hint", None)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class LawDraw:
    """Makes the draws of a step from its law, once the arguments are known.

    With `draws_first`, the axis of draws may come first in memory, as code needs it.
    """

    step: Step
    generator: np.random.Generator
    draws: int
    draws_first: bool = False

    def __call__(self, arguments: list[Array]) -> Array:
        """The draws.

        Raises:
            DropcheckError: an argument is outside the law's domain; the error is at the draw's
                place in the text.
        """
        value = self.step.value
        law = value.law
        assert law is not None
        arguments = [number(argument) for argument in arguments]
        if any(one.random for one in value.inputs):
            problem = argument_problem(law.parameters, arguments)
            if problem is not None:
                raise value.at.error(
                    f"{law.name}: {problem}, in some draw",
                    "bound it on a line above, for example with clip(…) or abs(…)",
                )
        try:
            return law.sample(self.generator, arguments, value.shape, self.draws, self.draws_first)
        except ValueError as error:
            raise value.at.error(f"{law.name} cannot be drawn: {error}") from None


def crossed_product(left: Array, right: Array, batches: int) -> Array:
    """The products of each left side with each right side of the same batch.

    Args:
        left: [d, g·a] or [n, d, g·a]: g batches of a vectors, or of a matrices.
        right: [d, g·b] or [d, m, g·b].
        batches: g.

    Returns:
        [g·a·b], [n, g·a·b], [m, g·a·b] or [n, m, g·a·b]: batches one after another, and in each
        batch pair (i, j) at i·b + j.
    """
    g = batches
    a, b = left.shape[-1] // g, right.shape[-1] // g
    d = left.shape[-2]
    rows, columns = left.shape[:-2], right.shape[1:-1]
    n, m = rows[0] if rows else 1, columns[0] if columns else 1
    if not rows and not columns and d * min(a, b) >= LARGE_SIDE:
        numbers = np.empty((g, a, b))
        for batch in range(g):  # no copy of the sides
            lower, upper = left[:, batch * a : (batch + 1) * a], right[:, batch * b :][:, :b]
            np.matmul(lower.T, upper, out=numbers[batch])
        return numbers.reshape(g * a * b)
    lefts = left.reshape(n, d, g, a).transpose(2, 0, 3, 1).reshape(g, n * a, d)
    rights = right.reshape(d, m, g, b).transpose(2, 0, 1, 3).reshape(g, d, m * b)
    # matrix products of views fall back on a loop that is fifty times slower
    lefts, rights = np.ascontiguousarray(lefts), np.ascontiguousarray(rights)
    products = np.matmul(lefts, rights).reshape(g, n, a, m, b)
    pairs: Array = products.transpose(1, 3, 0, 2, 4).reshape(*rows, *columns, g * a * b)
    return pairs


# ---- code calls ----------------------------------------------------------------------------------
#
# Calls of code as steps of a program: how many draws one call makes, and what it returns.


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


def counts_each(call: CodeCall) -> bool:
    """Whether the draws of one call count one by one, because its slot declares so."""
    return call.draws and not (call.dependent or call.asked.single)


@dataclass(frozen=True, slots=True)
class CallsAsked:
    """What a program asks of its calls of code in every span.

    `modes` are those that something reads, by the tag of each call: all are computed together.
    `declared`: draws of one call count one by one, as its slot declares. `single`: each draw is a
    call. `codes` are what is called.
    """

    modes: Mapping[str, frozenset[str]]
    declared: bool
    single: bool
    codes: tuple[Code, ...] = ()

    @classmethod
    def of(
        cls, steps: Sequence[Step], targets: Iterable[int], terms: Iterable[Term] = ()
    ) -> CallsAsked:
        """From the steps of a program, and the registers read when all are done."""
        read = {*targets, *(term.given for term in terms)}
        read |= {register for step in steps for register in step.inputs}
        calls = [(step.value.call, step.target) for step in steps if step.value.call is not None]
        modes: dict[str, frozenset[str]] = {}
        for call, register in calls:
            seen = frozenset({call.mode} if register in read else ())
            modes[call.tag] = modes.get(call.tag, frozenset()) | seen
        return cls(
            modes=modes,
            declared=any(counts_each(call) for call, _ in calls),
            single=any(call.asked.single for call, _ in calls),
            codes=tuple({id(call.code): call.code for call, _ in calls}.values()),
        )

    @property
    def set_up(self) -> float:
        """The seconds that first calls of the code took, which no case's time counts."""
        return sum(code.set_up for code in self.codes)


class SpanCalls:
    """The calls of code in one span; each seeds first, and results are stored by tag.

    Args:
        asked: what the program asks of each call.
        generator: seeds the code.
    """

    def __init__(self, asked: CallsAsked, generator: np.random.Generator) -> None:
        self._generator = generator
        self._asked = asked
        self._given: dict[str, Mapping[str, Array]] = {}

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
            own = replace(call.asked, draws=draws, modes=self._asked.modes[call.tag])
            numbers = [np.asarray(array, dtype=np.float64) for array in inputs]
            self._given[call.tag] = call.code.drawn(self._generator, own, numbers)
        if call.mode not in self._given[call.tag]:
            return np.zeros((*value.shape, 1))  # nothing reads it
        given = self._given[call.tag][call.mode]
        if given.shape[:-1] != value.shape:  # or it would be broadcast in comparisons
            raise DropcheckError(_other_shape(call, value.shape, given.shape[:-1]))
        return given


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
        if value.call is not None and value.call.tag == SAMPLE:
            most = min(most, MOST_SAMPLE_DRAWS)
        if value.call is not None and value.call.dependent:
            most = min(most, max(FEWEST_DEPENDENT, DEPENDENT_NUMBERS // _largest(value)))
        elif value.call is not None and value.call.draws:
            most = min(most, max(FEWEST_DEPENDENT, DECLARED_NUMBERS // _largest(value)))
        elif value.call is not None:
            most = min(most, max(MOST_SAMPLE_DRAWS, MOST_SPAN_DRAWS // _largest(value)))
    return most


def _largest(value: Value) -> int:
    """The most numbers in one draw of a call's inputs or of its result."""
    return max(one.elements for one in (value, *value.inputs))
