"""Code whose law is known, right or wrong by stated amounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dropcheck.claims.registry import Code, CodeRequest, Column, Slot
from dropcheck.code.slots import Implementation
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.elementwise import DOUBLE, rounded

FORMATS = ("float32", "bfloat16")
Drawn = Callable[[np.random.Generator, CodeRequest, Sequence[Array]], Mapping[str, Array]]


@dataclass(frozen=True)
class KnownCode(Implementation):
    """An implementation by functions; `false` says how false claims are of it, by their ids."""

    own: Mapping[str, Drawn] = field(default_factory=dict)
    false: Mapping[str, str] = field(default_factory=dict)

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The number formats that are tried."""
        return FORMATS

    def bind(self, slots: Mapping[str, Slot]) -> Mapping[str, Code]:
        """Its code by slot."""
        return {name: _Bound(function) for name, function in self.own.items() if name in slots}

    def rebuilder(self, slots: Mapping[str, Slot]) -> Callable[[], Column] | None:  # noqa: ARG002 - asked of all code
        """Never: cases are judged in the process that bound it."""
        return None


@dataclass(frozen=True, slots=True)
class _Bound:
    """Code of one slot."""

    function: Drawn

    @property
    def has_gradient(self) -> bool:
        """Always."""
        return True

    @property
    def set_up(self) -> float:
        """Nothing."""
        return 0.0

    def drawn(
        self, generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Any]
    ) -> Mapping[str, Array]:
        """The draws of the function, by mode."""
        own = [rounded(one, asked.dtype or DOUBLE) for one in inputs]
        return self.function(generator, asked, own)

    def held(self) -> AbstractContextManager[None]:
        """Nothing is set up."""
        return nullcontext()


def dropout(
    *,
    factor: float = 1.0,
    kept: float = 0.0,
    batch: bool = False,
    broken: float = 0.0,
    together: bool = False,
    wild: float = 0.0,
) -> Drawn:
    """Dropout with errors.

    Args:
        factor: multiplies what is kept.
        kept: added to the probability that an element is kept.
        batch: whether one mask serves the whole batch, the second axis.
        broken: the probability that a dropped element is NaN instead of 0.
        together: whether one mask serves all draws of a call.
        wild: the probability of a call in which nothing is dropped and everything is tenfold.
    """

    def drawn(
        generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        x = np.broadcast_to(inputs[0], (*(asked.shapes[0] or ()), asked.draws))
        p, dtype = float(inputs[1].reshape(-1)[0]), asked.dtype or FORMATS[0]
        mask = generator.random(x.shape) < 1 - p + kept
        if batch and x.ndim > 3:  # [call, batch, …, draws]
            mask = np.broadcast_to(mask[:, :1], mask.shape)
        if together:
            mask = np.broadcast_to(mask[..., :1], mask.shape)
        own = factor
        if wild and generator.random() < wild:
            mask, own = np.ones_like(mask), 10 * factor
        y = rounded(mask * x / (1 - p) * own, dtype)
        if broken:
            y = np.where(~mask & (generator.random(y.shape) < broken), np.nan, y)
        return {"train": y, "eval": x * factor, "grad": rounded(y / x, dtype)}

    return drawn


def die(*, loaded: float = 0.0) -> Drawn:
    """A die on which a six is more likely by `loaded`, and a one less likely."""

    def drawn(
        generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Array]
    ) -> Mapping[str, Array]:
        shape, sides = (*(asked.size or ()), asked.draws), float(inputs[0].reshape(-1)[0])
        faces = generator.integers(1, int(sides) + 1, shape).astype(np.float64)
        turned = (faces == 1) & (generator.random(shape) < sides * loaded)
        return {"train": np.where(turned, sides, faces)}

    return drawn


IMPLEMENTATIONS = (
    KnownCode("sound", own={"dropout": dropout(), "shared": dropout(), "die": die()}),
    KnownCode(
        "scaled",
        own={"dropout": dropout(factor=1.06), "shared": dropout(factor=1.06)},
        false={
            **dict.fromkeys(("dropout.mean", "shared.mean"), "3 resolutions"),
            **dict.fromkeys(("dropout.values", "dropout.evaluation"), "6% of the scale"),
            "shared.always": "numbers up to 4.24",
        },
    ),
    KnownCode(
        "kept",
        own={"dropout": dropout(kept=0.06), "die": die(loaded=0.05)},
        false={
            "dropout.mean": "0.06 in the chance to be kept",
            "dropout.share": "0.06 in the chance to be kept",
            "die.law": "0.05 in the chance of a six",
            "die.one": "0.05 in the chance of a six",
            "die.mean": "0.05 in the chance of a six",
        },
    ),
    KnownCode("together", own={"shared": dropout(together=True)}),
    KnownCode(
        "wild",
        own={"shared": dropout(wild=0.15)},
        false={
            "shared.mean": "15% of the calls are tenfold",
            "shared.share": "15% of the calls drop nothing",
            "shared.always": "15% of the calls are tenfold",
        },
    ),
    KnownCode(
        "batch", own={"dropout": dropout(batch=True)}, false={"masks": "one mask for a batch"}
    ),
    KnownCode(
        "broken",
        own={"dropout": dropout(broken=0.001)},
        false=dict.fromkeys(
            ("dropout.mean", "dropout.values", "dropout.gradient", "dropout.number"),
            "NaN in place of 0.1% of the zeros",
        ),
    ),
)
