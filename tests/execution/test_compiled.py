"""Compiled normal and exponential numbers are numpy's, to the last bit, or are not used."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dropcheck import execution
from dropcheck.claims.reader import read_text
from dropcheck.execution import compiled
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.streams import PROBE, stream
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.laws.sampling import (
    EXPONENTIALS,
    FEWEST,
    NORMALS,
    StandardNumbers,
)

Words = NDArray[np.uint64]
Array = NDArray[np.float64]
BOTH = [NORMALS, EXPONENTIALS]


@pytest.fixture(autouse=True)
def _as_at_the_start() -> Iterator[None]:
    """Nothing is loaded before a test, and what was before is so after."""
    before = [(numbers.fill, numbers.saved) for numbers in BOTH]
    forget()
    yield
    forget()
    for numbers, (fill, saved) in zip(BOTH, before, strict=True):
        numbers.fill, numbers.saved = fill, saved


def forget() -> None:
    compiled.load.cache_clear()
    for numbers in BOTH:
        numbers.fill, numbers.saved = None, 0.0


@pytest.fixture
def loaded() -> None:
    """Compiled code, whether or not it is faster on this machine today."""
    ziggurat = pytest.importorskip("dropcheck.execution.ziggurat", reason="numba is not installed")
    NORMALS.fill, EXPONENTIALS.fill = ziggurat.normals, ziggurat.exponentials


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def state(of: np.random.Generator) -> str:
    return str(of.bit_generator.state)


@pytest.mark.parametrize("numbers", BOTH, ids=lambda numbers: numbers.method)
@pytest.mark.parametrize("size", [(FEWEST,), (3, 7, 1001), (2_000_003,)])
@pytest.mark.usefixtures("loaded")
def test_numbers_and_state_are_numpys(numbers: StandardNumbers, size: tuple[int, ...]) -> None:
    for seed in range(max(2, 200_000 // int(np.prod(size)))):
        ours, numpys = generator(seed), generator(seed)
        drawn = numbers(ours, size)
        assert drawn.shape == size
        assert drawn.tobytes() == getattr(numpys, numbers.method)(size).tobytes()
        assert state(ours) == state(numpys)


def draws_word(word: int, after: int) -> Any:
    """A state whose next word is this; those that come then depend on both."""
    words = np.array([word, 0, after, 0], dtype=np.uint64)
    return {**np.random.SFC64(0).state, "state": {"state": words}}


@pytest.mark.parametrize("numbers", BOTH, ids=lambda numbers: numbers.method)
@pytest.mark.usefixtures("loaded")
def test_what_is_rare_is_numpys_too(numbers: StandardNumbers) -> None:
    """Words that fall outside what is wholly under the curve: the lowest layer has the tail."""
    random, drawn = np.random.default_rng(0), np.empty(3)
    tail = {NORMALS: 3.6541528853610088, EXPONENTIALS: 7.69711747013104972}[numbers]
    beyond = 0
    for layer in [0] * 2000 + [*range(256)] * 8:
        place = 2**53 - 1 - int(random.integers(2**44 if layer == 0 else 2**47))
        sign = int(random.integers(2))
        if numbers is NORMALS:
            word = (place >> 1) << 9 | sign << 8 | layer
        else:
            word = place << 11 | layer << 3
        ours, numpys = np.random.SFC64(0), np.random.SFC64(0)
        ours.state = numpys.state = draws_word(word, int(random.integers(2**63)))
        words = ours.state["state"]["state"]
        assert numbers.fill is not None
        numbers.fill(words, drawn)
        theirs = getattr(np.random.Generator(numpys), numbers.method)(3)
        assert drawn.tobytes() == theirs.tobytes()
        assert np.array_equal(words, numpys.state["state"]["state"])
        beyond += abs(theirs[0]) > tail
    assert beyond >= 2000  # the test reaches the tail


@pytest.mark.usefixtures("loaded")
def test_laws_that_take_turns_draw_as_they_did() -> None:
    """Also what keeps half a word for later, as numpy's 32-bit integers do."""
    turns: list[tuple[str, list[float]]] = [
        *[("normal", [1.0, 2.0]), ("uniform", [0.0, 1.0]), ("discrete_uniform", [0.0, 5.0])],
        *[("exponential", [2.0]), ("laplace", [0.0, 1.0]), ("poisson", [3.0])],
        *[("lognormal", [0.0, 1.0]), ("geometric", [0.3]), ("gamma", [2.5, 1.0])],
        *[("weibull", [1.5, 1.0]), ("rademacher", []), ("gumbel", [0.0, 1.0])],
    ]

    def drawn() -> list[bytes]:
        own = generator(7)
        found = []
        for name, arguments in turns * 3:
            arrays = [np.array([argument]) for argument in arguments]
            found.append(LAWS[name].sample(own, arrays, (5,), 1777).tobytes())
        return [*found, state(own).encode()]

    with_compiled = drawn()
    forget()
    assert drawn() == with_compiled


