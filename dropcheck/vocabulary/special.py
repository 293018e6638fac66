"""The functions of scipy.special: the library is imported when the first of them is used."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    return getattr(special, name)
