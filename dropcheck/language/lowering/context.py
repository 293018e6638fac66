"""The state in which one case is lowered: the names defined, and the graph so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from dropcheck.claims.registry import Claim, Code, Column, Slot
from dropcheck.claims.values import WORDS
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.graph import Value
from dropcheck.language.lowering.builder import GraphBuilder, Skipped
from dropcheck.language.suggestions import name_hint, notation_hint
from dropcheck.language.syntax import Call, Name, Node, Position
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.functions.number_formats import EPSILONS, SMALLEST_NORMAL
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS
from dropcheck.vocabulary.shapes import Shape

MOST_LISTED = 20  # names in a hint


DefineCall = Callable[["Context", Call, Shape | None, tuple[str, ...]], Value]
Later = Callable[[], Value]
"""A function that gives the meaning of a name; it is called when the name is first used."""


class Scope:
    """The names of one case. A parameter that is a law is stored as the call of the law.

    In each step, a loop redefines the names that it carries from before the loop. `missing` holds
    the names that a loop defines but that have no value yet, with an error message and a hint.
    """

    def __init__(self) -> None:
        self._values: dict[str, Value | Call | Later | None] = {}
        self._parameters: set[str] = set()
        self.constants: set[str] = set()  # constants of the language that are used so far
        self.carried: frozenset[str] = frozenset()
        self.missing: dict[str, tuple[str, str]] = {}
        self.to_come: frozenset[str] = frozenset()  # names that lines of the model define
        self.claim: Claim | None = None  # the claim of this case
        self.home = "in 'model' or 'parameters'"  # where a name can be defined, for hints

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def define(self, name: Name, value: Value | Call | Later, parameter: bool = False) -> None:
        """Define a name; a name that a loop carries gets its next value.

        Raises:
            DropcheckError: the name is taken, by the language or by a line above.
        """
        constant = CONSTANTS.get(name.name)
        if constant is not None and (not constant.yields or constant.name in self.constants):
            raise name.at.error(
                f"{name.name!r} is a constant of the language and cannot be redefined",
                constant.note or "choose another name",
            )
        if name.name in OPERATORS:
            raise name.at.error(
                f"{name.name!r} is an operator of the language and cannot be redefined",
                "choose another name",
            )
        if name.name in self._values and name.name not in self.carried:
            taken = "a parameter" if name.name in self._parameters else "a line above"
            message = f"{name.name!r} is already defined by {taken}"
            raise name.at.error(message, "choose another name")
        self._values[name.name] = value
        if parameter:
            self._parameters.add(name.name)

    def constant(self, name: str) -> float | None:
        """The number that the language gives to a name, unless a line gives it another meaning."""
        if name not in CONSTANTS or name in self._values or name in self.missing:
            return None
        self.constants.add(name)
        return CONSTANTS[name].value

    def is_parameter(self, name: str) -> bool:
        """Whether a name is a parameter."""
        return name in self._parameters

    def meaning(self, name: str) -> Value | Call | Later | None:
        """The stored meaning of a name; None for a name with an error."""
        return self._values.get(name)

    def forget(self, names: Iterable[str]) -> None:
        """Remove names that are defined in a loop only."""
        for name in names:
            self._values.pop(name, None)

    def mark_broken(self, names: Iterable[Name]) -> None:
        """Mark names whose lines have errors: what uses them gets no error of its own."""
        for name in names:
            self._values.setdefault(name.name, None)

    def look_up(self, name: str, at: Position) -> Value | Call:
        """The meaning of a name in an expression.

        Raises:
            DropcheckError: the name is not defined.
            Skipped: the line that defines it has an error.
        """
        if name in self._values:
            meaning = self._values[name]
            if meaning is None:
                raise Skipped
            if not isinstance(meaning, Value | Call):
                meaning = self._values[name] = meaning()
            return meaning
        if name in self.missing:
            raise at.error(*self.missing[name])
        self._ask_claim(name, at)
        known = [*self._values, *CONSTANTS]
        if name in OPERATORS:
            raise at.error(f"{name!r} is an operator, and takes a quantity", f"write {name}(…)")
        hint: str | None
        if name in self.to_come:
            hint = "a line below defines it: move that line up"
        elif name in LAWS:
            hint = f"{name!r} is a law: draw from it on a line of the model, x ~ {name}(…)"
        else:
            hint = notation_hint(name, at) or name_hint(name, known)
        if hint is None and known:
            listed = sorted(islice(self._values, MOST_LISTED))
            more = ", …" if len(self._values) > MOST_LISTED else ""
            names = ", ".join(listed) + more or "none"
            hint = f"define it {self.home}; names defined here: {names}"
        raise at.error(f"{name!r} is not defined", hint)

    def _ask_claim(self, name: str, at: Position) -> None:
        """Report a name that a shared model expects from the claim.

        Raises:
            DropcheckError: the claim does not give it. If it has a parameter with a similar name
                that the model does not use, that may be a misspelling. Nothing is raised if the
                model defines a similar name: then the error is the model's.
        """
        model, claim = dict(enumerate(at.source.models)).get(at.line), self.claim
        if model is None or claim is None:
            return
        words = frozenset(WORDS.findall(at.source.text))
        unused = (one for one in claim.parameter_names if one not in words)
        slip = next((one for one in unused if name_hint(name, [one])), None)
        if slip is None and name_hint(name, self._values):
            return
        place = claim.location if slip is None else claim.parameter_locations[slip]
        message = f"the model {model!r} needs {name!r}, and this claim does not give it"
        hint = (
            name_hint(slip, [name])
            if slip
            else f"give it as a parameter, as in {name}: 8 or {name}: [8, 16]"
        )
        raise DropcheckError(Problem(message, place, hint))


class Slots:
    """The slots of a claim's file, the code under test, and the calls of slots so far.

    Args:
        known: the slots by name.
        define: makes the value of a call of a slot, or of a draw from one.
        column: the code under test; None if the slots' own mathematics is used.
        dtype: the number format in which the code computes; None for float64.
        given: names of the model that are passed to code; their values are rounded to the format.
        single: whether each draw is one call, unless the slot says that the draws of one call are
            independent. Statements that count draws need this.
    """

    def __init__(
        self,
        known: Mapping[str, Slot] | None = None,
        define: DefineCall | None = None,
        column: Column | None = None,
        dtype: str | None = None,
        given: frozenset[str] = frozenset(),
        single: bool = False,
    ) -> None:
        self.known = known or {}
        self.single = single
        self.define = define
        self.column = column
        self.dtype = dtype
        self.given = given
        # the last call by slot and arguments: its gradient needs the same random numbers
        self.made: dict[tuple[object, ...], Any] = {}
        self.calls = 0
        self.axes: dict[str, tuple[str, ...]] = {}  # the names of the axes of the model's names
        self.formats: dict[str, str] = {}  # parameters that are number formats
        self.within = ""  # the call whose lines are being lowered

    @property
    def rounds(self) -> bool:
        """Whether code computed the compared values: a column's, or a test's in a short format."""
        return self.column is not None or (not self.known and self.dtype is not None)

    @property
    def near(self) -> dict[str, float]:
        """The tolerances of `isclose` where code rounds; empty if no number format is known.

        A factor, a product and the value that it is compared with are each off by at most half a
        unit in the last place. In all, that is less than twice the machine epsilon.
        """
        if not self.rounds or self.dtype is None:
            return {}
        return {"atol": SMALLEST_NORMAL[self.dtype], "rtol": 2 * EPSILONS[self.dtype]}

    def code(self, slot: str) -> Code | None:
        """The code that is bound to a slot."""
        return None if self.column is None else self.column.code.get(slot)


class Context:
    """The graph of a case so far, its names, and notes on what the user may not have meant.

    Args:
        lower: lowers an expression in this context. It is passed in, so that modules that lower
            parts of an expression do not import the module that lowers all of it.
        memory: bytes that one draw may take, together with all fixed values.
        postpone: leave large fixed arrays, and what is computed from them, to a run.
        slots: the slots of the claim.
    """

    def __init__(
        self,
        lower: Callable[[Context, Node], Value],
        memory: int = DEFAULT_MEMORY,
        postpone: bool = False,
        slots: Slots | None = None,
    ) -> None:
        self._lower, self._memory = lower, memory
        self.slots = slots or Slots()
        self.graph = GraphBuilder(memory, postpone)
        self.scope = Scope()
        self.notes: list[Problem] = []
        # the current step of each enclosing loop, the outermost first
        self.steps: tuple[int, ...] = ()
        self.looped = 0  # nodes in lines of loops that are lowered so far
        self.collected: set[int] = set()  # ids of arrays that hold a name's values at all steps
        # calls that use the last axis because they name none: the function, and the rank
        self.along_last: dict[Position, tuple[str, int]] = {}
        self._drawn: set[str] = set()
        self.entrywise = False  # whether operators on the law apply to each entry of an array
        self.pooled = False  # whether one applied to elements that clearly differ in law
        self.formula = False  # whether a formula is lowered: indices beyond an array are errors
        self.every_element = False  # whether the statement is about every element of each draw

    def apart(self) -> Context:
        """A context with a graph of its own, to lower something for its shape only."""
        return Context(self._lower, self._memory, slots=self.slots)

    def lower(self, node: Node) -> Value:
        """The value of an expression.

        Raises:
            DropcheckError: it breaks a rule of the language; the error points at the part.
        """
        return self._lower(self, node)

    def draw_name(self, name: Name) -> Name:
        """The name of a draw; in a loop, it includes the step: x[3]."""
        if not self.steps and not self.slots.within:
            return name
        step = f"[{', '.join(map(str, self.steps))}]" if self.steps else ""
        written = f"{self.slots.within}{name.name}{step}"
        while written in self._drawn:  # by another loop, or by another line
            written += "'"
        self._drawn.add(written)
        return Name(name.at, written)

    def lower_fixed(self, node: Node, message: str, hint: str) -> Value:
        """The value of an expression that must be fixed before any draw.

        Raises:
            DropcheckError: it is random; the error has this message and hint.
            Skipped: it is postponed.
        """
        value = self.lower(node)
        if value.random or value.estimated:
            raise node.at.error(message, hint)
        if value.postponed:
            raise Skipped
        return value
