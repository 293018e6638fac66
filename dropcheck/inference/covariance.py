"""Principal axes of averages: directions in which they vary without correlation, and how far."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.records import record

# Directions that vary by less than this share of the widest do not vary: rounding leaves 1e-14.
NO_VARIATION = 1e-9


@record
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

    Directions in which the averages do not vary are left out. The axes come from singular values:
    squares would hide the difference of two almost equal averages, and overflow or underflow. The
    sign of an axis is arbitrary; it is chosen so that the first term grows along it.

    Args:
        deviations: of each block from the mean of all, [blocks, terms].

    >>> apart = np.array([[1.0, 2.0], [-1.0, -2.0], [1.0, 2.0], [-1.0, -2.0]])
    >>> principal_axes(apart).rank
    1
    """
    blocks, terms = deviations.shape
    largest = np.abs(deviations).max(axis=0)
    varied = np.flatnonzero(largest > 0)
    if not len(varied):
        return PrincipalAxes(np.zeros((terms, 0)), np.zeros((terms, 0)))
    scaled = deviations[:, varied] / largest[varied]
    relative = np.sqrt((scaled**2).sum(axis=0) / (blocks - 1))
    _, lengths, right = np.linalg.svd(scaled / relative, full_matrices=False)
    kept = lengths > NO_VARIATION * lengths[0]
    lengths, directions = lengths[kept], right[kept].T
    directions = directions * np.copysign(1.0, directions[0])
    spread = (largest[varied] * relative)[:, np.newaxis]
    steps, whitening = np.zeros((2, terms, len(lengths)))
    steps[varied] = spread * directions * (lengths / math.sqrt((blocks - 1) * blocks))
    whitening[varied] = directions / spread * (math.sqrt(blocks - 1) / lengths)
    return PrincipalAxes(steps, whitening)
