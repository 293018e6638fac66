"""Formulas are read as what they say; `contract/refused.yaml` has those that are refused."""

from __future__ import annotations

import random
from contextlib import nullcontext, suppress

import pytest

from dropcheck.documents.document_registry import refuse_doubtful_number
from dropcheck.documents.figures import UnreadError
from dropcheck.documents.latex import statements
from dropcheck.language.compile import Known

AXES = {"x": 0, "y": 0, "X": 0, "Y": 0, "p": 0, "n": 0, "mu": 0, "sigma": 0, "Psi": 0, "rho": 0,
        "d_k": 0, "q": 1, "k": 1, "w": 1, "Q": 2, "K": 2, "A": 2, "scores": 1,
        "Xbar": 0, "mu_hat": 0, "wbar": 1, "beta_0": 0, "tau1": 0}  # fmt: skip
EVENT = Known(event=True, random=True)
NAMES = {name: Known(axes=count, random=name in "xyXYqkw") for name, count in AXES.items()} | {
    **dict.fromkeys(("H", "G", "H_1"), EVENT),
    **dict.fromkeys(("lambda_", "x_prime", "rho_X_Y", "n_in", "m"), Known()),
    **dict.fromkeys(("sigma_q_1", "sigma_n_in"), Known()),
}
NOTATION = {r"\text{Dropout}(X)": "y", r"\sigma^2_x": "mu + 1", "SE": "Std", r"\V": "Var", "v": "y",
            r"\max_i": "max"}  # fmt: skip

