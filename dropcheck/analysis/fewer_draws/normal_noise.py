"""Replace the normal noise in a slope by one normal number.

Let r be linear in independent normal numbers e, given all other draws. Then r = r₀ + ‖a‖ g, where
r₀ is r without noise, a are the factors of e, and g is standard normal and independent of all other
draws (Muirhead 1982, "Aspects of Multivariate Statistical Theory", theorems 1.2.6 and 1.5.4). For a
slope such as Σ x y / Σ x² with y = 3 x + e, r₀ is a number, and ‖a‖² a number over the divisor. For
a shrunk slope such as Σ x y / (λ + Σ x²) = s' / d, r₀ is a multiple of s / d, and ‖a‖² a multiple
of s / d², for a sum s in the divisor d.

That r₀ and ‖a‖² have this form is checked at random points: two quotients of polynomials that agree
at one such point are equal with probability 1 (Schwartz 1980, "Fast probabilistic algorithms for
verification of polynomial identities", Journal of the ACM 27; Zippel 1979).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from dropcheck.analysis.bounds import support
from dropcheck.analysis.fewer_draws.sums import exchanged
from dropcheck.analysis.law_bounds import fixed_arguments
from dropcheck.array_types import Floats
from dropcheck.language.graph import (
    Kind,
    Value,
    computed,
    computed_from,
    constant_beside,
    in_order,
    joined_sources,
    ordered,
)
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, POWER, SQRT
from dropcheck.vocabulary.functions.reductions import VAR
from dropcheck.vocabulary.laws.continuous import NORMAL

# Random points of two sizes far apart, so that every term matters at one of them.
_POINTS, _SIZES = 3, (1.0, 1e3)
# Stands for the degree of a root of a polynomial.
_ROOT = -1
# The relative rounding error of an identity.
_ROUNDING = 1e-10
# The most numbers that are computed in one step, and the most values below a slope.
_MOST_NUMBERS, _MOST_STEPS = 2_000_000, 200


def with_slopes(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements with one normal number for the noise of each slope; None if there are none."""
    stands: dict[int, Value] = {}
    for value, divisor in _quotients(values):
        noise = [one for one in ordered([value]) if _is_noise(one, divisor)]
        if noise and not _has_other_use(noise, operands, {*stands, id(value)}):
            with np.errstate(all="ignore"):
                drawn = _Slope(value, divisor, noise).drawn()
            if drawn is not None:
                stands[id(value)] = drawn
    return exchanged(values, stands) if stands else None


def _quotients(values: Sequence[Value]) -> Iterator[tuple[Value, Value]]:
    """Values with exactly one random divisor below them, at least 0; and this divisor."""
    divisors: dict[int, frozenset[Value]] = {}
    if not any(one.computed_by(DIVIDE) and one.inputs[1].random for one in values):
        return
    steps: dict[int, frozenset[int] | None] = {}
    for value in values:
        below = [steps[id(one)] for one in value.inputs if one.random]
        few = frozenset([id(value)]).union(*(one or () for one in below))
        steps[id(value)] = None if None in below or len(few) > _MOST_STEPS else few
        own = frozenset[Value]().union(*(divisors.get(id(one), ()) for one in value.inputs))
        if value.computed_by(DIVIDE) and value.inputs[1].random:
            own |= {value.inputs[1]}
        divisors[id(value)] = own
        linear = value.kind == Kind.COMPUTED and (
            value.function is DIVIDE or value.function.bilinear or value.function.additive
        )
        if linear and not value.shape and steps[id(value)] is not None and len(own) == 1:
            (divisor,) = own
            if not divisor.shape and support(divisor).low >= 0:
                yield value, divisor


def _is_noise(value: Value, divisor: Value) -> bool:
    """Whether a value is a normal draw with fixed arguments that the divisor does not depend on."""
    if value.law is not NORMAL or value.sample is not None or fixed_arguments(value) is None:
        return False
    return value.sources.isdisjoint(divisor.sources)


def _has_other_use(noise: Sequence[Value], operands: Sequence[Value], cut: set[int]) -> bool:
    """Whether anything but the values with these ids uses the noise."""
    used = in_order(operands, lambda value: () if id(value) in cut else value.inputs)
    return not {id(one) for one in used}.isdisjoint(map(id, noise))


