"""Shapes, sizes and names as people write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dropcheck.claims.registry import Value
from dropcheck.vocabulary.shapes import Shape


def listed(names: Iterable[str]) -> str:
    """Names in order, with commas."""
    return ", ".join(sorted(names))


def shape_text(shape: Shape) -> str:
    """A shape in brackets: `[3, 4]`."""
    return "[" + ", ".join(map(str, shape)) + "]"


def describe_shape(shape: Shape) -> str:
    """A shape in words."""
    return "a single number" if shape == () else f"of shape {shape_text(shape)}"


def memory_hint(count: float) -> str:
    """What so many numbers would take."""
    return f"it would take {memory_text(8 * count)} a draw"


def memory_text(size: float) -> str:
    """A size in bytes as people write it.

    >>> memory_text(8e12), memory_text(2**30)
    ('7.28 TiB', '1 GiB')
    """
    if size == float("inf"):
        return "more than any machine has"
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if size != round(size, 1) else f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.2g} EiB"


def time_text(nanoseconds: float) -> str:
    """A span of time as people write it.

    >>> time_text(2e9), time_text(9e13), time_text(4e20)
    ('2 seconds', '25 hours', 'more than a year')
    """
    seconds = nanoseconds / 1e9
    if seconds > 366 * 86400:
        return "more than a year"
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"


def parameter_text(parameters: Mapping[str, Value]) -> str:
    """Parameters as people write them: `p = 0.5, n = 10`."""
    return ", ".join(
        f"{name} = {value if isinstance(value, str) else f'{value:.12g}'}"
        for name, value in parameters.items()
    )
