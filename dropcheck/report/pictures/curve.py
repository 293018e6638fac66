"""A sweep as curves: what is claimed and what was estimated, against the parameter that was swept.

The parameter with the most values is the axis, numbers before laws. Other parameters that vary give
a panel for each of their values, unless the axis determines them, as in cases listed one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from dropcheck.claims.registry import Case
from dropcheck.claims.values import format_parameters, format_value
from dropcheck.errors import DropcheckError, Problem
from dropcheck.records import record
from dropcheck.report.numbers import exact
from dropcheck.report.phrases import by_claim
from dropcheck.results import CaseResult, ParameterValue, RunResult

# from this ratio of the largest value to the smallest on, the axis is logarithmic
SPREAD = 100.0
LARGEST = 1e300  # larger values are cut to this, so that differences stay finite
MARGIN = 0.04  # the share of the axis that is left free at each end


@record
class Axis:
    """Values from `low` to `high`, evenly spaced or by their logarithms."""

    low: float
    high: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """The place of a value: 0 at the low end, 1 at the high end.

        >>> Axis(0, 4).at(1), Axis(1, 100, logarithmic=True).at(10)
        (0.25, 0.5)
        """
        low, high, value = (self._drawn(one) for one in (self.low, self.high, value))
        return (value - low) / (high - low)

    def _drawn(self, value: float) -> float:
        if not self.logarithmic:
            return value
        return math.log10(value) if value > 0 else -math.inf

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """At most `most` values to label (at least one where that is 2 or more), with labels.

        >>> Axis(0, 1).ticks(6)
        [(0.0, '0'), (0.2, '0.2'), (0.4, '0.4'), (0.6, '0.6'), (0.8, '0.8'), (1.0, '1')]
        >>> Axis(0.5, 2000, logarithmic=True).ticks(6)
        [(1.0, '1'), (10.0, '10'), (100.0, '100'), (1000.0, '1000')]
        """
        values = self._decades(most) if self.logarithmic else []
        if len(values) < 2:
            values = self._even(most)
        return [
            (value, exact(round(value, 12) if abs(value) > 1e-3 else value)) for value in values
        ]

    def _decades(self, most: int) -> list[float]:
        low, high = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        step = max(1, -(-(high - low + 1) // max(most, 1)))
        return [10.0**power for power in range(low, high + 1, step)]

    def _even(self, most: int) -> list[float]:
        """Multiples of the smallest step, 1, 2 or 5 times a power of ten, that gives few enough."""
        width = self.high - self.low
        power = 10.0 ** math.floor(math.log10(width / max(most, 1)))
        for step in (power * factor for factor in (1, 2, 5, 10, 20, 50, 100)):
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            if last - first < most:
                return [float(f"{step * n:.12g}") for n in range(first, last + 1)]  # 3 × 0.1 is 0.3
        return []


def axis_over(values: Iterable[float]) -> Axis | None:
    """An axis that shows all finite values; None where there are none."""
    known = [min(max(value, -LARGEST), LARGEST) for value in values if math.isfinite(value)]
    if not known:
        return None
    low, high = min(known), max(known)
    if low > 0 and high / low >= SPREAD:
        stretch = (high / low) ** MARGIN
        return Axis(low / stretch, high * stretch, logarithmic=True)
    pad = (high - low) * MARGIN
    largest = max(abs(low), abs(high))
    if pad <= largest * 1e-12 + 1 / LARGEST:  # a single value: a tenth of it on both sides
        pad = largest / 10
        pad = pad if pad > 1 / LARGEST else 1.0
    return Axis(low - pad, high + pad)


def is_geometric(values: Sequence[float]) -> bool:
    """Whether values are spaced more evenly by their ratios than by differences, as 16, 64, 256.

    >>> is_geometric([16, 64, 256]), is_geometric([0.05, 0.5, 0.95])
    (True, False)
    """
    ordered = sorted(set(values))
    if len(ordered) < 3 or ordered[0] <= 0:
        return False
    gaps = [high - low for low, high in pairwise(ordered)]
    ratios = [math.log(high) - math.log(low) for low, high in pairwise(ordered)]
    return max(ratios) / sum(ratios) < 0.9 * max(gaps) / sum(gaps)


Parameters = Mapping[str, ParameterValue]


@record
class CurvePoint:
    """One case of a sweep: its place along the axis, and the value there as it is written."""

    place: float
    label: str
    case: CaseResult


@record
class Panel:
    """A sweep of one parameter, with all others fixed or determined by it.

    `across` is the axis of the swept parameter; `up` is that of the quantity, with room for all
    estimates, intervals and claimed values.
    """

    claim: str
    parameter: str
    along: str  # the parameters that the axis determines: "low, high"
    held: str  # the values of the others: "x=2, law=normal(0, 1)"
    numeric: bool
    points: tuple[CurvePoint, ...]
    across: Axis
    up: Axis

    @property
    def heading(self) -> str:
        """What is plotted, in one line."""
        held = f", at {self.held}" if self.held else ""
        along = f" and {self.along} with it" if self.along else ""
        return f"{self.points[0].case.expression} against {self.parameter}{along}{held}"

    @property
    def claimed_word(self) -> str:
        """The name of the claimed curve: `claimed`, with the relation of an inequality."""
        region = self.points[0].case.region
        relation = None if region is None else region.relation
        return "claimed" if relation in (None, "==") else f"claimed: {relation}"

    def claimed(self) -> list[list[tuple[float, float]]]:
        """The curves that bound what is claimed: one, or two for a range."""
        curves: list[list[tuple[float, float]]] = [[], []]
        for point in self.points:
            region = point.case.region
            if region is not None:
                curves[0].append((point.place, region.low))
                if not region.point:
                    curves[1].append((point.place, region.high))
        known = ([dot for dot in curve if math.isfinite(dot[1])] for curve in curves)
        return [curve for curve in known if curve]


def panels(run: RunResult) -> tuple[Panel, ...]:
    """The panels of every swept claim of a run, in order."""
    made: list[Panel] = []
    for cases in by_claim(run.cases).values():
        rows = [case.parameters for case in cases]
        parameter = swept(rows)
        if parameter is None:
            continue
        apart = _apart(rows, parameter)
        held = [name for name in _names(rows) if len(_values(rows, name)) == 1]
        groups: dict[tuple[ParameterValue | None, ...], list[CaseResult]] = {}
        for case in cases:
            groups.setdefault(tuple(case.parameters.get(name) for name in apart), []).append(case)
        shown = [*apart, *held]
        along = [name for name in _names(rows) if name not in (parameter, *shown)]
        made += [_panel(group, parameter, along, shown) for group in groups.values()]
    return tuple(made)


def _panel(
    cases: Sequence[CaseResult], parameter: str, along: Sequence[str], shown: Sequence[str]
) -> Panel:
    values = [case.parameters[parameter] for case in cases if parameter in case.parameters]
    numeric = all(isinstance(value, float) for value in values)
    order = {value: index + 1.0 for index, value in enumerate(dict.fromkeys(values))}
    points = [
        CurvePoint(
            value if isinstance(value, float) and numeric else order[value],
            format_value(value),
            case,
        )
        for case in cases
        if (value := case.parameters.get(parameter)) is not None
    ]
    first = cases[0]
    held = {name: value for name, value in first.parameters.items() if name in shown}
    points.sort(key=lambda point: point.place)
    return Panel(
        claim=first.claim,
        parameter=parameter,
        along=", ".join(along),
        held=format_parameters(held),
        numeric=numeric,
        points=tuple(points),
        across=_axis_across([point.place for point in points], numeric=numeric),
        up=_axis_up(point.case for point in points),
    )


def _axis_across(places: Sequence[float], *, numeric: bool) -> Axis:
    """The axis of the swept parameter; laws, and numbers among laws, stand in their order."""
    if not numeric:
        return Axis(0.5, max(places) + 0.5)
    low, high = min(places), max(places)
    if is_geometric(places):
        return Axis(low, high, logarithmic=True)
    return Axis(low, high) if high > low else Axis(low - 1, high + 1)


def _axis_up(cases: Iterable[CaseResult]) -> Axis:
    values: list[float] = []
    for case in cases:
        known = [case.estimate, *(case.interval or ())]
        if case.region is not None:
            known += [case.region.low, case.region.high]
        values += [value for value in known if value is not None]
    return axis_over(values) or Axis(-1, 1)


def swept(rows: Sequence[Parameters]) -> str | None:
    """The parameter that makes the axis; None where each has one value.

    >>> swept([{"p": 0.1, "x": 2.0}, {"p": 0.5, "x": 2.0}])
    'p'
    """
    named = {name: _values(rows, name) for name in _names(rows)}
    several = {name: values for name, values in named.items() if len(values) > 1}

    def worth(name: str) -> tuple[bool, int]:
        return all(isinstance(one, float) for one in several[name]), len(several[name])

    return max(several, key=worth, default=None)


def _apart(rows: Sequence[Parameters], parameter: str) -> list[str]:
    """The parameters that vary and are not determined by the axis."""
    apart = []
    for name in _names(rows):
        pairs = {(row.get(parameter), row.get(name)) for row in rows}
        if name != parameter and len(pairs) > len({first for first, _ in pairs}):
            apart.append(name)
    return apart


def _names(rows: Iterable[Parameters]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _values(rows: Iterable[Parameters], name: str) -> set[ParameterValue]:
    return {row[name] for row in rows if name in row}


def require_sweep(cases: Iterable[Case]) -> None:
    """Check that there is a curve to plot, before anything is simulated.

    Raises:
        DropcheckError: no claim has a parameter with several values.
    """
    rows_of: dict[str, list[Parameters]] = {}
    names: dict[str, None] = {}
    for case in cases:
        rows_of.setdefault(case.claim.id, []).append(case.parameters)
        names.update(dict.fromkeys(case.claim.parameter_names))
    if any(swept(rows) is not None for rows in rows_of.values()):
        return
    hint = "select a claim with parameters; dropcheck show ID lists them"
    if names:
        hint = f"give several values with commas, as in --{next(iter(names))} 0.1,0.2,0.5"
    message = "option '--plot' needs a sweep, and no parameter has several values"
    raise DropcheckError(Problem(message, hint=hint))
