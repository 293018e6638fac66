"""A recursive-descent parser for formulas: expressions, events, calls and names."""

from __future__ import annotations

from collections.abc import Mapping

from dropcheck.documents.latex import names, short_forms
from dropcheck.documents.latex.named_parts import NamedParts
from dropcheck.documents.latex.tokens import FRACTIONS, IN_MARK, REFUSED
from dropcheck.documents.latex.totals import element, total
from dropcheck.documents.latex.which_product import (
    refuse_call,
    refuse_mixed_number,
    side_by_side,
    times,
)
from dropcheck.language import syntax
from dropcheck.language.lowering.axes import axes_of
from dropcheck.language.printing import unparse
from dropcheck.language.syntax import Binary, Call, Name, Negative, Node, Number
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
    INDICATORS,
    LETTERS,
    LOGIC,
    NOT,
    OR,
    RELATIONS,
    TOTALS,
)  # fmt: skip
from dropcheck.vocabulary.operators import OPERATORS

DEEPEST = 60
LONGEST = 100  # factors of a product: the time grows with their square
_CLOSES = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", r"\lbrace": r"\rbrace"}
_BAR = "|"
_WORDS = (AND, OR)
_FACTORS = {*ACCENTS, *CALLED, *ENCLOSING, *GROUPED, *INDICATORS, *TOTALS, *LETTERS}
_TIMES = (r"\cdot", r"\times", r"\odot", "*", r"\thinspace", r"\bmod")


class Reader(NamedParts):
    """Reads one formula by recursive descent; operators of lowest precedence come first."""

    def __init__(self, formula: str, axes: Mapping[str, int], notation: Mapping[str, str]) -> None:
        super().__init__(formula, {**dict.fromkeys(LETTERS.values(), 0), **axes}, notation)
        self.depth = 0
        self.calls = 0  # open calls of operators, in which a bar begins a condition
        self.bars = 0  # open bars of a magnitude, which the next bar closes
        self.modulo: int | None = None  # the column of a \bmod in the last product

    # ---- relations and events ------------------------------------------------------------------

    def relation(self) -> str:
        """Read the relation of a statement."""
        token = self.token
        if token.text in REFUSED:
            raise self.error(*REFUSED[token.text])
        sign = RELATIONS.get(token.text)
        if sign is None and token.kind == "command" and not self._starts_factor():
            raise names.unread(token, self.axes)
        if sign is None or token.kind == "word":
            hint = "write \\cdot for a product, or brackets"
            if token.text == "," and self.at and self.tokens[self.at - 1].kind == "number":
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
        for _ in range(LONGEST):
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
                    raise self.error(
                        "a number stands to the right of its factor", "write \\cdot between"
                    )
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
        raise self.error(
            f"a product has {LONGEST} factors at most", "name a part of it in the model"
        )

    def _starts_factor(self) -> bool:
        token = self.token
        if token.kind in ("letters", "number", "given"):
            return True
        if token.kind == "word":
            return token.text not in _WORDS
        opens = token.text in ("(", "[", "{", r"\{", r"\frac", r"\lbrack")
        if token.text in (_BAR, r"\|"):
            return not self.bars and not (token.text == _BAR and self.calls)
        named = token.text in _FACTORS
        return opens or named or (token.kind == "command" and self._is_letter())

    def _is_letter(self) -> bool:
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
                names.refuse_superscript(self)
                if not grouped:
                    short_forms.refuse_power_of_mean(self, node)
                of_node = axes_of(node, self.axes)
                if of_node != 0 and "T" not in self.axes:
                    short_forms.apart_from_transpose(self)
                raised = self.peek(1) if self.is_next("{") else self.token.text
                if raised == r"\top" or (raised == "T" and "T" not in self.axes and of_node != 0):
                    braced = self.taken("{")
                    self.at += 1
                    if braced:
                        self.expect("}")
                    node = syntax.Transpose(self.here, node)
                    continue
                if (of_node or 0) > 1:
                    node = short_forms.matrix_power(self, node)
                else:
                    node = Binary(self.here, "**", node, self.argument())
            elif self.token.text in AFTER and self.token.kind == "symbol":
                if self.peek(1) in AFTER:
                    raise self.error("two of these signs stand side by side", "write brackets")
                node = Call(self.here, AFTER[self.token.text], (node,))
                self.at += 1
            elif self.is_next("_") and (axes_of(node, self.axes) or 0) > 0:
                self.at += 1
                node = element(self, node, self.token.column)
            else:
                return node

    def argument(self) -> Node:
        """Read the argument of `^` or a fraction: a group in braces, one letter or one digit."""
        if self.taken("{"):
            node = self.sum()
            self.expect("}")
            return node
        names.refuse_more(self)
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
            return names.notated(token)
        if kind in ("letters", "word"):
            return self.named()
        if text in LETTERS and text[1:] not in self.axes and self.peek(1) != "_":
            self.at += 1
            return Name(self.here, LETTERS[text])
        if kind == "command" and self._is_letter():
            return self.named()
        if text in TOTALS:
            return total(self)
        if text in ACCENTS:
            return self.below(token, short_forms.accented(self))
        if text in INDICATORS:
            self.at += 1
            return names.indicator(self)
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
        raise names.unread(token, self.axes)

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
            return Binary(
                self.here, "**", inner, Binary(self.here, "/", Number(self.here, 1), order)
            )
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
            return short_forms.norm_of_order(self, name, node)
        if (axes_of(node, self.axes) or 0) > (text != _BAR):
            raise self.error("this may be a norm or a determinant", IN_MARK)
        return Call(self.here, name, (node,))

    def call(self, name: str) -> Node:
        """Read the call of a function or an operator, from its bracket on."""
        opening = self.token.text
        if opening not in _CLOSES or opening == "{":
            return Call(self.here, name, (short_forms.bare_argument(self, name),))
        self.at += 1
        outer, self.calls = self.calls, self.calls + (name in OPERATORS)
        bars, self.bars = self.bars, 0
        arguments, keywords = [self.event()], []
        while self.taken(","):
            word = self.token
            keyword = word.kind in ("word", "letters") and self.peek(1) == "="
            if (
                keyword
                and name in FUNCTIONS
                and any(option.name == word.text for option in FUNCTIONS[name].parameters)
            ):
                self.at += 2
                keywords.append((word.text, self.event()))
            else:
                arguments.append(self.event())
        if self.calls > outer and self.taken(r"\mid", _BAR):
            column = self.token.column
            event = self.event()
            if not names.is_event(event):
                raise self.error("a condition is an event", "write X > 0 or m = 1", column)
            keywords.append(("given", event))
        self.calls, self.bars = outer, bars
        self.expect(_CLOSES[opening])
        if len(arguments) > 1 and name == PROBABILITY and all(map(names.is_event, arguments)):
            arguments = [syntax.Logic(self.here, AND, tuple(arguments))]
        if len(arguments) > 1:
            name = PAIRWISE.get(name, name)
        return Call(self.here, name, tuple(arguments), tuple(keywords))
