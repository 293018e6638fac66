"""The recipes: every claim on the page holds, and not one of them with an error planted in it.

False alarms: as for any run, the chance that any verdict is wrong is 1e-6 for each seed, and with
fixed seeds the verdicts are the same every time.
"""

from __future__ import annotations

import pytest
from readme_blocks import TOP, blocks, recipes

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.language.check import check_registry
from dropcheck.results import CaseResult, Outcome, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

TEXT = (TOP / "docs" / "recipes.md").read_text(encoding="utf-8")
FILE = recipes(TEXT)
RECIPES = read_text(FILE)

# What turns each recipe into its opposite: a text of it that stands there once, and another one.
# True claims become false by the slips that people make; the three false ones become true.
TWINS = {
    "birthday-problem": ("{n: 23}", "{n: 22}"),
    "coupon-collector": ("max(seen) + 1", "max(seen)"),
    "monty-hall": ("== 1 / 2", "== 2 / 3"), "buffon-needle": ("2 * r / pi", "r / pi"),
    "secretary": ("k + arange(n - k)", "k + 1 + arange(n - k)"),
    "random-walk": ("walk[-1] == 0", "walk[-1] == 2"),
    "waiting-time": ("== gap / 2", "== gap"), "cauchy-mean": ("mean(x)", "mean(x) * sqrt(n)"),
    "jensen": ("E(log(x)) < log(E(x))", "log(E(x)) < E(log(x))"),
    "chebyshev-is-sharp": ("== 1 / k**2", "== 1 / k"),
    "order-statistics": ("[k - 1]) == k / (n + 1)", "[k - 1]) == k / n"),
    "bessel": ("ddof=1", "ddof=0"), "root-of-bessel": ("== 2\n", "== 1.88\n"),
    "total-variance": ("+ Var(n * p)", ""),
    "simpson": ("given=treated == 0", "given=treated == 0 and severe == 1"),
    "stein": ("sd**2 *", "2 * sd**2 *"), "box-muller": ("-2 *", "-1 *"),
    "control-variate": ("6 * (3 - e)", "6 * (e - 3)"),
    "importance-sampling": ("logdensity(normal(4, 1), z))", "logdensity(normal(3, 1), z))"),
    "he-initialisation": ("sqrt(2 / n)", "sqrt(1 / n)"),
    "batch-norm": ("sqrt(n - 1) * (1 + 1e-9)", "sqrt(n - 2)"),
    "label-smoothing": ("s * mean(nll)", "s * sum(nll)"),
    "temperature": ("max(softmax(z / t))", "max(softmax(z * t))"),
    "johnson-lindenstrauss": ("* k / 4)", "* k)"),
}  # fmt: skip


def tried(registry: Registry) -> list[CaseResult]:
    return list(verify_cases(registry.expand(), Settings(), registry, lambda _: ""))


def twin(text: str, name: str) -> str:
    """The file with only this claim in it, and its text changed."""
    old, new = TWINS[name]
    [body] = [block.text for block in blocks(text) if block.text.startswith(f"  {name}:\n")]
    assert body.count(old) == 1, f"{name} holds {old!r} {body.count(old)} times"
    return f"dropcheck: 1\nclaims:\n{body.replace(old, new)}"


def test_the_page_has_two_dozen_of_which_three_are_false() -> None:
    assert "two dozen claims" in TEXT
    assert "Three of them are famous and false" in TEXT
    assert len(RECIPES.claims) == 24
    refuted = [claim.id for claim in RECIPES.claims.values() if claim.expect == Verdict.REFUTED]
    assert refuted == ["monty-hall", "waiting-time", "root-of-bessel"]


def test_the_file_beside_the_page_holds_its_recipes() -> None:
    hint = "python tests/helpers/readme_blocks.py writes it"
    assert (TOP / "docs" / "recipes.yaml").read_text(encoding="utf-8") == FILE, hint


def test_nothing_is_said_of_the_recipes_before_they_are_run() -> None:
    checked = check_registry(RECIPES)  # the page's test runs them
    assert not checked.problems
    assert not checked.notes


def test_every_recipe_has_a_twin() -> None:
    assert list(TWINS) == list(RECIPES.claims)


@pytest.mark.parametrize("name", TWINS)
def test_its_twin_fails(name: str) -> None:
    results = tried(read_text(twin(TEXT, name)))
    assert results
    assert {result.result for result in results} == {Outcome.FAIL}


def test_a_twin_that_changes_nothing_is_seen() -> None:
    with pytest.raises(AssertionError, match="0 times"):
        twin(TEXT.replace("{n: 23}", "{n: 30}"), "birthday-problem")
