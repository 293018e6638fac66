"""When normal and exponential numbers are drawn by compiled code: where it pays, if it can.

numba compiles them, an extra that need not be installed. Nobody sees from a result who drew: the
compiled code is used only if it gives numpy's own bits, and gives them sooner.
"""

from __future__ import annotations

import contextlib
import functools
import time

import numpy as np

from dropcheck.simulation.streams import PROBE, stream
from dropcheck.vocabulary.laws.sampling import EXPONENTIALS, NORMALS, Fill, StandardNumbers

# Nanoseconds that compiled code must have been able to save before it is loaded: about what
# loading takes (measured: 0.7 s of processor time, and 1.8 s the first time, which compiles). So
# it never costs more than it could have saved by then.
LOADING = 0.7e9
# Seconds of drawing ahead of one case at which it is loaded as soon as some numbers were drawn.
EXPECTED_SAVING = 5.0
# What is compared: so many arrays of so many numbers, among which are hundreds of the tails.
ARRAYS, NUMBERS = 64, 2**14


def load_where_it_pays(wanted: float) -> bool:
    """Have numbers drawn by compiled code from now on, if this process draws enough of them.

    Args:
        wanted: Seconds of drawing that a case asks for next.

    Returns:
        Whether draws are faster from now on.
    """
    before = NORMALS.fill
    if saved() >= LOADING or (saved() > 0 and wanted >= EXPECTED_SAVING):
        load()
    return NORMALS.fill is not before


def saved() -> float:
    """Nanoseconds that compiled code would have saved so far."""
    return NORMALS.saved + EXPONENTIALS.saved


@functools.lru_cache(maxsize=1)
def load() -> None:
    """Have numbers drawn by compiled code, where there is any that is as good and faster."""
    # not installed, or nothing for this numpy, this processor, this folder: numpy draws
    with contextlib.suppress(Exception):
        from dropcheck.execution import ziggurat

        fills: dict[StandardNumbers, Fill]
        fills = {NORMALS: ziggurat.normals, EXPONENTIALS: ziggurat.exponentials}
        for numbers, fill in fills.items():
            if is_same_and_faster(numbers.method, fill):
                numbers.fill = fill


def is_same_and_faster(method: str, fill: Fill) -> bool:
    """Whether numbers are numpy's to the last bit, the generator's state too, and come sooner."""
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
