"""How many processors there are to use: a container's quota."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from dropcheck.processors import quota, threads_within


def group(top: Path, path: str, files: dict[str, str]) -> None:
    folder = top / path
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def own(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "cgroup"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("most", "expected"), [("100000 100000", 1.0), ("50000 100000", 0.5), ("max 100000", math.inf)]
)
def test_version_2(tmp_path: Path, most: str, expected: float) -> None:
    group(tmp_path / "fs", "a/b", {"cpu.max": most + "\n"})
    assert quota(own(tmp_path, "0::/a/b\n"), tmp_path / "fs") == expected


def test_the_smallest_quota_on_the_way_up_counts(tmp_path: Path) -> None:
    group(tmp_path / "fs", "a", {"cpu.max": "150000 100000\n"})
    group(tmp_path / "fs", "a/b", {"cpu.max": "400000 100000\n"})
    assert quota(own(tmp_path, "0::/a/b\n"), tmp_path / "fs") == 1.5


@pytest.mark.parametrize("text", ["", "nonsense\n", "0::/not/there\n", "\x00\n"])
def test_what_cannot_be_read_is_no_quota(tmp_path: Path, text: str) -> None:
    assert quota(own(tmp_path, text), tmp_path / "fs") == math.inf
    assert quota(tmp_path / "missing", tmp_path / "fs") == math.inf


def test_no_quota_is_all_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    assert (threads_within(math.inf), threads_within(2.5), threads_within(64)) == (6, 3, 6)
