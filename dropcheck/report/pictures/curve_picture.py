"""A sweep's curves as a picture: what is claimed, and the estimates with their intervals.

A strip below each curve shows the distance of its estimates from it, in units of the resolution: an
interval of a hundredth of the claimed value cannot be seen on the curve itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dropcheck.errors import DropcheckError, Problem
from dropcheck.records import record
from dropcheck.report import pictures
from dropcheck.report.numbers import plural
from dropcheck.report.pictures.curve import Axis, CurvePoint, Panel, panels
from dropcheck.results import RunResult, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# inches
CURVE, STRIP = 2.6, 0.9  # heights
BETWEEN = 0.42  # the room between curve and strip, for the title of the strip
STRIP_TICKS = 6  # labels that the strip has room for
LETTERS = 72  # on a line above a panel
SEVERAL = 3  # the most panels in one column; more stand in two
FEW_VALUES = 8  # the most labels of a logarithmic axis
FEW_LAWS = 3  # the most laws side by side; labels of more are upright
UPRIGHT = 24  # letters on a line of an upright label
MOST_PANELS = 60  # a larger picture is of no use


def curve_picture(run: RunResult, kind: pictures.PictureFormat) -> bytes:
    """The curves of every swept claim of a run as the bytes of a file.

    Raises:
        DropcheckError: matplotlib is not installed, or there is no curve, or too many of them.
    """
    drawn = panels(run)
    if not drawn:
        message = "there is no curve to draw: no sweep was finished"
        raise DropcheckError(Problem(message, hint="run it to its end"))
    if len(drawn) > MOST_PANELS:
        message = f"{plural(len(drawn), 'curve')} are more than fit one picture"
        hint = "select fewer claims, or give all parameters but one a single value"
        raise DropcheckError(Problem(message, hint=hint))
    with pictures.drawing():
        return pictures.as_bytes(_figure(drawn, kind), kind)


@record
class _Sheet:
    """A panel with its labels, and so the room that it needs."""

    panel: Panel
    near: list[pictures.Placed]
    heading: list[str]
    across: list[tuple[float, str]]  # the labels below
    upright: bool
    left: float
    below: float

    @property
    def above(self) -> float:
        """Inches over the curve: the heading and the legend."""
        return pictures.EDGE + pictures.LINE * len(self.heading) + 0.34

    @property
    def height(self) -> float:
        """Inches from top to bottom."""
        return self.above + CURVE + BETWEEN + STRIP + self.below


def _figure(drawn: tuple[Panel, ...], kind: pictures.PictureFormat) -> Figure:
    sheets = [_sheet(panel) for panel in drawn]
    columns = 1 if len(sheets) <= SEVERAL else 2
    rows = [sheets[start : start + columns] for start in range(0, len(sheets), columns)]
    left = max(sheet.left for sheet in sheets)
    column = left + pictures.PLOT + 2 * pictures.EDGE
    heights = [max(sheet.height for sheet in row) for row in rows]
    figure = pictures.new_figure(column * columns, sum(heights), kind)
    top = 0.0
    for row, height in zip(rows, heights, strict=True):
        for index, sheet in enumerate(row):
            _draw(figure, sheet, index * column, left, top)
        top += height
    return figure


def _sheet(panel: Panel) -> _Sheet:
    near = [pictures.placed(point.case) for point in panel.points]
    labels = _labels_across(panel)
    upright = not panel.numeric and len(labels) > FEW_LAWS
    ticks = [*panel.up.ticks(6), *pictures.ticks(pictures.limits(near), STRIP_TICKS)]
    lines = max(text.count("\n") + 1 for _, text in labels)
    longest = max(len(line) for _, text in labels for line in text.split("\n"))
    below = pictures.ADVANCE * longest if upright else pictures.LINE * lines
    name = pictures.wrapped(panel.parameter, LETTERS)
    return _Sheet(
        panel=panel,
        near=near,
        heading=[
            *pictures.wrapped(panel.claim, LETTERS),
            *pictures.wrapped(panel.heading, LETTERS),
        ],
        across=labels,
        upright=upright,
        left=2 * pictures.EDGE + pictures.ADVANCE * max(len(text) for _, text in ticks),
        below=below + 0.2 + pictures.LINE * len(name) + pictures.EDGE,
    )


def _draw(figure: Figure, sheet: _Sheet, x: float, left: float, top: float) -> None:
    """A curve with its distances below it, and its heading and legend above, at its place."""
    width, height = figure.get_size_inches()

    def axes_at(below_top: float, tall: float) -> Axes:
        bottom = height - top - below_top - tall
        return figure.add_axes(
            ((x + left) / width, bottom / height, pictures.PLOT / width, tall / height)
        )

    curve = axes_at(sheet.above, CURVE)
    strip = axes_at(sheet.above + CURVE + BETWEEN, STRIP)
    for index, line in enumerate(sheet.heading):
        y = 1 - (top + pictures.EDGE + pictures.LINE * index) / height
        weight = "bold" if index == 0 else "normal"
        figure.text((x + pictures.EDGE) / width, y, line, va="top", weight=weight)
    _draw_curve(curve, sheet.panel)
    _draw_strip(strip, sheet.panel, sheet.near)
    for axes in (curve, strip):
        _across(axes, sheet)
        axes.grid(visible=True, color=pictures.FAINT, linewidth=0.4)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    curve.tick_params(axis="x", labelbottom=False)
    strip.set_xlabel("\n".join(pictures.wrapped(sheet.panel.parameter, LETTERS)))
    handles, labels = curve.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=((x + left) / width, 1 - (top + sheet.above - 0.28) / height),
        ncols=len(labels),
        borderaxespad=0,
    )


def _draw_curve(axes: Axes, panel: Panel) -> None:
    up = panel.up
    if up.logarithmic:
        axes.set_yscale("log")
    axes.set_ylim(up.low, up.high)
    axes.set_yticks([value for value, _ in up.ticks(6)], [text for _, text in up.ticks(6)])
    axes.set_yticks([], minor=True)
    _draw_allowed(axes, panel)
    for index, curve in enumerate(panel.claimed()):
        axes.plot(
            [x for x, _ in curve],
            [y for _, y in curve],
            color=pictures.INK,
            linewidth=1,
            linestyle="--" if panel.numeric else ":",
            label=panel.claimed_word if not index else None,
        )
    for verdict in Verdict:
        points = [point for point in panel.points if point.case.verdict is verdict]
        if points:
            _draw_results(axes, points, verdict, panel.up)


def _draw_allowed(axes: Axes, panel: Panel) -> None:
    """The area that inequalities and ranges allow."""
    up = panel.up
    known = [(point.place, point.case.region) for point in panel.points]
    spans = [(place, (span.low, span.high)) for place, span in known if span is not None]
    if any(low < high for _, (low, high) in spans):
        axes.fill_between(
            [place for place, _ in spans],
            [max(low, up.low) for _, (low, _) in spans],
            [min(high, up.high) for _, (_, high) in spans],
            color=pictures.BAND,
            linewidth=0,
            label="allowed",
        )


def _draw_results(axes: Axes, points: Sequence[CurvePoint], verdict: Verdict, up: Axis) -> None:
    """The intervals and estimates of the cases with one verdict."""
    for point in points:
        if point.case.interval is not None:
            low, high = point.case.interval
            ends = [up.low if low is None else low, up.high if high is None else high]
            axes.plot([point.place] * 2, ends, color=pictures.MARKS[verdict].colour, linewidth=1.6)
    shown = [point for point in points if point.case.estimate is not None]
    places = [point.place for point in shown]
    estimates = [point.case.estimate or 0.0 for point in shown]
    axes.plot(places, estimates, label=str(verdict), zorder=3, **pictures.marker(verdict))


def _draw_strip(axes: Axes, panel: Panel, near: list[pictures.Placed]) -> None:
    """How far each estimate is from the claim, in units of the resolution."""
    ends = pictures.limits(near)
    axes.set_ylim(*ends)
    marks = pictures.ticks(ends, STRIP_TICKS)
    axes.set_yticks([place for place, _ in marks], [label for _, label in marks], fontsize=8)
    axes.set_title(
        "distance from the claim, in units of the resolution", fontsize=8, loc="left", pad=4
    )
    for one in near[:1]:
        for span, colour in ((one.verified, pictures.BAND), (one.allowed, pictures.ALLOWED)):
            if span is not None and span[0] < span[1]:
                low, high = pictures.within(ends, *span)
                axes.axhspan(low, high, color=colour, linewidth=0, zorder=0)
    axes.axhline(0, color=pictures.INK, linewidth=1, linestyle="--")
    for point, one in zip(panel.points, near, strict=True):
        colour = pictures.MARKS[point.case.verdict].colour
        if one.interval is not None:
            low, high = pictures.within(ends, *one.interval)
            axes.plot([point.place] * 2, [low, high], color=colour, linewidth=1.6)
        if one.estimate is not None and ends[0] <= one.estimate <= ends[1]:
            axes.plot(
                [point.place], [one.estimate], zorder=3, **pictures.marker(point.case.verdict)
            )


def _labels_across(panel: Panel) -> list[tuple[float, str]]:
    """The labels of the axis of the swept parameter."""
    across = panel.across
    values = list(dict.fromkeys((point.place, point.label) for point in panel.points))
    if not panel.numeric:
        few = len(values) <= FEW_LAWS
        longest = (
            int(pictures.PLOT / max(len(values), 1) / pictures.ADVANCE) - 1 if few else UPRIGHT
        )
        return [(place, "\n".join(pictures.wrapped(label, longest))) for place, label in values]
    if across.logarithmic and len(values) <= FEW_VALUES:
        return values
    return across.ticks(FEW_VALUES)


def _across(axes: Axes, sheet: _Sheet) -> None:
    """The axis of the swept parameter, the same for the curve and for the strip."""
    across = sheet.panel.across
    if across.logarithmic:
        axes.set_xscale("log")
        room = (across.high / across.low) ** 0.04
        axes.set_xlim(across.low / room, across.high * room)
    else:
        room = 0.04 * (across.high - across.low)
        axes.set_xlim(across.low - room, across.high + room)
    turned: Any = {"rotation": 90.0} if sheet.upright else {}
    places = [place for place, _ in sheet.across]
    axes.set_xticks(places, [text for _, text in sheet.across], **turned)
    axes.set_xticks([], minor=True)
