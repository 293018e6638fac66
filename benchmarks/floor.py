"""Part a: the time of simulating a claim over that of drawing its random numbers alone.

The floor is what a good programmer would write to draw the same numbers with numpy and do nothing
with them: for each draw of the model one call of a Generator with the same law, into an array that
is already there where numpy allows it, in arrays of the size that the program uses, on as many
threads. Its generator is SFC64 too, numpy's fastest, and it has no streams to set up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from benchmarks.measure import Bar, Clock, Figure, Spread, paired
from dropcheck.array_types import Floats
from dropcheck.claims.registry import Case, Registry
from dropcheck.execution.pool import tuned_numpy
from dropcheck.execution.schedule import Deadline, Judge, advanced, drive
from dropcheck.inference.intervals import case_alpha
from dropcheck.judging.case import prepare
from dropcheck.language.compile import CaseGraphs
from dropcheck.language.graph import number
from dropcheck.report.numbers import plural
from dropcheck.running import run_together, sharing_draws
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import MAIN, Request, Tally, stream
from dropcheck.simulation.compile import Compiled
from dropcheck.simulation.program import Program, filled
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.laws import LAWS

Draw = Callable[[np.random.Generator], object]
"""Draws one array of numbers."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A case as it is simulated, and the calls that draw the numbers of one span alone."""

    claim: str
    key: str
    program: Program
    centres: Floats
    plain: tuple[Draw, ...]
    own: tuple[Draw, ...]

    @property
    def a_span(self) -> int:
        """Numbers drawn in one span."""
        return sum(
            self.program.span_draws * math.prod(step.value.shape or ())
            for step in self.program.steps
            if step.kernel is None
        )

    def simulate(self, spans: int, threads: int) -> Tally:
        """Draw and sum so many spans, as a run does it."""
        tally = Tally(self.program)

        def judge() -> Judge[Tally]:
            found = yield Request(
                program=self.program,
                seed=0,
                case_key=self.key,
                purpose=MAIN,
                centres=self.centres,
                first=0,
                count=spans,
            )
            tally.add(found)
            return tally

        ((_, result),) = drive([judge], threads)
        return result

    def draw_alone(self, draws: tuple[Draw, ...], spans: int, threads: int) -> None:
        """Draw the numbers of so many spans and do nothing with them."""

        def part(index: int) -> None:
            generator = np.random.Generator(np.random.SFC64(index))
            for _ in range(spans // threads + (index < spans % threads)):
                for draw in draws:
                    draw(generator)

        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(part, index) for index in range(threads)]:
                done.result()


def simulated(case: Case, *, crossing: bool = False) -> Simulated | None:
    """The case made ready; None where nothing is drawn for it."""
    means = prepare(case, crossing=crossing).compiled
    if means is None or not means.program.steps:
        return None
    program = means.program
    generator = stream(0, case.key, MAIN, 0)
    centres = np.zeros(program.size)
    if isinstance(means, Compiled):
        centres = program.centres(generator, min(program.span_draws, 2048))
    plain, own = [], []
    for name, shape, arguments in _drawn(program, generator):
        plain.append(plain_draw(name, arguments, (*shape, program.span_draws)))
        own.append(_own_draw(name, arguments, shape, program.span_draws))
    return Simulated(case.claim.id, case.key, program, centres, tuple(plain), tuple(own))


def _drawn(
    program: Program, generator: np.random.Generator
) -> Iterator[tuple[str, tuple[int, ...], list[Array]]]:
    """Each draw of a span, with the arguments that it has in one span."""
    with np.errstate(all="ignore"):
        held = program.registers(generator, program.span_draws, keep=True)
    for step in program.steps:
        if step.kernel is None:
            arguments = [number(filled(held[register])) for register in step.inputs]
            yield step.value.operation, step.value.shape or (), arguments


def _own_draw(name: str, arguments: list[Array], shape: tuple[int, ...], draws: int) -> Draw:
    return lambda generator: LAWS[name].sample(generator, arguments, shape, draws)


# numpy's methods that take the language's arguments in its order, and a size.
_SAME = {
    "binomial": "binomial",
    "geometric": "geometric",
    "poisson": "poisson",
    "laplace": "laplace",
    "logistic": "logistic",
    "gumbel": "gumbel",
    "lognormal": "lognormal",
    "beta": "beta",
    "gamma": "gamma",
    "chi_square": "chisquare",
    "student_t": "standard_t",
}


def _shifted(
    out: Array, draw: Callable[..., object], loc: Array | float, scale: Array | float
) -> Draw:
    """Draw in place; a scale and a loc, where there are any, in place too."""
    scaled, moved = np.any(scale != np.float64(1)), np.any(loc != np.float64(0))

    def shifted(generator: np.random.Generator) -> None:
        draw(generator, out=out)
        if scaled:
            np.multiply(out, scale, out=out)
        if moved:
            np.add(out, loc, out=out)

    return shifted


