"""What a claims file holds: a row for each claim, one claim in full, and the result of a check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from dropcheck.claims.registry import Claim, Document, Registry, Slot, Tolerance
from dropcheck.claims.values import format_value, parameter_text, shortened
from dropcheck.errors import Problem
from dropcheck.report import numbers
from dropcheck.report.screen import Terminal, line, one_line, place, render, styled
from dropcheck.report.table import Columns, Row, pairs, table
from dropcheck.report.words import claimed_share
from dropcheck.results import ParameterValue, Passage
from dropcheck.results.coverage import Coverage, CoverageCounts, Unclaimed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dropcheck.judging.case import Finding, Prepared


MOST_ROWS = 20  # of a list of cases
MOST_VALUES = 8  # of a list of exact values
LABELS = 14  # columns that the labels take, with the space around them
LONGEST_LINE = 90  # of prose: longer ones are hard to read
# texts of which continued lines are indented
CODE = ("claim", "written", "read", "model", "slots", "requires", "parameters")


def claim_cards(
    claims: Iterable[Claim], registry: Registry, examples: Mapping[str, str], terminal: Terminal
) -> str:
    """Each claim's card; `examples` maps ids to a command that runs the claim."""
    items: list[RenderableType] = []
    for claim in claims:
        if items:
            items.append("")
        items += _card(claim, registry, terminal)
        items.append(f"  example     {examples[claim.id]}")
    return render(items, terminal)


def _card(claim: Claim, registry: Registry, terminal: Terminal) -> list[RenderableType]:
    from dropcheck.code.columns import calls_of_slots
    from dropcheck.judging.case import prepare_some  # loads numpy, which a list does not need
    from dropcheck.judging.judge import announced, judged_exactly
    from dropcheck.language.compile import CaseGraphs

    graphs = CaseGraphs()
    called = {name for name, _ in calls_of_slots(claim, graphs)} if claim.slots else set()
    cases = prepare_some(claim, graphs, MOST_ROWS)
    known = [judged_exactly(case) for case in cases]
    said = {
        "title": one_line(claim.title),
        "written": claim.written.text if claim.written else None,
        "claim" if claim.written is None else "read": claim.statement.text.strip("\n"),
        "model": claim.model.text.strip("\n") if claim.model else None,
        "slots": "\n".join(_slot(claim.slots[name]) for name in sorted(called)),
        "parameters": parameters_text(claim),
        "cases": str(claim.case_count),
        "requires": "\n".join(text.text.strip() for text in claim.requires),
        "expect": claim.expect,
        "tolerance": tolerance_text(claim.tolerance),
        "resolution": resolution_text(claim, cases),
        "exact": exact_text(
            [(one.case.parameters, found) for one, found in zip(cases, known, strict=True)]
        ),
        "rounding": _rounding(claim),
        "guarantee": "\n".join(dict.fromkeys(map(announced, cases, known))),
        **_sources(claim.sources, registry),
        "tags": ", ".join(claim.tags),
        "says": claim.says and one_line(claim.says),
        "note": claim.note and one_line(claim.note),
        "truth": _truth(claim, registry),
        "where": place(claim.location),
    }
    shown = {
        label: _broken(terminal.spell(text), label, terminal)
        for label, text in said.items()
        if text
    }
    return [styled(claim.id, "bold"), pairs(shown)]


def _slot(slot: Slot) -> str:
    """What a slot takes and gives, and its mathematics, as in the file."""
    gives = f"~ {slot.law.text.strip()}" if slot.law is not None else ""
    if slot.gives is not None:
        gives = f"= {slot.gives.text.strip()}"
    lines = [f"{slot.name}({', '.join(slot.takes)}) {gives}"]
    lines += [] if slot.model is None else slot.model.text.strip("\n").split("\n")
    lines += [
        f"{what}({', '.join(slot.takes)}) = {text.text.strip()}"
        for what, text in (
            (f"{slot.name}.eval", slot.evaluation),
            (f"grad({slot.name})", slot.gradient),
        )
        if text is not None
    ]
    return "\n    ".join([*lines, *(["elements: independent"] if slot.independent else [])])


