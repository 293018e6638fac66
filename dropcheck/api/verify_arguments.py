"""The arguments of `dropcheck.verify`: checked, read, and written as a call again."""

from __future__ import annotations

import functools
import inspect
import keyword
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from dropcheck.claims.registry import Claim, Tolerance
from dropcheck.claims.values import (
    ACCEPTED,
    KINDS_OF_VALUE,
    as_vector,
    format_value,
    name_problem,
    percentage_hint,
    read_value,
    shortened,
)
from dropcheck.errors import DropcheckError, Problem, nearest
from dropcheck.options import VERIFY_OPTIONS, accepts, as_float
from dropcheck.results import ParameterValue, Vector
from dropcheck.settings import Settings

if TYPE_CHECKING:  # loads numpy
    from dropcheck.language.case_graphs import CaseGraphs

ABSOLUTE = "absolute"
MOST_SHOWN = 60  # characters of a wrong value in a message

# All arguments of `verify` but the claim; the last three are not checked by the table of options.
ARGUMENTS = (*VERIFY_OPTIONS, "model", "sample", "parameters")


def check_options(options: Mapping[str, object], defaults: Mapping[str, object]) -> None:
    """Refuse values that an option does not accept; None is accepted where it is the default.

    Raises:
        DropcheckError: with a problem for each.
    """
    problems = []
    for name, value in options.items():
        option = VERIFY_OPTIONS[name]
        if not ((value is None and defaults[name] is None) or _accepts(name, value)):
            accepted = option.accepted(in_python=True)
            message = f"option {name!r} cannot be {_short(value)}: it must be {accepted}"
            hint = f"a parameter of that name is given by parameters={{{name!r}: …}}"
            problems.append(Problem(message, hint=hint))
    if options["resolution"] is not None and options["within"] is not None:
        hint = "keep one: 'resolution' is relative to the claim's scale, 'within' is absolute"
        problems.append(Problem("both 'resolution' and 'within' are given", hint=hint))
    if problems:
        raise DropcheckError(problems)


def _accepts(name: str, value: object) -> bool:
    if name == "tolerance" and isinstance(value, Mapping) and [*value] == [ABSOLUTE]:
        return accepts(VERIFY_OPTIONS["within"], value[ABSOLUTE])
    return accepts(VERIFY_OPTIONS[name], value)


def read_tolerance(given: float | Mapping[str, float] | None) -> Tolerance | None:
    """The tolerance of a claim, from a checked option.

    >>> read_tolerance({"absolute": 1})
    Tolerance(size=1.0, absolute=True)
    """
    if isinstance(given, Mapping):
        return Tolerance(float(given[ABSOLUTE]), absolute=True)
    return None if given is None else Tolerance(float(given))


def settings_of(options: Mapping[str, Any]) -> Settings:
    """The settings from checked options, without the resolution, which is part of the claim."""
    settings: dict[str, Any] = {
        VERIFY_OPTIONS[name].setting: _plain(value)
        for name, value in options.items()
        if VERIFY_OPTIONS[name].setting and name != "resolution" and value is not None
    }
    return Settings(**settings)


def _plain(value: Any) -> str | float:
    """A word or a truth as it is; a number of any library as one of Python's."""
    if isinstance(value, str | bool):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def check_texts(claim: object, model: object) -> None:
    """Refuse a claim or a model that is no text.

    Raises:
        DropcheckError: with a problem for each.
    """
    problems = []
    if not isinstance(claim, str):
        hint = "write for example verify('E(y) == mu', …)"
        problems.append(Problem(f"the claim is text, and not {_kind(claim)}", hint=hint))
    if not isinstance(model, str | None):
        hint = "write lines such as 'x ~ normal(0, 1)'; code goes into 'sample'"
        problems.append(Problem(f"'model' is text, and not {_kind(model)}", hint=hint))
    if problems:
        raise DropcheckError(problems)


