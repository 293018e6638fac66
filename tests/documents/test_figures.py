"""Printed figures: read to the right number, place and digits, or refused; never misread."""

from __future__ import annotations

import random
from contextlib import suppress
from decimal import Decimal

import pytest

from dropcheck.documents.figures import UnreadError, read_before

READ = {
    "by 41%": ("0.41", "0.01", "41%"), r"by 41\%": ("0.41", "0.01", r"41\%"),
    "by 41 %": ("0.41", "0.01", "41 %"), "8": ("8", "1", "8"), "**8**": ("8", "1", "8"),
    "_8.0_": ("8", "0.1", "8.0"), "$0.900$": ("0.9", "0.001", "0.900"), "`8`": ("8", "1", "8"),
    "1,234.50": ("1234.5", "0.01", "1,234.50"), "$1{,}000$": ("1000", "1", "1{,}000"),
    "12\u202f345": ("12345", "1", "12\u202f345"), "12_345": ("12345", "1", "12_345"),
    "is -3": ("-3", "1", "-3"), "is −3.0": ("-3", "0.1", "−3.0"), "x = -.5": ("-0.5", "0.1", "-.5"),
    "(about ~5": ("5", "1", "5"), "1.2e-3": ("0.0012", "0.0001", "1.2e-3"),
    "1.20×10^{-3}": ("0.0012", "0.00001", "1.20×10^{-3}"),
    r"$1.2 \times 10^{-3}$": ("0.0012", "0.0001", r"1.2 \times 10^{-3}"),
    "4.5·10⁻³": ("0.0045", "0.0001", "4.5·10⁻³"), "−2.5e+2": ("-250", "10", "−2.5e+2"),
    "in 2024 100": ("100", "1", "100"), "≈0.5": ("0.5", "0.1", "0.5"),
    "| 0.5": ("0.5", "0.1", "0.5"), "- 8": ("8", "1", "8"), "US$5": ("5", "1", "5"),
    "€5": ("5", "1", "5"), "→5": ("5", "1", "5"), "<td>-5": ("-5", "1", "-5"),
    "<b>5%": ("0.05", "0.01", "5%"), "is — 5": ("5", "1", "5"),
    "&asymp;&nbsp;0.5": ("0.5", "0.1", "0.5"), "**p** **0.5**": ("0.5", "0.1", "0.5"),
    "text\n  * **8**": ("8", "1", "8"), "(_8_": ("8", "1", "8"), "share:**8**": ("8", "1", "8"),
    "y & 0.5": ("0.5", "0.1", "0.5"), "✅ 41%": ("0.41", "0.01", "41%"),
    "$10^{-6}$": ("1e-6", "1e-6", "10^{-6}"), "below 10⁻³": ("0.001", "0.001", "10⁻³"),
    "−10^−3": ("-0.001", "0.001", "−10^−3"), "+3%": ("0.03", "0.01", "+3%"),
    "50&nbsp;%": ("0.5", "0.01", "50&nbsp;%"), "in Table 3: 0.41": ("0.41", "0.01", "0.41"),
    r"costs \$5.30": ("5.3", "0.01", "5.30"), r"\(p = 0.3\)": ("0.3", "0.1", "0.3"),
    r"$$P(x > 1) \approx 0.159.$$": ("0.159", "0.001", "0.159"), r"$ 7 $": ("7", "1", "7"),
}  # fmt: skip
FRACTIONS = {
    "in 1/3": "1 / 3", "(-13/27": "-13 / 27", r"$\frac{1}{5}$": "1 / 5", "**2/3**": "2 / 3",
    r"\(x = \tfrac12\)": "1 / 2", r"$$ \approx -\dfrac{10}{3}.$$": "-10 / 3",
}  # fmt: skip
REFUSED = [
    "3-4", "3–4", "1.0.68", "v1.2", "12:30", "1,23", "0,500", "2024-02-13", "x.5", "a_3",
    "$x_3$", "$2^3$", "12 345", "1 000 000", "12 345.6", "±5", "#12", "007", "5--3", ") 1)2",
    "−**5**", "-$5$", r"$\mu = -\,5$", "is − 5", "&minus;5", r"$3 \times 5$",
    r"$\sqrt 5$", "4 / 5", "1/**5**", "10 ± 5", "1⁄5", "minus 5", "1.%", "%", "2)3", "a-3",
    "1+2", "~~5",
    # signs as entities, in tags, and as other characters than those of a keyboard
    "5 &plusmn; 0.1", "&#8722;5", "&ndash;5", "3&times;5", "&radic;5", "3&nbsp;500", "3\u2007500",
    "<b>-</b>5", "-<b>5", "3<b>5", "10<sup>5", "10<sup>-3", "x<sub>5", "√5", "2√ 5", "5 -3",
    "3·5", "3⋅5", "3×5",
    "‑3", "‐3",
    "－3", "⁻3", "∓5", "5 ÷ 3", "0.5‑0.7", "1½5", "½ ÷ 5", "1．5", "0.5…0.7", "1\u200b5",
    # what is glued to it by emphasis, and words
    "2*5*", "1**5**", "a**5**", "2**10", "2 ** 10", "2 : 1", "5 x 3", "log 5", "x mod 5",
    r"\log_2 5", r"3\;500", "p != 5", "≠5",
    # signs behind a sign of its own, and signs that the rule does not know
    "log -3", r"\times -3", "3 … 5", "x ⊕ 5", "x @ 5", "5”3", "a ^ 5", "x\u00ad5",
    # powers of ten that may be a part of more, or 10 with the number of a note
    "10^3", "210^-3", "1.10^-3", "1,010^-3", "5 10^-3", "2 times 10^-6", "x10⁻³", "10³",
]  # fmt: skip
REFUSED += [  # fractions that are a part of more, and more digits than float64 holds
    "1 1/2", "in 2024 1/2", "12/05/2024", "1/2/3", "x/3", "1.5/3", "2:1/3", r"2\frac{1}{5}", "1/2%",
    "4,000,000,000,000,000,000", "0.12345678901234567", "1e999", "1e-400", "x + 3", "1+1/2",
]  # fmt: skip
NONE = ["", "word", "(8)", "is 8.", "٣", "{3}", "8 ", "x²", "]"]


