"""What the shell is offered where a claim, a tag or a format is to be typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import typer

from dropcheck.claims.registry import Registry
from dropcheck.cli.lookahead import SELECTION
from dropcheck.cli.option_values import FORMATS, RUN_FORMATS
from dropcheck.errors import DropcheckError

# No space, quote, bracket or sign that a shell gives a meaning to.
_AS_IT_STANDS = re.compile(r"[\w.,:+@%/=-]+")


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
    from dropcheck.report.terminal.screen import as_markup, one_line

    registry = _registry(ctx)
    if registry is None:
        return []
    return [
        (claim.id, as_markup(one_line(claim.title)))
        for claim in registry.claims.values()
        if claim.id.startswith(incomplete)
    ]


def tags(ctx: typer.Context, incomplete: str) -> list[str]:
    """The tags that begin so; one that a shell would not take as it stands is left to be typed."""
    registry = _registry(ctx)
    if registry is None:
        return []
    found = dict.fromkeys(tag for claim in registry.claims.values() for tag in claim.tags)
    return [tag for tag in found if tag.startswith(incomplete) and _AS_IT_STANDS.fullmatch(tag)]


def among(words: Iterable[str]) -> Callable[[str], list[str]]:
    """What offers those of the words that begin so."""
    known = tuple(words)

    def begun(incomplete: str) -> list[str]:
        return [word for word in known if word.startswith(incomplete)]

    return begun


formats = among(FORMATS)
run_formats = among(RUN_FORMATS)
