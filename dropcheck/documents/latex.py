r"""Reads a formula as statements of the language, or raises an error with a column: no guesses.

It reads a strict subset of LaTeX. The names of the model decide what a formula means: `d_k` is a
name if the model has it, and else an element of d; `qk` is a product if q and k are names and `qk`
is not. Elements count from 1 in formulas and from 0 in the language. `\cdot` between two vectors is
their inner product; two vectors side by side are refused. Whatever refuses raises a `LatexError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from operator import itemgetter

from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language import syntax
from dropcheck.language.hints import name_hint, slip_of
from dropcheck.language.parser import parse_expression
from dropcheck.language.printing import unparse, unparse_statement
from dropcheck.language.syntax import Binary, Call, Name, Negative, Node, Number, Position
from dropcheck.vocabulary.constants import PROBABILITY
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.reductions import PAIRWISE
from dropcheck.vocabulary.latex_words import (
    ACCENTS,
    AFTER,
    AND,
    CALLED,
    ENCLOSING,
    GREEK,
    GROUPED,
    IDENTITY_NAME,
    INDICATORS,
    INFINITY,
    INVERSE_NAME,
    LETTERS,
    LOGIC,
    MEAN_NAME,
    NAMES_OF_FUNCTIONS,
    NOT,
    OR,
    OUTER_NAME,
    PLACES_NAME,
    RELATIONS,
    SUM_NAME,
    TOTALS,
)
from dropcheck.vocabulary.operators import OPERATORS, hint_for
from dropcheck.vocabulary.shapes import ShapeError, ShapeRule, matmul

_LAST = re.compile(r"(?:[\s.,;$]|\\[,;: ])+\Z")


def statements(
    formula: str, axes: Mapping[str, int], notation: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    r"""The statements of a formula: one for each relation, or one for a range.

    Args:
        formula: LaTeX, with or without the dollars around it.
        axes: the names of the model and its parameters, with their numbers of axes.
        notation: pieces of LaTeX with the expressions that they stand for.

    Raises:
        LatexError: it is outside the subset, or there are several ways to read it.

    >>> statements(r"\operatorname{Var}(q \cdot k) = d_k", {"q": 1, "k": 1, "d_k": 0})
    ('Var(q @ k) == d_k',)
    >>> statements(r"\mathbb{E}[x] = \mu = 1 - p", {"x": 0, "mu": 0, "p": 0})
    ('E(x) == mu', 'mu == 1 - p')
    """
    reader = _FormulaReader(_LAST.sub("", formula), axes, notation or {})
    try:
        links = reader.links()
        return tuple(unparse_statement(syntax.Statement(reader.here, *link)) for link in links)
    except RecursionError:
        raise LatexError(0, "this formula is too deep", "name a part of it in the model") from None


# ---- tokens --------------------------------------------------------------------------------------


LONGEST = 5_000  # characters of a formula
IN_MARK = "write the statement in the mark"
NOTATION = "name it in 'notation'"
COMPLEMENT = r"write \lnot A for the event that A does not happen"
_EACH = "write a formula with its mark for each"
_RANGE = "write a range: a \\le x \\le b"
_ROUND = "mark the figure with ~="
_NO_STATEMENTS = (
    (r"\approx \simeq \lesssim \gtrsim \ll \gg", "an approximation is no statement", _ROUND),
    (r"\propto", "a proportion is no statement", "write the ratio: \\frac{x}{y} = c"),
    (r"\sim", "laws are not read from LaTeX", f"{IN_MARK}: y ~ normal(0, 1)"),
    (r"\stackrel \overset", "laws are not read from LaTeX", f"{IN_MARK}: x ~ y"),
    (r"\pm", "a figure with an uncertainty is not a statement", _RANGE),
    (r"\to \lim", "a limit is no statement", "claim a value at a large n"),
    (r"\int", "integrals are not read", "write a mean: E(f(u)) of a uniform u"),
    (r"\quad \qquad", "a formula may hold two statements here", _EACH),
    (r"\dots \ldots \cdots", "what is left out cannot be read", "write a sum with its range"),
    (r"\langle", "inner products in angle brackets are not read", "write a^\\top b"),
    (r"\perp \bot \indep", "independence is not read from LaTeX", f"{IN_MARK}: independent(x, y)"),
)
REFUSED = {one: (said, hint) for names, said, hint in _NO_STATEMENTS for one in names.split()}
"""Commands that make no statement, with a message and a hint."""
# What to write for commands and signs that are not read.
MEANT = {
    r"\in": _RANGE,
    r"\%": "write a percentage as a number: 0.05",
    r"\begin": IN_MARK,
    r"\equiv": "write =",
    "=": "write one =",
    r"\prime": COMPLEMENT,
    r"\complement": COMPLEMENT,
}
_UPRIGHT = "operatorname|mathrm|mathit|mathbb|mathbf|mathds|text|mathsf|boldsymbol|bm"
_TOKEN = re.compile(
    r"(?P<space>[\s~$]|\\[,;!: ]"
    r"|\\(?:left|right|middle|[bB]igg?[lrm]?)(?![A-Za-z])(?P<invisible>\.)?)"
    rf"|(?P<upright>\\(?:operatorname\*|(?:{_UPRIGHT})(?![A-Za-z*])))"
    r"(?:\s*\{\s*(?P<word>[A-Za-z0-9 ,\\_-]*?)\s*\}|\s+(?P<letter>[A-Za-z1])(?![A-Za-z])|)"
    r"|(?P<command>\\(?:[A-Za-z]+\*?|.))"
    r"|(?P<number>(?:[0-9]{1,3}(?:\{,\}[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?P<power>[eE][-+]?[0-9])?"
    r"|(?P<letters>[A-Za-z]+)"
    r"|(?P<symbol>[-+*/^_=<>()\[\]{}|!,])"
)
FRACTIONS = (r"\frac", r"\tfrac", r"\dfrac")


class LatexError(Exception):
    """Why a formula cannot be read; `column` counts from 0 in the formula."""

    def __init__(self, column: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.column, self.message, self.hint = column, message, hint


@dataclass(frozen=True, slots=True)
class Token:
    """One token: a "command", a "word" in braces, "letters", a "number", or a "symbol".

    The kind "given" is a piece that the document's notation names; its `text` is the meaning.
    """

    kind: str
    text: str
    column: int


def tokens_of(formula: str, notation: Mapping[str, str]) -> list[Token]:
    r"""The tokens of a formula, without spaces and sizes of brackets.

    >>> [token.text for token in tokens_of(r"\operatorname{Var}\left(x\right) = 1{,}000", {})]
    ['Var', '(', 'x', ')', '=', '1000']
    """
    if len(formula) > LONGEST:
        raise LatexError(0, f"this formula is longer than {LONGEST:,} characters")
    return list(_tokens(formula, notation))


def _tokens(formula: str, notation: Mapping[str, str]) -> Iterator[Token]:
    pieces = sorted(notation, key=len, reverse=True)
    at, before = 0, ""
    while at < len(formula):
        piece = next((one for one in pieces if one and formula.startswith(one, at)), None)
        if piece is not None and not _goes_on(formula, at, piece):
            yield Token("given", notation[piece], at)
            at += len(piece)
            continue
        found = _TOKEN.match(formula, at)
        if found is None:
            message = f"'{formula[at]}' is not part of what is read"
            hint = COMPLEMENT if formula[at] == "'" else "write it as LaTeX does"
            raise LatexError(at, message, hint)
        start, at = at, found.end()
        if found["invisible"]:
            raise LatexError(at - 1, "an invisible bracket has no meaning here")
        if found["power"]:
            message = f"{found['number']}e… may be a power of ten or a product with e"
            raise LatexError(start, message, r"write 2 \cdot 10^{-3}")
        kind, text = str(found.lastgroup), found.group()
        if found["upright"]:
            kind, text = _upright(found)
        if kind == "number":
            text = text.replace("{,}", "")
        if before in FRACTIONS and kind == "number" and len(text) == 2 and text.isdigit():
            yield Token(kind, text[0], start)  # LaTeX takes one digit each: \frac12 is a half
            text, start = text[1], start + 1
        if kind != "space":
            before = text
            yield Token(kind, text, start)


def _upright(found: re.Match[str]) -> tuple[str, str]:
    """The kind and the text of upright letters: a word, or a command such as an indicator's."""
    command, word = found["upright"], found["word"] or found["letter"]
    if word is None and found["word"] is None:
        message = f"{command} is followed by a word in braces"
        raise LatexError(found.end("upright"), message, rf"write {command}{{E}}")
    word = (word or "").replace(r"\_", "_")
    for one in (rf"\operatorname{{{word}}}", f"{command}{{{word}}}", word):
        if one in CALLED or one in INDICATORS or (one.startswith("\\") and one is word):
            return "command", one
    return "word", word


