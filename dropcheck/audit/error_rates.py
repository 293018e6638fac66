"""The results of an audit, as data: counts of verdicts, and bounds of error rates."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum

from dropcheck.inference.finite_sample import clopper_pearson, upper_bound
from dropcheck.records import record
from dropcheck.results import ParameterValue, Verdict

# The chance of any false alarm in an audit; it is divided over the audit's rows.
FALSE_ALARM = 1e-6
# The chance that a rate lies above the upper bound in its row.
UNSURE = 0.01


class Truth(StrEnum):
    """What is known of a claim beforehand."""

    TRUE = "true"
    FALSE = "false by more than its resolution"
    UNDEFINED = "about a moment that does not exist"

    @property
    def wrong(self) -> tuple[Verdict, ...]:
        """The verdicts that are wrong about such a claim."""
        match self:
            case Truth.TRUE:
                return (Verdict.REFUTED,)
            case Truth.FALSE:
                return (Verdict.VERIFIED,)
            case _:
                return (Verdict.VERIFIED, Verdict.REFUTED)


@record
class VerdictCounts:
    """How many repetitions had which verdict, and the draws and seconds that they took."""

    verified: int = 0
    refuted: int = 0
    inconclusive: int = 0
    draws: int = 0
    seconds: float = 0.0

    @property
    def runs(self) -> int:
        """Repetitions made."""
        return self.verified + self.refuted + self.inconclusive

    def __add__(self, other: VerdictCounts) -> VerdictCounts:
        """The sums of both."""
        names = (one.name for one in fields(self))
        return VerdictCounts(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def of(self, verdict: Verdict) -> int:
        """How many repetitions ended with a verdict."""
        return int(getattr(self, verdict.value))


@record
class AuditRow:
    """One claim at one error rate, repeated.

    `promise` is the α of each repetition, or 0 where no error is allowed; `alarm_level` is the
    row's share of the chance of a false alarm. `off` says in words how far off the claim is;
    `group` is the class in which it is counted, "" where there are none.

    >>> counts = VerdictCounts(verified=900, refuted=100)
    >>> row = AuditRow("e", {}, "E(x) == 1", Truth.TRUE, "", 0.05, counts)
    >>> row.wrong, row.alarm
    (100, True)
    """

    claim: str
    parameters: dict[str, ParameterValue]
    statement: str
    truth: Truth
    off: str
    promise: float
    counts: VerdictCounts
    alarm_level: float = FALSE_ALARM
    group: str = ""

    @property
    def wrong(self) -> int:
        """How many verdicts were wrong."""
        return sum(map(self.counts.of, self.truth.wrong))

    @property
    def rate(self) -> float:
        """The share of wrong verdicts."""
        return self.wrong / self.counts.runs if self.counts.runs else 0.0

    @property
    def at_most(self) -> float:
        """The upper bound of the rate: exact binomial, at confidence 1 - UNSURE."""
        return upper_bound(self.wrong, self.counts.runs, UNSURE)

    @property
    def at_least(self) -> float:
        """The lower bound of the rate: exact binomial, at the level of the alarm."""
        return _at_least(self.wrong, self.counts.runs, self.alarm_level)

    @property
    def alarm(self) -> bool:
        """Whether the promise is broken by more than chance."""
        return self.at_least > self.promise

    @property
    def undecided(self) -> float:
        """The share of inconclusive verdicts."""
        return self.counts.inconclusive / self.counts.runs if self.counts.runs else 0.0

    @property
    def draws(self) -> float:
        """Mean draws of a run."""
        return self.counts.draws / self.counts.runs if self.counts.runs else 0.0


@record
class Group:
    """The rows of one class together, so that single errors of its claims add up.

    >>> counts = VerdictCounts(19, 1)
    >>> rows = [AuditRow(name, {}, "E(x) == 1", Truth.TRUE, "", 1e-6, counts) for name in "abc"]
    >>> group = Group("a class", tuple(rows))
    >>> group.claims, group.wrong, any(row.alarm for row in rows), group.alarm
    (3, 3, False, True)
    """

    name: str
    rows: tuple[AuditRow, ...]

    @property
    def claims(self) -> int:
        """How many claims the class has, each false twin counted as one."""
        return len({(row.claim, tuple(row.parameters.items())) for row in self.rows})

    @property
    def counts(self) -> VerdictCounts:
        """The verdicts over all rows."""
        return sum((row.counts for row in self.rows), VerdictCounts())

    @property
    def wrong(self) -> int:
        """The wrong verdicts over all rows."""
        return sum(row.wrong for row in self.rows)

    @property
    def promise(self) -> float:
        """The largest promise of a row."""
        return max(row.promise for row in self.rows)

    @property
    def at_least(self) -> float:
        """The lower bound of the rate over all rows, at the level of the alarm of one row."""
        level = min(row.alarm_level for row in self.rows)
        return _at_least(self.wrong, self.counts.runs, level)

    @property
    def alarm(self) -> bool:
        """Whether the promise is broken by more than chance, in the class or in a row."""
        return self.at_least > self.promise or any(row.alarm for row in self.rows)


def _at_least(wrong: int, runs: int, level: float) -> float:
    # the two-sided interval has half its error on each side
    return clopper_pearson(wrong, runs, 2 * level)[0]


@record
class Audit:
    """A whole audit."""

    name: str  # of the set, or of the claims file
    rows: tuple[AuditRow, ...]
    seed: int
    seconds: float
    processes: int
    left_out: tuple[str, ...] = ()  # what could not be audited, and why
    interrupted: bool = False
    file: str | None = None  # the claims file as it was named, if there is one

    @property
    def runs(self) -> int:
        """Repetitions over all rows."""
        return sum(row.counts.runs for row in self.rows)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The rows by their class; empty without classes."""
        names = dict.fromkeys(row.group for row in self.rows if row.group)
        return tuple(
            Group(name, tuple(row for row in self.rows if row.group == name)) for name in names
        )

    @property
    def alarms(self) -> int:
        """How many rows break their promise; with classes, how many classes."""
        return sum(one.alarm for one in self.groups or self.rows)

    def wrong(self, *truths: Truth) -> int:
        """How many verdicts about claims of these kinds were wrong."""
        return sum(row.wrong for row in self.rows if row.truth in truths)
