"""`run --fix`: new figures in place of stale ones, in the documents that were run.

A figure is replaced only where the mark claims its rounding, the case is refuted, and an interval
settles each digit. The interval of a refuted case is often too wide for that. Then the document is
read with the new figures in it, and these are judged with draws of their own.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from dropcheck.claims.registry import Claim, Registry
from dropcheck.claims.yaml_places import LINE_END, read_bytes
from dropcheck.cli.chosen import Chosen, in_automation
from dropcheck.cli.given import Given
from dropcheck.cli.output import complain, emit, write_file
from dropcheck.documents.new_figures import (
    Left,
    NewFigure,
    UnfitError,
    edited,
    new_figure,
    rounded,
    settled,
    stands,
)
from dropcheck.documents.unclaimed import digest_of
from dropcheck.errors import DropcheckError, Location, Problem
from dropcheck.report.phrases import by_claim
from dropcheck.results import CaseResult, Method, Outcome, Quantity, RunResult, Verdict
from dropcheck.results.coverage import Coverage
from dropcheck.settings import MOST_SEED, Settings

# The most rounds of new draws. Each round gives an estimate about five times as good as the one
# before: so many rounds lead from one digit to eight.
ROUNDS = 10
# Regions are not widened, in effect: a verified case has its interval within the rounding.
FINEST = 1e-9


def refuse_fix(given: Given) -> Iterator[Problem]:
    """The problems of `--fix` and `--diff`, before anything is run."""
    if given.flag("diff") and not given.flag("fix"):
        yield Problem("option '--diff' shows what --fix would write", hint="add '--fix'")
    if not given.flag("fix"):
        return
    if in_automation():
        hint = "run it where you can look at what it changes"
        yield Problem("option '--fix' is not for CI, where nobody reads what it writes", hint=hint)
    if given.flag("diff") and (given.value("format") or "table") != "table":
        hint = "leave '--format' out, or write the report to a file: -o FILE"
        yield Problem("option '--diff' prints below the table", hint=hint)


def refuse_values(chosen: Chosen) -> None:
    """Check that there is a document to change, and that its own cases are run.

    Raises:
        DropcheckError: there is none, or the command line gives other values.
    """
    if not chosen.registry.coverage:
        message = f"option '--fix' changes documents, and there is none in {chosen.registry.name}"
        raise DropcheckError(Problem(message, hint="name a document, such as paper.md"))
    if chosen.swept:
        message = "option '--fix' needs the values that the document gives"
        raise DropcheckError(Problem(message, hint="leave out the options that set parameters"))


@dataclass(slots=True)
class _Stale:
    """A figure to replace; `place` is that of its claim among those of its document."""

    claim: Claim
    place: int
    judged: CaseResult  # gives the new number
    new: NewFigure
    settled: bool


@dataclass(slots=True)
class _Document:
    """A document, the figures to replace in it, and those that are left as they are."""

    coverage: Coverage
    data: bytes
    stale: list[_Stale] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name, as the user gave it."""
        return self.coverage.file

    def new(self) -> bytes:
        """Its bytes with the new figures."""
        return edited(self.data, [one.new for one in self.stale])

    def leave(self, one: _Stale, why: str) -> None:
        """Leave a figure as it is."""
        self.stale.remove(one)
        self.left.append(_left(one.claim, why))


def fix_figures(run: RunResult, chosen: Chosen, given: Given) -> list[Problem]:
    """Write new figures, or show them; returns what went wrong, in which case nothing is written.

    Args:
        run: the run of the documents, which is complete.
        chosen: its claims.
        given: the options.
    """
    from dropcheck.report.terminal.document_tables import fix_table
    from dropcheck.report.terminal.screen import terminal_of

    try:
        documents = [_sorted(one, run.cases, chosen.registry) for one in run.coverage]
        for document in documents:
            _settle(document, run.settings)
        new = {document.name: _checked(document) for document in documents if document.stale}
        for document in documents:  # again: settling may take long
            _unchanged(document.coverage)
        if not given.flag("diff"):
            _refuse_read_only(new)
    except DropcheckError as error:
        complain(error.problems)
        return list(error.problems)
    printed = (given.value("format") or "table") == "table"
    stream = sys.stdout if printed else sys.stderr
    problems: list[Problem] = []
    if given.flag("diff"):
        for document in documents:
            emit(_difference(document, new.get(document.name)), stream)
    else:
        for name, data in new.items():
            problems += write_file(Path(name), data)
        complain(problems)
    figures = [
        (one.claim.id, one.new, _shown(one.judged))
        for document in documents
        for one in document.stale
    ]
    left = [one for document in documents for one in document.left]
    if not problems:
        emit(fix_table(figures, left, terminal_of(stream), written=not given.flag("diff")), stream)
    return problems


