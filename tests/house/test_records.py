"""A record is what Python's own frozen dataclass is, but for what the type checker holds."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from dataclasses import field
from typing import Any

import pytest

from dropcheck import records


def both(**settings: Any) -> list[Any]:
    """The same class as a record and as Python makes it; and a class below each."""
    made = []
    for decorator in (records.dataclass, dataclasses.dataclass):

        @decorator(frozen=True, slots=True, **settings)
        class Point:
            """A place."""

            x: Any
            y: Any = 0.0
            note: str = field(default="", compare=False)
            hidden: list[int] = field(default_factory=list, compare=False, repr=False)

            @property
            def total(self) -> Any:
                return self.x + self.y

        @decorator(frozen=True, slots=True, **settings)
        class Below(Point):
            """A place with more."""

            z: Any = 1

        made.append((Point, Below))
    return made


OURS, PYTHONS = both()


@dataclasses.dataclass(frozen=True)
class Case:
    """How to make two objects of a class, of one kind or the other."""

    first: tuple[Any, ...]
    second: tuple[Any, ...]


PAIRS = [
    Case((1,), (1,)),
    Case((1,), (1.0, 0)),
    Case((1,), (2,)),
    Case((1, 2), (1, 3)),
    Case((1, 2, "a"), (1, 2, "b")),
    Case((math.nan,), (math.nan,)),
    Case((float("nan"),), (math.nan,)),
    Case(((1, 2),), ((1, 2),)),
]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("below", [0, 1])
def test_two_are_equal_where_pythons_are(pair: Case, below: int) -> None:
    mine = OURS[below](*pair.first), OURS[below](*pair.second)
    its = PYTHONS[below](*pair.first), PYTHONS[below](*pair.second)
    assert (mine[0] == mine[1]) is (its[0] == its[1])
    assert (len(set(mine)) == 1) is (len(set(its)) == 1)
    assert [repr(one) for one in mine] == [repr(one) for one in its]


def test_another_class_is_never_equal() -> None:
    point, below = OURS
    assert point(1) != below(1)
    assert point(1) != (1, 0.0)
    assert point(1) != PYTHONS[0](1)


def test_without_equality_each_is_itself_alone() -> None:
    (point, _), _ = both(eq=False)
    assert point(1) != point(1)
    assert len({point(1), point(1)}) == 2
    assert repr(point(1, note="n")).endswith("Point(x=1, y=0.0, note='n')")


def test_one_field_and_none() -> None:
    @records.dataclass(frozen=True, slots=True)
    class One:
        x: Any

    @records.dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    nan = math.nan
    assert One(nan) == One(nan)  # as the field of a tuple is: the same object
    assert One(1) != One(2)
    assert hash(One(1)) == hash(One(1.0))
    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing()}) == 1


@records.dataclass(frozen=True, slots=True)
class Sent:
    """One that is sent to another process."""

    x: int
    names: tuple[str, ...] = ()


def test_it_is_a_dataclass_with_slots() -> None:
    sent = Sent(1, ("a",))
    assert dataclasses.replace(sent, x=2) == Sent(2, ("a",))
    assert [one.name for one in dataclasses.fields(Sent)] == ["x", "names"]
    assert copy.deepcopy(sent) == sent
    assert pickle.loads(pickle.dumps(sent)) == sent
    assert not hasattr(sent, "__dict__")
    with pytest.raises(AttributeError):
        sent.colour = "red"  # type: ignore[attr-defined]  # what is tried
    match sent:
        case Sent(x, names=names):
            assert (x, names) == (1, ("a",))


def test_only_what_is_frozen_and_slotted_is_made() -> None:
    with pytest.raises(TypeError):
        records.dataclass(slots=True)
    with pytest.raises(AssertionError):
        records.dataclass(frozen=False, slots=True)
