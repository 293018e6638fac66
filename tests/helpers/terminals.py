"""The program as a process of its own, in an environment that is known."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

POSIX = pytest.mark.skipif(os.name == "nt", reason="terminals and signals are those of POSIX")

PROGRAM = [sys.executable, "-m", "dropcheck"]


def environment(**more: str) -> dict[str, str]:
    """That of this process without what changes how the program prints, and more."""
    cleared = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "PYTHONIOENCODING", "GITHUB_ACTIONS"}
    kept = {key: value for key, value in os.environ.items() if key not in cleared}
    return {**kept, "TERM": "xterm", **more}


def run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    """The program run to its end."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        timeout=120,
        check=False,
    )


# says that Ctrl-C is listened to by closing a file that it inherits
LISTENING = """\
import os, sys
from dropcheck import interrupt
from dropcheck.__main__ import program
interrupt.listen()
os.close(int(sys.argv.pop(1)))
program()
"""


_STARTED: list[subprocess.Popen[str]] = []


def stop_all() -> None:
    """End what was started and still runs, with its workers: a test that fails leaves nothing."""
    while _STARTED:
        process = _STARTED.pop()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The program once it listens to Ctrl-C, at the head of a group of processes of its own."""
    waiting, open_until_listening = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING, str(open_until_listening), *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[open_until_listening],
        start_new_session=True,
        text=True,
    )
    _STARTED.append(process)
    os.close(open_until_listening)
    with os.fdopen(waiting) as reading:
        reading.read()  # to the end, which is reached once nobody holds the other one
    return process
