"""The files of `--evidence`: what runs have drawn, read whole, merged, and written whole.

Anyone may have written such a file: it is JSON of limited size, and every part is checked before it
is used. A checksum shows a broken file.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import re
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dropcheck.cli.output import reason, write_file
from dropcheck.errors import DropcheckError, Problem
from dropcheck.results import CaseResult
from dropcheck.results.drawn import Kept, Unit, Units
from dropcheck.settings import MOST_SEED

FORMAT = "dropcheck-evidence"
VERSION = 1
MOST_BYTES = 2**27
"""The largest size of a file: about a thousand nights of fifty claims that stay undecided."""
MOST_NUMBER = 2**53
# The most by which rounding makes sums of the same draws differ between machines, relative to the
# largest of them.
MACHINE_ROUNDING = 1e-9

Cases = Mapping[str, Mapping[str, Units]]


def read_evidence(paths: Sequence[Path]) -> Kept:
    """The evidence of all files together; the first file need not exist yet.

    Raises:
        DropcheckError: one of them is missing, broken, or contradicts another.
    """
    problems: list[Problem] = []
    cases: Cases = {}
    for place, path in enumerate(paths):
        try:
            cases = merged(cases, _read(path, may_be_missing=place == 0), str(path))
        except DropcheckError as error:
            problems += error.problems
    if problems:
        raise DropcheckError(problems)
    return Kept(datetime.now(UTC).date().isoformat(), cases)


def write_evidence(path: Path, kept: Kept, results: Iterable[CaseResult]) -> list[Problem]:
    """Write what was kept and what a run drew into a file; returns what went wrong.

    What another run has written in the meantime stays in it.
    """
    new = kept.cases
    try:
        for result in results:
            if (own := result.evidence) is not None and own.units:
                new = merged(new, {own.case: {own.simulated: own.units}}, str(path))
        with _locked(path):
            before = _read(path, may_be_missing=True)
            whole = merged(before, new, str(path))
            if whole == before and path.exists():
                return []
            text = _text(whole)
            if len(text) > MOST_BYTES:
                message = f"the evidence is too large for {str(path)!r}: more than {MOST_BYTES:,}"
                hint = "begin a new file; this one is as it was"
                return [Problem(f"{message} bytes", hint=hint)]
            return write_file(path, text)
    except DropcheckError as error:
        return list(error.problems)
    except OSError as error:
        hint = "name a file in a folder that exists and may be written to"
        return [Problem(f"the evidence {str(path)!r} is not kept: {reason(error)}", hint=hint)]


def refused(paths: Sequence[Path], others: Sequence[Path], *, exact: bool) -> Iterator[Problem]:
    """The problems of the named files, given the files of reports (`others`)."""
    if paths and exact:
        hint = "leave one of them out"
        yield Problem(
            "option '--evidence' keeps draws, and with '--exact' there are none", hint=hint
        )
    if paths and not Path(os.path.realpath(paths[0])).parent.is_dir():
        message = f"option '--evidence': there is no folder {str(paths[0].parent)!r}"
        yield Problem(message, hint="name a file in a folder that exists and may be written to")
    written = {os.path.realpath(path) for path in others}
    for path in paths:
        if os.path.realpath(path) in written:
            message = f"options '--evidence' and '--output' name one file: {str(path)!r}"
            yield Problem(message, hint="give each its own file")


def merged(one: Cases, other: Cases, name: str) -> Cases:
    """The union of both, with each unit of draws once; the order of the two does not matter.

    Raises:
        DropcheckError: they have different sums of the same draws.
    """
    cases = {case: dict(of) for case, of in one.items()}
    for case, of in other.items():
        own = cases.setdefault(case, {})
        for simulated, units in of.items():
            known = {unit.draws: unit for unit in own.get(simulated, ())}
            for unit in units:
                before = known.get(unit.draws, unit)
                if not _alike(before, unit):
                    message = f"{name!r} has other sums of the same draws of {case!r}"
                    hint = f"seed {unit.seed} was drawn by another version: begin a new file"
                    raise DropcheckError(Problem(message, hint=hint))
                known[unit.draws] = min(before, unit, key=_order)
            own[simulated] = tuple(known[draws] for draws in sorted(known))
    return cases


def _order(unit: Unit) -> tuple[str, str, float]:
    return unit.sums, unit.night, unit.seconds


def _alike(one: Unit, other: Unit) -> bool:
    """Whether two units of the same draws have the same sums, up to rounding."""
    if one.sums == other.sums:
        return True
    first, second = _numbers(one.sums), _numbers(other.sums)
    if len(first) != len(second) or one.undefined != other.undefined:
        return False
    most = MACHINE_ROUNDING * max(map(abs, (*first, *second)), default=0.0)
    return all(abs(a - b) <= most for a, b in zip(first, second, strict=True))


def _numbers(text: str) -> tuple[float, ...]:
    data = base64.b64decode(text)
    return struct.unpack(f"<{len(data) // 8}d", data)


def _text(cases: Cases) -> str:
    listed = [
        {"case": case, "simulated": key, "units": [asdict(unit) for unit in units]}
        for case, of in sorted(cases.items())
        for key, units in sorted(of.items())
    ]
    head = {FORMAT: VERSION, "checksum": _checksum(listed), "cases": listed}
    return json.dumps(head, indent=1) + "\n"


def _checksum(listed: Any) -> str:
    text = json.dumps(listed, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path, *, may_be_missing: bool) -> Cases:
    """The content of one file.

    Raises:
        DropcheckError: it is no file of evidence.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        if may_be_missing:
            return {}
        hint = "of several files only the first, which is written, need not exist"
        raise DropcheckError(Problem(f"there is no evidence {str(path)!r}", hint=hint)) from None
    except (OSError, ValueError) as error:
        message = f"the evidence {str(path)!r} cannot be read: {reason(error)}"
        raise DropcheckError(Problem(message)) from None
    if len(data) > MOST_BYTES:
        message = f"the evidence {str(path)!r} is larger than {MOST_BYTES:,} bytes"
        raise DropcheckError(Problem(message, hint="begin a new file"))
    try:
        return _content(json.loads(data, parse_constant=_refuse))
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, _StrangeError) else "it is no JSON"
        message = f"{str(path)!r} is no evidence that a run has written: {why}"
        hint = "name another file, or move this one away to begin anew; it is left as it is"
        raise DropcheckError(Problem(message, hint=hint)) from None


