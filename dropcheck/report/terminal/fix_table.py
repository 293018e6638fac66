"""What `run --fix` wrote, and what it left: a row a figure, and what there is to know of both."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.documents.fixing.new_figures import Left, Mend
from dropcheck.report import numbers
from dropcheck.report.terminal.layout import Cell, Fields, arrange, layout
from dropcheck.report.terminal.screen import Terminal, line, one_line, place, render

FIELDS = Fields(prose=("why",), headings={"done": "", "why": ""})
LAYOUTS = (layout("done where figure claim why"), layout("done where/claim figure/why"))
LONGEST = 60  # characters of a formula


def fix_table(
    mends: Sequence[tuple[str, Mend, str]],
    left: Sequence[Left],
    terminal: Terminal,
    *,
    written: bool,
) -> str:
    """The figures that were written, or would be, and those that were left.

    Args:
        mends: each with its claim and what it is taken from.
        left: what did not pass and is as it was.
        terminal: what it is shown on.
        written: whether they were written.
    """
    done = "fixed" if written else "would fix"
    rows = [_mended(claim, mend, why, done) for claim, mend, why in mends]
    rows += [_left(one) for one in left]
    if not rows:
        return render([line("no figure is stale: nothing to fix", terminal)], terminal)
    counted = numbers.plural(len(mends), "figure") + (" fixed" if written else " to fix")
    total = f"{counted}, {len(left)} left" + ("" if written else "; nothing was written")
    items = ["", *arrange(rows, FIELDS, LAYOUTS, terminal), "", line(total, terminal)]
    if mends:
        warning = "Where text and model disagree, either may be wrong: look at each figure"
        again = ", and run again" if written else ""
        items.append(line(f"{warning}{again}.", terminal))
    return render(items, terminal)


def _mended(claim: str, mend: Mend, why: str, done: str) -> dict[str, Cell]:
    return {
        "done": Cell(done, "green"),
        "where": Cell(place(mend.written.start)),
        "figure": Cell(one_line(f"{mend.written.text} → {mend.text}")),
        "claim": Cell(claim),
        "why": Cell(why),
    }


def _left(one: Left) -> dict[str, Cell]:
    text = one.figure if len(one.figure) <= LONGEST else f"{one.figure[: LONGEST - 1]}…"
    return {
        "done": Cell("left", "yellow"),
        "where": Cell(place(one.location)),
        "figure": Cell(one_line(text)),
        "claim": Cell(one.claim),
        "why": Cell(one_line(one.why)),
    }
