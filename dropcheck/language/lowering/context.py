"""What the lowering of one case goes by: the names defined in it, and its graph so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from dropcheck.errors import Problem
from dropcheck.language.graph import Value
from dropcheck.language.lowering.builder import GraphBuilder, Skipped
from dropcheck.language.suggestions import name_hint
from dropcheck.language.syntax import Call, Name, Node, Position
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

MOST_LISTED = 20  # names, of those that a hint lists


class Scope:
    """The names of one case, each defined once; a parameter that is a law, as the call of it."""

    def __init__(self) -> None:
        self._values: dict[str, Value | Call | None] = {}
        self._parameters: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def define(self, name: Name, value: Value | Call, parameter: bool = False) -> None:
        """Give a name its meaning.

        Raises:
            DropcheckError: where the name is taken, by the language or by a line above.
        """
        if name.name in CONSTANTS:
            raise name.at.error(
                f"{name.name!r} is a constant of the language and cannot be redefined",
                CONSTANTS[name.name].note or "choose another name",
            )
        if name.name in OPERATORS:
            raise name.at.error(
                f"{name.name!r} is an operator of the language and cannot be redefined",
                "choose another name",
            )
        if name.name in self._values:
            taken = "a parameter" if name.name in self._parameters else "a line above"
            message = f"{name.name!r} is already defined by {taken}"
            raise name.at.error(message, "choose another name")
        self._values[name.name] = value
        if parameter:
            self._parameters.add(name.name)

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
            return found
        known = [*self._values, *CONSTANTS]
        if name in OPERATORS:
            hint: str | None = f"{name!r} is an operator, and takes a quantity: {name}(…)"
        elif name in LAWS:
            hint = f"{name!r} is a law: draw from it on a line of the model, x ~ {name}(…)"
        else:
            hint = name_hint(name, known)
        if hint is None and known:
            listed = sorted(islice(self._values, MOST_LISTED))
            more = ", …" if len(self._values) > MOST_LISTED else ""
            names = ", ".join(listed) + more or "none"
            hint = f"define it in 'model' or 'parameters'; names defined here: {names}"
        raise at.error(f"{name!r} is not defined", hint)


class Context:
    """The graph of a case so far, the names defined in it, and notes on what may not be meant.

    Args:
        lower: the value of an expression in this context. What lowers parts of an expression, such
            as a call, gets it here, so that no module needs the one that calls it.
        memory: bytes that one draw may take, together with what is fixed.
        postpone: leave large fixed arrays, and what is made of them, to a run.
    """

    def __init__(
        self,
        lower: Callable[[Context, Node], Value],
        memory: int = DEFAULT_MEMORY,
        postpone: bool = False,
    ) -> None:
        self._lower = lower
        self.graph = GraphBuilder(memory, postpone)
        self.scope = Scope()
        self.notes: list[Problem] = []

    def lower(self, node: Node) -> Value:
        """The value of an expression.

        Raises:
            DropcheckError: where it breaks a rule of the language, pointing at the part.
        """
        return self._lower(self, node)

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
