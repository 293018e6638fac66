"""What the words of the language mean: for `dropcheck show WORD` and the page on the language.

All of it comes from the vocabulary and the keys of a claims file. The
example of a law comes with what is known of it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dropcheck.claims.claimsfile import ClaimKeys, DocumentKeys, FileKeys, Keys, SlotKeys
from dropcheck.claims.registry import SourceText
from dropcheck.errors import nearest
from dropcheck.language.hints import misspelled
from dropcheck.language.lowering.builder import Context
from dropcheck.language.lowering.lower import lower
from dropcheck.language.lowering.model import define_model
from dropcheck.language.parser import parse_model
from dropcheck.report.screen import Terminal, render, styled
from dropcheck.report.table import pairs
from dropcheck.vocabulary.domains import LARGEST_COUNT, LawParameter
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import FUNCTIONS_OF_ARRAYS, FUNCTIONS_OF_NUMBERS, OF_LAWS, SIGNS
from dropcheck.vocabulary.law import Law, Values
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import CONSTANTS, OPERATORS, Constant, Operator

if TYPE_CHECKING:
    from rich.console import RenderableType


from dataclasses import field

from dropcheck.language.syntax import ROUNDED
from dropcheck.vocabulary.function import EVALUATED, GRAD
from dropcheck.vocabulary.operators import FOLLOWS, INDEPENDENT, OVER_KEY, SIGNATURE

# ---- lines and statements ------------------------------------------------------------------------
#
# The lines of a model and the statements of a claim, which no sign or function stands for.


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Something that an author writes: how, what it says, and an example by the keys of a claim."""

    name: str
    written: str
    summary: str
    example: Mapping[str, str] = field(default_factory=dict)


def _form(name: str, written: str, summary: str, claim: str = "", model: str = "") -> Form:
    example = {label: text for label, text in (("model", model), ("claim", claim)) if text}
    return Form(name=name, written=written, summary=summary, example=example)


_DRAWN = "x ~ exponential(2)"
_PAIR = "x, y ~ normal(0, 1)"

LINES = (
    _form(
        FOLLOWS, f"x {FOLLOWS} law",
        "draws; brackets after the law are the shape of one draw, and x, y ~ law draws twice",
        model="x, y ~ normal(0, 1)[2, 3]",
    ),
    _form("=", "y = expression", "computes, from names above", model=f"{_DRAWN}\ny = x**2 + 1"),
    _form(
        "for", "for t in range(T):", "a loop: the indented lines below it, for t from 0 to T - 1",
        model="w = 0\nfor t in range(10):\n    z ~ normal(0, 1)\n    w = w / 2 + z",
    ),
    _form(
        "slot", "slot(x)", "a call of a slot: of the code under test, or of its mathematics",
        model="y = dropout(2, 0.5)",
    ),
    _form(
        EVALUATED, f"slot{EVALUATED}(x)", "the result of a slot in evaluation, not in training",
        model=f"y = dropout{EVALUATED}(2, 0.5)",
    ),
    _form(
        GRAD, f"{GRAD}(slot)(x)",
        "the gradient of the sum of a slot's results by its first argument, with the same draws",
        model=f"y = {GRAD}(dropout)(2, 0.5)",
    ),
)  # fmt: skip
"""The lines of a model, and how they call a slot."""

STATEMENTS = (
    _form("==", "L == R", "both sides are equal", "E(x) == 2", _DRAWN),
    _form(
        ROUNDED, f"L {ROUNDED} R", "both sides are equal, to the digits in which one is printed",
        f"P(x > 2) {ROUNDED} 0.37", _DRAWN,
    ),
    _form("<=", "L <= R", "L is at most R; < > >= likewise", "P(x > 2) < 0.5", _DRAWN),
    _form("range", "a <= L <= b", "L lies between two ends", "0.36 <= P(x > 2) <= 0.37", _DRAWN),
    _form(
        "in", "y in {a, b}", "every element of every draw is one of these values",
        "x * y in {-1, 1}", "x, y ~ rademacher()[4]",
    ),
    _form(
        "given", "E(u, given=event)", "any operator, over the draws in which an event happens",
        "E(x, given=x > 2) == 4", _DRAWN,
    ),
)  # fmt: skip
"""Statements about the law of a quantity, by operators."""

