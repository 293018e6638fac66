r"""Reads a formula as statements of the language, or raises an error with a column: no guesses.

It reads a strict subset of LaTeX. The names of the model decide what a formula means: `d_k` is a
name if the model has it, and else an element of d; `qk` is a product if q and k are names and `qk`
is not. Elements count from 1 in formulas and from 0 in the language. `\cdot` between two vectors is
their inner product; two vectors side by side are refused. Whatever refuses raises a `UnreadError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, pairwise, product, takewhile

from dropcheck.claims.registry import SourceText
from dropcheck.documents.figures import UnreadError, read_before
from dropcheck.errors import DropcheckError
from dropcheck.language import syntax
from dropcheck.language.compile import Known
from dropcheck.language.hints import name_hint, slip_of
from dropcheck.language.parser import parse_expression
from dropcheck.language.syntax import (
    ROUNDED,
    Binary,
    Call,
    Name,
    Negative,
    Node,
    Number,
    Position,
    side_text,
    unparse,
    unparse_statement,
)
from dropcheck.vocabulary import latex_words as tex
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.reductions import PAIRWISE
from dropcheck.vocabulary.operators import OPERATORS, PROBABILITY
from dropcheck.vocabulary.shapes import ShapeError, ShapeRule, matmul

LONGEST = 5_000  # characters of a formula
LONGEST_WORD = 40  # letters side by side
EACH_STEP = "each"
IN_MARK = "write the statement in the mark"
OUTSIDE = "words of a sentence stand outside of the formula"
NOTATION = "name it in 'notation'"
WHOLE = "name the whole in 'notation'"
COMPLEMENT = r"write \lnot A for the event that A does not happen"
_EACH = "write a formula with its mark for each"
_RANGE = "write a range: a \\le x \\le b"


def statements(
    formula: str,
    names: Mapping[str, Known],
    notation: Mapping[str, str] | None = None,
    *,
    last_row: bool = False,
    each: bool = False,
) -> tuple[str, ...]:
    r"""The statements of a formula: one for each relation, or one for a range.

    A chain over several rows claims that its first and its last side are related.

    Args:
        formula: LaTeX, with or without the dollars around it.
        names: what is known of the names of the model and its parameters.
        notation: pieces of LaTeX with the expressions that they stand for.
        last_row: of several rows, the last one alone claims something.
        each: so does each relation of several rows.

    Raises:
        UnreadError: it is outside the subset, or there are several ways to read it.

    >>> number, vector = Known(), Known(axes=1, random=True)
    >>> names = {"q": vector, "k": vector, "d_k": number}
    >>> statements(r"\operatorname{Var}(q \cdot k) = d_k", names)
    ('Var(q @ k) == d_k',)
    >>> statements(r"1 - p &= \mu \\ &= 0.5", {"mu": number, "p": number})
    ('1 - p == 0.5',)
    """
    try:
        tokens = scripts_in_order(_without_braces(tokens_of(formula, notation or {})))
        rows = rows_of(tokens)
        if last_row and rows:
            end = rows[-1][-1][-1].column
            begins = [one.column for one in tokens if one.kind == "row" and one.column < end]
            rows = [said for said in rows if not begins or said[-1][-1].column > begins[-1]]
            if len(rows[0]) > 1:
                before = rows[0][-2]
                rows[0] = [[*before[max(_outside(before), default=-1) + 1 :], *rows[0][-1]]]
        links: list[_Link] = []
        for said in rows or [[]]:
            last = max((one.column for one in chain(*said)), default=0)
            end = min((one.column for one in tokens if one.column > last), default=len(formula))
            reader = _FormulaReader(formula[:end], [*chain(*said)], names)
            links += reader.links(ends=len(said) > 1 and not each)
        return tuple(map(_statement, links))
    except RecursionError:
        raise UnreadError(0, "this formula is too deep", "name a part of it in the model") from None


def _statement(link: _Link) -> str:
    """The text of a statement; a number that is a side keeps the digits that it is printed with."""
    signs, operands = link
    if all(_printed(one) in (None, unparse(one)) for one in operands):
        return unparse_statement(syntax.Statement(operands[0].at, signs, operands))
    first, *rest = (_printed(one) or side_text(one) for one in operands)
    return first + "".join(f" {sign} {text}" for sign, text in zip(signs, rest, strict=True))


def _printed(node: Node) -> str | None:
    """A number as it is printed; None of anything else."""
    bare = syntax.unsigned(node)
    printed = bare.text if isinstance(bare, Number) else None
    return printed and f"{'-' if bare is not node else ''}{printed}"


# ---- tokens --------------------------------------------------------------------------------------


_NO_STATEMENTS = (
    (r"\simeq \lesssim \gtrsim \ll \gg \doteq \cong", "an approximation is no statement",
     r"write \approx before a number in decimals"),
    (r"\propto", "a proportion is no statement", "write the ratio: \\frac{x}{y} = c"),
    (r"\sim \stackrel \overset", "laws are not read from LaTeX", f"{IN_MARK}: y ~ normal(0, 1)"),
    (r"\pm", "a figure with an uncertainty is not a statement", _RANGE),
    (r"\to \lim \xrightarrow", "a limit is no statement", "claim a value at a large n"),
    (r"\int", "integrals are not read", "write a mean: E(f(u)) of a uniform u"),
    (r"\quad \qquad \implies \iff \Rightarrow \Longrightarrow \rightarrow \longrightarrow"
     r" \Leftrightarrow", "a formula may hold two statements here", _EACH),
    (r"\dots \ldots \cdots", "what is left out cannot be read", "write a sum with its range"),
    (r"\langle", "inner products in angle brackets are not read", "write a^\\top b"),
    (r"\perp \bot \indep", "independence is not read from LaTeX", f"{IN_MARK}: independent(x, y)"),
    (r"\gamma", "no line of the model has the name gamma",
     r"name it in the model; the function is \Gamma(x)"),
    (r"\phi \varphi", "this may be the density of the normal law or the document's own function",
     r"write \operatorname{phi}(x) for the density, or name it in 'notation'"),
    (r"\bmod", "a remainder is not read", f"{IN_MARK}: n % 2"),
    (r"\forall \exists", "conditions are not read",
     "write them outside of the formula; its mark gives the values"),
    (r"\begin", "what stands in this environment is not read", IN_MARK),
)  # fmt: skip
REFUSED = {one: (said, hint) for names, said, hint in _NO_STATEMENTS for one in names.split()}
"""Commands that make no statement, with a message and a hint."""
# What to write for commands and signs that are not read.
MEANT = {
    r"\in": _RANGE,
    r"\equiv": "write =",
    **dict.fromkeys(tex.RELATIONS, "write one relation between two sides"),
    ":": "write = for :=, and \\mid before a condition",
    ",": "write decimals as 0.5, and thousands as 1{,}000",
    r"\prime": COMPLEMENT,
    r"\complement": COMPLEMENT,
}
_BOLD = "mathbf|boldsymbol|bm|textbf"
_UPRIGHT = (
    rf"operatorname|mathrm|mathit|mathbb|{_BOLD}|mathds|text|mathsf|mathtt|textrm|textit|textsf"
    "|textnormal|mbox"
)
_INNER = r"aligned|alignedat|split|gathered|align\*?|equation\*?"  # the last two within $$ … $$
LAYOUT = (
    r"\\(?:label|tag|color)\*?\s*\{[^{}]*\}"
    rf"|\\begin\s*\{{(?:{_INNER})\}}(?:\s*\[[^\]]*\]|\s*\{{[0-9]+\}})?|\\end\s*\{{(?:{_INNER})\}}"
    r"|\\(?:nonumber|notag|displaystyle|textstyle|n?o?limits|allowbreak)(?![A-Za-z])"
)
"""Matches commands of layout, which say nothing."""
ROW_END = r"\\\\\*?(?:\[[^\]]{0,50}\])?"
_TOKEN = re.compile(
    r"(?P<gap>(?:(?:~|\\[,;: ])\s*){2,}|&\s*&)"
    rf"|(?P<space>[\s~$]|\\[,;!: $]|{LAYOUT}"
    r"|\\(?:left|right|middle|[bB]igg?[lrm]?)(?![A-Za-z]))"
    rf"|(?P<nested>\\(?:operatorname\*?|mathop)\s*\{{\s*\\(?:{_UPRIGHT})\s*\{{(?P<inner>[A-Za-z]+)\}}\s*\}}"
    r"|\{\s*\\(?:rm|bf)\s+(?P<old>[A-Za-z]+)\s*\}"
    r"|\\mathbb\s*\{?(?P<first>[VCP])\}?\\(?:mathrm|operatorname|text)\{(?P<rest>ar|ov|r)\})"
    rf"|(?P<upright>\\(?:operatorname\*|(?:{_UPRIGHT})(?![A-Za-z*])))"
    r"(?:\s*\{\s*(?P<word>[A-Za-z0-9 ,\\_-]*?)\s*\}|\s+(?P<letter>[A-Za-z01])(?![A-Za-z])|)"
    rf"|(?P<row>{ROW_END})"
    r"|(?P<command>\\(?:[A-Za-z]+\*?|.))"
    r"|(?P<number>(?:[0-9]{1,3}(?:\{,\}[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?P<power>[eE][-+]?[0-9])?(?P<percent>(?:\s|\\,)*\\%)?"
    r"|(?P<letters>[A-Za-z]+)"
    r"|(?P<symbol>[-+*/^_=<>()\[\]{}|!,&'])"
    rf"|(?P<sign>[{''.join(tex.SIGNS)}])"
)
FRACTIONS = (r"\frac", r"\tfrac", r"\dfrac")
_BECAUSE = "by|from|using|since|because|due|via"
_WHERE = "where|with|if|for|when|whenever|under|assuming|provided"
_SPACES = r"(?:[\s,;:&~]|\\[,;:! ]|\\q?quad(?![A-Za-z]))"
# Words at the end that give a reason or say when it holds, as the sentence around might.
_REASON = re.compile(
    rf"(?<![_^\s,;:&~]){_SPACES}*\\(?:text|mbox|textrm|textit)\s*\{{\s*\(?"
    rf"(?:(?:{_BECAUSE})|(?P<where>{_WHERE}))\b(?P<words>[^{{}}]*)\}}"
    rf"{_SPACES}*\.?\s*(?=\\\\|\\end\b|\Z)"
)
_OTHERWISE = re.compile(
    r"\b(?:not?|never|some|unless|except|false|wrong|only|large|small|[mb]illion|probability|about"
    r"|approx\w*|roughly|up to)\b"
)
# Punctuation at the end of the formula, or of one of its rows.
_LAST = re.compile(rf"(?<![\s.,;:$\\])(?:[\s.,;:$]|\\[,;: ]|{ROW_END}|{LAYOUT})+\Z")
_LAST_OF_ROW = re.compile(r"(?<![\s.,;:])[\s.,;:]+(?=\\\\)")


@dataclass(frozen=True, slots=True)
class Token:
    """One token: a "command", a "word" in braces, "letters", a "number", or a "symbol".

    The kind "given" is a piece that the document's notation names; its `text` is the meaning.
    """

    kind: str
    text: str
    column: int


def tokens_of(formula: str, notation: Mapping[str, str]) -> list[Token]:
    r"""The tokens of a formula, without layout, sizes of brackets, and words at its end.

    >>> [token.text for token in tokens_of(r"\operatorname{Var}\left(x\right) = 1{,}000", {})]
    ['Var', '(', 'x', ')', '=', '1000']
    """
    if len(formula) > LONGEST:
        raise UnreadError(0, f"this formula is longer than {LONGEST:,} characters")
    formula = _LAST_OF_ROW.sub(lambda found: " " * len(found[0]), _without_reasons(formula))
    return list(_tokens(_LAST.sub("", formula), notation))


def _without_reasons(formula: str) -> str:
    """The formula with blanks in place of words at the end of a row that only give a reason."""

    def blank(found: re.Match[str]) -> str:
        words = found["words"]
        more = found["where"] and re.search(r"[0-9=<>$\\]", words)
        return found[0] if more or _OTHERWISE.search(words) else " " * len(found[0])

    return _REASON.sub(blank, formula)


def _tokens(formula: str, notation: Mapping[str, str]) -> Iterator[Token]:
    pieces = sorted(notation, key=len, reverse=True)
    at, before = 0, ""
    while at < len(formula):
        piece = next((one for one in pieces if one and formula.startswith(one, at)), None)
        if piece is not None and not _WITHIN_WORD.match(formula, at + len(piece) - 1):
            meaning = notation[piece].strip()
            kind = (
                "command" if meaning in OPERATORS else "word" if meaning in FUNCTIONS else "given"
            )
            yield Token(kind, f"\\{meaning}" if kind == "command" else meaning, at)
            at += len(piece)
            continue
        found = _TOKEN.match(formula, at)
        if found is None:
            message = f"'{formula[at]}' is not part of what is read"
            hint = MEANT.get(formula[at], f"{WHOLE}, or write it as LaTeX does")
            raise UnreadError(at, message, hint)
        start, at = at, found.end()
        if found["power"]:
            message = f"{found['number']}e… may be a power of ten or a product with e"
            raise UnreadError(start, message, r"write 2 \cdot 10^{-3}")
        kind, text = str(found.lastgroup), found.group()
        if found["nested"]:
            word = found["inner"] or found["old"] or f"{found['first']}{found['rest']}"
            kind, text = _upright("", word)
        elif found["upright"]:
            word = found["letter"] if found["word"] is None else found["word"]
            if word is None:
                message = f"what stands in {text} is not read"
                raise UnreadError(start, message, f"write one word, {text}{{E}}; {OUTSIDE}")
            kind, text = _upright(found["upright"], word)
        elif found["number"]:
            kind, text = "number", found["number"].replace("{,}", "")
            text = f"{Decimal(text).scaleb(-2):f}" if found["percent"] else text
        elif kind == "gap":
            kind, text = "command", r"\quad"
        elif kind == "sign":
            text = tex.SIGNS[text]
            kind = "command" if text[0] == "\\" else "symbol"
        if before in FRACTIONS and kind == "number" and len(text) == 2 and text.isdigit():
            yield Token(kind, text[0], start)  # LaTeX takes one digit each: \frac12 is a half
            text, start = text[1], start + 1
        if kind != "space":
            before = text
            yield Token(kind, text, start)


def _upright(command: str, word: str) -> tuple[str, str]:
    """The kind and the text of upright letters: a word, or a command such as an indicator's."""
    word = word.replace(r"\_", "_")
    if word == "0" and command[1:] in _BOLD.split("|"):
        return "number", word  # a vector of zeros
    for one in (rf"\operatorname{{{word}}}", f"{command}{{{word}}}", word):
        if one in tex.CALLED or one in tex.INDICATORS or (one.startswith("\\") and one is word):
            return "command", one
    return "word", word


