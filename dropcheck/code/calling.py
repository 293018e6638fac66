"""How code is called: which of its parameters get the arguments of the slot, and which are filled.

A function takes what its slot takes, in the same order. Where it has parameters with all these
names, each argument goes to the parameter of its name, also in another order or by keyword alone. A
function with one of these names at the place of another is refused, as one of the two is wrong.
Other parameters are filled, wherever they stand:

- `training` or `train` is whether it trains, `deterministic` or `inference` whether it does not;
- `dtype` gets the number format, as the framework has it;
- the source of randomness has the names that its framework's adapter says (`sources`).

A name that the slot itself takes is never filled; nor is `key` beside a parameter `query`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dropcheck.code.adapters.adapter import Adapter, FrameworkFunction

TRAINING = ("training", "train")
EVALUATING = ("deterministic", "inference")
DTYPE = "dtype"
SIZE = "size"
_SIZES = {SIZE: "shape"}  # another name of the same parameter
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class PreparedFunction:
    """A function, ready to be called with the arguments of its slot.

    `arguments` are those of a call by place: None for an argument of the slot, else the name of a
    parameter that is filled. `named` are the parameters that are filled by name.
    """

    function: FrameworkFunction
    arguments: tuple[str | None, ...]
    named: tuple[str, ...]
    has_modes: bool

    @property
    def first(self) -> int:
        """The place of the slot's first argument."""
        return self.arguments.index(None)


class ByName:
    """A function that gets the arguments of its slot by their names.

    Args:
        function: the function.
        names: of its parameters, in the order of the slot's arguments.
    """

    def __init__(self, function: FrameworkFunction, names: Sequence[str]) -> None:
        self._function = function
        self.names = names

    def __call__(self, *given: Any, **named: Any) -> Any:
        """What the function returns."""
        return self._function(**dict(zip(self.names, given, strict=True)), **named)


def prepared(
    adapter: Adapter, function: Any, takes: Sequence[str], given: Sequence[str]
) -> PreparedFunction:
    """A function with the plan of its arguments.

    Args:
        adapter: of its framework.
        function: what is called: a function, or an object.
        takes: the names of all arguments of the slot; none of them is filled.
        given: the names of the arguments in a call; for a sampler `size` is the last.

    Raises:
        TypeError: it does not take so many; the text says what it takes.
    """
    has_modes, count = adapter.evaluating(function, evaluate=False), len(given)
    try:
        signature = inspect.signature(adapter.entry(function))
    except (TypeError, ValueError):  # of a function that is not written in Python
        return PreparedFunction(function, (None,) * count, (), has_modes)
    parameters = signature.parameters
    known = {DTYPE, *adapter.sources}
    known |= set() if has_modes else {*TRAINING, *EVALUATING}
    known -= {*takes, *(("key",) if "query" in parameters else ())}
    places = _by_place(parameters, known, count)
    taken = [name for name, filled in zip(parameters, places, strict=False) if filled is None]
    swapped = any(name in given and name != own for name, own in zip(taken, given, strict=False))
    used = {own for own in list(parameters)[: len(places)] if parameters[own].kind in _BY_PLACE}
    if not has_modes and (swapped or places.count(None) < count):
        names = [name if name in parameters else _SIZES.get(name, name) for name in given]
        function, places, used, swapped = ByName(function, names), [], {*names}, False
    named = tuple(name for name in parameters if name in known and name not in used)
    by_name = function.names if isinstance(function, ByName) else ()
    try:
        if swapped or places.count(None) + len(by_name) < count:
            raise TypeError
        signature.bind(*places, **dict.fromkeys((*by_name, *named)))
    except TypeError:
        bare = [one.replace(annotation=one.empty) for one in parameters.values()]
        none = inspect.Signature.empty
        shown = signature.replace(parameters=bare, return_annotation=none)
        raise TypeError(f"takes {shown}") from None
    modes = has_modes or any(name in (*TRAINING, *EVALUATING) for name in (*used & known, *named))
    return PreparedFunction(function, tuple(places) or (None,) * count, named, modes)


def _by_place(
    parameters: Mapping[str, inspect.Parameter], known: Collection[str], count: int
) -> list[str | None]:
    """The use of each place: None for `count` arguments of the slot, else the name to fill in."""
    places: list[str | None] = []
    left = count
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL and left:
            places += [None] * left
            left = 0
        if not left or parameter.kind not in _BY_PLACE:
            break
        places.append(name if name in known else None)
        left -= name not in known
    return places


Caller = Callable[[Sequence[Any]], Iterable[tuple[str, Any]]]
"""A call: from the slot's arguments to what it returns, in each of its modes.

The modes are "eval" alone, or one or both of "train" and "grad"."""


def caller(adapter: Adapter, code: PreparedFunction, dtype: str, modes: frozenset[str]) -> Caller:
    """A function that calls the prepared function, any number of times."""
    evaluate = "eval" in modes
    known: dict[str, Any] = {
        **dict.fromkeys(TRAINING, not evaluate),
        **dict.fromkeys(EVALUATING, evaluate),
        DTYPE: adapter.dtype(dtype),
    }
    switched = code.has_modes and adapter.evaluating(code.function, evaluate)

    all_given = not any(code.arguments)
    gradient_too = "grad" in modes
    (alone,) = modes if not gradient_too else ("",)

    def fill(name: str) -> Any:
        return known[name] if name in known else adapter.source(name)

    def called(given: Sequence[Any]) -> Iterable[tuple[str, Any]]:
        if switched:  # another caller may have switched it
            adapter.evaluating(code.function, evaluate)
        by_place = given
        if not all_given:
            rest = iter(given)
            by_place = [next(rest) if name is None else fill(name) for name in code.arguments]
        named = {name: fill(name) for name in code.named} if code.named else {}
        if not gradient_too:
            return ((alone, adapter.called(code.function, by_place, named)),)
        output, gradient = adapter.with_gradient(code.function, by_place, named, code.first)
        return (("train", output), ("grad", gradient))[0 if "train" in modes else 1 :]

    return called
