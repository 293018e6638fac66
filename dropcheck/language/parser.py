"""Parses texts to syntax trees: expressions, lines of a model, statements.

Python's own parser reads the text, and `conversion` turns its tree into ours.
"""

from __future__ import annotations

import ast
import keyword
import re
import unicodedata
import warnings
from collections.abc import Iterator

from dropcheck.claims.registry import SourceText
from dropcheck.errors import MOST_PROBLEMS, DropcheckError, Problem, at_most
from dropcheck.language import indentation, text_checks
from dropcheck.language.conversion import Converter
from dropcheck.language.indentation import IndentedBlock
from dropcheck.language.syntax import (
    Call,
    Compare,
    Logic,
    Loop,
    Model,
    ModelLine,
    Name,
    Node,
    Position,
    Statement,
    always,
    of_every_draw,
)
from dropcheck.records import record
from dropcheck.vocabulary.functions import FUNCTIONS, hint_for
from dropcheck.vocabulary.relations import EXAMPLES, FOLLOWS, INDEPENDENT


def parse_expression(source: SourceText) -> Node:
    """The syntax tree of a text that is one expression.

    Raises:
        DropcheckError: at the first thing that is not part of the language.

    >>> parse_expression(SourceText.plain("2 * x"))
    Binary(operator='*', left=Number(value=2.0), right=Name(name='x'))
    """
    lines = text_checks.without_comments(source.text)
    text_checks.check_brackets(source, lines, text_checks.LONGEST_EXPRESSION)
    text_checks.check_signs(source, 0, lines)
    return _parse_lines(source, 0, lines)


def parse_model(source: SourceText) -> Model:
    r"""The lines of a model in order; the lines of a loop are within the loop.

    Raises:
        DropcheckError: the problems of all lines that cannot be parsed.

    >>> [line.drawn for line in parse_model(SourceText.plain("x ~ normal(0, 1)\ny = x + 1"))]
    [True, False]
    """
    found, unread = model_lines(source)
    if unread:
        raise DropcheckError(at_most(problem for one in unread for problem in one.problems))
    return found


@record
class UnreadLine:
    """A line of a model that cannot be parsed, and why."""

    text: str
    problems: tuple[Problem, ...]


def model_lines(source: SourceText) -> tuple[Model, tuple[UnreadLine, ...]]:
    """The lines of a model that can be parsed, and those that cannot.

    If the first line of a loop cannot be parsed, the lines of its body are treated as outside it.
    """
    lines = text_checks.without_comments(source.text)
    try:
        text_checks.check_brackets(source, lines, text_checks.LONGEST_MODEL)
    except DropcheckError as error:  # then it is not known where a line ends
        return (), (UnreadLine(source.text, error.problems),)
    blocks, errors = indentation.blocks(source, text_checks.logical_lines(lines))
    unread = [UnreadLine("", error.problems) for error in errors]
    return _parts(source, blocks, unread), tuple(unread)


def _parts(source: SourceText, blocks: list[IndentedBlock], unread: list[UnreadLine]) -> Model:
    """The lines of a model or of a loop's body; those that cannot be parsed go to `unread`."""
    parts: list[ModelLine | Loop] = []
    for block in blocks:
        if len(unread) >= MOST_PROBLEMS:
            break
        try:
            if block.loop:
                name, over = _loop_header(source, block)
            else:
                parts.append(_parse_model_line(source, block.first, block.rows))
                continue
        except DropcheckError as error:
            unread.append(UnreadLine("\n".join(block.rows), error.problems))
            parts.extend(_parts(source, block.body, unread))
            continue
        body = _parts(source, block.body, unread)
        blanks = len(block.rows[0]) - len(block.rows[0].lstrip())
        parts.append(Loop(Position(source, block.first, blanks), name, over, body))
    return tuple(parts)


def _loop_header(source: SourceText, block: IndentedBlock) -> tuple[Name, tuple[Node, ...]]:
    """The name that a loop counts with, and the arguments of its `range`.

    Raises:
        DropcheckError: the first line of the loop cannot be parsed.
    """
    indentation.refuse_other_counting(source, block.first, block.rows[0])
    text_checks.check_signs(source, block.first, block.rows)
    header = indentation.header(source, block.first, block.rows)
    name, *more = _names(source, block.first, header.name)
    if more:
        raise more[0].at.error(
            "a loop counts with one name", f"{indentation.HOW}; x[t] is element t of an array"
        )
    if not any(row.strip() for row in header.over):
        raise Position(source, block.first, len(header.over[0])).error(
            "what the loop goes through is missing", indentation.HOW
        )
    over = _parse_lines(source, block.first, header.over)
    if not isinstance(over, Call) or over.name != "range":
        raise over.at.error(
            "a loop goes through range(…)", f"{indentation.HOW}; x[t] is element t of an array"
        )
    if over.keywords or not 1 <= len(over.arguments) <= 3:
        raise over.at.error(
            "range takes one to three numbers", "write range(stop) or range(start, stop)"
        )
    return name, over.arguments


