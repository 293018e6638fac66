"""Whether a quantity has a value in every draw, or may be NaN or infinite with a small probability.

One walk over the graph checks what each function requires of its arguments. A quantity behind a
guard, as in `where(x > 0, log(x), 0)` or `E(log(x), given=x > 0)`, is checked again with what is
known where the guard holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dropcheck.analysis.bounds import use_of
from dropcheck.analysis.law_bounds import AffineDraw, line_of
from dropcheck.known.enclosure import hull as function_hull
from dropcheck.language.graph import (
    Kind,
    Value,
    computed_from,
    in_order,
    joined_sources,
    number,
    ordered,
    random_inputs,
)
from dropcheck.reasons import Explanation, Reason
from dropcheck.vocabulary.defined_where import (
    ANALYTIC,
    GENERIC,
    NEVER,
    ROUGH,
    SURE,
    Known,
    compared_with,
)
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.arrays import ARRAY
from dropcheck.vocabulary.functions.reductions import MAX, MIN
from dropcheck.vocabulary.functions.truths import (
    ALL,
    AND,
    ANY,
    COMPARISONS,
    CONDITIONAL,
    IS_FINITE,
    IS_NAN,
    NOT,
    OR,
    WHERE,
)
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull, proper
from dropcheck.vocabulary.law import Law, Values, arguments_fit, ends_of, has_density

# ---- sources known -------------------------------------------------------------------------------
#
# What is known of draws and of fixed values, as `Known` facts.


def is_finite(array: Array) -> bool:
    """Whether all numbers of an array are finite."""
    return math.isfinite(array.flat[0]) if array.size == 1 else bool(np.isfinite(array).all())


def of_fixed(value: Value) -> Known:
    """What is known of a fixed value."""
    array = value.constant
    if array is None or not array.size:
        return Known(smooth=ANALYTIC)
    low, high = float(array.min()), float(array.max())
    number = not math.isnan(low)
    return Known(
        hull=Hull(low, high) if number else EVERYWHERE,
        number=SURE if number else GENERIC,
        finite=SURE if is_finite(array) or not number else GENERIC,
        nonzero=SURE if array.all() else NEVER,
        smooth=ANALYTIC,
        whole=number and bool((array == np.floor(array)).all()),
    )


def of_draw(value: Value, below: Sequence[Known]) -> Known:
    """What is known of a draw, from what is known of the arguments of its law."""
    law = value.law
    if law is None:
        return Known()
    hull, fits, dense = _support(law, value, below), SURE, not law.discrete
    if any(one.random for one in value.inputs):
        apart = sum(len(one.sources) for one in value.inputs) == len(joined_sources(value.inputs))
        fits = min([arguments_fit(law, below, apart), *(one.defined for one in below)])
        dense = dense and has_density(law, below)
    smooth = ANALYTIC if dense else ROUGH
    return Known(
        hull=hull,
        number=fits,
        nonzero=SURE if not hull.low <= 0 <= hull.high else GENERIC if smooth else NEVER,
        smooth=smooth,
        whole=law.values in (Values.WHOLE, Values.TRUTHS, Values.SIGNS),
    )


def _support(law: Law, value: Value, below: Sequence[Known]) -> Hull:
    """An interval that holds all values of a draw."""
    ranks = zip(value.inputs, law.parameters, strict=True)
    if any(one.constant is None or len(one.shape) != parameter.axes for one, parameter in ranks):
        return ends_of(law, below)
    known = [one.known for one in value.inputs]
    return EVERYWHERE if None in known else proper(Hull(*law.support(*known)))


def one_draw(values: Sequence[Value]) -> dict[int, Array]:
    """The values, given with inputs first, in one draw; NaN where they cannot be computed."""
    generator = np.random.default_rng(0)
    drawn: dict[int, Array] = {}
    for value in values:
        inputs = [drawn[id(one)] if one.random else one.constant for one in value.inputs]
        unknown = np.full((*value.shape, 1), np.nan)
        try:
            if any(one is None for one in inputs):
                drawn[id(value)] = unknown
            elif value.law is not None:
                arguments = [number(one) for one in inputs]
                drawn[id(value)] = number(value.law.sample(generator, arguments, value.shape, 1))
            elif value.kind == Kind.DRAW:
                drawn[id(value)] = generator.normal(size=(*value.shape, 1))
            else:
                drawn[id(value)] = number(computed_from(value, drawn))
        except ValueError:  # a function or a law does not take a value
            drawn[id(value)] = unknown
    return drawn


# ---- undefined -----------------------------------------------------------------------------------


# The most values that are checked again behind guards, in all, and the deepest nesting of guards.
MOST_AGAIN = 20_000
MOST_GUARDS = 12
NEGLIGIBLE = 1e-15
"""The chance in a draw up to which a value is taken to exist: 10**9 draws see it with 1e-6."""
KnownValues = dict[int, Known]
Assumed = Mapping[int, Known]
"""What is known of some values where a guard holds, by their ids."""
AveragedQuantity = tuple[Value, Value | None]
"""A quantity that is averaged, and its condition."""


def may_be_undefined(terms: Sequence[AveragedQuantity]) -> Explanation | None:
    """Why some quantity may have no value in a draw; None if all surely have one.

    Truths are not checked: an unknown truth counts as one that does not hold.
    """
    asked = [(value, given) for value, given in terms if value.random and not value.truth]
    walked = ordered([value for value, _ in asked])
    if not any(map(_may_fail, walked)):
        return None
    walk = Walk()
    for value, given in asked:
        known = walk.known(value)
        if known.defined == NEVER and given is not None:
            known = walk.under([(given, True)], value, known, {}, 0)
        if known.defined > NEVER and not (known.number < SURE and walk.fails(walked)):
            continue
        return walk.why(value)
    return None


def _may_fail(value: Value) -> bool:
    """Whether a value may be undefined though its inputs are defined."""
    if value.kind == Kind.DRAW:
        return any(one.random for one in value.inputs)
    if not value.function.defined.everywhere:
        return True
    return any(one.constant is not None and not is_finite(one.constant) for one in value.inputs)


class Walk:
    """What is known of the quantities of a case."""

    def __init__(self) -> None:
        self._facts: KnownValues = {}
        # values that are defined, or not 0, with probability 1 or else with probability 0
        self._generic: list[Value] = []
        self._nonzero: list[Value] = []
        self._nan_somewhere = False  # whether a fixed value is NaN
        self._left = MOST_AGAIN
        # the chances that are too small to matter with which values are undefined, by their ids
        self.neglected: dict[int, float] = {}

    def known(self, value: Value) -> Known:
        """What is known of a value in all draws."""
        facts = self._facts
        if id(value) not in facts:
            below = lambda one: [v for v in one.inputs if id(v) not in facts]  # noqa: E731 - short
            for one in in_order([value], below):
                if id(one) not in facts:
                    facts[id(one)] = self._found(one, [facts[id(v)] for v in one.inputs], {}, 0)
        return facts[id(value)]

    def under(
        self,
        holds: Sequence[tuple[Value, bool]],
        value: Value,
        plain: Known,
        assumed: Assumed,
        depth: int,
    ) -> Known:
        """What is known of a value where some truths hold or do not hold; `plain` without them."""
        more = dict(assumed)
        for key, fact in self._assumed(holds).items():
            _note(more, key, fact)
        if not more or depth >= MOST_GUARDS:
            return plain
        whole = all(not condition.shape for condition, _ in holds)
        return self._again(value, more, whole and not assumed, depth)

    def _again(self, value: Value, assumed: Assumed, whole: bool, depth: int) -> Known:
        """What is known of a value, if something is assumed of values below it.

        An assumption about single elements is used only through elementwise functions; `whole` says
        that it is about all elements.
        """

        def below(one: Value) -> list[Value]:
            through = one.kind == Kind.COMPUTED and (whole or one.function.by_element)
            return list(one.inputs) if through and one.random and id(one) not in assumed else []

        again: KnownValues = {}
        for one in in_order([value], below):
            self._left -= 1
            known = self.known(one)
            inputs = below(one)
            if self._left < 0:
                again[id(one)] = known
            elif id(one) in assumed:
                again[id(one)] = _both(known, assumed[id(one)])
            elif inputs:
                facts = [again[id(v)] for v in inputs]
                again[id(one)] = self._found(one, facts, assumed, depth + 1)
            else:
                again[id(one)] = known
        return again[id(value)]

    def _found(self, value: Value, below: list[Known], assumed: Assumed, depth: int) -> Known:
        """What is known of one value, from what is known of its inputs."""
        if value.kind == Kind.DRAW:
            return of_draw(value, below)
        if value.kind != Kind.COMPUTED or not value.random:
            known = of_fixed(value)
            self._nan_somewhere |= known.number < SURE
            return known
        if value.function in (WHERE, CONDITIONAL):
            condition, first, second = value.inputs
            below = [
                below[0],
                self._guarded(first, below[1], [(condition, True)], assumed, depth),
                self._guarded(second, below[2], [(condition, False)], assumed, depth),
            ]
        elif value.function in (AND, OR):
            first, second = value.inputs
            holds = [(first, value.function is AND)]
            below = [below[0], self._guarded(second, below[1], holds, assumed, depth)]
        known = self._computed(value, below)
        if known.defined == NEVER and all(one.defined > NEVER for one in below):
            chance = self._chance(value)
            if chance is not None and chance <= NEGLIGIBLE:
                self.neglected[id(value)] = chance
                return replace(known, number=SURE, finite=SURE)
        return known

    def _guarded(
        self,
        value: Value,
        plain: Known,
        holds: Sequence[tuple[Value, bool]],
        assumed: Assumed,
        depth: int,
    ) -> Known:
        """What is known of a value that counts only where some truths hold.

        If a value fails in all draws or in none, a guard that seldom holds may hide that it fails.
        """
        known = plain
        if known.defined == NEVER:
            known = self.under(holds, value, plain, assumed, depth)
        if not any(condition.random for condition, _ in holds):
            return known
        finite = NEVER if known.finite == GENERIC else known.finite
        number = known.number
        if number == GENERIC and self._nan_somewhere:
            number = NEVER
        return replace(known, finite=finite, number=number)

    def _computed(self, value: Value, below: list[Known]) -> Known:
        rules = value.function.defined
        use = use_of(value)
        with np.errstate(all="ignore"):
            hull = proper(function_hull(value.function, [one.hull for one in below], use))
            asked = rules.asks(below, use)
            smooth = rules.smooth(below, use)
            nonzero = rules.nonzero(below, use)
            keeps = rules.whole(below, use) if callable(rules.whole) else rules.whole
        if asked == GENERIC:
            self._generic.append(value)
        if nonzero == GENERIC and not smooth:
            pairs = zip(value.inputs, below, strict=True)
            self._nonzero += [
                one for one, known in pairs if one.random and known.nonzero == GENERIC
            ]
        number = SURE if rules.no_numbers else min([asked, *(one.number for one in below)])
        finite = min([rules.finite, *(one.finite for one in below)])
        if not (rules.infinities or rules.no_numbers):
            number = min(number, finite if rules.finite else min(one.finite for one in below))
        if hull.bounded:
            finite = SURE
        if not hull.low <= 0 <= hull.high:
            nonzero = SURE
        return Known(
            hull=hull,
            number=number,
            finite=finite,
            nonzero=max(nonzero, GENERIC if smooth else NEVER),
            smooth=smooth,
            whole=rules.always_whole or (bool(keeps) and all(one.whole for one in below)),
        )

    def fails(self, values: Sequence[Value]) -> bool:
        """Whether something fails in every draw: then it fails in this one draw, guards ignored.

        Args:
            values: all values of the quantities, inputs first.
        """
        with np.errstate(all="ignore"):
            drawn = one_draw(values)
        generic = [one for one in self._generic if id(one) in drawn]
        return any(not np.isfinite(drawn[id(one)]).all() for one in generic) or any(
            not np.all(drawn[id(one)]) for one in self._nonzero if id(one) in drawn
        )

    # ---- what a guard says ----------------------------------------------------------------------

    def _assumed(self, holds: Sequence[tuple[Value, bool]]) -> Assumed:
        """What is known of values in draws in which some truths hold or do not hold."""
        found: KnownValues = {}
        stack = [(value, held, False) for value, held in holds]
        while stack:
            value, held, every = stack.pop()
            if value.kind != Kind.COMPUTED:
                continue
            function = value.function
            every |= not value.shape  # or of each element by itself, which other axes would not be
            if function is NOT:
                stack.append((value.inputs[0], not held, every))
            elif function is (ALL if held else ANY):
                if every or dict(value.options).get("keepdims"):
                    stack.append((value.inputs[0], held, every))
            elif function is (AND if held else OR) or (function is ARRAY and every):
                stack += [(one, held, every) for one in value.inputs]
            elif function is IS_FINITE and held:
                _note(found, id(value.inputs[0]), Known())
            elif function is IS_NAN and not held:
                _note(found, id(value.inputs[0]), Known(finite=NEVER))
            elif function.name in COMPARISONS:
                self._compared(value, held, found)
        return found

    def _compared(self, value: Value, held: bool, found: KnownValues) -> None:
        """Add what a comparison with a number says; whether it holds or not, no side is NaN."""
        for (one, other), turned in ((value.inputs, False), (value.inputs[::-1], True)):
            if not one.random or other.constant is None or not other.constant.size:
                continue
            low, high = float(other.constant.min()), float(other.constant.max())
            said = compared_with(value.operation, low, high, turned=turned, held=held)
            _note(found, id(one), said)
            bounded = said.hull.high < math.inf, said.hull.low > -math.inf
            if (
                not one.shape
                and one.computed_by(MAX, MIN)
                and bounded
                == (
                    one.function is MAX,
                    one.function is MIN,
                )
            ):  # what bounds the largest bounds every element
                _note(found, id(one.inputs[0]), said)

    # ---- why ------------------------------------------------------------------------------------

    def why(self, value: Value) -> Explanation:
        """The first value below a quantity that may be undefined, and the probability of that."""
        culprits = (
            one
            for one in ordered([value])
            if self.known(one).defined == NEVER
            and all(self.known(below).defined > NEVER for below in one.inputs)
        )
        culprit = next(culprits, next(iter(self._generic), value))
        step = culprit.operation if culprit.kind == Kind.COMPUTED else f"the law of {culprit.name}"
        rules = culprit.function.defined if culprit.kind == Kind.COMPUTED else None
        if rules is not None and rules.finite == NEVER and rules.hint:
            return Reason.MAY_BE_INFINITE.explain(step=step, hint=rules.hint)
        chance = self._chance(culprit)
        if chance is None:
            return Reason.MAY_BE_UNDEFINED.explain(step=step)
        return Reason.SELDOM_UNDEFINED.explain(step=step, chance=chance)

    def _chance(self, culprit: Value) -> float | None:
        """A bound of the probability that an argument, a line of one draw, leaves the domain."""
        interval = culprit.function.defined.interval if culprit.kind == Kind.COMPUTED else None
        drawn = random_inputs(culprit)
        if interval is None or drawn != [culprit.inputs[0]]:
            return None
        lines: dict[int, AffineDraw | None] = {}
        for one in ordered(drawn):
            lines[id(one)] = line_of(one, [lines.get(id(v)) for v in one.inputs])
        line = lines[id(drawn[0])]
        if line is None or line.law.cdf(0.0, *line.arguments) is None:
            return None
        return _outside(line, *interval) * math.prod(drawn[0].shape)


def _note(found: KnownValues, key: int, known: Known) -> None:
    found[key] = _both(found[key], known) if key in found else known


def _both(first: Known, second: Known) -> Known:
    """What is known of a value of which both facts hold."""
    low, high = max(first.hull.low, second.hull.low), min(first.hull.high, second.hull.high)
    hull = Hull(low, high) if low <= high else second.hull
    return Known(
        hull=hull,
        number=max(first.number, second.number),
        finite=SURE if hull.bounded else max(first.finite, second.finite),
        nonzero=max(first.nonzero, second.nonzero),
        smooth=max(first.smooth, second.smooth),
        whole=first.whole or second.whole,
    )


def _outside(line: AffineDraw, low: float, high: float) -> float:
    """A bound of the probability that a line of one draw is outside the interval, or at an end."""
    ends = sorted(((low - line.shift) / line.factor, (high - line.shift) / line.factor))
    below, above = 0.0, 0.0
    if math.isfinite(ends[0]):
        below = float(line.law.cdf(ends[0], *line.arguments))
    if math.isfinite(ends[1]):
        end = math.nextafter(ends[1], -math.inf) if line.law.discrete else ends[1]
        above = float(line.law.survival(end, *line.arguments))
    return below + above
