"""The indentation of a model's lines: which lines belong to a loop, and how a loop begins.

Outside of loops, indentation means nothing. A loop's first line ends in a colon; the lines of its
body are indented further, all by the same blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language.suggestions import LONGEST_SHOWN, NO_FUNCTIONS
from dropcheck.language.syntax import Position
from dropcheck.records import record

DEEPEST_LOOPS = 8  # loops within one another

HOW = "write for t in range(T): and the lines of its body below it, indented"

# Statements of Python by their first word, and what to write instead.
_FREEZE = (
    "let the loop run to its end: to stop a state, keep its value by s = where(done, s, next); "
    "after the loop, first(event) tells at which step something happened"
)
_STATEMENTS = {
    "while": f"write for t in range(T): with a T that is large enough, and {_FREEZE}",
    "break": _FREEZE,
    "continue": "choose by where(c, a, b), or a if c else b, in each line",
    **dict.fromkeys(
        ("if", "elif", "else"), "choose within a line: x = a if c else b, or x = where(c, a, b)"
    ),
    **dict.fromkeys(("def", "class"), f"{NO_FUNCTIONS}, each with its name"),
    **dict.fromkeys(
        ("import", "from"), "the vocabulary is there without it: sqrt(x), not np.sqrt(x)"
    ),
    "assert": "claim it: a statement in 'claim', or a condition on parameters in 'requires'",
    "return": "name what is wanted on a line of the model, and claim about that name",
    "pass": "leave the line out",
}
_LOOP = re.compile(r"\s*for(?!\w)")
_IN = re.compile(r"(?<!\w)in(?!\w)")
_RANGE = re.compile(r"\s*range\(.*\)\s*")
# How other languages count: `for t in 1..10`, `for t = 1:10`, `for t from 1 to n`.
_COUNTED = (  # compiled only when it is used, which is seldom
    r"\s*for\s*\(?\s*(?P<name>[^\W\d]\w*)\s*(?:<-|:=|=|∈|\b(?:in|from)\b)\s*"
    r"(?P<low>-?\d+(?=\s*[.…:,]|\s+to\b)|[^\W\d]\w*(?=\s*(?:\.\.|…)|\s+to\b))"
    r"\s*(?:\.\.\.?|…|:|,|to\b)\s*(?P<high>\([\w+\-*/ ]+\)|[\w+\-*/ ]+?)"
    r"(?:\s+(?:by|step)\s+(?P<step>\w+))?\s*(?:\)?\s*[:{]?|do)\s*"
)
_REPEATED = re.compile(r"(?:repeat|loop)\s+([^:=~]+?)\s*:")
_COUNTED_UP = re.compile(r"([+\-*/%@]|\*\*|//)=(?!=)")


@record
class IndentedBlock:
    """A line of the model: the number of its first row, its rows, and the body of a loop."""

    first: int
    rows: list[str]
    loop: bool
    body: list[IndentedBlock] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A loop whose body is not complete: the blanks before the loop, and before its body."""

    block: IndentedBlock
    outer: str
    inner: str | None = None


def is_loop(row: str) -> bool:
    """Whether a line begins a loop.

    >>> is_loop("for t in range(3):"), is_loop("forest = 1")
    (True, False)
    """
    return _LOOP.match(row) is not None


def blocks(
    source: SourceText, groups: Iterable[tuple[int, list[str]]]
) -> tuple[list[IndentedBlock], list[DropcheckError]]:
    """The lines of a model as a tree of loops, and the errors in their indentation.

    Args:
        source: where the lines stand.
        groups: for each line the number of its first row, and its rows.
    """
    roots: list[IndentedBlock] = []
    errors: list[DropcheckError] = []
    opened: list[_Open] = []
    for first, rows in groups:
        blanks = rows[0][: len(rows[0]) - len(rows[0].lstrip())]
        at = Position(source, first, len(blanks))
        while opened and not _belongs(opened[-1], blanks, at, errors):
            _close(source, opened.pop(), errors)
        block = IndentedBlock(first, rows, is_loop(rows[0]))
        (opened[-1].block.body if opened else roots).append(block)
        if block.loop:
            if len(opened) >= DEEPEST_LOOPS:
                message = f"loops stand within one another deeper than {DEEPEST_LOOPS} levels"
                return roots, [*errors, at.error(message, "draw arrays in place of inner loops")]
            opened.append(_Open(block, blanks))
    for one in reversed(opened):
        _close(source, one, errors)
    return roots, errors


def _belongs(loop: _Open, blanks: str, at: Position, errors: list[DropcheckError]) -> bool:
    """Whether a line with these blanks is in the loop's body; a wrong indentation is an error."""
    if loop.inner is None:
        if len(blanks) > len(loop.outer) and blanks.startswith(loop.outer):
            loop.inner = blanks
            return True
        if len(blanks) <= len(loop.outer):
            return False
    elif blanks == loop.inner:
        return True
    elif len(blanks) <= len(loop.outer):
        return False
    if set(blanks + loop.outer + (loop.inner or "")) == {" ", "\t"}:
        message, hint = "tabs and blanks are mixed before this line", "indent by blanks alone"
    elif loop.block.body and _ends_in_colon(loop.block.body[-1].rows):
        return True  # after a line such as `if x > 1:`, which has an error of its own
    else:
        deeper = len(blanks) > len(loop.inner or loop.outer)
        message = f"this line is indented {'more' if deeper else 'less'} than the loop's first"
        hint = "indent all lines of a body alike"
    errors.append(at.error(message, hint))
    return True


