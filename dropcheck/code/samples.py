"""`dropcheck.verify(sample=…)`: a function of a generator and a count, bound as a slot's code is.

It returns arrays by name, which the claim reads. There is no model of them: each is judged by what
is drawn alone.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dropcheck.claims.registry import CodeRequest, Sample, Slot, SourceText
from dropcheck.claims.values import name_problem
from dropcheck.code.adapters.adapter import kind_of
from dropcheck.code.adapters.numpy_adapter import NumpyAdapter
from dropcheck.code.calls import PROBE_DRAWS, Bound, CallPlan, PreparedFunction, constant
from dropcheck.errors import DropcheckError, Location, Problem
from dropcheck.language.graph import SAMPLE
from dropcheck.results import ParameterValue
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.elementwise import DOUBLE, EPSILONS
from dropcheck.vocabulary.operators import CONSTANTS, OPERATORS

# The draws of the first call, which shows the shapes: a length that few axes have by chance.
FIRST_DRAWS = 3
_RETURN = "return {'y': y}, with an array of `count` draws for each name"
_SLOT = Slot(
    name="sample",
    law=SourceText.plain("sample"),  # as of a sampler, draws of one call are independent
    location=Location("sample"),
)
_ASKED = CodeRequest(draws=FIRST_DRAWS, shapes=(), dtype=None, modes=frozenset())


def sample_of(function: Any, parameters: Mapping[str, ParameterValue]) -> Sample:
    """A function as a source of draws, after a call that shows its names and shapes.

    Args:
        function: makes the draws.
        parameters: the claim's parameters, which the function may take by name.

    Raises:
        DropcheckError: it fails, or returns something other than named arrays of draws.
    """
    if not callable(function):
        message = f"sample is a function of a generator and a count, not {kind_of(function)}"
        raise DropcheckError(Problem(message, hint=_RETURN))
    function, takes = with_parameters(function, parameters)
    code = NamedDraws(function)
    formats = [one.dtype.name for one in code.first.values() if one.dtype.name in EPSILONS]
    coarsest = max(formats, key=EPSILONS.__getitem__, default=DOUBLE)
    return Sample(
        slot=_SLOT,
        code=code,
        shapes={name: one.shape[1:] for name, one in code.first.items()},
        truths=frozenset(name for name, one in code.first.items() if one.dtype == bool),
        takes=takes,
        dtype=None if coarsest == DOUBLE else coarsest,
    )


class NamedDraws(Bound):
    """A function that draws several names at once: they take the place of a slot's modes.

    `first` are the arrays of its first call.
    """

    subject = "{!r} as "
    returns = (
        "return numpy arrays of real numbers or truths; a tensor is one by "
        ".detach().cpu().numpy(), of bfloat16 by .detach().cpu().float().numpy()"
    )
    first_axis = "the first axis is the draw: its length is the count"

    def __init__(self, function: Callable[..., Mapping[str, Any]]) -> None:
        super().__init__(_SLOT, NumpyAdapter(), function, name="sample")
        self.first: Mapping[str, Array] = {}
        self._adapter.begin(0)
        plan = self._planned(_ASKED, ())
        with self._calling():
            drawn = self._call(plan, (), frozenset(), FIRST_DRAWS)
            self.first = {name: self._taken(plan, name, one, FIRST_DRAWS) for name, one in drawn}

    def _key(self, asked: CodeRequest, inputs: Sequence[Array]) -> object:
        return SAMPLE  # it is checked once, whichever of its names are read

    def _looked_at(self, asked: CodeRequest, inputs: Sequence[Array]) -> CallPlan:
        whole = replace(asked, draws=PROBE_DRAWS, modes=frozenset(self.first))
        return super()._looked_at(whole, inputs)

    def _planned(self, asked: CodeRequest, inputs: Sequence[Array]) -> CallPlan:
        shapes = {name: one.shape[1:] for name, one in self.first.items()}
        return CallPlan(
            code=PreparedFunction(self._function, self._function),
            dtype=DOUBLE,
            elements=max([1, *map(math.prod, shapes.values())]),
            shapes=shapes,
        )

    def _outputs(
        self,
        plan: CallPlan,
        arguments: Sequence[Any],
        modes: frozenset[str],
        size: int,
    ) -> list[tuple[str, Any]]:
        returned = self._function(self._adapter.source("generator"), size)
        if not isinstance(returned, Mapping) or not returned:
            what = "an empty mapping" if isinstance(returned, Mapping) else kind_of(returned)
            raise self._fault(f"returned {what}, and named arrays are needed", _RETURN)
        for name in returned:
            is_word = name in CONSTANTS or name in OPERATORS
            said = "is a word of the language" if is_word else name_problem(name)
            if said is not None:
                message = f"returned the name {str(name)[:100]!r}, which {said}"
                raise self._fault(message, "choose another name")
        if self.first and returned.keys() != self.first.keys():
            before, now = (", ".join(map(repr, names)) for names in (self.first, returned))
            raise self._fault(
                f"returned {before} in one call, and {now} in another",
                "return the same names whatever the count",
            )
        return [one for one in returned.items() if one[0] in modes or not modes]

    def _given(self, arguments: Sequence[Any], size: int) -> str:
        return f"it was called with a numpy Generator and the count {size}"

    def _taken(self, plan: CallPlan, mode: str, output: Any, size: int) -> Array:
        array = super()._taken(plan, mode, output, size)
        first = self.first.get(mode, array)
        if (array.dtype == bool) != (first.dtype == bool):
            raise self._fault(
                f"returned {mode!r} as truths in one call, and as numbers in another",
                "return one or the other, whatever is drawn",
            )
        if array.size == 0:
            shape = list(array.shape[1:])
            message = f"returned {mode!r} with draws of shape {shape}, without elements"
            raise self._fault(message, "leave it out")
        return array


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
            value = parameters[one.name]
            text = isinstance(value, str)
            given[one.name] = value if text else constant(np.array(value), DOUBLE, whole=True)
        elif one.default is one.empty:
            message = f"sample takes {one.name!r}, which is no parameter of the claim"
            hint = f"give it: verify(…, {one.name}=…)"
            raise DropcheckError(Problem(message, hint=hint))
    if not given:
        return function, frozenset()
    return functools.partial(function, **given), frozenset(given)
