"""Ranges of numbers: `0.1..0.9 by 0.1`, and `16..1024 by x2`, where each is twice the last.

The values are computed in decimal arithmetic, so that they are the numbers that one would write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Context, Decimal

from dropcheck.claims.registry import MOST_CASES
from dropcheck.claims.values import NotANumberError, format_value, parse_number, shortened
from dropcheck.records import record

WRITTEN = "write a range as 0.1..0.9 by 0.1, or 16..1024 by x2"

_RANGE = re.compile(
    r"(?P<low>.+?)\.\.(?P<high>.+?)(?:\s+by\s+(?P<times>x\s*)?(?P<step>.+))?", re.DOTALL
)
_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
# The last value is set to the upper end if it differs by less than this share of a step: the steps
# of 0..1 by 1/3 do not add up in decimal arithmetic.
_MISSED = Decimal("1e-9")
_ARITHMETIC = Context(prec=60)
NUMBER = r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][+-]?\d{1,3})?(?:/\d{1,20})?"
# A step in other words than `by`: `step 0.1`, `in steps of 0.1`, `..0.1`; or a factor, `times 2`.
_OTHER_STEP = (  # compiled only when it is used, which is seldom
    rf"(?P<high>{NUMBER})(?:\.\.|\s*[,;:]|(?:\s+(?:in|with|a|step|steps|of|size|stride|every))+"
    rf"|(?P<times>\s*[x*]|\s+times))(?:\s*=)?\s*(?P<step>{NUMBER})"
)
_COLONS = re.compile(rf"\s*{NUMBER}\s*:\s*{NUMBER}(?:\s*:\s*{NUMBER})?\s*")


class RangeError(ValueError):
    """A range that cannot be read: a predicate, and a hint.

    `meant` is the range that was probably meant; then the hint says to write it.
    """

    def __init__(self, says: str, hint: str = WRITTEN, *, meant: str | None = None) -> None:
        super().__init__(says)
        self.hint = hint if meant is None else f"write {meant}"
        self.meant = meant


@record
class Range:
    """Numbers from `low` to `high`, each `step` more than the last, or `step` times it."""

    low: Decimal
    high: Decimal
    step: Decimal
    times: bool

    @property
    def count(self) -> int:
        """How many values it has, at most one more than the limit of cases of a claim."""
        if self.times:
            steps = (self.high / self.low).ln(_ARITHMETIC) / self.step.ln(_ARITHMETIC)
        else:
            steps = _ARITHMETIC.divide(self.high - self.low, self.step)
        return int(min(steps + _MISSED, Decimal(MOST_CASES))) + 1

    def values(self) -> tuple[float, ...]:
        """All values, including the upper end if the steps reach it.

        >>> read_range("0.1..0.4 by 0.1").values(), read_range("1..30 by x10").values()
        ((0.1, 0.2, 0.3, 0.4), (1.0, 10.0))
        """
        return tuple(float(value) + 0.0 for value in self._decimals())

    def _decimals(self) -> Iterator[Decimal]:
        value, near = self.low, _MISSED * (self.high if self.times else self.step)
        multiply, add = _ARITHMETIC.multiply, _ARITHMETIC.add
        for index in range(self.count):
            yield self.high if abs(self.high - value) <= near else value
            next_ = multiply(self.step, index + 1)
            value = multiply(value, self.step) if self.times else add(self.low, next_)


def is_range(text: str) -> bool:
    """Whether a text is written as a range, with `..` or with colons.

    No number and no law contains these.

    >>> is_range("1..3 by 1"), is_range("0.5"), is_range("normal(0, 1)")
    (True, False, False)
    """
    return ".." in text or _COLONS.fullmatch(text) is not None


def read_ends(text: str) -> tuple[Decimal, Decimal]:
    """Both ends of `0..1`, with or without a step.

    Raises:
        RangeError: as in `read_range`.
    """
    match = _matched(text)
    low, high = (_decimal(match[end]) for end in ("low", "high"))
    if low == high:
        number = match["low"].strip()
        raise RangeError("holds one number alone", f"write the number itself, {number}")
    if low > high:
        step = "" if match["step"] is None else f" by {match['times'] or ''}{match['step']}"
        meant = f"{match['high'].strip()}..{match['low'].strip()}{step}"
        raise RangeError("holds no number: its end is below its start", meant=meant)
    return low, high


def _matched(text: str) -> re.Match[str]:
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise RangeError("is not a range")
    other = None if found["step"] else re.fullmatch(_OTHER_STEP, found["high"].strip())
    if other is not None:
        step = f"{'x' if other['times'] else ''}{other['step']}"
        meant = f"{found['low'].strip()}..{other['high']} by {step}"
        raise RangeError("is not a range", meant=meant)
    return found


def read_range(text: str) -> Range:
    """Read a range.

    Raises:
        RangeError: a predicate that the caller completes, with a hint.
    """
    match = _matched(text)
    if match["step"] is None:
        high = match["high"].strip().removesuffix("by").strip()
        by_one = f"{match['low'].strip()}..{high} by 1"
        raise RangeError("does not say its step", f"write {by_one}, or with another step")
    step, times = _decimal(match["step"]), match["times"] is not None
    low, high = read_ends(text)
    if times and (low <= 0 or step <= 1):
        raise RangeError("needs a start above 0, and a factor above 1")
    if step <= 0:
        raise RangeError("needs a step above 0")
    made = Range(low, high, step, times)
    if made.count > MOST_CASES:
        raise RangeError(f"has more than {MOST_CASES:,} values", "write a larger step")
    return made


def _decimal(text: str) -> Decimal:
    """The decimal number of a text; of an arithmetic expression, the shortest for its value."""
    try:
        number = parse_number(text)
    except NotANumberError:
        part = shortened(text.strip())
        raise RangeError(f"is not a range: {part!r} is not a number") from None
    except ValueError as error:
        raise RangeError(f"is not a range: {shortened(text.strip())!r} {error}") from None
    return Decimal(text.strip() if _DECIMAL.fullmatch(text) else format_value(number))