def _without_braces(tokens: Iterable[Token]) -> list[Token]:
    """The tokens without braces around no argument: they are not printed, so they say nothing."""
    shown: list[Token] = []
    opened: list[tuple[Token, int, int]] = []
    missing = 0  # arguments of the command before
    for token in tokens:
        shown.append(token)
        if token.text == "{":
            opened.append((token, len(shown), missing))
            missing = 0
        elif token.text == "}" and opened:
            brace, start, missing = opened.pop()
            held = shown[start:-1]
            chosen = _outside(held, (r"\choose",)) or [one.text for one in held] == [","]
            if not missing and not chosen:
                if held[1:] and _outside(held, (*_SIGNS, *_RELATES)):
                    message = "braces are not printed, and hold one factor"
                    raise UnreadError(brace.column, message, "write brackets")
                shown[start - 1 :] = held
            missing = max(missing - 1, 0)
        else:
            missing = _ARGUMENTS.get(token.text, max(missing - 1, 0))
    return shown


_WITHIN_WORD = re.compile("[A-Za-z]{2}")  # where a piece of notation ends within a word
_SCRIPTS = ("'", "_", "^")  # in the order in which they are read


def scripts_in_order(tokens: list[Token]) -> list[Token]:
    r"""The tokens with what stands below a letter before what stands above: `\sigma^2_x`.

    >>> " ".join(one.text for one in scripts_in_order(tokens_of(r"s^{2}_x + y_1^\prime", {})))
    "s _ x ^ { 2 } + y ' _ 1"
    """
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        scripts: list[list[Token]] = []
        of_number = at and tokens[at - 1].kind == "number"
        while not of_number and (end := _end_of_script(tokens, at)) > at:
            own = tokens[at:end]
            if [one.text for one in own if one.text not in "{}"] == ["^", r"\prime"]:
                own = [replace(own[0], text="'")]
            scripts.append([own[0], *scripts_in_order(own[1:])])
            at = end
        scripts.sort(key=lambda script: _SCRIPTS.index(script[0].text))
        out += chain(*scripts)
        out += tokens[at : at + 1]
        at += 1
    return out


