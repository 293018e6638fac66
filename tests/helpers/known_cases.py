"""What the tests of the claims of known truth share: what a case states, how far it is off."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from dropcheck.language.compile import LoweredCase, lower_case, parse_claim

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.calibration import OFF, Known


def off(one: Known) -> float:
    """How many resolutions a case is off by."""
    value = one.case.parameters[OFF]
    assert isinstance(value, float)
    return value


def lowered(one: Known) -> LoweredCase:
    """A case as a graph."""
    return lower_case(parse_claim(one.case.claim), one.case.parameters)


def claimed_value(one: Known) -> float:
    """The right side of a statement in which it is known."""
    value = lowered(one).operands[1].constant
    assert value is not None
    return float(np.asarray(value).ravel()[0])


def by_claim(cases: tuple[Known, ...]) -> dict[str, list[Known]]:
    """Cases by the id of their claim."""
    groups: dict[str, list[Known]] = {}
    for one in cases:
        groups.setdefault(one.case.claim.id, []).append(one)
    return groups
