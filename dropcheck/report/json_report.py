"""The JSON of the commands other than `run`: `list`, `show`, `check`, `plan` and `mutate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dropcheck.errors import Problem
from dropcheck.reasons import Explanation
from dropcheck.report.formats import (
    as_json,
    errors_json,
    parameter_data,
    plain_data,
    sources_data,
    value_data,
)
from dropcheck.results.coverage import Coverage, CoverageCounts

if TYPE_CHECKING:
    from dropcheck.claims.registry import Claim, Registry, Tolerance
    from dropcheck.mutation import ClaimResult, Mutant, MutationRun
    from dropcheck.planning import CasePlan, Plan
    from dropcheck.report.cards import CheckedFile

__all__ = ["errors_json"]


def fields_of(record: object, names: str) -> dict[str, Any]:
    """Fields of a record, by names in a text, as a report has them."""
    return {name: getattr(record, name) for name in names.split()}


def reason_data(why: Explanation | None) -> str | None:
    """Why a case is undecided, or what refutes it."""
    return None if why is None else str(why)


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
        "written": claim.written,
        **fields_of(claim, "says note truth tags"),
        "location": claim.location,
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
            fields_of(one, "kind text") | plain_data(one.location) | fields_of(one, "before after")
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
        errors=[*(error for file in files for error in file.errors), *further],
        notes=[problem for file in files for problem in file.notes],
    )


def plan_json(plan: Plan) -> str:
    """The plan as data; what is unknown is null."""
    from dropcheck.report.plan_table import counts

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
        "written": claim.written,
        "location": claim.location,
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
    from dropcheck.report.mutation_table import verdict_on

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
        "location": claim.claim.location,
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
