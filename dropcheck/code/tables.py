"""`[tool.dropcheck.implementations.NAME]` of pyproject.toml, read and checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dropcheck.code.implementations import COMPILED, FRAMEWORKS, check_dtypes
from dropcheck.code.targets import Target, read_target
from dropcheck.errors import DropcheckError, Location, Problem, nearest

PYPROJECT = "pyproject.toml"
MOST_CHARACTERS = 2**20  # of the file: nobody writes a longer one by hand
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_HEADING = "tool.dropcheck.implementations"
KEYS = ("adapter", "device", "compiled", "dtypes", "call_limit", "xfail")
"""All other keys are slots."""


@dataclass(frozen=True, slots=True)
class ImplementationTable:
    """What pyproject.toml says of one implementation."""

    adapter: str | None
    device: str | None
    compiled: bool
    dtypes: tuple[str, ...]
    call_limit: float | None
    xfail: Mapping[str, str]
    slots: Mapping[str, Target]


def tables_of(folder: Path) -> tuple[Mapping[str, ImplementationTable], Path]:
    """The tables of the nearest pyproject.toml, in this folder or above, and its folder.

    Raises:
        DropcheckError: the file or a table is wrong; with file and line.
    """
    folder = folder.resolve()
    for place in (folder, *folder.parents):
        if (place / PYPROJECT).is_file():
            return _tables(place / PYPROJECT), place
    return {}, folder


def _tables(path: Path) -> Mapping[str, ImplementationTable]:
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > MOST_CHARACTERS:
            raise DropcheckError(Problem(f"{path} is longer than a million characters"))
        whole: Any = tomllib.loads(text)
    except OSError as error:
        raise DropcheckError(Problem(f"{path} cannot be read: {error.strerror}")) from error
    except UnicodeDecodeError as error:
        raise DropcheckError(Problem(f"{path} is not UTF-8", hint="save it as UTF-8")) from error
    except RecursionError:
        raise DropcheckError(Problem(f"{path} is nested too deeply")) from None
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        at = _PLACE.search(message)
        line, column = (int(at[1]), int(at[2])) if at else (None, None)
        where = _location(path, text, line, column)
        problem = Problem(f"not TOML: {message[: at.start() if at else None]}", where)
        raise DropcheckError(problem) from error
    reader = _TableReader(path, text)
    for key in _HEADING.split("."):
        whole = whole.get(key, {}) if isinstance(whole, dict) else {}
    tables = {name: reader.table(name, one) for name, one in whole.items()}
    if reader.problems:
        raise DropcheckError(reader.problems)
    return tables


class _TableReader:
    """Reads the values of tables, and keeps every problem with them."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.problems: list[Problem] = []

    def table(self, name: str, values: object) -> ImplementationTable:
        """Read one table."""
        if not isinstance(values, dict):
            self._wrong(name, None, "is a table", f"write [{_HEADING}.{name}]")
            values = {}
        if name.endswith(COMPILED):
            hint = f"write 'compiled = true' in [{_HEADING}.{name.removesuffix(COMPILED)}]"
            self._wrong(name, None, f"cannot have a name that ends in {COMPILED!r}", hint)
        adapter = self._one_of(name, values, "adapter", FRAMEWORKS)
        framework = FRAMEWORKS[adapter or (name if name in FRAMEWORKS else "numpy")]
        dtypes = self._texts(name, values, "dtypes")
        wrong = check_dtypes(framework, dtypes)
        if wrong is not None:
            self._wrong(name, "dtypes", wrong, "write dtypes = ['float32']")
            dtypes = ()
        slots = {}
        for slot, text in values.items():
            if slot in KEYS:
                continue
            try:
                if not isinstance(text, str):
                    raise ValueError("is not text")
                slots[slot] = read_target(text)
            except ValueError as error:
                near = nearest(slot, KEYS)
                hint = f"did you mean {near!r}?" if near else "write slot = 'module:function'"
                self._wrong(name, slot, str(error), hint)
        return ImplementationTable(
            adapter=adapter,
            device=self._value(name, values, "device", str, "text such as 'cpu'"),
            compiled=self._value(name, values, "compiled", bool, "true or false") or False,
            dtypes=dtypes,
            call_limit=self._seconds(name, values),
            xfail=self._reasons(name, values),
            slots=slots,
        )

    def _value(self, name: str, values: dict[str, Any], key: str, kind: type, what: str) -> Any:
        value = values.get(key)
        if value is None or isinstance(value, kind):
            return value
        self._wrong(name, key, f"is {what}, and not {value!r:.60}")
        return None

    def _one_of(
        self, name: str, values: dict[str, Any], key: str, known: Mapping[str, object]
    ) -> str | None:
        value = values.get(key)
        if value is None or (isinstance(value, str) and value in known):
            return value
        near = nearest(str(value), known)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
        self._wrong(name, key, f"cannot be {value!r:.60}", hint)
        return None

    def _texts(self, name: str, values: dict[str, Any], key: str) -> tuple[str, ...]:
        value = values.get(key, [])
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        self._wrong(name, key, f"is a list of texts, and not {value!r:.60}")
        return ()

    def _seconds(self, name: str, values: dict[str, Any]) -> float | None:
        value = values.get("call_limit")
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e6:
            return float(value)
        self._wrong(name, "call_limit", f"is a number of seconds, and not {value!r:.60}")
        return None

    def _reasons(self, name: str, values: dict[str, Any]) -> Mapping[str, str]:
        value = values.get("xfail", {})
        if not isinstance(value, dict):
            self._wrong(name, "xfail", "is a table", f"write [{_HEADING}.{name}.xfail]")
            return {}
        for pattern, reason in value.items():
            if not isinstance(reason, str) or not reason.strip():
                self._wrong(name, pattern, "has no reason", 'write \'"claim" = "why it fails"\'')
        return {key: one for key, one in value.items() if isinstance(one, str)}

    def _wrong(self, name: str, key: str | None, message: str, hint: str | None = None) -> None:
        subject = f"implementation {name!r}" if key is None else f"{key!r} of {name!r}"
        line = _line_of(self.text, name, key)
        where = _location(self.path, self.text, line, None)
        self.problems.append(Problem(f"{subject} {message}", where, hint))


def _line_of(text: str, name: str, key: str | None) -> int | None:
    """The line of a key, or of its table, as far as a search by pattern finds it."""
    heading = re.compile(rf"\s*\[\s*{re.escape(_HEADING)}\.[\"']?{re.escape(name)}[\"']?[\].]")
    start = None
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("["):
            inside = heading.match(line) is not None
            if inside and start is None:
                start = number
        elif start and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return start


def _location(path: Path, text: str, line: int | None, column: int | None) -> Location:
    lines = text.split("\n")
    shown = lines[line - 1] if line is not None and line <= len(lines) else None
    return Location(str(path), line, column, shown)
