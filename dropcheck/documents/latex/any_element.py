"""Elements of arrays: places from 1, and letters that stand for any of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dropcheck.documents.latex.tokens import LatexError
from dropcheck.language import syntax
from dropcheck.language.lowering.axes import axes_of
from dropcheck.language.syntax import Binary, Call, Name, Negative, Node, Number
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.latex_words import PLACES_NAME
from dropcheck.vocabulary.operators import OPERATORS

# No name of the language begins so: it marks a letter that stands for any element.
ANY_ELEMENT = "?"


def is_letter(node: Node) -> bool:
    """Whether a node is a letter that stands for any element."""
    return isinstance(node, Name) and node.name.startswith(ANY_ELEMENT)


def letters_in(node: Node) -> set[str]:
    """The letters for any element in an expression."""
    if isinstance(node, Name):
        return {node.name.removeprefix(ANY_ELEMENT)} if is_letter(node) else set()
    return set().union(*map(letters_in, syntax.children(node)))


def places(start: Node, end: Node) -> Node:
    """The whole numbers from one to another, both ends in."""
    at, skipped = start.at, place_from_0(start)
    if isinstance(skipped, Number) and skipped.value <= 0:
        count = end if not skipped.value else Binary(at, "+", end, Number(at, -skipped.value))
    else:
        count = Binary(at, "-", end, skipped)
    whole = Call(at, PLACES_NAME, (count,))
    return whole if start == Number(at, 0) else Binary(at, "+", start, whole)


def _is_places(base: Node) -> bool:
    whole = base.right if isinstance(base, Binary) else base
    return isinstance(whole, Call) and whole.name == PLACES_NAME


def has_elements(node: Node) -> bool:
    """Whether a letter picks elements of an array in an expression, and is no number there."""
    if isinstance(node, syntax.Subscript) and any(map(is_letter, node.index)):
        return not _is_places(node.base)
    return any(map(has_elements, syntax.children(node)))


def place_from_0(place: Node) -> Node:
    """A place counted from 0."""
    if isinstance(place, Number):
        return Number(place.at, place.value - 1)
    match place:
        case Binary(operator="+", left=left, right=Number(value=1.0)):
            return left
        case _:
            return Binary(place.at, "-", place, Number(place.at, 1))


def refuse_mixed(parts: Iterable[Node], column: int, axes: Mapping[str, int]) -> None:
    """See that no whole array stands beside an element, which would be taken element by element.

    Raises:
        LatexError: one does.
    """
    kinds = {bool(letters_in(one)) for one in parts if letters_in(one) or axes_of(one, axes)}
    if len(kinds) > 1:
        raise LatexError(column, "an element stands beside a whole array",
                         "write a letter below both, or the statement in the mark")  # fmt: skip


def elementwise(
    node: Node, part: Node | None, column: int, axes: Mapping[str, int], *, within: bool = False
) -> Node:
    """What is said of any element, said of the arrays, or of a part of them.

    Raises:
        LatexError: where that is another thing, as a function of the array is.
    """
    if not letters_in(node):
        return node
    match node:
        case syntax.Subscript(base=base, index=(Name(),)):
            if part is None or _is_places(base):
                return base
            return syntax.Subscript(node.at, base, (part,))
        case Binary() | Negative() | syntax.Compare() | syntax.Logic() | syntax.Not():
            pass
        case Call(name=name) if name in FUNCTIONS and FUNCTIONS[name].by_element:
            pass
        case Call(name=name) if within and name in OPERATORS:
            pass
        case _:
            what = f"{node.name}(…) of each" if isinstance(node, Call) else "what is said of each"
            message = f"{what} element cannot be said of all elements at once"
            raise LatexError(column, message, "write the statement in the mark")
    refuse_mixed(syntax.children(node), column, axes)
    below = [elementwise(one, part, column, axes, within=within) for one in syntax.children(node)]
    return syntax.rebuilt(node, below)
