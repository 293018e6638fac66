"""Files and values that are refused whole, in good time; contract/refused.yaml has all others."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dropcheck.cli import main

Capsys = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Refusal:
    """What the command line said of a file."""

    code: int
    errors: list[dict[str, Any]]


def run(capsys: Capsys, text: str | bytes, *arguments: str) -> Refusal:
    """What `run` says of a file, in good time; `check` says it at the same places."""
    Path("claims.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    started = time.process_time()
    code = main(["run", "all", "--max-draws", "1000", "--format", "json", *arguments])
    assert time.process_time() - started < 5  # each takes a tenth of a second
    return Refusal(code, json.loads(capsys.readouterr().out).get("errors", []))


def one_claim(model: str, claim: str, more: str = "") -> str:
    """A file with one claim; `;` stands between the lines of its model, which begins at line 6."""
    lines = "".join(f"      {line}\n" for line in model.split(";"))
    text = f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n{lines}"
    return f"{text}{more}    claim: >-\n      {claim}\n"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (b"\xff\xfe\x00a", "not UTF-8", "save it as UTF-8"),
        ("[" * 10_000_000, "nested more than 20 deep", "five levels"),
        (one_claim("x ~ categorical(ones(2e5))", "E(x) == 0"), "p must sum to 1", "index"),
    ],
    ids=lambda text: repr(text)[:20],
)
@pytest.mark.usefixtures("folder")
def test_what_is_far_too_much(text: str | bytes, message: str, hint: str, capsys: Capsys) -> None:
    refusal = run(capsys, text)
    assert refusal.code == 2
    assert message in refusal.errors[0]["message"]
    assert hint in refusal.errors[0]["hint"]


def test_errors_of_keys_are_told_at_once_and_before_those_of_the_language(
    folder: Path, capsys: Capsys
) -> None:
    text = "dropcheck: 1\nclaims: {{c: {{{}: T, claim: E(q) == r, expect: {}}}}}\n"
    (folder / "a.yaml").write_text(text.format("titel", "maybe"), encoding="utf-8")
    (folder / "b.yaml").write_text(text.format("titel", "refuted"), encoding="utf-8")
    (folder / "c.yaml").write_text(text.format("title", "refuted"), encoding="utf-8")
    for command in ("run", "plan", "mutate"):
        assert main([command, "a.yaml", "b.yaml", "c.yaml"]) == 2
        told = capsys.readouterr().err
        assert told.count("no key 'titel'") == 2
        assert told.count("'expect' must be") == 1
        assert "not defined" not in told
        assert main([command, "c.yaml"]) == 2
        assert capsys.readouterr().err.count("not defined") == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("law=normal(0)", "--law: normal: missing a required argument"),
        ("law=normal(0, m)", "--law: 'm' is not defined"),
        ("law=cauchy(0, 1), normal(0)", "--law: normal: missing"),
        ("alpha=norml(0, 1)", "--set alpha: 'norml' is not a law"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_wrong_within_a_law_that_an_option_gives_has_no_place_in_the_file(
    given: str, message: str, capsys: Capsys
) -> None:
    laws = "    parameters: {law: ['normal(0, 1)', rademacher()], alpha: rademacher()}\n"
    text = one_claim("x ~ law;y ~ alpha", "E(x + y) == 0", laws)
    (error,) = run(capsys, text, "--set", given).errors
    assert error["message"].startswith(message)
    assert (error["file"], error["line"], error["column"]) == (None, None, None)


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "limit", "message", "most"),
    [
        ("A = ones(30000, 30000);y = (A @ A)[0, 0] + x", "1GiB", "is allowed", 100e6),
        ("A = outer(arange(2e4), arange(2e4));y = A[0, 0] + x", "1GiB", "is allowed", 100e6),
        ("i ~ discrete_uniform(0, 9);y = one_hot(i, 1e9)[0] + x", "1GiB", "is allowed", 100e6),
        ("v ~ choice(arange(1e9));y = v + x", "1GiB", "is allowed", 100e6),
        ("v ~ normal(0, 1)[6e7];w = stack(v, v);y = w[0, 0] + x", "1GiB", "is allowed", 100e6),
        ("A = eye(9000);y = eigvalsh(A)[0] + x", "1GiB", "is allowed", 100e6),
        (";".join(f"v{i} ~ normal({i}, 1)[1e7]" for i in range(40)) + ";y = v0[0] + x", "1GiB",
            "is allowed", 100e6),
        (";".join(f"v{i} = arange(1e6) + {i}" for i in range(40)) + ";y = v0[0] + x", "64MiB",
            "what is fixed in this claim takes", 32 * 2**20 + 20e6),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("folder")
def test_what_is_too_large_takes_no_memory(
    model: str, limit: str, message: str, most: float, capsys: Capsys
) -> None:
    text = one_claim(f"x ~ normal(0, 1);{model}", "E(y) == 0")
    tracemalloc.start()
    refusal = run(capsys, text, "--max-memory", limit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refusal.code == 2
    assert message in refusal.errors[0]["message"]
    assert peak < most


N = 100_000
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
CHARACTERS = ["a", " ", "(", "\\ ", "x y = "]


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
