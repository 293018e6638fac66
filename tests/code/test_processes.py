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
      x = [1, 1.25, 1.5, 2]
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
        os.kill(os.getpid(), 9)
    return dropout(x, p, rng, training)

def dies_once(x, p, rng, training):
    if x.dtype == np.float16 and p > 0.2 and not os.path.exists("marker"):
        open("marker", "w").close()
        os.kill(os.getpid(), 11)
    return dropout(x, p, rng, training)

def says(x, p, rng, training):
    print(f"called in {os.getpid()}.")
    return dropout(x, p, rng, training)

def slow(x, p, rng, training):
    if x.dtype == np.float16:
        open("begun", "w").close()
        time.sleep(1.0)
    return dropout(x, p, rng, training)
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