def _sources(sources: Sequence[Passage], registry: Registry) -> dict[str, str | None]:
    """The document and the section, or a line for each of several."""
    texts = [
        (one.document and document_text(one.document, registry.documents.get(one.document)),
         one.section and one_line(one.section))
        for one in sources
    ]  # fmt: skip
    if len(texts) > 1:
        return {"sources": "\n".join(", ".join(filter(None, pair)) for pair in texts)}
    document, section = texts[0] if texts else (None, None)
    return {"document": document, "section": section}


def _documents(claim: Claim) -> Iterable[str]:
    return dict.fromkeys(one.document for one in claim.sources if one.document is not None)


def _truth(claim: Claim, registry: Registry) -> str | None:
    """The claim that says what holds instead of a false one, with its statement."""
    true = registry.claims.get(claim.truth or "")
    return f"{true.id}: {one_line(true.statement.text)}" if true is not None else claim.truth


def _broken(text: str, label: str, terminal: Terminal) -> str:
    """The text with its lines broken between words; continued lines of code are indented.

    A word that is longer than a line is left for rich to fold.
    """
    if terminal.width is None:
        return text
    room = terminal.width - LABELS
    code = label in CODE
    lines: list[str] = []
    for written in text.split("\n"):
        own = written[: len(written) - len(written.lstrip())]
        lines += wrap(
            written,
            max(room if code else min(room, LONGEST_LINE), 10),
            subsequent_indent=f"{own}    " if code else "",
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        ) or [""]
    return "\n".join(lines)


def parameters_text(claim: Claim) -> str:
    """The parameters and their grids, a line for each; or the listed cases."""
    lines = [
        f"{name} = {', '.join(format_value(value) for value in values)}"
        for name, values in claim.parameters.items()
    ]
    rows = [
        ", ".join(f"{name} = {format_value(value)}" for name, value in case.items())
        for case in claim.cases or ()
    ]
    if len(rows) > MOST_ROWS:
        rows = [*rows[:MOST_ROWS], f"and {len(rows) - MOST_ROWS} more"]
    return "\n".join([*lines, *rows])


def tolerance_text(given: Tolerance | None) -> str | None:
    """A claim's tolerance and what it means; None where it has none."""
    if given is None:
        return None
    size = numbers.exact(given.size)
    if given.absolute:
        return f"{size}, absolute: the right side give or take {size}"
    return f"{size}: within {numbers.exact(100 * given.size)}% of the right side"


def resolution_text(claim: Claim, cases: Sequence[Prepared]) -> str:
    """How sharply the claim is looked at, and by what scale, which may be 0 in some cases."""
    exact = {case.exactness for case in cases}
    if exact and None not in exact:
        return ", or ".join(sorted(filter(None, exact)))
    if claim.within is not None:
        return f"{numbers.exact(claim.within)}, absolute"
    known_first = sorted(cases, key=lambda case: case.reading.known_scale is None)
    scales = dict.fromkeys(case.scale_in_words for case in known_first)
    where = " where that is 0" if len(scales) > 1 else ""
    return f"{numbers.exact(claim.resolution)} of {', or of '.join(scales)}{where}"


def exact_text(cases: Sequence[tuple[Mapping[str, ParameterValue], Finding | None]]) -> str:
    """The exact values by the model: one for all cases, or a line for each."""
    from dropcheck.judging.case import with_digits

    known = [
        (
            numbers.exact(numbers.beyond_error(exact.value, exact.error))
            + ("" if finding.entry is None else f" at {list(finding.entry)}"),
            finding.quantity,
            parameters,
        )
        for parameters, finding in cases
        if finding is not None
        and (exact := with_digits(finding.exact, finding.sharpness)) is not None
    ]
    if not known:
        return ""
    quantity = known[0][1]  # the same in every case of the statement
    of = f"{quantity}: " if quantity is not None and quantity.is_difference else ""
    if len(known) == len(cases) and len({value for value, _, _ in known}) == 1:
        return of + known[0][0]
    lines = [f"{value} at {parameter_text(parameters)}" for value, _, parameters in known]
    if len(lines) > MOST_VALUES:
        lines = [*lines[:MOST_VALUES], f"and {len(lines) - MOST_VALUES} more"]
    return "\n".join([of.rstrip(), *lines] if of else lines)


def _rounding(claim: Claim) -> str | None:
    """The rounding that a figure claims."""
    figure = claim.written
    if figure is None or not figure.rounded or figure.digits is None or figure.unit is None:
        return None
    return numbers.rounding(figure.digits, figure.unit)


