"""The JSON reports, schema version 1: always valid JSON, unknown values are null."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

from dropcheck import __version__
from dropcheck.errors import Location, Problem
from dropcheck.reasons import Explanation
from dropcheck.report import Report, words
from dropcheck.report.conformance import conformance
from dropcheck.results import (
    CaseResult,
    Edge,
    Outcome,
    ParameterValue,
    Passage,
    RunResult,
    Written,
)
from dropcheck.results.coverage import Coverage, CoverageCounts

if TYPE_CHECKING:
    from dropcheck.claims.registry import Claim, Registry, Tolerance
    from dropcheck.errors import Problem
    from dropcheck.mutation import ClaimResult, Mutant, MutationRun
    from dropcheck.planning import CasePlan, Plan
    from dropcheck.report.terminal.claim_cards import CheckedFile


SCHEMA = 1


def json_report(report: Report) -> str:
    """A run, or the errors that prevented it."""
    return errors_json(report.problems) if report.problems else run_json(report.run)


def run_json(result: RunResult) -> str:
    """A whole run."""
    return as_json(
        registry=result.registry,
        seed=result.settings.seed,
        alpha=result.settings.alpha,
        seconds=round(result.seconds, 3),
        interrupted=result.interrupted,
        summary={
            "cases": len(result.cases),
            "passed": result.count(Outcome.PASS),
            "failed": result.count(Outcome.FAIL),
            "undecided": result.count(Outcome.UNDECIDED),
            "errors": result.count(Outcome.ERROR),
            "asymptotic": result.asymptotic,
            "draws": result.draws,
        },
        documents=[
            {"file": one.file, **asdict(CoverageCounts.of([one]))} for one in result.coverage
        ],
        conformance=_conformance(result.cases),
        cases=[_case(case) for case in result.cases],
        warnings=result.warnings,
    )


def as_json(**keys: Any) -> str:
    """A report with these keys."""
    return dump({"schema": SCHEMA, "version": __version__, **keys})


def fields_of(record: object, names: str) -> dict[str, Any]:
    """Fields of a record, by names in a text, as a report has them."""
    return {name: getattr(record, name) for name in names.split()}


def _case(case: CaseResult) -> dict[str, Any]:
    return {
        "claim": case.claim,
        "parameters": parameter_data(case.parameters),
        **fields_of(case, "title statement"),
        **sources_data(case.sources),
        "written": written_data(case.written),
        "rounding": words.rounding(case),
        "edge": edge_data(case.edge),
        **fields_of(case, "tags claimed estimate interval confidence scale resolution draws"),
        **fields_of(case, "blocks calls seconds guarantee verdict expect result"),
        "reason": reason_data(case.explanation),
        "location": location(case.location),
        **fields_of(case, "repeat standard_error sides relations within exact confirmed"),
        **fields_of(case, "sampling more_draws more_seconds warnings quantity expression entry"),
        **fields_of(case, "region sharpness method"),
        "reason_code": None if case.reason is None else case.reason.name.lower(),
        **fields_of(case, "column dtype of"),
        "details": {} if case.explanation is None else case.explanation.details,
    }


def reason_data(why: Explanation | None) -> str | None:
    """Why a case is undecided, or what refutes it."""
    return None if why is None else str(why)


def _conformance(cases: Sequence[CaseResult]) -> dict[str, Any] | None:
    """Claims by columns, where code was under test: a mark for each cell, or null."""
    table = conformance(cases)
    if table is None:
        return None
    return {
        "columns": [{"column": head.name, "dtype": head.dtype} for head in table.heads],
        "rows": [
            {
                "claim": row.claim,
                "parameters": [parameter_data(point) for point in row.points],
                "cells": [None if one.mark is None else one.mark.name.lower() for one in row.cells],
            }
            for row in table.rows
        ],
    }


def value_data(value: ParameterValue) -> Any:
    """A parameter's value as it was written: whole numbers without a point, a vector as a list.

    >>> value_data(512.0), value_data(0.1), value_data("normal(0, 1)"), value_data((0.5, -1.0))
    (512, 0.1, 'normal(0, 1)', [0.5, -1])
    """
    if isinstance(value, tuple):
        return [value_data(one) for one in value]
    if not isinstance(value, str) and math.isfinite(value) and value == int(value):
        return int(value) if abs(value) < 2**53 else float(value)
    return value


def parameter_data(parameters: Mapping[str, ParameterValue]) -> dict[str, Any]:
    """A case's parameters, with their values as they were written."""
    return {name: value_data(value) for name, value in parameters.items()}


