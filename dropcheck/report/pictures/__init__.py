"""What all pictures share: marks, and matplotlib, imported when a picture is asked for.

No state of pyplot's is touched, no display is needed, and a reader's own matplotlibrc changes
nothing: the same run gives the same bytes each time.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dropcheck.errors import DropcheckError, Problem
from dropcheck.report.terminal.screen import one_line
from dropcheck.results import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Kind = Literal["svg", "png"]

DPI = 144  # sharp on the screens of today, and still small
MOST_PIXELS = 2**16 - 1  # of a PNG on either side: what the renderer takes

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
}


@dataclass(frozen=True, slots=True)
class Mark:
    """How a verdict looks in every picture: its colour, and its shape that says the same without.

    The shape is matplotlib's name for it, and the character in a terminal and in plain ASCII.
    """

    colour: str
    shape: str
    character: str
    ascii: str


# colours of Okabe and Ito, which people who see few colours can tell apart
MARKS = {
    Verdict.VERIFIED: Mark("#0072b2", "o", "●", "o"),
    Verdict.REFUTED: Mark("#d55e00", "X", "✕", "x"),
    Verdict.INCONCLUSIVE: Mark("#6b6b6b", "s", "□", "?"),
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


def new_figure(width: float, height: float, kind: Kind) -> Figure:
    """A figure of so many inches that belongs to nobody but its holder.

    Raises:
        DropcheckError: it would be too large for a PNG.
    """
    if kind == "png" and max(width, height) * DPI > MOST_PIXELS:
        raise DropcheckError(
            Problem(
                "the picture is too large for a PNG",
                hint="name a file that ends in .svg, or select fewer claims",
            )
        )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def as_bytes(figure: Figure, kind: Kind) -> bytes:
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
