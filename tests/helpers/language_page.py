"""The page on the language, made of what the vocabulary says of itself.

`python tests/helpers/language_page.py` writes it; read the difference before you commit it.
"""

from __future__ import annotations

from pathlib import Path

from dropcheck.report.reference import words

PAGE = Path(__file__).parents[2] / "docs" / "language.md"

_TEXT = """\
# The language

This page has a line for every name that a model or a statement may use. The
[README](../README.md#the-language-in-short) shows how they are used together, and the page on
[limits](limits.md) says what the language cannot express. Any other name is an error.

## Operators on the law

They stand only in statements, and are about the law of a quantity `u`, over all draws. Each may
have a condition: `E(u, given=event)`. If `u` is an array, so is the operator: it speaks of every
entry, operands and conditions are broadcast as in numpy, and one false entry refutes a statement.
Functions apply to the array: `sum(E(x))`, `E(x)[1]`, `max(Var(x)) < 2`. `P(any(x > 3))` is the
probability of one event. An entry picked at random is `x[pick]`, with `pick ~ discrete_uniform(0, n - 1)`.
`Cov(x)` and `Corr(x)` of one vector are the matrix of all pairs of its elements.

An event is 0 or 1 in every draw: a comparison, a Bernoulli draw, and what is made of events by `and`,
`or`, `not`, `where` and products. `P(x)` or `given=x` of a number is an error, and so is a condition
that no draw meets: write `P(x != 0)`, `d == 1 or d == 2`, `given=abs(x) < 0.01`.

{operators}

## Statements about laws

Each of them is a whole statement. [Another page](laws.md) explains them.

- `y ~ law(…)`: each entry of y has this law, whose arguments are fixed.
- `x ~ y`: each entry of x has the law of the same entry of y.
- `independent(x, y)` `independent(u, over=[0])`: the quantities, or the entries along these axes, do not depend on each other.

## Signs

- `+` `-` `*` `/`: element by element; a single number is combined with each element of an array, and
  a row with each row of a matrix.
- `**`: power; `-x**2` is `-(x**2)`.
- `//` `%`: the quotient rounded down, and the remainder, which has the sign of the divisor.
- `@`: product of matrices; of two vectors, the sum of the products of their elements.
- `==` `!=` `<` `<=` `>` `>=`: 1 if it is true, else 0; `a < b < c` is `a < b and b < c`.
- `and` `or` `not`: logic, element by element; any number except 0 is true.
- `x in {{a, b}}` `x not in {{a, b}}`: whether x equals one of them, to within rounding, as in
  `isclose`. `x in {{a, b}}` by itself is a claim: every element of every draw equals one of them.
- `a if c else b`: `a` if `c` is true, else `b`, element by element.
- `[a, b, c]`: an array with a new first axis.
- `x[i]` `x[i, j]` `x[1:3]` `x[::-1]`: by index, from 0; −1 is the last. An index must be
  fixed, except a single index: `mu[k]` with a random `k` is `take(mu, k)`.
- `x[:, None]` `x[..., 0]`: `None` makes a new axis of length 1; `...` stands for all axes that are not
  named.
- `x[[0, 2]]` `x[a > 1]`: several elements, and the elements for which a fixed condition is true. The
  condition may not be random: write `where(c, x, 0)`, which keeps the shape, or `E(x, given=c)`.
- `x.T`: x with its last two axes exchanged.

## Loops

A model may have loops: `for t in range(T):`, with the lines of each step indented below, for t = 0,
1, …, T − 1. `range(a, b)` and `range(a, b, step)` are as in Python. The number of steps is fixed, not
random. A loop may contain other loops.

    x = 0
    for t in range(T):
        w ~ normal(0, 1)
        x = 0.9 * x + w
        path = x

- A line with `~` draws again at each step.
- A name that stands before the loop is carried from step to step; after the loop it has its last value.
- A name that is new in the body is, after the loop, the array of its values: `path` has shape [T],
  and so has `w`.
- `t` is a number, so that you may write `y[t]` and `1 / (t + 1)`. After the loop it is undefined.
- With T = 0, carried names keep their values, and names that are new in the body are undefined.
- There is no `if`, `while` or `break`. `s = where(done, s, next)` keeps a state, and `first(event)` says
  at which step an event first happened.

The [cookbook](cookbook.md) has two dozen loops.

## Slots

A slot is a name for [code under test](code-under-test.md). If no code is bound to it, its own mathematics is used.

- `y = dropout(x, p)`: the result of the slot.
- `y ~ randint(n)[64]`: draws from a slot that is a sampler.
- `dropout.eval(x, p)`: its result in evaluation, not in training.
- `grad(dropout)(x, p)`: the gradient of the sum of its results with respect to its first argument, with the same random numbers.

## Constants

{constants}

A model may use the name `e` for another quantity, such as an error, if no line above uses the number.

## Functions of numbers

They work element by element; shapes combine as in numpy.

{numbers}

## Functions of the array that one draw is

As in numpy, a reduction such as `sum` is over all axes of one draw unless you name one, and a function such
as `cumsum`, which keeps the shape, goes along the last axis. Name several axes as `axis=[0, 1]`. Most of these functions need an array;
`concat`, `stack`, `reshape` and `tile` also take a single number. `keepdims=1` keeps each axis that is
summed over, with length 1. An argument with `=` has that value if you do not give it.

{arrays}

## Functions of a law

Their first argument is a law, written as after `~`: `cdf(normal(0, 1), x)`. The arguments of the law
and `x` may be random. A law of vectors has only a density.

{of_laws}

## Distributions of numbers

They stand after `~`, or as the first argument of a function of a law. No argument has a default. A
shape may follow: `normal(0, 1)[n, dk]` draws so many independent values. Arguments may be random.

{continuous}

## Distributions of whole numbers and of given values

{discrete}

## Distributions of vectors

{vectors}
"""


def page() -> str:
    """The page as it should be."""
    tables = {
        title: "\n".join(f"- `{word.written}`: {word.summary}." for word in group)
        for title, group in words().items()
    }
    return _TEXT.format(
        operators=tables["operators on the law"],
        constants=tables["constants"],
        numbers=tables["functions of numbers"],
        of_laws=tables["functions of a law"],
        arrays=tables["functions of the array that one draw is"],
        continuous=tables["distributions of numbers"],
        discrete=tables["distributions of whole numbers and of given values"],
        vectors=tables["distributions of vectors"],
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
