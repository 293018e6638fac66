"""Products of quantities that are averaged, and what is known exactly of their averages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.language.graph import Value
from dropcheck.records import record

ValuePowers = tuple[tuple[Value, int], ...]
"""Values and the whole powers that they are raised to."""


@record(kw_only=True)
class Integrand:
    """[given] · Π (value − centre)^power, averaged over the elements of a draw."""

    factors: ValuePowers
    given: Value | None = None
    centres: tuple[float, ...] = ()  # a number for each factor; none where all are 0

    @property
    def centred(self) -> Iterable[tuple[Value, int, float]]:
        """The quantities with their powers and their centres."""
        centres = self.centres or (0.0,) * len(self.factors)
        each = zip(self.factors, centres, strict=True)
        return ((value, power, centre) for (value, power), centre in each)

    def with_values(self, stands: Callable[[Value], Value]) -> Integrand:
        """The same of what stands for its quantities."""
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


@record(eq=False, kw_only=True)
class ExactMoments:
    """Means of integrands f, and the parts of their covariances by the groups that link them.

    Where draws are combined, each of a group with each of the others, a part that needs the groups
    L in common falls with the number of draws to the power −|L| (Hoeffding 1948, section 5). Where
    they are not, all draws are one group, 0, and there is one part, the covariance itself.

    `error` bounds, in units of the sizes, what may be off: a mean by error · (|mean| + deviation),
    a covariance by error · the product of the two deviations. No variance is below the truth by
    more than that, and none whose digits are lost is below it at all. `means_off` bounds the errors
    of means where they are known to be less.
    """

    means: Floats
    components: Mapping[frozenset[int], Floats]
    error: float
    means_off: Floats | None = None

    @property
    def mean_errors(self) -> Floats:
        """Bounds of what each mean may be off."""
        if self.means_off is not None:
            return self.means_off
        deviations = np.sqrt(np.maximum(self.covariance(1).diagonal(), 0.0))
        return self.error * (np.abs(self.means) + deviations)

    def covariance(self, draws: int) -> Floats:
        """The covariance matrix of averages over blocks of so many draws of each group."""
        total = np.zeros((len(self.means), len(self.means)))
        for linked, component in self.components.items():
            total = total + component * float(draws) ** -len(linked)
        return total
