"""Cells of code that several processes judge: the same digits, and a crash costs a cell alone."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from slots_made import DROPOUT

LAYER = (
    "dropcheck: 1\nslots:\n"
    + DROPOUT
    + """\
    evaluation: x
    elements: independent
claims:
  dropout:
    title: Dropout
    parameters: {p: [0.1, 0.3], dtype: [float32, float16]}
    resolution: 0.1
    model: |
      x ~ uniform(1, 2)[16]
      y = dropout(x, p)
    claims:
      mean: {title: The mean is kept, claim: E(y) / E(x) == 1}
      values: {title: Values, claim: "y in {0, round(x / (1 - p), dtype)}"}
"""
)
CODE = """\
import os
import time

import numpy as np

def dropout(x, p, rng, training):
    if not training:
        return x
    return np.where(rng.random(x.shape) >= p, x / x.dtype.type(1 - p), 0)

def forgetful(x, p, rng, training):
    return np.where(rng.random(x.shape) >= p, x, 0)

def dies(x, p, rng, training):
    if x.dtype == np.float16 and p > 0.2:
        os._exit(0)
    return dropout(x, p, rng, training)

def dies_once(x, p, rng, training):
    if x.dtype == np.float16 and p > 0.2 and not os.path.exists("marker"):
        open("marker", "w").close()
        os.kill(os.getpid(), 11)
    return dropout(x, p, rng, training)

def says(x, p, rng, training):
    print(f"called in {os.getpid()}.")
    return dropout(x, p, rng, training)

def raises(x, p, rng, training):
    if p > 0.2:
        raise ValueError("no")
    return dropout(x, p, rng, training)

def slow(x, p, rng, training):
    if x.dtype == np.float16:
        open("begun", "w").close()
        time.sleep(1.0)
    return dropout(x, p, rng, training)

if os.path.exists("once"):
    raise ValueError("imported again")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "layer.yaml").write_text(LAYER)
    (tmp_path / "layers.py").write_text(CODE)
    return tmp_path


def started(folder: Path, *functions: str, threads: int = 2) -> subprocess.Popen[str]:
    bound = [f"--with={name}:dropout=layers:{name}" for name in functions]
    return subprocess.Popen(
        [sys.executable, "-m", "dropcheck", "run", "layer.yaml", *bound, "-o", "out.json",
         "--threads", str(threads)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )  # fmt: skip


def ran(folder: Path, *functions: str, threads: int = 2) -> tuple[int, dict[str, Any], str, str]:
    process = started(folder, *functions, threads=threads)
    out, err = process.communicate(timeout=100)
    report = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return process.returncode, report, out, err


def test_what_code_prints_is_no_part_of_a_report(folder: Path) -> None:
    """Neither what Python prints nor what is written past it, here or in another process."""
    (folder / "layers.py").write_text(CODE + 'print("imported")\nos.write(1, b"past it\\n")\n')
    for functions in (("says",), ("says", "dropout")):
        bound = [f"--with={name}:dropout=layers:{name}" for name in functions]
        done = subprocess.run(
            [sys.executable, "-m", "dropcheck", "run", "layer.yaml", *bound, "--format=json",
             "--threads=2"],
            cwd=folder, capture_output=True, text=True, timeout=100, check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
        assert json.loads(done.stdout)["summary"]["failed"] == 0
        assert "imported" in done.stderr
        assert "past it" in done.stderr
        assert "called in" in done.stderr


def digits(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {name: one for name, one in case.items() if name not in ("seconds", "more_seconds")}
        for case in report["cases"]
    ]


def callers(out: str) -> set[str]:
    return set(re.findall(r"called in (\d+)", out))


def test_digits_are_those_of_one_process_and_what_code_prints_comes_out(folder: Path) -> None:
    one, alone, out_of_one, said_by_one = ran(folder, "says", "forgetful", threads=1)
    two, shared, out_of_two, said_by_two = ran(folder, "says", "forgetful", threads=2)
    assert digits(alone) == digits(shared)
    assert len(digits(shared)) == 20
    assert (one, two) == (1, 1)
    assert len(callers(said_by_one)) == 1
    assert len(callers(said_by_two)) == 2
    assert not callers(out_of_one + out_of_two)


def test_where_no_process_can_be_started_all_is_judged_in_this_one(folder: Path) -> None:
    program = (
        "import sys\n"
        "sys.argv = ['dropcheck', 'run', 'layer.yaml', '--with=a:dropout=layers:says',\n"
        "            '--with=b:dropout=layers:says', '--threads=2']\n"
        "from dropcheck.__main__ import program\n"
        "program()\n"
    )
    # a process that is spawned looks for the program's file, and standard input is none
    done = subprocess.run(
        [sys.executable], input=program, cwd=folder, capture_output=True, text=True, timeout=100,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert "20 cases: 20 passed" in done.stdout
    assert len(callers(done.stderr)) == 1


def test_few_cells_are_judged_in_one_process(folder: Path) -> None:
    _, report, _, said = ran(folder, "says")
    assert report["summary"]["passed"] == 12
    assert len(callers(said)) == 1


def test_code_that_ends_its_process_costs_its_own_cells_alone(folder: Path) -> None:
    code, report, out, err = ran(folder, "dies_once", "dies")
    assert (code, err) == (2, "")
    failed = [case for case in report["cases"] if case["result"] == "error"]
    assert [case["claim"] for case in failed] == ["dropout.mean@dies", "dropout.values@dies"]
    reason = "layers:dies ended the process that called it, and another one"
    assert {case["reason"] for case in failed} == {reason}
    assert report["summary"]["passed"] == 18
    assert (folder / "marker").exists()
    assert "a worker ended before its work did; " in " ".join(out.split())


def test_code_that_raises_is_an_error_of_its_cells_and_names_them(folder: Path) -> None:
    code, report, out, err = ran(folder, "raises", threads=1)
    assert (code, err) == (2, "")
    said = (
        "error dropout.mean@raises float32, p=0.3 and 1 more: layers:raises raised ValueError: no"
    )
    told = " ".join(out.split())
    assert said in told, told[-2000:]  # once for both, and once in float16
    assert told.count("raised ValueError: no") == 2
    assert report["cases"][-1]["repeat"].endswith("--with=raises:dropout=layers:raises")
    assert "12 cases: 8 passed, 0 failed, 0 undecided, 4 errors" in out
    failed = [case for case in report["cases"] if case["result"] == "error"]
    assert all(case["parameters"]["p"] == 0.3 for case in failed)


def test_code_that_cannot_be_imported_again_is_called_here(folder: Path) -> None:
    source = CODE.replace('"once")', '"once") and __import__("multiprocessing").parent_process()')
    (folder / "layers.py").write_text(source)
    (folder / "once").touch()
    code, report, _, err = ran(folder, "dropout", "says")
    assert code == 0
    assert all(line.startswith("called in") for line in err.splitlines())
    assert report["summary"]["passed"] == 20


def test_an_interruption_ends_all_and_prints_what_is_done(folder: Path) -> None:
    process = started(folder, "dropout", "slow")
    while not (folder / "begun").exists():
        assert process.poll() is None
        time.sleep(0.05)
    pressed = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - pressed < 10
    assert (process.returncode, err) == (130, "")
    assert "interrupted" in out
    assert json.loads((folder / "out.json").read_text())["cases"]
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() - pressed < 20:
            os.killpg(process.pid, 0)
            time.sleep(0.1)
        pytest.fail("a process is left")
