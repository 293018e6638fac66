"""What the lowering of one case goes by."""

from __future__ import annotations

from collections.abc import Callable

from dropcheck.errors import Problem
from dropcheck.language.graph import Value
from dropcheck.language.lowering.builder import GraphBuilder
from dropcheck.language.names import Scope, Skipped
from dropcheck.language.syntax import Node
from dropcheck.settings import DEFAULT_MEMORY


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
