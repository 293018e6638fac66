"""`run` and its like, with the selected claims' parameters as options of their own.

The options are made by typer itself, from a function with a signature built for the purpose, so
that help, completion and errors are those of any other option.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any

import typer

from dropcheck.claims.registry import Claim, Registry, Value
from dropcheck.claims.values import format_value
from dropcheck.cli import completion
from dropcheck.cli.lookahead import SELECTION, Glimpse, glimpse
from dropcheck.cli.option_values import format_hint
from dropcheck.cli.plain import PlainCommand, make, plainly
from dropcheck.errors import DropcheckError, Problem, nearest
from dropcheck.settings import RUN_OPTIONS

SECTION = "Parameters of the selected claims"
SHOWN_GRIDS = 3  # of claims that share a parameter; help is to be read
SHOWN_VALUES = 8  # of one grid


@dataclass(slots=True)
class Selection:
    """What a first look at the arguments found, and the parameters that the second one set."""

    registry: Registry | None = None
    claims: tuple[Claim, ...] = ()
    named: bool = False  # whether claims were named, rather than all taken
    options: list[Any] = field(default_factory=list)
    overrides: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the selected claims, in the order of the file."""
        return tuple(dict.fromkeys(name for one in self.claims for name in one.parameter_names))


def selection_of(context: Any) -> Selection:
    """The selection that belongs to a context of such a command."""
    found = context.meta.get(SELECTION)
    return found if isinstance(found, Selection) else Selection()


