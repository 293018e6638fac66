"""Reads elements of arrays, and sums and products over them; elements count from 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dropcheck.documents.latex.cursor import Expressions
from dropcheck.documents.latex.tokens import IN_MARK, LatexError
from dropcheck.language import syntax
from dropcheck.language.lowering.axes import axes_of
from dropcheck.language.syntax import Binary, Call, Name, Negative, Node, Number
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.latex_words import (
    INFINITY,
    MEAN_NAME,
    PLACES_NAME,
    PRODUCT_NAME,
    SUM_NAME,
    TOTALS,
)
from dropcheck.vocabulary.operators import OPERATORS

# A prefix that no name of the language has, for a letter that stands for any element.
ANY_ELEMENT = "?"


def is_letter(node: Node) -> bool:
    """Whether a node is a letter that stands for any element."""
    return isinstance(node, Name) and node.name.startswith(ANY_ELEMENT)


def letters_in(node: Node) -> set[str]:
    """The letters for any element in an expression."""
    names = {one.name for one in syntax.walk(node) if isinstance(one, Name) and is_letter(one)}
    return {name.removeprefix(ANY_ELEMENT) for name in names}


def places(start: Node, end: Node) -> Node:
    """The whole numbers from `start` to `end`, both included, as an expression."""
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
    """Whether a letter indexes elements of an array in an expression, and is not just a number."""
    if isinstance(node, syntax.Subscript) and any(map(is_letter, node.index)):
        return not _is_places(node.base)
    return any(map(has_elements, syntax.children(node)))


def place_from_0(place: Node) -> Node:
    """An index that counts from 0, from one that counts from 1."""
    if isinstance(place, Number):
        return Number(place.at, place.value - 1)
    match place:
        case Binary(operator="+", left=left, right=Number(value=1.0)):
            return left
        case _:
            return Binary(place.at, "-", place, Number(place.at, 1))


def refuse_mixed(parts: Iterable[Node], column: int, axes: Mapping[str, int]) -> None:
    """Refuse a whole array beside an element, since the language would combine element by element.

    Raises:
        LatexError: there is one.
    """
    kinds = {bool(letters_in(one)) for one in parts if letters_in(one) or axes_of(one, axes)}
    if len(kinds) > 1:
        raise LatexError(column, "an element stands beside a whole array",
                         "write a letter below both, or the statement in the mark")  # fmt: skip


def elementwise(
    node: Node, part: Node | None, column: int, axes: Mapping[str, int], *, within: bool = False
) -> Node:
    """A statement about any element, turned into one about the arrays, or about parts of them.

    Raises:
        LatexError: it would mean something else, as a function of the whole array does.
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
            raise LatexError(column, message, IN_MARK)
    refuse_mixed(syntax.children(node), column, axes)
    below = [elementwise(one, part, column, axes, within=within) for one in syntax.children(node)]
    return syntax.rebuilt(node, below)


# ---- reading -------------------------------------------------------------------------------------


def total(reader: Expressions) -> Node:
    r"""Read `\sum_{i=1}^{n}` or `\prod_{i=1}^{n}` with its body, in which i indexes elements."""
    name = TOTALS[reader.token.text]
    reader.at += 1
    reader.expect("_")
    braced = reader.taken("{")
    letter = reader.token
    if letter.kind != "letters" or len(letter.text) != 1:
        raise reader.error("a sum counts by one letter", r"write \sum_{i=1}^{n}")
    if letter.text in reader.axes:
        raise reader.error(f"{letter.text!r} is a name of the model already", "count by another")
    if letter.text == reader.free:
        raise reader.error(f"{letter.text!r} stands for any element already", "count by another")
    reader.counted.add(letter.text)
    reader.at += 1
    ends: tuple[Node, Node] | None = None
    if braced:
        if reader.taken("="):
            start = reader.sum()
            reader.expect("}")
            reader.expect("^")
            column = reader.token.column
            ends = start, reader.argument()
            if ends[1] == Name(reader.here, INFINITY):
                raise reader.error("a sum without end is not read",
                                   "end it where its terms are small", column)  # fmt: skip
        else:
            reader.expect("}")
    through = None if ends is None else places(*ends)
    outer, reader.bound = reader.bound, {**reader.bound, letter.text: through}
    first = reader.at
    body = reader.product()
    reader.bound = outer
    met = letters_in(body)
    if has_elements(body) and ends and isinstance(ends[0], Number) and ends[0].value < 1:
        raise reader.error("elements count from 1", "begin the sum at 1", letter.column)
    if name == PRODUCT_NAME and not reader.in_brackets(first, reader.at):
        _refuse_last_factor(reader, body, reader.tokens[first].column)
    if met - {letter.text}:
        raise reader.error("a sum within a sum is not read", IN_MARK, letter.column)
    part = None if ends is None else syntax.Slice(reader.here, place_from_0(ends[0]), ends[1], None)
    if not met:
        if ends is None:
            raise reader.error(f"nothing is summed over {letter.text}", column=letter.column)
        count = Binary(
            reader.here, "+", Binary(reader.here, "-", ends[1], ends[0]), Number(reader.here, 1)
        )
        return Binary(reader.here, "*" if name == SUM_NAME else "**", *(
            (count, body) if name == SUM_NAME else (body, count)
        ))  # fmt: skip
    match body:
        case Call(name=outside, arguments=(inner,), keywords=()) if (
            outside == MEAN_NAME and name == SUM_NAME  # the mean of a sum is the sum of the means
        ):
            summed = elementwise(inner, part, letter.column, reader.axes)
            return Call(reader.here, outside, (Call(reader.here, name, (summed,)),))
    return Call(reader.here, name, (elementwise(body, part, letter.column, reader.axes),))


