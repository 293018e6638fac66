"""Evidence against a law from counts in fixed cells: e-processes, as logarithms.

An e-process is at most 1 on average, at any time, where what it is about is true; so the chance
that it ever reaches 1/α is at most α (Ville 1939), however often it is looked at. A weighted
average of e-processes is one too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.vocabulary import special
from dropcheck.vocabulary.laws.sampling import log_rising

# How many Dirichlet laws about the claimed chances are averaged. Their concentrations are powers of
# 4, from one draw in the rarest cell on: for an error of any size one of them is within a factor of
# 2 of the best.
SHARPEST = 12


def average(logs: Iterable[tuple[float, float]]) -> float:
    """The weighted average of e-processes, each given as its weight and its logarithm.

    >>> round(average([(0.5, 0.0), (0.5, math.log(3.0))]), 6) == round(math.log(2.0), 6)
    True
    """
    listed = [(weight, log) for weight, log in logs if weight > 0]
    total = sum(weight for weight, _ in listed)
    largest = max((log for _, log in listed), default=0.0)
    if not listed or math.isinf(largest):
        return largest
    return largest + math.log(
        sum(weight / total * math.exp(log - largest) for weight, log in listed)
    )


def of_chances(counts: Floats, chances: Floats) -> float:
    """Evidence that cells do not have these chances: a mixture of Dirichlet laws of the chances.

    Lindon and Malek, "Anytime-valid inference for multinomial count data" (NeurIPS 2022), equation
    (6): the chance of the counts under chances that are drawn from a Dirichlet law, over their
    chance under those claimed. Its parameters are κ times the chances claimed, and several κ are
    averaged, as an error may be large or small.

    Args:
        counts: of draws in each cell, [cells].
        chances: that are claimed, [cells]; in a cell of chance 0 a single draw is a proof.

    >>> round(of_chances(np.array([50.0, 50.0]), np.array([0.5, 0.5])), 1) < 0
    True
    >>> of_chances(np.array([80.0, 20.0]), np.array([0.5, 0.5])) > math.log(1000.0)
    True
    """
    never = chances <= 0
    if counts[never].any():
        return math.inf
    counts, chances = counts[~never], chances[~never]
    if len(counts) < 2:
        return 0.0
    draws = counts.sum()
    claimed = float((counts * np.log(chances)).sum())
    sharp = 4.0 ** np.arange(SHARPEST)[:, np.newaxis] / chances.min()
    prior = sharp * chances
    mixed = log_rising(prior, counts).sum(axis=1) - log_rising(sharp[:, 0], draws)
    return average((1.0, float(log) - claimed) for log in mixed)


def of_two_samples(first: Floats, second: Floats, guess: tuple[Floats, Floats]) -> float:
    """What equally many draws of two quantities add to the evidence that the laws differ.

    Turner, Ly and Grünwald, "Generic E-variables for exact sequential k-sample tests that allow for
    optional stopping" (2024), theorem 1, for one draw of each: p_1(x) p_2(y) / (p(x) p(y)) with p
    the mean of p_1 and p_2, which are guessed from earlier draws. Where x and y have one law its
    expectation is at most the square of that of (p_1 + p_2)/(2 p), which is 1.

    Args:
        first: counts of one quantity in each cell, [cells].
        second: counts of the other, with the same sum.
        guess: the chances of the cells in the one law and in the other, by earlier draws alone.
    """
    middle = (guess[0] + guess[1]) / 2
    logs = (
        float((counts[counts > 0] * np.log(chances[counts > 0] / middle[counts > 0])).sum())
        for counts, chances in zip((first, second), guess, strict=True)
    )
    return sum(logs)


def of_product(table: Floats) -> float:
    """Evidence that two or more quantities depend on each other, from a table of counts.

    Wasserman, Ramdas and Balakrishnan, "Universal inference" (PNAS 2020), section 8: the chance of
    the counts under chances that are drawn from a Dirichlet law with parameters 1/2 (Krichevsky and
    Trofimov 1981), over the largest chance of them under any law of independent quantities, which
    is no less than that under the true one.

    Args:
        table: counts, with an axis for each quantity.

    >>> of_product(np.full((2, 2), 100.0)) < 0 < of_product(np.array([[100.0, 50.0], [50, 100]]))
    True
    """
    draws = float(table.sum())
    if draws == 0:
        return 0.0
    cells = table.size
    mixed = float((special.gammaln(table + 0.5) - special.gammaln(0.5)).sum())
    mixed += float(special.gammaln(0.5 * cells) - special.gammaln(0.5 * cells + draws))
    best = 0.0
    for axis in range(table.ndim):
        margin = table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
        margin = margin[margin > 0]
        best += float((margin * np.log(margin / draws)).sum())
    return mixed - best


# ---- distribution distance -----------------------------------------------------------------------
#
# The distance of two distribution functions, from counts at fixed cuts, and its error.
#
# The distance is the largest difference of the two functions anywhere (Kolmogorov's). Arrays of
# distribution functions have an entry for each cut, in rising order: the chance, or the share of
# draws, at or below the cut. A cell is what lies above one cut and at or below the next; there is
# one more below all cuts and one above.


@dataclass(frozen=True, slots=True)
class Distance:
    """What counts at cuts say of the largest difference of two distribution functions.

    It is at least `seen`, its value at the cuts, and at most `most` anywhere between them.
    """

    seen: float
    most: float

    def interval(self, error: float) -> tuple[float, float]:
        """An interval for the distance of the laws, where both are known to within this error."""
        return max(0.0, self.seen - error), min(1.0, self.most + error)


def distance(first: Floats, second: Floats, points: Truths) -> Distance:
    """The distance of two distribution functions that are known at cuts.

    Within a cell both functions rise, so that neither is farther from the other than its value at
    one end is from the other's value at the other end. Where a cell holds one point alone, and
    nothing else, the ends say it all.

    Args:
        first: one function at the cuts, [cuts].
        second: the other, [cuts].
        points: whether a cell holds a single point, [cuts + 1].

    >>> half = np.array([0.5])
    >>> distance(half, half, np.array([False, False]))
    Distance(seen=0.0, most=0.5)
    >>> distance(half, half, np.array([True, True]))
    Distance(seen=0.0, most=0.0)
    """
    one, other = (np.concatenate([[0.0], array, [1.0]]) for array in (first, second))
    seen = float(np.abs(one - other).max())
    across = np.maximum(one[1:] - other[:-1], other[1:] - one[:-1])[~points]
    return Distance(seen, max(seen, float(across.max(initial=0.0))))


def massart(draws: float, alpha: float) -> float:
    """A bound of |share of draws − probability| at or below any point; wrong with chance alpha.

    The Dvoretzky-Kiefer-Wolfowitz inequality with the constant of Massart (1990), "The tight
    constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 18, corollary 1:
    P(sup |F_n - F| > e) <= 2 exp(-2 n e²), for any law.

    >>> round(massart(1000, 0.05), 6)
    0.042947
    """
    return math.sqrt(math.log(2.0 / alpha) / (2.0 * draws)) if draws else math.inf


def empirical_bernstein(draws: float, variance: Floats, width: Floats, alpha: float) -> Floats:
    """A bound of |mean − expectation| of bounded draws; wrong with chance alpha.

    Maurer and Pontil (2009), "Empirical Bernstein bounds and sample-variance penalization",
    theorem 4: for each mean alone, and on one side of it.

    Args:
        draws: how many.
        variance: of the sample, with draws - 1 below.
        width: of an interval that holds every draw.
        alpha: the chance.

    >>> empirical_bernstein(1001, np.array(0.09), np.array(1.0), 0.05).round(6).tolist()
    0.034363
    """
    log = math.log(2.0 / alpha)
    if draws < 2:
        return np.full(np.shape(width), math.inf)
    error: Floats = np.sqrt(2.0 * log * variance / draws) + 7.0 * log * width / (3 * (draws - 1))
    return error


@dataclass(frozen=True, slots=True, kw_only=True)
class DistancePrecision:
    """How well a distance is known from counts: what a plan rests on, and no interval.

    It is known from `bands` distribution functions, each with the error `alpha`. What is averaged
    has at most the standard deviation `spread`: 0.5, of a truth, for `massart`. Where the variance
    is estimated (`empirical_bernstein`), it lies in an interval of length `width`, and the distance
    is the largest of averages at `corners` places.

    >>> precision = DistancePrecision(alpha=0.05)
    >>> round(precision.draws(0.1)), round(precision.smallest(704), 4)
    (707, 0.1024)
    """

    alpha: float
    bands: int = 1
    spread: float = 0.5
    width: float = 0.0
    corners: int = 1

    def noise(self, draws: float) -> float:
        """The distance that a law which is as claimed seems to have, at most, in 9 runs of 10."""
        # of one distribution function: below 1.2/√n (Kolmogorov's law)
        largest = max(2.6, math.sqrt(2.0 * math.log(20.0 * self.corners)))
        return self.spread * largest * math.sqrt(self.bands / draws)

    def draws(self, target: float) -> float:
        """Draws after which a true claim is likely to be verified.

        Args:
            target: the resolution, less what cells leave open.
        """
        if target <= 0:
            return math.inf
        log = math.log(2.0 * self.bands / self.alpha)
        first = self.bands * self.spread * math.sqrt(2.0 * log) + self.noise(1)
        second = 7.0 * log * self.width / 3.0
        root = (first + math.sqrt(first**2 + 4.0 * second * target)) / (2.0 * target)
        return root * root  # infinite where it is too large: a power would be an error

    def smallest(self, draws: int) -> float:
        """The least distance that so many draws show.

        It is twice the error: once for the interval, and once for draws that are off towards the
        claim.
        """
        log = math.log(2.0 / self.alpha)
        first = self.spread * math.sqrt(2.0 * log / draws)
        return 2.0 * self.bands * (first + 7.0 * log * self.width / (3.0 * draws))
