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
from faulty_code import FAULTS, OtherMask, seeded_anew, without_scale
from reference_code import reference
from reported_faulty_code import REPORTED
from seldom_faulty_code import SELDOM, BackwardMask, of_twelve_bit_places
from slots_made import OfFunctions

from dropcheck.claims.reader import read_registries, read_text
from dropcheck.claims.select import select
from dropcheck.code.columns import with_columns
from dropcheck.packs.pack_files import pack_file
from dropcheck.reasons import Reason
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
    values = values or {}
    formats = (values.get("dtype", *FLOAT32),)
    implementation = (
        reference(formats) if functions is None else OfFunctions(functions, dtypes=formats)
    )
    registry = with_columns(read_registries([f"pack:{pack}"]), [implementation], formats)
    cases = select(registry, [f"{name}@numpy"], (), values)
    return list(verify_cases(cases, Settings(), registry))


SOUND: tuple[tuple[str, dict[str, str]], ...] = (
    ("dropout/mean-kept", {"p": "0.1"}), ("dropout/share-dropped", {"p": "0.5"}),
    ("dropout/values", {"p": "0.1"}), ("dropout/extreme-values", {"p": "0.5"}),
    ("dropout/evaluation", {"p": "0.1"}), ("dropout/gradient", {"p": "0.1"}),
    ("dropout/elements", {"p": "0.3"}), ("dropout/channels-values", {"p": "0.1"}),
    ("attention/weights", {"p": "0.1"}), ("attention/evaluation", {"p": "0.1"}),
    ("stochastic-depth/whole", {"p": "0.1"}),
    ("noise-layers/alpha-dropout-values", {"p": "0.1"}),
    ("noise-layers/alpha-dropout-scale", {"p": "0.3"}),
    ("normalisation/layer-norm.values", {"at": "100", "size": "1"}),
    ("normalisation/layer-norm-small", {"size": "0.001"}),
    ("normalisation/rms-norm-small", {"size": "0.0003"}),
    ("samplers/integers.mean", {"n": "201326592"}), ("samplers/uniform.range", {}),
    ("samplers/bernoulli.share", {"p": "0.1"}), ("samplers/poisson-law", {"rate": "10"}),
    ("samplers/poisson-parity", {"rate": "10000"}), ("samplers/categorical-far", {}),
    ("attention/values", {"dtype": "float32"}),
    ("attention/weighed-alike", {"dtype": "float32"}),
    ("dropout/number-dropped", {"form": "[2, 64]"}), ("attention/share-dropped", {"p": "0.05"}),
    ("samplers/permutation-orders", {}), ("initialisers/truncated-shape.distinct", {}),
    ("initialisers/truncated-shape.sums", {}), ("samplers/geometric.mean", {"p": "1e-6"}),
    ("samplers/permutation-many.first", {}), ("samplers/permutation-many.fixed", {}),
    ("initialisers/orthogonal.mean", {"n": "2"}), ("dropout/block-mean", {"block": "3"}),
    ("dropout/block-share", {"block": "3"}), ("dropout/block-whole", {}),
    ("dropout/block-evaluation", {}), ("attention/causal-first", {}),
    ("attention/causal-weights", {}), ("attention/causal-future", {}),
    ("attention/causal-values", {}), ("normalisation/linear-values", {}),
    ("normalisation/linear-bias", {}), ("normalisation/linear-gradient", {}),
    ("noise-layers/gumbel-softmax-sum", {}), ("noise-layers/gumbel-softmax-index", {}),
    ("noise-layers/gumbel-softmax-law", {}),
)  # fmt: skip


@pytest.mark.parametrize(("claim", "values"), SOUND, ids=[claim for claim, _ in SOUND])
def test_the_reference_passes(claim: str, values: Mapping[str, str]) -> None:
    for case in judged(claim, values=values):
        assert case.verdict is Verdict.VERIFIED, case


