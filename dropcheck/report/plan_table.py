"""The report of a plan: a row for each case, and a line of totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dropcheck.claims.values import format_parameters
from dropcheck.planning import CasePlan, Plan
from dropcheck.report import numbers
from dropcheck.report.screen import Terminal, one_line, packed, render, styled
from dropcheck.report.table import Columns, Row, table

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMNS = Columns(
    names=("claim", "parameters", "written", "draws", "time", "could see", "of scale", "note"),
    right=("written", "draws", "time", "could see", "of scale"),
    prose=("parameters", "note"),
)


def plan_report(plan: Plan, terminal: Terminal) -> str:
    """A row for each case, and what the whole run would take."""
    items: list[RenderableType] = []
    if plan.cases:
        items += [*table([_row(case) for case in plan.cases], COLUMNS, terminal), ""]
    items += [styled(f"warning: {one_line(text)}", "yellow") for text in plan.warnings]
    return render([*items, *packed(summary_parts(plan), terminal)], terminal)


def _row(case: CasePlan) -> Row:
    relative = "" if case.relative is None else f"{numbers.rough(100 * case.relative)}%"
    seen, time, figure = case.discrepancy, case.seconds, case.case.claim.written
    least = "≥" if case.doubtful else ""
    return {
        "claim": case.case.claim.id,
        "parameters": one_line(format_parameters(case.case.parameters)),
        "written": one_line(figure.text) if figure and figure.digits is not None else "",
        "draws": numbers.UNKNOWN if case.draws is None else least + numbers.count(case.draws),
        "time": numbers.UNKNOWN if time is None else least + numbers.duration(time),
        "could see": numbers.UNKNOWN if seen is None else numbers.rough(seen),
        "of scale": relative,
        "note": (note(case), "" if case.within else "yellow"),
    }


def note(case: CasePlan) -> str:
    """What prevents a verdict, or why no draws are needed."""
    why = "" if case.explanation is None else one_line(str(case.explanation))
    if not case.draws:
        return why
    parts: list[str] = []
    if case.beyond:
        parts.append(f"beyond the budget of {numbers.draws(case.budget)}")
    if case.doubtful:
        parts.append(f"may take more: {why}")
    return "; ".join(parts)


def counts(plan: Plan) -> dict[str, int]:
    """How many cases are within the budget, doubtful, beyond it, or unknown: all cases."""
    unknown = sum(case.draws is None for case in plan.cases)
    within = sum(case.within for case in plan.cases)
    beyond = sum(case.beyond for case in plan.cases)
    doubtful = len(plan.cases) - within - beyond - unknown
    return {"within": within, "doubtful": doubtful, "beyond": beyond, "unknown": unknown}


def summary_parts(plan: Plan) -> tuple[str, ...]:
    """The parts of the summary: cases, draws, seconds, threads, and the time of the pilots."""
    cases = counts(plan)
    others = {"beyond": "beyond it", "doubtful": "may take more", "unknown": "unknown"}
    rest = "".join(f", {cases[name]} {words}" for name, words in others.items() if cases[name])
    return (
        *(("interrupted",) if plan.interrupted else ()),
        f"{numbers.plural(len(plan.cases), 'case')}: {cases['within']} within the budget{rest}",
        f"a run takes {'at least' if cases['doubtful'] else 'about'} {numbers.draws(plan.draws)}",
        f"{numbers.duration(plan.run_seconds)} on {numbers.plural(plan.threads, 'thread')}",
        f"pilot {numbers.duration(plan.seconds)}",
        f"seed {plan.settings.seed}",
        f"α {numbers.exact(plan.settings.alpha)}",
        one_line(plan.registry),
    )
