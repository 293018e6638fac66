"""The arguments of the command line: words, and a text for each option of the table.

They are read here and not by typer, for two reasons. The options of `run` depend on the claims
among its arguments, so these have to be read before typer has a command. And typer reads every text
through pydantic, whose import takes longer than `list` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dropcheck.cli.given import Given, command_options
from dropcheck.errors import DropcheckError, Problem, nearest
from dropcheck.options import RUN_OPTIONS, options_of
from dropcheck.records import record
from dropcheck.settings import Option, OptionKind

if TYPE_CHECKING:  # `--help` does not need them
    from dropcheck.claims.registry import Claim
    from dropcheck.results import ParameterValue

HELP = Option(name="help", help="Show this message and exit.")
SHOWN_GRIDS = 3  # how many grids of a parameter the help shows
SHOWN_VALUES = 8  # how many values of one grid


@record
class Command:
    """What is known of a command before it is called.

    Attributes:
        help: a line of what it does, and then the rest of its help.
        words: stands for its words in the help, in brackets if it needs none; empty if it takes
            none.
        words_help: what the words are.
        with_parameters: whether the parameters of the selected claims are its options.
    """

    help: str
    words: str = "[CLAIMS]..."
    words_help: str = (
        "Ids of claims, or globs of them; and claims files, which are recognised by their ending "
        "or a slash. All claims where no id is given."
    )
    with_parameters: bool = False


@dataclass(slots=True)
class CommandLine:
    """Arguments, read one by one.

    Attributes:
        words: the arguments that are no options.
        texts: by the name of the option, the text that was given, several, or True for a flag.
        unknown: the options that do not exist.
        problems: other errors.
    """

    words: list[str] = field(default_factory=list)
    texts: dict[str, Any] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def give(self, written: str, option: Option, text: str | None) -> None:
        """Take an option and its text, which is None at the end of the line."""
        if text is None:
            self.problems.append(Problem(f"option '{written}' needs a value"))
        elif option.repeated:
            self.texts[option.name] = (*self.texts.get(option.name, ()), text)
        else:
            self.texts[option.name] = text


def read_line(arguments: Iterable[str], options: Iterable[Option]) -> CommandLine:
    """Read arguments by the options that are known.

    An unknown long option is taken to have a value, as the parameters of claims have.

    >>> file = Option(name="file", letter="f", kind=OptionKind.FILE)
    >>> options = [file, Option(name="math", letter="m")]
    >>> line = read_line(["qk", "--dk", "512", "-mf", "a.yaml"], options)
    >>> line.words, line.texts, line.unknown
    (['qk'], {'math': True, 'file': 'a.yaml'}, ['--dk'])
    """
    known = {written: option for option in options for written in option.spellings}
    line = CommandLine()
    rest = deque(arguments)
    while rest:
        argument = rest.popleft()
        if argument == "--":
            line.words += rest
            break
        if argument.startswith("--"):
            name, separator, value = argument.partition("=")
            option = known.get(name)
            if option is None:
                line.unknown.append(name)
                if not separator and rest and not rest[0].startswith("--"):
                    rest.popleft()
            elif option.kind is not OptionKind.FLAG:
                line.give(name, option, value if separator else _next(rest))
            elif separator:
                line.problems.append(Problem(f"option '{name}' takes no value"))
            else:
                line.texts[option.name] = True
        elif argument.startswith("-") and argument != "-":
            _read_letters(argument[1:], rest, known, line)
        else:
            line.words.append(argument)
    return line


def _next(rest: deque[str]) -> str | None:
    return rest.popleft() if rest else None


def _read_letters(
    letters: str, rest: deque[str], known: Mapping[str, Option], line: CommandLine
) -> None:
    """Read short options written together, of which the last may have a value: `-xf FILE`."""
    for index, letter in enumerate(letters, start=1):
        option = known.get(f"-{letter}")
        if option is None:
            line.unknown.append(f"-{letter}")
        elif option.kind is OptionKind.FLAG:
            line.texts[option.name] = True
        else:
            line.give(f"-{letter}", option, letters[index:] or _next(rest))
            return


def read_arguments(
    name: str, command: Command, arguments: Sequence[str], *, lenient: bool = False
) -> Given:
    """The words and options of a command, also those for parameters of the selected claims.

    If `lenient`, nothing is an error: the line is still being typed.

    Raises:
        DropcheckError: an option does not exist, a word or a value is missing or too many, or the
            claims cannot be read.
    """
    given = Given(name, {}, options=(*command_options(name), HELP))
    line = _take(given, arguments)
    lenient = lenient or given.flag("help")  # help must work with broken claims too
    if command.with_parameters and (given.patterns or not lenient or given.several("tag")):
        with suppress(*([DropcheckError] if lenient else [])):
            _find_claims(given, lenient)
        given.parameter_options = tuple(_parameters(given))
        line = _take(given, arguments)
    own = {option.name for option in given.parameter_options}
    given.parameters = {one: ",".join(given.texts[one]) for one in given.texts if one in own}
    if lenient:
        return given
    problems = line.problems
    if line.unknown:
        problems = [unknown_option(line.unknown[0], given, with_own=command.with_parameters)]
    elif command.words[:1] not in ("", "[") and not line.words:
        problems = [*problems, Problem(f"{name} needs at least one claim or claims file")]
    elif len(line.words) > (1 if command.words else 0) and not command.words.endswith("..."):
        problems = [*problems, Problem(f"{name} takes no argument {line.words[-1][:100]!r}")]
    if problems:
        hint = f"dropcheck {name} --help says what it takes"
        raise DropcheckError([Problem(one.message, hint=one.hint or hint) for one in problems[:1]])
    return given


def _take(given: Given, arguments: Sequence[str]) -> CommandLine:
    line = read_line(arguments, (*given.options, *given.parameter_options))
    given.texts, given.words = line.texts, tuple(line.words)
    return line


def _find_claims(given: Given, lenient: bool) -> None:
    """Read the claims that the arguments name, and select from them."""
    from dropcheck.claims.selection import is_selected, select_claims
    from dropcheck.cli.chosen import columns_of

    given.registry = columns_of(given)
    if not lenient or given.several("tag"):
        given.claims = select_claims(given.registry, given.patterns, given.several("tag"))
        return
    claims, patterns = given.registry.claims.values(), given.patterns  # unknown ids do not matter
    given.claims = tuple(
        claim for claim in claims if any(is_selected(claim, one) for one in patterns)
    )


# ---- parameters of claims ------------------------------------------------------------------------


def is_named(given: Given) -> bool:
    """Whether claims were named, rather than all of them taken."""
    return bool(given.several("tag") or given.patterns) and given.patterns != ("all",)


def _parameters(given: Given) -> Iterator[Option]:
    """An option for each parameter of the selected claims."""
    from dropcheck.claims.values import format_value

    for name in _parameter_names(given.claims):
        if name in RUN_OPTIONS:
            continue
        grids = {one.id: _values(one, name) for one in given.claims if name in one.parameter_names}
        numbers = (one for grid in grids.values() for one in grid if isinstance(one, float))
        hyphened = [] if name.startswith("_") else [f"--{name.replace('_', '-')}"]
        yield Option(
            name=name,
            written=_once(f"--{name}", *hyphened),
            kind=OptionKind.TEXT,
            metavar="VALUES",
            repeated=True,  # given twice, it has both values
            help=_grids({one: [*map(format_value, grid)] for one, grid in grids.items()}),
            words=_once(*map(format_value, numbers)),  # laws and vectors would need quotes
        )


def _parameter_names(claims: Iterable[Claim]) -> tuple[str, ...]:
    return _once(*(name for claim in claims for name in claim.parameter_names))


def _once(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _values(claim: Claim, name: str) -> tuple[ParameterValue, ...]:
    """The values that a claim has for a parameter, each once."""
    return claim.parameters.get(name) or tuple(
        dict.fromkeys(case[name] for case in claim.cases or () if name in case)
    )


def _grids(values: Mapping[str, Sequence[str]]) -> str:
    """The values that claims have for a parameter; claims with the same values are together."""
    by_grid: dict[str, list[str]] = {}
    for claim, grid in values.items():
        shown = ", ".join(grid[:SHOWN_VALUES])
        shown += ", …" if len(grid) > SHOWN_VALUES else ""
        by_grid.setdefault(shown, []).append(claim)
    if len(by_grid) == 1:
        return f"default {next(iter(by_grid))}"
    parts = [f"{grid} ({', '.join(ids)})" for grid, ids in by_grid.items()]
    more = f"; and {len(parts) - SHOWN_GRIDS} more" if len(parts) > SHOWN_GRIDS else ""
    return "default " + "; ".join(parts[:SHOWN_GRIDS]) + more


# ---- options that do not exist -------------------------------------------------------------------


def unknown_option(name: str, given: Given, *, with_own: bool = False) -> Problem:
    """The problem of an option that does not exist.

    Args:
        name: as it was written.
        given: the other arguments; without a command where the option stands before it.
        with_own: whether the parameters of claims are options of the command.
    """
    message = f"there is no option '{name}'"
    bare = name.lstrip("-")
    options = (*given.options, *given.parameter_options)
    known = [written for option in options for written in option.spellings]
    near = nearest(name, known) if with_own else _near(bare, known)
    hint = None
    if bare in next((one.words for one in given.options if one.kind is OptionKind.FORMAT), ()):
        hint = f"did you mean '--format {bare}'?"
    elif near is not None:
        hint = f"did you mean '{near}'?"
    elif with_own:
        hint = _parameter_hint(bare.replace("-", "_"), given)
    elif given.command == "mutate":
        hint = "it takes no parameters of claims as options; dropcheck mutate --help lists what "
        hint += "it takes"
    elif not given.command and (option := _option_of_run(bare.replace("-", "_"))) is not None:
        value = " FILE" if option.kind in (OptionKind.FILE, OptionKind.REPORT) else ""
        hint = f"it goes after the command: dropcheck run {name}{value}"
    if with_own:
        message += f", and {_nobody_has(given)}"
    return Problem(message, hint=hint)


def _option_of_run(bare: str) -> Option | None:
    """The option of `run` that has a name or a letter."""
    return next((one for one in options_of("run") if bare in (one.name, one.letter)), None)


def _near(bare: str, known: Iterable[str]) -> str | None:
    """The option that was meant, compared without the dashes, which all options have."""
    by_name = {one.lstrip("-"): one for one in sorted(known)}
    near = nearest(bare, by_name)
    return None if near is None else by_name[near]


def _nobody_has(given: Given) -> str:
    """The words that none of the selected claims has a parameter, with their names."""
    if not is_named(given):
        return "no claim has such a parameter"
    shown = ", ".join(claim.id for claim in given.claims[:SHOWN_GRIDS])
    shown += ", …" if len(given.claims) > SHOWN_GRIDS else ""
    one = len(given.claims) == 1
    return f"{shown} has no such parameter" if one else f"none of {shown} has such a parameter"


def _parameter_hint(name: str, given: Given) -> str:
    claims = given.registry.claims.values() if given.registry is not None else ()
    others = [claim.id for claim in claims if name in claim.parameter_names]
    own = [f"--{one}" for one in _parameter_names(given.claims)]
    if others:
        return f"{name!r} is a parameter of {', '.join(others[:SHOWN_GRIDS])}"
    if own and is_named(given):
        return f"the parameters are {', '.join(own[:SHOWN_VALUES])}"
    return f"dropcheck {given.command} --help lists the options"
