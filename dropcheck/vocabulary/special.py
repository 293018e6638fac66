"""Faster powers than numpy's, and the functions of scipy.special.

scipy.special is imported when the first of its functions is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

LARGEST_PRODUCT = 8
"""The largest exponent of a power that is computed as a product."""


def power(base: Any, exponent: Any) -> Any:
    """A base to an exponent, elementwise; for one small whole exponent as a product.

    That is 100 times as fast, except for exponents below 3. A product of n numbers has at most
    n - 1 rounding errors (Higham 2002, section 3.1). If no number is negative, it is monotone in
    each even after rounding, so that ends of intervals become ends.

    >>> power(np.array([2.0, -3.0]), np.array([3.0]))
    array([  8., -27.])
    """
    given = (base, exponent)
    one = all(isinstance(array, np.ndarray) and array.dtype == np.float64 for array in given)
    if not one or exponent.size != 1 or exponent.ndim > base.ndim:
        return np.power(base, exponent)
    count = float(exponent.item())
    if not 3 <= count <= LARGEST_PRODUCT or not count.is_integer():
        return np.power(base, exponent)
    product = base
    for digit in f"{int(count):b}"[1:]:  # square for each digit, and multiply by base for a 1
        product = np.square(product, out=None if product is base else product)
        if digit == "1":
            product *= base
    return product


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # the import system looks for such attributes
        raise AttributeError(name)
    from scipy import special

    return getattr(special, name)


@dataclass(frozen=True, slots=True)
class Special:
    """A function of scipy.special by its name; the library is loaded at the first call."""

    name: str

    def __call__(self, *arrays: Any) -> Any:
        """The function, applied to arrays."""
        return __getattr__(self.name)(*arrays)