class _Slope:
    """A value with a divisor, and the normal draws in which it is linear."""

    def __init__(self, value: Value, divisor: Value, noise: Sequence[Value]) -> None:
        self._value, self._divisor, self._noise = value, divisor, noise
        self._steps = ordered([value])
        self._lengths = [math.prod(one.shape) for one in noise]

    def drawn(self) -> Value | None:
        """The value r₀ + ‖a‖ g; None if r₀ or ‖a‖² does not have the form above."""
        if not self._is_linear():
            return None
        known = list(self._at_points())
        if not known:
            return None
        for total in [self._divisor, *ordered([self._divisor])]:
            if total.shape or support(total).low < 0:
                continue
            per = [(results[id(total)] / by, by, own, size) for results, by, own, size in known]
            level = _multiple([(own / s, np.sqrt(size) / s) for s, _, own, size in per])
            square = _multiple([(size * by / s, 0 * s) for s, by, _, size in per])
            if level is not None and square is not None and square > 0:
                return self._made_of(total, level, math.sqrt(square))
        return None

    def _made_of(self, total: Value, level: float, slope: float) -> Value:
        """The sum of level · s / d and slope · √s · g / d, for a sum s and the divisor d."""
        value, divisor = self._value, self._divisor
        normal = dataclasses.replace(
            self._noise[0],
            shape=(),
            inputs=(constant_beside(value, 0.0), constant_beside(value, slope)),
            sources=joined_sources(self._noise),
        )
        root = computed(SQRT, total, like=value)
        if total is divisor:  # then each part is a function of one number
            part, root = (
                constant_beside(value, level),
                computed(DIVIDE, constant_beside(value, 1.0), root, like=value),
            )
        else:
            part = computed(DIVIDE, total, divisor, like=value)
            part = computed(MULTIPLY, constant_beside(value, level), part, like=value)
            root = computed(DIVIDE, root, divisor, like=value)
        noise = computed(MULTIPLY, normal, root, like=value)
        return computed(ADD, part, noise, like=value) if level else noise

    def _is_linear(self) -> bool:
        """Whether it is linear in the noise, with quotients of polynomials in other draws."""
        degrees: dict[int, int] = {id(one): 1 for one in self._noise}
        for one in self._steps:
            own = [degrees.get(id(each), 0) for each in one.inputs]
            if one.kind == Kind.DRAW and not any(own):
                degrees.setdefault(id(one), 0)
                continue
            if one.kind != Kind.COMPUTED or any(each.postponed for each in one.inputs):
                return False
            function = one.function
            if function is POWER and not max(own) and one.inputs[1].known == 2.0:
                degrees[id(one)] = 0
            elif _ROOT in own or one.truth or function.guards:
                return False
            elif function is DIVIDE and not own[1]:
                degrees[id(one)] = own[0]
            elif function.bilinear and sum(own) <= 1:
                degrees[id(one)] = sum(own)
            elif function.additive or function.moves:
                degrees[id(one)] = max(own)
            elif not any(own) and (function is VAR or function.square is not None):
                degrees[id(one)] = 0 if function is VAR else _ROOT
            else:
                return False
        return degrees[id(self._value)] == 1

    def _at_points(self) -> Iterator[tuple[Mapping[int, Floats], Floats, Floats, Floats]]:
        """At random points: all values without noise, by id; the divisor; r₀; and ‖a‖²."""
        count = sum(self._lengths) + 1
        if max(math.prod(one.shape) for one in self._steps) * count > _MOST_NUMBERS:
            return
        generator = np.random.default_rng(0)
        for size in _SIZES * _POINTS:
            results: dict[int, Floats] = {}
            spreads: list[Floats] = []
            at = 1
            for one in self._steps:
                if one.kind == Kind.DRAW and one not in self._noise:
                    point = size * generator.standard_normal(one.shape)
                    results[id(one)] = np.repeat(point[..., np.newaxis], count, axis=-1)
                elif one.kind == Kind.DRAW:
                    mean, spread = (
                        np.broadcast_to(a, one.shape) for a in fixed_arguments(one) or ()
                    )
                    moved = np.repeat(mean[..., np.newaxis], count, axis=-1)
                    length = math.prod(one.shape)
                    moved.reshape(length, count)[:, at : at + length] += size * np.eye(length)
                    spreads.append(spread.ravel() / size)
                    results[id(one)], at = moved, at + length
                else:
                    results[id(one)] = np.asarray(computed_from(one, results))
            value = results[id(self._value)]
            slopes = (value[1:] - value[0]) * np.concatenate(spreads)
            first = {key: array[..., 0] for key, array in results.items()}
            yield first, first[id(self._divisor)], value[0], np.square(slopes).sum()


def _multiple(shares: Sequence[tuple[Floats, Floats]]) -> float | None:
    """The number that all shares are equal to, up to rounding; None if they differ.

    The second number of each pair is a size: shares far below it count as 0.
    """
    values, sizes = np.array(shares).T
    middle = float(np.median(values))
    rounding = _ROUNDING * np.maximum(abs(middle), sizes)
    near = bool((np.abs(values - middle) <= rounding).all())
    return (middle if abs(middle) > rounding.min() else 0.0) if near else None
