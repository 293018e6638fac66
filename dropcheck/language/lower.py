"""Nodes to graph: names looked up, shapes worked out, randomness followed, every misuse told."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.language import shapes
from dropcheck.language.functions import FUNCTIONS
from dropcheck.language.graph import Folder, Kind, Plain, Value
from dropcheck.language.laws import LAWS, argument_problem
from dropcheck.language.scope import CONSTANTS, OPERATORS, LawParameterValue, Scope
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
from dropcheck.language.vocabulary import Function, Law, Shape, ShapeError

# One draw of any quantity may take this many numbers of 8 bytes: a GiB.
MOST_ELEMENTS = 2**27

_ROWWISE = {"mean": "E", "var": "Var", "std": "Std"}
_SHAPED = ("sum", "max", "min", "prod", "median", "norm")


@dataclass(frozen=True, slots=True)
class Draw:
    """What stands right of `~`: a law, its arguments by parameter, and a shape if one is given."""

    law: Law
    arguments: tuple[Node, ...]
    shape: tuple[Node, ...] | None
    at: Position


class Lowering:
    """Turns the nodes of one case into values, in a scope of names that it fills line by line.

    Equal expressions become one value, so that nothing is computed twice.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.scope = Scope()
        self.notes: list[Problem] = []
        self._known: dict[tuple[Any, ...], Value] = {}

    # -- definitions -----------------------------------------------------------------------------

    def define_parameter(self, name: Name, value: float | LawParameterValue) -> None:
        """A parameter at its value in this case."""
        if isinstance(value, LawParameterValue):
            self.scope.define(name, value, "parameter")
        else:
            self.scope.define(name, self.number(value, name.at, name.name), "parameter")

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
                    value = dataclasses.replace(value, name=name.name)
                    self._remember(value)
            self.scope.define(name, value, "line")

    def draw(self, node: Node, name: Name) -> Value:
        """A fresh draw from a law; a degenerate law is the constant that it is."""
        drawn = self.read_draw(node)
        law = drawn.law
        arguments = [self.lower(argument) for argument in drawn.arguments]
        own = self._check_arguments(law, arguments, drawn)
        batch = self._batch_shape(law, arguments, drawn)
        shape = None if batch is None or own is None else batch + own
        self._check_size(shape, name.at, name.name)
        known = [self.plain(argument) for argument in arguments]
        if own == () and shape is not None and all(isinstance(k, float) for k in known):
            value = law.constant(*known)
            if value is not None:
                return self._make(
                    Kind.CONSTANT,
                    "degenerate",
                    (),
                    shape=shape,
                    at=name.at,
                    name=name.name,
                    constant=self.folder.full(float(value), shape),
                )
        return Value(
            Kind.DRAW,
            law.name,
            tuple(arguments),
            (),
            shape,
            name.at,
            name=name.name,
            random=True,
            sources=frozenset({name.name}).union(*(a.sources for a in arguments)),
            law=law,
            suspect=next((a.suspect for a in arguments if a.suspect), None),
        )

    def read_draw(self, node: Node) -> Draw:
        """The law that a node names, with its arguments in the order of the law's parameters."""
        shape: tuple[Node, ...] | None = None
        base = node
        if isinstance(node, Subscript):
            base, shape = node.base, node.index
        if isinstance(base, Name):
            if base.name in LAWS:
                raise base.at.error(
                    f"{base.name!r} needs its arguments",
                    f"write {signature(LAWS[base.name])}",
                )
            found = self.scope.look_up(base.name, base.at)
            if not isinstance(found, LawParameterValue):
                raise base.at.error(
                    f"{base.name!r} is a number, not a law",
                    "write a law such as normal(0, 1), or '=' for an expression",
                )
            base = found.call
        if not isinstance(base, Call):
            raise base.at.error(
                "a law is expected right of '~'",
                "write a law such as normal(0, 1)[n], or '=' for an expression",
            )
        if base.name not in LAWS:
            hint = suggestion(base.name, LAWS)
            if hint is None and base.name in FUNCTIONS:
                hint = f"{base.name!r} is a function: write '=' in place of '~'"
            raise base.at.error(f"{base.name!r} is not a law", hint or f"laws are {_listed(LAWS)}")
        law = LAWS[base.name]
        names = [parameter.name for parameter in law.parameters]
        bound = _bind(base, names, len(names), signature(law))
        return Draw(law, tuple(bound[name] for name in names), shape, base.at)

    def _check_arguments(
        self, law: Law, arguments: Sequence[Value], drawn: Draw
    ) -> Shape | None:
        """Check ranks and what is known of the values; the law's own axes, None if not known."""
        for parameter, value, node in zip(
            law.parameters, arguments, drawn.arguments, strict=True
        ):
            self._no_operator(value, node.at)
            if value.shape is not None and len(value.shape) < parameter.axes:
                kind = "a list" if parameter.axes == 1 else "a matrix"
                raise node.at.error(
                    f"{parameter.name!r} of {law.name} must be {kind}, and is "
                    f"{_describe_shape(value.shape)}",
                    f"write {signature(law)}",
                )
            known = self.plain(value)
            if isinstance(known, float) and not parameter.axes and value.suspect is None:
                if not parameter.domain.holds(known):
                    raise node.at.error(
                        f"{parameter.name!r} of {law.name} must satisfy "
                        f"{parameter.domain.describe(parameter.name)}, and is {known:.12g}"
                    )
        known_values = [self.plain(value) for value in arguments]
        if all(value is not None for value in known_values) and all(
            value.suspect is None for value in arguments
        ):
            problem = argument_problem(law, known_values)
            if problem is not None:
                raise drawn.at.error(f"{law.name}: {problem}", f"write {signature(law)}")
        if law.own_axes is None:
            return ()
        if any(value.shape is None for value in arguments):
            return None
        try:
            return law.own_axes(
                tuple(value.shape for value in arguments if value.shape is not None),
                tuple(known_values),
            )
        except ShapeError as error:
            raise drawn.at.error(f"{law.name}: {error}") from None

    def _batch_shape(self, law: Law, arguments: Sequence[Value], drawn: Draw) -> Shape | None:
        """The shape of independent values: the one in brackets, or the arguments' common one."""
        batches: list[Shape] = []
        for parameter, value in zip(law.parameters, arguments, strict=True):
            if value.shape is None:
                return None
            batches.append(value.shape[: len(value.shape) - parameter.axes])
        try:
            common = shapes.broadcast(tuple(batches))
        except ShapeError as error:
            raise drawn.at.error(f"the arguments of {law.name} do not go together: {error}") from None
        if drawn.shape is None:
            return common
        given = self._dimensions(drawn.shape)
        if given is None:
            return None
        try:
            fits = shapes.broadcast((given, common)) == given
        except ShapeError:
            fits = False
        if not fits:
            raise drawn.at.error(
                f"arguments of shape {_shape_text(common)} do not fit draws of shape "
                f"{_shape_text(given)}",
                "the shape in brackets must be at least that of the arguments",
            )
        return given

    def _dimensions(self, nodes: tuple[Node, ...]) -> Shape | None:
        dimensions: list[int] = []
        for node in nodes:
            if isinstance(node, Slice):
                raise node.at.error("a shape has whole numbers, and this is a slice", "write [n]")
            value = self.lower(node)
            if value.random or value.estimated:
                raise node.at.error(
                    "a shape must be fixed, and this one is random",
                    "draw the largest shape and mask what is too many",
                )
            known = self.plain(value)
            if known is None:
                return None
            entries = known if isinstance(known, tuple) else (known,)
            for entry in entries:
                if not isinstance(entry, float) or entry != entry // 1 or not entry >= 1:
                    shown = f"{entry:.12g}" if isinstance(entry, float) else "a list"
                    raise node.at.error(
                        f"a shape needs whole numbers of at least 1, and this is {shown}"
                    )
                if not entry <= 2**62:
                    raise node.at.error(
                        f"a shape of {entry:.3g} is too large", _memory_hint(float(entry))
                    )
                dimensions.append(int(entry))
        return tuple(dimensions)

    # -- expressions -----------------------------------------------------------------------------

    def lower(self, node: Node) -> Value:
        """The value of an expression.

        Raises:
            DropcheckError: where it breaks a rule of the language, pointing at the part.
        """
        match node:
            case Number(value=value):
                return self.number(value, node.at)
            case Name(name=name):
                return self._name(name, node.at)
            case Call():
                return self._call(node)
            case Negative(operand=operand):
                return self._elementwise("negative", (self.lower(operand),), node.at)
            case Binary(operator="@", left=left, right=right):
                return self._matmul(self.lower(left), self.lower(right), node.at)
            case Binary(operator=operator, left=left, right=right):
                return self._arithmetic(operator, self.lower(left), self.lower(right), node)
            case Compare(operators=operators, operands=operands):
                values = [self.lower(operand) for operand in operands]
                links = [
                    self._elementwise(sign, (a, b), node.at, truth=True)
                    for sign, a, b in zip(operators, values, values[1:], strict=False)
                ]
                return self._joined("and", links, node.at)
            case Logic(operator=operator, operands=operands):
                return self._joined(operator, [self.lower(o) for o in operands], node.at)
            case Not(operand=operand):
                value = self.lower(operand)
                return self._elementwise("not", (value,), node.at, truth=True, takes_truth=True)
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                return self._conditional(condition, then, otherwise, node.at)
            case Array(items=items):
                return self._array(items, node.at)
            case Subscript(base=base, index=index):
                return self._subscript(base, index, node.at)
            case Transpose(base=base):
                value = self.lower(base)
                return self._shaped("transpose", (value,), shapes.transpose, node.at)
            case _:
                raise node.at.error("a slice stands only in an index", "write x[1:3]")

    def number(self, value: float, at: Position, name: str | None = None) -> Value:
        """A known number."""
        return self._make(
            Kind.CONSTANT,
            "number",
            (),
            options=(("value", float(value).hex()),),
            shape=(),
            at=at,
            name=name,
            constant=self.folder.constant(float(value)),
        )

    def plain(self, value: Value) -> Plain | None:
        """What is known of a value, in plain Python; None if nothing is."""
        if value.random or value.estimated or value.constant is None:
            return None
        return self.folder.plain(value.constant)

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

    def _arithmetic(self, operator: str, left: Value, right: Value, node: Binary) -> Value:
        value = self._elementwise(operator, (left, right), node.at)
        divisor = self.plain(right) if operator in ("/", "//", "%") else None
        if divisor == 0 and value.suspect is None:
            return dataclasses.replace(value, suspect=(node.right.at, "division by zero"))
        return value

    def _joined(self, operator: str, values: list[Value], at: Position) -> Value:
        joined = values[0]
        if len(values) == 1:
            return joined
        for value in values[1:]:
            joined = self._elementwise(
                operator, (joined, value), at, truth=True, takes_truth=True, guards=True
            )
        return joined

    def _conditional(self, condition: Node, then: Node, otherwise: Node, at: Position) -> Value:
        asked = self.lower(condition)
        values = (self.lower(then), self.lower(otherwise))
        known = self.plain(asked)
        if isinstance(known, float) and not math.isnan(known):
            return values[0] if known else values[1]
        return self._elementwise(
            "conditional", (asked, *values), at, takes_truth=True, guards=True
        )

    def _array(self, items: tuple[Node, ...], at: Position) -> Value:
        values = tuple(self.lower(item) for item in items)
        for value, item in zip(values, items, strict=True):
            if None not in (value.shape, values[0].shape) and value.shape != values[0].shape:
                raise item.at.error(
                    "entries of a list need the same shape: this one is "
                    f"{_describe_shape(value.shape or ())}, and the first is "
                    f"{_describe_shape(values[0].shape or ())}"
                )
        first = values[0].shape
        shape = None if first is None else (len(values), *first)
        return self._operation("array", values, shape, at)

    def _matmul(self, left: Value, right: Value, at: Position) -> Value:
        return self._shaped("matmul", (left, right), lambda a, b: shapes.matmul(a, b), at)

    def _subscript(self, base: Node, index: tuple[Node, ...], at: Position) -> Value:
        if isinstance(base, Name) and base.name in LAWS:
            raise base.at.error(f"{base.name!r} is a law", "draw from it on a line of the model")
        value = self.lower(base)
        entries = tuple(self._index(entry) for entry in index)
        if any(entry is None for entry in entries):
            return self._operation("subscript", (value,), None, at)
        return self._shaped(
            "subscript",
            (value,),
            lambda shape: shapes.subscript(shape, entries),  # type: ignore[arg-type]  # no None left
            at,
            options=(("index", _hashable(entries)),),
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
        known = self.plain(value)
        if known is None:
            return None
        if not isinstance(known, float) or known != known // 1:
            shown = f"{known:.12g}" if isinstance(known, float) else "a list"
            raise node.at.error(f"an index needs a whole number, and this is {shown}")
        return int(max(-(2.0**62), min(known, 2.0**62)))

    # -- calls -----------------------------------------------------------------------------------

    def _call(self, node: Call) -> Value:
        if node.name in OPERATORS:
            return self._operator(node)
        if node.name in ("density", "logdensity"):
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
        known = [*FUNCTIONS, *OPERATORS, "density", "logdensity"]
        hint = suggestion(node.name, known)
        if node.name.lower() in ("variance", "expectation", "mean_", "prob", "probability", "sd"):
            hint = f"operators are {', '.join(OPERATORS)}"
        return node.at.error(
            f"{node.name!r} is not a function of the language",
            hint or "recurrences and functions of your own are not part of format 1",
        )

    def _function(self, function: Function, node: Call) -> Value:
        values, options, nodes = self._bind_function(function, node)
        if function.name in _ROWWISE and values and values[0].shape == () and values[0].random:
            name = function.name
            raise node.at.error(
                f"{name!r} is over the elements of one draw, and this is one number a draw",
                f"did you mean {_ROWWISE[name]}(…), which speaks of the law?",
            )
        if function.name == "where" and values:
            known = self.plain(values[0])
            if isinstance(known, float) and not math.isnan(known):
                same = values[1].shape == values[2].shape
                if same:
                    return values[1] if known else values[2]
        if options is None:
            return self._operation(function.kernel, values, None, node.at, function=function)
        if function.from_shape is not None:
            return self._from_shape(function, values[0], node.at)
        known_shapes = tuple(value.shape for value in values if value.shape is not None)
        shape: Shape | None = None
        if len(known_shapes) == len(values):
            try:
                shape = function.shape(known_shapes, options)
            except ShapeError as error:
                raise node.at.error(f"{function.name}: {error}") from None
        return self._operation(
            function.kernel,
            values,
            shape,
            node.at,
            options=tuple(sorted((name, _hashable(value)) for name, value in options.items())),
            truth=function.truth,
            takes_truth=function.takes_truth,
            function=function,
            guards=function.name == "where",
        )

    def _from_shape(self, function: Function, value: Value, at: Position) -> Value:
        if value.shape is None or function.from_shape is None:
            return self._operation(function.kernel, (value,), None, at, function=function)
        found = function.from_shape(value.shape)
        if isinstance(found, tuple):
            if not found:
                raise at.error(f"{function.name}: this is a single number, and has no axes")
            entries = tuple(float(entry) for entry in found)
            constant: Plain = entries
            shape: Shape = (len(entries),)
        else:
            constant, shape = float(found), ()
        return self._make(
            Kind.CONSTANT,
            "number",
            (),
            options=(("value", constant),),
            shape=shape,
            at=at,
            constant=self.folder.constant(constant),
        )

    def _bind_function(
        self, function: Function, node: Call
    ) -> tuple[tuple[Value, ...], dict[str, Any] | None, dict[str, Node]]:
        """Values in order and options by name; options None where one is not known yet."""
        parameters = function.parameters
        written = function_signature(function)
        variadic = next((p for p in parameters if p.variadic), None)
        values: list[Value] = []
        options: dict[str, Any] | None = {}
        if variadic is not None:
            fixed = [p for p in parameters if not p.variadic]
            for name, _ in node.keywords:
                if name not in [p.name for p in fixed]:
                    raise _unknown_keyword(node, name, [p.name for p in fixed], written)
            leading = [p for p in fixed if not p.option]
            least = len(leading) + (1 if variadic.required else 0)
            if len(node.arguments) < least:
                raise node.at.error(
                    f"{function.name} takes at least {least} arguments, and has "
                    f"{len(node.arguments)}",
                    f"write {written}",
                )
            bound: dict[str, Node] = dict(node.keywords)
            if variadic.option:
                entries = [self._option(argument) for argument in node.arguments]
                flat = [
                    entry
                    for found in entries
                    for entry in (found if isinstance(found, tuple) else (found,))
                ]
                options = None if None in entries else {variadic.name: tuple(flat)}
            else:
                values = [self.lower(argument) for argument in node.arguments]
        else:
            needed = sum(p.required for p in parameters)
            bound = _bind(node, [p.name for p in parameters], needed, written)
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
        for value in values:
            del value
        return tuple(values), options, bound

    def _option(self, node: Node) -> Plain | None:
        value = self.lower(node)
        if value.random or value.estimated:
            raise node.at.error(
                "this argument must be fixed before any draw, and is random",
                "use a number, a parameter or an expression of them",
            )
        return self.plain(value)

    def _density(self, node: Call) -> Value:
        bound = _bind(node, ["law", "x"], 2, f"{node.name}(law, x)")
        drawn = self.read_draw(bound["law"])
        if drawn.shape is not None:
            raise drawn.at.error(
                "the law of a density takes no shape", "its arguments and x give the shape"
            )
        arguments = [self.lower(argument) for argument in drawn.arguments]
        own = self._check_arguments(drawn.law, arguments, drawn)
        batch = self._batch_shape(drawn.law, arguments, drawn)
        x = self.lower(bound["x"])
        shape: Shape | None = None
        if own is not None and batch is not None and x.shape is not None:
            if own and x.shape[len(x.shape) - len(own) :] != own:
                raise bound["x"].at.error(
                    f"a value of {drawn.law.name} has shape {_shape_text(own)}, and this has "
                    f"{_shape_text(x.shape)}"
                )
            try:
                shape = shapes.broadcast((batch, x.shape[: len(x.shape) - len(own)]))
            except ShapeError as error:
                raise node.at.error(f"{node.name}: {error}") from None
        return self._operation(
            node.name, (*arguments, x), shape, node.at, options=(("law", drawn.law.name),)
        )

    def _operator(self, node: Call) -> Value:
        pair = node.name in ("Cov", "Corr")
        names = (["u", "v"] if pair else ["event" if node.name == "P" else "u"]) + ["given"]
        needed = len(names) - 1
        written = f"{node.name}({', '.join(names[:-1])}, given=event)"
        if len(node.arguments) > needed:
            hint = "the condition is named: given=event"
            raise node.at.error(f"{node.name} takes {needed} argument(s) by position", hint)
        bound = _bind(node, names, needed, written)
        values = [self.lower(bound[name]) for name in names if name in bound]
        for value, name in zip(values, bound, strict=False):
            if value.estimated:
                raise bound[name].at.error(
                    f"an operator stands inside the operator {node.name}",
                    "name the inner quantity on a line of the model, or write the claim with one "
                    "operator a term: Var(u) is E((u - m)**2) with m a parameter",
                )
        shapes_known = [value.shape for value in values if value.shape is not None]
        if len(shapes_known) == len(values):
            try:
                if pair and values[0].shape != values[1].shape and () not in shapes_known[:2]:
                    raise ShapeError(
                        f"its two sides pair element by element, and have shapes "
                        f"{_shape_text(shapes_known[0])} and {_shape_text(shapes_known[1])}"
                    )
                shapes.broadcast(tuple(shapes_known))
            except ShapeError as error:
                raise node.at.error(f"{node.name}: {error}") from None
        event = values[0]
        if node.name == "P" and event.random and event.shape not in ((), None):
            self.notes.append(
                Problem(
                    f"'P' of a quantity of shape {_shape_text(event.shape or ())} is the "
                    "probability for one element picked at random",
                    node.at.location,
                    "was P(any(…)) or P(all(…)) meant?",
                )
            )
        return self._make(
            Kind.OPERATOR,
            node.name,
            tuple(values),
            options=(("given", "given" in bound),),
            shape=(),
            at=node.at,
            estimated=True,
            sources=frozenset().union(*(value.sources for value in values)),
            suspect=next((value.suspect for value in values if value.suspect), None),
        )

    # -- making values ---------------------------------------------------------------------------

    def _elementwise(
        self,
        operation: str,
        values: tuple[Value, ...],
        at: Position,
        *,
        truth: bool = False,
        takes_truth: bool = False,
        guards: bool = False,
    ) -> Value:
        shape: Shape | None = None
        if all(value.shape is not None for value in values):
            try:
                shape = shapes.broadcast(tuple(v.shape for v in values if v.shape is not None))
            except ShapeError as error:
                raise at.error(str(error)) from None
        return self._operation(
            operation, values, shape, at, truth=truth, takes_truth=takes_truth, guards=guards
        )

    def _shaped(
        self,
        operation: str,
        values: tuple[Value, ...],
        rule: Callable[..., Shape],
        at: Position,
        options: tuple[tuple[str, Any], ...] = (),
    ) -> Value:
        shape: Shape | None = None
        if all(value.shape is not None for value in values):
            try:
                shape = rule(*(value.shape for value in values))
            except ShapeError as error:
                raise at.error(str(error)) from None
        return self._operation(operation, values, shape, at, options=options)

    def _operation(
        self,
        operation: str,
        values: tuple[Value, ...],
        shape: Shape | None,
        at: Position,
        *,
        options: tuple[tuple[str, Any], ...] = (),
        truth: bool = False,
        takes_truth: bool = False,
        function: Function | None = None,
        guards: bool = False,
    ) -> Value:
        """A computed value, worked out at once where everything in it is known.

        `guards` says that a branch not taken does not count, so that a division by zero in one of
        several branches is left for the draws to show.
        """
        self._check_size(shape, at, None)
        random = any(value.random for value in values)
        estimated = any(value.estimated for value in values)
        constant = None
        if not random and not estimated and all(v.constant is not None for v in values):
            if shape is not None:
                constant = self.folder.apply(
                    operation,
                    function,
                    [value.constant for value in values],
                    {name: thawed(value) for name, value in options},
                    takes_truth=takes_truth,
                )
        suspect = None
        if not guards:
            suspect = next((value.suspect for value in values if value.suspect), None)
        return self._make(
            Kind.COMPUTED,
            operation,
            values,
            options=options,
            shape=shape,
            at=at,
            constant=constant,
            random=random,
            estimated=estimated,
            truth=truth,
            takes_truth=takes_truth,
            sources=frozenset().union(*(value.sources for value in values)),
            suspect=suspect,
        )

    def _make(
        self,
        kind: str,
        operation: str,
        inputs: tuple[Value, ...],
        *,
        shape: Shape | None,
        at: Position,
        **fields: Any,
    ) -> Value:
        value = Value(kind, operation, inputs, fields.pop("options", ()), shape, at, **fields)
        key = self._key(value)
        return self._known.setdefault(key, value) if key is not None else value

    def _key(self, value: Value) -> tuple[Any, ...] | None:
        if value.operation == "degenerate":
            return None
        inputs = tuple(id(found) for found in value.inputs)
        return (value.kind, value.operation, inputs, value.options)

    def _remember(self, value: Value) -> None:
        """Let a later equal expression find the value under its name."""
        key = self._key(value)
        if key is not None:
            self._known[key] = value

    def _no_operator(self, value: Value, at: Position) -> None:
        if value.estimated:
            raise at.error(
                "an operator on the law stands in the model",
                "operators such as E(…) belong in 'claim'",
            )

    def _check_size(self, shape: Shape | None, at: Position, name: str | None) -> None:
        if shape is None:
            return
        count = math.prod(shape)
        if count > MOST_ELEMENTS:
            what = f"{name!r}" if name else "this"
            raise at.error(
                f"one draw of {what} alone, of shape {_shape_text(shape)}, takes "
                f"{memory_text(8 * count)}, and {memory_text(8 * MOST_ELEMENTS)} is allowed",
                "make the shape smaller",
            )


def _bind(node: Call, names: Sequence[str], needed: int, written: str) -> dict[str, Node]:
    """Arguments by name: the first `needed` of `names` must be there.

    Raises:
        DropcheckError: on too many, too few, unknown or doubled arguments.
    """
    if len(node.arguments) > len(names):
        raise node.at.error(
            f"{node.name} takes at most {len(names)} argument{'s' * (len(names) != 1)}, and has "
            f"{len(node.arguments)}",
            f"write {written}",
        )
    bound = dict(zip(names, node.arguments, strict=False))
    for name, value in node.keywords:
        if name not in names:
            raise _unknown_keyword(node, name, names, written)
        if name in bound:
            raise value.at.error(f"{name!r} of {node.name} is given twice", f"write {written}")
        bound[name] = value
    missing = [name for name in names[:needed] if name not in bound]
    if missing:
        listed = ", ".join(map(repr, missing))
        raise node.at.error(f"{node.name} lacks {listed}", f"write {written}")
    return bound


def _unknown_keyword(
    node: Call, name: str, names: Sequence[str], written: str
) -> DropcheckError:
    hint = suggestion(name, names) or f"write {written}"
    return node.at.error(f"{node.name} has no argument {name!r}", hint)


def signature(law: Law) -> str:
    """A law as a call: `normal(mean, sd)`."""
    lists = {0: "{}", 1: "[{}…]", 2: "{}"}
    names = (lists[parameter.axes].format(parameter.name) for parameter in law.parameters)
    return f"{law.name}({', '.join(names)})"


def function_signature(function: Function) -> str:
    """A function as a call: `var(x, ddof=0, axis=-1)`."""
    parts = []
    for parameter in function.parameters:
        if parameter.variadic:
            parts.append("…")
        elif parameter.required:
            parts.append(parameter.name)
        else:
            default = "" if parameter.default is None else f"{parameter.default:g}"
            parts.append(f"{parameter.name}={default}" if default else f"{parameter.name}=…")
    return f"{function.name}({', '.join(parts)})"


def _hashable(value: Any) -> Any:
    """Options as keys: slices become marked tuples."""
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    if isinstance(value, tuple):
        return tuple(_hashable(entry) for entry in value)
    return value


def thawed(value: Any) -> Any:
    """The inverse of the above."""
    if isinstance(value, tuple):
        if value and value[0] == "slice":
            return slice(*value[1:])
        return tuple(thawed(entry) for entry in value)
    return value


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names))


def _shape_text(shape: Shape) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def _describe_shape(shape: Shape) -> str:
    return "a single number" if shape == () else f"of shape {_shape_text(shape)}"


def _memory_hint(count: float) -> str:
    return f"it would take {memory_text(8 * count)} a draw"


def memory_text(size: float) -> str:
    """A size in bytes as people write it.

    >>> memory_text(8e12), memory_text(2**30)
    ('7.3 TiB', '1 GiB')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if size != round(size, 1) else f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.2g} EiB"
