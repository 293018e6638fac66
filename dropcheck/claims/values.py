"""Names, and values as people write them: `512`, `2**20`, `normal(0, 1)`, `0.1..0.9 by 0.1`.

A value that is printed here reads back as the same float64. Only literals are computed with, in
float64, so `9**9**9` overflows at once; the values of a range in decimal arithmetic, so that they
are the numbers that one would write.
"""

from __future__ import annotations

import ast
import keyword
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

from dropcheck.claims.registry import MOST_CASES
from dropcheck.results import ParameterValue, Vector

LARGEST_NUMBER = 1.7976931348623157e308  # the largest float64; `.inf` is larger
LARGEST_DENOMINATOR = 999  # of a number that is shown as a fraction
LONGEST_SHOWN = 40  # characters of a text that a message quotes
ACCEPTED = (
    "write a number such as 512, 1e6, 2**20 or 1/3, a vector such as [0.5, -1, 3], or a law such "
    "as normal(0, 1)"
)
KINDS_OF_VALUE = "a number, a vector or a law"
NUMBER_FORMATS = ("float64", "float32", "bfloat16", "float16")
"""Number formats that a parameter's value may name."""

# A name beside an arithmetic operator or before a bracket.
_COMPUTES = re.compile(r"(?<![\w.])[^\W\d]\w*\s*[(*/+%]|[*/+%]\s*[^\W\d]")
# Except for hexadecimal numbers and exponents, no word consists of these: nothing else is parsed.
_ARITHMETIC = re.compile(r"[0-9a-fA-FxXoO_.+\-*/%()\s]*")
_LAW_BEGINS = re.compile(r"[^\W\d]\w*\s*\(")
LONGEST_NAME = 200  # characters, since messages quote it
_LONGEST_NUMBER = 200  # characters; a number needs a tenth of it
MOST_ENTRIES = 1_000  # of a vector, since the name of a case lists them all
TOO_MANY_ENTRIES = f"has more than {MOST_ENTRIES:,} entries: make it in 'model'"
_LONGEST_VECTOR = 30 * MOST_ENTRIES  # characters
_LONGEST_LAW = 2_000  # a `categorical` of a hundred probabilities still fits

