"""What a person is told who comes from papers, numpy or PyTorch: the hint names what to write."""

from __future__ import annotations

import json
import re

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.language.checks import Checked, check_registry
from dropcheck.language.parser import parse_model
from dropcheck.language.suggestions import function_hint, law_hint
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.functions.other_words import OTHER_WORDS
from dropcheck.vocabulary.laws import _NO_LAWS, LAWS
from dropcheck.vocabulary.operators import OPERATORS


def checked(model: str, claim: str = "1 == 1", more: str = "") -> Checked:
    """What is said of a claim; `;` stands between lines of its model."""
    text = "dropcheck: 1\nclaims:\n  c:\n    title: T\n" + more
    text += "    model: |\n" + "".join(f"      {line.strip()}\n" for line in model.split(";"))
    return check_registry(read_text(text + f"    claim: {json.dumps(claim)}\n", "claims.yaml"))


def told(model: str, claim: str = "1 == 1", more: str = "") -> Problem:
    (problem,) = checked(model, claim, more).problems
    return problem


# ---- names from elsewhere -----------------------------------------------------------------------

LAW_HINTS = {
    "N": "write normal(mean, sd): its second argument is the standard deviation, not the variance",
    "gaussian": "write normal(mean, sd): its second argument is the standard deviation",
    "Normal": "write normal(mean, sd): its second argument is the standard deviation",
    "norm": "write normal(mean, sd): its second argument is the standard deviation",
    "randn": "normal(0, 1)[n]",
    "halfnormal": "abs(z)",
    "HalfNormal": "abs(z)",
    "U": "write uniform(low, high)",
    "unif": "write uniform(low, high)",
    "Bernoulli": "write bernoulli(p)",
    "Ber": "write bernoulli(p)",
    "Exp": "write exponential(scale): scale is its mean, the inverse of a rate",
    "Poi": "write poisson(rate)",
    "chi2": "write chi_square(df)",
    "mvn": "write multivariate_normal([mean…], cov)",
    "MVN": "write multivariate_normal([mean…], cov)",
    "bernouli": "did you mean 'bernoulli'?",
    "sqrt": "write '=' in place of '~'",
    "zzz": "laws are bernoulli, beta",
}
FUNCTION_HINTS = {
    "swish": "write silu(x)",
    "matmul": "write a @ b",
    "Covariance": "write Cov(u, v)",
    "covariance": "write Cov(u, v)",
    "Mean": "the law is E(u), that of the elements of one draw mean(x)",
    "Expectation": "the law is E(u)",
    "avg": "the law is E(u)",
    "V": "is Var(u)",
    "variance": "is Var(u)",
    "pow": "write x**y",
    "permute": "write transpose(x)",
    "tr": "write trace(x)",
    "mod": "write a % b",
    "log_softmax": "write z - logsumexp(z)",
    "flatten": "write reshape(x, -1)",
    "svd": "svdvals(x)",
    "halfnormal": "abs(z)",
    "N": "x ~ normal(mean, sd)",
    "Bernoulli": "x ~ bernoulli(p)",
    "asin": "write arcsin(x)",
    "ReLU": "did you mean 'relu'?",
    "Exp": "did you mean 'exp'?",
    "zzzz": "functions of your own",
}


@pytest.mark.parametrize("name", LAW_HINTS)
def test_a_law_of_another_name(name: str) -> None:
    problem = told(f"x ~ {name}(0, 1)")
    assert problem.message == f"{name!r} is not a law"
    assert LAW_HINTS[name] in (problem.hint or "")


@pytest.mark.parametrize("name", FUNCTION_HINTS)
def test_a_function_of_another_name(name: str) -> None:
    problem = told("x ~ normal(0, 1)", f"E({name}(x)) == 0")
    assert problem.message == f"{name!r} is not a function of the language"
    assert FUNCTION_HINTS[name] in (problem.hint or "")


@pytest.mark.parametrize("name", ["nll", "kl", "lu", "erfinv"])
def test_what_is_not_there_is_not_guessed_at(name: str) -> None:
    hint = function_hint(name)
    assert hint == "it is not in the vocabulary, and nothing there stands for it"
    assert "did you mean" not in hint


