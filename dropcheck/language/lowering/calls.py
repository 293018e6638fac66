"""Calls: functions, densities and the operators on the law."""

from __future__ import annotations

import math
from typing import Any

from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.elsewhere import function_hint
from dropcheck.language.folding import fixed_array
from dropcheck.language.graph import Kind, Plain, Value, hashable, joined_sources
from dropcheck.language.lowering.binding import bind, bind_variadic
from dropcheck.language.lowering.draws import LawLowering
from dropcheck.language.lowering.operands import (
    bind_operator,
    check_operand_shapes,
    refuse_operands,
)
from dropcheck.language.syntax import Call, Node, Position
from dropcheck.language.wording import shape_text
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import DENSITIES, FUNCTIONS
from dropcheck.vocabulary.functions.truths import WHERE
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS, operator_like
from dropcheck.vocabulary.shapes import Shape, ShapeError

# More axes, sizes or levels than anybody names.
LONGEST_OPTION = 1_000


class CallLowering(LawLowering):
    """Turns calls into values."""

    def call(self, node: Call) -> Value:
        """The value of a call: an operator on the law, a density or a function."""
        if node.name in OPERATORS:
            return self._operator(node)
        if node.name in DENSITIES:
            return self._density(node)
        function = FUNCTIONS.get(node.name)
        if function is None:
            raise self._unknown_function(node)
        return self._function(function, node)

    def _unknown_function(self, node: Call) -> DropcheckError:
        if node.name in LAWS:
            return node.at.error(
                f"{node.name!r} is a law, and cannot stand in an expression",
                f"draw from it on a line of the model: x ~ {node.name}(…)",
            )
        return node.at.error(
            f"{node.name!r} is not a function of the language", function_hint(node.name)
        )

    def _function(self, function: Function, node: Call) -> Value:
        values, options = self._bind_function(function, node)
        meant = operator_like(function.name)
        if meant is not None and values and values[0].shape == () and values[0].random:
            raise node.at.error(
                f"{function.name!r} is over the elements of one draw, and this is one number a "
                "draw",
                f"did you mean {meant.name}(…), which speaks of the law?",
            )
        if function is WHERE:
            taken = self.taken(values[0], (values[1], values[2]), node.at)
            if taken is not None:
                return taken
        if options is None:
            return self.operation(function, values, None, node.at)
        if function.from_shape is not None:
            return self._from_shape(function, values[0], node.at)
        known_shapes = tuple(value.shape for value in values if value.shape is not None)
        shape: Shape | None = None
        if len(known_shapes) == len(values):
            try:
                shape = function.shape(known_shapes, options)
            except ShapeError as error:
                hint = error.hint or _hint_of_one_number(function, known_shapes)
                raise node.at.error(f"{function.name}: {error}", hint) from None
        return self.operation(
            function,
            values,
            shape,
            node.at,
            tuple(sorted((name, hashable(value)) for name, value in options.items())),
        )

    def _from_shape(self, function: Function, value: Value, at: Position) -> Value:
        if value.shape is None or function.from_shape is None:
            return self.operation(function, (value,), None, at)
        found = function.from_shape(value.shape)
        if isinstance(found, tuple):
            if not found:
                raise at.error(f"{function.name}: this is a single number, and has no axes")
            entries = tuple(float(entry) for entry in found)
            constant: Plain = entries
            shape: Shape = (len(entries),)
        else:
            constant, shape = float(found), ()
        return self.make(
            Kind.CONSTANT,
            "number",
            (),
            options=(("value", constant),),
            shape=shape,
            at=at,
            constant=fixed_array(constant),
        )

    def _bind_function(
        self, function: Function, node: Call
    ) -> tuple[tuple[Value, ...], dict[str, Any] | None]:
        """Values in order and options by name; options None where one is not known yet."""
        parameters = function.parameters
        values: list[Value] = []
        options: dict[str, Any] | None = {}
        variadic = next((p for p in parameters if p.variadic), None)
        if variadic is not None:
            bound = bind_variadic(function, variadic, node)
            if variadic.option:
                options = self._listed_option(variadic.name, node)
            else:
                values = [self.lower(argument) for argument in node.arguments]
        else:
            needed = sum(p.required for p in parameters)
            bound = bind(node, [p.name for p in parameters], needed, lambda: function.signature)
        for parameter in parameters:
            if parameter.variadic:
                continue
            if not parameter.option:
                if parameter.name in bound:
                    values.append(self.lower(bound[parameter.name]))
                elif parameter.default is not None and variadic is None:
                    values.append(self.number(parameter.default, node.at))
            elif parameter.name in bound:
                option = self._option(bound[parameter.name])
                if options is not None:
                    options = None if option is None else {**options, parameter.name: option}
            elif options is not None and parameter.default is not None:
                options[parameter.name] = parameter.default
        return tuple(values), options

    def _listed_option(self, name: str, node: Call) -> dict[str, Any] | None:
        """An option whose entries are the arguments: `zeros(2, 3)`; None if not known yet."""
        entries = [self._option(argument) for argument in node.arguments]
        if None in entries:
            return None
        listed = (found if isinstance(found, tuple) else (found,) for found in entries)
        return {name: tuple(entry for found in listed for entry in found)}

    def _option(self, node: Node) -> Plain | None:
        value = self.lower(node)
        if value.random or value.estimated:
            raise node.at.error(
                "this argument must be fixed before any draw, and is random",
                "use a number, a parameter or an expression of them; of two quantities, "
                "maximum(a, b) and minimum(a, b) are the larger and the smaller",
            )
        if value.shape is not None and math.prod(value.shape) > LONGEST_OPTION:
            raise node.at.error(
                f"this argument is a number or a list of at most {LONGEST_OPTION}, and this has "
                f"shape {shape_text(value.shape)}"
            )
        return value.known

    def _density(self, node: Call) -> Value:
        bound = bind(node, ["law", "x"], 2, lambda: f"{node.name}(law, x)")
        drawn = self.read_draw(bound["law"])
        if drawn.shape is not None:
            raise drawn.at.error(
                "the law of a density takes no shape", "its arguments and x give the shape"
            )
        arguments = [self.lower(argument) for argument in drawn.arguments]
        own = self._check_arguments(drawn.law, arguments, drawn)
        self._check_values(drawn.law, arguments, drawn)
        batch = self._batch_shape(drawn.law, arguments, drawn)
        x = self.lower(bound["x"])
        shape: Shape | None = None
        if own is not None and batch is not None and x.shape is not None:
            if own and x.shape[len(x.shape) - len(own) :] != own:
                raise bound["x"].at.error(
                    f"a value of {drawn.law.name} has shape {shape_text(own)}, and this has "
                    f"{shape_text(x.shape)}"
                )
            try:
                shape = shapes.broadcast((batch, x.shape[: len(x.shape) - len(own)]))
            except ShapeError as error:
                raise node.at.error(f"{node.name}: {error}") from None
        return self.operation(
            DENSITIES[node.name],
            (*arguments, x),
            shape,
            node.at,
            (("law", drawn.law.name),),
        )

    def _operator(self, node: Call) -> Value:
        operator = OPERATORS[node.name]
        names = [*operator.operands, "given"]
        bound = bind_operator(node, names)
        operands = {name: self.lower(bound[name]) for name in names if name in bound}
        refuse_operands(node, bound, operands)
        values = tuple(operands.values())
        check_operand_shapes(node, values, pair=len(operator.operands) > 1)
        if operator.probability:
            self._note_on_event(values[0], node)
        return self.make(
            Kind.OPERATOR,
            node.name,
            values,
            options=(("given", "given" in bound),),
            shape=(),
            at=node.at,
            estimated=True,
            sources=joined_sources(values),
            suspect=next((value.suspect for value in values if value.suspect), None),
        )

    def _note_on_event(self, event: Value, node: Call) -> None:
        """What may not have been meant, where 'P' is of something else than one truth."""
        if event.random and not event.truth and event.kind != Kind.DRAW:
            self.notes.append(
                Problem(
                    "'P' of a quantity that is no truth is the probability that it is not 0",
                    node.at.location,
                    "was a comparison meant, P(… > …), or E(…)?",
                )
            )
        if event.random and event.shape not in ((), None):
            self.notes.append(
                Problem(
                    f"'P' of a quantity of shape {shape_text(event.shape or ())} is the "
                    "probability for one element picked at random",
                    node.at.location,
                    "was P(any(…)) or P(all(…)) meant?",
                )
            )


def _hint_of_one_number(function: Function, given: tuple[Shape, ...]) -> str | None:
    """The hint where a function of a draw's elements is given a single number."""
    over = any(parameter.name == "axis" for parameter in function.parameters)
    if not over or given[0] != ():
        return None
    return (
        f"{function.name!r} is over the elements of one draw: of several numbers write "
        f"{function.name}([a, b]), and n at once are drawn by x ~ normal(0, 1)[n]"
    )
