"""A sweep's curves in the terminal: Braille dots for what is claimed, marks for what was estimated.

Where the intervals are too short to be seen on a curve, a strip below it shows how far its
estimates are from it, in units of the resolution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from dropcheck.report import pictures
from dropcheck.report.numbers import plural
from dropcheck.report.pictures import MARKS, Placed, placed
from dropcheck.report.pictures.curve import Axis, CurvePoint, Panel, panels, unswept
from dropcheck.report.terminal.layout import pairs_table
from dropcheck.report.terminal.screen import Terminal, one_line, render, styled
from dropcheck.results import SEVERITY, CaseResult, RunResult, Verdict

CURVE = "dim"

_BRAILLE = 0x2800
# the bits of the dots of a cell: four rows from the top, two columns
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))

USUAL_WIDTH = 80  # where the output is no terminal
NARROWEST = 30
WIDEST = 160
HEIGHT = 14  # of a curve, in lines
STRIP = 7  # of the distances below it
MOST_PANELS = 12  # nobody looks through more in a terminal; a picture shows them all
# an interval with more than this share of the height can be seen on the curve itself
SEEN = 0.12

STYLES = {Verdict.VERIFIED: "blue", Verdict.REFUTED: "bold red", Verdict.INCONCLUSIVE: "yellow"}


def terminal_plot(run: RunResult, terminal: Terminal) -> str:
    """Every swept claim of a run as curves; a line names those without a sweep."""
    panels_of_run = panels(run)
    items: list[RenderableType] = []
    for panel in panels_of_run[:MOST_PANELS]:
        items += [*_panel(panel, terminal), ""]
    if len(panels_of_run) > MOST_PANELS:
        rest = plural(len(panels_of_run) - MOST_PANELS, "more curve")
        items += [styled(f"and {rest}: give the others one value, or name a file by -o"), ""]
    alone = unswept(run)
    if panels_of_run and alone:
        items += [styled(f"no sweep, and so no curve: {', '.join(alone)}"), ""]
    return render(items, terminal)


def _panel(panel: Panel, terminal: Terminal) -> list[RenderableType]:
    """A curve, the distances below it where they are needed, and a legend."""
    labels = [(panel.up.at(value), text) for value, text in panel.up.ticks(5)]
    near = _distances(panel)
    ends = pictures.limits(near) if near else (0.0, 1.0)
    near_up = Axis(*ends)
    strip_labels = [(near_up.at(place), text) for place, text in pictures.ticks(ends)]
    strip_labels = _spaced(strip_labels, STRIP)
    margin = max(len(text) for _, text in (*labels, *strip_labels))
    canvas = Canvas(_width(terminal) - margin - 2, HEIGHT, terminal.ascii)
    _draw_curve(canvas, panel)
    items: list[RenderableType] = [
        styled(one_line(panel.claim), "bold"),
        styled(one_line(panel.heading)),
        *_framed(canvas, labels, margin),
    ]
    if near and not _is_seen(panel):
        strip = Canvas(canvas.width, STRIP, terminal.ascii)
        _draw_strip(strip, panel, near, near_up)
        items += [
            styled("distance from the claim, in units of the resolution:"),
            *_framed(strip, strip_labels, margin),
        ]
    items += _feet(panel, canvas, margin, terminal)
    return [*items, _legend(panel, terminal)]


def _width(terminal: Terminal) -> int:
    return min(max(terminal.width or USUAL_WIDTH, NARROWEST), WIDEST)


def _draw_curve(canvas: Canvas, panel: Panel) -> None:
    for curve in panel.claimed():
        canvas.line([(_across(panel, canvas, x), panel.up.at(y)) for x, y in curve])
    for point in sorted(panel.points, key=_severity):
        _draw(canvas, panel, point, panel.up, point.case)


def _draw_strip(strip: Canvas, panel: Panel, near: Sequence[Placed], up: Axis) -> None:
    """How far each estimate is from the claim, between lines at the claim and at its band."""
    for edge in (-1.0, 0.0, 1.0):
        strip.line([(0.0, up.at(edge)), (1.0, up.at(edge))])
    pairs = zip(panel.points, near, strict=True)
    for point, one in sorted(pairs, key=lambda pair: _severity(pair[0])):
        _draw(strip, panel, point, up, one)


def _across(panel: Panel, canvas: Canvas, place: float) -> float:
    """The share of the width, with half a mark's room on either side."""
    room = 1.5 / max(canvas.width - 1, 1)
    return room + (1 - 2 * room) * panel.across.at(place)


