"""What the lowering of one case goes by: the names defined in it, and its graph so far."""

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

MOST_LISTED = 20  # names, of those that a hint lists


DefineCall = Callable[["Context", Call, Shape | None, tuple[str, ...]], Value]
Later = Callable[[], Value]
"""What a name means, worked out where it is first asked for."""


class Scope:
    """The names of one case, each defined once; a parameter that is a law, as the call of it.

    A loop gives names that stand before it a new meaning at each step. `missing` says of names that
    a loop makes why they have no meaning yet: what, and what to do.
    """

    def __init__(self) -> None:
        self._values: dict[str, Value | Call | Later | None] = {}
        self._parameters: set[str] = set()
        self.constants: set[str] = set()  # those of the language that are used by now
        self.carried: frozenset[str] = frozenset()
        self.missing: dict[str, tuple[str, str]] = {}
        self.to_come: frozenset[str] = frozenset()  # what lines of the model define
        self.claim: Claim | None = None  # that the names are of
        self.home = "in 'model' or 'parameters'"  # where a name can be defined

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def define(self, name: Name, value: Value | Call | Later, parameter: bool = False) -> None:
        """Give a name its meaning; one that a loop carries, its next one.

        Raises:
            DropcheckError: where the name is taken, by the language or by a line above.
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
        """The number that the language gives to a name, where no line gives it another meaning."""
        if name not in CONSTANTS or name in self._values or name in self.missing:
            return None
        self.constants.add(name)
        return CONSTANTS[name].value

    def is_parameter(self, name: str) -> bool:
        """Whether a name is a parameter."""
        return name in self._parameters

    def meaning(self, name: str) -> Value | Call | Later | None:
        """What a name means, as it stands; None of a broken one."""
        return self._values.get(name)

    def forget(self, names: Iterable[str]) -> None:
        """Take names out that mean something in a loop alone."""
        for name in names:
            self._values.pop(name, None)

    def mark_broken(self, names: Iterable[Name]) -> None:
        """Names whose lines have errors: what uses them needs no error of its own."""
        for name in names:
            self._values.setdefault(name.name, None)

    def look_up(self, name: str, at: Position) -> Value | Call:
        """What a bare name means.

        Raises:
            DropcheckError: where nothing has that name.
            Skipped: where the line that defines it has an error.
        """
        if name in self._values:
            found = self._values[name]
            if found is None:
                raise Skipped
            if not isinstance(found, Value | Call):
                found = self._values[name] = found()
            return found
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
        """What a shared model leaves to its claims, a claim has to give.

        Raises:
            DropcheckError: it does not. One of its parameters that the model has no use for may be
                a slip of this name. A slip of the model's own names is an error of the model.
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
    """The slots of a claim's file, the code under test, and what calls of them have made so far.

    Args:
        known: the slots by name.
        define: a call of a slot, or a draw from one, as a value.
        column: the code; None where the mathematics stands in.
        dtype: the number format that the code computes in; None where it is that of Python.
        given: names of the model that code is given, whose values are rounded to that format.
        single: whether each draw is a call, unless the slot says that those of a call are
            independent: what is counted has to be.
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
        # by slot and arguments, the last call: its gradient is of the same random numbers
        self.made: dict[tuple[object, ...], Any] = {}
        self.calls = 0
        self.axes: dict[str, tuple[str, ...]] = {}  # of names of the model, where they have names
        self.formats: dict[str, str] = {}  # parameters that are number formats
        self.within = ""  # the call whose lines are lowered

    @property
    def rounds(self) -> bool:
        """Whether code gave what is compared: of a column, or of a test, in a short format."""
        return self.column is not None or (not self.known and self.dtype is not None)

    @property
    def near(self) -> dict[str, float]:
        """What `isclose` allows where code rounds; empty where no format is known.

        Code may round on its way: a factor, a product, and what it is held against are each off by
        half a unit in the last place at most, which is less than twice the epsilon in all.
        """
        if not self.rounds or self.dtype is None:
            return {}
        return {"atol": SMALLEST_NORMAL[self.dtype], "rtol": 2 * EPSILONS[self.dtype]}

    def code(self, slot: str) -> Code | None:
        """The code that is bound to a slot."""
        return None if self.column is None else self.column.code.get(slot)


class Context:
    """The graph of a case so far, the names defined in it, and notes on what may not be meant.

    Args:
        lower: the value of an expression in this context. What lowers parts of an expression, such
            as a call, gets it here, so that no module needs the one that calls it.
        memory: bytes that one draw may take, together with what is fixed.
        postpone: leave large fixed arrays, and what is made of them, to a run.
        slots: what of the claim code may be bound to.
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
        # the step of each loop that is being carried out, the outermost first
        self.steps: tuple[int, ...] = ()
        self.looped = 0  # nodes of the lines in loops that were lowered
        self.collected: set[int] = set()  # the ids of arrays that hold the values of all steps
        # calls that go along the last axis because they name none: of what, and of how many axes
        self.along_last: dict[Position, tuple[str, int]] = {}
        self._drawn: set[str] = set()
        self.entrywise = False  # whether operators on the law are of each entry of a shape
        self.pooled = False  # whether one was of elements that plainly differ in law
        self.formula = False  # whether a formula is lowered, whose elements all must be there
        self.every_element = False  # whether the statement is about every element of each draw

    def apart(self) -> Context:
        """A context with a graph of its own, where something is lowered for its shape alone."""
        return Context(self._lower, self._memory, slots=self.slots)

    def lower(self, node: Node) -> Value:
        """The value of an expression.

        Raises:
            DropcheckError: where it breaks a rule of the language, pointing at the part.
        """
        return self._lower(self, node)

    def draw_name(self, name: Name) -> Name:
        """The name of a draw, which is another one at each step of a loop: x[3]."""
        if not self.steps and not self.slots.within:
            return name
        step = f"[{', '.join(map(str, self.steps))}]" if self.steps else ""
        written = f"{self.slots.within}{name.name}{step}"
        while written in self._drawn:  # of another loop, or of another line
            written += "'"
        self._drawn.add(written)
        return Name(name.at, written)

    def lower_fixed(self, node: Node, message: str, hint: str) -> Value:
        """The value of an expression that must be fixed before any draw.

        Raises:
            DropcheckError: with the message and the hint where it is random.
            Skipped: where it is postponed.
        """
        value = self.lower(node)
        if value.random or value.estimated:
            raise node.at.error(message, hint)
        if value.postponed:
            raise Skipped
        return value
