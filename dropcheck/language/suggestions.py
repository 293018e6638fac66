"""What things are called elsewhere: in papers, in numpy, in PyTorch, and what to write here.

A name that is spelled nearly like one of ours may mean another thing, as `swish` is near `sinh`;
so the hint for an unknown name is looked for here before it is guessed from the spelling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.language.syntax import Array, Binary, Call, Name, Node, Number
from dropcheck.vocabulary import functions, laws, operators
from dropcheck.vocabulary.functions import DENSITIES, FUNCTIONS
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS, law_called
from dropcheck.vocabulary.operators import OPERATORS

LONGEST_SHOWN = 60  # characters of the reader's own text in a hint


def _written(name: str) -> str | None:
    """The law that has this name here or elsewhere, as a call, with what may surprise in it."""
    law = law_called(name)
    if law is None:
        return None
    return f"{law.signature}: {law.note}" if law.note else law.signature


def law_hint(name: str) -> str:
    """What to write in place of a name that is no law.

    >>> law_hint("Ber")
    'write bernoulli(p)'
    >>> law_hint("bernouli")
    "did you mean 'bernoulli'?"
    """
    written = _written(name)
    if written is not None:
        return f"write {written}"
    hint = laws.hint_for(name)
    if hint is None and name in FUNCTIONS:
        hint = f"{name!r} is a function: write '=' in place of '~'"
    return hint or suggestion(name, LAWS) or f"laws are {', '.join(sorted(LAWS))}"


def square_for_sd(law: Law, arguments: Sequence[Node]) -> Iterator[Problem]:
    """A note on each standard deviation that is written as a square, as a variance is."""
    for parameter, node in zip(law.parameters, arguments, strict=True):
        if parameter.name == "sd" and _is_square(node):
            yield Problem(
                f"the second argument of {law.name} is the standard deviation, and this is a "
                "square, as of a variance",
                node.at.location,
                "write its root; a deviation that is a square gets a name on a line above",
            )


def _is_square(node: Node) -> bool:
    match node:
        case Binary(operator="**", right=Number(value=2.0)):
            return True
        case Binary(operator="*", left=Name() as left, right=right):
            return left == right
        case _:
            return False


def shape_by_name(call: Call, names: Sequence[str]) -> DropcheckError:
    """An error for the shape of a draw among the law's arguments, as numpy has it."""
    from dropcheck.language.printing import unparse

    given = next(value for name, value in call.keywords if name not in names)
    kept = tuple((name, value) for name, value in call.keywords if name in names)
    own = unparse(Call(call.at, call.name, call.arguments, kept))
    entries = given.items if isinstance(given, Array) else (given,)
    wanted = f"{own}[{', '.join(map(unparse, entries))}]"
    hint = f"write {wanted if len(wanted) <= LONGEST_SHOWN else 'normal(0, 1)[n]'}"
    return given.at.error(f"the shape of a draw follows {call.name}(…) in brackets", hint)


def function_hint(name: str) -> str:
    """What to write in place of a name that is no function.

    >>> function_hint("swish"), function_hint("ReLU")
    ('write silu(x)', "did you mean 'relu'?")
    >>> function_hint("N")
    'draw on a line of the model, x ~ normal(mean, sd): its second argument is the standard \
deviation, not the variance'
    """
    for asked in (name, name.lower()):
        hint = functions.hint_for(asked) or operators.hint_for(asked) or laws.hint_for(asked)
        if hint is not None:
            return hint
    written = _written(name)
    if written is not None and name.lower() not in FUNCTIONS:
        return f"draw on a line of the model, x ~ {written}"
    near = suggestion(name, [*FUNCTIONS, *OPERATORS, *DENSITIES])
    return near or "recurrences and functions of your own are not part of format 1"
