"""What to write in place of words and signs of other software and of papers, and of misspellings.

A known word of other software may look like a misspelling of one of ours, as `swish` does of
`sinh`. So the tables of such words are searched first. If a function or a law only has another name
elsewhere, that name is in its entry. The tables here have the words that need several of ours, or
another construct, or for which there is nothing.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Iterable

from dropcheck.claims.registry import SourceText
from dropcheck.claims.values import LONGEST_NAME
from dropcheck.errors import DropcheckError, nearest
from dropcheck.language.syntax import Position
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS, SIGNS
from dropcheck.vocabulary.functions.reductions import DERIVATIVE
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import (
    CONSTANTS,
    EXAMPLES,
    INDEPENDENT,
    OPERATORS,
    SIGNATURE,
)

NO_FUNCTIONS = (
    "functions of your own are not part of a model: write the formula out, its parts on lines of "
    "the model, or make it a slot of the file, for code"
)

# ---- words of functions --------------------------------------------------------------------------

_NONE = "it is not in the vocabulary, and nothing there stands for it"

COMPLEX = (
    "numbers are real: of a complex one keep both parts. exp(1j * t) is cos(t) and sin(t); a pair "
    "(a, b) turned by t is a * cos(t) - b * sin(t), a * sin(t) + b * cos(t)"
)
INTEGRAL = (
    "there are no integrals: one from a to b is (b - a) * E(g(u)) with u ~ uniform(a, b), one over "
    "a density is a mean, and a probability P(a < x < b)"
)
FILES = (
    "a model reads no files: write the numbers as a list, a = [1, 2], or as parameters; data and "
    "code of your own are checked from Python, dropcheck.verify(…, sample=…)"
)
_LIMIT = (
    "there are no limits: claim it at a large n, or at growing ones, n: [10, 100, 1000], with "
    "'within' for how near it is"
)
_EACH = (
    "functions go over the elements of an array by themselves: sqrt(x), where(x > 0, x, 0); no "
    "function is an argument of another"
)
_STEPS = "a recurrence is a loop in the model: for t in range(T):, its lines indented below"
_CHOICE = "write where(c, a, b), or a if c else b"
_SOFTMAX = "write z - logsumexp(z), with keepdims=1 where z has rows"
_AXES = "write x[:, None] for a new axis of length 1, and x[0] to take one out"
_NAN = "write where(isnan(x), 0, x) first, and divide by sum(not isnan(x)) for a mean"
_DRAW = "the draws are the tool's: draw on a line of the model, x ~ normal(0, 1)[n]"
_STACK = "write stack(a, b, axis=0) for rows, concat(a, b, axis=0) for one after the other"

_SEVERAL: tuple[tuple[str, str], ...] = (
    ("acosh arccosh erfcx fsolve lcm nll sqrtm trigamma", _NONE),
    ("law", "a statement compares a quantity with a law, s ~ gamma(2, 1), or another, s ~ g"),
    ("sorted", "write sort(x)"),
    ("cexp cis complex conj conjugate fft fft2 ifft im imag polar re real rfft roots", COMPLEX),
    (
        "d D autograd backward deriv derivative divergence grad gradient hessian jac jacobian "
        "laplacian nabla partial",
        DERIVATIVE,
    ),
    (
        "dblquad integral integrate nquad quad simps simpson trapezoid trapz tplquad "
        "cumulative_trapezoid",
        INTEGRAL,
    ),
    ("fromfile genfromtxt load load_csv loadtxt open read read_csv read_table savetxt save", FILES),
    ("lim limit limsup liminf", _LIMIT),
    ("apply apply_along_axis filter lambda map piecewise reduce vectorize vmap", _EACH),
    ("fori_loop foldl itertools iterate recur recursion scan while_loop", _STEPS),
    ("cond if_else ifelse ite masked_fill select switch", _CHOICE),
    ("log_softmax logsoftmax", _SOFTMAX),
    ("broadcast_to expand_dims newaxis squeeze unsqueeze", _AXES),
    ("nan_to_num nancumsum nanmax nanmean nanmin nanstd nansum nanvar", _NAN),
    ("default_rng manual_seed rsample rvs seed", _DRAW),
    ("percentile", "of the elements of one draw write quantile(x, 0.5), of a law Quantile(u, 0.5)"),
    ("append column_stack dstack hstack row_stack vstack", _STACK),
    ("t", "write x.T"),
    ("flatten ravel view", "write reshape(x, -1), or the shape as a list"),
    ("asarray list matrix tensor tuple vector", "a list is an array: [1, 2], [[1, 2], [3, 4]]"),
    ("ndtri phi_inv probit", "write quantile_of(normal(0, 1), u)"),
    ("allclose", "write all(isclose(a, b))"),
    ("gather index_select embedding", "write take(x, i)"),
    ("eig", "of a symmetric matrix write eigvalsh(x) for the eigenvalues, eigvecsh(x) for the "
            "vectors; those of others are complex, and svdvals(x) is real"),
    ("eigh", "write eigvalsh(x) for the eigenvalues, eigvecsh(x) for the vectors as columns"),
    ("svd", "write svdvals(x) for the singular values; eigvecsh(x.T @ x) has the vectors"),
)  # fmt: skip

_WORDS_ELSEWHERE = {word: hint for words, hint in _SEVERAL for word in words.split()} | {
    "I": "a comparison is 1 or 0 by itself: E(x > 0), P(x > 0)",
    "Q": "of the elements of one draw write quantile(x, u); of the law of u write Quantile(u, p)",
    "average": "of the law write E(u), of the elements of one draw mean(x)",
    "astype": "all numbers are floats: leave it out; floor(x) is the whole part",
    "float": "all numbers are floats: leave it out",
    "indicator": "a comparison is 1 or 0 by itself: E(x > 0), P(x > 0)",
    "int": "write floor(x), which is the whole part of x >= 0; the integral of a function g from a "
    "to b is (b - a) * E(g(u)) with u ~ uniform(a, b)",
    "pdf": "write density(law, x), or phi(x) of a standard normal",
    "sqr": "write x**2 for the square, sqrt(x) for the root",
}

# ---- words of laws -------------------------------------------------------------------------------

_SHAPE = "and a shape in brackets after it: "
_DIE = "discrete_uniform(1, 6)"
MIXTURE = (
    "both parts, a and b, and m ~ bernoulli(p), and a if m else b below; of more take([a, b, c], k)"
)
# What stands right of `~`, or the lines to write.
_LAWS_ELSEWHERE = {
    word: hint
    for words, hint in (
        ("randn standard_normal", f"normal(0, 1), {_SHAPE}normal(0, 1)[n]"),
        ("rand random random_sample", f"uniform(0, 1), {_SHAPE}uniform(0, 1)[n]"),
        ("dice die roll", _DIE),
        ("coin", "bernoulli(0.5)"),
        ("half_normal halfnorm halfnormal", "z ~ normal(0, sd), and abs(z) on the line below"),
        ("inverse_gamma invgamma", "g ~ gamma(shape, 1), and scale / g on the line below"),
        ("log_uniform loguniform", "u ~ uniform(log(a), log(b)), and exp(u) below it"),
        ("chi", "c ~ chi_square(df), and sqrt(c) on the line below"),
        ("mix mixture mixture_same_family mixturesamefamily gmm gaussian_mixture", MIXTURE),
        ("constant delta deterministic dirac", "x = 2 for what is fixed: '=' in place of '~'"),
    )
    for word in words.split()
}
# R's names without their first letter: rnorm draws, dnorm, pnorm and qnorm are functions of a law.
_OF_R = {
    "norm": "normal", "unif": "uniform", "binom": "binomial", "pois": "poisson", "t": "student_t",
    "exp": "exponential", "gamma": "gamma", "beta": "beta", "chisq": "chi_square", "f": "f",
    "geom": "geometric", "hyper": "hypergeometric", "nbinom": "negative_binomial",
    "weibull": "weibull", "cauchy": "cauchy", "logis": "logistic", "lnorm": "lognormal",
    "multinom": "multinomial",
}  # fmt: skip

# ---- words of constants --------------------------------------------------------------------------

_CONSTANTS_ELSEWHERE = {
    "π": "write pi", "infty": "write inf", "infinity": "write inf", "true": "write 1",
    "false": "write 0", "I": "write eye(n) for the matrix, normal(0, 1)[n] for n draws",
    "nan": "claim P(isnan(x)) == 1 of what has no value",
}  # fmt: skip

# What is said besides of names that have another meaning in papers.
IN_PAPERS = {"d": f"; {DERIVATIVE}", **dict.fromkeys("ij", f"; {COMPLEX}")}

# ---- statements and signs ------------------------------------------------------------------------

# Statements of Python by their first word.
_FREEZE = (
    "let the loop run to its end: to stop a state, keep its value by s = where(done, s, next); "
    "after the loop, first(event) tells at which step something happened"
)
STATEMENTS = {
    "while": f"write for t in range(T): with a T that is large enough, and {_FREEZE}",
    "break": _FREEZE,
    "continue": "choose by where(c, a, b), or a if c else b, in each line",
    **dict.fromkeys(
        ("if", "elif", "else"), "choose within a line: x = a if c else b, or x = where(c, a, b)"
    ),
    **dict.fromkeys(("def", "class"), NO_FUNCTIONS),
    **dict.fromkeys(
        ("import", "from"), "the vocabulary is there without it: sqrt(x), not np.sqrt(x)"
    ),
    "assert": "claim it: a statement in 'claim', or a condition on parameters in 'requires'",
}
# ---- characters of papers, and of other languages ------------------------------------------------

Table = tuple[tuple[str, str, str | Callable[[re.Match[str]], str]], ...]
"""Likely mistakes: a pattern, the message and the hint; the first that fits counts. The error
stands at the group `at`, else at the last one. Groups fill the texts by their numbers, from 0."""
LONGEST_SEARCHED = 1_000  # characters of a line


def likely(
    table: Table, source: SourceText, row: int, text: str, longest: int = LONGEST_SEARCHED
) -> DropcheckError | None:
    """The first likely mistake of a table in so many characters of a row of a text."""
    text = text[:longest]
    for pattern, message, hint in table:
        found = re.search(pattern, text)
        if found is not None:
            groups = found.groups() or (found[0],)
            group = "at" if "at" in found.groupdict() else found.lastindex or 0
            at = Position(source, row, found.start(group))
            shown = hint(found) if callable(hint) else hint.format(*groups)
            return at.error(message.format(*groups), shown)
    return None


_SIGNS_ELSEWHERE = {
    "≤": "write <=", "≥": "write >=", "≠": "write !=", "×": "write *", "·": "write *",
    "÷": "write /", "−": "write -", "–": "write -", "²": "write **2", "³": "write **3",
    "√": "write sqrt(…)", "∞": "write inf", "∼": "write ~", "∧": "write and", "∨": "write or",
    "¬": "write not", "∑": "write sum(…)", "∏": "write prod(…)", "ᵀ": "write .T",
    "⊤": "write .T", "‖": "write norm(x)",
    "∂": DERIVATIVE,
    "∇": DERIVATIVE,
    "∫": INTEGRAL,
    "≈": "write '==' and give a 'tolerance' or 'within', or isclose(a, b) of each draw",
    "±": "write the number, and the share that it may be off as 'tolerance'",
    "…": "write the numbers themselves",
    "∈": "write a comparison, or any(…)",
    **dict.fromkeys("⊥⟂⫫", f"write {SIGNATURE}"),
    "^": "write '**' for a power",
    "&": "write 'and'",
    "|": "write 'or', abs(x) for a magnitude, norm(x) for a length, given=event for a condition",
    "!": "write factorial(n), and 'not' for negation",
    "?": "write 'a if c else b'",
    "$": "write names without it",
    ";": "write each definition on a line of its own",
}  # fmt: skip
_NOT_PART = "{0!r} is not part of the language"
_NO_STRINGS = "the language has no strings"
_QUOTES = "'\"`“”‘’«»"
_OFF = "write the number, and the share that it may be off as 'tolerance'"


ODD_SIGNS: Table = (
    (rf"(?<!\w)([^\W\d]\w{{{LONGEST_NAME},}})", f"a name has at most {LONGEST_NAME} characters",
     "choose a shorter name"),
    (r"(\+/-)", _NOT_PART, _OFF),
    (r"(_\|{1,2}_)", _NOT_PART, f"write {SIGNATURE}"),
    (r"(\+-)", _NOT_PART, "write '-' for a difference; give and take is 'within' or 'tolerance'"),
    (r"(~=)", _NOT_PART, "it compares the two sides of a claim; here write '=='"),
    # 1..10, and 1, …, n without its commas
    (r"(?<!\w)(\d{1,40}|[^\W\d_])\s*(?P<at>\.{2,3}|…)\s*(\d{1,40}|[^\W\d_]\w{0,40})(?!\w)",
     "{1!r} is not part of the language",
     "write arange(n) for the numbers 0, …, n - 1; a loop goes through range(start, stop)"),
    (rf"^\s*([{_QUOTES}]).*[{_QUOTES}]\s*$", "{0!r} does not belong to the text",
     "take the quotes out; YAML reads straight ones alone, \"…\" or '…', around a text"),
    (rf"^[^{_QUOTES}]*[\w)\]](['’]|[{_QUOTES}](?=[^{_QUOTES}]*$))",
     "a prime is not part of the language",
     f"a name is written without, as x1; A.T is a transpose; {DERIVATIVE}"),
    (rf"([{_QUOTES}])", _NO_STRINGS,
     "names and numbers need no quotes; a law is written without them in a model"),
    (r"(\\[^\W\d_]+)",
     "'{0}' is a command of LaTeX, which is read in formulas of documents alone",
     "names are written without it, and formulas as in Python: (a + b) / c, x <= y; '~' draws"),
    (r"(\\)", "'{0}' is not part of the language",
     "an open bracket goes on over lines by itself"),
    (r"([A-Z]\w*)[(\[]([^|()\[\]]+?)\s*(?P<at>\|)\s*([^|()\[\]]+)[)\]]",
     "{2!r} is not part of the language", "write {0}({1}, given={3})"),  # E(x | x > 0)
    (r"(\^)\s*\{?\s*(?:T|\\?top)\b", _NOT_PART,
     "write A.T; of two vectors, a @ b is the inner product"),
    (r"(\^)\s*[({]?\s*-\s*1\b", _NOT_PART, "write 1 / x of a number, and inv(A) of a matrix"),
    (r"(?P<at>\|)\|(?=\S)([^|]{1,40})(?<=\S)\|\|", _NOT_PART, "write norm({1})"),
    (r"(?P<at>\|)(?=\S)([^|]{1,40})(?<=\S)\|", _NOT_PART, "write abs({1})"),
    (rf"(!(?!=)|[{re.escape(''.join({*_SIGNS_ELSEWHERE} - {'!'}))}])", _NOT_PART,
     lambda found: _SIGNS_ELSEWHERE[found[1]]),
)  # fmt: skip

# ---- lines that Python's grammar refuses ---------------------------------------------------------

RESERVED = "|".join(sorted({*keyword.kwlist} - {"and", "else", "if", "not", "or"}))
NO_COMPREHENSION = (
    "functions go over the elements of an array by themselves: sum(x**2), where(x > 0, x, 0); a "
    "recurrence is a loop in the model, for t in range(T):; n draws are x ~ normal(0, 1)[n]"
)
_NO_INDEX = r"^(?:[^\[\]]|\[[^\[\]]*\])*?"  # the beginning of a line, up to a place in no index
# Likely mistakes in a line that Python's grammar refuses: pattern, message, hint. The patterns are
# not compiled in advance: that took a millisecond of every start.
LIKELY: Table = (
    (rf"([^\W\d]\w*)\s*\((?:[^()]*,)?\s*(?P<at>{RESERVED})\s*=(?!=)",
     "{1!r} is a word of Python's grammar, and no argument of {0} is called so",
     lambda found: f"write {written_law(LAWS[found[1]])}" if found[1] in LAWS else
     "leave the name out, and give the arguments in their order"),
    (r"([^\W\d]\w*)\(([^()]*[^\s(),])(?:\s*,)?\s+(?P<at>given)\s+(?!=)([^()]*[^()\s])\)",
     "a condition is an argument by name, 'given=…', after a comma",
     "write {0}({1}, given={3})"),  # as in E(x given x > 0)
    (r"\b(for\s+(?:all|each|every|any)|forall)\b", "{0!r} is not part of the language",
     "a statement about an array is about each entry, and values p: [1, 2] are cases"),
    (r"^\s*(assert|claim|let|show|prove|verify|check)\b", "{0!r} is not part of a statement",
     "leave it out: a claim is the comparison itself"),
    (r"\b(independent|indep)\b(?!\s*\()", "{0!r} does not stand between its quantities",
     f"write {SIGNATURE}"),
    (r"\b(follows|sim|distributed)\b", "{0!r} is not part of the language",
     "write ~ in its place: x ~ normal(0, 1)"),
    (r"(?<!\w)(1\s*\{)", "{0!r} is not part of the language",
     "a comparison is 1 or 0 by itself: E(x > 0), P(x > 0)"),
    (r"(_\{)", "{0!r} is not part of the language",
     "write x[i] for an element; E(x) is over all draws; in a loop a state is x = f(x)"),
    (r"[(\s](<)\s*[^\W\d]\w*\s*,\s*[^\W\d]\w*\s*>", "{0!r} opens no bracket",
     "write a @ b for an inner product"),
    (r"\b(for|while)\b", "{0!r} does not stand in an expression",
     "a recurrence is a loop in the model: for t in range(T):, and its lines indented below"),
    (r"\b(lambda)\s+\w[^:]*:", "{0!r} is not part of the language", NO_FUNCTIONS),
    (rf"{_NO_INDEX}[\w)\]][,:]?\s+(within\b|tolerance\b|resolution\b|[^\W\d][\w-]*(?=\s*:\s))",
     "{0!r} is a key of its own, and not a part of the statement",
     "write it on a line below 'claim', and in a mark behind ';', as in {0}: …"),
    (rf"\b(?:{RESERVED})\b", "{0!r} is a word of Python's grammar, and cannot be a name",
     "choose another name, such as {0}_"),
    (r"(?<![\w.])\d+(?:\.\d*)?([ij])(?!\w)",
     "complex numbers are not part of the language, nor is a number beside a name",
     f"of a product write 2 * i; {COMPLEX}"),
    (r"(?<![\w.])\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?+\s*(?!(?:and|or|not|if|else)\b)[^\W\d]\w*",
     "a number and a name stand side by side", "write '*' between them: 2 * x, not 2x"),
    (r"\d\s*(%)\s*(?=$|[)\],<>=!])",
     "{0!r} is the remainder of a division, and its right side is missing",
     "write a percentage as a number: 0.05, not 5%"),
    (r"[\w)\]]\[\s*\]", "an index is missing between the brackets", "write x[0]"),
    (r"=<", "{0!r} does not compare", "write '<='"),
    (r"=>", "{0!r} does not compare", "write '>='"),
    (r"<>", "{0!r} does not compare", "write '!='"),
    (r"(?<![\w.])0\d", "a number starts with 0",
     "write it without: Python's grammar takes 010 for a mistake"),
    (r"(?<![=!<>:])=(?!=)", "{0!r} does not compare", "write '==' for equality"),
    (r"~", "{0!r} draws, and stands only after the names of a model's line",
     f"draw on a line of the model; a claim about a law reads {EXAMPLES}, and nothing around it"),
    (r"//\s*[^\W\d]\w*\s+[^\W\d]\w*\s*(?!\()", "these words are no expression",
     "a comment begins with '#'"),
    (rf"(?:(?<!\w)(?!(?:{RESERVED}|and|or|not|if|else)\b)[^\W\d]\w*|[)\]])\s+"
     r"(?!(?:and|or|not|if|else|in|is)\b)(\w+)", "an operator is missing before {0!r}",
     "write one, such as '*' or '=='; what a function takes stands in brackets: sqrt(x)"),
    (rf"{_NO_INDEX}(:)", "{0!r} does not stand outside an index, as in x[1:3]",
     "write '==' for equality, given=event for a condition"),
    (r"([-+*/%@])\s*$", "nothing stands right of {0!r}",
     "write what is meant there, or take the sign out"),
)  # fmt: skip

# ---- lines of a model that are refused -----------------------------------------------------------


_LINE = "a line of a model reads 'name ~ law' or 'name = expression'"
LINES: Table = (
    (rf"^\s*({'|'.join(STATEMENTS)})(?!\w)", "{0!r} does not begin a line of the language",
     lambda found: STATEMENTS[found[1]]),
    (r"^\s*(?P<at>repeat|loop)\s+([^:=~]+?)\s*:\s*$", "{0!r} does not begin a line of the language",
     "write for t in range({1}):"),
    (r"^\s*([^\W\d]\w*)\s*(?P<at>\*\*|//|[+\-*/%@])=(?!=)", "'{1}=' is not part of the language",
     "write {0} = {0} {1} …"),
    (r"^\s*([^\W\d]\w*)\([^()]*\)\s*=(?!=)",
     "{0!r} cannot be defined: the language has no functions of one's own", NO_FUNCTIONS),
    (r"^\s*([^\W\d]\w*)(?P<at>\[)[^\]]*\]\s*=(?!=)",
     "an element of an array cannot be given a value",
     "write where(arange(n) == i, a, x) under a new name; in a loop write {0} = … at each step: a "
     "state keeps its name, and a new name is the array of its values"),
    (r"^\s*(?P<at>\w+)\s*(\[[\w, ]+\])\s*~\s*(.{1,60}\))\s*$", _LINE,
     "the shape of a draw follows its law: {0} ~ {2}{1}"),
    (r"^\s*([(\[])[\w, ]+[)\]]\s*(?:~|=(?!=))", _LINE,
     "names stand without brackets: x, y ~ normal(0, 1)"),
    (r"^[^(\[{~=]*?(:=|<-)", "{0!r} is not part of the language",
     "write '~' to draw from a law, '=' to name an expression"),
)  # fmt: skip

# ---- hints ---------------------------------------------------------------------------------------

LONGEST_SHOWN = 60  # characters of the user's text in a hint
LEAST_ALIKE, SHORTEST = 0.83, 5  # of a misspelling: most short names are similar
# Modules of scipy, numpy, torch and TensorFlow Probability whose names are laws.
_OF_LAWS = ("stats", "random", "distributions", "rng")


def slip_of(name: str, known: Iterable[str]) -> str | None:
    """The hint for a misspelling of a known word; None if no word is similar enough.

    >>> slip_of("sigmiod", ["sigmoid"])
    "did you mean 'sigmoid'?"
    """
    meant = misspelled(name, known)
    return None if meant is None else f"did you mean {meant!r}?"


def misspelled(name: str, known: Iterable[str]) -> str | None:
    """The known word that was meant by a misspelling of it; None if none is similar enough.

    >>> misspelled("sigmiod", ["sigmoid"]), misspelled("nrom", ["norm"])
    ('sigmoid', 'norm')
    >>> misspelled("int", ["inv", "sin"]), misspelled("kron", ["round"])
    (None, None)
    """
    # a different first letter makes another word, such as nansum or gmean
    first, letters = {letter.lower() for letter in name[:2]}, sorted(name.lower())
    near = [one for one in known if one[:1].lower() in first]
    exchanged = (one for one in near if sorted(one.lower()) == letters)
    found = next(exchanged, None)
    return nearest(name, near, LEAST_ALIKE) if found is None and len(name) >= SHORTEST else found


def written_law(law: Law) -> str:
    """The signature of a law, with its note."""
    return f"{law.signature}: {law.note}" if law.note else law.signature


def words_elsewhere() -> dict[str, str]:
    """What to write in place of each word of other software and papers for a function.

    >>> words_elsewhere()["swish"], words_elsewhere()["matmul"], words_elsewhere()["pnorm"]
    ('write silu(x)', 'write a @ b', 'write cdf(normal(mean, sd), x)')
    """
    ours = (*FUNCTIONS.values(), *SIGNS.values(), *OF_LAWS.values())
    of_laws = (("d", "density({}, x)"), ("p", "cdf({}, x)"), ("q", "quantile_of({}, u)"))
    return {
        **{
            letter + word: f"write {called.format(LAWS[name].signature)}"
            for letter, called in of_laws
            for word, name in _OF_R.items()
        },
        **{word: one.hint for one in OPERATORS.values() for word in one.aliases},
        **{word: f"write {one.usage}" for one in reversed(ours) for word in one.aliases},
        **{name: f"write {one.usage}" for name, one in SIGNS.items()},
        **_WORDS_ELSEWHERE,
    }


def _laws_elsewhere() -> dict[str, str]:
    """What stands right of `~`, or the lines to write, for each law's name here and elsewhere."""
    names = {word: law for law in LAWS.values() for word in law.names}
    names |= {f"r{word}": LAWS[name] for word, name in _OF_R.items()}
    return _LAWS_ELSEWHERE | {word: written_law(law) for word, law in names.items()}


