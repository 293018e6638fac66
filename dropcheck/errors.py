"""Problems with an input, as data: what is wrong, where, and how to mend it."""

from __future__ import annotations

import errno
import os
import re
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from pathlib import Path, PurePath

from dropcheck import interrupt

TO_REPORT = "this is a fault of dropcheck and not of your claims: please report it"
MOST_PROBLEMS = 1_000  # a file with more is not a claims file, and listing all takes minutes
_MOST_COMPARED = 200  # known names that an unknown one is compared with; the language has fewer
_LONGEST_COMPARED = 60  # characters of a name: the time of a comparison grows with their square


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """A cell of a notebook: its number from 1, and its first line, from 0, in the text of all."""

    number: int
    first: int


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file.

    `line` and `column` count from 1, in a notebook within the cell. `text` is the whole line.
    """

    file: str
    line: int | None = None
    column: int | None = None
    text: str | None = None
    cell: NotebookCell | None = None

    @property
    def file_line(self) -> int | None:
        """The line in the file; None where `line` counts within a cell."""
        return self.line if self.cell is None else None

    @property
    def position(self) -> tuple[int, int]:
        """The line and the column in the text that was read, from 0."""
        first = self.cell.first if self.cell is not None else 0
        return first + (self.line or 1) - 1, (self.column or 1) - 1

    @property
    def line_in_words(self) -> str:
        """The line, and the cell if there is one, as in `line 3 of cell 2`."""
        return f"line {self.line}" + (f" of cell {self.cell.number}" if self.cell else "")


class About(Enum):
    """The source of a problem: it says whether a check of many cases must name the case."""

    TEXT = "a text, whatever values its parameters have"
    VALUES = "values, which its message does not name"
    NAMED_VALUES = "values, which its message names"
    NO_CODE = "code that is not bound, and not the claim"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: a sentence, its place, and how to mend it."""

    message: str
    location: Location | None = None
    hint: str | None = None
    about: About = About.TEXT


class DropcheckError(Exception):
    """An input that cannot be used; `problems` holds every problem, not only the first."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(problem.message for problem in self.problems))

    def __reduce__(self) -> tuple[type[DropcheckError], tuple[tuple[Problem, ...]]]:
        """How `pickle` sends it to another process: with its problems, not their text."""
        return type(self), (self.problems,)


class InternalError(DropcheckError):
    """A fault of dropcheck itself; its problem says what a user should report."""

    def __str__(self) -> str:
        return "; ".join(f"{one.message}; {one.hint}" for one in self.problems)


def reason(error: BaseException) -> str:
    """The system's reason for an error, in its own words."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def as_own(error: Exception) -> DropcheckError:
    """An error as one of ours: what nothing foresaw is a fault of dropcheck.

    Raises:
        KeyboardInterrupt: it came of an interruption, which numpy turns into another error.
    """
    if isinstance(error, DropcheckError):
        return error
    if interrupt.heard():
        raise KeyboardInterrupt from error
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:  # of any file named
        return DropcheckError(Problem(f"{str(error.filename)[:100]!r}: {reason(error)}"))
    if os.environ.get("DROPCHECK_DEBUG") == "1":
        traceback.print_exception(error)
    if isinstance(error, MemoryError) or re.search(r"allocate memory|map segment", str(error)):
        hint = "give it more, or less to do: --max-memory, --threads 1"
        return InternalError(Problem("there is not enough memory", hint=hint))
    lines = str(error).splitlines() or [""]
    message = f"{type(error).__name__}: {lines[0][:300]}".rstrip(": ")
    hint = (
        f"{TO_REPORT}, with the command and the claims file; DROPCHECK_DEBUG=1 shows the traceback"
    )
    return InternalError(Problem(message, hint=hint))


def at_most(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The first `MOST_PROBLEMS` problems; if that many come, the last says that there are more."""
    listed = tuple(islice(problems, MOST_PROBLEMS))
    if len(listed) < MOST_PROBLEMS:
        return listed
    more = Problem("there are more problems", listed[-1].location, "fix these first")
    return (*listed[:-1], more)


class NothingSelected(DropcheckError):  # noqa: N818 - it has an exit code of its own
    """A pattern or a tag that fits no claim."""


def in_file_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems sorted by file, line and column, each once; those without a place come first.

    The files stand in the order of their first problems.
    """
    files: dict[str, int] = {}

    def place(problem: Problem) -> tuple[int, int, int, int]:
        where = problem.location
        if where is None:
            return (0, 0, 0, 0)
        cell = where.cell.number if where.cell is not None else 0
        file = files.setdefault(where.file, len(files))
        return (file, cell, where.line or 0, where.column or 0)

    return tuple(sorted(dict.fromkeys(problems), key=place))


def nearest(name: str, known: Iterable[str], least: float = 0.6) -> str | None:
    """The known name that is most like `name`; None where none is alike by `least`, of 1.

    >>> nearest("bernouli", ["bernoulli", "binomial"])
    'bernoulli'
    >>> nearest("--color", ["--plot"]) is None  # the dashes of options make no two alike
    True
    """
    from difflib import get_close_matches  # imported late: only an error needs it

    candidates = list(known)
    by_folded = {candidate.lower(): candidate for candidate in candidates}
    if name.lower() in by_folded:
        return by_folded[name.lower()]
    if len(name) > _LONGEST_COMPARED:
        return None
    candidates = [other for other in candidates if len(other) <= _LONGEST_COMPARED]
    if len(candidates) > _MOST_COMPARED:  # keep those with the same first letter and a like length
        candidates.sort(key=lambda other: (other[:1] != name[:1], abs(len(other) - len(name))))
    cutoff = 0.7 if name.startswith("--") else least
    matches = get_close_matches(name, candidates[:_MOST_COMPARED], n=3, cutoff=cutoff)
    # prefer a name of the same letters: two letters that changed places are the commonest slip
    letters = sorted(name.lower())
    matches.sort(key=lambda match: sorted(match.lower()) != letters)
    return matches[0] if matches else None


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """The hint for an unknown name: `did you mean 'x'?`, or None."""
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near is not None else None


def file_suggestion(name: str, folder: Path) -> str | None:
    """The hint for a file that is not there: the most similar one of the folder; None without one.

    Endings are left out of the comparison, as most files have the same.

    Raises:
        OSError: the folder cannot be read.
    """
    files = {one.stem: one.name for one in sorted(folder.iterdir()) if one.is_file()}
    near = nearest(PurePath(name).stem, files)
    return f"did you mean {files[near]!r}?" if near is not None else None
