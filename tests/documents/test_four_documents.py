"""A long marked page says what the registry says, claim by claim.

The registry is judged elsewhere, so that the page's claims are held to be those: the same graph,
not the same spelling. What the page says beyond them is judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import Case, Claim, Registry
from dropcheck.documents import read_any
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.language.graph import Value
from dropcheck.results import Outcome
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

TOP = Path(__file__).parents[2]
PAGE = Path(__file__).with_name("four-documents.md")
TEXT = PAGE.read_text(encoding="utf-8")
REGISTRY = read_registry(TOP / "claims.yaml")
DOCUMENT = read_any(PAGE)
# The page may be judged more coarsely than the registry, to be quick; not more so than this.
COARSEST = max(claim.resolution for claim in REGISTRY.claims.values())
_TURNED = {">": "<", ">=": "<="}


def registry_id(name: str) -> str:
    """The claim of the registry that a mark is about: a second mark of it has a number.

    >>> registry_id("softmax-peak.unscaled-2")
    'softmax-peak.unscaled'
    """
    return re.sub(r"-\d+\Z", "", name)


# ---- the same mathematics ------------------------------------------------------------------------


def stated(case: Case) -> tuple[tuple[str, ...], tuple[Value, ...]]:
    """The signs and sides of a case, the smaller side first."""
    lowered = lower_case(parse_claim(case.claim), case.parameters)
    assert lowered.law is None
    signs, sides = lowered.operators, lowered.operands
    if signs[0] in _TURNED:
        signs, sides = tuple(_TURNED[one] for one in reversed(signs)), tuple(reversed(sides))
    return signs, sides


def spelled(sides: Iterable[Value]) -> list[object]:
    """Graphs without names: a value that was met before is its number."""
    numbers: dict[int, int] = {}

    def one(value: Value) -> object:
        if value.constant is not None:
            return value.shape, [f"{number:.11e}" for number in np.ravel(value.constant)]
        if id(value) in numbers:
            return numbers[id(value)]
        numbers[id(value)] = len(numbers)
        made = (value.kind, value.operation, value.shape, value.options, value.law)
        return made, [one(below) for below in value.inputs]

    return [one(side) for side in sides]


def same(one: Case, other: Case) -> bool:
    """Whether two cases say the same of the same draws, whatever the names and the spelling."""
    signs, sides = stated(one)
    others, other_sides = stated(other)
    turned = [other_sides, other_sides[::-1]] if others in (("==",), ("~=",)) else [other_sides]
    return signs == others and spelled(sides) in map(spelled, turned)


def candidates(claim: Claim, case: Case) -> Iterator[Case]:
    """The claim of the registry in its own cases, and in that of the page if it fits."""
    yield from claim.expand()
    if set(case.parameters) == set(claim.parameter_names):
        yield Case(claim, case.parameters)


def differences(document: Registry, only: str = "") -> list[str]:
    """The marks that are about a claim of the registry and say something else."""
    return [
        name
        for name, claim in document.claims.items()
        if only in ("", name)
        and (known := REGISTRY.claims.get(registry_id(name))) is not None
        and not (
            claim.expect == known.expect
            and claim.resolution <= COARSEST
            and (claim.tolerance, claim.within) == (known.tolerance, known.within)
            and all(
                any(same(case, one) for one in candidates(known, case)) for case in claim.expand()
            )
        )
    ]


def changed(folder: Path, old: str, new: str) -> Registry:
    """The page with a slip."""
    assert TEXT.count(old) == 1, old
    page = folder / PAGE.name
    page.write_text(TEXT.replace(old, new), encoding="utf-8")
    return read_any(page)


def test_every_claim_of_the_registry_is_on_the_page() -> None:
    assert {registry_id(name) for name in DOCUMENT.claims} >= set(REGISTRY.claims)


def test_the_page_says_what_the_registry_says() -> None:
    assert differences(DOCUMENT) == [], "mend these marks, or the claims of these ids"


SLIPS = {
    "naive-stack.mean": ("q^L \\cdot", "q^{L - 1} \\cdot"),  # a formula
    "naive-ten.mean": ("is 8<!--", "is 9<!--"),  # a figure
    "sd-rise-printed-3": ("by 41%<!--", "by 42%<!--"),  # its rounding
    "sd-kept": ("p: [0.1, 0.5]; expect: refuted", "p: [0.1, 0.5]"),  # what is expected
    "squares-add": ("y ~ uniform(-2, 2)", "y ~ uniform(-2, 3)"),  # a model
    "shared-part.one": ("k ~ normal(0, 1)[dk]\n    shared", "k ~ laplace(0, 1)[dk]\n    shared"),
    "constant-factor.mean": ("3c$", "c \\mathrm{E}(x)$"),  # another quantity of the same value
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_page_that_says_something_else_is_seen(name: str, tmp_path: Path) -> None:
    assert differences(changed(tmp_path, *SLIPS[name]), name) == [name]


def test_what_the_page_says_beyond_the_registry_holds() -> None:
    own = [
        case
        for name, claim in DOCUMENT.claims.items()
        if registry_id(name) not in REGISTRY.claims
        for case in claim.expand()
    ]
    results = list(verify_cases(own, Settings(), DOCUMENT))
    assert len(results) == 19
    assert [one.claim for one in results if one.result is not Outcome.PASS] == []


def test_the_page_counts_what_it_shows() -> None:
    false = [claim for claim in REGISTRY.claims.values() if claim.expect == "refuted"]
    assert f"All {len(REGISTRY.claims)} claims of" in TEXT
    assert f"Of the {len(REGISTRY.claims)} claims, {len(false)} are false." in TEXT