def _end_of_script(tokens: Sequence[Token], at: int) -> int:
    """Where a script that begins at `at` ends; `at` if there is none."""
    if at >= len(tokens) or tokens[at].kind != "symbol" or tokens[at].text not in _SCRIPTS:
        return at
    if tokens[at].text == "'":
        return at + 1
    end = at + 1
    if tokens[end : end + 1] and tokens[end].text == "{":
        depth = 1
        while depth and (end := end + 1) < len(tokens):
            depth += {"{": 1, "}": -1}.get(tokens[end].text, 0)
    elif end >= len(tokens) or (tokens[end].kind in ("letters", "number") and tokens[end].text[1:]):
        return at  # LaTeX takes its first letter alone
    return min(end + 1, len(tokens))


# ---- rows ----------------------------------------------------------------------------------------


_OF_NUMBERS = {"var": "Var", "std": "Std"}
"""Functions of the elements of an array, and operators that papers write so of a number."""
_OPENS = {"(": 1, "[": 1, "{": 1, r"\{": 1, r"\lbrace": 1}
_OPENS |= {")": -1, "]": -1, "}": -1, r"\}": -1, r"\rbrace": -1}
_SIGNS = ("+", "-", r"\cdot", r"\times")
_APPROXIMATELY = r"\approx"
_RELATES = {**tex.RELATIONS, _APPROXIMATELY: ROUNDED}
_GO_ON = (*_SIGNS, *_RELATES)
_PARTS = (r"\quad", r"\qquad", tex.AND)
_PART_EVENTS = (",", "|", r"\vert", r"\mid", tex.AND, tex.OR)


def rows_of(tokens: Iterable[Token]) -> list[list[list[Token]]]:
    r"""The statements of a formula, each as rows of which all but the first begin with a relation.

    A row that begins with a relation or ends in one goes on with the statement of the row before.
    A wide space, the word "and" or a second pair of columns, `a &= b & c &= d`, parts statements
    in one row; a comma alone does not, since it may list what is related: `1 \le i, j \le n`.
    """
    found: list[list[list[Token]]] = []
    several = False  # whether it is not known with which statement a row would go on
    for tokens_of_row in _cells(tokens, lambda one: one.kind == "row"):
        row = _without_quads(tokens_of_row)
        apart = _cells(row, lambda one: one.text in _PARTS and one.kind != "letters")
        columns = _cells(row, lambda one: one.text == "&")
        relates = [_is_relation(one[0]) for one in columns]
        if len(apart) == 1 and relates == len(columns) // 2 * [False, True]:
            apart = [left + right for left, right in zip(columns[::2], columns[1::2], strict=True)]
        apart = [part[:-1] if part[-1].text == "," else part for part in apart]
        apart[1:] = [[one for one in part if one.text != "&"] for part in apart[1:]]
        begins = {part[0].text for part in apart[1:]}
        if not (apart and all(map(_outside, apart))) or not begins.isdisjoint((*_GO_ON, "(")):
            apart = [row]  # what stands between is refused
        parts = _cells(apart[0], lambda one: one.text == "&")
        for place, part in enumerate(parts):
            before = parts[place - 1] if place else found[-1][-1] if found else []
            relation, sign = _is_relation(part[0]), part[0].text in _SIGNS
            goes_on = relation or (sign and not any(map(_outside, parts[place:])))
            goes_on = goes_on or (bool(before) and before[-1].text in _GO_ON)
            if not before or not (goes_on or place or sign):
                found.append([part])
            elif not goes_on or (several and not place):
                raise UnreadError(part[0].column, "a statement may go on or begin here", _EACH)
            elif relation and not place:
                found[-1].append(part)
            else:
                found[-1][-1] += part
        several = len(apart) > 1
        found += [[part] for part in apart[1:]]
    return found


def _cells(tokens: Iterable[Token], ends: Callable[[Token], bool]) -> list[list[Token]]:
    """The tokens between separators; rows and cells within brackets are dropped."""
    cells: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += _OPENS.get(token.text, 0) if token.kind in ("symbol", "command") else 0
        if not ends(token) or (depth > 0 and token.text in _PARTS):
            cells[-1].append(token)
        elif depth <= 0:
            cells.append([])
    return [cell for cell in cells if cell]


def _without_quads(tokens: Sequence[Token]) -> list[Token]:
    r"""The tokens of a row without each `\quad` at an edge or beside a relation.

    In brackets, those beside what parts events go too; others may be "and" or a product.
    """
    shown, depth = list[Token](), 0
    for before, one, after in zip((None, *tokens), tokens, (*tokens[1:], None), strict=False):
        depth += _OPENS.get(one.text, 0)
        beside = {other and other.text for other in (before, after)}
        edge = not beside.isdisjoint({None, "&", *_RELATES, *(_PART_EVENTS if depth > 0 else ())})
        shown += [] if edge and one.text in (r"\quad", r"\qquad") else [one]
    return shown


def _outside(tokens: Sequence[Token], texts: Collection[str] = _RELATES) -> list[int]:
    """Where one of these signs, by default a relation, stands outside of brackets."""
    places, depth = [], 0
    for at, token in enumerate(tokens):
        depth += _OPENS.get(token.text, 0)
        if depth <= 0 and token.text in texts and token.kind in ("symbol", "command"):
            places.append(at)
    return places


def _is_relation(token: Token) -> bool:
    return token.text in _RELATES and token.kind in ("symbol", "command")


# ---- the reader ----------------------------------------------------------------------------------


MOST_FACTORS = 100  # factors of a product: the time grows with their square
_CLOSES = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", r"\lbrace": r"\rbrace"}
_BAR = "|"
_BARS = (_BAR, r"\vert")
_NORM = r"\|"
_TIMES = (r"\cdot", r"\times", r"\odot", "*", "/")
# Tokens that end an argument without brackets. Before others, such as a power, it may go on.
_ENDS = {*"+-,)]}|", "", r"\}", r"\rbrace", r"\mid", *_RELATES, *tex.CALLED}
_ENDS |= {closing for closing, _ in tex.ENCLOSING.values()}
# How many arguments in braces stand behind a token.
_MACROS = {one for one in tex.CALLED if "{" not in one}
_ARGUMENTS = dict.fromkeys(("_", "^", *tex.ACCENTS, *_MACROS), 1) | dict.fromkeys(FRACTIONS, 2)
_ARGUMENTS |= {command: count for command, (_, count) in tex.GROUPED.items()}
# Commands that begin such an argument; the second are those before which only operators stand.
_ALONE = {*tex.ACCENTS, *tex.GROUPED, *FRACTIONS, *tex.LETTERS}
_ALONE_OF_ALL = {*tex.TOTALS, *tex.ENCLOSING, *_BARS, *tex.CALLED}
_ITS_NAMES = "its names:"
_WITHOUT = (r"\setminus", r"\backslash")
_COMPLEMENTS = ({"c"}, {"C"}, {r"\complement"})
_PRIME = "prime"  # as names of a model have it
_Link = tuple[tuple[str, ...], tuple[Node, ...]]


class _Complement(syntax.Not):
    """An event that does not happen, written by a sign that may mean something else of a number."""


