"""How many processors there are to use: a container's quota."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from dropcheck import settings


@pytest.mark.parametrize(
    ("written", "quota", "threads"),
    [
        ("100000 100000\n", 1.0, 1),
        ("50000 100000\n", 0.5, 1),
        ("250000 100000\n", 2.5, 3),
        ("6400000 100000\n", 64.0, 6),
        ("max 100000\n", math.inf, 6),
        ("nonsense\n", math.inf, 6),
        ("1 0\n", math.inf, 6),
        (None, math.inf, 6),  # no file
    ],
)
def test_a_quota_limits_the_threads(
    written: str | None, quota: float, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpu.max"
    if written is not None:
        file.write_text(written, encoding="utf-8")
    assert settings.quota(file) == quota
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setattr(settings, "quota", lambda: quota)
    assert settings.default_threads.__wrapped__() == threads
