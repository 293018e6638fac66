"""Virtual environments of the benchmarks' own, made once under a folder that git ignores."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".benchmark_cache"


class UnavailableError(Exception):
    """What a benchmark needs cannot be installed here; the message says why."""


def python_with(*requirements: str) -> Path:
    """The interpreter of an environment that holds these requirements.

    Raises:
        UnavailableError: they cannot be installed.
    """
    named = "\n".join((sys.version, *requirements))
    folder = CACHE / hashlib.blake2b(named.encode(), digest_size=8).hexdigest()
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready = folder / "ready"
    if not ready.exists():
        install = [str(python), "-m", "pip", "install", "--quiet", *requirements]
        for command in ([sys.executable, "-m", "venv", "--clear", str(folder)], install):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise UnavailableError(f"{', '.join(requirements)}: {last}")
        ready.write_text(named, encoding="utf-8")
    return python
