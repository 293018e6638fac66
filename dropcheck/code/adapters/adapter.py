"""What a framework has to offer for its code to be tested: one small class, in one file.

Nothing else of the package knows a framework. docs/code.md shows how to add one.
"""

from __future__ import annotations

import inspect
import os
import random
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, ClassVar

import numpy as np

from dropcheck.vocabulary.function import Array

FrameworkFunction = Callable[..., Any]
GRADIENT = "with_gradient"
"""The method of code in numpy that gives its values and its gradient."""
FORMATS = ("float32", "bfloat16", "float16", "float64")
FORMATS_OF_NUMPY = ("float64", "float32", "bfloat16", "float16")
"""Number formats, the usual one first."""


class Adapter(ABC):
    """One framework.

    It is made in the thread that calls the code, so that settings of this thread, such as
    `torch.autocast` or a context variable, hold in every call.

    Raises:
        ImportError: the framework is not installed.
        ValueError: it does not compute on the CPU; the text says so.
    """

    dtypes: ClassVar[tuple[str, ...]] = FORMATS
    """The number formats that it has; the first is used where a claim names none."""
    sources: ClassVar[tuple[str, ...]] = ()
    """Names of parameters that take its source of random numbers, instead of a global one."""
    seeds: ClassVar[int] = 2**31
    """The number of seeds: they are 0 up to this number less 1."""
    one_shape: ClassVar[bool] = False
    """Whether each new shape costs a compilation, so that all calls should have few shapes."""

    def begin(self, seed: int) -> None:
        """Seed every source of random numbers: here those of Python and of numpy."""
        random.seed(seed)
        np.random.seed(seed % 2**32)

    def source(self, name: str) -> Any:
        """The source that a parameter of this name, one of `sources`, gets in the next call."""
        raise KeyError(name)  # `sources` is empty here

    def on_one_thread(self) -> AbstractContextManager[None]:
        """A context in which the framework computes on one thread, if it can be made to.

        Its results then do not depend on the number of threads, and processes of one machine do
        not slow each other down.
        """
        return nullcontext()

    @abstractmethod
    def dtype(self, name: str) -> Any:
        """The framework's object for a number format, for a parameter `dtype`.

        Raises:
            ImportError: it needs a library that is not installed.
            ValueError: the framework is not set to have it; the text says how.
        """

    @abstractmethod
    def given(self, values: Array, dtype: str) -> Any:
        """Numbers of this format as an array of the framework, contiguous and shared with nothing.

        `values` is float64 or float32, contiguous, and used for nothing else.
        """

    @abstractmethod
    def returned(self, output: Any) -> Array:
        """The output of a function as an array of numpy with real numbers or truths.

        Raises:
            TypeError: it is neither an array of this framework or of numpy nor a number, or has
                other values. The text says what it is.
        """

    def layer(self, target: Any, fixed: Mapping[str, Any], dtype: str) -> Any:
        """The callable: an object of the class `target`, or `target` itself where it is no class.

        A generator that it is built with is given to it, and seeded as others of its own are.

        Args:
            target: the code that was named.
            fixed: the arguments that do not vary, from which an object is built: by their names
                where the class has them all, else by their places.
            dtype: the number format of what the object will be given.
        """
        if not inspect.isclass(target):
            return target
        try:
            own = inspect.signature(target).parameters
        except (TypeError, ValueError):  # of a class that is not written in Python
            return target(*fixed.values())
        sources = {name: self.source(name) for name in self.sources if name in own}
        if "seed" in own and own["seed"].default is inspect.Parameter.empty:
            sources["seed"] = 0
        more = {name: value for name, value in sources.items() if name not in fixed}
        by_name = fixed.keys() <= own.keys()
        return target(**fixed, **more) if by_name else target(*fixed.values(), **more)

    def signature(self, target: Any) -> inspect.Signature:
        """The signature of a call to the target.

        Raises:
            TypeError, ValueError: it is not known, as of what is not written in Python.
        """
        return inspect.signature(target)

    def evaluating(self, target: Any, evaluate: bool) -> bool:
        """Switch an object to evaluation or to training; returns whether it has these modes."""
        return False

    def has_of(self, target: Any, name: str) -> list[float]:
        """The numbers that an object was built with under a name, such as the p of its dropouts."""
        number = getattr(target, name, None)
        return [float(number)] if isinstance(number, int | float) else []

    def has_gradient(self, target: Any) -> bool:
        """Whether `with_gradient` works for this function, class or object."""
        return True

    @abstractmethod
    def with_gradient(
        self, function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """The output of the function, and the gradient of its sum by the first argument.

        Raises:
            ValueError: the framework has no gradients.
        """


def numbers_of(output: Any) -> Array:
    """An output as an array of real numbers or truths.

    Raises:
        TypeError: it is nothing that `np.asarray` takes, or has other values. The text says what it
            is.
    """
    if output is None or isinstance(output, dict | str):
        raise TypeError("None" if output is None else f"a {type(output).__name__}")
    if isinstance(output, tuple) and any(hasattr(one, "shape") for one in output):
        raise TypeError("a tuple of arrays")  # what belongs beside the draws, such as weights
    array = np.asarray(output)
    if array.dtype.kind == "V" and array.dtype.name.startswith(("bfloat", "float", "int", "uint")):
        return array.astype(np.float32)  # formats of ml_dtypes are subsets of float32
    if array.dtype.kind not in "biuf":
        known = array.dtype.kind != "O" or isinstance(output, np.ndarray)
        raise TypeError(f"an array of {array.dtype}" if known else kind_of(output))
    return array


# ---- generators of the code's own ----------------------------------------------------------------


MOST_LOOKED_AT = 2000  # objects, in which a generator is looked for


def generators_of(target: Any) -> list[Callable[[int], object]]:
    """What seeds each generator that code keeps: in an object, in a closure, in its module.

    >>> class Layer:
    ...     def __init__(self):
    ...         self.rng = np.random.default_rng()
    >>> layer = Layer()
    >>> for seed in generators_of(layer):
    ...     seed(3)
    >>> layer.rng.random() == np.random.default_rng(3).random()
    True
    """
    found: list[Callable[[int], object]] = []
    seen: dict[int, Any] = {}
    left = [target]
    while left and len(seen) < MOST_LOOKED_AT:
        one = left.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | np.ndarray):
            continue
        seen[id(one)] = one
        seed = _seeding(one)
        if seed is not None:
            found.append(seed)
        elif isinstance(one, FunctionType):
            left += [
                one.__globals__[name] for name in one.__code__.co_names if name in one.__globals__
            ]
            left += [cell.cell_contents for cell in one.__closure__ or () if cell != CellType()]
        elif isinstance(one, MethodType):
            left += [one.__func__, one.__self__]
        elif isinstance(one, Mapping):
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one[:MOST_LOOKED_AT]
        elif hasattr(one, "__dict__"):
            left += [
                vars(one),
                *(getattr(type(one), name, None) for name in ("__call__", "forward")),
            ]
    return found


