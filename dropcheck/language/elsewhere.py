"""What things are called elsewhere: in papers, in numpy, in PyTorch, and what to write here.

A name that is spelled nearly like one of ours may mean another thing, as `swish` is near `sinh`;
so the hint for an unknown name is looked for here before it is guessed from the spelling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.language.lowering.binding import signature
from dropcheck.language.lowering.scope import OPERATORS
from dropcheck.language.syntax import Array, Binary, Call, Name, Node, Number
from dropcheck.language.wording import listed
from dropcheck.vocabulary.function_table import FUNCTIONS
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS

LONGEST_SHOWN = 60  # characters of the reader's own text in a hint

_NONE = "it is not in the vocabulary, and nothing there stands for it"
_HALF_NORMAL = "there is none: draw z ~ normal(0, sd), and take abs(z)"
_MEAN = "the mean of the law is E(u), that of the elements of one draw mean(x)"
_SPREAD = "the standard deviation of the law is Std(u), that of the elements of one draw std(x)"
_SHAPED = "there is none: draw the array in the shape that it is to have, normal(0, 1)[n, m]"

# Names of laws that there are not.
_NO_LAWS = {
    "half_normal": _HALF_NORMAL,
    "halfnorm": _HALF_NORMAL,
    "halfnormal": _HALF_NORMAL,
    "rand": "write uniform(0, 1), and a shape in brackets after it: uniform(0, 1)[n]",
    "randn": "write normal(0, 1), and a shape in brackets after it: normal(0, 1)[n]",
}
_FUNCTIONS = {
    "V": "the variance of the law is Var(u), that of the elements of one draw var(x)",
    "variance": "the variance of the law is Var(u), that of the elements of one draw var(x)",
    "absolute": "write abs(x)",
    "acos": "write arccos(x)",
    "acosh": _NONE,
    "arccosh": _NONE,
    "amax": "write max(x)",
    "amin": "write min(x)",
    "asin": "write arcsin(x)",
    "asinh": "write arcsinh(x)",
    "atan": "write arctan(x)",
    "atan2": "write arctan2(y, x)",
    "atanh": "write arctanh(x)",
    "average": _MEAN,
    "avg": _MEAN,
    "binom": "write comb(n, k)",
    "bmm": "write a @ b",
    "cat": "write concat(a, b)",
    "cdf": "of a standard normal it is Phi(x); of any law, P(u <= x)",
    "ceiling": "write ceil(x)",
    "choose": "write comb(n, k)",
    "clamp": "write clip(x, low, high)",
    "concatenate": "write concat(a, b)",
    "correlation": "write Corr(u, v)",
    "covariance": "write Cov(u, v)",
    "cross_entropy": _NONE,
    "einsum": "write products as a @ b, a * b and sum(…, axis=…)",
    "entropy": _NONE,
    "erfinv": _NONE,
    "ev": _MEAN,
    "exp2": "write 2**x",
    "expect": _MEAN,
    "expectation": _MEAN,
    "expected": _MEAN,
    "expit": "write sigmoid(x)",
    "fabs": "write abs(x)",
    "flatten": _SHAPED,
    "fmod": "write a % b, which has the sign of b",
    "identity": "write eye(n)",
    "ifelse": "write where(c, a, b), or a if c else b",
    "indicator": "a comparison is 1 or 0 by itself: E(x > 0), P(x > 0)",
    "inverse": "write inv(A)",
    "kl": _NONE,
    "kl_div": _NONE,
    "kurtosis": "write Kurt(u)",
    "layernorm": "write (x - mean(x)) / std(x), with keepdims=1 where x has rows",
    "len": "the number of elements is size(x)",
    "ln": "the natural logarithm is log(x)",
    "log_softmax": "write z - logsumexp(z), with keepdims=1 where z has rows",
    "logsoftmax": "write z - logsumexp(z), with keepdims=1 where z has rows",
    "matmul": "write a @ b",
    "mean": _MEAN,
    "median": "of a law, m is the median where P(u <= m) == 0.5",
    "mm": "write a @ b",
    "mod": "write a % b",
    "mse": "write mean((a - b)**2)",
    "ndtr": "write Phi(x)",
    "ndtri": _NONE,
    "nll": _NONE,
    "norm_cdf": "write Phi(x)",
    "pdf": "write density(law, x), or phi(x) of a standard normal",
    "permute": _SHAPED,
    "phi_inv": _NONE,
    "pinv": _NONE,
    "pow": "write x**y",
    "power": "write x**y",
    "ppf": _NONE,
    "pr": "write P(event)",
    "prob": "write P(event)",
    "probability": "write P(event)",
    "probit": _NONE,
    "quantile": "of a law, q is the quantile at level a where P(u <= q) == a",
    "range": "write arange(n)",
    "ravel": _SHAPED,
    "remainder": "write a % b",
    "reshape": _SHAPED,
    "rsqrt": "write 1 / sqrt(x)",
    "sd": _SPREAD,
    "sgn": "write sign(x)",
    "skewness": "write Skew(u)",
    "square": "write x**2",
    "stddev": _SPREAD,
    "stdev": _SPREAD,
    "svd": _NONE,
    "swish": "write silu(x)",
    "topk": _NONE,
    "tr": "write trace(A)",
    "transpose": "write A.T",
    "tril": _NONE,
    "triu": _NONE,
    "view": _SHAPED,
}


def _law_called(name: str) -> str | None:
    """The law that has this name here or elsewhere, as a call, with what may surprise in it.

    Capitals matter only where they make another name: `N`.
    """
    folded = name.lower()
    for wanted in (name, folded):
        for law in LAWS.values():
            if wanted == law.name or wanted in law.elsewhere:
                return f"{signature(law)}: {law.note}" if law.note else signature(law)
    return None


def law_hint(name: str) -> str:
    """What to write in place of a name that is no law.

    >>> law_hint("Ber")
    'write bernoulli(p)'
    >>> law_hint("bernouli")
    "did you mean 'bernoulli'?"
    """
    written = _law_called(name)
    if written is not None:
        return f"write {written}"
    told = _NO_LAWS.get(name.lower())
    if told is None and name in FUNCTIONS:
        told = f"{name!r} is a function: write '=' in place of '~'"
    return told or suggestion(name, LAWS) or f"laws are {listed(LAWS)}"


def square_for_sd(law: Law, arguments: Sequence[Node]) -> Iterator[Problem]:
    """A note on each standard deviation that is written as a square, as a variance is."""
    for parameter, node in zip(law.parameters, arguments, strict=True):
        if parameter.name == "sd" and _is_square(node):
            yield Problem(
                f"the second argument of {law.name} is the standard deviation, and this is a "
                "square, as of a variance",
                node.at.location,
                "write its root; a deviation that is a square gets a name on a line above",
            )


def _is_square(node: Node) -> bool:
    match node:
        case Binary(operator="**", right=Number(value=2.0)):
            return True
        case Binary(operator="*", left=Name() as left, right=right):
            return left == right
        case _:
            return False


def shape_by_name(call: Call, names: Sequence[str]) -> DropcheckError:
    """An error for the shape of a draw among the law's arguments, as numpy has it."""
    from dropcheck.language.printing import unparse

    given = next(value for name, value in call.keywords if name not in names)
    kept = tuple((name, value) for name, value in call.keywords if name in names)
    own = unparse(Call(call.at, call.name, call.arguments, kept))
    entries = given.items if isinstance(given, Array) else (given,)
    wanted = f"{own}[{', '.join(map(unparse, entries))}]"
    hint = f"write {wanted if len(wanted) <= LONGEST_SHOWN else 'normal(0, 1)[n]'}"
    return given.at.error(f"the shape of a draw follows {call.name}(…) in brackets", hint)


def function_hint(name: str) -> str:
    """What to write in place of a name that is no function.

    >>> function_hint("swish"), function_hint("ReLU")
    ('write silu(x)', "did you mean 'relu'?")
    >>> function_hint("N")
    'draw on a line of the model, x ~ normal(mean, sd): its second argument is the standard \
deviation, not the variance'
    """
    told = _FUNCTIONS.get(name) or _FUNCTIONS.get(name.lower()) or _NO_LAWS.get(name.lower())
    if told is not None:
        return told
    known = [*FUNCTIONS, *OPERATORS, "density", "logdensity"]
    written = _law_called(name)
    if written is not None and name.lower() not in FUNCTIONS:
        return f"draw on a line of the model, x ~ {written}"
    return (
        suggestion(name, known) or "recurrences and functions of your own are not part of format 1"
    )
