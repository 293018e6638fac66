"""Part k: runs of code under test over the calls of that code alone.

The calls are those of the run's own functions, made bare with inputs of the same kind, on one
thread, as many numbers as the run asked for: at the best of some sizes of a call, powers of two. A
layer with fixed inputs is called once a draw by both. Inputs that vary are drawn by the run, and
made beforehand for the bare calls; a second figure counts drawing them alone among the calls.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.measure import Bar, Clock, Figure, Spread
from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Slot
from dropcheck.code.slots import Implementation, with_columns
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

P = 0.1
TEXT = """
dropcheck: 1
slots:
  layer:
    takes: [x, p]
    model: |
      m ~ bernoulli(1 - p)[shape(x)]
      y = m * x / (1 - p)
    gives: y
    elements: independent
  sampler: {{takes: [], law: "normal(0, 1)"}}
claims:
  code:
    title: Code
    resolution: {resolution}
    {parameters}
    model: |
      {model}
    claims:
      mean: E(y) == {mean}
{second}
"""
# The least and the most numbers of a bare call, and how many a measurement has.
LEAST, MOST, NUMBERS = 2**12, 2**20, 2**21
Call = Callable[[], Any]


class Counted:
    """A layer and a sampler of one framework, and how many numbers they gave."""

    def __init__(self, framework: str) -> None:
        self.numbers = 0
        self.framework = framework
        self._generator = np.random.default_rng(0)

    def _given(self, output: Any, numbers: int) -> Any:
        self.numbers += numbers
        return output

    def functions(self, kind: str) -> dict[str, Callable[..., Any]]:
        """The code for the slot of one kind of claim."""
        name = "sampler" if kind == "sampler" else "layer"
        return {name: getattr(self, f"{self.framework}_{name}")}

    def numpy_sampler(self, size: tuple[int, ...], rng: np.random.Generator) -> Any:
        """Normal numbers."""
        return self._given(rng.standard_normal(size, dtype=np.float32), math.prod(size))

    def numpy_layer(self, x: Any, p: float, rng: np.random.Generator) -> Any:
        """Dropout."""
        keep = rng.random(x.shape, dtype=np.float32) >= p
        return self._given(np.where(keep, x / np.float32(1 - p), np.float32(0)), x.size)

    def torch_sampler(self, size: tuple[int, ...]) -> Any:
        """Normal numbers."""
        import torch

        return self._given(torch.randn(size), math.prod(size))

    def torch_layer(self, x: Any, p: float) -> Any:
        """Dropout."""
        import torch

        return self._given(torch.nn.functional.dropout(x, p), x.numel())

    def bare(self, kind: str, shape: tuple[int, ...]) -> Call:
        """One call of the code alone."""
        own = (self._generator,) if self.framework == "numpy" else ()
        (function,) = self.functions(kind).values()
        if kind == "sampler":
            return lambda: function(shape, *own)
        x: Any = self._generator.uniform(1, 2, shape).astype(np.float32)
        if self.framework == "torch":
            import torch

            x = torch.from_numpy(x)
        return lambda: function(x, P, *own)


def text_of(kind: str, numbers: int, statements: int, resolution: float) -> str:
    """Claims of one or two statements about code of so many numbers a draw."""
    size = f"[{numbers}]" if numbers > 1 else ""
    model, mean, spread = {
        "sampler": (f"y ~ sampler(){size}", 0.0, 1.0),
        "layer": (
            f"x ~ uniform(1, 2){size}\n      y = layer(x, p)",
            1.5,
            (7 / 3 / (1 - P) - 2.25) ** 0.5,
        ),
        "fixed": (f"x = ones({numbers})\n      y = layer(x, p)", 1.0, (P / (1 - P)) ** 0.5),
    }[kind]
    second = f"      spread: Std(y) == {spread}" if statements == 2 else ""
    given = "" if kind == "sampler" else f"parameters: {{p: {P}}}"
    return TEXT.format(
        model=model, mean=mean, second=second, resolution=resolution, parameters=given
    )


class OfFunctions(Implementation):
    """Functions of a framework as a column of code."""

    _own: Mapping[str, Callable[..., Any]]

    def __init__(self, name: str, functions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(name, {})
        object.__setattr__(self, "_own", functions)

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The one number format that is measured."""
        return ("float32",)

    def functions(self, slots: Mapping[str, Slot]) -> Mapping[str, tuple[str, Any]]:
        """The functions, by the slots that they have the names of."""
        return {name: (name, one) for name, one in self._own.items() if name in slots}

    def rebuilder(self, _: Mapping[str, Slot]) -> None:
        """None: these functions have no name to be imported by."""


