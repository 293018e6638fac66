"""Code in the slots of claims: what is sound passes, what is off is refuted.

Draws of one call may depend on each other: verdicts rest on the number of calls. The chance of each
assertion to fail on sound code is below 1e-6; seeds are fixed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from slots_made import DROPOUT, OwnColumn
from trials import alarm

from dropcheck import ClaimFailedError, verify
from dropcheck.array_types import Floats
from dropcheck.claims.reader import read_registries, read_text
from dropcheck.claims.registry import Code, CodeRequest, Registry, Slot
from dropcheck.claims.select import select
from dropcheck.code.slots import with_columns
from dropcheck.errors import DropcheckError
from dropcheck.inference.intervals import design_effect
from dropcheck.language.check import choose
from dropcheck.language.compile import CaseGraphs
from dropcheck.planning import plan_cases
from dropcheck.reasons import Reason
from dropcheck.report.words import basis, draws
from dropcheck.results import CaseResult
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.vocabulary.functions.elementwise import rounded

Generator = np.random.Generator
Draw = Callable[[Generator, CodeRequest, Sequence[Floats]], Mapping[str, Floats]]

FILE = (
    "\ndropcheck: 1\nslots:\n"
    + DROPOUT
    + """\
    gradient: m / (1 - p)
    evaluation: x
    %s
  die:
    takes: [n]
    law: discrete_uniform(1, n)
claims:
  dropout:
    title: Dropout
    parameters: {p: 0.1, dtype: [float32, bfloat16]}
    resolution: 0.01
    model: |
      x ~ uniform(1, 2)[8]
      y = dropout(x, p)
    claims:
      mean: E(y) / E(x) == 1
      values: "y in {0, round(x / (1 - p), dtype)}"
      near: P(y == 0 or isclose(y, x / (1 - p))) == 1
      nearer: P(y == 0 or isclose(y, x / (1 - p), rtol=1e-9, atol=1e-12)) == 1
      kept: P(y[0] != 0) == 1 - p
      evaluation: dropout.eval(x, p) == x
      gradient: grad(dropout)(x, p) == y / x
      number: P(isnan(y)) == 0
  half:
    title: Dropout of a half
    parameters: {p: 0.5, dtype: float32}
    resolution: 0.02
    model: |
      x ~ uniform(1, 2)[4]
      y = dropout(x, p)
    claims:
      never-below: P(y >= 0) == 1
      seldom-below: P(y[0] < 0) <= 0.05
      half: P(y[0] > 0) == 0.5
      wrong: P(y[0] > 0) == 0.55
      seldom-all: P(all(y == 0)) <= 0.0655
      share: E(mean(y == 0)) == 0.5
      law: (y[0] > 0) + 0 ~ bernoulli(0.5)
      apart: independent(y, over=[0])
      pairs: Cov(y != 0) == eye(4) / 4
      quarter: Quantile(y[0], 0.75) == 3
  masks:
    title: Masks are independent over the batch and from call to call
    parameters: {p: 0.5, batch: 2, call: 2}
    model: |
      x ~ uniform(1, 2)[call, batch, 2]
      y = dropout(x, p)
    claim: "independent(y != 0, over=[call, batch])"
  die:
    title: A die is fair
    model: y ~ die(6)[2]
    claim: y ~ discrete_uniform(1, 6)
