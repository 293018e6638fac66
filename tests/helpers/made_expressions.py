"""Expressions made at random over all functions of the vocabulary, with a model of small draws."""

from __future__ import annotations

import random
from collections.abc import Callable

from lowered import expressed, lowering

from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Value
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import FUNCTIONS

DRAWS = {
    "a": "choice([-1.5, 0.3, 2])", "b": "bernoulli(0.3)", "c": "rademacher()",
    "d": "discrete_uniform(-1, 1)", "g": "binomial(2, 0.3)", "f": "discrete_uniform(1, 3)",
    "v": "discrete_uniform(-1, 1)[2]", "w": "discrete_uniform(2, 3)[2]", "r": "rademacher()[2]",
    "m": "rademacher()[2, 2]", "t": "bernoulli(0.5)[3]", "k": "bernoulli(0.05)[2, 2]",
    "o": "discrete_uniform(10, 12)", "x": "choice([[1, -1], [3, 5]])",
    "s": "binomial(2, 0.2 + 0.3 * (c + 1))", "h": "bernoulli(0.1 + 0.2 * (r + 1))",
}  # fmt: skip
FIXED = ("2", "-0.5", "3", "[1, -2]", "[0.5, 4]", "[[1, 2], [-1, 0.5]]", "1e-3")
OPTIONS = {
    "axis": ("0", "-1", "[0, 1]", "1"), "keepdims": ("0", "1"), "ddof": ("0", "1"),
    "ord": ("1", "2", "3", "0.5", "0", "inf", "-inf", "-1"), "u": ("0.5", "0.2", "[0.25, 0.75]"),
    "n": ("3", "2"), "shape": ("[2, 2]", "-1", "[1, 2]"), "axes": ("[1, 0]", "[0, 1]", "[0]"),
    "k": ("-1", "0", "1"), "shift": ("1", "-1", "5"), "rtol": ("0.1",), "atol": ("0.1",),
}  # fmt: skip
SIGNS = (
    "{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} ** {}", "{} @ {}", "{} // {}", "{} % {}",
    "-{}", "{}.T", "{}[0]", "{}[1]", "[{}, {}]", "{} < {}", "{} if {} else {}", "{} and {}",
    "{} + {}", "{} - {}", "{} * {}", "{}**2", "{}**3", "{}**-1", "{}**0.5",
    "2**{}", "{}[0, 1]", "{}[-1:]", "{}[:, None]", "{}[..., 0]", "{}[[1, 0]]", "{}[[0, 0]]",
    "{}[::-1]", "{}[:1]",
)  # fmt: skip


def made(seed: int, lines: int = 6) -> list[Value]:
    """The values of the lines of a model made at random; those that are refused are left out."""
    chance = random.Random(seed)
    names = chance.sample(sorted(DRAWS), chance.randrange(1, 5))
    needed = [name for name, of in (("c", "s"), ("r", "h")) if of in names and name not in names]
    drawn = [*needed, *sorted(names, key=lambda name: name in "sh")]
    scope = lowering("; ".join(f"{name} ~ {DRAWS[name]}" for name in drawn))
    pool = list(drawn)
    found: list[Value] = []
    for _ in range(lines):
        for _ in range(20):
            text = _expression(chance, pool)
            try:
                value = expressed(scope, text)
            except DropcheckError:
                continue
            if value.random and value.kind == "computed":
                found.append(value)
                pool.append(f"({text})")
                break
    return found


def _expression(chance: random.Random, pool: list[str]) -> str:
    def operand() -> str:
        if chance.random() < 0.15:
            return chance.choice(FIXED)
        return chance.choice(pool[-4:] if chance.random() < 0.5 else pool)

    if chance.random() < 0.4:
        sign = chance.choice(SIGNS)
        return sign.format(*(operand() for _ in range(sign.count("{}"))))
    return _call(
        chance.choice(sorted(FUNCTIONS.values(), key=lambda one: one.name)), chance, operand
    )


def _call(function: Function, chance: random.Random, operand: Callable[[], str]) -> str:
    parts = []
    for parameter in function.parameters:
        if parameter.variadic:
            parts += [operand() for _ in range(chance.randrange(2))]
        elif not parameter.option:
            parts.append(operand())
        elif parameter.required or chance.random() < 0.3:
            parts.append(f"{parameter.name}={chance.choice(OPTIONS[parameter.name])}")
    return f"{function.name}({', '.join(parts)})"