def location(place: Location) -> dict[str, Any]:
    """Where a claim stands."""
    # the lines of a notebook count from the beginning of its cell
    cell = {} if place.cell is None else {"cell": place.cell.number}
    return {"file": place.file, **cell, **fields_of(place, "line column")}


def errors_json(problems: Iterable[Problem]) -> str:
    """The report of errors that prevented a run."""
    return dump({"schema": SCHEMA, "errors": [problem_data(problem) for problem in problems]})


def problem_data(problem: Problem) -> dict[str, Any]:
    """One problem; that of an option has no place."""
    place = problem.location or Location("")
    return {
        **location(place),
        "file": place.file or None,
        **fields_of(problem, "message hint"),
    }


def sources_data(sources: Sequence[Passage]) -> dict[str, Any]:
    """Where a claim stands: the first passage, and all of them."""
    first = sources[0] if sources else Passage()
    return {**asdict(first), "sources": sources}


def written_data(written: Written | None) -> dict[str, Any] | None:
    """What a document prints; for a figure its number, and the rounding that `~=` claims."""
    if written is None:
        return None
    digits, unit = written.digits, written.unit
    half = None if unit is None or not written.rounded else unit / 2
    return {
        "text": written.text,
        "line": written.start.line,
        "column": written.start.column,
        "value": None if digits is None else float(digits),
        "half_unit": None if half is None else float(half),
    }


def edge_data(edge: Edge | None) -> dict[str, Any] | None:
    """How near a figure is to an edge of its rounding, and the numbers to print instead."""
    if edge is None:
        return None
    return {"away": edge.away, "instead": [float(one) for one in edge.instead]}


def dump(document: Mapping[str, Any]) -> str:
    """The document as text, in ASCII, which every stream and every locale can write."""
    return json.dumps(_clean(document), indent=2, allow_nan=False) + "\n"