class _StrangeError(ValueError):
    """A file has content that no run writes."""


def _refuse(text: str) -> Any:
    raise _StrangeError(f"{text} is no number")


def _content(whole: Any) -> Cases:
    if not isinstance(whole, dict) or FORMAT not in whole:
        raise _StrangeError(f"it has no key {FORMAT!r}")
    if whole[FORMAT] != VERSION:
        raise _StrangeError("another version of dropcheck wrote it")
    listed = whole.get("cases")
    if not isinstance(listed, list) or whole.get("checksum") != _checksum(listed):
        raise _StrangeError(
            "it was changed, or only a part of it is there: its checksum is another"
        )
    cases: dict[str, dict[str, Units]] = {}
    for entry in listed:
        if not isinstance(entry, dict) or set(entry) != {"case", "simulated", "units"}:
            raise _StrangeError("a case in it has other keys")
        case, simulated, units = entry["case"], entry["simulated"], entry["units"]
        if not (isinstance(case, str) and isinstance(simulated, str) and isinstance(units, list)):
            raise _StrangeError("a case in it is no case")
        read = tuple(map(_unit, units))
        if simulated in cases.get(case, {}) or len({unit.draws for unit in read}) < len(read):
            raise _StrangeError(f"it has the same draws of {case[:100]!r} twice")
        cases.setdefault(case, {})[simulated] = read
    return cases


_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def _unit(entry: Any) -> Unit:
    try:
        unit = Unit(**entry)
    except TypeError:
        raise _StrangeError("a unit of draws in it has other keys") from None
    whole = [(unit.seed, MOST_SEED), (unit.number, MOST_NUMBER), (unit.undefined, MOST_NUMBER)]
    whole += [] if unit.first is None else [(unit.first, MOST_NUMBER)]
    sound = (
        all(type(value) is int and 0 <= value <= most for value, most in whole)
        and isinstance(unit.night, str)
        and _DAY.fullmatch(unit.night) is not None
        and isinstance(unit.seconds, int | float)
        and not isinstance(unit.seconds, bool)
        and 0 <= unit.seconds < MOST_NUMBER
        and isinstance(unit.sums, str)
        and _BASE64.fullmatch(unit.sums) is not None
    )
    if not sound:
        raise _StrangeError("a unit of draws in it is none that a run makes")
    try:
        size = len(base64.b64decode(unit.sums, validate=True))
    except ValueError:
        size = 1
    if size % 8:
        raise _StrangeError("the sums of a unit of draws in it are no numbers")
    return unit


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """A context in which no other run writes the file."""
    lock = os.open(f"{path.resolve()}.lock", os.O_CREAT | os.O_RDWR, 0o666)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