class RunCommand(PlainCommand):
    """A command that takes the parameters of the claims among its arguments as options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look for the claims first, then read the arguments with their parameters as options."""
        selection = ctx.meta[SELECTION] = Selection()
        found = glimpse(args, self._takes_value())
        try:
            _select(selection, found, lenient=ctx.resilient_parsing)
        except DropcheckError:
            # help and completion are of use with a broken registry too
            if not ctx.resilient_parsing and "--help" not in found.flags:
                raise
        options = _as_options(selection, hidden=not selection.named)
        selection.options.extend(options)
        with _unknown_options_explained(self, ctx, selection):
            return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own parameters, then those of the selected claims."""
        return plainly([*super().get_params(ctx), *selection_of(ctx).options])

    def _takes_value(self) -> dict[str, bool]:
        known = {"--help": False}
        for param in self.params:
            if param.param_type_name == "option":
                for name in (*param.opts, *param.secondary_opts):
                    known[name] = not getattr(param, "is_flag", False)
        return known

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Help on the arguments, the options, and the parameters of the selected claims."""
        selection = selection_of(ctx)
        groups: dict[str, list[Any]] = {"Arguments": [], "Options": [], SECTION: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            if any(param is option for option in selection.options):
                groups[SECTION].append(record)
            else:
                kind = "Arguments" if param.param_type_name == "argument" else "Options"
                groups[kind].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete options; descriptions go through typer as markup, and are none."""
        from dropcheck.report.terminal.screen import as_markup

        items = super().shell_complete(ctx, incomplete)
        for item in items:
            item.help = as_markup(item.help or "")
        return items


def _select(selection: Selection, found: Glimpse, *, lenient: bool) -> None:
    patterns, tags = found.positional, found.of("--tag")
    if lenient and not patterns:  # in completion, where no claim stands yet that has options
        return
    from dropcheck.claims.reader import load_registry
    from dropcheck.claims.selection import select_claims

    files = found.of("--file", "-f")
    registry = load_registry(files[-1] if files else None)
    selection.registry = registry
    selection.named = bool(tags or patterns) and patterns != ("all",)
    if lenient:  # in completion: what can be recognised
        selection.claims = tuple(
            claim
            for claim in registry.claims.values()
            if any(fnmatchcase(claim.id, pattern) for pattern in patterns)
        )
    else:
        selection.claims = select_claims(registry, patterns, tags)


def _as_options(selection: Selection, *, hidden: bool) -> list[Any]:
    """The parameters as options; one named like an option of `run` is left to `--set`."""
    signature = []
    for index, name in enumerate(name for name in selection.names if name not in RUN_OPTIONS):
        hyphened = name.replace("_", "-")
        spellings = [f"--{name}"]
        if hyphened != name and hyphened.strip("-") and not hyphened.startswith("-"):
            spellings.append(f"--{hyphened}")
        option = typer.Option(
            *spellings,
            metavar="VALUES",
            help=_grids(selection.claims, name),
            callback=_setter(selection.overrides, name),
            expose_value=False,
            show_default=False,
            hidden=hidden,
            autocompletion=completion.among(_numbers(selection.claims, name)),
        )
        signature.append(
            inspect.Parameter(
                f"parameter_{index}",
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[list[str] | None, option],
            )
        )

    def carrier() -> None:
        """Never called: it carries the signature."""

    carrier.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]  # typer reads it
    carrier.__annotations__ = {one.name: one.annotation for one in signature}
    return list(make(carrier).params)


def _setter(overrides: dict[str, str], name: str) -> Any:
    def store(value: list[str] | None) -> None:
        if value:  # an option given twice gives both values
            overrides[name] = ",".join(value)

    return store


def _grids(claims: Iterable[Claim], name: str) -> str:
    """The values that the claims try for a parameter, claims with like ones together."""
    by_grid: dict[str, list[str]] = {}
    for claim in claims:
        if name not in claim.parameter_names:
            continue
        values = _tried(claim, name)
        shown = ", ".join(format_value(value) for value in values[:SHOWN_VALUES])
        shown += ", …" if len(values) > SHOWN_VALUES else ""
        by_grid.setdefault(shown, []).append(claim.id)
    if len(by_grid) == 1:
        return f"default {next(iter(by_grid))}"
    parts = [f"{grid} ({', '.join(ids)})" for grid, ids in by_grid.items()]
    more = f"; and {len(parts) - SHOWN_GRIDS} more" if len(parts) > SHOWN_GRIDS else ""
    return "default " + "; ".join(parts[:SHOWN_GRIDS]) + more


def _tried(claim: Claim, name: str) -> tuple[Value, ...]:
    """The values that a claim tries for a parameter, each once."""
    return claim.parameters.get(name) or tuple(
        dict.fromkeys(case[name] for case in claim.cases or () if name in case)
    )


def _numbers(claims: Iterable[Claim], name: str) -> list[str]:
    """The numbers that the claims try for a parameter; laws would need quotes in a shell."""
    tried = (value for claim in claims for value in _tried(claim, name))
    return list(dict.fromkeys(format_value(one) for one in tried if not isinstance(one, str)))


@contextmanager
def _unknown_options_explained(
    command: RunCommand, ctx: Any, selection: Selection
) -> Iterator[None]:
    """Turn typer's error for an option that does not exist into one that knows the claims."""
    try:
        yield
    except typer.TyperException as error:
        name = getattr(error, "option_name", None)
        if name is None or not hasattr(error, "possibilities"):
            raise
        raise DropcheckError(
            _unknown(name, _known(command, ctx), selection, ctx.command_path)
        ) from None


def _known(command: RunCommand, ctx: Any) -> list[str]:
    return [
        name
        for param in command.get_params(ctx)
        if param.param_type_name == "option"
        for name in (*param.opts, *param.secondary_opts)
    ]


def _unknown(name: str, known: list[str], selection: Selection, command: str) -> Problem:
    bare = name.lstrip("-").replace("-", "_")
    own = [f"--{one}" for one in selection.names]
    near = nearest(name, [*own, *known])
    if selection.named:
        whose = ", ".join(claim.id for claim in selection.claims[:SHOWN_GRIDS])
        whose += ", …" if len(selection.claims) > SHOWN_GRIDS else ""
        message = f"there is no option '{name}', and {whose} has no such parameter"
        if len(selection.claims) > 1:
            message = f"there is no option '{name}', and none of {whose} has such a parameter"
    else:
        message = f"there is no option '{name}', and no claim has such a parameter"
    others = _having(selection.registry, bare)
    as_format = format_hint(name, command)
    if as_format is not None:
        hint = as_format
    elif near:
        hint = f"did you mean '{near}'?"
    elif others:
        hint = f"{bare!r} is a parameter of {', '.join(others[:SHOWN_GRIDS])}"
    elif own and selection.named:
        hint = f"the parameters are {', '.join(own[:SHOWN_VALUES])}"
    else:
        hint = f"{command} --help lists the options"
    return Problem(message, hint=hint)


def _having(registry: Registry | None, name: str) -> list[str]:
    claims: Mapping[str, Claim] = registry.claims if registry is not None else {}
    return [claim.id for claim in claims.values() if name in claim.parameter_names]
