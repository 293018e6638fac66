"""`--with torch` and `--with NAME:slot=module:function`: the implementations of a run.

A claims file cannot name code: no text of one comes here. Each implementation is a column: each
claim once more, with its code bound to the slots.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from dropcheck.claims.registry import DTYPE, Claim, Code, Column, Registry, Slot, renamed
from dropcheck.code.adapters.adapter import FORMATS, FORMATS_OF_NUMPY, Adapter, raised
from dropcheck.code.calls import Bound
from dropcheck.errors import DropcheckError, Problem, nearest, suggestion
from dropcheck.language.compile import parse_claim
from dropcheck.language.syntax import Call, lines_of, walk
from dropcheck.packs import PACK
from dropcheck.vocabulary.function import EVAL, GRAD, TRAIN, slot_and_mode

# ---- implementations -----------------------------------------------------------------------------
#
# Implementations: code for slots under one name, that of a column of the results.
#
# An implementation is imported when its code is bound: in a run, and not in a check.


FRAMEWORKS: Mapping[str, tuple[str, ...]] = {
    "numpy": FORMATS_OF_NUMPY,
    "torch": FORMATS,
    "jax": FORMATS,
}
"""The frameworks whose code can be bound: their number formats, the usual one first.

`dropcheck/code/adapters` has the adapter of each, and `dropcheck/packs/implementations` its code
for the slots of packs; a library has the name of its framework."""
SHIPPED = "dropcheck.packs.implementations"


@dataclass(frozen=True)
class Implementation:
    """Code for slots, under the name of its column: a framework's own, or what the run names.

    By slot, `given` are the targets of the command line, as `module:function`. They are imported
    when they are bound.
    """

    name: str
    given: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path()  # where modules of the command line are looked for

    @property
    def framework(self) -> str:
        """The framework whose arrays its code is given: `torch`, also of `torch-own`."""
        first, _, _ = self.name.partition("-")
        return first if first in FRAMEWORKS else "numpy"

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The number formats of its framework, the usual one first."""
        return FRAMEWORKS[self.framework]

    @property
    def lacking(self) -> Mapping[str, str]:
        """The libraries that are not installed, by the number formats that need them."""
        found = self.framework != "numpy" or importlib.util.find_spec("ml_dtypes")
        return {} if found else {"bfloat16": "ml_dtypes"}

    def functions(self, slots: Mapping[str, Slot]) -> Mapping[str, tuple[str, Any]]:
        """Its code by slot, imported, with what messages call it.

        Raises:
            DropcheckError: code that it names is not there.
        """
        if self.given:
            named = [(name, self.given[name]) for name in slots if name in self.given]
            return {name: (text, imported(text, self.folder, name)) for name, text in named}
        of_packs = [name for name, slot in slots.items() if slot.location.file.startswith(PACK)]
        if not of_packs:
            return {}
        own: Mapping[str, Any] = self._imported(f"{SHIPPED}.{self.framework}_functions").FUNCTIONS
        return {name: (f"{self.framework}'s {name}", own[name]) for name in of_packs if name in own}

    def bind(self, slots: Mapping[str, Slot]) -> Mapping[str, Code]:
        """Its code by slot, ready to be called; slots for which it has none are left out.

        Raises:
            DropcheckError: its framework is not installed, or code that it names is not there.
        """
        functions = self.functions(slots)
        if not functions:
            return {}
        module = self._imported(f"dropcheck.code.adapters.{self.framework}_adapter")
        try:
            adapter: Adapter = getattr(module, f"{self.framework.capitalize()}Adapter")()
        except ValueError as error:
            raise DropcheckError(Problem(f"{self.name}: {error}")) from error
        return {
            name: Bound(slots[name], adapter, function, name=shown)
            for name, (shown, function) in functions.items()
        }

    def rebuilder(self, slots: Mapping[str, Slot]) -> Callable[[], Column] | None:
        """A function that makes the column in another process."""
        return partial(_column_anew, self, slots)

    def _imported(self, module: str) -> Any:
        """A module of dropcheck, which imports the framework."""
        try:
            return importlib.import_module(module)
        except ImportError as error:
            missing = (error.name or self.framework).split(".")[0]
            message = f"{self.name}: {missing!r} is not installed"
            hint = f"pip install {missing}, in the environment that runs dropcheck"
            raise DropcheckError(Problem(message, hint=hint)) from error


_bound: dict[str, Column] = {}  # columns of this worker


def _column_anew(own: Implementation, slots: Mapping[str, Slot]) -> Column:
    """The column of an implementation in a worker, bound once for all cases that it judges.

    Raises:
        DropcheckError: as `Implementation.bind`.
    """
    key = repr((own, slots))
    if key not in _bound:
        _bound[key] = Column(own.name, own.bind(slots))
    return _bound[key]


# ---- what the command line names -----------------------------------------------------------------