class _FormulaReader:
    """Reads one statement by recursive descent; `at` is the index of the next token."""

    def __init__(self, formula: str, tokens: list[Token], names: Mapping[str, Known]) -> None:
        self.formula, self.tokens, self.names = formula, tokens, names
        self.at = 0
        self.axes = dict.fromkeys(tex.LETTERS.values(), 0)  # of the model's names
        self.axes |= {name: known.axes for name, known in names.items()}
        self.here = Position(SourceText.plain(formula or " "), 0, 0)
        self.bound: dict[str, Node | None] = {}  # index letters of sums, and their ranges
        self.free: tuple[str, ...] = ()  # the index letters that stand for any element
        self.counted: set[str] = set()  # the index letters of sums
        self.laws: dict[str, list[str]] = {}  # of names below operators
        self.stops: tuple[str, ...] = ()  # bars that close a magnitude or begin a condition

    # ---- the tokens ------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        """The next token; at the end, a token without text."""
        ended = self.at >= len(self.tokens)
        return Token("end", "", len(self.formula)) if ended else self.tokens[self.at]

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
            if self.token.text in REFUSED:
                raise self.error(*REFUSED[self.token.text])
            ended = self.token.kind == "end"
            instead = "the formula ends" if ended else f"{self.token.text!r} stands"
            several = self.is_next(",") or text in (*_BARS, _NORM)
            hint = f"{WHOLE}, or {IN_MARK}" if several else None
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

    def error(
        self, message: str, hint: str | None = None, column: int | None = None
    ) -> UnreadError:
        """An error at a column, by default at the next token."""
        return UnreadError(self.token.column if column is None else column, message, hint)

    # ---- relations and events ------------------------------------------------------------------

    def links(self, *, ends: bool) -> list[_Link]:
        """Read the whole formula: the relations of its statements, and their operands.

        `ends`: only the two ends of a chain are related.
        """
        operands, signs = self.comparison(whole=True)
        if self.token.kind != "end":
            raise self._stray()
        if not signs:
            hint = "a mark speaks of the one formula that stands right before it"
            at = self.tokens[0].column
            raise self.error("a statement needs a relation such as = or \\le", hint, at)
        for one in operands:
            self.refuse_complements(one, event=False)
        refuse_mixed(operands, 0, self.axes)
        operands = [elementwise(one, None, 0, self.axes) for one in operands]
        if ends:
            operands = [operands[0], operands[-1]]
            signs = [self._whole_chain(signs, figure=any(map(_printed, operands)))]
        if len(signs) == 2 and (set(signs) <= {"<", "<="} or set(signs) <= {">", ">="}):
            return [(tuple(signs), tuple(operands))]
        return [((sign,), pair) for sign, pair in zip(signs, pairwise(operands), strict=True)]

    def _whole_chain(self, signs: Sequence[str], *, figure: bool) -> str:
        """The relation between the ends of a chain."""
        kinds = {*signs} - {"=="}
        for known in ({"<", "<="}, {">", ">="}, {ROUNDED} if figure else set()):
            if kinds <= known:
                return min(kinds, key=len, default="==")
        hint = f"{_EACH}, or steps: {EACH_STEP} in the mark"
        raise self.error("the ends of this chain are not related", hint)

    def _stray(self) -> UnreadError:
        """The error for a token that continues no statement."""
        token = self.token
        if token.text in REFUSED and not self.names.get(token.text[1:]):
            return self.error(*REFUSED[token.text])
        if token.kind == "command" and not self._starts_factor():
            return unread(token, self.axes)
        hint = "write \\cdot for a product, or brackets"
        if token.kind == "word" or token.text in (",", ";"):
            hint = f"{_EACH} statement, numbers as 0.5 or 1{{,}}000, values of names in the mark"
        return self.error(f"'{token.text}' cannot be read here", hint)

    def comparison(self, *, whole: bool = False) -> tuple[list[Node], list[str]]:
        """Read sums with relations between them; `whole`: they are the formula."""
        start = self.token.column
        operands, signs = [self.sum()], list[str]()
        while _is_relation(self.token) and (whole or not self.is_next(_APPROXIMATELY)):
            sign = self.token
            signs.append(_RELATES[sign.text])
            if signs[-1] == "!=" and whole:
                raise self.error("a statement cannot be \\neq", "claim what it is")
            self.at += 1
            if signs[-1] != ROUNDED:
                start = self.token.column
                operands.append(self.sum())
                continue
            left = self._figure(start, sign.column)
            start = self.token.column
            ends = (at for at in range(self.at, len(self.tokens)) if _is_relation(self.tokens[at]))
            end = next(ends, len(self.tokens))
            stop = self.tokens[end].column if end < len(self.tokens) else len(self.formula)
            right = self._figure(start, stop)
            if left is None and right is None:
                hint = r"write a number in decimals behind \approx, or mark the figure with ~="
                raise self.error("an approximation needs a figure", hint, sign.column)
            operands[-1] = left or operands[-1]
            if right is not None:
                self.at = end
            operands.append(right or self.sum())
        return operands, signs

    def _figure(self, start: int, end: int) -> Node | None:
        """The figure that a part of the formula is; None if it is more, or none."""
        text = _LAST.sub("", _without_reasons(self.formula[start:end]))
        try:
            figure = read_before(text, len(text))
        except UnreadError:
            return None
        if figure is None or figure.digits is None or text[: figure.start].strip(" &"):
            return None
        number = Number(self.here, abs(float(figure.digits)), figure.written.lstrip("-"))
        return Negative(self.here, number) if figure.digits < 0 else number

    def event(self, word: str = tex.OR) -> Node:
        """Read an operand of an operator: an expression, or comparisons joined by `or`, `and`."""
        operands: list[Node] = []
        while not operands or self._logic(word):
            without = bool(operands) and self.peek(-1) in _WITHOUT
            node = self.event(tex.AND) if word == tex.OR else self.negation()
            operands.append(syntax.Not(self.here, node) if without else node)
        return self._joined(operands, word)

    def _joined(self, events: Sequence[Node], word: str = tex.AND) -> Node:
        if len(events) == 1:
            return events[0]
        if any(isinstance(one, Number) for one in events):
            raise self.error("a number is no event", "write X = 6")
        return syntax.Logic(self.here, word, tuple(events))

    def _logic(self, word: str) -> bool:
        token = self.token
        found = tex.LOGIC.get(token.text) or (token.text if token.kind == "word" else "")
        found = tex.AND if self.is_next(*_WITHOUT) else found
        self.at += found == word
        return found == word

    def negation(self) -> Node:
        """Read a comparison, a membership, or the negation of one."""
        if self._logic(tex.NOT):
            return syntax.Not(self.here, self.negation())
        operands, signs = self.comparison()
        if signs:
            return syntax.Compare(self.here, tuple(signs), tuple(operands))
        out = self.taken(r"\notin")
        if not out and not self.taken(r"\in"):
            return operands[0]
        opening = self.token.text
        if self.taken(r"\{", r"\lbrace"):
            node: Node = syntax.Member(self.here, operands[0], tuple(self.listed()))
            self.expect(_CLOSES[opening])
        elif self.taken("[", "("):
            low = self.sum()
            self.expect(",")
            high, closing = self.sum(), self.token.text
            self.expect("]" if closing == "]" else ")")
            signs = ["<=" if opening == "[" else "<", "<=" if closing == "]" else "<"]
            node = syntax.Compare(self.here, tuple(signs), (low, operands[0], high))
        else:
            raise self.error("a set in braces is missing", r"write x \in \{0, 1\}")
        return syntax.Not(self.here, node) if out else node

    def listed(self) -> list[Node]:
        """Read expressions between commas."""
        items = [self.event()]
        while self.taken(","):
            items.append(self.event())
        return items

    def is_event(self, node: Node) -> bool:
        """Whether an expression is an event: a condition, or a name that the model gives one."""
        match node:
            case Name(name=name):
                return self.names.get(name, Known()).event
            case syntax.Subscript(base=base):
                return self.is_event(base)
            case Binary(operator="*", left=left, right=right):
                return self.is_event(left) and self.is_event(right)
        return isinstance(node, syntax.Compare | syntax.Logic | syntax.Not | syntax.Member)

    def refuse_complements(self, node: Node, *, event: bool) -> None:
        """Refuse the complement of an event as a number, and a difference of events."""
        if isinstance(node, _Complement) and not event:
            raise self.error("a complement is no number", COMPLEMENT, 0)
        match node:
            case Binary(operator="+" | "-", left=left, right=right) if event:
                if self.is_event(left) and self.is_event(right):
                    raise self.error("a sum or difference of events may be one of numbers",
                                     r"write A \cup B, or A \cap \lnot B", 0)  # fmt: skip
            case Call(name=name, arguments=events, keywords=given):
                for one in events:
                    self.refuse_complements(one, event=name == PROBABILITY)
                for _, one in given:
                    self.refuse_complements(one, event=True)
                return
        joins = isinstance(node, syntax.Logic | syntax.Not | Binary) and self.is_event(node)
        for one in syntax.children(node):
            self.refuse_complements(one, event=event and joins)

    # ---- arithmetic ----------------------------------------------------------------------------

    def sum(self) -> Node:
        """Read terms joined by `+` and `-`."""
        node = self.product()
        while self.is_next("+", "-"):
            sign = self.token.text
            self.at += 1
            node = Binary(self.here, sign, node, self.product())
        return node

    def product(self) -> Node:
        """Read factors, with operators between them or side by side."""
        node = last = self.signed()
        divided = False
        for _ in range(MOST_FACTORS):
            start, sign = self.token.column, self.token.text
            if self.taken(*_TIMES):
                last, divided = self.signed(), sign == "/"
            elif self._starts_factor():
                if divided:
                    message = "a product after '/' may belong to what divides or not"
                    raise self.error(message, "write \\frac{…}{…}, or brackets")
                if self.token.kind == "number":
                    message = "a number stands to the right of its factor"
                    raise self.error(message, "write \\cdot between; of one number, 1{,}000")
                bare = self.peek(-1) not in (")", "]")
                before, last = last, self.powered()
                number = before.operand if isinstance(before, Negative) else before
                if sign in FRACTIONS and isinstance(number, Number) and _without_names(last):
                    message = "a number before a fraction may be added to it or multiply it"
                    raise self.error(message, r"write \cdot or + between", start)
                if sign in ("(", "[") and bare:
                    refuse_call(before, last, self.axes, start)
                sign = ""
            else:
                return node
            node = times(sign, node, last, self.axes, start)
        message = f"a product has {MOST_FACTORS} factors at most"
        raise self.error(message, "name a part of it in the model")

    def _starts_factor(self) -> bool:
        text = self.token.text
        joins = self.token.kind == "word" and text in (tex.AND, tex.OR)
        return not joins and text not in self.stops and self._reading() is not None

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
            elif self.token.text in tex.AFTER and self.token.kind == "symbol":
                if self.peek(1) in tex.AFTER:
                    raise self.error("two of these signs stand side by side", "write brackets")
                node = Call(self.here, tex.AFTER[self.token.text], (node,))
                self.at += 1
            elif self.is_next("_") and (axes_of(node, self.axes) or 0) > 0:
                self.at += 1
                node = self._element(node, self.token.column)
            else:
                return node

    def _raised(self, node: Node, *, grouped: bool) -> Node:
        """Read a superscript after its `^`: a power, a transpose, an inverse, or a complement."""
        of_node, token = axes_of(node, self.axes), self.token
        has_transpose = of_node != 0 and "T" not in self.axes
        if has_transpose and token.kind == "letters" and token.text[0] == "T" != token.text:
            # the T of `W^TW` alone, as LaTeX takes it
            rest = Token("letters", token.text[1:], token.column + 1)
            self.tokens[self.at : self.at + 1] = [Token("letters", "T", token.column), rest]
        start, end = self.at, max(_end_of_script(self.tokens, self.at - 1), self.at + 1) - 1
        if self.is_next("{"):
            start += 1
            if self.in_brackets(start, end):
                message = "the brackets here may hold a power or the number of a sample"
                raise self.error(message, "leave the brackets out if it is a power")
        inside = [one.text for one in self.tokens[start : max(end, start + 1)]]
        if {*inside} in _COMPLEMENTS:
            if self.is_event(node) and inside[0] not in self.axes:
                self.at = end + 1
                return _Complement(self.here, node)
            raise self.error("^c may be a complement or a power", COMPLEMENT)
        behind = self.tokens[end + 1 : end + 2]
        if behind and behind[0].text == "^":
            message = "two powers stand one after the other"
            raise self.error(message, "write braces", behind[0].column)
        below = node.arguments if isinstance(node, Call) and node.name in OPERATORS else ()
        if not grouped and any(
            isinstance(one, Call) or (isinstance(one, Binary) and one.operator in "+-")
            for one in syntax.walk(*below, without={*OPERATORS, *FUNCTIONS} - {"sum"})
        ):  # of a sum papers write it for the mean of the square, and E[x]^2 for that of the mean
            message = "the power may be of the mean or within it"
            raise self.error(message, "write E[(…)^2] or (E[…])^2")
        if inside in ([r"\top"], [r"\intercal"]) or (has_transpose and inside == ["T"]):
            self.at = end + 1
            return syntax.Transpose(self.here, node)
        column, power = self.token.column, self.argument()
        if (of_node or 0) <= 1:
            return Binary(self.here, "**", node, power)
        if power != Negative(self.here, Number(self.here, 1)):
            raise self.error("which power of a matrix is meant is not known", IN_MARK, column)
        return Call(self.here, tex.INVERSE_NAME, (node,))

    def argument(self) -> Node:
        """Read the argument of `^` or a fraction: a group in braces, one letter or one digit."""
        if self.taken("{"):
            node = self.sum()
            self.expect("}")
            return node
        self._refuse_long()
        word = self.token.text.removeprefix("\\")
        called = self.token.text in tex.CALLED or word in OPERATORS or word in FUNCTIONS
        if self.peek(1) in ("_", "^", "'") or (called and word not in self.axes):
            raise self.error(f"LaTeX takes {self.token.text!r} alone", "write braces")
        if self.token.kind in ("number", "letters", "command", "word", "given"):
            return self.atom()
        raise self.error("an argument is missing", f"write it in braces, or {WHOLE}")

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
        constant = text in tex.LETTERS and text[1:] not in self.axes and self.peek(1) != "_"
        if kind in ("number", "given") or constant:
            return self._lone
        if kind in ("letters", "word") or (kind == "command" and self._is_name()):
            return self.named
        readers = (
            (tex.TOTALS, self._total),
            (tex.ACCENTS, self._accented),
            (tex.INDICATORS, self._indicator),
            ((*tex.GROUPED, *FRACTIONS), self.grouped),
            ((*tex.ENCLOSING, *_BARS), self.enclosed),
            (_CLOSES, self._bracketed),
            ((*tex.CALLED, *tex.LETTERS), self.named),
        )
        return next((read for texts, read in readers if text in texts), None)

    def _is_name(self) -> bool:
        """Whether the next command is a name of the model, or begins one, such as mu_x."""
        name = self.token.text[1:]
        known = {name, f"{name}_"} & self.axes.keys()
        return bool(known) or (name in tex.GREEK and self.peek(1) in ("_", "'"))

    def _lone(self) -> Node:
        """Read a number, a constant, or what stands for a piece of notation."""
        token = self.token
        self.at += 1
        if token.kind == "number":
            return Number(self.here, float(token.text), token.text)
        if token.kind != "given":
            return Name(self.here, tex.LETTERS[token.text])
        try:
            return parse_expression(SourceText.plain(token.text))
        except DropcheckError as error:
            problem = error.problems[0]
            message = f"notation {token.text!r}: {problem.message}"
            raise UnreadError(token.column, message, problem.hint) from None

    def _bracketed(self) -> Node:
        opening = self.token.text
        self.at += 1
        outer, self.stops = self.stops, ()
        node = self.event()
        if opening == "{" and self.taken(r"\choose"):
            node = Call(self.here, tex.GROUPED[r"\binom"][0], (node, self.sum()))
        self.stops = outer
        self.expect(_CLOSES[opening])
        return node

    def grouped(self) -> Node:
        """Read a fraction, a root, or another command with arguments in braces."""
        text = self.token.text
        self.at += 1
        if text.endswith("frac"):
            return Binary(self.here, "/", self.argument(), self.argument())
        name, count = tex.GROUPED[text]
        return Call(self.here, name, tuple(self.argument() for _ in range(count)))

    def enclosed(self) -> Node:
        r"""Read a magnitude, a norm or a rounding; `|` and `\|` open and close."""
        text = self.token.text
        closing, name = tex.ENCLOSING.get(text, (text, tex.ENCLOSING[r"\lvert"][1]))
        self.at += 1
        outer, self.stops = self.stops, (*_BARS, _NORM) if text == closing else ()
        node = self.sum()
        self.stops = outer
        self.expect(closing)
        if name == tex.ENCLOSING[_NORM][1] and self.is_next("_"):
            return self._norm_of_order(name, node)
        if (axes_of(node, self.axes) or 0) > (text not in _BARS) and not letters_in(node):
            raise self.error("this may be a norm or a determinant", IN_MARK)
        return Call(self.here, name, (node,))

    # ---- calls ---------------------------------------------------------------------------------

    def call(self, name: str) -> Node:
        """Read the call of a function or an operator, from its bracket on."""
        if self.is_next("^"):
            raise self.error("which power of a function is meant is not known",
                             "write it behind brackets around all")  # fmt: skip
        opening = self.token.text
        # \E{X} is a macro with brackets or without, so that nothing may follow that would go on
        if opening in _CLOSES and (opening != "{" or name in OPERATORS):
            node = self._call(name, opening)
            if opening == "{" and self.token.text not in _ENDS:
                raise self.error(f"the argument of {name} may go on here", f"write {name}(…)")
            return node
        return Call(self.here, name, (self._bare_argument(name),))

    def _call(self, name: str, opening: str) -> Node:
        self.at += 1
        start = self.token.column
        outer, self.stops = self.stops, _BARS if name in OPERATORS else ()
        arguments, conditions = self.listed(), list[Node]()
        if name in OPERATORS and self.taken(r"\mid", *_BARS):
            column = self.token.column
            # a parameter has one value in each case, so that E(X | p) is E(X)
            fixed = {name for name, known in self.names.items() if not known.random}
            conditions = [
                one for one in self.listed() if not isinstance(one, Name) or one.name not in fixed
            ]
            if not all(map(self.is_event, conditions)):
                raise self.error("a condition is an event", "write X > 0 or m = 1", column)
        self.stops = outer
        self.expect(_CLOSES[opening])
        if name == PROBABILITY and all(map(self.is_event, arguments)):
            arguments = [self._joined(arguments)]
        elif name == PROBABILITY:  # papers write P(2) for P(X = 2)
            read = [one for one in syntax.walk(*arguments) if isinstance(one, Name)]
            if not any(self._is_random(one.name) for one in read):
                raise self.error("a number is no event", "write X = 6", start)
        keywords = (("given", self._joined(conditions)),) if conditions else ()
        if len(arguments) > 1:
            name = PAIRWISE.get(name, name)
        if name in _OF_NUMBERS and not any(axes_of(one, self.axes) for one in arguments):
            name = _OF_NUMBERS[name]
        return Call(self.here, name, tuple(arguments), keywords)

    def _bare_argument(self, name: str) -> Node:
        r"""Read an argument without brackets, `\ln n`: one letter, number, root or fraction.

        That of an operator takes its powers, `\mathbb{E} X^2`, and may be a norm or a sum.
        """
        token, of_all = self.token, name in OPERATORS
        refused = self.error(f"the argument of {name} stands in brackets", f"write {name}(…)")
        alone = _ALONE | (_ALONE_OF_ALL if of_all else set())
        operator = tex.CALLED.get(token.text) in OPERATORS
        known = token.text in self.axes and (of_all or token.kind == "letters")
        match token.kind:
            case "letters" | "word":
                short = known or (token.kind == "letters" and len(token.text) == 1)
            case "number":
                short = not of_all
            case _:
                short = (token.text in alone or self._is_name()) and not operator
        function = FUNCTIONS.get(name)
        of_one = function and function.by_element and not function.parameters[1:]
        if not short or not (of_one or of_all):
            raise refused
        node = self.powered() if of_all else self.atom()
        text, is_word = self.token.text, self.token.kind in ("word", "letters")
        if text not in (OPERATORS if is_word else _ENDS):
            raise refused
        return node

    # ---- names -----------------------------------------------------------------------------------

    def named(self) -> Node:
        """Read a name with its subscript, or several letters that are names side by side."""
        token = self.token
        self.at += 1
        text = token.text.removeprefix("\\") if token.kind == "command" else token.text
        if text not in self.axes:
            text = tex.CALLED.get(token.text, text)
        before_brackets = self.is_next("(", "[")
        if token.kind == "letters" and before_brackets and not self.axes.keys() >= {*text}:
            text = tex.CALLED.get(f"\\{text}", text)
        called = text in OPERATORS or (
            text in FUNCTIONS and self.token.text in {*_CLOSES, "_"} - {"{"}
        )
        known = text in self.axes or called
        if token.kind == "letters" and not known and len(text) > 1:
            mean = text[0] == tex.MEAN_NAME not in self.axes and text[1:] in self.axes
            names = {*self.axes, *self.bound}
            if before_brackets:  # aE(X); SE(X) is another quantity than S times E(X)
                names |= {one for one in OPERATORS if re.fullmatch(f"[a-z]+{one}", text)}
            subscripted = self.is_next("_", "'")
            text, *rest = text[:1], text[1:]
            if not mean:
                text, *rest = cut(token, names, subscripted=subscripted)
            self.tokens[self.at : self.at] = [Token("letters", part, token.column) for part in rest]
        return self.below(token, text)

    def below(self, token: Token, text: str, above: str = "") -> Node:
        """Read a name with its primes and its subscript, or the call that it begins.

        The subscript makes an element or a longer name. `above` is the word for an accent.
        """
        signs = [above] if above else []
        while self.taken("'"):
            signs.append(_PRIME)
        column = self.token.column
        subscripted = self.taken("_")
        start = self.at
        words = self._words_below() if subscripted else []
        if not subscripted and not signs:
            return self._plain(token, text)
        whole = self._known(text, [*signs, *words]) if words or not subscripted else []
        base = [name for name in self._known(text, signs) if subscripted and self.axes[name] > 0]
        if len({*whole, *base}) > 1 or (whole and self.bound.keys() & {*words}):
            message = f"{token.text!r} with what stands below it may be several things"
            raise self.error(message, NOTATION, column)
        if whole:
            return Name(self.here, whole[0])
        if text in OPERATORS and not signs and text not in self.axes:
            self.at = start
            return self._over(token, text)
        if base:
            self.at = start
            return self._element(Name(self.here, base[0]), column)
        if signs:
            return self._of_sign(token, text, signs, words if subscripted else None)
        joined = "_".join([text, *words])
        if (function := "".join([text, *words])) in FUNCTIONS and words and function != text:
            return self.call(function)
        raise unknown(token.column, joined if words else text, self.axes, below=True)

    def _known(self, text: str, words: Sequence[str]) -> list[str]:
        """The names of the model that a text with these words may be: Xbar or X_bar."""
        glued = product(("_", ""), repeat=len(words)) if len(words) < 5 else ()
        joined = ["".join(chain([text], *zip(glue, words, strict=True))) for glue in glued]
        known = [name for name in dict.fromkeys(joined) if name in self.axes]
        return known or [name for one in joined[:1] if (name := f"{one}_") in self.axes]

    def _is_random(self, name: str) -> bool:
        return self.names.get(name, Known()).random

    def _of_sign(
        self, token: Token, text: str, signs: Sequence[str], words: Sequence[str] | None
    ) -> Node:
        """What a sign above or behind a name is, if no name of the model has it: a complement."""
        whole = self._known(text, words or []) if words != [] else []
        for name in whole[:1]:
            if self.names.get(name, Known()).event and signs in (["bar"], [_PRIME]):
                return _Complement(self.here, Name(self.here, name))
            if signs == ["vec"] and self.axes[name] > 0:
                return Name(self.here, name)
        joined = "_".join(["".join([text, *signs]), *(words or [])])
        if text not in self.axes:
            raise unknown(token.column, joined, self.axes)
        hint = f"name the line {joined}; that the event {text} does not happen is \\lnot {text}"
        raise self.error(f"{joined!r} is no name of the model", hint, token.column)

    def _over(self, token: Token, name: str) -> Node:
        r"""Read an operator with names below it, `E_{x, y}` or `E_{x \sim p}`.

        They are all of its argument that is random, each of one law in the formula.
        """
        start, column = self.at, self.token.column
        self.at = max(_end_of_script(self.tokens, start - 1), start)
        inside = [one.text.removeprefix("\\") for one in self.tokens[start : self.at]]
        inside = inside[1:-1] if inside[:1] == ["{"] else inside
        over = [*takewhile(lambda one: one != "sim", inside)]
        names, law = {*over} - {","}, inside[len(over) :]
        same = all(self.laws.setdefault(one, law) == law for one in names if law)
        if not names or not same or not all(map(self._is_random, names)):
            raise unknown(token.column, f"{name}_", self.axes, below=True)
        call = self.call(name)
        read = {one.name for one in syntax.walk(call) if isinstance(one, Name)}
        if any(self._is_random(one) for one in read - names):
            message = f"{name} over some of what is random is not read"
            raise self.error(message, f"leave it out where it means all draws: {name}(…)", column)
        return call

    def _plain(self, token: Token, text: str) -> Node:
        if text in self.bound:
            through = self.bound[text]
            if through is None:
                message = f"where {text} begins and ends is not known"
                raise self.error(message, rf"write \sum_{{{text}=1}}^{{n}}", token.column)
            return syntax.Subscript(self.here, through, (Name(self.here, ANY_ELEMENT + text),))
        called = tex.CALLED.get(f"\\{text}", text)
        known = self._known(text, [])
        if (called in OPERATORS or called in FUNCTIONS) and text not in self.axes:
            return self.call(called)
        if not known:
            error = unknown(token.column, text, self.axes)
            if token.kind == "word" and (error.hint or "").startswith(_ITS_NAMES):
                error.hint = OUTSIDE
            raise error
        return Name(self.here, known[0])

    def _words_below(self) -> list[str]:
        """The words and numbers of a subscript, which is passed; empty if it has anything else."""
        start, self.at = self.at, max(_end_of_script(self.tokens, self.at - 1), self.at)
        if self.at == start:
            self._refuse_long()
        parts: list[str] = []
        for token in self.tokens[start : self.at]:
            word = token.text.removeprefix("\\") if token.kind == "command" else token.text
            if token.kind in ("letters", "number", "word") or (
                token.text != word and word.isalpha()
            ):
                parts += word.replace(",", " ").split()
            elif word not in ("{", "}", ",", "_"):  # the last as in \sigma_{X_1}, for sigma_X_1
                return []
        return parts

    def _indicator(self) -> Node:
        """Read the event of an indicator; its value is 1 if it holds, and else 0."""
        self.at += 1
        below = self.taken("_")
        column = self.token.column
        if below:
            self._refuse_long()
        node = self.atom() if below or self.is_next("(", "[", "\\{", "\\lbrace") else None
        if node is None or not self.is_event(node):
            raise self.error("an indicator is of an event", "write \\mathbb{1}(x > 0)", column)
        self.refuse_complements(node, event=True)
        return _settled(node)

    def _accented(self) -> Node:
        r"""Read `\bar{X}`, for Xbar or X_bar, or the complement of an event."""
        sign = self.token
        self.at += 1
        braced = self.taken("{")
        letter, text = self.token, self.token.text.removeprefix("\\")
        long = braced and self.peek(1) != "}"
        if long and tex.ACCENTS[sign.text] == "bar":
            event = self.event()
            self.expect("}")
            if self.is_event(event):
                return _Complement(self.here, event)
        if (
            long
            or not text.isalpha()
            or (not braced and letter.kind == "letters" and len(text) > 1)
        ):
            message = f"{sign.text} stands above one name"
            raise self.error(message, rf"write {sign.text}{{x}}", letter.column)
        self.at += 1
        if braced:
            self.expect("}")
        return self.below(sign, text, tex.ACCENTS[sign.text])

    def _norm_of_order(self, name: str, node: Node) -> Node:
        r"""Read `\|x\|_1` of a vector or `\|A\|_F` of a matrix, from the subscript on."""
        self.at += 1
        braced = self.taken("{")
        order, axes, option = self.token, axes_of(node, self.axes), "ord"
        value: Node
        if order.text == "F" and "F" not in self.axes and axes == 2:
            self.at += 1
            both = (Number(self.here, 0), Number(self.here, 1))
            option, value = "axis", syntax.ArrayLiteral(self.here, both)
        elif axes == 1:
            if not braced:
                self._refuse_long()
            value = self.sum() if braced else self.atom()
        else:
            raise self.error("which norm is meant is not known", IN_MARK)
        if braced:
            self.expect("}")
        keywords = () if value == Number(self.here, 2) else ((option, value),)
        return Call(self.here, name, (node,), keywords)

    # ---- elements of arrays, and sums and products over them ------------------------------------

    def _range(self) -> tuple[Token | None, tuple[Node, Node] | None]:
        """Read the letter below a sum, and where it begins and ends; None where none is given."""
        if not self.taken("_"):
            return None, None
        braced = self.taken("{")
        start: Node | None = None
        letter = self.token
        if letter.kind != "letters" or len(letter.text) != 1:
            raise self.error("a sum counts by one letter", r"write \sum_{i=1}^{n}")
        if letter.text in self.free:
            raise self.error(f"{letter.text!r} stands for any element already", "count by another")
        self.at += 1
        end: Node | None = None
        column = self.token.column
        if braced and self.taken("="):
            start = self.sum()
            self.expect("}")
            self.expect("^")
            column = self.token.column
            end, braced = self.argument(), False
        if braced:
            self.expect("}")
        if start is None or end is None:
            return letter, None
        if end == Name(self.here, tex.INFINITY):
            message = "a sum without end is not read"
            raise self.error(message, "end it where its terms are small", column)
        return letter, (start, end)

    def _total(self) -> Node:
        r"""Read `\sum_{i=1}^{n}` or `\prod_i`, and its body with elements i."""
        word = self.token
        name = tex.TOTALS[word.text]
        self.at += 1
        letter, ends = self._range()
        if letter is None:
            hint = rf"write {word.text}_{{i=1}}^{{n}}"
            raise self.error("what is counted is not known", hint, word.column)
        outer, first, counted, column = self.bound, self.at, letter.text, letter.column
        self.counted.add(counted)
        self.bound = {**outer, counted: None if ends is None else places(*ends)}
        body = self.product()
        self.bound = outer
        met = letters_in(body)
        if has_elements(body) and ends and isinstance(ends[0], Number) and ends[0].value < 1:
            raise self.error("elements count from 1", "begin the sum at 1", column)
        last = body.right if isinstance(body, Binary) and body.operator in "*/@%" else body
        clear = name == tex.SUM_NAME or last is body or letters_in(last)
        if not clear and not self.in_brackets(first, self.at):
            message = "where this product ends is not known"
            raise self.error(message, "write brackets", self.tokens[first].column)
        if met - {counted}:
            raise self.error("a sum within a sum is not read", IN_MARK, column)
        if not met:
            if ends is None or any(one.kind == "given" for one in self.tokens[first : self.at]):
                raise self.error(f"nothing is summed over {counted}", IN_MARK, column)
            further = Binary(self.here, "-", ends[1], ends[0])
            count = Binary(self.here, "+", further, Number(self.here, 1))
            if name == tex.SUM_NAME:
                return Binary(self.here, "*", count, body)
            return Binary(self.here, "**", body, count)
        part = ends and syntax.Slice(self.here, place_from_0(ends[0]), ends[1], None)
        return Call(self.here, name, (elementwise(body, part, column, self.axes),))

    def _element(self, base: Node, column: int) -> Node:
        """Read the subscript of an element, `x_{2, n}`."""
        braced = self.taken("{")
        first, axes = self.token, axes_of(base, self.axes)
        of_rows = axes is not None and len(first.text) == axes > 1 and braced
        unnamed = self.axes.keys().isdisjoint((first.text, *first.text))
        if of_rows and unnamed and first.kind == "letters" and self.peek(1) == "}":
            self.tokens[self.at : self.at + 1] = [  # the letters of A_{ij}
                Token("symbol" if one == "," else "letters", one, first.column)
                for one in ",".join(first.text)
            ]
        entries = [self._entry(braced)]
        while braced and self.taken(","):
            entries.append(self._entry(braced))
        if braced:
            self.expect("}")
        letters = tuple(one.name[1:] for one in entries if isinstance(one, Name) and is_letter(one))
        if letters and (len(letters) < len(entries) or len({*letters}) < len(letters)):
            message = "a letter for any element stands beside another index"
            raise self.error(message, IN_MARK, column)
        if axes != len(entries) and (letters or (first.kind == "number" and first.text[1:])):
            message = "one place of an array of rows is a row"
            raise self.error(message, "write commas: A_{1, 2}", column)
        if letters and not {*letters} & self.bound.keys():
            if self.counted & {*letters}:
                message = f"{letters[0]!r} counts a sum and stands for any element"
                raise self.error(message, "use two letters", first.column)
            if self.free not in ((), letters):
                raise self.error("two letters for any element", IN_MARK, first.column)
            self.free = letters
        elif len(letters) > 1:
            raise self.error("a sum of elements of rows is not read", IN_MARK, column)
        return syntax.Subscript(self.here, base, tuple(entries))

    def _entry(self, braced: bool) -> Node:
        """Read one index; a letter that is not a name stands for any element."""
        token = self.token
        own = token.text in self.bound or token.text not in self.axes
        own = own and token.kind == "letters"
        if own and len(token.text) == 1 and (not braced or self.peek(1) in ("}", ",")):
            self.at += 1
            return Name(self.here, ANY_ELEMENT + token.text)
        if own and len(token.text) > 1:
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


