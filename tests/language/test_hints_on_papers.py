"""What a person is told who writes a file or a claim as papers and other languages do."""

from __future__ import annotations

import pytest
from hinted import checked, refused, told

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language.check import check_registry
from dropcheck.language.parser import parse_model

# ---- what the grammar refuses -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message", "hint"),
    [
        ("for i in range(3): x = i", "the body of a loop stands below", "on a line of its own"),
        ("while x = 1", "'while' does not begin a line", "for t in range(T):"),
        ("x = [i for i in arange(3)]", "a comprehension is not part", "for t in range(T):"),
        ("x = 1 for i in y", "a comprehension is not part", "for t in range(T):"),
        ("x ~ normal(0, 1) y = x + 1", "a second definition begins", "'model: |'"),
        ("y = 2 x ~ normal(0, 1)", "a second definition begins", "'model: |'"),
        ("x = var(y ddof=1)", "'=' does not compare", ""),
        ("x = y = 3", "'=' does not compare", "'=='"),
        ("x = a and y = 3", "'=' does not compare", "'=='"),
        ("inf ~ normal(0, 1)", "'inf' is a constant", "choose another name"),
    ],
)
def test_lines_of_a_model(model: str, message: str, hint: str) -> None:
    problem = told(model)
    assert message in problem.message
    assert hint in (problem.hint or "")


def test_a_name_that_begins_like_a_loop_is_a_name() -> None:
    assert checked("form ~ normal(0, 1); forward = form + 1", "E(forward) == 1").problems == ()


def test_a_folded_model_is_told_at_the_second_line() -> None:
    text = (
        "dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: >\n      x ~ normal(0, 1)\n"
        "      y = f(a=x)\n    claim: E(y) == 1\n"
    )
    (problem,) = check_registry(read_text(text, "claims.yaml")).problems
    assert problem.location is not None
    assert (problem.location.line, problem.location.column) == (7, 7)
    assert "'model: |'" in (problem.hint or "")


# ---- the file -----------------------------------------------------------------------------------


def test_claims_as_a_list() -> None:
    problem = refused("dropcheck: 1\nclaims:\n  - title: T\n    claim: 1 == 1\n")
    assert "'claims' must be a mapping" in problem.message
    assert "write 'my-claim:'" in (problem.hint or "")


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("1/sqrt(2)", "on a line of 'model'"),
        ("2 * n", "on a line of 'model'"),
        ("n / 2", "on a line of 'model'"),
        ("many", "write a number such as"),
        ("half-life", "write a number such as"),
        ("1e6/0", "write a number such as"),
        ("normal(0, 1", "write a number such as"),
    ],
)
def test_an_expression_as_a_value(value: str, hint: str) -> None:
    text = "dropcheck: 1\nclaims:\n  c:\n    title: T\n    claim: 1 == s\n    parameters:\n"
    assert hint in (refused(f'{text}      s: "{value}"\n').hint or "")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("tolerance: 2%", "write 0.02"),
        ("resolution: 0.7%", "write 0.007"),
        ("within: 2%", "it is absolute; for a share of the scale write 'resolution: 0.02'"),
        ("parameters: {p: 50%}", "write 0.5"),
        ("parameters: {p: [0.1, '5 %']}", "write 0.05"),
        ("tolerance: two%", None),
    ],
)
def test_a_percentage_in_place_of_a_number(line: str, hint: str | None) -> None:
    text = f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    claim: 1 == 1\n    {line}\n"
    assert refused(text).hint == hint


def test_a_function_as_a_value() -> None:
    found = checked("x ~ s", more='    parameters: {s: "sqrt(2)"}\n').problems
    assert {problem.message for problem in found} == {"'sqrt' is not a law"}
    assert all("on a line of 'model'" in (problem.hint or "") for problem in found)


# ---- what is written otherwise in papers --------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "claim", "message", "hint"),
    [
        (
            "x ~ poisson(lambda=3)",
            "E(x) == 3",
            "'lambda' is a word of Python's grammar, and no argument of poisson is called so",
            "write poisson(rate)",
        ),
        (
            "x ~ exponential(rate=2)",
            "E(x) == 0.5",
            "exponential has no argument 'rate'",
            "write exponential(scale): scale is its mean, the inverse of a rate",
        ),
        (
            "x ~ normal(0, 1); y ~ normal(0, 1)",
            "E(xy) == 0",
            "'xy' is not defined",
            "write x * y for the product",
        ),
        (
            "x ~ normal(0, 1)",
            "E(x given x > 0) > 0",
            "a condition is an argument by name, 'given=…', after a comma",
            "write E(x, given=x > 0)",
        ),
        (
            "x ~ normal(0, 1)",
            "P(x = 1) == 0",
            "'=' does not compare",
            "write '==' for equality: x == 1",
        ),
        (
            "x ~ normal(0, 1)",
            "Var(X) == 1",
            "'X' is not defined",
            "capitals matter: did you mean 'x'?",
        ),
    ],
)
def test_what_papers_write(model: str, claim: str, message: str, hint: str) -> None:
    problem = told(model, claim)
    assert (problem.message, problem.hint) == (message, hint)


