"""`module:function`: the names of code on the command line, and its import.

A claims file cannot name code: no text of one comes here.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dropcheck.errors import DropcheckError, Problem, nearest

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_TARGET = re.compile(rf"(?P<module>{_NAME}):(?P<attribute>{_NAME})")
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_STANDARD_LIBRARY = str(Path(os.__file__).parent) + os.sep


@dataclass(frozen=True, slots=True)
class Target:
    """The name of code: a module, and an attribute of it, such as a function or a class."""

    module: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.module}:{self.attribute}"


def read_target(text: str) -> Target:
    """A target from its text.

    Raises:
        ValueError: it is not written so.

    >>> read_target("torch.nn.functional:dropout")
    Target(module='torch.nn.functional', attribute='dropout')
    """
    match = _TARGET.fullmatch(text.strip())
    if match is None:
        raise ValueError("is not written 'module:function', as 'torch.nn.functional:dropout' is")
    return Target(match["module"], match["attribute"])


def imported(target: Target, folder: Path, slot: str) -> Any:
    """What a target names. Modules of `folder` are found, as with `python -m` in that folder.

    Raises:
        DropcheckError: there is no such module, it fails, or it has no such name.
    """
    subject = f"{target}, bound to slot {slot!r}"
    here = str(folder.resolve())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(target.module)
    except ModuleNotFoundError as error:
        missing = error.name or target.module
        if not f"{target.module}.".startswith(f"{missing}."):
            message = f"{subject}: its import needs {missing!r}, which is not installed"
            raise DropcheckError(Problem(message, hint=_to_install(missing))) from error
        raise DropcheckError(_no_module(subject, missing, here)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a script that calls sys.exit would end the run
        message = f"{subject}: its import {raised(error)}"
        hint = f"try it: python -c 'import {target.module}'"
        raise DropcheckError(Problem(message, hint=hint)) from error
    code: Any = module
    for part in target.attribute.split("."):
        if not hasattr(code, part):
            raise DropcheckError(_no_attribute(subject, part, code, target))
        code = getattr(code, part)
    if not callable(code):
        message = f"{subject}: it is a value of type {type(code).__name__!r}, not a function"
        raise DropcheckError(Problem(message, hint="name a function, a class or a layer"))
    return code


def said_by(error: BaseException) -> str:
    """The first line of an error's text; empty where making the text fails."""
    try:
        return str(error).strip().split("\n")[0][:300]
    except Exception:
        return ""


def raised(error: BaseException) -> str:
    """An error of code under test in words: its type, the first line of its text, and its place."""
    said = said_by(error)
    return f"raised {type(error).__name__}{f': {said}' if said else ''}{_place(error)}"


def _place(error: BaseException) -> str:
    """The last line of the traceback that is in no library; nothing where all are."""
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        file = frame.f_code.co_filename
        if file.startswith(_PACKAGE):
            break
        if not (file.startswith(("<", _STANDARD_LIBRARY)) or f"-packages{os.sep}" in file):
            return f" ({file.removeprefix(str(Path.cwd()) + os.sep)}:{line})"
    return ""


def _no_module(subject: str, name: str, folder: str) -> Problem:
    parent, _, last = name.rpartition(".")
    if not parent:
        near = nearest(name, _importable(folder))
        hint = f"did you mean {near!r}?" if near else _to_install(name)
        return Problem(f"{subject}: there is no module {name!r}", hint=hint)
    spec = find_spec(parent)
    places = spec.submodule_search_locations if spec else None
    names = [path.stem for place in places or () for path in Path(place).glob("[a-z]*")]
    near = nearest(last, names)
    hint = f"did you mean '{parent}.{near}'?" if near else f"{parent!r} is installed"
    if last == "py":
        hint = f"a module is named without its ending: {parent}"
    return Problem(f"{subject}: there is no module {name!r}", hint=hint)


def _importable(folder: str) -> Iterable[str]:
    """The modules and packages of a folder, one of which was most likely meant."""
    return [
        path.stem
        for path in Path(folder).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    ]


def _no_attribute(subject: str, part: str, owner: object, target: Target) -> Problem:
    is_module = hasattr(owner, "__path__") or hasattr(owner, "__file__")
    shown = target.module if is_module else repr(owner)
    public = [name for name in dir(owner) if not name.startswith("_")]
    near = nearest(part, public)
    hint = f"did you mean {near!r}?" if near else f"it has {', '.join(public[:8])}"
    if near is None and not public:
        hint = "it has no public names"
    return Problem(f"{subject}: {shown[:100]} has no {part!r}", hint=hint)


def _to_install(name: str) -> str:
    top, _, _ = name.partition(".")
    return f"is it installed here? pip install {top}; or is another folder meant?"
