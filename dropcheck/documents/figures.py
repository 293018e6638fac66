"""The figure right before a mark, or in a formula: read if there is one way to read it.

`3-4`, `1.0.68`, `v1.2` and `1,23` are refused.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

WHOLE = "write the number and what it is in the mark, as in dropcheck: E(y) ~= 0.5"

_SEPARATOR = "write a thousands separator, as in 12,345"

# Ends of emphasis, code and mathematics, which may stand between a figure and its mark.
_CLOSERS = re.compile(r"(?:[.,;]?\s*(?:\$\$?|\\[)\]]))?[*_`$]*\Z")
MINUS = "-\N{MINUS SIGN}"
# Separators of thousands. A plain space is not one: "in 12 345 draws" may be two numbers.
GROUP = r"(?:,|\{,\}|_|'|’|\\,|[\N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}\N{THIN SPACE}])"
_NUMBER = rf"(?:[0-9]{{1,3}}(?:{GROUP}[0-9]{{3}})+|[0-9]+)?(?:\.[0-9]+)?"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
# A bare 10 is read as a power only with a minus sign: otherwise the raised number may be a note's.
_EXPONENT = (
    rf"(?:[eE](?P<e>[{MINUS}+]?[0-9]{{1,3}})"
    r"|(?:(?P<times>\s?(?:×|·|\\times|\\cdot)\s?10)"
    rf"|(?<=10)(?<![0-9.]10)(?=\^\{{?[{MINUS}]|⁻))"
    rf"(?:\^\{{?(?P<power>[{MINUS}]?[0-9]{{1,3}})\}}?"
    r"|(?P<raised>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})))"
)
_PERCENT = (
    r"(?P<percent>(?:\\,|&(?:nbsp|thinsp|#160|#xa0|#8239|#x202f);"
    r"|[ \N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}\N{THIN SPACE}])?\\?%)"
)
FIGURE = rf"(?P<number>{_NUMBER}){_EXPONENT}?{_PERCENT}?"
"""A regular expression for figures; it also matches the empty text."""
_FIGURE = re.compile(rf"{FIGURE}\Z")
FRACTION = (
    r"(?:(?P<above>[1-9][0-9]{0,8})/(?P<below>[1-9][0-9]{0,8})"
    r"|\\[td]?frac\s*(?:\{(?P<over>[0-9]{1,9})\}\s*\{(?P<under>[1-9][0-9]{0,8})\}"
    r"|(?P<one>[0-9])\s*(?P<other>[1-9])))"
)
"""A regular expression for a fraction of two whole numbers."""
_FRACTION = re.compile(rf"{FRACTION}\Z")
_LAST = frozenset("0123456789%⁰¹²³⁴⁵⁶⁷⁸⁹")
# No figure is longer, so a search reads only so many characters.
LONGEST_FIGURE = 80


class UnreadError(Exception):
    """Why a figure or a formula cannot be read; `column` counts from 0 in its text."""

    def __init__(self, column: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.column, self.message, self.hint = column, message, hint


@dataclass(frozen=True, slots=True)
class Figure:
    """A printed number: `text[start:end]`, including its sign, exponent and percent sign.

    `digits` is the exact number, and `unit` the value of the last printed digit: 0.01 for 41%,
    0.001 for 0.900. A fraction has neither. `written` is the figure in the language.
    """

    written: str
    digits: Decimal | None
    unit: Decimal | None
    start: int
    end: int
    percent: bool = False


def read_before(text: str, end: int) -> Figure | None:
    r"""The figure that ends at `end`, or before the ends of emphasis, code or mathematics there.

    Args:
        text: a passage of a document.
        end: where the mark begins.

    Returns:
        None if the text does not end in a digit or a percent sign.

    Raises:
        UnreadError: there may be several ways to read it.

    >>> read_before("raises it by **41%**", 20).unit
    Decimal('0.01')
    >>> read_before(r"$1.20 \times 10^{-3}$", 21).digits
    Decimal('0.00120')
    >>> read_before("in 1/3", 6).written
    '1 / 3'
    """
    closed = _CLOSERS.search(text, max(0, end - LONGEST_FIGURE), end)
    stop = closed.start() if closed is not None else end
    last = text[stop - 1] if stop else ""
    if last not in _LAST and last != "}":
        return None
    fraction = _FRACTION.search(text, max(0, stop - LONGEST_FIGURE), stop)
    if fraction is not None:
        return _of_fraction(text, fraction)
    found = _longest(text, stop)
    if found is None:
        if last == "}":  # it is not the end of $10^{-3}$
            return None
        raise UnreadError(stop - 1, "no number stands before this sign", WHOLE)
    printed = found["number"]
    start = _beginning(text, found.start(), stop)
    if is_power(found) and _FACTOR.search(seen(text[max(0, start - LONGEST_FIGURE) : start])):
        raise UnreadError(start, "what this power multiplies is not read", WHOLE)
    whole = re.sub(GROUP, "", printed)
    if re.match(rf"0+{GROUP}", printed):
        raise UnreadError(start, f"{printed!r} may have a decimal comma", "write a decimal point")
    if re.match("0[0-9]", whole):
        raise UnreadError(start, f"{printed!r} begins with 0, as a code does", WHOLE)
    power = found["e"] or found["power"] or (found["raised"] or "").translate(_SUPERSCRIPTS) or "0"
    shift = int(power.replace("\N{MINUS SIGN}", "-")) - (2 if found["percent"] else 0)
    number = Decimal(1 if is_power(found) else whole)
    digits = number.scaleb(shift)
    if text[start] in MINUS:
        digits = -digits
    places = number.as_tuple().exponent
    assert isinstance(places, int)  # the number is finite
    unit = Decimal(1).scaleb(places + shift)
    if math.ulp(float(digits)) > unit:
        message = f"{text[start:stop]!r} has more digits than a number of 64 bits holds"
        raise UnreadError(start, message, "print 15 digits at most, or a power of ten")
    plain = unit <= 1 and -9 <= digits.adjusted() <= 15
    written = f"{digits:f}" if plain else f"{digits:e}".replace("e+", "e")
    return Figure(written, digits, unit, start, stop, bool(found["percent"]))


def _of_fraction(text: str, found: re.Match[str]) -> Figure:
    above, below = (one for one in found.groups() if one is not None)
    start = _beginning(text, found.start(), found.end())
    if re.search(r"[0-9][\s*_`]*\Z", text[max(0, start - LONGEST_FIGURE) : start]):
        raise UnreadError(start, "a number before a fraction may be a part of it", WHOLE)
    sign = "-" if text[start] in MINUS else ""
    return Figure(f"{sign}{above} / {below}", None, None, start, found.end())


def is_power(found: re.Match[str]) -> bool:
    """Whether a match of FIGURE is a bare power of ten, so that its number is the base, 10."""
    raised = found["power"] or found["raised"]
    return raised is not None and found["times"] is None


# A factor before a power of ten.
_FACTOR = re.compile(r"(?:[0-9)\]}]|times)\s*\Z")
# Characters between a figure and something that it may be a part of.
_BETWEEN = re.compile(r"(?:[\s*_`$]|\\[,;:! ])*\Z")
_TAG = re.compile(r"<(?P<raised>su[bp]\b)?[^<>]*>", re.IGNORECASE)
_BULLET = re.compile(r"(?:\A|\n)[ \t]*[-+*][ \t]+[*_`$]*\Z")
# A figure may begin after one of these: opening brackets, relations, arrows, cells, currency signs.
_RELATIONS = "=<>≈≤≥≃≅∼≲≳≪≫⩽⩾→⇒⟶⟹↑↓"
_BEFORE = frozenset(("", *_RELATIONS, *"([{\"'“‘«|&€£¥₹¢"))
# After white space, it may also follow a word, a number or the end of a sentence.
_BEFORE_SPACES = _BEFORE | frozenset(")]}.,;:!?”’»%—~#\\•…")
# Words and signs that belong to their operand even across a space.
_OPERATION = re.compile(
    r"(?:!=|[0-9]\s?[:x…]|\b(?:minus|negative|sqrt|log|ln|exp|mod)"
    r"|\\(?:times|cdot|sqrt|ln|exp|pm|mp|neq|ne|div|over|bmod|log(?:_(?:\w|\{\w+\}))?))\Z"
)
_SEVERAL_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}\Z")
# Words before a number that only numbers something. In lower case, some of these are verbs or have
# other meanings ("the figure 0.41", "it claims 0.5"): those count only with a capital.
NUMBERED = (
    r"(?:§{1,2}"
    r"|\b(?:[Ss]ections?|[Ss]ecs?\.|[Cc]hapters?|[Cc]h(?:ap)?s?\.|[Aa]ppendi(?:x|ces)|[Aa]pp\."
    r"|[Tt]ables?|[Tt]abs?\.|[Ff]igs?\.|[Ee]quations?|[Ee]q(?:n)?s?\.|[Tt]heorems?|[Tt]hms?\."
    r"|[Ll]emmas?|[Cc]orollar(?:y|ies)|[Pp]ropositions?|[Pp]rops?\.|[Dd]efinitions?|[Dd]efs?\."
    r"|[Aa]lgorithms?|[Aa]lgs?\.|[Vv]ersions?|[Vv]ers?\.|[Rr]eleases?|[Vv]\.?|[Pp]ages?|[Pp]p?\."
    r"|Figures?|Remarks?|Examples?|Exercises?|Problems?|Assumptions?|Conjectures?|Claims?|Parts?"
    r"|Volumes?|Vols?\.|Nos?\.|Steps?|Listings?|Notes?|Rules?|Python|RFC|ISO|Attribution|since"
    r"|arXiv:|[A-Z][0-9][A-Z]|CC(?:[ -](?:BY|NC|SA|ND|0)(?:-\w+)*)*))"
)
_LABELLED = re.compile(rf"{NUMBERED}[\s~]*[0-9]+(?:\.[0-9]+)*:\Z")


def _beginning(text: str, start: int, stop: int) -> int:
    """Where a number begins, including its sign.

    Raises:
        UnreadError: the text before it may make it a part of something else.
    """
    signed = start > 0 and text[start - 1] in (*MINUS, "+")
    first = start - 1 if signed else start
    written = text[max(0, first - LONGEST_FIGURE) : first]
    before = seen(written)
    if _BULLET.search(before):
        return first
    gap = _BETWEEN.search(before)
    between = gap.group() if gap is not None else ""
    head = before.removesuffix(between)
    last = head[-1:]
    apart = re.search(r"\s", between) is not None
    operation = _OPERATION.search(head) if between else None
    if _SEVERAL_GROUPS.search(head) and between and re.match(r"\d{3}(?!\d)", text[first:stop]):
        raise UnreadError(first - 1, "this may be one number or two", _SEPARATOR)
    if apart and _LABELLED.search(head):
        return first
    if operation is not None or re.search(r"\s\*+\s", between):
        last = operation.group() if operation is not None else between.strip()
    elif signed and apart and re.search(r"[0-9)\]]\Z", head):
        raise UnreadError(first, "this sign may be that of a difference", WHOLE)
    elif apart:
        if last in _BEFORE_SPACES or last.isalnum() or unicodedata.category(last) == "So":
            return first
    else:
        money = between == "$" and (last.isalpha() or last == "\\")  # US$5, \$5
        money = money and text[stop : stop + 1] != "$"
        if money or last in _BEFORE or _BEGINS.search(before):
            return first
    if before == written and not between:
        shown = re.split(r"\s", written[-12:] + text[first:stop])[-1]
        raise UnreadError(first - 1, f"{shown!r} may be read in several ways", WHOLE)
    at = max(0, first - len(between) - len(last))
    how = "stands before" if apart else "is glued to"
    raise UnreadError(at, f"{last!r} {how} this figure", WHOLE)


# Directly before a figure: "~" for about; a colon, a comma or a full stop, if it does not follow a
# number or a name, or if emphasis begins after it.
_BEGINS = re.compile(r"(?:(?:\A|[\s(])~[*_`$]*|(?<![\w\\])[,:]|[.,:;][*_`$]+)\Z")


def seen(text: str) -> str:
    """A passage without tags and entities, as far as they matter beside a figure.

    >>> seen("10<sup>&minus;"), seen("<b>-</b>")
    ('10^−', '-')
    """
    if "<" in text:
        text = _TAG.sub(lambda tag: "^" if tag["raised"] else "", text)
    return html.unescape(text) if "&" in text else text


_GOES_ON = re.compile(
    r"[*_`$]*(?:[0-9]|[.,:][0-9]|[eE][-+−]?[0-9]|[/⁄^⁰¹²³⁴⁵⁶⁷⁸⁹⁻¼½¾⅓⅔⅛]"
    rf"|(?:{GROUP}|\\[;:! ])[0-9]{{3}}|(?:\\[,;: ]|\s)?(?:\\?%|[‰‱])"
    r"|(?:\\[,;: ]|\s)?(?:[×·⋅]|\\times|\\cdot)(?:\\[,;: ]|\s)?(?:10|\{10))"
)
# A unit that multiplies the figure: 1.2M, 3 percent.
_UNIT = re.compile(
    r"[*_`$)\]\\]{0,4}(?:[kKMBGTm](?![a-zA-Z])|\s?-?(?:hundred|thousand|million|billion|trillion|dozen"
    r"|per ?cent|per ?mille|percentage|basis points|bps|bn|mn|mio|mrd|tn)\b)"
)


def goes_on(after: str) -> bool:
    """Whether a figure continues after its mark, as 41 does before a percent sign.

    >>> goes_on("% more"), goes_on("</b>.5"), goes_on(" % more"), goes_on(", 5% more")
    (True, True, True, False)
    >>> goes_on("M users"), goes_on(" million"), goes_on(" more")
    (True, True, False)
    """
    after = seen(after)
    return (_GOES_ON.match(after) or _UNIT.match(after)) is not None


def _longest(text: str, stop: int) -> re.Match[str] | None:
    """The longest figure that ends at `stop`."""
    for start in range(max(0, stop - LONGEST_FIGURE), stop):
        found = _FIGURE.match(text, start, stop)
        if found is not None and found["number"]:
            return found
    return None
