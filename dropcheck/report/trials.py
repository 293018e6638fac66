"""What `plan` and `mutate` report: a table with what deserves a look below it, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dropcheck.claims.values import format_parameters, short_parameters
from dropcheck.mutation import SURVIVING, TRUE, ClaimResult, Fate, Mutant, MutationRun
from dropcheck.planning import CasePlan, Plan
from dropcheck.report import numbers
from dropcheck.report.formats import as_json, fields_of
from dropcheck.report.screen import Terminal, one_line, packed, place, render, styled
from dropcheck.report.table import Columns, Row, block, table
from dropcheck.results import Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

# ---- a plan --------------------------------------------------------------------------------------

PLANNED = Columns(
    names=("claim", "parameters", "written", "draws", "time", "could see", "of scale", "note"),
    right=("written", "draws", "time", "could see", "of scale"),
    prose=("parameters", "note"),
    dropped=("of scale", "written", "could see"),
)


def plan_report(plan: Plan, terminal: Terminal) -> str:
    """A row for each case, and what the whole run would take."""
    rows = [_planned(case) for case in plan.cases]
    items = [*table(rows, PLANNED, terminal), ""] if rows else []
    items += [styled(f"warning: {one_line(text)}", "yellow") for text in plan.warnings]
    cases = counts(plan)
    others = {"beyond": "beyond it", "doubtful": "may take more", "unknown": "unknown"}
    rest = "".join(f", {cases[name]} {said}" for name, said in others.items() if cases[name])
    summary = [
        *["interrupted"] * plan.interrupted,
        f"{numbers.plural(len(plan.cases), 'case')}: {cases['within']} within the budget{rest}",
        f"a run takes {'at least' if cases['doubtful'] else 'about'} {numbers.draws(plan.draws)}",
        f"{numbers.duration(plan.run_seconds)} on {numbers.plural(plan.threads, 'thread')}",
        f"pilot {numbers.duration(plan.seconds)}",
        *_settings(plan),
    ]
    return render([*items, *packed(summary, terminal)], terminal)


def _settings(of: Plan | MutationRun) -> tuple[str, str, str]:
    alpha = numbers.exact(of.settings.alpha)
    return f"seed {of.settings.seed}", f"α {alpha}", one_line(of.registry)


def _planned(case: CasePlan) -> Row:
    seen, time, figure = case.discrepancy, case.seconds, case.case.claim.written
    least = "≥" if case.doubtful else ""
    why = "" if case.explanation is None else one_line(str(case.explanation))
    beyond = f"beyond the budget of {numbers.draws(case.budget)}" if case.beyond else ""
    doubt = f"may take more: {why}" if case.doubtful else ""
    note = "; ".join(filter(None, (beyond, doubt))) if case.draws else why
    return {
        "claim": case.case.claim.id,
        "parameters": one_line(short_parameters(case.case.parameters)),
        "written": one_line(figure.text) if figure and figure.digits is not None else "",
        "draws": numbers.UNKNOWN if case.draws is None else least + numbers.count(case.draws),
        "time": numbers.UNKNOWN if time is None else least + numbers.duration(time),
        "could see": numbers.UNKNOWN if seen is None else numbers.rough(seen),
        "of scale": "" if case.relative is None else f"{numbers.rough(100 * case.relative)}%",
        "note": (note, "" if case.within else "yellow"),
    }


def counts(plan: Plan) -> dict[str, int]:
    """How many cases are within the budget, doubtful, beyond it, or unknown: all cases."""
    unknown = sum(case.draws is None for case in plan.cases)
    within = sum(case.within for case in plan.cases)
    beyond = sum(case.beyond for case in plan.cases)
    doubtful = len(plan.cases) - within - beyond - unknown
    return {"within": within, "doubtful": doubtful, "beyond": beyond, "unknown": unknown}


def plan_json(plan: Plan) -> str:
    """The plan as data; what is unknown is null."""
    names = "draws seconds budget within discrepancy relative scale resolution guarantee"
    return as_json(
        registry=plan.registry,
        **fields_of(plan.settings, "seed alpha"),
        threads=plan.threads,
        seconds=round(plan.seconds, 3),
        interrupted=plan.interrupted,
        summary={"cases": len(plan.cases)}
        | counts(plan)
        | {"draws": plan.draws, "seconds": plan.run_seconds},
        cases=[
            {
                "claim": one.case.claim.id,
                "parameters": one.case.parameters,
                "statement": one.case.claim.statement.text.strip(),
                **fields_of(one, names),
                "reason": None if one.explanation is None else str(one.explanation),
                **fields_of(one.case.claim, "written location"),
            }
            for one in plan.cases
        ],
        warnings=plan.warnings,
    )


# ---- planted errors ------------------------------------------------------------------------------

NEITHER = (Fate.BORDER, Fate.MEANINGLESS)
FATES = {"refuted": (Fate.REFUTED,), "true": TRUE, "neither": NEITHER, "survivors": SURVIVING}
MUTATED = Columns(
    names=("claim", "at", "mutants", *FATES, "result"),
    right=("mutants", *FATES),
    prose=("at",),
    dropped=("at", "mutants", "neither", "true", "refuted", "survivors"),
    headings={"at": "tried first at", "true": "true as well"},
)
UNCOUNTED = {  # the mutants that count neither for a claim nor against it
    "true": "true as well: verified, as the claim is, or the same by arithmetic; it does not count",
    "neither": "neither: it has no number to judge, or the sides of a strict inequality are equal; "
    "it does not count",
}


def mutation_report(
    run: MutationRun, terminal: Terminal, *, verbose: bool = False, quiet: bool = False
) -> str:
    """The whole report; `verbose` names every mutant that was not refuted.

    `quiet` leaves out everything but the mutants that survived, warnings, and the summary.
    """
    items: list[RenderableType] = []
    judged = [claim for claim in run.claims if claim.mutants or claim.verdict is not None]
    known = {name: run.count(*fates) for name, fates in FATES.items()}
    if judged and not quiet:
        there = [name for name in FATES if known[name] or name not in UNCOUNTED]
        items += table([_mutated(claim, there) for claim in judged], MUTATED, terminal)
        items += [*(styled(UNCOUNTED[name]) for name in there if name in UNCOUNTED), ""]
    for mutant in run.mutants:
        if mutant.fate in SURVIVING:
            items += [*_survivor(mutant, run), ""]
    for fate in (Fate.SAME, Fate.TRUE, *NEITHER) if verbose else ():
        if mutants := [one for one in run.mutants if one.fate is fate]:
            items += [styled(f"{fate}:", "bold"), *map(_line, mutants), ""]
    items += _warnings(run, verbose)
    false = sum(claim.verdict is Verdict.REFUTED for claim in judged)
    summary = [
        *["interrupted"] * run.interrupted,
        f"{numbers.plural(len(judged), 'claim')}, {numbers.plural(len(run.mutants), 'mutant')}: "
        f"{known['refuted']} refuted, {known['true']} true as well, "
        f"{known['neither']} neither, {numbers.plural(known['survivors'], 'survivor')}",
        *[f"{numbers.plural(false, 'refuted claim')}"] * bool(false),
        f"score {score_text(run)}",
        numbers.draws(sum(claim.draws for claim in run.claims)),
        numbers.duration(run.seconds),
        *_settings(run),
    ]
    return render([*items, *packed(summary, terminal)], terminal)


def _mutated(claim: ClaimResult, there: Sequence[str]) -> Row:
    """The row of a claim, with those counts that are `there`, as not all are 0."""
    word, style = verdict_on(claim)
    known = {name: str(claim.count(*FATES[name])) for name in there}
    return {
        "claim": claim.claim.id,
        "at": one_line(short_parameters(claim.parameters)),
        "mutants": str(len(claim.mutants)),
        **known,
        "survivors": (known["survivors"], style if claim.count(*SURVIVING) else ""),
        "result": (f"{word}: {claim.verdict} itself" if claim.skipped else word, style),
    }


def verdict_on(claim: ClaimResult) -> tuple[str, str]:
    """The result of a claim's mutants in a word, and its style."""
    if claim.failed:
        return "FAIL", "bold red"
    if claim.skipped is not None:
        return "not tried", ""
    return ("undecided", "yellow") if claim.undecided else ("pass", "green")


