"""What a terminal can show, and text for it: lines, and problems with their lines and carets.

Everything is rendered to one string first, so that a report is a pure function of its data and of a
`Terminal`; others write the string.
"""

from __future__ import annotations

import io
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO

from dropcheck.errors import Location, Problem
from dropcheck.report.numbers import plural

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field

from dropcheck.report import numbers

UNLIMITED = 100_000  # without a terminal nothing is wrapped; rich needs a number
INDENT = "    "
LONGEST = 100  # of a longer source line only the part around its column is shown
LEAST = 20  # columns that a message is wrapped to
SHOWN = 200  # the most problems that are shown; the rest are counted

MessageKind = Literal["error", "warning", "note"]

# characters of the reports beyond ASCII, and what stands for them where they cannot be written
ASCII = str.maketrans(
    dict(zip("─·×−–—’‘“”✓✗", "--x---''\"\"+X", strict=True))
    | {"…": "..", "±": "+-", "≤": "<=", "≥": ">=", "≠": "!="}
    | {"α": "alpha", "ρ": "rho", "σ": "sigma", "√": "sqrt", "∞": "inf"}
)
# escape sequences, other controls, marks that reorder text, and what XML cannot hold: they are
# shown and have no effect
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def plain(text: str) -> str:
    r"""A user's text with its control characters shown, not sent to the terminal.

    >>> plain("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    return _CONTROLS.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    r"""A user's text on one line; blanks within it stay, as in the name of a file.

    >>> one_line("E(x)\n    == 0")
    'E(x) == 0'
    """
    lines = (line.strip() for line in text.replace("\t", " ").splitlines())
    return plain(" ".join(filter(None, lines)))


@dataclass(frozen=True, slots=True)
class Terminal:
    """What a stream can show; `width` is None where lines may have any length."""

    width: int | None = None
    colour: bool = False


def terminal_of(stream: TextIO | None = None, environ: Mapping[str, str] | None = None) -> Terminal:
    """What the stream (standard output unless named) can show.

    `NO_COLOR` outranks `FORCE_COLOR` (no-color.org, force-color.org); `COLUMNS` outranks the
    width that the terminal reports.
    """
    stream = sys.stdout if stream is None else stream
    environ = os.environ if environ is None else environ
    interactive = is_terminal(stream)
    colour = interactive and not is_dumb(environ)
    if environ.get("FORCE_COLOR"):
        colour = environ["FORCE_COLOR"] != "0"
    width, columns = None, environ.get("COLUMNS", "")
    if columns.isdecimal() and 0 < int(columns[:6]) <= UNLIMITED:
        width = int(columns)
    elif interactive:
        width = 80
        with suppress(OSError, ValueError):
            width = os.get_terminal_size(stream.fileno()).columns or 80
    return Terminal(width, colour and not environ.get("NO_COLOR"))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal."""
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # it is closed, or no stream
        return False


def is_dumb(environ: Mapping[str, str]) -> bool:
    """Whether the terminal has no colours and cannot rewrite a line."""
    return environ.get("TERM", "").lower() in {"dumb", "unknown"}


# ---- lines ---------------------------------------------------------------------------------------


def styled(text: str, style: str = "", *, cut: bool = False) -> Text:
    """A user's text for rich, without markup and emoji codes: folded, or cut at the end."""
    from rich.text import Text

    return Text(plain(text), style=style, overflow="ellipsis" if cut else "fold", no_wrap=cut)