def _severity(point: CurvePoint) -> int:
    """The sort key in which points are drawn, so that no failure is covered."""
    return SEVERITY[point.case.result]


def _distances(panel: Panel) -> list[Placed]:
    points = [placed(point.case) for point in panel.points]
    return points if any(one.interval is not None for one in points) else []


def _is_seen(panel: Panel) -> bool:
    """Whether the intervals can be seen beside their estimates on the curve itself."""
    shares = sorted(
        panel.up.at(high) - panel.up.at(low)
        for point in panel.points
        if point.case.interval is not None
        for low, high in [point.case.interval]
        if low is not None and high is not None
    )
    return not shares or shares[len(shares) // 2] > SEEN


def _draw(
    canvas: Canvas, panel: Panel, point: CurvePoint, up: Axis, result: CaseResult | Placed
) -> None:
    """Draw an interval as a bar with its estimate; an arrow where it goes beyond the axis."""
    verdict = point.case.verdict
    mark, style = MARKS[verdict], STYLES[verdict]
    column = canvas.column(_across(panel, canvas, point.place))
    if result.interval is not None:
        first, last = result.interval
        low = -math.inf if first is None else up.at(first)
        high = math.inf if last is None else up.at(last)
        top, bottom = canvas.row(high), canvas.row(low)
        for row in range(top, bottom + 1):
            canvas.mark(row, column, "|" if canvas.ascii else "│", style)
        if high > 1:
            canvas.mark(top, column, "^" if canvas.ascii else "↑", style)
        if low < 0:
            canvas.mark(bottom, column, "v" if canvas.ascii else "↓", style)
    if result.estimate is not None and 0 <= up.at(result.estimate) <= 1:
        character = mark.ascii if canvas.ascii else mark.character
        canvas.mark(canvas.row(up.at(result.estimate)), column, character, style)


def _spaced(labels: Sequence[tuple[float, str]], height: int) -> list[tuple[float, str]]:
    """The labels that get a line of their own; of several on one line the shortest wins."""
    taken: dict[int, tuple[float, str]] = {}
    for share, text in sorted(labels, key=lambda one: len(one[1].lstrip("-"))):
        taken.setdefault(round(share * (height - 1)), (share, text))
    return sorted(taken.values())


def _framed(canvas: Canvas, labels: Sequence[tuple[float, str]], margin: int) -> list[Text]:
    """The canvas with its labels to the left."""
    bar, tick = ("|", "+") if canvas.ascii else ("│", "┤")
    rows = {canvas.row(share): text for share, text in labels if 0 <= share <= 1}
    framed = []
    for row, line in enumerate(canvas.lines()):
        text = Text(rows.get(row, "").rjust(margin) + " ", no_wrap=True, overflow="ignore")
        text.append(tick if row in rows else bar)
        framed.append(text + line)
    return framed


def _feet(panel: Panel, canvas: Canvas, margin: int, terminal: Terminal) -> list[RenderableType]:
    """The axis below, with the labels that have room; laws are numbered, and listed in a key."""
    places = dict.fromkeys((point.place, point.label) for point in panel.points)
    labels = [
        (canvas.column(_across(panel, canvas, place)), label if panel.numeric else f"{place:g}")
        for place, label in places
    ]
    line, names = ["-" if canvas.ascii else "─"] * canvas.width, [" "] * canvas.width
    for column, label in _roomy(labels, canvas.width):
        start = _start(column, label, canvas.width)
        names[start : start + len(label)] = label
        line[column] = "+" if canvas.ascii else "┬"
    corner = "+" if canvas.ascii else "└"
    indent = " " * (margin + 1)
    name = one_line(panel.parameter)
    items: list[RenderableType] = [
        Text(indent + corner + "".join(line), no_wrap=True, overflow="ignore"),
        Text(f"{indent} {''.join(names)}".rstrip(), no_wrap=True, overflow="ignore"),
        Text(indent + " " + name.center(canvas.width).rstrip(), overflow="fold"),
    ]
    if not panel.numeric:
        key = {f"{place:g}": terminal.spell(one_line(label)) for place, label in places}
        items.append(pairs_table(key))
    return items


def _start(column: int, label: str, width: int) -> int:
    """The start of a label that is centred on a column and stays within the width."""
    return min(max(column - len(label) // 2, 0), max(width - len(label), 0))


def _roomy(labels: Sequence[tuple[int, str]], width: int) -> Sequence[tuple[int, str]]:
    """Every label, or every second, or third: so that a space is left between them."""
    for step in range(1, len(labels)):
        chosen = labels[::step]
        starts = [_start(column, label, width) for column, label in chosen]
        stops = [start + len(label) for start, (_, label) in zip(starts, chosen, strict=True)]
        if all(stop < start for stop, start in zip(stops, starts[1:], strict=False)):
            return chosen
    return labels[:1]


def _legend(panel: Panel, terminal: Terminal) -> Text:
    """The meaning of the marks, on as few lines as possible."""
    verdicts = {point.case.verdict for point in panel.points}
    parts = [("." if terminal.ascii else "⠤⠤", CURVE, panel.claimed_word)]
    for verdict in Verdict:
        if verdict in verdicts:
            mark = MARKS[verdict]
            shape = mark.ascii if terminal.ascii else mark.character
            parts.append((shape, STYLES[verdict], str(verdict)))
    parts.append(("|" if terminal.ascii else "│", "", "interval"))
    width = _width(terminal)
    text, used = Text(overflow="fold"), 0
    for shape, style, word in parts:
        length = cell_len(shape) + 1 + cell_len(terminal.spell(word))
        if used and used + 3 + length > width:
            text.append("\n")
            used = 0
        elif used:
            text.append("   ")
            used += 3
        text.append(shape, style).append(f" {word}")
        used += length
    return text


@dataclass(slots=True)
class Canvas:
    """Cells from the top left, each with dots of a curve, or with a character on top of them."""

    width: int
    height: int
    ascii: bool
    dots: dict[tuple[int, int], int] = field(default_factory=dict)
    marks: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)

    def column(self, across: float) -> int:
        """The column at a share of the width; 0 and 1 are the outermost ones."""
        return round(min(max(across, 0.0), 1.0) * (self.width - 1))

    def row(self, up: float) -> int:
        """The row at a share of the height, counted from the top."""
        return round((1 - min(max(up, 0.0), 1.0)) * (self.height - 1))

    def mark(self, row: int, column: int, character: str, style: str) -> None:
        """Put a character on a cell."""
        self.marks[row, column] = (character, style)

    def line(self, points: Sequence[tuple[float, float]]) -> None:
        """Draw straight lines through points, given as shares of width and height."""
        fine = 1 if self.ascii else 2, 1 if self.ascii else 4
        wide, high = self.width * fine[0] - 1, self.height * fine[1] - 1
        dots = [(x * (self.width - 1) * fine[0], (1 - y) * high) for x, y in points]
        if len(dots) == 1:
            dots.append(dots[0])
        for (x0, y0), (x1, y1) in pairwise(dots):
            steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0))))
            for step in range(steps + 1):
                share = step / steps
                x, y = round(x0 + (x1 - x0) * share), round(y0 + (y1 - y0) * share)
                if 0 <= x <= wide and 0 <= y <= high:
                    self._dot(x, y)

    def _dot(self, x: int, y: int) -> None:
        if self.ascii:
            self.dots[y, x] = 1
            return
        cell = y // 4, x // 2
        self.dots[cell] = self.dots.get(cell, 0) | _DOTS[y % 4][x % 2]

    def lines(self) -> list[Text]:
        """The canvas, a text for each line."""
        rows = []
        for row in range(self.height):
            text = Text(no_wrap=True, overflow="ignore")
            for column in range(self.width):
                text.append(*self._cell(row, column))
            rows.append(text)
        return rows

    def _cell(self, row: int, column: int) -> tuple[str, str]:
        if (row, column) in self.marks:
            return self.marks[row, column]
        dots = self.dots.get((row, column), 0)
        if not dots:
            return " ", ""
        return ("." if self.ascii else chr(_BRAILLE + dots)), CURVE