def parse_statement(source: SourceText) -> Statement:
    """A claim's statement: `L == R`, an inequality, a range, `x in {a, b}`, or one about laws.

    Raises:
        DropcheckError: it is not such a statement; the hint says how to write it.

    >>> parse_statement(SourceText.plain("E(x) == 1")).operators
    ('==',)
    >>> parse_statement(SourceText.plain("y ~ normal(0, 1)")).operators
    ('~',)
    """
    follows = _law_statement(source)
    if follows is not None:
        return follows
    node = parse_expression(source)
    if isinstance(node, Call) and node.name == INDEPENDENT:
        return Statement(node.at, (), (node,))
    if isinstance(node, Logic) and node.operator == "and":
        raise node.at.error(
            "a claim states one thing, and this joins several with 'and'",
            "write one claim for each, or P(… and …) == 1",
        )
    if of_every_draw(node):
        return always(node)
    if not isinstance(node, Compare):
        hint = "write 'L == R', an inequality such as 'L <= R', or a range 'a <= L <= b'"
        called = FUNCTIONS.get(node.name) if isinstance(node, Call) else None
        if isinstance(node, Logic) or (called is not None and called.truth):
            hint = f"claim its probability: P({' '.join(source.text.split())}) == 1"
        raise node.at.error("a claim compares two sides, and this is one side alone", hint)
    operators = node.operators
    if "!=" in operators:
        raise node.at.error(
            "'!=' cannot be verified by sampling: any two numbers may differ by less than is seen",
            "claim an inequality, '<' or '>', or 'L == R' with 'expect: refuted'",
        )
    rising = all(operator in ("<", "<=") for operator in operators)
    falling = all(operator in (">", ">=") for operator in operators)
    if len(operators) == 2 and not (rising or falling):
        raise node.at.error("a range needs two signs of the same direction", "write 'a <= L <= b'")
    if len(operators) > 2:
        raise node.at.error(
            "a claim has one or two signs of comparison, and this has more",
            "write 'L == R' or 'a <= L <= b', and one claim for each",
        )
    return Statement(node.at, operators, node.operands)


def _law_statement(source: SourceText) -> Statement | None:
    """`y ~ law` or `x ~ y`; None for a statement without `~`.

    Raises:
        DropcheckError: a side is missing or not an expression, or `~` is in brackets or repeated.
    """
    lines = text_checks.without_comments(source.text)
    places = [
        (number, column)
        for number, line in enumerate(lines)
        for column, sign in enumerate(line)
        if sign == FOLLOWS
    ]
    if not places:
        return None
    text_checks.check_brackets(source, lines, text_checks.LONGEST_EXPRESSION)
    text_checks.check_signs(source, 0, lines)
    row, column = places[0]
    at = Position(source, row, column)
    before = "".join(lines[:row]) + lines[row][:column]
    if len(places) > 1:
        raise Position(source, *places[1]).error(
            f"a claim has one {FOLLOWS!r}, and this is a second", "write one claim for each"
        )
    if sum(before.count(b) for b in "([{") != sum(before.count(b) for b in ")]}"):
        raise at.error(
            f"{FOLLOWS!r} stands within brackets",
            f"a claim about a law reads {EXAMPLES}, and nothing around it",
        )
    # Replace the other side by blanks, so that columns stay those of the file.
    left = [*lines[:row], lines[row][:column]]
    right = [*("" for _ in lines[:row]), " " * (column + 1) + lines[row][column + 1 :]]
    right += lines[row + 1 :]
    for side, words in ((left, "left"), (right, "right")):
        if not any(line.strip() for line in side):
            raise at.error(
                f"nothing stands {words} of {FOLLOWS!r}", f"write for example {EXAMPLES}"
            )
    operands = tuple(_parse_lines(source, 0, side) for side in (left, right))
    return Statement(at, (FOLLOWS,), operands)


# Python warns of digits that run into a word, as in 1or 2.
_WARNED_OF = re.compile(r"[\d.][^\W\d]")


def _parse(text: str) -> ast.Expression:
    if not _WARNED_OF.search(text):
        return ast.parse(text, mode="eval")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is about Python code
        return ast.parse(text, mode="eval")


# The shape of a draw after its name, `x[5] ~ normal(0, 1)`, where it does not belong.
_SHAPED = re.compile(r"\s*(\w+)\s*(\[[\w, ]+\])\s*~\s*(.{1,60}\))\s*$")
_MODEL_SIGN = re.compile(r"~|(?<![=!<>])=(?!=)|:=|<-")


