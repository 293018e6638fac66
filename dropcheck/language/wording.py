"""Shapes, sizes and names as people write them."""

from __future__ import annotations

from collections.abc import Iterable

from dropcheck.language.vocabulary import Shape


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
    ('7.3 TiB', '1 GiB')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if size != round(size, 1) else f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.2g} EiB"
