"""`dataclass(frozen=True, slots=True)` for what is made by the thousand, before anything is shown.

A start makes fifty such classes, and a check of a file ten thousand of their objects. Python's own
writes a handful of methods a class as text and compiles them, a third of a millisecond each time,
and a frozen object takes four times as long to make as another. Here the methods are shared; that
nothing is assigned to a field is held by the type checker, to which this is Python's own.

>>> @dataclass(frozen=True, slots=True)
... class Point:
...     x: float
...     y: float = 0.0
>>> Point(1.0), Point(1.0) == Point(1.0, 0.0), {Point(2.0)} == {Point(2.0)}
(Point(x=1.0, y=0.0), True, True)
"""

from __future__ import annotations

from dataclasses import dataclass as _dataclass
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass

    __all__ = ["dataclass"]
else:

    def dataclass(*, frozen, slots, eq=True):
        """Python's decorator, as far as it is used for such classes."""
        assert frozen
        assert slots
        return _equal_by_fields if eq else _equal_by_identity


def _equal_by_identity(cls: type[Any]) -> type[Any]:
    made: Any = _dataclass(slots=True, eq=False, repr=False)(cls)
    made.__repr__ = _shown
    return made  # type: ignore[no-any-return]  # what a decorator makes of a class is one


def _equal_by_fields(cls: type[Any]) -> type[Any]:
    made: Any = _equal_by_identity(cls)
    compared = [one.name for one in fields(made) if one.compare]
    # of two names or more it makes a tuple, which is equal where all its entries are
    made._compared = attrgetter(*compared, *compared[:1]) if compared else staticmethod(_nothing)
    made.__eq__ = _equal
    made.__hash__ = _hash
    return made  # type: ignore[no-any-return]  # as above


def _nothing(_: object) -> tuple[()]:
    return ()


def _equal(self: Any, other: object) -> Any:
    compared: Any = self._compared
    if other.__class__ is not self.__class__:
        return NotImplemented
    return compared(self) == compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))


def _shown(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"
