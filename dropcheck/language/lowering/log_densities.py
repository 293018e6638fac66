"""Write out the logarithm of a law's density as an expression.

Then all that is known of expressions is known of densities: exact means, bounds of moments,
smoothness. The law's formula is called with stand-ins for arrays, which record its operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dropcheck.language.graph import Kind, Value
from dropcheck.language.lowering.builder import GraphBuilder
from dropcheck.language.syntax import Position
from dropcheck.records import record
from dropcheck.vocabulary import special
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.distributions.domains import FINITE, NOT_NEGATIVE
from dropcheck.vocabulary.function import Function, Kernel
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.elementwise import ARITHMETIC_SIGNS
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.special import Special

# Laws with other values have a density only at some points; the formulas do not show this.
_AT_ALL_POINTS = (Values.NUMBERS, Values.WHOLE, Values.TRUTHS)


def _kernels() -> dict[str, Function]:
    """The functions of the language, by the names of their ufuncs in numpy or scipy."""
    functions = [*FUNCTIONS.values(), *ARITHMETIC_SIGNS]
    numpys = {name: one for one in functions if (name := _ufunc_name(one.kernel)) is not None}
    scipys = {one.kernel.name: one for one in functions if isinstance(one.kernel, Special)}
    return {**scipys, **numpys}


def _ufunc_name(kernel: Kernel) -> str | None:
    name = getattr(kernel, "__name__", "")  # also our own `power`, which computes the same
    return name if isinstance(getattr(np, name, None), np.ufunc) else None


_KERNELS = _kernels()


@record(eq=False)
class _StandIn(NDArrayOperatorsMixin):
    """A value of the graph that stands in for an array."""

    value: Value
    graph: GraphBuilder
    at: Position

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply the language's function of that name; numpy raises a TypeError if there is none."""
        if ufunc in (special.xlogy, special.xlog1py) and method == "__call__":
            return self.times_log(ufunc, *inputs)
        function = _KERNELS.get(ufunc.__name__)
        numbers = all(isinstance(one, _StandIn) or np.size(one) == 1 for one in inputs)
        if function is None or method != "__call__" or options or not numbers:
            return NotImplemented
        values = tuple(
            one.value
            if isinstance(one, _StandIn)
            else self.graph.number(float(np.asarray(one).item()), self.at)
            for one in inputs
        )
        return _StandIn(self.graph.elementwise(function, values, self.at), self.graph, self.at)

    def times_log(self, ufunc: np.ufunc, x: Any, y: Any) -> Any:
        """X log(y), or x log(1 + y); it is 0 where the number x is 0."""
        log = np.log if ufunc is special.xlogy else np.log1p
        if not isinstance(x, _StandIn):
            return x * log(y) if np.all(x) else 0.0
        return x * log(y) if not isinstance(y, _StandIn) and np.isfinite(log(y)) else NotImplemented

    def __array_function__(self, *_: Any) -> Any:
        """Refuse functions such as `numpy.where`, which the language has in another form."""
        return NotImplemented


def written_out(
    graph: GraphBuilder, law: Law, arguments: list[Value], x: Value, at: Position
) -> Value | None:
    """The logarithm of a law's density at x as an expression; None where there is none.

    The formula holds between the ends of the law and for arguments in its domain. For a scale
    below 0 the logarithm is NaN: the density contains x / scale and 1 / scale.
    """
    values = (*arguments, x)
    if law.own_axes is not None or law.values not in _AT_ALL_POINTS:
        return None
    if not any(one.random for one in values) or any(one.postponed for one in values):
        return None
    given: list[Any] = []
    for parameter, argument in zip(law.parameters, arguments, strict=True):
        varies = argument.random or parameter.axes or argument.shape != ()
        if varies and parameter.domain not in (FINITE, NOT_NEGATIVE):
            return None
        known = argument.known
        given.append(_StandIn(argument, graph, at) if varies else known)
        scale = argument.constant if parameter.domain == NOT_NEGATIVE else None
        if scale is not None and not (scale > 0).all():
            return None  # a scale of 0 gives a constant, which has no density
    if not _always_inside(law, given, x):
        return None
    try:
        with np.errstate(all="ignore"):
            log_density = law.log_density_inside(_StandIn(x, graph, at), *given)
    except TypeError:
        return None
    return log_density.value if isinstance(log_density, _StandIn) else None


def _always_inside(law: Law, given: list[Any], x: Value) -> bool:
    """Whether x is a possible value of the law in every draw."""
    fixed = not any(isinstance(one, _StandIn) for one in given)
    if fixed and law.constant(*given) is not None:
        return False
    if fixed:
        low, high = law.support(*given)
    elif callable(law.ends):
        return False
    else:
        low, high = law.ends
    if not law.discrete and (low, high) == (-np.inf, np.inf):
        return True
    while x.kind == Kind.COMPUTED and x.function.view:
        x = x.inputs[0]
    drawn = [one.known for one in x.inputs]
    if x.law is None or not all(isinstance(one, float) for one in drawn):
        return False
    least, most = x.law.support(*drawn)
    whole = x.law.values in (Values.WHOLE, Values.TRUTHS)
    return low <= least and most <= high and (whole or not law.discrete)
