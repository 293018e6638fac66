"""Checks of a text before Python's grammar reads it, and clear messages for what that refuses.

Before: comments, brackets, characters, lines that continue. This also refuses what could exhaust
the parser, and what it would report at the wrong place. After: a syntax error becomes a message
about the likely mistake.
"""

from __future__ import annotations

import keyword
import re
import string

from dropcheck.claims.registry import SourceText
from dropcheck.claims.values import LONGEST_NAME
from dropcheck.errors import DropcheckError
from dropcheck.language.suggestions import NO_FUNCTIONS, argument_hint, function_hint
from dropcheck.language.syntax import Position
from dropcheck.vocabulary.functions.other_words import COMPLEX, DERIVATIVE, INTEGRAL
from dropcheck.vocabulary.latex_words import CALLED, GROUPED, LETTERS, LOGIC, RELATIONS
from dropcheck.vocabulary.operators import OPERATORS
from dropcheck.vocabulary.relations import INDEPENDENT, INDEPENDENT_ELSEWHERE, SIGNATURE

# Limits of a text: far above what anybody writes, far below what could exhaust the parser.
LONGEST_EXPRESSION = 20_000  # characters
LONGEST_MODEL = 400_000
DEEPEST_BRACKETS = 60

_LONG_NAME = re.compile(rf"(?<!\w)[^\W\d]\w{{{LONGEST_NAME},}}")
_RESERVED = "|".join(sorted({*keyword.kwlist} - {"and", "else", "if", "not", "or"}))
# An argument whose name is a keyword of Python, and the call it is in.
_RESERVED_ARGUMENT = re.compile(rf"([^\W\d]\w*)\s*\((?:[^()]*,)?\s*({_RESERVED})\s*=(?!=)")
# A condition in words, as in E(x given x > 0), and the call it is in.
_GIVEN_IN_WORDS = re.compile(r"([^\W\d]\w*)\(([^()]*[^\s(),])\s+(given)\s+(?!=)([^()]*[^()\s])\)")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_BRACKET = re.compile(r"[()\[\]{}]")
# Characters that people type from a paper, from another language or a mathematical keyboard.
_SIGNS = {
    "≤": "write <=", "≥": "write >=", "≠": "write !=", "×": "write *", "·": "write *",
    "÷": "write /", "−": "write -", "–": "write -", "²": "write **2", "³": "write **3",
    "√": "write sqrt(…)", "∞": "write inf", "∼": "write ~", "∧": "write and", "∨": "write or",
    "¬": "write not", "∑": "write sum(…)", "∏": "write prod(…)", "ᵀ": "write .T",
    "⊤": "write .T", "‖": "write norm(x)",
    "∂": DERIVATIVE,
    "∇": DERIVATIVE,
    "∫": INTEGRAL,
    "≈": "write '==' and give a 'tolerance' or 'within', or isclose(a, b) of each draw",
    "±": "write the number, and the share that it may be off as 'tolerance'",
    "…": "write the numbers themselves",
    "∈": "write a comparison, or any(…)",
    "^": "write '**' for a power",
    "&": "write 'and'",
    "|": "write 'or', abs(x) for a magnitude, and given=event for a condition",
    "!": "write factorial(n), and 'not' for negation",
    "?": "write 'a if c else b'",
    "$": "write names without it",
    ";": "write each definition on a line of its own",
}  # fmt: skip
# Pairs of characters that would be read as two operators.
_PAIRS = {
    "+-": "write '-' for a difference; give and take is 'within' or 'tolerance'",
    "~=": "write '=='; of a figure that is printed as 0.25 the range, 0.245 <= L <= 0.255, which "
    "'~=' stands for in the marks of a document",
}
_SIGN_OF_INDEPENDENCE = (
    rf"(?:{'|'.join(map(re.escape, sorted(INDEPENDENT_ELSEWHERE, reverse=True)))})(?![^\W\d_])"
)
_COMMANDS: dict[str, str] = {
    **{command: name for command, (name, _) in GROUPED.items()},
    **RELATIONS, **LOGIC, **CALLED, **LETTERS,
}  # fmt: skip
_INDEPENDENCE = re.compile(rf"{_SIGN_OF_INDEPENDENCE}(?:[\s\\!]*{_SIGN_OF_INDEPENDENCE})*")
_QUOTES = "'\"`“”‘’«»"
# Other characters are checked one by one.
_PLAIN = frozenset(string.ascii_letters + string.digits + " \t_+-*/%@<>=~.,:()[]{}")
NO_COMPREHENSION = (
    "functions go over the elements of an array by themselves: sum(x**2), where(x > 0, x, 0); a "
    "recurrence is a loop in the model, for t in range(T):"
)
# Likely mistakes in a line that Python's grammar refuses: pattern, message, hint. The patterns are
# not compiled in advance: that took a millisecond of every start.
_LIKELY = (
    (
        r"[\w)\]]\s+(within|tolerance|resolution)\b",
        "{0} is a key of its own, and not a part of the statement",
        "write it on a line below 'claim', as in {0}: 0.1",
    ),
    (
        r"\b(for|while)\b",
        "{} does not stand in an expression",
        "a recurrence is a loop in the model: for t in range(T):, and its lines indented below",
    ),
    (r"\b(lambda)\s+\w[^:]*:", "{} is not part of the language", NO_FUNCTIONS),
    (
        rf"\b(?:{_RESERVED})\b",
        "{} is a word of Python's grammar, and cannot be a name",
        "choose another name, such as {}_",
    ),
    (
        r"(?<![\w.])\d+(?:\.\d*)?([ij])(?!\w)",
        "complex numbers are not part of the language, nor is a number beside a name",
        f"of a product write 2 * i; {COMPLEX}",
    ),
    (
        r"(?<![\w.])\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?\s*(?!(?:and|or|not|if|else)\b)[^\W\d]\w*",
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
        "draw on a line of the model; a law alone has no name before it",
    ),
)


