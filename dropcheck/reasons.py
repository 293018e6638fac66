"""Why a case is undecided, or what refuted it: all reasons, with their sentences.

>>> str(Reason.CONDITION_NEVER_TRUE.explain(draws=8192))
'the condition was never true in 8,192 draws'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

Detail = float | str

_TOO_RARE = "more draws may still miss an event this rare: make it more likely in the model"
LOOK_FOR = (
    "look for a division by 0, a logarithm or a root of a negative number, an overflow, or a place "
    "or a matrix that a function cannot take"
)
_DOMAIN = (
    "give the law ends (truncated_normal), guard the step (where, given=), or accept what the "
    "limit theorem says (--asymptotic)"
)


class Reason(Enum):
    """A reason: a sentence with places for the details of a case.

    `reading` says what causes it, with a remedy where there is one. It is empty where only more
    draws are needed; how many is known to each case alone.
    """

    # no draw is made
    NO_MOMENT = (
        "{operator} does not exist: by its law, the quantity has no finite moment of order "
        "{order:g}",
        "no draw was made: by its law, the quantity has no {moment}; claim a probability in its "
        "place",
    )
    NO_VARIANCE_OF_ESTIMATE = (
        "{operator} may exist, but no interval can be trusted: by its law, the quantity has no "
        "finite moment of order {order:g}, and the limit theorem needs order {needed:g}",
        "no draw was made: by its law, the tails are too heavy for an interval; claim a "
        "probability in its place",
    )
    TOO_MANY_CONDITIONS = (
        "the model has {conditions} conditions, and the chances of no more than {most} are worked "
        "out, to see which outcomes are too rare to be seen",
        "the model has too many conditions to be trusted: split the claim into smaller models",
    )
    NOT_KNOWN_EXACTLY = (
        "it is not known exactly without draws",
        "no draw was made: leave --exact out to have it simulated",
    )
    OUT_OF_TIME = ("the time of the run was up before its first draw", "the time was up")
    # the quantity
    UNDEFINED_ARITHMETIC = (
        "the quantity is undefined (it works out as NaN or infinite)",
        "nothing to judge: the claim has no value",
    )
    UNDEFINED_DRAWS = (
        "undefined: {undefined:,} of {draws:,} draws ({percent:g}%) are NaN or infinite, the "
        "first of them draw {first:,}",
        f"the model is undefined on some draws: {LOOK_FOR}",
    )
    SELDOM_UNDEFINED = (
        "by its law, what {step} takes is outside its domain with a chance of {chance:.2g} a draw, "
        "and the quantity then has no value",
        "the model is undefined with some chance, even if too small to be seen: " + _DOMAIN,
    )
    MAY_BE_UNDEFINED = (
        "by the model, what {step} takes may be outside its domain in some draws, and the quantity "
        "then has no value",
        "the model may be undefined on some draws, even if too rare to be seen: " + _DOMAIN,
    )
    MAY_BE_INFINITE = (
        "by the model, {step} may be infinite in some draws, and the quantity then has no value",
        "the model may be undefined on some draws, even if too rare to be seen; {hint}",
    )
    NOT_NUMBERS = (
        "what is claimed of your code is NaN or infinite in {undefined:,} of {draws:,} "
        "draws{first}",
        "false as stated: some of its values are no numbers; claim what is finite by itself, as by "
        "P(isnan(y)) == 0",
    )
    POWERS_OVERFLOW = (
        "the draws are finite, and the powers that are averaged are not: they are beyond the "
        "largest number of float64, 1.8e+308",
        "nothing to judge: claim it of the quantity in a larger unit, as of x / 1e100",
    )
    UNDEFINED_AT_AVERAGES = (
        "the quantity is undefined at the averages (a division by 0, Corr of a constant, or "
        "values too small to be squared)",
        "nothing to judge: the claim has no value at what was drawn",
    )
    CONDITION_NEVER_TRUE = (
        "the condition was never true in {draws:,} draws",
        "the condition is too rare, or impossible: condition on something more likely",
    )
    # the interval
    TOO_WIDE = ("the interval is still too wide",)
    TOO_FEW_BLOCKS = ("{blocks} of the {needed} blocks that an interval takes",)
    NOT_INDEPENDENT = (
        "calls of the code differ more than they would if draws of a call were independent",
        "draws of one call depend on each other, or calls differ: mend the code, or leave "
        "'elements: independent' out of its slot",
    )
    TOO_FEW_FOR_BOUND = ("too few draws to bound the violations",)
    NO_DIFFERENCE_YET = ("no draw differs yet, and {needed:,.0f} are needed",)
    HEAVY_SUM = (
        "a few draws carry an average (heavy tails, or skewed)",
        "heavy-tailed, or skewed: the sample has not settled, and more draws may not help",
    )
    AT_THE_EDGE = (
        "the estimate lies where no interval can decide, at the edge of what is claimed",
        "at the edge of what is claimed: use == or a range, or claim a little more or less",
    )
    TOO_FINE = (
        "at this resolution it takes more draws than any run can make",
        "the resolution is too fine: ask for a coarser one",
    )
    LOST_DIGITS = (
        "so many digits cancel {where} that float64 may move the quantity by {room:.2g}",
        "rounding decides the claim: write it so that large numbers do not cancel, such as "
        "1 - Phi(x) as Phi(-x), that steps do not amplify errors, or that whole numbers are "
        "compared, as a * d > b * c in place of a / b > c / d",
    )
    UNCLEAR_EVENT = (
        "what the event compares is no farther apart than float64 may move it",
        "rounding decides the claim: compare counts, in whole units, or say which way ties count, "
        "as in a > b or isclose(a, b); compare what has its digits left, such as 1 - sigmoid(x) "
        "written as sigmoid(-x); or leave a margin",
    )
    # what a sample may hide
    HIDDEN_VALUES = (
        "the model leaves room for values that no draw showed: up to {value:.2g}, with a chance "
        "below {chance:.2g}, which {draws:,} draws do not exclude; {quantity} could lie between "
        "{low:.6g} and {high:.6g}",
        "the model's bounds leave room for values that no draw showed: draw more, or keep what is "
        "averaged within bounds (clip, minimum, maximum)",
    )
    AGAINST_EVIDENCE = (
        "the draws speak against it: they show [{seen_low:.6g}, {seen_high:.6g}] as large samples "
        "do, and only the room that the model's bounds leave, [{low:.6g}, {high:.6g}], allows it",
        "the model's bounds are too wide to refute what the draws speak against: claim what they "
        "show, draw more, or keep what is averaged within bounds (clip, minimum, maximum)",
    )
    NO_SCALE = (
        "what is averaged may have no second moment: it has no size that a resolution could be a "
        "share of",
        "it is compared with 0, and nothing says how near is near: compare two sides that are not "
        "0, as E(x) == 10 in place of E(x - 10) == 0, or say it, as by within: 0.1",
    )
    ALL_ALIKE = (
        "every draw gave {value:.6g}: draws that differ may be too rare to be seen, and too large "
        "to be left out",
        _TOO_RARE,
    )
    RARE_OUTCOME_EXPECTED = (
        "the rarest outcome of the model is expected {expected:.2g} times in {draws:,} draws, and "
        "must be {needed}",
    )
    # what the verdict rests on
    LIMIT_THEOREM = (
        "{verdict}, but by the limit theorem (asymptotic), which counts only with --asymptotic",
        "the model bounds no moment of what is averaged: give it bounds in the model, as clip "
        "does, claim a probability, or accept what the limit theorem says (--asymptotic)",
    )
    NO_BOUND = (
        "the model bounds no moment of what is averaged, which may have no mean: no number of "
        "draws tells",
        "give what is averaged bounds in the model, as clip does, claim a probability or a median, "
        "or accept what the limit theorem says of many draws (--asymptotic)",
    )
    # the exact value
    NEARLY_TRUE = (
        "off by {share}%",
        "off by {share}%: {hint}",
    )
    # why a statement about laws is verified
    LAW_HOLDS = (
        "within {within:.3g} of the law's distribution function everywhere; tails rarer than that "
        "are not promised",
    )
    ONE_LAW = ("within {within:.3g} of each other's distribution functions everywhere",)
    INDEPENDENT_ON_CELLS = ("on these cells within {within:.3g}: {what}",)
    # what refutes a statement about laws before the distance does
    LAW_SHAPE = (
        "draws in {cells} cells of about equal chance are 1e{power:.0f} times likelier under "
        "another law",
        "false as stated: the law has another shape, as the counts in cells show",
    )
    LAW_IMPOSSIBLE = (
        "{count:,} of {draws:,} draws are values that the law does not have",
        "false as stated: the law does not have every value that was drawn",
    )
    # why a statement about laws is undecided
    NEVER_VARIES = (
        "{what} has the same value in each of {draws:,} draws, which do not show what it depends "
        "on",
        "what never varies shows no independence: claim what varies; code that seeds itself, or "
        "makes a generator in each call, repeats itself",
    )
    CELLS_TOO_WIDE = (
        "values with a chance of {chance:.3g} together cannot be told apart in floating point",
        "the law puts more than the resolution on values that floating point does not tell apart: "
        "claim the law of a logarithm",
    )
    # what refutes a claim of certainty
    COUNTEREXAMPLES = ("{violations:,} counterexamples in {draws:,} draws",)
    CODE_COUNTEREXAMPLES = ("counterexamples in {violations:,} of {draws:,} draws{first}",)
    ONE_COUNTEREXAMPLE = ("1 counterexample in {draws:,} draws",)
    # what kept a case from being judged
    FAILED = ("{error}", "{hint}")
    FAULT = ("internal error: {error}", "{hint}")  # of dropcheck itself

    def __init__(self, sentence: str, reading: str = "") -> None:
        self.sentence = sentence
        self.reading = reading

    def explain(self, **details: Detail) -> Explanation:
        """This reason with the details of a case."""
        return Explanation(self, details)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A reason with the numbers and names of one case."""

    reason: Reason
    details: Mapping[str, Detail]

    def __str__(self) -> str:
        """The sentence with its details."""
        return self.reason.sentence.format(**self.details)

    @property
    def reading(self) -> str:
        """The cause and a remedy; empty where only more draws are needed."""
        return self.reason.reading.format(**self.details)
