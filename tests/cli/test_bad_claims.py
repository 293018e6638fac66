"""Claims that are refused, through the command line: message, place, hint, in good time.

`check` and `run` tell the same; what only a run can find, `check` lets pass.
"""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from bad_inputs import CLAIMS, Bad, N, one_claim
from refusals import ERROR, Capsys, assert_refused, check, run

from dropcheck.cli import main

# -- claims ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", CLAIMS)
def test_claims(what: str, folder: Path, capsys: Capsys) -> None:
    bad = CLAIMS[what]
    assert isinstance(bad.text, str)
    (folder / "claims.yaml").write_text(bad.text, encoding="utf-8")
    checked = check(capsys, "claims.yaml")
    assert_refused(run(capsys, "claims.yaml"), checked, "claims.yaml", bad)


def test_what_is_wrong_in_several_places_is_told_at_once(folder: Path, capsys: Capsys) -> None:
    text = one_claim("x ~ nrmal(0, 1);y = z;w ~ bernoulli(2)", "E(q) == w")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    refusal = run(capsys, "claims.yaml")
    assert [(error["line"], error["column"]) for error in refusal.errors] == [
        (6, 11),
        (7, 11),
        (8, 21),
        (10, 9),
    ]


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


# -- what only a run can find ----------------------------------------------------------------------


ON_RUN = {
    "a root of a negative number": Bad(
        one_claim(f"{N};y = sqrt(-1 - x**2)", "E(y) == 0"),
        9,
        7,
        "c: what the claim looks at",
        "root",
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
}
# What is fixed is worked out by the check too.
FIXED = {
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


@pytest.mark.parametrize("what", FIXED)
def test_what_is_fixed_and_wrong_is_found_before_any_draw(
    what: str, folder: Path, capsys: Capsys
) -> None:
    bad = FIXED[what]
    assert isinstance(bad.text, str)
    (folder / "claims.yaml").write_text(bad.text, encoding="utf-8")
    refusal = check(capsys, "claims.yaml")
    assert refusal.code == ERROR
    assert f"claims.yaml:{bad.line}:{bad.column}: " in refusal.text
    assert bad.hint in refusal.text


@pytest.mark.parametrize("what", ON_RUN)
def test_what_only_a_run_finds(what: str, folder: Path, capsys: Capsys) -> None:
    bad = ON_RUN[what]
    assert isinstance(bad.text, str)
    (folder / "claims.yaml").write_text(bad.text, encoding="utf-8")
    assert check(capsys, "claims.yaml").code == 0
    refusal = run(capsys, "claims.yaml")
    assert refusal.code == ERROR
    (error,) = refusal.errors
    assert bad.message in error["message"]
    assert (error["line"], error["column"]) == (bad.line, bad.column)
    assert bad.hint in (error["hint"] or "")


def test_one_draw_that_is_undefined_is_no_error(folder: Path, capsys: Capsys) -> None:
    text = one_claim("b ~ bernoulli(0.5);y = b / b", "E(y) == 1")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    assert run(capsys, "claims.yaml").code == 4  # undecided


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
        ";".join(f"v{i} ~ normal({i}, 1)[1e7]" for i in range(40)) + ";y = v0[0] + x",
    ],
)
def test_what_is_too_large_takes_no_memory(model: str, folder: Path, capsys: Capsys) -> None:
    text = one_claim(f"{N};{model}", "E(y) == 0")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    tracemalloc.start()
    refusal = run(capsys, "claims.yaml")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refusal.code == ERROR
    assert "is allowed" in refusal.errors[0]["message"]
    assert peak < 100e6


def test_what_is_fixed_takes_no_more_than_its_half_of_the_memory(
    folder: Path, capsys: Capsys
) -> None:
    lines = ";".join(f"v{i} = arange(1e6) + {i}" for i in range(40))
    text = one_claim(f"{N};{lines};y = v0[0] + x", "E(y) == 0")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    tracemalloc.start()
    refusal = run(capsys, "claims.yaml", "--max-memory", "64MiB")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refusal.code == ERROR
    assert "what is fixed in this claim takes" in refusal.errors[0]["message"]
    assert peak < 32 * 2**20 + 20e6


def test_a_model_of_2000_lines_is_run(folder: Path, capsys: Capsys) -> None:
    lines = [f"x{i} = x{i - 1} + {i % 2}" for i in range(1, 2000)]
    text = one_claim(";".join(["x0 ~ normal(0, 1)", *lines]), "Var(x1999) == 1")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    code = main(["run", "all", "--file", "claims.yaml", "--max-draws", "1000", "--format", "json"])
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert code == 0
    assert case["draws"] > 0
