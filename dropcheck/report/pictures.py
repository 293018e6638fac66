"""Pictures by matplotlib: every case of a run as an interval, or a sweep as curves.

All claims share one axis. Where a claim has two ends, 0 is the middle of what it allows, and ±1 are
the edges of the band within which an interval verifies it: what it allows, widened by the
resolution. For an inequality, 0 is its end, and 1 is one resolution away. Beyond ±1 the axis is
logarithmic, so that a claim that is off by a hundred resolutions stands beside claims that hold.

Matplotlib is imported when a picture is asked for. The state of pyplot is not touched, no display
is needed, and a user's matplotlibrc changes nothing: the same run gives the same bytes.
"""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dropcheck.claims.registry import Case
from dropcheck.claims.values import short_parameters, short_value
from dropcheck.errors import DropcheckError, Problem
from dropcheck.report import Report, words
from dropcheck.report.facts import summary
from dropcheck.report.numbers import plural
from dropcheck.report.screen import one_line
from dropcheck.results import CaseResult, Outcome, ParameterValue, Region, RunResult, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {  # by their use, each for a light and for a dark ground
    "paper": ("#ffffff", "#0f1318"),
    "ink": ("#1b1f24", "#e6edf3"),
    "line": ("#c4c9cf", "#454f5b"),
    "band": ("#dce9f5", "#1d3245"),  # what the resolution adds to what is allowed
    "allowed": ("#b0cbe4", "#2e5170"),
    "alarm": ("#fdeae6", "#3a1c18"),  # behind a case that failed
    "raised": ("#f6f8fa", "#181e25"),
    "quiet": ("#57606a", "#9aa5b1"),
    "link": ("#0a5ca8", "#79b8ff"),
    # of marks: colour-blind people can tell them apart
    "verified": ("#0067a3", "#6cc0f0"),
    "refuted": ("#b84c00", "#ff9f66"),
    # of words
    "pass": ("#1a7232", "#56d364"),
    "fail": ("#b3261e", "#ff8a80"),
    "error": ("#b3261e", "#ff8a80"),
    "undecided": ("#7d5700", "#e3b341"),
}
LIGHT = {name: light for name, (light, _) in COLOURS.items()}
SHAPES = {Verdict.VERIFIED: "o", Verdict.REFUTED: "X", Verdict.UNDECIDED: "s"}
FARTHEST = 7.0  # on the axis: a million units; an arrow at the edge stands for what is farther
AXIS = "distance from the claim; ±1: edge of the band in which it is verified; logarithmic beyond"
MOST_CURVES = 60  # a larger picture is of no use
MOST_PIXELS = 2**16 - 1  # of each side of a PNG: the limit of the renderer
DPI = 144  # sharp on high-resolution screens, and still small
ROW, LINE = 0.24, 0.17  # inches: of a case, of a further line of text
LARGEST = 1e300  # larger values are cut to this, so that differences stay finite


