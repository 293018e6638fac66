"""How a case is judged: decided once from its graph, for `show`, `plan` and `run` alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dropcheck.analysis.single_draw import diverges
from dropcheck.claims.registry import Tolerance
from dropcheck.language.compile import LoweredCase
from dropcheck.language.graph import (
    Kind,
    LawClaim,
    Value,
    in_order,
    operators,
    ordered,
    random_inputs,
)
from dropcheck.reasons import Explanation, Reason
from dropcheck.vocabulary.functions.linear_algebra import MATMUL


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Nothing is random: the quantities are computed once."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """An event is claimed to be certain, or impossible: counterexamples are counted."""

    event: Value
    condition: Value | None
    probability: float  # 1 or 0, as claimed


@dataclass(frozen=True, slots=True)
class Laws:
    """The statement is about laws: draws are counted in cells."""

    claim: LawClaim


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The statement is about sums of quantiles with fixed factors, and has no other operator.

    `quantities` are these operators, each once.
    """

    quantities: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class BlockMeans:
    """A function of averages, judged by the means of independent blocks.

    `pairs` is a matrix product whose two sides can be drawn separately, with every left side used
    with every right side; the program decides whether that is worth it.
    """

    pairs: Value | None


Strategy = Arithmetic | BlockMeans | Certainty | Laws | Quantiles


def strategy_of(lowered: LoweredCase, tolerance: Tolerance | None = None) -> Strategy:
    r"""The strongest strategy that a statement allows.

    With a tolerance of the claim's own, nothing is claimed to be certain.

    >>> from dropcheck.claims.reader import read_text
    >>> from dropcheck.language.compile import lower_case, parse_claim
    >>> def strategy(claim):
    ...     text = "dropcheck: 1\nclaims: {c: {title: t, model: 'm ~ bernoulli(0.5)', claim: %s}}"
    ...     parsed = parse_claim(read_text(text % claim).claims["c"])
    ...     return type(strategy_of(lower_case(parsed, {}))).__name__
    >>> [strategy(claim) for claim in ("P(m == 2) == 0", "P(m == 1) == 1/2", "Var(m) == 1/4")]
    ['Certainty', 'BlockMeans', 'BlockMeans']
    """
    if lowered.law is not None:
        return Laws(lowered.law)
    estimated = operators(lowered.operands)
    quantities = [value for operator in estimated for value in operator.inputs]
    if not any(value.random for value in quantities):
        return Arithmetic()
    if any(operator.operator.quantile for operator in estimated):
        return Quantiles(tuple(estimated))
    certain = _certainty(lowered) if tolerance is None and not lowered.entries else None
    # each entry is a comparison of its own
    return certain or BlockMeans(None if lowered.entries else crossing(quantities))


def _certainty(lowered: LoweredCase) -> Certainty | None:
    if lowered.operators != ("==",):
        return None
    side, end = lowered.operands
    if end.estimated and not side.estimated:  # `1 == P(c)`
        side, end = end, side
    if end.estimated or side.kind != Kind.OPERATOR:
        return None
    if not side.operator.probability:
        return None
    claimed = float(end.constant[..., 0])
    if claimed not in (0.0, 1.0):
        return None
    event, *conditions = side.inputs
    return Certainty(event, conditions[0] if conditions else None, claimed)


# ---- products of independent sides --------------------------------------------------------------


def crossing(targets: Iterable[Value]) -> Value | None:
    """The matrix product through which alone the targets depend on draws, the last of several.

    Its sides share no draw: every pair of a left side and a right side of a batch is a draw of the
    product. The averages over all pairs are U-statistics of two samples (Lehmann 1951), unbiased
    for the same means. Pairs depend on each other, batches do not.

    None if there is none. The targets are all values in integrands, conditions included.
    """
    roots = [value for value in targets if value.random]
    return next((one for one in reversed(ordered(roots)) if _is_crossing(one, roots)), None)


def _is_crossing(value: Value, roots: Sequence[Value]) -> bool:
    """Whether it is a matrix product of independent sides on every path from a root to a draw."""
    if not value.computed_by(MATMUL):
        return False
    left, right = value.inputs
    flat = max(len(side.shape) for side in value.inputs) <= 2  # stacks of matrices pair differently
    if not (flat and left.random and right.random and left.sources.isdisjoint(right.sources)):
        return False
    above = in_order(roots, lambda one: () if one is value else random_inputs(one))
    return all(one.kind != Kind.DRAW for one in above)


# ---- moments that do not exist -------------------------------------------------------------------


def divergent_moment(lowered: LoweredCase) -> Explanation | None:
    """Why an operator of a function of one draw has no value, or its estimate no variance.

    An estimate of a moment of order k has a variance only if the moment of order 2k is finite.
    None: that is unknown.
    """
    found = operators(lowered.operands)
    # a condition may bound what it keeps
    read = [(one, value) for one in found if not dict(one.options)["given"] for value in one.inputs]
    for times in (1, 2):
        for one, value in read:
            needed = times * one.operator.order
            for order in range(1, needed + 1):
                if diverges(value, float(order)):
                    if times == 2:
                        return Reason.NO_VARIANCE_OF_ESTIMATE.explain(
                            operator=one.operation, order=order, needed=needed
                        )
                    moment = "mean" if order == 1 else "variance" if order == 2 else "such moment"
                    return Reason.NO_MOMENT.explain(
                        operator=one.operation, order=order, moment=moment
                    )
    return None
