"""Formulas: read as what they say, or refused with the column; what is printed reads back."""

from __future__ import annotations

import random
from contextlib import nullcontext, suppress

import pytest

from dropcheck.documents.document_registry import refuse_doubtful_number
from dropcheck.documents.latex import LatexError, statements

AXES = {"x": 0, "y": 0, "X": 0, "Y": 0, "p": 0, "n": 0, "mu": 0, "sigma": 0, "Psi": 0, "rho": 0,
        "d_k": 0, "q": 1, "k": 1, "w": 1, "Q": 2, "K": 2, "A": 2, "scores": 1,
        "Xbar": 0, "mu_hat": 0, "wbar": 1, "beta_0": 0, "tau1": 0}  # fmt: skip
NOTATION = {r"\text{Dropout}(X)": "y", r"\sigma^2_x": "mu + 1"}

READ = {
    r"P(x > 1 \cap \neg y > 2 \cup x < 0) = p": "P(x > 1 and not y > 2 or x < 0) == p",
    r"p(1 - p) = n(n + 1)^2": "p * (1 - p) == n * (n + 1)**2",
    r"2(3) (x)(y) = 1\,.": "2 * 3 * x * y == 1",
    r"\operatorname{Var}(q \cdot k) = d_k": "Var(q @ k) == d_k",
    r"$\operatorname{Var}(q^\top k / \sqrt{d_k}) = 1$.": "Var(q @ k / sqrt(d_k)) == 1",
    r"E(XY)^2 = 1": "E(X * Y)**2 == 1",
    r"E[X - Y]^2 = E((X - Y)^2)": "E(X - Y)**2 == E((X - Y)**2)",
    r"E[(XY^2)] = 0": "E(X * Y**2) == 0",
    r"E[(XY)^2] = 0": "E((X * Y)**2) == 0",
    r"\mathbb{E}[X \mid Y > 0] = \mu": "E(X, given=Y > 0) == mu",
    r"\mathrm{E}\left(|x| \,|\, y > 0\right) = 1": "E(abs(x), given=y > 0) == 1",
    r"\Pr(|X| > 2) \le 0.05": "P(abs(X) > 2) <= 0.05",
    r"1/1-p = 2": "1 / 1 - p == 2",
    r"-x^2 = 1": "-x**2 == 1",
    r"\sigma^2 = 1{,}000": "sigma**2 == 1000",
    r"\sigma^2_x = 1": "mu + 1 == 1",
    r"\operatorname{Var}(\text{Dropout}(X)) = 1": "Var(y) == 1",
    r"\sum_{i=1}^{n} q_i k_i = 0": "sum(q[0:n] * k[0:n]) == 0",
    r"\sum_i q_i^2 + 1 = n": "sum(q**2) + 1 == n",
    r"\frac{1}{n}\sum_{i=1}^n \mathbb E[q_i^2] = \frac12": "1 / n * E(sum(q[0:n]**2)) == 1 / 2",
    r"E(x \mathbb{1}\{x > 0\}) = E[\mathbf 1(y \le 2)]": "E(x * (x > 0)) == E(y <= 2)",
    r"\sum_i E(\mathbb{1}[q_i > 0]) = 3": "E(sum(q > 0)) == 3",
    r"\tfrac 1n = \mathbb{V}[x] + \mathbb V(y)": "1 / n == Var(x) + Var(y)",
    r"\prod_{i=1}^{n} (1 - w_i) = p": "prod(1 - w[0:n]) == p",
    r"\prod_{i=1}^{n} (x q_i / 2) = p": "prod(x * q[0:n] / 2) == p",
    r"x^{(n + 1) / 2} = q_{n + 1}": "x**((n + 1) / 2) == q[n]",
    r"\sum_i q_i \sum_j k_j = E(q_l x) + A_{1, 1}":
        "sum(q * sum(k)) == E(q * x) + A[0, 0]",
    r"\sum_{i=1}^{n} p = 3": "(n - 1 + 1) * p == 3",
    r"E(q_i k_i) = 0": "E(q * k) == 0",
    r"q_1 = k_{n}": "q[0] == k[n - 1]",
    r"A_{2, 1} = 0": "A[1, 0] == 0",
    r"0 \le X \le 1": "0 <= X <= 1",
    r"\operatorname{Var}(QK^\top) = d_k": "Var(Q @ K.T) == d_k",
    r"Q q = w": "Q @ q == w",
    r"q \odot k = w": "q * k == w",
    r"2 q \cdot k = 1": "2 * q @ k == 1",
    r"\|q\| = \lVert k \rVert": "norm(q) == norm(k)",
    r"P(X \in \{0, \frac{x}{1-p}\}) = 1": "X in {0, x / (1 - p)}",
    r"\max(x, y) = \max(q)": "maximum(x, y) == max(q)",
    r"\binom{n}{2} = n!": "comb(n, 2) == factorial(n)",
    r"e^{-x} = \exp(-\mu)": "e**-x == exp(-mu)",
    r"\operatorname{softmax}(\mathit{scores}) = w": "softmax(scores) == w",
    r"pxy = \ln(x)": "p * x * y == log(x)",
    r"|x - |y|| = 2": "abs(x - abs(y)) == 2",
    r"\sqrt[3]{x} = y": "cbrt(x) == y",
    r"P(x > 0 \text{ and } y > 0) = 1/4": "P(x > 0 and y > 0) == 1 / 4",
    r"P(x > 0, y > 0 \mid X > 0) = 1/4": "P(x > 0 and y > 0, given=X > 0) == 1 / 4",
    # Greek letters with what stands below them, and signs in bold
    r"x \beta_0 = \tau_1^2": "x * beta_0 == tau1**2",
    r"\boldsymbol{\sigma} = \bm{\beta}_0": "sigma == beta_0",
    r"P(x > 0 \;\middle|\; y > 0) = \log_2 n": "P(x > 0, given=y > 0) == log2(n)",
    # in fewer signs
    r"E[\bar{X}^2] = \hat\mu": "E(Xbar**2) == mu_hat",
    r"\overline{w}_1 = \bar{w}_i": "wbar[0] == wbar",
    r"E[\cos x] = \mu + \sigma\sqrt{2\ln n}": "E(cos(x)) == mu + sigma * sqrt(2 * log(n))",
    r"\cos x\sin y = \exp\frac{x}{2}": "cos(x) * sin(y) == exp(x / 2)",
    r"\phi(x) = \varphi(x)": "phi(x) == phi(x)",
    r"\|q\|_2^2 = \|k\|_1 \|w\|_\infty": "norm(q)**2 == norm(k, ord=1) * norm(w, ord=inf)",
    r"E\left[\|A\|_F^2\right] = 1": "E(norm(A, axis=[0, 1])**2) == 1",
    r"E[Q^TQ] = \sigma^2 I_n": "E(Q.T @ Q) == sigma**2 * eye(n)",
    r"E[q q^\top] = A^{-1}": "E(outer(q, q)) == inv(A)",
    r"\operatorname{tr}(A) = \mathrm{ReLU}(x)": "trace(A) == relu(x)",
    r"E[(Aq)_i^2] = (Aq)_2": "E((A @ q)**2) == (A @ q)[1]",
    # sums that count
    r"\sum_{j=1}^n \frac{1}{j} = 1": "sum(1 / (1 + arange(n))) == 1",
    r"\sum_{j=0}^n \frac{(-1)^j}{j!} = p":
        "sum((-1)**arange(n + 1) / factorial(arange(n + 1))) == p",
    r"\sum_{j=2}^n \binom{n}{j} p^j = \sum_{i=1}^n i q_i":
        "sum(comb(n, 2 + arange(n - 1)) * p**(2 + arange(n - 1))) == sum((1 + arange(n)) * q[0:n])",
}  # fmt: skip
REFUSED = [
    ("y(x) = 1", 1, "may be a function"),
    ("x = y(2)", 5, "may be a function"),
    ("-y^2(x) = 1", 4, "may be a function"),
    ("q_1(n) = 1", 3, "may be a function"),
    (r"\sigma(x + 1) = 1", 6, "may be a function"),
    (r"\Psi(x + 1) = 1", 4, "may be a function"),
    (r"X \sim N(0, 4)", 2, "laws are not read"),
    (r"X \approx 3", 2, "an approximation"),
    (r"x \ne 1", 2, "cannot be"),
    (r"1/2x = 3", 3, "a product after '/'"),
    (r"\frac123 = x", 5, "alone"),
    ("E X = 0", 2, "stands in brackets"),
    (r"\mathbb E X = 0", 10, "stands in brackets"),
    (r"\mathbb{E}_{q,k}[q \cdot k] = 0", 0, "what stands below E is not read"),
    (r"\mathbb{1}_{x > 0} = 1", 10, "an indicator is of an event"),
    (r"E(\mathbb{1}(x)) = 1", 12, "an indicator is of an event"),
    (r"\mathbb Ex = 0", 7, "a word in braces"),
    (r"x = \mu \tau^2", 8, "'tau' is no name of the model"),
    (r"x \propto y", 2, "a proportion"),
    (r"x \heartsuit y = 1", 2, r"'\heartsuit' is not part of what is read"),
    ("qk = 1", 0, "two vectors"),
    ("q k = 1", 2, "two vectors"),
    (r"q \cdot A = 1", 2, "which product"),
    (r"q \times k = 1", 2, "which product"),
    (r"x = 2\frac12", 5, "added to it or multiply"),
    (r"x + 1 \bmod 2 = 1", 6, "beside a sum"),
    (r"x \bmod 2 + 1 = 1", 2, "beside a sum"),
    ("x_3 = 1", 0, "no name of the model"),
    ("q_0 = 1", 2, "count from 1"),
    (r"\sum_{i=0}^n q_i = 1", 6, "count from 1"),
    (r"\sum_i \sum_j q_i k_j = 1", 12, "a sum within a sum"),
    (r"\sum_i E(q_i) k_i = 1", 5, "cannot be said of all"),
    (r"\sum_i \operatorname{Var}(q_i) = 1", 5, "Var(…) of each element cannot be said of all"),
    (r"\prod_i (E(q_i)) = 1", 6, "E(…) of each element cannot be said of all"),
    (r"q_i k_j = 1", 6, "two letters"),
    ("x^{10 = 2", 6, "'}' is missing"),
    ("x = ", 3, "the formula ends"),
    ("", 0, "the formula ends"),
    ("x", 1, "a statement needs a relation"),
    (r"\bar{x} = 1", 0, "'xbar' is no name of the model"),
    (r"\bar xy = 1", 5, "stands above one name"),
    (r"\breve{x} = 1", 0, "not part"),
    (r"E(x - \mu)^2 = \sigma^2", 11, "of the mean or within it"),
    (r"\mathbb{E}\,(x + y)^{4} = 1", 20, "of the mean or within it"),
    (r"\tau_2 = 1", 0, "'tau_2' is no name of the model"),
    (r"\max_i q_i = 1", 0, "what stands below max is not read"),
    # how far an argument without brackets goes
    (r"\cos 2x = 1", 5, "stands in brackets"),
    (r"\cos x y = 1", 5, "stands in brackets"),
    (r"\ln n / n = 1", 4, "stands in brackets"),
    (r"\sin^2 x = 1", 4, "stands in brackets"),
    (r"E\cos x = 1", 1, "stands in brackets"),
    (r"\|A\|_2 = 1", 6, "which norm"),
    (r"\|q\|_12 = 1", 6, "which norm"),
    ("A^{-2} = K", 2, "which power"),
    ("A = I", 4, "the order of this matrix"),
    (r"\sum_j j q_j = 1", 7, "where j begins and ends"),
    (r"\sum_{j=0}^n j q_j = 1", 6, "count from 1"),
    (r"\sum_{j=1}^\infty j = 1", 11, "without end"),
    (r"\sum_{j=1}^n j + j = 1", 17, "'j' is no name"),
    ("q·k = 1", 1, "not part"),
    ("x y2 = 1", 3, "a number stands to the right"),
    (r"\left. x \right| = 1", 5, "invisible bracket"),
    ("zeta = 1", 0, "no name of the model"),
    ("(" * 80 + "x = 1", 60, "nested deeper"),
    ("x = 1,000", 5, "cannot be read here"),
    (r"E(x \mid y) = 1", 9, "a condition is an event"),
    ("K^2 = 1", 2, "which power"),
    ("||q|| = 1", 4, "a norm or a determinant"),
    ("|K| = 1", 4, "a norm or a determinant"),
    ("A_{ij} = 1", 3, "side by side"),
    ("q_{n-1} = 1", 3, "before the first"),
    (r"x = 2 \quad (y = 3)", 6, "two statements"),
    ("n!! = 3", 1, "two of these signs"),
    ("x" + " x" * 2000 + " = 1", 202, "a product has 100 factors at most"),
    ("x" + " + x" * 1000 + " = 1", 0, "too deep"),
    # what LaTeX sets in another way than it is written
    ("q_12 = 1", 2, "alone"),
    ("2^d_k = 1", 2, "alone"),
    ("2^E(x) = 1", 2, "alone"),
    (r"\sqrt q_1 = 1", 6, "alone"),
    ("2^3^2 = 1", 3, "two powers"),
    ("2^{3}^2 = 1", 5, "two powers"),
    # what mathematicians write so for something else
    ("P(x^c) = 1", 4, "a complement or a power"),
    (r"P(\{x > 1\}^{c}) = 1", 12, "a complement or a power"),
    (r"P(x^\complement) = 1", 4, "a complement or a power"),
    ("P(x') = 1", 3, "not part"),
    ("E(x^{(2)}) = 1", 4, "may hold a power or"),
    ("q_{(1)} = 1", 3, "sorted order"),
    ("A_{12} = 1", 1, "a row"),
    ("A_i = 1", 1, "a row"),
    ("q[n - 1] = 1", 1, "may be a function"),
    ("x^T = 1", 2, "no name of the model"),
    ("x = 1e-5", 4, "a power of ten"),
    (r"x \bmod 2 n = 1", 10, "belong to what divides"),
    # elements beside whole arrays
    ("q_i k = 1", 0, "whole array"),
    (r"\sum_i q_i k = 1", 5, "whole array"),
    (r"\sum_{i=1}^n (q_i - k) = 1", 6, "whole array"),
    ("E(q_i) = k", 0, "whole array"),
    (r"\sum_{i=1}^n q_i + k_i = 1", 21, "counts a sum"),
    (r"k_i + \sum_{i=1}^n q_i = 1", 12, "any element already"),
    (r"\prod_{i=1}^n q_i x = 1", 14, "where this product ends"),
]  # fmt: skip


