"""The arguments of the command line: words, and a text for each option of the table.

They are read here and not by typer, for two reasons. The options of `run` depend on the claims
among its arguments, so these have to be read before typer has a command. And typer reads every text
through pydantic, whose import takes longer than `list` does.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dropcheck.claims.reader import MISTAKEN_NAME, SHIPPED, USUAL_NAME, load_registry
from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.select import option_of, select
from dropcheck.claims.values import NUMBER_FORMATS
from dropcheck.cli.option_table import RUN_OPTIONS, options_of, problem_with, read_value
from dropcheck.cli.output import printing_aside
from dropcheck.documents import ENDINGS, read_any
from dropcheck.errors import (
    DropcheckError,
    NothingSelected,
    Problem,
    in_file_order,
    nearest,
    suggestion,
)
from dropcheck.packs.pack_files import PACK, pack_names
from dropcheck.results.coverage import Coverage, unexpected
from dropcheck.settings import DEFAULT_MEMORY, Option, OptionKind, Settings

if TYPE_CHECKING:
    from dropcheck.claims.registry import Claim, Registry
    from dropcheck.language.check import Checked
    from dropcheck.language.compile import CaseGraphs
    from dropcheck.results import ParameterValue


# ---- given ---------------------------------------------------------------------------------------
#
# What the command line gave to a command: words, and a text for each option.


def command_options(command: str) -> tuple[Option, ...]:
    """The options of a command; those for reports have the formats filled in."""
    return tuple(_with_formats(option) for option in options_of(command))


def _with_formats(option: Option) -> Option:
    if option.words or option.kind not in (OptionKind.FORMAT, OptionKind.REPORT):
        return option
    from dropcheck.report.formats import PRINTED, WRITTEN

    words = tuple(PRINTED if option.kind is OptionKind.FORMAT else WRITTEN)
    return replace(option, words=words, help=option.help.format(words=" ".join(words)))


def _refused(option: Option, text: str) -> Problem:
    """The problem of a text that the option does not accept."""
    problem = problem_with(option, text)
    if option.kind is not OptionKind.FORMAT:
        return problem
    from dropcheck.report.formats import PRINTED, format_hint

    all_formats = set(PRINTED) <= set(option.words)
    return replace(problem, hint=format_hint(text[:100])) if all_formats else problem


def is_file(word: str) -> bool:
    """Whether a word names a file and not claims: by its ending, by a slash, or because it exists.

    A pack, such as `pack:dropout`, counts as a file; `dropout/values` is one of its ids, unless
    there is such a file. The id of one of several statements has a dot, but no slash and no such
    ending.

    >>> is_file("claims.yaml"), is_file("paper.md"), is_file("dropout-*"), is_file("dropout.mean")
    (True, True, False, False)
    """
    if word.startswith(PACK) or word.lower().endswith((".yaml", ".yml", *ENDINGS)):
        return True
    if "/" in word or os.sep in word:
        return word.partition("/")[0] not in pack_names() or Path(word).exists()
    return "." in word and Path(word).is_file()


@dataclass(slots=True)
class Given:
    """The words and options of one call of a command."""

    command: str  # its name
    # by the name of the option, the text that was given, several, or True for a flag
    texts: Mapping[str, Any]
    words: tuple[str, ...] = ()  # claims and files, in order
    options: tuple[Option, ...] = ()  # the command's options
    parameter_options: tuple[Option, ...] = ()  # those for parameters of the selected claims
    registry: Registry | None = None  # the claims, if they were read to find the options
    claims: tuple[Claim, ...] = ()  # the selected claims, likewise
    # the texts of options for parameters of claims
    parameters: Mapping[str, str] = field(default_factory=dict)
    # of the options that were read so far
    problems: list[Problem] = field(default_factory=list)
    line: tuple[str, ...] = ()  # the whole command line behind the name of the program

    @property
    def files(self) -> tuple[str, ...]:
        """The named claims files, from options and words, each once."""
        files: dict[Path, str] = {}
        for name in (*self.several("file"), *filter(is_file, self.words)):
            files.setdefault(Path(name).absolute(), name)
        return tuple(files.values())

    @property
    def patterns(self) -> tuple[str, ...]:
        """The ids and globs of claims."""
        return tuple(word for word in self.words if not is_file(word))

    def flag(self, name: str) -> bool:
        """Whether a flag was given."""
        return bool(self.texts.get(name))

    def several(self, name: str) -> tuple[str, ...]:
        """The texts of an option that may be given several times."""
        return tuple(self.texts.get(name) or ())

    def value(self, name: str) -> Any:
        """The value of an option; None where it was not given, or is wrong (`problems`)."""
        text = self.texts.get(name)
        return self._read(name, text) if isinstance(text, str) else None

    def values(self, name: str) -> list[Any]:
        """The values of an option that may be given several times."""
        read = [self._read(name, text) for text in self.several(name)]
        return [value for value in read if value is not None]

    def _read(self, name: str, text: str) -> Any:
        [option] = (one for one in command_options(self.command) if one.name == name)
        try:
            return read_value(option, text)
        except (ValueError, OverflowError):
            self.problems.append(_refused(option, text))
            return None

    def settings(self) -> Settings:
        """The settings of a run, with the default of each option that was not given."""
        usual = Settings()
        values: dict[str, Any] = {}
        for option in options_of(self.command):
            if option.setting and option.kind is OptionKind.FLAG:
                values[option.setting] = self.flag(option.name)
            elif option.setting:
                values[option.setting] = self.value(option.name)
        return replace(usual, **{name: one for name, one in values.items() if one is not None})

    def repeated_options(self) -> dict[str, str | None]:
        """The options that the command to repeat a case takes over, with texts; None for a flag."""
        return {
            option.flag: None if option.kind is OptionKind.FLAG else self.texts[option.name]
            for option in options_of(self.command)
            if option.in_repeat and self.texts.get(option.name)
        }

    def finish(self) -> None:
        """End the reading of options.

        Raises:
            DropcheckError: with the problems of all options.
        """
        if self.problems:
            raise DropcheckError(self.problems)


def assignments(
    texts: Sequence[str], options: Mapping[str, str], known: Sequence[str]
) -> dict[str, str]:
    """Parameters from texts `NAME=VALUE`, and from their own options.

    Raises:
        DropcheckError: a text is no assignment, no selected claim has the name, or a parameter is
            set in both ways.

    >>> assignments(["dk=1", "dk=2"], {"p": "0.1"}, ["dk", "p"])
    {'p': '0.1', 'dk': '1,2'}
    """
    names = f"the parameters are {', '.join(known[:20])}" + (", …" if len(known) > 20 else "")
    names = names if known else "the selected claims have no parameters"
    problems: list[Problem] = []
    repeated: dict[str, list[str]] = {}
    for text in texts:
        name, separator, value = (part.strip() for part in text.partition("="))
        if not separator or not name or not value:
            message = f"option '--set' cannot be {text[:100]!r}: it must be NAME=VALUE"
            problems.append(Problem(message, hint="for example --set dk=512"))
        elif name not in known:
            message = f"option '--set' names {name!r}, and no selected claim has such a parameter"
            problems.append(Problem(message, hint=suggestion(name, known) or names))
        elif name in options:
            message = f"the parameter {name!r} is given twice, by '--{name}' and by '--set'"
            problems.append(Problem(message))
        else:
            repeated.setdefault(name, []).append(value)
    if problems:
        raise DropcheckError(problems)
    return {**options, **{name: ",".join(parts) for name, parts in repeated.items()}}


# ---- arguments -----------------------------------------------------------------------------------


HELP = Option(name="help", help="Show this message and exit.")
SHOWN_GRIDS = 3  # how many grids of a parameter the help shows
SHOWN_VALUES = 8  # how many values of one grid


@dataclass(frozen=True, slots=True)
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
    >>> options = [file, Option(name="many", letter="m")]
    >>> line = read_line(["qk", "--dk", "512", "-mf", "a.yaml"], options)
    >>> line.words, line.texts, line.unknown
    (['qk'], {'many': True, 'file': 'a.yaml'}, ['--dk'])
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
    from dropcheck.claims.select import is_selected, select_claims

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


# ---- chosen --------------------------------------------------------------------------------------
#
# The claims that a command works on: of the named files, the usual file, or those that ship.


_OFF = ("", "0", "false")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The cases that a command works on, and the notes of their check.

    `graphs` are what the check built of the
    cases: nothing is parsed or lowered again to judge them.
    """

    registry: Registry
    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    graphs: CaseGraphs


