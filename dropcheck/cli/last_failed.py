"""The cases that did not pass when they were last run, remembered for `--last-failed`.

The memory is in the user's own cache and not beside the claims file: a run leaves nothing in a
folder that it only reads, and a folder from elsewhere does not decide what is run. Errors of
writing and reading are ignored: then nothing is remembered.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dropcheck.claims.reader import SHIPPED_NAME
from dropcheck.claims.registry import MOST_CASES, Case, Claim, Registry
from dropcheck.claims.values import as_vector
from dropcheck.claims.yaml_places import read_bytes
from dropcheck.cli.output import write_file
from dropcheck.errors import DropcheckError
from dropcheck.report.numbers import plural
from dropcheck.results import CaseResult, Outcome, ParameterValue

SCHEMA = 1

CaseKey = tuple[str, tuple[tuple[str, ParameterValue], ...]]


def rerun(
    cases: tuple[Case, ...], registry: Registry, memory: int, *, swept: bool
) -> tuple[tuple[Case, ...], str]:
    """The selected cases that did not pass when last run, or all if there are none; and a note.

    Unless parameters are `swept` on the command line, cases that failed at values which were set
    there are run again too. `memory` is what one draw may take, for the check of these.
    """
    known = recall(registry)
    if not known:
        return cases, "no case is remembered that did not pass: all are run"
    failed = [case for case in cases if case_key(case) in known]
    if not swept:
        asked = {case_key(case) for case in cases}
        selected = {case.claim.id: case.claim for case in cases}
        failed += _others([key for key in known if key not in asked], selected, memory)
        order = list(registry.claims)
        failed.sort(key=lambda case: order.index(case.claim.id))
    if not failed:
        which, verb = ("one case", "is") if len(known) == 1 else (f"{len(known)} cases", "are")
        note = f"the {which} that did not pass when last run {verb} not among these"
        return cases, f"{note}: all of these are run"
    return tuple(failed), f"{plural(len(failed), 'case')} did not pass when last run"


def remember(registry: Registry, results: Sequence[CaseResult]) -> None:
    """Remember the cases that did not pass, and those of earlier runs that were not run again."""
    path = memory_of(registry)
    if path is None:
        return
    judged = {case_key(case) for case in results}
    earlier = [key for key in recall(registry) if key not in judged and key[0] in registry.claims]
    failed = [case_key(case) for case in results if case.result is not Outcome.PASS]
    keys = [*failed, *earlier][:MOST_CASES]  # where there are too many, the newest are kept
    with contextlib.suppress(OSError):
        if not keys:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        cases = [{"claim": claim, "parameters": dict(values)} for claim, values in keys]
        write_file(path, json.dumps({"schema": SCHEMA, "file": registry.name, "cases": cases}))


def recall(registry: Registry) -> tuple[CaseKey, ...]:
    """The remembered cases that did not pass; none where the memory cannot be read."""
    path = memory_of(registry)
    try:
        if path is None or not path.is_file():
            return ()
        content = json.loads(read_bytes(path, path.name))
    except (DropcheckError, OSError, ValueError, RecursionError):
        return ()
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        return ()
    entries = content.get("cases")
    read = [_entry(entry) for entry in entries[:MOST_CASES]] if isinstance(entries, list) else []
    return tuple(dict.fromkeys(key for key in read if key is not None))


def memory_of(registry: Registry) -> Path | None:
    """The file of the memory for claims files; None where one of them is not on a disk."""
    folder = cache_folder(os.environ, sys.platform)
    names = set(registry.files or (registry.name,))
    try:
        places = [os.path.realpath(name) for name in sorted(names - {SHIPPED_NAME})]
        if folder is None or not all(Path(place).is_file() for place in places):
            return None
    except (OSError, ValueError):
        return None
    place = "\n".join([*places, *(names & {SHIPPED_NAME})])
    name = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return folder / "dropcheck" / "last-failed" / f"{name}.json"


def cache_folder(environ: Mapping[str, str], platform: str) -> Path | None:
    """The folder of a user's caches: `XDG_CACHE_HOME`, or the usual one of the system."""
    named = environ.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():  # the XDG specification says to ignore others
        return Path(named)
    if platform == "win32":
        local = environ.get("LOCALAPPDATA", "")
        return Path(local) if local else None
    home = environ.get("HOME", "")
    if not Path(home).is_absolute():
        return None
    return Path(home, "Library", "Caches") if platform == "darwin" else Path(home, ".cache")


def _others(keys: Sequence[CaseKey], selected: Mapping[str, Claim], memory: int) -> list[Case]:
    """Remembered cases that the file itself does not have, as far as they can be run."""
    from dropcheck.language.case_graphs import CaseGraphs
    from dropcheck.language.checks import check_cases

    cases = []
    graphs = CaseGraphs(memory, keep=0)
    for name, values in keys:
        claim, given = selected.get(name), dict(values)
        if claim is not None and set(given) == set(claim.parameter_names):
            case = Case(claim, {one: given[one] for one in claim.parameter_names})
            with contextlib.suppress(DropcheckError):
                if not check_cases([case], graphs).problems:
                    cases.append(case)
    return cases


def _entry(entry: Any) -> CaseKey | None:
    """The key of a case, read from one entry of the file; None where the entry is no case."""
    if not isinstance(entry, dict):
        return None
    claim, parameters = entry.get("claim"), entry.get("parameters")
    if not isinstance(claim, str) or not isinstance(parameters, dict):
        return None
    try:
        values = {name: _value(value) for name, value in parameters.items()}
    except (OverflowError, TypeError, ValueError, RecursionError):
        return None
    return claim, tuple(sorted(values.items()))


def _value(value: Any) -> ParameterValue:
    """A remembered value; a vector is a list in JSON.

    Raises:
        TypeError, ValueError, OverflowError, RecursionError: it is no value of a parameter.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return as_vector([entry for entry in map(_value, value) if not isinstance(entry, str)])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def case_key(case: Case | CaseResult) -> CaseKey:
    """The key of a case, or of a result of it: the claim, and the parameters by name."""
    claim = case.claim if isinstance(case.claim, str) else case.claim.id
    return claim, tuple(sorted(case.parameters.items()))