@pytest.mark.parametrize("formula", READ)
def test_what_a_formula_says(formula: str) -> None:
    assert statements(formula, AXES, NOTATION) == (READ[formula],)


def test_a_chain_of_equalities_makes_several_statements() -> None:
    assert statements("x = y = 1 - p", AXES) == ("x == y", "y == 1 - p")


@pytest.mark.parametrize(("formula", "column", "message"), REFUSED)
def test_what_is_refused_and_where(formula: str, column: int, message: str) -> None:
    with pytest.raises(LatexError) as refused:
        statements(formula, AXES)
    assert message in refused.value.message
    assert refused.value.column == column


@pytest.mark.parametrize(
    ("formula", "hint"),
    [
        (r"\mathrm{Vra}(x) = 1", "did you mean 'Var'?"),
        (r"\mathrm{sd}(x) = 1", "Std(u)"),
        ("z = 1", "its names: x, y"),
        (r"P(\bar{x}) = 1", r"that the event x does not happen is \lnot x"),
        ("P(x') = 1", r"write \lnot A"),
        (r"\tau = 1", "its names: x, y"),
        (r"x \lt \Lambda^2 y", "its names: x, y"),
        ("x = Y", "capitals matter: did you mean 'y'?"),
    ],
)
def test_a_name_that_is_none_comes_with_those_that_are(formula: str, hint: str) -> None:
    with pytest.raises(LatexError) as refused:
        statements(formula, {"x": 0, "y": 0})
    assert hint in (refused.value.hint or "")


