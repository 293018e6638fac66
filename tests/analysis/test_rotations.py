"""Normal matrices that meet a vector: fewer draws, and the same law."""

from __future__ import annotations

import numpy as np
import pytest
from fewer_draws_made import are_alike, numbers_a_draw, programs_of

from dropcheck.analysis import rewriting
from dropcheck.claims.reader import read_text
from dropcheck.judging.case import Prepared, prepare
from dropcheck.language.graph import ordered

LAYERS = """
      {vector}
      for l in range(3):
          W ~ normal(0, 0.7)[4, 4]
          g = W @ h
          h = {step}
"""


def text_of(model: str, claim: str) -> str:
    return f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |{model}\n    claim: {claim}\n"


def prepared(model: str, claim: str) -> Prepared:
    (case,) = read_text(text_of(model, claim)).expand()
    return prepare(case)


FIXED, RANDOM = "h = [1, -2, 0.5, 3]", "h ~ uniform(-1, 2)[4]"
CLAIM = "E(h[0] + 0.1 * h[1] * g[2]) == 0"


@pytest.mark.parametrize(
    ("vector", "step"),
    [
        (FIXED, "relu(g)"),
        (RANDOM, "sort(g - mean(g))"),
        (FIXED, "relu(h + g) / (1 + norm(g))"),
        (RANDOM, "tanh(g) * sum(abs(h))**1.5"),
        (RANDOM, "sqrt(abs(g)) * median(h)"),
        (RANDOM, "tanh(h) * leaky_relu(g, h > 0)"),
    ],
)
def test_the_law_is_the_same(vector: str, step: str) -> None:
    model = LAYERS.format(vector=vector, step=step)
    fewer, plain = programs_of(text_of(model, CLAIM))
    assert numbers_a_draw(fewer) < numbers_a_draw(plain)
    assert are_alike(fewer, plain)


def test_a_length_that_is_lost_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "degree_of", lambda _function, _options: 0.5)
    assert not are_alike(*programs_of(text_of(LAYERS.format(vector=FIXED, step="relu(g)"), CLAIM)))


@pytest.mark.parametrize("n", [3, 64])
def test_moments_of_a_network_are_exact(n: int) -> None:
    """E|h|⁴ of five layers, ((1 + 5 / n) n²)^5 / n^8 for He's law (2015, equation 10)."""
    model = f"""
      h = ones({n})
      for l in range(5):
          W ~ normal(0, sqrt(2 / {n}))[{n}, {n}]
          h = relu(W @ h)
"""
    known = prepared(model, "E(mean(h**2)) == 1").analysed.knowledge
    assert known is not None
    assert known.exact is not None
    exact = known.exact
    assert exact.means + exact.centres[0] == pytest.approx([1], rel=1e-9)
    variance = (1 + 5 / n) ** 5 - 1
    assert exact.moments.covariance(1) == pytest.approx(np.array([[variance]]), rel=1e-9)


@pytest.mark.parametrize("product", ["sum(x * e)", "sum(e * x)", "x @ e", "e @ x"])
def test_the_slope_through_the_origin_is_exact(product: str) -> None:
    """Its variance given x is sd² / Σx², and E 1 / Σx² of 9 normal numbers is 1 / 7."""
    model = f"""
      x ~ normal(0, 1)[9]
      e ~ normal(0, 2)[9]
      b = {product} / sum(x**2)
"""
    known = prepared(model, "Var(b) == 4 / 7").analysed.knowledge
    assert known is not None
    assert known.means is not None
    assert np.nanmax(known.means.means) == pytest.approx(4 / 7, rel=1e-8)
    fewer, plain = programs_of(text_of(model, "E(b**2) == 0"))
    assert numbers_a_draw(fewer) == 2 < numbers_a_draw(plain)
    assert are_alike(fewer, plain)


def test_moments_of_one_layer_are_exact() -> None:
    """E relu(u · x)² = |x|² / 2 for each row u of W (He and others 2015, equation 8)."""
    model = """
      x ~ normal(0, 1)[6]
      W ~ normal(0, 1)[3, 6]
      h = relu(W @ x)
"""
    known = prepared(model, "E(mean(h**2)) == 3").analysed.knowledge
    assert known is not None
    assert known.exact is not None
    assert known.exact.means + known.exact.centres[0] == pytest.approx([3])


@pytest.mark.parametrize(
    "line",
    [
        "y = relu(W @ relu(x)) + sum(W, axis=[0, 1])",  # W is looked at elsewhere
        "y = relu(W @ relu(W @ x))",
        "y = V @ relu(x)",  # its mean is not 0
        "y = U @ relu(x)",  # it is not normal
        "y = S @ relu(x)",  # its entries differ in spread
        "y = R @ relu(x)",  # its spread is random
        "y = exp(W @ x)",  # the length does not pass through
        "y = W @ x / norm(W @ x)",  # it has bounds as a fraction
        "y = sum(r * x) + x / r",  # x is looked at elsewhere
        "y = sum([1, 2, 3] * x) / r",  # a sum of one law, which is drawn as one
    ],
)
def test_other_matrices_stay(line: str) -> None:
    model = f"""
      x ~ normal(0, 1)[3]
      r ~ uniform(1, 2)
      W ~ normal(0, 1)[3, 3]
      V ~ normal(1, 1)[3, 3]
      U ~ uniform(-1, 1)[3, 3]
      S ~ normal(0, [1, 2, 3])[3, 3]
      R ~ normal(0, r)[3, 3]
      {line}
"""
    fewer, plain = programs_of(text_of(model, "E(y) == 0"))
    assert numbers_a_draw(fewer) == numbers_a_draw(plain)


def test_a_matrix_that_is_claimed_about_itself_stays() -> None:
    model = """
      x ~ uniform(1, 2)[3]
      W ~ normal(0, 1)[3, 3]
      y = relu(W @ sort(x))
"""
    for claim, same in (("E(y) + E(W) == 0", True), ("E(y) == 0", False)):
        fewer, plain = programs_of(text_of(model, claim))
        assert (numbers_a_draw(fewer) == numbers_a_draw(plain)) is same


def test_what_is_drawn_is_what_is_written() -> None:
    """The matrices are drawn, and vectors in their place are analysed alone."""
    ready = prepared(LAYERS.format(vector=RANDOM, step="relu(g)"), "E(h[0]) >= 0")
    drawn, analysed = (
        {one.shape for one in ordered(case.operands[0].inputs) if one.law}
        for case in (ready.lowered, ready.analysed.lowered)
    )
    assert (drawn, analysed) == ({(4,), (4, 4)}, {(4,)})


def test_arrays_of_zeros_are_added() -> None:
    """Slices of one draw have nothing in common; what is known of both was divided by 0."""
    model = """
      u ~ normal(0, 1)[64]
      g ~ normal(0, 0.05)[80]
      r = relu(u)
"""
    claim = "E((1 + sum(r * g[:64]))**2 + sum(r**2) * sum(g[64:]**2)) == 1"
    known = prepared(model, claim).knowledge
    assert known is not None
    assert known.exact is not None
    exact = 1 + 17 * 32 * 0.05**2
    assert known.exact.means + known.exact.centres[0] == pytest.approx([exact], rel=1e-9)
