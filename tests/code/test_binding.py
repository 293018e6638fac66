"""Which code a run has: what the command line says, and what it cannot say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from slots_made import asked, slot

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Column
from dropcheck.code.slots import FRAMEWORKS, implementations_of, needed
from dropcheck.errors import DropcheckError

CODE = """\
import numpy as np

def dropout(x, p, rng):
    return np.where(rng.random(x.shape) >= p, x / (1 - p), 0.0)

class Scale:
    def __init__(self, p):
        self.p = p
    def __call__(self, x):
        return self.p * x

number = 3
"""
BROKEN = {"divides": "1 / 0", "written": "def f(:", "needs": "import nosuchlibrary"}


@pytest.fixture(autouse=True)
def _own_modules() -> Iterator[None]:
    """Nothing that a test imports is left to the next."""
    before, path = set(sys.modules), [*sys.path]
    yield
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if not name.startswith(("dropcheck", "numpy")):
            del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ourlayers.py").write_text(CODE, encoding="utf-8")
    return tmp_path


def problem_of(*given: str, folder: Path) -> str:
    """What is wrong with texts of the command line, or with the code that they name."""
    with pytest.raises(DropcheckError) as caught:
        [one.bind({"dropout": slot()}) for one in implementations_of(given, folder)]
    (problem,) = caught.value.problems
    return f"{problem.message} | {problem.hint}"


# ---- the command line ----------------------------------------------------------------------------


@pytest.mark.parametrize(("target", "wanted"), [("dropout", {0.0, 2.0}), ("Scale", {0.5})])
def test_code_is_bound_by_the_command_line(target: str, wanted: set[float], folder: Path) -> None:
    """A class is built from what does not vary."""
    (one,) = implementations_of([f"mylib:dropout=ourlayers:{target}"], folder)
    assert (one.name, one.dtypes) == ("mylib", FRAMEWORKS["numpy"])
    code = one.bind({"dropout": slot(), "other": slot("other")})
    assert set(code) == {"dropout"}
    inputs = [np.ones((3, 40)), np.array([0.5])]
    found = code["dropout"].drawn(np.random.default_rng(0), asked(40, *inputs), inputs)
    assert set(np.unique(found["train"])) == wanted


def test_texts_of_one_name_are_one_implementation(folder: Path) -> None:
    texts = ["mylib:a=m:f", "torch", "mylib:b=m.n:g.h", "torch-own:a=m:f"]
    one, two, own = implementations_of(texts, folder)
    assert (one.name, one.given) == ("mylib", {"a": "m:f", "b": "m.n:g.h"})
    assert (two.name, two.framework) == ("torch", "torch")
    assert (own.name, own.framework) == ("torch-own", "torch")


def test_nothing_is_imported_before_code_is_bound(folder: Path) -> None:
    before = set(sys.modules)
    (folder / "ourlayers.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    (one,) = implementations_of(["torch:dropout=ourlayers:dropout"], folder)
    assert not {name for name in set(sys.modules) - before if not name.startswith("dropcheck")}
    with pytest.raises(DropcheckError):
        one.bind({"dropout": slot()})


EXAMPLES = "write --with torch, or --with torch:dropout=torch.nn.functional:dropout"
NAMES = "binds 'dropout' to what is not written 'module:function'"


@pytest.mark.parametrize(
    ("given", "said", "hint"),
    [
        ("", "does not begin with the name", EXAMPLES),
        (":dropout=m:f", "does not begin with the name", "write --with mine:dropout=m:f"),
        ("my lib", "does not begin with the name", EXAMPLES),
        ("mylib:", "binds no slot", EXAMPLES),
        ("mylib:dropout", "binds no slot", "write --with mine:SLOT=mylib:dropout"),
        ("mylib:=m:f", "binds no slot", "write --with mylib:SLOT=m:f"),
        ("m:f", "binds no slot", "write --with mine:SLOT=m:f"),
        ("dropout=m:f", "does not begin", "write --with mine:dropout=m:f"),
        ("mine=m:f", "does not begin", "write --with mine:SLOT=m:f"),
        ("torch=m:f", "does not begin", "write --with torch:SLOT=m:f"),
        ("mylib:dropout=", NAMES, EXAMPLES),
        ("mylib:dropout=m.f", NAMES, "write --with mylib:dropout=m:f"),
        ("a:dropout=m.n.f", NAMES, "write --with a:dropout=m.n:f"),
        ("mylib:dropout=m:f()", NAMES, EXAMPLES),
        ("mylib:dropout=m:f.__globals__;x", NAMES, EXAMPLES),
        ("mylib:dropout=../m:f", NAMES, EXAMPLES),
        ("mylib:dropout=m:lambda x: x", NAMES, EXAMPLES),
        ("troch", "no implementation 'troch' is known", "did you mean 'torch'?"),
        ("mylib", "'mylib' is known", "bind code to a slot: --with mylib:SLOT=MODULE:FUNCTION"),
        ("torch-own", "'torch-own' is known", "did you mean 'torch'?"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused(
    given: str, said: str, hint: str, folder: Path
) -> None:
    text = problem_of(given, folder=folder)
    assert said in text
    assert text.endswith(f"| {hint}")


def test_a_slot_bound_twice_is_refused(folder: Path) -> None:
    text = problem_of("mylib:a=m:f", "mylib:a=m:g", folder=folder)
    assert "--with binds 'a' of 'mylib' twice" in text


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("ourlayer:dropout", "there is no module 'ourlayer' | did you mean 'ourlayers'?"),
        ("ourlayers.py:f", "no module 'ourlayers.py' | a module is named without its ending"),
        ("ourlayers:dropuot", "ourlayers has no 'dropuot' | did you mean 'dropout'?"),
        ("ourlayers:Scale.forwards", "has no 'forwards'"),
        ("ourlayers:number", "it is a value of type 'int', not a function | name a function"),
        ("os.paths:join", "there is no module 'os.paths'"),
        ("numpy.linalgs:inv", "there is no module 'numpy.linalgs' | did you mean 'numpy.linalg'?"),
        ("nosuchlibrary.layers:f", "there is no module 'nosuchlibrary' | is it installed here?"),
        ("divides:f", "its import raised ZeroDivisionError: division by zero"),
        ("written:f", "its import raised SyntaxError"),
        ("needs:f", "its import needs 'nosuchlibrary', which is not installed"),
    ],
)
def test_code_that_is_not_there_is_told(target: str, said: str, folder: Path) -> None:
    for name, code in BROKEN.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    text = problem_of(f"mylib:dropout={target}", folder=folder)
    assert f"{target}, bound to slot 'dropout': " in text
    assert said in text


def test_a_framework_that_is_not_installed_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "dropcheck.code.adapters.torch_adapter", raising=False)
    assert problem_of("torch:dropout=ourlayers:dropout", folder=folder) == (
        "torch: 'torch' is not installed | pip install torch, in the environment that runs "
        "dropcheck"
    )


def test_a_command_that_repeats_a_cell_binds_what_its_claim_calls_alone() -> None:
    claim = read_text(
        "dropcheck: 1\nslots: {one: {takes: [x], model: y = x, gives: y}}\n"
        "claims: {c: {title: T, model: 'x ~ normal(0, 1)', claim: one(x) == x}}\n"
    ).claims["c"]
    assert needed(["mine:one=a:b"], claim) == []
    claim = replace(claim, column=Column("mine", {}))
    texts = ["mine:one=a:b", "mine:one_more=a:c", "other:one=a:b"]
    assert needed(texts, claim) == texts[:1]
    claim = replace(claim, column=Column("torch", {}))
    assert needed(["torch", "torch-own:one=a:b"], claim) == ["torch"]


def test_code_that_ships_is_for_the_slots_of_packs() -> None:
    (one,) = implementations_of(["numpy"], Path())
    slots = {name: slot(name, file="pack:samplers") for name in ("random_normal", "other")}
    assert set(one.bind(slots)) == {"random_normal"}
    assert one.bind({"random_normal": slot("random_normal", file="claims.yaml")}) == {}
