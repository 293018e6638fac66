"""What the shell is offered where a claim, a tag or a format is to be typed."""

from __future__ import annotations

import typer

from dropcheck.claims.registry import Registry
from dropcheck.cli.arguments import SELECTION
from dropcheck.cli.values import FORMATS, RUN_FORMATS
from dropcheck.errors import DropcheckError


def _registry(context: typer.Context) -> Registry | None:
    from dropcheck.claims.reader import load_registry

    read = getattr(context.meta.get(SELECTION), "registry", None)
    if isinstance(read, Registry):  # for the parameters of the claims that are there already
        return read
    file = context.params.get("file")
    try:
        return load_registry(file if isinstance(file, str) else None)
    except DropcheckError:  # completion has nowhere to say what is wrong
        return None


def claim_ids(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The ids that begin so, each with its title."""
    from dropcheck.report.terminal import as_markup, one_line

    registry = _registry(ctx)
    if registry is None:
        return []
    return [
        (claim.id, as_markup(one_line(claim.title)))
        for claim in registry.claims.values()
        if claim.id.startswith(incomplete)
    ]


def tags(ctx: typer.Context, incomplete: str) -> list[str]:
    """The tags that begin so."""
    registry = _registry(ctx)
    if registry is None:
        return []
    found = dict.fromkeys(tag for claim in registry.claims.values() for tag in claim.tags)
    return [tag for tag in found if tag.startswith(incomplete)]


def formats(incomplete: str) -> list[str]:
    """The formats that begin so."""
    return [name for name in FORMATS if name.startswith(incomplete)]


def run_formats(incomplete: str) -> list[str]:
    """The formats of `run` that begin so."""
    return [name for name in RUN_FORMATS if name.startswith(incomplete)]
