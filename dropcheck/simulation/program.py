"""A compiled case: steps that draw and compute, and the integrands whose sums are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Kind, Value
from dropcheck.language.lower import memory_text, thawed
from dropcheck.simulation import samplers
from dropcheck.simulation.arrays import (
    COMPARISONS,
    Array,
    Kernel,
    kernel,
    nearly_tied,
    number,
)

Sums = npt.NDArray[np.float64]
Observer = Callable[[Value, list[Array]], None]

# Arrays of one span together: what stays in a second-level cache of 2 MiB beside its code.
SPAN_BYTES = 2**20
# Draws of one span: enough that numpy's cost a call vanishes, few enough to decide soon.
MOST_SPAN_DRAWS = 16_384
BLOCKS_OF_SPAN = 16
# All arrays of one draw together may not take more than this.
MOST_BYTES = 2**31


@dataclass(frozen=True, slots=True)
class Term:
    """One integrand: given · Π (value − centre)^power, by registers; no factor is 1."""

    factors: tuple[tuple[int, int], ...]
    given: int | None
    every: bool = False  # 1 where the factor holds for every element of the draw


@dataclass(frozen=True, slots=True)
class Step:
    """Fill one register from others."""

    target: int
    value: Value
    inputs: tuple[int, ...]
    kernel: Kernel | None  # None: draw
    frees: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SpanSums:
    """What a span leaves behind: sums a block, and the draws where a quantity was undefined.

    `sums` has shape [blocks, terms]. `undefined` counts draws with a NaN or an infinity that is
    looked at; `first_undefined` is the number of the first, within the case, or None.
    """

    sums: Sums
    undefined: int = 0
    first_undefined: int | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """Draws in spans, each with a stream of its own, summed in blocks.

    `size` registers, of which `fixed` hold what does not vary; `terms` are the integrands.
    """

    size: int
    fixed: tuple[tuple[int, Array], ...]
    steps: tuple[Step, ...]
    terms: tuple[Term, ...]
    targets: tuple[int, ...]  # registers that integrands look at
    span_draws: int
    span_blocks: int
    cost: float  # rough nanoseconds a draw
    # the elements drawn from each law that can be rare: draws needed to see it at all
    rarest: float

    @property
    def block_draws(self) -> int:
        """Draws of one block."""
        return self.span_draws // self.span_blocks

    @property
    def random(self) -> bool:
        """Whether anything is drawn at all."""
        return bool(self.steps)

    def registers(
        self, generator: np.random.Generator, draws: int, observe: Observer | None = None
    ) -> list[Array | None]:
        """Carry out every step for so many draws; targets stay filled.

        `observe` is shown every computed value with its inputs.
        """
        held: list[Array | None] = [None] * self.size
        for register, constant in self.fixed:
            held[register] = constant
        for step in self.steps:
            inputs = [_filled(held[register]) for register in step.inputs]
            if step.kernel is None:
                held[step.target] = _draw(step.value, generator, inputs, draws)
            else:
                if not step.value.takes_truth:
                    inputs = [number(array) for array in inputs]
                if observe is not None:
                    observe(step.value, inputs)
                options = {name: thawed(option) for name, option in step.value.options}
                held[step.target] = step.kernel(*inputs, **options)
            for register in step.frees:
                held[register] = None
        return held

    def centres(self, generator: np.random.Generator, draws: int) -> Sums:
        """A number near the middle of each target, [size]; 0 where nothing is finite."""
        with np.errstate(all="ignore"):
            held = self.registers(generator, draws)
            found = np.zeros(self.size)
            for register in self.targets:
                array = number(_filled(held[register]))
                finite = array[np.isfinite(array)]
                if finite.size:
                    found[register] = np.median(finite)
        return found

    def near_ties(self, generator: np.random.Generator, draws: int) -> list[Value]:
        """Comparisons in which some draws differ, but by no more than rounding could have made."""
        found: list[Value] = []

        def observe(value: Value, inputs: list[Array]) -> None:
            if value.operation in COMPARISONS and np.any(nearly_tied(*inputs)):
                found.append(value)

        with np.errstate(all="ignore"):
            self.registers(generator, draws, observe)
        return found

    def span(
        self, generator: np.random.Generator, centres: Sums, number_of_span: int
    ) -> SpanSums:
        """Sums of every integrand in each block of one span: [span_blocks, terms]."""
        with np.errstate(all="ignore"):
            held = self.registers(generator, self.span_draws)
            moments = _Moments(held, centres, self.span_draws)
            sums = np.empty((self.span_blocks, len(self.terms)))
            for index, term in enumerate(self.terms):
                a_draw = moments.a_draw(term)
                sums[:, index] = a_draw.reshape(self.span_blocks, -1).sum(axis=1)
            if np.isfinite(sums).all():
                return SpanSums(sums)
            bad = moments.undefined(self.terms)
        first = int(np.flatnonzero(bad)[0]) + number_of_span * self.span_draws if bad.any() else None
        return SpanSums(sums, int(bad.sum()), first)


class _Moments:
    """Integrands of one span, each power of each target computed once."""

    def __init__(self, held: Sequence[Array | None], centres: Sums, draws: int) -> None:
        self._held = held
        self._centres = centres
        self._draws = draws
        self._powers: dict[tuple[int, int, int | None], Array] = {}

    def a_draw(self, term: Term) -> Array:
        """The integrand's mean over the elements of each draw: [draws]."""
        if term.every:
            return np.broadcast_to(self._every(term), (self._draws,))
        product: Array | None = None
        for register, power in term.factors:
            factor = self._power(register, power, term.given)
            product = factor if product is None else product * factor
        if term.given is not None:
            given = self._given(term.given)
            if product is None:
                product = given
            elif product.ndim < given.ndim:  # the condition has elements, the quantity one number
                product = product * given
        if product is None:
            return np.ones(self._draws)
        if product.ndim > 1:
            product = product.reshape(-1, product.shape[-1]).mean(axis=0)
        return np.broadcast_to(product, (self._draws,))

    def _every(self, term: Term) -> Array:
        """1 where the event fails for some element where it is looked at, [draws]."""
        (register, _), *_ = term.factors
        event = _filled(self._held[register])
        holds = event if event.dtype == np.bool_ else np.where(np.isnan(event), event, event != 0)
        if term.given is not None:
            given = self._given(term.given)
            holds = np.where(given == 0, 1.0, number(holds) + 0 * given)
        flat = np.atleast_2d(number(holds).reshape(-1, holds.shape[-1]))
        failed: Array = 1.0 - flat.min(axis=0)
        return failed

    def _given(self, register: int) -> Array:
        given = _filled(self._held[register])
        if given.dtype == np.bool_:
            return given.astype(np.float64)
        return np.where(np.isnan(given), given, (given != 0).astype(np.float64))

    def _power(self, register: int, power: int, given: int | None) -> Array:
        key = (register, power, given)
        found = self._powers.get(key)
        if found is None:
            if power == 1:
                found = number(_filled(self._held[register]))
                if self._centres[register]:
                    found = found - self._centres[register]
                if given is not None:
                    # not a product: where the condition fails the quantity may be NaN
                    condition = self._given(given)
                    found = np.where(condition == 0, 0.0, found + 0 * condition)
            else:
                found = self._power(register, power - 1, given) * self._power(register, 1, given)
            self._powers[key] = found
        return found

    def undefined(self, terms: Sequence[Term]) -> npt.NDArray[np.bool_]:
        """Draws in which some integrand is NaN or infinite, where it is looked at: [draws]."""
        bad = np.zeros(self._draws, dtype=np.bool_)
        for term in terms:
            bad |= ~np.isfinite(self.a_draw(term))
        return bad


