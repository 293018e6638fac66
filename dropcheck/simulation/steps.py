"""The steps of a program: each fills one register, by a draw or from earlier registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Value, kernel_of, number
from dropcheck.records import record
from dropcheck.simulation.sobol_nets import Points, at_points
from dropcheck.vocabulary.function import Array, Kernel
from dropcheck.vocabulary.law import argument_problem

# From this many numbers on each side of a batch, one call for each batch costs less than copying
# the sides (measured: from 2,000 on; at 65,000 the product takes half the time).
LARGE_SIDE = 4096
# Arguments that differ by less than this share, or by less than this, differ by rounding only.
HARDLY, TINY = 1e-12, 1e-300


@record
class Step:
    """Fill one register from others."""

    target: int
    value: Value
    inputs: tuple[int, ...]
    kernel: Kernel | None  # None for a draw
    frees: tuple[int, ...] = ()  # registers that no later step needs
    crossed: bool = False  # whether it pairs the two sides, in a paired program

    def __reduce__(self) -> tuple[Callable[..., Step], tuple[object, ...]]:
        """Send a step to another process, where its kernel is found by the function's name."""
        return _received, (
            *(self.target, self.value, self.inputs, self.kernel is None),
            *(self.frees, self.crossed),
        )


# computes the steps, in order, each from its inputs
Compute = Callable[[Step, list[Array]], Array]


def _received(
    target: int,
    value: Value,
    inputs: tuple[int, ...],
    draws: bool,
    frees: tuple[int, ...],
    crossed: bool,
) -> Step:
    kernel = None if draws else crossed_product if crossed else kernel_of(value)
    return Step(target, value, inputs, kernel, frees=frees, crossed=crossed)


def freeing(steps: Sequence[Step], keep: Iterable[int]) -> tuple[Step, ...]:
    """The same steps; each frees the registers that no later one needs."""
    later: set[int] = set(keep)
    freed: list[Step] = []
    for step in reversed(steps):
        frees = tuple(below for below in set(step.inputs) if below not in later)
        later |= set(step.inputs)
        freed.append(replace(step, frees=frees))
    return tuple(freed[::-1])


def computed(step: Step, inputs: list[Array], **extra: int) -> Array:
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


@record(kw_only=True)
class LawDraw:
    """Makes the draws of a step from its law, once the arguments are known.

    The numbers come from a generator, or from points of the unit cube if these are given. With
    `draws_first`, the axis of draws may come first in memory, as code needs it.
    """

    step: Step
    generator: np.random.Generator
    draws: int
    points: Points | None = None
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
            problem = argument_problem(law, arguments)
            if problem is not None:
                raise value.at.error(
                    f"{law.name}: {problem}, in some draw",
                    "bound it on a line above, for example with clip(…) or abs(…)",
                )
        if self.points is not None:
            return at_points(law, arguments, self.points)
        try:
            return law.sample(self.generator, arguments, value.shape, self.draws, self.draws_first)
        except ValueError as error:
            raise value.at.error(f"{law.name} cannot be drawn: {error}") from None

    def twice(self, arguments: list[Array], others: list[Array]) -> tuple[Array, Array]:
        """The draws, and the draws for other arguments from the same random numbers.

        If the arguments differ by rounding only, the second ones are equal to the first in two
        cases: if the law is discrete, where nearly all are equal anyway (binomial numbers with
        p = 1/2 and slightly more may not be); and if they use up other random numbers, after which
        all would be different.
        """
        stream = self.generator.bit_generator
        before = stream.state
        draws = self(arguments)
        after, stream.state = stream.state, before
        try:
            other = self(others)
            apart = repr(stream.state) != repr(after)
            pairs = zip(arguments, others, strict=True)
            hardly = all(np.allclose(a, b, HARDLY, TINY, equal_nan=True) for a, b in pairs)
            discrete = self.step.value.law is not None and self.step.value.law.discrete
            return draws, draws if hardly and (apart or discrete) else other
        except DropcheckError:
            return draws, draws
        finally:
            stream.state = after


# makes the draws of a step from its inputs
DrawsMade = Callable[[Step, list[Array], LawDraw], Array]


def as_drawn(_: Step, inputs: list[Array], draw: LawDraw) -> Array:
    """The draws as they are."""
    return draw(inputs)


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