# ---- which figures -------------------------------------------------------------------------------


def _unchanged(coverage: Coverage) -> bytes:
    """The bytes of a document, if they are those that were run.

    Raises:
        DropcheckError: it cannot be read, or has changed.
    """
    data = read_bytes(Path(coverage.file), coverage.file)
    if digest_of(data) == coverage.digest:
        return data
    message = f"{coverage.file} has changed since it was read, and nothing was written"
    raise DropcheckError(Problem(message, Location(coverage.file), "run it again"))


def _refuse_read_only(names: Iterable[str]) -> None:
    """Refuse documents that are read-only: replacing the whole file would not notice it.

    Raises:
        DropcheckError: nobody may write to one of them.
    """
    for name in names:
        if not Path(name).stat().st_mode & 0o222:
            message = f"{name} is read-only, and nothing was written"
            raise DropcheckError(Problem(message, Location(name), f"chmod u+w {name}, or --diff"))


def _sorted(coverage: Coverage, cases: Sequence[CaseResult], registry: Registry) -> _Document:
    """A document, with its figures sorted into those to replace and those that are left."""
    document = _Document(coverage, _unchanged(coverage))
    of_claim = by_claim(cases)
    own = [one for one in registry.claims.values() if one.location.file == coverage.file]
    for place, claim in enumerate(own):
        bad = [one for one in of_claim.get(claim.id, ()) if one.result is not Outcome.PASS]
        if not bad:
            continue
        why = _why_left(claim, bad[0]) or _not_in_place(document.data, claim)
        if why is not None:
            document.left.append(_left(claim, why))
            continue
        figure = _from(claim, bad[0])
        if isinstance(figure, str):
            document.left.append(_left(claim, figure))
        else:
            new, is_settled = figure
            document.stale.append(
                _Stale(claim=claim, place=place, judged=bad[0], new=new, settled=is_settled)
            )
    return document


def _why_left(claim: Claim, case: CaseResult) -> str | None:
    """Why a claim that did not pass is left as it is; None where its figure may be stale."""
    figure = claim.written
    if claim.expect != Verdict.VERIFIED:
        return f"it is expected to be {claim.expect}"
    if figure is None:
        return "a statement is never changed"
    if figure.digits is None or figure.unit is None:
        return "a formula is never changed"
    if not figure.rounded:
        return "only a figure claimed by ~= is changed"
    if claim.case_count > 1:
        return "it is claimed of several cases"
    if case.verdict is not Verdict.REFUTED:
        return "it is undecided"
    if case.quantity is not Quantity.MIDDLE or case.entry is not None or case.region is None:
        return "it stands for more than one number"
    return None


def _not_in_place(data: bytes, claim: Claim) -> str | None:
    assert claim.written is not None
    return None if stands(data, claim.written) else "the file writes it with entities or escapes"


def _left(claim: Claim, why: str) -> Left:
    written = claim.written
    location = claim.location if written is None else written.start
    return Left(location, "" if written is None else written.text, claim.id, why)


def _from(claim: Claim, case: CaseResult) -> tuple[NewFigure, bool] | str:
    """The figure that a result gives and whether it is settled; or why there is none."""
    written = claim.written
    assert written is not None
    assert written.unit is not None
    value: float | None = case.estimate
    digits: Decimal | None = None
    if case.exact is not None:
        value = case.exact.value
        digits = settled((value - case.exact.error, value + case.exact.error), written.unit)
        if digits is None:
            return f"{value:.12g} is on the edge between two figures: print more digits or fewer"
    elif case.interval is not None:
        digits = settled(case.interval, written.unit)
    if value is None:
        return "it has no estimate"
    try:
        new = new_figure(written, rounded(value, written.unit) if digits is None else digits)
    except UnfitError as error:
        return error.why
    return new, digits is not None


