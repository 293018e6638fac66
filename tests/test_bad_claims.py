"""Claims that are refused, through the command line: message, place, hint, in good time.

`check` and `run` tell the same; what only a run can find, `check` lets pass.
"""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from bad_inputs import ERROR, LAST, Bad, Capsys, N, assert_told, check, one_claim, run

from dropcheck.cli import main

# -- claims ----------------------------------------------------------------------------------------


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