def _law_called(name: str) -> str | None:
    """A law by its name here or elsewhere; capitals are ignored if the name as written is none."""
    known = _laws_elsewhere()
    return known.get(name) or known.get(name.lower())


def law_hint(name: str) -> str:
    """The hint for a name that is not a law.

    >>> law_hint("Ber"), law_hint("rpois"), law_hint("bernouli")
    ('write bernoulli(p)', 'write poisson(rate)', "did you mean 'bernoulli'?")
    >>> law_hint("wald")
    "'dropcheck show' lists all laws"
    """
    written = _law_called(name)
    if written is not None:
        return f"write {written}"
    if name in FUNCTIONS:
        return f"{name!r} is a function: write '=' in place of '~'"
    near = slip_of(name, LAWS)
    meant = misspelled(name, _laws_elsewhere()) if near is None else None
    return near or (f"write {_law_called(meant)}" if meant else "'dropcheck show' lists all laws")


def name_hint(name: str, known: Collection[str]) -> str | None:
    """The hint for an unknown name, which may be one of the known ones.

    >>> name_hint("xy", ["x", "y"]), name_hint("X", ["x"]), name_hint("lenght", ["length"])
    ('write x * y for the product', "capitals matter: did you mean 'x'?", "did you mean 'length'?")
    """
    if name in _CONSTANTS_ELSEWHERE:
        return _CONSTANTS_ELSEWHERE[name]
    near = slip_of(name, known)
    if any(name.lower() == one.lower() for one in known):
        return f"capitals matter: {near}"
    for length in range(1, len(name)):
        if name[:length] in known and name[length:] in known:
            return f"write {name[:length]} * {name[length:]} for the product"
    return near


