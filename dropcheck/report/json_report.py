"""The JSON reports, schema version 1: valid JSON always, what is unknown is null."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dropcheck import __version__
from dropcheck.errors import Location, Problem
from dropcheck.report import Report, phrases
from dropcheck.report.conformance import conformance
from dropcheck.results import (
    CaseResult,
    Edge,
    Outcome,
    ParameterValue,
    Passage,
    RunResult,
    Searched,
    Written,
)
from dropcheck.results.coverage import CoverageCounts
from dropcheck.results.drawn import Evidence

SCHEMA = 1


def json_report(report: Report) -> str:
    """A run, or what kept it from being made."""
    return errors_json(report.problems) if report.problems else run_json(report.run)


def run_json(result: RunResult) -> str:
    """A whole run."""
    return dump(
        {
            **header(),
            "registry": result.registry,
            "seed": result.settings.seed,
            "alpha": result.settings.alpha,
            "seconds": round(result.seconds, 3),
            "interrupted": result.interrupted,
            "summary": {
                "cases": len(result.cases),
                "passed": result.count(Outcome.PASS),
                "failed": result.count(Outcome.FAIL),
                "undecided": result.count(Outcome.UNDECIDED),
                "errors": result.count(Outcome.ERROR),
                "asymptotic": result.asymptotic,
                "draws": result.draws,
            },
            "documents": [
                {"file": one.file, **counts_data(CoverageCounts.of([one]))}
                for one in result.coverage
            ],
            "conformance": _conformance(result.cases),
            "cases": [_case(case) for case in result.cases],
            "warnings": list(result.warnings),
        }
    )


def counts_data(counts: CoverageCounts) -> dict[str, int]:
    """How much of documents is claimed."""
    return asdict(counts)


def header() -> dict[str, Any]:
    """What every report begins with."""
    return {"schema": SCHEMA, "version": __version__}


def _case(case: CaseResult) -> dict[str, Any]:
    return {
        "claim": case.claim,
        "parameters": parameter_data(case.parameters),
        "title": case.title,
        "statement": case.statement,
        **sources_data(case.sources),
        "written": written_data(case.written),
        "rounding": phrases.rounding(case),
        "edge": edge_data(case.edge),
        "tags": list(case.tags),
        "claimed": list(case.claimed) if isinstance(case.claimed, tuple) else case.claimed,
        "estimate": case.estimate,
        "interval": None if case.interval is None else list(case.interval),
        "confidence": case.confidence,
        "scale": case.scale,
        "resolution": case.resolution,
        "draws": case.draws,
        "blocks": case.blocks,
        "calls": None if case.calls is None else asdict(case.calls),
        "seconds": case.seconds,
        "guarantee": case.guarantee,
        "verdict": str(case.verdict),
        "expect": str(case.expect),
        "result": str(case.result),
        "reason": None if case.explanation is None else str(case.explanation),
        "location": location(case.location),
        "repeat": case.repeat,
        "standard_error": case.standard_error,
        "sides": None if case.sides is None else list(case.sides),
        "relations": list(case.relations),
        "within": case.within,
        "coarse": None if case.coarse is None else asdict(case.coarse),
        "exact": None if case.exact is None else asdict(case.exact),
        "confirmed": case.confirmed,
        "sampling": case.sampling,
        "more_draws": case.more_draws,
        "more_seconds": case.more_seconds,
        "warnings": list(case.warnings),
        "quantity": case.quantity,
        "expression": case.expression,
        "entry": None if case.entry is None else list(case.entry),
        "region": None if case.region is None else asdict(case.region),
        "sharpness": None if case.sharpness is None else asdict(case.sharpness),
        "method": case.method,
        "reason_code": None if case.reason is None else case.reason.name.lower(),
        "search": None if case.search is None else _search(case, case.search),
        "column": case.column,
        "dtype": case.dtype,
        "of": case.of,
        "xfail": case.xfail,
        "evidence": evidence_data(case.evidence),
        "details": {} if case.explanation is None else dict(case.explanation.details),
    }


def evidence_data(kept: Evidence | None) -> dict[str, Any] | None:
    """What a verdict rests on, of how many nights, and how many looks at it share the error."""
    if kept is None:
        return None
    return {
        "nights": kept.nights,
        "draws": kept.draws,
        "earlier": kept.earlier,
        "looks": kept.looks,
        "new": len(kept.units),
        "simulated": kept.simulated,
    }


def _conformance(cases: Sequence[CaseResult]) -> dict[str, Any] | None:
    """Claims by columns, where code was under test: a mark a cell, null where there is none."""
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


def _search(case: CaseResult, search: Searched) -> dict[str, Any]:
    """What a search tried, and the point at which the figures of the case are."""
    return {
        "says": phrases.searched(case),
        "at": parameter_data(search.at),
        "every": search.every,
        "most": search.most,
        **{
            name: [
                {
                    "parameters": parameter_data(one.parameters),
                    "verdict": str(one.verdict),
                    "result": str(one.result),
                    "draws": one.draws,
                }
                for one in several
            ]
            for name, several in (("tried", search.tried), ("again", search.again))
        },
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
    return {"file": place.file, **cell(place), "line": place.line, "column": place.column}


def cell(place: Location) -> dict[str, Any]:
    """The cell of a notebook that a place is in, whose lines count from its beginning."""
    return {} if place.cell is None else {"cell": place.cell.number}


def errors_json(problems: Iterable[Problem]) -> str:
    """What a run yields that could not be made."""
    return dump({"schema": SCHEMA, "errors": [problem_data(problem) for problem in problems]})


def problem_data(problem: Problem) -> dict[str, Any]:
    """One problem; an option's has no place."""
    place = problem.location or Location("")
    return {
        "file": place.file or None,
        **cell(place),
        "line": place.line,
        "column": place.column,
        "message": problem.message,
        "hint": problem.hint,
    }


def sources_data(sources: Sequence[Passage]) -> dict[str, Any]:
    """Where a claim stands: the first passage, and all of them."""
    first = sources[0] if sources else Passage()
    listed = [{"document": one.document, "section": one.section} for one in sources]
    return {"document": first.document, "section": first.section, "sources": listed}


def written_data(written: Written | None) -> dict[str, Any] | None:
    """What a document prints: of a figure its number, and the rounding that `~=` claims."""
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
    """The document as text, in ASCII: any stream and any locale takes it."""
    return json.dumps(_clean(document), indent=2, allow_nan=False) + "\n"


def _clean(value: Any) -> Any:
    """The same with null for what is no finite number, and Python's numbers for numpy's."""
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