def picture(kind: str, report: Report) -> bytes:
    """The curves of a sweep where they are asked for, else every case as an interval.

    Raises:
        DropcheckError: there is no curve, or the picture would be too large.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    inks = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")
    lines = ("axes.edgecolor", "grid.color")
    colours = {
        "figure.facecolor": LIGHT["paper"],
        **dict.fromkeys(inks, LIGHT["ink"]),
        **dict.fromkeys(lines, LIGHT["line"]),
    }
    sheet = str(files("dropcheck.report").joinpath("assets", "picture.mplstyle"))
    with style.context([sheet, colours], after_reset=True), warnings.catch_warnings():
        # a letter that the font lacks is a box in the picture: no warning is needed
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        (_draw_curves if report.plot else _draw_cases)(figure := Figure(), report.run)
        if kind == "png" and (max(figure.get_size_inches()) + 2) * DPI > MOST_PIXELS:
            hint = "name a file that ends in .svg, or select fewer claims"
            raise DropcheckError(Problem("the picture is too large for a PNG", hint=hint))
        nothing = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        tight: Any = {"bbox_inches": "tight", "pad_inches": 0.15}
        figure.savefig(file := io.BytesIO(), format=kind, dpi=DPI, metadata=nothing, **tight)
    rules = (  # readers may prefer a dark ground
        f'[style*="{of}: {light}"]{{{of}:{dark}!important}}'
        for light, dark in COLOURS.values()
        for of in ("fill", "stroke")
    )
    dark = f"<style>@media (prefers-color-scheme:dark){{{''.join(rules)}}}</style><defs>"
    return file.getvalue().replace(b"<defs>", dark.encode(), 1 if kind == "svg" else 0)


# ---- where things stand --------------------------------------------------------------------------

Ends = tuple[float, float]
NOWHERE = (math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Placed:
    """A case on an axis; NaN where nothing is known, infinite where unbounded.

    `allowed` is the region of the claim, `verified` the band that its resolution adds to it.
    """

    allowed: Ends = NOWHERE
    verified: Ends = NOWHERE
    interval: Ends = NOWHERE
    estimate: float = math.nan
    exact: float = math.nan  # the value that the model gives beside the estimate


def squeeze(place: float) -> float:
    """The place on the drawn axis: linear up to ±1, then one unit for each power of ten.

    >>> [squeeze(x) for x in (0.0, 0.5, 1.0, 10.0, -1000.0)]
    [0.0, 0.5, 1.0, 2.0, -4.0]
    """
    return place if abs(place) <= 1 else math.copysign(1 + math.log10(abs(place)), place)


def measured(case: CaseResult) -> Placed:
    """A case in the unit of its quantity."""
    region = case.region or Region(*NOWHERE)
    more = case.sharpness.widening if case.sharpness else math.nan
    low, high = case.interval or NOWHERE
    return Placed(
        allowed=(region.low, region.high),
        verified=(
            region.low - more * (not region.low_open),
            region.high + more * (not region.high_open),
        ),
        interval=(-math.inf if low is None else low, math.inf if high is None else high),
        estimate=math.nan if case.estimate is None else case.estimate,
        exact=case.exact.value if case.exact and case.draws else math.nan,
    )


def placed(case: CaseResult) -> Placed:
    """A case on the axis that all claims share.

    Where an exact value decides and there is no band, the unit is the resolution that was asked
    for, or else the distance of what is farthest.
    """
    known, sharpness = measured(case), case.sharpness
    unit = sharpness.asked if sharpness else case.resolution * (case.scale or 0.0)
    origin, high = sorted(known.allowed, key=math.isinf)  # an end that is finite
    if math.isfinite(high):
        origin += (high - origin) / 2
        unit = (known.verified[1] if sharpness else high) - origin or unit
    far = (abs(one - origin) for one in (*known.interval, known.estimate, known.exact))
    unit = unit or max(filter(math.isfinite, far), default=math.nan) or 1.0

    def at(first: float, last: float) -> Ends:
        return squeeze((first - origin) / unit), squeeze((last - origin) / unit)

    allowed, verified, interval = at(*known.allowed), at(*known.verified), at(*known.interval)
    return Placed(allowed, verified, interval, *at(known.estimate, known.exact))


def limits(rows: Iterable[Placed]) -> Ends:
    """The ends of the axis, which shows everything finite up to a million units."""
    known = [value for row in rows for value in (row.estimate, *row.interval)]
    shown = [max(min(value, FARTHEST), -FARTHEST) for value in known if math.isfinite(value)]
    return min([-1.3, *shown]) - 0.3, max([1.3, *shown]) + 0.3


def ticks_between(ends: Ends, most: int = 17) -> dict[int, str]:
    """The places of the axis with their labels; of more than `most`, every second beyond ±1.

    >>> ticks_between((-1.6, 3.2)), ticks_between((-1.6, 6.2), most=6)
    ({-1: '-1', 0: '0', 1: '1', 2: '10', 3: '100'}, {-1: '-1', 0: '0', 1: '1', 3: '100', 5: '1e4'})
    """
    places = [place for place in range(-8, 9) if ends[0] <= place <= ends[1]]
    shown = [at for at in places if len(places) <= most or abs(at) <= 1 or at % 2]
    powers = ("0", "1", "10", "100", "1000", *(f"1e{power}" for power in range(4, 8)))
    return {at: "-" * (at < 0) + powers[abs(at)] for at in shown}


def wrapped(text: str, longest: int = 64) -> str:
    r"""A user's whole text on lines of at most `longest` characters.

    >>> wrapped("a-long-name  p=0.1", 12)
    'a-long-name\np=0.1'
    """
    return "\n".join(textwrap.wrap(one_line(text), longest, break_on_hyphens=False))


def _draw(axes: Axes, cases: Sequence[CaseResult], rows: Sequence[Placed], *at: Any) -> None:
    """Intervals, estimates and exact values; a verdict has its colour, and a shape that says it.

    `at` are the places across the axis, and whether the intervals stand upright.
    """
    import numpy as np

    (across, upright), ends = at, axes.get_ylim() if at[1] else axes.get_xlim()
    lines = axes.vlines if upright else axes.hlines
    low, high = np.clip(np.reshape([row.interval for row in rows], (-1, 2)), *ends).T
    lines(across, low, high, colors=[LIGHT[case.verdict] for case in cases], lw=1.6, zorder=3)

    def dots(known: Mapping[int, float], shape: str, size: float, **style: Any) -> None:
        pair = [*known.values()], [across[place] for place in known]
        if known:
            axes.plot(*pair[:: -1 if upright else 1], shape, ms=size, **style)

    for verdict, shape in SHAPES.items():
        hollow, size = verdict is Verdict.UNDECIDED, 6.5 if shape == "X" else 5.5
        fill, edge = ("paper", verdict) if hollow else (verdict, "paper")
        look = {"mfc": LIGHT[fill], "mec": LIGHT[edge], "mew": 1.3 if hollow else 0.6, "zorder": 4}
        known = {n: rows[n].estimate for n, case in enumerate(cases) if case.verdict is verdict}
        dots(known, shape, size, label=str(verdict), **look)
    known = {n: row.exact for n, row in enumerate(rows) if math.isfinite(row.exact)}
    dots(known, "D", 3, label="exact value", c=LIGHT["ink"], zorder=5)


# ---- every case ----------------------------------------------------------------------------------


def _draw_cases(figure: Figure, run: RunResult) -> None:
    """Every case as an interval beside what its claim allows, with its name and its verdict."""
    import numpy as np
    from matplotlib.patches import Patch

    cases, rows = run.cases, [placed(case) for case in run.cases]
    names = [wrapped(": ".join(filter(None, (one.claim, words.parameters(one))))) for one in cases]
    tall = np.array([ROW + LINE * name.count("\n") for name in names])
    gaps = [LINE / 2 * (one.claim != two.claim) for one, two in pairwise((*cases[:1], *cases))]
    y = np.cumsum(tall + gaps) - tall / 2
    total, ends = ROW + float(sum(tall) + sum(gaps)), limits(rows)
    figure.set_size_inches(5.2, total)
    axes = figure.add_axes((0, 0, 1, 1), xlim=ends, ylim=(total - ROW / 2, -ROW / 2), yticks=[])
    marks = ticks_between(ends)
    axes.set_xticks([*marks], [*marks.values()])
    axes.tick_params(top=True, labeltop=True, labelsize=8)
    axes.set_xlabel(AXIS, fontsize=7)

    spans = {
        "alarm": [ends if case.result is Outcome.FAIL else NOWHERE for case in cases],
        "band": [row.verified for row in rows],
        "allowed": [row.allowed for row in rows],
    }
    for name, span in spans.items():
        low, high = np.clip(np.reshape(span, (-1, 2)), *ends).T
        points, known = 72 * tall - 3 * (name != "alarm"), ~np.isnan(low)
        style = {"colors": LIGHT[name], "linewidths": points[known], "zorder": 0.3}
        axes.hlines(y[known], low[known], high[known], **style)
    _draw(axes, cases, rows, y, False)
    colours = np.array([LIGHT[case.verdict] for case in cases])
    for end in (0, 1):
        axes.plot([row.allowed[end] for row in rows], y, "|", c=LIGHT["ink"], ms=14, zorder=2)
        tips = np.array([row.interval[end] for row in rows])
        for shape, which in (("<", tips < ends[0]), (">", tips > ends[1]), ("|", abs(tips) < 8)):
            x = np.clip(tips[which], ends[0] + 0.05, ends[1] - 0.05)
            axes.scatter(x, y[which], 30, colours[which], marker=shape, zorder=3)
    beside: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
    for case, row, at, name in zip(cases, rows, y, names, strict=True):
        axes.text(-0.012, at, name, ha="right", **beside)
        weight = "normal" if case.result is Outcome.PASS else "bold"
        axes.text(1.012, at, words.standing(case), c=LIGHT[case.result], weight=weight, **beside)
        if math.isnan(row.interval[0]):
            axes.text(0.5, at, "no interval", ha="center", **beside)
    handles: list[Any] = axes.get_legend_handles_labels()[0]
    handles += axes.plot([], [], "|", color=LIGHT["ink"], markersize=9, label="claimed")
    handles += [Patch(color=LIGHT["allowed"], label="allowed")]
    handles += [Patch(color=LIGHT["band"], label="resolution")]
    place: Any = {"loc": "lower center", "bbox_to_anchor": (0.5, 1 + 0.2 / total)}
    columns = max(3, math.ceil(len(handles) / 2))  # for more than two rows there is no room
    axes.legend(handles=handles, ncols=columns, columnspacing=1.6, **place)
    said = summary(run)
    parts = (said.get(label) for label in ("interrupted", "cases", "limit", "seed", "alpha"))
    text = wrapped(" · ".join(filter(None, parts)), 90)
    axes.set_title(f"{wrapped(run.registry)}\n{text}", pad=52)


# ---- a sweep -------------------------------------------------------------------------------------


def sweeps(rows: Sequence[tuple[str, Mapping[str, ParameterValue]]]) -> list[tuple[str, list[int]]]:
    """For each curve of these claims and parameters: what is swept, and the places of its cases.

    The parameter with the most values is swept, numbers before laws. Others that vary give a curve
    for each of their values, unless the swept one determines them, as in cases listed one by one.

    >>> sweeps([("c", {"p": 0.1, "x": 2.0}), ("c", {"p": 0.5, "x": 2.0}), ("d", {"p": 0.5})])
    [('p', [0, 1])]
    """
    found: list[tuple[str, list[int]]] = []
    claims: dict[str, list[int]] = {}
    for place, (claim, _) in enumerate(rows):
        claims.setdefault(claim, []).append(place)
    for places in claims.values():
        columns: dict[str, list[Any]] = {
            name: [rows[place][1].get(name) for place in places] for name in rows[places[0]][1]
        }
        several = {
            name: len(set(column)) for name, column in columns.items() if len(set(column)) > 1
        }
        numbers = [name for name in several if all(isinstance(one, float) for one in columns[name])]
        swept = max(numbers or several, key=several.__getitem__, default=None)
        if swept is not None:
            pairs = {name: {*zip(columns[swept], of, strict=True)} for name, of in columns.items()}
            apart = [columns[name] for name in columns if len(pairs[name]) > several[swept]]
            curves: dict[tuple[Any, ...], list[int]] = {}
            for index, place in enumerate(places):
                curves.setdefault(tuple(column[index] for column in apart), []).append(place)
            found += [(swept, curve) for curve in curves.values()]
    return found


def require_sweep(cases: Sequence[Case]) -> None:
    """Check that there are curves to plot, and not too many, before anything is simulated.

    Raises:
        DropcheckError: no claim has a parameter with several values, or there are too many curves.
    """
    number = len(sweeps([(case.claim.id, case.parameters) for case in cases]))
    if not number:
        names = [name for case in cases for name in case.claim.parameter_names]
        hint = "select a claim with parameters; dropcheck show ID lists them"
        if names:
            hint = f"give several values with commas, as in --{names[0]} 0.1,0.2,0.5"
        message = "option '--plot' needs a sweep, and no parameter has several values"
        raise DropcheckError(Problem(message, hint=hint))
    if number > MOST_CURVES:
        message = f"option '--plot': {plural(number, 'curve')} are more than fit one picture"
        hint = f"select claims for at most {MOST_CURVES}, or give parameters a single value"
        raise DropcheckError(Problem(message, hint=hint))


def _draw_curves(figure: Figure, run: RunResult) -> None:
    """What is claimed and what was estimated against what is swept, a panel for each curve."""
    found = sweeps([(case.claim, case.parameters) for case in run.cases])
    if not found:
        message = "there is no curve to draw: no sweep was finished"
        raise DropcheckError(Problem(message, hint="run it to its end"))
    figure.set_size_inches(6.6, 4.8 * len(found))
    figure.set_layout_engine("constrained")
    panels = iter(figure.subplots(2 * len(found), height_ratios=[3, 1] * len(found)))
    for (swept, curve), upper, lower in zip(found, panels, panels, strict=False):
        _draw_curve(upper, lower, swept, [run.cases[case] for case in curve])


def is_geometric(values: Iterable[float], least: float) -> bool:
    """Whether positive values that span this ratio are spread more evenly by ratios.

    >>> is_geometric([16, 64, 256], 10), is_geometric([0.05, 0.5, 0.95], 10)
    (True, False)
    """
    ordered = sorted(set(values))
    if not ordered or not 0 < ordered[0] * least <= ordered[-1]:
        return False
    low, middle, high = ordered[0], ordered[len(ordered) // 2], ordered[-1]
    return abs(middle - math.sqrt(low) * math.sqrt(high)) < abs(middle - (low / 2 + high / 2))


def _draw_curve(upper: Axes, lower: Axes, swept: str, cases: Sequence[CaseResult]) -> None:
    """What is claimed and what was estimated, and below it how far that is apart."""
    import numpy as np

    values: Any = dict.fromkeys(case.parameters.get(swept) for case in cases)
    numeric = all(isinstance(value, float) for value in values)
    places = {value: value if numeric else at for at, value in enumerate(values)}
    cases = sorted(cases, key=lambda case: places[case.parameters.get(swept)])
    x = [places[case.parameters.get(swept)] for case in cases]
    others = [(name, value) for name, value in cases[0].parameters.items() if name != swept]
    held = dict(one for one in others if all(one in case.parameters.items() for case in cases))
    along = ", ".join(name for name, _ in others if name not in held)
    heading = f"{cases[0].expression} against {swept}" + (f" and {along} with it" if along else "")
    heading += f", at {short_parameters(held)}" if held else ""
    upper.set_title(f"{wrapped(cases[0].claim)}\n{wrapped(heading)}", pad=22)
    upper.sharex(lower)
    upper.tick_params(labelbottom=False)
    lower.set_xlabel(wrapped(swept))
    if geometric := numeric and is_geometric(x, 10):
        lower.set_xscale("log")
    if not numeric or (geometric and len(values) <= 8):
        labels = [wrapped(short_value(value or ""), 24) for value in values]
        upright = 90 if not numeric and len(labels) > 3 else 0
        lower.set_xticks([*places.values()], labels, rotation=upright)

    rows = [measured(case) for case in cases]
    allowed = np.array([row.allowed for row in rows]).T
    known = np.ravel([(*row.allowed, *row.interval, row.estimate) for row in rows])
    known = np.clip(known[np.isfinite(known)], -LARGEST, LARGEST)
    if is_geometric(known, 100):
        upper.set_yscale("log")
    upper.update_datalim([(x[0], y) for y in known])
    upper.autoscale_view()
    ends = upper.get_ylim()
    if (allowed[0] < allowed[1]).any():
        low, high = np.clip(allowed, *ends)
        upper.vlines(x, low, high, LIGHT["band"], lw=12, zorder=1, label="allowed")
    relation = cases[0].region.relation if cases[0].region else None
    label = "claimed" if relation in (None, "==") else f"claimed: {relation}"
    for ends_of_all in dict.fromkeys(map(tuple, allowed)):  # nothing is known between the points
        finite = [y if math.isfinite(y) else math.nan for y in ends_of_all]
        upper.plot(x, finite, "_", c=LIGHT["ink"], ms=16, zorder=2, label=label)
        label = ""
    _draw(upper, cases, rows, x, True)
    upper.set_ylim(ends)
    upper.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=6, borderaxespad=0, borderpad=0.2)
    for axis, labelled in ((upper.yaxis, False), (lower.xaxis, len(values) <= 8)):
        if axis.get_scale() == "log":
            axis.set_minor_formatter("")
            if not labelled:
                axis.set_major_formatter("{x:g}")
    _draw_distances(lower, cases, x)


def _draw_distances(lower: Axes, cases: Sequence[CaseResult], x: Sequence[float]) -> None:
    """How far each estimate is from the claim: on the curve an interval is too short to be seen."""
    import numpy as np

    near = [placed(case) for case in cases]
    ends = limits(near)
    marks = ticks_between(ends, 6)
    lower.set_yticks([*marks], [*marks.values()])
    lower.set_ylim(ends)
    for span, name in ((near[0].verified, "band"), (near[0].allowed, "allowed")):
        lower.axhspan(*np.clip(span, *ends), color=LIGHT[name], lw=0, zorder=0)
    lower.axhline(0, color=LIGHT["ink"], lw=1, ls="--")
    _draw(lower, cases, near, x, True)
    lower.set_ylim(ends)
    lower.set_title("distance from the claim, in units of the resolution", fontsize=8, pad=4)
