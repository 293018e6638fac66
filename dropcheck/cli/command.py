"""A command: its options from the table, and the parameters of claims as further options.

Only documented interfaces of click are used: a command is asked for its parameters by
`get_params`, reads its arguments in `parse_args`, writes its options in `format_options`, and is
carried out by `invoke`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import click

from dropcheck.claims.registry import Claim, Registry, Value
from dropcheck.claims.values import format_value
from dropcheck.cli import completion
from dropcheck.cli.given import Given, command_options
from dropcheck.cli.output import print_out
from dropcheck.errors import DropcheckError, Problem, nearest
from dropcheck.options import RUN_OPTIONS, SHORT_OPTIONS
from dropcheck.settings import Kind, Option

GIVEN = "dropcheck.given"  # where the context keeps what a first look found
SECTION = "Parameters of the selected claims"
SHOWN_GRIDS = 3  # of claims that share a parameter; help is to be read
SHOWN_VALUES = 8  # of one grid
PREFIX = "parameter_"  # begins the names of options that are parameters of claims

Action = Callable[[Given], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What there is to say of a command before it is called.

    Attributes:
        help: a line of what it does, and what else its own help says.
        load: imports the function that does it.
        words: what stands for its words in the help; empty where it takes none.
        words_help: what the words are.
        needs_words: whether it must have one.
        with_parameters: whether the parameters of the selected claims are options of it.
    """

    help: str
    load: Callable[[], Action]
    words: str = ""
    words_help: str = ""
    needs_words: bool = False
    with_parameters: bool = False


class Command(click.Command):
    """A command of the table."""

    def __init__(self, name: str, entry: Entry) -> None:
        super().__init__(name, help=entry.help, add_help_option=False)
        self.entry = entry
        self.title = name

    @cached_property
    def own_params(self) -> list[click.Parameter]:
        """Its argument and its options; made when the command is first used."""
        params: list[click.Parameter] = []
        if self.entry.words:
            argument = click.Argument(
                ["words"],
                nargs=-1 if self.entry.words.endswith("...") else 1,
                required=self.entry.needs_words,
                metavar=self.entry.words,
                shell_complete=completion.files
                if "FILE" in self.entry.words
                else completion.claims_and_files,
            )
            params.append(argument)
        params += [_as_click(option, self.title) for option in command_options(self.title)]
        return [*params, help_option()]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters, then those of the selected claims."""
        self.params = [*self.own_params, *ctx.meta.get(SECTION, ())]
        return super().get_params(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look for the claims first, then read the arguments with their parameters as options."""
        given = ctx.meta[GIVEN] = Given(self.title, {})
        if self.entry.with_parameters:
            try:
                self._find_claims(ctx, given, args)
            except DropcheckError:
                # help and completion are of use with a broken registry too
                if not ctx.resilient_parsing and "--help" not in args:
                    raise
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> int:
        """Carry out the command; returns its exit code."""
        given: Given = ctx.meta[GIVEN]
        given.texts = ctx.params
        words = ctx.params.get("words") or ()
        given.words = (words,) if isinstance(words, str) else tuple(words)
        given.parameters = {
            name.removeprefix(PREFIX): ",".join(texts)  # an option given twice gives both values
            for name, texts in ctx.params.items()
            if name.startswith(PREFIX) and texts
        }
        return self.entry.load()(given)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Help on the words, the options, and the parameters of the selected claims."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], SECTION: []}
        if self.entry.words:
            groups["Arguments"].append((self.entry.words, self.entry.words_help))
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and param.param_type_name == "option":
                own = (param.name or "").startswith(PREFIX)
                groups[SECTION if own else "Options"].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def _find_claims(self, ctx: click.Context, given: Given, args: Sequence[str]) -> None:
        """Read the claims that the arguments name, and make options of their parameters."""
        seen = glimpse(args, self.own_params)
        given.texts, given.words = seen, positional(seen["words"] or ())
        lenient = ctx.resilient_parsing
        if lenient and not given.patterns:  # in completion, where no claim stands yet
            return
        from dropcheck.claims.reader import load_registry
        from dropcheck.claims.selection import select_claims

        registry = given.registry = ctx.meta[completion.REGISTRY] = load_registry(given.files)
        if lenient:  # what can be recognised
            given.claims = tuple(
                claim
                for claim in registry.claims.values()
                if any(fnmatchcase(claim.id, pattern) for pattern in given.patterns)
            )
        else:
            given.claims = select_claims(registry, given.patterns, given.several("tag"))
        hidden = not is_named(given)
        ctx.meta[SECTION] = [
            _parameter(name, given.claims, hidden)
            for name in dict.fromkeys(
                one for claim in given.claims for one in claim.parameter_names
            )
            if name not in RUN_OPTIONS
        ]


