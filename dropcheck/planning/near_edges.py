"""Figures near an edge of their rounding, where the model shows it without a draw."""

from __future__ import annotations

from collections.abc import Iterator

from dropcheck.claims.registry import Registry
from dropcheck.errors import DropcheckError
from dropcheck.inference.printed_digits import claims_rounding, edge_of_exact
from dropcheck.judging.judge import judged_exactly
from dropcheck.judging.prepared import Prepared, prepare_some
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.results import Edge, Written

MOST_CHECKED = 40  # the most figures in a check, which must be quick; a plan looks at every case
MOST_CASES = 3  # of each


def known_edge(prepared: Prepared) -> Edge | None:
    """What to print instead of a figure whose exact value lies near an edge of its rounding."""
    written = prepared.case.claim.written
    if written is None or not written.rounded:
        return None
    finding = judged_exactly(prepared)
    if finding is None or finding.exact is None or finding.region is None:
        return None
    is_rounding = claims_rounding(written, finding.region)
    return edge_of_exact(written, finding.exact) if is_rounding else None


def edges_of(registry: Registry) -> Iterator[tuple[Written, Edge]]:
    """Which of the first figures lie so near an edge that deciding takes many draws."""
    graphs = CaseGraphs()
    figures = [one for one in registry.claims.values() if one.written and one.written.rounded]
    for claim in figures[:MOST_CHECKED]:
        try:
            cases = prepare_some(claim, graphs, MOST_CASES)
        except DropcheckError:
            continue  # it is reported as an error
        edge = next(filter(None, map(known_edge, cases)), None)
        if edge is not None and claim.written is not None:
            yield claim.written, edge