def test_names_that_may_be_cut_in_two_ways_are_refused() -> None:
    with pytest.raises(LatexError, match="may be"):
        statements("abc = 1", {"a": 0, "bc": 0, "ab": 0, "c": 0})
    assert statements("d_k = 1", {"dk": 0}) == ("dk == 1",)
    with pytest.raises(LatexError, match="several things"):
        statements("d_k = 1", {"dk": 0, "d_k": 0})
    with pytest.raises(LatexError, match="several things"):
        statements("x_1 = 1", {"x": 1, "x1": 0})


def test_any_formula_is_read_or_refused() -> None:
    chance = random.Random(22)
    pieces = [*READ, *(formula for formula, _, _ in REFUSED)]
    signs = "\\{}()[]|^_=<>+-*/!.,0123456789 xyqkEP"
    for _ in range(5_000):
        formula = list(chance.choice(pieces))
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(formula) + 1)
            formula[place : place + chance.randint(0, 2)] = chance.choices(
                signs, k=chance.randint(0, 3)
            )
        with suppress(LatexError):
            statements("".join(formula), AXES)


@pytest.mark.parametrize(
    ("formula", "names", "read"),
    [
        (r"\mathbb{E}[m] = \pi", {"m": 0, "pi": 0}, "E(m) == pi"),
        (r"\mathbb{E}[m] = \pi_i", {"m": 0, "pi_i": 0}, "E(m) == pi_i"),
        (r"\mathbb{E}[m] = \pi_2", {"m": 0, "pi": 1}, "E(m) == pi[1]"),
        (r"\mathbb{E}[m] = 2\pi m_1", {"m": 1}, "E(m) == 2 * pi * m[0]"),
    ],
)
def test_pi_is_what_the_model_calls_so(formula: str, names: dict[str, int], read: str) -> None:
    assert statements(formula, names) == (read,)


def test_pi_with_an_index_is_no_number() -> None:
    with pytest.raises(LatexError, match="'pi_i' is no name of the model"):
        statements(r"\mathbb{E}[m] = \pi_i", {"m": 0})


@pytest.mark.parametrize(
    ("document", "doubtful"),
    [
        (r"units with chances $\pi_i$ are", True),
        (r"weights \pi _ {kl} are", True),
        (r"where $\pi = 0.3$ and", True),
        (r"where \(\pi \in (0, 1)\)", True),
        (r"is $2/\pi = 0.64$, and $\pi = 3.14$", False),
        ("nothing", False),
    ],
)
def test_pi_is_no_guess_where_the_document_has_its_own(document: str, doubtful: bool) -> None:
    formula = r"\operatorname{Var}(m) = \pi (1 - \pi)"
    for names, notation in (({"pi": 0}, {}), ({}, {r"\pi": "pi"})):
        refuse_doubtful_number(formula, document, names, notation)
    refuse_doubtful_number(r"\sqrt{2 \pi} = 2.5", document, {}, {})
    with pytest.raises(LatexError) if doubtful else nullcontext():
        refuse_doubtful_number(formula, document, {}, {})
