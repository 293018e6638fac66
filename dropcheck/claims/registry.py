"""The types that the claims reader produces, and that all later rooms read."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from dropcheck.errors import Location, Problem, suggestion
from dropcheck.results import NUMBER_FORMAT, Coverage, ParameterValue, Passage, Written

MOST_CASES = 100_000  # of one claim: at a second a case, they take a day
MOST_STATEMENTS = 1_000  # of one claim: each is compared with all others


@dataclass(frozen=True, slots=True, eq=False)
class SourceText:
    """Text from a claims file that knows its places in the file.

    `places[i]` has the pieces of line i: the column in which each begins, and where it stands.
    `models[i]` is the shared model that line i comes from.
    """

    text: str
    places: tuple[tuple[tuple[int, Location], ...], ...]
    models: tuple[str | None, ...] = ()

    def locate(self, line: int, column: int) -> Location:
        """The place in the file of a place in the text; the arguments count from 0."""
        pieces = self.places[min(max(line, 0), len(self.places) - 1)]
        begin, at = next((one for one in reversed(pieces) if one[0] <= column), pieces[0])
        return replace(at, column=max(1, (at.column or 1) + column - begin))

    @classmethod
    def placed(cls, text: str, *pieces: tuple[int, Location]) -> SourceText:
        """One line of text whose pieces stand at places in a file."""
        return cls(text, (pieces,))

    @classmethod
    def plain(cls, text: str, file: str = "<text>") -> SourceText:
        r"""Text that is in no file: each line is its own place.

        >>> SourceText.plain("a\nb").locate(1, 0).line
        2
        """
        lines = enumerate(text.split("\n"), start=1)
        return cls(text, tuple(((0, Location(file, n, 1, line)),) for n, line in lines))


@dataclass(frozen=True, slots=True)
class Document:
    """A document that claims come from."""

    key: str
    title: str
    date: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Code that draws names in place of lines of a model, bound to a slot without mathematics.

    One call draws all names, which may depend on each other. `shapes` are the shapes in one draw.
    """

    slot: Slot
    code: Code
    shapes: Mapping[str, tuple[int, ...]]
    truths: frozenset[str]  # the names that are truths
    takes: frozenset[str] = frozenset()  # the parameters that are passed to it
    dtype: str | None = None  # the coarsest format of its numbers, if that is not float64


COLUMN = "@"
"""Separates the id of a claim from the name of the implementation under test."""
DTYPE = NUMBER_FORMAT  # the parameter that names the number format in which code computes
SEED, CALL, BATCH = "seed", "call", "batch"
"""Leading axes of code's arguments: consecutive seeds, consecutive calls, a batch in one call."""


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """What code is asked to give in one step of a program.

    `shapes` are the shapes of the inputs in one draw, `size` the shape of a sampler's draw. `seeds`
    and `calls` are lengths of leading axes. `single`: each draw is a call.
    """

    draws: int
    shapes: tuple[tuple[int, ...] | None, ...]
    dtype: str | None
    modes: frozenset[str]
    size: tuple[int, ...] | None = None
    seeds: int = 1
    calls: int = 1
    single: bool = False