READ = {
    r"P(x > 1 \cap \neg y > 2 \cup x < 0) = p": "P(x > 1 and (not y > 2) or x < 0) == p",
    r"p(1 - p) = n(n + 1)^2": "p * (1 - p) == n * (n + 1)**2",
    r"2(3) (x)(y) = 1\,.": "2 * 3 * x * y == 1",
    r"\operatorname{Var}(q \cdot k) = d_k": "Var(q @ k) == d_k",
    r"$\operatorname{Var}(q^\top k / \sqrt{d_k}) = 1$.": "Var(q @ k / sqrt(d_k)) == 1",
    r"E(XY)^2 = 1": "E(X * Y)**2 == 1",
    r"(E[X - Y])^2 = E((X - Y)^2)": "E(X - Y)**2 == E((X - Y)**2)",
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
    r"\frac{1}{n}\sum_{i=1}^n \mathbb E[q_i^2] = \frac12": "1 / n * sum(E(q[0:n]**2)) == 1 / 2",
    r"E(x \mathbb{1}\{x > 0\}) = E[\mathbf 1(y \le 2)]": "E(x * (x > 0)) == E(y <= 2)",
    r"\sum_i E(\mathbb{1}[q_i > 0]) = 3": "sum(E(q > 0)) == 3",
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
    r"0 \le X \le 1": "0 <= X <= 1", r"1 > X \ge 0": "1 > X >= 0",
    r"\operatorname{Var}(QK^\top) = d_k": "Var(Q @ K.T) == d_k",
    r"Q q = w": "Q @ q == w",
    r"q \odot k = w": "q * k == w",
    r"2 q \cdot k = 1": "2 * q @ k == 1",
    r"\|q\| = \lVert k \rVert": "norm(q) == norm(k)",
    r"P(X \in \{0, \frac{x}{1-p}\}) = 1": "X in {0, x / (1 - p)}",
    r"\max(x, y) = \max(q)": "maximum(x, y) == max(q)",
    r"\binom{n}{2} = n!": "comb(n, 2) == factorial(n)",
    r"e^{-x} = \exp(-\mu)": "e**(-x) == exp(-mu)",
    r"\operatorname{softmax}(\mathit{scores}) = w": "softmax(scores) == w",
    r"pxy = \ln(x)": "p * x * y == log(x)",
    r"|x - |y|| = 2": "abs(x - abs(y)) == 2",
    r"P(x > 0 \text{ and } y > 0) = 1/4": "P(x > 0 and y > 0) == 1 / 4",
    r"P(x > 0, y > 0 \mid X > 0) = 1/4": "P(x > 0 and y > 0, given=X > 0) == 1 / 4",
    # a parameter is no condition
    r"\operatorname{Var}(X \mid \mu, y > 0, p) = E[X | n]": "Var(X, given=y > 0) == E(X)",
    r"P(\text{not } H) = {\rm Prob}\{H\}": "P(not H) == P(H)",
    r"\sigma_{q_1} = \sigma_{n_{in}} + \$1.50": "sigma_q_1 == sigma_n_in + 1.5",
    r"\log \beta_0 = {\color{blue} n}": "log(beta_0) == n",
    # braces are not printed
    r"{E x}^2 = {\sum_{i=1}^n q_i}^2 {}{=} p{(1 - p)}": "E(x**2) == sum(q[0:n]**2); "
        "sum(q[0:n]**2) == p * (1 - p)",
    r"\mathrm{E}{(x)} = {{n + 1 \choose 2}}^2": "E(x) == comb(n + 1, 2)**2",
    # Greek letters with what stands below them, and signs in bold
    r"x \beta_0 = \tau_1^2": "x * beta_0 == tau1**2",
    r"\boldsymbol{\sigma} = \bm{\beta}_0": "sigma == beta_0",
    r"P(x > 0 \;\middle|\; y > 0) = \log_2 n": "P(x > 0, given=y > 0) == log2(n)",
    # in fewer signs
    r"E[\bar{X}^2] = \hat\mu": "E(Xbar**2) == mu_hat",
    r"\overline{w}_1 = \bar{w}_i": "wbar[0] == wbar",
    r"E[\cos x] = \mu + \sigma\sqrt{2\ln n}": "E(cos(x)) == mu + sigma * sqrt(2 * log(n))",
    r"\cos x\sin y = \exp\frac{x}{2}": "cos(x) * sin(y) == exp(x / 2)",
    r"\operatorname{phi}(x) = \Phi(y)": "phi(x) == Phi(y)",
    r"\|q\|_2^2 = \|k\|_1 \|w\|_\infty": "norm(q)**2 == norm(k, ord=1) * norm(w, ord=inf)",
    r"E\left[\|A\|_F^2\right] = 1": "E(norm(A, axis=[0, 1])**2) == 1",
    r"E[Q^TQ] = \sigma^2 A": "E(Q.T @ Q) == sigma**2 * A",
    r"E[q q^\top] = A^{-1}": "E(outer(q, q)) == inv(A)",
    r"\operatorname{tr}(A) = \mathrm{ReLU}(x)": "trace(A) == relu(x)",
    r"E[(Aq)_i^2] = (Aq)_2": "E((A @ q)**2) == (A @ q)[1]",
    # sums that count
    r"\sum_{j=1}^n \frac{1}{j} = 1": "sum(1 / (1 + arange(n))) == 1",
    r"\sum_{j=0}^n \frac{(-1)^j}{j!} = p":
        "sum((-1)**arange(n + 1) / factorial(arange(n + 1))) == p",
    r"\sum_{j=2}^n \binom{n}{j} p^j = \sum_{i=1}^n i q_i":
        "sum(comb(n, 2 + arange(n - 1)) * p**(2 + arange(n - 1))) == sum((1 + arange(n)) * q[0:n])",
    r"\sum_i \operatorname{Var}(q_i k_i) = \sum^n_{i=1} E q_i":
        "sum(Var(q * k)) == sum(E(q[0:n]))",
    r"\sum_{p=1}^n p = 3": "sum(1 + arange(n)) == 3",
    r"\operatorname{Var}(A_{ij}) = E[A_{ij}^2]": "Var(A) == E(A**2)",
    # layout
    r"\label{eq:a} E(x) = 0 \; . \tag{2}\nonumber": "E(x) == 0",
    r"\displaystyle \bigl( x \bigr) \quad = \quad \Big| y \Big|": "x == abs(y)",
    r"\begin{align*} E(x) &= y \\ \\ &= 1 \end{align*}": "E(x) == 1",
    r"\begin{aligned}[t] E(x) &= y \\[0.4em] &= 1 \end{aligned}": "E(x) == 1",
    r"x &= y \\ &\le p \\ &= n \\": "x <= n",
    r"x &< y, \\ &\le p.": "x < p",
    r"x &= y \\ &\approx 0.50": "x ~= 0.50",
    r"x &= y + 1 \\ &\quad - p": "x == y + 1 - p",
    r"x = & \; y \\ \cdot & p": "x == y * p",
    r"E[x &+ \\ &y] = 0": "E(x + y) == 0",
    r"x &= y \\ &\quad + \sum_{i=1}^n q_i": "x == y + sum(q[0:n])",
    r"x &\approx 0.50 && y = 1 \\ p \approx 0.2": "x ~= 0.50; y == 1; p ~= 0.2",
    r"x &=& y": "x == y",
    # operators by other names, and without brackets
    r"\E x = \Var(x) = \mathsf{E}\{x\}": "E(x) == Var(x); Var(x) == E(x)",
    r"\mathbb{V}\mathrm{ar}(x) = \operatorname{cov}(x, y)": "Var(x) == Cov(x, y)",
    r"\operatorname*{\mathbb{E}}[x] = \textrm{Var}(x)": "E(x) == Var(x)",
    r"\operatorname{Pr}(H) = \PP[H]": "P(H) == P(H)",
    r"\mathrm{var}(x) = E(\mathrm{var}(q))": "Var(x) == E(var(q))",
    r"\mathbb{E} X = 2 \mathbb{E} x^2 - E\, \bar{X}": "E(X) == 2 * E(x**2) - E(Xbar)",
    r"\mathbb{E}|x| = E\|q\|^2 + E \sqrt{x}": "E(abs(x)) == E(norm(q)**2) + E(sqrt(x))",
    r"EX = EX^2": "E(X) == E(X**2)",
    r"E_x[x^2] = \mathbb{E}_{q, k}[q \cdot k]": "E(x**2) == E(q @ k)",
    r"\mathbb{E}_{x \sim \mathcal{N}(0, 1)}[x^2] = E_{X \sim p} X": "E(x**2) == E(X)",
    r"\max_i(q) = 2": "max(q) == 2",
    r"pE(x) = npCov(x, y)": "p * E(x) == n * p * Cov(x, y)",
    r"SE(\bar{X}) = \mathrm{SD}(x) = \sd[y]": "Std(Xbar) == Std(x); Std(x) == Std(y)",
    r"\E{x + 1} = \E{\E{x}} - \V{x}\cov{x, y}": "E(x + 1) == E(E(x)) - Var(x) * Cov(x, y)",
    r"\Pr{H \mid x \ge 1} = \var(x)": "P(H, given=x >= 1) == Var(x)",
    r"x &= \\v + 1": "x == y + 1",
    # events by name
    r"P(H \mid G) = \frac{P(H \cap G)}{P(G)}": "P(H, given=G) == P(H and G) / P(G)",
    r"P(H, G) = P(H \cup G, x > 0)": "P(H and G) == P((H or G) and x > 0)",
    r"P(x > 0 \mid y < 1, H) = p": "P(x > 0, given=y < 1 and H) == p",
    r"P(H^c) = P(H') = P(\bar H) = P(H^{\mathsf{c}})":
        "P(not H) == P(not H); P(not H) == P(not H); P(not H) == P(not H)",
    r"P(H^\complement \mid G^c) = p": "P(not H, given=not G) == p",
    r"P(\{x > 1\}^c \cap H_1') = p": "P(not x > 1 and (not H_1)) == p",
    r"P(\overline{H \cup G}) = P((H \cap G)^c)": "P(not (H or G)) == P(not (H and G))",
    r"P(H \setminus G) = P(H \cap \lnot G)": "P(H and (not G)) == P(H and (not G))",
    r"P(HG) = P(H' G)": "P(H * G) == P((not H) * G)",
    r"E[x \mid H] = E(x \mathbf{1}_{H}) / E[\mathbb{1}_{x > 0}]":
        "E(x, given=H) == E(x * H) / E(x > 0)",
    r"P(x \in [0, 1)) = P(y \notin \{1, 2\})": "P(0 <= x < 1) == P(not y in {1, 2})",
    # names
    r"x' = \rho_{X,Y} + n_{\text{in}} \lambda": "x_prime == rho_X_Y + n_in * lambda_",
    r"\mathbf{q}^\top\bm{k} = \vec{q} \cdot \textbf{k}": "q @ k == q @ k",
    r"E[\boldsymbol{q}] = \mathbf{0}": "E(q) == 0",
    r"\sigma^2 {n \choose 2} = n^{2} m": "sigma**2 * comb(n, 2) == n**2 * m",
    r"\bar w^2_1 = \Gamma(n)": "wbar[0]**2 == gamma(n)",
    # signs of Unicode, and spaces
    "P(|x − 1| ≤ 2∣H) = p × n · 3 ≥ 0": "P(abs(x - 1) <= 2, given=H) == p * n * 3; p * n * 3 >= 0",
    "P(H∩G) ≈ 0.50": "P(H and G) ~= 0.50",
    r"E(x) ~~ = \ \ \; \mu ~~~ ": "E(x) == mu",
    r"P(x > 1 ~~|~~ y > 0) = p": "P(x > 1, given=y > 0) == p",
    # figures, and words at the end
    r"E(x) = 100\% = 4.90\,\% \cdot p": "E(x) == 1.00; 1.00 == 0.049 * p",
    r"E[x] \approx 0.680": "E(x) ~= 0.680",
    r"-1{,}234.50 \approx E x": "-1234.50 ~= E(x)",
    r"P(x > 0) \approx 95.4\%": "P(x > 0) ~= 0.954",
    r"P(x > 0) \approx -2.9 \times 10^{-3}.": "P(x > 0) ~= -0.0029",
    r"E[x] = 0.50, \quad \text{by symmetry}": "E(x) == 0.50",
    r"E[x] = 0 \text{ (since $x$ is odd)}.": "E(x) == 0",
    r"E[x] &= y, &\text{by Lemma 2} \\ &= p, \quad \text{using (1.3)} \\ &= 0": "E(x) == 0",
    r"E[x] = 0 \quad\text{if they are independent.}": "E(x) == 0",
    # several statements
    r"E(x) &= \mu &= p \\ \operatorname{Var}(x) &= p \\ &= 1": "E(x) == mu; mu == p; Var(x) == 1",
    r"E(x) = \mu, \quad E(y) = 1 ~~~ \text{and} \quad 0 < p < 1":
        "E(x) == mu; E(y) == 1; 0 < p < 1",
    r"&E(x) = 1 &&E(y) = p \\ p &= 1, & \mu &= p": "E(x) == 1; E(y) == p; p == 1; mu == p",
}  # fmt: skip


