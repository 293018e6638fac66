"""The report of a run for people: the table, what did not pass, warnings, and a summary line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import RenderableType

from dropcheck.report import Report, numbers, words
from dropcheck.report.screen import (
    Fields,
    Layout,
    Row,
    TableCell,
    Terminal,
    arrange,
    block,
    layout,
    one_line,
    packed,
    place,
    render,
    styled,
)
from dropcheck.report.terminal.conformance_table import conformance_table, said_below
from dropcheck.report.words import by_claim, not_passed
from dropcheck.results import CaseResult, RunResult

MOST_BLOCKS = 20  # nobody reads more; the rest are counted, and are in the table and in JSON

FIELDS = Fields(
    right=("claimed", "estimated", "exact", "within", "draws"),
    prose=("parameters",),
    optional=("parameters", "exact"),
)
# the exact value is shown where it needs no further line in a row
LAYOUTS: tuple[Layout, ...] = (
    layout("claim parameters claimed estimated exact interval within draws verdict result"),
    layout("claim parameters claimed estimated interval within draws verdict result"),
    layout("claim/parameters claimed estimated/exact interval within draws verdict result"),
    layout("claim/parameters claimed estimated interval within draws verdict result"),
    layout("claim/parameters claimed estimated/interval within/draws verdict result"),
    layout("claim/parameters claimed estimated/interval within/draws verdict/result"),
    layout("claim/parameters claimed/within/draws estimated/interval verdict/result"),
    layout("claim/parameters claimed/estimated/interval verdict/result/within/draws"),
)
VERBOSE_LAYOUTS: tuple[Layout, ...] = (
    layout(
        "claim parameters claimed estimated exact interval within confidence guarantee draws "
        "verdict result"
    ),
    layout(
        "claim/parameters claimed/within/draws estimated/interval/exact confidence/guarantee "
        "verdict/result"
    ),
    layout(
        "claim/parameters/guarantee claimed/estimated/interval/exact "
        "verdict/result/within/draws/confidence"
    ),
)


def table_report(report: Report) -> str:
    """The report of a run.

    It is empty where errors left nothing to report: totals of no case could be read as a result.
    """
    if report.problems and not (report.run.cases or report.run.warnings):
        return ""
    terminal = report.terminal or Terminal()
    return run_report(report.run, terminal, verbose=report.verbose, quiet=report.quiet)


def run_report(
    result: RunResult, terminal: Terminal, *, verbose: bool = False, quiet: bool = False
) -> str:
    """The whole report; `quiet` leaves out the table and the warnings, `verbose` shows each case.

    Without `verbose`, a single claim has a row for each case, and several claims have one each, for
    their worst case.
    """
    items: list[RenderableType] = []
    columns = any(case.column is not None for case in result.cases)
    if not quiet and result.cases:
        shown = conformance_table if columns else _table
        items += [*shown(result.cases, terminal, verbose=verbose), ""]
    if quiet:
        rest = "--format json shows each"
    elif verbose or len(by_claim(result.cases)) == 1:
        rest = "each has a row above"
    else:
        rest = "--verbose shows a row for each"
    if columns and not verbose:
        items += said_below(result.cases, terminal)
    else:
        items += _failures(result.cases, terminal, rest)
    if not quiet:
        items += _notes(result.cases)
        items += _warnings(result)
    if verbose and result.draws:
        by = result.drawn_by.items()
        drawn = (f"{numbers.plural(count, 'case')} drawn by {who}" for who, count in by)
        items += packed(drawn, terminal)
    return render([*items, *packed(summary_parts(result), terminal)], terminal)


def _table(
    cases: Sequence[CaseResult], terminal: Terminal, *, verbose: bool
) -> list[RenderableType]:
    rows = [_row(case, outcome) for case, outcome in words.rows(cases, each=verbose)]
    return arrange(rows, FIELDS, VERBOSE_LAYOUTS if verbose else LAYOUTS, terminal)


def _row(case: CaseResult, outcome: str) -> Row:
    style = words.STYLES[case.result]
    return {
        "claim": case.claim,
        "parameters": one_line(words.parameters(case)),
        "claimed": words.claimed(case),
        "estimated": words.estimated(case),
        "exact": words.exact(case),
        "interval": words.interval(case),
        "confidence": numbers.confidence(case.confidence),
        "guarantee": words.basis(case),
        "within": words.within(case),
        "draws": numbers.count(case.draws),
        "verdict": TableCell(words.verdict(case), style),
        "result": TableCell(outcome, style),
    }


def case_block(case: CaseResult) -> str:
    """The block on one case that did not pass, as plain text."""
    return render(_block(case, Terminal()), Terminal())


def _failures(cases: Iterable[CaseResult], terminal: Terminal, rest: str) -> list[RenderableType]:
    bad = not_passed(cases)
    items: list[RenderableType] = []
    for case in bad[:MOST_BLOCKS]:
        items += [*_block(case, terminal), ""]
    if len(bad) > MOST_BLOCKS:
        more = numbers.plural(len(bad) - MOST_BLOCKS, "more case")
        items += [styled(f"and {more} that did not pass ({rest})"), ""]
    return items


def _block(case: CaseResult, terminal: Terminal) -> list[RenderableType]:
    values = one_line(words.parameters(case))
    heading = f"{words.outcome(case)}  {case.claim}" + (f"  {values}" if values else "")
    pairs = {
        "title": one_line(case.title),
        "written": one_line(case.written.text) if case.written else None,
        "statement": one_line(case.statement),
        "claimed": words.claimed(case),
        "estimated": _estimated(case),
        "exact": words.exactly(case),
        "distance": words.distance(case),
        "write": words.instead(case),
        "resolution": words.resolution(case),
        "verdict": f"{words.verdict(case)}, expected {case.expect}",
        "reading": words.reading(case),
        "reason": None if case.explanation is None else str(case.explanation),
        "where": place(case.location),
    }
    return block(TableCell(heading, words.STYLES[case.result]), pairs, case.repeat, terminal)


def _estimated(case: CaseResult) -> str | None:
    if case.estimate is None and case.interval is None:
        return None
    drawn = words.drawn(case) or "no draws needed"
    sure = numbers.confidence(case.confidence)
    return f"{words.estimated_in_full(case)}, confidence {sure}, {drawn}"


def _notes(cases: Iterable[CaseResult]) -> list[RenderableType]:
    """What to know of verified cases before one relies on them: a line for each claim."""
    items: list[RenderableType] = []
    for claim, group in by_claim(cases).items():
        noted = [case for case in group if words.note(case)]
        if not noted:
            continue
        case = max(noted, key=words.weight)
        more = f" ({numbers.plural(len(noted), 'case')})" if len(noted) > 1 else ""
        items.append(styled(f"note: {claim}{more}: {one_line(words.note(case) or '')}"))
    return [*items, ""] if items else []


def _warnings(result: RunResult) -> list[RenderableType]:
    """Each warning once, with the claims that it concerns."""
    concerned: dict[str, dict[str, int]] = {text: {} for text in result.warnings}
    for case in result.cases:
        own = [text.removeprefix(f"{case.claim}: ") for text in case.warnings]
        for text in dict.fromkeys(own):
            claims = concerned.setdefault(text, {})
            claims[case.claim] = claims.get(case.claim, 0) + 1
    items: list[RenderableType] = [
        styled(f"warning: {_names(claims)}{one_line(text)}", "yellow")
        for text, claims in concerned.items()
    ]
    return [*items, ""] if items else []


def _names(claims: Mapping[str, int]) -> str:
    names = [
        claim if cases == 1 else f"{claim} ({numbers.plural(cases, 'case')})"
        for claim, cases in claims.items()
    ]
    if len(names) > 3:
        names = [*names[:3], f"{len(names) - 3} more"]
    return f"{', '.join(names)}: " if names else ""


def summary_parts(result: RunResult) -> tuple[str, ...]:
    """The parts of the summary: cases by outcome, draws, seconds, seed, α, file."""
    return (
        *(("interrupted",) if result.interrupted else ()),
        words.counts(result),
        *([limit] if (limit := words.on_the_limit(result)) else []),
        *([share] if (share := words.claimed_share(result.coverage)) else []),
        numbers.draws(result.draws),
        numbers.duration(result.seconds),
        f"seed {result.settings.seed}",
        f"α {numbers.exact(result.settings.alpha)}",
        one_line(result.registry),
    )