def document_text(key: str, document: Document | None) -> str:
    """A document by its title, with its date and address where they are known."""
    if document is None:
        return key
    parts = (one_line(document.title), document.date, document.url)
    return ", ".join(part for part in parts if part) + f" ({key})"


LONGEST_WRITTEN = 30  # characters of a formula: enough to tell it from others of its sentence
CLAIMS = Columns(
    names=("claim", "written", "title", "document", "expect", "cases"),
    right=("cases",),
    prose=("title",),
)


def claims_table(claims: Sequence[Claim], registry: Registry, terminal: Terminal) -> str:
    """A row for each claim, and the number of claims; an expected refutation is marked."""
    cases = {claim.id: claim.case_count for claim in claims}
    rows: list[Row] = [
        {
            "claim": (claim.id, "bold"),
            "written": _printed(claim),
            "title": one_line(claim.title),
            "document": ", ".join(_documents(claim)),
            "expect": "" if claim.expect == "verified" else claim.expect,
            "cases": str(cases[claim.id]),
        }
        for claim in claims
    ]
    total = (
        f"{numbers.plural(len(claims), 'claim')}, "
        f"{numbers.plural(sum(cases.values()), 'case')}, "
        f"{one_line(registry.name)}"
    )
    return render([*table(rows, CLAIMS, terminal), "", line(total, terminal)], terminal)


def _printed(claim: Claim) -> str:
    """The figure or formula of a document that a claim is about, shortened."""
    return shortened(one_line(claim.written.text) if claim.written else "", LONGEST_WRITTEN)


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The result of a check of one file; the counts are None where it could not be read."""

    name: str
    claims: int | None
    cases: int | None
    errors: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    coverage: tuple[Coverage, ...] = ()  # how much of a document is claimed


def check_line(checked: CheckedFile) -> str:
    """The result of a check in one line.

    >>> check_line(CheckedFile("claims.yaml", 75, 210, (), ()))
    'claims.yaml: 75 claims, 210 cases, no errors'
    """
    errors = numbers.plural(len(checked.errors), "error") if checked.errors else "no errors"
    counts = []
    if checked.claims is not None and checked.cases is not None:
        counts = [numbers.plural(checked.claims, "claim"), numbers.plural(checked.cases, "case")]
    notes = [numbers.plural(len(checked.notes), "note")] if checked.notes else []
    share = claimed_share(checked.coverage)
    parts = [*counts, *([share] if share else []), errors, *notes]
    return f"{one_line(checked.name)}: {', '.join(parts)}"


LONGEST = 60  # characters that are shown of a formula; its place leads to the rest


def _short(text: str) -> str:
    return one_line(shortened(text, LONGEST))


UNCLAIMED = Columns(
    names=("where", "kind", "unclaimed", "words around it"), prose=("unclaimed", "words around it")
)


def coverage_table(documents: Sequence[Coverage], terminal: Terminal) -> str:
    """What is not claimed in documents; then a line for each of several, and one for all."""
    rows = [_unclaimed(one) for document in documents for one in document.unclaimed]
    items = [*table(rows, UNCLAIMED, terminal), ""] if rows else []
    if len(documents) > 1:
        items += [
            line(f"{one_line(one.file)}: {counted(CoverageCounts.of([one]))}", terminal)
            for one in documents
        ]
    return render([*items, line(counted(CoverageCounts.of(documents)), terminal)], terminal)


def counted(counts: CoverageCounts) -> str:
    """How many figures and formulas there are, and how many of them are claimed.

    >>> counted(CoverageCounts(figures=31, claimed_figures=24, formulas=1, claimed_formulas=0))
    '31 figures, 24 claimed; 1 formula, 0 claimed'
    """
    figures = f"{numbers.plural(counts.figures, 'figure')}, {counts.claimed_figures} claimed"
    formulas = f"{numbers.plural(counts.formulas, 'formula')}, {counts.claimed_formulas} claimed"
    return f"{figures}; {formulas}"


def _unclaimed(one: Unclaimed) -> Row:
    return {
        "where": place(one.location),
        "kind": str(one.kind),
        "unclaimed": (_short(one.text), "bold"),
        "words around it": one_line(f"{one.before}[…]{one.after}"),
    }