ABOUT_LAWS = (
    _form(
        FOLLOWS, f"y {FOLLOWS} law", "each entry of y has this law, whose arguments are fixed",
        f"x + y {FOLLOWS} normal(0, sqrt(2))", _PAIR,
    ),
    _form(
        FOLLOWS, f"x {FOLLOWS} y",
        "each entry of x has the law of the same entry of y; they may depend on each other",
        f"x + y {FOLLOWS} x - y", _PAIR,
    ),
    _form(
        INDEPENDENT, SIGNATURE,
        "the quantities do not depend on each other; there may be more than two",
        f"{INDEPENDENT}(x + y, x - y)", _PAIR,
    ),
    _form(
        INDEPENDENT, f"{INDEPENDENT}(u, {OVER_KEY}=[0])",
        "entries of u that differ in their place along axis 0 do not depend on each other",
        f"{INDEPENDENT}(x, {OVER_KEY}=[0])", "x ~ normal(0, 1)[3, 2]",
    ),
)  # fmt: skip
"""Statements about whole laws."""


Meaning = Law | Function | Operator | Constant | Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of the language: how it is written, and what it is in one line."""

    name: str
    written: str
    summary: str
    meaning: Meaning


def words() -> dict[str, tuple[Word, ...]]:
    """All words of the language, by what they are, in the order of the page on the language.

    >>> [one.written for one in words()["constants"]]
    ['pi', 'e', 'inf', 'euler_gamma']
    """
    single = [law for law in LAWS.values() if law.own_axes is None]
    groups: dict[str, Iterable[Meaning]] = {
        "lines of a model": LINES,
        "statements": STATEMENTS,
        "statements about laws": ABOUT_LAWS,
        "operators on the law": OPERATORS.values(),
        "signs": [sign for sign in SIGNS.values() if sign.written != "x"],
        "constants": CONSTANTS.values(),
        "functions of numbers": FUNCTIONS_OF_NUMBERS.values(),
        "functions of the array that one draw is": FUNCTIONS_OF_ARRAYS.values(),
        "functions of a law": OF_LAWS.values(),
        "distributions of numbers": [law for law in single if not law.discrete],
        "distributions of whole numbers and of given values": [
            one for one in single if one.discrete
        ],
        "distributions of vectors": [law for law in LAWS.values() if law.own_axes is not None],
        **{f"keys of {owner}": _keys(owner, keys) for owner, keys in _LEVELS.items()},
    }
    return {title: tuple(map(_word, group)) for title, group in groups.items()}


_LEVELS: Mapping[str, type[Keys]] = {
    "a claim": ClaimKeys, "a slot": SlotKeys, "a document": DocumentKeys, "the file": FileKeys,
}  # fmt: skip


def _keys(owner: str, level: type[Keys]) -> Iterator[Form]:
    """The keys of a level of a claims file."""
    import yaml

    for name in level.names():
        field = level.model_fields[name]
        summary = str(field.description).replace("`", "'").rstrip(".")
        example = yaml.safe_dump({name: (field.examples or [""])[0]}, sort_keys=False).strip()
        yield Form(
            name=name, written=name, summary=summary, example={"key of": owner, "example": example}
        )


def _word(meaning: Meaning) -> Word:
    match meaning:
        case Constant(name=name, value=value):
            summary = "infinity" if math.isinf(value) else f"{value:.15g}"
            return Word(name=name, written=name, summary=summary, meaning=meaning)
        case Operator() | Form():
            written = meaning.written
        case Function() if meaning.name in OF_LAWS or meaning.written:
            written = meaning.usage
        case _:
            written = re.sub(r"e-0(?=\d)", "e-", meaning.signature)
    return Word(name=meaning.name, written=written, summary=meaning.summary, meaning=meaning)


# ---- on the screen -------------------------------------------------------------------------------


def words_text(terminal: Terminal) -> str:
    """All words, by what they are."""
    from rich.padding import Padding

    items: list[RenderableType] = []
    for title, group in words().items():
        names = [
            one.written if one.name in SIGNS or isinstance(one.meaning, Form) else one.name
            for one in group
        ]
        items += [styled(title, "bold"), Padding(styled("  ".join(names)), (0, 0, 1, 2))]
    last = "dropcheck show WORD says what a word means."
    return render([*items, styled(last)], terminal)


def word_cards(chosen: Iterable[Word], terminal: Terminal) -> str:
    """Each of the words with all that is said of it."""
    items: list[RenderableType] = []
    for word in chosen:
        items += ["", styled(word.written, "bold"), pairs(said_of(word))]
    return render(items[1:], terminal)


# ---- one word ------------------------------------------------------------------------------------


def words_called(name: str) -> list[Word]:
    """The words with a name; or else those that stand for a name of papers and other libraries.

    A sign, a line or a statement is also found by what stands in it, such as `@` in `a @ b`.

    >>> [one.written for one in words_called("gamma")], words_called("randint")[0].name
    (['gamma(x)', 'gamma(shape, scale)'], 'discrete_uniform')
    """
    every = [word for group in words().values() for word in group]
    return [word for word in every if name in (word.name, word.written, *_parts(word))] or [
        word for word in every if {name, name.lower()} & {*getattr(word.meaning, "aliases", ())}
    ]


# What stands between the operands of a sign, a line or a statement, which have single letters.
_PART = re.compile(r"\.?[^\W\d]\w+[=:]?|[^\w\s,()]+")


def _parts(word: Word) -> set[str]:
    """The signs and names by which a sign, a line or a statement is found, too.

    >>> sorted(_parts(words_called("given")[0]))
    ['event', 'given', 'given=']
    """
    if word.name not in SIGNS and not isinstance(word.meaning, Form):
        return set()
    parts = _PART.findall(word.written)
    return {*parts, *(part.strip(".=:") for part in parts)} - {""}


def meant(name: str, others: Iterable[str] = ()) -> str | None:
    """The word of which a name is a misspelling, or else the most similar of other names.

    >>> meant("sofmax"), meant("gausian"), meant("xyzzy")
    ('softmax', 'normal', None)
    """
    known = {
        one: word.name
        for group in words().values()
        for word in group
        for one in (word.name, *getattr(word.meaning, "aliases", ()))
    }
    word = misspelled(name, known)
    return nearest(name, others) if word is None else known[word]


def said_of(word: Word) -> dict[str, str]:
    """What is said of a word, by label.

    >>> for label, text in said_of(words_called("exponential")[0]).items():
    ...     print(f"{label}: {text}")
    is: waiting time; scale is its mean, the inverse of a rate
    arguments: scale >= 0
    example: x ~ exponential(2)
    values: any number from 0
    mean: 2
    sd: 2
    note: scale is its mean, the inverse of a rate
    elsewhere: exp, expo, expon, expovariate
    """
    meaning = word.meaning
    said = {"is": word.summary}
    if isinstance(meaning, Law):
        said |= _of_law(meaning)
    elif isinstance(meaning, Form):
        said |= meaning.example
    said["note"] = getattr(meaning, "note", "")
    said["elsewhere"] = ", ".join(getattr(meaning, "aliases", ()))
    return {label: text for label, text in said.items() if text}


# What an argument of an example may be: the first that the language takes.
_NUMBERS = (0.0, 2.0, 3.0, 10.0, 0.5, 1.0)
_OF_AXES = (_NUMBERS, ((1.0, 2.0, 3.0), (0.5, 0.3, 0.2), (1.0, 2.0)), (((2.0, 0.5), (0.5, 1.0)),))


def _of_law(law: Law) -> dict[str, str]:
    """The domains of a law's arguments, and what is known of it with those of an example."""
    texts = [one[0] for one in law.conditions if not callable(one)]
    needed = [text.replace(" is required", "") for text in texts if "is req" in text]
    arguments = _arguments(law)
    said = {
        "arguments": "; ".join([*map(_domain, law.parameters), *needed]),
        "example": _draw(law, arguments),
    }
    if law.own_axes is not None:
        return said
    low, high = law.support(*arguments)
    said["values"] = law.values.value.removesuffix(" between two ends")
    if law.values in (Values.NUMBERS, Values.WHOLE):
        said["values"] += "" if low == -math.inf else f" from {_shown(low)}"
        said["values"] += "" if high == math.inf else f" to {_shown(high)}"
    order = law.moment_order(*arguments)
    said["mean"] = _shown(law.moment(1, *arguments)[0]) if order > 1 else "none"
    said["sd"] = _shown(math.sqrt(law.moment(2, *arguments)[0])) if order > 2 else "none"
    return said


