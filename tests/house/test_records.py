"""Records do what frozen dataclasses with slots do, and compile nothing."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest

from dropcheck.records import record

Maker = Callable[..., Any]
STANDARD: dict[str, Any] = {"frozen": True, "slots": True}


def kinds(make: Maker, plain: dict[str, Any]) -> dict[str, Any]:
    """The same classes by the standard decorator and by ours."""

    @make(**plain)
    class Point:
        x: float
        y: float = 0.0

    @make(**plain)
    class Space(Point):
        z: float = 1.0

    @make(**plain, kw_only=True)
    class Named:
        name: str
        tags: list[str] = field(default_factory=list)

    @make(**plain, eq=False)
    class Own:
        x: int

    @make(**plain)
    class Hidden:
        x: int
        at: int = field(default=0, compare=False, repr=False)

    @make(**plain)
    class Completed:
        x: int
        twice: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "twice", 2 * self.x)

    @make(**plain)
    class Shown:
        x: int

        def __repr__(self) -> str:
            return f"<{self.x}>"

    every = (Point, Space, Named, Own, Hidden, Completed, Shown)
    return {kind.__name__: kind for kind in every}


OURS, THEIRS = kinds(record, {}), kinds(dataclass, STANDARD)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", (1.0,), {}),
    ("Point", (1.0, 2.0), {}),
    ("Point", (1.0,), {"y": 2.0}),
    ("Point", (), {"y": 2.0, "x": 1.0}),
    ("Space", (1.0, 2.0, 3.0), {}),
    ("Space", (1.0,), {"z": 3.0}),
    ("Named", (), {"name": "a"}),
    ("Named", (), {"name": "a", "tags": ["b"]}),
    ("Hidden", (1, 2), {}),
    ("Hidden", (1,), {}),
    ("Completed", (4,), {}),
    ("Shown", (4,), {}),
]
WRONG: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", (), {}),
    ("Point", (1.0, 2.0, 3.0), {}),
    ("Point", (1.0,), {"x": 2.0}),
    ("Point", (1.0,), {"z": 2.0}),
    ("Named", ("a",), {}),
    ("Completed", (1,), {"twice": 3}),
    ("Completed", (1, 2), {}),
]


@pytest.mark.parametrize(("name", "values", "named"), CALLS)
def test_a_record_is_what_a_dataclass_is(
    name: str, values: tuple[Any, ...], named: dict[str, Any]
) -> None:
    ours, theirs = (kind[name](*values, **named) for kind in (OURS, THEIRS))
    assert asdict(ours) == asdict(theirs)
    assert repr(ours).rpartition(".")[2] == repr(theirs).rpartition(".")[2]
    assert [one.name for one in fields(ours)] == [one.name for one in fields(theirs)]
    assert type(ours).__match_args__ == type(theirs).__match_args__
    assert ours == OURS[name](*values, **named)
    for copied in (copy.copy(ours), copy.deepcopy(ours)):
        assert copied == ours
        assert type(copied) is type(ours)
    assert not hasattr(ours, "__dict__")


@pytest.mark.parametrize(("name", "values", "named"), WRONG)
def test_what_is_not_its_fields_is_refused(
    name: str, values: tuple[Any, ...], named: dict[str, Any]
) -> None:
    for kind in (OURS, THEIRS):
        with pytest.raises(TypeError):
            kind[name](*values, **named)


def test_records_are_compared_by_their_fields_and_their_class() -> None:
    point, space = OURS["Point"], OURS["Space"]
    assert point(1.0) != point(2.0)
    assert point(1.0) != space(1.0)
    assert point(1.0) != (1.0, 0.0)
    assert len({point(1.0), point(1.0, 0.0), point(2.0)}) == 2
    assert OURS["Hidden"](1, 2) == OURS["Hidden"](1, 3)
    assert hash(OURS["Hidden"](1, 2)) == hash(OURS["Hidden"](1, 3))
    own = OURS["Own"]
    assert own(1) != own(1)
    with pytest.raises(TypeError):
        hash(OURS["Named"](name="a"))  # a list has no hash


def test_a_record_does_not_change() -> None:
    point = OURS["Point"](1.0)
    with pytest.raises(FrozenInstanceError):
        point.x = 2.0
    with pytest.raises(FrozenInstanceError):
        del point.x
    assert replace(point, x=2.0) == OURS["Point"](2.0)
    assert point.x == 1.0


def test_each_record_has_a_list_of_its_own() -> None:
    one, other = OURS["Named"](name="a"), OURS["Named"](name="a")
    one.tags.append("b")
    assert other.tags == []


@record
class Sent:
    """What another process is sent: pickle finds it by its name."""

    x: int
    y: tuple[int, ...] = ()


def test_a_record_goes_to_another_process() -> None:
    sent = Sent(1, (2, 3))
    assert pickle.loads(pickle.dumps(sent)) == sent


def compiled(make: Maker, plain: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """The length of the texts that are run as code where classes are made."""
    lengths: list[int] = []
    run = builtins.exec

    def counted(text: Any, *spaces: Any) -> None:
        lengths.append(len(text))
        run(text, *spaces)

    with monkeypatch.context() as patched:
        patched.setattr(builtins, "exec", counted)
        kinds(make, plain)
    return sum(lengths)


def test_no_methods_are_compiled_where_a_record_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python 3.13 on `dataclasses` compiles an empty text for each class."""
    ours = compiled(record, {}, monkeypatch)
    theirs = compiled(dataclasses.dataclass, STANDARD, monkeypatch)
    assert ours < theirs / 10
    assert theirs > 1000
