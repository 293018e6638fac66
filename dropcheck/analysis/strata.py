"""Strata of the values of one draw, for averages to which only a few of its values contribute.

The mean of f under the law of a draw x is the mean of ω(x) · f under a mixture of strata of its
values, where ω is the probability of a stratum under the law over its share in the mixture. The
variance is least for shares in proportion to √(E[f²; stratum]) (Neyman 1934, section 3; Cochran
1977, "Sampling techniques", section 5.5, for strata that are drawn at random). A part of the draws
follows the law itself, so that no weight is large (Owen and Zhou 2000, "Safe and effective
importance sampling", J. Amer. Statist. Assoc. 95, section 2).

The exact moments within a stratum follow from the model, as those of the whole law do. So the
strata are chosen, cut further and judged before any draw.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from dropcheck.analysis.averaged_products import Integrand, quantities
from dropcheck.analysis.exact import exact_means, exact_moments
from dropcheck.analysis.fewer_draws.sums import exchanged
from dropcheck.analysis.single_draw import joint_moment
from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.vocabulary.law import QuantileLevel, Stratum, can_be_cut, part_of

# Probabilities below and above the ends of the first strata. They are no round numbers, as models
# have their kinks there: it would be unknown on which side of a kink a rounded end lies.
FIRST_LEVELS = (0.11, 0.013, 1.3e-4, 1.7e-8, 1.9e-16)
_FIRST = (
    *(QuantileLevel.from_below(chance) for chance in FIRST_LEVELS[::-1]),
    *(QuantileLevel.from_above(chance) for chance in FIRST_LEVELS),
)
# The least relative distance of a stratum's end from an end of the law.
LEAST_APART = 1e-11
# More levels, if the variance beyond the last one above is infinite; the values beyond the last of
# these are left out.
FAR_LEVELS = (1e-32, 1e-64, 1e-128, 1e-240)
# Values with a smaller probability below or above are rare.
COMMON = 0.013
# Ends of parts of the common values. If the root mean squares in these parts and of the whole are
# alike up to this share, strata gain little.
COMMON_LEVELS = (
    *(QuantileLevel.from_below(chance) for chance in (COMMON, 0.31)),
    *(QuantileLevel.from_above(chance) for chance in (0.31, COMMON)),
)
ALIKE = 0.6
# The most strata that are computed in all; each takes milliseconds.
MOST_PARTS = 100
# Strata are cut until the deviation of the mixture is within this share of the best one.
NEAR_BEST = 0.1
# After so many cuts in a row that gain less than this share of the possible gain, cutting ends.
LITTLE_GAIN = 0.05
CUTS_IN_VAIN = 2
# The share of draws that follow the law itself: no weight is above its inverse.
BY_THE_LAW = 0.1
# The most values below the averages, elements of them, and draws that are tried.
MOST_VALUES = 200
MOST_ELEMENTS = 1000
MOST_DRAWS = 4
# A covariance contains powers of moments: its error is at most this many times their errors.
MOST_POWERS = 16
# A moment of a part of a law counts as known if its error is at most this share of its size.
LARGEST_ERROR = 1e-2
# The relative rounding error of sums over strata.
STRATA_ROUNDING = 1e-8


@dataclass(frozen=True, slots=True)
class InStratum:
    """The moments of integrands given that a draw lies in a stratum.

    `means`, [terms], are the means of all integrands, `covariance` is that of the judged ones.
    `error` is the relative error of both. `vain` counts the cuts in a row that gained little.
    """

    stratum: Stratum
    means: Floats
    covariance: Floats
    error: float
    vain: int = 0

    @property
    def chance(self) -> float:
        """The probability of the stratum."""
        return self.stratum.chance

    @np.errstate(all="ignore")  # an overflow is infinite
    def sizes(self, directions: Floats, used: Sequence[int]) -> tuple[Floats, Floats]:
        """√(E[g²; S] · P(S)) and |E[g; S]| for combinations g of integrands, both [directions]."""
        along = directions @ self.means[list(used)]
        square = np.einsum("di,ij,dj->d", directions, self.covariance, directions)
        return self.chance * np.sqrt(np.maximum(square, 0.0) + along**2), self.chance * abs(along)


@dataclass(frozen=True, slots=True)
class Stratified:
    """The strata of a draw with their shares in a mixture, and the moments under the mixture.

    `means` [terms] and `covariance` [used, used] are those of weight times integrand; `error` is
    the relative error of the covariances. `beyond` is the probability of the values that are in no
    stratum.
    """

    draw: Value
    strata: tuple[Stratum, ...]
    shares: tuple[float, ...]
    means: Floats
    covariance: Floats
    error: float
    beyond: float


def candidates(integrands: Sequence[Integrand]) -> list[Value]:
    """Single numbers drawn below integrands, whose values can be cut into strata.

    The first ones are those with the most values above them that are no polynomials.
    """
    values = ordered(quantities(integrands))
    if len(values) > MOST_VALUES or sum(one.elements for one in values) > MOST_ELEMENTS:
        return []
    draws = []
    for value in values:
        if value.kind != Kind.DRAW or value.shape != () or value.law is None:
            continue
        known = [one.known for one in value.inputs]
        if None not in known and can_be_cut(value.law, known):
            draws.append(value)

    def bent(draw: Value) -> int:
        return sum(
            value.kind == Kind.COMPUTED
            and value.function.polynomial is None
            and draw.sources <= value.sources
            for value in values
        )

    return sorted(draws, key=bent, reverse=True)[:MOST_DRAWS]


def in_stratum(draw: Value, stratum: Stratum) -> tuple[Value, list[float]]:
    """A draw of a single number, given that it lies in a stratum; and the errors of its moments.

    The list of errors gets an entry for each moment when it is computed: the error relative to the
    power of the root mean square, or of the deviation.
    """
    law = draw.law
    assert law is not None
    arguments = [one.known for one in draw.inputs]
    bare = part_of(law, arguments, stratum)
    plain = dataclasses.replace(draw, law=bare)
    errors: list[float] = []

    def norm(_: Value, p: float) -> float:
        return float(bare.norm(p, *arguments))

    def about(centre: float) -> Callable[[int], float]:
        @cache
        def moment(order: int) -> float:
            found = joint_moment([plain], [order], [centre], norm)
            size = float(np.power(max(found.value if order == 2 else moment(2), 0.0), order / 2))
            if not found.error <= LARGEST_ERROR * size:
                return math.nan
            errors.append(found.error / size if size else 0.0)
            return found.value

        return moment

    @cache
    def mean() -> float:
        return about(0.0)(1)

    @cache
    def about_mean() -> Callable[[int], float]:
        return about(mean())

    def moment(order: int) -> float:
        return about_mean()(order)

    law = part_of(law, arguments, stratum, mean, moment)
    return dataclasses.replace(draw, law=law), errors


def typical(draw: Value, values: Sequence[Value]) -> Floats | None:
    """The means of quantities given that a draw is not rare; None if they are not known."""
    stratum = Stratum(QuantileLevel.from_below(COMMON), QuantileLevel.from_above(COMMON))
    changed = exchanged(ordered(values), {id(draw): in_stratum(draw, stratum)[0]})
    found = exact_means([Integrand(factors=((changed(one), 1),)) for one in values])
    return None if found is None else found[0]


class DrawInStrata:
    """The moments of a case's integrands within strata of one of its draws.

    Args:
        draw: the draw.
        integrands: the integrands.
        used: the places of the judged ones.
    """

    def __init__(self, draw: Value, integrands: Sequence[Integrand], used: Sequence[int]) -> None:
        self.draw = draw
        self._integrands = integrands
        self._used = list(used)
        self._others = [at for at in range(len(integrands)) if at not in self._used]
        self._above = ordered(quantities(integrands))
        self._left = MOST_PARTS

    def first(self) -> tuple[list[InStratum], float] | None:
        """The moments in the first strata, and the probability of the values in none of them.

        None if they are not known.
        """
        levels = list(filter(self._differs_from_end, _FIRST))
        strata = []
        for low, high in pairwise(levels):
            one = self.within(Stratum(low, high))
            if one is None:
                return None
            strata.append(one)
        below, lower = self._far_out(levels[0], QuantileLevel.from_below)
        above, upper = self._far_out(levels[-1], QuantileLevel.from_above)
        return [*lower, *strata, *upper], below + above

    def _differs_from_end(self, level: QuantileLevel) -> bool:
        """Whether a level differs from the end of the law on its side by more than rounding."""
        if self.draw.law is None:
            return False
        arguments = [one.known for one in self.draw.inputs]
        low, high = self.draw.law.support(*arguments)
        end, value = low if level.below < level.above else high, level.of(self.draw.law, arguments)
        return abs(value - end) > LEAST_APART * max(abs(value), abs(end)) or math.isinf(end)

    def _far_out(
        self, end: QuantileLevel, level: Callable[[float], QuantileLevel]
    ) -> tuple[float, list[InStratum]]:
        """The probability of the values in no stratum beyond a level, and the strata there."""
        last = level(0.0)
        one = self.within(_between(end, last))
        if one is not None:
            return 0.0, [one]
        strata = []
        for chance in FAR_LEVELS:
            farther = level(chance)
            one = self.within(_between(end, farther))
            if one is None:
                break  # squares overflow so far out
            strata.append(one)
            end = farther
        return min(end.below, end.above), strata

    def matters(self, lines: Callable[[Floats], Floats]) -> bool:
        """Whether strata of the draw may lower a variance much.

        They do not if the mean square in each of three parts of the common values is about that of
        the whole: then neither rare values nor a few common ones contribute most of it.

        Args:
            lines: takes means [terms], and returns combinations of the judged ones, [directions,
                used].
        """
        whole = exact_moments([self._integrands[at] for at in self._used])
        found = [self.within(Stratum(*pair)) for pair in pairwise(COMMON_LEVELS)]
        parts = [one for one in found if one is not None]
        if whole is None or len(parts) < len(found):
            return whole is None
        means = np.zeros(len(self._integrands))
        means[self._used] = whole.means
        plain = InStratum(
            stratum=Stratum(QuantileLevel(0.0, 1.0), QuantileLevel(1.0, 0.0)),
            means=means,
            covariance=whole.covariance(1),
            error=whole.error,
        )
        directions = lines(plain.means)
        if not np.isfinite(directions).all():
            return True
        size, _ = plain.sizes(directions, self._used)
        sizes = [one.sizes(directions, self._used)[0] / one.chance for one in parts]
        least, most = np.min(sizes, axis=0), np.max(sizes, axis=0)
        return bool(((least < ALIKE * most) | (least < ALIKE * size)).any())

    def within(self, stratum: Stratum) -> InStratum | None:
        """The moments within a stratum; None if they are not known."""
        if self._left <= 0:
            return None
        self._left -= 1
        draw, errors = in_stratum(self.draw, stratum)
        values = exchanged(self._above, {id(self.draw): draw})
        integrands = [one.with_values(values) for one in self._integrands]
        moments = exact_moments([integrands[at] for at in self._used])
        others = exact_means([integrands[at] for at in self._others])
        if moments is None or others is None:
            return None
        means = np.zeros(len(integrands))
        means[self._used], means[self._others] = moments.means, others[0]
        error = MOST_POWERS * max(moments.error, *errors, 0.0)
        return InStratum(
            stratum=stratum,
            means=means,
            covariance=moments.covariance(1),
            error=error,
        )

    def cut_further(self, parts: list[InStratum], directions: Floats) -> list[InStratum]:
        """The strata, cut further where this lowers the deviations of combinations most."""
        parts = list(parts)
        final: set[int] = set()
        while len(final) < len(parts):
            sizes = [one.sizes(directions, self._used) for one in parts]
            totals = np.sum([size for size, _ in sizes], axis=0)
            gaps = [_gap(one, totals) for one in sizes]
            open_ones = [at for at in range(len(parts)) if id(parts[at]) not in final]
            at = max(open_ones, key=gaps.__getitem__)
            if gaps[at] < NEAR_BEST / len(parts):
                break
            halves = self._halves(parts[at])
            if not halves:
                final.add(id(parts[at]))
                continue
            left = sum(_gap(one.sizes(directions, self._used), totals) for one in halves)
            vain = parts[at].vain + 1 if gaps[at] - left < LITTLE_GAIN * gaps[at] else 0
            if vain > CUTS_IN_VAIN:
                final.add(id(parts[at]))
                continue
            parts[at : at + 1] = [dataclasses.replace(one, vain=vain) for one in halves]
        return parts

    def _halves(self, part: InStratum) -> list[InStratum]:
        """Both halves of a stratum; none if it is cut no further."""
        halves = part.stratum.halves()
        found = [] if halves is None else [self.within(one) for one in halves]
        known = [one for one in found if one is not None]
        return known if len(known) == 2 else []

    @np.errstate(all="ignore")  # an overflow is infinite
    def shared_out(
        self, parts: Sequence[InStratum], directions: Floats, beyond: float
    ) -> Stratified:
        """The strata with the shares of least deviation, and the moments under their mixture."""
        sizes = np.array([one.sizes(directions, self._used)[0] for one in parts])
        totals = sizes.sum(axis=0)
        relative = np.divide(sizes, totals, out=np.zeros_like(sizes), where=totals > 0)
        best = np.sqrt((relative**2).sum(axis=1))
        chances = np.array([one.chance for one in parts])
        best = best / best.sum() if best.sum() > 0 else chances / chances.sum()
        shares = (1 - BY_THE_LAW) * best + BY_THE_LAW * chances / chances.sum()
        means = np.sum([one.chance * one.means for one in parts], axis=0)
        squares = np.zeros((len(self._used),) * 2)
        # differences may lose digits: the possible loss is added to the variances
        lost, off = np.zeros(len(self._used)), np.zeros(len(self._used))
        for one, share in zip(parts, shares, strict=True):
            own = one.means[self._used]
            size = one.covariance.diagonal() + own**2
            lost += (STRATA_ROUNDING + one.error) * one.chance**2 / share * size
            off += (STRATA_ROUNDING + one.error) * one.chance * 2 * np.sqrt(size)
            squares += one.chance**2 / share * (one.covariance + np.outer(own, own))
        judged = means[self._used]
        lost += off * (2 * np.abs(judged) + off)
        covariance = squares - np.outer(judged, judged)
        variances = np.maximum(covariance.diagonal(), 0.0) + lost
        np.fill_diagonal(covariance, variances)
        ratios = np.divide(lost, variances, out=np.zeros_like(lost), where=variances > 0)
        return Stratified(
            draw=self.draw,
            strata=tuple(one.stratum for one in parts),
            shares=tuple(shares.tolist()),
            means=means,
            covariance=covariance,
            error=float(ratios.max(initial=0.0)),
            beyond=beyond,
        )


def _between(one: QuantileLevel, other: QuantileLevel) -> Stratum:
    return Stratum(*sorted((one, other), key=lambda level: (level.below, -level.above)))


@np.errstate(all="ignore")  # an overflow is infinite
def _gap(sizes: tuple[Floats, Floats], totals: Floats) -> float:
    """The most that cutting a stratum can gain, as a share of the whole."""
    size, least = sizes
    shares = np.divide(size - least, totals, out=np.zeros_like(totals), where=totals > 0)
    return float(shares.max(initial=0.0))
