"""Whether two readings of a case are the same mathematics, told before any draw."""

from __future__ import annotations

import math

from dropcheck.language.cases import LoweredCase
from dropcheck.language.graph import Kind, Plain, Value

# Two known numbers are the same to within this share of the larger: rounding in another order.
ROUNDING = 1e-12


def same_case(first: LoweredCase, second: LoweredCase) -> bool:
    """Whether two cases state the same of the same draws, once all that is known is worked out.

    Equal graphs are the same claim; unlike ones may be so all the same, which only draws can tell.
    """
    return first.operators == second.operators and all(
        same_value(a, b) for a, b in zip(first.operands, second.operands, strict=True)
    )


def same_value(first: Value, second: Value) -> bool:
    """Whether two quantities are computed alike from the same draws."""
    return _Comparison().same(first, second)


def fixed_change(first: LoweredCase, second: LoweredCase) -> float | None:
    r"""The relative change of the one fixed side by which two cases differ; None where not so.

    >>> from dropcheck.claims.reader import read_text
    >>> from dropcheck.language.cases import lower_case, parse_claim
    >>> def read(claim):
    ...     text = f"dropcheck: 1\nclaims: {{c: {{title: t, model: 'x ~ normal(0, 1)', {claim}}}}}"
    ...     case = read_text(text).expand()[0]
    ...     return lower_case(parse_claim(case.claim), case.parameters)
    >>> fixed_change(read("claim: Var(x) == 1"), read("claim: Var(x) == 5/4"))
    0.25
    """
    numbers = fixed_sides(first, second)
    if numbers is None:
        return None
    old, new = numbers
    return abs(new - old) / abs(old) if old else math.inf


def fixed_sides(first: LoweredCase, second: LoweredCase) -> tuple[float, float] | None:
    """The one side by which two cases differ, in each of them; None where that is not fixed."""
    if first.operators != second.operators:
        return None
    changes = [
        (a, b) for a, b in zip(first.operands, second.operands, strict=True) if not same_value(a, b)
    ]
    if len(changes) != 1:
        return None
    old, new = (value.known for value in changes[0])
    return (old, new) if isinstance(old, float) and isinstance(new, float) else None


class _Comparison:
    """Compares two graphs, each pair of values once."""

    def __init__(self) -> None:
        self._told: dict[tuple[int, int], bool] = {}

    def same(self, first: Value, second: Value) -> bool:
        key = (id(first), id(second))
        if key not in self._told:
            self._told[key] = self._same(first, second)
        return self._told[key]

    def _same(self, first: Value, second: Value) -> bool:
        one, other = first.known, second.known
        if one is not None and other is not None:
            return first.shape == second.shape and _close(one, other)
        if first.kind != second.kind or first.operation != second.operation:
            return False
        if first.options != second.options or first.shape != second.shape:
            return False
        # two draws from one law are two quantities; in both readings the name tells which
        if first.kind == Kind.DRAW and first.name != second.name:
            return False
        if len(first.inputs) != len(second.inputs):
            return False
        if all(self.same(a, b) for a, b in zip(first.inputs, second.inputs, strict=True)):
            return True
        turned = first.kind == Kind.COMPUTED and first.function.commutes
        return turned and (
            self.same(first.inputs[0], second.inputs[1])
            and self.same(first.inputs[1], second.inputs[0])
        )


def _close(first: Plain, second: Plain) -> bool:
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(_close, first, second))
    if isinstance(first, float) and isinstance(second, float):
        both_nan = math.isnan(first) and math.isnan(second)
        return both_nan or first == second or math.isclose(first, second, rel_tol=ROUNDING)
    return False
