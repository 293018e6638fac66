"""Bad files and bad options, through the command line: message, place, hint, exit code."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from bad_inputs import FILES, GOOD, Bad, one_claim
from refusals import ERROR, SECONDS, Capsys, Refusal, assert_refused, check, run

from dropcheck.cli import main

# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", FILES)
def test_files(what: str, folder: Path, capsys: Capsys) -> None:
    bad = FILES[what]
    data = bad.text if isinstance(bad.text, bytes) else bad.text.encode()
    (folder / "claims.yaml").write_bytes(data)
    checked = check(capsys, "claims.yaml")
    assert_refused(run(capsys, "claims.yaml"), checked, "claims.yaml", bad)


def test_a_file_that_is_not_there(folder: Path, capsys: Capsys) -> None:
    bad = Bad("", None, None, "there is no file 'absent.yaml'")
    checked = check(capsys, "absent.yaml")
    assert_refused(run(capsys, "absent.yaml"), checked, "absent.yaml", bad)


def test_a_file_of_another_kind(folder: Path, capsys: Capsys) -> None:
    (folder / "layers.py").write_text("import math\n\n\ndef f(x):\n    return x\n")
    bad = Bad("", 1, 1, "this is not a claims file", "begins with 'dropcheck: 1'")
    assert_refused(run(capsys, "layers.py"), check(capsys, "layers.py"), "layers.py", bad)


def test_a_folder(folder: Path, capsys: Capsys) -> None:
    (folder / "claims.d").mkdir()
    bad = Bad("", None, None, "'claims.d' is a folder", "name the file in it")
    assert_refused(run(capsys, "claims.d"), check(capsys, "claims.d"), "claims.d", bad)


def test_a_file_that_cannot_be_read(
    folder: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "claims.yaml").write_text(GOOD)

    def refuse(*_: object, **__: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    refusal = run(capsys, "claims.yaml")
    assert refusal.code == ERROR
    assert "claims.yaml" in refusal.errors[0]["message"]


def test_a_good_file_is_told_nothing(folder: Path, capsys: Capsys) -> None:
    (folder / "claims.yaml").write_text(GOOD)
    assert check(capsys, "claims.yaml").code == 0
    assert run(capsys, "claims.yaml") == Refusal(0, [], "")


# -- the command line ------------------------------------------------------------------------------


VALUES = {
    "banana": ("'banana' is neither a number nor a law", "512, 1e6, 2**20"),
    "9**9**9": ("'9**9**9' is too large", "2**20"),
    "1e999": ("'1e999' is too large", "2**20"),
    "nan": ("'nan' is neither a number nor a law", ""),
    "": ("is empty", "512"),
    "1,,2": ("is empty", "512"),
    "open(1)": ("'open' is not a law", ""),
    "x.y": ("'x.y' is neither a number nor a law", ""),
    "1/0": ("1/0", ""),
    "1.2": ("bernoulli: p must satisfy 0 <= p <= 1, and is 1.2 (c with p = 1.2)", "bernoulli(p)"),
    "-1": ("bernoulli: p must satisfy 0 <= p <= 1, and is -1 (c with p = -1)", ""),
    "normal(0, 1)": ("'p' is a law, not a number", "x ~ p"),
    "0.5,2": ("and is 2 (c with p = 2)", ""),
}


@pytest.mark.parametrize(
    ("way", "value"),
    [
        *(("option", value) for value in VALUES),
        *(("set", value) for value in VALUES if value),  # `--set p=` is a slip of another kind
    ],
)
def test_values_on_the_command_line(way: str, value: str, folder: Path, capsys: Capsys) -> None:
    text = one_claim("x ~ bernoulli(p)", "E(x) == p", "    parameters: {p: 0.5}\n")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    arguments = ["--p", value] if way == "option" else ["--set", f"p={value}"]
    refusal = run(capsys, "claims.yaml", *arguments)
    message, hint = VALUES[value]
    assert refusal.code == ERROR
    assert message in refusal.errors[0]["message"]
    assert hint in (refusal.errors[0]["hint"] or "")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--law", "norml(0, 1)"], "--law: 'norml' is not a law", "did you mean 'normal'?"),
        (["--law", "normal(0)"], "--law: normal lacks 'sd'", "write normal(mean, sd)"),
        (["--set", "law=normal(0, m)"], "--law: 'm' is not defined", "define it in"),
        (["--set", "alpha=norml(0, 1)"], "--set alpha: 'norml' is not a law", "'normal'?"),
        (["--law", "cauchy(0, 1), normal(0)"], "--law: normal lacks 'sd' (c with law", "write"),
    ],
)
def test_what_is_wrong_within_a_law_that_an_option_gives_has_no_place_in_the_file(
    arguments: list[str], message: str, hint: str, folder: Path, capsys: Capsys
) -> None:
    laws = "    parameters: {law: ['normal(0, 1)', rademacher()], alpha: rademacher()}\n"
    text = one_claim("x ~ law;y ~ alpha", "E(x + y) == 0", laws)
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    (error,) = run(capsys, "claims.yaml", *arguments).errors
    assert error["message"].startswith(message)
    assert hint in error["hint"]
    assert (error["file"], error["line"], error["column"]) == (None, None, None)


def test_what_no_option_gives_keeps_its_place(folder: Path, capsys: Capsys) -> None:
    # the file itself is sound: it is 's' that the option makes wrong, in the file's own law
    more = "    parameters: {s: 1, law: 'normal(0, 1)'}\n"
    text = one_claim("x ~ law;y ~ normal(0, s)", "E(x + y) == 0", more)
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    (error,) = run(capsys, "claims.yaml", "--s", "-1", "--law", "rademacher()").errors
    assert error["message"].startswith("normal: sd must satisfy sd >= 0, and is -1 (c with")
    assert (error["file"], error["line"]) == ("claims.yaml", 7)


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--rate", "3"], "no option '--rate'", ""),
        (["--dp", "3"], "no option '--dp'", "--dk"),
        (["--set", "dp=3"], "'dp'", "dk"),
        (["--set", "dk"], "must be NAME=VALUE", "dk=512"),
        (["--alpha", "9**9**9"], "'--alpha' cannot be", ""),
        (["--alpha", "5e-324"], "it must be a number between 1e-30 and 1", ""),
        (["--max-draws", "9**9**9"], "'--max-draws' cannot be", ""),
        (["--seed", "banana"], "'--seed' cannot be", ""),
        (["--dk", "2.5"], "whole numbers", ""),
        (["--dk", "1e12"], "takes 7.28 TiB", "smaller"),
        (["nonesuch"], "nonesuch", ""),
    ],
)
def test_options(
    arguments: list[str], message: str, hint: str, folder: Path, capsys: Capsys
) -> None:
    text = one_claim("x ~ normal(0, 1)[dk]", "E(sum(x)) == 0", "    parameters: {dk: 4}\n")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    started = time.process_time()
    name = arguments.pop(0) if arguments[0] == "nonesuch" else "all"
    code = main(["run", name, "--file", "claims.yaml", "--format", "json", *arguments])
    errors = json.loads(capsys.readouterr().out)["errors"]
    assert code == ERROR
    assert message in errors[0]["message"]
    assert hint in (errors[0]["hint"] or "")
    assert time.process_time() - started < SECONDS