def without_comments(text: str) -> list[str]:
    r"""The lines of a text without their comments.

    >>> without_comments("a + 1  # one more\r\nb")
    ['a + 1  ', 'b']
    """
    return [line.split("#", 1)[0].removesuffix("\r") for line in text.split("\n")]


def check_brackets(source: SourceText, lines: list[str], longest: int) -> None:
    """Refuse brackets that do not match or are nested too deeply, and texts that are too long.

    `lines` are all lines of the source, without comments.

    Raises:
        DropcheckError: at the first such bracket.
    """
    if sum(map(len, lines)) > longest:
        raise Position(source, 0, 0).error(
            f"this text is longer than {longest:,} characters",
            "put what repeats in an array: a shape in brackets draws many values on one line",
        )
    open_brackets: list[tuple[str, Position]] = []
    for number, line in enumerate(lines):
        for found in _BRACKET.finditer(line):
            character, at = found.group(), Position(source, number, found.start())
            if character in _CLOSES:
                _close(character, at, open_brackets)
                continue
            open_brackets.append((character, at))
            if len(open_brackets) > DEEPEST_BRACKETS:
                raise at.error(
                    f"brackets are nested deeper than {DEEPEST_BRACKETS} levels",
                    "name a part of it on a line of the model",
                )
    if open_brackets:
        opened, at = open_brackets[-1]
        raise at.error(f"{opened!r} is never closed", "close it")


def _close(character: str, at: Position, open_brackets: list[tuple[str, Position]]) -> None:
    if not open_brackets:
        raise at.error(f"{character!r} closes a bracket that was never opened", "take it out")
    opened, place = open_brackets.pop()
    if opened != _CLOSES[character]:
        where = f"column {place.location.column}"
        if place.line != at.line:
            where = f"line {place.location.line}"
        raise at.error(
            f"{character!r} closes {opened!r} of {where}",
            "brackets close in the order in which they were opened",
        )


def check_signs(source: SourceText, first: int, lines: list[str]) -> None:
    """Refuse characters that the language lacks; `first` is the number of the first line.

    Raises:
        DropcheckError: at the first such character.
    """
    for number, line in enumerate(lines, first):
        long = _LONG_NAME.search(line)
        if long is not None:
            raise Position(source, number, long.start()).error(
                f"a name has at most {LONGEST_NAME} characters", "choose a shorter name"
            )
        for sign, hint in _PAIRS.items():
            if sign in line:
                at = Position(source, number, line.find(sign))
                raise at.error(f"{sign!r} is not part of the language", hint)
        if _PLAIN.issuperset(line):
            continue
        _refuse_independence(source, number, line)
        for column, character in enumerate(line):
            if character in _PLAIN or (character == "!" and line[column + 1 : column + 2] == "="):
                continue
            at = Position(source, number, column)
            if character in _QUOTES:
                raise _quoted(at, line)
            if character == "\\":
                raise _command(at, line)
            if character in _SIGNS:
                raise at.error(f"{character!r} is not part of the language", _SIGNS[character])
            if not character.isprintable():
                raise at.error(
                    f"an invisible character stands here (U+{ord(character):04X})",
                    "delete it, and type a space if one is meant",
                )
            if not f"a{character}".isidentifier():
                raise at.error(
                    f"{character!r} is not part of the language",
                    "names are letters, digits and '_'; signs are those of Python's arithmetic",
                )


