"""Deviations of frameworks that are known, and what is sound: claims of packs say which is which.

Each row names what was seen with the versions of `docs/code.md`. It runs where the framework
is installed. The seed is fixed. A row that fails with a later version is news: the framework was
mended, or has a new fault.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from dropcheck.claims.reader import read_registries
from dropcheck.claims.select import select
from dropcheck.code.columns import with_columns
from dropcheck.code.slots import implementations_of
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

# Many small calls wait for threads where the machine is busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# In tests of a framework its own warnings are its own matter.
pytestmark = pytest.mark.filterwarnings("ignore")

CODE = """
import torch
import torch.nn.functional as F


def naive_mask(x, p, training):
    return torch.where(torch.rand_like(x) < p, 0, x / (1 - p)) if training else x


def in_float32(x, p, training):
    y = torch.where(torch.rand(x.shape) < p, 0, x.float() / (1 - p)) if training else x
    return y.to(x.dtype)


def eight_bits(x, p, training):
    kept = torch.randint(0, 256, x.shape) >= int(256 * p)
    return torch.where(kept, x / (1 - p), 0) if training else x


def drops_always(q, k, v, p, training):
    return F.scaled_dot_product_attention(q, k, v, dropout_p=p)


def scaled_by_length(q, k, v, p, training):
    return F.scaled_dot_product_attention(q, k, v, dropout_p=p * training, scale=1 / q.shape[-1])


def default_weights(fan_in, fan_out):
    return torch.nn.Linear(fan_in, fan_out).weight


def of_fewer_bits(n, size):
    return (torch.rand(size) * n).floor()


def without_signs(n):
    return torch.linalg.qr(torch.randn(n, n))[0]


def clipped_scale(x, p, training):
    return torch.where(torch.rand_like(x) >= p, x * min(1 / (1 - p), 50), 0) if training else x


def drops_rows(x, p, training):
    return torch.where(torch.rand(*x.shape[:-1], 1) >= p, x / (1 - p), 0) if training else x


def unscaled(x, p, training):
    return x * (torch.rand(len(x), 1) >= p) if training else x


def clamped(sd, n):
    return (torch.randn(n) * sd).clamp(-2 * sd, 2 * sd)


def of_fan_in(fan_in, fan_out):
    return torch.empty(fan_out, fan_in).uniform_(-1, 1) * (3 / fan_in) ** 0.5


def eps_outside(x):
    return x / (x.square().mean(-1, keepdim=True).sqrt() + 1e-6)


def eps_inside(x):
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


def of_n_less_one(x):
    return (x - x.mean(0)) / (x.var(0) + 1e-5).sqrt()


