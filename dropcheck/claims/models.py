"""Models that several claims share: the name of a model on a line stands for that model's lines.

The joined text keeps the places of its parts, so that an error in a shared line is reported where
that line is.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from dropcheck.claims.registry import Jump, SourceText
from dropcheck.errors import DropcheckError, Location, Problem, suggestion

# Limits of one joined model, and of all of them together: as much as a file itself may hold.
MOST_CHARACTERS = 400_000
MOST_IN_ALL = 2**24

MODEL_NAME = r"[^\W\d][\w-]*"
_BARE = re.compile(rf"({MODEL_NAME})\s*(?:#.*)?\r?")


class Models:
    """The shared models of a file; inserts their lines into the models of claims.

    Args:
        texts: each model as written, in the order of the file; None if it cannot be read, which is
            reported already.
        places: the place of each name.
        all_read: False if the file may have other models, which cannot be read.
    """

    def __init__(
        self,
        texts: Mapping[str, SourceText | None],
        places: Mapping[str, Location],
        *,
        all_read: bool = True,
    ) -> None:
        self.problems: list[Problem] = []
        self._places = places
        self._all_read = all_read
        self._unread: set[str] = set()
        self._known: dict[str, SourceText] = {}  # with all their lines inserted
        self._used: set[str] = set()
        self._characters = 0
        for name, text in texts.items():
            whole = None if text is None else self.completed(text)
            if whole is None:
                self._unread.add(name)
            else:
                inner = whole.models or (None,) * len(whole.origins)
                models = tuple(model or name for model in inner)
                self._known[name] = replace(whole, models=models)

    def completed(self, text: SourceText) -> SourceText | None:
        """A model with the lines of other models inserted for their names.

        None if it names an unknown or unreadable model; the problem is added to `problems`.
        """
        if not self._places and self._all_read:  # then the language reports a bare name
            return text
        try:
            return self._joined(text)
        except DropcheckError as error:
            self.problems += error.problems
            return None

    @property
    def notes(self) -> tuple[Problem, ...]:
        """A note on each model that nothing uses."""
        return tuple(
            Problem(f"no claim uses the model {name!r}", self._places[name], "take it out")
            for name in self._known
            if name not in self._used
        )

    def _joined(self, text: SourceText) -> SourceText:
        bare = dict(_bare_lines(text.text.split("\n")))
        if not bare:
            return text
        shared = {number: self._shared(name, text, number) for number, name in bare.items()}
        if len(text.origins) == 1:
            return shared[0]  # the same object, so that claims that share a model share its text
        whole = _put_together(text, shared)
        self._characters += len(whole.text)
        first = text.locate(min(shared), 0)
        for length, most, what in (
            (len(whole.text), MOST_CHARACTERS, "this model"),
            (self._characters, MOST_IN_ALL, "the models of this file"),
        ):
            if length > most:
                message = f"with the lines of the models named, {what} would be longer than "
                hint = "name a shared model alone, and add fewer lines to it"
                raise DropcheckError(Problem(f"{message}{most:,} characters", first, hint))
        return whole

    def _shared(self, name: str, text: SourceText, line: int) -> SourceText:
        """The lines of the model that a line names.

        Raises:
            DropcheckError: no model above has that name.
        """
        if name in self._known:
            self._used.add(name)
            return self._known[name]
        if name in self._unread or not (self._all_read or name in self._places):
            raise DropcheckError(())  # reported where that model is
        at = text.locate(line, 0)
        if name in self._places:
            message = f"the model {name!r} stands below, or is this one"
            raise DropcheckError(Problem(message, at, "a model may name those above it"))
        hint = suggestion(name, self._places)
        if hint is None:
            hint = "a line draws, 'x ~ normal(0, 1)', computes, 'y = 2 * x', or names a model: "
            hint += ", ".join(itertools.islice(self._places, 10))
        raise DropcheckError(Problem(f"there is no model {name!r}", at, hint))


def _bare_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines that consist of one name, are not indented and are outside brackets."""
    depth = 0
    for number, line in enumerate(lines):
        found = _BARE.fullmatch(line)
        if depth == 0 and found is not None:
            yield number, found.group(1)
        code = line.partition("#")[0]
        depth += sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
        depth = max(depth, 0)


def _put_together(text: SourceText, shared: Mapping[int, SourceText]) -> SourceText:
    """The text, with some of its lines replaced by other texts."""
    written: list[str] = []
    origins: list[tuple[int, int]] = []
    lines: list[str] = []
    jumps: list[Jump] = []
    models: list[str | None] = []

    def take(part: SourceText, first: int, last: int) -> None:
        shift = len(origins) - first
        written.extend(part.text.split("\n")[first:last])
        origins.extend(part.origins[first:last])
        lines.extend(part.lines[first:last])
        models.extend(part.models[first:last] or (None,) * (last - first))
        jumps.extend(
            Jump(jump.line + shift, jump.column, jump.place)
            for jump in part.jumps
            if first <= jump.line < last
        )

    at = 0
    for number, part in shared.items():
        take(text, at, number)
        take(part, 0, len(part.origins))
        at = number + 1
    take(text, at, len(text.origins))
    return SourceText(
        text="\n".join(written),
        file=text.file,
        origins=tuple(origins),
        lines=tuple(lines),
        jumps=tuple(jumps),
        models=tuple(models),
    )
