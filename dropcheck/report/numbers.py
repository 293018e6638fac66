"""Numbers for readers: as many digits as the interval supports, and no more.

Only `written` makes text of a number; the other functions choose its digits. Numbers that must be
read back exactly are written elsewhere: parameters by `claims.values`, and data by the reports that
hold data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

UNKNOWN = "-"

# beyond these magnitudes a row of zeros is harder to read than a power of ten
LARGEST_FIXED = 1e7
SMALLEST_FIXED = 1e-3
# a known number with more figures, such as 2 / 3, is shortened: people write no longer ones
LONGEST_KNOWN = 6
# but to no fewer figures: what is claimed is not as rough as an estimate
FEWEST_KNOWN = 4


def written(value: float | None, form: str) -> str:
    """A number in a form of Python's `format`, without a sign for 0 and with a short exponent.

    >>> written(1.5e-9, ".1e"), written(-0.001, ".1f"), written(float("inf"), ".1f")
    ('1.5e-9', '0.0', 'inf')
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    mantissa, separator, exponent = f"{value:{form}}".partition("e")
    if separator and int(exponent):
        return f"{mantissa}e{int(exponent)}"
    return mantissa.removeprefix("-") if float(mantissa) == 0 else mantissa


def exact(value: float | None) -> str:
    """A known number, such as the claimed one, without a point where it is whole.

    >>> exact(512.0), exact(0.1), exact(1e-9), exact(None)
    ('512', '0.1', '1e-9', '-')
    """
    whole = value is not None and abs(value) < LARGEST_FIXED and value == int(value)
    return written(value, ".0f" if whole else ".8g")


def beyond_error(value: float, error: float) -> float:
    """A number, or 0 if it is no larger than its error.

    >>> beyond_error(7e-18, 2e-16), beyond_error(0.5, 2e-16)
    (0.0, 0.5)
    """
    return value if abs(value) > error else 0.0


def known(value: float | None, width: float | None, more: int = 0) -> str:
    """A known number beside measured ones, in the digits that it was written with.

    A long one, such as 2/3, has one digit more than the measured ones, and at least four.

    >>> known(2 / 3, 0.03), known(2 / 3, 0.03, more=2), known(2 / 3, 0.0), known(7.04, 30.0)
    ('0.6667', '0.666667', '0.66666667', '7.04')
    >>> known(2 / 3, None), known(1048576.0, 3e4), known(1e6 + 0.01, 6e-7), known(1 / 120, 0.05)
    ('0.6667', '1048576', '1000000.010000000', '0.008333')
    """
    text = exact(value)
    if value is None or not math.isfinite(value):
        return text
    if width and abs(float(text) - value) > width / 100:
        return measured((value,), width, more + 1)[0]  # the short text would be another number
    if width == 0 or "." not in text or len(_figures(text)) <= LONGEST_KNOWN:
        return text
    if width is None or not math.isfinite(width):
        return rough(value, FEWEST_KNOWN + more)
    shorter = measured((value,), width, more + 1)[0]
    if len(_figures(shorter)) < FEWEST_KNOWN:
        shorter = rough(value, FEWEST_KNOWN + more)
    return min(shorter, text, key=len)


def rounding(digits: Decimal, unit: Decimal) -> str:
    """A figure, ± half a unit of its last digit, in the digits that are printed.

    >>> rounding(Decimal("0.410"), Decimal("0.001")), rounding(Decimal("1.2e3"), Decimal("1e2"))
    ('0.410 ± 0.0005', '1200 ± 50')
    >>> rounding(Decimal("1.20e-5"), Decimal("1e-7"))
    '1.20e-5 ± 5e-8'
    """
    return f"{printed(digits)} ± {printed(unit / 2, like=digits)}"


def printed(digits: Decimal, like: Decimal | None = None) -> str:
    """A number in all its digits, in the form that is easier to read for a number `like` it.

    >>> printed(Decimal("0.410")), printed(Decimal("1.20e-5"))
    ('0.410', '1.20e-5')
    """
    size = abs(digits if like is None else like)
    fixed = not size or SMALLEST_FIXED <= size < LARGEST_FIXED
    return (f"{digits:f}" if fixed else f"{digits:e}").replace("e+", "e")


def apart(low: float, high: float, width: float | None, more: int = 0) -> tuple[str, str]:
    """Two known numbers that differ, in enough digits to show that.

    >>> apart(1 / 3, 1 / 3 + 1e-5, 0.01)
    ('0.33333', '0.33334')
    """
    for further in range(more, more + LONGEST_KNOWN):
        texts = known(low, width, further), known(high, width, further)
        if texts[0] != texts[1]:
            return texts
    return exact(low), exact(high)


def _figures(text: str) -> str:
    """The significant figures of a number as it is written."""
    return text.partition("e")[0].lstrip("-0.").replace(".", "")


