"""Which code a run has: what the command line says, and that a claims file names none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_stub import Cli
from slots_made import asked, slot

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Column
from dropcheck.code.slots import FRAMEWORKS, implementations_of, needed
from dropcheck.errors import DropcheckError
from dropcheck.language.check import check_registry
from dropcheck.language.compile import CaseGraphs

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


BASE = """\
dropcheck: 1
slots:
  dropout:
    title: Inverted dropout
    takes: [x, p]
    model: |
      m ~ bernoulli(1 - p)[shape(x)]
      y = m * x / (1 - p)
    gives: y
claims:
  mean-kept:
    title: The mean is kept
    parameters: {p: 0.5}
    model: |
      x ~ uniform(1, 2)[4]
      y = dropout(x, p)
    claim: E(y) / E(x) == 1
"""
# A module that leaves a file where it is imported, under every name that a file below has.
TRAP = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\ndef f(*_): return 0\n"
SLOT = "    gives: y\n"
TRICKS = {
    # keys that might be thought to bind code
    **{
        f"a key {key} of a slot": BASE.replace(SLOT, f"{SLOT}    {key}: trap:f\n")
        for key in (
            *("code", "function", "implementation", "with", "import", "torch", "sample"),
        )
    },
    "implementations at the top": f"{BASE}implementations: {{torch: {{dropout: 'trap:f'}}}}\n",
    "with at the top": f"{BASE}with: ['torch:dropout=trap:f']\n",
    "tool at the top": f"{BASE}tool: {{dropcheck: {{implementations: {{a: {{b: 'trap:f'}}}}}}}}\n",
    # code where mathematics stands
    "gives calls code": BASE.replace("gives: y", "gives: 'trap:f(x, p)'"),
    "a line evaluates": BASE.replace("y = dropout(x, p)", "y = eval('__import__(\"trap\")')"),
    "another mode": BASE.replace("dropout(x, p)", "dropout.trap(x, p)"),
    "a gradient of code": BASE.replace("y = dropout(x, p)", "y = grad(trap.f)(x, p)"),
    "a law of a slot": BASE.replace("    gives: y\n", "    law: trap:f\n"),
    "a claim of code": BASE.replace("E(y) / E(x) == 1", "trap:f(y) == 1"),
    "a format that is code": BASE.replace("{p: 0.5}", "{p: 0.5, dtype: 'trap:f'}"),
    # names of slots, and of what they take
    "a slot that is called as code": BASE.replace("  dropout:\n", "  'trap:f':\n"),
    "slots that are a text": "dropcheck: 1\nslots: trap:f\nclaims: {a: {title: A, claim: 1 > 0}}\n",
    "an evaluation that no claim asks for": BASE.replace(SLOT, f"{SLOT}    evaluation: trap:f\n"),
    "a gradient that no claim asks for": BASE.replace(SLOT, f"{SLOT}    gradient: trap.f(x)\n"),
    "elements that are code": BASE.replace(SLOT, f"{SLOT}    elements: trap:f\n"),
    # tags and types of YAML
    "a tag of Python": BASE.replace("gives: y", "gives: !!python/name:trap.f ''"),
    "a tag of one's own": BASE.replace("gives: y", "gives: !trap:f y"),
    "a merge of code": BASE.replace(SLOT, f"{SLOT}    <<: {{function: 'trap:f'}}\n"),
    "another document": f"{BASE}---\nimplementations: trap:f\n",
}  # fmt: skip


@pytest.mark.parametrize("text", TRICKS.values(), ids=TRICKS)
def test_a_file_that_names_code_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trap.py").write_text(TRAP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert text != BASE
    try:
        problems = check_registry(read_text(text), CaseGraphs(2**30)).problems
    except DropcheckError as error:
        problems = error.problems
    assert problems
    assert "trap" not in sys.modules
    assert not (tmp_path / "trap.ran").exists()


def test_only_a_run_that_asks_runs_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Cli
) -> None:
    (tmp_path / "claims.yaml").write_text(BASE, encoding="utf-8")
    (tmp_path / "trap.py").write_text(f"{TRAP}def dropout(x, p): return x\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert program("run", "--max-draws", "1000").code == 0
    assert not (tmp_path / "trap.ran").exists()
    program("run", "--with", "ours:dropout=trap:dropout", "--max-draws", "1000")
    assert (tmp_path / "trap.ran").exists()
