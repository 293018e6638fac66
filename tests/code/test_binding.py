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
from dropcheck.code.slots import FRAMEWORKS, Implementation, implementations_of, needed
from dropcheck.errors import DropcheckError, Problem

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


@pytest.fixture(autouse=True)
def _own_modules() -> Iterator[None]:
    """Nothing that a test imports is left to the next."""
    before, path = set(sys.modules), [*sys.path]
    yield
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if not name.startswith(("dropcheck", "numpy")):
            del sys.modules[name]


def folder_with(folder: Path, code: str = CODE, module: str = "ourlayers") -> Path:
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    return folder


def problems_of(*given: str, folder: Path, bind: bool = False) -> list[Problem]:
    def read() -> None:
        for one in implementations_of(given, folder):
            if bind:
                one.bind({"dropout": slot()})

    with pytest.raises(DropcheckError) as caught:
        read()
    return list(caught.value.problems)


def problem_of(*given: str, folder: Path, bind: bool = False) -> str:
    (problem,) = problems_of(*given, folder=folder, bind=bind)
    return f"{problem.message} | {problem.hint}"


def only(given: str, folder: Path) -> Implementation:
    (one,) = implementations_of([given], folder)
    return one


# ---- the command line ----------------------------------------------------------------------------


def test_code_is_bound_by_the_command_line(tmp_path: Path) -> None:
    one = only("mylib:dropout=ourlayers:dropout", folder_with(tmp_path))
    assert (one.name, one.dtypes) == ("mylib", FRAMEWORKS["numpy"])
    code = one.bind({"dropout": slot(), "other": slot("other")})
    assert set(code) == {"dropout"}
    x = np.ones((3, 40))
    found = code["dropout"].drawn(
        np.random.default_rng(0), asked(40, x, [0.5]), [x, np.array([0.5])]
    )
    assert set(np.unique(found["train"])) == {0.0, 2.0}


def test_a_class_is_built_from_what_does_not_vary(tmp_path: Path) -> None:
    code = only("mylib:dropout=ourlayers:Scale", folder_with(tmp_path)).bind({"dropout": slot()})
    x = np.ones((3, 40))
    inputs = [x, np.array([0.5])]
    found = code["dropout"].drawn(np.random.default_rng(0), asked(40, *inputs), inputs)
    assert np.all(found["train"] == 0.5)


def test_several_of_one_name_are_one_implementation(tmp_path: Path) -> None:
    one, two = implementations_of(
        ["mylib:a=m:f", "torch", "mylib:b=m.n:g.h"], folder_with(tmp_path)
    )
    assert (one.name, {name: str(at) for name, at in one.given.items()}) == (
        "mylib",
        {"a": "m:f", "b": "m.n:g.h"},
    )
    assert (two.name, two.framework) == ("torch", "torch")


def test_nothing_is_imported_before_code_is_bound(tmp_path: Path) -> None:
    before = set(sys.modules)
    folder = folder_with(tmp_path, code="raise RuntimeError('imported')")
    one = only("torch:dropout=ourlayers:dropout", folder)
    assert not {name for name in set(sys.modules) - before if not name.startswith("dropcheck")}
    with pytest.raises(DropcheckError):
        one.bind({"dropout": slot()})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "does not begin with the name"),
        (":dropout=m:f", "does not begin with the name"),
        ("my lib", "does not begin with the name"),
        ("mylib:", "binds no slot"),
        ("mylib:dropout", "binds no slot"),
        ("mylib:=m:f", "binds no slot"),
        ("mylib:dropout=", "binds 'dropout' to what is not written 'module:function'"),
        ("mylib:dropout=m.f", "is not written 'module:function'"),
        ("mylib:dropout=m:f()", "is not written 'module:function'"),
        ("mylib:dropout=m:f.__globals__;x", "is not written 'module:function'"),
        ("mylib:dropout=../m:f", "is not written 'module:function'"),
        ("mylib:dropout=m:lambda x: x", "is not written 'module:function'"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused(given: str, said: str, tmp_path: Path) -> None:
    text = problem_of(given, folder=tmp_path)
    assert said in text
    assert "write --with" in text


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("m:f", "mine:SLOT=m:f"),
        ("dropout=m:f", "mine:dropout=m:f"),
        ("mine=m:f", "mine:SLOT=m:f"),
        ("torch=m:f", "torch:SLOT=m:f"),
        ("a:dropout=m.n.f", "a:dropout=m.n:f"),
    ],
)
def test_a_function_alone_is_told_what_stands_before_it(
    given: str, wanted: str, tmp_path: Path
) -> None:
    assert problem_of(given, folder=tmp_path).endswith(f"write --with {wanted}")


