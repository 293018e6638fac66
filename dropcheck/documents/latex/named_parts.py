"""The names in a formula: of the model, of functions and operators, with their subscripts."""

from __future__ import annotations

from dropcheck.documents.latex import names
from dropcheck.documents.latex.cursor import Expressions
from dropcheck.documents.latex.tokens import NOTATION, Token
from dropcheck.documents.latex.totals import counting, element
from dropcheck.language.syntax import Call, Name, Node
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.latex_words import CALLED, IDENTITY_NAME, LETTERS
from dropcheck.vocabulary.operators import OPERATORS


class NamedParts(Expressions):
    """Reads names, with their subscripts and arguments."""

    def named(self) -> Node:
        """Read a name with its subscript, or several letters that are names side by side."""
        token = self.token
        self.at += 1
        text = token.text.removeprefix("\\") if token.kind == "command" else token.text
        if token.kind == "letters" and not self._known(text) and len(text) > 1:
            text, *rest = names.cut(token, {*self.axes, *self.bound}, subscripted=self.is_next("_"))
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
        parts = names.words_below(self)
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
            raise names.unknown(token.column, joined[0] if joined else text, self.axes)
        self.at = start
        return element(self, Name(self.here, text), column)

    def _plain(self, token: Token, text: str) -> Node:
        if text in self.axes:
            return Name(self.here, text)
        if text in self.bound:
            return counting(self, text, token.column)
        if text in OPERATORS or text in FUNCTIONS:
            return self.call(text)
        alias = CALLED.get(f"\\{text}")
        if alias is not None:
            return self.call(alias)
        if text in LETTERS.values():
            return Name(self.here, text)
        raise names.unknown(token.column, text, self.axes)
