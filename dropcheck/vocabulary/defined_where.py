"""Where a function has a value: what it requires of its arguments, and facts of its result.

A quantity is undefined in draws where it is NaN or infinite. The probability of that may be too
small for any run to show it. So each fact has a strength: `SURE` facts hold with probability 1.
`GENERIC` facts hold with probability 1 or with probability 0, so that the first draw shows which.
`NEVER` facts do not follow from the model. An analytic function of random numbers with a joint
density is 0 with probability 0, or everywhere (Mityagin 2015, "The zero set of a real analytic
function", proposition 0); so is a ratio of two such functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dropcheck.vocabulary.hulls import EVERYWHERE, Hull, Use

NEVER, GENERIC, SURE = 0, 1, 2
# How a quantity depends on the draws: in any way; as a ratio of analytic functions of draws that
# have a density; as an analytic function of such draws, without poles at any of their values.
ROUGH, RATIO, ANALYTIC = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one quantity, for all its elements together.

    `number`, `finite` and `nonzero` say how sure it is that the quantity is not NaN, not infinite
    and not 0. `whole` says that all its values are whole numbers. `smooth` is how it depends on the
    draws.
    """

    hull: Hull = EVERYWHERE
    number: int = SURE
    finite: int = SURE
    nonzero: int = NEVER
    smooth: int = ROUGH
    whole: bool = False

    @property
    def defined(self) -> int:
        """How sure it is that the quantity has a value."""
        return min(self.number, self.finite)

    def never(self, value: float) -> int:
        """How sure it is that the quantity is not this value."""
        if not self.hull.low <= value <= self.hull.high:
            return SURE
        if value == 0:
            return self.nonzero
        return GENERIC if self.smooth else NEVER

    def inside(self, low: float, high: float, *, open_ends: bool = False) -> int:
        """How sure it is that it lies between two numbers, ends included unless they are open."""
        if self.hull.low < low or self.hull.high > high:
            return NEVER
        ends = [end for end in (low, high) if math.isfinite(end)] if open_ends else []
        return min([SURE, *map(self.never, ends)])

    @property
    def positive(self) -> int:
        """How sure it is that the quantity is above 0."""
        return self.inside(0.0, math.inf, open_ends=True)


_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_DENIED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def compared_with(sign: str, low: float, high: float, *, turned: bool, held: bool) -> Known:
    """What is known of a number if its comparison with other numbers holds, or does not hold.

    Args:
        sign: the sign of the comparison.
        low: the least of the other numbers.
        high: the greatest of them.
        turned: whether the number stands to the right of the sign.
        held: whether the comparison holds.
    """
    sign = _TURNED[sign] if turned else sign
    sign = sign if held else _DENIED[sign]
    hull = Hull(
        low if sign in (">", ">=", "==") else -math.inf,
        high if sign in ("<", "<=", "==") else math.inf,
    )
    apart = (
        (sign == ">" and low >= 0)
        or (sign == "<" and high <= 0)
        or (sign == "!=" and low == high == 0)
        or not hull.low <= 0 <= hull.high
    )
    return Known(hull=hull, nonzero=SURE if apart else NEVER, finite=NEVER)


Requirement = Callable[[Sequence[Known], Use], int]
"""How sure it is that the arguments of a function have some property, or how its result depends on
the draws."""


def _always(answer: int) -> Requirement:
    return lambda _arguments, _use: answer


_SURELY, _NEVER, _ROUGHLY = _always(SURE), _always(NEVER), _always(ROUGH)


def _no_difference_of_infinities(arguments: Sequence[Known], _use: Use) -> int:
    """At least one of the arguments is finite."""
    return max(one.finite for one in arguments)


@dataclass(frozen=True, slots=True)
class DefinedWhere:
    """Where a function has a value, and what is known of it there.

    Args:
        asks: how sure it is that the function has a value, if no argument is NaN.
        nonzero: how sure it is that the result is not 0.
        smooth: how the result depends on the draws.
        infinities: whether it has a value for infinite arguments.
        no_numbers: whether it has a value for NaN too.
        finite: how sure it is that finite arguments give finite values.
        whole: whether whole arguments give whole numbers; a rule, where it depends on them.
        always_whole: whether all arguments give whole numbers.
        interval: the interval in which the first argument must lie.
        hint: what to write instead, where finite arguments give infinite values.
    """

    asks: Requirement = _SURELY
    nonzero: Requirement = _NEVER
    smooth: Requirement = _ROUGHLY
    infinities: bool = False
    no_numbers: bool = False
    finite: int = SURE
    whole: bool | Requirement = False
    always_whole: bool = False
    interval: tuple[float, float] | None = None
    hint: str = ""

    @property
    def everywhere(self) -> bool:
        """Whether all finite arguments give a finite value."""
        return self.asks in (_SURELY, _no_difference_of_infinities) and self.finite == SURE


# ---- what is asked ------------------------------------------------------------------------------


def _second_nonzero(arguments: Sequence[Known], _use: Use) -> int:
    """The second argument, the divisor, is not 0."""
    return arguments[1].nonzero