def read_parameters(*parts: object) -> dict[str, ParameterValue]:
    """The parameters of a claim: numbers, and laws in one spelling.

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
    read: dict[str, ParameterValue] = {}
    problems: list[Problem] = []
    for name, value in given:
        wrong = name_problem(name)
        if wrong is not None:
            problems.append(Problem(f"the parameter {_short(name)} {wrong}"))
        elif name in read:
            problems.append(Problem(f"the parameter {name!r} is given twice"))
        else:
            try:
                read[name] = _value(value)
            except ValueError as error:
                read[name] = 0.0
                message = f"the parameter {name!r} {error}"
                share = percentage_hint(value) if isinstance(value, str) else None
                problems.append(Problem(message, hint=share or _option_meant(name) or ACCEPTED))
    if problems:
        raise DropcheckError(problems)
    return read


def _value(value: object) -> ParameterValue:
    """A parameter's value.

    Raises:
        ValueError: it cannot be one; the text is a predicate, without the parameter's name.
    """
    if isinstance(value, str):
        try:
            return read_value(value)
        except ValueError as error:
            raise ValueError(f"must be {KINDS_OF_VALUE}, and {_short(value)} {error}") from None
    if hasattr(value, "tolist"):
        value = value.tolist()  # numpy's numbers and arrays
    return _vector([*value]) if isinstance(value, list | tuple) else _number(value)


def _vector(items: Sequence[Any], depth: int = 0) -> Vector:
    return as_vector(
        [
            _vector(one, depth + 1) if isinstance(one, list | tuple) and depth < 2 else _number(one)
            for one in items
        ]
    )


def _number(value: object) -> float:
    if isinstance(value, bool):
        raise ValueError(f"must be {KINDS_OF_VALUE}, and is a truth value: write 1 or 0")
    if not isinstance(value, Real):
        raise ValueError(f"must be {KINDS_OF_VALUE}, and is {_kind(value)}")
    number = as_float(value)
    if not math.isfinite(number):
        raise ValueError(f"must be a finite number, and is {number}")
    return number + 0.0  # -0.0 becomes 0.0, the same case


def _option_meant(name: str) -> str | None:
    near = nearest(name, ARGUMENTS)
    return None if near is None else f"was the option {near!r} meant?"


def mistyped_options(claim: Claim, names: Iterable[str], graphs: CaseGraphs) -> Iterator[Problem]:
    """The problems of arguments that the claim does not use and whose names are nearly options."""
    from dropcheck.language.checks import used_names

    suspects = {name: near for name in names if (near := nearest(name, ARGUMENTS))}
    if not suspects:
        return
    try:
        used = used_names(graphs.parsed(claim))
    except DropcheckError:  # it is reported already, and the names in the texts are not known
        return
    for name, near in suspects.items():
        if name not in used:
            hint = f"did you mean the option {near!r}?"
            yield Problem(f"the parameter {name!r} is not used", hint=hint)


def call_text(
    claim: str,
    options: Mapping[str, object],
    parameters: Mapping[str, ParameterValue],
    defaults: Mapping[str, object],
) -> str:
    """The call in Python that checks a claim again.

    Args:
        claim: the statement.
        options: all options; a parameter with the name of one goes into a mapping.
        parameters: the claim's own.
        defaults: of the options; those with their default are left out.

    >>> call_text("E(x) == mu", {"seed": 3}, {"mu": 1.0, "lambda": 2.0}, {"seed": 0})
    "dropcheck.verify('E(x) == mu', mu=1, parameters={'lambda': 2}, seed=3)"
    """
    written = {
        name: repr(value) if isinstance(value, str) else format_value(value)
        for name, value in parameters.items()
    }
    plain = [name for name in written if name not in options and not keyword.iskeyword(name)]
    parts = [repr(claim), *(f"{name}={written[name]}" for name in plain)]
    rest = ", ".join(f"{name!r}: {text}" for name, text in written.items() if name not in plain)
    if rest:
        parts.append(f"parameters={{{rest}}}")
    for name, value in options.items():
        if value != defaults[name]:
            parts.append(f"{name}={_code(value) if callable(value) else repr(value)}")
    return f"dropcheck.verify({', '.join(parts)})"


def _code(value: Any) -> str:
    """Code of any kind, by the name that it has where it is defined.

    >>> _code(len), _code(lambda generator, count: {}), _code(dict)
    ('len', 'lambda generator, count: ...', 'dict')
    """
    if isinstance(value, functools.partial):
        given = [*map(_short, value.args)]
        given += [f"{name}={_short(one)}" for name, one in value.keywords.items()]
        return f"partial({', '.join([_code(value.func), *given])})"
    name = str(getattr(value, "__qualname__", "")).rpartition("<locals>.")[2]
    if not name:  # an object that can be called
        return f"{type(value).__name__}(...)"
    if name != "<lambda>":
        return name
    return f"lambda {', '.join(inspect.signature(value).parameters)}: ..."


def _short(value: object) -> str:
    return shortened(repr(value), MOST_SHOWN)


def _kind(value: object) -> str:
    return f"a value of type {type(value).__name__!r}"