_PART = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_BINDING = re.compile(
    r"\s*(?P<name>[^\W_][\w.-]*)\s*"
    rf"(?::\s*(?P<slot>[^=]*[^=\s])\s*=\s*(?P<target>{_PART}:{_PART})\s*)?"
)
_EXAMPLES = "write --with torch, or --with mine:dropout=layers:dropout for code of your own"


def implementations_of(given: Sequence[str], folder: Path) -> tuple[Implementation, ...]:
    """The implementations that are asked for, in order.

    Nothing of them is imported.

    Args:
        given: texts as on the command line; several with one name are one implementation.
        folder: modules are looked for there.

    Raises:
        DropcheckError: a text cannot be read, or an implementation is not known; with all problems.
    """
    asked: dict[str, dict[str, str]] = {}
    problems: list[Problem] = []
    for text in given:
        if (found := _BINDING.fullmatch(text)) is None:
            message = f"--with {text[:100]!r} is not NAME:SLOT=MODULE:FUNCTION"
            problems.append(Problem(message, hint=_EXAMPLES))
            continue
        name, slot, target = found.groups("")
        if name == "model":
            problems.append(Problem("--with: 'model' is the mathematics", hint=_EXAMPLES))
        own = asked.setdefault(name, {})
        if slot and own.setdefault(slot, target) != target:
            problems.append(Problem(f"--with binds {slot!r} of {name!r} twice"))
    for name, targets in {} if problems else asked.items():
        if name not in FRAMEWORKS and not targets:
            bind = f"bind code to a slot: --with {name}:SLOT=MODULE:FUNCTION"
            hint = suggestion(name, FRAMEWORKS) or bind
            problems.append(Problem(f"no implementation {name!r} is known", hint=hint))
    if problems:
        raise DropcheckError(problems)
    return tuple(Implementation(name, own, folder) for name, own in asked.items())


def needed(given: Sequence[str], claim: Claim) -> list[str]:
    """The texts of the command line that bind the column of a claim."""
    if claim.column is None:
        return []
    called = "\n".join(one.text for one in (claim.model, claim.statement) if one is not None)
    read = ((text, _BINDING.fullmatch(text)) for text in given)
    own = [(text, one["slot"]) for text, one in read if one and one["name"] == claim.column.name]
    used = [text for text, slot in own if not slot or re.search(rf"\b{slot}\b", called)]
    return used or [text for text, _ in own]


# ---- import --------------------------------------------------------------------------------------


def imported(target: str, folder: Path, slot: str) -> Any:
    """What a target names. Modules of `folder` are found, as with `python -m` in that folder.

    Raises:
        DropcheckError: there is no such module, it fails, or it has no such name.
    """
    here = str(folder.resolve())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        code = pkgutil.resolve_name(target)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a script that calls sys.exit would end the run
        message, hint = _failed(error, target.partition(":")[0], here)
        problem = Problem(f"{target}, bound to slot {slot!r}: {message}", hint=hint)
        raise DropcheckError(problem) from error
    if not callable(code):
        message = f"it is a value of type {type(code).__name__!r}, not a function"
        hint = "name a function, a class or a layer"
        problem = Problem(f"{target}, bound to slot {slot!r}: {message}", hint=hint)
        raise DropcheckError(problem)
    return code


def _failed(error: BaseException, name: str, folder: str) -> tuple[str, str]:
    """Why a name of a module is not imported, and what to do."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        top, _, _ = error.name.partition(".")
        install = f"is it installed here? pip install {top}; or is another folder meant?"
        if not f"{name}.".startswith(f"{error.name}."):
            return f"its import needs {error.name!r}, which is not installed", install
        parent, _, last = error.name.rpartition(".")
        spec = importlib.util.find_spec(parent) if parent and last != "py" else None
        folders = (spec and spec.submodule_search_locations) or ([] if parent else [folder])
        near = nearest(last, [one.name for one in pkgutil.iter_modules(folders)])
        hint = f"did you mean {'.'.join(filter(None, (parent, near)))!r}?" if near else install
        if last == "py":
            hint = f"a module is named without its ending: {parent}"
        return f"there is no module {error.name!r}", hint
    if isinstance(error, AttributeError) and name in sys.modules:
        public = [one for one in dir(error.obj) if not one.startswith("_")]
        owner = name if isinstance(error.obj, ModuleType) else repr(error.obj)[:100]
        listed = f"it has {', '.join(public[:8]) or 'no public names'}"
        return f"{owner} has no {error.name!r}", suggestion(str(error.name), public) or listed
    return f"its import {raised(error)}", f"try it: python -c 'import {name}'"


# ---- columns -------------------------------------------------------------------------------------

OF_PACKS = 0.001
"""The resolution of a pack's claim that does not give one."""
FINEST = ("float64", "float32")
"""The longest number formats first: each holds all numbers of the shorter ones."""