def _power_defined(arguments: Sequence[Known], _use: Use) -> int:
    """A negative base has only whole powers, and 0 has no negative powers."""
    base, exponent = arguments
    if exponent.hull.low >= 0:
        return SURE if exponent.whole else base.inside(0.0, math.inf)
    return base.nonzero if exponent.whole else base.positive


def _keyword(use: Use, name: str, default: float) -> float:
    options = use.kernel.keywords if isinstance(use.kernel, partial) else {}
    return float(options.get(name, default))


def _index_inside(arguments: Sequence[Known], use: Use) -> int:
    """The second argument is an index into the first axis of the first argument."""
    places = float(use.inputs[0][0])
    return arguments[1].inside(-places, places - 1)


def _whole_from_zero(arguments: Sequence[Known], _use: Use) -> int:
    """All are whole numbers, and the first is not below 0."""
    whole = all(one.whole for one in arguments)
    return arguments[0].inside(0.0, math.inf) if whole else NEVER


def _no_pole_of_gamma(arguments: Sequence[Known], _use: Use) -> int:
    """The argument is not 0, -1, -2, …."""
    one = arguments[0]
    return max(one.positive, GENERIC if one.smooth else NEVER)


def _determined(arguments: Sequence[Known], _use: Use) -> int:
    """A polynomial in the elements, such as their determinant, is not 0."""
    return GENERIC if arguments[0].smooth else NEVER


# ---- when a result is not 0 ---------------------------------------------------------------------


def _all_nonzero(arguments: Sequence[Known], _use: Use) -> int:
    return min((one.nonzero for one in arguments), default=NEVER)


def _first_nonzero(arguments: Sequence[Known], _use: Use) -> int:
    return arguments[0].nonzero


def _sum_nonzero(arguments: Sequence[Known], _use: Use) -> int:
    """A sum of numbers of one sign is not 0, if one of them is not 0."""
    low, high = (one.hull.low >= 0 for one in arguments), (one.hull.high <= 0 for one in arguments)
    return max(one.nonzero for one in arguments) if all(low) or all(high) else NEVER


def _products_nonzero(arguments: Sequence[Known], use: Use) -> int:
    """A sum of products of one sign, such as the squares of a vector's elements, is not 0."""
    one_sign = use.same or all(one.hull.low >= 0 for one in arguments)
    return _all_nonzero(arguments, use) if one_sign else NEVER


def _first_is_not(value: float) -> Requirement:
    return lambda arguments, _use: arguments[0].never(value)


# ---- how a result depends on the draws ----------------------------------------------------------


def _arithmetic(arguments: Sequence[Known], _use: Use) -> int:
    return min((one.smooth for one in arguments), default=ANALYTIC)


def _quotient(arguments: Sequence[Known], _use: Use) -> int:
    over, under = arguments
    most = ANALYTIC if under.never(0.0) == SURE else RATIO
    return min(over.smooth, under.smooth, most)


def _power(arguments: Sequence[Known], use: Use) -> int:
    base, exponent = arguments
    if exponent.hull.low == exponent.hull.high and exponent.whole:
        most = RATIO if exponent.hull.low < 0 and base.never(0.0) < SURE else ANALYTIC
        return min(base.smooth, most)
    return _analytic(0.0)(arguments, use) if base.hull.low > 0 else ROUGH


def _analytic(*breaks: float) -> Requirement:
    """The rule of a function that is analytic unless the first argument is one of some numbers."""

    def smooth(arguments: Sequence[Known], _use: Use) -> int:
        whole = all(one.smooth == ANALYTIC for one in arguments)
        hull = arguments[0].hull
        return (
            ANALYTIC if whole and not any(hull.low <= at <= hull.high for at in breaks) else ROUGH
        )

    return smooth


def _at_most_ratio(smooth: Requirement) -> Requirement:
    return lambda arguments, use: min(smooth(arguments, use), RATIO)


def _between(low: float, high: float, *, open_ends: bool = False, **facts: Any) -> DefinedWhere:
    """Defined where the first argument lies between two numbers."""
    return DefinedWhere(
        asks=lambda arguments, _use: arguments[0].inside(low, high, open_ends=open_ends),
        interval=(low, high),
        **facts,
    )


# ---- what entries say ---------------------------------------------------------------------------

UNDEFINED_NOWHERE = DefinedWhere()
NOT_SETTLED = DefinedWhere(asks=_NEVER)

