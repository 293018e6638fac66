"""What a person is told who comes from papers, numpy or PyTorch: the hint names what to write."""

from __future__ import annotations

import re

import pytest
from hinted import checked, told

from dropcheck.errors import suggestion
from dropcheck.language.hints import function_hint, law_hint
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.functions.other_words import OTHER_WORDS
from dropcheck.vocabulary.laws import _NO_LAWS, LAWS
from dropcheck.vocabulary.operators import OPERATORS

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
    named = {name for one in FUNCTIONS.values() for name in one.aliases}
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
        ("repeat 3 * 4 :", 7, "for t in range(3 * 4):"),
        ("if x > 0: y = 1", 7, "where(c, a, b)"),
        ("y = w; w = 3", 11, "move that line up"),
        ("a, b = v", 7, "v[0], v[1]"),
        ("y = x[x > 0]", 13, "take(x, i)[0]"),
        ("y = v[v > 0]", 13, "sum(where(c, x, 0))"),
    ],
)
def test_what_is_not_there_has_a_way_round(line: str, column: int, hint: str) -> None:
    problem = told(f"x ~ normal(0, 1); A ~ normal(0, 1)[3, 3]; v ~ normal(0, 1)[3]; {line}")
    assert problem.location is not None
    assert problem.location.column == column
    assert hint in (problem.hint or "")


def test_hints_name_what_is_there() -> None:

    others = [name for law in LAWS.values() for name in law.aliases]
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


@pytest.mark.parametrize("claim", ["any(x > 0)", "all(x >= 0)", "x[0] > 0 or x[1] > 0"])
def test_a_truth_alone_is_no_claim_but_its_probability_is(claim: str) -> None:
    assert told("x ~ normal(0, 1)[3]", claim).hint == f"claim its probability: P({claim}) == 1"
    assert checked("x ~ normal(0, 1)[3]", f"P({claim}) == 1").problems == ()
