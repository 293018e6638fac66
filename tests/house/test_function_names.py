"""Only the vocabulary knows a law, a function or an operator by its name: others ask its entry."""

from __future__ import annotations

import pytest
from literals import let_pass_for_nothing, modules, words_in

from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS, SIGNS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

NAMES = {*LAWS, *FUNCTIONS, *OF_LAWS, *OPERATORS, *(name for name in SIGNS if name.isalpha())}
# Signs are grammar to what reads, writes and changes texts; what works on the graph asks entries.
OF_THE_GRAPH = {"analysis", "simulation", "execution"}
# Strings that are spelled like a word of the language, and name something else in a room.
OTHER_THINGS = {
    # the relation of a statement; a moment, in a message; a kind of bound
    "analysis": {"==", "mean", "norm"},
    # selections, JSON Schema, and the name of a statement in an example
    "claims": {"all", "not", "minimum", "maximum", "array", "mean", "elements"}
    # formats of numbers, which a parameter may stand for
    | {"float64", "float32", "bfloat16", "float16"},
    "cli": {"all", "diff"},  # an option of `run`
    # formats of numbers, as frameworks name them, and numpy's keywords
    "code": {"float64", "float32", "bfloat16", "float16", "shape", "size"},
    "documents": {"sign"},
    "options.py": {"min", "diff", "f"},  # minutes, and the letter of --file
    "processors.py": {"max"},  # no quota
    # grammar, and numpy's keywords for the shape of a draw
    "language": {"and", "or", "not", "size", "shape"},
    "judging": {"repeat"},  # the command that does
    # words of sentences, the command that repeats, the weight of a font, and commands of LaTeX
    "report": {"any", "sort", "where", "log", "sqrt", "repeat", "sign"}
    | {
        "cos",
        "cosh",
        "det",
        "exp",
        "max",
        "min",
        "normal",
        "sin",
        "sinh",
        "tan",
        "tanh",
    },
}


def named_in(room: str, source: str) -> set[str]:
    """The words of the language that a module of a room names."""
    words = {*NAMES, *SIGNS} if room in OF_THE_GRAPH else NAMES
    return {name for _, name in words_in(source, words)} - OTHER_THINGS.get(room, set())


def test_no_word_is_named_outside_the_vocabulary() -> None:
    found = {path: named_in(room, path.read_text()) for path, room in modules().items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_what_is_let_pass_is_still_there() -> None:
    assert let_pass_for_nothing(OTHER_THINGS) == {}
    assert let_pass_for_nothing({"language": {"no such word"}}) == {"language": {"no such word"}}


@pytest.mark.parametrize(
    "source",
    [
        'BOUNDED = {"sin", "cos"}',
        'if value.operation == "P":\n    pass',
        "ORDERS = {'Var': 2}",
        'match value.operation:\n    case "+":\n        pass',
        'if value.operation in ("matmul", "subscript"):\n    pass',
        'def f(name="logdensity"):\n    pass',
        "COSTS = {'normal': 9.0}",
        'match name:\n    case "rademacher":\n        pass',
        'text.startswith("rademacher")',
    ],
)
def test_rule_raises_the_alarm(source: str) -> None:
    assert named_in("analysis", source)


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("analysis", '"""sin"""'),
        ("analysis", 'raise ValueError("write sin(x)")'),
        ("analysis", 'print(f"{x}sin{y:f}")'),
        ("language", 'SUMS = {"+", "-"}'),
        ("claims", 'names = ["all"]'),
        ("analysis", 'def f():\n    "normal"'),
        ("analysis", "normal = 1"),
        ("analysis", 'found = "normally"'),
    ],
)
def test_rule_lets_messages_and_grammar_pass(room: str, source: str) -> None:
    assert not named_in(room, source)
