"""Sets of the draws that a quantity depends on, stored as one bit for each draw.

In a recurrence of a thousand steps, the quantities depend on one draw, on two, …, on a thousand.
Sets of names would take gigabytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Set

_PLACES: dict[str, int] = {}
_NAMES: dict[int, str] = {}
_NEXT = itertools.count()


class Sources(Set[str]):
    """An immutable set of names of draws.

    >>> both = Sources(["x"]) | Sources(["y"])
    >>> sorted(both), "x" in both, len(both & Sources(["y", "z"])), bool(Sources())
    (['x', 'y'], True, 1, False)
    >>> both == {"x", "y"}, both.isdisjoint(Sources(["z"])), Sources(["x"]) <= both
    (True, True, True)
    """

    __slots__ = ("_bits",)

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._bits = 0
        for name in names:
            self._bits |= 1 << _place(name)

    @classmethod
    def _of(cls, bits: int) -> Sources:
        made = cls()
        made._bits = bits
        return made

    def __contains__(self, name: object) -> bool:
        place = _PLACES.get(name) if isinstance(name, str) else None
        return place is not None and bool(self._bits >> place & 1)

    def __iter__(self) -> Iterator[str]:
        left = self._bits
        while left:
            lowest = left & -left
            yield _NAMES[lowest.bit_length() - 1]
            left ^= lowest

    def __len__(self) -> int:
        return self._bits.bit_count()

    def __bool__(self) -> bool:
        return self._bits != 0

    def __or__(self, other: Iterable[str]) -> Sources:  # type: ignore[override]  # names alone
        return self._of(self._bits | _bits_of(other))

    __ror__ = __or__

    def __and__(self, other: Iterable[str]) -> Sources:
        return self._of(self._bits & _bits_of(other))

    __rand__ = __and__

    def __le__(self, other: Set[str]) -> bool:
        bits = _bits_of(other)
        return self._bits | bits == bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Set) and self._bits == _bits_of(other)

    def __hash__(self) -> int:
        return hash(self._bits)

    def isdisjoint(self, other: Iterable[str]) -> bool:
        """Whether no draw is in both."""
        return not self._bits & _bits_of(other)

    def __repr__(self) -> str:
        return f"Sources({sorted(self)})"

    def __reduce__(self) -> tuple[type[Sources], tuple[list[str]]]:
        return Sources, (list(self),)  # the bits have other meanings in another process


def _place(name: str) -> int:
    """The bit of a name, the same in all sets of this process."""
    if name not in _PLACES:
        # if threads race, the first one's bit counts, and the others' bits stay unused
        _NAMES[_PLACES.setdefault(name, next(_NEXT))] = name
    return _PLACES[name]


def _bits_of(other: Iterable[str]) -> int:
    return other._bits if isinstance(other, Sources) else Sources(other)._bits


NO_DRAWS = Sources()
