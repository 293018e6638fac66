"""Axes along which averages vary independently, and how far: their covariance, decomposed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dropcheck.array_types import Floats

# Directions that vary by less than this share of the widest do not vary: rounding leaves 1e-14.
NO_VARIATION = 1e-9
# Squares of what varies by less than this share of the widest are lost in the rounding of others.
SQUARES_TELL = 1e-6
# Sums of squares within these bounds were neither cut off below nor above.
SMALLEST_SQUARE, LARGEST_SQUARE = 1e-200, 1e200


@dataclass(frozen=True, slots=True)
class PrincipalAxes:
    """Axes of one standard error of the averages, and the way from deviations to them.

    `steps` has shape [terms, rank]: an axis a column. `whitening`, of the same shape, takes the
    deviations of blocks [blocks, terms] to their places along the axes, in standard deviations.
    """

    steps: Floats
    whitening: Floats

    @property
    def rank(self) -> int:
        """Directions in which the averages vary."""
        return len(self.steps.T)


def principal_axes(deviations: Floats) -> PrincipalAxes:
    """The principal axes of blocks about their mean, each term in units of its own spread.

    Directions in which the averages do not vary are left out.

    Args:
        deviations: of each block from the mean of all, [blocks, terms].

    >>> apart = np.array([[1.0, 2.0], [-1.0, -2.0], [1.0, 2.0], [-1.0, -2.0]])
    >>> principal_axes(apart).rank
    1
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is seen below
        products = deviations.T @ deviations
    squares = products.diagonal()
    extremes = squares.tolist()
    if not SMALLEST_SQUARE < min(extremes) <= max(extremes) < LARGEST_SQUARE:
        return _careful(deviations)
    blocks, terms = deviations.shape
    if terms == 1:
        spread = math.sqrt(extremes[0] / (blocks - 1))
        return PrincipalAxes(np.array([[spread / math.sqrt(blocks)]]), np.array([[1 / spread]]))
    if terms == 2:
        return _of_two(deviations, extremes[0], extremes[1], float(products[0, 1]))
    spreads = np.sqrt(squares / (blocks - 1))
    values, directions = np.linalg.eigh(products / (spreads * spreads[:, np.newaxis]))
    weak = sum(value < SQUARES_TELL**2 * values[-1] for value in values.tolist())
    if weak:
        across = (deviations / spreads) @ directions[:, :weak]
        lengths = np.einsum("ij,ij->j", across, across)
        if float(lengths.max()) <= NO_VARIATION**2 * values[-1]:
            values, directions = values[weak:], directions[:, weak:]
        elif weak == 1:
            values[0] = lengths[0]
        else:  # two that are hardly there cannot be told from one another
            return _careful(deviations)
    return _axes(blocks, spreads, np.sqrt(values[::-1]), directions[:, ::-1])


def _of_two(deviations: Floats, first: float, second: float, product: float) -> PrincipalAxes:
    """The same for two terms: in units of their spreads, the axes are their sum and difference.

    `first`, `second` and `product` are the sums of the squares of the deviations [blocks, 2], and
    of their products.
    """
    freedom = len(deviations) - 1
    one, other = math.sqrt(first / freedom), math.sqrt(second / freedom)
    unit, together = first / (one * one), product / (one * other)
    # the cosines of the wider axis; the other lies across it
    right, up = math.sqrt(0.5), math.copysign(math.sqrt(0.5), together)
    wide, narrow = unit + abs(together), unit - abs(together)
    if narrow < SQUARES_TELL**2 * wide:
        places = deviations @ np.array([right / one, -up / other])
        narrow = float(places @ places)
    axes = [(right, up, math.sqrt(wide))]
    if narrow > NO_VARIATION**2 * wide:
        axes.append((right, -up, math.sqrt(narrow)))
    to_error = 1 / math.sqrt(freedom * len(deviations))
    to_unit = math.sqrt(freedom)
    steps = [(one * x * size * to_error, other * y * size * to_error) for x, y, size in axes]
    whitening = [(x / one * to_unit / size, y / other * to_unit / size) for x, y, size in axes]
    return PrincipalAxes(np.array(steps).T, np.array(whitening).T)


def _careful(deviations: Floats) -> PrincipalAxes:
    """The same by the singular values, which need no squares.

    Squares would hide what two almost equal averages differ by, and be cut off far from 1.
    """
    blocks, terms = deviations.shape
    largest = np.abs(deviations).max(axis=0)
    varied = np.flatnonzero(largest > 0)
    if not len(varied):
        return PrincipalAxes(np.zeros((terms, 0)), np.zeros((terms, 0)))
    scaled = deviations[:, varied] / largest[varied]
    relative = np.sqrt((scaled**2).sum(axis=0) / (blocks - 1))
    scaled /= relative
    _, lengths, right = np.linalg.svd(scaled, full_matrices=False)
    kept = lengths > NO_VARIATION * lengths[0]
    part = _axes(blocks, largest[varied] * relative, lengths[kept], right[kept].T)
    found = PrincipalAxes(np.zeros((terms, part.rank)), np.zeros((terms, part.rank)))
    found.steps[varied], found.whitening[varied] = part.steps, part.whitening
    return found


def _axes(blocks: int, spreads: Floats, lengths: Floats, directions: Floats) -> PrincipalAxes:
    """From singular values and right singular vectors [terms, rank] of the standardised blocks.

    The way that an axis points is chance; it is taken so that the first term grows along it.
    """
    directions = directions * np.copysign(1.0, directions[0])
    errors = lengths / math.sqrt((blocks - 1) * blocks)
    spread = spreads[:, np.newaxis]
    whitening = directions / spread * (math.sqrt(blocks - 1) / lengths)
    return PrincipalAxes(spread * directions * errors, whitening)
