"""What all pictures share: an axis for different claims, marks, and matplotlib.

For a claim with two ends, 0 on the axis is the middle of what it allows, and ±1 are the edges of
the band within which an interval verifies it: what it allows, widened by the resolution. For an
inequality, 0 is its end, and 1 is one resolution away. Beyond ±1 the axis is logarithmic, so that a
claim that is off by a hundred resolutions fits on one axis with claims that hold.

Matplotlib is imported when a picture is asked for. The state of pyplot is not touched, no display
is needed, and a user's matplotlibrc changes nothing: the same run gives the same bytes.
"""

from __future__ import annotations

import io
import itertools
import math
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from dropcheck.claims.registry import Case
from dropcheck.claims.values import format_parameters, format_value
from dropcheck.errors import DropcheckError, Problem
from dropcheck.report import Report, words
from dropcheck.report.numbers import exact, plural
from dropcheck.report.screen import one_line
from dropcheck.report.words import by_claim
from dropcheck.results import CaseResult, Outcome, ParameterValue, RunResult, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PictureFormat = Literal["svg", "png"]

DPI = 144  # sharp on high-resolution screens, and still small
MOST_PIXELS = 2**16 - 1  # of each side of a PNG: the limit of the renderer

FARTHEST = 7.0  # on the axis: a million units; an arrow at the edge stands for what is farther
LEAST_SHOWN = 1.6  # on both sides: the whole band, and a little more

# inches
PLOT = 5.2  # how wide the axes are
LINE = 0.17
EDGE = 0.15
ADVANCE = 0.0755  # of a letter: 0.602 of 9 points, as in most monospaced fonts

INK = "#1a1a1a"
FAINT = "#b8b8b8"
BAND = "#d9e6f2"  # what the resolution adds to what is allowed
ALLOWED = "#b5cde3"
ALARM = "#fbe3d6"  # behind a row that failed

_STYLE: Any = {  # its type differs between versions of matplotlib
    "font.family": "monospace",  # so that labels fit also where another font is used
    "font.monospace": ["DejaVu Sans Mono", "monospace"],
    "font.size": 9,
    "text.parse_math": False,  # a dollar sign in a name is one
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and copied
    "svg.hashsalt": "dropcheck",
    "figure.facecolor": "white",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.borderpad": 0,
    "legend.handletextpad": 0.6,
}


@dataclass(frozen=True, slots=True)
class VerdictSymbol:
    """The mark of a verdict in every picture: a colour, and a shape that says the same.

    `shape` is matplotlib's name for it.
    """

    colour: str
    shape: str


# colours of Okabe and Ito, which colour-blind people can distinguish
MARKS = {
    Verdict.VERIFIED: VerdictSymbol("#0072b2", "o"),
    Verdict.REFUTED: VerdictSymbol("#d55e00", "X"),
    Verdict.INCONCLUSIVE: VerdictSymbol("#6b6b6b", "s"),
}


@contextmanager
def drawing() -> Iterator[None]:
    """A context in which matplotlib draws with its defaults and our style."""
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        # a letter that the font lacks is a box in the picture: no warning is needed
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def new_figure(width: float, height: float, kind: PictureFormat) -> Figure:
    """A figure of this size in inches, which pyplot does not know.

    Raises:
        DropcheckError: it would be too large for a PNG.
    """
    if kind == "png" and max(width, height) * DPI > MOST_PIXELS:
        hint = "name a file that ends in .svg, or select fewer claims"
        raise DropcheckError(Problem("the picture is too large for a PNG", hint=hint))
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def as_bytes(figure: Figure, kind: PictureFormat) -> bytes:
    """The figure as a file, without a date or a version in it."""
    file = io.BytesIO()
    nothing = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    figure.savefig(file, format=kind, dpi=DPI, metadata=nothing)
    return file.getvalue()


def wrapped(text: str, longest: int) -> list[str]:
    """A user's whole text on lines of at most `longest` characters.

    >>> wrapped("a-long-name  p=0.1", 12)
    ['a-long-name', 'p=0.1']
    """
    return textwrap.wrap(one_line(text), longest, break_on_hyphens=False) or [""]


