"""Slots: names in a claims file to which code may be bound, with mathematics to use without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dropcheck.claims.families import LINE
from dropcheck.claims.grids import PARAMETERS, items_at, mapping_at
from dropcheck.claims.keys import Key, KeyTable
from dropcheck.claims.kinds import Field, KeyKind, expression, items, text, word
from dropcheck.claims.nodes import Scalar, Tree
from dropcheck.claims.registry import Slot
from dropcheck.claims.source import Problems, Source

ELEMENTS = "independent"
_HINT = "a slot has a name: write 'dropout:', and indent its keys under it"
_OTHER = "a slot takes names: [x, p]"


def _read_taken(field: Field) -> str:
    name = text().read(field)
    assert isinstance(name, str)
    problem = PARAMETERS.problem(name)
    if problem is not None:
        field.report.add(field.node.start, *problem)
    return name


_TAKEN = KeyKind("a name", {"type": "string", **PARAMETERS.schema}, _read_taken)


def _check(tree: Tree, report: Problems) -> None:
    """Report keys that exclude each other, missing keys, and repeated names."""
    entries = tree.entries
    if "law" in entries:
        for key in ("gives", "gradient", "evaluation"):
            if key in entries:
                message = f"a slot that is drawn from a law has no {key!r}"
                hint = "keep 'law', or 'model' and 'gives'"
                report.add(entries[key].key_start, message, hint)
    elif "gives" not in entries:
        message = "a slot says what it gives"
        report.add(tree.start, message, "write 'gives: y', or 'law: normal(0, 1)' of a sampler")
    taken = [one.text for one in items_at(tree, "takes") if isinstance(one, Scalar)]
    for name in dict.fromkeys(taken):
        if taken.count(name) > 1:
            report.add(entries["takes"].key_start, f"{name!r} is taken twice", "name each once")


LEVEL = KeyTable(
    "slot",
    description="A name to which code may be bound outside of the file, and the mathematics that "
    "is used if no code is bound.",
    keys=(
        Key("title", LINE,
            description="What it is, in a few words.", examples=("Inverted dropout",)),
        Key("takes", items(_TAKEN, "a list of names"), examples=(["x", "p"],), required=_OTHER,
            description="Its arguments, in order. A sampler's code also gets `size` after these."),
        Key("model", expression("lines of text"),
            description="Its mathematics, line by line, as a function of its arguments.",
            examples=("m ~ bernoulli(1 - p)[shape(x)]\ny = m * x / (1 - p)\n",)),
        Key("gives", expression(), description="Its result: a name of its model, or an "
            "expression.", examples=("y",)),
        Key("law", expression(),
            description="For a sampler, in place of `gives`: the law of its numbers. A model "
            "draws from such a slot: `y ~ name(a, b)[n]`.", examples=("uniform(a, b)",)),
        Key("gradient", expression(), description="The gradient of the sum of its results with "
            "respect to its first argument, for `grad(name)(…)`.", examples=("m / (1 - p)",)),
        Key("evaluation", expression(), description="Its result in evaluation, not in training, "
            "for `name.eval(…)`.", examples=("x",)),
        Key("elements", word(ELEMENTS), description="The draws of one call are independent of "
            "each other; a claim may check this.", examples=(ELEMENTS,)),
    ),
    check=_check,
    hint=_HINT,
)  # fmt: skip


def slots_of(values: Mapping[str, Any], top: Tree, source: Source) -> dict[str, Slot]:
    """The slots of a file, from the values of its keys."""
    entries = mapping_at(top, "slots")
    slots: dict[str, Slot] = {}
    for name, one in (values.get("slots") or {}).items():
        own = dict.fromkeys(key.name for key in LEVEL.keys) | one
        slots[name] = Slot(
            name=name,
            independent=own.pop("elements") == ELEMENTS,
            location=source.location(entries[name].key_start),
            **own,
        )
    return slots
