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
from dropcheck.code.calls import Bound, CallPlan, PreparedFunction, alarmed
from dropcheck.code.probes import PROBE_DRAWS
from dropcheck.errors import DropcheckError, Location, Problem
from dropcheck.language.graph import SAMPLE
from dropcheck.results import ParameterValue
from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.number_formats import DOUBLE, EPSILONS
from dropcheck.vocabulary.operators import OPERATORS

# The draws of the first call, which shows the shapes: a length that few axes have by chance.
FIRST_DRAWS = 3
_RETURN = "return {'y': y}, with an array of `count` draws for each name"
_SLOT = Slot(
    name="sample",
    title=None,
    takes=(),
    model=None,
    gives=None,
    law=SourceText.plain("sample"),  # as of a sampler, draws of one call are independent
    gradient=None,
    evaluation=None,
    independent=False,
    location=Location("sample"),
)
_ASKED = CodeRequest(draws=FIRST_DRAWS, shapes=(), dtype=None, modes=frozenset(), size=())


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

    first: Mapping[str, Array] = {}

    def __init__(self, function: Callable[..., Mapping[str, Any]]) -> None:
        super().__init__(_SLOT, NumpyAdapter(False), function, name="sample")
        self._adapter.begin(0)
        plan, count = self._planned(_ASKED, ()), _ASKED.draws
        with alarmed(), np.errstate(all="ignore"):
            self.first = dict(self._call(plan, _ASKED, [(count,)], frozenset(), count))

    def _key(self, asked: CodeRequest, inputs: Sequence[Array]) -> object:
        return SAMPLE  # it is checked once, whichever of its names are read

    def _looked_at(self, asked: CodeRequest, inputs: Sequence[Array]) -> CallPlan:
        whole = replace(asked, draws=PROBE_DRAWS, modes=frozenset(self.first))
        return super()._looked_at(whole, inputs)

    def _planned(self, asked: CodeRequest, inputs: Sequence[Array]) -> CallPlan:
        shapes = {name: one.shape[1:] for name, one in self.first.items()}
        return CallPlan(
            code=PreparedFunction(self._function, self._function),
            elements=max([1, *map(math.prod, shapes.values())]),
            shapes=shapes,
        )

    def _outputs(
        self,
        code: PreparedFunction,
        asked: CodeRequest,
        arguments: Sequence[Any],
        modes: frozenset[str],
    ) -> list[tuple[str, Array]]:
        [(count,)] = arguments
        drawn = self._named(self._function(self._adapter.source("generator"), count), count)
        return [one for one in drawn.items() if one[0] in modes or not modes]

    def _given(self, arguments: Sequence[Any]) -> str:
        [(count,)] = arguments
        return f"it was called with a numpy Generator and the count {count}"

    def _taken(
        self, plan: CallPlan, asked: CodeRequest, mode: str, output: Any, size: int
    ) -> Array:
        array: Array = output
        return array  # which `_named` has checked

    def _named(self, returned: object, count: int) -> dict[str, Array]:
        """What one call returned, as arrays of the names and shapes of the first call."""
        if not isinstance(returned, Mapping) or not returned:
            what = "an empty mapping" if isinstance(returned, Mapping) else kind_of(returned)
            raise self._fault(f"returned {what}, and named arrays are needed", _RETURN)
        drawn = {name: self._array(name, value, count) for name, value in returned.items()}
        if self.first and drawn.keys() != self.first.keys():
            before, now = (", ".join(map(repr, names)) for names in (self.first, drawn))
            raise self._fault(
                f"returned {before} in one call, and {now} in another",
                "return the same names whatever the count",
            )
        for name, array in drawn.items():
            first = self.first.get(name, array)
            if array.shape[1:] != first.shape[1:]:
                raise self._fault(
                    f"returned {name!r} with draws of shape {list(first.shape[1:])} in one call, "
                    f"and of shape {list(array.shape[1:])} in another",
                    "the first axis is the draw, and all others are those of one draw",
                )
            if (array.dtype == bool) != (first.dtype == bool):
                raise self._fault(
                    f"returned {name!r} as truths in one call, and as numbers in another",
                    "return one or the other, whatever is drawn",
                )
        return drawn

    def _array(self, name: object, value: object, count: int) -> Array:
        """One of the returned arrays, checked."""
        said = name_problem(name)
        if name in CONSTANTS or name in OPERATORS:
            said = "is a word of the language"
        if said is not None:
            message = f"returned the name {str(name)[:100]!r}, which {said}"
            raise self._fault(message, "choose another name")
        try:
            array = self._adapter.returned(value)
        except Exception as error:
            what = f"{kind_of(value)}, which cannot be made an array: {error}"
            raise self._fault(
                f"returned {name!r} as {error if isinstance(error, TypeError) else what}",
                "return numpy arrays of real numbers or truths; a tensor is one by "
                ".detach().cpu().numpy(), of bfloat16 by .detach().cpu().float().numpy()",
            ) from error
        if array.ndim == 0 or len(array) != count:
            what = "one number" if array.ndim == 0 else f"an array of shape {list(array.shape)}"
            raise self._fault(
                f"returned {name!r} as {what}, and {count:,} draws were asked for",
                "the first axis is the draw: its length is the count",
            )
        if array.size == 0:
            shape = list(array.shape[1:])
            message = f"returned {name!r} with draws of shape {shape}, without elements"
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