def _close(source: SourceText, loop: _Open, errors: list[DropcheckError]) -> None:
    """Report a loop without a body."""
    if loop.inner is None and _ends_in_colon(loop.block.rows):
        at = Position(source, loop.block.first, len(loop.outer))
        hint = "indent at least one line below it, under 'model: |'"
        errors.append(at.error("this loop has no body", hint))


def _ends_in_colon(rows: list[str]) -> bool:
    return rows[-1].rstrip().endswith(":")


@record
class Header:
    """The parts of a loop's first line, as rows in which columns are kept."""

    name: str  # the text left of `in`, blanks in place of `for`
    over: list[str]


def header(source: SourceText, first: int, rows: list[str]) -> Header:
    """The parts of a loop's first line. Blanks replace the rest, so that columns are kept.

    Raises:
        DropcheckError: the line is not of the form `for name in …:`.
    """
    found = _LOOP.match(rows[0])
    within = _IN.search(rows[0])
    if found is None or within is None:
        at = Position(source, first, len(rows[0]) - len(rows[0].lstrip()))
        raise at.error("a loop's first line reads 'for t in range(T):'", HOW)
    colon = _colon(rows, within.end())
    if colon is None:
        at = Position(source, first + len(rows) - 1, len(rows[-1].rstrip()))
        complete = within is not None and _RANGE.fullmatch(rows[-1], within.end())
        short = len(rows) == 1 and len(rows[0]) <= LONGEST_SHOWN
        hint = f"write {rows[0].strip()}:" if complete and short else HOW
        raise at.error("a loop's first line ends in ':'", hint)
    row, column = colon
    if rows[row][column + 1 :].strip() or row + 1 < len(rows):
        at = Position(source, first + row, column + 1)
        raise at.error(
            "the body of a loop stands below its first line",
            "write each of its lines on a line of its own, indented, under 'model: |'; 'model: >' "
            "folds lines into one",
        )
    name = " " * found.end() + rows[0][found.end() : within.start()]
    over = [" " * within.end() + rows[0][within.end() :], *rows[1:]]
    over[row] = over[row][:column]
    return Header(name, over)


def refuse_other_counting(source: SourceText, first: int, row: str) -> None:
    """Refuse a loop's first line in the notation of another language.

    Raises:
        DropcheckError: it names the range to write instead.
    """
    counted = re.fullmatch(_COUNTED, row) if len(row) <= LONGEST_SHOWN else None
    if counted is None:
        return
    low, high, step = (counted[part] for part in ("low", "high", "step"))
    high = high.strip()
    less = re.fullmatch(r"(.*?)\s*-\s*1", high)
    stop = str(int(high) + 1) if high.isdecimal() else less[1] if less else f"{high} + 1"
    numbers = [stop] if low == "0" and step is None else [low, stop, *([step] if step else [])]
    raise Position(source, first, counted.start("low")).error(
        "a loop goes through range(…)",
        f"write for {counted['name']} in range({', '.join(numbers)}):",
    )


def _colon(rows: list[str], start: int) -> tuple[int, int] | None:
    """Row and column of the first colon that is outside of brackets."""
    depth = 0
    for row, text in enumerate(rows):
        for column in range(start if row == 0 else 0, len(text)):
            character = text[column]
            depth += (character in "([{") - (character in ")]}")
            if character == ":" and depth == 0:
                return row, column
    return None


def refuse_statement(source: SourceText, first: int, row: str) -> None:
    """Refuse a line that begins a Python statement that the language does not have.

    Raises:
        DropcheckError: it says what to write instead.
    """
    column = len(row) - len(row.lstrip())
    found = re.match(r"[^\W\d]\w*", row[column:])
    word = found.group() if found is not None else ""
    if word in _STATEMENTS:
        at = Position(source, first, column)
        raise at.error(f"{word!r} does not begin a line of the language", _STATEMENTS[word])
    end = column + len(word)
    rest = row[end:]
    repeated = _REPEATED.fullmatch(row.strip())
    if repeated is not None:
        at = Position(source, first, column)
        hint = f"write for t in range({repeated.group(1)}):"
        raise at.error(f"{word!r} does not begin a line of the language", hint)
    counted = _COUNTED_UP.match(rest.lstrip())
    if word and counted is not None:
        at = Position(source, first, end + len(rest) - len(rest.lstrip()))
        sign = counted.group(1)
        raise at.error(f"'{sign}=' is not part of the language", f"write {word} = {word} {sign} …")
    if word and re.match(r"\([^()]*\)\s*=(?!=)", rest):
        message = f"{word!r} cannot be defined: the language has no functions of one's own"
        raise Position(source, first, column).error(message, NO_FUNCTIONS)
    if word and re.match(r"\[[^\]]*\]\s*=(?!=)", rest):
        raise Position(source, first, end).error(
            "an element of an array cannot be given a value",
            f"in a loop, write {word} = … at each step: after the loop a new name is the array of "
            "its values; where(arange(n) == i, a, x) is x with a at place i",
        )
