"""Bounds of norms, of a quantity by itself: nothing is known from another one."""

from __future__ import annotations

from dropcheck.analysis.norms import Norms
from dropcheck.language.graph import Value


def norm(value: Value, p: float) -> float:
    return Norms().norm(value, p)


def centred_norm(value: Value, centre: float, p: float) -> float:
    return Norms().centred_norm(value, centre, p)
