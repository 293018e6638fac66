"""Sets of draws, as sets of bits."""

from __future__ import annotations

import pickle
import random
import tracemalloc

from lowered import lowered

from dropcheck.language.graph import NO_DRAWS, Sources


def test_they_are_as_sets_of_names_are() -> None:
    rng = random.Random(4)
    names = [f"name{number}" for number in range(100)]
    for _ in range(300):
        first, second = (frozenset(rng.sample(names, rng.randrange(20))) for _ in range(2))
        one, other = Sources(first), Sources(second)
        assert set(one | other) == first | second
        assert set(one & other) == first & second
        assert (one <= other) is (first <= second)
        assert (one == other) is (first == second)
        assert one.isdisjoint(other) is first.isdisjoint(second)
        assert (len(one), bool(one), sorted(one)) == (len(first), bool(first), sorted(first))
        assert all((name in one) is (name in first) for name in names)
        assert {one, Sources(sorted(first))} == {one}
        assert pickle.loads(pickle.dumps(one)) == one
    assert "never drawn" not in Sources(names)
    assert not NO_DRAWS


def test_a_long_recurrence_takes_little_memory() -> None:
    model = ";".join(f"e{i} ~ normal(0, 1); x{i + 1} = x{i} + e{i}" for i in range(1, 2001))
    tracemalloc.start()
    last = lowered(f"x1 = 0; {model}", "x2001")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(last.sources) == 2000
    assert most < 60e6  # sets of names take 160 MB
