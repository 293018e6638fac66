"""A case made ready once, to be run any number of times: with other seeds, or another α."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from dropcheck.analysis.bounds import support
from dropcheck.analysis.fewer_draws import with_fewer_draws
from dropcheck.analysis.strategy import (
    Arithmetic,
    BlockMeans,
    Certainty,
    Laws,
    Proportion,
    Quantiles,
    Strategy,
    Unanswerable,
    strategy_of,
)
from dropcheck.claims.registry import Case, Claim
from dropcheck.errors import DropcheckError
from dropcheck.inference.comparison import Reading, read_statement
from dropcheck.inference.interval import RAREST_SEEN
from dropcheck.judging.knowledge import InStrata, Knowledge, knowledge_of
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.language.cases import LoweredCase
from dropcheck.language.graph import Value, operators
from dropcheck.language.printing import unparse
from dropcheck.language.syntax import Negative, Number, Statement
from dropcheck.records import record
from dropcheck.results import Guarantee, Quantity
from dropcheck.simulation import (
    AtThresholds,
    Compiled,
    Counted,
    InCells,
    Registers,
    compile_strategy,
)
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull

# The bound for code of which each call counts as one draw: as many calls as take a few seconds.
RAREST_CALLS = 0.005


@record(kw_only=True)
class Prepared:
    """A case read and compiled, with the strategy that its statement allows."""

    case: Case
    statement: Statement
    lowered: LoweredCase
    reading: Reading  # the statement as quantities and regions
    strategy: Strategy
    # None where nothing is simulated
    compiled: Compiled | Counted | InCells | AtThresholds | None
    knowledge: Knowledge | None  # of averages, from the model itself
    # the case in strata, as the first of its runs computes it: empty before
    in_strata: list[InStrata | None] = field(default_factory=list, compare=False, repr=False)

    @property
    def rests_on(self) -> str:
        """What a verdict would rest on, in words; or why there can be none."""
        match self.strategy:
            case Arithmetic():
                return "arithmetic: nothing is random"
            case Unanswerable(reason):
                return str(reason)
            case Laws():
                return "finite-sample: draws counted in cells (Massart 1990; Lindon and Malek 2022)"
            case Certainty() | Proportion() | Quantiles():
                return "exact: events are counted (Clopper and Pearson 1934)"
        guarantee = Guarantee.ASYMPTOTIC if self.knowledge is None else self.knowledge.guarantee
        undefined = None if self.knowledge is None else self.knowledge.undefined
        if undefined is not None:
            return f"asymptotic: the limit theorem, as {undefined}"
        match guarantee:
            case Guarantee.ASYMPTOTIC:
                return (
                    "asymptotic: the limit theorem, as the model bounds no variance of what is "
                    "averaged"
                )
            case Guarantee.FINITE_SAMPLE:
                why = "what is averaged is bounded"
            case _:
                why = "the model bounds the moments of what is averaged"
        return f"{guarantee}: {why} (Catoni 2012)"

    @property
    def exactness(self) -> str | None:
        """The sharpness of a verdict without a scale, in words; None if there is a resolution."""
        match self.strategy:
            case Certainty():
                return f"±{rarest_violations(self):g}: violations rarer than that"
            case Arithmetic():
                return "±0: nothing is random, and what is not equal differs"
        return None

    @property
    def scale_in_words(self) -> str:
        """The scale of a relative resolution in words; `look.scales_of` measures it."""
        if self.reading.entries:
            return (
                "what each entry is compared with, or the size of what is estimated where it is 0"
            )
        if isinstance(self.strategy, Laws):
            return "1, as chances are compared"
        ends = [self.statement.operands[end] for end in self.reading.ends]
        texts = [unparse(end) for end in ends]
        reading = self.reading
        if reading.known_scale is not None:
            if reading.magnitudes[reading.side].of_probability and not self._as_written:
                return "the smaller of the claimed probability and 1 minus it"
            written = ends[0].operand if isinstance(ends[0], Negative) else ends[0]
            if len(ends) == 1 and isinstance(written, Number):
                return unparse(written)
            larger = "the larger of " if len(ends) > 1 else ""
            return larger + " and ".join(f"|{text}|" for text in texts)
        if reading.against_estimates:
            *others, last = map(unparse, self.statement.operands)
            largest, them = ("largest", "them") if others[1:] else ("larger", "both")
            return (
                f"the {largest} of {', '.join(others)} and {last}, or of the size of what is "
                f"estimated where that hides {them}"
            )
        return "the size of what is estimated"

    @property
    def _as_written(self) -> bool:
        """Whether the scale is the magnitude of what the side is compared with, as for a mean."""
        ends = [float(self.lowered.operands[end].constant[..., 0]) for end in self.reading.ends]
        return self.reading.known_scale == max(map(abs, ends))

    def hull(self, quantity: Quantity | None, entry: tuple[int, ...] | None) -> Hull:
        """Where a quantity of the statement lies, for any law."""
        asked = (quantity, entry)
        own = [one for one in self.reading.comparisons if (one.measures, one.entry) == asked]
        sides = [self.lowered.operands[place] for one in own[:1] for place in one.looked_at]
        if not sides or sides[0].random:  # a statement about draws
            return EVERYWHERE
        hull = support(sides[0])
        for end in map(support, sides[1:]):
            hull = Hull(hull.low - end.high, hull.high - end.low)
        return hull


def rarest_violations(prepared: Prepared) -> float:
    """How rare violations of a claim of certainty must be for it to be verified.

    A draw of code under test may be a call of its own, and slow: a claim about slots may set any
    bound, for the code and for the mathematics. Where draws of a call may depend on each other,
    calls are counted, of which there are few.
    """
    claim, counted = prepared.case.claim, prepared.compiled
    if claim.slots and claim.within is not None:
        return claim.within
    if isinstance(counted, Counted) and counted.program.whole:
        return RAREST_CALLS
    return min(RAREST_SEEN, claim.within or RAREST_SEEN)


def prepare(case: Case, graphs: CaseGraphs | None = None, *, crossing: bool = True) -> Prepared:
    """Compile a case from its graph.

    Args:
        case: the case.
        graphs: holds its graph, if a check has built it already.
        crossing: whether draws may be crossed with one another, where the model allows it.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    graphs = graphs or CaseGraphs(keep=0)
    lowered = _as_drawn(graphs.taken(case), crossing)
    registers = _registers(lowered)
    return _prepared(case, lowered, registers, graphs, crossing=crossing)


