"""The moments of the letters of polynomials: draws minus their means, products of many elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dropcheck.analysis.moments.cell_means import Norm
from dropcheck.analysis.moments.single_draw import Estimate, KnownMeans, joint_moment
from dropcheck.analysis.polynomials.expectation import (
    PRECISION,
    ElementNumbers,
    MomentSource,
    PartitionBlock,
)
from dropcheck.analysis.polynomials.terms import TINY, FunctionPowers
from dropcheck.language.graph import Value
from dropcheck.vocabulary.distributions.moment_lists import HIGHEST_ORDER
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws.ranked_law import Ranked
from dropcheck.vocabulary.shapes import Shape

ITSELF = 0  # the number of the draw among its functions


class DrawnElements(MomentSource):
    """A draw of independent elements from a law with fixed arguments.

    Function 0 is the draw minus its mean; other functions of the draw can be added, each minus its
    mean.
    """

    def __init__(
        self,
        law: Law,
        arguments: Sequence[Any],
        shape: Shape,
        group: int,
        means: KnownMeans,
        bounds: Norm | None,
        draw: Value | None,
    ) -> None:
        super().__init__()
        self._means = means
        self._bounds = bounds
        self._draw = draw  # None if only the moments of the law are known
        self.group = group
        self._law = law
        self._shape = shape
        self._arguments = arguments
        self._plain = all(isinstance(one, float) for one in arguments)
        self.mean: ElementNumbers = 0.0
        self.mean, self.loss = self._of_law(1)
        self._functions: dict[int, tuple[Value, float]] = {}

    def _of_law(self, order: int) -> tuple[ElementNumbers, float]:
        """The mean, for order 1, or a central moment of the law; with its loss.

        Raises:
            PolynomialError: it is not finite, or not known.
        """
        listed = order <= HIGHEST_ORDER and not isinstance(self._law, Ranked)
        if not listed and not (order == 1 and self._law.symmetric):
            if self._draw is None or not isinstance(self.mean, float):
                raise PolynomialError
            return self._integrated([self._draw], [order], [self.mean])
        of_law = _of_law if self._plain else _of_law.__wrapped__
        moment = of_law(self._law, order, *self._arguments)
        if self._plain and order % 2 == 0 and moment < TINY:  # a constant
            raise PolynomialError
        return self._checked(moment), 1.0

    def _checked(self, moment: Any) -> ElementNumbers:
        """A moment as a number, or as an array with the rank of the draw.

        Raises:
            PolynomialError: it is not finite.
        """
        array = np.asarray(moment, dtype=np.float64)
        if not np.isfinite(array).all():
            raise PolynomialError
        if array.size == 1:
            return float(array.reshape(()))
        return array.reshape((1,) * (len(self._shape) - array.ndim) + array.shape)

    # ---- functions of the draw -----------------------------------------------------------------

    def added(self, value: Value) -> tuple[int, float, float]:
        """Add a function of the draw: its number, its mean and the loss of the mean.

        Raises:
            PolynomialError: its mean is not known.
        """
        mean, loss = self._integrated([value], [1], [0.0])
        function = len(self._functions) + 1
        self._functions[function] = (value, mean)
        return function, mean, loss

    def _of_functions(self, powers: FunctionPowers, draw: Value) -> tuple[ElementNumbers, float]:
        chosen = [
            (draw, self.mean) if function == ITSELF else self._functions[function]
            for function, _ in powers
        ]
        centres = [mean for _, mean in chosen if isinstance(mean, float)]
        if len(centres) < len(chosen):
            raise PolynomialError
        values = [value for value, _ in chosen]
        orders = [power for _, power in powers]
        return self._integrated(values, orders, centres)

    def _integrated(
        self, values: Sequence[Value], orders: Sequence[int], centres: Sequence[float]
    ) -> tuple[float, float]:
        found = joint_moment(values, orders, centres, self._bounds, self._means)
        if not math.isfinite(found.error):
            raise PolynomialError
        return with_loss(found)

    # ---- moments -------------------------------------------------------------------------------

    def moment(self, powers: FunctionPowers) -> tuple[ElementNumbers, float]:
        """The expectation of a product of powers of functions, and its loss."""
        if not powers:
            return 1.0, 1.0
        ((function, power), *others) = powers
        if function == ITSELF and not others:
            return self._of_law(power) if power > 1 else (0.0, 1.0)
        if not others and power == 1:
            return 0.0, 1.0
        if self._draw is None:
            raise PolynomialError
        return self._of_functions(powers, self._draw)

    def _cumulant(self, block: PartitionBlock) -> tuple[ElementNumbers, float]:
        of_draw = all(powers == ((ITSELF, 1),) for powers in block)
        if not of_draw or len(block) <= 3 or isinstance(self._law, Ranked):
            return super()._cumulant(block)
        # cumulants of the law itself may be exactly 0
        if len(block) > HIGHEST_ORDER:
            raise PolynomialError
        return self._checked(self._law.cumulants(*self._arguments)[len(block)]), 4.0


def with_loss(estimate: Estimate) -> tuple[float, float]:
    """A number and its loss: its relative error in units of `PRECISION`.

    A number below its own error is replaced by the error. In products, relative errors are added
    up; the factor 16 allows for products of these errors, of up to 16 numbers.
    """
    value = estimate.value
    if estimate.error > abs(value):
        value = math.copysign(estimate.error, value)
    # in this order, as PRECISION times a number near the smallest underflows
    share = estimate.error / abs(value) if value else 0.0
    return value, max(1.0, (1.0 + min(1.0, 16.0 * share)) * share / PRECISION)


@lru_cache(maxsize=4096)
def _of_law(law: Law, order: int, *arguments: Any) -> Any:
    """The mean, for order 1, or a central moment of a law."""
    return law.mean(*arguments) if order == 1 else law.central(order, *arguments)


class ProductOfElements(MomentSource):
    """A product of many independent elements minus its mean; its draws are used nowhere else.

    `raw` are the moments E g^k of its factors g of orders 1, 2, … as far as they are known, each
    with its loss: numbers if all factors have one law, or arrays with the factors on the last axis.
    `loss` is the loss of the product's mean.
    """

    def __init__(
        self,
        raw: Sequence[tuple[ElementNumbers, ElementNumbers]],
        count: int,
        group: int,
        below: frozenset[int],
    ) -> None:
        super().__init__()
        self.group = group
        self.below = below
        if not raw:
            raise PolynomialError
        self._raw = [1.0, *(_over_factors(value, count) for value, _ in raw)]
        # Π (1 + e) <= exp(Σ e): relative errors of factors add up
        self._off = [0.0, *(PRECISION * _sum_over_factors(loss, count) for _, loss in raw)]
        self.mean = self._raw[1]
        self.loss = _growth(self._off[1])

    def moment(self, powers: FunctionPowers) -> tuple[ElementNumbers, float]:
        """E (P − E P)^k = Σ C(k, j) E P^j (−E P)^(k − j)."""
        if not powers:
            return 1.0, 1.0
        ((_, order),) = powers
        if order == 1:
            return 0.0, 1.0
        if order >= len(self._raw):
            raise PolynomialError
        grown = [_growth(self._off[j] + (order - j) * self._off[1]) for j in range(order + 1)]
        try:
            parts = [
                math.comb(order, j) * self._raw[j] * (-self.mean) ** (order - j)
                for j in range(order + 1)
            ]
            total = math.fsum(parts)
            size = math.fsum(abs(part) * loss for part, loss in zip(parts, grown, strict=True))
        except (OverflowError, ValueError):
            raise PolynomialError from None  # an overflow
        # if the result is below its rounding error, this error stands for it
        return with_loss(Estimate(total, PRECISION * size))


def _over_factors(value: ElementNumbers, count: int) -> float:
    with np.errstate(all="ignore"):
        product = float(np.power(value, count) if isinstance(value, float) else np.prod(value))
    lost = abs(product) < TINY and bool(np.all(value))
    if lost or not math.isfinite(product):
        raise PolynomialError
    return product


def _sum_over_factors(loss: ElementNumbers, count: int) -> float:
    return count * loss if isinstance(loss, float) else float(np.sum(loss))


def _growth(off: float) -> float:
    """The loss of a product whose factors have relative errors that add up to `off`.

    Raises:
        PolynomialError: the error is as large as the product.
    """
    if not off < 1:
        raise PolynomialError
    return max(1.0, math.expm1(off) / PRECISION)
