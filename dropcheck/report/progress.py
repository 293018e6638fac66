"""How far a run is: one line on a terminal, gone when it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress(total: int, shown: bool) -> Iterator[Callable[[str], None]]:
    """A function to call with the claim's id after each case; silent where not `shown`."""
    if not shown:
        yield lambda _: None
        return
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    columns = (
        MofNCompleteColumn(),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)

        def advance(claim: str) -> None:
            bar.update(task, advance=1, description=claim)

        yield advance
