"""Hints for unknown names: what other software and papers call our words, and misspellings.

A known word of other software may look like a misspelling of one of ours, as `swish` does of
`sinh`. So the tables of such words are searched first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.syntax import ArrayLiteral, Binary, Call, Name, Node, Number, Position
from dropcheck.vocabulary import functions, laws, operators
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.functions.other_words import COMPLEX, DERIVATIVE
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS, law_called
from dropcheck.vocabulary.operators import OPERATORS

LONGEST_SHOWN = 60  # characters of the user's text in a hint


NO_FUNCTIONS = (
    "functions of your own are not part of a model: write the formula out, its parts on lines of "
    "the model, or make it a slot of the file, for code"
)
# A word of at least these lengths may differ by one letter, or by two. A shorter word may differ
# only by capitals or by two exchanged letters, since most short names are similar.
ONE_OFF, TWO_OFF = 5, 9
MOST_COMPARED = 500  # names that a word is compared with; the language has fewer
_POWER_OF_E = re.compile(r"(\bexp|\be\s*\*\*)\s*\([^()]*$")
# Modules of scipy, numpy, torch and TensorFlow Probability whose names are laws.
_OF_LAWS = ("stats", "random", "distributions", "rng")
_DIFFERENTIAL = re.compile(r"d\w*\s*(\([^()]*\)\s*)?/\s*d\w")


def slip_of(name: str, known: Iterable[str]) -> str | None:
    """The hint for a misspelling of a known word; None if no word is similar enough.

    >>> slip_of("sigmiod", ["sigmoid"]), slip_of("nrom", ["norm"]), slip_of("ReLU", ["relu"])
    ("did you mean 'sigmoid'?", "did you mean 'norm'?", "did you mean 'relu'?")
    >>> slip_of("expp", ["exp"]), slip_of("varr", ["var", "Var"])  # a letter that was struck twice
    ("did you mean 'exp'?", None)
    >>> slip_of("int", ["inv", "sin"]), slip_of("kron", ["round"]), slip_of("limit", ["logit"])
    (None, None, None)
    """
    least, found = math.inf, None
    # a different first letter makes another word, such as nansum or gmean
    first = {letter.lower() for letter in name[:2]}
    candidates = [
        one for one in known if one[:1].lower() in first and abs(len(one) - len(name)) <= 2
    ]
    for one in candidates[:MOST_COMPARED] if len(name) <= LONGEST_SHOWN else ():
        distance = _edit_distance(name.lower(), one.lower())
        if distance < least:
            least, found = distance, one
    allowed = 2 if len(name) >= TWO_OFF else 1 if len(name) >= ONE_OFF else 0
    if found is None:
        return None
    single = re.sub(r"(.)\1", r"\1", name)
    if single != name and [one.lower() for one in candidates].count(single.lower()) == 1:
        return f"did you mean {next(one for one in candidates if one.lower() == single.lower())!r}?"
    swapped = least <= 1 and sorted(name.lower()) == sorted(found.lower())
    near = least <= allowed and name[0].lower() == found[0].lower()
    return f"did you mean {found!r}?" if near or swapped else None


def _edit_distance(one: str, other: str) -> float:
    """The number of letters inserted, deleted, changed or exchanged with a neighbour.

    Source: Damerau, A technique for computer detection and correction of spelling errors (1964);
    the distance of optimal string alignment.
    """
    before: list[int] = []
    above = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, its in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == its:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]


def notation_hint(name: str, at: Position) -> str | None:
    """The hint for notation such as `d/dx` or `exp(i * t)`, which begins with a name."""
    line = at.source.text.split("\n")[at.line]
    if _DIFFERENTIAL.match(line[at.column :]):
        return DERIVATIVE
    return COMPLEX if name in ("i", "j", "I") and _POWER_OF_E.search(line[: at.column]) else None


def written_law(law: Law) -> str:
    """The signature of a law, with its note."""
    return f"{law.signature}: {law.note}" if law.note else law.signature


def _written(name: str) -> str | None:
    """The law with this name, or with this name in other software, as a call."""
    law = law_called(name)
    return None if law is None else written_law(law)


def law_hint(name: str) -> str:
    """The hint for a name that is not a law.

    >>> law_hint("Ber")
    'write bernoulli(p)'
    >>> law_hint("bernouli")
    "did you mean 'bernoulli'?"
    """
    written = _written(name)
    if written is not None:
        return f"write {written}"
    hint = laws.hint_for(name)
    if hint is None and name in FUNCTIONS:
        hint = f"{name!r} is a function: write '=' in place of '~'"
    near = hint or slip_of(name, LAWS)
    for law in LAWS.values() if near is None else ():
        word = slip_of(name, law.aliases)
        near = near or (word and f"write {written_law(law)}")
    return near or f"laws are {', '.join(sorted(LAWS))}"


def name_hint(name: str, known: Collection[str]) -> str | None:
    """The hint for an unknown name, which may be one of the known ones.

    >>> name_hint("xy", ["x", "y"]), name_hint("X", ["x"]), name_hint("lenght", ["length"])
    ('write x * y for the product', "capitals matter: did you mean 'x'?", "did you mean 'length'?")
    """
    near = slip_of(name, known)
    if any(name.lower() == one.lower() for one in known):
        return f"capitals matter: {near}"
    for length in range(1, len(name)):
        if name[:length] in known and name[length:] in known:
            return f"write {name[:length]} * {name[length:]} for the product"
    return near


def argument_hint(name: str) -> str | None:
    """How a law or a function is called; None if there is none of this name.

    >>> argument_hint("exponential")
    'write exponential(scale): scale is its mean, the inverse of a rate'
    """
    if name in LAWS:
        return f"write {written_law(LAWS[name])}"
    if name in FUNCTIONS:
        return f"write {FUNCTIONS[name].signature}"
    return None


def square_for_sd(law: Law, arguments: Sequence[Node]) -> Iterator[Problem]:
    """A note on each standard deviation that is written as a square, like a variance."""
    for parameter, node in zip(law.parameters, arguments, strict=True):
        if parameter.name == "sd" and _is_square(node):
            yield Problem(
                f"the second argument of {law.name} is the standard deviation, and this is a "
                "square, as of a variance",
                node.at.location,
                "write its root; a deviation that is a square gets a name on a line above",
            )


def _is_square(node: Node) -> bool:
    match node:
        case Binary(operator="**", right=Number(value=2.0)):
            return True
        case Binary(operator="*", left=Name() as left, right=right):
            return left == right
        case _:
            return False


def shape_by_name(call: Call, names: Sequence[str]) -> DropcheckError:
    """The error for a shape among the law's arguments, as in numpy."""
    from dropcheck.language.printing import unparse

    given = next(value for name, value in call.keywords if name not in names)
    kept = tuple((name, value) for name, value in call.keywords if name in names)
    own = unparse(Call(call.at, call.name, call.arguments, kept))
    entries = given.items if isinstance(given, ArrayLiteral) else (given,)
    wanted = f"{own}[{', '.join(map(unparse, entries))}]"
    hint = f"write {wanted if len(wanted) <= LONGEST_SHOWN else 'normal(0, 1)[n]'}"
    return given.at.error(f"the shape of a draw follows {call.name}(…) in brackets", hint)


