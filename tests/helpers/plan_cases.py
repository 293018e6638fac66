"""Small registries for the tests of plans and of time limits."""

from __future__ import annotations

from typing import Any

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.planning import Plan, plan_cases
from dropcheck.results import CaseResult
from dropcheck.running import verify_cases
from dropcheck.settings import Settings


def registry_of(**claims: str) -> Registry:
    """A registry from `model; claim; further keys`."""
    lines = ["dropcheck: 1", "claims:"]
    for name, text in claims.items():
        model, claim, *keys = (part.strip() for part in text.split(";"))
        lines += [f"  {name}:", "    title: A claim"]
        lines += [f"    model: {model}"] if model else []
        lines += [f"    claim: {claim}", *(f"    {key}" for key in keys)]
    return read_text("\n".join(lines) + "\n")


def planned(registry: Registry, **settings: Any) -> Plan:
    """The plan of every case."""
    return plan_cases(registry.expand(), Settings(**settings), registry)


def tried(registry: Registry, **settings: Any) -> list[CaseResult]:
    """Every case, judged."""
    return list(verify_cases(registry.expand(), Settings(**settings), registry))