_OPERATORS: dict[type[ast.operator | ast.unaryop], Callable[..., float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}  # fmt: skip


def shortened(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The text as messages quote it, cut if it is long."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


WORDS = re.compile(r"[^\W\d]\w*")
"""Matches words of a text that may be names."""
LITERAL = re.compile(
    r"(?<![\w.])(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9_]+)?(?!\w)"
)
TOO_SMALL = "is too small, and would be 0: numbers are float64, down to 5e-324"


def vanishes(text: str) -> bool:
    """Whether a text contains a number that is 0 in float64 although it is not written as 0.

    >>> vanishes("1e-400"), vanishes("2 * 1e-400"), vanishes("0.0e-400"), vanishes("5e-324")
    (True, True, False, False)
    """
    mantissas = ((one, re.split("[eE]", one)[0]) for one in LITERAL.findall(text))
    return any(re.search("[1-9]", digits) and not float(one) for one, digits in mantissas)


class NotANumberError(ValueError):
    """A text that does not look like a number."""


class WrongValueError(ValueError):
    """A value that is none: a predicate, what to do, and the entries of lists that lead to it."""

    def __init__(self, says: str, hint: str | None, path: tuple[int, ...] = ()) -> None:
        super().__init__(says)
        self.hint, self.path = hint, path


def name_problem(name: object) -> str | None:
    """Why something cannot be a name in a model, as a predicate; None if it can.

    >>> name_problem("sigma") is None, name_problem("lambda")
    (True, 'is a word of the language')
    """
    if not isinstance(name, str):
        return "is not a name: names are text"
    if keyword.iskeyword(name):
        return "is a word of the language"
    if len(name) > LONGEST_NAME:
        return f"is not a name: names have at most {LONGEST_NAME} characters"
    # Python's grammar, which the language uses, reads names in this normal form
    if not name.isidentifier() or unicodedata.normalize("NFKC", name) != name:
        return "is not a name: names are letters, digits and '_', with no digit first"
    return None


class WrittenNumber(float):
    """A number that knows how it is written: `0.50` claims two digits, and `1.3e3` too.

    >>> WrittenNumber("0.50") == 0.5, WrittenNumber("0.50").text, WrittenNumber("+1.3E+3").text
    (True, '0.50', '1.3e3')
    """

    text: str

    def __new__(cls, text: str) -> WrittenNumber:
        """The number that a decimal is; 0 has no sign, so that it is one case."""
        text = text.strip().lower().lstrip("+").replace("e+", "e")
        number = super().__new__(cls, text if float(text) else text.lstrip("-"))
        number.text = text if number else text.lstrip("-")
        return number

    def __reduce__(self) -> tuple[type[WrittenNumber], tuple[str]]:
        return WrittenNumber, (self.text,)


# Numbers with more digits are no decimals that someone wrote: 1/3 in float64 has 16.
_MOST_WRITTEN = 15


def decimal_text(value: ParameterValue) -> str | None:
    """A number as it is written, if it is written as a decimal; else None.

    >>> decimal_text(WrittenNumber("0.50")), decimal_text(0.5), decimal_text(1 / 3)
    ('0.50', '0.5', None)
    """
    if not isinstance(value, float):
        return None
    text = written_value(value)
    return text if sum(map(str.isdigit, text)) <= _MOST_WRITTEN else None


def written_value(value: ParameterValue) -> str:
    """The text of a value that reads back with the same digits, as `format_value` does without.

    >>> written_value(WrittenNumber("0.50")), written_value(0.5), written_value((0.5, 1.0))
    ('0.50', '0.5', '[0.5, 1]')
    """
    return value.text if isinstance(value, WrittenNumber) else format_value(value)


def parse_number(text: str) -> float:
    """The finite value of a text with literals and arithmetic; a decimal knows its digits.

    Raises:
        ValueError: a predicate ("is not a number", "is too large", …) that the caller completes.

    >>> parse_number("2**20"), parse_number(" 1e-3"), parse_number("010"), parse_number("0.50").text
    (1048576.0, 0.001, 10.0, '0.50')
    """
    if not text.strip() or len(text) > _LONGEST_NUMBER or not _ARITHMETIC.fullmatch(text):
        raise NotANumberError("is not a number")
    try:
        value = float(text)  # also takes `010`, which Python's grammar does not
    except ValueError:
        value = _arithmetic(text)
    if vanishes(text):
        raise ValueError(TOO_SMALL)
    if not math.isfinite(value):
        raise ValueError("is too large: numbers are float64, up to 1.8e308")
    if _DECIMAL.fullmatch(text) and not text.strip().isdigit():
        return WrittenNumber(text)
    return value + 0.0  # turns -0.0 into 0.0, so that both are one case


def _arithmetic(text: str) -> float:
    try:
        return _evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError):
        raise NotANumberError("is not a number") from None
    except OverflowError:
        return math.inf
    except ZeroDivisionError:
        raise ValueError("divides by zero") from None


def _evaluate(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_evaluate(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            first = _evaluate(left)
            result = _OPERATORS[type(op)](first, _evaluate(right))
            if isinstance(result, complex):  # Python's (-8)**(1/3)
                raise ValueError("is not a real number")
            if not result and isinstance(op, ast.Pow) and first:
                raise ValueError(TOO_SMALL)
            return result
    raise NotANumberError("is not a number")


def parse_value(text: str) -> ParameterValue:
    """A number, a vector, a number format, or the text of a law in one spelling.

    Raises:
        ValueError: a predicate ("is neither a number nor a law", …) that the caller completes.

    >>> parse_value("1/4"), parse_value("normal( 0,1 )"), parse_value("[[1, 0], [0, 1/2]]")
    (0.25, 'normal(0, 1)', ((1.0, 0.0), (0.0, 0.5)))
    """
    stripped = text.strip()
    if not stripped:
        raise ValueError("is empty")
    if stripped.startswith("["):
        if len(stripped) > _LONGEST_VECTOR:
            raise ValueError(f"is longer than {_LONGEST_VECTOR:,} characters")
        if _closing_bracket(stripped) != len(stripped) - 1:
            raise ValueError("has brackets that do not match")
        try:
            return _vector(_listed(stripped))
        except WrongValueError as error:
            raise ValueError(f"holds an entry that {error}" if error.path else error) from None
    if stripped in NUMBER_FORMATS:
        return stripped
    if _LAW_BEGINS.match(stripped):
        return _one_spelling(stripped)
    try:
        return parse_number(stripped)
    except NotANumberError:
        raise NotANumberError("is neither a number nor a law") from None


def _listed(text: str, depth: int = 0) -> list[Any]:
    """What stands between brackets, as texts or lists of texts."""
    parts = split_values(text[1:-1]) if text[1:-1].strip() else ()
    return [_listed(one, 1) if one[:1] == "[" and depth == 0 else one for one in parts]


def percentage(text: str) -> float | None:
    """The value of a percentage; None for any other text.

    >>> percentage("2%"), percentage("0.7 %"), percentage("0.02")
    (0.02, 0.007, None)
    """
    number, sign, rest = text.strip().rpartition("%")
    try:  # 0.7 / 100 is 0.006999999999999999
        return float(f"{parse_number(number) / 100:.15g}") if sign and not rest else None
    except ValueError:
        return None


def percentage_hint(text: str) -> str | None:
    """The hint for a percentage where a number is expected; None for any other text."""
    number = percentage(text)
    return None if number is None else f"write {format_value(number)}"


def value_hint(text: str, error: ValueError) -> str:
    """The hint for a value that `parse_value` refuses.

    >>> value_hint("1, 2, 3", NotANumberError())
    'write [1, 2, 3]'
    """
    if len(text) > 1 and {text[0], text[-1]} <= {*"“”„‟‘’‚‛«»"}:
        return f'write it in straight quotes: "{shortened(text[1:-1])}"'
    if isinstance(error, NotANumberError) and _COMPUTES.search(text):
        return "compute it on a line of 'model', from parameters that are numbers"
    try:
        parse_value(f"[{text}]")
    except ValueError:
        return percentage_hint(text) or ACCEPTED
    return f"write [{text.strip()}]"


def _one_spelling(law: str) -> str:
    """The text of a law with uniform spacing, so that two spellings are one case."""
    if len(law) > _LONGEST_LAW:
        raise ValueError(f"is longer than {_LONGEST_LAW} characters")
    if (closing := _closing_bracket(law)) is None:
        raise ValueError("has brackets that do not match")
    if closing != len(law) - 1:
        raise ValueError("continues after the law's closing bracket")
    return re.sub(r" ?([()\[\],]) ?", r"\1", re.sub(r"\s+", " ", law)).replace(",", ", ")


def _closing_bracket(text: str) -> int | None:
    """Where a text's first bracket is closed; None if brackets do not match up to there."""
    expected: list[str] = []
    for place, character in enumerate(text):
        if character in "([":
            expected.append(")" if character == "(" else "]")
        elif character in ")]":
            if not expected or expected.pop() != character:
                return None
            if not expected:
                return place
    return None


def split_values(text: str) -> tuple[str, ...]:
    """The parts of a text between commas that are outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(one.strip() for one in parts)


# ---- ranges -------------------------------------------------------------------------------------

RANGE_WRITTEN = "write a range as 0.1..0.9 by 0.1, or 16..1024 by x2"

_RANGE = re.compile(
    r"(?P<low>.+?)\.\.(?P<high>.+?)(?:\s+by\s+(?P<times>x\s*)?(?P<step>.+))?", re.DOTALL
)
_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
# The last value is set to the upper end if it differs by less than this share of a step: the steps
# of 0..1 by 1/3 do not add up in decimal arithmetic.
_MISSED = Decimal("1e-9")
_DECIMALS = Context(prec=60)
_ELSEWHERE = re.compile(
    r"(?:(?:np|numpy|torch)\.)?(?:range|arange|linspace)\s*\(|[-+.\d]+:[-+.\d]+(?::|\Z)"
)
"""Matches the beginning of a range as Python or numpy has it."""


class Range(NamedTuple):
    """Numbers from `low` to `high`, each `step` more than the last, or `step` times it."""

    low: Decimal
    high: Decimal
    step: Decimal
    times: bool

    @property
    def length(self) -> int:
        """How many values it has, at most one more than the limit of cases of a claim."""
        if self.times:
            steps = (self.high / self.low).ln(_DECIMALS) / self.step.ln(_DECIMALS)
        else:
            steps = _DECIMALS.divide(self.high - self.low, self.step)
        return int(min(steps + _MISSED, Decimal(MOST_CASES))) + 1

    def values(self) -> Iterator[float]:
        """All values, including the upper end if the steps reach it."""
        value, near = self.low, _MISSED * (self.high if self.times else self.step)
        for index in range(1, self.length + 1):
            end = abs(self.high - value) <= near
            known = not self.times and (not end or self.high == value)
            yield WrittenNumber(str(value)) if known else float(self.high if end else value) + 0.0
            if self.times:
                value = _DECIMALS.multiply(value, self.step)
            else:
                value = _DECIMALS.add(self.low, _DECIMALS.multiply(self.step, index))


def read_range(text: str) -> Range:
    """Read a range.

    Raises:
        WrongValueError: a predicate that the caller completes, with a hint.
    """
    if (match := _RANGE.fullmatch(text.strip())) is None:
        raise WrongValueError("is not a range", RANGE_WRITTEN)
    start, end, times = match["low"].strip(), match["high"].strip(), match["times"] or ""
    end = end.removesuffix("by").strip()
    low, high = _decimal(start), _decimal(end)
    if match["step"] is None:
        raise WrongValueError("does not say its step", RANGE_WRITTEN)
    made = Range(low, high, _decimal(match["step"]), bool(times))
    if low == high:
        raise WrongValueError("holds one number alone", f"write the number itself, {start}")
    if low > high:
        meant = f"write {end}..{start} by {times}{match['step'].lstrip('-')}"
        raise WrongValueError("holds no number: its end is below its start", meant)
    if times and (low <= 0 or made.step <= 1):
        raise WrongValueError("needs a start above 0, and a factor above 1", RANGE_WRITTEN)
    if made.step <= 0:
        raise WrongValueError("needs a step above 0", RANGE_WRITTEN)
    if made.length > MOST_CASES:
        raise WrongValueError(f"has more than {MOST_CASES:,} values", "write a larger step")
    return made


def _decimal(text: str) -> Decimal:
    """The decimal number of a text; of an arithmetic expression, the shortest for its value."""
    try:
        number = parse_number(text)
    except ValueError as error:
        says = f"is not a range: {shortened(text.strip())!r} {error}"
        raise WrongValueError(says, RANGE_WRITTEN) from None
    return Decimal(text.strip() if _DECIMAL.fullmatch(text) else format_value(number))


def read_values(text: str) -> tuple[ParameterValue, ...]:
    """The values that a text stands for: those of a range, or a single one.

    Raises:
        WrongValueError: a predicate that the caller completes, with a hint.

    >>> read_values("0.5"), read_values("1..3 by 1")
    ((0.5,), (1.0, 2.0, 3.0))
    """
    if _ELSEWHERE.match(text.strip()):
        raise WrongValueError("is a range in other words", RANGE_WRITTEN)
    if ".." in text:
        return tuple(read_range(text).values())
    try:
        return (parse_value(text),)
    except ValueError as error:
        raise WrongValueError(str(error), value_hint(text, error)) from None


def values_of(data: object) -> tuple[ParameterValue, ...]:
    """The values that a number, a list of numbers or a text stands for, in a file or in Python.

    Raises:
        WrongValueError: a predicate that the caller completes.

    >>> values_of(1), values_of([0.5, "1/4"]), values_of("1..3 by 1")
    ((1.0,), ((0.5, 0.25),), (1.0, 2.0, 3.0))
    """
    if isinstance(data, str):
        try:
            return read_values(data)
        except WrongValueError as error:
            says = f"must be {KINDS_OF_VALUE}, and {shortened(data)!r} {error}"
            raise WrongValueError(says, error.hint) from None
    return (_vector(data) if isinstance(data, list | tuple) else _number(data),)


def _number(data: object, kind: str = KINDS_OF_VALUE, hint: str = ACCEPTED) -> float:
    number: Any = data
    if isinstance(data, bool) or not isinstance(data, Real):
        hint = "write 1 or 0" if isinstance(data, bool) else hint
        raise WrongValueError(f"must be {kind}, and is {described(data)}", hint)
    if not abs(number) <= LARGEST_NUMBER:  # or NaN
        raise WrongValueError("must be a finite number", ACCEPTED)
    return number if isinstance(number, WrittenNumber) else float(number) + 0.0  # -0.0 is 0.0


def _vector(items: Sequence[object], depth: int = 0) -> Vector:
    """Numbers as a vector, or vectors as the rows of a matrix."""
    if not items:
        raise WrongValueError("is an empty list", None)
    entries: list[float | Vector] = []
    for place, one in enumerate(items[: MOST_ENTRIES + 1]):
        try:
            if depth == 0 and isinstance(one, list | tuple):
                entries.append(_vector(one, 1))
            else:
                entries.append(_entry(one))
        except WrongValueError as error:
            raise WrongValueError(str(error), error.hint, (place, *error.path)) from None
    lengths = [len(one) if isinstance(one, tuple) else 0 for one in entries]
    if len({*lengths}) > 1:
        raise WrongValueError("has rows of different lengths", None)
    if sum(lengths) + lengths.count(0) > MOST_ENTRIES:
        raise WrongValueError(TOO_MANY_ENTRIES, None)
    return tuple(entries)


def _entry(data: object) -> float:
    hint = "a vector holds numbers: [0.5, -1, 3]"
    if not isinstance(data, str):
        return _number(data, "a number", hint)
    try:
        return parse_number(data)
    except ValueError as error:
        plain = isinstance(error, NotANumberError)
        says = f"is {described(data)}" if plain else f"{described(data)} {error}"
        raise WrongValueError(f"must be a number, and {says}", hint) from None


def described(data: object) -> str:
    r"""Data in a message: `'banana'`, `empty`, `a list`, `a mapping`.

    >>> described("a\n  b"), described(None), described([1]), described(print)
    ("'a b'", 'empty', 'a list', "a value of type 'builtin_function_or_method'")
    """
    match data:
        case str():
            return repr(shortened(" ".join(data.split())))
        case list() | tuple():
            return "a list"
        case Mapping():
            return "a mapping"
        case bool():
            return "a truth value"
        case None:
            return "empty"
    return f"a value of type {type(data).__name__!r}"


def count_values(text: str) -> int:
    """How many values a text stands for; 1 if it cannot be read."""
    try:
        return read_range(text).length if ".." in text else 1
    except WrongValueError:
        return 1


# ---- as text -------------------------------------------------------------------------------------


def format_value(value: ParameterValue) -> str:
    """The shortest usual text of a value that reads back as the same float64.

    >>> [format_value(v) for v in (512.0, 0.1, 1e6, 1048576.0, 1e-9, -0.5, "normal(0, 1)")]
    ['512', '0.1', '1e6', '1048576', '1e-9', '-0.5', 'normal(0, 1)']
    >>> format_value((0.5, -1.0, 3.0))
    '[0.5, -1, 3]'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return f"[{', '.join(map(format_value, value))}]"
    if not math.isfinite(value):
        return repr(value)
    usual = str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(value)
    mantissa, _, exponent = f"{Decimal(repr(float(value))).normalize():e}".partition("e")
    scientific = f"{mantissa}e{int(exponent)}"
    ordinary = 1e-4 <= abs(value) < 1e6 or value == 0
    return usual if ordinary or len(usual) <= len(scientific) else scientific


def format_parameters(
    parameters: Mapping[str, ParameterValue], separator: str = ", ", equals: str = "="
) -> str:
    """Parameters and values for messages and reports.

    >>> format_parameters({"dk": 512.0, "p": 0.1}), format_parameters({"dk": 512.0}, equals=" = ")
    ('dk=512, p=0.1', 'dk = 512')
    """
    return separator.join(f"{name}{equals}{format_value(one)}" for name, one in parameters.items())


def short_parameters(parameters: Mapping[str, ParameterValue]) -> str:
    """Parameters and values for tables.

    >>> short_parameters({"p": 1 / 3, "law": "normal(0, 1)"})
    'p=1/3, law=normal(0, 1)'
    """
    return ", ".join(f"{name}={short_value(value)}" for name, value in parameters.items())


def short_value(value: ParameterValue) -> str:
    """A value for tables: only some entries of a long vector.

    A number that nobody wrote as a decimal is the fraction that it is, or has six figures.

    >>> short_value(tuple(map(float, range(60)))), short_value(1 / 3), short_value(2**0.5)
    ('[0, 1, 2, 3, … 59, 60 entries]', '1/3', '1.41421')
    """
    if isinstance(value, float) and decimal_text(value) is None:
        near = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
        fraction = near.denominator > 1 and float(near) == value
        return str(near) if fraction else format_value(float(f"{value:.6g}"))
    if not isinstance(value, tuple):
        return format_value(value)
    entries = [*map(short_value, value)]
    if len(whole := f"[{', '.join(entries)}]") <= LONGEST_SHOWN:
        return whole
    more = [f"… {entries[-1]}", f"{len(value)} entries"] if len(value) > 4 else []
    return f"[{', '.join([*entries[:4], *more])}]"


parameter_text = partial(format_parameters, equals=" = ")
"""Parameters and values for sentences."""


def case_name(claim: str, parameters: Mapping[str, ParameterValue]) -> str:
    """The name of a case in the style of test runners.

    >>> case_name("qk-variance", {"dk": 512.0, "p": 0.1}), case_name("clt", {})
    ('qk-variance[dk=512,p=0.1]', 'clt')
    """
    return f"{claim}[{format_parameters(parameters, ',')}]" if parameters else claim