def _filled(array: Array | None) -> Array:
    if array is None:
        raise AssertionError("a register was read before it was filled")
    return array


def _draw(
    value: Value, generator: np.random.Generator, arguments: list[Array], draws: int
) -> Array:
    arguments = [number(argument) for argument in arguments]
    if any(found.random for found in value.inputs):
        broken = samplers.check_arguments(value.operation, arguments)
        if broken is not None:
            name, found = broken
            raise _out_of_domain(value, name, found)
    try:
        return samplers.sample(value.operation, generator, arguments, value.shape or (), draws)
    except ValueError as error:
        raise value.at.error(f"{value.operation} cannot be drawn: {error}") from None


def _out_of_domain(value: Value, name: str, found: float) -> DropcheckError:
    law = value.law
    rule = ""
    if law is not None:
        for parameter in law.parameters:
            if parameter.name == name:
                rule = f" must satisfy {parameter.domain.describe(name)}, and"
    return value.at.error(
        f"{name!r} of {value.operation}{rule} was drawn as {found:.12g}",
        "bound it on a line above, for example with clip(…) or abs(…)",
    )


# -- compiling -----------------------------------------------------------------------------------

# Rough nanoseconds an element; only the default budget and the size of a pilot depend on them.
_LAW_COST = {"bernoulli": 3.0, "uniform": 3.0, "rademacher": 1.0, "normal": 8.0, "exponential": 5.0}
_OTHER_LAW_COST = 40.0
_CHEAP = frozenset("+ - * / negative == != < <= > >= and or not conditional subscript".split())
_LINEAR_ALGEBRA = frozenset({"inv", "solve", "det", "qr_q", "cholesky", "eigvalsh"})


