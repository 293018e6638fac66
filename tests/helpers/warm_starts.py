"""The program without its start: forked from a process that has loaded all of it.

A start takes half a second of a processor, and what pages and steps ask for takes less. `program`
makes a command that hands its words, folder, environment and open files to such a process and ends
as its child does. What a start loads, and signals, are tested with true starts.
"""

from __future__ import annotations

import atexit
import gc
import io
import marshal
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NoReturn

HELPERS = Path(__file__).parent
WARM = hasattr(os, "pidfd_open") and hasattr(socket, "send_fds")  # Linux
CLIENT = """\
#!{python} -IS
import marshal, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = marshal.dumps((sys.argv[1:], os.getcwd(), dict(os.environ)))
    socket.send_fds(server, [len(asked).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(asked)
    os._exit(int(server.recv(16) or 70))
"""
STARTED = """\
#!/bin/sh
exec {python} -m dropcheck "$@"
"""


def program(folder: Path) -> Path:
    """The command `dropcheck` in a folder that is to be on the path."""
    made = folder / "dropcheck"
    python = sys.executable
    made.write_text(
        CLIENT.format(python=python, address=_address()) if WARM else STARTED.format(python=python)
    )
    made.chmod(0o755)
    return made


@cache
def _address() -> str:
    """Where the process that has loaded the program listens: it ends when this one does."""
    folder = tempfile.mkdtemp(prefix="warm-")  # removed by `end` alone, not in a forked process
    address = f"{folder}/socket"
    alive, _kept_open = os.pipe()
    server = subprocess.Popen(
        [sys.executable, str(HELPERS / "warm_starts.py"), address, str(alive)],
        pass_fds=[alive], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/",
        env=dict(os.environ, PYTHONPATH=str(HELPERS.parents[1])),
    )  # fmt: skip
    os.close(alive)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    server.stdout.close()

    def end() -> None:
        server.kill()
        server.wait()
        shutil.rmtree(folder)

    atexit.register(end)
    return address


def serve(address: str, alive: int) -> None:
    """Fork a child for each that asks, and say how it ended."""
    import dropcheck.cli
    import dropcheck.mutation
    import dropcheck.planning
    import dropcheck.running  # noqa: F401 - what the children find loaded
    from dropcheck.vocabulary import special

    special.ndtri(0.5)  # loads it
    gc.collect()
    gc.freeze()  # pages that are looked through are copied
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    os.write(1, b"ready\n")
    with selectors.DefaultSelector() as waiting:
        waiting.register(listening, selectors.EVENT_READ)
        waiting.register(alive, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is listening:
                    asking, _ = listening.accept()
                    size, files, *_ = socket.recv_fds(asking, 8, 3)
                    asked = asking.makefile("rb").read(int.from_bytes(size, "big"))
                    child = os.fork()
                    if child == 0:
                        waiting.close()
                        listening.close()
                        asking.close()
                        os.close(alive)
                        run(files, *marshal.loads(asked))
                    for file in files:
                        os.close(file)
                    ended = os.pidfd_open(child)
                    waiting.register(ended, selectors.EVENT_READ, (child, asking))
                elif key.fileobj == alive:
                    return
                else:
                    child, asking = key.data
                    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                    asking.sendall(str(code if code >= 0 else 128 - code).encode())
                    asking.close()
                    waiting.unregister(key.fileobj)
                    os.close(key.fd)


def run(files: list[int], words: list[str], folder: str, variables: dict[str, str]) -> NoReturn:
    """The program, as if it had just been started."""
    from dropcheck.__main__ import program

    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    encoding = variables.get("PYTHONIOENCODING") or "utf-8"
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding)
    sys.stdout = stream(1, encoding, "strict")
    sys.stderr = stream(2, encoding, "backslashreplace")
    sys.argv = ["dropcheck", *words]
    sys.path[0] = folder
    program()


def stream(file: int, encoding: str, errors: str) -> io.TextIOWrapper:
    """Standard output or error as Python opens it."""
    return io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(file, "w", closefd=False)), encoding, errors,
        line_buffering=file == 2 or os.isatty(file),
    )  # fmt: skip


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
