"""`@dropcheck.implements(…)`: a function of a test file is code for a slot, each claim a test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dropcheck.errors import DropcheckError, Problem, nearest

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

MARK = "__dropcheck_implements__"
"""The attribute of what is decorated that holds what it implements."""
NUMPY = "numpy"
# Adapters by the library that code uses; the first library found decides, as all use numpy.
_LIBRARIES = {"jax": "jax", "torch": "torch"}


@dataclass(frozen=True, slots=True)
class Implements:
    """What a function implements: a slot of a claims file, in these number formats."""

    file: str
    slot: str | None
    adapter: str | None
    dtypes: tuple[str, ...]


def implements(
    file: str,
    /,
    *,
    slot: str | None = None,
    adapter: str | None = None,
    dtypes: Sequence[str] = (),
) -> Callable[[Decorated], Decorated]:
    """Make pytest test the decorated function with the claims of a file, each as a test.

    The function itself stays as it is; without pytest, nothing happens.

    Args:
        file: a claims file, beside the test file; or a pack, as "pack:dropout".
        slot: the slot that it implements; by default the one of its own name, or the only one.
        adapter: the adapter of its framework; by default of the one that it uses, or else numpy.
        dtypes: the number formats to test; by default those that each claim names.

    Raises:
        DropcheckError: an argument is of another type.

    >>> @implements("pack:dropout", dtypes=["float32"])
    ... def dropout(x, p):
    ...     return x
    >>> dropout(2, 0.5)
    2
    """
    if callable(file):
        hint = "write @dropcheck.implements('pack:dropout')"
        raise DropcheckError(Problem("'implements' takes the name of a claims file", hint=hint))
    texts = {"file": file, "slot": slot or "", "adapter": adapter or ""}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise DropcheckError(Problem(f"{name!r} of 'implements' is text, and not {value!r}"))
    if isinstance(dtypes, str) or not all(isinstance(one, str) for one in dtypes):
        hint = "write dtypes=['float32', 'bfloat16']"
        raise DropcheckError(Problem("'dtypes' of 'implements' is a list of names", hint=hint))
    asked = Implements(file, slot, adapter, tuple(dtypes))

    def decorated(code: Decorated) -> Decorated:
        marked: Any = code
        # a function may be decorated several times; a class does not inherit its parents' mark
        marked.__dropcheck_implements__ = (*vars(marked).get(MARK, ()), asked)
        return code

    return decorated


def slot_of(asked: Implements, function: object, slots: Iterable[str]) -> str:
    """The slot that a function implements.

    Raises:
        DropcheckError: the file has no such slot.
    """
    known = sorted(slots)
    name = asked.slot or str(getattr(function, "__name__", ""))
    if name in known or (asked.slot is None and len(known) == 1):
        return name if name in known else known[0]
    near = nearest(name, known)
    listed = f"the slots are {', '.join(known)}" if known else "it has no slots"
    hint = f"did you mean {near!r}?" if near else f"{listed}: name one, with slot='…'"
    raise DropcheckError(Problem(f"{asked.file} has no slot {name!r}", hint=hint))


def adapter_of(function: Any) -> str:
    """The adapter of the framework that a function, or a class and its parents, use by name.

    >>> adapter_of(lambda x: x)
    'numpy'
    """
    used = set(_modules_of(function))
    return next((name for library, name in _LIBRARIES.items() if library in used), NUMPY)


def _modules_of(function: Any) -> Iterable[str]:
    """The libraries of a function and of what it names; of a class those of its parents too."""
    kind = function if isinstance(function, type) else type(function)
    for one in (function, *kind.__mro__):
        yield _library(one)
    stack = [function] if hasattr(function, "__code__") else [*vars(kind).values()]
    for one in stack:
        code = getattr(one, "__code__", None)
        names = _names_in(code) if code is not None else ()
        for name in names:
            yield _library(getattr(one, "__globals__", {}).get(name))
            yield name if name in sys.modules else ""  # imported within the function


def _names_in(code: Any) -> Iterable[str]:
    yield from code.co_names
    for constant in code.co_consts:  # functions within it
        if hasattr(constant, "co_names"):
            yield from _names_in(constant)


def _library(value: object) -> str:
    name = getattr(value, "__module__", None) or getattr(value, "__name__", "")
    return str(name).partition(".")[0]