# words of numpy, scipy and books on statistics for which nothing stands here
STRANGERS = """
    acf adfuller airy anova argpartition_by asarray_chkfinite bessel blackman block_diag bmat
    busday_count byteswap cdist chebyshev chirp circulant cophenet copysign corrwith cosm1 ctypes
    dct delaunay digitize eigsh ellipj erfi exprel expn fresnel frexp gammasgn gmean hadamard
    hankel hilbert huber ive jackknife kelvin kolmogorov kronsum kstest ldexp lfilter linkage lobpcg
    loadmat logspace mannwhitneyu modf nanargmax ndimage nextafter nnls packbits pdist poly pval
    qmc rot90 sawtooth sem sinm spence spline struve toeplitz tri vander wilcoxon wofz zipfian
"""
RIGHT = {
    "expm1s": "expm1", "sigmod": "sigmoid", "logsumexpp": "logsumexp", "softmx": "softmax",
    "cumsun": "cumsum", "varr": None, "meen": None, "maen": "mean", "mena": "mean", "Sum": "sum",
    "EXP": "exp", "arctna": "arctan", "reshap": "reshape", "eigvalsch": "eigvalsh", "trnaspose":
    "transpose", "quantiles": "quantile", "choleksy": "cholesky", "isfinit": "isfinite",
}  # fmt: skip


def test_a_word_of_other_libraries_is_not_taken_for_a_slip() -> None:
    hints = {word: function_hint(word) for word in STRANGERS.split()}
    assert len(hints) >= 60
    assert {word: hint for word, hint in hints.items() if "did you mean" in hint} == {}


@pytest.mark.parametrize("word", RIGHT)
def test_a_slip_is_seen(word: str) -> None:
    meant = RIGHT[word]
    assert ("did you mean" in function_hint(word)) is (meant is not None)
    assert meant is None or function_hint(word) == f"did you mean {meant!r}?"


def test_words_of_others_are_none_of_ours() -> None:
    ours = {*FUNCTIONS, *OPERATORS, *OF_LAWS}
    over_the_law = {"median", "quantile"}  # asked of operators, where a draw is one number
    assert set(OTHER_WORDS) & ours <= over_the_law
    named = {name for one in FUNCTIONS.values() for name in one.elsewhere}
    assert not set(OTHER_WORDS) & named
    # what a hint calls is there
    words = ours | set(LAWS) | {"e", "pi"}
    called = {w for hint in OTHER_WORDS.values() for w in re.findall(r"([A-Za-z_]\w*)\(", hint)}
    assert called - words <= {"range", "verify", "g"}


@pytest.mark.parametrize(
    ("line", "column", "hint"),
    [
        ("y = Q(x, 0.9)", 11, "quantile(x, u)"),
        ("y = eig(A)", 11, "eigvalsh(x)"),
        ("y = lim(x)", 11, "there are no limits"),
        ("y = load('x.csv')", 11, "a model reads no files"),
        ("y = exp(1j * x)", 15, "cos(t) and sin(t)"),
        ("y = exp(i * x)", 15, "cos(t) and sin(t)"),
        ("y = conj(x)", 11, "numbers are real"),
        ("y = grad(x)", 11, "there are no derivatives"),
        ("y = diff(x)", 11, "there are no derivatives"),
        ("y = d/dx", 11, "there are no derivatives"),
        ("y = 2 * d(x)/dx", 15, "there are no derivatives"),
        ("y = dx / dt", 11, "there are no derivatives"),
        ("f(x) = x**2", 7, "functions of your own"),
        ("f = lambda x: x**2", 11, "functions of your own"),
        ("y = int(x)", 11, "write floor(x)"),
        ("y = integrate(x, 0, 1)", 11, "(b - a) * E(g(u))"),
        ("while x > 0:", 7, "for t in range(T)"),
        ("if x > 0: y = 1", 7, "where(c, a, b)"),
        ("y = x[x > 0]", 13, "take(x, i)"),
        ("y = v[v > 0]", 13, "sum(where(c, x, 0))"),
    ],
)
def test_what_is_not_there_has_a_way_round(line: str, column: int, hint: str) -> None:
    problem = told(f"x ~ normal(0, 1); A ~ normal(0, 1)[3, 3]; v ~ normal(0, 1)[3]; {line}")
    assert problem.location is not None
    assert problem.location.column == column
    assert hint in (problem.hint or "")


def test_hints_name_what_is_there() -> None:

    others = [name for law in LAWS.values() for name in law.elsewhere]
    assert len(others) == len({*others})
    assert not set(others) & set(LAWS)
    assert not set(_NO_LAWS) & (set(LAWS) | set(FUNCTIONS))


def test_the_nearest_spelling_would_mislead() -> None:
    known = [*FUNCTIONS, *OPERATORS]
    assert suggestion("asin", known) != "did you mean 'arcsin'?"
    assert suggestion("topk", ["stop", *known]) is not None
    assert law_hint("nrmal") == "did you mean 'normal'?"


def test_a_function_of_elements_is_given_one_number() -> None:
    problem = told("x ~ normal(0, 1)", "E(sum(x)) == 0")
    assert problem.message == "sum: an array is needed, and this is a single number"
    assert "sum([a, b])" in (problem.hint or "")
    assert checked("x ~ normal(0, 1)[3]", "E(sum(x)) == 0").problems == ()


