"""What all pictures share: an axis for unlike claims, marks, and matplotlib.

Of a claim about two sides, 0 is the middle of what it allows and ±1 the edges of the band within
which an interval verifies it: what it allows, widened by the resolution. Of an inequality, 0 is
the end that it names and 1 is a resolution away. Beyond ±1 the axis is logarithmic, so that a
claim that is off by a hundred resolutions stands on one axis with one that holds.

Matplotlib is imported when a picture is asked for. No state of pyplot's is touched, no display is
needed, and a reader's own matplotlibrc changes nothing: the same run gives the same bytes.
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

DPI = 144  # sharp on the screens of today, and still small
MOST_PIXELS = 2**16 - 1  # of a PNG on either side: what the renderer takes

FARTHEST = 7.0  # on the axis: a million units; what is farther is an arrow at its edge
LEAST_SHOWN = 1.6  # on either side: the whole band, and a little beside it

# inches
PLOT = 5.2  # how wide the axes are
LINE = 0.17
EDGE = 0.15
ADVANCE = 0.0755  # of a letter: 0.602 of 9 points, DejaVu Sans Mono's, and most others' too

INK = "#1a1a1a"
FAINT = "#b8b8b8"
BAND = "#d9e6f2"  # what the resolution adds to what is allowed
ALLOWED = "#b5cde3"
ALARM = "#fbe3d6"  # behind a row that failed

_STYLE: Any = {  # of types that differ between versions of matplotlib
    "font.family": "monospace",  # as wide everywhere: a label fits also where another font is used
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
    """How a verdict looks in every picture: its colour, and its shape that says the same without.

    The shape is matplotlib's name for it, and the character in a terminal and in plain ASCII.
    """

    colour: str
    shape: str
    character: str
    ascii: str


# colours of Okabe and Ito, which people who see few colours can distinguish
MARKS = {
    Verdict.VERIFIED: VerdictSymbol("#0072b2", "o", "●", "o"),
    Verdict.REFUTED: VerdictSymbol("#d55e00", "X", "✕", "x"),
    Verdict.INCONCLUSIVE: VerdictSymbol("#6b6b6b", "s", "□", "?"),
}


@contextmanager
def drawing() -> Iterator[None]:
    """Draw by matplotlib with its defaults and our style, for as long as it takes to draw."""
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        # a letter that the font lacks is a box in the picture, and no matter for standard error
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def new_figure(width: float, height: float, kind: PictureFormat) -> Figure:
    """A figure of so many inches that belongs to nobody but its holder.

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
    """The figure as a file, with no date and no version in it."""
    file = io.BytesIO()
    nothing = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    figure.savefig(file, format=kind, dpi=DPI, metadata=nothing)
    return file.getvalue()


def wrapped(text: str, longest: int) -> list[str]:
    """A user's text on lines of at most so many characters; nothing of it is left out.

    >>> wrapped("a-long-name  p=0.1", 12)
    ['a-long-name', 'p=0.1']
    """
    return textwrap.wrap(one_line(text), longest, break_on_hyphens=False) or [""]


def marker(verdict: Verdict) -> dict[str, Any]:
    """A verdict's mark as matplotlib's words for it."""
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
    """A case on the shared axis, squeezed; None where nothing is known, infinite where unbounded.

    `allowed` is what the claim says, `verified` the band that its resolution makes of it.
    """

    case: CaseResult
    allowed: tuple[float, float] | None = None
    verified: tuple[float, float] | None = None
    estimate: float | None = None
    interval: tuple[float, float] | None = None


def squeeze(place: float) -> float:
    """The place on the axis that is drawn: linear up to ±1, a unit a power of ten beyond.

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
    # what stands at 0: the middle of what is allowed, or its one end; and how far 1 is from it
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
    """The ends of the axis: all that is finite is in sight, up to a million units."""
    low, high = -LEAST_SHOWN, LEAST_SHOWN
    for row in rows:
        for value in (row.estimate, *(row.interval or ())):
            if value is not None and math.isfinite(value):
                low, high = min(low, value - 0.3), max(high, value + 0.3)
    return max(low, -FARTHEST - 0.3), min(high, FARTHEST + 0.3)


def ticks(ends: tuple[float, float], most: int | None = None) -> list[tuple[float, str]]:
    """The places of the axis that are labelled, and how.

    Where that were more than `most`, every second power of ten beyond the edges of the band.

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
    """The values; for one beyond the axis, the end of the axis there."""
    return tuple(min(max(value, ends[0]), ends[1]) for value in values)
