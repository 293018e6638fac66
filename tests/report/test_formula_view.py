"""Formulas as a reader knows them: never with another meaning than the LaTeX has."""

from __future__ import annotations

import random
import re

import pytest
from page import parse

from dropcheck.report.html.formula_view import formula_markup

# tags are written short: i for letters, _ and ^ for indices and exponents
SHOWN = {
    r"\operatorname{Var}(q \cdot k) = d_k": "Var(q · k) = d_{k}",
    r"\mathbb{E}[y^2] \le \frac{1}{1 - p}": "E[y^{2}] ≤ 1/(1 − p)",
    r"\frac{1}{2} x": "(1/2)x",
    r"x\frac{1}{2}": "x(1/2)",
    r"\frac{1}{2}^2": "(1/2)^{2}",
    r"\frac12 = \tfrac1n": "1/2 = 1/n",  # TeX takes one digit for each
    r"\mathbb E[\mathbf 1\{x > 0\}]": "E[1{x > 0}]",
    r"\frac{1}{xy} = 1": "1/(xy) = 1",
    r"\sqrt{2} = 2": "√2 = 2",
    r"\sqrt{2}x": "√(2)x",
    r"\sqrt{1 + p}": "√(1 + p)",
    r"-x^2 = -1": "−x^{2} = −1",
    r"a - -b": "a − −b",
    r"q^{-L}": "q^{−L}",
    r"q^10": "q^{1}0",
    r"x_ij": "x_{i}j",
    r"y_{\text{train}}": "y_{train}",
    r"1{,}000 < n": "1,000 < n",
    r"\sum_{i=1}^{n} x_i": "∑_{i = 1}^{n}x_{i}",
    r"\sigma^2 \ne \Sigma": "σ^{2} ≠ Σ",
    r"\left( a \mid b \right)": "(a | b)",
    r"q^\top k": "q^{⊤}k",
    r"\bar{X}_n = \hat\theta": "X\u0304_{n} = θ\u0302",
    r"\frac{\bar x}{2}": "x\u0304/2",
    r"\bar{xy}": None,
    r"\unknown{x}": None,
    r"a & b": None,
    r"{a": None,
    r"a}": None,
    r"x^": None,
    "{" * 50 + "}" * 50: None,
}


def written(latex: str) -> str | None:
    """What is shown, with its tags written short; None where the LaTeX is shown as it is."""
    markup = formula_markup(latex)
    parse(markup)  # every tag is closed in its turn
    if markup.startswith("<code"):
        assert parse(markup).text == " ".join(latex.split())
        return None
    inner = re.fullmatch(r'<span class="formula">(.*)</span>', markup)
    assert inner is not None
    short = re.sub(r"</?i>", "", inner[1]).replace("<sub>", "_{").replace("<sup>", "^{")
    return re.sub(r"</su[bp]>", "}", short).replace("&lt;", "<").replace("&gt;", ">")


@pytest.mark.parametrize("latex", SHOWN)
def test_a_formula_is_shown_as_it_reads(latex: str) -> None:
    assert written(latex) == SHOWN[latex]


PIECES = [*r"ab12{}()[]_^=<>+-|,;&\$% ", r"\frac", r"\sqrt", r"\cdot", r"\text{a}", r"\left",
          r"\bar", "<script>", "\ue000\ue010\ue001"]  # fmt: skip


def test_any_text_is_shown_safely() -> None:
    rng = random.Random(3)  # seeded: the same 5,000 texts always
    read = 0
    for _ in range(5_000):
        latex = "".join(rng.choices(PIECES, k=rng.randint(1, 12)))
        markup = formula_markup(latex)
        names = {one.name for one in parse(markup).all()}
        assert names <= {"span", "code", "i", "sub", "sup"}
        read += markup.startswith("<span")
    assert read > 500
