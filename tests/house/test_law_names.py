"""Only the vocabulary knows a law by its name: elsewhere it is the law that is asked."""

from __future__ import annotations

import pytest
from literals import let_pass_for_nothing, modules, words_in

from dropcheck.vocabulary.laws import LAWS

# Strings that are spelled like a law, and name something else in a room.
OTHER_THINGS = {
    "language": {"beta", "gamma"},  # Greek letters
    "options.py": {"f"},  # the letter of --file
    "report": {"normal", "beta", "gamma"},  # the weight of a font, Greek letters
}


def named_in(room: str, source: str) -> set[str]:
    """The laws that a module of a room names."""
    return {name for _, name in words_in(source, LAWS)} - OTHER_THINGS.get(room, set())


def test_no_law_is_named_outside_the_vocabulary() -> None:
    found = {path: named_in(room, path.read_text()) for path, room in modules().items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_what_is_let_pass_is_still_there() -> None:
    assert let_pass_for_nothing(OTHER_THINGS) == {}
    assert let_pass_for_nothing({"language": {"no such word"}}) == {"language": {"no such word"}}


@pytest.mark.parametrize(
    "source",
    [
        'HEAVY = {"cauchy", "pareto"}',
        'if law.name == "bernoulli":\n    pass',
        "COSTS = {'normal': 9.0}",
        'match name:\n    case "rademacher":\n        pass',
        'text.startswith("rademacher")',
        'def f(law="uniform"):\n    pass',
    ],
)
def test_rule_raises_the_alarm(source: str) -> None:
    assert named_in("analysis", source)


@pytest.mark.parametrize(
    "source",
    [
        '"""cauchy"""',
        'def f():\n    "normal"',
        'raise ValueError("write normal(0, 1)")',
        'print(f"{x}normal{y:f}")',
        "normal = 1",
        'found = "normally"',
    ],
)
def test_rule_lets_messages_pass(source: str) -> None:
    assert not named_in("analysis", source)