def plain_draw(name: str, arguments: list[Array], size: tuple[int, ...]) -> Draw:
    """The numpy call that draws an array of a law; our own sampler where numpy has none."""
    out = np.empty(size)
    values = [float(argument.flat[0]) if argument.size == 1 else argument for argument in arguments]
    match name:
        case "normal":
            return _shifted(out, np.random.Generator.standard_normal, *arguments)
        case "uniform":
            low, high = arguments
            return _shifted(out, np.random.Generator.random, low, high - low)
        case "exponential":
            return _shifted(out, np.random.Generator.standard_exponential, 0.0, *arguments)
        case "bernoulli":
            return lambda generator: generator.random(out=out) < values[0]
        case "rademacher":
            return lambda generator: generator.random(out=out) < 0.5
        case _ if name in _SAME:
            whole = [int(values[0]), *values[1:]] if name == "binomial" else values
            return lambda generator: getattr(generator, _SAME[name])(*whole, size)
        case _:
            *shape, draws = size
            return _own_draw(name, arguments, tuple(shape), draws)


@dataclass(frozen=True, slots=True)
class Pooled:
    """A claim's ratios, its cases taken together: to the floor, and to our own samplers."""

    claim: str
    cases: int
    to_plain: Spread
    to_own: Spread


def pooled(
    cases: Sequence[Case], threads: int, repeats: int, clock: Clock, values: float
) -> Pooled | None:
    """Simulate every case of a claim in turn, with about as many numbers each, and draw alone."""
    ready = [one for one in map(simulated, cases) if one is not None]
    if not ready:
        return None
    spans = [max(2 * threads, round(values / one.a_span)) for one in ready]

    def simulate() -> None:
        for one, count in zip(ready, spans, strict=True):
            one.simulate(count, threads)

    def plain() -> None:
        for one, count in zip(ready, spans, strict=True):
            one.draw_alone(one.plain, count, threads)

    def own() -> None:
        for one, count in zip(ready, spans, strict=True):
            one.draw_alone(one.own, count, threads)

    to_plain = paired(simulate, plain, repeats, clock)
    return Pooled(ready[0].claim, len(ready), to_plain, paired(simulate, own, 1, clock))


def measured(
    registry: Registry, threads: int, repeats: int, clock: Clock, values: float
) -> Iterator[Figure]:
    """A line a claim, then the median and the worst of all."""
    found: list[Pooled] = []
    for claim in registry.claims.values():
        cases = [case for case in registry.expand() if case.claim is claim]
        one = pooled(cases, threads, repeats, clock, values / len(cases))
        if one is None:
            continue
        found.append(one)
        note = f"{plural(one.cases, 'case')}, {one.to_own.median:.2f}× our own samplers"
        yield Figure("a", f"{one.claim}, over its numbers alone", one.to_plain, note=note)
    if not found:
        return
    worst = max(found, key=lambda one: one.to_plain.median)
    every = Spread.of([one.to_plain.median for one in found])
    note = f"{plural(len(found), 'claim')} on {plural(threads, 'thread')}, crossing off"
    yield Figure("a", "median over claims", every, bar=Bar(1.5), note=note)
    yield Figure("a", "worst claim", worst.to_plain, bar=Bar(3.0), note=worst.claim)


# Spans of a program that are drawn alone: the others take as long.
ALONE = 20


def whole(registry: Registry, clock: Clock, *, quick: bool) -> Iterator[Figure]:
    """A run of all claims on one thread, without its start: what drawing takes, and what the rest.

    The rest lowers, analyses and judges; that it computes some draws once more is part of it.
    """
    cases = registry.expand()[: 20 if quick else None]
    alpha = case_alpha(1e-6, len(cases), len(cases))
    graphs = CaseGraphs(keep=0)
    drawing = judging = alone = 0.0
    with tuned_numpy():
        for group in sharing_draws(cases, graphs):
            asked: dict[int, tuple[Request, int]] = {}
            started, drawn = clock(), 0.0
            judge = run_together(
                [cases[place] for place in group],
                Settings(threads=1),
                alpha,
                Deadline(),
                graphs,
            )
            step = advanced(judge, None)
            while isinstance(step, Request):
                before = asked.get(id(step.program), (step, 0))[1]
                asked[id(step.program)] = step, before + step.count
                asking = clock()
                sums = step.carry_out()
                drawn += clock() - asking
                step = advanced(judge, sums)
            judging += clock() - started - drawn
            drawing += drawn
            alone += sum(_alone(request, count, clock) for request, count in asked.values())
    note = plural(len(cases), "case")
    ratio, each = Spread.of([drawing / alone]), Spread.of([1e3 * judging / len(cases)])
    yield Figure("g", "run all: drawing, over its numbers alone", ratio, bar=Bar(3.0), note=note)
    yield Figure("g", "run all: judging a case in the mean", each, " ms", Bar(10.0), note)


def _alone(request: Request, count: int, clock: Clock) -> float:
    """Seconds of drawing the numbers of so many spans, as a few of them show it."""
    program = request.program
    generator = stream(0, request.case_key, MAIN, 0)
    draws = [
        plain_draw(name, arguments, (*shape, program.span_draws))
        for name, shape, arguments in _drawn(program, generator)
    ]
    few = min(count, ALONE)
    started = clock()
    for _ in range(few):
        for draw in draws:
            draw(generator)
    return (clock() - started) / few * count
