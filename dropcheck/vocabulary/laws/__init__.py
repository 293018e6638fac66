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

LAWS: dict[str, Law] = {
    entry.name: entry
    for family in (continuous, discrete, vectors)
    for entry in vars(family).values()
    if isinstance(entry, Law)
}


def _named(name: str) -> Law:
    return LAWS[name]


# a law is sent to another process as its name
copyreg.pickle(Law, lambda law: (_named, (law.name,)))