def _seeding(one: Any) -> Callable[[int], object] | None:
    """The function that seeds a generator; None for what is no generator."""
    if isinstance(one, np.random.Generator):
        bits = one.bit_generator
        return lambda seed: setattr(bits, "state", type(bits)(seed).state)
    if isinstance(one, np.random.RandomState | random.Random):
        return one.seed
    return one.manual_seed if hasattr(type(one), "manual_seed") else None  # of torch


# ---- words of messages ---------------------------------------------------------------------------


_PACKAGE = str(Path(__file__).parents[2]) + os.sep
_STANDARD_LIBRARY = str(Path(os.__file__).parent) + os.sep


def kind_of(value: object) -> str:
    """A value as messages name it."""
    return f"a value of type {type(value).__name__!r}"


def said_by(error: BaseException) -> str:
    """The first line of an error's text; empty where making the text fails."""
    try:
        return str(error).strip().split("\n")[0][:300]
    except Exception:
        return ""


def raised(error: BaseException) -> str:
    """An error of code under test in words: its type, the first line of its text, and its place."""
    said = said_by(error)
    return f"raised {type(error).__name__}{f': {said}' if said else ''}{_place(error)}"


def _place(error: BaseException) -> str:
    """The last line of the traceback that is in no library; nothing where all are."""
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        file = frame.f_code.co_filename
        if file.startswith(_PACKAGE):
            break
        if not (file.startswith(("<", _STANDARD_LIBRARY)) or f"-packages{os.sep}" in file):
            return f" ({file.removeprefix(str(Path.cwd()) + os.sep)}:{line})"
    return ""