def _refuse_independence(source: SourceText, number: int, line: str) -> None:
    """Refuse the symbol for independence.

    Raises:
        DropcheckError: the hint has both sides as arguments of `independent`.
    """
    found = _INDEPENDENCE.search(line)
    if found is None:
        return
    sides = [line[: found.start()].strip(), line[found.end() :].strip()]
    named = all(re.fullmatch(r"[\w.\[\]+\-*/ ]+", side) for side in sides)
    meant = f"{INDEPENDENT}({', '.join(sides)})" if named else SIGNATURE
    message = f"'{found.group()}' is not part of the language"
    raise Position(source, number, found.start()).error(message, f"write {meant}")


def _command(at: Position, line: str) -> DropcheckError:
    """The error for a backslash: a command of LaTeX, or a line that continues."""
    found = re.compile(r"\\[^\W\d_]+").match(line, at.column)
    if found is None:
        message = "'\\' is not part of the language"
        return at.error(message, "an open bracket goes on over lines by itself")
    word = found.group()
    known = _COMMANDS.get(word)
    return at.error(
        f"'{word}' is a command of LaTeX, which is read in documents alone",
        "names are written without it, and formulas as in Python: (a + b) / c"
        if known is None
        else f"write {known}",
    )


def _quoted(at: Position, line: str) -> DropcheckError:
    """The error for a quote: a prime, an argument that is a string, or any other string."""
    before, after = line[: at.column], line[at.column + 1 :]
    if re.search(r"[\w)\]]$", before) and line[at.column] not in after:
        prime = f"write A.T for a transpose; {DERIVATIVE}"
        return at.error("a prime is not part of the language", prime)
    call = re.search(r"([^\W\d]\w*)\([^()]*$", before)
    if call is None:
        hint = "names and numbers need no quotes; a law is written without them in a model"
        return at.error("the language has no strings", hint)
    name = call.group(1)
    known = argument_hint(name)
    if known is not None:
        return at.error("the language has no strings", f"arguments are numbers: {known}")
    if name in OPERATORS:
        written = OPERATORS[name].written
        return at.error("the language has no strings", f"names need no quotes: write {written}")
    message = f"{name!r} is not a function of the language, which has no strings"
    return Position(at.source, at.line, call.start(1)).error(message, function_hint(name))


def logical_lines(lines: list[str]) -> list[tuple[int, list[str]]]:
    """Lines joined while a bracket is open: (number of the first line, the lines).

    >>> logical_lines(["a = [1,", "2]", "", "b = 3"])
    [(0, ['a = [1,', '2]']), (3, ['b = 3'])]
    """
    groups: list[tuple[int, list[str]]] = []
    depth = 0
    for number, line in enumerate(lines):
        if depth:
            groups[-1][1].append(line)
        elif line.strip():
            groups.append((number, [line]))
        depth += sum(line.count(b) for b in "([{") - sum(line.count(b) for b in ")]}")
    return groups


def syntax_error(
    source: SourceText, first: int, lines: list[str], error: SyntaxError
) -> DropcheckError:
    """Python's syntax error as an error of ours, at its place in the file.

    Line number `first` of the source was the second line of the parsed text.
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
    if (found := _RESERVED_ARGUMENT.search(lines[line])) is not None:
        call, word = found.groups()
        return Position(source, first + line, found.start(2)).error(
            f"{word!r} is a word of Python's grammar, and no argument of {call} is called so",
            argument_hint(call) or "leave the name out, and give the arguments in their order",
        )
    if (found := _GIVEN_IN_WORDS.search(lines[line])) is not None:
        call, subject, _, event = found.groups()
        return Position(source, first + line, found.start(3)).error(
            "a condition is an argument by name, 'given=…', after a comma",
            f"write {call}({subject}, given={event})",
        )
    for pattern, message, hint in _LIKELY:
        found = re.search(pattern, lines[line])
        if found is not None:
            group = found.lastindex or 0
            place = Position(source, first + line, found.start(group))
            sign = found.group(group)
            return place.error(message.format(repr(sign)), hint.format(sign))
    message = "this cannot be read as an expression"
    if "comma" in detail:
        message += ": an operator or a comma is missing"
    return at.error(message, "the language has Python's arithmetic, comparisons and calls")