def measured(values: Iterable[float | None], width: float | None, more: int = 0) -> tuple[str, ...]:
    """Numbers that belong together, to two significant digits of the `width` around them.

    They have `more` digits in addition.

    >>> measured([511.83, 509.11, 514.57], 5.46)
    ('511.8', '509.1', '514.6')
    >>> measured([3.21e-9, -2.04e-7], 4e-7), measured([1.68, 2e31], 2e31)
    (('3e-9', '-2.0e-7'), ('2', '2.0e31'))
    >>> measured([2.5, 2.499999999967], 3.3e-11)
    ('2.500000000000', '2.499999999967')
    """
    values = tuple(values)
    known = [abs(value) for value in values if value is not None and math.isfinite(value)]
    if width is None or not math.isfinite(width) or width <= 0 or not known:
        return tuple(exact(value) for value in values)
    last = math.floor(math.log10(width)) - 1 - more  # the power of ten of the last digit shown
    largest = max(known)
    if SMALLEST_FIXED <= largest < LARGEST_FIXED:
        decimals = min(-last, 15 - math.floor(math.log10(largest)))  # float64 has no more
        return tuple(written(value, f".{max(0, decimals)}f") for value in values)
    return tuple(_scientific(value, last) for value in values)


def _scientific(value: float | None, last: int) -> str:
    if value is None or not math.isfinite(value) or value == 0:
        return exact(value)
    digits = math.floor(math.log10(abs(value))) - last
    return written(value, f".{min(max(digits, 0), 15)}e")


def interval(
    ends: tuple[float | None, float | None] | None, estimate: float | None, more: int = 0
) -> str:
    """The interval in brackets, with `more` digits in addition; an unbounded end is `inf`.

    >>> interval((509.11, 514.57), 511.8)
    '[509.1, 514.6]'
    >>> interval((0.93, None), 0.95)
    '[0.930, inf)'
    """
    if ends is None:
        return UNKNOWN
    low, high = ends
    low_text, high_text, _ = measured((low, high, estimate), spread(ends, estimate), more)
    left = "(-inf" if low is None or math.isinf(low) else f"[{low_text}"
    right = "inf)" if high is None or math.isinf(high) else f"{high_text}]"
    return f"{left}, {right}"


def spread(
    ends: tuple[float | None, float | None] | None, estimate: float | None = None
) -> float | None:
    """The interval's width; where one end is unbounded, twice the distance to the other."""
    low, high = ends or (None, None)
    if low is not None and high is not None:
        return high - low
    near = high if low is None else low
    return None if near is None or estimate is None else 2 * abs(estimate - near)


def count(number: int) -> str:
    """A number of draws in a short form: two figures are enough to compare.

    >>> [count(n) for n in (0, 999, 1_000, 262_144, 999_999, 1_234_567, 41_000_000)]
    ['0', '999', '1k', '262k', '1M', '1.2M', '41M']
    """
    scaled, units = float(number), iter("kMG")
    unit = ""
    while scaled >= 999.5 and unit != "G":
        scaled, unit = scaled / 1000, next(units)
    text = f"{scaled:.1f}" if unit and scaled < 9.95 else f"{scaled:.0f}"
    return text.removesuffix(".0") + unit


def draws(number: int) -> str:
    """A number of draws with its noun.

    >>> draws(1), draws(2), draws(262_144)
    ('1 draw', '2 draws', '262k draws')
    """
    return f"{count(number)} draw{'s' * (number != 1)}"


def option(number: float) -> str:
    """A number of draws as an option takes it, rounded up to two figures.

    >>> [option(n) for n in (7, 999, 3_050_001, 25_000)]
    ['7', '999', '3.1e6', '2.5e4']
    """
    if number < 1000:
        return str(math.ceil(number))
    unit = 10 ** (math.floor(math.log10(number)) - 1)
    return written(math.ceil(number / unit) * unit, ".1e").replace(".0e", "e")


def rough(value: float, figures: int = 2) -> str:
    """A number of which only the size matters, with two figures or as many as asked for.

    >>> [rough(value) for value in (0.0123, 3.0, 1.26e-7, 5_130_000.0, 0.0)]
    ['0.012', '3', '1.3e-7', '5.1e6', '0']
    >>> rough(301.4), rough(301.4, 3), rough(999.6, 3)
    ('301', '301', '1000')
    """
    text = written(value, f".{figures}g")
    # below ten thousand a whole number is read as quickly as a power of ten
    return written(value, ".0f") if "e" in text and 1 <= abs(value) < 9999.5 else text


def plural(number: int, noun: str) -> str:
    """A count and its noun.

    >>> plural(1, "case"), plural(2, "case")
    ('1 case', '2 cases')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(0.0123), duration(0.94), duration(12.3), duration(125)
    ('0.01 s', '0.9 s', '12 s', '2 min 5 s')
    >>> duration(7300), duration(913_566)
    ('2 h', '11 days')
    """
    if seconds < 0.095:
        return f"{seconds:.2f} s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
    hours = round(seconds / 3600)
    return f"{hours} h" if hours < 100 else f"{round(hours / 24):,} days"


def confidence(level: float) -> str:
    """A confidence as 1 minus what it lacks: nines are hard to count.

    >>> confidence(0.999999991), confidence(1.0)
    ('1 - 9e-9', '1')
    """
    missing = 1 - level
    return "1" if missing <= 0 else f"1 - {written(missing, '.1g')}"