def _domain(parameter: LawParameter) -> str:
    """The values that an argument may take; the limit of exact counting goes without saying."""
    domain = parameter.domain
    low = domain.low if domain.low > -LARGEST_COUNT else -math.inf
    high = domain.high if domain.high < LARGEST_COUNT else math.inf
    return replace(domain, low=low, high=high).describe(parameter.name)


def _arguments(law: Law) -> tuple[Any, ...]:
    """Arguments with which the law varies, and has a variance if it has one for any."""
    found: list[tuple[Any, ...]] = []
    for arguments in itertools.product(*(_OF_AXES[one.axes] for one in law.parameters)):
        line = parse_model(SourceText.plain(_draw(law, arguments)))
        if define_model(Context(lower), line):  # the language does not take it
            continue
        if law.own_axes is not None and 0.0 not in arguments:
            return arguments
        if law.own_axes is None and law.constant(*arguments) is None:
            if law.moment_order(*arguments) > 2:
                return arguments
            found.append(arguments)
    return found[0]


def _draw(law: Law, arguments: tuple[Any, ...]) -> str:
    return f"x ~ {law.name}({', '.join(map(_shown, arguments))})"


def _shown(value: Any) -> str:
    if np.ndim(value) > 0:
        return f"[{', '.join(map(_shown, value))}]"
    return f"{float(value):.6g}"