def written_call(function: Function) -> str:
    """How a function is called, for a call with other arguments."""
    if function.name == "arange":
        return "a + arange(b - a) for the numbers a, …, b - 1"
    lengths = any(parameter.name == "shape" for parameter in function.parameters)
    return f"{function.signature}{'; several lengths are a list, [2, 3]' if lengths else ''}"


def attribute_hint(name: str, owner: str = "", drawn: bool = True) -> str:
    """The hint for `x.name` and `x.name(…)`, where x ends in the word `owner`.

    `drawn` says whether the line draws from a law.

    >>> attribute_hint("mean"), attribute_hint("flatten"), attribute_hint("pi")
    ('functions are called by name: mean(x)', 'write reshape(x, -1), or the shape as a list', \
'write pi')
    >>> attribute_hint("rayleigh")
    'laws are called by name: rayleigh(scale)'
    >>> attribute_hint("norm", "stats"), attribute_hint("norm", "linalg")
    ('write normal(mean, sd): sd is the standard deviation, not the variance', \
'functions are called by name: norm(x)')
    """
    if owner in _OF_LAWS:
        return law_hint(name) if drawn else function_hint(name)
    if name in CONSTANTS:
        return f"write {name}"
    if name in LAWS:  # g.normal
        return f"laws are called by name: {written_law(LAWS[name])}"
    called = FUNCTIONS.get(name) or OF_LAWS.get(name)
    if called is not None:
        return f"functions are called by name: {called.usage}"
    return _CONSTANTS_ELSEWHERE.get(name) or function_hint(name)


def function_hint(name: str) -> str:
    """The hint for a name that is not a function.

    >>> function_hint("swish"), function_hint("ReLU")
    ('write silu(x)', "did you mean 'relu'?")
    >>> function_hint("N")
    'draw on a line of the model, x ~ normal(mean, sd): sd is the standard deviation, \
not the variance'
    """
    words = words_elsewhere()
    known = words.get(name) or words.get(name.lower())
    if known is not None:
        return known
    written = None if name.lower() in FUNCTIONS else _law_called(name)
    if written is not None:
        return f"draw on a line of the model, {'' if '~' in written else 'x ~ '}{written}"
    head, below, _ = name.partition("_")
    if below and head in OPERATORS:
        return f"write {OPERATORS[head].written}, which is over all draws"
    near = slip_of(name, [*FUNCTIONS, *OPERATORS, *OF_LAWS, INDEPENDENT])
    return near or f"{NO_FUNCTIONS}; 'dropcheck show' lists the functions of the language"
