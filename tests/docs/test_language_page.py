"""The page on the language says what the vocabulary says, of every name and with every default."""

from __future__ import annotations

import re

import numpy as np
import pytest
from language_page import PAGE, page

from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS


def told() -> dict[str, str]:
    """What the page says, by the names that are told."""
    text = PAGE.read_text(encoding="utf-8")
    return dict(re.findall(r"^- `(\w+(?:\(.*?\))?)`: (.+)\.$", text, re.MULTILINE))


def test_the_page_is_what_the_vocabulary_says() -> None:
    hint = "python tests/helpers/language_page.py writes it"
    assert PAGE.read_text(encoding="utf-8") == page(), hint


def test_every_name_has_a_line() -> None:
    names = {call.partition("(")[0] for call in told()}
    everything = {*FUNCTIONS, *LAWS, *OPERATORS, *CONSTANTS, *OF_LAWS}
    assert everything - names == set()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("var(x, ddof=0, axis=…, keepdims=0)", "n by default"),
        ("isclose(a, b, rtol=1e-9, atol=1e-12)", "rtol"),
        ("elu(x)", "alpha is 1"),
        ("round(x)", "halves to the even"),
        ("norm(x, ord=2, axis=…, keepdims=0)", "of the elements"),
        ("gelu(x)", "not its approximation"),
        ("normal(mean, sd)", "not the variance"),
        ("inf", "infinity"),
    ],
)
def test_defaults_are_told(call: str, said: str) -> None:
    assert said in told()[call]


def test_what_is_said_of_halves_and_units_is_so() -> None:
    half = np.array([-0.5])
    values = {
        name: float(FUNCTIONS[name].kernel(half)[0])
        for name in ("round", "elu", "selu", "gelu", "Phi")
    }
    assert values["round"] == 0
    assert values["elu"] == pytest.approx(-0.3934693, rel=1e-6)
    assert values["selu"] == pytest.approx(1.7581 * -0.3934693, rel=1e-4)
    assert values["gelu"] == pytest.approx(-0.5 * values["Phi"], rel=1e-12)
