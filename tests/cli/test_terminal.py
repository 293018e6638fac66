"""At a terminal: progress, interruptions, closed pipes, little memory, and narrow screens."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pexpect
import pytest

from dropcheck.report.screen import RunProgress

POSIX = pytest.mark.skipif(os.name == "nt", reason="terminals and signals are those of POSIX")

PROGRAM = [sys.executable, "-m", "dropcheck"]


def environment(**more: str) -> dict[str, str]:
    """That of this process without what changes how the program prints, and more."""
    cleared = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "PYTHONIOENCODING", "GITHUB_ACTIONS"}
    kept = {key: value for key, value in os.environ.items() if key not in cleared}
    return {**kept, "TERM": "xterm", **more}


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


pytestmark = POSIX


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    stop_all()


QUICK = """\
dropcheck: 1
claims:
  quick-mean:
    title: A mean that is soon verified
    model: x ~ normal(0, 1)
    claim: E(x) == 0
  quick-falsehood:
    title: A mean that is soon refuted
    model: x ~ normal(0, 1)
    claim: E(x) == 1
"""
SLOW = """\
  slow-mean:
    title: A mean so sharp that it takes a billion draws
    model: x ~ normal(0, 1)
    claim: E(x) == 0
    resolution: 1e-6
"""
HEAVY = """\
  heavy-draws:
    title: A claim each draw of which takes long
    model: |
      x ~ normal(0, 1)[1000, 1000]
      y = eigvalsh(x @ x.T)
    claim: 0.5 <= E(max(y)) / 4000 <= 1.5