def marker(verdict: Verdict) -> dict[str, Any]:
    """A verdict's mark as arguments of matplotlib."""
    mark = MARKS[verdict]
    hollow = verdict is Verdict.INCONCLUSIVE
    return {
        "marker": mark.shape,
        "markersize": 6.5 if verdict is Verdict.REFUTED else 5.5,
        "linestyle": "none",
        "markeredgecolor": mark.colour if hollow else "white",
        "markeredgewidth": 1.3 if hollow else 0.6,
        "markerfacecolor": "white" if hollow else mark.colour,
    }


@dataclass(frozen=True, slots=True)
class Placed:
    """A case on the shared axis; None where nothing is known, infinite where unbounded.

    `allowed` is the region of the claim, `verified` the band that its resolution adds to it.
    """

    case: CaseResult
    allowed: tuple[float, float] | None = None
    verified: tuple[float, float] | None = None
    estimate: float | None = None
    interval: tuple[float, float] | None = None


def squeeze(place: float) -> float:
    """The place on the drawn axis: linear up to ±1, then one unit for each power of ten.

    >>> [squeeze(x) for x in (0.0, 0.5, 1.0, 10.0, -1000.0)]
    [0.0, 0.5, 1.0, 2.0, -4.0]
    """
    if abs(place) <= 1:
        return place
    return math.copysign(1 + math.log10(abs(place)), place)


def placed(case: CaseResult) -> Placed:
    """A case on the shared axis."""
    region, sharpness = case.region, case.sharpness
    if region is None or sharpness is None or (math.isinf(region.low) and math.isinf(region.high)):
        return Placed(case=case)
    low, high = region.low, region.high
    widened = (
        low - (0.0 if region.low_open else sharpness.widening),
        high + (0.0 if region.high_open else sharpness.widening),
    )
    # 0 on the axis is the middle of what is allowed, or its one end; 1 is `unit` away
    origin, unit = (low if math.isfinite(low) else high), sharpness.asked
    if math.isfinite(low) and math.isfinite(high):
        origin = low + (high - low) / 2
        unit = max(widened[1] - origin, high - origin) or unit

    def at(value: float) -> float:
        return squeeze((value - origin) / unit)

    interval = None
    if case.interval is not None:
        first, last = case.interval
        interval = -math.inf if first is None else at(first), math.inf if last is None else at(last)
    estimate = case.estimate
    return Placed(
        case=case,
        allowed=(at(low), at(high)),
        verified=(at(widened[0]), at(widened[1])),
        estimate=None if estimate is None or not math.isfinite(estimate) else at(estimate),
        interval=interval,
    )


def limits(rows: Iterable[Placed]) -> tuple[float, float]:
    """The ends of the axis, which shows everything finite up to a million units."""
    low, high = -LEAST_SHOWN, LEAST_SHOWN
    for row in rows:
        for value in (row.estimate, *(row.interval or ())):
            if value is not None and math.isfinite(value):
                low, high = min(low, value - 0.3), max(high, value + 0.3)
    return max(low, -FARTHEST - 0.3), min(high, FARTHEST + 0.3)


def ticks_between(ends: tuple[float, float], most: int | None = None) -> list[tuple[float, str]]:
    """The places of the axis with labels, and the labels.

    Where there are more than `most`, only every second power of ten beyond the band has one.

    >>> ticks_between((-1.6, 3.2))
    [(-1.0, '-1'), (0.0, '0'), (1.0, '1'), (2.0, '10'), (3.0, '100')]
    >>> ticks_between((-1.6, 3.2), most=4)
    [(-1.0, '-1'), (0.0, '0'), (1.0, '1'), (3.0, '100')]
    """
    low, high = ends
    named = [(0.0, "0")]
    for power in range(int(FARTHEST)):
        label = str(10**power) if power < 4 else f"1e{power}"
        named += [(power + 1.0, label), (-power - 1.0, f"-{label}")]
    shown = sorted((place, label) for place, label in named if low <= place <= high)
    if most is None or len(shown) <= most:
        return shown
    return [one for one in shown if abs(one[0]) <= 1 or abs(one[0]) % 2 == 1]


