"""Programs that make the same draws are drawn once; each gets the sums it would have alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.records import record
from dropcheck.simulation.program import Program, SpanSums, broken_span
from dropcheck.simulation.steps import Step, freeing
from dropcheck.vocabulary.function import Array


@record
class Together:
    """Programs with the same registers and spans, and the centres of each: [registers].

    `drawn` has every step that one of them needs, once; it has no integrands.
    """

    programs: tuple[Program, ...]
    centres: tuple[Floats, ...]
    drawn: Program

    @classmethod
    def of(cls, programs: Sequence[Program], centres: Sequence[Floats]) -> Together:
        """Put programs together for which `may_join` is true.

        Raises:
            ValueError: a register has different values in two of them.
        """
        steps: dict[int, Step] = {}
        fixed: dict[int, Array] = {}
        keep: set[int] = set()
        for program in programs:
            own = {step.target: step for step in program.quickest}
            for target, step in own.items():
                if steps.setdefault(target, step).value is not step.value:
                    raise ValueError("programs of other registers make other draws")
            fixed |= dict(program.fixed)
            freed = {register for step in own.values() for register in step.frees}
            keep |= own.keys() - freed
        inputs = {register for step in steps.values() for register in step.inputs}
        ordered = [steps[register] for register in sorted(steps)]
        drawn = replace(
            programs[0],
            size=max(program.size for program in programs),
            fixed=tuple(fixed.items()),
            steps=freeing(ordered, keep | (inputs & fixed.keys())),
            terms=(),
            targets=tuple({register for program in programs for register in _looked_at(program)}),
            cost=max(program.cost for program in programs),
            separations=None,
            apart=(),
            span_blocks=1,
            counter=None,
        )
        return cls(tuple(programs), tuple(centres), drawn)

    @property
    def cost(self) -> float:
        """Nanoseconds for each draw, roughly."""
        return self.drawn.cost

    @property
    def span_draws(self) -> int:
        """Draws of one span."""
        return self.drawn.span_draws

    @property
    def calls_own_code(self) -> bool:
        """Whether the user's function makes the draws."""
        return self.drawn.calls_own_code

    def held(self) -> AbstractContextManager[None]:
        """A context for consecutive spans."""
        return self.drawn.held()

    def span(self, generator: np.random.Generator, _: Floats, number_of_span: int) -> SpanSums:
        """The sums of one span for each program."""
        state = generator.bit_generator.state
        with np.errstate(all="ignore"):
            arrays = self.drawn.registers(generator, self.span_draws)
            each = zip(self.programs, self.centres, strict=True)
            summed = [program.summed(arrays, centres) for program, centres in each]
        members: list[SpanSums] = []
        each = zip(self.programs, self.centres, strict=True)
        for (program, centres), (sums, bad) in zip(each, summed, strict=True):
            if sums is None:  # as it would alone: sum the same draws one by one
                generator.bit_generator.state = state
                members.append(program.span(generator, centres, number_of_span))
            elif bad is None:
                members.append(SpanSums(sums=sums))
            else:
                before = number_of_span * program.span_values
                members.append(broken_span(sums, bad, before))
        return SpanSums(sums=np.zeros((1, 0)), members=tuple(members))


def may_join(program: Program) -> bool:
    """Whether a program may be drawn together with others of the same registers."""
    return program.shared and program.stratified is None


def _looked_at(program: Program) -> set[int]:
    """The registers that a program reads when its quickest steps are done."""
    given = {term.given for term in program.terms if term.given is not None}
    apart = set() if program.separations is None else set(program.separations.registers)
    return {*program.targets, *given, *apart}
