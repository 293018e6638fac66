"""Columns of code: what is sound passes, what is off is refuted, and no column moves another."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from slots_made import DROPOUT, OwnColumn

from dropcheck.claims.reader import read_registries, read_text
from dropcheck.claims.registry import Code, CodeRequest, Registry, Slot
from dropcheck.claims.select import select
from dropcheck.code.columns import with_columns
from dropcheck.errors import DropcheckError
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.results import CaseResult
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.vocabulary.functions.number_formats import rounded

Array = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, CodeRequest, Sequence[Array]], Mapping[str, Array]]

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
    model: |
      x ~ uniform(1, 2)[8]
      y = dropout(x, p)
    claims:
      mean: E(y) / E(x) == 1
      values: "y in {0, round(x / (1 - p), dtype)}"
      kept: P(y[0] != 0) == 1 - p
      evaluation: dropout.eval(x, p) == x
      gradient: grad(dropout)(x, p) == y / x
      number: P(isnan(y)) == 0
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


class OwnCode:
    """Code by a function of what it is given."""

    has_gradient = True
    set_up = 0.0

    def __init__(self, draw: Draw) -> None:
        self.drawn = draw

    def held(self) -> AbstractContextManager[None]:
        return nullcontext()


class Own(OwnColumn):
    """An implementation by such functions."""

    dtypes = ("float32", "bfloat16")

    def __init__(self, name: str, **code: Draw) -> None:
        super().__init__(name, code)

    def bind(self, slots: Mapping[str, Slot]) -> Mapping[str, Code]:
        return {name: OwnCode(draw) for name, draw in self.own.items() if name in slots}


def dropout(*, factor: float = 1.0, shared: bool = False, spoiled: float = 0.0) -> Draw:
    """Dropout, with its scale off by a factor, one mask for the batch, or NaN with some chance."""

    def drawn(
        generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        given, p = rounded(inputs[0], asked.dtype or "float64"), inputs[1].item()
        x = np.broadcast_to(given, (*(asked.shapes[0] or ()), asked.draws))
        mask = generator.random(x.shape) >= p
        if shared:
            mask = np.broadcast_to(mask[:, :1], mask.shape)  # [call, batch, …]
        scale = rounded(np.array(1 / (1 - p)), "float32") * factor
        y = rounded(mask * x * scale, asked.dtype or "float64")
        y = np.where(generator.random(y.shape) < spoiled, np.nan, y)
        return {"train": y, "eval": x, "grad": mask * scale + 0.0 * x}

    return drawn


def die(*, low: int = 1) -> Draw:
    def drawn(
        generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        shape = (*(asked.size or ()), asked.draws)
        return {
            "train": generator.integers(low, int(inputs[0].item()) + 1, shape).astype(np.float64)
        }

    return drawn


def registry_of(*own: Own, extra: str = "title: D") -> Registry:
    return with_columns(read_text(FILE % extra), own)


def judged(registry: Registry, pattern: str) -> dict[str, CaseResult]:
    cases = [case for case in registry.expand() if pattern in case.claim.id]
    settings = Settings(max_draws=400_000)
    found = verify_cases(cases, settings, registry)
    return {f"{one.claim} {one.parameters.get('dtype', '')}".strip(): one for one in found}


def verdicts(found: Mapping[str, CaseResult]) -> set[str]:
    return {one.verdict.value for one in found.values()}


@pytest.mark.parametrize("extra", ["title: D", "elements: independent"])
def test_what_is_sound_passes(extra: str) -> None:
    found = judged(registry_of(Own("sound", dropout=dropout(), die=die()), extra=extra), "@sound")
    assert len(found) == 2 * 6 + 2
    short = {name for name, one in found.items() if one.verdict.value == "undecided"}
    # at a resolution of 0.001 the mean, and a share that is not counted, take more draws than these
    more = ["mean", "kept"]
    if "independent" not in extra:  # and so does what is certain, where calls count
        more += ["values", "gradient", "number"]
    assert short <= {f"dropout.{one}@sound {f}" for one in more for f in Own.dtypes}
    assert verdicts(found) <= {"verified", "undecided"}


def test_a_scale_that_is_off_is_refuted() -> None:
    found = judged(registry_of(Own("off", dropout=dropout(factor=1.03))), "dropout.mean@off")
    assert verdicts(found) == {"refuted"}
    values = judged(registry_of(Own("off", dropout=dropout(factor=1.03))), "dropout.values@off")
    assert verdicts(values) == {"refuted"}


def test_one_mask_for_the_batch_is_refuted() -> None:
    found = judged(registry_of(Own("shared", dropout=dropout(shared=True))), "masks@shared")
    assert verdicts(found) == {"refuted"}


def test_a_die_without_its_one_is_refuted() -> None:
    assert verdicts(judged(registry_of(Own("two", die=die(low=2))), "die@two")) == {"refuted"}


def test_values_that_are_no_numbers_are_values() -> None:
    registry = registry_of(Own("nan", dropout=dropout(spoiled=1e-3)))
    found = judged(registry, "dropout.")
    own = {name: one for name, one in found.items() if "@nan" in name}
    assert own["dropout.number@nan float32"].verdict.value == "refuted"
    mean = own["dropout.mean@nan float32"]
    assert mean.verdict.value == "refuted"
    assert "is NaN or infinite" in str(mean.explanation)
    assert own["dropout.values@nan float32"].verdict.value == "refuted"


def test_draws_of_one_call_that_depend_on_each_other_are_not_counted_as_many() -> None:
    """All elements of a call are kept or dropped together: 95% of such a call says little."""

    def together(
        generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        x = np.broadcast_to(inputs[0], (*(asked.shapes[0] or ()), asked.draws))
        mask = generator.random() >= inputs[1].item()
        return {"train": mask * x / (1 - inputs[1].item()), "eval": x, "grad": x}

    found = judged(registry_of(Own("one", dropout=together)), "dropout.kept@one")
    assert verdicts(found) == {"undecided"}  # it is true: a count of 400,000 would refute it


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
      given: P(y[0] > 1.5, given=y[0] != 0) <= 1
      gap: P(y[0] != 0) - P(y[1] != 0) == 0
      variance: Var(y[0]) == 1
      deviation: Std(y[0]) < 1
      correlation: Corr(y[0], z[0]) == 0.5
      kurtosis: Kurt(z[0]) < 9
      mean: E(z[0]) == 0.5
      root: sqrt(1 - P(y[0] != 0)) == 0.5
"""
POSSIBLE = {
    "chance": (0, 1), "given": (0, 1), "gap": (-1, 1), "correlation": (-1, 1), "root": (0, 1),
    "mean": (-1e-9, 1 + 1e-9), "variance": (0, np.inf), "deviation": (0, np.inf),
    "kurtosis": (1, np.inf),
}  # fmt: skip


