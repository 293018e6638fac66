"""What a claims file holds, as text and as JSON: a list of claims, claims in full, and a check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dropcheck.claims.registry import Claim, Registry, Slot, Tolerance
from dropcheck.claims.values import parameter_text, shortened, written_value
from dropcheck.errors import Problem
from dropcheck.reasons import Reason
from dropcheck.report import numbers
from dropcheck.report.screen import Terminal, one_line, place, render, styled
from dropcheck.report.table import Columns, Row, pairs, table
from dropcheck.report.words import claimed_share
from dropcheck.results import CaseResult, Coverage, Passage, claimed_counts
from dropcheck.settings import Settings

if TYPE_CHECKING:
    from rich.console import RenderableType


UNKNOWN = Reason.NOT_KNOWN_EXACTLY
MOST_ROWS = 20  # of a list of cases
MOST_VALUES = 8  # of a list of exact values
WRITTEN = 30  # characters of a formula: enough to tell it from others of its sentence
LONGEST = 60  # characters that are shown of what is not claimed; its place leads to the rest


def claim_cards(
    claims: Iterable[Claim], registry: Registry, examples: Mapping[str, str], terminal: Terminal
) -> str:
    """Each claim's card; `examples` maps ids to a command that runs the claim."""
    items: list[RenderableType] = []
    for claim in claims:
        if items:
            items.append("")
        items += _card(claim, registry)
        items.append(f"  example     {examples[claim.id]}")
    return render(items, terminal)


def _card(claim: Claim, registry: Registry) -> list[RenderableType]:
    from dropcheck.code.slots import calls_of_slots
    from dropcheck.running import verify_cases  # loads numpy, which a list does not need

    called = {name for name, _ in calls_of_slots(claim)} if claim.slots else set()
    cases = claim.expand()[:MOST_ROWS]
    found = list(verify_cases(cases, Settings(exact=True, threads=1), registry))
    why = {str(one.explanation) for one in found if one.reason not in (None, UNKNOWN)}
    true = registry.claims.get(claim.truth or "")  # it says what holds instead of a false one
    figure = claim.written
    listed = map(parameter_text, claim.cases or ())
    grids = (
        f"{name} = {', '.join(map(written_value, values))}"
        for name, values in claim.parameters.items()
    )
    said = {
        "title": one_line(claim.title),
        "written": claim.written.text if claim.written else None,
        "claim" if claim.written is None else "read": claim.statement.text.strip("\n"),
        "model": claim.model.text.strip("\n") if claim.model else None,
        "slots": "\n".join(_slot(claim.slots[name]) for name in sorted(called)),
        "parameters": "\n".join([*grids, *_most(listed, MOST_ROWS)]),
        "cases": str(claim.case_count),
        "requires": "\n".join(text.text.strip() for text in claim.requires),
        "expect": claim.expect,
        "tolerance": tolerance_text(claim.tolerance),
        "resolution": resolution_text(claim, found),
        "exact": exact_text(found),
        "undecided": "\n".join(sorted(why)),
        "rounding": numbers.rounding(figure.digits, figure.unit)
        if figure and figure.rounded and figure.digits is not None and figure.unit is not None
        else None,
        **_sources(claim.sources, registry),
        "tags": ", ".join(claim.tags),
        "says": claim.says and one_line(claim.says),
        "note": claim.note and one_line(claim.note),
        "truth": f"{true.id}: {one_line(true.statement.text)}" if true else claim.truth,
        "where": place(claim.location),
    }
    return [styled(claim.id, "bold"), pairs({label: text for label, text in said.items() if text})]


def _slot(slot: Slot) -> str:
    """What a slot takes and gives, and its mathematics, as in the file."""
    takes = f"({', '.join(slot.takes)})"
    gives = f"~ {slot.law.text.strip()}" if slot.law is not None else ""
    gives = gives if slot.gives is None else f"= {slot.gives.text.strip()}"
    if slot.shape is not None:
        gives = f"= [{', '.join(one.text.strip() for one in slot.shape)}]"
    lines = [f"{slot.name}{takes} {gives}"]
    lines += [] if slot.model is None else slot.model.text.strip("\n").split("\n")
    for name, text in (
        (f"{slot.name}.eval", slot.evaluation),
        (f"grad({slot.name})", slot.gradient),
    ):
        lines += [] if text is None else [f"{name}{takes} = {text.text.strip()}"]
    return "\n    ".join([*lines, *["elements: independent"] * slot.independent])


def _sources(sources: Sequence[Passage], registry: Registry) -> dict[str, str | None]:
    """The document by its title, with its date and address, and the section; or a line each."""
    texts: list[tuple[str | None, str | None]] = []
    for one in sources:
        said, document = one.document, registry.documents.get(one.document or "")
        if document is not None:
            parts = (one_line(document.title), document.date, document.url)
            said = f"{', '.join(filter(None, parts))} ({one.document})"
        texts.append((said, one.section and one_line(one.section)))
    if len(texts) > 1:
        return {"sources": "\n".join(", ".join(filter(None, pair)) for pair in texts)}
    return dict(zip(("document", "section"), texts[0], strict=True)) if texts else {}


def _most(lines: Iterable[str], most: int) -> list[str]:
    """The first lines, and how many more there are.

    >>> _most(["a", "b", "c", "d"], 3), _most(["a"], 3)
    (['a', 'b', 'c', 'and 1 more'], ['a'])
    """
    lines = list(lines)
    return lines[:most] + [f"and {len(lines) - most} more"] * (len(lines) > most)


