"""What is likely to be wrong with a text that Python's grammar refuses, said plainly."""

from __future__ import annotations

import keyword
import re

from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language.syntax import Position

LOOP = "the language has no loops, and no {}"
NO_LOOPS = (
    "sum, cumsum and cumprod go over the elements of an array; code of your own is tried from "
    "Python, dropcheck.verify(…, sample=…)"
)
# What is likely to be wrong with a line that Python's grammar refuses: pattern, message, hint.
_LIKELY = tuple(
    (re.compile(pattern), message, hint)
    for pattern, message, hint in (
        (r"\b(for|while)\b", LOOP, NO_LOOPS),
        (
            rf"\b(?:{'|'.join(keyword.kwlist)})(?<!\band|\bnot)(?<!\bor|\bif)(?<!else)\b",
            "{} is a word of Python's grammar, and cannot be a name",
            "choose another name, such as {}_",
        ),
        (
            r"(?<![\w.])\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?\s*(?!(?:and|or|not|if|else)\b)[^\W\d]\w*",
            "a number and a name stand side by side",
            "write '*' between them: 2 * x, not 2x",
        ),
        (
            r"\d\s*(%)\s*(?=$|[)\],<>=!])",
            "{} is the remainder of a division, and its right side is missing",
            "write a percentage as a number: 0.05, not 5%",
        ),
        (r"[\w)\]]\[\s*\]", "an index is missing between the brackets", "write x[0]"),
        (r"=<", "{} does not compare", "write '<='"),
        (r"=>", "{} does not compare", "write '>='"),
        (r"<>", "{} does not compare", "write '!='"),
        (
            r"(?<![\w.])0\d",
            "a number starts with 0",
            "write it without: Python's grammar takes 010 for a mistake",
        ),
        (r"(?<![=!<>:])=(?!=)", "{} does not compare", "write '==' for equality"),
        (
            r"~",
            "{} draws, and stands only after the names of a model's line",
            "name the draw on a line of the model",
        ),
    )
)


def syntax_error(
    source: SourceText, first: int, lines: list[str], error: SyntaxError
) -> DropcheckError:
    """Python's complaint about an expression as one of ours, at its place in the file.

    Args:
        source: where the lines are from.
        first: the number of the first of them.
        lines: the lines that hold the expression; it was parsed from the second line on.
        error: what Python said.
    """
    line = (error.lineno or 2) - 2
    column = (error.offset or 1) - 1
    if line >= len(lines):  # the text ends too early
        line, column = len(lines) - 1, len(lines[-1].rstrip())
    line = max(line, 0)
    at = Position(source, first + line, min(max(column, 0), len(lines[line])))
    detail = error.msg or ""
    if "positional argument follows" in detail:
        return at.error(
            "an argument by position stands after one by name", "write those by name last"
        )
    if "digits" in detail:  # of a whole number with thousands of them
        digits = re.search(r"\d[\d_]{308,}", lines[line])
        place = at if digits is None else Position(source, first + line, digits.start())
        return place.error("this number is too large for a float64", "the largest is about 1.8e308")
    if "'else'" in detail:
        return at.error("'if' lacks its 'else'", "write 'a if condition else b'")
    for pattern, message, hint in _LIKELY:
        found = pattern.search(lines[line])
        if found is not None:
            group = found.lastindex or 0
            place = Position(source, first + line, found.start(group))
            sign = found.group(group)
            return place.error(message.format(repr(sign)), hint.format(sign))
    message = "this cannot be read as an expression"
    if "comma" in detail:
        message += ": an operator or a comma is missing"
    return at.error(message, "the language has Python's arithmetic, comparisons and calls")
