"""Names: those that the language keeps for itself, and what each means in a case."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dropcheck.errors import suggestion
from dropcheck.language.graph import Value
from dropcheck.language.syntax import Call, Name, Position
from dropcheck.records import dataclass
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

CONSTANTS = {
    "pi": math.pi,
    "e": math.e,
    "inf": math.inf,
    "euler_gamma": 0.57721566490153286060651209008240243,
}


@dataclass(frozen=True, slots=True)
class LawParameterValue:
    """A parameter that holds a law, read: `law: "normal(0, 1)"`."""

    call: Call


class Skipped(Exception):  # noqa: N818 - not an error of its own
    """What is asked for depends on what has an error, reported already, or on what is postponed."""


class Scope:
    """The names of one case, each defined once."""

    def __init__(self) -> None:
        self._values: dict[str, Value | LawParameterValue | None] = {}
        self._parameters: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def define(self, name: Name, value: Value | LawParameterValue) -> None:
        """Give a name its meaning.

        Raises:
            DropcheckError: where the name is taken, by the language or by a line above.
        """
        if name.name in CONSTANTS:
            raise name.at.error(
                f"{name.name!r} is a constant of the language and cannot be redefined",
                "e is Euler's number, 2.718…: choose another name, such as eps"
                if name.name == "e"
                else "choose another name",
            )
        if name.name in OPERATORS:
            raise name.at.error(
                f"{name.name!r} is an operator of the language and cannot be redefined",
                "choose another name",
            )
        if name.name in self._values:
            taken = "a parameter" if name.name in self._parameters else "a line above"
            raise name.at.error(
                f"{name.name!r} is already defined by {taken}", "choose another name"
            )
        self._values[name.name] = value

    def define_parameter(self, name: Name, value: Value | LawParameterValue) -> None:
        """As `define`, of a parameter.

        Raises:
            DropcheckError: as `define`.
        """
        self.define(name, value)
        self._parameters.add(name.name)

    def mark_broken(self, names: Iterable[Name]) -> None:
        """Names whose lines have errors: what uses them needs no error of its own."""
        for name in names:
            self._values.setdefault(name.name, None)

    def look_up(self, name: str, at: Position) -> Value | LawParameterValue:
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
            hint = suggestion(name, known)
        if hint is None and known:
            names = ", ".join(sorted(self._values)) or "none"
            hint = f"define it in 'model' or 'parameters'; names defined here: {names}"
        raise at.error(f"{name!r} is not defined", hint)