def tolerance_text(given: Tolerance | None) -> str | None:
    """A claim's tolerance and what it means; None where it has none."""
    if given is None:
        return None
    size = numbers.exact(given.size)
    if given.absolute:
        return f"{size}, absolute: the right side give or take {size}"
    return f"{size}: within {numbers.exact(100 * given.size)}% of the right side"


def resolution_text(claim: Claim, found: Sequence[CaseResult]) -> str:
    """How sharply the claim is looked at, and by what scale."""
    if claim.within is not None:
        return f"{numbers.exact(claim.within)}, absolute"
    (scale, *others) = {one.scale for one in found}
    of = "the size of what is compared" if scale is None or others else numbers.exact(scale)
    return f"{numbers.exact(claim.resolution)} of {of}"


def exact_text(found: Sequence[CaseResult]) -> str:
    """The exact values by the model: one for all cases, or a line for each."""
    known = {}
    for index, one in enumerate(found):
        if one.exact is not None:
            at = "" if one.entry is None else f" at {list(one.entry)}"
            known[index] = (
                numbers.exact(numbers.beyond_error(one.exact.value, one.exact.error)) + at
            )
    if not known:
        return ""
    quantity = found[min(known)].quantity  # the same in every case of the statement
    of = [f"{quantity}:"] if quantity is not None and quantity.is_difference else []
    if len(known) == len(found) and len({*known.values()}) == 1:
        return " ".join([*of, known[0]])
    lines = (f"{value} at {parameter_text(found[at].parameters)}" for at, value in known.items())
    return "\n".join([*of, *_most(lines, MOST_VALUES)])


CLAIMS = Columns(
    names=("claim", "written", "title", "document", "expect", "cases"),
    right=("cases",),
    prose=("title",),
)


def claims_table(claims: Sequence[Claim], registry: Registry, terminal: Terminal) -> str:
    """A row for each claim, and the number of claims; an expected refutation is marked."""
    rows: list[Row] = [
        {
            "claim": (claim.id, "bold"),
            "written": shortened(one_line(claim.written.text if claim.written else ""), WRITTEN),
            "title": one_line(claim.title),
            "document": ", ".join(
                dict.fromkeys(one.document for one in claim.sources if one.document)
            ),
            "expect": "" if claim.expect == "verified" else claim.expect,
            "cases": str(claim.case_count),
        }
        for claim in claims
    ]
    cases = numbers.plural(sum(claim.case_count for claim in claims), "case")
    total = f"{numbers.plural(len(claims), 'claim')}, {cases}, {one_line(registry.name)}"
    return render([*table(rows, CLAIMS, terminal), "", styled(total)], terminal)


def claims_json(claims: Iterable[Claim], registry: Registry) -> str:
    """Claims and the documents that they come from."""
    from dropcheck.report.formats import as_json, fields_of

    documents = {key: fields_of(one, "title date url") for key, one in registry.documents.items()}
    return as_json(
        registry=registry.name, documents=documents, claims=[_data(claim) for claim in claims]
    )


def _data(claim: Claim) -> dict[str, Any]:
    from dropcheck.report.formats import fields_of, sources_data

    given = claim.tolerance
    tolerance = given and ({"absolute": given.size} if given.absolute else given.size)
    return {
        **fields_of(claim, "id title"),
        "statement": claim.statement.text,
        "model": claim.model.text if claim.model else None,
        "parameters": claim.parameters,
        "listed_cases": claim.cases,
        "cases": claim.case_count,
        "requires": [text.text for text in claim.requires],
        "expect": claim.expect,
        "column": None if claim.column is None else claim.column.name,
        "tolerance": tolerance,
        **fields_of(claim, "resolution within"),
        **sources_data(claim.sources),
        **fields_of(claim, "written says note truth tags location"),
    }


# ---- a check, and what documents leave unclaimed -------------------------------------------------


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
    held = {"claim": checked.claims, "case": checked.cases}
    parts = [
        *(numbers.plural(many, name) for name, many in held.items() if many is not None),
        claimed_share(checked.coverage),
        numbers.plural(len(checked.errors), "error") if checked.errors else "no errors",
        numbers.plural(len(checked.notes), "warning") if checked.notes else None,
    ]
    return f"{one_line(checked.name)}: {', '.join(filter(None, parts))}"


def check_json(files: Sequence[CheckedFile]) -> str:
    """The result of a check as data."""
    from dropcheck.report.formats import as_json

    return as_json(
        files=[
            {"file": one.name, "claims": one.claims, "cases": one.cases}
            | ({"covered": claimed_counts(one.coverage)} if one.coverage else {})
            for one in files
        ],
        errors=[error for file in files for error in file.errors],
        notes=[problem for file in files for problem in file.notes],
    )


UNCLAIMED = Columns(
    names=("where", "kind", "unclaimed", "words around it"), prose=("unclaimed", "words around it")
)


def coverage_table(documents: Sequence[Coverage], terminal: Terminal) -> str:
    """What is not claimed in documents; then a line for each of several, and one for all."""
    rows: list[Row] = [
        {
            "where": place(one.location),
            "kind": str(one.kind),
            "unclaimed": (one_line(shortened(one.text, LONGEST)), "bold"),
            "words around it": one_line(f"{one.before}[…]{one.after}"),
        }
        for document in documents
        for one in document.unclaimed
    ]
    items = [*table(rows, UNCLAIMED, terminal), ""] if rows else []
    several = documents if len(documents) > 1 else ()
    lines = [(f"{one_line(one.file)}: ", [one]) for one in several] + [("", [*documents])]
    items += [styled(f"{head}{claimed_share(of) or 'nothing to claim'}") for head, of in lines]
    return render(items, terminal)