def help_option() -> click.Option:
    """`--help`, printed as everything else is: to a reader that went away, or a full disk, too."""
    return printing_option("--help", "Show this message and exit.", lambda ctx: ctx.get_help())


def printing_option(
    name: str, help_text: str, text: Callable[[click.Context], str]
) -> click.Option:
    """An option that prints something and ends the program."""

    def called(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            print_out(f"{text(ctx)}\n")
            ctx.exit()

    return click.Option(
        [name], is_flag=True, is_eager=True, expose_value=False, callback=called, help=help_text
    )


def _as_click(option: Option, command: str) -> click.Option:
    """An option of the table as click has it."""
    names = [option.name, option.flag, *([f"-{option.letter}"] if option.letter else [])]
    text = option.help_in.get(command, option.help)
    if option.kind is Kind.FLAG:
        return click.Option(names, is_flag=True, help=text)
    return click.Option(
        names,
        multiple=option.repeated,
        metavar=option.placeholder,
        help=text,
        shell_complete=completion.values_of(option),
    )


def glimpse(args: Sequence[str], params: Sequence[click.Parameter]) -> dict[str, Any]:
    """What arguments give to some parameters, where they may have others that are not known.

    Nothing is an error here: this is a look ahead, or one after an error.
    """
    look = click.Command(
        "look",
        params=list(params),
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    return dict(look.make_context("look", list(args), resilient_parsing=True).params)


def positional(words: Iterable[str]) -> tuple[str, ...]:
    """The words that are no options; a long option that is not known is taken to have a value.

    >>> positional(["qk", "--dk", "512", "--p=1", "-1", "b"])
    ('qk', 'b')
    """
    rest = iter(words)
    plain = []
    for word in rest:
        if not word.startswith("-"):
            plain.append(word)
        elif word.startswith("--") and "=" not in word:
            next(rest, None)
    return tuple(plain)


# ---- parameters of claims ------------------------------------------------------------------------


def is_named(given: Given) -> bool:
    """Whether claims were named, rather than all of them taken."""
    return bool(given.several("tag") or given.patterns) and given.patterns != ("all",)


def _parameter(name: str, claims: Sequence[Claim], hidden: bool) -> click.Option:
    hyphened = name.replace("_", "-")
    spellings = [f"--{name}"]
    if hyphened != name and hyphened.strip("-") and not hyphened.startswith("-"):
        spellings.append(f"--{hyphened}")
    grids = {claim.id: _values(claim, name) for claim in claims if name in claim.parameter_names}
    numbers = (one for values in grids.values() for one in values if not isinstance(one, str))
    return click.Option(
        [f"{PREFIX}{name}", *spellings],
        metavar="VALUES",
        help=_grids(grids),
        multiple=True,
        hidden=hidden,
        # laws would need quotes in a shell
        shell_complete=completion.among(list(dict.fromkeys(map(format_value, numbers)))),
    )


def _values(claim: Claim, name: str) -> tuple[Value, ...]:
    """The values that a claim has for a parameter, each once."""
    return claim.parameters.get(name) or tuple(
        dict.fromkeys(case[name] for case in claim.cases or () if name in case)
    )


def _grids(values: dict[str, tuple[Value, ...]]) -> str:
    """The values that claims have for a parameter, claims with the same ones together."""
    by_grid: dict[str, list[str]] = {}
    for claim, grid in values.items():
        shown = ", ".join(format_value(value) for value in grid[:SHOWN_VALUES])
        shown += ", …" if len(grid) > SHOWN_VALUES else ""
        by_grid.setdefault(shown, []).append(claim)
    if len(by_grid) == 1:
        return f"default {next(iter(by_grid))}"
    parts = [f"{grid} ({', '.join(ids)})" for grid, ids in by_grid.items()]
    more = f"; and {len(parts) - SHOWN_GRIDS} more" if len(parts) > SHOWN_GRIDS else ""
    return "default " + "; ".join(parts[:SHOWN_GRIDS]) + more


# ---- options that do not exist -------------------------------------------------------------------


def unknown_option(name: str, ctx: click.Context) -> Problem:
    """What to say of an option that a command does not have."""
    known = [opt for one in ctx.command.get_params(ctx) for opt in one.opts if opt[:1] == "-"]
    command, path = ctx.command, ctx.command_path
    given: Given = ctx.meta.get(GIVEN) or Given("", {})
    message = f"there is no option '{name}'"
    formats = _formats(command.title) if isinstance(command, Command) else ()
    with_parameters = isinstance(command, Command) and command.entry.with_parameters
    near = nearest(name, known) if with_parameters else _near(name, known)
    hint = None
    if name.lstrip("-") in formats:
        hint = f"did you mean '--format {name.lstrip('-')}'?"
    elif near is not None:
        hint = f"did you mean '{near}'?"
    elif with_parameters:
        hint = _parameter_hint(name, given, path)
    elif path.endswith(" mutate"):
        hint = f"it takes no parameters of claims as options; {path} --help lists what it takes"
    elif name.lstrip("-").replace("-", "_") in RUN_OPTIONS | SHORT_OPTIONS and ctx.parent is None:
        value = " FILE" if name in ("-f", "--file", "-o", "--output") else ""
        hint = f"it goes after the command: dropcheck run {name}{value}"
    if with_parameters:
        message += f", and {_nobody_has(given)}"
    return Problem(message, hint=hint)


def _near(name: str, known: Iterable[str]) -> str | None:
    """The option that was meant; the dashes, which all have, make none more alike."""
    bare = {one.lstrip("-"): one for one in sorted(known)}
    near = nearest(name.lstrip("-"), bare)
    return None if near is None else bare[near]


def _formats(command: str) -> tuple[str, ...]:
    return next((one.words for one in command_options(command) if one.kind is Kind.FORMAT), ())


def _nobody_has(given: Given) -> str:
    """That none of the selected claims has a parameter, said of them by name."""
    if not is_named(given):
        return "no claim has such a parameter"
    shown = ", ".join(claim.id for claim in given.claims[:SHOWN_GRIDS])
    shown += ", …" if len(given.claims) > SHOWN_GRIDS else ""
    one = len(given.claims) == 1
    return f"{shown} has no such parameter" if one else f"none of {shown} has such a parameter"


def _parameter_hint(name: str, given: Given, path: str) -> str:
    bare = name.lstrip("-").replace("-", "_")
    registry: Registry | None = given.registry
    claims = registry.claims.values() if registry is not None else ()
    others = [claim.id for claim in claims if bare in claim.parameter_names]
    own = [f"--{one}" for one in dict.fromkeys(n for c in given.claims for n in c.parameter_names)]
    if others:
        return f"{bare!r} is a parameter of {', '.join(others[:SHOWN_GRIDS])}"
    if own and is_named(given):
        return f"the parameters are {', '.join(own[:SHOWN_VALUES])}"
    return f"{path} --help lists the options"