def _clean(value: Any) -> Any:
    """The value with null for numbers that are not finite, and mappings for records.

    Numbers of numpy become Python's.
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _clean(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(entry) for entry in value]
    if value is None or isinstance(value, str | bool):
        return value
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float) and not math.isfinite(number):
        return None
    return number


# ---- command json --------------------------------------------------------------------------------
#
# The JSON of the commands other than `run`: `list`, `show`, `check`, `plan` and `mutate`.


def claims_json(claims: Iterable[Claim], registry: Registry) -> str:
    """Claims and the documents that they come from."""
    return as_json(
        registry=registry.name,
        documents={
            key: fields_of(one, "title date url") for key, one in registry.documents.items()
        },
        claims=[_claim(claim) for claim in claims],
    )


def _claim(claim: Claim) -> dict[str, Any]:
    """A claim as data."""
    return {
        **fields_of(claim, "id title"),
        "statement": claim.statement.text,
        "model": claim.model.text if claim.model else None,
        "parameters": {
            name: [value_data(value) for value in values]
            for name, values in claim.parameters.items()
        },
        "listed_cases": None
        if claim.cases is None
        else [parameter_data(case) for case in claim.cases],
        "cases": claim.case_count,
        "requires": [text.text for text in claim.requires],
        "expect": claim.expect,
        "column": None if claim.column is None else claim.column.name,
        "tolerance": _tolerance(claim.tolerance),
        **fields_of(claim, "resolution within"),
        **sources_data(claim.sources),
        "written": written_data(claim.written),
        **fields_of(claim, "says note truth tags"),
        "location": location(claim.location),
    }


def _tolerance(given: Tolerance | None) -> float | dict[str, float] | None:
    """A tolerance as it is written in a claims file."""
    if given is None:
        return None
    return {"absolute": given.size} if given.absolute else given.size


def coverage_json(documents: Sequence[Coverage]) -> str:
    """The figures and formulas that no mark of documents claims, as data."""
    return as_json(
        summary=CoverageCounts.of(documents),
        documents=[{"file": one.file, **asdict(CoverageCounts.of([one]))} for one in documents],
        unclaimed=[
            fields_of(one, "kind text") | location(one.location) | fields_of(one, "before after")
            for document in documents
            for one in document.unclaimed
        ],
    )


def check_json(files: Sequence[CheckedFile], further: Sequence[Problem] = ()) -> str:
    """The result of a check as data; `further` are errors of all files together."""
    return as_json(
        files=[
            {
                "file": file.name,
                **fields_of(file, "claims cases"),
                **({"covered": CoverageCounts.of(file.coverage)} if file.coverage else {}),
            }
            for file in files
        ],
        errors=[
            problem_data(problem)
            for problem in (*(error for file in files for error in file.errors), *further)
        ],
        notes=[problem_data(problem) for file in files for problem in file.notes],
    )


def plan_json(plan: Plan) -> str:
    """The plan as data; what is unknown is null."""
    from dropcheck.report.terminal.plan_table import counts

    return as_json(
        registry=plan.registry,
        **fields_of(plan.settings, "seed alpha"),
        threads=plan.threads,
        seconds=round(plan.seconds, 3),
        interrupted=plan.interrupted,
        summary={
            "cases": len(plan.cases),
            **counts(plan),
            "draws": plan.draws,
            "seconds": plan.run_seconds,
        },
        cases=[_planned_case(case) for case in plan.cases],
        warnings=plan.warnings,
    )


def _planned_case(plan: CasePlan) -> dict[str, Any]:
    claim = plan.case.claim
    return {
        "claim": claim.id,
        "parameters": parameter_data(plan.case.parameters),
        "statement": claim.statement.text.strip(),
        **fields_of(plan, "draws seconds budget within discrepancy relative scale resolution"),
        "guarantee": plan.guarantee,
        "reason": reason_data(plan.explanation),
        "written": written_data(claim.written),
        "location": location(claim.location),
    }


def mutation_json(run: MutationRun) -> str:
    """A run of planted errors as data."""
    from dropcheck.mutation import Fate

    return as_json(
        registry=run.registry,
        **fields_of(run.settings, "seed alpha"),
        seconds=round(run.seconds, 3),
        interrupted=run.interrupted,
        summary={
            "claims": len(run.claims),
            "mutants": sum(len(claim.mutants) for claim in run.claims),
            **{fate.name.lower(): run.count(fate) for fate in Fate},
            "score": run.score,
            "draws": sum(claim.draws for claim in run.claims),
        },
        claims=[_mutated_claim(claim, run) for claim in run.claims],
    )


def _mutated_claim(claim: ClaimResult, run: MutationRun) -> dict[str, Any]:
    from dropcheck.report.terminal.mutation_table import verdict_on

    return {
        "claim": claim.claim.id,
        "parameters": parameter_data(claim.parameters),
        **fields_of(claim, "verdict skipped"),
        "result": verdict_on(claim)[0].lower(),
        "cannot_fail": claim.toothless,
        "blind_to_model": claim.blind,
        "hidden_by_values": [mutant.changed for mutant in claim.hidden],
        "draws": claim.draws,
        "seconds": round(claim.seconds, 3),
        "location": location(claim.claim.location),
        "repeat": run.repeats.get(claim.claim.id),
        "mutants": [_mutant(mutant) for mutant in claim.mutants],
    }


def _mutant(mutant: Mutant) -> dict[str, Any]:
    claim = mutant.claim
    return {
        "error": mutant.error,
        "changed": mutant.changed,
        "statement": claim.statement.text,
        "model": claim.model.text if claim.model else None,
        "fate": mutant.fate,
        "parameters": parameter_data(mutant.parameters),
        "draws": mutant.draws,
        "reason": mutant.reason,
        "shows_at": None if mutant.shows_at is None else parameter_data(mutant.shows_at),
    }
