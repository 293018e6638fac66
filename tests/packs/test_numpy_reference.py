"""Sound code in numpy passes claims of the packs, and code with a known fault is refuted.

The seed is fixed, so that a verdict does not change from run to run. Few draws are made: faults
here are as large as those that frameworks had.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dropcheck.claims.reader import read_registries
from dropcheck.claims.selection import select
from dropcheck.code.binding import implementations_of, of_functions
from dropcheck.code.columns import with_columns
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

Generator = np.random.Generator
FLOAT32 = ("float32",)


def judged(
    claim: str,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    values: Mapping[str, str] | None = None,
) -> list[CaseResult]:
    """The column of a claim, `pack/claim`, of numpy's reference or of other functions."""
    pack, name = claim.split("/")
    implementation = (
        implementations_of(["numpy"], Path())[0]
        if functions is None
        else of_functions(functions, name="numpy", dtypes=FLOAT32, folder=Path())
    )
    registry = with_columns(read_registries([f"pack:{pack}"]), [implementation], FLOAT32)
    cases = select(registry, [f"{name}@numpy"], (), values or {})
    return list(verify_cases(cases, Settings(), registry))


SOUND: tuple[tuple[str, dict[str, str]], ...] = (
    ("dropout/mean-kept", {"p": "0.1"}),
    ("dropout/share-dropped", {"p": "0.5"}),
    ("dropout/values", {"p": "0.1"}),
    ("dropout/extreme-values", {"p": "0.5"}),
    ("dropout/evaluation", {"p": "0.1"}),
    ("dropout/gradient", {"p": "0.1"}),
    ("dropout/elements", {"p": "0.3"}),
    ("dropout/channels-values", {"p": "0.1"}),
    ("attention/weights", {"p": "0.1"}),
    ("attention/evaluation", {"p": "0.1"}),
    ("stochastic-depth/whole", {"p": "0.1"}),
    ("noise-layers/alpha-dropout-values", {"p": "0.1"}),
    ("noise-layers/alpha-dropout-scale", {"p": "0.3"}),
    ("normalisation/layer-norm.values", {"at": "100", "size": "1"}),
    ("normalisation/layer-norm-small", {"size": "0.001"}),
    ("normalisation/rms-norm-small", {"size": "0.0003"}),
    ("samplers/integers.mean", {"n": "201326592"}),
    ("samplers/uniform.range", {}),
    ("samplers/bernoulli.share", {"p": "0.1"}),
    ("samplers/poisson-law", {"rate": "10"}),
)


@pytest.mark.parametrize(("claim", "values"), SOUND, ids=[claim for claim, _ in SOUND])
def test_the_reference_passes(claim: str, values: Mapping[str, str]) -> None:
    for case in judged(claim, values=values):
        assert case.verdict is Verdict.VERIFIED, case


# ---- faults --------------------------------------------------------------------------------------


def _kept(x: Any, p: float, generator: Generator) -> Any:
    return generator.random(x.shape) >= p


