"""What a registry holds, a row a claim, and what a check of it found."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.claims.registry import Claim, Registry
from dropcheck.errors import Problem
from dropcheck.records import dataclass
from dropcheck.report import numbers
from dropcheck.report.terminal import Terminal, line, one_line, render

LAYOUTS = (
    (("id",), ("title",), ("document",), ("cases",)),
    (("id", "document"), ("title",), ("cases",)),
)


def claims_table(claims: Sequence[Claim], registry: Registry, terminal: Terminal) -> str:
    """A row a claim, and how many there are."""
    from dropcheck.report.layout import Cell, Fields, arrange

    fields = Fields(
        headings={"id": "claim", "title": "title", "document": "document", "cases": "cases"},
        right=("cases",),
        prose=("title",),
    )
    cases = {claim.id: len(claim.expand()) for claim in claims}
    rows = [
        {
            "id": Cell(claim.id, "bold"),
            "title": Cell(one_line(claim.title)),
            "document": Cell(claim.document or ""),
            "cases": Cell(str(cases[claim.id])),
        }
        for claim in claims
    ]
    total = (
        f"{numbers.plural(len(claims), 'claim')}, "
        f"{numbers.plural(sum(cases.values()), 'case')}, "
        f"{one_line(registry.name)}"
    )
    return render([*arrange(rows, fields, LAYOUTS, terminal), "", line(total, terminal)], terminal)


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What a check found of one file; the counts are None where it could not be read."""

    name: str
    claims: int | None
    cases: int | None
    errors: tuple[Problem, ...]
    notes: tuple[Problem, ...]


def check_line(checked: CheckedFile) -> str:
    """The finding in one line.

    >>> check_line(CheckedFile("claims.yaml", 75, 210, (), ()))
    'claims.yaml: 75 claims, 210 cases, no errors'
    """
    found = numbers.plural(len(checked.errors), "error") if checked.errors else "no errors"
    counts = []
    if checked.claims is not None and checked.cases is not None:
        counts = [numbers.plural(checked.claims, "claim"), numbers.plural(checked.cases, "case")]
    notes = [numbers.plural(len(checked.notes), "note")] if checked.notes else []
    return f"{one_line(checked.name)}: {', '.join([*counts, found, *notes])}"


def check_json(files: Sequence[CheckedFile]) -> str:
    """The finding as data."""
    from dropcheck.report.json_report import dump, header, problem_data

    return dump(
        {
            **header(),
            "files": [
                {"file": file.name, "claims": file.claims, "cases": file.cases} for file in files
            ],
            "errors": [problem_data(problem) for file in files for problem in file.errors],
            "notes": [problem_data(problem) for file in files for problem in file.notes],
        }
    )
