"""Puts a program together: registers in order, what each costs, how many draws fit a span."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.language.functions import called
from dropcheck.language.graph import Kind, Value
from dropcheck.language.wording import memory_text
from dropcheck.simulation.arrays import kernel
from dropcheck.simulation.program import Program, Step, Term

# Arrays of one span together: what stays in a second-level cache of 2 MiB beside its code.
SPAN_BYTES = 2**20
# Draws of one span: enough that numpy's cost a call vanishes, few enough to decide soon.
MOST_SPAN_DRAWS = 16_384
BLOCKS_OF_SPAN = 16
# All arrays of one draw together may not take more than this.
MOST_BYTES = 2**31

# Rough nanoseconds an element; only the default budget and the size of a pilot depend on them.
_LAW_COST = {"bernoulli": 3.0, "uniform": 3.0, "rademacher": 1.0, "normal": 8.0, "exponential": 5.0}
_OTHER_LAW_COST = 40.0
_CHEAP = frozenset(
    [
        "+",
        "-",
        "*",
        "/",
        "negative",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "and",
        "or",
        "not",
        "conditional",
        "subscript",
    ]
)
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
                if last_use[below] == register and below not in keep and self._values[below].random
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
                f"one draw of this claim takes {memory_text(8.0 * elements)} in all, and"
                f" {memory_text(MOST_BYTES)} is allowed",
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
    name = called(value.operation)
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
    for parameter, found in zip(
        value.law.parameters if value.law else (), value.inputs, strict=False
    ):
        if parameter.name == "p" and parameter.axes == 0 and found.constant is not None:
            chances.extend(np.asarray(found.constant, dtype=np.float64).ravel().tolist())
    rare = [min(p, 1 - p) for p in chances if 0 < p < 1]
    count = math.prod(value.shape or ())
    return 1.0 / (min(rare) * count) if rare else 0.0
