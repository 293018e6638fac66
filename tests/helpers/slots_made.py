"""Slots, and what is asked of their code, without a claims file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dropcheck.claims.registry import CodeRequest, Slot, SourceText
from dropcheck.code.adapters.adapter import Adapter
from dropcheck.code.adapters.numpy_adapter import NumpyAdapter
from dropcheck.code.calls import SECONDS, Bound
from dropcheck.code.slots import Implementation
from dropcheck.errors import Location
from dropcheck.vocabulary.function import Array

# Dropout as a slot of a file; what else is known of it follows.
DROPOUT = """\
  dropout:
    takes: [x, p]
    model: |
      m ~ bernoulli(1 - p)[shape(x)]
      y = m * x / (1 - p)
    gives: y
"""
X = np.linspace(1, 2, 3 * 40).reshape(3, 40).astype(np.float32).astype(float)
Generator = np.random.Generator


def slot(name: str = "dropout", takes: Sequence[str] = ("x", "p"), file: str = "a.yaml") -> Slot:
    """A slot of a file."""
    return Slot(
        name=name,
        takes=tuple(takes),
        model=SourceText.plain("m ~ bernoulli(1 - p)"),
        gives=SourceText.plain("m * x / (1 - p)"),
        location=Location(file, 1, 1),
    )


def bound(
    adapter: Adapter, function: Any, takes: Sequence[str] = ("x", "p"), limit: float = SECONDS
) -> Bound:
    """A function bound to a slot that takes these."""
    return Bound(slot(takes=takes), adapter, function, name="ours:function", limit=limit)


class OwnColumn(Implementation):
    """Code of a test as a column; what has no name to be imported by stays in one process."""

    dtypes: tuple[str, ...] = ("float32",)
    own: Mapping[str, Any]

    def __init__(self, name: str, own: Mapping[str, Any], **more: Any) -> None:
        super().__init__(name, {})
        for key, value in {"own": own, **more}.items():
            object.__setattr__(self, key, value)

    @property
    def lacking(self) -> Mapping[str, str]:
        return {}

    def rebuilder(self, _: Mapping[str, Slot]) -> None:
        """None."""


class OfFunctions(OwnColumn):
    """Functions of a test as a column of code."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        dtypes: tuple[str, ...] = NumpyAdapter.dtypes,
    ) -> None:
        super().__init__("numpy", functions, dtypes=dtypes)

    def functions(self, slots: Mapping[str, Slot]) -> Mapping[str, tuple[str, Any]]:
        """The functions, by the slots that they have the names of."""
        return {
            name: (getattr(one, "__qualname__", repr(one)), one)
            for name, one in self.own.items()
            if name in slots
        }


def asked(draws: int, *inputs: Any, modes: Sequence[str] = ("train",), **more: Any) -> CodeRequest:
    """What is asked for, of these inputs, of which those for one draw alone do not vary."""
    shapes = tuple(np.shape(one)[:-1] if np.shape(one)[-1:] != (1,) else None for one in inputs)
    return CodeRequest(
        draws=draws, shapes=shapes, **{"dtype": None, "modes": frozenset(modes), **more}
    )


def drawn(code: Bound, draws: int, *inputs: Any, seed: int = 1, **more: Any) -> dict[str, Array]:
    """What code returns for inputs: arrays as they are, and numbers as what does not vary."""
    arrays = [np.asarray(one, float).reshape(*np.shape(one) or (1,)) for one in inputs]
    return dict(code.drawn(np.random.default_rng(seed), asked(draws, *arrays, **more), arrays))


def numpy_code(function: Any, takes: tuple[str, ...] = ("x", "p"), **more: Any) -> Any:
    """A function of numpy bound to a slot."""
    return bound(NumpyAdapter(), function, takes, **more)


def ours(x: Any, p: float, rng: Generator) -> Any:
    """Dropout that is right."""
    return np.where(rng.random(x.shape) >= p, x / (1 - p), 0.0)
