"""Draws by the user's code: a function in place of a model, and checks of what it returns.

The function takes a numpy Generator and a count, and returns a mapping of names to arrays whose
first axis is the draw. The result may depend on these two only, and draws must be independent. Few
mistakes show in the result; those that do are looked for before anything is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dropcheck.claims.registry import Sample
from dropcheck.claims.values import name_problem
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.graph import SAMPLE
from dropcheck.results import ParameterValue
from dropcheck.simulation.streams import PROBE, stream
from dropcheck.simulation.user_code.draw_checks import PROBE_DRAWS, Words, check_draws
from dropcheck.simulation.user_code.with_parameters import with_parameters
from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.number_formats import DOUBLE, EPSILONS
from dropcheck.vocabulary.operators import OPERATORS

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
