r"""Reads a formula as statements of the language, or raises an error with a column: no guesses.

It reads a strict subset of LaTeX. The names of the model decide what a formula means: `d_k` is a
name if the model has it, and else an element of d; `qk` is a product if q and k are names and `qk`
is not. Elements count from 1 in formulas and from 0 in the language. `\cdot` between two vectors is
their inner product; two vectors side by side are refused. Whatever refuses raises a `LatexError`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from operator import itemgetter

from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language import syntax
from dropcheck.language.hints import name_hint, slip_of
from dropcheck.language.lowering.axes import axes_of
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
    PRODUCT_NAME,
    RELATIONS,
    SUM_NAME,
    TOTALS,
)
from dropcheck.vocabulary.operators import OPERATORS, hint_for

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
        operands, signs = reader.relations()
        operands = [elementwise(one, None, 0, reader.axes, within=True) for one in operands]
        whole = len(signs) == 2 and (set(signs) <= {"<", "<="} or set(signs) <= {">", ">="})
        links = [(tuple(signs), tuple(operands))] if whole else [
            ((sign,), pair) for sign, pair in zip(signs, pairwise(operands), strict=True)
        ]  # fmt: skip
        return tuple(unparse_statement(syntax.Statement(reader.here, *link)) for link in links)
    except RecursionError:
        raise LatexError(0, "this formula is too deep", "name a part of it in the model") from None


# ---- tokens --------------------------------------------------------------------------------------


LONGEST = 5_000  # characters of a formula
IN_MARK = "write the statement in the mark"
NOTATION = "name it in 'notation'"
COMPLEMENT = r"write \lnot A for the event that A does not happen"
REFUSED = {
    **dict.fromkeys(
        (r"\approx", r"\simeq", r"\lesssim", r"\gtrsim", r"\ll", r"\gg"),
        ("an approximation is no statement", "mark the figure with ~="),
    ),
    r"\propto": ("a proportion is no statement", "write the ratio: \\frac{x}{y} = c"),
    r"\sim": ("laws are not read from LaTeX", f"{IN_MARK}: y ~ normal(0, 1)"),
    r"\pm": ("a figure with an uncertainty is not a statement", "write a range: a \\le x \\le b"),
    **dict.fromkeys((r"\to", r"\lim"), ("a limit is no statement", "claim a value at a large n")),
    r"\int": ("integrals are not read", "write a mean: E(f(u)) of a uniform u"),
    **dict.fromkeys(
        (r"\quad", r"\qquad"),
        ("a formula may hold two statements here", "write a formula with its mark for each"),
    ),
    **dict.fromkeys(
        (r"\dots", r"\ldots", r"\cdots"),
        ("what is left out cannot be read", "write a sum with its range"),
    ),
    r"\langle": ("inner products in angle brackets are not read", "write a^\\top b"),
    **dict.fromkeys(
        (r"\perp", r"\bot", r"\indep"),
        ("independence is not read from LaTeX", f"{IN_MARK}: independent(x, y)"),
    ),
    **dict.fromkeys(
        (r"\stackrel", r"\overset"), ("laws are not read from LaTeX", f"{IN_MARK}: x ~ y")
    ),
}
# What to write for commands and signs that are not read.
MEANT = {
    r"\in": "write a range: a \\le x \\le b",
    r"\%": "write a percentage as a number: 0.05",
    r"\begin": IN_MARK,
    r"\equiv": "write =",
    "=": "write one =",
    r"\prime": COMPLEMENT,
    r"\complement": COMPLEMENT,
}
"""Commands that make no statement, with a message and a hint."""
_SPACES = frozenset({"\\,", "\\;", "\\!", "\\:", "\\ ", "~"})
_SIZES = re.compile(r"\\(?:left|right|middle|[bB]igg?[lrm]?)(?![A-Za-z])")
_UPRIGHT = frozenset(
    rf"\{name}"
    for name in [*("operatorname", "mathrm", "mathit", "mathbb", "mathbf", "mathds", "text"),
                 *("mathsf", "boldsymbol", "bm")]
)  # fmt: skip
_TOKEN = re.compile(
    r"(?P<command>\\(?:[A-Za-z]+\*?|.))"
    r"|(?P<number>(?:[0-9]{1,3}(?:\{,\}[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"|(?P<letters>[A-Za-z]+)"
    r"|(?P<symbol>[-+*/^_=<>()\[\]{}|!,])"
)
_POWER_OF_TEN = re.compile(r"[eE][-+]?[0-9]")
_WORD = re.compile(
    r"\s*\{\s*(?P<word>[A-Za-z0-9 ,\\_-]*?)\s*\}|\s+(?P<letter>[A-Za-z1])(?![A-Za-z])"
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
        if formula[at].isspace() or formula[at] in "~$":
            at += 1
            continue
        size = _SIZES.match(formula, at)
        found = _TOKEN.match(formula, at)
        if size is not None:
            at = size.end()
            if formula[at : at + 1] == ".":
                raise LatexError(at, "an invisible bracket has no meaning here")
            continue
        if found is None:
            message = f"'{formula[at]}' is not part of what is read"
            hint = COMPLEMENT if formula[at] == "'" else "write it as LaTeX does"
            raise LatexError(at, message, hint)
        kind, text, start = str(found.lastgroup), found.group(), at
        at = found.end()
        if text in _SPACES:
            continue
        if text in _UPRIGHT or text == r"\operatorname*":
            word = _WORD.match(formula, at)
            if word is None:
                message = f"{text} is followed by a word in braces"
                raise LatexError(at, message, rf"write {text}{{E}}")
            read = (word["word"] or word["letter"] or "").replace(r"\_", "_")
            kind, at = "word", word.end()
            for command in (f"{text}{{{read}}}", rf"\operatorname{{{read}}}"):
                if command in CALLED or command in INDICATORS:
                    kind, read = "command", command
            kind, text = ("command" if read.startswith("\\") else kind), read
        if kind == "number" and _POWER_OF_TEN.match(formula, at):
            message = f"{text}e… may be a power of ten or a product with e"
            raise LatexError(start, message, r"write 2 \cdot 10^{-3}")
        if before in FRACTIONS and kind == "number" and len(text) == 2 and text.isdigit():
            yield Token(kind, text[0], start)  # LaTeX takes one digit each: \frac12 is a half
            text, start = text[1], start + 1
        before = text.replace("{,}", "")
        yield Token(kind, before, start)


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
_FACTORS = {*ACCENTS, *CALLED, *ENCLOSING, *GROUPED, *INDICATORS, *TOTALS, *LETTERS}
_TIMES = (r"\cdot", r"\times", r"\odot", "*", r"\thinspace", r"\bmod")
# Tokens that end an argument without brackets. Before others, such as a power, it may go on.
_CLOSERS = map(itemgetter(0), ENCLOSING.values())
_ENDS = frozenset((*"+-,)]}|", r"\}", r"\rbrace", r"\mid", *RELATIONS, *CALLED, *_CLOSERS))


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

    def done(self) -> bool:
        """Whether no token is left."""
        return self.at >= len(self.tokens)

    def is_next(self, *texts: str) -> bool:
        """Whether the next token is one of these commands or symbols."""
        return self.token.text in texts and self.token.kind in ("command", "symbol")

    def taken(self, *texts: str) -> bool:
        """Pass the next token if it is one of these; return whether it was."""
        if not self.is_next(*texts):
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        """Pass a required command or symbol."""
        if not self.taken(text):
            instead = "the formula ends" if self.done() else f"{self.token.text!r} stands"
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

    def group_end(self) -> int:
        """The index of the brace that closes the group around the next token."""
        depth = 1
        for at in range(self.at, len(self.tokens)):
            depth += {"{": 1, "}": -1}.get(self.tokens[at].text, 0)
            if not depth:
                return at
        return len(self.tokens)

    def peek(self, by: int) -> str:
        """The text of the token that is `by` tokens further on; `by` may be negative."""
        return self.tokens[self.at + by].text if 0 <= self.at + by < len(self.tokens) else ""

    def error(self, message: str, hint: str | None = None, column: int | None = None) -> LatexError:
        """An error at a column, by default at the next token."""
        return LatexError(self.token.column if column is None else column, message, hint)

    # ---- relations and events ------------------------------------------------------------------

    def relations(self) -> tuple[list[Node], list[str]]:
        """Read the whole formula: operands, and the relations between them."""
        operands, signs = [self.sum()], []
        while not self.done():
            signs.append(self.relation())
            operands.append(self.sum())
        if not signs:
            hint = "a mark speaks of the one formula that stands right before it"
            raise self.error("a statement needs a relation such as = or \\le", hint)
        refuse_mixed(operands, 0, self.axes)
        return operands, signs

    def relation(self) -> str:
        """Read the relation of a statement."""
        token = self.token
        if token.text in REFUSED:
            raise self.error(*REFUSED[token.text])
        sign = RELATIONS.get(token.text)
        if sign is None and token.kind == "command" and not self._starts_factor():
            raise unread(token, self.axes)
        if sign is None or token.kind == "word":
            hint = "write \\cdot for a product, or brackets"
            if token.kind == "word" or token.text in (",", ";"):
                hint = "write a formula with its mark for each statement"
            around = [one.kind for one in self.tokens[max(self.at - 1, 0) : self.at + 2]]
            if token.text == "," and around == ["number", "symbol", "number"]:
                hint = "write decimals as 0.5, and thousands as 1{,}000"
            raise self.error(f"'{token.text}' cannot be read here", hint)
        if sign == "!=":
            raise self.error("a statement cannot be \\neq", "claim what it is")
        self.at += 1
        return sign

    def event(self) -> Node:
        """Read an operand of an operator: an expression, or comparisons joined by `or`."""
        left = self.conjunction()
        operands = [left]
        while self._logic(OR):
            operands.append(self.conjunction())
        return left if len(operands) == 1 else syntax.Logic(self.here, OR, tuple(operands))

    def conjunction(self) -> Node:
        """Read comparisons joined by `and`."""
        operands = [self.negation()]
        while self._logic(AND):
            operands.append(self.negation())
        return operands[0] if len(operands) == 1 else syntax.Logic(self.here, AND, tuple(operands))

    def _logic(self, word: str) -> bool:
        token = self.token
        if LOGIC.get(token.text) == word or (token.kind == "word" and token.text == word):
            self.at += 1
            return True
        return False

    def negation(self) -> Node:
        """Read a comparison, a membership, or the negation of one."""
        if LOGIC.get(self.token.text) == NOT:
            self.at += 1
            return syntax.Not(self.here, self.negation())
        operands, signs = [self.sum()], []
        if self.taken(r"\in"):
            return syntax.Member(self.here, operands[0], self.options())
        while self.token.text in RELATIONS and self.token.kind != "word":
            signs.append(RELATIONS[self.token.text])
            self.at += 1
            operands.append(self.sum())
        if not signs:
            return operands[0]
        return syntax.Compare(self.here, tuple(signs), tuple(operands))

    def options(self) -> tuple[Node, ...]:
        """Read the set of a membership."""
        for opening in (r"\{", r"\lbrace"):
            if self.taken(opening):
                return tuple(self.listed(_CLOSES[opening]))
        raise self.error("a set in braces is missing", r"write x \in \{0, 1\}")

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
        divided, modulo = "", None
        for _ in range(MOST_FACTORS):
            start, sign = self.token.column, self.token.text
            if self.taken(*_TIMES):
                last = self.signed()
                node = times(sign, node, last, self.axes, start)
                divided = sign if sign == r"\bmod" else ""
                modulo = start if divided else modulo
            elif self.taken("/"):
                last = self.signed()
                node = Binary(self.here, "/", node, last)
                divided = sign
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
                node = side_by_side(node, last, self.axes, start)
                divided = ""
            else:
                self.modulo = modulo
                return node
        message = f"a product has {MOST_FACTORS} factors at most"
        raise self.error(message, "name a part of it in the model")

    def _starts_factor(self) -> bool:
        token = self.token
        if token.kind in ("letters", "number", "given"):
            return True
        if token.kind == "word":
            return token.text not in (AND, OR)
        opens = token.text in ("(", "[", "{", r"\{", r"\frac", r"\lbrack")
        if token.text in (_BAR, r"\|"):
            return not self.bars and not (token.text == _BAR and self.calls)
        named = token.text in _FACTORS
        return opens or named or (token.kind == "command" and self._is_name())

    def _is_name(self) -> bool:
        """Whether the next command is a name of the model, or begins one, such as mu_x."""
        name = self.token.text[1:]
        return name in self.axes or (name in GREEK and self.peek(1) == "_")

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
                self._refuse_superscript()
                if not grouped:
                    self._refuse_power_of_mean(node)
                of_node = axes_of(node, self.axes)
                if of_node != 0 and "T" not in self.axes:
                    self._apart_from_transpose()
                raised = self.peek(1) if self.is_next("{") else self.token.text
                if raised == r"\top" or (raised == "T" and "T" not in self.axes and of_node != 0):
                    braced = self.taken("{")
                    self.at += 1
                    if braced:
                        self.expect("}")
                    node = syntax.Transpose(self.here, node)
                    continue
                if (of_node or 0) > 1:
                    node = self._matrix_power(node)
                else:
                    node = Binary(self.here, "**", node, self.argument())
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

    def argument(self) -> Node:
        """Read the argument of `^` or a fraction: a group in braces, one letter or one digit."""
        if self.taken("{"):
            node = self.sum()
            self.expect("}")
            return node
        self._refuse_more()
        if self.token.kind in ("number", "letters", "command", "word", "given"):
            return self.atom()
        raise self.error("an argument is missing", "write it in braces")

    # ---- atoms ---------------------------------------------------------------------------------

    def atom(self) -> Node:
        """Read a number, a name, a call, or an expression in brackets."""
        token = self.token
        text, kind = token.text, token.kind
        if kind == "command" and text in REFUSED:
            raise self.error(*REFUSED[text])
        if kind == "number":
            self.at += 1
            return Number(self.here, float(text))
        if kind == "given":
            self.at += 1
            return notated(token)
        if kind in ("letters", "word"):
            return self.named()
        if text in LETTERS and text[1:] not in self.axes and self.peek(1) != "_":
            self.at += 1
            return Name(self.here, LETTERS[text])
        if kind == "command" and self._is_name():
            return self.named()
        if text in TOTALS:
            return self._total()
        if text in ACCENTS:
            return self.below(token, self._accented())
        if text in INDICATORS:
            self.at += 1
            return self._indicator()
        if text in GROUPED or text in FRACTIONS:
            return self.grouped()
        if text in ENCLOSING or text == _BAR:
            return self.enclosed()
        if text == r"\lbrack":
            self.at += 1
            return syntax.ArrayLiteral(self.here, tuple(self.listed(r"\rbrack")))
        if text in _CLOSES:
            self.at += 1
            calls, self.calls = self.calls, 0
            bars, self.bars = self.bars, 0
            node = self.event()
            self.calls, self.bars = calls, bars
            self.expect(_CLOSES[text])
            return node
        if text in CALLED:
            self.at += 1
            return self.below(token, CALLED[text]) if self.is_next("_") else self.call(CALLED[text])
        if text in LETTERS:
            return self.named()
        if kind == "end":
            raise self.error("the formula ends where something is missing")
        raise unread(token, self.axes)

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
        if token.kind == "letters" and not self._known(text) and len(text) > 1:
            text, *rest = cut(token, {*self.axes, *self.bound}, subscripted=self.is_next("_"))
            self.tokens[self.at : self.at] = [Token("letters", part, token.column) for part in rest]
            return self._plain(token, text) if rest else self.below(token, text)
        return self.below(token, text)

    def _known(self, text: str) -> bool:
        brackets = self.token.text in ("(", "[", r"\{", r"\lbrace", "_")
        return text in self.axes or (brackets and (text in OPERATORS or text in FUNCTIONS))

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
            if known[0] not in self.axes:
                return self.call(known[0])
            return Name(self.here, known[0])
        if not elements:
            if text == "I":
                self.at = start
                return Call(self.here, IDENTITY_NAME, (self.argument(),))
            raise unknown(token.column, joined[0] if joined else text, self.axes)
        self.at = start
        return self._element(Name(self.here, text), column)

    def _plain(self, token: Token, text: str) -> Node:
        if text in self.axes:
            return Name(self.here, text)
        if text in self.bound:
            return self._counting(text, token.column)
        if text in OPERATORS or text in FUNCTIONS:
            return self.call(text)
        alias = CALLED.get(f"\\{text}")
        if alias is not None:
            return self.call(alias)
        if text in LETTERS.values():
            return Name(self.here, text)
        raise unknown(token.column, text, self.axes)

    def _words_below(self) -> list[str]:
        """The words and numbers of a subscript, which is passed; empty if it has anything else."""
        parts: list[str] = []
        braced = self.taken("{")
        while True:
            token = self.token
            if not braced and token.kind in ("letters", "number") and len(token.text) > 1:
                message = f"LaTeX takes {token.text[0]!r} of {token.text!r} alone"
                raise self.error(message, "write braces")
            if token.kind in ("letters", "number", "word"):
                parts += token.text.replace(",", " ").split()
                self.at += 1
            elif token.kind == "command" and token.text[1:].isalpha():
                parts.append(token.text[1:])
                self.at += 1
            elif not (braced and self.taken(",")):
                break
            if not braced:
                return parts
        return parts if not braced or self.taken("}") else []

    def _indicator(self) -> Node:
        """Read the event of an indicator in brackets; its value is 1 if it holds, and else 0."""
        column = self.token.column
        node = self.atom() if self.is_next("(", "[", "\\{", "\\lbrace") else None
        if node is None or not is_event(node):
            raise self.error("an indicator is of an event", "write \\mathbb{1}(x > 0)", column)
        return node

    def _refuse_superscript(self) -> None:
        """Refuse a superscript that may not be a power; the reader is after the `^`."""
        if self.is_next("{"):
            self.at += 1
            start, end = self.at, self.group_end()
            self.at -= 1
            inside = self.tokens[start:end]
            if self.in_brackets(start, end):
                raise self.error("the brackets here may hold a power or the number of a sample",
                                   "leave the brackets out if it is a power")  # fmt: skip
            end += 1
        else:
            end = self.at + 1
            inside = self.tokens[self.at : end]
        if [one.text for one in inside] in (["c"], [r"\complement"]):
            raise self.error("^c may be a complement or a power", COMPLEMENT)
        if end < len(self.tokens) and self.tokens[end].text == "^":
            column = self.tokens[end].column
            raise self.error("two powers stand one after the other", "write braces", column)

    def _refuse_more(self) -> None:
        """Refuse an argument without braces of which LaTeX would take only the beginning."""
        token = self.token
        if token.kind in ("number", "letters") and len(token.text) > 1:
            message = f"LaTeX takes {token.text[0]!r} of {token.text!r} alone"
            raise self.error(message, "write braces")
        word = token.text.removeprefix("\\")
        called = token.text in CALLED or word in OPERATORS or word in FUNCTIONS
        if self.peek(1) in ("_", "^") or (called and word not in self.axes):
            raise self.error(f"LaTeX takes {token.text!r} alone", "write braces")

    # ---- short forms of papers: `\bar{X}`, `\ln n`, `\|x\|_1`, `A^{-1}` --------------------------

    def _accented(self) -> str:
        r"""The name of a letter with an accent: `\bar{X}` is Xbar or X_bar."""
        sign = self.token
        self.at += 1
        braced = self.taken("{")
        letter = self.token
        text = letter.text.removeprefix("\\")
        if not text.isalpha() or (not braced and letter.kind == "letters" and len(text) > 1):
            raise self.error(f"{sign.text} stands above one name", rf"write {sign.text}{{x}}")
        self.at += 1
        if braced:
            self.expect("}")
        joined = f"{text}_{ACCENTS[sign.text]}", text + ACCENTS[sign.text]
        known = [name for name in joined if name in self.axes]
        if len(known) > 1:
            message = f"this may be {' or '.join(known)}"
            raise self.error(message, NOTATION, sign.column)
        if not known and text in self.axes:
            message = f"{joined[1]!r} is no name of the model"
            hint = (
                rf"name the line {joined[1]}; that the event {text} does not happen is \lnot {text}"
            )
            raise self.error(message, hint, sign.column)
        if not known:
            raise unknown(sign.column, joined[1], self.axes)
        return known[0]

    def _bare_argument(self, name: str) -> Node:
        r"""Read an argument without brackets, `\ln n`: one letter, number, root or fraction."""
        token = self.token
        refused = self.error(f"the argument of {name} stands in brackets", f"write {name}(…)")
        lone = {*ACCENTS, *GROUPED, *FRACTIONS, *LETTERS, *(f"\\{one}" for one in self.axes)}
        short = token.kind == "number" or (token.kind == "letters" and len(token.text) == 1)
        if name not in FUNCTIONS or not FUNCTIONS[name].by_element:
            raise refused
        if not (short or (token.kind == "command" and token.text in lone)):
            raise refused
        node = self.atom()
        if not (self.done() or (self.token.kind != "word" and self.token.text in _ENDS)):
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

    def _matrix_power(self, node: Node) -> Node:
        """Read the inverse of a matrix; other powers may be powers of its elements."""
        column, power = self.token.column, self.argument()
        if power != Negative(self.here, Number(self.here, 1)):
            raise self.error("which power of a matrix is meant is not known", IN_MARK, column)
        return Call(self.here, INVERSE_NAME, (node,))

    def _refuse_power_of_mean(self, node: Node) -> None:
        """Refuse a power after E(x - m), in round brackets, which may be a power within the mean.

        Papers write E(x - m)^2 for the mean of the square, and E(x)^2 for the square of the mean.
        """
        match node:
            case Call(name=name, arguments=(Binary(operator="+" | "-"), *_)) if name == MEAN_NAME:
                if self.peek(-2) == ")":
                    raise self.error("the power may be of the mean or within it",
                                       "write E[(…)^2] or (E[…])^2")  # fmt: skip

    def _apart_from_transpose(self) -> None:
        """Split the T of `W^TW` from the letters after it, as LaTeX does."""
        token = self.token
        if token.kind == "letters" and token.text[0] == "T" and len(token.text) > 1:
            parts = (token.text[0], 0), (token.text[1:], 1)
            self.tokens[self.at : self.at + 1] = [
                Token("letters", text, token.column + by) for text, by in parts
            ]

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
        if letter.text in self.axes:
            raise self.error(f"{letter.text!r} is a name of the model already", "count by another")
        if letter.text == self.free:
            raise self.error(f"{letter.text!r} stands for any element already", "count by another")
        self.counted.add(letter.text)
        self.at += 1
        ends: tuple[Node, Node] | None = None
        if braced:
            if self.taken("="):
                start = self.sum()
                self.expect("}")
                self.expect("^")
                column = self.token.column
                ends = start, self.argument()
                if ends[1] == Name(self.here, INFINITY):
                    raise self.error("a sum without end is not read",
                                       "end it where its terms are small", column)  # fmt: skip
            else:
                self.expect("}")
        through = None if ends is None else places(*ends)
        outer, self.bound = self.bound, {**self.bound, letter.text: through}
        first = self.at
        body = self.product()
        self.bound = outer
        met = letters_in(body)
        if has_elements(body) and ends and isinstance(ends[0], Number) and ends[0].value < 1:
            raise self.error("elements count from 1", "begin the sum at 1", letter.column)
        if name == PRODUCT_NAME and not self.in_brackets(first, self.at):
            self._refuse_last_factor(body, self.tokens[first].column)
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
            case Call(arguments=(inner,), keywords=()) if (body.name, name) == (
                MEAN_NAME,
                SUM_NAME,
            ):
                summed = elementwise(inner, part, letter.column, self.axes)
                return Call(self.here, MEAN_NAME, (Call(self.here, name, (summed,)),))
        return Call(self.here, name, (elementwise(body, part, letter.column, self.axes),))

    def _counting(self, letter: str, column: int) -> Node:
        r"""The index letter of a sum as a number, as in `\sum_{k=1}^n 1/k`."""
        through = self.bound[letter]
        if through is None:
            raise self.error(f"where {letter} begins and ends is not known",
                               rf"write \sum_{{{letter}=1}}^{{n}}", column)  # fmt: skip
        return syntax.Subscript(self.here, through, (Name(self.here, ANY_ELEMENT + letter),))

    def _refuse_last_factor(self, body: Node, column: int) -> None:
        """Refuse a product whose last factor does not depend on its index letter."""
        if isinstance(body, Binary) and body.operator in "*/@%" and not letters_in(body.right):
            raise self.error("where this product ends is not known", "write brackets", column)

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
_UNKNOWN = "which product is meant is not known here"
_INNER = r"write q^\top k or q \cdot k for the inner product, \odot element by element"


def times(sign: str, left: Node, right: Node, axes: AxisCounts, column: int) -> Node:
    r"""Two factors with an operator between them; an error is at `column`.

    `left \cdot right` is an inner product of two vectors, or a number times anything. `left \times
    right` of two vectors is refused.
    """
    if sign == r"\thinspace":
        return Binary(left.at, "@", untransposed(left, axes), right)
    if sign not in (r"\cdot", r"\times"):
        return Binary(left.at, "%" if sign == r"\bmod" else "*", left, right)
    if isinstance(left, syntax.Transpose):
        return Binary(left.at, "@", untransposed(left, axes), right)
    both = axes_of(left, axes), axes_of(right, axes)
    if both == (1, 1) and sign == r"\cdot":
        return Binary(left.at, "@", left, right)
    if 0 in both or _without_names(left) or _without_names(right):
        return Binary(left.at, "*", left, right)
    hint = r"write \odot element by element, ^\top for an inner product"
    raise LatexError(column, _UNKNOWN, hint)


def side_by_side(left: Node, right: Node, axes: AxisCounts, column: int) -> Node:
    """Two factors without an operator between them; two vectors are refused."""
    if isinstance(left, syntax.Transpose):
        return Binary(left.at, "@", untransposed(left, axes), right)
    both = axes_of(left, axes), axes_of(right, axes)
    if both == (1, 1):
        if isinstance(right, syntax.Transpose):
            return syntax.Call(left.at, OUTER_NAME, (left, right.base))
        raise LatexError(column, "two vectors stand side by side", _INNER)
    if 0 in both:
        return Binary(left.at, "*", left, right)
    if None not in both and both[0] != 1:
        return Binary(left.at, "@", left, right)
    raise LatexError(column, _UNKNOWN, r"write \cdot, \odot or ^\top")


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


def untransposed(node: Node, axes: AxisCounts) -> Node:
    """A vector itself for its transpose; other expressions as they are."""
    if isinstance(node, syntax.Transpose) and axes_of(node.base, axes) == 1:
        return node.base
    return node


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
