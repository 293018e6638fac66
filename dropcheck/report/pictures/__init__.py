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
import math
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from dropcheck.errors import DropcheckError, Problem
from dropcheck.records import record
from dropcheck.report.terminal.screen import one_line
from dropcheck.results import CaseResult, Verdict

if TYPE_CHECKING:
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


@record
class VerdictSymbol:
    """The mark of a verdict in every picture: a colour, and a shape that says the same.

    `shape` is matplotlib's name for it; `character` and `ascii` stand for it in a terminal.
    """

    colour: str
    shape: str
    character: str
    ascii: str


# colours of Okabe and Ito, which colour-blind people can distinguish
MARKS = {
    Verdict.VERIFIED: VerdictSymbol("#0072b2", "o", "●", "o"),
    Verdict.REFUTED: VerdictSymbol("#d55e00", "X", "✕", "x"),
    Verdict.INCONCLUSIVE: VerdictSymbol("#6b6b6b", "s", "□", "?"),
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


@record
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


def ticks(ends: tuple[float, float], most: int | None = None) -> list[tuple[float, str]]:
    """The places of the axis with labels, and the labels.

    Where there are more than `most`, only every second power of ten beyond the band has one.

    >>> ticks((-1.6, 3.2))
    [(-1.0, '-1'), (0.0, '0'), (1.0, '1'), (2.0, '10'), (3.0, '100')]
    >>> ticks((-1.6, 3.2), most=4)
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
