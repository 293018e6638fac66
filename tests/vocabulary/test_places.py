"""Where elements come from, as read off kernels: the result made of it is that of the kernel."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from dropcheck.vocabulary.function import Array, Kernel
from dropcheck.vocabulary.functions import FUNCTIONS, SIGNS, operation
from dropcheck.vocabulary.places import origin

USES: list[tuple[str, list[tuple[int, ...]], dict[str, Any]]] = [
    ("array", [(2, 3), (2, 3)], {}),
    ("subscript", [(4, 3, 2)], {"index": (slice(None, None, -2), 1)}),
    ("subscript", [(4, 3)], {"index": (None, slice(1, 3))}),
    ("elements", [(4, 3)], {"axis": 1, "places": (2, 0, 2)}),
    ("reshape", [(2, 6)], {"shape": [3, 4]}), ("reshape", [(4, 3)], {"shape": [2, 2, 3]}),
    ("transpose", [(2, 3, 4)], {"axes": [2, 0, 1]}), (".T", [(2, 3, 4)], {}),
    ("flip", [(2, 3)], {"axis": [0, 1]}), ("roll", [(2, 5)], {"shift": 2, "axis": 1}),
    ("repeat", [(2, 3)], {"n": 2, "axis": 0}), ("tile", [(2, 3)], {"n": [2, 2]}),
    ("full", [()], {"shape": [2, 3]}), ("full", [(3,)], {"shape": [2, 3]}),
    ("tril", [(3, 4)], {"k": -1}), ("triu", [(2, 3, 3)], {"k": 1}),
    ("diag", [(3,)], {"k": 1}), ("diag", [(3, 4)], {"k": 1}), ("diag", [(2, 4, 3)], {"k": -1}),
    ("concat", [(2, 3), (2, 1)], {}), ("concat", [(), (3,)], {}), ("stack", [(2,), (2,)], {}),
]  # fmt: skip


def placed(kernel: Kernel, arrays: list[Array]) -> Array:
    """The result of a kernel, put together from the elements that come from each argument."""
    whole = np.zeros(())
    for at, array in enumerate(arrays):
        found = origin(kernel, [np.zeros(one.shape) for one in arrays], at)
        index = []
        for axes, places in found.axes:
            lengths = [found.shape[axis] if axis in axes else 1 for axis in range(len(found.shape))]
            index.append(np.broadcast_to(places.reshape(lengths), found.shape))
        whole = whole + array[tuple(index)] * found.kept
    return whole


@pytest.mark.parametrize(("name", "shapes", "options"), USES)
def test_elements_are_where_the_kernel_puts_them(
    name: str, shapes: list[tuple[int, ...]], options: dict[str, Any]
) -> None:
    kernel = partial(operation(name).kernel, **options)
    arrays = [np.random.default_rng(1).normal(size=(*shape, 1)) for shape in shapes]
    assert np.array_equal(placed(kernel, arrays), kernel(*arrays))


def test_every_function_that_places_elements_is_asked() -> None:
    known = {name for name, _, _ in USES}
    every = (*FUNCTIONS.values(), *SIGNS.values())
    assert {one.name for one in every if one.rearranges or one.does in ("joins", "gaps")} == known


@pytest.mark.parametrize("function", [np.cumsum, np.negative, np.sqrt])
def test_a_function_that_does_more_is_noticed(function: Kernel) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 — no sentence is needed
        origin(function, [np.zeros((4, 1))], 0)
