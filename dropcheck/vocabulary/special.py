"""The functions of scipy.special: the library is imported when the first of them is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


def load() -> None:
    """Import the library now."""
    __getattr__("erf")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # the import system asks for such
        raise AttributeError(name)
    from scipy import special

    return getattr(special, name)


@dataclass(frozen=True, slots=True)
class Special:
    """A function of scipy.special by its name, which is loaded at its first call."""

    name: str

    def __call__(self, *arrays: Any) -> Any:
        """The function of the arrays."""
        return __getattr__(self.name)(*arrays)
