"""Programs in exact arithmetic, and a quick test whether that makes a difference."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dropcheck.analysis.on_paper import EXACT, Rounded, comes_near, largest_in, worked_out
from dropcheck.language.graph import Value
from dropcheck.simulation.steps import Step, computed
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.jumps import AtZero


class OnPaper:
    """Computes steps as exact arithmetic would, in order."""

    def __init__(self, errors: Mapping[int, Array]) -> None:
        self.errors = dict(errors)

    def __call__(self, step: Step, inputs: list[Array]) -> Array:
        """The value of a step, from inputs as exact arithmetic has them."""
        assert step.kernel is not None  # a draw is not computed,
        assert not step.crossed  # nor are draws combined in exact arithmetic
        given = [
            Rounded(array, self.errors.get(register, EXACT))
            for array, register in zip(inputs, step.inputs, strict=True)
        ]
        rounded = worked_out(step.value.function, step.kernel, given)
        self.errors[step.target] = rounded.error
        for register in step.frees:
            self.errors.pop(register, None)
        return rounded.value


def may_jump(value: Value) -> bool:
    """Whether a computed value has a jump in one of its random arguments."""
    rule = value.function.jumps
    places = rule.places if isinstance(rule, AtZero) else ()
    return rule is not None and (not places or any(value.inputs[at].random for at in places))


class NearJumps:
    """Computes steps in float64, and watches for arguments near a jump.

    `found` is the first value that would be different at the jump. `again` tells whether numbers
    that are not whole repeat where functions jump: then there may be rare ties.
    """

    def __init__(self) -> None:
        self.found: Value | None = None
        self.again = False
        self._largest = 0.0

    def __call__(self, step: Step, inputs: list[Array]) -> Array:
        """The value of a step."""
        result = computed(step, inputs)
        self._largest = max([self._largest, *map(largest_in, inputs)])
        if self.found is None and step.kernel is not None and may_jump(step.value):
            if comes_near(step.value.function, step.kernel, inputs, result, self._largest):
                self.found = step.value
            self.again |= any(map(_come_again, inputs))
        return result


def _come_again(array: Array) -> bool:
    if array.dtype == np.bool_ or array.shape[-1] == 1 or not array.size:
        return False
    some = array.reshape(-1, array.shape[-1])[0, :256]
    some = some[2.0 * some != np.rint(2.0 * some)]
    return bool(np.unique(some).size < some.size / 2)