def test_a_slot_bound_twice_is_refused(tmp_path: Path) -> None:
    text = problem_of("mylib:a=m:f", "mylib:a=m:g", folder=tmp_path)
    assert "--with binds 'a' of 'mylib' twice" in text


def test_an_unknown_implementation_names_the_nearest(tmp_path: Path) -> None:
    said = problem_of("troch", folder=tmp_path)
    assert said == "no implementation 'troch' is known | did you mean 'torch'?"
    said = problem_of("mylib", folder=tmp_path)
    assert said.endswith("bind code to a slot: --with mylib:SLOT=MODULE:FUNCTION")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("ourlayer:dropout", "there is no module 'ourlayer' | did you mean 'ourlayers'?"),
        ("ourlayers:dropuot", "ourlayers has no 'dropuot' | did you mean 'dropout'?"),
        ("ourlayers:Scale.forwards", "has no 'forwards'"),
        ("ourlayers:number", "it is a value of type 'int', not a function | name a function"),
        ("os.paths:join", "there is no module 'os.paths'"),
        ("numpy.linalgs:inv", "there is no module 'numpy.linalgs' | did you mean 'numpy.linalg'?"),
        ("nosuchlibrary.layers:f", "there is no module 'nosuchlibrary' | is it installed here?"),
    ],
)
def test_code_that_is_not_there_is_told(target: str, said: str, tmp_path: Path) -> None:
    text = problem_of(f"mylib:dropout={target}", folder=folder_with(tmp_path), bind=True)
    assert f"{target}, bound to slot 'dropout': " in text
    assert said in text


def test_an_import_that_fails_is_told(tmp_path: Path) -> None:
    for code, said in [
        ("1 / 0", "its import raised ZeroDivisionError: division by zero"),
        ("def f(:", "its import raised SyntaxError"),
        ("import nosuchlibrary", "its import needs 'nosuchlibrary', which is not installed"),
    ]:
        module = f"broken{abs(hash(said))}"
        folder = folder_with(tmp_path, code=code, module=module)
        assert said in problem_of(f"mylib:dropout={module}:f", folder=folder, bind=True)


def test_a_framework_that_is_not_installed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "dropcheck.code.adapters.torch_adapter", raising=False)
    said = problem_of("torch:dropout=ourlayers:dropout", folder=folder_with(tmp_path), bind=True)
    assert said == (
        "torch: 'torch' is not installed | pip install torch, in the environment that runs "
        "dropcheck"
    )


# ---- compiled code, and commands that repeat a cell ----------------------------------------------


def test_compiled_code_is_a_column_of_its_own(tmp_path: Path) -> None:
    plain, compiled = implementations_of(["torch", "torch-compiled"], folder_with(tmp_path))
    assert (plain.name, compiled.name) == ("torch", "torch-compiled")
    assert compiled.framework == plain.framework


def test_numpy_has_nothing_to_compile(tmp_path: Path) -> None:
    given = "numpy-compiled:dropout=ourlayers:dropout"
    said = problem_of(given, folder=folder_with(tmp_path), bind=True)
    assert said.startswith("numpy-compiled: numpy compiles nothing")


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
    assert needed(["torch", "torch-compiled"], claim) == ["torch"]


# ---- what ships ----------------------------------------------------------------------------------


def test_code_that_ships_is_for_the_slots_of_packs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("dropcheck.code.slots.SHIPPED", "shippedcode")
    (tmp_path / "shippedcode").mkdir()
    folder_with(
        tmp_path / "shippedcode",
        module="numpy_functions",
        code=CODE + 'FUNCTIONS = {"dropout": dropout}\n',
    )
    one = only("numpy", tmp_path)
    assert set(one.bind({"dropout": slot(file="pack:dropout")})) == {"dropout"}
    assert one.bind({"dropout": slot(file="claims.yaml")}) == {}
