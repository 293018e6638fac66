"""What the command line gave to a command: words, and a text for each option."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dropcheck.documents import ENDINGS
from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.options import options_of, problem_with, read_value
from dropcheck.packs.pack_files import PACK, pack_names
from dropcheck.settings import Option, OptionKind, Settings

if TYPE_CHECKING:  # `--help` does not need them
    from dropcheck.claims.registry import Claim, Registry


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