def test_a_gradient_of_attention_is_that_of_its_mask() -> None:
    sound = {"attention": BackwardMask(own=False)}
    for case in judged("attention/gradient", sound):
        assert case.verdict is Verdict.VERIFIED, case


@pytest.mark.parametrize(
    ("claim", "slot", "code", "values"),
    [*FAULTS, *SELDOM, *REPORTED],
    ids=[f"{n}-{one[0]}" for n, one in enumerate([*FAULTS, *SELDOM, *REPORTED])],
)
def test_a_fault_is_refuted(claim: str, slot: str, code: Any, values: dict[str, str]) -> None:
    verdicts = [case.verdict for case in judged(claim, {slot: code}, values)]
    assert Verdict.REFUTED in verdicts


@pytest.mark.parametrize("sound", [True, False])
def test_masks_that_repeat_beyond_many_elements_are_refuted(sound: bool) -> None:
    """At a sixteenth of the size, which takes five seconds."""
    text = Path(pack_file("dropout")).read_text().replace("98_304", "6144").replace("96", "6")
    few = {} if sound else {"dropout": of_twelve_bit_places}
    ours = OfFunctions(few, dtypes=FLOAT32)
    own = ours if few else reference()
    registry = with_columns(read_text(text, "pack:dropout"), [own], FLOAT32)
    [case] = verify_cases(select(registry, ["many-elements@numpy"], (), {}), Settings(), registry)
    assert case.verdict is (Verdict.VERIFIED if sound else Verdict.REFUTED)


@pytest.mark.parametrize("claim", ["masks", "seeds"])
def test_code_that_seeds_itself_anew_in_each_call_has_no_independent_masks(claim: str) -> None:
    for case in judged(f"dropout/{claim}", {"dropout": seeded_anew}):
        assert case.verdict is Verdict.UNDECIDED
        assert case.reason is Reason.NEVER_VARIES


def test_code_without_a_gradient_has_no_claims_of_one() -> None:
    """A plain function of numpy: what is claimed of its values is judged all the same."""
    plain = OfFunctions({"dropout": without_scale}, dtypes=FLOAT32)
    known = read_registries(["pack:dropout"])
    found = {name for name in with_columns(known, [plain], FLOAT32).claims if "@" in name}
    whole = OfFunctions({"dropout": OtherMask()}, dtypes=FLOAT32)
    other = {name for name in with_columns(known, [whole], FLOAT32).claims if "@" in name}
    assert other - found == {"gradient@numpy", "gradient-of-zeros@numpy"}
    assert "values@numpy" in found


def test_what_returns_wider_numbers_is_sound() -> None:
    """Beta numbers of float64 are no 1 where those of float32 are, in one draw of ten thousand."""

    def of_gammas(a: float, b: float, size: Any, generator: Generator) -> Any:
        x, y = generator.gamma(a, size=size), generator.gamma(b, size=size)
        return x / (x + y)

    [case] = judged("samplers/beta-law", {"random_beta": of_gammas}, {"a": "0.5", "b": "0.5"})
    assert case.verdict is Verdict.VERIFIED


LARGE = """
dropcheck: 1
slots:
  large: {takes: [sd], law: "normal(4e6, sd)", elements: independent}
claims:
  large:
    title: Large numbers are normal
    parameters: {sd: 4e4}
    model: |
      y ~ large(sd)
      z ~ normal(4e6, sd)
    claim: y ~ round(z, float32)
    resolution: 0.2
"""


def test_what_loses_a_few_digits_on_the_way_is_sound() -> None:
    """Numbers of float32 made as exp of logarithms lie eight steps of float32 apart."""

    def by_logarithms(sd: float, size: Any, generator: Generator) -> Any:
        return np.exp(np.log(generator.normal(4e6, sd, size).astype(np.float32)))

    own = OfFunctions({"large": by_logarithms}, dtypes=FLOAT32)
    registry = with_columns(read_text(LARGE), [own], FLOAT32)
    [case] = verify_cases(select(registry, ["large@numpy"], (), {}), Settings(), registry)
    assert case.verdict is Verdict.VERIFIED
