"""The types of a claims file: what the reader yields and everything above reads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from typing import Any, Protocol

from dropcheck.claims.source import LineColumn, Source
from dropcheck.errors import DropcheckError, Location, Problem
from dropcheck.records import record
from dropcheck.results import NUMBER_FORMAT, ParameterValue, Passage, Written
from dropcheck.results.coverage import Coverage

MOST_CASES = 100_000  # of one claim: a day's run at a second a case
MOST_STATEMENTS = 1_000  # of one claim: each is looked at beside all others


@record
class Jump:
    """From (`line`, `column`) of a text on, from 0, its characters stand elsewhere in the file."""

    line: int
    column: int
    place: Location  # of that character


@record
class SourceText:
    """Text from a claims file that knows where in the file each of its lines is.

    Of line i, `origins[i]` is the (line, column) in the file, from 1, where it begins, and
    `lines[i]` the whole file line there. `jumps`, in order, are the places where a line goes on
    elsewhere: it was folded from several, or holds escapes. `models[i]` is its shared model.
    """

    text: str
    file: str
    origins: tuple[tuple[int, int], ...]
    lines: tuple[str, ...]
    jumps: tuple[Jump, ...] = ()
    models: tuple[str | None, ...] = ()

    def locate(self, line: int, column: int) -> Location:
        """The place in the file of a place in the text (both from 0)."""
        index = min(max(line, 0), len(self.origins) - 1)
        for jump in reversed(self.jumps):
            if jump.line == index and jump.column <= column:
                return replace(jump.place, column=(jump.place.column or 1) + column - jump.column)
        file_line, file_column = self.origins[index]
        return Location(self.file, file_line, max(1, file_column + column), self.lines[index])

    @classmethod
    def placed(cls, text: str, place: Location) -> SourceText:
        """One line of text that stands at a place."""
        origin = (place.line or 1, place.column or 1)
        shown = text if place.text is None else place.text
        return cls(text, place.file, (origin,), (shown,), jumps=(Jump(0, 0, place),))

    @classmethod
    def plain(cls, text: str, file: str = "<text>") -> SourceText:
        r"""Text that comes from no file: each line is its own place.

        >>> SourceText.plain("a\nb").locate(1, 0).line
        2
        """
        lines = tuple(text.split("\n"))
        return cls(text, file, tuple((n, 1) for n in range(1, len(lines) + 1)), lines)


@record
class Document:
    """A document that claims come from."""

    key: str
    title: str
    date: str | None = None
    url: str | None = None


@record(eq=False)
class Sample:
    """Draws made by the user's own code; their names replace lines of a model.

    One call draws all names, which may depend on each other. `shapes` are those of a draw; `truths`
    the names of truths. `draw(generator, count)` gives each name an array, the axis of draws last.
    """

    shapes: Mapping[str, tuple[int, ...]]
    truths: frozenset[str]
    draw: Callable[[Any, int], Mapping[str, Any]]
    takes: frozenset[str] = frozenset()  # the parameters that it is given
    dtype: str | None = None  # the coarsest format of its numbers, where that is not float64


COLUMN = "@"
"""Between the id of a claim and the name of the column in which it is of code."""
DTYPE = NUMBER_FORMAT  # the parameter that names the number format which code computes in
SEED, CALL, BATCH = "seed", "call", "batch"
"""Axes in front of what code is given: seeds that follow each other, calls that do, one call."""


@record
class CodeRequest:
    """What code is asked for in one step of a program.

    `shapes` are those of one draw of each input, `size` that of a sampler. `seeds` and `calls` are
    lengths of axes in front; `single`: a draw is a call; `begin`: seed first; `skipped`: unused.
    """

    draws: int
    shapes: tuple[tuple[int, ...] | None, ...]
    dtype: str | None
    modes: frozenset[str]
    size: tuple[int, ...] | None = None
    seeds: int = 1
    calls: int = 1
    single: bool = False
    begin: bool = True
    skipped: frozenset[str] = frozenset()


class Code(Protocol):
    """Code that is bound to a slot."""

    @property
    def has_gradient(self) -> bool:
        """Whether it can be asked for its gradient; else no claim of one is made of it."""

    def drawn(self, generator: Any, asked: CodeRequest, inputs: Sequence[Any]) -> Mapping[str, Any]:
        """An array for each mode: float64, [*shape of one draw, draws]; the generator seeds it.

        Inputs are float64, [*shape, draws], or [*shape, 1]; it rounds them to its own format.

        Raises:
            DropcheckError: the code raises, or returns what is not asked for.
        """

    def held(self) -> AbstractContextManager[None]:
        """Where calls follow each other: what each needs around it is set up once for all."""

    def looked_at(self, asked: CodeRequest, inputs: Sequence[Any]) -> bool:
        """Whether code had to be called to look at it first, once for each, which seeds it anew.

        Raises:
            DropcheckError: no verdict could rest on what it draws.
        """


@record
class Slot:
    """What a claims file names and code may be bound to, with the mathematics that stands in.

    `gives` is an expression of `model` and of what it takes; a sampler has a `law`. `gradient` and
    `evaluation` are what these give; draws of one call are `independent` of each other or not.
    """

    name: str
    title: str | None
    takes: tuple[str, ...]
    model: SourceText | None
    gives: SourceText | None
    law: SourceText | None
    gradient: SourceText | None
    evaluation: SourceText | None
    independent: bool
    location: Location
    fractions: frozenset[str] = frozenset()  # of what it takes: claims give it fractions of one


@record(eq=False)
class Column:
    """An implementation: its name, and its code by slot."""

    name: str
    code: Mapping[str, Code]
    again: Callable[[], Column] | None = None  # binds it in another process, where that can be

    def __reduce__(self) -> tuple[Callable[[], Column] | None, tuple[()]]:
        """How it goes from one process to another."""
        return self.again, ()

    @property
    def suffix(self) -> str:
        """What the ids of its claims end in."""
        return f"{COLUMN}{self.name}"


@record
class Tolerance:
    """How far off `L == R` may be by the claim itself: a share of R, or an absolute number."""

    size: float
    absolute: bool = False

    def around(self, value: float) -> float:
        """How far off a claimed value one may be.

        >>> Tolerance(0.5).around(-4.0), Tolerance(0.5, absolute=True).around(-4.0)
        (2.0, 0.5)
        """
        return self.size if self.absolute else self.size * abs(value)


@record
class Stated:
    """One of several statements of an entry, and the id of its claim."""

    id: str
    statement: SourceText


@record
class Family:
    """An entry under `claims` that makes several statements of the same draws, in file order."""

    id: str
    title: str
    statements: tuple[Stated, ...]


@record
class Claim:
    """One statement, read and well-formed as YAML; its texts are not yet parsed.

    It is an entry under `claims`, or one of several statements of such an entry, its `family`: the
    claim's id is then that of the entry, a dot and the statement's name.
    """

    id: str
    title: str
    statement: SourceText
    model: SourceText | None
    parameters: Mapping[str, tuple[ParameterValue, ...]]  # by name, the values of its grid
    cases: tuple[Mapping[str, ParameterValue], ...] | None  # in place of a crossed grid
    requires: tuple[SourceText, ...]
    expect: str  # "verified" or "refuted"
    tolerance: Tolerance | None
    resolution: float
    within: float | None
    sources: tuple[Passage, ...]
    says: str | None
    note: str | None
    truth: str | None  # the id of the claim that says what holds in place of this one
    tags: tuple[str, ...]
    location: Location  # of the id
    parameter_locations: Mapping[str, Location]  # where each parameter is named
    family: Family | None = None
    written: Written | None = None  # what a document prints, where it stands in one
    tails: float | None = None  # how far out a law is claimed: the least chance of a tail
    # whether a formula says it, in which elements count from 1 and none is left out
    formula: bool = False
    # names drawn by code: no claims file has them, only a test written in Python
    sample: Sample | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)  # those of its file
    column: Column | None = None  # the code that is under test; None: the mathematics
    sharpness_given: bool = False  # whether its file says a resolution, by either key
    # why code is expected to fail, by the number formats in which it is
    xfail: Mapping[str, str] = field(default_factory=dict)

    @property
    def entry(self) -> str:
        """The id of its entry under `claims`: that of its family, or else its own."""
        return self.id if self.family is None else self.family.id

    @property
    def of(self) -> str:
        """Its id where it is of the mathematics."""
        return self.id if self.column is None else self.id.removesuffix(self.column.suffix)

    @property
    def place(self) -> int:
        """Which of the statements of its family it is, from 0."""
        beside = () if self.family is None else self.family.statements
        return next((at for at, one in enumerate(beside) if one.id == self.id), 0)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Every parameter, in file order, from `parameters` and from `cases`."""
        listed = self.cases[0] if self.cases else {}  # every case names the same ones
        return tuple(dict.fromkeys((*self.parameters, *listed)))

    @property
    def _rows(self) -> tuple[Mapping[str, ParameterValue], ...]:
        return self.cases if self.cases is not None else ({},)

    @property
    def _grid(self) -> Mapping[str, tuple[ParameterValue, ...]]:
        """The values to be crossed; the number format of code says nothing of the mathematics."""
        if self.column is not None or DTYPE not in self.parameters or not self.slots:
            return self.parameters
        return {name: values for name, values in self.parameters.items() if name != DTYPE}

    @property
    def case_count(self) -> int:
        """How many cases `expand` gives."""
        return math.prod(map(len, self._grid.values())) * len(self._rows)

    def expand(self) -> tuple[Case, ...]:
        """The claim's cases: the crossed grid, or the cases listed (each crossed with the grid)."""
        grid = [
            dict(zip(self._grid, values, strict=True))
            for values in itertools.product(*self._grid.values())
        ]
        return tuple(Case(self, {**point, **row}) for row in self._rows for point in grid)


