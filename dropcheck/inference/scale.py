"""The scale of a claim: what its resolution is a share of."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.analysis.linear import of_one_operator
from dropcheck.language.graph import Value
from dropcheck.records import record


@record
class SideMagnitude:
    """The magnitude of a side of a statement, as a function of its value: the absolute value.

    A probability p says the same as 1 − p, that of the opposite event: its magnitude is the smaller
    of the two. This holds for a side that is `factor` times one probability, plus `constant`; for
    other sides the factor is 0.

    >>> SideMagnitude()(-2.0), SideMagnitude(1.0)(0.75), SideMagnitude(-2.0, 1.0)(-0.5)
    (2.0, 0.25, 0.5)
    >>> SideMagnitude(1.0)(1.5)  # no probability
    1.5
    """

    factor: float = 0.0
    constant: float = 0.0

    @classmethod
    def of(cls, side: Value) -> SideMagnitude:
        """The magnitude of this side."""
        form = of_one_operator(side) if side.estimated else None
        if form is None:
            return cls()
        ((factor, operator),) = form.terms
        return cls(factor, form.constant) if operator.operator.probability else cls()

    @property
    def of_probability(self) -> bool:
        """Whether the side is made of one probability."""
        return self.factor != 0

    def __call__(self, value: float) -> float:
        """The magnitude at a value of the side."""
        if self.factor:
            probability = (value - self.constant) / self.factor
            if 0 < probability < 1:
                return abs(self.factor) * min(probability, 1 - probability)
        return abs(value)


def known_scale(side: SideMagnitude, ends: Sequence[float]) -> float | None:
    """The scale of a side that is compared with numbers; None where the side's size is needed.

    An end of 0 gives no scale, and neither does a probability of 0 or 1 if another end does.

    >>> known_scale(SideMagnitude(), [3.0]), known_scale(SideMagnitude(), [0.0])
    (3.0, None)
    >>> known_scale(SideMagnitude(1.0), [0.75, 1.0]), known_scale(SideMagnitude(1.0), [1.0])
    (0.25, 1.0)
    """
    if side.of_probability:
        within = [end for end in ends if 0 < (end - side.constant) / side.factor < 1]
        ends = within or ends
    return max(map(side, ends)) or None


def scale_of_sides(size: float, hidden: float, sides: Sequence[float]) -> float:
    """The scale of a statement that compares estimates, from the magnitudes of its sides.

    It is the magnitude of the largest side, and at most `size`, the size of what is estimated.
    Where no side is larger than `hidden`, all may well be 0, which is no scale: then it is `size`.

    >>> scale_of_sides(1.0, 0.01, [0.125, 0.25]), scale_of_sides(1.0, 0.01, [0.002, 0.001])
    (0.25, 1.0)
    """
    largest = max(sides)
    return min(largest, size) if largest > hidden else size
