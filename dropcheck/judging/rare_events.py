"""Stratified sampling of rare events: one draw of a case comes from strata of its values.

That draw is chosen whose strata lower the variance of the statement's quantity most, by the model
and before any draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from dropcheck.analysis.averaged_products import ExactMoments
from dropcheck.analysis.strata import DrawInStrata, InStratum, Stratified, candidates, typical
from dropcheck.array_types import Floats
from dropcheck.judging.knowledge import (
    ORDERS,
    ExactAverages,
    InStrata,
    Knowledge,
    integrands_of,
)
from dropcheck.judging.prepared import Prepared
from dropcheck.language.graph import Value
from dropcheck.simulation import Compiled, stratified

# A draw whose strata leave less than this share of the variance is taken at once.
ENOUGH = 0.05

Lines = Callable[[Floats, Floats], Floats]
"""From averages and centres to the gradients of the quantities there, [comparisons, terms]."""


def in_strata(
    prepared: Prepared, compiled: Compiled, knowledge: Knowledge, lines: Lines
) -> InStrata | None:
    """A case with one draw from strata; None where the model does not say its variance.

    Args:
        prepared: the case, which keeps the answer for its other runs.
        compiled: what is simulated of it.
        knowledge: what is known of that.
        lines: the gradients of the quantities that are judged.
    """
    if not prepared.in_strata:
        prepared.in_strata.append(_best(compiled, knowledge, lines))
    return prepared.in_strata[0]


def _best(compiled: Compiled, knowledge: Knowledge, lines: Lines) -> InStrata | None:
    best: _Trial | None = None
    for draw in candidates(integrands_of(compiled, compiled.program.origin)):
        trial = _Trial.of(draw, compiled, lines, compare=knowledge.exact is not None)
        if trial is not None and (best is None or trial.variance < best.variance):
            best = trial
        if best is not None and best.gains(knowledge.exact):
            break
    return None if best is None else best.finished(compiled, knowledge)


class _Trial:
    """A draw with its first, coarse strata, and the averages in them."""

    def __init__(
        self,
        strata: DrawInStrata,
        centres: Floats,
        parts: list[InStratum],
        beyond: float,
        directions: Floats,
        used: list[int],
    ) -> None:
        self._strata, self._centres, self._parts = strata, centres, parts
        self._beyond, self._directions, self._used = beyond, directions, used

    @classmethod
    def of(cls, draw: Value, compiled: Compiled, lines: Lines, *, compare: bool) -> _Trial | None:
        """The averages in the first strata of a draw; None where the model does not say them.

        Also None, with `compare`, where the draw makes no difference to the quantities.
        """
        centres = _centres(draw, compiled)
        if centres is None:
            return None
        used = compiled.functional.columns(range(len(compiled.functional.operands)))
        strata = DrawInStrata(draw, integrands_of(compiled, centres), used)
        if compare and not strata.matters(lambda means: lines(means, centres)[:, used]):
            return None
        first = strata.first()
        if first is None:
            return None
        parts, beyond = first
        means = np.sum([one.chance * one.means for one in parts], axis=0)
        directions = lines(means, centres)[:, used]
        if not np.isfinite(directions).all():
            return None
        return cls(strata, centres, parts, beyond, directions, used)

    @cached_property
    def variance(self) -> float:
        """The variance of the statement's quantity, the largest of several."""
        mixture = self._strata.shared_out(self._parts, self._directions, self._beyond)
        return _largest(self._directions, mixture.covariance)

    def gains(self, plain: ExactAverages | None) -> bool:
        """Whether these strata lower the variance so much that no other draw need be tried."""
        if plain is None:
            return True
        return self.variance < ENOUGH * _largest(self._directions, plain.moments.covariance(1))

    def finished(self, compiled: Compiled, knowledge: Knowledge) -> InStrata | None:
        """The case with the draw from as many strata as are useful."""
        parts = self._strata.cut_further(self._parts, self._directions)
        mixture = self._strata.shared_out(parts, self._directions, self._beyond)
        left_out = _left_out(mixture, knowledge, self._centres)
        if not np.isfinite(left_out[self._used]).all():
            return None
        program = stratified(compiled.program, mixture.draw, mixture.strata, mixture.shares)
        centres = np.zeros(len(program.origin))
        centres[: len(self._centres)] = self._centres
        exact = ExactAverages(
            centres=centres,
            means=mixture.means,
            errors=mixture.error * np.abs(mixture.means) + left_out,
            used=tuple(self._used),
            moments=ExactMoments(
                means=mixture.means[self._used],
                components={frozenset({0}): mixture.covariance},
                error=mixture.error,
            ),
            left_out=left_out,
        )
        return InStrata(compiled=replace(compiled, program=program, crossed=None), exact=exact)


def _largest(directions: Floats, covariance: Floats) -> float:
    """The largest variance along some directions."""
    return float(np.einsum("di,ij,dj->d", directions, covariance, directions).max())


def _centres(draw: Value, compiled: Compiled) -> Floats | None:
    """The centres for integrands, [registers]: their means where the draw is not a rare one."""
    registers = sorted({one for term in compiled.program.terms for one, _ in term.factors})
    values = [compiled.values[one] for one in registers]
    means = typical(draw, values)
    if means is None:
        return None
    centres = compiled.program.origin
    for register, value, mean in zip(registers, values, means, strict=True):
        # the sums of a truth are counts, and stay so
        centres[register] = 0.0 if value.binary else mean
    return centres


def _left_out(mixture: Stratified, knowledge: Knowledge, centres: Floats) -> Floats:
    """A bound of what values in no stratum can add to each average, [terms].

    It is Hölder's inequality, E|f| 1_A <= ‖f‖_p · P(A)^(1 - 1/p).
    """
    bounds = knowledge.bounds(centres)
    if not mixture.beyond:
        return np.zeros(len(mixture.means))
    each = [bounds.sizes(order) * mixture.beyond ** (1 - 1 / order) for order in (2.0, *ORDERS)]
    least: Floats = np.min(each, axis=0)
    return least