def within(ends: tuple[float, float], *values: float) -> tuple[float, ...]:
    """The values, cut at the ends of the axis."""
    return tuple(min(max(value, ends[0]), ends[1]) for value in values)


# ---- curve ---------------------------------------------------------------------------------------
#
# A sweep as curves: what is claimed and what was estimated, against the parameter that was swept.
#
# The parameter with the most values is the axis, numbers before laws. Other parameters that vary
# give
# a panel for each of their values, unless the axis determines them, as in cases listed one by one.


# from this ratio of the largest value to the smallest on, the axis is logarithmic
SPREAD = 100.0
LARGEST = 1e300  # larger values are cut to this, so that differences stay finite
MARGIN = 0.04  # the share of the axis that is left free at each end


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from `low` to `high`, evenly spaced or by their logarithms."""

    low: float
    high: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """The place of a value: 0 at the low end, 1 at the high end.

        >>> Axis(0, 4).at(1), Axis(1, 100, logarithmic=True).at(10)
        (0.25, 0.5)
        """
        low, high, value = (self._drawn(one) for one in (self.low, self.high, value))
        return (value - low) / (high - low)

    def _drawn(self, value: float) -> float:
        if not self.logarithmic:
            return value
        return math.log10(value) if value > 0 else -math.inf

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """At most `most` values to label (at least one where that is 2 or more), with labels.

        >>> Axis(0, 1).ticks(6)
        [(0.0, '0'), (0.2, '0.2'), (0.4, '0.4'), (0.6, '0.6'), (0.8, '0.8'), (1.0, '1')]
        >>> Axis(0.5, 2000, logarithmic=True).ticks(6)
        [(1.0, '1'), (10.0, '10'), (100.0, '100'), (1000.0, '1000')]
        """
        values = self._decades(most) if self.logarithmic else []
        if len(values) < 2:
            values = self._even(most)
        return [
            (value, exact(round(value, 12) if abs(value) > 1e-3 else value)) for value in values
        ]

    def _decades(self, most: int) -> list[float]:
        low, high = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        step = max(1, -(-(high - low + 1) // max(most, 1)))
        return [10.0**power for power in range(low, high + 1, step)]

    def _even(self, most: int) -> list[float]:
        """Multiples of the smallest step, 1, 2 or 5 times a power of ten, that gives few enough."""
        width = self.high - self.low
        power = 10.0 ** math.floor(math.log10(width / max(most, 1)))
        for step in (power * factor for factor in (1, 2, 5, 10, 20, 50, 100)):
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            if last - first < most:
                return [float(f"{step * n:.12g}") for n in range(first, last + 1)]  # 3 × 0.1 is 0.3
        return []


def axis_over(values: Iterable[float]) -> Axis | None:
    """An axis that shows all finite values; None where there are none."""
    known = [min(max(value, -LARGEST), LARGEST) for value in values if math.isfinite(value)]
    if not known:
        return None
    low, high = min(known), max(known)
    if low > 0 and high / low >= SPREAD:
        stretch = (high / low) ** MARGIN
        return Axis(low / stretch, high * stretch, logarithmic=True)
    pad = (high - low) * MARGIN
    largest = max(abs(low), abs(high))
    if pad <= largest * 1e-12 + 1 / LARGEST:  # a single value: a tenth of it on both sides
        pad = largest / 10
        pad = pad if pad > 1 / LARGEST else 1.0
    return Axis(low - pad, high + pad)


def is_geometric(values: Sequence[float]) -> bool:
    """Whether values are spaced more evenly by their ratios than by differences, as 16, 64, 256.

    >>> is_geometric([16, 64, 256]), is_geometric([0.05, 0.5, 0.95])
    (True, False)
    """
    ordered = sorted(set(values))
    if len(ordered) < 3 or ordered[0] <= 0:
        return False
    gaps = [high - low for low, high in pairwise(ordered)]
    ratios = [math.log(high) - math.log(low) for low, high in pairwise(ordered)]
    return max(ratios) / sum(ratios) < 0.9 * max(gaps) / sum(gaps)


Parameters = Mapping[str, ParameterValue]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One case of a sweep: its place along the axis, and the value there as it is written."""

    place: float
    label: str
    case: CaseResult


