"""A plot of characters: lines in Braille dots, eight to a cell, and marks on top of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rich.text import Text

CURVE = "dim"

_BRAILLE = 0x2800
# the bit of each dot of a cell: four rows from the top, two columns
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


@dataclass(slots=True)
class Canvas:
    """Cells from the top left, each with dots of a curve or one character on top of them."""

    width: int
    height: int
    ascii: bool
    dots: dict[tuple[int, int], int] = field(default_factory=dict)
    marks: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)

    def column(self, across: float) -> int:
        """The column of a share of the width, the outermost ones at 0 and 1."""
        return round(min(max(across, 0.0), 1.0) * (self.width - 1))

    def row(self, up: float) -> int:
        """The row of a share of the height, counted from the top."""
        return round((1 - min(max(up, 0.0), 1.0)) * (self.height - 1))

    def mark(self, row: int, column: int, character: str, style: str) -> None:
        """Put a character on a cell."""
        self.marks[row, column] = (character, style)

    def line(self, points: Sequence[tuple[float, float]]) -> None:
        """Draw straight lines through points given by their shares of width and height."""
        fine = 1 if self.ascii else 2, 1 if self.ascii else 4
        wide, high = self.width * fine[0] - 1, self.height * fine[1] - 1
        dots = [(x * (self.width - 1) * fine[0], (1 - y) * high) for x, y in points]
        if len(dots) == 1:
            dots.append(dots[0])
        for (x0, y0), (x1, y1) in pairwise(dots):
            steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0))))
            for step in range(steps + 1):
                share = step / steps
                x, y = round(x0 + (x1 - x0) * share), round(y0 + (y1 - y0) * share)
                if 0 <= x <= wide and 0 <= y <= high:
                    self._dot(x, y)

    def _dot(self, x: int, y: int) -> None:
        if self.ascii:
            self.dots[y, x] = 1
            return
        cell = y // 4, x // 2
        self.dots[cell] = self.dots.get(cell, 0) | _DOTS[y % 4][x % 2]

    def lines(self) -> list[Text]:
        """The canvas, a text a line."""
        found = []
        for row in range(self.height):
            text = Text(no_wrap=True, overflow="ignore")
            for column in range(self.width):
                text.append(*self._cell(row, column))
            found.append(text)
        return found

    def _cell(self, row: int, column: int) -> tuple[str, str]:
        if (row, column) in self.marks:
            return self.marks[row, column]
        dots = self.dots.get((row, column), 0)
        if not dots:
            return " ", ""
        return ("." if self.ascii else chr(_BRAILLE + dots)), CURVE
