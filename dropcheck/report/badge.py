"""A run as a badge: how many claims are verified, how many are not, and how much is unclaimed.

`badge.json` is an endpoint of shields.io (https://shields.io/badges/endpoint-badge, schema 1).
`badge.svg` is a picture that needs no service: white text on colours with a contrast of at least
4.5 (WCAG 2.2, 1.4.3), readable on light and dark pages.
"""

from __future__ import annotations

import html
import json
from enum import Enum

from dropcheck.records import record
from dropcheck.report import Report, numbers
from dropcheck.report.phrases import by_claim, worst
from dropcheck.results import Outcome
from dropcheck.results.coverage import CoverageCounts

LABEL = "dropcheck"
HEIGHT, PADDING, SIZE = 20, 6, 11  # pixels
# Widths of letters in Verdana, in pixels; `textLength` gives texts this width in other fonts too.
_WIDTHS = {
    **dict.fromkeys("ijl,.:;'| ", 4),
    **dict.fromkeys("frt()", 5),
    **dict.fromkeys("mw%", 10),
}


class Colour(Enum):
    """A colour: its name at shields.io, and its value in the picture."""

    GOOD = "brightgreen", "#1a7f37"
    UNDECIDED = "yellow", "#946200"
    BAD = "red", "#c9202d"
    NONE = "lightgrey", "#57606a"


@record
class Badge:
    """What a badge says."""

    message: str
    colour: Colour
    broken: bool  # whether the run failed, was interrupted or could not be made


def badge_of(report: Report) -> Badge:
    """The outcome of a run, in a few words.

    A claim counts once, by its worst case: `24 verified`, or `24 as claimed` where some of them are
    expected to be refuted.
    """
    if report.problems:
        return Badge(numbers.plural(len(report.problems), "error"), Colour.BAD, broken=True)
    cases = [worst(group) for group in by_claim(report.run.cases).values()]
    count = {outcome: sum(one.result is outcome for one in cases) for outcome in Outcome}
    verdicts = {str(one.verdict) for one in cases if one.result is Outcome.PASS}
    holds = "verified" if verdicts <= {"verified"} else "as claimed"
    unclaimed = CoverageCounts.of(report.run.coverage).unclaimed
    parts = [
        f"{number} {what}"
        for number, what in (
            (count[Outcome.ERROR], "could not be judged"),
            (count[Outcome.FAIL], "failed"),
            (count[Outcome.UNDECIDED], "undecided"),
            (count[Outcome.PASS], holds),
            (unclaimed, "unclaimed"),
        )
        if number
    ]
    if report.run.interrupted:
        return Badge(", ".join(["interrupted", *parts]), Colour.NONE, broken=True)
    if count[Outcome.FAIL] or count[Outcome.ERROR]:
        return Badge(", ".join(parts), Colour.BAD, broken=True)
    colour = Colour.UNDECIDED if count[Outcome.UNDECIDED] else Colour.GOOD
    return Badge(", ".join(parts) or "no claims", colour if cases else Colour.NONE, broken=False)


def badge_json(report: Report) -> str:
    """The badge as an endpoint of shields.io."""
    badge = badge_of(report)
    fields = {
        "schemaVersion": 1,
        "label": LABEL,
        "message": badge.message,
        "color": badge.colour.value[0],
        "isError": badge.broken,
    }
    return json.dumps(fields, indent=2) + "\n"


def badge_svg(report: Report) -> str:
    """The badge as a picture."""
    badge = badge_of(report)
    left, right = (width_of(text) + 2 * PADDING for text in (LABEL, badge.message))
    name = html.escape(f"{LABEL}: {badge.message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" '
        f'role="img" aria-label="{name}">\n'
        f"<title>{name}</title>\n"
        f'<clipPath id="round"><rect width="{left + right}" height="{HEIGHT}" rx="3"/></clipPath>\n'
        f'<g clip-path="url(#round)">\n'
        f'<rect width="{left}" height="{HEIGHT}" fill="#4b5158"/>\n'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{badge.colour.value[1]}"/>\n'
        "</g>\n"
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="{SIZE}" '
        'aria-hidden="true">\n'
        f"{_text(LABEL, PADDING)}{_text(badge.message, left + PADDING)}"
        "</g>\n</svg>\n"
    )


def _text(text: str, start: int) -> str:
    return f'<text x="{start}" y="14" textLength="{width_of(text)}">{html.escape(text)}</text>\n'


def width_of(text: str) -> int:
    """About the width of a text in Verdana of the badge's size, in pixels.

    >>> width_of("dropcheck"), width_of("24 verified")
    (61, 64)
    """
    return sum(_WIDTHS.get(one, 7) for one in text)
