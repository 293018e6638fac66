"""The intervals of the HTML report: a small SVG a case, as wide as there is room.

Places are percentages and all text is HTML beside the picture, so that it is as legible on a
phone as on a desk. Colours are the page's, by class, and follow it into the dark.
"""

from __future__ import annotations

import math

from dropcheck.report import phrases as words
from dropcheck.report.html.markup import Markup, element, join
from dropcheck.report.pictures import bands
from dropcheck.report.pictures.bands import Placed
from dropcheck.results import Verdict

HEIGHT = 28
MIDDLE = HEIGHT // 2
MOST_TICKS = 9  # labels that a phone has room for

# about the point where they stand
_SHAPES = {
    Verdict.VERIFIED: element("circle", r="4.5"),
    Verdict.REFUTED: element("path", d="M-4.5,-4.5L4.5,4.5M-4.5,4.5L4.5,-4.5"),
    Verdict.INCONCLUSIVE: element("path", d="M-4,-4H4V4H-4Z"),
}

Ends = tuple[float, float]


def interval_picture(row: Placed, ends: Ends) -> Markup:
    """One case: its band, what is allowed, its interval and its estimate."""
    parts = [
        *_ground(row, ends),
        *([] if row.interval is None else _interval(row.interval, ends)),
    ]
    if row.estimate is not None and ends[0] <= row.estimate <= ends[1]:
        parts.append(_mark(row.case.verdict, _share(row.estimate, ends)))
    return element(
        "svg",
        *parts,
        class_=f"interval {row.case.verdict}",
        width="100%",
        height=HEIGHT,
        role="img",
        aria_label=description(row),
    )


def description(row: Placed) -> str:
    """The picture in words, for who cannot see it."""
    case = row.case
    if case.interval is None:
        return f"claimed {words.claimed(case)}; no interval; {words.standing(case)}"
    return (
        f"claimed {words.claimed(case)}; estimated {words.estimated(case)}, "
        f"interval {words.interval(case)}; {words.standing(case)}"
    )


def axis_picture(ends: Ends) -> Markup:
    """The axis that all pictures of a page share."""
    labels = [
        element("text", label, x=_share(place, ends), y=12, text_anchor="middle")
        for place, label in bands.ticks(ends, MOST_TICKS)
    ]
    return element(
        "svg",
        *labels,
        class_="axis",
        width="100%",
        height=16,
        aria_hidden="true",
    )


def key_picture(verdict: Verdict) -> Markup:
    """A verdict's mark, for the legend."""
    return element(
        "svg",
        _line("0%", "100%", "reach"),
        _mark(verdict, "50%"),
        class_=f"interval key {verdict}",
        width=36,
        height=HEIGHT,
        aria_hidden="true",
    )


def _share(place: float, ends: Ends) -> str:
    """A place as a percentage, with a little room at both ends."""
    share = (bands.within(ends, place)[0] - ends[0]) / (ends[1] - ends[0])
    return f"{3 + 94 * share:.2f}%"


def _ground(row: Placed, ends: Ends) -> list[Markup]:
    parts = []
    for span, name in ((row.verified, "band"), (row.allowed, "allowed")):
        if span is not None and span[0] < span[1]:
            low, high = (bands.within(ends, end)[0] for end in span)
            width = 94 * (high - low) / (ends[1] - ends[0])
            rect = element(
                "rect", x=_share(low, ends), y=2, width=f"{width:.2f}%", height=24, class_=name
            )
            parts.append(rect)
    for end in sorted(set(row.allowed or ())):
        if math.isfinite(end):
            x = _share(end, ends)
            parts.append(element("line", x1=x, x2=x, y1=2, y2=26, class_="claimed"))
    return parts


def _interval(interval: tuple[float, float], ends: Ends) -> list[Markup]:
    low, high = (_share(end, ends) for end in interval)
    parts = [_line(low, high, "reach")]
    for end, x in zip(interval, (low, high), strict=True):
        if ends[0] <= end <= ends[1]:
            cap = element("path", d="M0,-5V5", class_="reach")
        else:
            cap = element("path", d="M-4,-5L4,0L-4,5Z" if end > 0 else "M4,-5L-4,0L4,5Z")
        parts.append(_at(x, cap))
    return parts


def _line(low: str, high: str, name: str) -> Markup:
    return element("line", x1=low, x2=high, y1=MIDDLE, y2=MIDDLE, class_=name)


def _mark(verdict: Verdict, x: str) -> Markup:
    return _at(x, element("g", _SHAPES[verdict], class_="mark"))


def _at(x: str, shape: Markup) -> Markup:
    """A shape about a point given in per cent, which a path itself cannot be."""
    return element("svg", join([shape]), x=x, y=MIDDLE, overflow="visible")