"""
# what is shown is the same, for half of the processor's time
ALONE = ("--draws-only", "--threads", "1")
SECOND = 1.0
STOPS_WITHIN = 4 * SECOND  # one second on a machine that has nothing else to do


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "claims.yaml").write_text(QUICK + SLOW)
    (tmp_path / "quick.yaml").write_text(QUICK)
    return tmp_path


class Terminal:
    """The program at a terminal of its own."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        columns: int = 80,
        more: Mapping[str, str] | None = None,
    ) -> None:
        command, *rest = [*PROGRAM, *arguments]
        self.child = pexpect.spawn(
            command,
            rest,
            cwd=str(folder),
            env=environment(**(more or {})),
            encoding="utf-8",
            timeout=60,
            dimensions=(24, columns),
        )

    def finished(self) -> tuple[int, str]:
        """The exit code, and what was shown since it was last looked at."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus is not None, f"ended by signal {self.child.signalstatus}"
        return self.child.exitstatus, str(self.child.before)


# ---- progress ------------------------------------------------------------------------------------


def test_progress_tells_cases_the_share_of_planned_draws_and_time_left(folder: Path) -> None:
    terminal = Terminal(folder, "run", *ALONE)
    terminal.child.expect(r"2/3 cases, \d+% of planned draws, [\w ]+ left")
    terminal.child.sendintr()
    terminal.finished()


def test_progress_is_gone_when_the_run_is_done(folder: Path) -> None:
    told = Terminal(folder, "run", *ALONE, "--time-limit", "0.6s").finished()[1]
    assert "\x1b[2K" in told[told.rindex("3/3 cases") :]  # its line is taken away
    assert "/3 cases" not in told[told.rindex("\x1b[2K") :]


@pytest.mark.parametrize(
    ("arguments", "more"),
    [(["--no-progress"], {}), ([], {"TERM": "dumb"})],
    ids=["no-progress", "dumb"],
)
def test_no_progress(arguments: list[str], more: dict[str, str], folder: Path) -> None:
    _, told = Terminal(
        folder, "run", *ALONE, "--time-limit", "0.6s", *arguments, more=more
    ).finished()
    assert "/3 cases" not in told
    assert "quick-falsehood" in told


def test_time_left_is_told_where_all_draws_are_planned_or_time_is_limited() -> None:
    now = [0.0]
    tally = RunProgress(10, clock=lambda: now[0])
    assert tally.line(80) == "0/10 cases"
    now[0] = 4.0
    tally.drew(1_000_000)
    tally.plans(3_000_000, 2)
    tally.decided(3)  # not the first three
    assert tally.line(80) == "3/10 cases, 1M draws"  # who knows what the other five take?
    tally.decided(5)
    assert tally.line(80) == "8/10 cases, 25% of planned draws, 12 s left"
    assert tally.line(40) == "8/10 cases, 25% of planned draws"
    limited = RunProgress(10, limit=27.0, clock=lambda: now[0])
    now[0] = 8.0
    limited.decided(1)
    limited.drew(8_000)
    assert limited.line(80) == "1/10 cases, 8k draws, 23 s left"


# ---- Ctrl-C and SIGTERM --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "times"),
    [(signal.SIGINT, 1), (signal.SIGINT, 3), (signal.SIGTERM, 2)],
)
def test_an_interruption_prints_what_is_finished_and_exits_with_130(
    sent: signal.Signals, times: int, folder: Path
) -> None:
    terminal = Terminal(folder, "run", *ALONE, "-o", "report.json")
    terminal.child.expect("2/3 cases")
    pressed = time.monotonic()
    for _ in range(times):
        if sent is signal.SIGINT:
            terminal.child.sendintr()
        else:
            terminal.child.kill(sent)
        time.sleep(0.02)
    code, told = terminal.finished()
    assert time.monotonic() - pressed < STOPS_WITHIN
    assert code == 130
    assert "interrupted: 2 of 3 cases judged" in " ".join(told.split())
    assert "Traceback" not in told
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["interrupted"] is True
    assert [case["claim"] for case in report["cases"]] == ["quick-mean", "quick-falsehood"]
    left = {path.name for path in folder.iterdir()}
    assert not {name for name in left if name.startswith(".dropcheck-")}


@pytest.mark.parametrize(
    "arguments",
    [
        ["mutate", "heavy-draws"],
        ["plan"],
        ["run", "heavy-draws"],
    ],
    ids=lambda arguments: " ".join(arguments[:1] + arguments[5:]),
)
def test_every_command_that_draws_stops(arguments: list[str], folder: Path) -> None:
    (folder / "claims.yaml").write_text(QUICK + SLOW + HEAVY)
    process = started(folder, *arguments)
    time.sleep(0.8)
    pressed = time.monotonic()
    for _ in range(2):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # as the terminal does: to all of its processes
        time.sleep(0.05)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - pressed < STOPS_WITHIN
    assert process.returncode == 130, out + err
    assert err == ""
    assert "Traceback" not in out


@pytest.mark.parametrize("command", ["run", "check"])
def test_loading_is_interrupted_in_silence(command: str, folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")  # nobody writes to it: reading it takes for ever
    arguments = ["check", "pipe.yaml"] if command == "check" else [command, "--file", "pipe.yaml"]
    process = started(folder, *arguments)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.7)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


def in_a_shell(line: str, folder: Path, shell: str = "sh") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shell, "-c", line],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


# ---- little memory -------------------------------------------------------------------------------


@pytest.mark.parametrize("megabytes", [60, 200])
def test_too_little_memory_is_no_verdict(megabytes: int, folder: Path) -> None:
    line = f"ulimit -v {megabytes * 1024}; exec {' '.join(PROGRAM)} run quick-mean --draws-only"
    done = in_a_shell(line, folder)
    assert done.returncode in (0, 3), done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "error: " in done.stderr


# ---- pipes that close ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "reader", "code"),
    [
        ("run --file quick.yaml", "head -n 1", 1),
        ("schema", "true", 0),
        ("check claims.yaml absent.yaml", "true", 2),
    ],
)
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash tells the code of each of a pipe")
def test_a_closed_pipe_keeps_the_exit_code(
    arguments: str, reader: str, code: int, folder: Path
) -> None:
    line = f"{' '.join(PROGRAM)} {arguments} | {reader}; exit ${{PIPESTATUS[0]}}"
    done = in_a_shell(line, folder, "bash")
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


# ---- poor screens --------------------------------------------------------------------------------

WORDY = """\
dropcheck: 1
claims:
  variance-of-a-scaled-product-of-two:
    title: 'The variance σ² is ≤ 1 — “exactly” 日本語, whatever the law'
    parameters: {number_of_terms: [12345, 0.25]}
    model: y ~ normal(12345678, number_of_terms)
    claim: E(y) == 12345678 * 1.0000001
    tolerance: 0.25
  refuted: {title: Zero is 12345 ≠ 0, model: "x ~ normal(0, 1)", claim: E(x) == 12345}
"""


@pytest.mark.parametrize(
    ("encoding", "screen"),
    [
        ("ascii", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "40"}),
        ("cp1252", {"PYTHONIOENCODING": "cp1252", "NO_COLOR": "1"}),
        ("cp437", {"PYTHONIOENCODING": "cp437", "FORCE_COLOR": "1"}),
    ],
)
def test_no_screen_loses_a_code_or_a_word(
    encoding: str, screen: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "claims.yaml").write_text(WORDY, encoding="utf-8")
    for command, code in (("run", 1), ("list", 0)):
        done = subprocess.run(
            [*PROGRAM, command],
            cwd=tmp_path,
            env=environment(**screen),
            capture_output=True,
            timeout=60,
            check=False,
        )
        told = " ".join(done.stdout.decode(encoding).split())
        assert (done.returncode, done.stderr) == (code, b"")
        assert "variance-of-a-" in told
        assert ("\x1b[" in told) is ("FORCE_COLOR" in screen)
        assert command == "list" or "estimated" in told
