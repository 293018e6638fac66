"""The page on the language, made of what the vocabulary says of itself.

`python tests/helpers/language_page.py` writes it; read the difference before you commit it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import FUNCTIONS_OF_ARRAYS, FUNCTIONS_OF_NUMBERS, OF_LAWS
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

PAGE = Path(__file__).parents[2] / "docs" / "language.md"

_TEXT = """\
# The language

Every name that a model and a statement may use, a line each. How they go together is shown in
the [README](../README.md#the-language-in-short); what the language cannot say is on the page on
[limits](limits.md). A name that is not here is refused by `dropcheck check`, with a hint.

## Operators on the law

They stand in a statement alone, and speak of the law of a quantity `u`, over all draws. Each takes
a condition too: `E(u, given=event)`. Where `u` has a shape, they speak of an element picked at
random. Where a side has a shape, as in `E(x) == [0, 1]` or `Cov(x) == eye(n)`, every entry is
claimed: an operator is then of each element, and one false entry refutes. Of one vector `Cov` and
`Corr` are the matrix of all pairs of its elements.

{operators}

## Statements about laws

They stand alone as a statement, and are explained on [a page of their own](laws.md).

- `y ~ law(…)`: each entry of y has this law, whose arguments are fixed.
- `x ~ y`: each entry of x has the law of the same entry of y.
- `independent(x, y)` `independent(u, over=[0])`: the quantities, or the entries along these axes, do not depend on each other.

## Signs

- `+` `-` `*` `/`: element by element; a single number goes with an array, a row with a matrix.
- `**`: power; `-x**2` is `-(x**2)`.
- `//` `%`: the quotient rounded down, and the remainder, which has the sign of the divisor.
- `@`: product of matrices; of two vectors, the sum of the products of their elements.
- `==` `!=` `<` `<=` `>` `>=`: 1 where it holds, else 0; `a < b < c` is `a < b and b < c`.
- `and` `or` `not`: of truths, element by element; any number but 0 is true.
- `x in {{a, b}}` `x not in {{a, b}}`: whether it is one of them, to within rounding, as
  `isclose` has it. `x in {{a, b}}` by itself is a claim: every element of every draw is one.
- `a if c else b`: `a` where `c` holds, else `b`, element by element.
- `[a, b, c]`: an array with a new first axis.
- `x[i]` `x[i, j]` `x[1:3]` `x[::-1]`: by index, from 0; −1 is the last. An index is fixed,
  unless it stands by itself: `mu[k]` with a random `k` is `take(mu, k)`.
- `x[:, None]` `x[..., 0]`: a new axis of length 1; all the axes that are not named.
- `x[[0, 2]]` `x[a > 1]`: several places, and those where a fixed condition holds. What a random
  condition keeps has no fixed length: `where(c, x, 0)` keeps the shape, `E(x, given=c)` speaks of
  the law.
- `x.T`: the last two axes change places.

## Loops

A model may hold loops: `for t in range(T):`, and indented below it the lines that are carried out
at each step, with t = 0, 1, …, T − 1. `range(a, b)` and `range(a, b, step)` are as in Python. How
far a loop goes is fixed, not random. Loops may stand within one another.

    x = 0
    for t in range(T):
        w ~ normal(0, 1)
        x = 0.9 * x + w
        path = x

- What a line draws is drawn anew at each step.
- A name that stands before the loop is carried from step to step; after it, it has the last value.
- A name that is new in the body is, after the loop, the array of its values: `path` has shape [T],
  and so has `w`.
- `t` is a number, so that `y[t]` and `1 / (t + 1)` may be written. After the loop it is gone.
- With T = 0 carried names keep their values, and a name that is new in the body has none.
- There is no `if`, `while` or `break`: `s = where(done, s, next)` keeps a state, and `first(event)`
  of what is kept says when something happened.

The [cookbook](cookbook.md) has two dozen of them.

## Slots

A claims file may name [code under test](code-under-test.md). Where no code is bound, the slot's own mathematics stands in.

- `y = dropout(x, p)`: what the slot gives.
- `y ~ randint(n)[64]`: draws from a slot that is a sampler.
- `dropout.eval(x, p)`: what it gives when it does not train.
- `grad(dropout)(x, p)`: the gradient of the sum of what it gives, by its first argument, with the same random numbers.

## Constants

{constants}

A line of a model may give the name `e` to something else, such as an error, where no line above it
uses the number.

## Functions of numbers

They go element by element, by numpy's rule for shapes.

{numbers}

## Functions of the array that one draw is

Those with `axis` go along the last axis, `axis=-1`, unless another is named, where numpy's `sum`
or `max` take all; several are named as `axis=[0, 1]`. Most of these refuse a single number; `concat`, `stack`, `reshape` and `tile` take
one. `keepdims=1` leaves an axis of length 1 in place of one that is summed over. What stands with
`=` has that value unless it is given.

{arrays}

## Functions of a law

They take a law as it stands right of `~`: `cdf(normal(0, 1), x)`. Its arguments and `x` may be
random. Laws of vectors have a density alone.

{of_laws}

## Distributions of numbers

They stand right of `~`, or as the first argument of such a function. No argument has a default. A
shape may follow, `normal(0, 1)[n, dk]`: so many independent values. An argument may be random.

{continuous}

## Distributions of whole numbers and of given values

{discrete}

## Distributions of vectors

{vectors}
"""


_CONSTANTS = {"inf": "infinity"}


def _listed(entries: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- `{name}`: {said}." for name, said in entries)


def _functions(functions: Iterable[Function]) -> str:
    return _listed((re.sub(r"e-0(?=\d)", "e-", one.signature), one.summary) for one in functions)


def _laws(laws: Iterable[Law]) -> str:
    return _listed((one.signature, one.summary) for one in laws)


def page() -> str:
    """The page as it should be."""
    single = [law for law in LAWS.values() if law.own_axes is None]
    return _TEXT.format(
        operators=_listed((one.written, one.summary) for one in OPERATORS.values()),
        constants=_listed(
            (name, _CONSTANTS.get(name, f"{one.value:.15g}")) for name, one in CONSTANTS.items()
        ),
        numbers=_functions(FUNCTIONS_OF_NUMBERS.values()),
        of_laws=_listed((one.usage, one.summary) for one in OF_LAWS.values()),
        arrays=_functions(FUNCTIONS_OF_ARRAYS.values()),
        continuous=_laws(law for law in single if not law.discrete),
        discrete=_laws(law for law in single if law.discrete),
        vectors=_laws(law for law in LAWS.values() if law.own_axes is not None),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