def without_scale(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * _kept(x, p, generator) if training else x


def scaled_twice(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * _kept(x, p, generator) / (1 - p) ** 2 if training else x


def rounded_scale(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * _kept(x, p, generator) * (round(256 / (1 - p)) / 256) if training else x


def inverted(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * ~_kept(x, p, generator) / (1 - p) if training else x


def eight_bits(x: Any, p: float, training: bool, generator: Generator) -> Any:
    kept = generator.integers(0, 256, x.shape) >= int(256 * p)
    return np.where(kept, x / (1 - p), 0).astype(x.dtype) if training else x


def drops_in_evaluation(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return np.where(_kept(x, p, generator), x / (1 - p), 0).astype(x.dtype)


def one_mask(x: Any, p: float, training: bool, generator: Generator) -> Any:
    kept = generator.random((*x.shape[:-1], 1)) >= p
    return np.where(kept, x / (1 - p), 0).astype(x.dtype) if training else x


def infinity_to_nan(x: Any, p: float, training: bool, generator: Generator) -> Any:
    with np.errstate(all="ignore"):
        return (x * (_kept(x, p, generator) / (1 - p))).astype(x.dtype) if training else x


def counter_seed() -> Any:
    calls = iter(range(10**9))

    def dropout(x: Any, p: float, training: bool) -> Any:
        own = np.random.default_rng(next(calls) // 2)
        return np.where(_kept(x, p, own), x / (1 - p), 0).astype(x.dtype) if training else x

    return dropout


class OtherMask:
    def __call__(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        return drops_in_evaluation(x, p, training, generator) if training else x

    def with_gradient(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        return self(x, p, True, generator), _kept(x, p, generator) / (1 - p)


def attention_drops_in_evaluation(
    q: Any, k: Any, v: Any, p: float, training: bool, generator: Generator
) -> Any:
    from dropcheck.packs.implementations.numpy_reference import attention

    return attention(q, k, v, p, True, generator)


def naive_layer_norm(x: Any, training: bool) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = (x * x).mean(-1, keepdims=True) - mean * mean
    return (x - mean) / np.sqrt(np.maximum(variance, 0) + np.float32(1e-5))


def other_eps(x: Any, training: bool) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-6))


def constant_off(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """Alpha dropout whose factor is rounded to eight bits, as bfloat16 has it."""
    if not training:
        return x
    low = -1.7580993408473766
    a = round(256 / np.sqrt((1 - p) * (1 + p * low**2))) / 256
    return (a * (np.where(_kept(x, p, generator), x, low) - low * p)).astype(x.dtype)


def remainder(n: int, size: Any, generator: Generator) -> Any:
    """Biased: 2³² is no multiple of n."""
    return generator.integers(0, 2**28, size) % n


def half_open_ends(low: float, high: float, size: Any, generator: Generator) -> Any:
    return low + (high - low) * generator.integers(0, 512, size) / 512


def cut_off(mean: float, sd: float, size: Any, generator: Generator) -> Any:
    values = generator.normal(mean, sd, size)
    return np.clip(values, mean - 3 * sd, mean + 3 * sd)


def leaks(low: float, high: float, size: Any, generator: Generator) -> Any:
    """Four in a million are outside."""
    values = np.clip(generator.standard_normal(size), low, high)
    return np.where(generator.random(size) < 4e-6, high + 0.1, values)


FAR = {"at": "-1000", "size": "0.1"}
FAULTS: tuple[tuple[str, str, Any, dict[str, str]], ...] = (
    ("dropout/mean-kept", "dropout", without_scale, {"p": "0.1"}),
    ("dropout/values", "dropout", without_scale, {"p": "0.1"}),
    ("dropout/mean-kept", "dropout", scaled_twice, {"p": "0.1"}),
    ("dropout/mean-kept", "dropout", rounded_scale, {"p": "0.1"}),
    ("dropout/share-dropped", "dropout", inverted, {"p": "0.1"}),
    ("dropout/share-dropped", "dropout", eight_bits, {"p": "0.1"}),
    ("dropout/small-share-dropped", "dropout", eight_bits, {"p": "0.001"}),
    ("dropout/evaluation", "dropout", drops_in_evaluation, {"p": "0.001"}),
    ("dropout/elements", "dropout", one_mask, {"p": "0.3"}),
    ("dropout/extreme-values", "dropout", infinity_to_nan, {"p": "0.5"}),
    ("dropout/gradient", "dropout", OtherMask(), {"p": "0.1"}),
    ("attention/evaluation", "attention", attention_drops_in_evaluation, {"p": "0.001"}),
    ("normalisation/layer-norm.values", "layer_norm", naive_layer_norm, FAR),
    ("normalisation/layer-norm-small", "layer_norm", other_eps, {"size": "0.001"}),
    ("noise-layers/alpha-dropout-scale", "alpha_dropout", constant_off, {"p": "0.3"}),
    ("samplers/integers.first-third", "random_integers", remainder, {"n": "201326592"}),
    ("samplers/uniform-end", "random_uniform", half_open_ends, {}),
    ("samplers/normal-tails.fourth-moment", "random_normal", cut_off, {}),
    ("samplers/truncated-normal.range", "random_truncated_normal", leaks, {"low": "-2"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "slot", "code", "values"),
    FAULTS,
    ids=[f"{n}-{one[0]}" for n, one in enumerate(FAULTS)],
)
def test_a_fault_is_refuted(claim: str, slot: str, code: Any, values: dict[str, str]) -> None:
    verdicts = [case.verdict for case in judged(claim, {slot: code}, values)]
    assert Verdict.REFUTED in verdicts


def test_code_without_a_gradient_has_no_claims_of_one() -> None:
    """A plain function of numpy: what is claimed of its values is judged all the same."""
    plain = of_functions({"dropout": without_scale}, name="numpy", dtypes=FLOAT32, folder=Path())
    known = read_registries(["pack:dropout"])
    found = {name for name in with_columns(known, [plain], FLOAT32).claims if "@" in name}
    whole = of_functions({"dropout": OtherMask()}, name="numpy", dtypes=FLOAT32, folder=Path())
    other = {name for name in with_columns(known, [whole], FLOAT32).claims if "@" in name}
    assert other - found == {"gradient@numpy"}
    assert "values@numpy" in found
