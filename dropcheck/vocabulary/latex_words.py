"""The LaTeX commands for the words of the language."""

from __future__ import annotations

from dropcheck.vocabulary.operators import CONSTANTS, OPERATORS, PROBABILITY

SUM_NAME, PRODUCT_NAME, LOGARITHM_NAME = "sum", "prod", "log"
MEAN_NAME, VARIANCE_NAME = "E", "Var"
INVERSE_NAME, OUTER_NAME, PLACES_NAME = "inv", "outer", "arange"
_OWN_NAMES = "exp log sin cos tan arcsin arccos arctan sinh cosh tanh max min det"
TOTALS = {r"\sum": SUM_NAME, r"\prod": PRODUCT_NAME}
"""Commands with a range below and above, and the functions of an array that they mean."""
CALLED = {
    r"\Pr": PROBABILITY,
    r"\ln": LOGARITHM_NAME,
    r"\Prob": PROBABILITY,
    r"\PP": PROBABILITY,
    r"\EE": MEAN_NAME,
    r"\cov": "Cov",
    r"\corr": "Corr",
    r"\var": "var",
    r"\SD": "std",
    r"\sd": "std",
    r"\Phi": "Phi",
    r"\Gamma": "gamma",
    r"\operatorname{ReLU}": "relu",
    r"\operatorname{tr}": "trace",
    **{rf"\{name}": name for name in _OWN_NAMES.split()},
    r"\mathbb{V}": VARIANCE_NAME,
    **{rf"\{name}": name for name in OPERATORS},
}
"""Commands that stand before an argument in brackets, and the words that they mean."""
ENCLOSING = {
    r"\lvert": (r"\rvert", "abs"),
    r"\lfloor": (r"\rfloor", "floor"),
    r"\lceil": (r"\rceil", "ceil"),
    r"\lVert": (r"\rVert", "norm"),
    r"\Vert": (r"\Vert", "norm"),
    r"\|": (r"\|", "norm"),
}
"""Commands that open an argument, each with the command that closes it, and the function."""
GROUPED = {r"\sqrt": ("sqrt", 1), r"\binom": ("comb", 2)}
"""Commands with arguments in braces: the function, and the number of arguments."""
ACCENTS = {
    **{rf"\{name}": name for name in ("bar", "hat", "tilde", "vec", "dot")},
    r"\overline": "bar",
    r"\widehat": "hat",
    r"\widetilde": "tilde",
}
"""Signs above a letter, and the words for them in names of models: Xbar or X_bar."""
INDICATORS = (r"\mathbb{1}", r"\mathbf{1}", r"\mathds{1}", r"\mathbb{I}")
"""Commands before an event in brackets: the result is 1 where it holds, else 0."""
AFTER = {"!": "factorial"}
"""Signs that stand after their argument."""
RELATIONS = {
    "=": "==",
    "<": "<",
    ">": ">",
    r"\leq": "<=",
    r"\geq": ">=",
    r"\neq": "!=",
    r"\le": "<=",
    r"\ge": ">=",
    r"\lt": "<",
    r"\gt": ">",
    r"\ne": "!=",
}
AND, OR, NOT = "and", "or", "not"
LOGIC = {
    r"\land": AND,
    r"\lor": OR,
    r"\lnot": NOT,
    r"\neg": NOT,
    r"\cap": AND,
    r"\cup": OR,
    r"\wedge": AND,
    r"\vee": OR,
}  # as papers write events
LETTERS = {c.latex: name for name, c in CONSTANTS.items()}
INFINITY = LETTERS[r"\infty"]
_SMALL = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho varsigma
sigma tau upsilon phi chi psi omega"""
_CAPITAL = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
GREEK = dict(
    zip(f"{_SMALL} {_CAPITAL}".split(), "αβγδεζηθικλμνξπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", strict=True)
)
"""Greek letters by the names of their commands."""
SIGNS = {
    "\N{MINUS SIGN}": "-",
    "\N{DIVIDES}": "|",
    "\N{MULTIPLICATION SIGN}": r"\times",
    "\N{DOT OPERATOR}": r"\cdot",
    "\N{MIDDLE DOT}": r"\cdot",
    "\N{LESS-THAN OR EQUAL TO}": r"\le",
    "\N{GREATER-THAN OR EQUAL TO}": r"\ge",
    "\N{ALMOST EQUAL TO}": r"\approx",
    "\N{ELEMENT OF}": r"\in",
    "\N{INTERSECTION}": r"\cap",
    "\N{UNION}": r"\cup",
    "\N{INFINITY}": r"\infty",
}
"""Signs of Unicode, and what LaTeX writes for them."""
NAMES_OF_FUNCTIONS = {*"fghFGH", "zeta", "sigma", "varsigma", "phi", "psi", *_CAPITAL.split()}
"""Letters that name functions in most papers."""