def packed(parts: Iterable[str], terminal: Terminal) -> list[RenderableType]:
    """The parts on one line, or on as few lines as the terminal needs, broken between parts."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else part
        fits = terminal.width is None or cells(longer) <= terminal.width
        lines[-1:] = [longer] if fits else [*lines[-1:], part]
    return [*map(styled, lines)]


def cells(text: str) -> int:
    """The width of a text in columns of a terminal."""
    if text.isascii():  # an error is shown without loading rich
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def render(items: Iterable[RenderableType], terminal: Terminal) -> str:
    """The items as one string; an item of type `str` is a line that is never broken."""
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=io.StringIO(),
        width=terminal.width or UNLIMITED,
        force_terminal=terminal.colour,
        color_system="standard" if terminal.colour else None,
        no_color=not terminal.colour,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )
    with console.capture() as captured:
        for item in items:
            if isinstance(item, str):
                console.print(Text(plain(item)), soft_wrap=True)
            else:
                console.print(item, crop=False)
    lines = captured.get().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


# ---- problems ------------------------------------------------------------------------------------


def problems_text(
    problems: Sequence[Problem],
    terminal: Terminal,
    kind: MessageKind = "error",
    counted: bool = True,
) -> str:
    """All problems in their order, and then how many there are."""
    lines: list[str] = []
    for problem in problems[:SHOWN]:
        lines += _problem(problem, terminal, kind)
    if len(problems) > SHOWN:
        lines.append(f"and {len(problems) - SHOWN} more")
    located = any(problem.location is not None for problem in problems)
    if counted and problems and (located or len(problems) > 1):
        lines.append(plural(len(problems), kind))
    return "".join(f"{line}\n" for line in lines)


def _problem(problem: Problem, terminal: Terminal, kind: MessageKind) -> list[str]:
    where = place(problem.location)
    # an error with a place has the form of compilers, which editors read
    said = "" if where and kind == "error" else kind
    message = ": ".join(filter(None, (where, said, plain(problem.message))))
    lines = hanging(message, terminal, INDENT)
    if problem.location is not None and problem.location.text is not None:
        lines += _source(problem.location.text, problem.location.column, terminal)
    if problem.hint:
        before = f"{INDENT if where else ''}hint: "
        lines += hanging(before + plain(problem.hint), terminal, " " * len(before))
    return lines


# what is copied: a command with its options, or an option with its value
_COPIED = re.compile(
    r"\bdropcheck \w+(?: --?\w\S*(?: [A-Z0-9]\S*)?| \S*[./=]\w\S*)*|(?<!\S)--?\w\S* [^\s-]\S*"
)
_JOINT = "\ufffe"  # no text has it: it is none that `plain` lets pass


def hanging(text: str, terminal: Terminal, indent: str) -> list[str]:
    """A text in lines of the terminal's width, further ones indented; rich is not loaded for it.

    It is broken between words only, and not within what is copied into a command line.

    >>> hanging("hint: name a file: --file FILE, or else --tag TAG", Terminal(30), "      ")
    ['hint: name a file:', '      --file FILE, or else', '      --tag TAG']
    """
    if terminal.width is None:
        return [text]
    joined = _COPIED.sub(lambda match: match.group().replace(" ", _JOINT), text)
    wrapper = textwrap.TextWrapper(
        max(terminal.width, LEAST),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines = (line for written in joined.split("\n") for line in wrapper.wrap(written))
    return [line.replace(_JOINT, " ") for line in lines]


def place(location: Location | None) -> str:
    """A place in the form that editors read.

    >>> place(Location("claims.yaml", 12, 9))
    'claims.yaml:12:9'
    >>> from dropcheck.errors import NotebookCell
    >>> place(Location("paper.ipynb", 2, 7, cell=NotebookCell(3, 6)))
    'paper.ipynb:cell 3:line 2:column 7'
    """
    if location is None:
        return ""
    cell = [] if location.cell is None else [f"cell {location.cell.number}"]
    line, column = ("line ", "column ") if cell else ("", "")
    parts = [one_line(location.file), *cell]
    parts += [] if location.line is None else [f"{line}{location.line}"]
    known = location.line is not None and location.column is not None
    return ":".join([*parts, *([f"{column}{location.column}"] if known else [])])


def _source(text: str, column: int | None, terminal: Terminal) -> list[str]:
    """The line, or the part of it around its column, which counts from 1, and a caret below."""
    text = text.rstrip("\r\n").replace("\t", " ")
    shown = text.lstrip()
    if not shown:
        return []
    at = max(min((column or 1) - 1, len(text)) - (len(text) - len(shown)), 0)
    room = max(min(LONGEST, (terminal.width or LONGEST) - len(INDENT)), 20)
    low = min(max(at - room // 2, 0), max(len(shown) - room, 0))
    left, right = "…" * (low > 0), "…" * (low + room < len(shown))
    shown = left + shown[low + len(left) : low + room - len(right)] + right
    before = cells(plain(shown[: at - low]))
    caret = [] if column is None else [INDENT + " " * before + "^"]
    return [INDENT + plain(shown), *caret]


# ---- the progress of a run -----------------------------------------------------------------------
#
# One line on a terminal, which disappears at the end.


# Seconds before anything is shown: a shorter run needs no progress.
DELAY = 0.4
# Refreshes per second: enough to look alive.
REFRESHES = 5


@dataclass(slots=True)
class RunProgress:
    """How much of a run is done.

    It is told of cases that are `decided`, in any order, of draws as they are made, and of those
    that begun cases still plan before they look again.
    """

    total: int
    limit: float | None = None  # seconds that the run may take
    clock: Callable[[], float] = time.perf_counter
    cases: int = 0  # that are decided
    draws: int = 0
    ahead: tuple[int, int] = (0, 0)  # draws that begun cases still plan, and the number of these
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def decided(self, cases: int) -> None:
        """Count cases that were just decided, maybe before others that come first."""
        self.cases += cases

    def drew(self, draws: int) -> None:
        """More draws were made."""
        self.draws += draws

    def plans(self, draws: int, cases: int) -> None:
        """The cases that are being drawn plan so many more draws."""
        self.ahead = draws, cases

    def line(self, width: int) -> str:
        """The parts that fit on one line of a terminal; the number of cases always does.

        >>> tally = RunProgress(5, clock=lambda: 0.0, draws=300, ahead=(100, 1))
        >>> tally.decided(4)
        >>> tally.line(50), tally.line(20)
        ('4/5 cases, 75% of planned draws, 1.0 s left', '4/5 cases')
        """
        seconds, (ahead, begun) = self.clock() - self.started, self.ahead
        shown = [
            f"{self.cases}/{self.total} cases",
            *([numbers.draws(self.draws)] * bool(self.draws)),
        ]
        left = [] if self.limit is None else [max(0.0, self.limit - seconds)]
        if self.draws and ahead and self.cases + begun >= self.total:  # all draws are planned
            shown[1] = f"{100 * self.draws // (self.draws + ahead)}% of planned draws"
            left.append(seconds * ahead / self.draws)
        if left and self.draws:  # tenths would only flicker
            shown.append(f"{numbers.duration(max(1, math.ceil(min(left))))} left")
        while len(shown) > 1 and len(", ".join(shown)) > width:
            shown.pop()
        return ", ".join(shown)


@contextmanager
def progress(total: int, shown: bool, limit: float | None = None) -> Iterator[RunProgress]:
    """A tally that is shown on standard error; nothing is printed where not `shown`.

    Nor is anything printed on a terminal that cannot rewrite a line.
    """
    tally = RunProgress(total, limit)
    if not shown or is_dumb(os.environ) or not is_terminal(sys.stderr):
        yield tally
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    width = (terminal_of(sys.stderr).width or 80) - 1  # some terminals break a full line

    def line() -> Text:
        late = tally.clock() - tally.started > DELAY
        return Text(tally.line(width) if late else "", no_wrap=True, overflow="ignore")

    live = Live(
        console=Console(stderr=True, markup=False, emoji=False, highlight=False),
        get_renderable=line,
        refresh_per_second=REFRESHES,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with suppress(OSError, ValueError):  # the terminal may go away before the run does
        live.start()
    try:
        yield tally
    finally:
        with suppress(OSError, ValueError):
            live.stop()
