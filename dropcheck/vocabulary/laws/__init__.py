"""Every distribution of the language, by name.

Each law is an entry `NAME = Law(…)` in one of the modules here, which are sorted by the values that
their laws give.

>>> import numpy as np
>>> LAWS["normal"].sample(np.random.default_rng(0), [np.zeros(1), np.ones(1)], (2,), 1000).shape
(2, 1000)
>>> LAWS["poisson"].log_density([np.array([2.0])], np.array([0.0, 0.5])).tolist()
[-2.0, -inf]
>>> LAWS["uniform"].support(0.0, 3.0), LAWS["student_t"].moment_order(2.5)
((0.0, 3.0), 2.5)
"""

from __future__ import annotations

import copyreg

from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import continuous, discrete, vectors

_FAMILIES = (
    continuous,
    continuous,
    continuous,
    continuous,
    discrete,
    discrete,
    discrete,
    vectors,
)

LAWS: dict[str, Law] = {
    entry.name: entry
    for family in _FAMILIES
    for entry in vars(family).values()
    if isinstance(entry, Law)
}


_HALF_NORMAL = "there is none: draw z ~ normal(0, sd), and take abs(z)"
# Names of other libraries for laws that the language does not have, and what to write instead.
_NO_LAWS = {
    "half_normal": _HALF_NORMAL,
    "halfnorm": _HALF_NORMAL,
    "halfnormal": _HALF_NORMAL,
    "rand": "write uniform(0, 1), and a shape in brackets after it: uniform(0, 1)[n]",
    "randn": "write normal(0, 1), and a shape in brackets after it: normal(0, 1)[n]",
}


def hint_for(name: str) -> str | None:
    """What to write for a law of other libraries that the language does not have; None: unknown.

    >>> hint_for("HalfNormal"), hint_for("normal")
    ('there is none: draw z ~ normal(0, sd), and take abs(z)', None)
    """
    return _NO_LAWS.get(name.lower())


def law_called(name: str) -> Law | None:
    """The law of this name or alias; capital letters are ignored if the name as written is none.

    >>> law_called("Ber").name, law_called("nothing")
    ('bernoulli', None)
    """
    for wanted in (name, name.lower()):
        for law in LAWS.values():
            if wanted == law.name or wanted in law.aliases:
                return law
    return None


def _named(name: str) -> Law:
    return LAWS[name]


# a law is sent to another process as its name
copyreg.pickle(Law, lambda law: (_named, (law.name,)))
