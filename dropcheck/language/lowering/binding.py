"""Arguments of a call to the parameters that they are meant for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dropcheck.errors import DropcheckError, suggestion
from dropcheck.language.syntax import Call, Node
from dropcheck.vocabulary.function import Function, Parameter
from dropcheck.vocabulary.law import Law


def bind(
    node: Call, names: Sequence[str], needed: int, written: Callable[[], str]
) -> dict[str, Node]:
    """Arguments by name: the first `needed` of `names` must be there.

    `written` says how the call is written, for a message: it is asked for only then.

    Raises:
        DropcheckError: on too many, too few, unknown or doubled arguments.
    """
    if len(node.arguments) > len(names):
        raise node.at.error(
            f"{node.name} takes at most {len(names)} argument{'s' * (len(names) != 1)}, and has "
            f"{len(node.arguments)}",
            f"write {written()}",
        )
    bound = dict(zip(names, node.arguments, strict=False))
    if len(node.arguments) >= needed and not node.keywords:
        return bound
    for name, value in node.keywords:
        if name not in names:
            raise unknown_keyword(node, name, names, written())
        if name in bound:
            raise value.at.error(f"{name!r} of {node.name} is given twice", f"write {written()}")
        bound[name] = value
    missing = [name for name in names[:needed] if name not in bound]
    if missing:
        listed = ", ".join(map(repr, missing))
        raise node.at.error(f"{node.name} lacks {listed}", f"write {written()}")
    return bound


def bind_variadic(function: Function, variadic: Parameter, node: Call) -> dict[str, Node]:
    """The named arguments of a function that takes any number of others.

    Raises:
        DropcheckError: on unknown named ones, or too few of the others.
    """
    fixed = [p for p in function.parameters if not p.variadic]
    known = [p.name for p in fixed]
    for name, _ in node.keywords:
        if name not in known:
            raise unknown_keyword(node, name, known, function.signature)
    least = sum(not p.option for p in fixed) + (1 if variadic.required else 0)
    if len(node.arguments) < least:
        raise node.at.error(
            f"{function.name} takes at least {least} arguments, and has {len(node.arguments)}",
            f"write {function.signature}",
        )
    return dict(node.keywords)


def unknown_keyword(node: Call, name: str, names: Sequence[str], written: str) -> DropcheckError:
    """An error for an argument that a call does not have."""
    hint = suggestion(name, names) or f"write {written}"
    return node.at.error(f"{node.name} has no argument {name!r}", hint)


def signature(law: Law) -> str:
    """A law as a call: `normal(mean, sd)`."""
    lists = {0: "{}", 1: "[{}…]", 2: "{}"}
    names = (lists[parameter.axes].format(parameter.name) for parameter in law.parameters)
    return f"{law.name}({', '.join(names)})"
