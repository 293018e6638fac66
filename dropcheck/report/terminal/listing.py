"""What a registry holds, a row a claim, and what a check of it found."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.claims.registry import Claim, Registry
from dropcheck.errors import Problem
from dropcheck.records import dataclass
from dropcheck.report import numbers
from dropcheck.report.terminal.screen import Terminal, line, one_line, render

EXPECT = "expect"  # a column of its own, where there is anything to tell in it
LAYOUTS = (
    (("id",), ("title",), ("document",), (EXPECT,), ("cases",)),
    (("id", "document"), ("title",), (EXPECT,), ("cases",)),
)


def claims_table(claims: Sequence[Claim], registry: Registry, terminal: Terminal) -> str:
    """A row a claim, and how many there are; what is expected to be refuted is marked."""
    from dropcheck.report.terminal.layout import Cell, Fields, arrange

    fields = Fields(
        headings={
            "id": "claim",
            "title": "title",
            "document": "document",
            EXPECT: "expect",
            "cases": "cases",
        },
        right=("cases",),
        prose=("title",),
    )
    cases = {claim.id: claim.case_count for claim in claims}
    rows = [
        {
            "id": Cell(claim.id, "bold"),
            "title": Cell(one_line(claim.title)),
            "document": Cell(claim.document or ""),
            EXPECT: Cell("" if claim.expect == "verified" else claim.expect),
            "cases": Cell(str(cases[claim.id])),
        }
        for claim in claims
    ]
    total = (
        f"{numbers.plural(len(claims), 'claim')}, "
        f"{numbers.plural(sum(cases.values()), 'case')}, "
        f"{one_line(registry.name)}"
    )
    told = any(row[EXPECT].text for row in rows)
    layouts = [tuple(column for column in one if told or column != (EXPECT,)) for one in LAYOUTS]
    return render([*arrange(rows, fields, layouts, terminal), "", line(total, terminal)], terminal)


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
