"""A claim's mutants: a bounded number, chosen from every kind of error at every place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, zip_longest

from dropcheck.claims.registry import Case, Claim, SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language.cases import ParsedClaim
from dropcheck.language.printing import unparse_model, unparse_statement
from dropcheck.language.syntax import Binary, Model, Name, Number, lines_of, loops_of
from dropcheck.mutation.distinguishing import numbers_of, share_names, whole_names
from dropcheck.mutation.mutators import MUTATORS
from dropcheck.mutation.outcome import Mutant
from dropcheck.mutation.places import ClaimFacts
from dropcheck.mutation.readings import Readings

# The most mutants of a claim: each of the sixteen kinds once on average. 70 claims then take two
# minutes on two cores.
MOST_MUTANTS = 16
# A constant is changed by so many times the resolution, which is more than may be verified.
STEP = 3.0


def facts_of(parsed: ParsedClaim, scale: float | None, readings: Readings) -> ClaimFacts:
    """The facts for the mutators; `scale` is that of the claim at the case that was judged."""
    claim = parsed.claim
    shares = set(share_names(claim))
    for line in lines_of(parsed.model):  # `q = 1 - p` is a probability where `p` is one
        match line.right:
            case Binary(operator="-", left=Number(value=1.0), right=Name(name=name)):
                if name in shares and not line.drawn:
                    shares.add(line.names[0].name)
    size = scale or 1.0
    sharpness = claim.resolution if claim.within is None else claim.within / size
    step = STEP * sharpness
    if claim.tolerance is not None:
        step += claim.tolerance.around(size) / size
    share = step if claim.within is None else 0.0  # `within` is a number, the same for each case
    return ClaimFacts(
        shares=frozenset(shares),
        whole=whole_names(claim),
        numbers=frozenset(numbers_of(claim)),
        step=step,
        zero=step * size,
        far_enough=partial(readings.far_enough, share=share, least=step * size),
    )


def mutants_of(
    readings: Readings, facts: ClaimFacts, case: Case, most: int = MOST_MUTANTS
) -> tuple[Mutant, ...]:
    """At most `most` mutants that are claims, as far as that is known before any draw.

    Kinds of error take turns, and each takes its places in an order that spreads over the claim, so
    that the choice is always the same. A mutant that the check refuses, at the case at which
    mutants are judged first, is left out: nobody can make that error unnoticed.
    """
    candidates = _candidates(readings.parsed, facts)
    claims = (one for one in candidates if _is_claim(one.claim, case, readings))
    return tuple(islice(claims, most))


def _candidates(parsed: ParsedClaim, facts: ClaimFacts) -> Iterator[Mutant]:
    """All mutants in the order in which they are chosen, each text once."""
    seen = {_written(parsed)}
    kinds = []
    for name, plant in MUTATORS.items():
        fresh = []
        for mutated in plant(parsed, facts):
            written = _written(mutated)
            if written not in seen:
                seen.add(written)
                fresh.append(_mutant(name, parsed, mutated))
        kinds.append(_scattered(fresh))
    for turn in zip_longest(*kinds):
        yield from (mutant for mutant in turn if mutant is not None)


def _written(parsed: ParsedClaim) -> tuple[str, str]:
    return unparse_model(parsed.model), unparse_statement(parsed.statement)


def _scattered(mutants: Sequence[Mutant]) -> list[Mutant]:
    """The mutants in van der Corput's order: the first ones are spread over all of them."""
    digits = max(1, (len(mutants) - 1).bit_length())
    order = (int(f"{index:0{digits}b}"[::-1], 2) for index in range(2**digits))
    return [mutants[place] for place in order if place < len(mutants)]


def _mutant(operator: str, original: ParsedClaim, mutated: ParsedClaim) -> Mutant:
    model, statement = _written(mutated)
    file = original.claim.location.file
    claim = replace(
        original.claim,
        statement=SourceText.plain(statement, file),
        model=SourceText.plain(model, file) if mutated.model else None,
    )
    if mutated.statement != original.statement:
        return Mutant(claim, operator, f"claim: {statement}")
    changed = _changed(original.model, mutated.model)
    return Mutant(claim, operator, f"model: {changed}", in_model=True)


def _changed(original: Model, mutated: Model) -> str:
    """The line, or the first line of the loop, in which two models differ."""
    for old, new in zip(lines_of(original), lines_of(mutated), strict=True):
        if old != new:
            return unparse_model((new,))
    for loop, other in zip(loops_of(original), loops_of(mutated), strict=True):
        if loop.over != other.over:
            return unparse_model((replace(other, body=()),)).rstrip()
    return ""


def _is_claim(claim: Claim, case: Case, readings: Readings) -> bool:
    try:
        readings.lowered(readings.mutant(claim), case.parameters)
    except DropcheckError:
        return False
    return True
