"""What `plan` and `mutate` report: a table with what deserves a look below it, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dropcheck.claims.values import format_parameters, short_parameters
from dropcheck.mutation import ClaimResult, Fate, Mutant, MutationRun
from dropcheck.planning import CasePlan, Plan
from dropcheck.report import numbers, words
from dropcheck.report.screen import Terminal, one_line, packed, place, render, styled
from dropcheck.report.table import Columns, Row, block, table
from dropcheck.results import RunResult, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

# ---- a plan --------------------------------------------------------------------------------------

PLANNED = Columns(
    names=("claim", "parameters", "written", "draws", "time", "note"),
    right=("written", "draws", "time"),
    prose=("parameters", "note"),
    dropped=("written",),
)


def plan_report(plan: Plan, terminal: Terminal) -> str:
    """A row for each case, and what the whole run would take."""
    rows = [_planned(case) for case in plan.cases]
    items = [*table(rows, PLANNED, terminal), ""] if rows else []
    items += [styled(f"warning: {one_line(text)}", "yellow") for text in plan.pilots.warnings]
    within, beyond = (sum(getattr(one, of) for one in plan.cases) for of in ("within", "beyond"))
    counts = {"beyond it": beyond, "unknown": len(plan.cases) - within - beyond}
    rest = "".join(f", {count} {said}" for said, count in counts.items() if count)
    summary = [
        *["interrupted"] * plan.pilots.interrupted,
        f"{numbers.plural(len(plan.cases), 'case')}: {within} within the budget{rest}",
        f"to verdicts about {numbers.draws(plan.draws)}",
        f"{numbers.duration(plan.run_seconds)} on {numbers.plural(plan.threads, 'thread')}",
        f"pilot {numbers.duration(plan.pilots.seconds)}",
        *_settings(plan.pilots),
    ]
    return render([*items, *packed(summary, terminal)], terminal)


def _settings(of: RunResult | MutationRun) -> tuple[str, str, str]:
    alpha = numbers.exact(of.settings.alpha)
    return f"seed {of.settings.seed}", f"α {alpha}", one_line(of.registry)


def _planned(plan: CasePlan) -> Row:
    figure, result = plan.case.claim.written, plan.result
    known = plan.draws is not None
    why = "" if known else words.reading(result)
    return {
        "claim": plan.case.claim.id,
        "parameters": one_line(short_parameters(plan.case.parameters)),
        "written": one_line(figure.text) if figure and figure.digits is not None else "",
        "draws": numbers.count(plan.draws or 0) if known else numbers.UNKNOWN,
        "time": numbers.duration(plan.seconds) if known else numbers.UNKNOWN,
        "note": ("beyond the budget" if plan.beyond else why, "" if plan.within else "yellow"),
    }


# ---- planted errors ------------------------------------------------------------------------------

MUTATED = Columns(
    names=("claim", "at", "mutants", *Fate, "result"),
    right=("mutants", *Fate),
    prose=("at",),
    dropped=("at", "mutants", Fate.NEITHER, Fate.VERIFIED, Fate.REFUTED),
    headings={"at": "tried first at"},
)
UNCOUNTED = {  # the mutants that count neither for a claim nor against it
    Fate.VERIFIED: "verified too: true as well, or too near the claim to be told from it; it does "
    "not count",
    Fate.NEITHER: "neither: it has no number to judge, or the sides of a strict inequality are "
    "equal; it does not count",
}


def mutation_report(
    run: MutationRun, terminal: Terminal, *, verbose: bool = False, quiet: bool = False
) -> str:
    """The whole report; `verbose` names every mutant that was not refuted.

    `quiet` leaves out all but mutants that survived or are undecided, warnings, and the summary.
    """
    items: list[RenderableType] = []
    judged = [claim for claim in run.claims if claim.mutants or claim.verdict is not None]
    if judged and not quiet:
        there = [one for one in Fate if run.count(one) or one in (Fate.REFUTED, Fate.SURVIVED)]
        items += table([_mutated(claim, there) for claim in judged], MUTATED, terminal)
        items += [*(styled(UNCOUNTED[fate]) for fate in there if fate in UNCOUNTED), ""]
    for mutant in run.mutants:
        if mutant.fate in (Fate.SURVIVED, Fate.UNDECIDED):
            items += [*_survivor(mutant), ""]
    for fate in UNCOUNTED if verbose else ():
        if mutants := [one for one in run.mutants if one.fate is fate]:
            items += [styled(f"{fate}:", "bold"), *map(_line, mutants), ""]
    items += _warnings(run)
    false = sum(claim.verdict is Verdict.REFUTED for claim in judged)
    fates = ", ".join(f"{run.count(fate)} {fate}" for fate in Fate)
    summary = [
        *["interrupted"] * run.interrupted,
        f"{numbers.plural(len(judged), 'claim')}, {numbers.plural(len(run.mutants), 'mutant')}: "
        f"{fates}",
        *[f"{numbers.plural(false, 'refuted claim')}"] * bool(false),
        numbers.draws(sum(claim.draws for claim in run.claims)),
        numbers.duration(run.seconds),
        *_settings(run),
    ]
    return render([*items, *packed(summary, terminal)], terminal)


def _mutated(claim: ClaimResult, there: Sequence[Fate]) -> Row:
    """The row of a claim, with those counts that are `there`, as not all are 0."""
    word, style = ("undecided", "yellow") if claim.undecided else ("pass", "green")
    word, style = (word, style) if claim.skipped is None else ("not tried", "")
    word, style = ("FAIL", "bold red") if claim.failed else (word, style)
    return {
        "claim": claim.claim.id,
        "at": one_line(short_parameters(claim.parameters)),
        "mutants": str(len(claim.mutants)),
        **{fate: str(claim.count(fate)) for fate in there},
        "result": (f"{word}: {claim.verdict} itself" if claim.skipped else word, style),
    }


def _survivor(mutant: Mutant) -> list[RenderableType]:
    claim, where = mutant.claim, one_line(format_parameters(mutant.parameters))
    said = {
        "title": one_line(claim.title),
        "error": mutant.error,
        "mutant": one_line(mutant.changed),
        "reason": mutant.reason,
        "draws": numbers.count(mutant.draws) if mutant.draws else None,
        "where": place(claim.location),
    }
    survived = mutant.fate is Fate.SURVIVED
    heading = "  ".join(filter(None, ("SURVIVED" if survived else mutant.fate, claim.id, where)))
    style = "bold red" if survived else "yellow"
    return block(heading, style, said)


def _line(mutant: Mutant) -> str:
    parts = [f"{mutant.claim.id}: {mutant.changed}"]
    parts += [f"tried at {format_parameters(mutant.parameters)}"] if mutant.parameters else []
    return "  " + one_line("; ".join([*parts, *filter(None, [mutant.reason])]))


def _warnings(run: MutationRun) -> list[RenderableType]:
    items: list[RenderableType] = []
    for claim in run.claims:
        said = [(one, "yellow") for one in claim.warnings]
        text = claim.skipped if claim.verdict is not None else None
        if claim.toothless:
            text = "no planted error is refuted: as it is tried, it cannot fail"
        if text is not None:
            said.append((f"{claim.claim.id}: {text}", "bold red" if claim.failed else "yellow"))
        items += [styled(f"warning: {one}", style) for one, style in said]
    skipped = [one.claim.id for one in run.claims if one.skipped and one.verdict is None]
    if skipped:
        many = numbers.plural(len(skipped), "claim")
        items.append(styled(f"not tried: {many} expected to be refuted ({', '.join(skipped)})"))
    return [*items, ""] if items else []