@pytest.mark.parametrize("text", READ)
def test_what_can_be_read_in_one_way_is_read(text: str) -> None:
    figure = read_before(text, len(text))
    digits, unit, printed = READ[text]
    assert figure is not None
    assert (figure.digits, figure.unit) == (Decimal(digits), Decimal(unit))
    assert text[figure.start : figure.end] == printed


@pytest.mark.parametrize("text", FRACTIONS)
def test_a_fraction_is_exact(text: str) -> None:
    figure = read_before(text, len(text))
    assert figure is not None
    assert (figure.written, figure.digits, figure.unit) == (FRACTIONS[text], None, None)


@pytest.mark.parametrize("text", REFUSED)
def test_what_can_be_read_in_several_ways_is_refused(text: str) -> None:
    with pytest.raises(UnreadError) as refused:
        read_before(text, len(text))
    assert 0 <= refused.value.column <= len(text)
    assert refused.value.hint


@pytest.mark.parametrize("text", NONE)
def test_where_no_figure_ends_there_is_none(text: str) -> None:
    if text == "x²":
        with pytest.raises(UnreadError):
            read_before(text, len(text))
    else:
        assert read_before(text, len(text)) is None


def _made(chance: random.Random) -> tuple[str, Decimal, Decimal]:
    """A figure as people print it, its number and the unit of its last digit."""
    places = chance.choice([0, 0, 1, 2, 3, 6])
    whole = chance.choice(
        [0, chance.randint(1, 9), chance.randint(10, 999), chance.randint(1000, 10**8)]
    )
    fraction = "".join(chance.choice("0123456789") for _ in range(places))
    number = Decimal(f"{whole}.{fraction}" if places else f"{whole}")
    grouping = chance.choice(["", ",", "{,}", "_", "\u202f", "\u00a0", r"\,"])
    printed = f"{whole:,}".replace(",", grouping) + (f".{fraction}" if places else "")
    shift = 0
    if chance.random() < 0.3:
        shift = chance.randint(-9, 9)
        raised = str(shift).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
        printed += chance.choice(
            [f"e{shift}", f"E{shift:+d}", f"×10^{{{shift}}}", rf" \times 10^{{{shift}}}",
             f" × 10{raised}", f"·10{raised}"]
        )  # fmt: skip
    if chance.random() < 0.3:
        printed, shift = printed + chance.choice(["%", r"\%", " %", r"\,\%"]), shift - 2
    if chance.random() < 0.3:
        printed, number = chance.choice("-−") + printed, -number
    return printed, number.scaleb(shift), Decimal(1).scaleb(shift - places)


def test_a_thousand_figures_in_a_thousand_sentences() -> None:
    chance = random.Random(20)
    words = [
        "the mean", "output", "rises by", "about", "Var(y)", "x_1", "(see Fig. 3):", "1/2", "y²",
    ]  # fmt: skip
    for _ in range(1000):
        printed, number, unit = _made(chance)
        sentence = " ".join(chance.choices(words, k=chance.randint(0, 12)))
        opener = chance.choice(["", "**", "`", "$", "_", "*"])
        text = f"{sentence} of {opener}{printed}{opener}"
        figure = read_before(text + "<!-- dropcheck: ~= E(y) --> and 5% more", len(text))
        assert figure is not None, text
        assert (figure.digits, figure.unit) == (number, unit), text
        assert text[figure.start : figure.end] == printed


def test_any_text_is_read_or_refused() -> None:
    chance = random.Random(21)
    signs = "0123456789.,-−_*`$%\\{}^eE×·⁻³²/ :()~±\u202fx"
    for _ in range(5_000):
        text = "".join(chance.choices(signs, k=chance.randint(0, 30)))
        with suppress(UnreadError):
            figure = read_before(text, len(text))
            assert figure is None or 0 <= figure.start < figure.end <= len(text)