def unknown(column: int, name: str, names: Collection[str], *, below: bool = False) -> UnreadError:
    """The error for an unknown name, with a hint at what may be meant."""
    head = name.partition("_")[0]
    of_all = head in OPERATORS or (head in FUNCTIONS and head not in tex.GREEK)
    if below and (of_all or name in names):
        every = "all draws" if head in OPERATORS else "all elements"
        hint = f"if it means {every}, {NOTATION}, with the meaning {head}" if of_all else WHOLE
        return UnreadError(column, f"what stands below {head} is not read", hint)
    if name == "lambda":
        return UnreadError(column, f"{name!r} is no name of the model", "name the line lambda_")
    meant = next((one.hint for one in OPERATORS.values() if name in one.aliases), None)
    near = name_hint(name, list(names)) or meant or slip_of(name, [*OPERATORS, *FUNCTIONS])
    own = ", ".join(sorted(set(names).difference(tex.LETTERS.values())))
    return UnreadError(column, f"{name!r} is no name of the model", near or f"{_ITS_NAMES} {own}")


def unread(token: Token, names: Collection[str]) -> UnreadError:
    """The error for a command or a symbol that is not read."""
    name = token.text.removeprefix("\\")
    if name in tex.GREEK:
        return unknown(token.column, name, names)
    known = [one for one in names if len(one) > 1]
    hint = name_hint(name, known) if token.kind == "command" else None
    message = f"'{token.text}' is not part of what is read"
    return UnreadError(token.column, message, MEANT.get(token.text) or hint or NOTATION)


