"""Which digits to print where a figure all but rounds otherwise, against exact fractions."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import pytest

from dropcheck.errors import Location
from dropcheck.inference.region import edge_of, near_edge
from dropcheck.results import Edge, Exact, Region, Verdict, Written


def figure(digits: str, unit: str, *, rounded: bool = True) -> Written:
    return Written(text=digits, start=Location(""), end=Location(""), rounded=rounded,
                   digits=Decimal(digits), unit=Decimal(unit))  # fmt: skip


@pytest.mark.parametrize(
    ("printed", "value", "instead"),
    [
        ("0.946", "0.94551", ("0.95", "0.9455")),
        ("0.945", "0.94549", ("0.9455",)),  # 0.95 and 0.9 are as near to their edges, or nearly
        ("0.41", "0.41421", None),
        ("0.41", "0.41498", ("0.4", "0.415")),  # nearer to the edge of 0.415 than a unit's 5%
        ("-0.946", "-0.94551", ("-0.95", "-0.9455")),
        ("0.95", "0.94551", None),  # a twentieth of a unit away and more
        ("100", "99.51", ("99.5",)),  # "100" cannot be printed with fewer digits
    ],
)
def test_known_values(printed: str, value: str, instead: tuple[str, ...] | None) -> None:
    places = Decimal(printed).as_tuple().exponent
    assert isinstance(places, int)
    written = figure(printed, str(Decimal(1).scaleb(places)))
    edge = near_edge(written, Decimal(value), Decimal(value))
    assert (edge and tuple(map(str, edge.instead))) == instead


def off(value: Fraction, printed: Decimal, unit: Fraction) -> Fraction:
    """How far a value is from the nearer edge of a rounding, in units; below 0 outside it."""
    return Fraction(1, 2) - abs(value - Fraction(printed)) / unit


def test_what_is_advised_is_the_value_rounded_and_no_edge_again() -> None:
    rng = random.Random(16)  # seeded: the same 3,000 figures always
    near = 0
    for _ in range(3_000):
        places = rng.randint(1, 6)
        unit = Fraction(1, 10**places)
        number = rng.randint(1, 10**places)
        apart = Fraction(rng.randint(-12, 12), 100)
        value = number * unit + rng.choice((-1, 1)) * unit * (Fraction(1, 2) + apart)
        printed = Decimal(number).scaleb(-places)
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        edge = near_edge(figure(str(printed), str(Decimal(1).scaleb(-places))), exact, exact)
        assert (edge is not None) == (abs(apart) <= Fraction(5, 100))
        if edge is None:
            continue
        near += 1
        assert edge.away == pytest.approx(float(abs(apart)), abs=1e-12)
        for one in edge.instead:
            exponent = one.as_tuple().exponent
            assert isinstance(exponent, int)
            own = Fraction(10) ** exponent
            assert exponent != -places
            assert off(value, one, own) >= Fraction(
                5, 100
            )  # rounded rightly, and far from its edge
        finer = [one for one in edge.instead if one.as_tuple().exponent < -places]  # type: ignore[operator]  # finite
        assert finer, (printed, value)  # more digits always tell the two sides apart
    assert near > 500


def test_an_interval_that_spans_an_edge_is_near_it_only_if_it_is_narrow() -> None:
    written = figure("0.946", "0.001")
    narrow = near_edge(written, Decimal("0.94548"), Decimal("0.94552"), Decimal("0.25"))
    assert narrow == Edge(away=0.02, instead=(Decimal("0.9455"),))
    assert near_edge(written, Decimal("0.945"), Decimal("0.946"), Decimal("0.25")) is None


UNDECIDED = Verdict.UNDECIDED
REGION = Region(0.9455, 0.9465)


def test_only_an_open_case_of_that_rounding_is_advised() -> None:
    written = figure("0.946", "0.001")
    exact = Exact(0.94551)
    assert edge_of(written, REGION, UNDECIDED, exact, None) is not None
    assert edge_of(written, REGION, Verdict.VERIFIED, exact, None) is None
    assert edge_of(None, REGION, UNDECIDED, exact, None) is None
    assert edge_of(written, Region(0.9455, 0.95), UNDECIDED, exact, None) is None  # of a mutant
    assert edge_of(figure("0.946", "0.001", rounded=False), REGION, UNDECIDED, exact, None) is None
    assert edge_of(written, REGION, UNDECIDED, Exact(0.94551, 1.0), None) is None
    assert edge_of(written, REGION, UNDECIDED, None, (0.94545, 0.94552)) is not None
    for wide in ((0.94, 0.95), (float("-inf"), 0.9455), (0.9455, float("nan"))):
        assert edge_of(written, REGION, UNDECIDED, None, wide) is None


def test_an_interval_over_an_edge_that_reaches_no_middle_is_advised() -> None:
    # a walk of 100 steps is back at its start with probability 0.0796, printed 8.0%
    written = figure("0.080", "0.001")
    region = Region(0.0795, 0.0805)
    edge = edge_of(written, region, UNDECIDED, None, (0.07933, 0.07981))
    assert edge is not None
    assert edge.away == pytest.approx(0.31)
    assert edge.instead == (Decimal("0.08"),)
    assert edge_of(written, region, UNDECIDED, None, (0.0794, 0.0801)) is None  # over the middle


def test_numbers_of_any_size_are_no_trouble() -> None:
    for digits, unit in (("1E+300", "1E+299"), ("1E-300", "1E-301"), ("9" * 60, "1")):
        value = Decimal(digits) + Decimal(unit) / 2
        edge = near_edge(figure(digits, unit), value, value)
        assert edge is None or edge.away <= 0.05
    assert edge_of(figure("8", "1"), Region(7.5, 8.5), UNDECIDED, Exact(float("nan")), None) is None
