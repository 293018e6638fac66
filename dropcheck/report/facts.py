"""All that is said of a case and of a run, in words, by its label, once; a format chooses labels.

To say something new of a case, add an entry to `FACTS`: every format has it then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dropcheck.report import numbers, words
from dropcheck.report.screen import one_line, place
from dropcheck.results import CaseResult, Outcome, RunResult

FACTS: dict[str, Callable[[CaseResult], str | None]] = {
    "claim": lambda case: case.claim,
    "parameters": words.parameters,
    "result": words.standing,
    "title": lambda case: case.title,
    "written": lambda case: case.written.text if case.written else None,
    "statement": lambda case: case.statement,
    "claimed": words.claimed,
    "quantity": words.measured,
    "estimated": words.estimated,
    "interval": words.interval,
    "exact": words.exact,
    "within": words.within,
    "distance": lambda case: None if case.result is Outcome.PASS else words.distance(case),
    "write": words.instead,
    "resolution": words.resolution,
    "confidence": lambda case: numbers.confidence(case.confidence),
    "guarantee": words.basis,
    "draws": words.draws,
    "verdict": words.verdict,
    "expected": lambda case: case.expect,
    "reading": lambda case: None if case.result is Outcome.PASS else words.reading(case),
    "reason": lambda case: str(case.explanation) if case.explanation else None,
    "laws": lambda case: "; ".join(case.laws) if case.result is not Outcome.PASS else None,
    "note": words.note,
    "warnings": lambda case: "; ".join(case.warnings),
    "document": lambda case: "; ".join(filter(None, (one.document for one in case.sources))),
    "section": lambda case: "; ".join(filter(None, (one.section for one in case.sources))),
    "tags": lambda case: ", ".join(case.tags),
    "column": lambda case: case.column,
    "dtype": lambda case: case.dtype,
    "where": lambda case: place(case.location),
    "repeat": lambda case: case.repeat,
}
"""What is said of a case, in the order in which it is read; empty where there is nothing to say."""


def facts(case: CaseResult) -> dict[str, str]:
    """What is said of a case, by label, without what is unknown.

    Each text is plain, on one line, and without characters that a terminal obeys. What else is
    markup to a format, that format escapes.
    """
    said = ((label, of(case)) for label, of in FACTS.items())
    return {label: one_line(text) for label, text in said if text and text != numbers.UNKNOWN}


SUMMARY: dict[str, Callable[[RunResult], str | None]] = {
    "interrupted": words.interrupted,
    "cases": words.counts,
    "limit": words.on_the_limit,
    "documents": lambda run: words.claimed_share(run.coverage),
    "draws": lambda run: numbers.draws(run.draws),
    "time": lambda run: numbers.duration(run.seconds),
    "seed": lambda run: f"seed {run.settings.seed}",
    "alpha": lambda run: f"α {numbers.exact(run.settings.alpha)}",
    "registry": lambda run: run.registry,
}
"""What is said of a run; each text stands for itself."""


def summary(run: RunResult) -> Mapping[str, str]:
    """What is said of a run, by label: `8 cases: 5 passed, …`, `seed 7`, and so on."""
    said = ((label, of(run)) for label, of in SUMMARY.items())
    return {label: one_line(text) for label, text in said if text}