def _survivor(mutant: Mutant, run: MutationRun) -> list[RenderableType]:
    claim, where = mutant.claim, one_line(format_parameters(mutant.parameters))
    said = {
        "title": one_line(claim.title),
        "error": mutant.error,
        "mutant": one_line(mutant.changed),
        "fate": str(mutant.fate),
        "reason": mutant.reason,
        "draws": numbers.count(mutant.draws) if mutant.draws else None,
        "where": place(claim.location),
    }
    heading = "  ".join(filter(None, ("SURVIVED", claim.id, where)))
    style = "bold red" if mutant.fate is Fate.BELOW else "yellow"
    return block(heading, style, said, run.repeats.get(claim.id, ""))


def _line(mutant: Mutant) -> str:
    parts = [f"{mutant.claim.id}: {mutant.changed}"]
    parts += [f"tried at {format_parameters(mutant.parameters)}"] if mutant.parameters else []
    return "  " + one_line("; ".join([*parts, *filter(None, [mutant.reason])]))


def _warnings(run: MutationRun, verbose: bool) -> list[RenderableType]:
    items: list[RenderableType] = []
    for claim in run.claims:
        text = None
        if claim.toothless:
            text = "no planted error is refuted: as it is tried, it cannot fail"
        elif claim.blind and verbose:
            text = "no error planted in its model is refuted: does it say anything of it?"
        elif claim.skipped is not None and claim.verdict is not None:
            text = claim.skipped
        elif claim.hidden:
            errors = numbers.plural(len(claim.hidden), "planted error")
            hidden = claim.hidden[0].changed
            text = f"{errors} the same at every case, as its values hide them: {hidden}"
        said = [(one, "yellow") for one in claim.warnings]
        if text is not None:
            said.append((f"{claim.claim.id}: {text}", "bold red" if claim.failed else "yellow"))
        items += [styled(f"warning: {one}", style) for one, style in said]
    skipped = [one.claim.id for one in run.claims if one.skipped and one.verdict is None]
    if skipped:
        many = numbers.plural(len(skipped), "claim")
        items.append(styled(f"not tried: {many} expected to be refuted ({', '.join(skipped)})"))
    return [*items, ""] if items else []


