"""Passes parameters of the claim to a function that takes them by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dropcheck.errors import DropcheckError, Problem
from dropcheck.results import ParameterValue


def with_parameters(
    function: Callable[..., Any], parameters: Mapping[str, ParameterValue]
) -> tuple[Callable[..., Any], frozenset[str]]:
    """The function with values for its parameters, except the generator and the count.

    Whole numbers are passed as int, others as float, vectors as arrays, laws as text.

    Args:
        function: takes a generator and a count, and then parameters by name.
        parameters: the claim's parameters.

    Returns:
        The function of a generator and a count, and the names that it takes.

    Raises:
        DropcheckError: it takes a parameter that the claim does not have.

    >>> drawn, given = with_parameters(lambda generator, count, p: [p] * count, {"p": 0.5})
    >>> drawn(None, 2), given
    ([0.5, 0.5], frozenset({'p'}))
    """
    try:
        own = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # for example, it is not written in Python
        return function, frozenset()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = [one for one in own[2:] if one.kind in by_name]
    given: dict[str, Any] = {}
    for one in named:
        if one.name in parameters:
            given[one.name] = _as_given(parameters[one.name])
        elif one.default is one.empty:
            message = f"sample takes {one.name!r}, which is no parameter of the claim"
            hint = f"give it: verify(…, {one.name}=…)"
            raise DropcheckError(Problem(message, hint=hint))
    if not given:
        return function, frozenset()
    return functools.partial(function, **given), frozenset(given)


def _as_given(value: ParameterValue) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return np.array(value)
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value