# ---- shapes -------------------------------------------------------------------------------------

MATRICES = "Q ~ normal(0, 1)[4, 3]; K ~ normal(0, 1)[5, 3]; v ~ normal(0, 1)[3]; "


@pytest.mark.parametrize(
    ("product", "hint"),
    [
        ("Q @ K", "write Q @ K.T"),
        ("(Q + 1) @ K", "write a @ K.T"),
        ("K.T @ Q.T", "write K @ Q.T"),
        ("Q @ ones(4)", "write Q.T @ b"),
        ("Q @ ones(2, 2)", None),
        ("v.T @ v", "a vector needs none: v @ v is the sum of its squares, and outer(v, v) has"),
    ],
)
def test_products_that_do_not_fit(product: str, hint: str | None) -> None:
    problem = told(f"{MATRICES} s = {product}")
    assert (problem.hint or "").startswith(hint) if hint else problem.hint is None


def test_the_products_that_the_hints_name_fit() -> None:
    model = MATRICES + "a = Q @ K.T; b = K @ Q.T; c = Q.T @ ones(4); d = v @ v"
    assert checked(model).problems == ()


@pytest.mark.parametrize(
    ("law", "hint"),
    [
        ("normal(0, 1, size=10)", "write normal(0, 1)[10]"),
        ("normal(mean=0, sd=1, size=[2, 3])", "write normal(mean=0, sd=1)[2, 3]"),
        ("normal(0, 1, shape=10)", "write normal(0, 1)[10]"),
        ("choice([" + "1, " * 50 + "1], size=3)", "write normal(0, 1)[n]"),
    ],
)
def test_a_shape_by_name(law: str, hint: str) -> None:
    problem = told(f"x ~ {law}")
    assert "follows" in problem.message
    assert problem.hint == hint


def test_a_shape_that_is_an_argument_stays_one() -> None:
    assert checked("x ~ gamma(shape=2, scale=1)", "E(x) == 2").problems == ()


def test_one_index_is_one_too_many() -> None:
    problem = told("x ~ normal(0, 1)", "E(x[0]) == 0")
    assert problem.message == "1 index is too many for a single number"


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
        ("pi ~ normal(0, 1)", "'pi' is a constant", "choose another name"),
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


def refused(text: str) -> Problem:
    with pytest.raises(DropcheckError) as caught:
        read_text(text, "claims.yaml")
    (problem,) = caught.value.problems
    return problem


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


@pytest.mark.parametrize(
    ("law", "noted"),
    [("normal(0, 1)", True), ("bernoulli(1/2)", False), ("poisson(1)", False)],
)
def test_the_probability_of_a_number_is_noted(law: str, noted: bool) -> None:
    notes = checked(f"x ~ {law}", "P(x) <= 1").notes
    assert [note.message for note in notes] == [
        "'P' of a number counts each value but 0 as true, and a draw of "
        f"{law.partition('(')[0]} is never 0"
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


@pytest.mark.parametrize(
    ("claim", "hint"),
    [
        ("Cov(x, y) == eye(2)", "write Cov([x, y]) for the matrix, or claim one entry: Cov(x, y)"),
        ("Corr(x, y) == eye(2)", "write Corr([x, y]) for the matrix"),
        ("eye(2) == Cov(x, y)", "write Cov([x, y]) for the matrix"),
        ("Var(x) == eye(2)", "Var(x) is one number: claim a number of it"),
        ("Var(z) == eye(3)", "the matrix of all pairs of elements is Cov(z) or Corr(z)"),
        ("Cov(z, z) == eye(3)", "write Cov(z) for the matrix of all pairs of elements"),
        ("Cov(z, w) == eye(3)", "claim one entry, such as Cov(z[0], w[1])"),
        ("Cov(z) == eye(2)", "give both one shape, or compare with a number"),
        ("E(z @ w) == [0, 0]", "pick an element, x[0], or reduce it: max(…), sum(…)"),
    ],
)
def test_a_matrix_claimed_of_what_is_none(claim: str, hint: str) -> None:
    problem = told("x, y ~ normal(0, 1); z, w ~ normal(0, 1)[3]", claim)
    assert problem.hint is not None
    assert hint in problem.hint


def test_what_the_hints_on_matrices_say_can_be_written() -> None:
    model = "x, y ~ normal(0, 1); z, w ~ normal(0, 1)[3]"
    for claim in ("Cov([x, y]) == eye(2)", "Corr(z) == eye(3)", "Cov(z[0], w[1]) == 0"):
        assert checked(model, claim).problems == ()
