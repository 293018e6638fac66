"""What a framework has to offer for its code to be tested: one small class, in one file.

Nothing else of the package knows a framework. docs/code.md shows how to add one.
"""

from __future__ import annotations

import inspect
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np

from dropcheck.vocabulary.function import Array

FrameworkFunction = Callable[..., Any]


class Adapter(ABC):
    """One framework, plain or compiled.

    It is made in the thread that calls the code, so that settings of this thread, such as
    `torch.autocast` or a context variable, hold in every call.

    Args:
        compiled: whether functions are compiled before they are called.

    Raises:
        ImportError: the framework is not installed.
        ValueError: it cannot compile, or not compute on the CPU; the text says so.
    """

    dtypes: ClassVar[tuple[str, ...]]
    """The number formats that it has; the first is used where a claim names none."""
    sources: ClassVar[tuple[str, ...]] = ()
    """Names of parameters that take its source of random numbers, instead of a global one."""
    seeds: ClassVar[int] = 2**31
    """The number of seeds: they are 0 up to this number less 1."""

    def __init__(self, compiled: bool) -> None:
        self.compiled = compiled

    @property
    def one_shape(self) -> bool:
        """Whether each new shape costs a compilation, so that all calls should have few shapes."""
        return self.compiled

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
        """The framework's object for a number format, for a parameter `dtype`."""

    @abstractmethod
    def given(self, values: Array, dtype: str) -> Any:
        """Numbers of this format as an array of the framework, contiguous and shared with nothing.

        `values` is float64 or float32, contiguous, and used for nothing else.
        """

    def each(self, values: Array, dtype: str) -> Sequence[Any]:
        """Each part of an array along its first axis, converted as by `given`."""
        return [self.given(values[place, ...], dtype) for place in range(len(values))]

    @abstractmethod
    def returned(self, output: Any) -> Array:
        """The output of a function as an array of numpy with real numbers or truths.

        Raises:
            TypeError: it is neither an array of this framework or of numpy nor a number, or has
                other values. The text says what it is.
        """

    def layer(self, target: Any, fixed: Mapping[str, Any], dtype: str) -> Any:
        """The callable: an object of the class `target`, or `target` itself where it is no class.

        Args:
            target: the code that was named.
            fixed: the arguments that do not vary, from which an object is built.
            dtype: the number format of what the object will be given.
        """
        return built(target, fixed) if inspect.isclass(target) else target

    def entry(self, target: Any) -> Any:
        """The object whose `inspect.signature` is the signature of a call to the target."""
        return target

    def evaluating(self, target: Any, evaluate: bool) -> bool:
        """Switch an object to evaluation or to training; returns whether it has these modes."""
        return False

    def has_of(self, target: Any, name: str) -> list[float]:
        """The numbers that an object was built with under a name, such as the p of its dropouts."""
        number = getattr(target, name, None)
        return [float(number)] if isinstance(number, int | float) else []

    def called(
        self, function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """The output of the function, which is compiled here if `compiled` is set."""
        return function(*arguments, **named)

    def has_gradient(self, target: Any) -> bool:
        """Whether `with_gradient` works for this function, class or object."""
        return True

    @abstractmethod
    def with_gradient(
        self,
        function: FrameworkFunction,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        by: int,
    ) -> tuple[Any, Any]:
        """The output of the function, and the gradient of its sum by the argument at place `by`.

        Raises:
            ValueError: the framework has no gradients.
        """


def built(target: Any, fixed: Mapping[str, Any]) -> Any:
    """An object of a class, from arguments by their names where the class has all these names.

    Otherwise they are given by their places.
    """
    try:
        signature = inspect.signature(target.__init__).parameters
    except (TypeError, ValueError):  # of a class that is not written in Python
        return target(*fixed.values())
    if fixed.keys() <= signature.keys():
        return target(**fixed)
    return target(*fixed.values())


def described(signature: inspect.Signature) -> FrameworkFunction:
    """A function with this signature, for `Adapter.entry`."""

    def entry() -> None: ...

    entry.__signature__ = signature  # type: ignore[attr-defined]  # `inspect` reads it of any function
    return entry


def numbers_of(output: Any) -> Array:
    """An output as an array of real numbers or truths.

    Raises:
        TypeError: it is neither an array of numpy nor a number, or has other values. The text says
            what it is.
    """
    if output is None:
        raise TypeError("None")
    if isinstance(output, tuple | list | dict | str):
        raise TypeError(f"a {type(output).__name__}")
    array = np.asarray(output)
    if array.dtype.kind == "V" and array.dtype.name.startswith(("bfloat", "float", "int", "uint")):
        return array.astype(np.float32)  # formats of ml_dtypes are subsets of float32
    if array.dtype.kind not in "biuf":
        known = array.dtype.kind != "O" or isinstance(output, np.ndarray)
        raise TypeError(f"an array of {array.dtype}" if known else kind_of(output))
    return array


def kind_of(value: object) -> str:
    """A value as messages name it."""
    return f"a value of type {type(value).__name__!r}"
