"""The cookbook: every claim holds, as its page shows, and not one with an error planted in it.

False alarms: as for any run, the chance that any verdict is wrong is 1e-6 for each seed, and with
fixed seeds the verdicts are the same every time.
"""

from __future__ import annotations

import re

import pytest
from readme_blocks import COOKBOOK as PAGE
from readme_blocks import recipes

from dropcheck.claims.reader import read_text
from dropcheck.language.check import check_registry
from dropcheck.results import Outcome
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

FILE = recipes(PAGE.read_text(encoding="utf-8"), PAGE.name)
COOKBOOK = read_text(FILE)

# What makes each claim its opposite: a text of its block that stands there once, and another one.
TWINS = {
    "sgd": ("w - lr * gradient", "w - lr * (gradient + noise)"),
    "momentum": ("-lr / (1 - beta)", "-lr * (1 - beta)"),
    "adam": ("1 - beta2**T", "1 - beta2**(T + 1)"),
    "adam-without-correction": ("== 0.01", "== 0.01 * (1 - beta2**T)"),
    "residual-stream": ("1 + depth", "2**(1 + depth)"),
    "residual-growth": ("sqrt(1 / d)", "sqrt(1.2 / d)"),
    "rnn": ("b = tanh(0.5 * b + x)", "b = tanh(0.5 * b - x)"),
    "diffusion": ("sqrt(beta) * noise", "beta * noise"),
    "rope": ("k_d = [k[0] * cos((n - m)", "k_d = [k[0] * cos((n + m)"),
    "causal-mask": ("-inf)", "-3)"), "markov-chain": ("else 0.4", "else 0.5"),
    "ar1": ("1 / (1 - phi**2)", "1 / (1 - phi)"), "mm1-queue": ("(mu - lam)", "mu"),
    "mm1-idle": ("1 - lam / mu", "1 - (lam / mu)**2"),
    "polya-urn": ("7 / (n + 1)", "8 / (n + 1)"),
    "gamblers-ruin": ("1 - start / total", "start / total"),
    "bandit": ("if explores else argmax(wins / plays)", "if explores else argmin(wins / plays)"),
    "euler-steps": ("(1 + mu / T)**T", "exp(mu / T)"),
    "bootstrap": ("(n - 1) / n * (1 / n)", "1 / n"), "james-stein": ("< d", "< d / 2"),
    "black-scholes": ("+ (r + sigma**2 / 2)", "+ (r - sigma**2 / 2)"),
    "birthday": ("1 - prod", "1.05 - prod"),
    "secretary": ("(k + arange(n - k))", "(k + 1 + arange(n - k))"),
}  # fmt: skip


def body(name: str) -> str:
    """The block of one claim in the file."""
    [found] = [one for one in re.split(r"(?m)^(?=  \w)", FILE) if one.startswith(f"  {name}:")]
    return found


def outcomes(text: str, seed: int = 0) -> dict[str, set[Outcome]]:
    registry = read_text(text)
    found: dict[str, set[Outcome]] = {}
    for result in verify_cases(registry.expand(), Settings(seed=seed), registry, lambda _: ""):
        found.setdefault(result.claim, set()).add(result.result)
    return found


def test_the_file_beside_the_page_holds_its_claims() -> None:
    hint = "python tests/helpers/readme_blocks.py writes it"
    assert PAGE.with_suffix(".yaml").read_text(encoding="utf-8") == FILE, hint


def test_nothing_is_said_of_the_claims_before_they_are_run() -> None:
    checked = check_registry(COOKBOOK)
    assert not checked.problems
    assert not checked.notes


def test_every_claim_has_a_twin() -> None:
    assert list(TWINS) == list(COOKBOOK.claims)


@pytest.mark.parametrize("name", TWINS)
def test_its_twin_fails(name: str) -> None:
    old, new = TWINS[name]
    own = body(name)
    assert own.count(old) == 1
    text = f"dropcheck: 1\nclaims:\n{own.replace(old, new)}"
    assert outcomes(text) == {name: {Outcome.FAIL}}