@pytest.mark.parametrize(
    ("model", "claim", "messages"),
    [
        # names in what can be read are reported beside what cannot be read
        ("x ~ normal(0, 1); y = x +", "E(zz) == foo(y)", ["read", "'zz' is", "'foo' is"]),
        ("x ~ normal(0, 1); y = x + zz", "E(y == 1", ["'(' is never closed", "'zz' is"]),
        ("x ~ norml(0, zz)", "E(x)", ["one side alone", "'norml' is not a law", "'zz' is"]),
        # what cannot be read may define them
        ("x ~ normal(0, 1; y = x", "E(x + y) == z", ["'(' is never closed", "'z' is"]),
        ("x := 1", "E(x) == 1", ["':=' is not"]),
        ("f ~ normal(0, 1)", "E(f) + pi = 1", ["'=' does not compare"]),
    ],
)
def test_what_cannot_be_read_hides_no_error_that_is_sure(
    model: str, claim: str, messages: list[str]
) -> None:
    problems = checked(model, claim).problems
    assert len(problems) == len(messages)
    for message in messages:
        assert any(message in problem.message for problem in problems), message


# ---- notes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "noted"),
    [
        ("normal(0, s**2)", True),
        ("lognormal(0, s * s)", True),
        ("truncated_normal(0, s**2, -1, 1)", True),
        ("normal(0, s)", False),
        ("normal(0, s**3)", False),
        ("normal(s**2, 1)", False),
        ("normal(0, sqrt(s**2))", False),
        ("normal(0, 2 * s)", False),
        ("exponential(s**2)", False),
    ],
)
def test_a_square_for_a_standard_deviation_is_noted(law: str, noted: bool) -> None:
    found = checked(f"s = 3; x ~ {law}", "E(x) == 0")
    assert found.problems == ()
    assert [note.message for note in found.notes] == [
        f"the second argument of {law.partition('(')[0]} is the standard deviation, and this is a "
        "square, as of a variance"
    ] * noted


# ---- what papers and other languages write -------------------------------------------------------

LOOPS = {
    "for t in 1..10:": "write for t in range(1, 11):",
    "for t in 1..10": "write for t in range(1, 11):",
    "for t = 1:10": "write for t in range(1, 11):",
    "for (t in 1:n)": "write for t in range(1, n + 1):",
    "for t in 0..n-1:": "write for t in range(n):",
    "for t from 1 to n do": "write for t in range(1, n + 1):",
    "for t in 2...n by 2": "write for t in range(2, n + 1, 2):",
    "for t ∈ 1…5": "write for t in range(1, 6):",
    "for t in range(1, n + 1)": "write for t in range(1, n + 1):",
}


@pytest.mark.parametrize("header", LOOPS)
def test_a_loop_that_counts_as_elsewhere(header: str) -> None:
    text = f"n = 5\n{header}\n  x = t\n"
    with pytest.raises(DropcheckError) as caught:
        parse_model(SourceText.plain(text))
    (problem,) = caught.value.problems
    assert problem.hint == LOOPS[header]
    assert problem.location is not None
    assert problem.location.line == 2
    written = LOOPS[header].removeprefix("write ")
    parse_model(SourceText.plain(f"n = 5\n{written}\n  x = t\n"))  # the hint can be followed


@pytest.mark.parametrize(
    "sign", ["⊥", "⟂", "⫫", "⊥⊥", "\\perp", "\\perp\\!\\!\\!\\perp", "\\indep", "_||_"]
)
def test_independence_as_papers_write_it(sign: str) -> None:
    problem = told("x, y ~ normal(0, 1)", f"x {sign} y")
    assert problem.hint == "write independent(x, y)"
    assert problem.location is not None
    assert problem.location.text is not None
    if "\\" not in sign:  # which is an escape in the file
        assert problem.location.column == problem.location.text.index("x ") + 3
    joined = told("x, y, z ~ normal(0, 1)", f"(x, y) {sign} z")
    assert joined.hint == "write independent(x, y)"


@pytest.mark.parametrize(
    ("claim", "hint"),
    [
        ("E(x) \\le 1", "write <="),
        ("E(\\sqrt(x)) == 1", "write sqrt"),
        ("E(\\theta) == 1", "names are written without it, and formulas as in Python: (a + b) / c"),
        ("E(x) == \\\\ 1", "an open bracket goes on over lines by itself"),
    ],
)
def test_commands_of_latex(claim: str, hint: str) -> None:
    assert told("x ~ normal(0, 1)", claim).hint == hint
