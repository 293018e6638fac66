"""Statements as LaTeX: nodes of the language to what stands between two dollar signs.

No backslash comes before a punctuation mark, no `*` and no `|` is written: GitHub's Markdown would
take those for its own before it sees the mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from dropcheck.claims.registry import Claim
from dropcheck.language import syntax
from dropcheck.language.parser import parse_model, parse_statement
from dropcheck.language.printing import Level, number_text
from dropcheck.vocabulary.functions import FUNCTIONS, SIGNS

_GREEK = frozenset(
    {
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
        "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi",
        "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi",
        "Psi", "Omega",
    }
)  # fmt: skip
_CONSTANTS = {"e": r"\mathrm{e}", "inf": r"\infty", "euler_gamma": r"\gamma_{\mathrm{E}}"}
_LETTERS_DIGITS = re.compile(r"([^\W\d_]+)(\d+)")


def claim_latex(claim: Claim) -> str:
    r"""A claim's statement as LaTeX.

    Raises:
        DropcheckError: its texts cannot be read.
    """
    model = parse_model(claim.model) if claim.model is not None else ()
    return statement_latex(parse_statement(claim.statement), vectors(model))


def vectors(model: Iterable[syntax.ModelLine]) -> frozenset[str]:
    """The names that plainly have one axis: a product with one of them on its left is inner."""
    return frozenset(name.name for line in model if _is_vector(line) for name in line.names)


def _is_vector(line: syntax.ModelLine) -> bool:
    match line.right:
        case syntax.Subscript(index=index):
            return line.drawn and len(index) == 1
        case syntax.Array(items=items):
            return not any(isinstance(item, syntax.Array) for item in items)
        case syntax.Call(name=name):
            return name in FUNCTIONS and FUNCTIONS[name].vector
        case _:
            return False


def statement_latex(statement: syntax.Statement, vectors: Collection[str] = ()) -> str:
    r"""A statement as LaTeX; a product of two of the `vectors` is written as an inner one.

    >>> from dropcheck.claims.registry import SourceText
    >>> from dropcheck.language.parser import parse_statement
    >>> statement_latex(parse_statement(SourceText.plain("Var(q @ k) == n**2")), {"q", "k"})
    '\\operatorname{Var}(q^{\\top} k) = n^{2}'
    """
    return _Writer(vectors).chain(statement.operators, statement.operands)


class _Writer:
    """Writes nodes, knowing which names are vectors."""

    def __init__(self, vectors: Collection[str]) -> None:
        self.vectors = vectors

    def text(self, node: syntax.Node) -> str:
        return self.written(node)[0]

    def within(self, node: syntax.Node, least: int) -> str:
        """The node where only forms that bind at least so tightly can stand."""
        text, level = self.written(node)
        return text if level >= least else _bracketed(text)

    def chain(self, operators: Sequence[str], operands: Sequence[syntax.Node]) -> str:
        first, *rest = (self.within(operand, Level.SUM) for operand in operands)
        links = zip(operators, rest, strict=True)
        return first + "".join(f" {SIGNS[operator].latex} {text}" for operator, text in links)

    def written(self, node: syntax.Node) -> tuple[str, int]:
        match node:
            case syntax.Number(value=value):
                return _number(value)
            case syntax.Name(name=name):
                return _name(name), Level.ATOM
            case syntax.Call():
                return self.call(node)
            case syntax.Negative(operand=operand):
                return f"-{self.within(operand, Level.SIGN)}", Level.SIGN
            case syntax.Binary():
                return self.binary(node)
            case syntax.Compare(operators=operators, operands=operands):
                return self.chain(operators, operands), Level.COMPARE
            case syntax.Logic(operator=operator, operands=operands):
                level = Level.AND if operator == "and" else Level.OR
                parts = [self.within(operand, level + 1) for operand in operands]
                return f" {SIGNS[operator].latex} ".join(parts), level
            case syntax.Not(operand=operand):
                return rf"\lnot {self.within(operand, Level.SUM)}", Level.NOT
            case syntax.Conditional(condition=condition, then=then, otherwise=otherwise):
                first, asked = self.within(then, Level.OR), self.within(condition, Level.OR)
                other = self.text(otherwise)
                return rf"{first} \text{{ if }} {asked} \text{{ else }} {other}", Level.CONDITIONAL
            case syntax.Array(items=items):
                return rf"\lbrack {self.listed(items)} \rbrack", Level.ATOM
            case syntax.Subscript(base=base, index=index):
                return f"{self.base(base)}_{{{self.listed(index)}}}", Level.ATOM
            case syntax.Slice(start=start, stop=stop, step=step):
                ends = ["" if end is None else self.text(end) for end in (start, stop)]
                return ":".join([*ends, *([self.text(step)] if step else [])]), Level.ATOM
            case syntax.Transpose(base=base):
                return rf"{self.base(base)}^{{\top}}", Level.POWER
            case _:
                raise TypeError(f"no expression: {node!r}")

    def base(self, node: syntax.Node) -> str:
        """What an index or a power is set on; one that bears such already is held together."""
        text = self.within(node, Level.ATOM)
        bears = ("_" in text or "^" in text) and not text.endswith(")")
        return f"{{{text}}}" if bears else text

    def listed(self, nodes: Iterable[syntax.Node]) -> str:
        return ", ".join(self.text(node) for node in nodes)

    def binary(self, node: syntax.Binary) -> tuple[str, int]:
        left, right = node.left, node.right
        match node.operator:
            case "**":
                return f"{self.base(left)}^{{{self.text(right)}}}", Level.POWER
            case "/":
                return rf"\frac{{{self.text(left)}}}{{{self.text(right)}}}", Level.SIGN
            case "//":
                inner = rf"\frac{{{self.text(left)}}}{{{self.text(right)}}}"
                return rf"\left\lfloor {inner} \right\rfloor", Level.ATOM
            case "@":
                return self.product(left, right), Level.PRODUCT
            case "*":
                first, second = self.within(left, Level.PRODUCT), self.within(right, Level.SIGN)
                plain = isinstance(left, syntax.Number) and second[:1].isalpha()
                plain |= isinstance(left, syntax.Number) and second.startswith("\\")
                # a number before a letter needs no sign: 2 x
                return f"{first} {second}" if plain else rf"{first} \cdot {second}", Level.PRODUCT
            case "%":
                first, second = self.within(left, Level.PRODUCT), self.within(right, Level.SIGN)
                return rf"{first} \bmod {second}", Level.PRODUCT
            case operator:
                first, second = self.within(left, Level.SUM), self.within(right, Level.PRODUCT)
                return f"{first} {operator} {second}", Level.SUM

    def product(self, left: syntax.Node, right: syntax.Node) -> str:
        """A matrix product; a vector on its left is a row."""
        first, second = self.within(left, Level.PRODUCT), self.within(right, Level.SIGN)
        if isinstance(left, syntax.Name) and left.name in self.vectors:
            return rf"{self.base(left)}^{{\top}} {second}"
        return rf"{first} \thinspace {second}"

    def call(self, node: syntax.Call) -> tuple[str, int]:
        name, arguments = node.name, node.arguments
        pieces = FUNCTIONS[name].latex if name in FUNCTIONS else ""
        if isinstance(pieces, tuple) and len(arguments) == len(pieces) - 1 and not node.keywords:
            if not pieces[0]:  # nothing stands before the argument to hold it together
                return f"{self.within(arguments[0], Level.ATOM)}{pieces[1]}", Level.POWER
            between = zip(map(self.text, arguments), pieces[1:], strict=True)
            return pieces[0] + "".join(text + piece for text, piece in between), Level.ATOM
        inner = [self.text(argument) for argument in arguments]
        given = ""
        for keyword, value in node.keywords:
            if keyword == "given":
                given = rf" \mid {self.text(value)}"
            else:
                inner.append(f"{_name(keyword)} = {self.text(value)}")
        return f"{_function(name)}{_bracketed(', '.join(inner) + given)}", Level.ATOM


def _bracketed(text: str) -> str:
    return rf"\left( {text} \right)" if r"\frac" in text or r"\binom" in text else f"({text})"


def _number(value: float) -> tuple[str, int]:
    text = number_text(value)
    sign = Level.SIGN if text.startswith("-") else Level.ATOM
    if "inf" in text:
        return text.replace("inf", r"\infty"), sign
    mantissa, separator, exponent = text.partition("e")
    if not separator:
        return text, sign
    power = f"10^{{{int(exponent)}}}"
    if mantissa in ("1", "-1"):
        return mantissa.replace("1", power), min(sign, Level.POWER)
    return rf"{mantissa} \times {power}", Level.PRODUCT


def _name(name: str) -> str:
    r"""A name: Greek where it is called so, what follows a letter or an underscore set below.

    >>> print(*(_name(name) for name in ("x", "mu", "x1", "keep_prob", "dk")))
    x \mu x_{1} \mathit{keep}_{\mathit{prob}} \mathit{dk}
    """
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    head, *below = [part for part in name.split("_") if part] or [name]
    found = _LETTERS_DIGITS.fullmatch(head)
    if found is not None:
        head, below = found.group(1), [found.group(2), *below]
    parts = ", ".join(_word(part) for part in below)
    return f"{_word(head)}_{{{parts}}}" if parts else _word(head)


def _word(word: str) -> str:
    if word in _GREEK:
        return f"\\{word}"
    if len(word) == 1 or word.isdecimal():
        return word
    return rf"\mathit{{{word}}}"


def _function(name: str) -> str:
    command = FUNCTIONS[name].latex if name in FUNCTIONS else ""
    if command and isinstance(command, str):
        return command
    head, *below = [part for part in name.split("_") if part] or [name]
    parts = ", ".join(rf"\mathrm{{{part}}}" for part in below)
    return rf"\operatorname{{{head}}}" + (f"_{{{parts}}}" if parts else "")