def cut(token: Token, names: Collection[str], *, subscripted: bool) -> list[str]:
    """Letters cut into names; with `subscripted`, the last one may begin a name such as d_k."""
    text = token.text
    if len(text) > LONGEST_WORD:
        raise UnreadError(token.column, f"{text[:12]}… is no name of the model")
    ways: dict[int, list[list[str]]] = {len(text): [[]]}
    for start in reversed(range(len(text))):
        last = subscripted and start == len(text) - 1
        ends = [end for end in sorted(ways) if last or text[start:end] in names]
        ways[start] = [[text[start:end], *rest] for end in ends for rest in ways[end]][:2]
    found = ways[0]
    if len(found) == 1:
        return found[0]
    if not found:
        raise unknown(token.column, text, names)
    message = f"{text!r} may be {' or '.join(' '.join(way) for way in found)}"
    raise UnreadError(token.column, message, rf"write \mathit{{{text}}}, or spaces")


# ---- which product is meant ----------------------------------------------------------------------


AxisCounts = Mapping[str, int]  # the names of a model, with their numbers of axes


def times(sign: str, left: Node, right: Node, axes: AxisCounts, column: int) -> Node:
    r"""Two factors with an operator between them, or with none; an error is at `column`.

    `left \cdot right` is an inner product of two vectors, or a number times anything. Two vectors
    beside each other, or with `\times` between them, are refused.
    """
    operator = {r"\odot": "*", "*": "*", "/": "/"}.get(sign)
    if operator is not None:
        return Binary(left.at, operator, left, right)
    if isinstance(left, syntax.Transpose):
        vector = axes_of(left.base, axes) == 1
        return Binary(left.at, "@", left.base if vector else left, right)
    both = axes_of(left, axes), axes_of(right, axes)
    if both == (1, 1) and not sign:
        if isinstance(right, syntax.Transpose):
            return Call(left.at, tex.OUTER_NAME, (left, right.base))
        hint = r"write q^\top k or q \cdot k for the inner product, \odot element by element"
        raise UnreadError(column, "two vectors stand side by side", hint)
    if 0 in both or _without_names(left) or _without_names(right):
        return Binary(left.at, "*", left, right)
    if (both == (1, 1) and sign == r"\cdot") or (not sign and None not in both and both[0] != 1):
        return Binary(left.at, "@", left, right)
    hint = r"write \odot element by element, ^\top for an inner product"
    message = "which product is meant is not known here"
    raise UnreadError(column, message, hint if sign else r"write \cdot, \odot or ^\top")


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
    letter = len(head) == 1 or head in tex.GREEK
    summed = isinstance(right, Negative) or (
        isinstance(right, Binary) and right.operator in ("+", "-")
    )
    if axes_of(left, axes) != 0 or not (letter and summed) or head in tex.NAMES_OF_FUNCTIONS:
        message = f"{left.name!r} before brackets may be a function or a factor"
        raise UnreadError(column, message, rf"write \cdot between for a product, or {WHOLE}")


