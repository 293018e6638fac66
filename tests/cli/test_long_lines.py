"""Lines of a few hundred thousand characters: what is wrong with them is said in good time.

Each is a few milliseconds' work. A pattern or a loop whose time grows with the square of a line's
length takes minutes, and the limit of a minute leaves room for the slowest machine.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

N = 200_000
PLACES = {
    "title": "dropcheck: 1\nclaims:\n  c:\n    title: {}\n    claim: 1 == 1\n",
    "title with a colon": "dropcheck: 1\nclaims:\n  c:\n    title: a {} : b\n    claim: 1 == 1\n",
    "title with a tab": "dropcheck: 1\nclaims:\n  c:\n    title: {}b:\tc\n    claim: 1 == 1\n",
    "statement": "dropcheck: 1\nclaims:\n  c:\n    title: T\n    claim: 1 == {} 1\n",
    "quoted statement": 'dropcheck: 1\nclaims:\n  c:\n    title: T\n    claim: "1 == {} \\t 1"\n',
    "model": (
        "dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n      x = 1 {}\n"
        "    claim: x == 1\n"
    ),
    "name in a model": (
        "dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n      {} = 1\n    claim: 1 == 1\n"
    ),
    "key": "dropcheck: 1\nclaims:\n  c:\n    title: T\n    {}: 1\n    claim: 1 == 1\n",
    "parameter": (
        "dropcheck: 1\nclaims:\n  c:\n    title: T\n    parameters:\n      {}: 1\n"
        "    claim: 1 == 1\n"
    ),
    "value": (
        "dropcheck: 1\nclaims:\n  c:\n    title: T\n    parameters:\n      p: {}\n"
        "    claim: p == 1\n"
    ),
}
CHARACTERS = ["a", " ", "0", "(", "_", "=", "a ", "\\ ", "x y = "]


def check(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "dropcheck", "check", "--file", "claims.yaml"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


CHECK_ALL = """
import pathlib
from dropcheck.cli import main
for path in sorted(pathlib.Path().glob("*.yaml")):
    print(path, flush=True)
    assert main(["check", "--file", str(path)]) in (0, 2), path
"""


def test_one_character_many_times(tmp_path: Path) -> None:
    for (place, form), (number, character) in product(PLACES.items(), enumerate(CHARACTERS)):
        for length in (N, 19_000):  # what is refused for its length, and what is just short enough
            text = form.replace("{}", character * (length // len(character)))
            (tmp_path / f"{place}-{number}-{length}.yaml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CHECK_ALL],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-2_000:]


def test_many_names_that_are_not_defined(tmp_path: Path) -> None:
    lines = "".join(f"      name_number_{n} = unknown_number_{n}\n" for n in range(1_100))
    text = f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n{lines}    claim: 1 == 1\n"
    done = check(tmp_path, text)
    assert done.returncode == 2
    assert ", 1000 errors" in done.stdout  # the last says that there are more
    assert len(done.stdout + done.stderr) < 1_000_000
