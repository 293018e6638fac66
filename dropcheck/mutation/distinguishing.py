"""Which cases of a claim show an error, and at which other values it might show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dropcheck.claims.registry import Case, Claim
from dropcheck.results import ParameterValue
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.laws import LAWS

# Values at which different mathematics agrees: x, x**2 and sqrt(x) at 0 and 1, p and 1 - p at 0.5,
# 2 x and x**2 at 2.
_HIDE_MUCH = frozenset({0.0, 1.0, -1.0})
_HIDE_SOME = frozenset({0.5, 2.0, -2.0})
# Shares at which no such functions agree and nothing is rare; the second where the first is listed.
_SHARES = (0.3, 0.2)
_COUNTS = (3.0, 5.0)
# Sizes beyond this only cost more.
_LARGE = 16


def most_revealing_first(cases: Iterable[Case]) -> tuple[Case, ...]:
    r"""The cases, beginning with those whose values hide little and cost little.

    >>> from dropcheck.claims.reader import read_text
    >>> claim = "{title: t, parameters: {p: [0, 0.5, 0.25, 0.99]}, claim: 1 - p == 1 - p}"
    >>> cases = read_text(f"dropcheck: 1\nclaims: {{c: {claim}}}").expand()
    >>> [case.parameters["p"] for case in most_revealing_first(cases)]
    [0.25, 0.5, 0.99, 0.0]
    """
    return tuple(sorted(cases, key=lambda case: sum(map(dullness, case.parameters.values()))))


def dullness(value: ParameterValue) -> float:
    """A rank: greater for a value that hides errors, or costs much."""
    if isinstance(value, str):
        law = LAWS.get(value.partition("(")[0])
        return 2.0 if law is not None and law.values is Values.SIGNS else 0.0  # its square is 1
    if isinstance(value, tuple):
        return 0.0
    if value in _HIDE_MUCH:
        return 3.0
    if value in _HIDE_SOME:
        return 2.0
    if 0 < value < 1:
        return 4 * abs(value - _SHARES[0])
    return max(0.0, math.log2(abs(value) / _LARGE)) / 2


def spread(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The same cases in another order: each is the one least like all before it."""

    def unlike(first: Case, second: Case) -> int:
        return sum(first.parameters[name] != second.parameters[name] for name in first.parameters)

    chosen, left = list(cases[:1]), list(cases[1:])
    while left:
        least_alike = max(left, key=lambda case: min(unlike(case, other) for other in chosen))
        left.remove(least_alike)
        chosen.append(least_alike)
    return tuple(chosen)


def probes(case: Case) -> Iterator[tuple[str, Case]]:
    """Names of numbers, each with the case in which that number is a value that shows more.

    The values that hide most are changed first. No probe is a case of the claim itself.
    """
    dullest = sorted(case.parameters.items(), key=lambda item: -dullness(item[1]))
    listed = {own.key for own in case.claim.expand()}
    for name, value in dullest:
        if not isinstance(value, float):
            continue
        for other in _revealing(value, case.claim, name):
            probe = Case(case.claim, {**case.parameters, name: other})
            if probe.key not in listed:
                yield name, probe
                break


def _revealing(value: float, claim: Claim, name: str) -> tuple[float, ...]:
    """Values that show more than this one, the best first."""
    if name in share_names(claim):
        return _SHARES
    if value == value // 1 and value >= 1:
        return _COUNTS
    return (1.7 * value if value else 1.7,)


def numbers_of(claim: Claim) -> Mapping[str, tuple[float, ...]]:
    """Each parameter that is a number throughout, with its values."""
    numbers: dict[str, tuple[float, ...]] = {}
    cases = claim.expand()
    for name in cases[0].parameters:  # those of the mathematics, without the number format
        values = {case.parameters[name] for case in cases}
        known = [value for value in values if isinstance(value, float)]
        if len(known) == len(values):
            numbers[name] = tuple(sorted(known))
    return numbers


def share_names(claim: Claim) -> frozenset[str]:
    """The parameters that may stand for probabilities: fractions between 0 and 1."""
    return frozenset(
        name
        for name, values in numbers_of(claim).items()
        if all(0 <= value <= 1 for value in values) and any(value % 1 for value in values)
    )


def whole_names(claim: Claim) -> frozenset[str]:
    """The parameters that are whole and positive throughout."""
    return frozenset(
        name
        for name, values in numbers_of(claim).items()
        if all(value >= 1 and not value % 1 for value in values)
    )
