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
from dropcheck.code.slots import implementations_of, with_columns
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

# Many small calls wait for threads where the machine is busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# In tests of a framework its own warnings are its own matter.
pytestmark = pytest.mark.filterwarnings("ignore")

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
    ("jax", "samplers/normal.mean", "bfloat16", {}),
    ("jax", "samplers/bernoulli.share", "bfloat16", {"p": "0.1"}),
    ("jax", "samplers/categorical-rare", "bfloat16", {}),
)  # fmt: skip
SOUND: tuple[Row, ...] = (
    ("torch", "dropout/scale", "float32", {"p": "0.1"}),
    ("torch", "dropout/values", "bfloat16", {"p": "0.1"}),
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
def test_packs_say_what_is_sound(verdict: Verdict, row: Row, tmp_path: Path) -> None:
    code, claim, dtype, values = row
    framework = code.partition(":")[0]
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    pack, name = claim.split("/")
    implementations = implementations_of([code], tmp_path)
    registry = with_columns(read_registries([f"pack:{pack}"]), implementations, (dtype,))
    cases = select(registry, [f"{name}@{framework}"], (), values)
    found = [case.verdict for case in verify_cases(cases, Settings(), registry)]
    if verdict is Verdict.VERIFIED:
        assert set(found) == {verdict}
    else:  # at other parameters it may be right
        assert verdict in found
