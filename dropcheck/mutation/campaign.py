"""Every claim of a selection with errors planted in it, and what became of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event

from dropcheck.claims.registry import Case, Claim, Registry
from dropcheck.language.cases import parse_claim
from dropcheck.mutation.distinguishing import in_telling_order, spread
from dropcheck.mutation.judge import Court
from dropcheck.mutation.mutant_trials import MOST_PROBES, MOST_TRIES, ClaimTrial
from dropcheck.mutation.outcome import ClaimResult
from dropcheck.mutation.planting import MOST_MUTANTS, facts_of, mutants_of
from dropcheck.mutation.readings import Readings
from dropcheck.results import CaseResult, Settings, Verdict
from dropcheck.settings import default_threads

# Cases at which a mutant is compared with its claim by arithmetic.
MOST_COMPARED = 64
# Mutants of a claim whose trials are dear.
FEWER_MUTANTS = 8


def share_of_alpha(settings: Settings, registry: Registry) -> float:
    """The error of one trial, so that all of a full run together err with α.

    It is that of the registry and not of the selection, as in a run.
    """
    # the last chance and the border, and at each probe the claim itself
    a_mutant = MOST_TRIES + 2 + 2 * MOST_PROBES
    a_claim = 2 + MOST_MUTANTS * a_mutant
    return settings.alpha / max(1, len(registry.claims) * a_claim)


def mutate_claims(
    claims: Sequence[Claim], settings: Settings, registry: Registry
) -> Iterator[ClaimResult]:
    r"""Plant errors in claims and try each, yielding claims in order as they are done.

    An interruption yields what is finished before it goes on. No result depends on the number of
    threads: every trial has its own streams of draws.

    >>> from dropcheck.claims.reader import read_text
    >>> text = "{title: t, model: 'x ~ normal(0, 2)', claim: E(x**2) == 4, resolution: 0.05}"
    >>> registry = read_text(f"dropcheck: 1\nclaims: {{square: {text}}}")
    >>> claims = tuple(registry.claims.values())
    >>> [result.toothless for result in mutate_claims(claims, Settings(), registry)]
    [False]
    """
    alpha = share_of_alpha(settings, registry)
    stop = Event()
    # not in a `with`, which would wait for the trials under way after an interruption too
    pool = ThreadPoolExecutor(settings.threads or default_threads(), "dropcheck")
    futures: list[Future[ClaimResult]] = [
        pool.submit(_mutate, claim, settings, alpha, stop) for claim in claims
    ]
    given = 0
    try:
        for future in futures:
            yield future.result()
            given += 1
    except KeyboardInterrupt:
        for future in futures[given:]:
            if future.done() and future.exception() is None:
                yield future.result()
        raise
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _mutate(claim: Claim, settings: Settings, alpha: float, stop: Event) -> ClaimResult:
    started = time.perf_counter()
    cases = in_telling_order(claim.expand())[:MOST_COMPARED]
    first = cases[0]
    if Verdict(claim.expect) is Verdict.REFUTED:
        why = "it is expected to be refuted: an error in a falsehood proves nothing"
        return ClaimResult(claim, None, dict(first.parameters), (), 0, 0.0, why)
    court = Court(settings, alpha, stop)
    own = court.try_case(first)
    if own is not None and own.verdict is Verdict.VERIFIED:
        parsed = parse_claim(claim)
        trial = ClaimTrial(Readings(parsed, spread(cases)), court, own.draws)
        if len(cases) > 1 and trial.dear(first.parameters):
            trial, own = _cheaper(trial, cases[1], own)
            first = trial.cases[0]
        most = FEWER_MUTANTS if trial.dear(first.parameters) else MOST_MUTANTS
        facts = facts_of(parsed, own.scale, trial.readings)
        mutants = mutants_of(parsed, facts, first, most)
        found = tuple(trial.fate(mutant) for mutant in mutants)
        seconds = time.perf_counter() - started
        where = dict(first.parameters)
        return ClaimResult(claim, own.verdict, where, found, court.draws, seconds)
    verdict = own.verdict if own is not None else Verdict.INCONCLUSIVE
    seconds = time.perf_counter() - started
    why = f"the claim itself is {verdict}: run says why"
    return ClaimResult(claim, verdict, dict(first.parameters), (), court.draws, seconds, why)


def _cheaper(trial: ClaimTrial, second: Case, own: CaseResult) -> tuple[ClaimTrial, CaseResult]:
    """The trial with another case first, where the claim is verified sooner there."""
    if trial.cost(second.parameters) > trial.cost(trial.cases[0].parameters):
        return trial, own
    found = trial.court.try_case(second)
    if found is None or found.verdict is not Verdict.VERIFIED or found.draws >= own.draws:
        return trial, own
    cases = spread([second, *(case for case in trial.cases if case != second)])
    readings = replace(trial.readings, cases=cases)
    return replace(trial, readings=readings, own_draws=found.draws), found
