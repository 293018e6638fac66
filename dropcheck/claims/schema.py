"""The schema of a claims file, format 1: which keys there are, and what each may hold.

pydantic finds every value of a wrong type at once; `schema_errors` puts what it finds into our own
words. What concerns several keys together is in `checks`.

`defaults` may set what says how to look at claims and where they come from: resolution or within,
document, section, tags, expect. What a claim states (`tolerance` among it) stands with the claim.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from dropcheck.claims.registry import Value as RegistryValue
from dropcheck.claims.values import ACCEPTED, format_value, parse_value, value_hint


def _predicate(says: str, hint: str | None = None) -> PydanticCustomError:
    """An error whose message is the name of the value and `says`."""
    return PydanticCustomError("predicate", "{says}", {"says": says, "hint": hint})


def _present(raw: object) -> object:
    """Refuse a key without a value: None is what stands where there is no key at all."""
    if raw is None:
        raise PydanticCustomError("absent", "has no value")
    return raw


def _not_blank(text: str) -> str:
    if not text.strip():
        raise _predicate("must not be empty")
    return text


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _value(raw: object) -> RegistryValue:
    """A parameter's value as the registry holds it: a finite float, or a law."""
    if isinstance(raw, bool):
        raise _predicate("must be a number or a law, and is a truth value", "write 1 or 0")
    if isinstance(raw, int | float):
        if not math.isfinite(raw):
            raise _predicate("must be a finite number", ACCEPTED)
        return float(raw) + 0.0  # -0.0 is 0.0: one number, one case
    if isinstance(raw, str):
        try:
            return parse_value(raw)
        except ValueError as error:
            text = repr(raw if len(raw) <= 40 else raw[:39] + "…")
            said = f"must be a number or a law, and {text} {error}"
            raise _predicate(said, value_hint(raw, error)) from None
    raise PydanticCustomError("value_type", "must be a number or a law")


def _as_list(raw: object) -> object:
    return [raw] if isinstance(raw, str | int | float) else raw


def _distinct(values: list[RegistryValue]) -> list[RegistryValue]:
    seen: set[RegistryValue] = set()
    for value in values:
        if value in seen:
            hint = "every value of a grid is a case of its own: take one out"
            raise _predicate(f"holds {format_value(value)} twice", hint)
        seen.add(value)
    return values


def _distinct_rows(rows: list[dict[str, RegistryValue]]) -> list[dict[str, RegistryValue]]:
    seen: dict[frozenset[tuple[str, RegistryValue]], int] = {}
    for number, row in enumerate(rows, start=1):
        first = seen.setdefault(frozenset(row.items()), number)
        if first != number:
            hint = "take one of the two out"
            raise _predicate(f"lists one case twice: items {first} and {number} are alike", hint)
    return rows


Text = Annotated[str, AfterValidator(_not_blank)]
Line = Annotated[Text, AfterValidator(_one_line)]
Value = Annotated[float | str, BeforeValidator(_value)]
Grid = Annotated[
    list[Value], Field(min_length=1), BeforeValidator(_as_list), AfterValidator(_distinct)
]
Row = Annotated[dict[str, Value], Field(min_length=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]
Expect = Literal["verified", "refuted"]
Cases = Annotated[list[Row], Field(min_length=1), AfterValidator(_distinct_rows)]
Given = BeforeValidator(_present)  # on what is None by default


class Model(BaseModel):
    """Nothing is converted, and no key is unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class DocumentModel(Model):
    """One entry under `documents`."""

    title: Line
    date: Annotated[Line | None, Given] = None
    url: Annotated[Line | None, Given] = None


class DefaultsModel(Model):
    """What stands for every claim that does not say otherwise."""

    resolution: Positive = 0.01
    within: Annotated[Positive | None, Given] = None
    expect: Expect = "verified"
    document: Annotated[Text | None, Given] = None
    section: Annotated[Line | None, Given] = None
    tags: list[Line] = []


class ClaimModel(Model):
    """One entry under `claims`; None where the defaults decide."""

    title: Line
    claim: Text
    model: Annotated[Text | None, Given] = None
    parameters: dict[str, Grid] = {}
    cases: Annotated[Cases | None, Given] = None
    requires: Annotated[list[Text], BeforeValidator(_as_list)] = []
    expect: Annotated[Expect | None, Given] = None
    tolerance: Annotated[Share | None, Given] = None
    resolution: Annotated[Positive | None, Given] = None
    within: Annotated[Positive | None, Given] = None
    document: Annotated[Text | None, Given] = None
    section: Annotated[Line | None, Given] = None
    note: Annotated[Text | None, Given] = None
    tags: Annotated[list[Line] | None, Given] = None


class FileModel(Model):
    """The whole file."""

    dropcheck: Literal[1]
    documents: dict[str, DocumentModel] = {}
    defaults: DefaultsModel = DefaultsModel()
    claims: Annotated[dict[str, ClaimModel], Field(min_length=1)]
