"""A claims file names no code, whatever is written into it; only a run that asks imports any."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
            *("code", "function", "module", "implementation", "with", "python", "call", "bind"),
            *("target", "import", "adapter", "torch", "numpy", "path", "entry", "sample", "run"),
        )
    },
    "implementations at the top": f"{BASE}implementations: {{torch: {{dropout: 'trap:f'}}}}\n",
    "with at the top": f"{BASE}with: ['torch:dropout=trap:f']\n",
    "tool at the top": f"{BASE}tool: {{dropcheck: {{implementations: {{a: {{b: 'trap:f'}}}}}}}}\n",
    "with of a claim": f"{BASE}    with: trap:f\n",
    "sample of a claim": f"{BASE}    sample: trap:f\n",
    "column of a claim": f"{BASE}    column: trap:f\n",
    # code where mathematics stands
    "gives names code": BASE.replace("gives: y", "gives: trap:f"),
    "gives calls code": BASE.replace("gives: y", "gives: 'trap:f(x, p)'"),
    "gives imports": BASE.replace("gives: y", "gives: __import__('trap').f(x)"),
    "a line names code": BASE.replace("y = dropout(x, p)", "y = trap:f(x, p)"),
    "a line calls a module": BASE.replace("y = dropout(x, p)", "y = trap.f(x, p)"),
    "a line imports": BASE.replace("y = dropout(x, p)", "import trap\n      y = trap.f(x)"),
    "a line evaluates": BASE.replace("y = dropout(x, p)", "y = eval('__import__(\"trap\")')"),
    "another mode": BASE.replace("dropout(x, p)", "dropout.trap(x, p)"),
    "attributes of a slot": BASE.replace("dropout(x, p)", "dropout.eval.__globals__(x, p)"),
    "a gradient of code": BASE.replace("y = dropout(x, p)", "y = grad(trap.f)(x, p)"),
    "a gradient of text": BASE.replace("y = dropout(x, p)", "y = grad('trap:f')(x, p)"),
    "a law of code": BASE.replace("uniform(1, 2)[4]", "trap:f(1, 2)[4]"),
    "a law of a slot": BASE.replace("    gives: y\n", "    law: trap:f\n"),
    "a claim of code": BASE.replace("E(y) / E(x) == 1", "trap:f(y) == 1"),
    "a parameter that is code": BASE.replace("{p: 0.5}", "{p: 'trap:f'}"),
    "a parameter of a law of code": BASE.replace("{p: 0.5}", "{p: 'trap.f()'}"),
    "a format that is code": BASE.replace("{p: 0.5}", "{p: 0.5, dtype: 'trap:f'}"),
    "formats that are code": BASE.replace("{p: 0.5}", "{p: 0.5, dtype: [float32, 'trap:f']}"),
    # names of slots, and of what they take
    "a slot that is called as code": BASE.replace("  dropout:\n", "  'trap:f':\n"),
    "a slot with dots": BASE.replace("  dropout:\n", "  trap.f:\n"),
    "a slot with an equals sign": BASE.replace("  dropout:\n", "  dropout=trap:f:\n"),
    "taken names that are code": BASE.replace("[x, p]", "['trap:f', p]"),
    "a slot that is no mapping": BASE.replace(SLOT, "").replace(
        BASE[BASE.index("    title: Inv") : BASE.index(SLOT)], ""
    ).replace("  dropout:\n", "  dropout: trap:f\n"),
    "slots that are a text": "dropcheck: 1\nslots: trap:f\nclaims: {a: {title: A, claim: 1 > 0}}\n",
    "an evaluation that no claim asks for": BASE.replace(SLOT, f"{SLOT}    evaluation: trap:f\n"),
    "a gradient that no claim asks for": BASE.replace(SLOT, f"{SLOT}    gradient: trap.f(x)\n"),
    "a slot that no claim calls": BASE.replace("y = dropout(x, p)", "y = p * x").replace(
        SLOT, "    gives: trap:f\n"
    ),
    "elements that are code": BASE.replace(SLOT, f"{SLOT}    elements: trap:f\n"),
    # tags and types of YAML
    "a tag of Python": BASE.replace("gives: y", "gives: !!python/name:trap.f ''"),
    "a call by a tag": BASE.replace("gives: y", "gives: !!python/object/apply:trap.f []"),
    "a module by a tag": BASE.replace("0.5}", "!!python/module:trap }"),
    "a tag of one's own": BASE.replace("gives: y", "gives: !trap:f y"),
    "a merge of code": BASE.replace(SLOT, f"{SLOT}    <<: {{function: 'trap:f'}}\n"),
    "another document": f"{BASE}---\nimplementations: trap:f\n",
}  # fmt: skip
COMMANDS = (["check"], ["show", "mean-kept"], ["list"], ["plan"], ["run"])


def dropcheck(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dropcheck", *arguments],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("text", TRICKS.values(), ids=TRICKS)
def test_a_file_that_names_code_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dropcheck.claims.reader import read_text
    from dropcheck.errors import DropcheckError
    from dropcheck.language.check import check_registry
    from dropcheck.language.compile import CaseGraphs

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


@pytest.mark.parametrize("key", ["gradient", "evaluation"])
def test_a_name_that_nothing_defines_is_refused_where_no_claim_asks_for_it(key: str) -> None:
    from dropcheck.claims.reader import read_text
    from dropcheck.language.check import check_registry

    text = BASE.replace(SLOT, f"{SLOT}    {key}: m * trap\n")
    [problem] = check_registry(read_text(text)).problems
    assert problem.message == "'trap' is not defined"
    assert problem.location is not None
    assert problem.location.line == 10


def test_the_file_without_a_trick_is_read() -> None:
    from dropcheck.claims.reader import read_text
    from dropcheck.language.check import check_registry
    from dropcheck.language.compile import CaseGraphs

    assert not check_registry(read_text(BASE), CaseGraphs(2**30)).problems


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file with a slot, and code for it, which tells when it is imported."""
    (tmp_path / "claims.yaml").write_text(BASE, encoding="utf-8")
    (tmp_path / "trap.py").write_text(f"{TRAP}def dropout(x, p): return x\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one[0])
def test_a_file_by_itself_runs_nothing(command: list[str], folder: Path) -> None:
    done = dropcheck(folder, *command)
    assert done.returncode == 0, done.stderr
    assert not (folder / "trap.ran").exists()


def test_a_run_with_code_runs_it(folder: Path) -> None:
    dropcheck(folder, "run", "--with", "ours:dropout=trap:dropout", "--max-draws", "1000")
    assert (folder / "trap.ran").exists()


def test_a_run_with_another_name_does_not(folder: Path) -> None:
    done = dropcheck(folder, "run", "--with", "theirs")
    assert done.returncode == 2
    assert "no implementation 'theirs' is known" in done.stderr
    assert not (folder / "trap.ran").exists()