def seconds(call: Callable[[], object], clock: Clock, times: int, tries: int) -> float:
    """What one call takes, the least of some tries: others are in the way of the rest."""
    call()
    took = []
    for _ in range(tries):
        started = clock()
        for _ in range(times):
            call()
        took.append((clock() - started) / times)
    return min(took)


def best_alone(code: Counted, kind: str, numbers: int, clock: Clock, tries: int) -> float:
    """Seconds that a number takes in bare calls at their best size."""
    rows = [1]
    if kind != "fixed":
        rows = [2**power for power in range(21) if LEAST <= 2**power * numbers <= MOST]
    found = []
    for count in rows:
        shape = (count, numbers) if numbers > 1 else (count,)
        call = code.bare(kind, shape if kind != "fixed" else (numbers,))
        times = max(2, NUMBERS // tries // (count * max(numbers, 64)))
        found.append(seconds(call, clock, times, tries) / (count * numbers))
    return min(found)


def drawn_alone(clock: Clock, tries: int) -> float:
    """Seconds that a number of the model's inputs takes, drawn as the run draws it."""
    generator, into = np.random.Generator(np.random.SFC64(0)), np.empty(2**13)
    return seconds(lambda: generator.random(out=into), clock, 50, tries) / len(into)


def overhead(
    framework: str, kind: str, numbers: int, statements: int, clock: Clock, tries: int, fine: float
) -> Iterator[Figure]:
    """The time of a run over its calls alone; where inputs are drawn, also over both."""
    code = Counted(framework)
    text = text_of(kind, numbers, statements, fine * (4 if kind == "fixed" else 1))
    own = OfFunctions(framework, code.functions(kind))
    registry = with_columns(read_text(text), [own])
    cases = [case for case in registry.expand() if case.claim.column is not None]
    took = []
    for _ in range(tries):
        code.numbers = 0
        started = clock()
        for _ in verify_cases(cases, Settings(threads=1), registry):
            pass
        took.append((clock() - started) / code.numbers)
    drawn, alone = code.numbers, best_alone(code, kind, numbers, clock, tries)
    several = f", {statements} statements" if statements > 1 else ""
    name = f"{framework}, {kind}, {numbers:,} a draw{several}: a run over its calls alone"
    note = f"{drawn:,} numbers, {alone * 1e9:.3g} ns each in calls alone"
    bare = Spread.of(took)
    yield Figure("k", name, bare.times(1 / alone), bar=None if kind == "layer" else BAR, note=note)
    if kind == "layer":
        both = alone + drawn_alone(clock, tries)
        name = name.replace("its calls", "its calls and its inputs' drawing")
        yield Figure("k", name, bare.times(1 / both), bar=BAR)


BAR = Bar(1.3)


def measured(repeats: int, clock: Clock, *, quick: bool) -> Iterator[Figure]:
    """All of part k; of torch where it is installed."""
    for framework in ("numpy", "torch"):
        if importlib.util.find_spec(framework) is None:
            note = f"not measured: {framework} is not installed"
            yield Figure("k", framework, Spread.of([math.nan]), note=note)
            continue
        if framework == "torch":
            import torch

            torch.set_num_threads(1)
        for kind in ("sampler", "layer", "fixed"):
            for numbers in (1, 64, 4096):
                for statements in (1, 2):
                    fine = 0.05 if quick else 0.001
                    if not (kind == "fixed" and numbers == 1):
                        yield from overhead(
                            framework, kind, numbers, statements, clock, repeats, fine
                        )