@dataclass(frozen=True, slots=True)
class Panel:
    """A sweep of one parameter, with all others fixed or determined by it.

    `across` is the axis of the swept parameter; `up` is that of the quantity, with room for all
    estimates, intervals and claimed values.
    """

    claim: str
    parameter: str
    along: str  # the parameters that the axis determines: "low, high"
    held: str  # the values of the others: "x=2, law=normal(0, 1)"
    numeric: bool
    points: tuple[CurvePoint, ...]
    across: Axis
    up: Axis

    @property
    def heading(self) -> str:
        """What is plotted, in one line."""
        held = f", at {self.held}" if self.held else ""
        along = f" and {self.along} with it" if self.along else ""
        return f"{self.points[0].case.expression} against {self.parameter}{along}{held}"

    @property
    def claimed_word(self) -> str:
        """The name of the claimed curve: `claimed`, with the relation of an inequality."""
        region = self.points[0].case.region
        relation = None if region is None else region.relation
        return "claimed" if relation in (None, "==") else f"claimed: {relation}"

    def claimed(self) -> list[list[tuple[float, float]]]:
        """The curves that bound what is claimed: one, or two for a range."""
        curves: list[list[tuple[float, float]]] = [[], []]
        for point in self.points:
            region = point.case.region
            if region is not None:
                curves[0].append((point.place, region.low))
                if not region.point:
                    curves[1].append((point.place, region.high))
        known = ([dot for dot in curve if math.isfinite(dot[1])] for curve in curves)
        return [curve for curve in known if curve]


def panels(run: RunResult) -> tuple[Panel, ...]:
    """The panels of every swept claim of a run, in order."""
    made: list[Panel] = []
    for cases in by_claim(run.cases).values():
        rows = [case.parameters for case in cases]
        parameter = swept(rows)
        if parameter is None:
            continue
        apart = _apart(rows, parameter)
        held = [name for name in _names(rows) if len(_values(rows, name)) == 1]
        groups: dict[tuple[ParameterValue | None, ...], list[CaseResult]] = {}
        for case in cases:
            groups.setdefault(tuple(case.parameters.get(name) for name in apart), []).append(case)
        shown = [*apart, *held]
        along = [name for name in _names(rows) if name not in (parameter, *shown)]
        made += [_panel(group, parameter, along, shown) for group in groups.values()]
    return tuple(made)


def _panel(
    cases: Sequence[CaseResult], parameter: str, along: Sequence[str], shown: Sequence[str]
) -> Panel:
    values = [case.parameters[parameter] for case in cases if parameter in case.parameters]
    numeric = all(isinstance(value, float) for value in values)
    order = {value: index + 1.0 for index, value in enumerate(dict.fromkeys(values))}
    points = [
        CurvePoint(
            value if isinstance(value, float) and numeric else order[value],
            format_value(value),
            case,
        )
        for case in cases
        if (value := case.parameters.get(parameter)) is not None
    ]
    first = cases[0]
    held = {name: value for name, value in first.parameters.items() if name in shown}
    points.sort(key=lambda point: point.place)
    return Panel(
        claim=first.claim,
        parameter=parameter,
        along=", ".join(along),
        held=format_parameters(held),
        numeric=numeric,
        points=tuple(points),
        across=_axis_across([point.place for point in points], numeric=numeric),
        up=_axis_up(point.case for point in points),
    )


def _axis_across(places: Sequence[float], *, numeric: bool) -> Axis:
    """The axis of the swept parameter; laws, and numbers among laws, stand in their order."""
    if not numeric:
        return Axis(0.5, max(places) + 0.5)
    low, high = min(places), max(places)
    if is_geometric(places):
        return Axis(low, high, logarithmic=True)
    return Axis(low, high) if high > low else Axis(low - 1, high + 1)


