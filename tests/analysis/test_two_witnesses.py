"""Made models: the exact value of what is rewritten, and draws of what is written, agree."""

from __future__ import annotations

import numpy as np
import pytest
from trials import FALSE_ALARM, entry, judged, registry_of

from dropcheck.claims.registry import Case
from dropcheck.errors import InternalError
from dropcheck.judging import case as cases
from dropcheck.judging.case import prepare
from dropcheck.language.compile import CaseGraphs

MODELS = 60
LAWS = (
    "normal({a}, {b})",
    "normal(0, {b})",
    "uniform({a}, {a} + {b})",
    "exponential({b})",
    "gamma({b}, {c})",
    "poisson({b})",
    "bernoulli(0.{c})",
    "chi_square({c})",
)
USES = (
    "sum(x)", "mean(x)**2", "mean(x) * sum(x)", "sum(x**2) / (1 + {b})", "var(x)", "max(x)",
    "sort(x)[1]", "min(x) + {a}", "x[0] * x[1]", "sum(x * w) / (1 + sum(w**2))", "norm(W @ x)",
    "sum(relu(W @ (W2 @ x)))", "sum((W @ x)**2) / (1 + sum(x**2))", "{a} * sum(x) + {b} * sum(w)",
)  # fmt: skip


def made(seed: int) -> tuple[str, str]:
    """A model and a quantity of it, by chance: sums, ranks, rotations, and their products."""
    random = np.random.default_rng(seed)
    size = int(random.integers(3, 7))

    def filled(text: str) -> str:
        a, b, c = random.uniform(-1, 1), random.uniform(0.5, 2), random.integers(2, 8)
        return text.format(a=f"{a:.2g}", b=f"{b:.2g}", c=c)

    first, second = (filled(str(random.choice(USES))) for _ in range(2))
    joined = str(random.choice(["{f}", "({f}) * ({g})", "({f}) + ({g})"]))
    model = (
        f"x ~ {filled(str(random.choice(LAWS)))}[{size}]; w ~ normal(0, 1)[{size}]; "
        f"W ~ normal(0, 1)[2, {size}]; W2 ~ normal(0, 0.5)[{size}, {size}]; "
        f"y = {joined.format(f=first, g=second)}"
    )
    return model, str(random.choice(["E(y)", "E(y**2)", "Var(y)", "Cov(y, 2 * y + sum(w))"]))


def exact_of(model: str, quantity: str) -> float | None:
    """The exact value of a quantity, where the model gives it."""
    found = judged(model, f"{quantity} <= 1e9", draws_only=False, most=40_000)
    return None if found.exact is None or found.confirmed is None else found.exact.value


@pytest.mark.parametrize("seed", range(MODELS))
def test_draws_of_what_is_written_confirm_the_exact_value(seed: int) -> None:
    exact_of(*made(seed))  # else an internal error: chance makes one in 1 / FALSE_ALARM
    assert FALSE_ALARM <= 1e-6


def case_of(model: str, quantity: str) -> Case:
    (case,) = registry_of(entry("c", model, f"{quantity} <= 1e9")).expand()
    return case


def test_most_made_models_have_an_exact_value_and_many_are_rewritten() -> None:
    known = [exact_of(*made(seed)) is not None for seed in range(MODELS)]
    assert sum(known) > MODELS / 3
    ready = [prepare(case_of(*made(seed))) for seed in range(MODELS)]
    assert sum(one.analysed.lowered is not one.lowered for one in ready) > MODELS / 4


def test_a_planted_rewriting_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rewriting that makes the quantity larger by a half, where what is drawn has bounds."""
    found = 0
    for seed in range(MODELS):
        model, quantity = made(seed)
        other = model.replace("y = ", "y = 1.5 * (") + ")"
        wrong = CaseGraphs().lowered(case_of(other, quantity))
        with monkeypatch.context() as planted:
            planted.setattr(cases, "with_fewer_draws", lambda _, wrong=wrong: wrong)
            try:
                exact_of(model, quantity)
            except InternalError:
                found += 1
    assert found > MODELS / 10