def _without_names(node: Node) -> bool:
    below = syntax.children(node)
    return isinstance(node, Number) or (bool(below) and all(map(_without_names, below)))


# ---- elements of arrays --------------------------------------------------------------------------


def _settled(node: Node) -> Node:
    """The event with its complements as negations."""
    below = [_settled(one) for one in syntax.children(node)]
    node = syntax.rebuilt(node, below)
    return syntax.Not(node.at, node.operand) if isinstance(node, _Complement) else node


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
    whole = Call(at, tex.PLACES_NAME, (count,))
    return whole if start == Number(at, 0) else Binary(at, "+", start, whole)


def _is_places(base: Node) -> bool:
    whole = base.right if isinstance(base, Binary) else base
    return isinstance(whole, Call) and whole.name == tex.PLACES_NAME


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
        raise UnreadError(column, "an element stands beside a whole array",
                         "write a letter below both, or the statement in the mark")  # fmt: skip


def elementwise(node: Node, part: Node | None, column: int, axes: Mapping[str, int]) -> Node:
    """A statement about any element, turned into one about the arrays, or about parts of them."""
    if not letters_in(node):
        return node
    match node:
        case syntax.Subscript(base=base, index=index) if all(map(is_letter, index)):
            if part is None or _is_places(base):
                return base
            return syntax.Subscript(node.at, base, (part,))
        case Binary() | Negative() | syntax.Compare() | syntax.Logic() | syntax.Not():
            pass
        case Call(name=name) if name in OPERATORS or FUNCTIONS[name].by_element:
            pass
        case _:
            what = f"{node.name}(…) of each" if isinstance(node, Call) else "what is said of each"
            message = f"{what} element cannot be said of all elements at once"
            raise UnreadError(column, message, IN_MARK)
    refuse_mixed(syntax.children(node), column, axes)
    below = [elementwise(one, part, column, axes) for one in syntax.children(node)]
    return syntax.rebuilt(node, below)