def score_text(run: MutationRun) -> str:
    """The score, rounded down: 100% only where it is all."""
    return numbers.UNKNOWN if run.score is None else f"{int(1000 * run.score) / 10:g}%"


def mutation_json(run: MutationRun) -> str:
    """A run of planted errors as data."""
    return as_json(
        registry=run.registry,
        **fields_of(run.settings, "seed alpha"),
        seconds=round(run.seconds, 3),
        interrupted=run.interrupted,
        summary={
            "claims": len(run.claims),
            "mutants": len(run.mutants),
            **{fate.name.lower(): run.count(fate) for fate in Fate},
            "score": run.score,
            "draws": sum(claim.draws for claim in run.claims),
        },
        claims=[
            {
                "claim": one.claim.id,
                **fields_of(one, "parameters verdict skipped"),
                "result": verdict_on(one)[0].lower(),
                "cannot_fail": one.toothless,
                "blind_to_model": one.blind,
                "hidden_by_values": [mutant.changed for mutant in one.hidden],
                "draws": one.draws,
                "seconds": round(one.seconds, 3),
                "location": one.claim.location,
                "repeat": run.repeats.get(one.claim.id),
                "mutants": [_mutant(mutant) for mutant in one.mutants],
            }
            for one in run.claims
        ],
    )


def _mutant(mutant: Mutant) -> dict[str, Any]:
    return {
        **fields_of(mutant, "error changed"),
        "statement": mutant.claim.statement.text,
        "model": mutant.claim.model.text if mutant.claim.model else None,
        **fields_of(mutant, "fate parameters draws reason"),
    }
