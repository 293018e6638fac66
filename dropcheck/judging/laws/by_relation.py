"""The judge of a statement about laws, by its relation."""

from __future__ import annotations

from dropcheck.judging.case_run import CaseRun, Judging
from dropcheck.judging.laws.dependence import by_tables, tables_plan
from dropcheck.judging.laws.looks import Counting
from dropcheck.judging.laws.one_law import by_law, plan_of
from dropcheck.judging.laws.two_laws import by_two_laws, pair_plan
from dropcheck.language.law_claims import LawClaim, Relation
from dropcheck.simulation import Program


def by_laws(run: CaseRun, claim: LawClaim, program: Program) -> Judging:
    """Judge a statement about laws; asks for spans of draws as it goes."""
    match claim.relation:
        case Relation.FOLLOWS:
            return (yield from by_law(run, claim, program))
        case Relation.ALIKE:
            return (yield from by_two_laws(run, claim, program))
        case Relation.INDEPENDENT:
            return (yield from by_tables(run, claim, program))


def counting_of(run: CaseRun, claim: LawClaim, program: Program) -> Counting:
    """What is counted, and when a verdict is expected; draws no more than a pilot.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    match claim.relation:
        case Relation.FOLLOWS:
            return plan_of(run, claim, program).counting
        case Relation.ALIKE:
            return pair_plan(run, claim, program).counting
        case Relation.INDEPENDENT:
            return tables_plan(run, claim, program).counting