def chosen_cases(given: Given, memory: int = DEFAULT_MEMORY) -> Chosen:
    """The selected cases, after a check of the whole registry.

    Raises:
        DropcheckError: for every error of the registry, or of the values given for parameters.
        NothingSelected: no claim has such an id and such a tag.
    """
    from dropcheck.language.check import check_cases, used_places
    from dropcheck.language.compile import CaseGraphs

    known = tuple(dict.fromkeys(name for one in given.claims for name in one.parameter_names))
    overrides = assignments(given.several("set"), given.parameters, known)
    graphs = CaseGraphs(memory)
    registry, checked = checked_registry(given, graphs)
    cases = select(registry, given.patterns, given.several("tag"), overrides, reserved=RUN_OPTIONS)
    if not cases:
        raise NothingSelected(Problem("no claim is selected", hint="dropcheck list shows them all"))
    if overrides or len({case.claim.id for case in cases}) < len(registry.claims):
        options = {name: option_of(name, RUN_OPTIONS) for name in overrides}
        used = used_places(registry.claims.values(), graphs)
        checked = check_cases(cases, graphs, options, used)  # values or notes may be others
        if checked.problems:
            raise DropcheckError(in_file_order(checked.problems))
        of_code = [note for note in registry.notes if note.location is None]
        checked = replace(checked, notes=(*of_code, *checked.notes))
    cases = fitting(cases, checked)
    graphs.keep_only(cases)
    warnings = tuple(_as_warning(note) for note in in_file_order(checked.notes))
    return Chosen(registry=registry, cases=cases, notes=warnings, graphs=graphs)


