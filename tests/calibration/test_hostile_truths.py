"""The truths of the set `hostile`, worked out a second time, by quadrature and enumeration.

What the file says comes from closed forms. Here each model itself is computed on nodes with weights
in place of draws: `weighted_draws`. An array of independent elements has only the nodes at which
something happens: all of its elements 1, or none. A few truths have a formula of their own here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from known_cases import claimed_value, lowered
from scipy import integrate, special, stats
from weighted_draws import (
    Atoms,
    Nodes,
    beta_share,
    beyond,
    dyadic,
    extremes,
    f_tail,
    first_ones,
    hermite,
    lumped,
    places,
    vectors,
    worked_out,
)

from benchmarks.calibration import Known, Truth, known
from dropcheck.inference.region import read_statement

CASES = [one for one in known("hostile") if one.truth is Truth.TRUE]
SLACK = 0.1  # of what a resolution is: a false claim is off by 1.5 at least


BITS = Nodes(draws={"b": lumped(30, 1.0, 0.0, 2.0**-30)})
FEW = 2.0**-15
SPARSE = Nodes(
    draws={
        "q": hermite(2, 4),
        "g": hermite(2, 4),
        "u": ([[0.5] * 4, *(0.5 + 0.4999999999999 * np.eye(4))], [1 - 4e-10, *[1e-10] * 4]),
    }
)
ROWS: Atoms = (
    [np.zeros((4, 30)), *(np.eye(4)[:, :, None] * np.ones(30))],
    [1 - 4 * 2.0**-30, *[2.0**-30] * 4],
)
COMMON = ([[0.5] * 100, [1 - 1e-12] * 100], [1 - 1e-10, 1e-10])  # elements one by one are alike
ALIKE = tuple(np.repeat(hermite(6)[0][:, None], 100, axis=1)), hermite(6)[1]
HALF = Nodes(near={"u": [0.5]})
MIDDLE = Nodes(near={"x": [0.5]})
# u, in a claim with floor(u + 1e-8)
JUMP = Nodes(draws={"u": ([0.25, 0.75, 1 - 5e-9], [0.5, 0.5 - 1e-8, 1e-8])})
TO_100 = Nodes(nearest=1e-100)
NODES: dict[str, Nodes] = {
    **{
        f"bits-{name}": BITS
        for name in [
            "mean", "and-noise", "variance", "deviation", "kurtosis", "skewness", "correlation",
            "covariance", "ratio", "ratio-below", "difference", "given", "crossed-numbers",
            "cumprod", "all", "min", "sum-equals", "sum-above", "sum-quotient", "sum-comb",
            "mean-floor", "and-uniform", "second-side", "inequality", "range",
        ]
    },
    "bits-given-bits": Nodes(
        draws={
            "b": ([[1.0] * 30, [1.0] * 29 + [0.0], [0.0] * 30], [2.0**-30, 0.25 - 2.0**-30, 0.75])
        }
    ),
    "bits-crossed": Nodes(draws={"q": hermite(2, 4), "g": hermite(2, 4), "b": ROWS}),
    "bits-crossed-square": Nodes(
        draws={
            "q": (
                [
                    [x, y]
                    for x in (-math.sqrt(2), math.sqrt(2))
                    for y in (-math.sqrt(2), math.sqrt(2))
                ],
                [0.25] * 4,
            ),
            "g": hermite(2, 2),
            "b": (
                [np.zeros((2, 30)), *(np.eye(2)[:, :, None] * np.ones(30))],
                [1 - 2.0**-29, 2.0**-30, 2.0**-30],
            ),
        }
    ),
    "bits-signs": Nodes(draws={"r": lumped(30, 1.0, -1.0, 2.0**-30)}),
    "bits-of-uniforms": Nodes(draws={"v": lumped(30, 0.75, 0.25, 2.0**-30)}),
    "bits-of-normals": Nodes(draws={"v": lumped(30, 1.0, -1.0, 2.0**-30)}),
    "three-values": Nodes(draws={"c": lumped(20, 3.0, 0.0, 3.0**-20)}),
    "dropout-chain": Nodes(draws={"m": lumped(8, 1.0, 0.0, 1e-8)}),
    "growth-path": Nodes(draws={"w": lumped(29, 1.0, 0.0, 2.0**-29)}),
    "martingale": Nodes(draws={"z": vectors(stats.norm(0, 8), 63)}),
    # minus the logarithm of the product is a gamma variable
    "products-of-uniforms": Nodes(
        draws={
            "v": (
                np.column_stack(
                    [
                        np.exp(-vectors(stats.gamma(200), 0)[0]),
                        np.ones((vectors(stats.gamma(200), 0)[0].size, 199)),
                    ]
                ),
                vectors(stats.gamma(200), 0)[1],
            )
        }
    ),
    **dict.fromkeys(["spike-exp-of-square", "spike-phi", "spike-density", "spike-isclose"], HALF),
    "spike-max-of-many": Nodes(draws={"w": extremes(stats.norm(), 20)}),
    "spike-any": Nodes(draws={"w": extremes(stats.norm(), 10)}),
    "spike-all": Nodes(draws={"w": extremes(stats.norm(), 4, top=False)}),
    "spike-first": Nodes(draws={"w": extremes(stats.uniform(), 8)}),
    "spike-quantile": Nodes(draws={"w": extremes(stats.expon(), 5)}),
    # numbers of which only the sum, or the sum of squares about the mean, matters
    "spike-sum-of-exponentials": Nodes(draws={"w": vectors(stats.gamma(3), 2)}),
    "spike-linear-form": Nodes(draws={"w": vectors(stats.norm(0, math.sqrt(10)), 9)}),
    "spike-norm": Nodes(draws={"w": vectors(stats.chi(2), 1)}),
    "spike-variance": Nodes(
        draws={
            "w": (
                vectors(stats.chi(2), 1)[0] @ [[1, -1, 0], [0, 0, 1]] / math.sqrt(2),
                vectors(stats.chi(2), 1)[1],
            )
        }
    ),
    "spike-power-of-two-uniforms": Nodes(draws={"u": dyadic(1.0), "v": dyadic(1.0)}),
    "spike-even-power-of-product": Nodes(draws={"z": hermite(20), "w": hermite(20)}),
    "spike-determinant": Nodes(draws={"a": dyadic(1.0), "b": dyadic(1.0)}),
    "spike-cumsum": Nodes(draws={"r": lumped(30, 1.0, -1.0, 2.0**-30)}),
    "spike-bincount": Nodes(draws={"i": lumped(28, 1.0, 0.0, 2.0**-28)}),
    **{one.case.claim.id: JUMP for one in CASES if one.group == "a spike in another statement"},
    "mean-in-array-with-spike": Nodes(draws={"u": COMMON, "h": ALIKE}),
    "variance-in-array-with-spike": Nodes(draws={"u": COMMON, "h": ALIKE}),
    "crossed-with-spike": SPARSE,
    "crossed-scale-with-spike": Nodes(draws=JUMP.draws, noise=["x"]),
    **{
        f"two-on-one{name}": MIDDLE
        for name in ("", "-and", "-chain", "-not", "-where", "-difference")
    },
    "two-on-one-normal": Nodes(near={"x": [1.0]}),
    "three-on-one": Nodes(near={"x": [0.3, 0.5, 0.7]}),
    "three-rare": Nodes(draws={name: ([5e-4, 0.5], [1e-3, 0.999]) for name in "uvw"}),
    "three-of-an-array": Nodes(draws={"a": lumped(3, 1.0, 0.0, 1e-9)}),
    "four-rare": Nodes(draws={"u": lumped(4, 0.005, 0.5, 1e-8)}),
    "many-pairs": Nodes(draws={"a": first_ones(64, 1e-5, 6)}),
    "many-triples": Nodes(draws={"a": first_ones(64, 1e-4, 8)}),
    "pairs-of-arrays": Nodes(draws={"a": places(40, 1e-4), "b": places(40, 1e-4)}),
    "six-hundred-conditions": Nodes(draws={"v": lumped(600, 5e-5, 0.5, 1e-8)}),
    "value-of-uniform": Nodes(draws={"n": ([12345.0, 1.0], [1e-8, 1 - 1e-8])}),
    "range-of-uniform": Nodes(draws={"n": ([*range(1, 20), 1e6], [1e-9] * 19 + [1 - 19e-9])}),
    "remainder-of-uniform": Nodes(
        draws={"n": ([*(1e8 * np.arange(1, 11)), 1.0], [1e-9] * 10 + [1 - 1e-8])}
    ),
    "permutation-identity": Nodes(
        draws={
            "s": (
                [range(11), range(10, -1, -1)],
                [1 / math.factorial(11), 1 - 1 / math.factorial(11)],
            )
        }
    ),
    "permutation-fixed": Nodes(
        draws={
            "s": (
                [range(11), range(10, -1, -1)],
                [1 / math.factorial(11), 1 - 1 / math.factorial(11)],
            )
        }
    ),
    "multinomial-corner": Nodes(draws={"n": ([[17, 0, 0], [0, 17, 0]], [3.0**-17, 1 - 3.0**-17])}),
    "run-of-equal": Nodes(draws={"d": ([[6.0] * 10, [1.0] * 9 + [2.0]], [6.0**-9, 1 - 6.0**-9])}),
    "shape-dirichlet": Nodes(draws={"s": beta_share(1e-8, 1)}),
    "shape-dirichlet-three": Nodes(draws={"s": beta_share(1e-8, 2)}),
    "shape-multinomial": Nodes(draws={"n": ([[1, 0], [0, 1]], [1 - 1e-8, 1e-8])}),
    **{
        f"tail-student-{name}": TO_100
        for name in [
            "variance-2-1",
            "variance-3",
            "deviation-2-2",
            "kurtosis-4-1",
            "kurtosis-5",
            "fourth-5",
            "size-1-1",
        ]
    },
    "tail-f-2-2": Nodes(draws={"x": f_tail(5, 2.2)}),
    "tail-f-variance": Nodes(draws={"x": f_tail(4, 4.4)}),
    "tail-reciprocal-norm": Nodes(draws={"z": vectors(stats.chi(3), 2)}),
    "tail-product-of-six": Nodes(draws={"z": hermite(2, 8)}),
    "tail-square-of-product": Nodes(draws={"z": hermite(3, 4)}),
    "mixture-array": Nodes(draws={"m": first_ones(1000, 1e-11, 2)}),
    "mixture-deviation-0-0014": Nodes(draws={"m": first_ones(2, 1e-6, 2)}),
    "mixture-hurdle": Nodes(noise=["z"]),
    "mixture-outlier-correlation": Nodes(noise=["a", "b"]),
    "mixture-conditional": Nodes(near={"g": [1.0]}, noise=[]),
    **{
        f"random-{name}": Nodes(draws={"u": dyadic(1.0)})
        for name in [
            "binomial",
            "bernoulli",
            "bernoulli-power",
            "geometric",
            "negative-binomial",
            "negative-binomial-p",
            "normal-scale",
        ]
    },
    "random-poisson": Nodes(draws={"u": (2 * np.asarray(dyadic(0.0)[0]), dyadic(0.0)[1])}),
    "random-poisson-exp": Nodes(draws={"z": hermite(20)}),
    "random-exponential-scale": Nodes(draws={"u": dyadic(0.0)}),
    "random-normal-mean": Nodes(draws={"u": ([0.5, 1 - 5e-9], [1 - 1e-8, 1e-8])}),
    "random-uniform-end": Nodes(draws={"z": beyond(stats.norm(), 6.0)}),
    "easy-variance-of-difference": Nodes(noise=["x", "w"]),
}  # fmt: skip


def quadrature(function: Callable[[float], float], *points: float) -> float:
    """An integral over pieces between some points."""
    return math.fsum(
        integrate.quad(function, low, high, epsabs=0.0, epsrel=1e-9)[0]
        for low, high in itertools.pairwise(points)
    )


def strip() -> float:
    """P(1 < x + w < 1 + 1e-7) of two uniforms, by one of them."""
    return quadrature(lambda x: min(1.0, 1 + 1e-7 - x) - (1 - x), 1e-7, 1.0)


def corner(c: float) -> float:
    """P(x + w > c, x - w > c) of two standard normals: x beyond c + |w|."""
    return 2 * quadrature(lambda w: float(stats.norm.sf(c + w) * stats.norm.pdf(w)), 0.0, 1, 3, 8)


FORMULAS: dict[str, Callable[[], float]] = {
    "two-on-sum": lambda: 1 + 1e7 * strip(),
    "two-opposite": lambda: 1 + 2e7 * corner(5.1),
    # each factor has the mean 1 by its density, and the means of independent factors multiply
    "products-of-exponentials": lambda: 2 * quadrature(lambda w: w * math.exp(-w), 0, 1, 60) ** 100,
    "random-categorical": lambda: 1 + 2e8 * quadrature(lambda u: 1e-8 * u, 0, 1),
    "random-multinomial": lambda: 1 + 4e7 * quadrature(lambda u: 5 * 1e-8 * u, 0, 1),
    "random-gamma": lambda: (
        1 + 2e8 * quadrature(lambda u: stats.gamma(1e-8 * u + 1e-12).mean(), 0, 1)
    ),
    "random-beta": lambda: (
        1 + 2e8 * quadrature(lambda u: stats.beta(1e-8 * u + 1e-12, 1).mean(), 0, 1)
    ),
    "random-bernoulli-of-normal": lambda: (
        1
        + 1e8
        * quadrature(
            lambda z: float(special.ndtr(z - 8) * stats.norm.pdf(z)), -8, -2, 0, 2, 4, 6, 8, 12
        )
    ),
    "random-chain": lambda: (
        1
        + 2e8
        * sum(
            k * 1e-4 * quadrature(lambda u, k=k: float(stats.poisson.pmf(k, 1e-4 * u)), 0, 1)  # type: ignore[misc]  # k
            for k in range(1, 6)
        )
    ),
    "random-variance": lambda: 1 + 4e7 * 50 * quadrature(lambda u: 1e-9 * u, 0, 1),
    "random-hypergeometric": lambda: (
        1 + 2e7 * float(np.mean([stats.hypergeom(10**8, 1, d).mean() for d in range(1, 10)]))
    ),
    "random-hypergeometric-good": lambda: (
        1 + 1e8 * float(np.mean([stats.hypergeom.pmf(1, 99999998 + g, g, 1) for g in range(3)]))
    ),
    "shape-f": lambda: (
        1
        + quadrature(
            lambda t: math.exp(2 * t) * float(stats.f.pdf(math.exp(t), 1e-8, 10)),
            -10,
            0,
            10,
            18,
            20,
            22,
            26,
            40,
        )
    ),
    "shape-von-mises": lambda: (
        1
        + 2e18 * quadrature(lambda t: (t - 2.8) * float(stats.vonmises.pdf(t, 20)), 2.8, 3, math.pi)
    ),
    "tail-pareto-larger": lambda: quadrature(
        lambda t: 2.4 * math.exp(-0.2 * t) * -math.expm1(-1.2 * t), 0, 10, 100, 400
    ),
    "tail-pareto-smaller": lambda: quadrature(lambda t: 2.4 * math.exp(-1.4 * t), 0, 10, 100),
    "tail-pareto-and-relu": lambda: 2 * quadrature(lambda t: 1.2 * math.exp(-0.2 * t), 0, 10, 400),
    "tail-pareto-larger-square": lambda: quadrature(
        lambda t: 4.6 * math.exp(-0.3 * t) * -math.expm1(-2.3 * t), 0, 10, 300
    ),
    "tail-student-shrunk": lambda: quadrature(
        lambda t: math.exp(2 * t) * float(stats.t.pdf(math.exp(t), 1.1)), -20, 0, 5, 50, 300
    ),
    "tail-common-scale": lambda: (
        3
        * quadrature(lambda s: s**4 * math.exp(-s), 0, 10, 60)
        / quadrature(lambda s: s**2 * math.exp(-s), 0, 10, 60) ** 2
    ),
    "tail-common-rate": lambda: float(stats.nbinom(0.01, 1 / 4001).var()),
    "tail-scale-pareto": lambda: quadrature(lambda t: 2.05 * math.exp(-0.05 * t), 0, 10, 100, 900),
    "tail-exp-of-product": lambda: quadrature(
        lambda z: float(special.exprel(4 * z) * stats.norm.pdf(z)), -10, 0, 4, 20
    ),
    "random-hypergeometric-counts": lambda: (
        1
        + 1e8 * float(stats.hypergeom(53, 50, 52).cdf(47))
        + float(stats.hypergeom(30, 10, 12).cdf(47))
    ),
    "random-bernoulli-of-beta": lambda: 1 + 1e9 * float(stats.beta(1e-9, 1).mean()),
    "double-or-nothing": lambda: 1 + 2**24 * float(stats.binom.pmf(24, 24, 0.5)),
    "petersburg": lambda: sum(2**t * float(stats.geom.pmf(t, 0.5)) for t in range(1, 21)),
    "exactly-one-of-two": lambda: 1 + 1e9 * float(stats.binom.pmf(1, 2, 1e-9)),
    # a thousand windows of u, each as long as a thousandth of the remainder's
    "window-of-remainder": lambda: 1 + 1e8 * 1000 * (1e-8 / 1000),
    "one-of-two-counts": lambda: 1 + 1e8 * float(stats.poisson.pmf([6, 7], 0.1).sum()),
    "median-of-rare": lambda: 1 + 3e7 * float(stats.binom.sf(1, 3, 1e-4)),
    "spike-likelihood-ratio": lambda: (
        1 + quadrature(lambda x: float(stats.norm.pdf(x, 6, 1)), -4, 6, 16)
    ),
    "spike-pseudo-inverse": lambda: float(
        (1 - 1e-8) * np.linalg.pinv([[1.0]])[0, 0] + 1e-8 * np.linalg.pinv([[1e-8]])[0, 0]
    ),
    "easy-huge-mean": lambda: float(stats.norm(1e200, 1e190).mean()),
    "shape-negative-binomial-rare": lambda: 1 + 100 * float(stats.nbinom(1e-8, 1e-6).mean()),
}
# What holds in every draw, by algebra, and is not to be worked out.
IDENTITIES = {
    f"easy-{name}"
    for name in [
        "max-and-min",
        "max-and-min-student",
        "max-and-min-cauchy",
        "softmax-sum",
        "dirichlet-sum",
        "permutation-sum",
        "sorted-sum",
        "log-of-product",
    ]
}


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.case.claim.id)
def test_a_truth_is_worked_out_a_second_time(one: Known) -> None:
    claim = one.case.claim
    if claim.id in IDENTITIES:
        return
    case = lowered(one)
    nodes = NODES.get(claim.id, Nodes())
    formula = FORMULAS.get(claim.id)
    (comparison, *more) = read_statement(case, None).comparisons
    if comparison.against is not None:  # two measured sides: which of them is smaller
        left, right = (worked_out(case, nodes, place) for place in (0, 1))
        assert left <= right + (claim.within or 0.0)
        return
    if more or comparison.region.low != comparison.region.high:
        inside = worked_out(case, nodes, 1 if len(case.operands) == 3 else 0)
        assert all(each.region.low < inside < each.region.high for each in (comparison, *more))
        return
    value = claimed_value(one)
    unit = claim.within if claim.within is not None else claim.resolution * (abs(value) or 1.0)
    found = formula() if formula else worked_out(case, nodes)
    assert abs(found - value) < SLACK * unit, (found, value)