def with_columns(
    registry: Registry,
    implementations: Sequence[Implementation],
    formats: Sequence[str] = (),
) -> Registry:
    """The registry with a column for each implementation: copies of its claims with code bound.

    A claim about what the mathematics does not say, such as the gradient of a slot without one, has
    columns of code alone, and so have packs: tests of this package check their mathematics. Number
    formats that nobody asks for by name and whose library
    is not installed are left out, with a note.

    Args:
        registry: the claims.
        implementations: the code under test.
        formats: the number formats to test; by default those of each claim.

    Raises:
        DropcheckError: an implementation has code for no slot that a claim calls.
    """
    claims = dict(registry.claims)
    with_slots = [claim for claim in registry.claims.values() if claim.slots]
    calls = {claim.id: calls_of_slots(claim) for claim in with_slots if implementations}
    known = {name for claim in with_slots for name in claim.slots}
    listed = f"the slots are {', '.join(sorted(known))}" if known else "no file here has slots"
    problems: list[Problem] = []
    notes: dict[Problem, None] = {}
    for one in implementations:
        unknown = sorted({*one.given} - known)
        for name in unknown:
            hint = suggestion(name, known) or listed
            problems.append(Problem(f"{one.name}: there is no slot {name!r}", hint=hint))
        bound: dict[int, Column] = {}
        columns, no_gradient = 0, False
        for claim in with_slots:
            if id(claim.slots) not in bound:
                code = one.bind(claim.slots)
                bound[id(claim.slots)] = Column(one.name, code, one.rebuilder(claim.slots))
            column = bound[id(claim.slots)]
            called = [call for call in calls[claim.id] if call[0] in column.code]
            without = any(
                mode == GRAD and not column.code[name].has_gradient for name, mode in called
            )
            no_gradient |= without
            chosen = _formats(claim, one, formats)
            for name in [] if formats else sorted({*chosen} & {*one.lacking}):
                chosen = tuple(other for other in chosen if other != name)
                needs = one.lacking[name]
                message = f"{one.name} is left out in {name}: {needs!r} is not installed"
                notes[Problem(message, hint=f"pip install {needs}")] = None
            unanswered = _unanswered(claim, calls[claim.id], column.code)
            if called and chosen and not (without or unanswered):
                own = _in_column(claim, column, chosen)
                claims[own.id] = own
                columns += 1
                if _unanswered(claim, calls[claim.id], ()):
                    claims.pop(claim.id, None)
        if not columns and not unknown:
            message = f"the implementation {one.name!r} has code for no slot that a claim calls"
            if no_gradient:
                message = f"the claims ask for gradients, and {one.name!r} gives none"
            hint = "bind code of torch or jax" if no_gradient else listed
            problems.append(Problem(message, hint=hint))
    if problems:
        raise DropcheckError(problems)
    for claim in with_slots if implementations else ():
        if claim.location.file.startswith(PACK):
            claims.pop(claim.id, None)
    return replace(registry, claims=claims, notes=(*registry.notes, *notes))


def calls_of_slots(claim: Claim) -> set[tuple[str, str]]:
    """The slots that a claim's model and statement call, each with the mode of the call."""
    try:
        parsed = parse_claim(claim)
    except DropcheckError:  # it is reported where the claim is checked
        return {(name, TRAIN) for name in claim.slots}
    texts = [line.right for line in lines_of(parsed.model)]
    nodes = walk(*texts, *parsed.statement.operands)
    calls = {slot_and_mode(node.name) for node in nodes if isinstance(node, Call)}
    return {call for call in calls if call[0] in claim.slots}


def _unanswered(claim: Claim, calls: Collection[tuple[str, str]], code: Container[str]) -> bool:
    """Whether a call needs what neither the code nor the slot's own text gives."""

    def silent(name: str, mode: str) -> bool:
        slot = claim.slots[name]
        return {
            TRAIN: slot.shape is not None,
            EVAL: slot.evaluation is None,
            GRAD: slot.gradient is None,
        }[mode]

    return any(name not in code and silent(name, mode) for name, mode in calls)


def _formats(claim: Claim, one: Implementation, formats: Sequence[str]) -> tuple[str, ...]:
    """The number formats of a claim in a column: those asked for in which the code computes.

    A claim that names one format is tested in that one and in longer ones: elsewhere it may be
    wrong.
    """
    own = claim.parameters.get(DTYPE, (one.dtypes[0],) if not formats else ())
    asked = list(formats) or [str(name) for name in own]
    if formats and len(own) == 1:
        place = FINEST.index(str(own[0])) if own[0] in FINEST else len(FINEST)
        finer = FINEST[:place]
        asked = [name for name in asked if name == own[0] or name in finer]
    return tuple(name for name in asked if name in one.dtypes)


def _in_column(claim: Claim, column: Column, formats: Sequence[str]) -> Claim:
    """The copy of a claim for a column."""
    of_pack = claim.location.file.startswith(PACK)
    chosen = claim.sharpness_given or not of_pack or parse_claim(claim).statement.about_laws
    return replace(
        renamed(claim, lambda name: f"{name}{column.suffix}"),
        parameters={**claim.parameters, DTYPE: tuple(formats)},
        resolution=claim.resolution if chosen else OF_PACKS,
        sharpness_given=claim.sharpness_given or of_pack,
        column=column,
        truth=None,
    )
