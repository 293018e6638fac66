"""Records: frozen dataclasses with slots, whose methods are not compiled for each class.

`dataclasses.dataclass` writes the source of six methods for each class and compiles it. For some
hundred classes that took a third of the time in which a command starts. The methods of records are
the same functions for all of them, which ask the class for its fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING, FrozenInstanceError
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, dataclass_transform, overload

Class = TypeVar("Class")
Setter = Callable[[Any, Any], None]


class _Layout(NamedTuple):
    """The fields of a record, sorted by what its methods do with them."""

    names: tuple[str, ...]  # all fields
    positional: tuple[str, ...]  # fields that `__init__` takes without a name
    setters: Mapping[str, Setter]  # fields that `__init__` sets, and how
    defaults: Mapping[str, Callable[[], Any]]  # makes the value of a field that is not given
    compared: Callable[[Any], Any]  # returns the values that `==` and `hash` compare
    shown: tuple[str, ...]  # fields that `repr` shows
    completed: bool  # whether the class has a `__post_init__`


@overload
def record(cls: type[Class], /) -> type[Class]: ...
@overload
def record(*, kw_only: bool = ..., eq: bool = ...) -> Callable[[type[Class]], type[Class]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(cls: type | None = None, /, *, kw_only: bool = False, eq: bool = True) -> Any:
    """Make a class a record of its fields; as `dataclass(frozen=True, slots=True)` does.

    `fields`, `replace`, `asdict` and `field` of `dataclasses` work with it. Records are compared
    and hashed by their fields, or with `eq=False` by what they are.

    >>> @record
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0)
    Point(x=1.0, y=0.0)
    >>> Point(1.0) == Point(x=1.0, y=0.0), dataclasses.replace(Point(1.0), y=2.0)
    (True, Point(x=1.0, y=2.0))
    """
    describe = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)

    def made(cls: type) -> Any:
        own = vars(cls)
        described: Any = describe(cls)
        described._layout = _layout_of(described)
        described.__init__ = _initialise
        described.__setattr__ = described.__delattr__ = _refuse
        described.__getstate__, described.__setstate__ = _state, _restore
        if "__repr__" not in own:
            described.__repr__ = _shown
        if eq and "__eq__" not in own:
            described.__eq__ = _equal
        if eq and "__hash__" not in own:
            described.__hash__ = _hash
        return described

    return made if cls is None else made(cls)


def _layout_of(cls: Any) -> _Layout:
    fields = dataclasses.fields(cls)
    defaults: dict[str, Callable[[], Any]] = {}
    for field in fields:
        if field.default_factory is not MISSING:
            defaults[field.name] = field.default_factory
        elif field.default is not MISSING:
            defaults[field.name] = partial(_same, field.default)
    setters = {
        field.name: getattr(cls, field.name).__set__
        for field in fields
        if field.init or field.name in defaults
    }
    compared = [field.name for field in fields if field.compare]
    return _Layout(
        names=tuple(field.name for field in fields),
        positional=tuple(field.name for field in fields if field.init and not field.kw_only),
        setters=setters,
        defaults=defaults,
        compared=attrgetter(*compared) if compared else _nothing,
        shown=tuple(field.name for field in fields if field.repr),
        completed=hasattr(cls, "__post_init__"),
    )


def _same(value: Any) -> Any:
    return value


def _nothing(_record: Any) -> tuple[()]:
    return ()


def _initialise(self: Any, /, *values: Any, **named: Any) -> None:
    layout = self._layout
    if not named and len(values) == len(layout.positional) == len(layout.setters):
        for setter, value in zip(layout.setters.values(), values, strict=True):
            setter(self, value)
    else:
        given = _by_name(layout, values, named)
        try:
            for name, setter in layout.setters.items():
                setter(self, given[name])
        except KeyError as error:
            raise TypeError(f"{type(self).__name__} is not given {error}") from None
        if len(given) > len(layout.setters):
            unknown = ", ".join(map(repr, given.keys() - layout.setters.keys()))
            raise TypeError(f"{type(self).__name__} has no field {unknown}")
    if layout.completed:
        self.__post_init__()


def _by_name(layout: _Layout, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    given = dict(zip(layout.positional, values, strict=False)) | named if values else named
    if len(given) < len(values) + len(named):
        raise TypeError(f"a field is given twice, or there are more than {layout.positional}")
    if len(given) < len(layout.setters):
        made = {name: make() for name, make in layout.defaults.items() if name not in given}
        return made | given
    return given


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    compared = self._layout.compared
    return compared(self) == compared(other)


def _hash(self: Any) -> int:
    return hash(self._layout.compared(self))


def _shown(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._layout.shown)
    return f"{type(self).__qualname__}({shown})"


def _refuse(self: Any, name: str, *_value: object) -> None:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")


def _state(self: Any) -> tuple[Any, ...]:
    """What `pickle` and `copy` keep."""
    return tuple(getattr(self, name) for name in self._layout.names)


def _restore(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self._layout.names, state, strict=True):
        object.__setattr__(self, name, value)
