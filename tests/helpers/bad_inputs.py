"""Inputs that are refused, and what is to be said of them."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

LAST = -1  # the last line of the text
N = "x ~ normal(0, 1)"  # a model


def deepest_bracket() -> int:
    """Where the message about endless brackets points: libyaml 0.2.6 stops at a thousand first."""
    try:
        list(yaml.parse("[" * 1_100, yaml.CSafeLoader))
    except yaml.MarkedYAMLError as error:
        if error.problem_mark is not None and "maximum nesting" in str(error.problem):
            return error.problem_mark.column + 1
    return 21


DEEPEST_BRACKET = deepest_bracket()


@dataclass(frozen=True)
class Bad:
    """An input and what is to be said of it."""

    text: str | bytes
    line: int | None
    column: int | None
    message: str
    hint: str = ""


def one_claim(model: str, claim: str, more: str = "") -> str:
    """A file with one claim, its model from line 6 on (`;` between lines), its statement last."""
    lines = "".join(f"      {line.strip()}\n" for line in model.split(";"))
    text = f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n{lines}"
    return f"{text}{more}    claim: >-\n      {claim}\n"


GOOD = "dropcheck: 1\nclaims:\n  c:\n    title: T\n    claim: 1 == 1\n"
LAUGHS = (
    GOOD
    + "    tags: &a0 [x, x]\n"
    + "".join(f"    note{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
)

# whole files
FILES: dict[str, Bad] = {
    "an empty file": Bad("", 1, 1, "the file is empty", "dropcheck: 1"),
    "not UTF-8": Bad(b"\xff\xfe\x00a", 1, 1, "not UTF-8", "save it as UTF-8"),
    "10 MB of brackets": Bad(
        "[" * 10_000_000, 1, DEEPEST_BRACKET, "nested more than 20 deep", "five levels"
    ),
    "an alias bomb": Bad(LAUGHS, 6, 11, "'&a0' is an anchor", "take it out"),
    "a duplicate key": Bad(
        GOOD + "    claim: 1 == 2\n", 6, 5, "'claim' is given twice: first on line 5", "take one"
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

V = "y ~ normal(0, 1)[3]"

# claims, each in a file of its own
CLAIMS: dict[str, Bad] = {
    # names
    "not defined": Bad(one_claim(N, "E(y) == 0"), LAST, 9, "'y' is not defined", "defined here: x"),
    "misspelt": Bad(one_claim(N, "E(X) == 0"), LAST, 9, "'X' is not defined", "did you mean 'x'?"),
    "no function": Bad(one_claim(N, "E(sqr(x)) == 0"), LAST, 9, "'sqr' is not a", "sqrt(x)"),
    "no law": Bad(one_claim("x ~ nrmal(0, 1)", "E(x) == 0"), 6, 11, "'nrmal'", "'normal'"),
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
        one_claim(f"{V};n ~ poisson(3);x = y[n:]", "E(x) == 0"), 8, 13, "be fixed", "take(x, i)"
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
    "what a slot is not given": Bad(
        "dropcheck: 1\nslots: {a: {takes: [x], gives: x / d}}\nclaims:\n"
        "  c: {title: T, parameters: {d: 2}, model: y = a(1), claim: y == d / 4}\n",
        2,
        36,
        "'d' is not defined",
        "list it under its 'takes'",
    ),
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
    "an angle of too few digits": Bad(
        one_claim("x ~ von_mises(1e300, 2)", "E(x) == 0"), 6, 21, "mu must satisfy -1e+06 < mu", ""
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
        "'tolerance' needs a claim of the form",
        "numbers",
    ),
    # text
    "a method": Bad(
        one_claim(N, "x.tofile(1) == 1"), LAST, 8, "'.tofile(…)' is not part", "by name"
    ),
    "an import": Bad(
        one_claim(N, "__import__('os') == 1"), LAST, 7, "no strings", "functions of your own"
    ),
    "a lambda": Bad(
        one_claim(N, "E(lambda: 1) == 1"), LAST, 9, "'lambda' is not part", "functions of your own"
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
