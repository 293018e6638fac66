"""Short words for writing down the parameters of functions."""

from __future__ import annotations

from dropcheck.vocabulary.entries import Parameter


def value(name: str) -> Parameter:
    """A parameter that is an array, which may be random."""
    return Parameter(name)


def option(name: str, default: float | None = None) -> Parameter:
    """A parameter that is fixed when the case is read; required where it has no default."""
    return Parameter(name, option=True, required=default is None, default=default)


X = (value("x"),)
PAIR = (value("a"), value("b"))
MORE = Parameter("more", required=False, variadic=True)
AXIS = option("axis", -1.0)
OVER = (AXIS, option("keepdims", 0.0))
SIZES = (Parameter("sizes", option=True, variadic=True),)