def _goes_on(formula: str, at: int, piece: str) -> bool:
    """Whether a piece that begins or ends in a letter is only a part of a longer word."""
    following = formula[at + len(piece) : at + len(piece) + 1]
    before = formula[at - 1 : at] if at else ""
    return (piece[-1].isalpha() and following.isalpha()) or (
        piece[0].isalpha() and (before.isalpha() or before == "\\")
    )


# ---- the reader ----------------------------------------------------------------------------------


DEEPEST = 60
MOST_FACTORS = 100  # factors of a product: the time grows with their square
_CLOSES = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", r"\lbrace": r"\rbrace"}
_BAR = "|"
_TIMES = (r"\cdot", r"\times", r"\odot", "*", r"\thinspace", r"\bmod", "/")
# Tokens that end an argument without brackets. Before others, such as a power, it may go on.
_CLOSERS = map(itemgetter(0), ENCLOSING.values())
_ENDS = frozenset((*"+-,)]}|", r"\}", r"\rbrace", r"\mid", *RELATIONS, *CALLED, *_CLOSERS))
_Link = tuple[tuple[str, ...], tuple[Node, ...]]


class _FormulaReader:
    """Reads one formula by recursive descent; `at` is the index of the next token."""

    def __init__(self, formula: str, axes: Mapping[str, int], notation: Mapping[str, str]) -> None:
        self.tokens = tokens_of(formula, notation)
        self.end = len(formula)
        self.at = 0
        self.axes = {**dict.fromkeys(LETTERS.values(), 0), **axes}  # of the model's names
        self.here = Position(SourceText.plain(formula or " "), 0, 0)
        self.bound: dict[str, Node | None] = {}  # index letters of sums, and their ranges
        self.free: str | None = None  # the index letter that stands for any element
        self.counted: set[str] = set()  # the index letters of sums
        self.depth = 0
        self.calls = 0  # open calls of operators, in which a bar begins a condition
        self.bars = 0  # open bars of a magnitude, which the next bar closes
        self.modulo: int | None = None  # the column of a \bmod in the last product

    # ---- the tokens ------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        """The next token; at the end, a token without text."""
        return self.tokens[self.at] if self.at < len(self.tokens) else Token("end", "", self.end)

    def is_next(self, *texts: str) -> bool:
        """Whether the next token is one of these commands or symbols."""
        return self.token.text in texts and self.token.kind in ("command", "symbol")

    def taken(self, *texts: str) -> bool:
        """Pass the next token if it is one of these; return whether it was."""
        found = self.is_next(*texts)
        self.at += found
        return found

    def expect(self, text: str) -> None:
        """Pass a required command or symbol."""
        if not self.taken(text):
            ended = self.token.kind == "end"
            instead = "the formula ends" if ended else f"{self.token.text!r} stands"
            hint = "write what has several arguments in the mark" if self.is_next(",") else None
            raise self.error(f"{instead} where {text!r} is missing", hint)

    def in_brackets(self, start: int, end: int) -> bool:
        """Whether the tokens from `start` to before `end` are enclosed in one pair of brackets."""
        depth = 0
        for at in range(start, end):
            text = self.tokens[at].text
            depth += (text in ("(", "[")) - (text in (")", "]"))
            if depth <= 0:
                return at == end - 1 and at > start
        return False

    def peek(self, by: int) -> str:
        """The text of the token that is `by` tokens further on; `by` may be negative."""
        return self.tokens[self.at + by].text if 0 <= self.at + by < len(self.tokens) else ""

    def error(self, message: str, hint: str | None = None, column: int | None = None) -> LatexError:
        """An error at a column, by default at the next token."""
        return LatexError(self.token.column if column is None else column, message, hint)

    # ---- relations and events ------------------------------------------------------------------

    def links(self) -> list[_Link]:
        """Read the whole formula: the relations of its statements, and their operands."""
        operands, signs = self.comparison(whole=True)
        if self.token.kind != "end":
            raise self._stray()
        if not signs:
            hint = "a mark speaks of the one formula that stands right before it"
            raise self.error("a statement needs a relation such as = or \\le", hint)
        refuse_mixed(operands, 0, self.axes)
        operands = [elementwise(one, None, 0, self.axes, within=True) for one in operands]
        if len(signs) == 2 and (set(signs) <= {"<", "<="} or set(signs) <= {">", ">="}):
            return [(tuple(signs), tuple(operands))]
        return [((sign,), pair) for sign, pair in zip(signs, pairwise(operands), strict=True)]

    def _stray(self) -> LatexError:
        """The error for a token that continues no statement."""
        token = self.token
        if token.text in REFUSED:
            return self.error(*REFUSED[token.text])
        if token.kind == "command" and not self._starts_factor():
            return unread(token, self.axes)
        hint = "write \\cdot for a product, or brackets"
        if token.kind == "word" or token.text in (",", ";"):
            hint = f"{_EACH} statement"
        around = [one.kind for one in self.tokens[max(self.at - 1, 0) : self.at + 2]]
        if token.text == "," and around == ["number", "symbol", "number"]:
            hint = "write decimals as 0.5, and thousands as 1{,}000"
        return self.error(f"'{token.text}' cannot be read here", hint)

    def comparison(self, *, whole: bool = False) -> tuple[list[Node], list[str]]:
        """Read sums with relations between them; `whole`: they are the formula."""
        operands, signs = [self.sum()], []
        while self.token.text in RELATIONS and self.token.kind != "word":
            signs.append(RELATIONS[self.token.text])
            if whole and signs[-1] == "!=":
                raise self.error("a statement cannot be \\neq", "claim what it is")
            self.at += 1
            operands.append(self.sum())
        return operands, signs

    def event(self, word: str = OR) -> Node:
        """Read an operand of an operator: an expression, or comparisons joined by `or`, `and`."""
        operands: list[Node] = []
        while not operands or self._logic(word):
            operands.append(self.event(AND) if word == OR else self.negation())
        return operands[0] if len(operands) == 1 else syntax.Logic(self.here, word, tuple(operands))

    def _logic(self, word: str) -> bool:
        token = self.token
        found = LOGIC.get(token.text) == word or (token.kind == "word" and token.text == word)
        self.at += found
        return found

    def negation(self) -> Node:
        """Read a comparison, a membership, or the negation of one."""
        if LOGIC.get(self.token.text) == NOT:
            self.at += 1
            return syntax.Not(self.here, self.negation())
        operands, signs = self.comparison()
        if signs:
            return syntax.Compare(self.here, tuple(signs), tuple(operands))
        if not self.taken(r"\in"):
            return operands[0]
        opening = self.token.text
        if not self.taken(r"\{", r"\lbrace"):
            raise self.error("a set in braces is missing", r"write x \in \{0, 1\}")
        return syntax.Member(self.here, operands[0], tuple(self.listed(_CLOSES[opening])))

    def listed(self, closing: str) -> list[Node]:
        """Read expressions between commas, up to a closing bracket."""
        items = [self.event()]
        while self.taken(","):
            items.append(self.event())
        self.expect(closing)
        return items

    # ---- arithmetic ----------------------------------------------------------------------------

    def sum(self) -> Node:
        """Read terms joined by `+` and `-`."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"brackets are nested deeper than {DEEPEST} levels")
        node = self.product()
        modulo = self.modulo
        while self.is_next("+", "-"):
            sign = self.token.text
            self.at += 1
            node = Binary(self.here, sign, node, self.product())
            modulo = self.modulo if modulo is None else modulo
            if modulo is not None:
                message = r"'\bmod' beside a sum may be of the sum or of the term next to it"
                raise self.error(message, r"write (n + 1) \bmod 2, or n + (1 \bmod 2)", modulo)
        self.depth -= 1
        return node

    def product(self) -> Node:
        """Read factors, with operators between them or side by side."""
        node = last = self.signed()
        divided, self.modulo = "", None
        modulo = None
        for _ in range(MOST_FACTORS):
            start, sign = self.token.column, self.token.text
            if self.taken(*_TIMES):
                last = self.signed()
                node = times(sign, node, last, self.axes, start)
                divided = sign if sign in ("/", r"\bmod") else ""
                modulo = start if sign == r"\bmod" else modulo
            elif self._starts_factor():
                if divided:
                    message = f"a product after '{divided}' may belong to what divides or not"
                    raise self.error(message, "write \\frac{…}{…}, or brackets")
                if self.token.kind == "number":
                    message = "a number stands to the right of its factor"
                    raise self.error(message, "write \\cdot between")
                bare = self.peek(-1) not in (")", "]")
                before, last = last, self.powered()
                if sign in FRACTIONS:
                    refuse_mixed_number(before, last, start)
                if sign in ("(", "[") and bare:
                    refuse_call(before, last, self.axes, start)
                node = times("", node, last, self.axes, start)
            else:
                self.modulo = modulo
                return node
        message = f"a product has {MOST_FACTORS} factors at most"
        raise self.error(message, "name a part of it in the model")

    def _starts_factor(self) -> bool:
        text = self.token.text
        if text in (_BAR, r"\|") and (self.bars or (text == _BAR and self.calls)):
            return False
        return self._reading() is not None and not (self.token.kind == "word" and text in (AND, OR))

    def signed(self) -> Node:
        """Read a factor with its sign."""
        if self.taken("-"):
            return Negative(self.here, self.signed())
        self.taken("+")
        return self.powered()

    def powered(self) -> Node:
        """Read an atom with its powers, subscripts and postfix symbols."""
        grouped = self.token.text in _CLOSES
        node = self.atom()
        while True:
            if self.taken("^"):
                node = self._raised(node, grouped=grouped)
            elif self.token.text in AFTER and self.token.kind == "symbol":
                if self.peek(1) in AFTER:
                    raise self.error("two of these signs stand side by side", "write brackets")
                node = Call(self.here, AFTER[self.token.text], (node,))
                self.at += 1
            elif self.is_next("_") and (axes_of(node, self.axes) or 0) > 0:
                self.at += 1
                node = self._element(node, self.token.column)
            else:
                return node

    def _raised(self, node: Node, *, grouped: bool) -> Node:
        """Read a superscript after its `^`: a power, a transpose, or the inverse of a matrix."""
        of_node, token = axes_of(node, self.axes), self.token
        has_transpose = of_node != 0 and "T" not in self.axes
        if has_transpose and token.kind == "letters" and token.text[0] == "T" != token.text:
            # the T of `W^TW` alone, as LaTeX takes it
            rest = Token("letters", token.text[1:], token.column + 1)
            self.tokens[self.at : self.at + 1] = [Token("letters", "T", token.column), rest]
        start = end = self.at
        if self.is_next("{"):
            start, depth = self.at + 1, 1
            while depth and (end := end + 1) < len(self.tokens):
                depth += {"{": 1, "}": -1}.get(self.tokens[end].text, 0)
            if self.in_brackets(start, end):
                message = "the brackets here may hold a power or the number of a sample"
                raise self.error(message, "leave the brackets out if it is a power")
        inside = [one.text for one in self.tokens[start : max(end, start + 1)]]
        if inside in (["c"], [r"\complement"]):
            raise self.error("^c may be a complement or a power", COMPLEMENT)
        behind = self.tokens[end + 1 : end + 2]
        if behind and behind[0].text == "^":
            message = "two powers stand one after the other"
            raise self.error(message, "write braces", behind[0].column)
        match node:
            # papers write E(x - m)^2 for the mean of the square, and E(x)^2 for that of the mean
            case Call(name=name, arguments=(Binary(operator="+" | "-"), *_)) if (
                name == MEAN_NAME and not grouped and self.peek(-2) == ")"
            ):
                message = "the power may be of the mean or within it"
                raise self.error(message, "write E[(…)^2] or (E[…])^2")
        if inside == [r"\top"] or (has_transpose and inside == ["T"]):
            self.at = end + 1
            return syntax.Transpose(self.here, node)
        column, power = self.token.column, self.argument()
        if (of_node or 0) <= 1:
            return Binary(self.here, "**", node, power)
        if power != Negative(self.here, Number(self.here, 1)):
            raise self.error("which power of a matrix is meant is not known", IN_MARK, column)
        return Call(self.here, INVERSE_NAME, (node,))

    def argument(self) -> Node:
        """Read the argument of `^` or a fraction: a group in braces, one letter or one digit."""
        if self.taken("{"):
            node = self.sum()
            self.expect("}")
            return node
        self._refuse_long()
        word = self.token.text.removeprefix("\\")
        called = self.token.text in CALLED or word in OPERATORS or word in FUNCTIONS
        if self.peek(1) in ("_", "^") or (called and word not in self.axes):
            raise self.error(f"LaTeX takes {self.token.text!r} alone", "write braces")
        if self.token.kind in ("number", "letters", "command", "word", "given"):
            return self.atom()
        raise self.error("an argument is missing", "write it in braces")

    def _refuse_long(self) -> None:
        """Refuse what has no braces and of which LaTeX would take only the beginning."""
        text = self.token.text
        if self.token.kind in ("number", "letters") and len(text) > 1:
            raise self.error(f"LaTeX takes {text[0]!r} of {text!r} alone", "write braces")

    # ---- atoms ---------------------------------------------------------------------------------

    def atom(self) -> Node:
        """Read a number, a name, a call, or an expression in brackets."""
        token, reading = self.token, self._reading()
        if reading is not None:
            return reading()
        if token.text in REFUSED:
            raise self.error(*REFUSED[token.text])
        if token.kind == "end":
            raise self.error("the formula ends where something is missing")
        raise unread(token, self.axes)

    def _reading(self) -> Callable[[], Node] | None:
        """What reads the next token as the beginning of a factor; None if it begins none."""
        text, kind = self.token.text, self.token.kind
        constant = text in LETTERS and text[1:] not in self.axes and self.peek(1) != "_"
        if kind in ("number", "given") or constant:
            return self._lone
        if kind in ("letters", "word") or (kind == "command" and self._is_name()):
            return self.named
        readers = (
            (TOTALS, self._total),
            (ACCENTS, self._accented),
            (INDICATORS, self._indicator),
            ((*GROUPED, *FRACTIONS), self.grouped),
            ((*ENCLOSING, _BAR), self.enclosed),
            (_CLOSES, self._bracketed),
            ((r"\lbrack",), self._array),
            (CALLED, self._called),
            (LETTERS, self.named),
        )
        return next((read for texts, read in readers if text in texts), None)

    def _is_name(self) -> bool:
        """Whether the next command is a name of the model, or begins one, such as mu_x."""
        name = self.token.text[1:]
        return name in self.axes or (name in GREEK and self.peek(1) == "_")

    def _lone(self) -> Node:
        """Read a number, a constant, or what stands for a piece of notation."""
        token = self.token
        self.at += 1
        if token.kind == "number":
            return Number(self.here, float(token.text))
        return notated(token) if token.kind == "given" else Name(self.here, LETTERS[token.text])

    def _array(self) -> Node:
        self.at += 1
        return syntax.ArrayLiteral(self.here, tuple(self.listed(r"\rbrack")))

    def _bracketed(self) -> Node:
        closing = _CLOSES[self.token.text]
        self.at += 1
        calls, self.calls = self.calls, 0
        bars, self.bars = self.bars, 0
        node = self.event()
        self.calls, self.bars = calls, bars
        self.expect(closing)
        return node

    def _called(self) -> Node:
        token = self.token
        self.at += 1
        name = CALLED[token.text]
        return self.below(token, name) if self.is_next("_") else self.call(name)

    def grouped(self) -> Node:
        """Read a fraction, a root, or another command with arguments in braces."""
        text = self.token.text
        self.at += 1
        if text.endswith("frac"):
            above = self.argument()
            return Binary(self.here, "/", above, self.argument())
        if self.is_next("["):  # a root of another order
            self.at += 1
            order = self.sum()
            self.expect("]")
            other = f"{text}[{unparse(order)}]"
            inner = self.argument()
            if other in GROUPED:
                return Call(self.here, GROUPED[other][0], (inner,))
            inverse = Binary(self.here, "/", Number(self.here, 1), order)
            return Binary(self.here, "**", inner, inverse)
        name, count = GROUPED[text]
        return Call(self.here, name, tuple(self.argument() for _ in range(count)))

    def enclosed(self) -> Node:
        r"""Read a magnitude, a norm or a rounding; `|` and `\|` open and close."""
        text = self.token.text
        closing, name = ENCLOSING.get(text, (_BAR, ENCLOSING[r"\lvert"][1]))
        self.at += 1
        calls, self.calls = self.calls, 0
        self.bars += text == closing
        node = self.sum()
        self.bars -= text == closing
        self.calls = calls
        self.expect(closing)
        if name == ENCLOSING[r"\|"][1] and self.is_next("_"):
            return self._norm_of_order(name, node)
        if (axes_of(node, self.axes) or 0) > (text != _BAR):
            raise self.error("this may be a norm or a determinant", IN_MARK)
        return Call(self.here, name, (node,))

    def call(self, name: str) -> Node:
        """Read the call of a function or an operator, from its bracket on."""
        opening = self.token.text
        if opening not in _CLOSES or opening == "{":
            return Call(self.here, name, (self._bare_argument(name),))
        self.at += 1
        outer, self.calls = self.calls, self.calls + (name in OPERATORS)
        bars, self.bars = self.bars, 0
        arguments, keywords = [self.event()], []
        while self.taken(","):
            word = self.token
            keyword = word.kind in ("word", "letters") and self.peek(1) == "="
            options = FUNCTIONS[name].parameters if keyword and name in FUNCTIONS else ()
            if any(option.name == word.text for option in options):
                self.at += 2
                keywords.append((word.text, self.event()))
            else:
                arguments.append(self.event())
        if self.calls > outer and self.taken(r"\mid", _BAR):
            column = self.token.column
            event = self.event()
            if not is_event(event):
                raise self.error("a condition is an event", "write X > 0 or m = 1", column)
            keywords.append(("given", event))
        self.calls, self.bars = outer, bars
        self.expect(_CLOSES[opening])
        if len(arguments) > 1 and name == PROBABILITY and all(map(is_event, arguments)):
            arguments = [syntax.Logic(self.here, AND, tuple(arguments))]
        if len(arguments) > 1:
            name = PAIRWISE.get(name, name)
        return Call(self.here, name, tuple(arguments), tuple(keywords))

    # ---- names -----------------------------------------------------------------------------------

    def named(self) -> Node:
        """Read a name with its subscript, or several letters that are names side by side."""
        token = self.token
        self.at += 1
        text = token.text.removeprefix("\\") if token.kind == "command" else token.text
        called = text in OPERATORS or text in FUNCTIONS
        known = text in self.axes or (called and self.token.text in {*_CLOSES, "_"} - {"{"})
        if token.kind == "letters" and not known and len(text) > 1:
            text, *rest = cut(token, {*self.axes, *self.bound}, subscripted=self.is_next("_"))
            self.tokens[self.at : self.at] = [Token("letters", part, token.column) for part in rest]
        return self.below(token, text)

    def below(self, token: Token, text: str) -> Node:
        """Read a name with its subscript: an element, a longer name, or the matrix I_n."""
        if not self.is_next("_"):
            return self._plain(token, text)
        column = self.token.column
        self.at += 1
        start = self.at
        parts = self._words_below()
        joined = [f"{text}_{'_'.join(parts)}", text + "".join(parts)] if parts else []
        known = [name for name in dict.fromkeys(joined) if name in self.axes or name in FUNCTIONS]
        elements = self.axes.get(text, 0) > 0
        if len(known) + elements > 1:
            message = f"{token.text!r} with what stands below it may be several things"
            raise self.error(message, NOTATION, column)
        if known:
            return Name(self.here, known[0]) if known[0] in self.axes else self.call(known[0])
        if not elements and text != "I":
            raise unknown(token.column, joined[0] if joined else text, self.axes)
        self.at = start
        if elements:
            return self._element(Name(self.here, text), column)
        return Call(self.here, IDENTITY_NAME, (self.argument(),))

    def _plain(self, token: Token, text: str) -> Node:
        if text in self.bound and text not in self.axes:
            return self._counting(text, token.column)
        called = text if text in OPERATORS or text in FUNCTIONS else CALLED.get(f"\\{text}")
        if called is not None and text not in self.axes:
            return self.call(called)
        if text not in self.axes:
            raise unknown(token.column, text, self.axes)
        return Name(self.here, text)

    def _words_below(self) -> list[str]:
        """The words and numbers of a subscript, which is passed; empty if it has anything else."""
        parts: list[str] = []
        braced = self.taken("{")
        while True:
            token = self.token
            word = token.text.removeprefix("\\") if token.kind == "command" else token.text
            if token.kind in ("letters", "number", "word") or (
                token.text != word and word.isalpha()
            ):
                if not braced:
                    self._refuse_long()
                parts += token.text.removeprefix("\\").replace(",", " ").split()
                self.at += 1
            elif not (braced and self.taken(",")):
                return parts if not braced or self.taken("}") else []
            if not braced:
                return parts

    def _indicator(self) -> Node:
        """Read the event of an indicator in brackets; its value is 1 if it holds, and else 0."""
        self.at += 1
        column = self.token.column
        node = self.atom() if self.is_next("(", "[", "\\{", "\\lbrace") else None
        if node is None or not is_event(node):
            raise self.error("an indicator is of an event", "write \\mathbb{1}(x > 0)", column)
        return node

    # ---- short forms of papers: `\bar{X}`, `\ln n`, `\|x\|_1` ------------------------------------

    def _accented(self) -> Node:
        r"""Read a letter with an accent: `\bar{X}` is Xbar or X_bar."""
        sign = self.token
        self.at += 1
        braced = self.taken("{")
        letter, text = self.token, self.token.text.removeprefix("\\")
        if not text.isalpha() or (not braced and letter.kind == "letters" and len(text) > 1):
            raise self.error(f"{sign.text} stands above one name", rf"write {sign.text}{{x}}")
        self.at += 1
        if braced:
            self.expect("}")
        joined = f"{text}_{ACCENTS[sign.text]}", text + ACCENTS[sign.text]
        known = [name for name in joined if name in self.axes]
        if len(known) == 1:
            return self.below(sign, known[0])
        if known:
            message = f"this may be {' or '.join(known)}"
            raise self.error(message, NOTATION, sign.column)
        if text not in self.axes:
            raise unknown(sign.column, joined[1], self.axes)
        hint = f"name the line {joined[1]}; that the event {text} does not happen is \\lnot {text}"
        raise self.error(f"{joined[1]!r} is no name of the model", hint, sign.column)

    def _bare_argument(self, name: str) -> Node:
        r"""Read an argument without brackets, `\ln n`: one letter, number, root or fraction."""
        token = self.token
        refused = self.error(f"the argument of {name} stands in brackets", f"write {name}(…)")
        lone = {*ACCENTS, *GROUPED, *FRACTIONS, *LETTERS, *(f"\\{one}" for one in self.axes)}
        short = token.kind == "number" or (token.kind == "letters" and len(token.text) == 1)
        by_element = name in FUNCTIONS and FUNCTIONS[name].by_element
        if not by_element or not (short or (token.kind == "command" and token.text in lone)):
            raise refused
        node = self.atom()
        if self.token.kind == "word" or self.token.text not in {*_ENDS, ""}:
            raise refused
        return node

    def _norm_of_order(self, name: str, node: Node) -> Node:
        r"""Read `\|x\|_1` of a vector or `\|A\|_F` of a matrix, from the subscript on."""
        self.at += 1
        braced = self.taken("{")
        token, axes = self.token, axes_of(node, self.axes)
        if token.text == "F" and token.text not in self.axes and axes == 2:
            self.at += 1
            both = tuple(Number(self.here, axis) for axis in (0, 1))
            axis = syntax.ArrayLiteral(self.here, both)
            keywords: tuple[tuple[str, Node], ...] = (("axis", axis),)
        else:
            if axes != 1 or (not braced and token.kind == "number" and len(token.text) > 1):
                raise self.error("which norm is meant is not known", IN_MARK)
            order = self.sum() if braced else self.atom()
            keywords = () if order == Number(self.here, 2) else (("ord", order),)
        if braced:
            self.expect("}")
        return Call(self.here, name, (node,), keywords)

    # ---- elements of arrays, and sums and products over them -------------------------------------

    def _total(self) -> Node:
        r"""Read `\sum_{i=1}^{n}` or `\prod_{i=1}^{n}` and its body, in which i indexes elements."""
        name = TOTALS[self.token.text]
        self.at += 1
        self.expect("_")
        braced = self.taken("{")
        letter = self.token
        if letter.kind != "letters" or len(letter.text) != 1:
            raise self.error("a sum counts by one letter", r"write \sum_{i=1}^{n}")
        for names, said in (
            (self.axes, "is a name of the model"),
            ({self.free}, "stands for any element"),
        ):
            if letter.text in names:
                raise self.error(f"{letter.text!r} {said} already", "count by another")
        self.counted.add(letter.text)
        self.at += 1
        ends: tuple[Node, Node] | None = None
        if braced and self.taken("="):
            start = self.sum()
            self.expect("}")
            self.expect("^")
            column = self.token.column
            ends = start, self.argument()
            if ends[1] == Name(self.here, INFINITY):
                message = "a sum without end is not read"
                raise self.error(message, "end it where its terms are small", column)
        elif braced:
            self.expect("}")
        outer = self.bound
        self.bound = {**outer, letter.text: None if ends is None else places(*ends)}
        first = self.at
        body = self.product()
        self.bound = outer
        met = letters_in(body)
        if has_elements(body) and ends and isinstance(ends[0], Number) and ends[0].value < 1:
            raise self.error("elements count from 1", "begin the sum at 1", letter.column)
        last = body.right if isinstance(body, Binary) and body.operator in "*/@%" else body
        clear = name == SUM_NAME or last is body or letters_in(last)
        if not clear and not self.in_brackets(first, self.at):
            message = "where this product ends is not known"
            raise self.error(message, "write brackets", self.tokens[first].column)
        if met - {letter.text}:
            raise self.error("a sum within a sum is not read", IN_MARK, letter.column)
        if not met:
            if ends is None:
                raise self.error(f"nothing is summed over {letter.text}", column=letter.column)
            further = Binary(self.here, "-", ends[1], ends[0])
            count = Binary(self.here, "+", further, Number(self.here, 1))
            if name == SUM_NAME:
                return Binary(self.here, "*", count, body)
            return Binary(self.here, "**", body, count)
        part = ends and syntax.Slice(self.here, place_from_0(ends[0]), ends[1], None)
        match body:  # the mean of a sum is the sum of the means
            case Call(name=mean, arguments=(inner,), keywords=()) if (
                mean == MEAN_NAME and name == SUM_NAME
            ):
                summed = elementwise(inner, part, letter.column, self.axes)
                return Call(self.here, MEAN_NAME, (Call(self.here, name, (summed,)),))
        return Call(self.here, name, (elementwise(body, part, letter.column, self.axes),))

    def _counting(self, letter: str, column: int) -> Node:
        r"""The index letter of a sum as a number, as in `\sum_{k=1}^n 1/k`."""
        through = self.bound[letter]
        if through is None:
            message = f"where {letter} begins and ends is not known"
            raise self.error(message, rf"write \sum_{{{letter}=1}}^{{n}}", column)
        return syntax.Subscript(self.here, through, (Name(self.here, ANY_ELEMENT + letter),))

    def _element(self, base: Node, column: int) -> Node:
        """Read the subscript of an element, `x_{2, n}`."""
        braced = self.taken("{")
        first = self.token
        entries = [self._entry(braced)]
        while braced and self.taken(","):
            entries.append(self._entry(braced))
        if braced:
            self.expect("}")
        if len(entries) > 1 and any(map(is_letter, entries)):
            message = "a letter for any element stands beside another index"
            raise self.error(message, IN_MARK, column)
        if axes_of(base, self.axes) != 1 and len(entries) == 1 and (
            is_letter(entries[0]) or (first.kind == "number" and len(first.text) > 1)
        ):  # fmt: skip
            raise self.error("one place of an array of rows is a row", "write commas: A_{1, 2}",
                               column)  # fmt: skip
        return syntax.Subscript(self.here, base, tuple(entries))

    def _entry(self, braced: bool) -> Node:
        """Read one index; a letter that is not a name stands for any element."""
        token = self.token
        lone = not braced or self.peek(1) in ("}", ",")
        letters = token.kind == "letters" and token.text not in self.axes
        if letters and lone and len(token.text) == 1:
            self.at += 1
            if token.text in self.counted - self.bound.keys():
                raise self.error(f"{token.text!r} counts a sum and stands for any element",
                                   "use two letters", token.column)  # fmt: skip
            if token.text not in self.bound:
                if self.free not in (None, token.text):
                    raise self.error("two letters for any element", IN_MARK, token.column)
                self.free = token.text
            return Name(self.here, ANY_ELEMENT + token.text)
        if letters and len(token.text) > 1:
            raise self.error("letters side by side are not an index", "write commas: A_{i, j}")
        start = self.at
        place = self.sum() if braced else self.atom()
        if self.in_brackets(start, self.at):
            message = "this may be an index in sorted order or in the array"
            raise self.error(message, IN_MARK, token.column)
        if isinstance(place, Binary) and place.operator == "-":
            raise self.error("a difference may lie before the first element", IN_MARK, token.column)
        if isinstance(place, Number) and place.value < 1:
            raise self.error("elements count from 1", "the first one is x_1", token.column)
        return place if isinstance(place, Negative) else place_from_0(place)


# ---- names ---------------------------------------------------------------------------------------


def unknown(column: int, name: str, names: Collection[str]) -> LatexError:
    """The error for an unknown name, with a hint at what may be meant."""
    head, below, _ = name.partition("_")
    if below and (head in OPERATORS or (head in FUNCTIONS and head not in GREEK)):
        every = "all draws" if head in OPERATORS else "all elements"
        hint = f"leave it out where it means {every}: {head}(…)"
        return LatexError(column, f"what stands below {head} is not read", hint)
    if name == "I":
        return LatexError(column, "the order of this matrix is not known", "write I_n")
    near = name_hint(name, list(names)) or hint_for(name) or slip_of(name, [*OPERATORS, *FUNCTIONS])
    own = ", ".join(sorted(set(names).difference(LETTERS.values())))
    return LatexError(column, f"{name!r} is no name of the model", near or f"its names: {own}")


def is_event(node: Node | None) -> bool:
    """Whether an expression is a condition."""
    return isinstance(node, syntax.Compare | syntax.Logic | syntax.Not | syntax.Member)


def unread(token: Token, names: Collection[str]) -> LatexError:
    """The error for a command or a symbol that is not read."""
    name = token.text.removeprefix("\\")
    if name in GREEK:
        return unknown(token.column, name, names)
    known = [one for one in names if len(one) > 1]
    hint = name_hint(name, known) if token.kind == "command" else None
    message = f"'{token.text}' is not part of what is read"
    return LatexError(token.column, message, MEANT.get(token.text) or hint or NOTATION)


def cut(token: Token, names: Collection[str], *, subscripted: bool) -> list[str]:
    """Letters cut into names; with `subscripted`, the last one may begin a name such as d_k."""
    text = token.text

    @cache
    def ways(start: int) -> tuple[tuple[str, ...], ...]:
        if start == len(text):
            return ((),)
        cuts: list[tuple[str, ...]] = []
        for end in range(start + 1, len(text) + 1):
            part = text[start:end]
            if part in names or (subscripted and start == len(text) - 1):
                cuts += [(part, *rest) for rest in ways(end)]
        return tuple(cuts[:2])

    if len(text) > 40:  # the recursion is as deep as the text is long
        raise LatexError(token.column, f"{text[:12]}… is no name of the model")
    found = ways(0)
    if len(found) == 1:
        return list(found[0])
    if not found:
        raise unknown(token.column, text, names)
    message = f"{text!r} may be {' or '.join(' '.join(way) for way in found)}"
    raise LatexError(token.column, message, rf"write \mathit{{{text}}}, or spaces")


def notated(token: Token) -> Node:
    """The expression that a piece of notation stands for."""
    try:
        return parse_expression(SourceText.plain(token.text))
    except DropcheckError as error:
        problem = error.problems[0]
        message = f"notation {token.text!r}: {problem.message}"
        raise LatexError(token.column, message, problem.hint) from None


# ---- which product is meant ----------------------------------------------------------------------


AxisCounts = Mapping[str, int]  # the names of a model, with their numbers of axes


def times(sign: str, left: Node, right: Node, axes: AxisCounts, column: int) -> Node:
    r"""Two factors with an operator between them, or with none; an error is at `column`.

    `left \cdot right` is an inner product of two vectors, or a number times anything. Two vectors
    beside each other, or with `\times` between them, are refused.
    """
    operator = {r"\odot": "*", "*": "*", r"\bmod": "%", "/": "/"}.get(sign)
    if operator is not None:
        return Binary(left.at, operator, left, right)
    if sign == r"\thinspace" or isinstance(left, syntax.Transpose):
        if isinstance(left, syntax.Transpose) and axes_of(left.base, axes) == 1:
            left = left.base
        return Binary(left.at, "@", left, right)
    both = axes_of(left, axes), axes_of(right, axes)
    if both == (1, 1) and not sign:
        if isinstance(right, syntax.Transpose):
            return Call(left.at, OUTER_NAME, (left, right.base))
        hint = r"write q^\top k or q \cdot k for the inner product, \odot element by element"
        raise LatexError(column, "two vectors stand side by side", hint)
    if 0 in both or _without_names(left) or _without_names(right):
        return Binary(left.at, "*", left, right)
    if (both == (1, 1) and sign == r"\cdot") or (not sign and None not in both and both[0] != 1):
        return Binary(left.at, "@", left, right)
    hint = r"write \odot element by element, ^\top for an inner product"
    message = "which product is meant is not known here"
    raise LatexError(column, message, hint if sign else r"write \cdot, \odot or ^\top")


def refuse_call(left: Node, right: Node, axes: AxisCounts, column: int) -> None:
    """Refuse a name right before brackets that may be a function.

    People write p(1 - p) and n(n + 1) for products: one letter before a sum. Anything else, such as
    y(x), f(2) or loss(x + 1), may be a call, and x[n - 1] an element of an array.
    """
    while isinstance(left, Negative) or (isinstance(left, Binary) and left.operator == "**"):
        left = left.operand if isinstance(left, Negative) else left.left  # f^2(x)
    left = left.base if isinstance(left, syntax.Subscript) else left
    while isinstance(right, Binary) and right.operator == "**":
        right = right.left
    if not isinstance(left, syntax.Name):
        return
    head = left.name.partition("_")[0]
    letter = len(head) == 1 or head in GREEK
    summed = isinstance(right, Negative) or (
        isinstance(right, Binary) and right.operator in ("+", "-")
    )
    array = axes_of(left, axes) != 0
    if array or not (letter and summed) or head in NAMES_OF_FUNCTIONS:
        message = f"{left.name!r} before brackets may be a function or a factor"
        hint = r"write \cdot between for a product"
        if head == "sigma":
            hint += r", \operatorname{sigmoid}(x) for a sigmoid"
        raise LatexError(column, message, hint)


def refuse_mixed_number(left: Node, right: Node, column: int) -> None:
    r"""Refuse a number before a fraction of numbers: 2\frac12 may be two and a half."""
    left = left.operand if isinstance(left, Negative) else left
    if isinstance(left, Number) and isinstance(right, Binary) and _without_names(right):
        message = "a number before a fraction may be added to it or multiply it"
        raise LatexError(column, message, r"write \cdot or + between")


def _without_names(node: Node) -> bool:
    below = syntax.children(node)
    return isinstance(node, Number) or (bool(below) and all(map(_without_names, below)))


# ---- elements of arrays --------------------------------------------------------------------------


# A prefix that no name of the language has, for a letter that stands for any element.
ANY_ELEMENT = "?"


def is_letter(node: Node) -> bool:
    """Whether a node is a letter that stands for any element."""
    return isinstance(node, Name) and node.name.startswith(ANY_ELEMENT)


def letters_in(node: Node) -> set[str]:
    """The letters for any element in an expression."""
    names = {one.name for one in syntax.walk(node) if isinstance(one, Name) and is_letter(one)}
    return {name.removeprefix(ANY_ELEMENT) for name in names}


def places(start: Node, end: Node) -> Node:
    """The whole numbers from `start` to `end`, both included, as an expression."""
    at, skipped = start.at, place_from_0(start)
    if isinstance(skipped, Number) and skipped.value <= 0:
        count = end if not skipped.value else Binary(at, "+", end, Number(at, -skipped.value))
    else:
        count = Binary(at, "-", end, skipped)
    whole = Call(at, PLACES_NAME, (count,))
    return whole if start == Number(at, 0) else Binary(at, "+", start, whole)


def _is_places(base: Node) -> bool:
    whole = base.right if isinstance(base, Binary) else base
    return isinstance(whole, Call) and whole.name == PLACES_NAME


def has_elements(node: Node) -> bool:
    """Whether a letter indexes elements of an array in an expression, and is not just a number."""
    if isinstance(node, syntax.Subscript) and any(map(is_letter, node.index)):
        return not _is_places(node.base)
    return any(map(has_elements, syntax.children(node)))


def place_from_0(place: Node) -> Node:
    """An index that counts from 0, from one that counts from 1."""
    if isinstance(place, Number):
        return Number(place.at, place.value - 1)
    match place:
        case Binary(operator="+", left=left, right=Number(value=1.0)):
            return left
        case _:
            return Binary(place.at, "-", place, Number(place.at, 1))


def refuse_mixed(parts: Iterable[Node], column: int, axes: Mapping[str, int]) -> None:
    """Refuse a whole array beside an element: the language would combine element by element."""
    kinds = {bool(letters_in(one)) for one in parts if letters_in(one) or axes_of(one, axes)}
    if len(kinds) > 1:
        raise LatexError(column, "an element stands beside a whole array",
                         "write a letter below both, or the statement in the mark")  # fmt: skip


def elementwise(
    node: Node, part: Node | None, column: int, axes: Mapping[str, int], *, within: bool = False
) -> Node:
    """A statement about any element, turned into one about the arrays, or about parts of them."""
    if not letters_in(node):
        return node
    match node:
        case syntax.Subscript(base=base, index=(Name(),)):
            if part is None or _is_places(base):
                return base
            return syntax.Subscript(node.at, base, (part,))
        case Binary() | Negative() | syntax.Compare() | syntax.Logic() | syntax.Not():
            pass
        case Call(name=name) if name in FUNCTIONS and FUNCTIONS[name].by_element:
            pass
        case Call(name=name) if within and name in OPERATORS:
            pass
        case _:
            what = f"{node.name}(…) of each" if isinstance(node, Call) else "what is said of each"
            message = f"{what} element cannot be said of all elements at once"
            raise LatexError(column, message, IN_MARK)
    refuse_mixed(syntax.children(node), column, axes)
    below = [elementwise(one, part, column, axes, within=within) for one in syntax.children(node)]
    return syntax.rebuilt(node, below)


# ---- numbers of axes -----------------------------------------------------------------------------
#
# How many axes an expression has, from the numbers of axes of its names.


# an index of this kind adds an axis, or stands for several
_OTHER_INDICES = (syntax.NewAxis, syntax.Rest, syntax.ArrayLiteral, syntax.Compare, syntax.Logic)

# options that change how many axes a result has
_ALONG = frozenset({"axis", "axes", "keepdims", "n", "shape"})


def axes_of(node: Node, axes: Mapping[str, int]) -> int | None:
    """The number of axes of an expression; None if it is not known.

    Args:
        node: the expression.
        axes: the numbers of axes of the names; a fixed number has none.

    >>> from dropcheck.claims.registry import SourceText
    >>> known = {"q": 1, "K": 2, "p": 0}
    >>> [axes_of(parse_expression(SourceText.plain(text)), known) for text in
    ...     ("q / p", "K @ q", "q @ q", "sum(K)", "E(q)", "K[0]", "K.T", "z")]
    [1, 1, 0, 1, 0, 1, 2, None]
    """
    match node:
        case Number():
            return 0
        case Name(name=name):
            return axes.get(name)
        case Negative(operand=inner) | syntax.Transpose(base=inner):
            return axes_of(inner, axes)
        case Binary(operator="@", left=left, right=right):
            return _by(
                lambda shapes, _: matmul(*shapes), (axes_of(left, axes), axes_of(right, axes))
            )
        case Call(name=name, arguments=arguments, keywords=keywords):
            if name in OPERATORS:
                return 0
            if name == PLACES_NAME:
                return 1
            if name not in FUNCTIONS or not _ALONG.isdisjoint(dict(keywords)):
                return None
            return _by(FUNCTIONS[name].shape, tuple(axes_of(one, axes) for one in arguments))
        case syntax.ArrayLiteral(items=items):
            of_item = axes_of(items[0], axes) if items else 0
            return None if of_item is None else of_item + 1
        case syntax.Subscript(base=base, index=index):
            of_base = axes_of(base, axes)
            plain = not any(isinstance(one, _OTHER_INDICES) for one in index)
            slices = sum(isinstance(one, syntax.Slice) for one in index)
            return None if of_base is None or not plain else of_base - len(index) + slices
        case _:
            below = [axes_of(child, axes) for child in syntax.children(node)]
            known = [count for count in below if count is not None]
            return max(known, default=0) if len(known) == len(below) else None


def _by(rule: ShapeRule, counts: tuple[int | None, ...]) -> int | None:
    """The number of axes that a shape rule gives; all axes are taken to have length 2."""
    known = tuple((2,) * count for count in counts if count is not None)
    if len(known) < len(counts):
        return None
    try:
        return len(rule(known, {"axis": -1.0, "keepdims": 0.0}))
    except (ShapeError, LookupError, TypeError):
        return None