@pytest.mark.parametrize("formula", READ)
def test_what_a_formula_says(formula: str) -> None:
    assert "; ".join(statements(formula, NAMES, NOTATION)) == READ[formula]


def test_a_mark_behind_a_row_is_about_all_that_stands_in_it() -> None:
    rows = r"E(x) &= p \\ &= n \quad E(y) = 1"
    assert statements(rows, NAMES, last_row=True) == ("p == n", "E(y) == 1")


def test_a_sum_of_notation_is_refused() -> None:  # whether it depends on i is not known
    with pytest.raises(UnreadError, match="nothing is summed over i"):
        statements(r"\sum_{i=1}^n v = 3", NAMES, NOTATION)


SIGNS = {
    r"x {} y": {r"\leq": "x <= y", r"\geq": "x >= y", r"\le": "x <= y",
                r"\ge": "x >= y", r"\lt": "x < y", r"\gt": "x > y", ">": "x > y"},
    r"P(x {} 1) = p": dict.fromkeys((r"\neq", r"\ne"), "P(x != 1) == p"),
    r"P(H {} G) = p": {
        **dict.fromkeys((r"\land", r"\cap", r"\wedge"), "P(H and G) == p"),
        **dict.fromkeys((r"\lor", r"\cup", r"\vee"), "P(H or G) == p"),
    },
    r"{} = x": {
        r"\lfloor y \rfloor": "floor(y) == x", r"\lceil y \rceil": "ceil(y) == x",
        r"\lvert y \rvert": "abs(y) == x", r"\arctan y": "arctan(y) == x", r"\infty": "inf == x",
        r"\tanh(y)": "tanh(y) == x", r"\det(A)": "det(A) == x", r"\arcsin y": "arcsin(y) == x",
        r"\operatorname{corr}(x, y)": "Corr(x, y) == x", r"\EE[y]": "E(y) == x",
        r"\min(q)": "min(q) == x",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (form.replace("{}", sign), said)
        for form, signs in SIGNS.items()
        for sign, said in signs.items()
    ],
)
def test_signs_and_words_are_those_of_papers(formula: str, said: str) -> None:
    assert list(statements(formula, NAMES)) == [said]


