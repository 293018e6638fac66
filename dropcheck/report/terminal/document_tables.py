"""Tables of figures and formulas of documents: what `run --fix` wrote, and what is unclaimed."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.claims.values import shortened
from dropcheck.documents.new_figures import Left, NewFigure
from dropcheck.report import numbers
from dropcheck.report.terminal.layout import Fields, Row, TableCell, arrange, layout
from dropcheck.report.terminal.screen import Terminal, line, one_line, place, render
from dropcheck.results.coverage import Coverage, CoverageCounts, Unclaimed

FIELDS = Fields(prose=("why",), headings={"done": "", "why": ""})
LAYOUTS = (layout("done where figure claim why"), layout("done where/claim figure/why"))
LONGEST = 60  # characters that are shown of a formula; its place leads to the rest


def fix_table(
    figures: Sequence[tuple[str, NewFigure, str]],
    left: Sequence[Left],
    terminal: Terminal,
    *,
    written: bool,
) -> str:
    """The figures that were written, or would be, and those that were left.

    Args:
        figures: claims, their new figures, and where these come from.
        left: the figures that did not pass and are not changed.
        terminal: where the table is shown.
        written: whether they were written.
    """
    done = "fixed" if written else "would fix"
    rows = [_figure_row(claim, figure, why, done) for claim, figure, why in figures]
    rows += [_left(one) for one in left]
    if not rows:
        return render([line("no figure is stale: nothing to fix", terminal)], terminal)
    counted = numbers.plural(len(figures), "figure") + (" fixed" if written else " to fix")
    total = f"{counted}, {len(left)} left" + ("" if written else "; nothing was written")
    items = ["", *arrange(rows, FIELDS, LAYOUTS, terminal), "", line(total, terminal)]
    if figures:
        warning = "Where text and model disagree, either may be wrong: look at each figure"
        again = ", and run again" if written else ""
        items.append(line(f"{warning}{again}.", terminal))
    return render(items, terminal)


def _figure_row(claim: str, figure: NewFigure, why: str, done: str) -> Row:
    return {
        "done": TableCell(done, "green"),
        "where": place(figure.written.start),
        "figure": one_line(f"{figure.written.text} → {figure.text}"),
        "claim": claim,
        "why": why,
    }


def _left(one: Left) -> Row:
    return {
        "done": TableCell("left", "yellow"),
        "where": place(one.location),
        "figure": _short(one.figure),
        "claim": one.claim,
        "why": one_line(one.why),
    }


def _short(text: str) -> str:
    return one_line(shortened(text, LONGEST))


# ---- what is not claimed -------------------------------------------------------------------------

UNCLAIMED_LAYOUTS = (layout("where kind unclaimed words"), layout("where/kind unclaimed/words"))
UNCLAIMED_FIELDS = Fields(prose=("unclaimed", "words"), headings={"words": "words around it"})


def coverage_table(documents: Sequence[Coverage], terminal: Terminal) -> str:
    """What is not claimed in documents; then a line for each of several, and one for all."""
    rows = [_row(one) for document in documents for one in document.unclaimed]
    items = [*arrange(rows, UNCLAIMED_FIELDS, UNCLAIMED_LAYOUTS, terminal), ""] if rows else []
    if len(documents) > 1:
        items += [
            line(f"{one_line(one.file)}: {counted(CoverageCounts.of([one]))}", terminal)
            for one in documents
        ]
    return render([*items, line(counted(CoverageCounts.of(documents)), terminal)], terminal)


def counted(counts: CoverageCounts) -> str:
    """How many figures and formulas there are, and how many of them are claimed.

    >>> counted(CoverageCounts(figures=31, claimed_figures=24, formulas=1, claimed_formulas=0))
    '31 figures, 24 claimed; 1 formula, 0 claimed'
    """
    figures = f"{numbers.plural(counts.figures, 'figure')}, {counts.claimed_figures} claimed"
    formulas = f"{numbers.plural(counts.formulas, 'formula')}, {counts.claimed_formulas} claimed"
    return f"{figures}; {formulas}"


def _row(one: Unclaimed) -> Row:
    return {
        "where": place(one.location),
        "kind": str(one.kind),
        "unclaimed": TableCell(_short(one.text), "bold"),
        "words": one_line(f"{one.before}[…]{one.after}"),
    }
