"""The table of the figures and formulas of documents that no mark speaks of."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.claims.values import shortened
from dropcheck.report import numbers
from dropcheck.report.screen import (
    Fields,
    Row,
    TableCell,
    Terminal,
    arrange,
    layout,
    line,
    one_line,
    place,
    render,
)
from dropcheck.results.coverage import Coverage, CoverageCounts, Unclaimed

LONGEST = 60  # characters that are shown of a formula; its place leads to the rest


def _short(text: str) -> str:
    return one_line(shortened(text, LONGEST))


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
