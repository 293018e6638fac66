"""A lowered case to a program and a functional: after this no names remain."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from dropcheck.analysis.bounds import UNIT, Hull, support
from dropcheck.analysis.existence import operators
from dropcheck.analysis.linear import affine, combined, linear
from dropcheck.analysis.strategy import sides
from dropcheck.language.cases import LoweredCase
from dropcheck.language.folding import kernel
from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.simulation.assemble import ProgramBuilder
from dropcheck.simulation.functional import Functional, Leaf
from dropcheck.simulation.program import Program

_POWERS = {"E": 1, "P": 1, "Var": 2, "Std": 2, "Cov": 1, "Corr": 2, "Skew": 3, "Kurt": 4}

# Comparisons that take values which tie to within rounding in the claim's favour.
_FAVOURED = {"==": "near ==", "<=": "near <=", ">=": "near >="}
_FAVOURED_WHEN_DENIED = {"!=": "far !=", "<": "far <", ">": "far >"}


@dataclass(frozen=True, slots=True)
class Compiled:
    """What is simulated and how its averages combine.

    `scaled` says whether the scale of the claim must be estimated; the functional then has sizes.
    """

    program: Program
    functional: Functional
    scaled: bool
    mean: BoundedMean | None = None


@dataclass(frozen=True, slots=True)
class BoundedMean:
    """The statement's quantity as the mean of one bounded quantity a draw.

    `column` and `square` are those of the quantity and its square, about the centre of `register`;
    the statement's quantity is its mean plus `constant`.
    """

    register: int
    column: int
    square: int
    hull: Hull
    constant: float


@dataclass(frozen=True, slots=True)
class Certainty:
    """A claim that an event is certain, or impossible: counterexamples are counted.

    `program` has one integrand, 1 where a draw is a counterexample, followed by that of the
    condition where there is one; values that tie to within rounding count for the claim. `exact`
    is the same without that favour.
    """

    program: Program
    exact: Program
    conditional: bool
    probability: float  # 1 or 0, as claimed


@dataclass(frozen=True, slots=True)
class Proportion:
    """A claim about one probability of an event that is one truth a draw.

    `program` has the integrand of the event, followed by that of the condition if there is one.
    The quantity that the statement is about is `factor` times the probability, plus `constant`.
    """

    program: Program
    conditional: bool
    factor: float = 1.0
    constant: float = 0.0


def compile_case(lowered: LoweredCase, *, crossing: bool = True) -> Compiled:
    """The program and the functional of a case.

    The scale is known beforehand where the right side (or both ends of a range) holds no
    operator and is not 0; otherwise the integrands that measure sizes are added. With `crossing`,
    independent draws that meet in one matrix product alone are paired all with all.
    """
    scaled = needs_scale(lowered)
    builder = ProgramBuilder()
    leaves: dict[int, Leaf] = {}
    for operand in lowered.operands:
        _collect(operand, builder, leaves, sizes=scaled)
    mean = _bounded_mean(lowered, builder)
    functional = Functional(lowered.operands, leaves)
    separating = None
    if crossing and mean is None:  # whose interval needs no limit theorem, but independent values
        separating = frozenset(functional.columns(range(len(lowered.operands))))
    program = builder.build(crossing=crossing, separating=separating)
    return Compiled(program, functional, scaled, mean)


def _bounded_mean(lowered: LoweredCase, builder: ProgramBuilder) -> BoundedMean | None:
    """The quantity of a statement with one comparison as one bounded quantity a draw, if it is."""
    side, ends = sides(lowered)
    if side is None or (len(ends) > 1 and any(end.estimated for end in ends)):
        return None
    form = linear(side)
    if form is not None and ends[0].estimated:
        other = linear(ends[0])
        form = None if other is None else form.plus(other.scaled(-1.0))
    if form is None or not form.terms:
        return None
    found = combined(form)
    if found is None:
        return None
    quantity, hull = found
    register = builder.register(quantity)
    return BoundedMean(
        register,
        builder.term(((register, 1),), None),
        builder.term(((register, 2),), None),
        hull,
        form.constant,
    )


def bounded_leaves(functional: Functional) -> list[tuple[Leaf, tuple[Hull, ...]]]:
    """The operators on quantities that the model bounds, and where these can lie."""
    found: list[tuple[Leaf, tuple[Hull, ...]]] = []
    for operator in operators(functional.operands):
        conditional = dict(operator.options)["given"]
        quantities = operator.inputs[:-1] if conditional else operator.inputs
        hulls = tuple(
            UNIT if operator.operation == "P" else support(quantity) for quantity in quantities
        )
        if all(hull.bounded for hull in hulls):
            found.append((functional.leaves[id(operator)], hulls))
    return found


def needs_scale(lowered: LoweredCase) -> bool:
    """Whether the claim's scale has to be estimated."""
    _, ends = sides(lowered)
    if any(end.estimated for end in ends):
        return True
    return all(float(end.constant[..., 0]) == 0 for end in ends)