def fitting(cases: tuple[Case, ...], checked: Checked) -> tuple[Case, ...]:
    """The cases without those that do not fit their number format.

    Raises:
        DropcheckError: no case is left.
    """
    left = tuple(case for case in cases if case.key not in checked.unfit)
    if not left:
        raise DropcheckError(checked.notes)
    return left


def checked_registry(given: Given, graphs: CaseGraphs | None = None) -> tuple[Registry, Checked]:
    """The claims that a command works on, which have no errors, and the outcome of the check.

    Raises:
        DropcheckError: with every error of the files.
    """
    from dropcheck.language.check import check_registry

    # where parameters of claims are options, the registry was read to find them
    registry = given.registry or columns_of(given)
    checked = check_registry(registry, graphs)
    if checked.problems:
        raise DropcheckError(in_file_order(checked.problems))
    return registry, checked


def claims_of(files: Sequence[str]) -> Registry:
    """Read the claims of the files that a command works on.

    Raises:
        DropcheckError: with every error of the keys of the files.
    """
    return load_registry(files, read_any)


def expect_claims(expected: int | None, documents: Sequence[Coverage]) -> None:
    """Check that documents hold as many claims as are expected, where a number is.

    Raises:
        DropcheckError: they hold another number.
    """
    problem = None if expected is None else unexpected(documents, expected)
    if problem is not None:
        raise DropcheckError(problem)


def columns_of(given: Given) -> Registry:
    """The claims of the files that are named, with a column for each implementation.

    Raises:
        DropcheckError: a file cannot be read or holds errors, or code cannot be found.
    """
    registry = claims_of(given.files)
    formats = _formats(given)
    if not given.several("with"):
        if formats:
            message = "option '--dtype' is of code, and none is under test"
            raise DropcheckError(Problem(message, hint="name it: --with NAME"))
        return registry
    from dropcheck.code.columns import with_columns
    from dropcheck.code.slots import implementations_of

    implementations = implementations_of(given.several("with"), Path.cwd())
    with printing_aside():
        return with_columns(registry, implementations, formats)


def _formats(given: Given) -> tuple[str, ...]:
    """The number formats asked for.

    Raises:
        DropcheckError: one of them does not exist.
    """
    text = given.value("dtype") or ""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in NUMBER_FORMATS:
            hint = suggestion(name, NUMBER_FORMATS) or "they are " + ", ".join(NUMBER_FORMATS)
            message = f"option '--dtype' cannot be {name[:100]!r}: it is no format of numbers"
            raise DropcheckError(Problem(message, hint=hint))
    return names


def _as_warning(note: Problem) -> str:
    from dropcheck.report.screen import place

    where = place(note.location)
    hint = f" ({note.hint})" if note.hint else ""
    return f"{where}: {note.message}{hint}" if where else f"{note.message}{hint}"


# ---- where no file is named ----------------------------------------------------------------------


def falls_back(files: Sequence[str]) -> bool:
    """Whether a command with these files works on the claims that ship with dropcheck."""
    # a file with the mistaken name is reported when it is read
    return not files and not any(Path(name).is_file() for name in (USUAL_NAME, MISTAKEN_NAME))


def in_automation() -> bool:
    """Whether this is a job of continuous integration."""
    variables = [os.environ.get(name, "") for name in ("CI", "GITHUB_ACTIONS")]
    return any(text.strip().lower() not in _OFF for text in variables)


def refuse_in_automation(files: Sequence[str]) -> None:
    """Refuse the claims that ship in a CI job: one in the wrong folder must not pass by them.

    Raises:
        DropcheckError: this is a CI job, and nothing says which claims are meant.
    """
    if in_automation() and falls_back(files):
        message = f"there is no {USUAL_NAME} here, and under CI no other claims replace it"
        hint = f"name the file: --file FILE; the claims that ship with dropcheck: --file {SHIPPED}"
        raise DropcheckError(Problem(message, hint=hint))


def fallback_notes(files: Sequence[str]) -> list[Problem]:
    """A note where the claims that ship are used."""
    note = f"no {USUAL_NAME} here: these are the claims that ship with dropcheck"
    return [Problem(note)] if falls_back(files) else []
