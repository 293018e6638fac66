"""The language's functions of plain numbers, in pure Python: for checking without numpy.

Each is total: it returns what float64 arithmetic has for the case (NaN, an infinity) where
Python's `math` would raise, and never takes long, whatever the argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable

INF = math.inf
NAN = math.nan
_ROOT_2 = math.sqrt(2.0)
_ROOT_2PI = math.sqrt(2.0 * math.pi)
# Klambauer et al., Self-Normalizing Neural Networks (2017), equation 14
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
# defaults of isclose: relative as Python's; absolute so that 0 is near to rounding errors
RTOL, ATOL = 1e-9, 1e-12

Unary = Callable[[float], float]


def total(function: Unary, poles: dict[float, float] | None = None, overflow: float = INF) -> Unary:
    """The function with float64's answers where `math` raises: NaN, or infinity at its poles."""

    def answer(x: float) -> float:
        if poles and x in poles:
            return poles[x]
        try:
            return function(x)
        except ValueError:
            return NAN
        except OverflowError:
            return overflow

    return answer


log = total(math.log, {0.0: -INF})
log2 = total(math.log2, {0.0: -INF})
log10 = total(math.log10, {0.0: -INF})
log1p = total(math.log1p, {-1.0: -INF})
exp = total(math.exp)
lgamma = total(math.lgamma)


def sinh(x: float) -> float:
    """Hyperbolic sine, infinite with its sign where it overflows."""
    return math.copysign(total(math.sinh)(abs(x)), x)


def arctanh(x: float) -> float:
    """Inverse hyperbolic tangent, infinite at ±1."""
    return math.copysign(INF, x) if abs(x) == 1 else total(math.atanh)(x)


def lgamma_or_inf(x: float) -> float:
    """log|Γ(x)|, infinite at the poles; −∞ at −∞, as scipy.special has it."""
    if x == -INF:
        return x
    return INF if x <= 0 and x == floor(x) else lgamma(x)


def gamma(x: float) -> float:
    """Γ(x): signed infinity at 0, NaN at the negative whole numbers, where no sign is right."""
    if x == 0:
        return math.copysign(INF, x)
    return total(math.gamma)(x)


def digamma(x: float) -> float:
    """ψ(x), by reflection, recurrence and series (Abramowitz & Stegun 6.3.7, 6.3.5, 6.3.18)."""
    if math.isnan(x) or x == -INF:
        return NAN
    if x == 0:
        return math.copysign(INF, -x)
    if x < 0:
        part = math.fmod(x, 1.0)
        return NAN if part == 0 else digamma(1.0 - x) - math.pi / math.tan(math.pi * part)
    below = 0.0
    while x < 16:  # from 16 on, the first term left out of the series is below 1e-16
        below += 1.0 / x
        x += 1.0
    s = 1.0 / (x * x) if x < 1e150 else 0.0
    tail = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132)))))
    return math.log(x) - 0.5 / x - tail - below


def sign(x: float) -> float:
    """1, 0 or −1."""
    return x if math.isnan(x) else float((x > 0) - (x < 0))


def floor(x: float) -> float:
    """The largest whole number that is not above x."""
    return math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x


def ceil(x: float) -> float:
    """The smallest whole number that is not below x."""
    return math.copysign(float(math.ceil(x)), x) if math.isfinite(x) else x


def round_half_even(x: float) -> float:
    """The nearest whole number, the even one of two."""
    return math.copysign(float(round(x)), x) if math.isfinite(x) else x


def xlogy(x: float, y: float) -> float:
    """Product x log y, and 0 where x is 0."""
    return 0.0 if x == 0 and not math.isnan(y) else x * log(y)


def minimum(*numbers: float) -> float:
    """The smallest; NaN where any is."""
    return NAN if any(map(math.isnan, numbers)) else min(numbers)


def maximum(*numbers: float) -> float:
    """The largest; NaN where any is."""
    return NAN if any(map(math.isnan, numbers)) else max(numbers)


def clip(x: float, low: float, high: float) -> float:
    """x, or the bound that it lies beyond."""
    return minimum(maximum(x, low), high)


def where(c: float, a: float, b: float) -> float:
    """Value a if c holds, else b; NaN where c is."""
    return NAN if math.isnan(c) else a if c != 0 else b


