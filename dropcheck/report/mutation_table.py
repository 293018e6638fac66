"""The report of planted errors: a row for each claim, survivors, hidden errors, a summary line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dropcheck.claims.values import format_parameters
from dropcheck.mutation import (
    SURVIVING,
    TRUE,
    ClaimResult,
    Fate,
    Mutant,
    MutationRun,
)
from dropcheck.report import numbers
from dropcheck.report.screen import Terminal, one_line, place, render, styled
from dropcheck.report.table import Columns, Row, block, table

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMNS = Columns(
    names=("claim", "at", "mutants", "refuted", "true", "neither", "survivors", "result"),
    right=("mutants", "refuted", "true", "neither", "survivors"),
    prose=("at",),
    headings={"at": "tried first at", "true": "true as well"},
)
NEITHER = (Fate.BORDER, Fate.MEANINGLESS)
STYLES = {Fate.BELOW: "bold red", Fate.UNDECIDED: "yellow"}


def mutation_report(
    run: MutationRun, terminal: Terminal, *, verbose: bool = False, quiet: bool = False
) -> str:
    """The whole report; `verbose` names every mutant that was not refuted.

    `quiet` leaves out everything but the mutants that survived, warnings, and the summary.
    """
    items: list[RenderableType] = []
    judged = [claim for claim in run.claims if claim.mutants]
    if judged and not quiet:
        items += [*table([_row(claim) for claim in judged], COLUMNS, terminal), ""]
    for claim in run.claims:
        for mutant in claim.mutants:
            if mutant.fate in SURVIVING:
                items += [*_block(mutant, terminal, run), ""]
    if not quiet:
        items += _hidden(run, terminal)
    if verbose:
        items += _others(run, terminal)
    items += _warnings(run, terminal, verbose)
    return render([*items, styled(" · ".join(summary_parts(run)))], terminal)


def _row(claim: ClaimResult) -> Row:
    word, style = verdict_on(claim)
    return {
        "claim": claim.claim.id,
        "at": one_line(format_parameters(claim.parameters)),
        "mutants": str(len(claim.mutants)),
        "refuted": str(claim.count(Fate.REFUTED)),
        "true": str(claim.count(*TRUE)),
        "neither": str(claim.count(*NEITHER)),
        "survivors": (
            str(claim.count(*SURVIVING)),
            style if claim.count(*SURVIVING) else "",
        ),
        "result": (word, style),
    }


def verdict_on(claim: ClaimResult) -> tuple[str, str]:
    """The result of a claim's mutants in a word, and its style."""
    if claim.skipped is not None and not claim.failed:
        return "not tried", ""
    if claim.failed:
        return "FAIL", "bold red"
    return ("undecided", "yellow") if claim.undecided else ("pass", "green")


def _block(mutant: Mutant, terminal: Terminal, run: MutationRun) -> list[RenderableType]:
    claim = mutant.claim
    where = one_line(format_parameters(mutant.parameters))
    heading = f"SURVIVED  {claim.id}" + (f"  {where}" if where else "")
    pairs = {
        "title": one_line(claim.title),
        "error": mutant.error,
        "mutant": one_line(mutant.changed),
        "fate": str(mutant.fate),
        "reason": mutant.reason,
        "draws": numbers.count(mutant.draws) if mutant.draws else None,
        "where": place(claim.location),
    }
    repeat = run.repeats.get(claim.id, "")
    return block(heading, STYLES[mutant.fate], pairs, repeat, terminal)


def _hidden(run: MutationRun, terminal: Terminal) -> list[RenderableType]:
    """Mutants that are true as well where they were judged, and refuted at other values."""
    mutants = [mutant for mutant in run.mutants if mutant.shows_at]
    if not mutants:
        return []
    heading = "true as well where they were tried, and refuted at another value:"
    return [styled(heading, "bold"), *(_line(mutant, terminal) for mutant in mutants), ""]


def _others(run: MutationRun, terminal: Terminal) -> list[RenderableType]:
    """Every other mutant that was not refuted and is no survivor, by its fate."""
    items: list[RenderableType] = []
    for fate in (Fate.SAME, Fate.TRUE, *NEITHER):
        mutants = [one for one in run.mutants if one.fate is fate and not one.shows_at]
        if mutants:
            items += [styled(f"{fate}:", "bold"), *(_line(one, terminal) for one in mutants), ""]
    return items


def _line(mutant: Mutant, terminal: Terminal) -> str:
    parts = [f"{mutant.claim.id}: {mutant.changed}"]
    if mutant.parameters:
        parts.append(f"tried at {format_parameters(mutant.parameters)}")
    if mutant.shows_at:
        parts.append(f"shows at {format_parameters(mutant.shows_at)}")
    if mutant.reason:
        parts.append(mutant.reason)
    return "  " + terminal.spell(one_line("; ".join(parts)))


def _warnings(run: MutationRun, terminal: Terminal, verbose: bool) -> list[RenderableType]:
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
            text = (
                f"{numbers.plural(len(claim.hidden), 'planted error')} the same at every case, as "
                f"its values hide them: {claim.hidden[0].changed}"
            )
        own = [f"warning: {warning}" for warning in claim.warnings]
        items += [styled(terminal.spell(line), "yellow") for line in own]
        if text is not None:
            line = f"warning: {claim.claim.id}: {text}"
            items.append(styled(terminal.spell(line), "bold red" if claim.failed else "yellow"))
    skipped = [claim for claim in run.claims if claim.skipped and claim.verdict is None]
    if skipped:
        items.append(
            styled(
                f"not tried: {numbers.plural(len(skipped), 'claim')} expected to be refuted "
                f"({', '.join(claim.claim.id for claim in skipped)})"
            )
        )
    return [*items, ""] if items else []


def summary_parts(run: MutationRun) -> tuple[str, ...]:
    """The parts of the summary: claims, mutants by fate, score, draws, seconds, seed, α, file."""
    judged = [claim for claim in run.claims if claim.mutants]
    mutants = sum(len(claim.mutants) for claim in judged)
    return (
        *(("interrupted",) if run.interrupted else ()),
        f"{numbers.plural(len(judged), 'claim')}, {numbers.plural(mutants, 'mutant')}: "
        f"{run.count(Fate.REFUTED)} refuted, {run.count(*TRUE)} true as well, "
        f"{run.count(*NEITHER)} neither, {numbers.plural(run.count(*SURVIVING), 'survivor')}",
        f"score {score_text(run)}",
        numbers.draws(sum(claim.draws for claim in run.claims)),
        numbers.duration(run.seconds),
        f"seed {run.settings.seed}",
        f"α {numbers.exact(run.settings.alpha)}",
        one_line(run.registry),
    )


def score_text(run: MutationRun) -> str:
    """The score, rounded down: 100% only where it is all."""
    if run.score is None:
        return numbers.UNKNOWN
    return "100%" if run.score == 1 else f"{int(1000 * run.score) / 10:g}%"
