"""numpy's normal and exponential numbers from SFC64, compiled by numba: the same bits, faster.

numpy gets each word by a call through a pointer, and branches on the sign of a normal number, which
no processor can predict. Here the generator is inlined, and the sign is part of the index into the
table.

The algorithm is the ziggurat of Marsaglia and Tsang (2000), with one word for each number: the
lowest bits choose the layer, and the bits above are the position in it. The tables are numpy's,
which numba has too. `execution/compiled` compares the results with numpy's before it uses them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import config, njit
from numba.np.random import distributions as tables

if config.DISABLE_JIT:
    raise ImportError("numba is kept from compiling")

U = np.uint64
TO_UNIT = 2.0**-53
# by layer: the width that lies under the curve, the unit of the position, the curve's height
NORMAL_INSIDE = tables.ki_double
# negative units follow positive ones: the bit above those of the layer is the sign
NORMAL_UNIT = np.concatenate([tables.wi_double, -tables.wi_double])
NORMAL_HEIGHT = tables.fi_double
NORMAL_TAIL = float(tables.ziggurat_nor_r)
NORMAL_TAIL_UNIT = -float(tables.ziggurat_nor_inv_r)
EXPONENTIAL_INSIDE = tables.ke_double
EXPONENTIAL_UNIT = tables.we_double
EXPONENTIAL_HEIGHT = tables.fe_double
EXPONENTIAL_TAIL = float(tables.ziggurat_exp_r)


@njit(inline="always")
def _next(a, b, c, d):  # type: ignore[no-untyped-def]  # numba types it
    """The next word of SFC64 (Doty-Humphrey, PractRand, 2010), and the state after it."""
    word = a + b + d
    return word, b ^ (b >> U(11)), c + (c << U(3)), ((c << U(24)) | (c >> U(40))) + word, d + U(1)


@njit(inline="always")
def _unit(word):  # type: ignore[no-untyped-def]  # numba types it
    """A uniform number in [0, 1) from a word."""
    return np.float64(np.int64(word >> U(11))) * TO_UNIT


def _normals(state, out):  # type: ignore[no-untyped-def]  # numba types it
    a, b, c, d = state[0], state[1], state[2], state[3]
    i = 0
    while i < out.size:
        word, a, b, c, d = _next(a, b, c, d)
        layer, place = word & U(0xFF), (word >> U(9)) & U(2**52 - 1)
        x = np.float64(np.int64(place)) * NORMAL_UNIT[word & U(0x1FF)]
        out[i] = x
        if place < NORMAL_INSIDE[layer]:
            i += 1
        elif layer > U(0):
            word, a, b, c, d = _next(a, b, c, d)
            low, high = NORMAL_HEIGHT[layer], NORMAL_HEIGHT[layer - U(1)]
            if (high - low) * _unit(word) + low < math.exp(-0.5 * x * x):
                i += 1
        else:
            beyond, height = 1.0, 0.0
            while not height + height > beyond * beyond:
                word, a, b, c, d = _next(a, b, c, d)
                beyond = NORMAL_TAIL_UNIT * math.log1p(-_unit(word))
                word, a, b, c, d = _next(a, b, c, d)
                height = -math.log1p(-_unit(word))
            x = NORMAL_TAIL + beyond
            out[i] = -x if (place >> U(8)) & U(1) else x
            i += 1
    state[0], state[1], state[2], state[3] = a, b, c, d


def _exponentials(state, out):  # type: ignore[no-untyped-def]  # numba types it
    a, b, c, d = state[0], state[1], state[2], state[3]
    i = 0
    while i < out.size:
        word, a, b, c, d = _next(a, b, c, d)
        layer, place = (word >> U(3)) & U(0xFF), word >> U(11)
        x = np.float64(np.int64(place)) * EXPONENTIAL_UNIT[layer]
        out[i] = x
        if place < EXPONENTIAL_INSIDE[layer]:
            i += 1
            continue
        word, a, b, c, d = _next(a, b, c, d)
        if layer == U(0):
            out[i] = EXPONENTIAL_TAIL - math.log1p(-_unit(word))
            i += 1
        else:
            low, high = EXPONENTIAL_HEIGHT[layer], EXPONENTIAL_HEIGHT[layer - U(1)]
            if (high - low) * _unit(word) + low < math.exp(-x):
                i += 1
    state[0], state[1], state[2], state[3] = a, b, c, d


# compile now, or read numba's cache; the compiled code releases the interpreter's lock
_compiled = njit("void(uint64[::1], float64[::1])", nogil=True, cache=True)
normals, exponentials = _compiled(_normals), _compiled(_exponentials)