def _parse_model_line(source: SourceText, first: int, group: list[str]) -> ModelLine:
    if sum(map(len, group)) > text_checks.LONGEST_EXPRESSION:
        raise Position(source, first, 0).error(
            f"this expression is longer than {text_checks.LONGEST_EXPRESSION:,} characters",
            "name a part of it on a line of the model",
        )
    text_checks.check_signs(source, first, group)
    here = Position(source, first, len(group[0]) - len(group[0].lstrip()))
    indentation.refuse_statement(source, first, group[0])
    sign = _MODEL_SIGN.search(group[0])
    opened = min((i for i in map(group[0].find, "([{") if i >= 0), default=len(group[0]))
    if sign is None or sign.start() > opened:
        shaped = _SHAPED.match(group[0])
        raise here.error(
            "a line of a model reads 'name ~ law' or 'name = expression'",
            "'~' draws from a law, '=' gives a name to an expression"
            if shaped is None
            else f"the shape of a draw follows its law: {shaped[1]} ~ {shaped[3]}{shaped[2]}",
        )
    if sign.group() not in ("~", "="):
        raise Position(source, first, sign.start()).error(
            f"{sign.group()!r} is not part of the language",
            "write '~' to draw from a law, '=' to name an expression",
        )
    drawn = sign.group() == "~"
    names = tuple(_names(source, first, group[0][: sign.start()]))
    if not drawn and len(names) > 1:
        raise here.error(
            "'=' names one expression, and this has several names",
            _of_several(right_of=group[0][sign.end() :]),
        )
    # Replace the left side by blanks, so that columns stay those of the file.
    right = [" " * sign.end() + group[0][sign.end() :], *group[1:]]
    if not any(line.strip() for line in right):
        raise Position(source, first, sign.end()).error(
            f"nothing stands right of {sign.group()!r}",
            "write a law such as normal(0, 1)" if drawn else "write an expression",
        )
    second = _second_definition(group[0], sign.end())
    if second is not None:
        raise Position(source, first, second).error(
            "a second definition begins on this line",
            "write each on a line of its own, under 'model: |'; 'model: >' folds lines into one",
        )
    return ModelLine(names, drawn, _parse_lines(source, first, right))


def _of_several(right_of: str) -> str:
    """What to write instead of `a, b = f(x)`."""
    called = re.match(r"\s*([^\W\d]\w*)\s*(\(|\Z)", right_of)
    known = None
    if called is not None:
        name, bracket = called.groups()
        known = hint_for(name) if bracket else f"{name}[0], {name}[1]"
    return f"write a line for each{f': {known}' if known else ''}"


# A name with a sign that defines it, after something that can end an expression.
_SECOND = re.compile(r"((?<!\w)\w+|[)\]])\s+([^\W\d]\w*)\s*(?:~|(?<![=!<>])=(?!=))")


def _second_definition(line: str, start: int) -> int | None:
    """The column, right of `start`, where a second definition begins, outside all brackets."""
    opened, counted = 0, start
    for found in _SECOND.finditer(line, start):
        before, counted = line[counted : found.start(2)], found.start(2)
        opened += sum(before.count(b) for b in "([{") - sum(before.count(b) for b in ")]}")
        if opened == 0 and not keyword.iskeyword(found[1]) and not keyword.iskeyword(found[2]):
            return found.start(2)
    return None


def _names(source: SourceText, first: int, text: str) -> Iterator[Name]:
    """The names left of a line's sign, normalized to NFKC as Python does."""
    column = 0
    for part in text.split(","):
        name = unicodedata.normalize("NFKC", part.strip())
        at = Position(source, first, column + len(part) - len(part.lstrip()))
        if keyword.iskeyword(name):
            raise at.error(
                f"{name!r} is a word of Python's grammar, and cannot be a name",
                f"choose another name, such as {name}_",
            )
        if not name.isidentifier():
            raise at.error(
                f"{name!r} cannot be a name" if name else "a name is missing here",
                "a name has letters, digits and underscores, and starts with a letter",
            )
        yield Name(at, name)
        column += len(part) + 1


def _parse_lines(source: SourceText, first: int, lines: list[str]) -> Node:
    """Parse lines that hold one expression; `first` is the number of the first line."""
    # In brackets, an expression may run over several lines.
    text = "(\n" + "\n".join(lines) + "\n)"
    if not text[2:-2].strip():
        raise Position(source, first, 0).error("an expression is missing here", "write one")
    try:
        tree = _parse(text)
    except SyntaxError as error:
        raise text_checks.syntax_error(source, first, lines, error) from None
    except (RecursionError, MemoryError, ValueError):
        raise Position(source, first, 0).error(
            "this expression is too long or too deeply nested to read",
            "name a part of it on a line of the model",
        ) from None
    return Converter(source, first, lines).convert(tree.body)