@record
class Case:
    """A claim at one value of each of its parameters."""

    claim: Claim
    parameters: Mapping[str, ParameterValue]

    @property
    def dtype(self) -> str | None:
        """The number format that code computes in; None where no code is under test."""
        dtype = self.parameters.get(DTYPE)
        return dtype if self.claim.column is not None and isinstance(dtype, str) else None

    @property
    def xfail(self) -> str | None:
        """Why code is expected to fail here, where it is."""
        return self.claim.xfail.get(self.dtype or "")

    @property
    def expect(self) -> str:
        """The verdict that passes: the claim's, or the other one where code is to fail."""
        if self.xfail is None:
            return self.claim.expect
        return "verified" if self.claim.expect == "refuted" else "refuted"

    @property
    def key(self) -> str:
        """The same text for the same mathematics, whatever the order or spelling of values.

        Numbers are written in hexadecimal, so that two values with one key are one float.
        """
        return self._key(self.claim.id)

    @property
    def stream_key(self) -> str:
        """The key of its draws, which are those of every statement of one entry."""
        return self._key(self.claim.entry)

    def _key(self, name: str) -> str:
        parts = (f"{name}={_spelled(value)}" for name, value in sorted(self.parameters.items()))
        return ";".join((name, *parts))


def _spelled(value: ParameterValue) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(_spelled, value))}]"
    return value if isinstance(value, str) else float(value).hex()


