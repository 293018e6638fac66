"""Every case of a run as an interval against what its claim allows, in one picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dropcheck.records import record
from dropcheck.report import Report, phrases, pictures
from dropcheck.report.numbers import exact
from dropcheck.report.pictures.curve_picture import curve_picture
from dropcheck.results import Outcome, RunResult, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# inches
ROW = 0.24  # of a label of one line
GAP = 0.08  # between claims
LABEL = 64  # letters on a line of a label

AXIS = "distance from the claim; ±1: edge of the band in which it is verified; logarithmic beyond"


@record
class _Row:
    """A case and its place in the picture, in inches from the top."""

    placed: pictures.Placed
    label: tuple[str, ...]
    middle: float
    height: float


def svg_report(report: Report) -> bytes:
    """The curves of a sweep where they are asked for, else every case as an interval."""
    return curve_picture(report.run, "svg") if report.plot else picture(report.run, "svg")


def png_report(report: Report) -> bytes:
    """The same picture as `svg_report` as a PNG."""
    return curve_picture(report.run, "png") if report.plot else picture(report.run, "png")


def picture(run: RunResult, kind: pictures.PictureFormat) -> bytes:
    """The picture as the bytes of a file; the same run gives the same bytes.

    Raises:
        DropcheckError: matplotlib is not installed, or there are too many cases for a PNG.
    """
    with pictures.drawing():
        return pictures.as_bytes(_figure(run, kind), kind)


def _figure(run: RunResult, kind: pictures.PictureFormat) -> Figure:
    from matplotlib.transforms import Bbox

    rows, height = _rows([pictures.placed(case) for case in run.cases])
    ends = pictures.limits([row.placed for row in rows])
    left = pictures.EDGE + pictures.ADVANCE * (
        1 + _longest([line for row in rows for line in row.label])
    )
    right = pictures.EDGE + pictures.ADVANCE * (
        1 + _longest([phrases.standing(row.placed.case) for row in rows])
    )
    title = _title(run, int((left + pictures.PLOT + right - 2 * pictures.EDGE) / pictures.ADVANCE))
    above, below = 0.2 * len(title) + 0.82, 0.55
    width, total = left + pictures.PLOT + right, above + max(height, ROW) + below
    figure = pictures.new_figure(width, total, kind)
    box = Bbox.from_extents(
        left / width, below / total, (left + pictures.PLOT) / width, (total - above) / total
    )
    axes = figure.add_axes((box.x0, box.y0, box.width, box.height))
    axes.set_xlim(*ends)
    axes.set_ylim(max(height, ROW), 0)
    _frame(axes, ends)
    _legend(figure, rows, 1 - (0.2 * len(title) + 0.12) / total, (left + pictures.PLOT / 2) / width)
    for index, line in enumerate(title):
        figure.text(
            pictures.EDGE / width, 1 - (pictures.EDGE + 0.2 * index) / total, line, va="top"
        )
    _backgrounds(axes, rows, ends)
    _intervals(axes, rows, ends)
    _labels(axes, rows)
    return figure


def _rows(placed: Sequence[pictures.Placed]) -> tuple[list[_Row], float]:
    """The rows from the top down, with gaps between claims, and their total height."""
    rows: list[_Row] = []
    top = GAP
    for _, group in itertools.groupby(placed, key=lambda one: one.case.claim):
        for one in group:
            values = phrases.parameters(one.case)
            label = pictures.wrapped(
                f"{one.case.claim}: {values}" if values else one.case.claim, LABEL
            )
            height = ROW + pictures.LINE * (len(label) - 1)
            rows.append(_Row(one, tuple(label), top + height / 2, height))
            top += height
        top += GAP
    return rows, top


def _longest(texts: Sequence[str]) -> int:
    return max(map(len, texts), default=0)


def _title(run: RunResult, letters: int) -> list[str]:
    parts = [
        *(["interrupted"] if run.interrupted else []),
        phrases.counts(run),
        *([limit] if (limit := phrases.on_the_limit(run)) else []),
        f"seed {run.settings.seed}",
        f"α {exact(run.settings.alpha)}",
    ]
    return [*pictures.wrapped(run.registry, letters), *pictures.wrapped(" · ".join(parts), letters)]


def _frame(axes: Axes, ends: tuple[float, float]) -> None:
    """The axis, labelled above and below: a picture of many cases is longer than a screen."""
    marks = pictures.ticks(ends)
    axes.set_xticks([place for place, _ in marks], [label for _, label in marks])
    axes.tick_params(axis="x", top=True, labeltop=True, color=pictures.FAINT, labelsize=8)
    axes.set_yticks([])
    axes.set_xlabel(AXIS, fontsize=7)
    for side in ("left", "right"):
        axes.spines[side].set_visible(False)
    for place, _ in marks:
        axes.axvline(place, color=pictures.FAINT, linewidth=0.4, zorder=0.5)


def _backgrounds(axes: Axes, rows: Sequence[_Row], ends: tuple[float, float]) -> None:
    """What each claim allows, its band, and a shade behind failures."""
    from matplotlib.patches import Rectangle

    for row in rows:
        top, high = row.middle - row.height / 2, row.height
        if row.placed.case.result is Outcome.FAIL:
            width = ends[1] - ends[0]
            axes.add_patch(
                Rectangle((ends[0], top), width, high, color=pictures.ALARM, lw=0, zorder=0.1)
            )
        for span, colour in (
            (row.placed.verified, pictures.BAND),
            (row.placed.allowed, pictures.ALLOWED),
        ):
            if span is None:
                continue
            low, upper = pictures.within(ends, *span)
            if upper > low:
                shape = Rectangle((low, top + 0.02), upper - low, high - 0.04, color=colour, lw=0)
                shape.set_zorder(0.2 if colour == pictures.BAND else 0.3)
                axes.add_patch(shape)
        if row.placed.allowed is not None:
            shown = [end for end in set(row.placed.allowed) if math.isfinite(end)]
            axes.vlines(
                shown, top + 0.02, top + high - 0.02, color=pictures.INK, linewidth=0.9, zorder=1
            )


def _intervals(axes: Axes, rows: Sequence[_Row], ends: tuple[float, float]) -> None:
    """Each interval with its estimate; an arrow where one goes on beyond the axis."""
    inset = 0.01 * (ends[1] - ends[0])  # an arrow's tip stays on the axis
    for row in rows:
        placed, y = row.placed, row.middle
        colour = pictures.MARKS[placed.case.verdict].colour
        if placed.interval is not None:
            low, high = pictures.within(ends, *placed.interval)
            axes.plot([low, high], [y, y], color=colour, lw=1.6, zorder=2, solid_capstyle="butt")
            for end in placed.interval:
                x = min(max(end, ends[0] + inset), ends[1] - inset)
                shape = "|" if ends[0] <= end <= ends[1] else "<" if end < 0 else ">"
                axes.plot([x], [y], marker=shape, ms=5.5, color=colour, zorder=2)
        if placed.estimate is not None and ends[0] <= placed.estimate <= ends[1]:
            axes.plot([placed.estimate], [y], zorder=3, **pictures.marker(placed.case.verdict))


def _labels(axes: Axes, rows: Sequence[_Row]) -> None:
    """The claim and its parameters on the left, the verdict on the right."""
    beside = axes.get_yaxis_transform()
    for row in rows:
        case = row.placed.case
        text = "\n".join(row.label)
        axes.text(-0.012, row.middle, text, transform=beside, ha="right", va="center")
        weight = "normal" if case.result is Outcome.PASS else "bold"
        axes.text(
            1.012,
            row.middle,
            phrases.standing(case),
            transform=beside,
            va="center",
            color=pictures.MARKS[case.verdict].colour,
            weight=weight,
        )
        if row.placed.interval is None:
            axes.text(
                0.5, row.middle, "no interval", transform=beside, ha="center", va="center", zorder=3
            )


def _legend(figure: Figure, rows: Sequence[_Row], top: float, middle: float) -> None:
    """The legend, above the axes."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def drawn(verdict: Verdict) -> dict[str, Any]:
        return {**pictures.marker(verdict), "linestyle": "-"}

    verdicts = {row.placed.case.verdict for row in rows}
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=pictures.MARKS[one].colour, lw=1.6, label=str(one), **drawn(one))
        for one in Verdict
        if one in verdicts
    ]
    handles += [
        Line2D([], [], color=pictures.INK, marker="|", ms=9, linestyle="none", label="claimed"),
        Patch(color=pictures.ALLOWED, label="allowed"),
        Patch(color=pictures.BAND, label="resolution"),
    ]
    legend = figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(middle, top),
        ncols=3,
        columnspacing=1.6,
    )
    legend.set_in_layout(False)
