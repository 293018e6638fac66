"""What the shell offers where a claim, a tag or a value is typed.

Typer talks to the shells, and installs completion: `--install-completion`, `--show-completion`.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from dropcheck.cli.arguments import Given, is_file
from dropcheck.errors import DropcheckError
from dropcheck.settings import Option, OptionKind

if TYPE_CHECKING:  # `--help` does not need it
    from dropcheck.claims.registry import Claim

Completer = Callable[[str], list[tuple[str, str]]]
"""From a word that is being typed to what begins so, each with its description."""

LONGEST_TEXT = 70

# Words without a space, quote, bracket or other sign that has a meaning in a shell.
_PLAIN = re.compile(r"[\w.,:+@%/=-]+")


def typed_line() -> list[str] | None:
    """The words of the line that a shell asks to complete; None where no shell asks."""
    if "_DROPCHECK_COMPLETE" not in os.environ:
        return None
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    with suppress(ValueError):  # an open quotation
        return shlex.split(line)[1:]
    return line.split()[1:]


def claims_and_files(given: Given) -> Completer:
    """The completer of claims: their ids with their titles. The shell itself completes files."""

    def offered(incomplete: str) -> list[tuple[str, str]]:
        claims = () if is_file(incomplete) else _claims(given)
        titles: dict[str, str] = {}
        for one in claims:
            titles.setdefault(one.entry, one.title if one.family is None else one.family.title)
            titles[one.id] = one.title
        return [(name, described(titles[name])) for name in titles if name.startswith(incomplete)]

    return offered


def values_of(option: Option, given: Given) -> Completer:
    """The completer of an option's value."""

    def offered(incomplete: str) -> list[tuple[str, str]]:
        words: Iterable[str] = () if option.kind is OptionKind.REPORT else option.words
        if option.kind is OptionKind.TAG:  # tags that need no quotes
            tags = dict.fromkeys(tag for claim in _claims(given) for tag in claim.tags)
            words = filter(_PLAIN.fullmatch, tags)
        elif option.kind is OptionKind.SEED:
            words = ("fresh",)
        return [(word, "") for word in words if word.startswith(incomplete)]

    return offered


def described(text: str) -> str:
    r"""A text as a description in a shell: one short line without markup.

    >>> described("1\n2 \\$(x) [red]")
    '1 2 /$(x) \\[red]'
    """
    from dropcheck.report.screen import one_line

    text = one_line(text).replace("\\", "/")
    text = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3].rstrip() + "..."
    return re.sub(r"\[(?=[a-z#/@])", r"\\[", text)  # typer reads descriptions as rich's markup


def _claims(given: Given) -> Iterable[Claim]:
    from dropcheck.claims.reader import load_registry
    from dropcheck.documents import read_any

    with suppress(DropcheckError):  # completion cannot report errors
        # where parameters of claims are options, the registry was read to find them
        return (given.registry or load_registry(given.files, read_any)).claims.values()
    return ()
