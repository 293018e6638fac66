"""Compiled code that draws normal and exponential numbers, where it is faster.

It is compiled by numba, an optional dependency. Results do not depend on it: compiled code is used
only if it gives numpy's bits, and gives them faster.
"""

from __future__ import annotations

import contextlib
import functools
import time

import numpy as np

from dropcheck.simulation.streams import PROBE, stream
from dropcheck.vocabulary.laws.sampling import EXPONENTIALS, NORMALS, Fill, StandardNumbers

# Nanoseconds that compiled code could have saved before it is loaded: about the cost of loading
# (measured: 0.7 s of processor time, and 1.8 s the first time, with compilation). So it never costs
# more than it could have saved.
LOADING = 0.7e9
# If a case is going to draw for this many seconds, it is loaded after the first numbers.
EXPECTED_SAVING = 5.0
# For the comparison: so many arrays of so many numbers; hundreds of these are in the tails.
ARRAYS, NUMBERS = 64, 2**14


def load_where_it_pays(wanted: float) -> bool:
    """Draw numbers by compiled code from now on, if this process draws enough of them.

    Args:
        wanted: seconds of drawing that a case asks for next.

    Returns:
        Whether draws are faster from now on.
    """
    before = NORMALS.fill
    if saved() >= LOADING or (saved() > 0 and wanted >= EXPECTED_SAVING):
        load()
    return NORMALS.fill is not before


def saved() -> float:
    """Nanoseconds that compiled code could have saved so far."""
    return NORMALS.saved + EXPONENTIALS.saved


@functools.lru_cache(maxsize=1)
def load() -> None:
    """Draw numbers by compiled code, if there is any that is equal and faster."""
    # numba may be missing, or fail for this numpy, processor or folder: then numpy draws
    with contextlib.suppress(Exception):
        from dropcheck.execution import ziggurat

        fills: dict[StandardNumbers, Fill]
        fills = {NORMALS: ziggurat.normals, EXPONENTIALS: ziggurat.exponentials}
        for numbers, fill in fills.items():
            if is_same_and_faster(numbers.method, fill):
                numbers.fill = fill


def is_same_and_faster(method: str, fill: Fill) -> bool:
    """Whether numbers and generator state equal numpy's, bit by bit, and are made faster."""
    generator = stream(0, method, PROBE, 0)
    out, ours, numpys = np.empty(NUMBERS), [], []
    for _ in range(ARRAYS):
        words = generator.bit_generator.state["state"]["state"]
        started = time.perf_counter()
        fill(words, out)
        filled = time.perf_counter()
        drawn = getattr(generator, method)(NUMBERS)
        ended = time.perf_counter()
        after = generator.bit_generator.state["state"]["state"]
        if drawn.tobytes() != out.tobytes() or not np.array_equal(after, words):
            return False
        ours.append(filled - started)
        numpys.append(ended - filled)
    return min(ours) < min(numpys)
