"""What no mark of a document speaks of: a row a figure or formula, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.report import numbers
from dropcheck.report.terminal.layout import Cell, Fields, arrange, layout
from dropcheck.report.terminal.screen import Terminal, line, one_line, place, render
from dropcheck.results.coverage import Counts, Coverage, Unclaimed

LONGEST_FORMULA = 60  # characters that are shown of one; its place says where the rest is
LAYOUTS = (layout("where kind unclaimed words"), layout("where/kind unclaimed/words"))
FIELDS = Fields(prose=("unclaimed", "words"), headings={"words": "words around it"})


def coverage_table(documents: Sequence[Coverage], terminal: Terminal) -> str:
    """What is not claimed in documents; a line for each of several, and one for all of them."""
    rows = [_row(one) for document in documents for one in document.unclaimed]
    items = [*arrange(rows, FIELDS, LAYOUTS, terminal), ""] if rows else []
    if len(documents) > 1:
        items += [
            line(f"{one_line(one.file)}: {counted(Counts.of([one]))}", terminal)
            for one in documents
        ]
    return render([*items, line(counted(Counts.of(documents)), terminal)], terminal)


def counted(counts: Counts) -> str:
    """How many figures and formulas there are, and how many of them are claimed.

    >>> counted(Counts(figures=31, claimed_figures=24, formulas=1, claimed_formulas=0))
    '31 figures, 24 claimed; 1 formula, 0 claimed'
    """
    figures = f"{numbers.plural(counts.figures, 'figure')}, {counts.claimed_figures} claimed"
    formulas = f"{numbers.plural(counts.formulas, 'formula')}, {counts.claimed_formulas} claimed"
    return f"{figures}; {formulas}"


def _row(one: Unclaimed) -> dict[str, Cell]:
    long = len(one.text) > LONGEST_FORMULA
    text = f"{one.text[: LONGEST_FORMULA - 1]}…" if long else one.text
    return {
        "where": Cell(place(one.location)),
        "kind": Cell(str(one.kind)),
        "unclaimed": Cell(one_line(text), "bold"),
        "words": Cell(one_line(f"{one.before}[…]{one.after}")),
    }
