"""Elements of one draw that a loop adds up: by enumeration, and by the algebra of matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from lowered import expressed, lowering

from dropcheck.analysis.averaged_products import ExactMoments, Integrand
from dropcheck.analysis.moments.exact import exact_moments
from dropcheck.analysis.polynomials import gathered as gathering

# Draws of two values, few enough that all outcomes are enumerated.
COINS = 10


def moments(model: str, *texts: str) -> ExactMoments:
    scope = lowering(model)
    values = [expressed(scope, text) for text in texts]
    found = exact_moments([Integrand(factors=((value, 1),)) for value in values])
    assert found is not None
    return found


def means(model: str, *texts: str) -> np.ndarray:
    return np.asarray(moments(model, *texts).means)


def picked_sums(generator: np.random.Generator) -> tuple[str, list[str]]:
    """A model of several sums over elements of one array, some of them whole, and expressions."""
    lines = [f"m ~ bernoulli(0.3)[{COINS}]"]
    names: list[str] = []
    for number in range(3):
        count = int(generator.integers(1, 2 * COINS))
        parts = [
            f"{generator.integers(-3, 4)} * m[{generator.integers(COINS)}]" for _ in range(count)
        ]
        if generator.random() < 0.5:
            parts.append(f"sum(m * arange({COINS}))")
        if names:
            parts.append(f"{generator.integers(-1, 2)} * {names[-1]}")
        names.append(f"s{number}")
        lines.append(f"s{number} = {' + '.join(parts)}")
    return "; ".join(lines), [*names, "s0 * s1", "s1 * s2", "(s0 - s2)**2"]


@pytest.mark.parametrize("seed", range(12))
def test_sums_of_elements_have_the_moments_of_all_outcomes(seed: int) -> None:
    model, texts = picked_sums(np.random.default_rng(seed))
    found = means(model, *texts)
    outcomes = np.array([*itertools.product([0.0, 1.0], repeat=COINS)])
    chances = 0.3 ** outcomes.sum(1) * 0.7 ** (COINS - outcomes.sum(1))
    known: dict[str, np.ndarray] = {}
    for line in model.split("; ")[1:]:
        name, text = line.split(" = ")
        code = text.replace("m[", "m.T[").replace("sum(m * arange(10))", "(m @ np.arange(10))")
        known[name] = eval(code, {"np": np, "m": outcomes, **known}) + np.zeros(len(outcomes))
    wanted = [chances @ eval(text, {}, known) for text in texts]
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_a_vector_that_a_loop_updates_row_by_row() -> None:
    steps = 40
    lines = [f"z ~ normal(1, 2)[{steps}, 3]; w0 = [1, 2, 3]"]
    lines += [f"w{t + 1} = w{t} - 0.1 * (w{t} + z[{t}])" for t in range(steps)]
    found = means(
        "; ".join(lines), f"w{steps}[1]", f"w{steps} @ w{steps}", f"w{steps}[0] * z[3, 0]"
    )
    mean = [0.9**steps * start - (1 - 0.9**steps) for start in (1, 2, 3)]
    variance = 4 * 0.01 * (1 - 0.81**steps) / 0.19
    square = 3 * variance + sum(one**2 for one in mean)
    with_one = mean[0] - 0.1 * 0.9 ** (steps - 4) * 4
    assert found == pytest.approx([mean[1], square, with_one], rel=1e-7)


def test_a_matrix_takes_a_vector_along() -> None:
    steps, matrix = 24, np.array([[0.9, 0.1], [0.0, 0.8]])
    lines = [f"z ~ exponential(1)[{steps}, 2]; A = [[0.9, 0.1], [0, 0.8]]; x0 = zeros(2)"]
    lines += [f"x{t + 1} = A @ x{t} + z[{t}]" for t in range(steps)]
    found = moments("; ".join(lines), f"x{steps}[0]", f"x{steps}[1]")
    powers = [np.linalg.matrix_power(matrix, t) for t in range(steps)]
    mean = sum(power @ np.ones(2) for power in powers)
    covariance = sum(power @ power.T for power in powers)
    assert found.means == pytest.approx(mean, rel=1e-7)
    assert found.covariance(1) == pytest.approx(covariance, rel=1e-7)


def test_single_elements_cancel_against_a_sum_of_all() -> None:
    lines = "z ~ normal(0, 1)[12]; s = sum(z); y = s - z[3] - z[4]; r = y - sum(z[:3]) - sum(z[5:])"
    assert means(lines, "r**2 + 1") == pytest.approx([1.0])
    assert means(lines, "(s - y)**2", "s * y") == pytest.approx([2.0, 10.0])


def test_a_mistake_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gathering._over_elements

    def shifted(space, alike, terms):  # type: ignore[no-untyped-def]  # as what it stands for
        return whole(space, alike, terms[:-1] or terms)

    monkeypatch.setattr(gathering, "_over_elements", shifted)
    with pytest.raises(AssertionError):
        test_a_vector_that_a_loop_updates_row_by_row()
