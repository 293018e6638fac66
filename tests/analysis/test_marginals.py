"""An element of a vector of which nothing else is looked at is drawn alone, from its own law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fewer_draws_made import are_alike, exactly, numbers_a_draw, programs
from scipy import special

from dropcheck.analysis.fewer_draws import rotations
from dropcheck.language.graph import constant_beside
from dropcheck.vocabulary.laws import LAWS

VECTORS = {
    "dirichlet": ([0.5, 1.0, 3.0],),
    "multinomial": (12.0, [0.2, 0.3, 0.5]),
    "permutation": (7.0,),
    "multivariate_normal": ([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]]),
}
OF_ONE = [
    ("d ~ dirichlet([0.5, 1, 3])", "log(d[0]) + d[0]", 1),
    ("d ~ dirichlet([0.5, 1, 3])[4]", "sum(sqrt(d[:, 2]))", 4),
    ("m ~ multinomial(12, [0.2, 0.3, 0.5])", "exp(m[-1] / 6)", 1),
    ("s = 0; for t in range(3):;     d ~ dirichlet([1, 2]);     s = s + d[0]", "exp(s)", 3),
    ("p ~ permutation(7)", "p[2]", 1),
    ("x ~ multivariate_normal([0, 1], [[1, 0.5], [0.5, 2]])", "exp(x[1]) + x[1]", 1),
    ("x ~ multivariate_normal([0, 1], [[1, 1], [1, 1]])[2, 3]", "sum(exp(x[1, :, 0]))", 3),
]


@pytest.mark.parametrize(("model", "quantity", "numbers"), OF_ONE)
def test_the_law_is_the_same(model: str, quantity: str, numbers: int) -> None:
    fewer, plain = programs(model, f"E({quantity}) == 0")
    assert numbers_a_draw(fewer) == numbers < numbers_a_draw(plain)
    assert are_alike(fewer, plain)


def test_a_wrong_argument_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        rotations, "constant_beside", lambda value, number: constant_beside(value, number + 1)
    )
    for model, quantity, _ in OF_ONE[:2]:
        assert not are_alike(*programs(model, f"E({quantity}) == 0"))


def test_every_law_of_vectors_has_a_law_of_elements() -> None:
    """The chance to be at most c is that of draws of the vector.

    By Dvoretzky, Kiefer and Wolfowitz (Massart 1990) each is off by more than `far` with a chance
    of 1e-8 at most, however many c are looked at.
    """
    assert set(VECTORS) == {name for name, law in LAWS.items() if law.own_axes is not None}
    draws = 40_000
    far = math.sqrt(math.log(2 / 1e-8) / (2 * draws))
    for name, arguments in VECTORS.items():
        law, given = LAWS[name], [np.asarray(one, dtype=float) for one in arguments]
        assert law.element is not None
        of_one, arguments_of = law.element
        axes = [one[..., np.newaxis] for one in given]
        length = int(given[0]) if name == "permutation" else given[-1].shape[-1]
        drawn = law.sample(np.random.default_rng(5), axes, (length,), draws)
        for place in range(length):
            own = [
                float(np.broadcast_to(one, (length,))[place])
                for one in arguments_of(*(one if one.ndim else float(one) for one in given))
            ]
            points = np.unique(np.quantile(drawn[place], np.linspace(0.02, 0.98, 25)))
            share = [(drawn[place] <= point).mean() for point in points]
            assert np.abs(of_one.cdf(points, *own) - share).max() < far


@pytest.mark.parametrize(
    ("model", "claim", "truth"),
    [
        # Blei, Ng and Jordan 2003, "Latent Dirichlet allocation", appendix A.1
        ("d ~ dirichlet([1, 2, 3])", "E(log(d[0]))", special.digamma(1) - special.digamma(6)),
        ("d ~ dirichlet([1, 2, 3])", "E(1 / d[2])", 5 / 2),
        ("d ~ dirichlet([1, 2, 3])", "E(d[0]**1.5)", special.beta(2.5, 5) / special.beta(1, 5)),
        ("m ~ multinomial(3, [0.2, 0.3, 0.5])", "E(2**m[1])", 1.3**3),
        ("p ~ permutation(4)", "E(log(p[3] + 1))", math.log(24) / 4),
        ("x ~ multivariate_normal([0, 1], [[1, 2], [2, 4]])", "E(exp(x[1] / 2))", math.e),
    ],
)
def test_moments_are_exact(model: str, claim: str, truth: float) -> None:
    assert exactly(model, claim) == pytest.approx(truth, rel=1e-8)


@pytest.mark.parametrize(
    "claim",
    [
        "E(d[0] * d[1]) == 0",  # of two elements
        "E(d[0]) + E(d) == 0",  # claimed about itself
        "E(d[[0, 0]]) == 0",  # one element twice
        "E(sum(d)) == 0",
        "E(log(max(d))) == 0",
        "E(v[0, 1] + v[1, 1]) == 0",  # of two vectors
        "E(r[0]) == 0",  # its arguments are random
        "E(s[0, 1]) == 0",  # no law of their own for each
        "E(d[0], given=d[1] > 0.5) == 0",
        "E(log(one[0])) == 0",  # always 1
    ],
)
def test_others_stay(claim: str) -> None:
    model = "d ~ dirichlet([1, 2]); v ~ dirichlet([1, 2])[2]"
    model += "; u ~ uniform(1, 2); r ~ dirichlet([1, 2] * u); s ~ dirichlet([[1, 2], [3, 4]])"
    model += "; one ~ dirichlet([3])"
    fewer, plain = programs(model, claim)
    assert numbers_a_draw(fewer) == numbers_a_draw(plain)