def _axis_up(cases: Iterable[CaseResult]) -> Axis:
    values: list[float] = []
    for case in cases:
        known = [case.estimate, *(case.interval or ())]
        if case.region is not None:
            known += [case.region.low, case.region.high]
        values += [value for value in known if value is not None]
    return axis_over(values) or Axis(-1, 1)


def swept(rows: Sequence[Parameters]) -> str | None:
    """The parameter that makes the axis; None where each has one value.

    >>> swept([{"p": 0.1, "x": 2.0}, {"p": 0.5, "x": 2.0}])
    'p'
    """
    named = {name: _values(rows, name) for name in _names(rows)}
    several = {name: values for name, values in named.items() if len(values) > 1}

    def worth(name: str) -> tuple[bool, int]:
        return all(isinstance(one, float) for one in several[name]), len(several[name])

    return max(several, key=worth, default=None)


def _apart(rows: Sequence[Parameters], parameter: str) -> list[str]:
    """The parameters that vary and are not determined by the axis."""
    apart = []
    for name in _names(rows):
        pairs = {(row.get(parameter), row.get(name)) for row in rows}
        if name != parameter and len(pairs) > len({first for first, _ in pairs}):
            apart.append(name)
    return apart


def _names(rows: Iterable[Parameters]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _values(rows: Iterable[Parameters], name: str) -> set[ParameterValue]:
    return {row[name] for row in rows if name in row}


def require_sweep(cases: Iterable[Case]) -> None:
    """Check that there is a curve to plot, before anything is simulated.

    Raises:
        DropcheckError: no claim has a parameter with several values.
    """
    rows_of: dict[str, list[Parameters]] = {}
    names: dict[str, None] = {}
    for case in cases:
        rows_of.setdefault(case.claim.id, []).append(case.parameters)
        names.update(dict.fromkeys(case.claim.parameter_names))
    if any(swept(rows) is not None for rows in rows_of.values()):
        return
    hint = "select a claim with parameters; dropcheck show ID lists them"
    if names:
        hint = f"give several values with commas, as in --{next(iter(names))} 0.1,0.2,0.5"
    message = "option '--plot' needs a sweep, and no parameter has several values"
    raise DropcheckError(Problem(message, hint=hint))


# ---- curve picture -------------------------------------------------------------------------------
#
# A sweep's curves as a picture: what is claimed, and the estimates with their intervals.
#
# A strip below each curve shows the distance of its estimates from it, in units of the resolution:
#  an
# interval of a hundredth of the claimed value cannot be seen on the curve itself.


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


def curve_picture(run: RunResult, kind: PictureFormat) -> bytes:
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
    with drawing():
        return as_bytes(_curve_figure(drawn, kind), kind)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A panel with its labels, and so the room that it needs."""

    panel: Panel
    near: list[Placed]
    heading: list[str]
    across: list[tuple[float, str]]  # the labels below
    upright: bool
    left: float
    below: float

    @property
    def above(self) -> float:
        """Inches over the curve: the heading and the legend."""
        return EDGE + LINE * len(self.heading) + 0.34

    @property
    def height(self) -> float:
        """Inches from top to bottom."""
        return self.above + CURVE + BETWEEN + STRIP + self.below


def _curve_figure(drawn: tuple[Panel, ...], kind: PictureFormat) -> Figure:
    sheets = [_sheet(panel) for panel in drawn]
    columns = 1 if len(sheets) <= SEVERAL else 2
    rows = [sheets[start : start + columns] for start in range(0, len(sheets), columns)]
    left = max(sheet.left for sheet in sheets)
    column = left + PLOT + 2 * EDGE
    heights = [max(sheet.height for sheet in row) for row in rows]
    figure = new_figure(column * columns, sum(heights), kind)
    top = 0.0
    for row, height in zip(rows, heights, strict=True):
        for index, sheet in enumerate(row):
            _draw(figure, sheet, index * column, left, top)
        top += height
    return figure


def _sheet(panel: Panel) -> _Sheet:
    near = [placed(point.case) for point in panel.points]
    labels = _labels_across(panel)
    upright = not panel.numeric and len(labels) > FEW_LAWS
    ticks = [*panel.up.ticks(6), *ticks_between(limits(near), STRIP_TICKS)]
    lines = max(text.count("\n") + 1 for _, text in labels)
    longest = max(len(line) for _, text in labels for line in text.split("\n"))
    below = ADVANCE * longest if upright else LINE * lines
    name = wrapped(panel.parameter, LETTERS)
    return _Sheet(
        panel=panel,
        near=near,
        heading=[
            *wrapped(panel.claim, LETTERS),
            *wrapped(panel.heading, LETTERS),
        ],
        across=labels,
        upright=upright,
        left=2 * EDGE + ADVANCE * max(len(text) for _, text in ticks),
        below=below + 0.2 + LINE * len(name) + EDGE,
    )


def _draw(figure: Figure, sheet: _Sheet, x: float, left: float, top: float) -> None:
    """A curve with its distances below it, and its heading and legend above, at its place."""
    width, height = figure.get_size_inches()

    def axes_at(below_top: float, tall: float) -> Axes:
        bottom = height - top - below_top - tall
        return figure.add_axes(((x + left) / width, bottom / height, PLOT / width, tall / height))

    curve = axes_at(sheet.above, CURVE)
    strip = axes_at(sheet.above + CURVE + BETWEEN, STRIP)
    for index, line in enumerate(sheet.heading):
        y = 1 - (top + EDGE + LINE * index) / height
        weight = "bold" if index == 0 else "normal"
        figure.text((x + EDGE) / width, y, line, va="top", weight=weight)
    _draw_curve(curve, sheet.panel)
    _draw_strip(strip, sheet.panel, sheet.near)
    for axes in (curve, strip):
        _across(axes, sheet)
        axes.grid(visible=True, color=FAINT, linewidth=0.4)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    curve.tick_params(axis="x", labelbottom=False)
    strip.set_xlabel("\n".join(wrapped(sheet.panel.parameter, LETTERS)))
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
            color=INK,
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
            color=BAND,
            linewidth=0,
            label="allowed",
        )


def _draw_results(axes: Axes, points: Sequence[CurvePoint], verdict: Verdict, up: Axis) -> None:
    """The intervals and estimates of the cases with one verdict."""
    for point in points:
        if point.case.interval is not None:
            low, high = point.case.interval
            ends = [up.low if low is None else low, up.high if high is None else high]
            axes.plot([point.place] * 2, ends, color=MARKS[verdict].colour, linewidth=1.6)
    shown = [point for point in points if point.case.estimate is not None]
    places = [point.place for point in shown]
    estimates = [point.case.estimate or 0.0 for point in shown]
    axes.plot(places, estimates, label=str(verdict), zorder=3, **marker(verdict))


def _draw_strip(axes: Axes, panel: Panel, near: list[Placed]) -> None:
    """How far each estimate is from the claim, in units of the resolution."""
    ends = limits(near)
    axes.set_ylim(*ends)
    marks = ticks_between(ends, STRIP_TICKS)
    axes.set_yticks([place for place, _ in marks], [label for _, label in marks], fontsize=8)
    axes.set_title(
        "distance from the claim, in units of the resolution", fontsize=8, loc="left", pad=4
    )
    for one in near[:1]:
        for span, colour in ((one.verified, BAND), (one.allowed, ALLOWED)):
            if span is not None and span[0] < span[1]:
                low, high = within(ends, *span)
                axes.axhspan(low, high, color=colour, linewidth=0, zorder=0)
    axes.axhline(0, color=INK, linewidth=1, linestyle="--")
    for point, one in zip(panel.points, near, strict=True):
        colour = MARKS[point.case.verdict].colour
        if one.interval is not None:
            low, high = within(ends, *one.interval)
            axes.plot([point.place] * 2, [low, high], color=colour, linewidth=1.6)
        if one.estimate is not None and ends[0] <= one.estimate <= ends[1]:
            axes.plot([point.place], [one.estimate], zorder=3, **marker(point.case.verdict))


def _labels_across(panel: Panel) -> list[tuple[float, str]]:
    """The labels of the axis of the swept parameter."""
    across = panel.across
    values = list(dict.fromkeys((point.place, point.label) for point in panel.points))
    if not panel.numeric:
        few = len(values) <= FEW_LAWS
        longest = int(PLOT / max(len(values), 1) / ADVANCE) - 1 if few else UPRIGHT
        return [(place, "\n".join(wrapped(label, longest))) for place, label in values]
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


# ---- cases picture -------------------------------------------------------------------------------
#
# Every case of a run as an interval against what its claim allows, in one picture.


# inches
ROW = 0.24  # of a label of one line
GAP = 0.08  # between claims
LABEL = 64  # letters on a line of a label

AXIS = "distance from the claim; ±1: edge of the band in which it is verified; logarithmic beyond"


@dataclass(frozen=True, slots=True)
class _Row:
    """A case and its place in the picture, in inches from the top."""

    placed: Placed
    label: tuple[str, ...]
    middle: float
    height: float


def svg_report(report: Report) -> bytes:
    """The curves of a sweep where they are asked for, else every case as an interval."""
    return curve_picture(report.run, "svg") if report.plot else picture(report.run, "svg")


def png_report(report: Report) -> bytes:
    """The same picture as `svg_report` as a PNG."""
    return curve_picture(report.run, "png") if report.plot else picture(report.run, "png")


def picture(run: RunResult, kind: PictureFormat) -> bytes:
    """The picture as the bytes of a file; the same run gives the same bytes.

    Raises:
        DropcheckError: matplotlib is not installed, or there are too many cases for a PNG.
    """
    with drawing():
        return as_bytes(_cases_figure(run, kind), kind)


def _cases_figure(run: RunResult, kind: PictureFormat) -> Figure:
    from matplotlib.transforms import Bbox

    rows, height = _rows([placed(case) for case in run.cases])
    ends = limits([row.placed for row in rows])
    left = EDGE + ADVANCE * (1 + _longest([line for row in rows for line in row.label]))
    right = EDGE + ADVANCE * (1 + _longest([words.standing(row.placed.case) for row in rows]))
    title = _title(run, int((left + PLOT + right - 2 * EDGE) / ADVANCE))
    above, below = 0.2 * len(title) + 0.82, 0.55
    width, total = left + PLOT + right, above + max(height, ROW) + below
    figure = new_figure(width, total, kind)
    box = Bbox.from_extents(
        left / width, below / total, (left + PLOT) / width, (total - above) / total
    )
    axes = figure.add_axes((box.x0, box.y0, box.width, box.height))
    axes.set_xlim(*ends)
    axes.set_ylim(max(height, ROW), 0)
    _frame(axes, ends)
    _legend(figure, rows, 1 - (0.2 * len(title) + 0.12) / total, (left + PLOT / 2) / width)
    for index, line in enumerate(title):
        figure.text(EDGE / width, 1 - (EDGE + 0.2 * index) / total, line, va="top")
    _backgrounds(axes, rows, ends)
    _intervals(axes, rows, ends)
    _labels(axes, rows)
    return figure


def _rows(placed: Sequence[Placed]) -> tuple[list[_Row], float]:
    """The rows from the top down, with gaps between claims, and their total height."""
    rows: list[_Row] = []
    top = GAP
    for _, group in itertools.groupby(placed, key=lambda one: one.case.claim):
        for one in group:
            values = words.parameters(one.case)
            label = wrapped(f"{one.case.claim}: {values}" if values else one.case.claim, LABEL)
            height = ROW + LINE * (len(label) - 1)
            rows.append(_Row(one, tuple(label), top + height / 2, height))
            top += height
        top += GAP
    return rows, top


def _longest(texts: Sequence[str]) -> int:
    return max(map(len, texts), default=0)


def _title(run: RunResult, letters: int) -> list[str]:
    parts = [
        *(["interrupted"] if run.interrupted else []),
        words.counts(run),
        *([limit] if (limit := words.on_the_limit(run)) else []),
        f"seed {run.settings.seed}",
        f"α {exact(run.settings.alpha)}",
    ]
    return [*wrapped(run.registry, letters), *wrapped(" · ".join(parts), letters)]


def _frame(axes: Axes, ends: tuple[float, float]) -> None:
    """The axis, labelled above and below: a picture of many cases is longer than a screen."""
    marks = ticks_between(ends)
    axes.set_xticks([place for place, _ in marks], [label for _, label in marks])
    axes.tick_params(axis="x", top=True, labeltop=True, color=FAINT, labelsize=8)
    axes.set_yticks([])
    axes.set_xlabel(AXIS, fontsize=7)
    for side in ("left", "right"):
        axes.spines[side].set_visible(False)
    for place, _ in marks:
        axes.axvline(place, color=FAINT, linewidth=0.4, zorder=0.5)


def _backgrounds(axes: Axes, rows: Sequence[_Row], ends: tuple[float, float]) -> None:
    """What each claim allows, its band, and a shade behind failures."""
    from matplotlib.patches import Rectangle

    for row in rows:
        top, high = row.middle - row.height / 2, row.height
        if row.placed.case.result is Outcome.FAIL:
            width = ends[1] - ends[0]
            axes.add_patch(Rectangle((ends[0], top), width, high, color=ALARM, lw=0, zorder=0.1))
        for span, colour in (
            (row.placed.verified, BAND),
            (row.placed.allowed, ALLOWED),
        ):
            if span is None:
                continue
            low, upper = within(ends, *span)
            if upper > low:
                shape = Rectangle((low, top + 0.02), upper - low, high - 0.04, color=colour, lw=0)
                shape.set_zorder(0.2 if colour == BAND else 0.3)
                axes.add_patch(shape)
        if row.placed.allowed is not None:
            shown = [end for end in set(row.placed.allowed) if math.isfinite(end)]
            axes.vlines(shown, top + 0.02, top + high - 0.02, color=INK, linewidth=0.9, zorder=1)


def _intervals(axes: Axes, rows: Sequence[_Row], ends: tuple[float, float]) -> None:
    """Each interval with its estimate; an arrow where one goes on beyond the axis."""
    inset = 0.01 * (ends[1] - ends[0])  # an arrow's tip stays on the axis
    for row in rows:
        placed, y = row.placed, row.middle
        colour = MARKS[placed.case.verdict].colour
        if placed.interval is not None:
            low, high = within(ends, *placed.interval)
            axes.plot([low, high], [y, y], color=colour, lw=1.6, zorder=2, solid_capstyle="butt")
            for end in placed.interval:
                x = min(max(end, ends[0] + inset), ends[1] - inset)
                shape = "|" if ends[0] <= end <= ends[1] else "<" if end < 0 else ">"
                axes.plot([x], [y], marker=shape, ms=5.5, color=colour, zorder=2)
        if placed.estimate is not None and ends[0] <= placed.estimate <= ends[1]:
            axes.plot([placed.estimate], [y], zorder=3, **marker(placed.case.verdict))


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
            words.standing(case),
            transform=beside,
            va="center",
            color=MARKS[case.verdict].colour,
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
        return {**marker(verdict), "linestyle": "-"}

    verdicts = {row.placed.case.verdict for row in rows}
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=MARKS[one].colour, lw=1.6, label=str(one), **drawn(one))
        for one in Verdict
        if one in verdicts
    ]
    handles += [
        Line2D([], [], color=INK, marker="|", ms=9, linestyle="none", label="claimed"),
        Patch(color=ALLOWED, label="allowed"),
        Patch(color=BAND, label="resolution"),
    ]
    legend = figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(middle, top),
        ncols=3,
        columnspacing=1.6,
    )
    legend.set_in_layout(False)
