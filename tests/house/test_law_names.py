"""Only the vocabulary knows a law by its name: elsewhere it is the law that is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from literals import words_in

from dropcheck.vocabulary.laws import LAWS

PACKAGE = Path(__file__).parents[2] / "dropcheck"

# Strings that are spelled like a law, and name something else.
OTHER_THINGS = {
    "cli/app.py": {"f"},  # the option -f
    "report/latex.py": {"beta", "gamma"},  # Greek letters
    "report/pictures/cases_picture.py": {"normal"},  # the weight of a font
    "report/pictures/curve_picture.py": {"normal"},
}


def named_in(path: str, source: str) -> list[tuple[int, str]]:
    """The lines of a module that name a law."""
    allowed = OTHER_THINGS.get(path, set())
    return list(words_in(source, LAWS.keys() - allowed))


def test_no_law_is_named_outside_the_vocabulary() -> None:
    found = {
        str(path.relative_to(PACKAGE)): named_in(str(path.relative_to(PACKAGE)), path.read_text())
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "vocabulary"
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_what_is_let_pass_is_still_there() -> None:
    for path, names in OTHER_THINGS.items():
        found = {name for _, name in words_in((PACKAGE / path).read_text(), names)}
        assert found == names, path


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
    assert named_in("analysis/bounds.py", source)


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
    assert not named_in("analysis/bounds.py", source)
