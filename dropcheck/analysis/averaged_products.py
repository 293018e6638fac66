"""Integrands: products of quantities that are averaged; and the exact moments of integrands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.language.graph import Value

ValuePowers = tuple[tuple[Value, int], ...]
"""Values, each with its whole exponent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrand:
    """[given] · Π (value − centre)^power, averaged over the elements of a draw."""

    factors: ValuePowers
    given: Value | None = None
    centres: tuple[float, ...] = ()  # one for each factor; empty if all are 0

    @property
    def centred(self) -> Iterable[tuple[Value, int, float]]:
        """The quantities, each with its exponent and its centre."""
        centres = self.centres or (0.0,) * len(self.factors)
        each = zip(self.factors, centres, strict=True)
        return ((value, power, centre) for (value, power), centre in each)

    def with_values(self, stands: Callable[[Value], Value]) -> Integrand:
        """The integrand with other values in place of its quantities."""
        given = self.given
        return replace(
            self,
            factors=tuple((stands(value), power) for value, power in self.factors),
            given=None if given is None else stands(given),
        )


def quantities(integrands: Sequence[Integrand]) -> list[Value]:
    """All quantities and conditions of some integrands."""
    factors = [value for one in integrands for value, _ in one.factors]
    return factors + [one.given for one in integrands if one.given is not None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExactMoments:
    """The means of integrands, and the parts of their covariances by linking groups of draws.

    If every draw of a group is combined with every draw of the other groups, the part of a
    covariance that is linked by the groups L falls with the number of draws to the power −|L|
    (Hoeffding 1948, section 5). If draws are not combined, all are in group 0, and the only part is
    the covariance itself.

    The error of a mean is at most `error` · (|mean| + deviation), that of a covariance at most
    `error` · the product of the two deviations. A variance whose digits are lost is never below the
    truth. `means_off` bounds the errors of means, if better bounds are known.
    """

    means: Floats
    components: Mapping[frozenset[int], Floats]
    error: float
    means_off: Floats | None = None

    @property
    def mean_errors(self) -> Floats:
        """A bound of the error of each mean."""
        if self.means_off is not None:
            return self.means_off
        deviations = np.sqrt(np.maximum(self.covariance(1).diagonal(), 0.0))
        return self.error * (np.abs(self.means) + deviations)

    def covariance(self, draws: int) -> Floats:
        """The covariance matrix of averages over blocks with this number of draws of each group."""
        total = np.zeros((len(self.means), len(self.means)))
        for linked, component in self.components.items():
            total = total + component * float(draws) ** -len(linked)
        return total