def relu(x: float) -> float:
    """max(x, 0)."""
    return maximum(x, 0.0)


def leaky_relu(x: float, slope: float) -> float:
    """The number above 0, slope · x below."""
    return x if x > 0 else slope * x


def elu(x: float) -> float:
    """The number above 0, exp(x) − 1 below."""
    return x if x > 0 else math.expm1(x)


def selu(x: float) -> float:
    """The self-normalising unit."""
    return SELU_SCALE * (x if x > 0 else SELU_ALPHA * math.expm1(x))


def normal_distribution(x: float) -> float:
    """Φ(x)."""
    return 0.5 * math.erfc(-x / _ROOT_2)


def normal_density(x: float) -> float:
    """φ(x)."""
    return math.exp(-0.5 * x * x) / _ROOT_2PI


def gelu(x: float) -> float:
    """Product x Φ(x), exact (Hendrycks & Gimpel, 2016)."""
    return x * normal_distribution(x)


def sigmoid(x: float) -> float:
    """1 / (1 + exp(−x)), from the side that cannot overflow."""
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    grown = exp(x)
    return grown / (1.0 + grown)


def silu(x: float) -> float:
    """Product x · sigmoid(x)."""
    return x * sigmoid(x)


def softplus(x: float) -> float:
    """log(1 + exp(x)), from the side that cannot overflow."""
    return x if math.isnan(x) else max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def logit(p: float) -> float:
    """log(p / (1 − p))."""
    if 0.25 < p < 0.75:  # near 1/2 the two logarithms below would cancel
        return math.log1p(2 * (p - 0.5)) - math.log1p(-2 * (p - 0.5))
    return log(p) - log1p(-p)


def factorial(n: float) -> float:
    """n!, NaN unless n is whole and not negative, infinite from 171 on."""
    if not n >= 0 or n != floor(n):
        return NAN
    return float(math.factorial(int(n))) if n <= 170 else INF


def comb(n: float, k: float) -> float:
    """Ways to choose k of n ≥ 0; 0 for k outside 0 … n, NaN unless both are whole and finite."""
    if not (math.isfinite(n) and math.isfinite(k)) or n < 0 or n != floor(n) or k != floor(k):
        return NAN
    if k < 0 or k > n:
        return 0.0
    k = min(k, n - k)
    if k > 1000:  # at least 2002 over 1001, above 1e600
        return INF
    if n < 2**53:
        exact = math.comb(int(n), int(k))
        return float(exact) if exact.bit_length() <= 1023 else INF
    product = 1.0
    for i in range(int(k)):
        product *= (n - i) / (i + 1)
    return product


def isclose(a: float, b: float, rtol: float = RTOL, atol: float = ATOL) -> float:
    """1 where |a − b| ≤ max(rtol · max(|a|, |b|), atol) or a equals b; NaN where either is."""
    if math.isnan(a) or math.isnan(b):
        return NAN
    gap = abs(a - b) if a != b else 0.0
    return float(math.isfinite(gap) and gap <= max(rtol * max(abs(a), abs(b)), atol))


def isfinite(x: float) -> float:
    """1 where x is neither NaN nor infinite."""
    return float(math.isfinite(x))


def divide(a: float, b: float) -> float:
    """Quotient a / b, by 0 an infinity or NaN."""
    if b != 0:
        return a / b
    return NAN if a == 0 or math.isnan(a) else math.copysign(INF, a) * math.copysign(1.0, b)


def floor_divide(a: float, b: float) -> float:
    """Quotient a // b, rounded down."""
    return a // b if b != 0 else divide(a, b)


def modulo(a: float, b: float) -> float:
    """Remainder a % b, of b's sign."""
    return a % b if b != 0 else NAN


def power(a: float, b: float) -> float:
    """Power a ** b; a root of a negative number is NaN, an overflow infinite."""
    odd = math.isfinite(b) and math.fmod(b, 2.0) in (1.0, -1.0)
    huge = -INF if odd and math.copysign(1.0, a) < 0 else INF
    try:
        return math.pow(a, b)
    except OverflowError:
        return huge
    except ValueError:
        return huge if a == 0 else NAN
