"""Laws: what stands right of `~`, its arguments and shape checked as far as they are known."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from dropcheck.claims.registry import Sample
from dropcheck.language.elsewhere import law_hint, shape_by_name, square_for_sd
from dropcheck.language.folding import fixed_argument_problem
from dropcheck.language.graph import SAMPLE, Kind, Value, joined_sources
from dropcheck.language.lowering.binding import bind, signature
from dropcheck.language.lowering.builder import GraphBuilder
from dropcheck.language.lowering.scope import LawParameterValue, Scope
from dropcheck.language.syntax import Call, Name, Node, Position, Slice, Subscript
from dropcheck.language.wording import describe_shape, memory_hint, shape_text
from dropcheck.records import dataclass
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.law import Law, domain_problem
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.shapes import Shape, ShapeError

MOST_AXES = 30  # numpy has 64, and kernels add a few of their own


@dataclass(frozen=True, slots=True)
class Draw:
    """What stands right of `~`: a law, its arguments by parameter, and a shape if one is given."""

    law: Law
    arguments: tuple[Node, ...]
    shape: tuple[Node, ...] | None
    at: Position


class LawLowering(GraphBuilder):
    """Turns a law with its arguments into a draw."""

    def __init__(self, memory: int = DEFAULT_MEMORY) -> None:
        super().__init__(memory)
        self.scope = Scope()

    @abstractmethod
    def lower(self, node: Node) -> Value:
        """The value of an expression."""

    def draw(self, node: Node, name: Name) -> Value:
        """A fresh draw from a law; a degenerate law is the constant that it is."""
        drawn = self.read_draw(node)
        law = drawn.law
        self.notes += square_for_sd(law, drawn.arguments)
        arguments = [self.lower(argument) for argument in drawn.arguments]
        own = self._check_arguments(law, arguments, drawn)
        batch = self._batch_shape(law, arguments, drawn)
        shape = None if batch is None or own is None else batch + own
        self.check_size(shape, name.at, name.name)
        self.spend_draw(law, shape, name.at)
        self._check_values(law, arguments, drawn)
        known = [argument.known for argument in arguments]
        if own == () and shape is not None and all(isinstance(k, float) for k in known):
            value = law.constant(*known)
            if value is not None:
                return self.make(
                    Kind.CONSTANT,
                    "degenerate",
                    (),
                    shape=shape,
                    at=name.at,
                    name=name.name,
                    constant=np.broadcast_to(np.float64(value), (*shape, 1)),
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
            sources=frozenset({name.name}) | joined_sources(arguments),
            law=law,
            suspect=next((a.suspect for a in arguments if a.suspect), None),
        )

    def sampled(self, name: Name, sample: Sample) -> Value:
        """A draw from code, of which nothing is known but its shape."""
        shape = sample.shapes[name.name]
        self.check_size(shape, name.at, name.name)
        self.spend_draw(None, shape, name.at)
        return Value(
            Kind.DRAW,
            SAMPLE,
            (),
            (),
            shape,
            name.at,
            name=name.name,
            random=True,
            sources=frozenset({SAMPLE}),
            sample=sample,
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
            raise base.at.error(f"{base.name!r} is not a law", law_hint(base.name))
        law = LAWS[base.name]
        names = [parameter.name for parameter in law.parameters]
        if any(name in ("size", "shape") and name not in names for name, _ in base.keywords):
            raise shape_by_name(base, names)
        bound = bind(base, names, len(names), lambda: signature(law))
        return Draw(law, tuple(bound[name] for name in names), shape, base.at)

    def _check_arguments(self, law: Law, arguments: Sequence[Value], drawn: Draw) -> Shape | None:
        """Check ranks and single numbers; the law's own axes, None if not known."""
        for parameter, value, node in zip(law.parameters, arguments, drawn.arguments, strict=True):
            self._no_operator(value, node.at)
            if value.shape is not None and len(value.shape) < parameter.axes:
                kind = "a list" if parameter.axes == 1 else "a matrix"
                raise node.at.error(
                    f"{parameter.name!r} of {law.name} must be {kind}, and is "
                    f"{describe_shape(value.shape)}",
                    f"write {signature(law)}",
                )
            known = value.known
            told = value.suspect is not None  # a division by zero is told by itself
            if isinstance(known, float) and not parameter.axes and not told:
                problem = domain_problem(parameter, known)
                if problem is not None:
                    raise node.at.error(f"{law.name}: {problem}", _about(law))
        if law.own_axes is None:
            return ()
        if any(value.shape is None for value in arguments):
            return None
        try:
            return law.own_axes(
                tuple(value.shape for value in arguments if value.shape is not None),
                tuple(value.known for value in arguments),
            )
        except ShapeError as error:
            raise drawn.at.error(f"{law.name}: {error}") from None

    def _check_values(self, law: Law, arguments: Sequence[Value], drawn: Draw) -> None:
        """Check what is known of the values, together: a pass over all of them."""
        if any(value.random or value.constant is None or value.suspect for value in arguments):
            return
        if not law.restricted and all(isinstance(value.known, float) for value in arguments):
            return  # that each lies in its domain has been seen
        problem = fixed_argument_problem(law, arguments)
        if problem is not None:
            raise drawn.at.error(f"{law.name}: {problem}", _about(law))

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
            raise drawn.at.error(
                f"the arguments of {law.name} do not go together: {error}"
            ) from None
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
                f"arguments of shape {shape_text(common)} do not fit draws of shape "
                f"{shape_text(given)}",
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
            if value.shape is not None and math.prod(value.shape) > MOST_AXES:
                raise node.at.error(f"a shape has at most {MOST_AXES} axes", "write [n, m]")
            known = value.known
            if known is None:
                return None
            dimensions += [
                self._dimension(entry, node.at)
                for entry in (known if isinstance(known, tuple) else (known,))
            ]
        if len(dimensions) > MOST_AXES:
            raise nodes[0].at.error(f"a shape has at most {MOST_AXES} axes", "write [n, m]")
        return tuple(dimensions)

    def _dimension(self, entry: object, at: Position) -> int:
        if isinstance(entry, float) and entry > 2**62:
            raise at.error(f"a shape of {entry:.3g} is too large", memory_hint(entry))
        if not isinstance(entry, float) or not entry >= 1 or entry != entry // 1:
            shown = f"{entry:.12g}" if isinstance(entry, float) else "a list"
            raise at.error(
                f"a shape needs whole numbers of at least 1, and this is {shown}",
                "write for example [10], or [n] with n a parameter",
            )
        return int(entry)

    def _no_operator(self, value: Value, at: Position) -> None:
        if value.estimated:
            raise at.error(
                "an operator on the law stands in the model",
                "operators such as E(…) belong in 'claim'",
            )


def _about(law: Law) -> str:
    """A law in one line, for one whose arguments are out of place."""
    return f"{signature(law)}: {law.summary}"