SUM_OF_TWO = DefinedWhere(
    _no_difference_of_infinities, _sum_nonzero, _arithmetic, infinities=True, whole=True
)
DIFFERENCE = DefinedWhere(
    _no_difference_of_infinities, smooth=_arithmetic, infinities=True, whole=True
)
ARITHMETIC = DefinedWhere(smooth=_arithmetic, whole=True)
PRODUCT = DefinedWhere(nonzero=_all_nonzero, smooth=_arithmetic, whole=True)
TOTAL = DefinedWhere(nonzero=_sum_nonzero, smooth=_arithmetic, whole=True)
MEAN = DefinedWhere(nonzero=_sum_nonzero, smooth=_arithmetic)
SUM_OF_PRODUCTS = DefinedWhere(nonzero=_products_nonzero, smooth=_arithmetic, whole=True)
QUOTIENT = DefinedWhere(_second_nonzero, _first_nonzero, _quotient)
WHOLE_QUOTIENT = DefinedWhere(_second_nonzero, always_whole=True)
REMAINDER = DefinedWhere(_second_nonzero, whole=True)
POWER = DefinedWhere(
    _power_defined,
    _first_nonzero,
    _power,
    whole=lambda arguments, _use: int(arguments[1].hull.low >= 0),  # 2**-1 is none
    interval=(0.0, math.inf),
)
NEGATIVE = DefinedWhere(nonzero=_first_nonzero, smooth=_arithmetic, infinities=True, whole=True)

SIZE = DefinedWhere(nonzero=_first_nonzero, smooth=_analytic(0.0), infinities=True, whole=True)
ROOT = _between(0.0, math.inf, nonzero=_first_nonzero, smooth=_analytic(0.0), infinities=True)
CUBE_ROOT = DefinedWhere(nonzero=_first_nonzero, smooth=_analytic(0.0), infinities=True)
ENTIRE_THROUGH_ZERO = DefinedWhere(nonzero=_first_nonzero, smooth=_analytic(), infinities=True)
ABOVE_ZERO = DefinedWhere(nonzero=_SURELY, smooth=_analytic(), infinities=True)
ENTIRE = DefinedWhere(smooth=_analytic())
TANGENT = DefinedWhere(smooth=_at_most_ratio(_analytic()))
LOGARITHM = _between(
    0.0,
    math.inf,
    open_ends=True,
    nonzero=_first_is_not(1.0),
    smooth=_analytic(0.0),
    infinities=True,
)
LOGARITHM_OF_ONE_MORE = _between(
    -1.0,
    math.inf,
    open_ends=True,
    nonzero=_first_nonzero,
    smooth=_analytic(-1.0),
    infinities=True,
)
# of x log(y), which is 0 where x is 0: so y may be 0 if it is the same quantity as x
TIMES_LOGARITHM = DefinedWhere(
    lambda both, use: both[1].inside(0.0, math.inf) if use.same else both[1].positive
)
ARC_SINE = _between(-1.0, 1.0, nonzero=_first_nonzero, smooth=_analytic(-1.0, 1.0))
ARC_COSINE = _between(-1.0, 1.0, nonzero=_first_is_not(1.0), smooth=_analytic(-1.0, 1.0))
ARC_TANGENT_HYPERBOLIC = _between(
    -1.0, 1.0, open_ends=True, nonzero=_first_nonzero, smooth=_analytic(-1.0, 1.0)
)
LOGIT = _between(0.0, 1.0, open_ends=True, nonzero=_first_is_not(0.5), smooth=_analytic(0.0, 1.0))
GAMMA = DefinedWhere(_no_pole_of_gamma, _SURELY)
LOG_GAMMA = DefinedWhere(_no_pole_of_gamma)
WAYS = DefinedWhere(_whole_from_zero, whole=True)
POSITIVE_PART = DefinedWhere(infinities=True, whole=True)

WHOLE = DefinedWhere(infinities=True, always_whole=True)
IS_NUMBER = DefinedWhere(infinities=True, no_numbers=True, always_whole=True)
PICKED = DefinedWhere(nonzero=_all_nonzero, infinities=True, whole=True)
CHOSEN = DefinedWhere(
    nonzero=lambda arguments, use: _all_nonzero(arguments[1:], use), infinities=True, whole=True
)
REARRANGED = DefinedWhere(nonzero=_all_nonzero, smooth=_arithmetic, infinities=True, whole=True)
WITH_GAPS = DefinedWhere(smooth=_arithmetic, infinities=True, whole=True)
TAKEN = DefinedWhere(_index_inside, _first_nonzero, _arithmetic, infinities=True, whole=True)
PLACED = DefinedWhere(  # an index of one of `n` places
    lambda arguments, use: arguments[0].inside(0.0, _keyword(use, "n", 0.0) - 1), always_whole=True
)
FIRST_PLACE = DefinedWhere(
    finite=NEVER,
    always_whole=True,
    hint="what is waited for may never come: write minimum(first(…), T), with T the number of "
    "steps; for only the draws in which it comes, E(minimum(t, T), given=t < T)",
)
NORM = DefinedWhere(  # a norm of negative order divides by sizes
    lambda x, use: x[0].nonzero if -math.inf < _keyword(use, "ord", 2.0) < 0 else SURE,
    _first_nonzero,
)
SPREAD = DefinedWhere(nonzero=_determined, smooth=_arithmetic)
ROOT_OF_SPREAD = DefinedWhere(nonzero=_determined)
SOFTMAX = DefinedWhere(nonzero=_SURELY, smooth=_analytic())
INVERSE = DefinedWhere(_determined, smooth=_at_most_ratio(_arithmetic))
ORTHONORMAL = DefinedWhere(_determined)
