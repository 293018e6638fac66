"""Every distribution of the language, by name, and the check of fixed arguments."""

from __future__ import annotations

import copyreg
from collections.abc import Iterator
from typing import Any

from dropcheck.vocabulary.entries import Law, LawParameter
from dropcheck.vocabulary.law_parts import domain_problem
from dropcheck.vocabulary.laws_continuous import CONTINUOUS
from dropcheck.vocabulary.laws_discrete import DISCRETE
from dropcheck.vocabulary.laws_vector import VECTOR

LAWS: dict[str, Law] = {law.name: law for law in (*CONTINUOUS, *DISCRETE, *VECTOR)}


def named(name: str) -> Law:
    """The law of a name: how one goes from one process to another."""
    return LAWS[name]


copyreg.pickle(Law, lambda law: (named, (law.name,)))


def argument_problem(law: Law, values: tuple[Any, ...]) -> str | None:
    """What keeps fixed arguments from being those of the law, or None.

    Args:
        law: One of `LAWS`.
        values: An argument for each parameter, in order: a number, or nested tuples of numbers.
            Tuples nested deeper than the parameter's own `axes` are arrays of arguments, and
            combine by numpy's rule.

    Returns:
        A sentence without a full stop, or None where all is well.

    >>> argument_problem(LAWS["bernoulli"], (1.2,))
    'p must satisfy 0 <= p <= 1, and is 1.2'
    >>> argument_problem(LAWS["uniform"], (2.0, 1.0))
    'low <= high is required, and it does not hold for low = 2, high = 1'
    >>> argument_problem(LAWS["normal"], ((0.0, 1.0), 2.0)) is None
    True
    """
    for parameter, value in zip(law.parameters, values, strict=True):
        depth = _depth(value)
        if depth < parameter.axes:
            kind = "list" if parameter.axes == 1 else "matrix"
            return f"{parameter.name} must be a {kind} of numbers"
        for number in _numbers(value):
            problem = domain_problem(parameter, number)
            if problem is not None:
                return problem
        if parameter.axes and not _full(value):
            return f"{parameter.name} must not be empty"
    if law.joint is None:
        return None
    for cell in _cells(law.parameters, values):
        problem = law.joint(*cell)
        if problem is not None:
            return problem
    return None


def _depth(value: Any) -> int:
    depth = 0
    while isinstance(value, tuple):
        depth += 1
        value = value[0] if value else 0.0
    return depth


def _full(value: Any) -> bool:
    return not isinstance(value, tuple) or (bool(value) and all(map(_full, value)))


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, tuple):
        for entry in value:
            yield from _numbers(entry)
    else:
        yield value


def _cells(
    parameters: tuple[LawParameter, ...], values: tuple[Any, ...]
) -> Iterator[tuple[Any, ...]]:
    """The single sets of arguments that arrays of arguments stand for, by numpy's rule."""
    spare = [_depth(v) - p.axes for p, v in zip(parameters, values, strict=True)]
    deepest = max(spare, default=0)
    if deepest <= 0:
        yield values
        return
    longest = max(len(v) for v, s in zip(values, spare, strict=True) if s == deepest)
    for index in range(longest):
        cell = tuple(
            v[min(index, len(v) - 1)] if s == deepest and v else v
            for v, s in zip(values, spare, strict=True)
        )
        yield from _cells(parameters, cell)
