"""Words of papers and of other libraries that are no function here, and what to write instead.

If a function only has another name elsewhere, that name is in its entry. Here are the words that
need several functions or another construct, and those that the language does not have.
"""

from __future__ import annotations

_NONE = "it is not in the vocabulary, and nothing there stands for it"

COMPLEX = (
    "numbers are real: of a complex one keep both parts. exp(1j * t) is cos(t) and sin(t); a pair "
    "(a, b) turned by t is a * cos(t) - b * sin(t), a * sin(t) + b * cos(t)"
)
DERIVATIVE = (
    "there are no derivatives: write the formula of the derivative, or a quotient of differences, "
    "(y1 - y0) / h, with y0 at x and y1 at x + h; diff(y) has the differences of neighbours"
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
    (
        "airy bessel betainc betaln bitwise_and ellipk entropy erfcx erfinv expm "
        "fsolve gammainc gcd hermite interp kl kl_div kv jv iv lambertw lcm legendre linprog logm "
        "lu minimize nll polyfit polygamma root_scalar schur sqrtm ttest_ind trigamma unique zeta "
        "acosh arccosh",
        _NONE,
    ),
    ("cross_entropy", "of logits z and a label write logsumexp(z) - take(z, label)"),
    ("cexp cis complex conj conjugate fft fft2 ifft im imag polar re real rfft roots", COMPLEX),
    (
        "D autograd backward deriv derivative divergence grad gradient hessian jac jacobian "
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
    ("default_rng manual_seed random randint seed", _DRAW),
    ("append column_stack dstack hstack row_stack vstack", _STACK),
    ("t", "write x.T"),
    ("flatten ravel view", "write reshape(x, -1), or the shape as a list"),
    ("moveaxis rollaxis", "write transpose(x, [1, 0, 2]): the axes in their new order"),
    ("asarray list matrix tensor tuple vector", "a list is an array: [1, 2], [[1, 2], [3, 4]]"),
    ("ndtri phi_inv probit", "write quantile_of(normal(0, 1), u)"),
    ("argpartition argtopk", "write argsort(x)[-k:] for the places of the largest k"),
    ("logdet slogdet", "write log(abs(det(x)))"),
    ("lstsq", "write pinv(A) @ b"),
    ("deg2rad radians", "write x * pi / 180"),
    ("degrees rad2deg", "write x * 180 / pi"),
    ("fix trunc", "write sign(x) * floor(abs(x))"),
    ("add plus", "write a + b"),
    ("minus subtract", "write a - b"),
    ("multiply times", "write a * b"),
    ("divide true_divide", "write a / b"),
    ("logical_and", "write a and b"),
    ("logical_or", "write a or b"),
    ("logical_not", "write not a"),
    ("equal array_equal", "write a == b, and all(a == b) of arrays"),
    ("allclose", "write all(isclose(a, b))"),
    ("gather index_select embedding", "write take(x, i)"),
    ("scatter scatter_add put", "write one_hot(i, n), times what is to stand there"),
    ("diag_embed", "write diag(x)"),
    ("fliplr", "write x[:, ::-1]"),
    ("flipud", "write x[::-1]"),
    ("split chunk array_split", "write x[:k] and x[k:]"),
    ("pad", "write concat(zeros(1), x)"),
    ("inner vdot", "write a @ b"),
    ("normalize standardize zscore", "write (x - mean(x)) / std(x)"),
    ("bootstrap resample", "draw i ~ discrete_uniform(0, n - 1)[n], and write take(x, i)"),
    ("shuffle", "draw i ~ permutation(n), and write take(x, i)"),
    ("eig", "of a symmetric matrix write eigvalsh(x) for the eigenvalues, eigvecsh(x) for the "
            "vectors; those of others are complex, and svdvals(x) is real"),
    ("eigh", "write eigvalsh(x) for the eigenvalues, eigvecsh(x) for the vectors as columns"),
    ("svd", "write svdvals(x) for the singular values; eigvecsh(x.T @ x) has the vectors"),
    ("qr", "write qr_q(x), and qr_q(x).T @ x for R"),
)  # fmt: skip

OTHER_WORDS = {word: hint for words, hint in _SEVERAL for word in words.split()} | {
    "I": "a comparison is 1 or 0 by itself: E(x > 0), P(x > 0)",
    "Q": "of the elements of one draw write quantile(x, u); of the law of u write Quantile(u, p)",
    "angle": "write arctan2(y, x) for the angle of the point (x, y)",
    "average": "of the law write E(u), of the elements of one draw mean(x)",
    "bool": "any number but 0 is true: write x != 0",
    "center": "write x - mean(x)",
    "cosine_similarity": "write a @ b / (norm(a) * norm(b))",
    "cot": "write 1 / tan(x)",
    "count_nonzero": "write sum(x != 0)",
    "cross": "write [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * "
    "b[0]]",
    "csc": "write 1 / sin(x)",
    "cummin": "write -cummax(-x)",
    "einsum": "write products as a @ b, a * b and sum(…, axis=…)",
    "exp2": "write 2**x",
    "float": "all numbers are floats: leave it out",
    "float_power": "write x**y",
    "fmod": "write a % b, which has the sign of b",
    "gmean": "write exp(mean(log(x)))",
    "hmean": "write 1 / mean(1 / x)",
    "heaviside": "a comparison is 1 or 0 by itself: x > 0",
    "histogram": "write bincount(floor(x / width), n), or sum(x <= edge)",
    "hypot": "write sqrt(a**2 + b**2)",
    "indicator": "a comparison is 1 or 0 by itself: E(x > 0), P(x > 0)",
    "int": "write floor(x), which is the whole part of x >= 0; the integral of a function g from a "
    "to b is (b - a) * E(g(u)) with u ~ uniform(a, b)",
    "layernorm": "write (x - mean(x)) / std(x), with keepdims=1 where x has rows",
    "mae": "write mean(abs(a - b))",
    "matrix_power": "write A @ A",
    "matrix_rank": "write sum(svdvals(x) > 1e-9)",
    "meshgrid": "x[:, None] and y[None] go together to a table of all pairs",
    "mish": "write x * tanh(softplus(x))",
    "mse": "write mean((a - b)**2)",
    "nonzero": "sum(x != 0) counts them, and x[c] keeps those where a fixed c holds",
    "argwhere": "sum(c) counts them, and first(c) is the place of the first",
    "pdf": "write density(law, x), or phi(x) of a standard normal",
    "perm": "write factorial(n) / factorial(n - k)",
    "print": "'dropcheck show' prints a claim; claim what is wanted of a quantity, E(x) == …",
    "prob": "write P(event)",
    "ptp": "write max(x) - min(x)",
    "rank": "write argsort(argsort(x)) for the ranks of elements, sum(svdvals(x) > 1e-9) for that "
    "of a matrix",
    "rint": "write round(x)",
    "rms": "write sqrt(mean(x**2))",
    "rmsnorm": "write x / sqrt(mean(x**2)), with keepdims=1 where x has rows",
    "rsqrt": "write 1 / sqrt(x)",
    "searchsorted": "write sum(edges <= x)",
    "sec": "write 1 / cos(x)",
    "sinc": "write sin(pi * x) / (pi * x) where x is not 0, and 1 where it is",
    "softsign": "write x / (1 + abs(x))",
    "sqr": "write x**2 for the square, sqrt(x) for the root",
    "square": "write x**2",
    "topk": "write sort(x)[-k:] for the largest k",
}
"""What to write in place of each word."""