# ---- numbers of axes -----------------------------------------------------------------------------


def axes_of(node: Node, axes: Mapping[str, int]) -> int | None:
    """The number of axes of an expression, from those of its names; None if it is not known.

    >>> from dropcheck.claims.registry import SourceText
    >>> known = {"q": 1, "K": 2, "p": 0}
    >>> [axes_of(parse_expression(SourceText.plain(text)), known) for text in
    ...     ("q / p", "K @ q", "q @ q", "sum(K)", "E(q)", "K[0]", "K.T", "z")]
    [1, 1, 0, 1, 1, 1, 2, None]
    """
    below = [axes_of(one, axes) for one in syntax.children(node)]
    match node:
        case Name(name=name):
            return axes.get(name)
        case Binary(operator="@"):
            return _by(lambda shapes, _: matmul(*shapes), below)
        case Call(name=tex.PLACES_NAME):
            return 1
        case Call(name=name, keywords=keywords) if name not in OPERATORS:
            along = _ALONG.isdisjoint(dict(keywords)) and name in FUNCTIONS
            return _by(FUNCTIONS[name].shape, below[: len(node.arguments)]) if along else None
        case syntax.Subscript(index=index):
            if any(isinstance(one, _OTHER_INDICES) for one in index) or below[0] is None:
                return None
            return below[0] - sum(not isinstance(one, syntax.Slice) for one in index)
        case syntax.ArrayLiteral() | syntax.Conditional():
            return None
    known = [count for count in below if count is not None]
    return max(known, default=0) if len(known) == len(below) else None


# An index that adds an axis, or stands for several, and options that change how many there are.
_OTHER_INDICES = (syntax.Axes, syntax.ArrayLiteral, syntax.Compare, syntax.Logic)
_ALONG = frozenset({"axis", "axes", "keepdims", "n", "shape"})


def _by(rule: ShapeRule, counts: Sequence[int | None]) -> int | None:
    """The number of axes that a shape rule gives; all axes are taken to have length 2."""
    known = tuple((2,) * count for count in counts if count is not None)
    try:
        return (
            len(rule(known, {"axis": -1.0, "keepdims": 0.0})) if len(known) == len(counts) else None
        )
    except (ShapeError, LookupError, TypeError):
        return None
