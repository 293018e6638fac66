"""What is kept of one case: the units of earlier runs, and those that this run adds."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.claims.registry import Case, SourceText
from dropcheck.results.drawn import Evidence, Kept, Unit, Units
from dropcheck.settings import Settings
from dropcheck.simulation import SpanSums

STREAMS = 1
"""The version of how draws are made from a seed. Where it changes, evidence starts anew."""


@dataclass(slots=True, kw_only=True)
class KeptEvidence:
    """What is kept of one case, as it grows in one run.

    Several programs may have been simulated for one case, as its text or its settings changed.
    `simulated` is the key of this run's program, and `units` are its units.
    """

    night: str
    case: str
    earlier: Mapping[str, Units]
    simulated: str = ""
    units: dict[tuple[int, int], Unit] = field(default_factory=dict)
    new: list[Unit] = field(default_factory=list)
    unit_draws: int = 0
    looks: int = 0

    @classmethod
    def of(cls, kept: Kept, case: Case) -> KeptEvidence:
        """The evidence that is kept of a case."""
        return cls(night=kept.night, case=case.key, earlier=kept.cases.get(case.key, {}))

    def begin(self, simulated: str, unit_draws: int) -> None:
        """Set what is simulated, and how many draws a unit has."""
        self.simulated, self.unit_draws = simulated, unit_draws
        self.units = {one.draws: one for one in self.earlier.get(simulated, ())}

    def add(self, unit: Unit) -> None:
        """Take in a unit of this run."""
        self.units[unit.draws] = unit
        self.new.append(unit)

    @property
    def in_order(self) -> list[Unit]:
        """All units, in an order that does not depend on when they came in."""
        return [self.units[key] for key in sorted(self.units)]

    def following(self, seed: int) -> int:
        """The number of the first unit of a seed that is not among them."""
        number = 0
        while (seed, number) in self.units:
            number += 1
        return number

    def evidence(self) -> Evidence | None:
        """What the verdict rests on; None where nothing was drawn."""
        if not self.units:
            return None
        return Evidence(
            case=self.case,
            simulated=self.simulated,
            units=tuple(self.new),
            nights=len({one.night for one in self.units.values()}),
            draws=len(self.units) * self.unit_draws,
            earlier=(len(self.units) - len(self.new)) * self.unit_draws,
            looks=self.looks,
        )


def simulated_key(case: Case, settings: Settings, layout: Sequence[str | int]) -> str:
    """The key of what is simulated: the texts of a case, its resolution, and the layout of a unit.

    Another text, value, tolerance or resolution makes another claim, whose evidence starts anew.
    """
    claim = case.claim
    texts = [_text(claim.model), _text(claim.statement)]
    slots = [
        [name, list(slot.takes)]
        + [_text(one) for one in (slot.model, slot.gives, slot.law, slot.gradient, slot.evaluation)]
        for name, slot in sorted(claim.slots.items())
        if any(name in text for text in texts)
    ]
    tolerance = claim.tolerance
    asked = [
        None if tolerance is None else [tolerance.size, tolerance.absolute],
        claim.resolution if settings.resolution is None else settings.resolution,
        claim.within if settings.resolution is None else None,
    ]
    whole = [STREAMS, case.key, texts, slots, asked, list(layout)]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()[:32]


def _text(text: SourceText | None) -> str:
    """The lines of a text, without blanks at their ends."""
    lines = "" if text is None else text.text.strip()
    return "\n".join(line.rstrip() for line in lines.splitlines())


def packed(sums: Floats) -> str:
    """Sums as text, to the last bit.

    >>> unpacked(packed(np.array([[0.1, -2.0]])), 2).tolist()
    [[0.1, -2.0]]
    """
    return base64.b64encode(np.ascontiguousarray(sums, dtype="<f8").tobytes()).decode("ascii")


@lru_cache(maxsize=4096)
def unpacked(text: str, columns: int) -> Floats:
    """The sums that were packed: [rows, columns].

    Raises:
        ValueError: the text is not of packed sums.
    """
    data = base64.b64decode(text, validate=True)
    return np.frombuffer(data, dtype="<f8").astype(np.float64).reshape(-1, columns)


def together(units: Sequence[Unit], rows: int, columns: int, values: int) -> SpanSums | None:
    """The sums of units, one after the other; None where a unit does not have `rows` rows.

    Each unit has `values` values. One without undefined draws must have finite sums.
    """
    parts: list[Floats] = []
    first = None
    for place, one in enumerate(units):
        try:
            sums = unpacked(one.sums, columns)
        except ValueError:
            return None
        if len(sums) != rows or not (one.undefined or np.isfinite(sums).all()):
            return None
        parts.append(sums)
        if first is None and one.undefined:
            first = place * values + (one.first or 0)
    return SpanSums(
        sums=np.concatenate(parts),
        undefined=sum(one.undefined for one in units),
        first_undefined=first,
        seconds=sum(one.seconds for one in units),
    )