@pytest.mark.usefixtures("loaded")
def test_threads_do_not_mix_their_numbers() -> None:
    def drawn(seed: int) -> bytes:
        own = generator(seed)
        return b"".join(NORMALS(own, (20_000,)).tobytes() for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(drawn, range(8)))
    forget()
    assert found == [drawn(seed) for seed in range(8)]


CLAIMS = """
dropcheck: 1
claims:
  one: {title: t, model: "x ~ normal(0, 1)[20]", claim: "E(max(abs(x))) == 2.2", within: 0.5}
  two: {title: t, model: "x ~ exponential(1)[20]", claim: "E(max(x)) == 3.6", within: 0.2}
"""


def results() -> list[tuple[object, ...]]:
    registry = read_text(CLAIMS)
    settings = Settings(threads=1, require="asymptotic")
    found = verify_cases(registry.expand(), settings, registry)
    return [(one.verdict, one.draws, one.estimate, one.interval) for one in found]


@pytest.mark.usefixtures("loaded")
def test_results_are_the_same() -> None:
    with_compiled = results()
    assert NORMALS.saved == EXPONENTIALS.saved == 0  # all of them were compiled
    forget()
    assert results() == with_compiled
    assert min(NORMALS.saved, EXPONENTIALS.saved) > 0


def test_few_numbers_and_other_generators_are_numpys() -> None:
    def broken(words: Words, out: Array) -> None:
        raise AssertionError("not called")

    NORMALS.fill = broken
    assert NORMALS(generator(0), (FEWEST - 1,)).tobytes() == (
        generator(0).standard_normal(FEWEST - 1).tobytes()
    )
    drawn = NORMALS(np.random.default_rng(0), (FEWEST,))
    assert drawn.tobytes() == np.random.default_rng(0).standard_normal(FEWEST).tobytes()


def put_in(words: Words, drawn_from: np.random.Generator) -> None:
    words[:] = drawn_from.bit_generator.state["state"]["state"]


def test_only_code_that_is_the_same_and_faster_is_used() -> None:
    """Fills that know what comes: right, off by one bit, with another state after, slow."""
    twin = stream(0, NORMALS.method, PROBE, 0)
    expected = []
    for _ in range(compiled.ARRAYS):
        drawn = twin.standard_normal(compiled.NUMBERS)
        expected.append((drawn, twin.bit_generator.state["state"]["state"]))

    def fill(fault: str) -> bool:
        left = iter(expected)

        def known(words: Words, out: Array) -> None:
            drawn, after = next(left)
            out[:], words[:] = drawn, after
            if fault == "bit":
                out[-1] = np.nextafter(out[-1], np.inf)
            if fault == "state":
                words[3] += np.uint64(1)
            if fault == "slow":
                generator(0).standard_normal(4 * compiled.NUMBERS)

        return compiled.is_same_and_faster(NORMALS.method, known)

    assert fill("")
    assert not fill("bit")
    assert not fill("state")
    assert not fill("slow")


def test_it_is_loaded_once_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    monkeypatch.setattr(compiled, "load", lambda: loads.append(1))
    compiled.load_where_it_pays(1000.0)  # nothing is drawn that it knows
    NORMALS.saved = compiled.LOADING / 2
    compiled.load_where_it_pays(compiled.EXPECTED_SAVING / 2)
    assert not loads
    compiled.load_where_it_pays(compiled.EXPECTED_SAVING)
    EXPONENTIALS.saved = compiled.LOADING / 2
    compiled.load_where_it_pays(0.0)
    assert len(loads) == 2


def test_numpy_draws_where_numba_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "dropcheck.execution.ziggurat", raising=False)
    monkeypatch.delattr(execution, "ziggurat", raising=False)
    compiled.load()
    assert NORMALS.fill is EXPONENTIALS.fill is None
    assert results()


def test_numpy_draws_where_what_numba_made_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code that is loaded, and then is not code that runs here."""

    def broken(words: Words, out: Array) -> None:
        raise SystemError("not for this machine")

    made = types.SimpleNamespace(normals=broken, exponentials=broken)
    monkeypatch.setattr(execution, "ziggurat", made, raising=False)
    compiled.load()
    assert NORMALS.fill is EXPONENTIALS.fill is None


LOADS = """
from dropcheck.execution import compiled
from dropcheck.vocabulary.laws.sampling import NORMALS
compiled.load()
print(NORMALS.fill is not None)
"""


def test_numpy_draws_where_numba_is_kept_from_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    ran = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
    assert not ran.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on Linux alone")
def test_what_workers_could_have_saved_counts_where_others_are_forked_later() -> None:
    claims = "".join(
        f"  c{k}: {{title: A mean, model: 'x ~ normal({k}, 1)', claim: E(exp(x / 9)) > 0}}\n"
        for k in range(1, 9)
    )
    registry = read_text(f"dropcheck: 1\nclaims:\n{claims}")
    for _ in verify_cases(registry.expand(), Settings(threads=2), registry, processes=True):
        pass
    assert compiled.saved() > 0
