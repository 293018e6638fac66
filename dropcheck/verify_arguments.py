"""What `dropcheck.verify` is given: held to what it may be, and written down again."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from numbers import Integral, Real

from dropcheck.claims.registry import Claim, Value
from dropcheck.claims.values import (
    ACCEPTED,
    format_value,
    name_problem,
    parse_value,
    percentage_hint,
)
from dropcheck.errors import DropcheckError, Problem, nearest
from dropcheck.settings import (
    LEAST_MEMORY,
    MOST_DRAWS,
    MOST_MEMORY,
    MOST_SEED,
    accepted_threads,
    most_threads,
)

MOST_SHOWN = 60  # characters of a value that cannot be used

Test = Callable[[object], bool]


def _number(low: float, high: float = math.inf) -> Test:
    """A test for numbers strictly between two."""
    return lambda value: (
        isinstance(value, Real) and not _truth(value) and low < _float(value) < high
    )


def _whole(low: int, high: int) -> Test:
    """A test for whole numbers from one to another."""
    return lambda value: (
        isinstance(value, Integral) and not _truth(value) and low <= int(value) <= high
    )


def _float(value: Real) -> float:
    """A number as floating point has it: infinite where it is larger than any of those."""
    try:
        return float(value)
    except OverflowError:  # a whole number or a fraction; floating point has none so large
        return -math.inf if value < 0 else math.inf


def _truth(value: object) -> bool:
    return isinstance(value, bool)


def _one_of(*words: str) -> Test:
    return lambda value: isinstance(value, str) and value in words


# What each option may be beside its default, and in words.
_OPTIONS: dict[str, tuple[Test, str]] = {
    "expect": (_one_of("verified", "refuted"), "'verified' or 'refuted'"),
    "undecided": (_one_of("fail", "skip", "pass"), "'fail', 'skip' or 'pass'"),
    "tolerance": (_number(0, 1), "a number between 0 and 1"),
    "resolution": (_number(0), "a number above 0"),
    "within": (_number(0), "a number above 0"),
    "alpha": (_number(0, 1), "a number between 0 and 1"),
    "seed": (_whole(0, MOST_SEED), "a whole number from 0 on"),
    "max_draws": (_whole(1, MOST_DRAWS), "a whole number from 1 on"),
    "time_limit": (_number(0), "seconds, a number above 0"),
    "threads": (_whole(1, most_threads()), accepted_threads()),
    "max_memory": (_whole(LEAST_MEMORY, MOST_MEMORY), "bytes, a whole number from 2**20 on"),
}
_NEVER_NONE = frozenset({"expect", "undecided", "alpha", "seed", "max_memory"})
# Options that come with more than a value to check, and stand first in a call.
TEXTS = ("model", "sample", "parameters")


def checked_options(options: Mapping[str, object]) -> None:
    """Refuse options that cannot be what they are.

    Raises:
        DropcheckError: with a problem for each.
    """
    problems = []
    for name, value in options.items():
        test, accepted = _OPTIONS[name]
        if (value is None and name not in _NEVER_NONE) or test(value):
            continue
        problems.append(
            Problem(
                f"option {name!r} cannot be {_short(value)}: it must be {accepted}",
                hint=f"a parameter of that name is given by parameters={{{name!r}: …}}",
            )
        )
    if options["resolution"] is not None and options["within"] is not None:
        hint = "keep one: 'resolution' is relative to the claim's scale, 'within' is absolute"
        problems.append(Problem("both 'resolution' and 'within' are given", hint=hint))
    if problems:
        raise DropcheckError(problems)


def checked_texts(claim: object, model: object) -> None:
    """Refuse a claim, or a model, that is no text.

    Raises:
        DropcheckError: with a problem for each.
    """
    problems = [
        Problem(f"{what} is text, and not {_kind(text)}", hint=hint)
        for what, text, hint in (
            ("the claim", claim, "write for example verify('E(y) == mu', …)"),
            ("'model'", model, "write lines such as 'x ~ normal(0, 1)'; code goes into 'sample'"),
        )
        if not isinstance(text, str) and (text is not None or what == "the claim")
    ]
    if problems:
        raise DropcheckError(problems)


def read_parameters(*parts: object) -> dict[str, Value]:
    """Parameters as a claim holds them: numbers, and laws in one spelling.

    Raises:
        DropcheckError: with a problem for each name or value that cannot be one.

    >>> read_parameters({"p": 1}, {"law": "normal( 0,1 )"})
    {'p': 1.0, 'law': 'normal(0, 1)'}
    """
    given: list[tuple[str, object]] = []
    for part in parts:
        if not isinstance(part, Mapping):
            message = f"'parameters' is a mapping of names to values, and not {_kind(part)}"
            raise DropcheckError(Problem(message, hint="write parameters={'p': 0.5}"))
        given.extend(part.items())
    found: dict[str, Value] = {}
    problems: list[Problem] = []
    for name, value in given:
        said = name_problem(name)
        if said is not None:
            problems.append(Problem(f"the parameter {_short(name)} {said}"))
        elif name in found:
            problems.append(Problem(f"the parameter {name!r} is given twice"))
        else:
            try:
                found[name] = _value(value)
            except ValueError as error:
                found[name] = 0.0
                message = f"the parameter {name!r} {error}"
                share = percentage_hint(value) if isinstance(value, str) else None
                problems.append(Problem(message, hint=share or _option_meant(name) or ACCEPTED))
    if problems:
        raise DropcheckError(problems)
    return found


def _value(value: object) -> Value:
    """A parameter's value.

    Raises:
        ValueError: a predicate that its name completes.
    """
    if isinstance(value, str):
        try:
            return parse_value(value)
        except ValueError as error:
            raise ValueError(f"must be a number or a law, and {_short(value)} {error}") from None
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # numpy's numbers, and arrays of one
    if _truth(value):
        raise ValueError("must be a number or a law, and is a truth value: write 1 or 0")
    if not isinstance(value, Real):
        raise ValueError(f"must be a number or a law, and is {_kind(value)}")
    number = _float(value)
    if not math.isfinite(number):
        raise ValueError(f"must be a finite number, and is {number}")
    return number + 0.0  # -0.0 is 0.0: one number, one case


def _option_meant(name: str) -> str | None:
    near = nearest(name, (*_OPTIONS, *TEXTS))
    return None if near is None else f"was the option {near!r} meant?"


def mistyped_options(claim: Claim, keywords: Iterable[str]) -> Iterator[Problem]:
    """Arguments that the claim has no use for, and whose names are nearly those of options."""
    from dropcheck.language.cases import parse_claim, used_names

    suspects = {name: near for name in keywords if (near := nearest(name, (*_OPTIONS, *TEXTS)))}
    if not suspects:
        return
    try:
        used = used_names(parse_claim(claim))
    except DropcheckError:  # told by itself, and what the texts use cannot be known
        return
    for name, near in suspects.items():
        if name not in used:
            yield Problem(
                f"the parameter {name!r} is not used", hint=f"did you mean the option {near!r}?"
            )


def call_text(
    claim: str,
    options: Iterable[tuple[str, object, object]],
    parameters: Mapping[str, Value],
    taken: Collection[str],
) -> str:
    """The call that tries a claim again, in Python.

    Args:
        claim: the statement.
        options: (name, value, default) of each; those at their default are left out.
        parameters: the claim's own.
        taken: names that stand for options, so that a parameter goes into a mapping.

    >>> call_text("E(x) == mu", [("seed", 3, 0)], {"mu": 1.0, "lambda": 2.0}, ["seed"])
    "dropcheck.verify('E(x) == mu', mu=1, parameters={'lambda': 2}, seed=3)"
    """
    written = {
        name: repr(value) if isinstance(value, str) else format_value(value)
        for name, value in parameters.items()
    }
    plain = [name for name in written if name not in taken and not keyword.iskeyword(name)]
    parts = [repr(claim), *(f"{name}={written[name]}" for name in plain)]
    rest = ", ".join(f"{name!r}: {text}" for name, text in written.items() if name not in plain)
    if rest:
        parts.append(f"parameters={{{rest}}}")
    for name, value, default in options:
        if value != default:
            shown = getattr(value, "__qualname__", None) if callable(value) else None
            parts.append(f"{name}={shown or repr(value)}")
    return f"dropcheck.verify({', '.join(parts)})"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def _kind(value: object) -> str:
    return f"a value of type {type(value).__name__!r}"