"""
)
BY_CALL, BY_ELEMENT = "title: D", "elements: independent"


class OwnCode:
    """Code by a function of what it is given."""

    has_gradient = True
    set_up = 0.0

    def __init__(self, draw: Draw) -> None:
        self.drawn = draw


class Own(OwnColumn):
    """An implementation by such functions."""

    dtypes = ("float32", "bfloat16")

    def bind(self, slots: Mapping[str, Slot]) -> Mapping[str, Code]:
        return {name: OwnCode(draw) for name, draw in self.own.items() if name in slots}


def layer(
    mask: Callable[[Generator, tuple[int, ...], float], Any] | None = None,
    *,
    factor: float = 1.0,
    change: Callable[[Generator, Floats], Floats] = lambda _, y: y,
) -> Draw:
    """Dropout with another mask, with its scale off by a factor, or changed in the end."""

    def drawn(
        generator: Generator, asked: CodeRequest, inputs: Sequence[Floats]
    ) -> Mapping[str, Floats]:
        given, p = rounded(inputs[0], asked.dtype or "float64"), inputs[1].item()
        x = np.broadcast_to(given, (*(asked.shapes[0] or ()), asked.draws))
        kept = generator.random(x.shape) >= p if mask is None else mask(generator, x.shape, p)
        scale = rounded(np.array(1 / (1 - p)), "float32") * factor
        y = change(generator, rounded(kept * x * scale, asked.dtype or "float64"))
        return {"train": y, "eval": change(generator, np.array(x)), "grad": kept * scale + 0.0 * x}

    return drawn


def die(low: int) -> Draw:
    def drawn(
        generator: Generator, asked: CodeRequest, inputs: Sequence[Floats]
    ) -> Mapping[str, Floats]:
        shape = (*(asked.size or ()), asked.draws)
        return {"train": generator.integers(low, int(inputs[0].item()) + 1, shape).astype(float)}

    return drawn


def registry_of(draw: Draw | None = None, extra: str = BY_CALL, **more: Draw) -> Registry:
    code = {**({"dropout": draw} if draw else {}), **more}
    return with_columns(read_text(FILE % extra), [Own("own", code)] if code else [])


def judged(
    draw: Draw, claim: str, extra: str = BY_CALL, most: int = 400_000, seed: int = 0
) -> list[CaseResult]:
    """The results of a claim of the code, one for each number format."""
    registry = registry_of(draw, extra, die=die(1))
    cases = [case for case in registry.expand() if case.claim.id == f"{claim}@own"]
    return [*verify_cases(cases, Settings(max_draws=most, seed=seed), registry)]


def verdicts(*asked: Any, **how: Any) -> set[str]:
    return {str(one.verdict) for one in judged(*asked, **how)}


SOUND = layer()


# ---- sound or not --------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [BY_CALL, BY_ELEMENT])
def test_what_is_sound_passes(extra: str) -> None:
    registry = registry_of(SOUND, extra, die=die(1))
    cases = [one for one in registry.expand() if one.claim.column and "half" not in one.claim.id]
    found = [*verify_cases(cases, Settings(max_draws=400_000), registry)]
    refuted = {one.claim for one in found if str(one.verdict) == "refuted"}
    assert refuted == {"dropout.nearer@own"}  # what a number format rounds is no difference
    # a call counts as one draw, where elements may depend on each other
    short = {one.claim for one in found if str(one.verdict) == "undecided"}
    few = ["kept"] if extra == BY_ELEMENT else ["kept", "values", "near", "gradient", "number"]
    assert short <= {f"dropout.{one}@own" for one in few}
    (of_code,) = (one for one in found if one.of == "die")
    assert (of_code.column, of_code.dtype, of_code.point) == ("own", "float32", {})
    # more cases share the error rate, and no column moves a draw of another
    assert registry.case_count == len(registry.expand())


def few_wrong(share: float) -> Callable[[Generator, Floats], Floats]:
    """All draws of such a share of the calls have the wrong sign."""
    return lambda generator, y: y * (-1.0 if generator.random() < share else 1.0)


def one_mask(generator: Generator, shape: tuple[int, ...], p: float) -> Any:
    """One mask for the whole batch of a call."""
    mask = generator.random(shape) >= p
    return np.broadcast_to(mask[:, :1], shape) if len(shape) > 3 else mask


def two_alike(generator: Generator, shape: tuple[int, ...], p: float) -> Any:
    """Two of four elements have one mask."""
    mask = generator.random(shape) >= p
    mask[1] = mask[2]
    return mask


OFF: dict[str, tuple[Draw, list[str]]] = {
    "its scale": (layer(factor=1.03), ["dropout.mean", "dropout.values"]),
    "one mask for the batch": (layer(one_mask), ["masks"]),
    "an entry that goes with another": (layer(two_alike), ["half.pairs"]),
    "every element is kept": (layer(lambda _, shape, _p: np.ones(shape)), ["half.wrong"]),
    "some are no numbers": (
        layer(change=lambda g, y: np.where(g.random(y.shape) < 1e-5, np.nan, y)),
        ["dropout.number", "dropout.mean", "dropout.values"],
    ),
    "rare draws": (
        layer(change=lambda g, y: np.where(g.random(y.shape) < 1e-4, -y, y)),
        ["half.never-below"],
    ),
    "few calls": (layer(change=few_wrong(0.02)), ["half.never-below"]),
}


@pytest.mark.parametrize("fault", OFF)
def test_what_is_off_is_refuted(fault: str) -> None:
    draw, claims = OFF[fault]
    for claim in claims:
        assert verdicts(draw, claim, most=4_000_000) == {"refuted"}, claim
    registry = registry_of(die=die(2))
    (case,) = (one for one in registry.expand() if one.claim.id == "die@own")
    assert [str(one.verdict) for one in verify_cases([case], Settings(), registry)] == ["refuted"]


def test_a_counterexample_of_code_ends_its_certainty_and_is_shown() -> None:
    def shifted(_: Generator, y: Floats) -> Floats:
        y[2, 17:] += 0.5
        return y

    found, *_ = judged(layer(change=shifted), "dropout.evaluation")
    text = str(found.explanation)
    assert found.draws <= 8192
    number = f"{found.draws - 17:,} of {found.draws:,}"
    assert f"counterexamples in {number} draws, the first with x[2] = " in text
    shown = dict(part.split(" = ") for part in text.partition("first with ")[2].split(", "))
    assert float(shown["dropout.eval(…)[2]"]) == pytest.approx(float(shown["x[2]"]) + 0.5)
    found, *_ = judged(OFF["some are no numbers"][0], "dropout.mean")
    first = r"the first with x\[(\d)\] = 1\.\d+, y\[\1\] = nan"
    said = rf"what is .* is NaN or infinite in [\d,]+ of [\d,]+ draws, {first}"
    assert re.fullmatch(said, str(found.explanation))


def test_a_counterexample_in_a_call_says_little_of_the_chance_in_a_draw() -> None:
    claim = "{title: T, model: 'x ~ uniform(1, 2)', claim: 'P(dropout(x, 0.5) >= 0) == 1'}"
    text = FILE[: FILE.index("claims:")] % BY_CALL + f"claims: {{one: {claim}}}\n"
    registry = with_columns(read_text(text), [Own("own", {"dropout": OFF["rare draws"][0]})])
    cases = [one for one in registry.expand() if one.claim.column]
    for one in verify_cases(cases, Settings(alpha=0.9), registry):
        assert one.interval is not None
        assert (one.interval[1] or 0.0) > 1 - 5e-5  # half are kept, of which 1e-4 are below 0


def test_what_rounds_once_is_sound_where_rounding_hides_the_scale() -> None:
    """In bfloat16 a number divided by 0.999 is itself."""
    registry = with_columns(read_registries(["pack:dropout"]), [Own("own", {"dropout": SOUND})])
    for claim in ("mean-kept", "scale"):
        cases = select(registry, [f"{claim}@own"], (), {"p": "0.001", "dtype": "bfloat16"})
        [case] = verify_cases(cases, Settings(max_draws=400_000), registry)
        assert str(case.verdict) != "refuted"


# ---- draws of one call ---------------------------------------------------------------------------


def shares_a_little(generator: Generator, shape: tuple[int, ...], _: float) -> Any:
    return generator.random(shape) < 0.5 + generator.uniform(-0.2, 0.2)


def at_once(generator: Generator, shape: tuple[int, ...], p: float) -> Any:
    """One mask for all draws of a call, with the right chance."""
    return generator.random((*shape[:-1], 1)) >= p


def each_often(generator: Generator, shape: tuple[int, ...], p: float) -> Any:
    """Each mask is that of 2,000 draws."""
    masks = generator.random((*shape[:-1], -(-shape[-1] // 2000))) >= p
    return np.repeat(masks, 2000, axis=-1)[..., : shape[-1]]


def blank_at_times(generator: Generator, shape: tuple[int, ...], p: float) -> Any:
    """All elements of 1 call in 200 are 0: the chance of such a draw is 0.0672, not 0.0625."""
    return (generator.random(shape) >= p) * (generator.random() >= 0.005)


@pytest.mark.parametrize(
    ("mask", "claim", "extra", "wrong", "most"),
    [
        (shares_a_little, "half.share", BY_ELEMENT, "refuted", 200_000),
        (at_once, "half.half", BY_CALL, "refuted", 400_000),
        (at_once, "half.wrong", BY_CALL, "verified", 400_000),
        (each_often, "half.law", BY_ELEMENT, "refuted", 600_000),
        (each_often, "half.apart", BY_ELEMENT, "refuted", 600_000),
        (each_often, "half.quarter", BY_ELEMENT, "refuted", 600_000),
        (blank_at_times, "half.seldom-all", BY_CALL, "verified", 128 * 1024 + 100),
    ],
)
def test_draws_of_a_call_that_share_numbers_count_for_fewer(
    mask: Any, claim: str, extra: str, wrong: str, most: int
) -> None:
    for seed in range(4):
        assert wrong not in verdicts(layer(mask), claim, extra, most, seed=seed)


def test_elements_that_are_not_independent_though_the_slot_says_so_are_seen() -> None:
    def kept_at_times(generator: Generator, shape: tuple[int, ...], p: float) -> Any:
        return (generator.random(shape) >= p) | (generator.random() < 0.05)

    sound, *_ = judged(SOUND, "half.share", BY_ELEMENT)
    assert sound.calls is not None
    assert (str(sound.verdict), sound.calls.declared) == ("verified", True)
    assert basis(sound) == f"{sound.guarantee}, if elements are independent"
    assert draws(sound).endswith(f" of {sound.calls.count} calls")
    runs = [judged(layer(kept_at_times), "half.share", BY_ELEMENT, seed=seed) for seed in range(4)]
    assert {str(one.verdict) for run in runs for one in run} <= {"undecided", "refuted"}
    assert Reason.NOT_INDEPENDENT in {one.reason for run in runs for one in run}


def test_a_certainty_is_verified_by_calls_as_planned() -> None:
    found, *_ = judged(SOUND, "half.never-below", most=8_000_000)
    assert str(found.verdict) == "verified"
    assert found.draws > 500 * 1024
    registry = registry_of(SOUND, die=die(1))
    chosen = choose(registry, CaseGraphs(), ["half.never-below@own"])
    (planned,) = plan_cases(chosen, Settings()).cases
    assert found.draws / 2 < (planned.draws or 0) < 2 * found.draws
    # the limit theorem says nothing of what does not vary; a bound of its values does
    alike = OFF["every element is kept"][0]
    assert verdicts(alike, "half.seldom-below", most=8_000_000) == {"verified"}


def test_a_design_effect_is_that_of_what_varies_most_or_of_all() -> None:
    """Of 200 calls of 500 draws."""
    generator, sizes = np.random.default_rng(0), np.full(200, 500.0)
    cells = generator.multinomial(500, [0.5, 0.25, 0.2, 0.05], size=200).astype(float)
    assert design_effect(cells, sizes) == pytest.approx(1, abs=0.25)
    rare = np.repeat(generator.random((50, 4)) < 0.1, 50).reshape(200, 50)
    rare = rare * (generator.random((200, 50)) < 0.1)
    assert design_effect(np.column_stack([cells, rare.sum(axis=1)]), sizes) > 3
    shared = 10 * generator.binomial(50, 0.3, size=(200, 1)).astype(float)
    assert design_effect(shared, sizes) == pytest.approx(10, rel=0.3)
    assert design_effect(cells[:1], sizes[:1]) == 500
    assert design_effect(np.full((200, 2), [0.0, 500.0]), sizes) == 1


# ---- what is asked of code -----------------------------------------------------------------------

EDGES = """
claims:
  edge:
    title: Quantities at the ends of what they can be
    parameters: {p: [0.001, 0.999], dtype: [float32]}
    model: |
      x ~ uniform(1, 2)[8]
      y = dropout(x, p)
      z = 0.5 * (y > 0) + 0.5 * (y > 1)
    claims:
      chance: P(y[0] != 0) == 1 - p
      gap: P(y[0] != 0) - P(y[1] != 0) == 0
      variance: Var(y[0]) == 1
      correlation: Corr(y[0], z[0]) == 0.5
      kurtosis: Kurt(z[0]) < 9
      mean: E(z[0]) == 0.5
      root: sqrt(1 - P(y[0] != 0)) == 0.5