class ProgramBuilder:
    """Collects the values that integrands look at, and the integrands themselves."""

    def __init__(self) -> None:
        self._registers: dict[int, int] = {}
        self._values: list[Value] = []
        self._terms: dict[Term, int] = {}
        self._targets: dict[int, None] = {}

    def register(self, value: Value) -> int:
        """The register of a value; everything it needs comes before it."""
        known = self._registers.get(id(value))
        if known is not None:
            return known
        # a fixed value needs nothing else: it is already worked out
        if value.random:
            for below in value.inputs:
                self.register(below)
        self._registers[id(value)] = len(self._values)
        self._values.append(value)
        return len(self._values) - 1

    def term(self, factors: tuple[tuple[int, int], ...], given: int | None, **how: bool) -> int:
        """The column of an integrand in the array of sums."""
        for register, _ in factors:
            self._targets[register] = None
        return self._terms.setdefault(Term(factors, given, **how), len(self._terms))

    def build(self) -> Program:
        """The finished program.

        Raises:
            DropcheckError: where one draw alone would take more memory than is allowed.
        """
        keep = set(self._targets) | {t.given for t in self._terms if t.given is not None}
        last_use: dict[int, int] = {}
        for register, value in enumerate(self._values):
            if value.random:
                for below in value.inputs:
                    last_use[self._registers[id(below)]] = register
        steps = []
        fixed = []
        elements = 0
        cost = 0.0
        for register, value in enumerate(self._values):
            if not value.random:
                fixed.append((register, value.constant))
                continue
            inputs = tuple(self._registers[id(below)] for below in value.inputs)
            frees = tuple(
                below
                for below in set(inputs)
                if last_use[below] == register
                and below not in keep
                and self._values[below].random
            )
            how = None if value.kind == Kind.DRAW else kernel(value.operation)
            steps.append(Step(register, value, inputs, how, frees))
            elements += math.prod(value.shape or ())
            cost += _cost(value)
        elements += sum(
            math.prod(self._values[register].shape or ())
            for term in self._terms
            for register, _ in term.factors
        )
        if 8 * elements > MOST_BYTES:
            raise self._values[-1].at.error(
                f"one draw of this claim's quantities takes {memory_text(8.0 * elements)} together, "
                f"and {memory_text(MOST_BYTES)} is allowed",
                "make the shapes smaller",
            )
        draws = max(1, min(MOST_SPAN_DRAWS, SPAN_BYTES // (8 * max(elements, 1))))
        blocks = BLOCKS_OF_SPAN if draws >= 64 * BLOCKS_OF_SPAN else 1
        return Program(
            size=len(self._values),
            fixed=tuple(fixed),
            steps=tuple(steps),
            terms=tuple(self._terms),
            targets=tuple(self._targets),
            span_draws=draws // blocks * blocks,
            span_blocks=blocks,
            cost=max(cost, 1.0),
            rarest=max((_rarity(value) for value in self._values), default=0.0),
        )


def _cost(value: Value) -> float:
    count = float(math.prod(value.shape or ()))
    if value.kind == Kind.DRAW:
        return count * _LAW_COST.get(value.operation, _OTHER_LAW_COST)
    if value.operation in _CHEAP:
        return count
    name = value.operation.rsplit(".", 1)[-1]
    read = float(sum(math.prod(below.shape or ()) for below in value.inputs))
    if name == "matmul":
        inner = (value.inputs[0].shape or (1,))[-1]
        return count * inner + read
    if name in _LINEAR_ALGEBRA:
        side = (value.inputs[0].shape or (1,))[-1]
        return 500.0 + read * side
    if name in ("sort", "argsort", "median", "quantile"):
        return 60.0 * read
    return 10.0 * count + 3.0 * read


def _rarity(value: Value) -> float:
    """How many draws it takes to see the rarer outcome of a law once, where that is known."""
    if value.kind != Kind.DRAW or not value.random:
        return 0.0
    chances: list[float] = []
    for parameter, found in zip(value.law.parameters if value.law else (), value.inputs, strict=False):
        if parameter.name == "p" and parameter.axes == 0 and found.constant is not None:
            chances.extend(np.asarray(found.constant, dtype=np.float64).ravel().tolist())
    rare = [min(p, 1 - p) for p in chances if 0 < p < 1]
    count = math.prod(value.shape or ())
    return 1.0 / (min(rare) * count) if rare else 0.0