@record(eq=False)
class Page:
    """A document that holds claims, as it was read, and where its marks begin."""

    title: str
    source: Source
    marks: frozenset[LineColumn]


@record
class Registry:
    """The claims of a file, or of several."""

    name: str  # of the file, or of all files, as shown to the user
    documents: Mapping[str, Document]
    claims: Mapping[str, Claim]  # in file order
    notes: tuple[Problem, ...] = ()  # on what no claim shows, such as a model that none uses
    pages: tuple[Page, ...] = ()  # of the documents that claims stand in
    coverage: tuple[Coverage, ...] = ()  # of each document, what it prints that is claimed

    @property
    def files(self) -> tuple[str, ...]:
        """The name of each file that has a claim here."""
        return tuple(dict.fromkeys(claim.location.file for claim in self.claims.values()))

    @property
    def case_count(self) -> int:
        """How many cases `expand` gives."""
        return sum(claim.case_count for claim in self.claims.values())

    def expand(self) -> tuple[Case, ...]:
        """Every case of every claim, in file order."""
        return tuple(case for claim in self.claims.values() for case in claim.expand())


class PartlyReadError(DropcheckError):
    """A file with errors; `rest` has the claims that can be read all the same, for the check."""

    def __init__(self, problems: Iterable[Problem], rest: Registry) -> None:
        super().__init__(problems)
        self.rest = rest
