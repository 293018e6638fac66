"""What the shell offers where a claim, a tag or a value is to be typed, and how it learns to.

The shells ask through the scripts of click; `--show-completion` prints the script of a shell, and
`--install-completion` puts it where that shell reads it at every start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from dropcheck.claims.registry import Registry
from dropcheck.claims.source import read_bytes
from dropcheck.cli.given import is_file
from dropcheck.cli.output import append_file, write_file
from dropcheck.errors import DropcheckError, Problem
from dropcheck.settings import Kind, Option, one_of

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

REGISTRY = "dropcheck.registry"
"""Where the context of a command keeps the claims that were read for it."""

LONGEST_TITLE = 70

# No space, quote, bracket or sign that a shell gives a meaning to.
_PLAIN = re.compile(r"[\w.,:+@%/=-]+")


# ---- what is offered -----------------------------------------------------------------------------


def claims_and_files(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ids that begin so, each with its title; files where a file is being typed."""
    if is_file(incomplete):
        return files(ctx, param, incomplete)
    registry = _registry(ctx)
    return [
        CompletionItem(claim.id, help=described(claim.title))
        for claim in (registry.claims.values() if registry is not None else ())
        if claim.id.startswith(incomplete)
    ]


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, which the shell itself looks for."""
    return [CompletionItem(incomplete, type="file")]


def tags(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The tags that begin so, except those that a shell would not take as they stand."""
    registry = _registry(ctx)
    claims = registry.claims.values() if registry is not None else ()
    known = dict.fromkeys(tag for claim in claims for tag in claim.tags)
    return [
        CompletionItem(tag) for tag in known if tag.startswith(incomplete) and _PLAIN.fullmatch(tag)
    ]


def among(words: Sequence[str]) -> Completer:
    """A completer that offers those of the words that begin so."""
    return lambda _, __, incomplete: [
        CompletionItem(word) for word in words if word.startswith(incomplete)
    ]


def values_of(option: Option) -> Completer:
    """The completer of an option's value."""
    if option.kind is Kind.TAG:
        return tags
    if option.kind in (Kind.FILE, Kind.REPORT):
        return files
    return among(("fresh",) if option.kind is Kind.SEED else option.words)


def described(text: str) -> str:
    r"""A user's text as a description in a shell: one short line without backslashes.

    >>> described("1\n2 \\$(x)")
    '1 2 /$(x)'
    """
    from dropcheck.report.terminal.screen import one_line

    text = one_line(text).replace("\\", "/")
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 3].rstrip() + "..."


def _registry(ctx: click.Context) -> Registry | None:
    from dropcheck.claims.reader import load_registry

    read = ctx.meta.get(REGISTRY)
    if isinstance(read, Registry):  # for the parameters of the claims that are there already
        return read
    named = [*(ctx.params.get("file") or ()), *filter(is_file, ctx.params.get("words") or ())]
    try:
        return load_registry(named)
    except DropcheckError:  # completion has nowhere to say what is wrong
        return None


# ---- how a shell learns to ask -------------------------------------------------------------------

# Where each shell reads at its start: a file for the script, and the file that has to name it.
PLACES: dict[str, tuple[str, str]] = {
    "bash": (".dropcheck-complete.bash", ".bashrc"),
    "zsh": (".dropcheck-complete.zsh", ".zshrc"),
    "fish": (".config/fish/completions/dropcheck.fish", ""),
}


def usual_shell() -> str:
    """The user's shell."""
    usual = "powershell" if os.name == "nt" else ""
    shell = Path(os.environ.get("SHELL", usual)).stem
    return "powershell" if shell == "pwsh" else shell


def script(program: click.Command, shell: str = "") -> str:
    """What a shell reads to ask for completion, by default the user's shell.

    Raises:
        DropcheckError: there is none for this shell.
    """
    shell = shell or usual_shell()
    known = get_completion_class(shell)
    if known is None:
        message = f"there is no completion for the shell {shell!r}" if shell else "SHELL is not set"
        hint = f"name a shell that has it before the command: SHELL={one_of(tuple(PLACES))}"
        raise DropcheckError(Problem(message, hint=hint))
    return known(program, {}, "dropcheck", "_DROPCHECK_COMPLETE").source().rstrip("\n")


def install(program: click.Command) -> str:
    """Put the script where the user's shell reads it, and say so.

    Raises:
        DropcheckError: there is none for this shell, or a file cannot be written.
    """
    shell = usual_shell()
    text = script(program, shell)
    if shell not in PLACES:
        hint = "add this line to $PROFILE: dropcheck --show-completion | Out-String | iex"
        raise DropcheckError(Problem(f"{shell} is set up by hand", hint=hint))
    place, reader = PLACES[shell]
    path, start = Path.home() / place, Path.home() / reader
    path.parent.mkdir(parents=True, exist_ok=True)
    problems = [write_file(path, f"{text}\n")]
    line = f"source '{path}'"
    if reader and not (start.is_file() and line.encode() in read_bytes(start, str(start))):
        problems.append(append_file(start, f"\n{line}\n"))
    failed = [problem for problem in problems if problem is not None]
    if failed:
        raise DropcheckError(failed)
    return f"{shell} completion is installed in {path}; new shells will have it"