class Code(Protocol):
    """Code that is bound to a slot, as the simulation sees it."""

    @property
    def has_gradient(self) -> bool:
        """Whether it can give a gradient; if not, claims about its gradient are left out."""

    @property
    def set_up(self) -> float:
        """The seconds that its first calls took, with imports, compilation and checks."""

    def drawn(self, generator: Any, asked: CodeRequest, inputs: Sequence[Any]) -> Mapping[str, Any]:
        """An array for each mode, float64, [*shape of one draw, draws]; the generator seeds it.

        Inputs are float64, [*shape, draws] or [*shape, 1]; the code rounds them to its own format.

        Raises:
            DropcheckError: the code raises an error, or returns something else.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A name in a claims file to which code may be bound, and mathematics to use without code.

    `gives` is an expression in names of `model` and of `takes`; a sampler has a `law` instead, and
    a slot without mathematics the `shape` of a draw. `gradient` and `evaluation` define these
    modes. `independent`: draws of one call are so.
    """

    name: str
    title: str | None = None
    takes: tuple[str, ...] = ()
    model: SourceText | None = None
    gives: SourceText | None = None
    law: SourceText | None = None
    gradient: SourceText | None = None
    evaluation: SourceText | None = None
    independent: bool = False
    location: Location
    shape: tuple[SourceText, ...] | None = None
    fractions: frozenset[str] = frozenset()  # arguments to which some claim gives fractions


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """An implementation under test: its name, and its code by slot."""

    name: str
    code: Mapping[str, Code]
    again: Callable[[], Column] | None = None  # binds it again in another process, if possible

    def __reduce__(self) -> tuple[Callable[[], Column] | None, tuple[()]]:
        """Send it to another process as the function that binds it."""
        return self.again, ()

    @property
    def suffix(self) -> str:
        """The end of the ids of its claims."""
        return f"{COLUMN}{self.name}"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The deviation from `L == R` that a claim allows: a share of R, or an absolute number."""

    size: float
    absolute: bool = False

    def around(self, value: float) -> float:
        """The deviation that is allowed from a claimed value.

        >>> Tolerance(0.5).around(-4.0), Tolerance(0.5, absolute=True).around(-4.0)
        (2.0, 0.5)
        """
        return self.size if self.absolute else self.size * abs(value)


@dataclass(frozen=True, slots=True)
class Stated:
    """One of several statements of a claim, and the id under which it is judged."""

    id: str
    statement: SourceText
    tolerant: bool = False  # whether it has a tolerance


@dataclass(frozen=True, slots=True)
class Family:
    """An entry under `claims` with several statements about the same draws, in file order."""

    id: str
    title: str
    statements: tuple[Stated, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement, read from YAML; its texts are not parsed yet.

    It is an entry under `claims`, or one of several statements of such an entry, its `family`. Then
    its id is the id of the entry, a dot, and the statement's name.
    """

    id: str
    title: str
    statement: SourceText
    model: SourceText | None = None
    parameters: Mapping[str, tuple[ParameterValue, ...]]  # by name, the values of its grid
    cases: tuple[Mapping[str, ParameterValue], ...] | None = None  # listed cases
    requires: tuple[SourceText, ...] = ()
    expect: str  # "verified" or "refuted"
    tolerance: Tolerance | None = None
    resolution: float
    within: float | None = None
    sources: tuple[Passage, ...] = ()
    says: str | None = None
    note: str | None = None
    truth: str | None = None  # the id of the claim that is true in place of this one
    tags: tuple[str, ...] = ()
    location: Location  # of the id
    parameter_locations: Mapping[str, Location] = field(default_factory=dict)
    family: Family | None = None
    written: Written | None = None  # the text in the document, if it comes from one
    asymptotic: bool = False  # whether the limit theorem judges what the model does not bound
    # whether it is a formula, in which elements count from 1 and all must exist
    formula: bool = False
    # names drawn by code: only `verify` in Python sets it, no claims file
    sample: Sample | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)  # those of its file
    column: Column | None = None  # the code under test; None: the slots' own mathematics
    sharpness_given: bool = False  # whether its file gives 'resolution' or 'within'

    @property
    def entry(self) -> str:
        """The id of its entry under `claims`: its family's id, or its own."""
        return self.id if self.family is None else self.family.id

    @property
    def of_code(self) -> bool:
        """Whether code is judged: that of a column, or of a test in Python."""
        return self.column is not None or self.sample is not None

    @property
    def of(self) -> str:
        """The id of the claim without code under test."""
        return self.id if self.column is None else self.id.removesuffix(self.column.suffix)

    @property
    def place(self) -> int:
        """Its position among the statements of its family, from 0."""
        beside = () if self.family is None else self.family.statements
        return next((index for index, one in enumerate(beside) if one.id == self.id), 0)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Every parameter, in file order, from `parameters` and from `cases`."""
        listed = self.cases[0] if self.cases else {}  # every case has the same names
        return tuple(dict.fromkeys((*self.parameters, *listed)))

    @property
    def _grid(self) -> Mapping[str, tuple[ParameterValue, ...]]:
        """The values to be crossed; the number format matters only for code under test."""
        if self.column is not None or DTYPE not in self.parameters or not self.slots:
            return self.parameters
        return {name: values for name, values in self.parameters.items() if name != DTYPE}

    @property
    def case_count(self) -> int:
        """The number of cases that `expand` gives."""
        rows = 1 if self.cases is None else len(self.cases)
        return math.prod(map(len, self._grid.values())) * rows

    def expand(self) -> tuple[Case, ...]:
        """The claim's cases: each listed case, if there are any, crossed with the grid."""
        names, crossed = [*self._grid], itertools.product(*self._grid.values())
        rows = ({},) if self.cases is None else self.cases
        grid = [dict(zip(names, one, strict=True)) for one in crossed]
        return tuple(Case(self, {**point, **row}) for row in rows for point in grid)


@dataclass(frozen=True, slots=True)
class Case:
    """A claim at one value of each of its parameters."""

    claim: Claim
    parameters: Mapping[str, ParameterValue]

    @property
    def dtype(self) -> str | None:
        """The number format in which code computes; None if no code is under test."""
        dtype = self.parameters.get(DTYPE)
        return dtype if self.claim.column is not None and isinstance(dtype, str) else None

    @property
    def key(self) -> str:
        """A text that is the same for the same mathematics, whatever the order of parameters.

        Numbers are in hexadecimal, so that different floats give different keys.
        """
        return self._key(self.claim.id)

    @property
    def stream_key(self) -> str:
        """The key of its random numbers, which all statements of an entry share."""
        return self._key(self.claim.entry)

    def _key(self, name: str) -> str:
        parts = (f"{name}={_spelled(value)}" for name, value in sorted(self.parameters.items()))
        return ";".join((name, *parts))


def _spelled(value: ParameterValue) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(_spelled, value))}]"
    return value if isinstance(value, str) else float(value).hex()