@pytest.mark.parametrize("draws", [2_048, 20_000])
def test_no_interval_goes_beyond_what_its_quantity_can_be(draws: int) -> None:
    text = FILE[: FILE.index("claims:")] % "title: D" + EDGES
    registry = with_columns(read_text(text), (Own("sound", dropout=dropout()),))
    found = verify_cases(registry.expand(), Settings(max_draws=draws), registry)
    looked = 0
    for one in found:
        name = one.claim.partition(".")[2].partition("@")[0]
        least, most = POSSIBLE[name]
        if one.interval is not None and one.estimate is not None:
            low, high = (one.interval[0], one.interval[1])
            low, high = -np.inf if low is None else low, np.inf if high is None else high
            assert least <= low <= one.estimate <= high <= most, (one.claim, one.interval)
            looked += 1
    assert looked >= 20


def test_a_column_that_is_added_moves_no_draw() -> None:
    sound, other = Own("sound", dropout=dropout()), Own("other", dropout=dropout(factor=1.03))
    alone = judged(registry_of(sound), "dropout.mean@sound")
    beside = judged(registry_of(other, sound), "dropout.mean@sound")
    assert {k: (v.estimate, v.draws) for k, v in alone.items()} != {}
    for name, one in alone.items():
        # the error rate is shared by more cases, so that more may be drawn, and nothing else
        assert beside[name].draws >= one.draws
        if beside[name].draws == one.draws:
            assert beside[name].estimate == one.estimate


def test_the_error_rate_is_divided_over_columns_and_formats() -> None:
    registry = registry_of(Own("sound", dropout=dropout(), die=die()))
    assert registry.case_count == (6 + 1 + 1) + (6 * 2 + 1 + 1)


def test_a_column_without_a_slot_is_an_error() -> None:
    with pytest.raises(DropcheckError, match="has code for no slot"):
        registry_of(Own("none"))


def test_code_without_gradients_is_told_that_the_claims_ask_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(OwnCode, "has_gradient", False)
    text = """
dropcheck: 1
slots:
  square: {takes: [x], model: y = x**2, gives: y, gradient: 2 * x}
claims:
  slope:
    title: The slope of a square
    model: |
      x ~ normal(0, 1)
      d = grad(square)(x)
    claim: P(isclose(d, 2 * x)) == 1
"""
    with pytest.raises(DropcheckError, match="the claims ask for gradients, and 'own' gives none"):
        with_columns(read_text(text), [Own("own", square=dropout())])


def test_the_mathematics_has_no_number_format() -> None:
    assert judged(registry_of(), "dropout.mean").keys() == {"dropout.mean"}