def attribute_hint(name: str, owner: str = "") -> str:
    """The hint for `x.name` and `x.name(…)`, where x ends in the word `owner`.

    >>> attribute_hint("mean"), attribute_hint("flatten")
    ('functions are called by name: mean(x)', 'write reshape(x, -1), or the shape as a list')
    >>> attribute_hint("gamma")
    'laws are called by name: gamma(shape, scale)'
    >>> attribute_hint("norm", "stats"), attribute_hint("norm", "linalg")
    ('write normal(mean, sd): its second argument is the standard deviation, not the variance', \
'functions are called by name: norm(x)')
    """
    if owner in _OF_LAWS:
        return law_hint(name)
    if name in LAWS:  # g.normal
        return f"laws are called by name: {written_law(LAWS[name])}"
    known = None if name in FUNCTIONS else functions.hint_for(name)
    return known or f"functions are called by name: {name}(x)"


def function_hint(name: str) -> str:
    """The hint for a name that is not a function.

    >>> function_hint("swish"), function_hint("ReLU")
    ('write silu(x)', "did you mean 'relu'?")
    >>> function_hint("N")
    'draw on a line of the model, x ~ normal(mean, sd): its second argument is the standard \
deviation, not the variance'
    """
    for asked in (name, name.lower()):
        hint = functions.hint_for(asked) or operators.hint_for(asked) or laws.hint_for(asked)
        if hint is not None:
            return hint
    written = _written(name)
    if written is not None and name.lower() not in FUNCTIONS:
        return f"draw on a line of the model, x ~ {written}"
    near = slip_of(name, [*FUNCTIONS, *OPERATORS, *OF_LAWS])
    return near or NO_FUNCTIONS