def certainty(lowered: LoweredCase) -> Certainty | None:
    """The case as a claim of certainty, or None where it is not one."""
    if lowered.operators != ("==",):
        return None
    left, (right, *_) = sides(lowered)
    if left is None or right.estimated or left.kind != Kind.OPERATOR or left.operation != "P":
        return None
    claimed = float(right.constant[..., 0])
    if claimed not in (0.0, 1.0) or not any(value.random for value in left.inputs):
        return None
    return Certainty(
        _counterexamples(left, claimed, favour=True),
        _counterexamples(left, claimed, favour=False),
        len(left.inputs) > 1,
        claimed,
    )


def _counterexamples(operator: Value, claimed: float, *, favour: bool) -> Program:
    event = operator.inputs[0]
    if favour:
        event = _favoured(event, denied=claimed == 0)
    if claimed == 0:
        event = _denied(event)
    builder = ProgramBuilder()
    given = builder.register(operator.inputs[1]) if len(operator.inputs) > 1 else None
    builder.term(((builder.register(event), 1),), given, every=True)
    if given is not None:
        builder.term((), given)
    return builder.build()


def _favoured(event: Value, *, denied: bool) -> Value:
    """The same event with its comparisons taking near ties in the claim's favour.

    Args:
        event: the event.
        denied: whether the claim is that it never holds.
    """
    known: dict[tuple[int, bool], Value] = {}
    for value in ordered([event]):
        for turned in (False, True):
            known[id(value), turned] = _with_favour(value, turned, known)
    return known.get((id(event), denied), event)


def _with_favour(value: Value, denied: bool, known: dict[tuple[int, bool], Value]) -> Value:
    if value.kind != Kind.COMPUTED:
        return value
    names = _FAVOURED_WHEN_DENIED if denied else _FAVOURED
    operation = names.get(value.operation, value.operation)
    below = denied != (operation == "not")  # what is denied within is wished the other way round
    inputs = tuple(known.get((id(found), below), found) for found in value.inputs)
    if operation == value.operation and inputs == value.inputs:
        return value
    return dataclasses.replace(value, operation=operation, inputs=inputs)


def proportion(lowered: LoweredCase) -> Proportion | None:
    """The case as a claim about one probability, or None where it is not one."""
    side, ends = sides(lowered)
    if side is None or any(end.estimated for end in ends):
        return None
    form = affine(side)
    if form is None or form.operator.operation != "P" or form.factor == 0:
        return None
    event, *conditions = form.operator.inputs
    if not event.random or any(value.shape != () for value in form.operator.inputs):
        return None  # the elements of one draw are not independent trials
    builder = ProgramBuilder()
    given = builder.register(conditions[0]) if conditions else None
    builder.term(((builder.register(_truth(event)), 1),), given)
    if given is not None:
        builder.term((), given)
    return Proportion(builder.build(), given is not None, form.factor, form.constant)


def _truth(value: Value) -> Value:
    """A value asked as a truth: any number but 0 is 1."""
    return value if value.truth else _denied(_denied(value))


def _denied(value: Value) -> Value:
    """`not` of a value, worked out at once where it is fixed."""
    return dataclasses.replace(
        value,
        kind=Kind.COMPUTED,
        operation="not",
        inputs=(value,),
        options=(),
        truth=True,
        takes_truth=True,
        name=None,
        constant=None if value.random else kernel("not")(value.constant),
    )


def _collect(
    value: Value, builder: ProgramBuilder, leaves: dict[int, Leaf], *, sizes: bool
) -> None:
    if value.kind == Kind.OPERATOR:
        if id(value) not in leaves:
            leaves[id(value)] = _leaf(value, builder, sizes=sizes)
        return
    if value.estimated:
        for below in value.inputs:
            _collect(below, builder, leaves, sizes=sizes)


def _leaf(value: Value, builder: ProgramBuilder, *, sizes: bool) -> Leaf:
    operator = value.operation
    conditional = dict(value.options)["given"]
    quantities = value.inputs[:-1] if conditional else value.inputs
    given = builder.register(value.inputs[-1]) if conditional else None
    columns: dict[str, int] = {}
    if given is not None:
        columns["g"] = builder.term((), given)
    first = builder.register(_truth(quantities[0]) if operator == "P" else quantities[0])
    powers = _POWERS[operator]
    if sizes and operator in ("E", "Cov"):
        powers = 2
    for power in range(1, powers + 1):
        columns["u" * power] = builder.term(((first, power),), given)
    second = None
    if operator in ("Cov", "Corr"):
        second = builder.register(quantities[1])
        for power in range(1, powers + 1):
            columns["v" * power] = builder.term(((second, power),), given)
        columns["uv"] = builder.term(_product(first, second), given)
    return Leaf(operator, columns, first, second)


def _product(first: int, second: int) -> tuple[tuple[int, int], ...]:
    return ((first, 2),) if first == second else ((first, 1), (second, 1))