def test_what_code_is_given_is_rounded_and_so_is_what_is_claimed_of_it() -> None:
    given: list[Any] = []

    def noting(
        generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        given.append((asked.dtype, inputs[0].copy(), inputs[1].item()))
        return dropout()(generator, asked, inputs)

    found = judged(registry_of(Own("own", dropout=noting)), "dropout.evaluation@own")
    assert verdicts(found) == {"verified"}
    for dtype, x, p in given:
        assert np.array_equal(x, rounded(x, dtype))
        assert p == rounded(np.array(0.1), dtype)


@pytest.mark.parametrize(
    ("options", "verdict"), [("", "verified"), (", rtol=1e-9, atol=1e-12", "refuted")]
)
def test_isclose_allows_what_the_number_format_rounds(options: str, verdict: str) -> None:
    near = f"P(y == 0 or isclose(y, x / (1 - p){options})) == 1"
    text = FILE.replace('"y in {0, round(x / (1 - p), dtype)}"', near) % "elements: independent"
    registry = with_columns(read_text(text), (Own("sound", dropout=dropout()),))
    assert verdicts(judged(registry, "dropout.values@sound")) == {verdict}


def test_what_rounds_once_is_sound_where_rounding_hides_the_scale() -> None:
    """In bfloat16 a number divided by 0.999 is itself."""
    registry = with_columns(read_registries(["pack:dropout"]), [Own("own", dropout=dropout())])
    for claim in ("mean-kept", "scale"):
        cases = select(registry, [f"{claim}@own"], (), {"p": "0.001", "dtype": "bfloat16"})
        [case] = verify_cases(cases, Settings(), registry)
        assert case.verdict.value == "verified"


def test_a_result_knows_its_column() -> None:
    found = judged(registry_of(Own("own", die=die())), "die")
    of_code = found["die@own float32"]
    assert (of_code.column, of_code.dtype, of_code.of) == ("own", "float32", "die")
    assert (of_code.point, of_code.parameters) == ({}, {"dtype": "float32"})
    assert (found["die"].column, found["die"].dtype, found["die"].of) == (None, None, None)


def test_what_the_mathematics_does_not_say_is_asked_of_code_alone() -> None:
    silent = FILE.replace("    gradient: m / (1 - p)\n", "")
    registry = with_columns(
        read_text(silent % "elements: independent"), [Own("own", dropout=dropout())]
    )
    assert "dropout.gradient" not in registry.claims
    assert verdicts(judged(registry, "dropout.gradient@own")) == {"verified"}
    # where no code is bound to the slot it is an error of the file
    for others in ([], [Own("own", die=die())]):
        registry = with_columns(read_text(silent % ""), others)
        with pytest.raises(DropcheckError, match="does not say what") as caught:
            judged(registry, "dropout.gradient")
        assert "--with" in (caught.value.problems[0].hint or "")


def test_a_certainty_of_code_ends_at_its_first_counterexample_and_shows_it() -> None:
    given: list[int] = []

    def shifted(
        generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        x = np.broadcast_to(inputs[0], (8, asked.draws)).copy()
        given.append(asked.draws)
        x[2, 17:] += 0.5
        return {"train": x, "eval": x, "grad": x}

    registry = registry_of(Own("own", dropout=shifted))
    found = judged(registry, "dropout.evaluation@own")["dropout.evaluation@own float32"]
    assert found.verdict.value == "refuted"
    text = str(found.explanation)
    draws = found.draws
    assert draws <= 8192
    assert f"counterexamples in {draws - 17:,} of {draws:,} draws, the first with x[2] = " in text
    shown = dict(part.split(" = ") for part in text.partition("first with ")[2].split(", "))
    assert float(shown["dropout.eval(…)[2]"]) == pytest.approx(float(shown["x[2]"]) + 0.5)


def test_a_rare_counterexample_is_found_and_shown() -> None:
    def rare(
        generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        x = np.broadcast_to(inputs[0], (8, asked.draws)).copy()
        x[generator.random(x.shape) < 2e-6] = 9.0
        return {"train": x, "eval": x, "grad": x}

    registry = registry_of(Own("own", dropout=rare))
    for found in judged(registry, "dropout.evaluation@own").values():
        assert found.verdict.value == "refuted"
        assert "dropout.eval(…)[" in str(found.explanation)
        assert "= 9" in str(found.explanation)
        assert found.interval is not None
        assert (found.interval[0] or 0) <= 1 - 8 * 2e-6 <= (found.interval[1] or 0)


def test_the_first_draw_that_is_no_number_is_shown() -> None:
    registry = registry_of(Own("nan", dropout=dropout(spoiled=1e-3)))
    mean = judged(registry, "dropout.mean@nan")["dropout.mean@nan float32"]
    first = r"the first with x\[(\d)\] = 1\.\d+, y\[\1\] = nan"
    pattern = rf"what is .* is NaN or infinite in [\d,]+ of [\d,]+ draws, {first}"
    assert re.fullmatch(pattern, str(mean.explanation))


def test_what_is_no_number_is_not_dropped_where_masks_are_compared() -> None:
    """`y != 0` is false of a NaN, as an event is that looks at one: masks stay independent."""
    registry = registry_of(Own("nan", dropout=dropout(spoiled=0.01)))
    found = judged(registry, "masks@nan")["masks@nan float32"]
    assert found.verdict.value != "refuted"


def test_code_is_looked_at_sharply_unless_its_claim_says_how() -> None:
    own = [Own("own", dropout=dropout())]
    plain = with_columns(read_text(FILE % "title: D"), own).claims
    assert plain["dropout.mean@own"].resolution == 0.01  # a call counts as one draw: the usual one
    apart = "title: D\n    elements: independent"
    assert with_columns(read_text(FILE % apart), own).claims["dropout.mean@own"].resolution == 0.005
    assert plain["masks@own"].resolution == 0.01  # of laws the usual one
    packs = with_columns(read_registries(["pack:dropout"]), own).claims
    assert packs["gradient@own"].resolution == 0.001
    text = FILE.replace("title: Dropout", "title: Dropout\n    resolution: 0.01") % "title: D"
    written = with_columns(read_text(text), [Own("own", dropout=dropout())])
    assert written.claims["dropout.mean@own"].resolution == 0.01


def test_what_code_rounds_away_is_no_fault_of_a_mean() -> None:
    """A result rounded to eight digits is off by 1.7e-4 in its mean, and sound; 1e-3 is not."""

    def scaled(factor: float) -> Draw:
        def drawn(
            generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
        ) -> Mapping[str, Array]:
            return {"train": rounded(inputs[0] * inputs[1].item() * factor, "float32")}

        return drawn

    text = """
dropcheck: 1
slots:
  scale: {takes: [x, w], gives: w * x, elements: independent}
claims:
  mean: {title: T, parameters: {w: 0.3}, model: "x ~ uniform(1, 2)[4]\\ny = scale(x, w)",
         claim: E(y) == w * E(x)}
"""
    for factor, verdict in ((1.0, "verified"), (1 + 2e-4, "verified"), (1 + 1.5e-3, "refuted")):
        registry = with_columns(read_text(text), [Own("own", scale=scaled(factor))])
        assert verdicts(judged(registry, "mean@own")) == {verdict}


# ---- entries of arrays ---------------------------------------------------------------------------

OF_ARRAYS = {
    "x ~ uniform(1, 2)[8]; E(y) == E(x)": 1,
    "x ~ uniform(1, 2)[4, 8]; Var(y) < 9": 1,
    "x ~ uniform(1, [2, 2, 3]); E(y) == E(x)": 3,
    "x ~ uniform(1, [2, 2, 3]); Cov(y) < 9": 6,  # alone, and in pairs
    "x ~ uniform(1, 2)[3]; Cov(x, dropout(x * [1, 2, 2], p)) > 0": 3,
    "x ~ uniform(1, 2)[3]; E(grad(dropout)(x, p)) == 1": 1,
    "x ~ uniform(1, 2)[3]; P(y != 0) < 1": 1,
    "x ~ uniform(1, 2)[3]; E(cumsum(y)) > 0": 3,
}


@pytest.mark.parametrize("text", OF_ARRAYS)
def test_entries_of_code_count_once_where_those_of_the_mathematics_do(text: str) -> None:
    model, claim = text.split("; ")
    lines = FILE.split("claims:\n  dropout:")[0] % "title: D"
    own = f"  c:\n    title: C\n    parameters: {{p: 0.1}}\n    model: |\n      {model}\n"
    own += f"      y = dropout(x, p)\n    claim: {claim}\n"
    registry = with_columns(read_text(f"{lines}claims:\n{own}"), [Own("sound", dropout=dropout())])
    for case in registry.expand():
        found = lower_case(parse_claim(case.claim), case.parameters)
        assert max(len(found.entries), 1) == OF_ARRAYS[text]


def test_every_entry_of_code_is_averaged() -> None:
    """Of alike entries of the mathematics none is left out, wherever code is off."""

    def off(
        generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        shape = (*inputs[0].shape[:-1], asked.draws)
        y = inputs[0] * (generator.random(shape) >= 0.5) * 2.0
        y[1] = y[2]  # two of three entries have one mask
        return {"train": y}

    lines = FILE.split("claims:\n  dropout:")[0] % "title: D"
    own = "  c:\n    title: C\n    model: |\n      x = ones(3)\n      y = dropout(x, 0.5)\n"
    own += "    claim: Cov(y) == eye(3)\n"
    registry = with_columns(read_text(f"{lines}claims:\n{own}"), [Own("off", dropout=off)])
    assert verdicts(judged(registry, "c@off")) == {"refuted"}