def antithetic(mean, sd, size):
    half = torch.randn(*size[:-1], size[-1] // 2 + 1)
    return mean + sd * torch.cat([half, -half], -1)[..., : size[-1]]


def of_cumulated(logits, size):
    ends = torch.softmax(logits.double(), -1).cumsum(-1)[:-1]
    return torch.searchsorted(ends, torch.rand(size, dtype=torch.float64), right=True)
"""
Row = tuple[str, str, str, dict[str, str]]
DEVIATIONS: tuple[Row, ...] = (
    ("torch", "dropout/scale", "bfloat16", {"p": "0.1"}),
    ("torch", "dropout/extreme-values", "float32", {"p": "0.5"}),
    ("torch", "noise-layers/alpha-dropout-scale", "bfloat16", {}),
    ("torch", "samplers/uniform-end", "bfloat16", {}),
    ("torch", "samplers/uniform-near-low.nearer", "bfloat16", {}),
    ("torch", "samplers/integers.first-third", "float32", {"n": "201326592"}),
    ("torch", "samplers/binomial.variance", "float32", {"n": "100000000", "p": "0.5"}),
    ("torch", "initialisers/attention-projection.variance", "float32", {"n": "64"}),
    ("torch:dropout=frail:naive_mask", "dropout/small-share-dropped", "bfloat16", {"p": "0.001"}),
    ("torch:dropout=frail:eight_bits", "dropout/share-dropped", "float32", {"p": "0.1"}),
    ("torch:attention=frail:drops_always", "attention/evaluation", "float32", {"p": "0.1"}),
    ("torch:orthogonal=frail:without_signs", "initialisers/orthogonal.mean", "float32", {"n": "2"}),
    ("torch:attention=frail:scaled_by_length", "attention/values", "float32", {}),
    ("torch:he_normal=frail:default_weights", "initialisers/he-normal-shape.sums", "float32", {}),
    ("torch:random_integers=frail:of_fewer_bits", "samplers/integers-parity.even", "float32", {}),
    ("torch:dropout=frail:clipped_scale", "dropout/values", "float32", {"p": "0.99"}),
    ("torch:dropout=frail:drops_rows", "dropout/elements", "float32", {"p": "0.3"}),
    ("torch:drop_path=frail:unscaled", "stochastic-depth/whole", "float32", {"p": "0.5"}),
    ("torch:truncated_normal_weights=frail:clamped", "initialisers/truncated", "float32", {}),
    ("torch:glorot_uniform=frail:of_fan_in", "initialisers/glorot-uniform", "float32", {}),
    ("torch:rms_norm=frail:eps_outside", "normalisation/rms-norm-small", "float32", {}),
    ("torch:batch_norm=frail:of_n_less_one", "normalisation/batch-norm-values", "float32", {}),
    ("torch:random_normal=frail:antithetic", "samplers/normal-independent", "float32", {}),
    ("jax", "samplers/normal.mean", "bfloat16", {}),
    ("jax", "samplers/bernoulli.share", "bfloat16", {"p": "0.1"}),
    ("jax", "samplers/categorical-rare", "bfloat16", {}),
)  # fmt: skip
SOUND: tuple[Row, ...] = (
    ("torch", "dropout/scale", "float32", {"p": "0.1"}),
    ("torch", "dropout/values", "bfloat16", {"p": "0.1"}),
    ("torch:dropout=frail:in_float32", "dropout/scale", "bfloat16", {}),
    ("torch", "dropout/elements", "float32", {"p": "0.3"}),
    ("torch", "noise-layers/alpha-dropout-scale", "float32", {}),
    ("torch", "noise-layers/alpha-dropout-values", "float32", {}),
    ("torch", "noise-layers/gaussian-noise-law", "bfloat16", {}),
    ("torch", "attention/weights", "float32", {"p": "0.1"}),
    ("torch", "attention/weights-sum-to-one", "float32", {}),
    ("torch", "attention/masks", "float32", {}), ("torch", "attention/values", "bfloat16", {}),
    ("torch", "attention/weighed-alike", "float32", {}),
    ("torch", "attention/gradient", "float32", {"p": "0.5"}),
    ("torch", "normalisation/layer-norm-gradient", "float32", {}),
    ("torch", "normalisation/rms-norm-gradient", "float32", {}),
    ("torch", "dropout/number-dropped", "float32", {}),
    ("torch", "samplers/beta-small.range", "float32", {"a": "0.01", "b": "0.01"}),
    ("torch", "samplers/categorical-impossible.values", "float32", {}),
    ("torch", "initialisers/orthogonal.mean", "float32", {"n": "2"}),
    ("torch", "samplers/binomial.variance", "float32", {"n": "1000", "p": "0.5"}),
    ("torch", "dropout/values", "float32", {"p": "0.99"}),
    ("torch", "stochastic-depth/masks", "float32", {}),
    ("torch:rms_norm=frail:eps_inside", "normalisation/rms-norm-small", "float32", {}),
    ("torch:random_categorical=frail:of_cumulated", "samplers/categorical-law", "float32", {}),
    ("jax", "samplers/normal.mean", "float32", {}),
    ("numpy", "samplers/normal.mean", "float32", {}),
    ("numpy", "samplers/normal.fourth-moment", "float32", {}),
)  # fmt: skip


def _name(row: Row) -> str:
    return "-".join((row[0].partition("=")[0], row[1], row[2]))


@pytest.mark.parametrize(
    ("verdict", "row"),
    [(Verdict.REFUTED, row) for row in DEVIATIONS] + [(Verdict.VERIFIED, row) for row in SOUND],
    ids=[_name(row) for row in (*DEVIATIONS, *SOUND)],
)
def test_packs_say_what_is_sound(
    verdict: Verdict, row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, claim, dtype, values = row
    framework = code.partition(":")[0]
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    (tmp_path / "frail.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    pack, name = claim.split("/")
    implementations = implementations_of([code], tmp_path)
    registry = with_columns(read_registries([f"pack:{pack}"]), implementations, (dtype,))
    cases = select(registry, [f"{name}@{framework}"], (), values)
    found = [case.verdict for case in verify_cases(cases, Settings(), registry)]
    if verdict is Verdict.VERIFIED:
        assert set(found) == {verdict}
    else:  # at other parameters it may be right
        assert verdict in found