@dataclass(frozen=True, slots=True)
class Registry:
    """The claims of a file, or of several."""

    name: str  # of the file, or of all files, in messages
    documents: Mapping[str, Document]
    claims: Mapping[str, Claim]  # in file order
    notes: tuple[Problem, ...] = ()  # on the file as a whole, such as an unused model
    coverage: tuple[Coverage, ...] = ()  # by document, which of its figures are claimed

    @property
    def case_count(self) -> int:
        """The number of cases that `expand` gives."""
        return sum(claim.case_count for claim in self.claims.values())

    def expand(self) -> tuple[Case, ...]:
        """Every case of every claim, in file order."""
        return tuple(case for claim in self.claims.values() for case in claim.expand())


def truth_id(written: str, family: str | None, known: Mapping[str, object]) -> str:
    """The id of the claim that a truth names; a statement of the same claim needs only its name."""
    beside = f"{family}.{written}"
    return beside if family is not None and beside in known else written


def renamed(claim: Claim, rename: Callable[[str], str]) -> Claim:
    """A claim under another id, together with the other statements of its family."""
    family = claim.family
    if family is not None:
        beside = tuple(replace(one, id=rename(one.id)) for one in family.statements)
        family = Family(rename(family.id), family.title, beside)
    return replace(claim, id=rename(claim.id), family=family)


# ---- models that claims share --------------------------------------------------------------------

MOST_IN_ALL = 2**24  # characters of all joined models: as much as a file itself may hold
MODEL_NAME = r"[^\W\d][\w-]*"
_BARE = re.compile(rf"({MODEL_NAME})\s*(?:#.*)?\r?")


class SharedModels:
    """The shared models of a file; inserts their lines where a line of a model is their name.

    The joined text keeps the places of its parts, so that an error in a shared line is reported
    where that line is.
    """

    def __init__(self, texts: Mapping[str, SourceText], places: Mapping[str, Location]) -> None:
        self.problems: list[Problem] = []
        self._places = places
        self._known: dict[str, SourceText] = {}  # with all their lines inserted
        self._used: set[str] = set()
        self._characters = 0
        for name, text in texts.items():
            whole = self.completed(text)
            inner = whole.models or (None,) * len(whole.places)
            self._known[name] = replace(whole, models=tuple(one or name for one in inner))

    def completed(self, text: SourceText) -> SourceText:
        """A model with the lines of other models inserted for their names.

        It is left as it is if it names an unknown model; the problem is added to `problems`.
        """
        bare = dict(_bare_lines(text.text.split("\n"))) if self._places else {}
        unknown = {number: name for number, name in bare.items() if name not in self._known}
        for number, name in unknown.items():
            message, hint = f"there is no model {name!r}", suggestion(name, self._places)
            if name in self._places:
                message = f"the model {name!r} stands below, or is this one"
                hint = "a model may name those above it"
            usual = "a line draws, 'x ~ normal(0, 1)', computes, 'y = 2 * x', or names a model: "
            usual += ", ".join(itertools.islice(self._places, 10))
            self.problems.append(Problem(message, text.locate(number, 0), hint or usual))
        self._used |= {*bare.values()}
        if not bare or unknown:  # without shared models, the language reports a bare name
            return text
        if len(text.places) == 1:
            return self._known[bare[0]]  # the same object: claims that share a model share its text
        whole = _put_together(text, {number: self._known[name] for number, name in bare.items()})
        self._characters += len(whole.text)
        if self._characters > MOST_IN_ALL:
            message = "with the lines of the models named, the models of this file would be longer"
            hint = "name a shared model alone, and add fewer lines to it"
            problem = Problem(f"{message} than {MOST_IN_ALL:,} characters", text.locate(0, 0), hint)
            self.problems.append(problem)
            return text
        return whole

    @property
    def notes(self) -> tuple[Problem, ...]:
        """A note on each model that nothing uses."""
        unused = {name: at for name, at in self._places.items() if name not in self._used}
        return tuple(
            Problem(f"no claim uses the model {name!r}", at, "take it out")
            for name, at in unused.items()
        )


def _bare_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines that consist of one name, are not indented and are outside brackets."""
    depth = 0
    for number, line in enumerate(lines):
        found = _BARE.fullmatch(line)
        if depth == 0 and found is not None:
            yield number, found.group(1)
        code = line.partition("#")[0]
        depth = max(depth + sum(map(code.count, "([{")) - sum(map(code.count, ")]}")), 0)


def _put_together(text: SourceText, shared: Mapping[int, SourceText]) -> SourceText:
    """The text, with some of its lines replaced by other texts."""
    lines = text.text.split("\n")
    own = (SourceText(one, (at,), (None,)) for one, at in zip(lines, text.places, strict=True))
    parts = [shared.get(number, one) for number, one in enumerate(own)]
    return SourceText(
        "\n".join(one.text for one in parts),
        tuple(place for one in parts for place in one.places),
        tuple(model for one in parts for model in one.models),
    )
