"""A claim and its mutants read at the claim's cases: what arithmetic tells before any draw."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dropcheck.claims.registry import Case, Value
from dropcheck.errors import DropcheckError
from dropcheck.language.cases import LoweredCase, ParsedClaim, lower_case
from dropcheck.mutation.equivalence import fixed_change, fixed_sides, same_case
from dropcheck.mutation.places import Texts

# A change of just so many resolutions is one of so many, however it was rounded.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of one claim, each kept, and of its mutants beside them."""

    parsed: ParsedClaim
    cases: tuple[Case, ...]
    known: dict[str, LoweredCase | None] = field(default_factory=dict)

    def own(self, parameters: Mapping[str, Value]) -> LoweredCase | None:
        """The claim itself; None where it is no claim there."""
        key = Case(self.parsed.claim, parameters).key
        if key not in self.known:
            self.known[key] = self._read(self.parsed, parameters)
        return self.known[key]

    def tells(self, mutated: ParsedClaim, parameters: Mapping[str, Value]) -> bool:
        """Whether a mutant works out differently from its claim there, and is a claim at all."""
        own, other = self.own(parameters), self._read(mutated, parameters)
        return own is not None and other is not None and not same_case(own, other)

    def refused(self, mutated: ParsedClaim) -> tuple[Case, str] | None:
        """The first case at which a mutant is no claim although its claim is one, and why not."""
        for case in self.cases:
            if self.own(case.parameters) is None:
                continue
            try:
                lower_case(mutated, case.parameters)
            except DropcheckError as error:
                return case, error.problems[0].message
        return None

    def change(self, mutated: ParsedClaim, parameters: Mapping[str, Value]) -> float | None:
        """The relative change of the number that is claimed, where that is fixed and not 0."""
        own, other = self.own(parameters), self._read(mutated, parameters)
        if own is None or other is None:
            return None
        change = fixed_change(own, other)
        return change if change is not None and math.isfinite(change) else None

    def far_enough(self, texts: Texts, share: float, least: float) -> bool:
        """Whether an error moves the fixed number that is claimed so far that it can be told.

        That is by a share of it, or by the number `least` where the share is nothing. A constant
        may hardly matter, as the 1 of `n / (n + 1)` where n is 1000: to change it a little is then
        less than any verdict can see, whatever the claim. It is asked at the first case that tells
        the two apart, where the mutant is tried. What only draws can tell is always far enough.
        """
        if "==" not in self.parsed.statement.operators:
            return True  # a bound may have any room to spare
        mutated = replace(self.parsed, model=texts.model, statement=texts.statement)
        for case in self.cases:
            own, other = self.own(case.parameters), self._read(mutated, case.parameters)
            if own is None or other is None or same_case(own, other):
                continue
            sides = fixed_sides(own, other)
            if sides is None:
                return True
            old, new = sides
            return abs(new - old) >= (1 - ROUNDING) * (share * abs(old) or least)
        return True

    def _read(self, parsed: ParsedClaim, parameters: Mapping[str, Value]) -> LoweredCase | None:
        try:
            return lower_case(parsed, parameters)
        except DropcheckError:
            return None
