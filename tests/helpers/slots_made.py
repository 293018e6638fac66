"""Slots, and what is asked of their code, without a claims file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dropcheck.claims.registry import Code, CodeRequest, Slot, SourceText
from dropcheck.code.adapters.adapter import Adapter
from dropcheck.code.adapters.numpy_adapter import NumpyAdapter
from dropcheck.code.calls import SECONDS, Bound
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
        title=None,
        takes=tuple(takes),
        model=SourceText.plain("m ~ bernoulli(1 - p)"),
        gives=SourceText.plain("m * x / (1 - p)"),
        law=None,
        gradient=None,
        evaluation=None,
        independent=False,
        location=Location(file, 1, 1),
    )


def bound(
    adapter: Adapter, function: Any, takes: Sequence[str] = ("x", "p"), limit: float = SECONDS
) -> Bound:
    """A function bound to a slot that takes these."""
    return Bound(slot(takes=takes), adapter, function, name="ours:function", limit=limit)


@dataclass(frozen=True)
class OfFunctions:
    """Functions of a test as a column of code."""

    functions: Mapping[str, Callable[..., Any]]
    name: str = "numpy"
    dtypes: tuple[str, ...] = NumpyAdapter.dtypes
    given: Sequence[str] = ()
    lacking: Mapping[str, str] = field(default_factory=dict)

    def bind(self, slots: Mapping[str, Slot]) -> Mapping[str, Code]:
        """The functions, by the slots that they have the names of."""
        return {
            name: Bound(
                slots[name],
                NumpyAdapter(False),
                function,
                name=getattr(function, "__qualname__", repr(function)),
                limit=SECONDS,
            )
            for name, function in self.functions.items()
            if name in slots
        }

    def rebuilder(self, _: Mapping[str, Slot]) -> None:
        """None: functions of a test have no name to be imported by."""


def asked(draws: int, *inputs: Any, modes: Sequence[str] = ("train",), **more: Any) -> CodeRequest:
    """What is asked for, of these inputs."""
    shapes = tuple(np.shape(one)[:-1] for one in inputs)
    return CodeRequest(
        draws=draws, shapes=shapes, **{"dtype": None, "modes": frozenset(modes), **more}
    )


def drawn(code: Bound, draws: int, *inputs: Any, seed: int = 1, **more: Any) -> dict[str, Array]:
    """What code returns for inputs: arrays as they are, and numbers as what does not vary."""
    arrays = [np.asarray(one, float).reshape(*np.shape(one) or (1,)) for one in inputs]
    return dict(code.drawn(np.random.default_rng(seed), asked(draws, *arrays, **more), arrays))


def numpy_code(function: Any, takes: tuple[str, ...] = ("x", "p"), **more: Any) -> Any:
    """A function of numpy bound to a slot."""
    return bound(NumpyAdapter(False), function, takes, **more)


def ours(x: Any, p: float, rng: Generator) -> Any:
    """Dropout that is right."""
    return np.where(rng.random(x.shape) >= p, x / (1 - p), 0.0)
