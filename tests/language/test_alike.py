"""Entries that have one joint law: found where the model shows it, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from trials import entry, registry_of

from dropcheck.language.alike import entries_alike
from dropcheck.language.compile import context_of, parse_claim
from dropcheck.language.graph import Value
from dropcheck.language.lowering.model import define_model
from dropcheck.language.syntax import Call, lines_of
from dropcheck.simulation.compile import ProgramBuilder
from dropcheck.vocabulary.shapes import broadcast


def values_of(model: str, names: str) -> list[Value]:
    """The values of some names of a model, whose lines are separated by semicolons."""
    parsed = parse_claim(registry_of(entry("c", model, "1 == 1")).claims["c"])
    context = context_of(parsed, {})
    assert not define_model(context, parsed.model)
    at = {name.name: name.at for line in lines_of(parsed.model) for name in line.names}
    values = [context.scope.look_up(name, at[name]) for name in names.split()]
    assert not any(isinstance(one, Call) for one in values)
    return values  # type: ignore[return-value]  # as the line above says


def test_large_arrays_are_alike_at_once() -> None:
    """No entry is looked at: the array of kinds has one number in all."""
    values = values_of("q, k ~ normal(0, 1)[512, 8]; x = softmax(q @ k.T, axis=-1)", "x")
    found = entries_alike(values, (512, 512), {})
    assert found is not None
    assert found.strides == (0, 0)


# ---- made models ---------------------------------------------------------------------------------

DRAWS = [
    "normal(0, 1)[3]", "normal([0, 1, 0], 1)", "exponential(1)[3]", "permutation(3)",
    "bernoulli(0.4)[3]", "multinomial(4, [0.5, 0.25, 0.25])", "normal(0, 1)[3, 3]",
    "uniform(0, [[1, 2, 1]])[3, 3]", "normal({a}, 1)", "dirichlet([1, 1, 2])",
]  # fmt: skip
LINES = [
    "{a} + {b}", "{a} * {b}", "{a} - mean({a})", "softmax({a})", "flip({a})", "roll({a}, 1)",
    "{a} * {a}[..., :1]", "{a}[..., 1:] @ [1, 2] + {b}", "cumsum({a})", "sort({a})",
    "{a} * (max({a}) - {b})", "where({a} > {b}, {a}, 0)", "stack({b}, {b}, {b} + 1, axis=0)[:2]",
    "concat({a}[..., :2], {b}[..., 2:])", "{a}[..., [2, 0, 1]]", "{a} + argmax({a})",
    "take([0, 2, 5], floor(2.9 * sigmoid({a})))", "{a} - [0, 0, 1]", "reshape({a}, shape({a}))",
    "[1, 1, 2] @ reshape({a}, -1)[:3] * {b}", "outer({a}[..., :], {b})", "{a}[..., 0] * 2 * {b}.T",
    "sum({a}, axis=-1, keepdims=1) * {b}", "quantile({a}, 0.3, axis=-1, keepdims=1) + {b}",
    "tile({a}[..., :1], 3) + {b}", "repeat({a}[..., :1], 3) * {b}", "{a} @ {b}", "Phi({a})",
    "{a} @ transpose({b})", "diff(concat({a}, {a}[..., :1])) + {b}",
]  # fmt: skip
MOST_PLACES = 120


def made_model(rng: np.random.Generator) -> tuple[str, list[Value]]:
    """A model whose lines are taken at random; lines that do not fit are left out."""
    lines: list[str] = []
    names: list[str] = []
    kept: list[Value] = []
    for at in range(8):
        draws = at < 2 or rng.random() < 0.2
        text = str(rng.choice(DRAWS if draws else LINES))
        if names or "{" not in text:
            chosen = {key: str(rng.choice(names)) for key in "ab"} if names else {}
            line = f"n{at} {'~' if draws else '='} {text.format(**chosen)}"
            try:
                found = values_of("; ".join([*lines, line]), f"n{at}")
            except (ValueError, AssertionError, Exception):
                continue
            if found[0].random and found[0].elements <= MOST_PLACES:
                lines.append(line)
                names.append(f"n{at}")
    model = "; ".join(lines)
    kept = values_of(model, " ".join(names))
    return model, kept


def features(values: list[np.ndarray], shape: tuple[int, ...]) -> list[np.ndarray]:
    """Bounded functions of the joint values of each entry: [entries, draws]."""
    draws = max(one.shape[-1] for one in values)
    flat = []
    for one in values:
        wide = one.reshape(*(1,) * (len(shape) + 1 - one.ndim), *one.shape)
        flat.append(np.tanh(np.broadcast_to(wide, (*shape, draws)).reshape(-1, draws)))
    first, last = flat[0], flat[-1]
    return [first, first**2, first**3, first * last, first * last**2, np.abs(first - last)]


@pytest.mark.parametrize("seed", range(40))
def test_entries_that_are_called_alike_are_alike(seed: int) -> None:
    """By their averages over draws: 7 standard errors are exceeded once in 4e11 comparisons."""
    rng = np.random.default_rng(seed)
    model, values = made_model(rng)
    for _ in range(3):
        chosen = [values[at] for at in rng.integers(len(values), size=2)]
        try:
            shape = broadcast([one.shape for one in chosen])
        except ValueError:
            continue
        found = entries_alike(chosen, shape, {})
        assert found is not None
        builder = ProgramBuilder()
        registers = [builder.register(one) for one in chosen]
        for one in registers:
            builder.term(((one, 1),), None)
        with np.errstate(all="ignore"):
            arrays = builder.build().registers(np.random.default_rng(seed), 4000, keep=True)
        for feature in features([np.asarray(arrays[one], float) for one in registers], shape):
            for kind in range(found.max() + 1):
                places = np.flatnonzero(found == kind)
                apart = feature[places[1:]] - feature[places[0]]
                if not apart.size:
                    continue
                error = apart.std(axis=1) / np.sqrt(apart.shape[1])
                assert (np.abs(apart.mean(axis=1)) <= 7 * error + 1e-9).all(), (model, kind)