def test_any_formula_is_read_or_refused() -> None:
    chance = random.Random(22)
    pieces = [*READ]
    signs = "\\{}()[]|^_=<>+-*/!.,0123456789 xyqkEP"
    for _ in range(2_000):
        formula = list(chance.choice(pieces))
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(formula) + 1)
            formula[place : place + chance.randint(0, 2)] = chance.choices(
                signs, k=chance.randint(0, 3)
            )
        with suppress(UnreadError):
            statements("".join(formula), NAMES)


NAMED = [
    ("x = y = 1 - p", {"x": 0, "y": 0, "p": 0}, "x == y; y == 1 - p"),
    ("abc = 1", {"a": 0, "bc": 0, "ab": 0, "c": 0}, "'abc' may be a bc or ab c"),
    ("d_k = 1", {"dk": 0}, "dk == 1"),
    ("d_k = 1", {"dk": 0, "d_k": 0}, "'d' with what stands below it may be several things"),
    ("x_1 = 1", {"x": 1, "x1": 0}, "'x' with what stands below it may be several things"),
    (r"E[m] = \pi", {"m": 0, "pi": 0}, "E(m) == pi"),
    (r"E[m] = \pi_i", {"m": 0, "pi_i": 0}, "E(m) == pi_i"),
    (r"E[m] = \pi_i", {"m": 0}, "'pi_i' is no name of the model"),
    (r"E[m] = \pi_2", {"m": 0, "pi": 1}, "E(m) == pi[1]"),
    (r"E[m] = 2\pi m_1", {"m": 1}, "E(m) == 2 * pi * m[0]"),
]


@pytest.mark.parametrize(("formula", "names", "said"), NAMED)
def test_the_names_of_a_model_decide(formula: str, names: dict[str, int], said: str) -> None:
    try:
        known = {name: Known(axes=count) for name, count in names.items()}
        found = "; ".join(statements(formula, known))
    except UnreadError as error:
        found = error.message
    assert found == said


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
    with pytest.raises(UnreadError) if doubtful else nullcontext():
        refuse_doubtful_number(formula, document, {}, {})