def prepare_some(claim: Claim, graphs: CaseGraphs, most: int) -> list[Prepared]:
    """The first cases of a claim.

    Raises:
        DropcheckError: where one of them cannot be judged at all.
    """
    return [prepare(case, graphs) for case in claim.expand()[:most]]


def prepare_together(
    cases: Sequence[Case], graphs: CaseGraphs, *, crossing: bool = True
) -> list[Prepared | DropcheckError]:
    """The cases of one entry at the same parameters, compiled from one graph; or their errors."""
    made: list[Prepared | DropcheckError] = []
    first: LoweredCase | None = None
    registers: Registers | None = None
    for case in cases:
        try:
            if first is None:
                lowered = first = _as_drawn(graphs.taken(case), crossing)
                graphs.let_go(case)
                registers = _registers(first)
            else:
                lowered = graphs.beside(case, first)
            made.append(_prepared(case, lowered, registers, graphs, crossing=crossing))
        except DropcheckError as error:
            made.append(error)
    return made


def _as_drawn(lowered: LoweredCase, crossing: bool) -> LoweredCase:
    """The case made of fewer draws, where the model allows it and no draw has to be shown."""
    turned = with_fewer_draws(lowered) if crossing else lowered
    if turned is not lowered and any(
        one is not None and isinstance(strategy_of(one), Certainty)
        for one in (lowered, *lowered.beside)
    ):
        return lowered
    return turned


def _registers(lowered: LoweredCase) -> Registers | None:
    """The registers of all statements of an entry; None where there is only one statement."""
    values: list[Value] = []
    for one in lowered.beside:
        if one is not None:
            values += [value for value in one.operands if value.random]
            values += [value for each in operators(one.operands) for value in each.inputs]
    random = [value for value in values if value.random]
    return Registers(random) if random else None


def _prepared(
    case: Case,
    lowered: LoweredCase,
    registers: Registers | None,
    graphs: CaseGraphs,
    *,
    crossing: bool,
) -> Prepared:
    strategy: Strategy = strategy_of(lowered, case.claim.tolerance)
    compiled = compile_strategy(strategy, lowered.operands, crossing=crossing, registers=registers)
    knowledge = None
    if isinstance(strategy, BlockMeans) and isinstance(compiled, Compiled):
        knowledge = knowledge_of(compiled)
        if knowledge.exact is None and compiled.crossed is not None:
            # crossing needs the mean of each group, and only its square may be known
            compiled = replace(compiled, crossed=None)
            knowledge = knowledge_of(compiled)
        asymptotic = knowledge.guarantee is Guarantee.ASYMPTOTIC
        if asymptotic and strategy.no_variance is not None:
            strategy, compiled, knowledge = Unanswerable(strategy.no_variance), None, None
    return Prepared(
        case=case,
        statement=graphs.parsed(case.claim).statement,
        lowered=lowered,
        reading=read_statement(lowered, case.claim.tolerance),
        strategy=strategy,
        compiled=compiled,
        knowledge=knowledge,
    )