"""
POSSIBLE = {
    "chance": (0, 1), "gap": (-1, 1), "correlation": (-1, 1), "root": (0, 1),
    "mean": (-1e-9, 1 + 1e-9), "variance": (0, np.inf), "kurtosis": (1, np.inf),
}  # fmt: skip


def test_no_interval_goes_beyond_what_its_quantity_can_be() -> None:
    text = FILE[: FILE.index("claims:")] % BY_CALL + EDGES
    registry = with_columns(read_text(text), [Own("own", {"dropout": SOUND})])
    for one in verify_cases(registry.expand(), Settings(max_draws=10_000), registry):
        least, most = POSSIBLE[one.claim.partition(".")[2].partition("@")[0]]
        if one.interval is not None and one.estimate is not None:
            low, high = one.interval
            low, high = -np.inf if low is None else low, np.inf if high is None else high
            assert least <= low <= one.estimate <= high <= most, (one.claim, one.interval)


def test_what_code_is_given_is_rounded_and_so_is_what_is_claimed_of_it() -> None:
    given: list[Any] = []

    def noting(
        generator: Generator, asked: CodeRequest, inputs: Sequence[Floats]
    ) -> Mapping[str, Floats]:
        given.append((asked.dtype, inputs[0].copy(), inputs[1].item()))
        return SOUND(generator, asked, inputs)

    assert verdicts(noting, "dropout.evaluation") == {"verified"}
    assert {dtype for dtype, _, _ in given} == {*Own.dtypes}
    for dtype, x, p in given:
        assert np.array_equal(x, rounded(x, dtype))
        assert p == rounded(np.array(0.1), dtype)


def test_code_for_no_slot_or_without_what_is_asked_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(DropcheckError, match="has code for no slot"):
        registry_of(none=SOUND)
    silent = FILE.replace("    gradient: m / (1 - p)\n", "") % BY_CALL
    registry = with_columns(read_text(silent), [Own("own", {"die": die(1)})])
    cases = [one for one in registry.expand() if "gradient" in one.claim.id]
    with pytest.raises(DropcheckError, match="does not say what") as caught:
        list(verify_cases(cases, Settings(), registry))
    assert "--with" in (caught.value.problems[0].hint or "")
    monkeypatch.setattr(OwnCode, "has_gradient", False)
    slope = "{title: S, model: 'x ~ uniform(1, 2)', claim: 'grad(dropout)(x, 0.5) in {0, 2}'}"
    text = FILE[: FILE.index("claims:")] % BY_CALL + f"claims: {{slope: {slope}}}\n"
    with pytest.raises(DropcheckError, match="the claims ask for gradients, and 'own' gives none"):
        with_columns(read_text(text), [Own("own", {"dropout": SOUND})])


# ---- functions of one's own ----------------------------------------------------------------------


def of_own(claim: str, sample: Any, model: str = "", **how: Any) -> CaseResult:
    """What comes of a claim about draws of a function, whatever it is."""
    usual = {"max_draws": 400_000, "undecided": "pass", "threads": 1, "seed": 1, **how}
    try:
        return verify(claim, sample=sample, model=model or None, **usual)
    except ClaimFailedError as error:
        return error.result


@pytest.mark.parametrize(
    ("claim", "model"),
    [
        ("minimum(E(x), 0) == 0", ""),
        ("relu(E(x) - 5) == 0", ""),
        ("floor(2 * E(x) / E(w)) == 0", "w = x + 1"),
    ],
)
def test_a_plateau_is_no_reason_to_trust_draws_that_all_agree(claim: str, model: str) -> None:
    found = of_own(claim, lambda _, count: {"x": np.zeros(count)}, model)
    assert str(found.verdict) == "undecided"
    assert "too rare to be seen" in str(found.explanation)


@pytest.mark.parametrize(
    "line",
    [
        "b ~ binomial(1, 1e-7)",
        "g ~ geometric(0.9999999)\nb = g - 1",
        "u ~ uniform(0, 1)\nb = where(u > 0.5 and u < 0.5 + 1e-7, 1, 0)",
        "s, t ~ bernoulli(0.001)\nb = (s + t == 2)",
    ],
)
def test_no_budget_is_too_small_to_wait_for_what_the_model_says_to_be_rare(line: str) -> None:
    model = f"{line}\ny = x + 1e7 * b"  # with this seed none is the rare one
    normal = lambda generator, count: {"x": generator.normal(1, 1, count)}  # noqa: E731 - short
    found = of_own("E(y) == 1", normal, model, max_draws=40_000)
    assert str(found.verdict) == "undecided"
    assert "the rarest outcome of the model is expected" in str(found.explanation)


def test_functions_of_averages_of_code_are_seldom_refuted_where_true() -> None:
    """At the very edge of what is claimed, about which nothing is known but the draws."""
    exponential = lambda generator, count: {"x": generator.exponential(1, count)}  # noqa: E731 - short
    how: dict[str, Any] = {"alpha": 0.2, "resolution": 0.1, "max_draws": 50_000}
    for claim in ("Var(x) <= 1", "Std(x) / E(x) >= 1"):
        found = [of_own(claim, exponential, **how, seed=seed) for seed in range(24)]
        assert not alarm(sum(str(one.verdict) == "refuted" for one in found), 24, 0.2)
