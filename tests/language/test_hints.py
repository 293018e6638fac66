"""Words from papers and other libraries; `contract/refused.yaml` has what is said of them."""

from __future__ import annotations

import re

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.errors import suggestion
from dropcheck.language.check import check_registry
from dropcheck.language.hints import (
    _LAWS_ELSEWHERE,
    _OF_R,
    _WORDS_ELSEWHERE,
    function_hint,
    law_hint,
)
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

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
    assert set(_WORDS_ELSEWHERE) & ours <= over_the_law
    named = {name for one in FUNCTIONS.values() for name in one.aliases}
    assert not set(_WORDS_ELSEWHERE) & named
    # what a hint calls is there
    words = ours | set(LAWS) | {"e", "pi"}
    hints = [*_WORDS_ELSEWHERE.values(), *_LAWS_ELSEWHERE.values()]
    called = {w for hint in hints for w in re.findall(r"([A-Za-z_]\w*)\(", hint)}
    assert called - words <= {"range", "verify", "g"}


def test_hints_name_what_is_there() -> None:
    others = [name for law in LAWS.values() for name in law.aliases]
    assert len(others) == len({*others})
    assert not set(others) & set(LAWS)
    assert not set(_LAWS_ELSEWHERE) & set(others)
    assert set(_OF_R.values()) <= set(LAWS)


def test_the_nearest_spelling_would_mislead() -> None:
    known = [*FUNCTIONS, *OPERATORS]
    assert suggestion("asin", known) != "did you mean 'arcsin'?"
    assert suggestion("topk", ["stop", *known]) is not None
    assert law_hint("nrmal") == "did you mean 'normal'?"


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
    claim = f'{{title: T, model: "s = 3\\nx ~ {law}", claim: E(x) == 0}}'
    found = check_registry(read_text(f"dropcheck: 1\nclaims: {{c: {claim}}}\n"))
    assert found.problems == ()
    assert [note.message for note in found.notes] == [
        f"the second argument of {law.partition('(')[0]} is the standard deviation, and this is a "
        "square, as of a variance"
    ] * noted
