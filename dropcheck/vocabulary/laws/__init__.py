"""Every distribution of the language, by name.

A law is an entry of one of the modules here, by the values that it gives: a name for a `Law`.
"""

from __future__ import annotations

import copyreg

from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import bounded, discrete, line, lists, positive

_FAMILIES = (line, positive, bounded, discrete, lists)

LAWS: dict[str, Law] = {
    entry.name: entry
    for family in _FAMILIES
    for entry in vars(family).values()
    if isinstance(entry, Law)
}


def _named(name: str) -> Law:
    return LAWS[name]


# a law goes from one process to another by its name
copyreg.pickle(Law, lambda law: (_named, (law.name,)))