def counting(reader: Expressions, letter: str, column: int) -> Node:
    r"""The index letter of a sum as a number, as in `\sum_{k=1}^n 1/k`."""
    through = reader.bound[letter]
    if through is None:
        raise reader.error(f"where {letter} begins and ends is not known",
                           rf"write \sum_{{{letter}=1}}^{{n}}", column)  # fmt: skip
    return syntax.Subscript(reader.here, through, (Name(reader.here, ANY_ELEMENT + letter),))


def _refuse_last_factor(reader: Expressions, body: Node, column: int) -> None:
    """Refuse a product whose last factor does not depend on its index letter.

    Raises:
        LatexError: the factor may stand after the product, and not within it.
    """
    if isinstance(body, Binary) and body.operator in "*/@%" and not letters_in(body.right):
        raise reader.error("where this product ends is not known", "write brackets", column)


def element(reader: Expressions, base: Node, column: int) -> Node:
    """Read the subscript of an element, `x_{2, n}`."""
    braced = reader.taken("{")
    first = reader.token
    entries = [_entry(reader, braced)]
    while braced and reader.taken(","):
        entries.append(_entry(reader, braced))
    if braced:
        reader.expect("}")
    if len(entries) > 1 and any(map(is_letter, entries)):
        message = "a letter for any element stands beside another index"
        raise reader.error(message, IN_MARK, column)
    if axes_of(base, reader.axes) != 1 and len(entries) == 1 and (
        is_letter(entries[0]) or (first.kind == "number" and len(first.text) > 1)
    ):  # fmt: skip
        raise reader.error("one place of an array of rows is a row", "write commas: A_{1, 2}",
                           column)  # fmt: skip
    return syntax.Subscript(reader.here, base, tuple(entries))


def _entry(reader: Expressions, braced: bool) -> Node:
    """Read one index; a letter that is not a name stands for any element."""
    token = reader.token
    lone = not braced or reader.peek(1) in ("}", ",")
    if lone and token.kind == "letters" and len(token.text) == 1 and token.text not in reader.axes:
        reader.at += 1
        if token.text in reader.counted - reader.bound.keys():
            raise reader.error(f"{token.text!r} counts a sum and stands for any element",
                               "use two letters", token.column)  # fmt: skip
        if token.text not in reader.bound:
            if reader.free not in (None, token.text):
                raise reader.error("two letters for any element", IN_MARK, token.column)
            reader.free = token.text
        return Name(reader.here, ANY_ELEMENT + token.text)
    if token.kind == "letters" and len(token.text) > 1 and token.text not in reader.axes:
        raise reader.error("letters side by side are not an index", "write commas: A_{i, j}")
    start = reader.at
    place = reader.sum() if braced else reader.atom()
    if reader.in_brackets(start, reader.at):
        message = "this may be an index in sorted order or in the array"
        raise reader.error(message, IN_MARK, token.column)
    if isinstance(place, Binary) and place.operator == "-":
        raise reader.error("a difference may lie before the first element", IN_MARK, token.column)
    if isinstance(place, Number) and place.value < 1:
        raise reader.error("elements count from 1", "the first one is x_1", token.column)
    return place if isinstance(place, Negative) else place_from_0(place)
