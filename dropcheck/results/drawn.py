"""Sums of draws that are kept from run to run, as plain data: standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from dropcheck.records import record


@record(kw_only=True)
class Unit:
    """The sums of a unit of draws, whose size is fixed for its case.

    `seed` and `number` identify the draws, so that none is counted twice. `night` is the day on
    which they were made, in UTC.
    """

    seed: int
    number: int  # of the unit among those of its seed, from 0
    night: str
    seconds: float
    sums: str  # float64, little-endian, in base64: [rows, columns]
    undefined: int = 0  # draws with a NaN or an infinity
    first: int | None = None  # the number of the first of them within the unit

    @property
    def draws(self) -> tuple[int, int]:
        """What identifies the draws; units are added up in this order."""
        return self.seed, self.number


Units = tuple[Unit, ...]


@record
class Kept:
    """What earlier runs drew: by the key of a case, then by the key of what was simulated for it.

    `night` is the day of this run.
    """

    night: str
    cases: Mapping[str, Mapping[str, Units]] = field(default_factory=dict)

    def only(self, keys: Iterable[str]) -> Kept:
        """What is kept of the cases with these keys."""
        return Kept(self.night, {key: self.cases[key] for key in keys if key in self.cases})


@record(kw_only=True)
class Evidence:
    """What a verdict rests on where evidence is kept: units of several nights.

    `case` and `simulated` are the keys of `Kept`; `units` are those that this run drew, and
    `earlier` the draws of those before it.
    """

    case: str
    simulated: str
    units: Units
    nights: int
    draws: int
    earlier: int
    looks: int