# ---- which digits --------------------------------------------------------------------------------


def _settle(document: _Document, settings: Settings) -> None:
    """Judge new figures with new draws, until each of them is settled or left."""
    for count in range(1, ROUNDS + 1):
        doubtful = [one for one in document.stale if not one.settled]
        if not doubtful:
            return
        # all rounds together have the error rate of the run
        fresh = (settings.seed + count) % (MOST_SEED + 1)
        of_round = replace(
            settings,
            seed=fresh,
            alpha=settings.alpha / ROUNDS,
            resolution=FINEST,
            fail_fast=False,
        )
        results = _judged(document, doubtful, of_round)
        for one in doubtful:
            result = results.get(one.place)
            if result is None or result.verdict is Verdict.INCONCLUSIVE:
                one.judged = result or one.judged
                document.leave(one, _unsettled(one.judged))
            elif result.verdict is Verdict.VERIFIED:
                _confirm(document, one, result)
            elif isinstance(figure := _from(one.claim, result), str):
                document.leave(one, figure)
            else:  # the draws refute the figure, and give a better one
                one.judged, (one.new, _) = result, figure
    for one in [one for one in document.stale if not one.settled]:
        document.leave(one, _unsettled(one.judged))


def _confirm(document: _Document, one: _Stale, result: CaseResult) -> None:
    """Settle a figure if both ends of its interval are rounded to it, or leave it."""
    written = one.claim.written
    assert written is not None
    assert written.unit is not None
    one.judged = result
    one.settled = (
        result.interval is not None and settled(result.interval, written.unit) == one.new.digits
    )
    if not one.settled:
        document.leave(one, _unsettled(result))


def _judged(
    document: _Document, doubtful: Sequence[_Stale], settings: Settings
) -> Mapping[int, CaseResult]:
    """The results of new figures, by the place of their claim."""
    from dropcheck.documents.document_registry import document_of
    from dropcheck.running import verify_cases

    registry = document_of(document.new(), Path(document.name), document.name)
    claims = list(registry.claims.values())
    names = {claims[one.place].id: one.place for one in doubtful}
    cases = [case for name in names for case in registry.claims[name].expand()]
    results: dict[int, CaseResult] = {}
    try:
        for result in verify_cases(cases, settings, registry):
            results[names[result.claim]] = result
    except DropcheckError:  # a case cannot be judged: its figure is left
        pass
    return results


def _unsettled(result: CaseResult) -> str:
    return f"draws do not settle its last digit: {_shown(result)}"


def _shown(result: CaseResult) -> str:
    """The source of a figure in words: `0.41421 by the model`, or an interval."""
    from dropcheck.report import numbers
    from dropcheck.report.phrases import interval

    if result.exact is not None:
        return f"{numbers.exact(result.exact.value)} by the model"
    if result.method is Method.ARITHMETIC and result.estimate is not None:
        return f"{numbers.exact(result.estimate)} by arithmetic"
    return f"interval {interval(result)}"


# ---- what is written -----------------------------------------------------------------------------


def _checked(document: _Document) -> bytes:
    """The new bytes, if reading them gives the new figures.

    Raises:
        DropcheckError: it does not, and nothing must be written.
    """
    from dropcheck.documents.document_registry import document_of

    new = document.new()
    registry = document_of(new, Path(document.name), document.name)
    written = [claim.written for claim in registry.claims.values()]
    read = [None if one is None else one.digits for one in written]
    for one in document.stale:
        if one.place >= len(read) or read[one.place] != one.new.digits:
            at = one.new.written.start
            message = f"{one.new.text!r} would not be read as it is meant, and nothing was written"
            raise DropcheckError(Problem(message, at, "change the figure by hand"))
    return new


def _difference(document: _Document, new: bytes | None) -> str:
    """The changed lines in the format of `diff -u` and `git apply`."""
    if new is None:
        return ""
    before, after = (_lines(data.decode("utf-8")) for data in (document.data, new))
    changed = difflib.unified_diff(before, after, document.name, document.name)
    unended = "\n\\ No newline at end of file\n"
    return "".join(one if one[-1:] in "\r\n" else one + unended for one in changed)


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends."""
    ends = [0, *(match.end() for match in LINE_END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends) if end > start]
