"""Nodes to graph: names looked up, shapes worked out, randomness followed, every misuse told."""

from __future__ import annotations

import dataclasses
from functools import partial

from dropcheck.claims.registry import Sample
from dropcheck.language.graph import Value, hashable
from dropcheck.language.lowering import product_hints as products
from dropcheck.language.lowering.calls import CallLowering
from dropcheck.language.lowering.scope import CONSTANTS, LawParameterValue
from dropcheck.language.syntax import (
    Array,
    Binary,
    Call,
    Compare,
    Conditional,
    Logic,
    ModelLine,
    Name,
    Negative,
    Node,
    Not,
    Number,
    Position,
    Slice,
    Subscript,
    Transpose,
)
from dropcheck.language.wording import describe_shape
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import SIGNS
from dropcheck.vocabulary.functions.arrays import ARRAY, SUBSCRIPT
from dropcheck.vocabulary.functions.elementwise import NEGATIVE
from dropcheck.vocabulary.functions.linear_algebra import MATMUL, TRANSPOSE
from dropcheck.vocabulary.functions.truths import (
    AND,
    COMPARISONS,
    CONDITIONAL,
    NOT,
    NOT_EQUAL,
)
from dropcheck.vocabulary.laws import LAWS


class Lowering(CallLowering):
    """Turns the nodes of one case into values, in a scope of names that it fills line by line."""

    # -- definitions -----------------------------------------------------------------------------

    def define_parameter(self, name: Name, value: float | LawParameterValue) -> None:
        """A parameter at its value in this case."""
        if isinstance(value, LawParameterValue):
            self.scope.define(name, value, "parameter")
        else:
            self.scope.define(name, self.number(value, name.at, name.name), "parameter")

    def define_sampled(self, name: Name, sample: Sample) -> None:
        """A name that code draws."""
        value = self.sampled(name, sample)
        if name.name in sample.truths:
            zero = self.number(0.0, name.at)
            truth = self.elementwise(NOT_EQUAL, (value, zero), name.at)
            value = truth.called(name.name)
            self.remember(value)
        self.scope.define(name, value, "sample")

    def define_line(self, line: ModelLine) -> None:
        """One line of the model."""
        for name in line.names:
            if line.drawn:
                value = self.draw(line.right, name)
            else:
                value = self.lower(line.right)
                if value.estimated:
                    raise line.right.at.error(
                        "an operator on the law stands in the model",
                        "operators such as E(…) belong in 'claim'; for the elements of one draw "
                        "use mean, var, std, …",
                    )
                if value.name is None:
                    value = value.called(name.name)
                    self.remember(value)
            self.scope.define(name, value, "line")

    # -- expressions -----------------------------------------------------------------------------

    def lower(self, node: Node) -> Value:
        """The value of an expression.

        Raises:
            DropcheckError: where it breaks a rule of the language, pointing at the part.
        """
        match node:
            case Name(name=name):
                return self._name(name, node.at)
            case Number(value=value):
                return self.number(value, node.at)
            case Binary():
                return self._binary(node, self.lower(node.left), self.lower(node.right))
            case Call():
                return self.call(node)
            case Negative(operand=inner):
                return self.elementwise(NEGATIVE, (self.lower(inner),), node.at)
            case Compare(operators=operators, operands=operands):
                values = [self.lower(operand) for operand in operands]
                links = [
                    self.elementwise(COMPARISONS[sign], (a, b), node.at)
                    for sign, a, b in zip(operators, values, values[1:], strict=False)
                ]
                return self._joined(AND, links, node.at)
            case Logic(operator=operator, operands=operands):
                return self._joined(SIGNS[operator], [self.lower(o) for o in operands], node.at)
            case Not(operand=inner):
                return self.elementwise(NOT, (self.lower(inner),), node.at)
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                return self._conditional(condition, then, otherwise, node.at)
            case Array(items=items):
                return self._array(items, node.at)
            case Subscript(base=base, index=index):
                return self._subscript(base, index, node.at)
            case Transpose(base=base):
                rule = partial(products.transpose, base)
                return self.shaped(TRANSPOSE, (self.lower(base),), rule, node.at)
            case _:
                raise node.at.error("a slice stands only in an index", "write x[1:3]")

    def _name(self, name: str, at: Position) -> Value:
        if name in CONSTANTS:
            return self.number(CONSTANTS[name], at)
        found = self.scope.look_up(name, at)
        if isinstance(found, LawParameterValue):
            raise at.error(
                f"{name!r} is a law, not a number",
                f"draw from it on a line of the model: x ~ {name}",
            )
        return found

    def _binary(self, node: Binary, left: Value, right: Value) -> Value:
        if node.operator == "@":
            return self.shaped(MATMUL, (left, right), partial(products.matmul, node), node.at)
        function = SIGNS[node.operator]
        value = self.elementwise(function, (left, right), node.at)
        if not function.divides or right.shape != ():
            return value
        if right.known == 0 and value.suspect is None:
            return dataclasses.replace(value, suspect=(node.right.at, "division by zero"))
        return value

    def _joined(self, function: Function, values: list[Value], at: Position) -> Value:
        """All of them, or one of them: in pairs, so that many are not many levels deep."""
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            odd = values[-1:] if len(values) % 2 else []
            values = [self.elementwise(function, pair, at) for pair in pairs] + odd
        return values[0]

    def _conditional(self, condition: Node, then: Node, otherwise: Node, at: Position) -> Value:
        asked = self.lower(condition)
        values = (self.lower(then), self.lower(otherwise))
        taken = self.taken(asked, values, at)
        if taken is not None:
            return taken
        return self.elementwise(CONDITIONAL, (asked, *values), at)

    def _array(self, items: tuple[Node, ...], at: Position) -> Value:
        values = tuple(self.lower(item) for item in items)
        for value, item in zip(values, items, strict=True):
            if None not in (value.shape, values[0].shape) and value.shape != values[0].shape:
                raise item.at.error(
                    "entries of a list need the same shape: this one is "
                    f"{describe_shape(value.shape or ())}, and the first is "
                    f"{describe_shape(values[0].shape or ())}"
                )
        first = values[0].shape
        shape = None if first is None else (len(values), *first)
        return self.operation(ARRAY, values, shape, at)

    def _subscript(self, base: Node, index: tuple[Node, ...], at: Position) -> Value:
        if isinstance(base, Name) and base.name in LAWS:
            raise base.at.error(f"{base.name!r} is a law", "draw from it on a line of the model")
        value = self.lower(base)
        entries = tuple(self._index(entry) for entry in index)
        if any(entry is None for entry in entries):
            return self.operation(SUBSCRIPT, (value,), None, at)
        return self.shaped(
            SUBSCRIPT,
            (value,),
            lambda shape: shapes.subscript(shape, entries),  # type: ignore[arg-type]  # no None left
            at,
            options=(("index", hashable(entries)),),
        )

    def _index(self, node: Node) -> int | slice | None:
        if isinstance(node, Slice):
            ends = [
                None if end is None else self._whole(end)
                for end in (node.start, node.stop, node.step)
            ]
            if ends[2] == 0:
                raise node.at.error("the step of a slice cannot be 0")
            return slice(*ends)
        return self._whole(node)

    def _whole(self, node: Node) -> int | None:
        value = self.lower(node)
        if value.random or value.estimated:
            raise node.at.error(
                "an index in brackets must be fixed, and this one is random",
                "take(x, i) picks elements by a random index",
            )
        if value.shape not in ((), None):
            raise node.at.error(
                "an index in brackets is a number or a slice, and this is a list",
                "take(x, [0, 2]) picks several elements",
            )
        known = value.known
        if known is None:
            return None
        if not isinstance(known, float) or known != known // 1:
            shown = f"{known:.12g}" if isinstance(known, float) else "a list"
            raise node.at.error(
                f"an index needs a whole number, and this is {shown}", "indices count from 0"
            )
        return int(max(-(2.0**62), min(known, 2.0**62)))
