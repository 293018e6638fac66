"""Commands whose texts and flags are read as they stand.

Typer would read every option through pydantic, whose import takes longer than all else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command


class PlainCommand(TyperCommand):
    """A command that reads its texts and flags without pydantic."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters."""
        return plainly(super().get_params(ctx))


def make(
    function: Callable[..., None], name: str = "", kind: type[TyperCommand] = PlainCommand
) -> Any:
    """The command that typer makes of a function with such a signature."""
    # help is plain text: titles and laws appear in it, and are no markup
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name or None, cls=kind)(function)
    return get_command(app)


def plainly(params: list[Any]) -> list[Any]:
    """The parameters, whose texts and flags are now read as they stand."""
    for param in params:
        if param.type_descriptor.annotation in (str, list[str], bool):
            param.get_runtime_param = PlainReader
    return params


class PlainReader:
    """Reads a text, several, or a flag as typer does by way of pydantic."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ARG002 - as typer calls it
        """The value that the command gets."""
        if param.multiple or param.nargs == -1:
            return () if value is None else list(value)
        return value
