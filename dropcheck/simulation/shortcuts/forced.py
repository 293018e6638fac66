"""Whether what a rare outcome does hangs on the very values that bring it about.

Where `x > 5` is made to hold and x is drawn as ever, `where(x > 5, 1e6, 0)` shows what it is worth,
and `where(x > 5, exp(6 * x), 0)` does not: the values of x that make it hold are not among those
drawn. Which of the two it is can be read from the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dropcheck.simulation.program import Program
from dropcheck.simulation.steps import Step
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY
from dropcheck.vocabulary.functions.truths import AND, CONDITIONAL, NOT, OR, WHERE

_NOTHING: frozenset[str] = frozenset()


def hangs_on_its_cause(program: Program, outcomes: Mapping[int, bool]) -> bool:
    """Whether some integrand, with truths made to hold or fail, depends on what makes them so.

    `outcomes` has, for places among the watched truths, the outcome that each is to have.
    """
    forced = {program.watched[truth].register: outcome for truth, outcome in outcomes.items()}
    values = {step.target: step.value for step in program.steps}
    cause = frozenset().union(*(values[register].sources for register in forced))
    dependence = _Dependence(forced)
    for step in program.steps:
        dependence.follow(step)
    looked_at = {register for term in program.terms for register, _ in term.factors}
    return any(dependence.touched.get(register, _NOTHING) & cause for register in looked_at)


@dataclass(slots=True)
class _Dependence:
    """What registers depend on once some truths are forced.

    `sources` are the draws that a register depends on; `touched` has those registers that depend
    on a forced truth, with the draws that what it does there depends on; `known` are truths and
    zeros that follow from the forced ones.
    """

    forced: Mapping[int, bool]
    sources: dict[int, frozenset[str]] = field(default_factory=dict)
    touched: dict[int, frozenset[str]] = field(default_factory=dict)
    known: dict[int, bool] = field(default_factory=dict)

    def follow(self, step: Step) -> None:
        """Work out one register from those before it."""
        target = step.target
        if target in self.forced:
            self._is(target, self.forced[target])
            return
        inputs = step.inputs
        if step.kernel is None:
            above = frozenset().union(*(below.sources for below in step.value.inputs))
            own = step.value.sources - above
            self._depends(target, inputs, own)
            return
        function = step.value.function
        known = [self.known.get(register) for register in inputs]
        if function is NOT and known[0] is not None:
            self._is(target, not known[0])
        elif function in (AND, MULTIPLY) and False in known:
            self._is(target, False)
        elif function is OR and True in known:
            self._is(target, True)
        elif function in (WHERE, CONDITIONAL) and known[0] is not None:
            chosen = inputs[1] if known[0] else inputs[2]
            self.sources[target] = self.touched[target] = self.sources.get(chosen, _NOTHING)
            if chosen in self.known:
                self.known[target] = self.known[chosen]
        else:
            self._depends(target, inputs, _NOTHING)
            others = [r for r in inputs if r not in self.touched and self.sources.get(r)]
            scaled = function in (MULTIPLY, DIVIDE) and not others
            # what is added to something does not change what that is worth
            if target in self.touched and (function.additive or scaled):
                parts = [self.touched[register] for register in inputs if register in self.touched]
                self.touched[target] = frozenset().union(*parts)

    def _is(self, target: int, outcome: bool) -> None:
        self.known[target] = outcome
        self.sources[target] = self.touched[target] = _NOTHING

    def _depends(self, target: int, inputs: tuple[int, ...], own: frozenset[str]) -> None:
        causes = own.union(*(self.sources.get(register, _NOTHING) for register in inputs))
        self.sources[target] = causes
        if any(register in self.touched for register in inputs):
            self.touched[target] = causes
