"""What a framework has to offer for its code to be tested: one small class, in one file.

Nothing else of the package knows a framework. docs/adapters.md shows how to add one.
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

_ATTRIBUTES = {"p": "rate", "sd": "stddev"}
"""What layers of keras and flax call the arguments of slots."""


class Adapter(ABC):
    """One framework, on one device, plain or compiled.

    It is made in the thread that calls the code, and so is every call: what is set there, such as
    `torch.autocast` or a context variable, holds.

    Args:
        device: where arrays are put; None: on the CPU.
        compiled: whether functions are compiled before they are called.

    Raises:
        ImportError: the framework is not installed.
        ValueError: it has no such device, or compiles nothing; the text says what it has.
    """

    dtypes: ClassVar[tuple[str, ...]]
    """The number formats that it has; the first is the one where a claim names none."""
    sources: ClassVar[tuple[str, ...]] = ()
    """Names of parameters that take its source of randomness, in place of a global one."""
    seeds: ClassVar[int] = 2**31
    """Seeds that it can be given: 0 to one less."""

    def __init__(self, device: str | None, compiled: bool) -> None:
        self.device = device
        self.compiled = compiled

    @property
    def one_shape(self) -> bool:
        """Whether each new shape costs a compilation, so that all calls are to have the same."""
        return self.compiled

    def begin(self, seed: int) -> None:
        """Seed every source of randomness: here those of Python and numpy, which all may use."""
        random.seed(seed)
        np.random.seed(seed % 2**32)

    def source(self, name: str) -> Any:
        """What a parameter of this name, one of `sources`, gets in the next call."""
        raise KeyError(name)  # this one has none

    def on_one_thread(self) -> AbstractContextManager[None]:
        """Where the framework computes on one thread, where it can be held to that.

        What it computes may then not depend on how many there are, and processes of one machine
        are not in one another's way.
        """
        return nullcontext()

    @abstractmethod
    def dtype(self, name: str) -> Any:
        """The framework's own object for a number format, which a parameter `dtype` gets."""

    @abstractmethod
    def given(self, values: Array, dtype: str) -> Any:
        """Numbers of this format, held as float64 or float32, as a contiguous array of its own.

        The array that is given is contiguous, and used for nothing else.
        """

    def each(self, values: Array, dtype: str) -> Sequence[Any]:
        """Each part of an array, by its first axis, as `given` gives it."""
        return [self.given(values[place, ...], dtype) for place in range(len(values))]

    @abstractmethod
    def returned(self, output: Any) -> Array:
        """What a function returned as an array of numpy, of real numbers or truths.

        Raises:
            TypeError: it is no array of this framework or of numpy, nor a number; or of other
                values. The text says what it is.
        """

    def layer(self, target: Any, fixed: Mapping[str, Any], dtype: str) -> Any:
        """An object to call, of a class; anything else is called as it is.

        Args:
            target: what was named.
            fixed: the arguments that do not vary, which a class is built from.
            dtype: the number format of what the object will be given.
        """
        return built(target, fixed) if inspect.isclass(target) else target

    def entry(self, target: Any) -> Any:
        """What has the signature of a call to a function, an object or a class."""
        return target

    def evaluating(self, target: Any, evaluate: bool) -> bool:
        """Put an object into the mode of evaluation or of training; whether it has these modes."""
        return False

    def has_of(self, target: Any, name: str) -> list[float]:
        """The numbers of a name that an object was built with, such as the p of its dropouts."""
        number = getattr(target, name, getattr(target, _ATTRIBUTES.get(name, name), None))
        return [float(number)] if isinstance(number, int | float) else []

    def called(
        self, function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """What the function returns; the place to compile it."""
        return function(*arguments, **named)

    def has_gradient(self, target: Any) -> bool:
        """Whether `with_gradient` gives that of a function, a class or an object."""
        return True

    @abstractmethod
    def with_gradient(
        self,
        function: FrameworkFunction,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        by: int,
    ) -> tuple[Any, Any]:
        """What it returns, and the gradient of the sum of it by the argument at place `by`.

        Raises:
            ValueError: the framework has no gradients.
        """


def built(target: Any, fixed: Mapping[str, Any], **also: Any) -> Any:
    """An object of a class, from arguments by their names where it has all these names.

    Otherwise they are given by their places; `also` are given where the class has such a name.
    """
    try:
        signature = inspect.signature(target.__init__).parameters
    except (TypeError, ValueError):  # of a class that is not written in Python
        return target(*fixed.values())
    any_name = any(one.kind is one.VAR_KEYWORD for one in signature.values())
    also = {name: one for name, one in also.items() if any_name or name in signature}
    if fixed.keys() <= signature.keys():
        return target(**fixed, **also)
    return target(*fixed.values(), **also)


def described(signature: inspect.Signature) -> FrameworkFunction:
    """What has this signature, for `Adapter.entry`."""

    def entry() -> None: ...

    entry.__signature__ = signature  # type: ignore[attr-defined]  # `inspect` reads it of any function
    return entry


def numbers_of(output: Any) -> Array:
    """An array of numpy, or a number, whose values are real or truths; float64 where neither.

    Raises:
        TypeError: it is something else; the text says what.
    """
    if output is None:
        raise TypeError("None")
    if isinstance(output, tuple | list | dict | str):
        raise TypeError(f"a {type(output).__name__}")
    array = np.asarray(output)
    if array.dtype.kind == "V" and array.dtype.name.startswith(("bfloat", "float", "int", "uint")):
        return array.astype(np.float32)  # of ml_dtypes: each is a number of float32
    if array.dtype.kind not in "biuf":
        known = array.dtype.kind != "O" or isinstance(output, np.ndarray)
        raise TypeError(f"an array of {array.dtype}" if known else kind_of(output))
    return array


def kind_of(value: object) -> str:
    """A value, as messages name it."""
    return f"a value of type {type(value).__name__!r}"
