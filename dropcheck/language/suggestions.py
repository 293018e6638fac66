"""What things are called elsewhere: in papers, in numpy, in PyTorch, and what to write here.

A name that is spelled nearly like one of ours may mean another thing, as `swish` is near `sinh`;
so the hint for an unknown name is looked for here before it is guessed from the spelling.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.language.syntax import Array, Binary, Call, Name, Node, Number
from dropcheck.vocabulary import functions, laws, operators
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS, law_called
from dropcheck.vocabulary.operators import OPERATORS

LONGEST_SHOWN = 60  # characters of the reader's own text in a hint


def written_law(law: Law) -> str:
    """A law as a call, with what may surprise in it."""
    return f"{law.signature}: {law.note}" if law.note else law.signature


def _written(name: str) -> str | None:
    """The law that has this name here or elsewhere, as a call."""
    law = law_called(name)
    return None if law is None else written_law(law)


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


def name_hint(name: str, known: Collection[str]) -> str | None:
    """What an unknown name may be meant to be, of the known ones.

    >>> name_hint("xy", ["x", "y"]), name_hint("X", ["x"]), name_hint("lenght", ["length"])
    ('write x * y for the product', "capitals matter: did you mean 'x'?", "did you mean 'length'?")
    """
    near = suggestion(name, known)
    if any(name.lower() == one.lower() for one in known):
        return f"capitals matter: {near}"
    for length in range(1, len(name)):
        if name[:length] in known and name[length:] in known:
            return f"write {name[:length]} * {name[length:]} for the product"
    return near


def argument_hint(name: str) -> str | None:
    """How a law, a function or an operator is called; None where there is none of this name.

    >>> argument_hint("exponential")
    'write exponential(scale): scale is its mean, the inverse of a rate'
    """
    if name in LAWS:
        return f"write {written_law(LAWS[name])}"
    if name in FUNCTIONS:
        return f"write {FUNCTIONS[name].signature}"
    return None


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
    near = suggestion(name, [*FUNCTIONS, *OPERATORS, *OF_LAWS])
    return near or "recurrences and functions of your own are not part of format 1"
