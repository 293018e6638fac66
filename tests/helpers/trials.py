"""What the tests of the statistics share: claims tried from text, an alarm on error rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scipy import stats

from dropcheck.analysis.strategy import BlockMeans, strategy_of
from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.execution.schedule import carried_out
from dropcheck.inference.region import read_statement
from dropcheck.judging.case import prepare
from dropcheck.judging.judge import run_case
from dropcheck.language.compile import LoweredCase, lower_case, parse_claim
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.compile import Compiled, compile_averages
from dropcheck.simulation.program import Program

VERIFIED, REFUTED, OPEN = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNDECIDED
N = "x ~ normal(0, 1)"  # the model of most of them

# With this chance a test raises the alarm where the rate is as promised.
FALSE_ALARM = 1e-6


def entry(name: str, model: str, claim: str, keys: str = "") -> str:
    """One claim as YAML; `model` has its lines separated by semicolons."""
    lines = [f"  {name}:", "    title: A claim", f"    claim: '{claim}'"]
    if model:
        lines.append("    model: |")
        lines += [f"      {line.strip()}" for line in model.split(";")]
    if keys:
        lines += [f"    {line}" for line in keys.split("\n")]
    return "\n".join(lines)


def registry_of(*entries: str) -> Registry:
    """A registry of claims written by `entry`."""
    return read_text("dropcheck: 1\nclaims:\n" + "\n".join(entries) + "\n")


def tried(registry: Registry, settings: Settings | None = None) -> list[CaseResult]:
    """Every case of a registry, judged."""
    return list(verify_cases(registry.expand(), settings or Settings(threads=1), registry))


def judged(
    model: str,
    claim: str,
    keys: str = "",
    *,
    seed: int = 0,
    alpha: float = 1e-6,
    most: int | None = None,
    plain: bool = False,
    asymptotic: bool = False,
    draws_only: bool = True,
) -> CaseResult:
    """One claim by itself, judged by draws alone; or by its exact value too."""
    settings = Settings(
        alpha=alpha,
        seed=seed,
        max_draws=most,
        threads=1,
        plain=plain,
        asymptotic=asymptotic,
        draws_only=draws_only,
    )
    (result,) = tried(registry_of(entry("claim", model, claim, keys)), settings)
    return result


def repeated(
    model: str, claim: str, seeds: Iterable[int], settings: Settings, keys: str = ""
) -> list[CaseResult]:
    """One claim's results by draws alone, a seed each; the case is made ready once."""
    settings = replace(settings, draws_only=True)
    (case,) = registry_of(entry("claim", model, claim, keys)).expand()
    prepared = prepare(case, crossing=not settings.plain)
    return [
        carried_out(run_case(prepared, replace(settings, seed=seed), settings.alpha))
        for seed in seeds
    ]


def verdicts(
    model: str,
    claim: str,
    seeds: Iterable[int],
    alpha: float = 0.01,
    most: int | None = None,
    asymptotic: bool = False,
) -> list[Verdict]:
    """One claim's verdicts, a seed each."""
    settings = Settings(alpha=alpha, max_draws=most, threads=1, asymptotic=asymptotic)
    return [one.verdict for one in repeated(model, claim, seeds, settings)]


def lowered(model: str, claim: str) -> LoweredCase:
    """The one case of a claim as a graph."""
    (case,) = registry_of(entry("claim", model, claim)).expand()
    return lower_case(parse_claim(case.claim), case.parameters)


def averaged(case: LoweredCase, *, crossing: bool = False) -> Compiled:
    """A case compiled to averages, whatever strategy it allows."""
    strategy = strategy_of(case)
    pairs = strategy.pairs if crossing and isinstance(strategy, BlockMeans) else None
    return compile_averages(case.operands, pairs, scaled=read_statement(case, None).scaled)


def crossed(model: str, claim: str) -> Program | None:
    """The program of a claim's one case with draws combined; None where none are."""
    found = averaged(lowered(model, claim), crossing=True).crossed
    return None if found is None else found.program


def compiled(model: str, claim: str) -> Compiled:
    """The one case of a claim, compiled; no pairs are crossed."""
    return averaged(lowered(model, claim))


def alarm(errors: int, trials: int, rate: float) -> bool:
    """Whether so many errors are too many for the rate that is promised.

    The exact binomial test: at that rate, or a lower one, the alarm comes with a chance of at most
    `FALSE_ALARM`.
    """
    return float(stats.binom.sf(errors - 1, trials, rate)) <= FALSE_ALARM
