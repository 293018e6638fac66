"""What a claim may take: told before anything is allocated, and as large as the user allows."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.cli import main
from dropcheck.language.check import check_registry
from dropcheck.language.compile import CaseGraphs

REGISTRY = """
dropcheck: 1
claims:
  wide:
    title: A wide draw
    parameters:
      n: [{n}]
    model: |
      q, k ~ normal(0, 1)[n]
    claim: E(q @ k / n) == 0
    within: 0.05
"""


def written(folder: Path, n: float) -> str:
    path = folder / "wide.yaml"
    path.write_text(REGISTRY.format(n=n), encoding="utf-8")
    return str(path)


def test_what_is_too_large_is_told_before_it_is_allocated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tracemalloc.start()
    code = main(["run", "--file", written(tmp_path, 1e12)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    told = capsys.readouterr().err
    assert code == 2
    assert "one draw of 'q' alone, of shape [1000000000000], takes 7.28 TiB" in told
    assert "--max-memory" in told
    assert peak < 200e6


@pytest.mark.parametrize(("allowed", "code"), [("2MB", 2), ("64MB", 0)])
def test_the_limit_is_the_users(
    tmp_path: Path, allowed: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["run", "--file", written(tmp_path, 100_000), "--max-memory", allowed]
    assert main(asked) == code
    assert ("is allowed" in capsys.readouterr().err) == (code == 2)


@pytest.mark.parametrize("command", ["run", "plan"])
def test_the_limit_that_the_hint_names_is_enough(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [command, "--file", written(tmp_path, 100_000)]
    assert main([*asked, "--max-memory", "1MiB"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "takes 781 KiB, and 512 KiB is allowed (of 1 MiB, half is for draws" in told
    # one array fits then, and two do not: the next hint says what both take
    assert "dropcheck run --max-memory 2MiB allows more" in told
    assert main([*asked, "--max-memory", "2MiB"]) == 2
    assert "dropcheck run --max-memory 4MiB allows more" in capsys.readouterr().err
    assert main([*asked, "--max-memory", "4MiB"]) == 0


def test_no_limit_is_named_where_none_would_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", written(tmp_path, 2.0**58)]) == 2
    told = capsys.readouterr().err
    assert "make the shapes smaller" in told
    assert "--max-memory" not in told


def test_the_limit_holds_while_checking_too() -> None:
    registry = read_text(REGISTRY.format(n=100_000))
    assert not check_registry(registry).problems
    assert check_registry(registry, CaseGraphs(2**20)).problems


@pytest.mark.parametrize("text", ["20", "banana", "-1GB", "0", "500iB", "500kiB/s"])
def test_a_size_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "all", f"--max-memory={text}"]) == 2
    assert "--max-memory" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["q[1, 2]", "zeros(3) + zeros(4)", "v + zeros(3)", "1 / 0"])
def test_what_is_wrong_beside_large_fixed_arrays_is_found(wrong: str) -> None:
    model = "q, k ~ normal(0, 1)[n]"
    text = REGISTRY.format(n=1).replace(model, f"{model}\n      v = arange(1e7)")
    registry = read_text(text.replace("== 0", f"== {wrong} + sum(v)"))
    assert len(check_registry(registry).problems) == 1
