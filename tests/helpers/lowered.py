"""Short ways from text to values, for the tests of the language."""

from __future__ import annotations

from collections.abc import Mapping

from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language.compile import parse_law
from dropcheck.language.graph import Value
from dropcheck.language.lowering.builder import Context
from dropcheck.language.lowering.lower import lower
from dropcheck.language.lowering.model import define_model, define_parameter
from dropcheck.language.parser import parse_expression, parse_model
from dropcheck.language.syntax import Name, Position
from dropcheck.settings import DEFAULT_MEMORY

# what there is of every shape: random, and fixed
ARRAYS = (
    "s ~ normal(0, 1); v ~ normal(0, 1)[3]; w ~ normal(0, 1)[4]; m ~ normal(0, 1)[2, 3]; "
    "k ~ normal(0, 1)[3, 3]; t ~ normal(0, 1)[5, 2, 3]; i ~ discrete_uniform(0, 2)[6]; "
    "f = arange(3); g = ones(2, 3)"
)


def lowering(
    model: str = "",
    parameters: Mapping[str, float | str] | None = None,
    memory: int = DEFAULT_MEMORY,
) -> Context:
    """A scope with the lines of a model (`;` for a new line) and parameters in it."""
    found = Context(lower, memory)
    for name, value in (parameters or {}).items():
        at = Position(SourceText.plain(name), 0, 0)
        law = parse_law(value, at.location) if isinstance(value, str) else value
        define_parameter(found, Name(at, name), law)
    problems = define_model(found, parse_model(SourceText.plain(model.replace(";", "\n"))))
    if problems:
        raise DropcheckError(problems)
    return found


def lowered(
    model: str,
    expression: str,
    parameters: Mapping[str, float | str] | None = None,
    memory: int = DEFAULT_MEMORY,
) -> Value:
    """An expression over a model as a value."""
    return expressed(lowering(model, parameters, memory), expression)


def expressed(scope: Context, expression: str) -> Value:
    """An expression in a scope as a value."""
    return scope.lower(parse_expression(SourceText.plain(expression)))
