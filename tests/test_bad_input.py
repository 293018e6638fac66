"""Every kind of bad input, through the command line: message, place, hint, exit code, in good time.

`check` and `run` tell the same; what only a run can find, `check` lets pass.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dropcheck.claims.reader import read_text
from dropcheck.cli import main
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.checks import check_registry
from dropcheck.language.functions import FUNCTIONS
from dropcheck.language.laws import LAWS
from dropcheck.results import Settings, Verdict
from dropcheck.verification import verify_cases

ERROR = 2  # the exit code of a bad option, or a registry with errors
SECONDS = 5.0  # each takes a tenth of one; what hangs takes for ever


@dataclass(frozen=True)
class Told:
    """What the command line said of a file."""

    code: int
    errors: list[dict[str, Any]]
    text: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


Capsys = pytest.CaptureFixture[str]


def run(capsys: Capsys, name: str, *arguments: str) -> Told:
    started = time.process_time()
    code = main(["run", "all", "--file", name, "--format", "json", *arguments])
    assert time.process_time() - started < SECONDS
    captured = capsys.readouterr()
    errors = json.loads(captured.out).get("errors", [])
    return Told(code, errors, captured.err)


def check(capsys: Capsys, name: str) -> Told:
    started = time.process_time()
    code = main(["check", name])
    assert time.process_time() - started < SECONDS
    return Told(code, [], capsys.readouterr().err)


LAST = -1  # the last line of the text


@dataclass(frozen=True)
class Bad:
    """An input and what is to be said of it."""

    text: str | bytes
    line: int | None
    column: int | None
    message: str
    hint: str = ""


def assert_told(told: Told, checked: Told | None, name: str, bad: Bad) -> None:
    assert told.code == ERROR
    line = bad.line
    if line == LAST:
        assert isinstance(bad.text, str)
        line = bad.text.rstrip("\n").count("\n") + 1
    found = [error for error in told.errors if bad.message in error["message"]]
    assert found, told.errors
    (error, *_) = found
    assert error["file"] == name
    assert (error["line"], error["column"]) == (line, bad.column)
    assert bad.hint in (error["hint"] or "")
    if checked is None:
        return
    place = ":".join(str(part) for part in (name, line, bad.column) if part is not None)
    assert checked.code == ERROR
    assert f"{place}: " in checked.text
    flat = " ".join(checked.text.split())
    assert " ".join(bad.message.split())[:60] in flat
    assert "Traceback" not in checked.text


# -- files -----------------------------------------------------------------------------------------

GOOD = "dropcheck: 1\nclaims:\n  c:\n    title: T\n    claim: 1 == 1\n"
LAUGHS = (
    GOOD
    + "    tags: &a0 [x, x]\n"
    + "".join(f"    note{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
)

FILES = {
    "an empty file": Bad("", 1, 1, "the file is empty", "dropcheck: 1"),
    "not UTF-8": Bad(b"\xff\xfe\x00a", 1, 1, "not UTF-8", "save it as UTF-8"),
    "10 MB of brackets": Bad("[" * 10_000_000, 1, 21, "nested more than 20 deep", "five levels"),
    "an alias bomb": Bad(LAUGHS, 6, 11, "'&a0' is an anchor", "take it out"),
    "a duplicate key": Bad(
        GOOD + "    claim: 1 == 2\n", 6, 5, "'claim' stands twice: first on line 5", "take one"
    ),
    "an unknown key": Bad(GOOD + "    notes: N\n", 6, 5, "no key 'notes'", "did you mean 'note'?"),
    "an unknown document": Bad(GOOD + "    document: d\n", 6, 15, "document 'd'", ""),
    "a list for a statement": Bad(
        GOOD.replace("1 == 1", "[1]"), 5, 5, "must be a statement as text, and is a list", "E(x)"
    ),
    "text for a number": Bad(GOOD + "    within: wide\n", 6, 13, "'within'", ""),
    "no claims": Bad("dropcheck: 1\nclaims: {}\n", 2, 1, "'claims' is empty", "at least one"),
    "another version": Bad(GOOD.replace(": 1\n", ": 2\n", 1), 1, 12, "2", ""),
    "no YAML": Bad(GOOD + "    tags: [a", 6, 11, "expected by the end of the file", "close it"),
    "a parameter of 9**9**9": Bad(
        GOOD + "    parameters: {p: 9**9**9}\n", 6, 21, "'9**9**9' is too large", "1e6"
    ),
    "a truth for a parameter": Bad(
        GOOD + "    parameters: {p: true}\n", 6, 21, "is a truth value", "write 1 or 0"
    ),
    "a parameter that is code": Bad(
        GOOD + "    parameters: {p: open(1)}\n", 6, 18, "'open' is not a law", ""
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_files(what: str, folder: Path, capsys: Capsys) -> None:
    bad = FILES[what]
    data = bad.text if isinstance(bad.text, bytes) else bad.text.encode()
    (folder / "claims.yaml").write_bytes(data)
    checked = check(capsys, "claims.yaml")
    assert_told(run(capsys, "claims.yaml"), checked, "claims.yaml", bad)


def test_a_file_that_is_not_there(folder: Path, capsys: Capsys) -> None:
    bad = Bad("", None, None, "there is no file 'absent.yaml'")
    checked = check(capsys, "absent.yaml")
    assert_told(run(capsys, "absent.yaml"), checked, "absent.yaml", bad)


def test_a_folder(folder: Path, capsys: Capsys) -> None:
    (folder / "claims.d").mkdir()
    bad = Bad("", None, None, "'claims.d' is a folder", "name the file in it")
    assert_told(run(capsys, "claims.d"), check(capsys, "claims.d"), "claims.d", bad)


def test_a_file_that_cannot_be_read(
    folder: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "claims.yaml").write_text(GOOD)

    def refuse(*_: object, **__: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    told = run(capsys, "claims.yaml")
    assert told.code == ERROR
    assert "claims.yaml" in told.errors[0]["message"]


def test_a_good_file_is_told_nothing(folder: Path, capsys: Capsys) -> None:
    (folder / "claims.yaml").write_text(GOOD)
    assert check(capsys, "claims.yaml").code == 0
    assert run(capsys, "claims.yaml") == Told(0, [], "")


# -- claims ----------------------------------------------------------------------------------------


def one_claim(model: str, claim: str, more: str = "") -> str:
    """A file with one claim, its model from line 6 on (`;` between lines), its statement last."""
    lines = "".join(f"      {line.strip()}\n" for line in model.split(";"))
    text = f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n{lines}"
    return f"{text}{more}    claim: >-\n      {claim}\n"


N = "x ~ normal(0, 1)"
V = "y ~ normal(0, 1)[3]"

CLAIMS = {
    # names
    "not defined": Bad(one_claim(N, "E(y) == 0"), LAST, 9, "'y' is not defined", "defined here: x"),
    "misspelt": Bad(one_claim(N, "E(X) == 0"), LAST, 9, "'X' is not defined", "did you mean 'x'?"),
    "no function": Bad(one_claim(N, "E(sqr(x)) == 0"), LAST, 9, "'sqr' is not a", "'sqrt'"),
    "no law": Bad(one_claim("x ~ nrmal(0, 1)", "E(x) == 0"), 6, 11, "'nrmal'", "'normal'"),
    "pi redefined": Bad(one_claim(f"{N};pi = 3", "E(x) == 0"), 7, 7, "'pi' is a constant", "name"),
    "E redefined": Bad(one_claim(f"{N};E = 3", "E(x) == 0"), 7, 7, "'E' is an operator", "name"),
    "x redefined": Bad(one_claim(f"{N};x = 3", "E(x) == 0"), 7, 7, "'x' is already", "another"),
    "a parameter redefined": Bad(
        one_claim(N, "E(x) == 0", "    parameters: {x: 1}\n"), 6, 7, "by a parameter", "another"
    ),
    # operators
    "random outside": Bad(one_claim(N, "E(x) == x"), LAST, 15, "'x' is random, and stands", "E(…)"),
    "mean for E": Bad(one_claim(V, "mean(y) == 0"), LAST, 12, "'y' is random", "did you mean E(…)"),
    "mean of a number": Bad(one_claim(N, "mean(x) == 0"), LAST, 7, "'mean' is over", "mean E(…)"),
    "nested": Bad(one_claim(N, "E(Var(x)) == 0"), LAST, 9, "inside the operator E", "parameter m"),
    "in the model": Bad(one_claim(f"{N};y = E(x)", "E(y) == 0"), 7, 11, "in the model", "'claim'"),
    "no argument": Bad(
        one_claim(N, "E(x, foo=1) == 0"), LAST, 7, "no argument 'foo'", "given=event"
    ),
    "by position": Bad(
        one_claim(N, "E(x, x > 0) == 0"), LAST, 7, "takes 1 argument", "given=event"
    ),
    "too few": Bad(one_claim("x ~ normal(0)", "E(x) == 0"), 6, 11, "lacks 'sd'", "(mean, sd)"),
    # shapes
    "shapes": Bad(one_claim(f"{V};x = y + [1, 2]", "E(x) == 0"), 7, 11, "[3] and [2]", ""),
    "a side of shape": Bad(one_claim(N, "E(x) == [1, 2]"), LAST, 15, "has shape [2]", "x[0]"),
    "a shape of 1e12": Bad(
        one_claim("x ~ normal(0, 1)[1e12]", "E(x) == 0"), 6, 7, "takes 7.28 TiB", "smaller"
    ),
    "a shape of 9**9**9": Bad(
        one_claim("x ~ normal(0, 1)[9**9**9]", "E(x) == 0"), 6, 24, "of inf is too large", "machine"
    ),
    "a random shape": Bad(
        one_claim("n ~ poisson(3);x ~ normal(0, 1)[n]", "E(x) == 0"), 7, 24, "be fixed", "mask"
    ),
    "a random index": Bad(
        one_claim(f"{V};n ~ poisson(3);x = y[n]", "E(x) == 0"), 8, 13, "be fixed", "take(x, i)"
    ),
    "1e9 places": Bad(
        one_claim(N, "E(one_hot(x, 1e9)) == 0"), LAST, 9, "takes 7.45 GiB", "smaller"
    ),
    "a large product": Bad(
        one_claim("x ~ normal(0, 1)[4000, 4000]", "E((x @ x)[0, 0]) == 0"),
        LAST,
        10,
        "to work out by here, and 2 seconds is allowed",
        "smaller",
    ),
    # values
    "9**9**9": Bad(
        one_claim(N, "E(x) == 9**9**9"), LAST, 15, "this side of the claim is inf", "fin"
    ),
    "too long a number": Bad(one_claim(N, "E(x) == 1e999"), LAST, 15, "too large", "1.8e308"),
    "p = 1.2": Bad(
        one_claim("x ~ bernoulli(p)", "E(x) == p", "    parameters: {p: [0.5, 1.2]}\n"),
        6,
        21,
        "bernoulli: p must satisfy 0 <= p <= 1, and is 1.2 (c with p = 1.2)",
        "bernoulli(p)",
    ),
    "p = 1": Bad(
        one_claim(
            "x ~ bernoulli(1 - p);y = x / (1 - p)", "E(y) == 1", "    parameters: {p: [0.5, 1]}\n"
        ),
        7,
        16,
        "division by zero where p = 1",
        "requires: p < 1",
    ),
    "requires": Bad(
        one_claim(N, "E(x) == p", "    parameters: {p: 1}\n    requires: p < 1\n"),
        8,
        15,
        "c requires p < 1, and p = 1",
        "holds",
    ),
    "a - b": Bad(one_claim(N, "2 <= E(x) <= 1"), LAST, 7, "this range is empty", "smaller"),
    "1e12 in a permutation": Bad(
        one_claim("x ~ permutation(1e12)", "E(x) == 0"), 6, 23, "n must satisfy 1 <= n", "perm"
    ),
    "1e300 trials": Bad(
        one_claim("x ~ multinomial(1e300, [0.5, 0.5])", "E(x) == 0"), 6, 23, "n must satisfy", ""
    ),
    "a law that is none": Bad(
        one_claim("x ~ law", "E(x) == 0", '    parameters: {law: "nrmal(0, 1)"}\n'),
        7,
        18,
        "'nrmal' is not a law",
        "did you mean 'normal'?",
    ),
    "a tolerance of an inequality": Bad(
        one_claim(N, "E(x) < 1", "    tolerance: 0.01\n"),
        LAST,
        7,
        "'tolerance' goes with",
        "numbers",
    ),
    # text
    "a method": Bad(
        one_claim(N, "x.tofile(1) == 1"), LAST, 8, "'.tofile(…)' is not part", "by name"
    ),
    "an import": Bad(one_claim(N, "__import__('os') == 1"), LAST, 18, "no strings", "quotes"),
    "a lambda": Bad(
        one_claim(N, "E(lambda: 1) == 1"), LAST, 9, "'lambda' is not part", "arithmetic"
    ),
    "one sign": Bad(one_claim(N, "E(x) = 1"), LAST, 12, "'=' does not compare", "'=='"),
    "no sign": Bad(one_claim(N, "E(x)"), LAST, 7, "one side alone", "L == R"),
    "not equal": Bad(
        one_claim(N, "E(x) != 1"), LAST, 7, "'!=' cannot be verified", "expect: refuted"
    ),
    "a bracket": Bad(one_claim(N, "E(x == 1"), LAST, 8, "'(' is never closed", "close it"),
    "deep brackets": Bad(
        one_claim(N, "(" * 5_000 + "1"), LAST, 67, "deeper than 60 levels", "model"
    ),
    "5,000 minus signs": Bad(
        one_claim(N, f"{'-' * 5_000}1 == 1"), LAST, 7, "deeply nested", "model"
    ),
    "10,000 terms": Bad(one_claim(N, "1 + " * 10_000 + "1 == 1"), LAST, 7, "longer than", "array"),
    "a line that is none": Bad(
        one_claim(f"{N};x + 1", "E(x) == 0"), 7, 7, "a line of a model", "~"
    ),
    "a curly quote": Bad(one_claim(f"{N};y = “x”", "E(x) == 0"), 7, 11, "no strings", "quotes"),
}


@pytest.mark.parametrize("what", CLAIMS)
def test_claims(what: str, folder: Path, capsys: Capsys) -> None:
    bad = CLAIMS[what]
    assert isinstance(bad.text, str)
    (folder / "claims.yaml").write_text(bad.text, encoding="utf-8")
    checked = check(capsys, "claims.yaml")
    assert_told(run(capsys, "claims.yaml"), checked, "claims.yaml", bad)


def test_what_is_wrong_in_several_places_is_told_at_once(folder: Path, capsys: Capsys) -> None:
    text = one_claim("x ~ nrmal(0, 1);y = z;w ~ bernoulli(2)", "E(q) == w")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    told = run(capsys, "claims.yaml")
    assert [(error["line"], error["column"]) for error in told.errors] == [
        (6, 11),
        (7, 11),
        (8, 21),
        (10, 9),
    ]


# -- what only a run can find ----------------------------------------------------------------------

ON_RUN = {
    "a root of a negative number": Bad(
        one_claim(f"{N};y = sqrt(-1) + x", "E(y) == 0"), 9, 7, "c: what the claim looks at", "root"
    ),
    "0 / 0 on every draw": Bad(
        one_claim(f"{N};y = (x - x) / (x - x)", "P(y > 0) == 1"), 9, 7, "on every draw", "by zero"
    ),
    "an overflow on every draw": Bad(
        one_claim(f"{N};y = exp(1000 + x)", "E(y) == 0", "    parameters: {p: 1}\n"),
        10,
        7,
        "NaN or infinite on every draw where p = 1",
        "overflow",
    ),
    "a singular matrix": Bad(
        one_claim(f"{N};y = inv([[1, 1], [1, 1]])[0, 0] * x", "E(y) == 0"), 9, 7, "on every draw"
    ),
    "a probability drawn above 1": Bad(
        one_claim("a ~ normal(0, 1);x ~ bernoulli(a)", "E(x) == 0"), 7, 7, "p must satisfy", "clip"
    ),
    "an index that is not whole": Bad(
        one_claim(f"{N};y = take([1, 2], x)", "E(y) == 0"),
        7,
        11,
        "must be a whole number",
        "round it first",
    ),
    "an index out of range": Bad(
        one_claim(N, "E(take([1, 2], 5) + x) == 0"),
        8,
        9,
        "out of range for 2 places",
        "the last is 1",
    ),
    "many probabilities": Bad(
        one_claim("x ~ categorical(ones(2e5))", "E(x) == 0"), 6, 11, "p must sum to 1", "index"
    ),
}


@pytest.mark.parametrize("what", ON_RUN)
def test_what_only_a_run_finds(what: str, folder: Path, capsys: Capsys) -> None:
    bad = ON_RUN[what]
    assert isinstance(bad.text, str)
    (folder / "claims.yaml").write_text(bad.text, encoding="utf-8")
    assert check(capsys, "claims.yaml").code == 0
    told = run(capsys, "claims.yaml")
    assert told.code == ERROR
    (error,) = told.errors
    assert bad.message in error["message"]
    assert (error["line"], error["column"]) == (bad.line, bad.column)
    assert bad.hint in (error["hint"] or "")


def test_one_draw_that_is_undefined_is_no_error(folder: Path, capsys: Capsys) -> None:
    text = one_claim("b ~ bernoulli(0.5);y = b / b", "E(y) == 1")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    assert run(capsys, "claims.yaml").code == 4  # undecided


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
    "[1]": ("'[1]' is neither a number nor a law", ""),
    "1/0": ("1/0", ""),
    "1.2": ("bernoulli: p must satisfy 0 <= p <= 1, and is 1.2 (c with p = 1.2)", "bernoulli(p)"),
    "-1": ("bernoulli: p must satisfy 0 <= p <= 1, and is -1 (c with p = -1)", ""),
    "normal(0, 1)": ("'p' is a law, not a number", "x ~ p"),
    "0.5,2": ("and is 2 (c with p = 2)", ""),
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("way", ["option", "set"])
def test_values_on_the_command_line(value: str, way: str, folder: Path, capsys: Capsys) -> None:
    text = one_claim("x ~ bernoulli(p)", "E(x) == p", "    parameters: {p: 0.5}\n")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    if way == "set" and not value:
        return  # `--set p=` is a slip of another kind
    arguments = ["--p", value] if way == "option" else ["--set", f"p={value}"]
    told = run(capsys, "claims.yaml", *arguments)
    message, hint = VALUES[value]
    assert told.code == ERROR
    assert message in told.errors[0]["message"]
    assert hint in (told.errors[0]["hint"] or "")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--rate", "3"], "no option '--rate'", ""),
        (["--dp", "3"], "no option '--dp'", "--dk"),
        (["--set", "dp=3"], "'dp'", "dk"),
        (["--set", "dk"], "must be NAME=VALUE", "dk=512"),
        (["--alpha", "9**9**9"], "'--alpha' cannot be", ""),
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


# -- bounds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        "A = ones(30000, 30000);y = (A @ A)[0, 0] + x",
        "A = outer(arange(2e4), arange(2e4));y = A[0, 0] + x",
        "i ~ discrete_uniform(0, 9);y = one_hot(i, 1e9)[0] + x",
        "v ~ choice(arange(1e9));y = v + x",
        "v ~ normal(0, 1)[6e7];w = stack(v, v);y = w[0, 0] + x",
        "A = eye(9000);y = eigvalsh(A)[0] + x",
        ";".join(f"v{i} = arange(1e7) + {i}" for i in range(40)) + ";y = v0[0] + x",
    ],
)
def test_what_is_too_large_takes_no_memory(model: str, folder: Path, capsys: Capsys) -> None:
    text = one_claim(f"{N};{model}", "E(y) == 0")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    tracemalloc.start()
    told = run(capsys, "claims.yaml")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert told.code == ERROR
    assert "is allowed" in told.errors[0]["message"]
    assert peak < 100e6


def test_a_model_of_2000_lines_is_run(folder: Path, capsys: Capsys) -> None:
    lines = [f"x{i} = x{i - 1} + {i % 2}" for i in range(1, 2000)]
    text = one_claim(";".join(["x0 ~ normal(0, 1)", *lines]), "Var(x1999) == 1")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    code = main(["run", "all", "--file", "claims.yaml", "--max-draws", "1000", "--format", "json"])
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert code == 4  # too few draws to tell, and no error
    assert case["draws"] > 0


# -- anything at all -------------------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        *("x", "y", "n", "p", "E", "Var", "P", "Cov", "normal", "bernoulli", "poisson", "choice"),
        *("(", ")", "[", "]", ", ", " ~ ", " = ", " == ", " < ", " + ", " * ", " / ", "**", " @ "),
        *("0", "1", "2", "-1", "0.5", "1e9", "1e300", "inf", "sum", "mean", "max", "where", "log"),
        *(".T", "given=", "axis=", " if ", " else ", " and ", "not ", "take", "ones", "arange"),
        *("'", '"', "#", "é", "²", ";", "  ", "eye", "inv", "solve", "[0]", "[3]", "[1:]", "(x)"),
    ]
)
SCRAPS = st.lists(WORDS, min_size=1, max_size=10).map("".join)

# what can be read, and now and then makes sense
MODEL = "x ~ normal(0, 1)\nv ~ normal(p, 1)[3]\nm ~ normal(0, 1)[3, 3]\nn ~ poisson(2)\nb = v > 0\n"
LEAVES = st.sampled_from(
    ["x", "v", "m", "n", "b", "p", "0", "2", "-1", "0.5", "inf", "1e9", "[x, 1]"]
)
EXTRAS = st.sampled_from(["", "", "", "", ", axis=0", ", keepdims=1", ", axis=[0, 1]", ", axis=p"])


def some(below: st.SearchStrategy[str], least: int, most: int) -> st.SearchStrategy[str]:
    return st.lists(below, min_size=least, max_size=most).map(", ".join)


def a_call(below: st.SearchStrategy[str], name: str) -> st.SearchStrategy[str]:
    """A call with as many arguments as the function needs."""
    needed = sum(parameter.required for parameter in FUNCTIONS[name].parameters)
    written = some(below, needed, needed)
    return st.tuples(written, EXTRAS).map(lambda t: f"{name}({t[0]}{t[1] if t[0] else ''})")


def a_law(below: st.SearchStrategy[str], name: str) -> st.SearchStrategy[str]:
    """A law with arguments of the kinds that it needs: numbers, lists, matrices."""
    kinds = {
        0: below,
        1: st.one_of(some(below, 1, 3).map(lambda text: f"[{text}]"), st.just("[p, 1 - p]")),
        2: st.sampled_from(["eye(2)", "[[1, p], [p, 1]]", "m", "m @ m.T", "eye(3)"]),
    }
    return st.tuples(*(kinds[parameter.axes] for parameter in LAWS[name].parameters)).map(
        lambda arguments: f"{name}({', '.join(arguments)})"
    )


def grown(below: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "@", "<", "==", " and ", " or "])
    index = st.sampled_from(["0", "-1", "1:", "::2", "p", "0, 1", "7", "x"])
    return st.one_of(
        st.tuples(below, signs, below).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        st.sampled_from(sorted(FUNCTIONS)).flatmap(lambda name: a_call(below, name)),
        st.sampled_from(sorted(FUNCTIONS)).flatmap(lambda name: a_call(below, name)),
        st.tuples(below, below, below).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(below, index).map(lambda t: f"({t[0]})[{t[1]}]"),
        st.tuples(
            st.sampled_from(sorted(LAWS)).flatmap(lambda name: a_law(below, name)), below
        ).map(lambda t: f"logdensity({t[0]}, {t[1]})"),
        some(below, 1, 3).map(lambda text: f"[{text}]"),
        st.just("m.T"),
    )


EXPRESSIONS = st.recursive(LEAVES, grown, max_leaves=4)
LINES = st.one_of(
    EXPRESSIONS.map(lambda text: f"y = {text}"),
    st.tuples(
        st.sampled_from(sorted(LAWS)).flatmap(lambda name: a_law(EXPRESSIONS, name)),
        st.sampled_from(["", "", "[3]", "[p]", "[2, 3]", "[1e9]"]),
    ).map(lambda t: f"y ~ {t[0]}{t[1]}"),
)
QUANTITIES = st.one_of(st.just("y"), EXPRESSIONS)
STATEMENTS = st.one_of(
    st.tuples(
        st.sampled_from(["E", "E", "P", "Var", "Std", "Skew", "Kurt"]),
        QUANTITIES,
        st.sampled_from(["", "", ", given=x > 0", ", given=v", ", given=y"]),
        st.sampled_from(["== 0", "== 1", "< 2", ">= p", "== p + 1", "== E(x)"]),
    ).map(lambda t: f"{t[0]}({t[1]}{t[2]}) {t[3]}"),
    st.tuples(QUANTITIES, QUANTITIES).map(lambda t: f"0 <= Cov({t[0]}, {t[1]}) <= Var(x)"),
)
MANY = settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@given(LINES, STATEMENTS, st.sampled_from([0.5, 0.0, 1.0, 3.0, -1.0, 1e9]))
@MANY
def test_any_claim_is_judged_or_refused(line: str, statement: str, p: float) -> None:
    assert_judged(line, statement, p)


@pytest.mark.parametrize(
    ("line", "statement", "verdict"),
    [
        # found by the test above: fixed quantities where random ones are usual
        ("y = [p]", "E(y) == 0.5", Verdict.VERIFIED),
        ("y = [p, 0]", "E(x) < E(y)", Verdict.VERIFIED),
        ("y = p", "P(y, given=x > 0) == 1", Verdict.VERIFIED),
        ("y = p", "P(y, given=x > 0) == 0", Verdict.REFUTED),
        ("y = ones(2)", "0.9 <= P(y) <= 1", Verdict.VERIFIED),
    ],
)
def test_what_once_broke(line: str, statement: str, verdict: Verdict) -> None:
    registry = read_text(one_claim(f"{N};{line}", statement, "    parameters: {p: 0.5}\n"))
    (result,) = verify_cases(registry.expand(), Settings(), registry)
    assert result.verdict is verdict


@given(SCRAPS, SCRAPS)
@MANY
def test_any_scraps_are_judged_or_refused(line: str, statement: str) -> None:
    assert_judged(line, statement, 0.5)


def assert_judged(line: str, statement: str, p: float) -> None:
    """A claim is judged, or refused with problems, and neither takes long."""
    model = "".join(f"      {one}\n" for one in [*MODEL.splitlines(), line])
    text = (
        f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    parameters: {{p: {p}}}\n"
        f"    model: |\n{model}    claim: |\n      {statement}\n"
    )
    started = time.process_time()
    problems = judged(text)
    assert problems is None or (problems and all(problem.message for problem in problems))
    assert time.process_time() - started < SECONDS


def judged(text: str) -> tuple[Problem, ...] | None:
    """The problems of a file, found by reading, by a check or by a run; None where it has none."""
    try:
        registry = read_text(text)
        told = check_registry(registry)
        if told.problems:
            return told.problems
        limits = Settings(max_draws=500, time_limit=1.0, threads=1, max_memory=2**26)
        assert len(list(verify_cases(registry.expand(), limits, registry))) == 1
    except DropcheckError as error:
        return error.problems
    return None
