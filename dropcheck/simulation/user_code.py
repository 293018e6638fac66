"""Draws by the user's code: a function in place of a model, and checks of what it returns.

The function takes a numpy Generator and a count, and returns a mapping of names to arrays whose
first axis is the draw. The result may depend on these two only, and draws must be independent. Few
mistakes show in the result; those that do are looked for before anything is judged.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dropcheck.claims.registry import Sample
from dropcheck.claims.values import name_problem
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.graph import SAMPLE
from dropcheck.results import ParameterValue
from dropcheck.simulation.streams import PROBE, stream
from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.number_formats import DOUBLE, EPSILONS
from dropcheck.vocabulary.operators import OPERATORS

# ---- draw checks ---------------------------------------------------------------------------------
#
# Checks of code that draws: whether its draws depend on more than its seed, or on less.
#
# Few of the mistakes that break a verdict show in what code returns. Those that do are looked for
# before anything is judged.


# Calls that are compared, and the draws of each. Events of probability 1/64, for which calls agree
# most easily, are the same in five calls less than once in 10^9.
PROBES = 5
PROBE_DRAWS = 64
# Two calls with one seed may differ by rounding, since sums on many cores are added in any order:
# by this share of the range of the values, or of their magnitude.
CALL_ROUNDING, FINEST = 1e-3, 1e-6


@dataclass(frozen=True, slots=True)
class Words:
    """The words for the source of randomness in messages, and the advice."""

    source: str  # such as "generator"
    draw_from_it: str  # if draws change with the same source
    draw_each: str  # if all draws of a call are equal; empty if they may be
    use_it: str  # if another source changes nothing


def check_draws(
    called: Callable[[int], Mapping[str, Array]],
    words: Words,
    fault: Callable[[str, str], DropcheckError],
) -> None:
    """Refuse draws that depend on more than their source, or on less.

    Two calls with one source must agree. Calls with other sources must differ, and so must the
    draws of one call, unless everything is fixed.

    Args:
        called: makes a call with the source of this number; the last axis is that of draws.
        words: the words for messages.
        fault: makes an error from what is wrong and the advice.

    Raises:
        DropcheckError: the draws cannot be used.
    """
    once = called(1)
    again = called(1)
    for name, array in once.items():
        if array.shape != again[name].shape or not alike(array, again[name]):
            raise fault(
                f"returned other draws of {name!r} when called again with the same {words.source}",
                words.draw_from_it,
            )
    varied = any(map(_varies, once.values()))
    for other in map(called, range(2, PROBES + 1)):
        differ = not all(np.array_equal(once[name], other[name], equal_nan=True) for name in once)
        if differ and words.draw_each and not (varied or any(map(_varies, other.values()))):
            raise fault(
                "returned draws that are all alike, and others in another call", words.draw_each
            )
        if differ:
            return
    if varied:
        raise fault(
            f"returned the same draws when called with another {words.source}", words.use_it
        )


def alike(once: Array, again: Array) -> bool:
    """Whether two arrays are equal up to rounding."""
    if once.dtype == bool:
        return np.array_equal(once, again)
    finite = once[np.isfinite(once)]
    if not finite.size:
        return np.array_equal(once, again, equal_nan=True)
    give = max(CALL_ROUNDING * float(np.ptp(finite)), FINEST * float(np.abs(finite).max()))
    return np.allclose(once, again, rtol=0.0, atol=give, equal_nan=True)


def _varies(array: Array) -> bool:
    """Whether the draws, on the last axis, differ by more than the order of sums explains."""
    return not alike(array, np.broadcast_to(array[..., :1], array.shape))


# ---- draws first ---------------------------------------------------------------------------------
#
# Moves the axis of draws from the last place, as in programs, to the first, as in code.
#
# numpy copies a transpose number by number. If the rows are a power of two apart, as in spans of
# draws, all numbers of a column share a few lines of the cache, and copying each takes ten times
# as
# long (Hill and Smith, Evaluating associativity in CPU caches, 1989). So blocks are copied through
#  a
# buffer whose rows have another length.


BLOCK = 256  # columns: in smaller blocks, numpy's calls cost more; larger ones leave the cache
PADDING = 16  # numbers by which a row of the buffer is longer than a block


def draws_first(values: Array, dtype: npt.DTypeLike) -> Array:
    """From [*shape, draws] to [draws, *shape], contiguous and of another type.

    >>> draws_first(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "float32").tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    """
    first = values.transpose(-1, *range(values.ndim - 1))
    if first.flags.c_contiguous:  # draws come first in memory already
        return first.astype(dtype)
    *shape, draws = values.shape
    return _transposed(values.reshape(prod(shape), draws), dtype).reshape(draws, *shape)


def _transposed(values: Array, dtype: npt.DTypeLike) -> Array:
    """The transpose of a table, in another type."""
    rows, columns = values.shape
    result = np.empty((columns, rows), dtype)
    if rows >= columns:  # cut the longer side into blocks
        buffer = np.empty((BLOCK, columns + PADDING), values.dtype)
        for start in range(0, rows, BLOCK):
            block = values[start : start + BLOCK]
            buffer[: len(block), :columns] = block
            result[:, start : start + BLOCK] = buffer[: len(block), :columns].T
        return result
    buffer = np.empty((rows, BLOCK + PADDING), dtype)
    for start in range(0, columns, BLOCK):
        block = values[:, start : start + BLOCK]
        buffer[:, : block.shape[1]] = block
        result[start : start + BLOCK] = buffer[:, : block.shape[1]].T
    return result


# ---- with parameters -----------------------------------------------------------------------------
#
# Passes parameters of the claim to a function that takes them by name.


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


# ---- own code ------------------------------------------------------------------------------------


Sampler = Callable[[np.random.Generator, int], Mapping[str, Any]]
"""(generator, count) → {name: array with `count` draws on the first axis}."""

# The draws of the first call, which shows the shapes: a length that few axes have by chance.
FIRST_DRAWS = 3
_RETURN = "return {'y': y}, with an array of `count` draws for each name"
_WORDS = Words(
    source="generator",
    draw_from_it="draw from the generator that is given, and from nothing else: seed other sources "
    "by it, such as torch.manual_seed(int(generator.integers(2**63)))",
    draw_each="draw `count` times, independently: the first axis is the draw",
    use_it="draw from the generator that is given: one with a seed of its own repeats itself",
)


def own_code(
    function: Callable[..., Mapping[str, Any]],
    seed: int,
    memory: int,
    parameters: Mapping[str, ParameterValue] | None = None,
) -> Sample:
    """A function as a source of draws, after some calls that show its names and shapes.

    Args:
        function: makes the draws.
        seed: the seed of the run.
        memory: bytes that one draw may take; the calls for comparison take no more in all.
        parameters: the claim's parameters, which the function may take by name.

    Raises:
        DropcheckError: it fails, returns something other than named arrays of draws, or draws in a
            way on which no verdict can rest.
    """
    if not callable(function):
        raise _error(f"is a function of a generator and a count, not {_kind(function)}", _RETURN)
    function, takes = with_parameters(function, parameters or {})
    with np.errstate(all="ignore"):
        first = _call(function, stream(seed, SAMPLE, PROBE, 0), FIRST_DRAWS)
        shapes = {name: array.shape[1:] for name, array in first.items()}
        code = _Code(function, shapes, frozenset(n for n, a in first.items() if a.dtype == bool))
        size = 8 * sum(array[0].size for array in first.values())
        draws = max(FIRST_DRAWS, min(PROBE_DRAWS, memory // size))

        def called(number: int) -> dict[str, Array]:
            return code.draw(stream(seed, SAMPLE, PROBE, number), draws)

        check_draws(called, _WORDS, _error)
    formats = [array.dtype.name for array in first.values() if array.dtype.name in EPSILONS]
    coarsest = max(formats, key=EPSILONS.__getitem__, default=DOUBLE)
    return Sample(
        shapes=shapes,
        truths=code.truths,
        draw=code.draw,
        takes=takes,
        dtype=None if coarsest == DOUBLE else coarsest,
    )


class _Code:
    """The function, with the names and shapes of its first call."""

    def __init__(
        self, function: Sampler, shapes: Mapping[str, tuple[int, ...]], truths: frozenset[str]
    ) -> None:
        self.function = function
        self.shapes = shapes
        self.truths = truths

    def draw(self, generator: np.random.Generator, count: int) -> dict[str, Array]:
        """Draws of each name, on the last axis, as copies: the function may change its arrays."""
        drawn = _call(self.function, generator, count)
        self._compare(drawn)
        return {
            name: np.array(
                np.moveaxis(array, 0, -1),
                dtype=bool if name in self.truths else np.float64,
                order="C",
            )
            for name, array in drawn.items()
        }

    def _compare(self, drawn: Mapping[str, Any]) -> None:
        """Refuse names, shapes or types that differ from those of the first call."""
        if drawn.keys() != self.shapes.keys():
            before, now = (", ".join(map(repr, names)) for names in (self.shapes, drawn))
            raise _error(
                f"returned {before} in one call, and {now} in another",
                "return the same names whatever the count",
            )
        for name, array in drawn.items():
            if array.shape[1:] != self.shapes[name]:
                raise _error(
                    f"returned {name!r} with draws of shape {_shape(self.shapes[name])} in one "
                    f"call, and of shape {_shape(array.shape[1:])} in another",
                    "the first axis is the draw, and all others are those of one draw",
                )
            if (array.dtype == bool) != (name in self.truths):
                raise _error(
                    f"returned {name!r} as truths in one call, and as numbers in another",
                    "return one or the other, whatever is drawn",
                )


def _call(function: Sampler, generator: np.random.Generator, count: int) -> dict[str, Any]:
    """The result of one call, as arrays with an axis of draws."""
    try:
        returned: object = function(generator, count)
    except (DropcheckError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit would end the run as if all claims had passed
        said = f": {error}" if str(error) else ""
        raise _error(
            f"raised {type(error).__name__}{said}",
            f"it was called with a numpy Generator and the count {count}",
        ) from error
    if not isinstance(returned, Mapping) or not returned:
        what = "an empty mapping" if isinstance(returned, Mapping) else _kind(returned)
        raise _error(f"returned {what}, and named arrays are needed", _RETURN)
    return {name: _array(name, value, count) for name, value in returned.items()}


def _array(name: object, value: object, count: int) -> Any:
    """One of the returned arrays, checked."""
    said = name_problem(name)
    if name in CONSTANTS or name in OPERATORS:
        said = "is a word of the language"
    if said is not None:
        raise _error(f"returned the name {str(name)[:100]!r}, which {said}", "choose another name")
    try:
        array = np.asarray(value)
    except Exception as error:
        raise _error(
            f"returned {name!r} as {_kind(value)}, which cannot be made an array: {error}",
            "return numpy arrays; a tensor is one by .detach().cpu().numpy(), of bfloat16 by "
            ".detach().cpu().float().numpy()",
        ) from error
    if isinstance(value, np.ma.MaskedArray) and value.mask.any():
        raise _error(
            f"returned {name!r} with values that are masked",
            "return what was drawn: numpy.ma.filled(array, 0) has 0 where the mask is",
        )
    short = array.dtype.kind == "V" and array.dtype.name.startswith(("bfloat", "float"))
    if array.dtype.kind not in "biuf" and not short:  # the types of ml_dtypes are numbers too
        raise _error(
            f"returned {name!r} with values of type {array.dtype}",
            "values are real numbers or truths",
        )
    if array.ndim == 0 or len(array) != count:
        what = "one number" if array.ndim == 0 else f"an array of shape {_shape(array.shape)}"
        raise _error(
            f"returned {name!r} as {what}, and {count:,} draws were asked for",
            "the first axis is the draw: its length is the count",
        )
    if array.size == 0:
        raise _error(
            f"returned {name!r} with draws of shape {_shape(array.shape[1:])}, without elements",
            "leave it out",
        )
    return array


def _error(message: str, hint: str) -> DropcheckError:
    return DropcheckError(Problem(f"sample {message}", hint=hint))


def _shape(shape: tuple[int, ...]) -> str:
    return str(list(shape)) if shape else "()"


def _kind(value: object) -> str:
    return f"a value of type {type(value).__name__!r}"
