"""The keys of a claims file as pydantic models: what they hold and mean, and what is wrong.

The JSON Schema and the page of the documentation are made from the models. `registry_of` reports
everything that is wrong with the keys at once, each error at its place, or gives the registry.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import get_annotations
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    PlainValidator,
    StringConstraints,
    Tag,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic import Field as ModelField
from pydantic_core import PydanticCustomError, PydanticKnownError

from dropcheck.claims import values
from dropcheck.claims.registry import (
    MODEL_NAME,
    MOST_CASES,
    MOST_STATEMENTS,
    Claim,
    Document,
    Family,
    Registry,
    SharedModels,
    Slot,
    SourceText,
    Stated,
    Tolerance,
    truth_id,
)
from dropcheck.claims.values import LARGEST_NUMBER, WrittenNumber, format_value
from dropcheck.claims.yaml_places import (
    BROKEN,
    NOTHING,
    LineColumn,
    Node,
    Problems,
    Source,
    shown,
    source_text,
)
from dropcheck.errors import Location, nearest, suggestion
from dropcheck.results import ParameterValue, Passage

FORMAT = 1
SCHEMA_FILE = "claims.schema.json"
"""The name of the schema file, which the first line of a claims file refers to."""
SCHEMA_TITLE = "A claims file of dropcheck"
MOST_CASES_IN_ALL = 1_000_000  # in a file: their names alone take a gigabyte
Error = tuple[LineColumn, str, str | None]  # its place, what is wrong, and a hint


# ---- kinds of values -----------------------------------------------------------------------------


def _wrong(says: str, hint: str | None = None, kind: str = "wrong") -> PydanticCustomError:
    """The error for a wrong value: what its message says after the value's name."""
    return PydanticCustomError(kind, "", {"says": says, "hint": hint})


class Written(str):
    """Text of a file that knows its node."""

    __slots__ = ("node",)
    node: Node


@dataclass(frozen=True, slots=True)
class Or:
    """Says in the JSON Schema what else a kind of value takes."""

    other: Mapping[str, Any]

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """The schema of either."""
        return {"anyOf": [self.other, handler(core)]}


def _expression(value: Any, info: ValidationInfo) -> SourceText:
    """Text in the language: it is parsed later, and keeps its places in the file."""
    if not isinstance(value, Written):
        raise PydanticKnownError("string_type")
    if not value.strip():
        raise PydanticKnownError("string_pattern_mismatch", {"pattern": r"\S"})
    source: Any = info.context
    return source_text(value.node, source)


def _result(value: Any, info: ValidationInfo) -> SourceText | tuple[SourceText, ...]:
    """An expression; or a list, which is a shape: names and whole numbers."""
    if not isinstance(value, list):
        return _expression(value, info)
    return tuple(
        SourceText.plain(str(one)) if type(one) is int else _expression(one, info) for one in value
    )


def _year(value: Any) -> Any:
    return str(value) if type(value) is int and 1000 <= value <= 9999 else value


def _of_percentage(value: Any) -> Any:
    share = values.percentage(value) if isinstance(value, str) else None
    return value if share is None else share


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _format(value: Any) -> int:
    if type(value) is int and value == FORMAT:
        return FORMAT
    says = f"is the number of the format, {FORMAT},"
    raise _wrong(says, f"write 'dropcheck: {FORMAT}'", "holds")


_TEXT = {"type": "string", "pattern": r"\S"}
_ABOVE_0 = ModelField(gt=0, le=LARGEST_NUMBER, allow_inf_nan=False)

Text = Annotated[str, StringConstraints(pattern=r"\S")]
Line = Annotated[Text, AfterValidator(lambda text: " ".join(text.split()))]
Prose = Annotated[Text, AfterValidator(str.strip)]
Expression = Annotated[SourceText, PlainValidator(_expression), WithJsonSchema(_TEXT)]
_SHAPE = {"type": "array", "items": {"type": ["string", "integer"]}}
Result = Annotated[SourceText, PlainValidator(_result), WithJsonSchema({"anyOf": [_TEXT, _SHAPE]})]
AS_TUPLE = AfterValidator(tuple)
Expressions = Annotated[list[Expression], AS_TUPLE, BeforeValidator(_listed), Or(_TEXT)]
Date = Annotated[
    Line, BeforeValidator(_year), Or({"type": "integer", "minimum": 1000, "maximum": 9999})
]
Number = Annotated[float, _ABOVE_0]
Share = Annotated[
    Number,
    BeforeValidator(_of_percentage),
    Or({"type": "string", "pattern": r"^\s*[0-9][0-9.eE+\-*/()]*\s*%\s*$"}),
]
Proportion = Annotated[float, ModelField(gt=0, lt=1), AfterValidator(Tolerance)]
Format = Annotated[
    int, PlainValidator(_format), WithJsonSchema({"type": "integer", "const": FORMAT})
]


# ---- names ---------------------------------------------------------------------------------------

ID = r"[a-z0-9][a-z0-9-]*"
Problem = Callable[[str], str | None]


def _unless(pattern: str, says: str) -> Problem:
    return lambda name: None if re.fullmatch(pattern, name) else says


def _checked(problem: Problem, other: str, by: str) -> Callable[[str], str]:
    """Refuses names with a problem, and proposes one in which `by` stands for `other`."""

    def check(name: str) -> str:
        if (says := problem(name)) is None:
            return name
        fixed = re.sub(other, by, unicodedata.normalize("NFKC", name).strip()).strip(by)
        ways = (fixed, fixed.lower(), f"{fixed}_")
        hint = next((f"call it {one!r}" for one in ways if problem(one) is None), None)
        before, equals, after = name.partition("=")
        hint = f"write {before.strip()}: {after.strip()}" if equals else hint
        quoted = f"{name[: values.LONGEST_NAME]!r} {says}"
        raise _wrong(quoted, hint or "give it another name", "name")

    return check


_OF_IDS = "ids are lower-case letters, digits and hyphens"
_NO_ID = _unless(ID, f"is not a claim id: {_OF_IDS}")
_NO_MODEL = _unless(MODEL_NAME, "is not a model's name: it is letters, digits, '_' and hyphens")
_ALL = "is no claim id: 'run all' means every claim"
_BETWEEN = r"[^a-zA-Z0-9]+"
_parameter = _checked(values.name_problem, r"\W+", "_")
_part = _checked(_NO_ID, _BETWEEN, "-")
_id = _checked(lambda name: _ALL if name == "all" else _NO_ID(name), _BETWEEN, "-")
_model_name = _checked(_NO_MODEL, r"[^\w-]+", "-")
_ID_SCHEMA = WithJsonSchema({"type": "string", "pattern": f"^{ID}$"})
PartName = Annotated[str, AfterValidator(_part), _ID_SCHEMA]
Id = Annotated[str, AfterValidator(_id), _ID_SCHEMA]
ModelName = Annotated[str, AfterValidator(_model_name)]
Name = Annotated[str, AfterValidator(_parameter)]


# ---- the values of parameters --------------------------------------------------------------------


def _item(data: Any) -> tuple[ParameterValue, ...]:
    """The values of an item of a grid."""
    try:
        return values.values_of(data)
    except values.WrongValueError as error:
        told = {"says": str(error), "hint": error.hint, "path": error.path}
        raise PydanticCustomError("wrong", "", told) from None


def _single(several: tuple[ParameterValue, ...]) -> ParameterValue:
    if len(several) > 1:
        hint = "a range belongs under 'parameters'; a case has one value of each"
        raise _wrong("is a range, which has several values", hint)
    return several[0]


def _each_once(items: Iterable[Any], written: Callable[[Any], str], hint: str) -> tuple[Any, ...]:
    counts = Counter(items)
    if len(counts) < counts.total():
        twice = next(one for one, count in counts.items() if count > 1)
        raise _wrong(f"holds {written(twice)} twice", hint)
    return tuple(counts)


def _grid(items: list[tuple[ParameterValue, ...]]) -> tuple[ParameterValue, ...]:
    """The values of a parameter."""
    hint = "every value of a grid is a case of its own: take one out"
    return _each_once(itertools.chain.from_iterable(items), format_value, hint)


def _distinct(cases: list[dict[str, ParameterValue]]) -> tuple[dict[str, ParameterValue], ...]:
    first: dict[frozenset[tuple[str, ParameterValue]], int] = {}
    for index, case in enumerate(cases, start=1):
        earlier = first.setdefault(frozenset(case.items()), index)
        if earlier != index:
            says = f"lists one case twice: items {earlier} and {index} are alike"
            raise _wrong(says, "take one of the two out")
    return tuple(cases)


VALUE_IN_FULL = (
    "a number such as 512, 1e6 or 1/3, a list of numbers as a vector, or a law as text, such as "
    "normal(0, 1)"
)
_ONE_VALUE = {"type": ["number", "string"]}
_VECTOR = {"type": "array", "minItems": 1, "maxItems": values.MOST_ENTRIES}
_EITHER = WithJsonSchema({"anyOf": [_ONE_VALUE, _VECTOR]})
_SOME = ModelField(min_length=1, json_schema_extra={"uniqueItems": True})

Item = Annotated[Any, PlainValidator(_item), _EITHER]
Value = Annotated[Item, AfterValidator(_single)]
Items = Annotated[list[Item], _SOME, BeforeValidator(_listed), AfterValidator(_grid)]
Grid = Annotated[Items, Or(_ONE_VALUE)]
# names are looked at once for all cases, not in each
Case = Annotated[dict[str, Value], ModelField(min_length=1)]
Cases = Annotated[list[Case], _SOME, AfterValidator(_distinct)]


# ---- the keys ------------------------------------------------------------------------------------

ABSENT: Any = None  # what a key has that is left out
OR_GIVE_ONE = "leave it out, or give it one"
NOT_EMPTY = "leave it out, or put something in"
MAPPING = "a mapping of names to values"
_ID_HINT = "a claim has an id: write 'my-claim:', and indent 'title: …' and 'claim: …' under it"
_PASSAGE_HINT = "write '- {document: …, section: …}'"
_CASE_HINT = "a case names its parameters: '- {p: 0.1, n: 10}'"
_ABSOLUTE = "{absolute: 0.05}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """What is said of a key beside its description."""

    holds: str | None = None  # the kind of its value, where the model does not say it
    hint: str | None = None  # for a value of another kind
    required: str | None = None  # what to write if it is missing
    empty: str = NOT_EMPTY  # for an empty list or mapping
    percentage: str = "write {}"  # for a percentage in place of a number


def key(description: str, *examples: Any, default: Any = ..., **says: str) -> Any:
    """A key: its meaning, examples, its default, and what messages say of it (`Says`)."""
    extra: Any = {"says": Says(**says)}
    default = ABSENT if default is ... and "required" not in says else default
    return ModelField(
        default, description=description, examples=[*examples], json_schema_extra=extra
    )


def says_of(field: Any) -> Says:
    """What messages say of a field of a model."""
    says = (field.json_schema_extra or {}).get("says") if field is not None else None
    return says if isinstance(says, Says) else Says()


class Keys(BaseModel):
    """A mapping of known keys; a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    apart: ClassVar[tuple[tuple[str, str, str], ...]] = ()  # two keys of which one, and a hint
    misplaced: ClassVar[Mapping[str, str]] = {}  # keys of another mapping, and what to do with them
    one_of: ClassVar[tuple[str, ...]] = ()  # keys of which one is required

    @classmethod
    def names(cls) -> list[str]:
        """The keys, its own first."""
        own = [one for base in cls.__mro__ for one in get_annotations(base)]
        return [one for one in dict.fromkeys(own) if one in cls.model_fields]

    def given(self) -> dict[str, Any]:
        """The values of the keys that are given."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class ToleranceKeys(Keys):
    """A tolerance that is no share of what is claimed."""

    absolute: Number = key(
        "Part of the claim: `L == R` give or take this number.", 0.05,
        required=f"write 'tolerance: {_ABSOLUTE}'",
    )  # fmt: skip


Absolute = Annotated[ToleranceKeys, AfterValidator(lambda keys: Tolerance(keys.absolute, True))]


class PassageKeys(Keys):
    """A passage that a claim comes from."""

    document: Text = key(
        "One of the keys under `documents`.", "notes", required="name it, 'document: …'"
    )
    section: Line = key("Where in the document it stands.", "Scaling")


OnePassage = Annotated[
    PassageKeys, AfterValidator(lambda keys: Passage(keys.document, keys.section))
]


class DefaultKeys(Keys):
    """Values for every claim that does not have its own."""

    expect: Literal["verified", "refuted"] = key(
        "The verdict with which the claim passes; a claim that is known to be false expects "
        "`refuted`.", "refuted", default="verified",
    )  # fmt: skip
    resolution: Share = key(
        "How small an error must be found, relative to the claim's scale: a number such as 0.01, "
        "or a percentage; give this or `within`.", 0.01, "1%", default=0.01,
        holds="a number greater than 0, or a percentage such as 1%",
    )  # fmt: skip
    within: Number = key(
        "How small an error must be found, as a number; give this or `resolution`.", 0.005,
        percentage="it is absolute; for a share of the scale write 'resolution: {}'",
    )  # fmt: skip
    document: Text = key("Where the claim comes from: one of the keys under `documents`.", "notes")
    section: Line = key("Where in the document it stands.", "Scaling")
    tags: Annotated[list[Line], AS_TUPLE] = key(
        "Words that select claims: `dropcheck run --tag WORD`.", ["attention", "scaling"],
        default=(),
    )  # fmt: skip

    apart: ClassVar[tuple[tuple[str, str, str], ...]] = ((
        "resolution", "within",
        "keep one: 'resolution' is relative to the claim's scale, 'within' is absolute",
    ),)  # fmt: skip


class _Stated(DefaultKeys):
    # Keys that each statement of a claim may have; a claim with one statement has them too.
    tolerance: Annotated[
        Annotated[Proportion, Tag("<share>")] | Annotated[Absolute, Tag("<keys>")],
        Discriminator(lambda data: "<keys>" if isinstance(data, dict) else "<share>"),
    ] = key(
        "Part of the claim: in `L == R`, `L` may be off by this share of `R`, or, with "
        "`{absolute: 0.05}`, by this number.", 0.005, {"absolute": 0.05},
        holds=f"a share greater than 0 and less than 1, or {_ABSOLUTE}",
        hint=f"0.05 is 'within 5%'; a number of its own is 'tolerance: {_ABSOLUTE}'",
    )  # fmt: skip
    asymptotic: bool = key(
        "Whether the limit theorem judges the claim where the model does not bound what is "
        "averaged; otherwise it is then undecided.", True, default=False,
    )  # fmt: skip
    says: Prose = key(
        "What the document says, in its own words.", "The variance grows with the number of terms."
    )
    note: Prose = key(
        "Why the claim holds, or why it fails.", "The mask is 0 or 1, so its square is itself."
    )
    truth: Text = key(
        "For a claim that expects `refuted`: the id of the claim that says what is true instead; "
        "for one of several statements, the name of that statement.", "variance",
    )  # fmt: skip
    sources: Annotated[list[OnePassage], AS_TUPLE] = key(
        "The passages that the claim comes from, in place of `document` and `section`, if there "
        "are several.", [{"document": "notes", "section": "Scaling"}],
        default=(), holds="a list of mappings", hint=_PASSAGE_HINT,
    )  # fmt: skip

    apart = (
        *DefaultKeys.apart,
        *(("sources", one, "list them all under 'sources'") for one in ("document", "section")),
    )


_CLAIM_HINT = (
    "a claim states something, such as 'claim: E(x) == 3'; several statements of one model stand "
    "under 'claims', a name for each"
)


class StatementKeys(_Stated):
    """One of several statements of the same model."""

    claim: Expression = key(
        "The statement, as in a claim that has one.", "Std(y) == Std(x)",
        required="write the statement, such as 'claim: E(y) == E(x)'",
        holds="a statement as text", hint=_CLAIM_HINT,
    )  # fmt: skip
    title: Line = key(
        "What it says, in one sentence; if left out, the title of the whole claim, with the "
        "statement's name.", "The deviation is kept too",
    )  # fmt: skip

    misplaced = dict.fromkeys(
        ("model", "parameters", "cases", "requires"),
        "the statements of a claim share it: give it to the claim",
    )


Statement = Annotated[
    StatementKeys,
    BeforeValidator(lambda data: data if isinstance(data, dict) else {"claim": data}),
    Or(_TEXT),
]


class ClaimKeys(_Stated):
    """A claim: a title, a statement, and the model that the statement is about."""

    title: Line = key(
        "What the claim says, in one sentence.", "The mean of dropout's output is its input's",
        required="write what it says in one sentence, 'title: …'",
    )  # fmt: skip
    claim: Expression = key(
        "The statement: `L == R`, an inequality, a range `a <= L <= b`, or one about laws: "
        "`y ~ normal(0, 1)`, `x ~ y`, `independent(x, y)`. Elsewhere random names stand inside an "
        "operator, such as `E(…)`, `Var(…)` or `P(…)`.",
        "Var(q @ k) == dk", "0.405 <= Std(y) / Std(x) - 1 <= 0.415", "P(y == 0, given=x > 0) <= p",
        default=ABSENT, required="write the statement, such as 'claim: Var(q @ k) == dk'",
        holds="a statement as text", hint=_CLAIM_HINT,
    )  # fmt: skip
    claims: Annotated[dict[PartName, Statement], ModelField(min_length=1)] = key(
        "In place of `claim`, several statements that share their draws: a name for each, with its "
        "text or a mapping of its keys.",
        {"mean": "E(y) == E(x)", "sd": {"claim": "Std(y) == Std(x)", "expect": "refuted"}},
        hint="write 'name: statement' on a line for each", empty="write at least one statement",
    )  # fmt: skip
    model: Expression = key(
        "The draws and computations, line by line: `name ~ law` draws, `name = expression` "
        "computes, and brackets after a law are the shape of one draw; the name of a shared model "
        "stands for its lines. Needed if anything in the claim is random.",
        "q ~ normal(0, 1)[dk]\nk ~ normal(0, 1)[dk]\n", holds="lines of text",
        hint="write 'model: |', and below it, indented, a line a name: x ~ normal(0, 1)",
    )  # fmt: skip
    parameters: dict[Name, Grid] = key(
        f"A value for each name: {VALUE_IN_FULL}. A list, or a range such as `0.1..0.9 by 0.1` or "
        "`16..1024 by x2`, makes one case for each value, and several are crossed. A list in a "
        "list is a vector: `[[0.5, -1, 3]]`.",
        {"dk": [16, 64, 256]}, {"p": 0.5, "law": ["normal(0, 1)", "rademacher()"]},
        default={}, hint="write 'name: value'",
    )  # fmt: skip
    cases: Cases = key(
        "The cases one by one, in place of crossed lists: each gives a value to the same "
        "parameters.", [{"p": 0.1, "n": 10}, {"p": 0.5, "n": 40}],
        holds="a list of cases, each a mapping of parameters to values", hint=_CASE_HINT,
    )  # fmt: skip
    requires: Expressions = key(
        "A condition on the parameters, or a list of conditions; a case that breaks one is an "
        "error.", "0 <= p < 1", ["0 <= p < 1", "n >= 1"],
        default=(), holds="a condition as text, or a list of conditions",
    )  # fmt: skip

    apart = (
        *_Stated.apart,
        *(
            ("claims", one, "give it to each of the 'claims' that it concerns")
            for one in ("claim", "tolerance", "truth")
        ),
    )
    one_of = ("claim", "claims")


_OF_A_CLAIM = [name for name in ClaimKeys.names() if name != "claims"]
DefaultKeys.misplaced = {
    name: "it belongs to each claim: give it there"
    for name in _OF_A_CLAIM
    if name not in DefaultKeys.model_fields
}


class DocumentKeys(Keys):
    """A document that claims come from."""

    title: Line = key(
        "The title of the document.", "Notes on attention", required="write its title, 'title: …'"
    )
    date: Date = key("When it was written, in any form.", "2024-02-13", holds="text")
    url: Line = key("Where it is found.", "https://example.org/notes")


class SlotKeys(Keys):
    """A name to which code may be bound outside of the file, and the mathematics used otherwise."""

    title: Line = key("What it is, in a few words.", "Inverted dropout")
    takes: Annotated[
        list[Name], AfterValidator(lambda names: _each_once(names, repr, "name each once"))
    ] = key(
        "Its arguments, in order. A sampler's code also gets `size` after these.", ["x", "p"],
        required="a slot takes names: [x, p]", holds="a list of names",
    )  # fmt: skip
    model: Expression = key(
        "Its mathematics, line by line, as a function of its arguments.",
        "m ~ bernoulli(1 - p)[shape(x)]\ny = m * x / (1 - p)\n", holds="lines of text",
    )  # fmt: skip
    gives: Result = key(
        "Its result: a name of its model, or an expression; or a list, its shape alone: "
        "`[shape(x)]`.", "y",
        default=ABSENT, required="write 'gives: y', or 'law: normal(0, 1)' of a sampler",
    )  # fmt: skip
    law: Expression = key(
        "For a sampler, in place of `gives`: the law of its numbers. A model draws from such a "
        "slot: `y ~ name(a, b)[n]`.", "uniform(a, b)",
    )  # fmt: skip
    gradient: Expression = key(
        "The gradient of the sum of its results with respect to its first argument, for "
        "`grad(name)(…)`.", "m / (1 - p)",
    )  # fmt: skip
    evaluation: Expression = key(
        "Its result in evaluation, not in training, for `name.eval(…)`.", "x"
    )
    elements: Literal["independent"] = key(
        "The draws of one call are independent of each other; a claim may check this.",
        "independent",
    )  # fmt: skip

    apart = tuple(
        ("law", one, "keep 'law', or 'model' and 'gives'")
        for one in ("gives", "gradient", "evaluation")
    )
    one_of = ("gives", "law")


class FileKeys(Keys):
    """Mathematical claims, each of which dropcheck checks by simulation."""

    dropcheck: Format = key(
        "The version of the format.", FORMAT, holds=str(FORMAT),
        required=f"make 'dropcheck: {FORMAT}' its first line: the number of the format",
    )  # fmt: skip
    documents: dict[str, DocumentKeys] = key(
        "The documents that claims come from, each with a key.",
        {"notes": {"title": "Notes on attention", "date": "2024-02-13"}},
        default={}, hint="write 'key:', and indent its title under it",
    )  # fmt: skip
    models: dict[ModelName, Expression] = key(
        "Models that several claims share: a name, and lines as under `model`. A model may name "
        "those above it.", {"dropout": "x ~ normal(0, 1)\nm ~ bernoulli(1 - p)\n"},
        default={}, holds="lines of text", hint="write 'name: |', and indent its lines under it",
    )  # fmt: skip
    slots: dict[Name, SlotKeys] = key(
        "Names to which the person who runs the file may bind code, each with the mathematics "
        "that is used if no code is bound. The file itself names no code.",
        {"scaled": {"takes": ["x", "c"], "gives": "c * x"}},
        default={}, hint="a slot has a name: write 'dropout:', and indent its keys under it",
    )  # fmt: skip
    defaults: DefaultKeys = key(
        "Values of keys for each claim that does not have its own.", {"resolution": 0.01},
    )  # fmt: skip
    claims: Annotated[dict[Id, ClaimKeys], ModelField(min_length=1)] = key(
        "The claims, each with a key of lower-case letters, digits and hyphens.",
        {"mean-kept": {"title": "A fair coin", "claim": "P(x == 1) == 0.5"}},
        required="begin a line with 'claims:', and indent the claims under it",
        hint=_ID_HINT, empty="write at least one claim",
    )  # fmt: skip

    misplaced = dict.fromkeys(
        (name for name in _OF_A_CLAIM if name != "claims"),
        "it is a key of a claim: indent it under the claim's id",
    )


LEVELS: tuple[type[Keys], ...] = (
    FileKeys, DocumentKeys, SlotKeys, DefaultKeys, ClaimKeys, StatementKeys, PassageKeys,
    ToleranceKeys,
)  # fmt: skip


def claims_schema() -> dict[str, Any]:
    """The JSON Schema (draft-07) of a claims file, for editors and other tools.

    It describes the form of a file. Errors that only the language knows (undefined names, unknown
    laws) are left to `check`.

    >>> claims_schema()["required"]
    ['dropcheck', 'claims']
    """
    made = FileKeys.model_json_schema(ref_template="#/definitions/{model}")
    definitions = made.pop("$defs")
    for model in LEVELS:
        of = definitions.get(model.__name__, made)
        apart = [{"required": [one, other]} for one, other, _ in model.apart]
        of |= {"not": {"anyOf": apart}} if apart else {}
        of |= {"anyOf": [{"required": [one]} for one in model.one_of]} if model.one_of else {}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"{SCHEMA_TITLE}, format {FORMAT}",
        **_tidy({**made, "definitions": definitions}),
    }


def _tidy(schema: Any) -> Any:
    """A schema without what pydantic adds, and what messages say."""
    if isinstance(schema, list):
        return [_tidy(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for name, one in schema.items():
        if name == "properties":  # whose names are keys of a file
            kept[name] = {key: _tidy(inner) for key, inner in one.items()}
        elif name not in ("says", "title") and (name != "default" or one):
            kept[name] = one if name in ("examples", "const", "enum") else _tidy(one)
    for pattern, inner in kept.pop("patternProperties", {}).items():
        kept["propertyNames"] = {"pattern": pattern, **kept.get("propertyNames", {})}
        kept["additionalProperties"] = inner
    return kept


# ---- what is wrong with the keys -----------------------------------------------------------------

_HOLDS = {  # by the type of pydantic's error; most others are about numbers
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": MAPPING,
    "model_type": MAPPING,
}
_CALLED = {2: {"claims": "claim ", "documents": "document ", "slots": "slot "},
           4: {"claims": "statement "}}  # fmt: skip
_Path = tuple[str | int, ...]


def _called(path: _Path) -> str:
    """The name of a value in messages.

    >>> _called(("claims", "a")), _called(("claims", "a", "tags", 0))
    ("claim 'a'", "an item of 'tags'")
    """
    if not path:
        return "the file"
    *above, last = path
    if isinstance(last, str):
        return f"{_CALLED.get(len(path), {}).get(str(above[-1:][0]) if above else '', '')}{last!r}"
    vector = isinstance(above[-1], int) or "cases" in above[:-1]
    return f"an {'entry' if vector else 'item'} of {_called((*above,))}"


def _sentence(error: Any, top: Node) -> Error | None:
    """One of pydantic's errors at its place, in our words; None if it is reported already."""
    kind, loc, said = error["type"], error["loc"], error.get("ctx", {})
    node, field, inside, entry = top, None, False, False
    path: _Path = ()
    model: type[Keys] | None = FileKeys
    owner: type[Keys] = FileKeys  # of the last part
    for part in (
        *loc,
        *said.get("path", ()),
    ):  # some parts are no place: alternatives of a union, a list that is left out
        owner = owner if model is None else model
        if (below := node.below(part)) is not None:
            node, path = below, (*path, part)
        entry = inside
        if inside:  # a name or an index
            inside = False
        elif model is not None and part in model.model_fields:
            field = model.model_fields[part]
            inside = get_origin(field.annotation) in (dict, list)
            model = _model_in(field.annotation)
    says, name, text = says_of(field), _called(path), node.text[:40]
    if node.value is BROKEN:
        return None
    hint: str | None
    if kind == "extra_forbidden":
        known = owner.names()
        hint = owner.misplaced.get(loc[-1], "the keys here are " + ", ".join(known))
        message = f"{_called(path[:-1])} has no key {loc[-1]!r}"
        return node.begin, message, suggestion(loc[-1], known) or hint
    if kind == "missing":  # the hint at a misspelled key says it
        known_missing = loc[-1] in _meant(node, owner)
        return None if known_missing else (node.begin, f"{name} lacks {loc[-1]!r}", says.required)
    if kind == "name":
        at = node.key if loc[-1] == "[key]" else None
        return at or node.start, said["says"], said["hint"]
    if node.value is None:
        return node.place, f"{name} has no value", (not entry and says.required) or OR_GIVE_ONE
    predicates = {
        "wrong": (said.get("says"), said.get("hint")),
        "holds": (f"{said.get('says')} and is {shown(node)}", said.get("hint")),
        "string_pattern_mismatch": ("must not be empty", None),
        "too_short": ("is empty", NOT_EMPTY if entry else says.empty),
    }
    if kind in predicates:
        predicate, hint = predicates[kind]
        return node.place, f"{name} {predicate}", hint
    holds, hint = says.holds or _HOLDS.get(kind, "a number greater than 0"), says.hint
    if kind == "literal_error":
        holds = said["expected"]
        hint = suggestion(node.text, re.findall("'(.+?)'", holds))
    elif kind == "string_type":
        hint = hint or (f"put it in quotes: '{text}'" if text else None)
        if node.style in ("{", "["):
            quotes = f"a text that begins with {node.style!r} needs quotes"
            hint = f"{quotes}; {hint}" if hint else quotes
    elif kind in ("list_type", "dict_type", "model_type"):
        holds = holds if kind == "list_type" else MAPPING
        hint = hint or (f"write [{text}]" if text else None)
    elif kind != "bool_type":
        hint = _number_hint(node.value, says) or (hint if kind == "less_than" else None)
    return node.place, f"{name} must be {holds}, and is {shown(node)}", hint


def _model_in(annotation: Any) -> type[Keys] | None:
    """The model that an annotation contains, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, Keys):
        return annotation
    inner = (_model_in(one) for one in get_args(annotation))
    return next((one for one in inner if one is not None), None)


def _meant(node: Node, model: type[Keys]) -> set[str | None]:
    """The keys that unknown names of a mapping resemble."""
    known = model.names()
    unknown = itertools.islice((one for one in node.entries if one not in known), 100)
    return {nearest(one, known) for one in unknown}


def _number_hint(value: Any, says: Says) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        return f"write {format_value(values.parse_number(value))}, without quotes"
    except ValueError:
        share = values.percentage(value)
    return says.percentage.format(format_value(share)) if share else None


# ---- rules on several keys -----------------------------------------------------------------------


def _levels(top: Node) -> Iterator[tuple[str, Node, type[Keys]]]:
    """The mappings that may share keys, with their names in messages."""
    yield "'defaults'", top.at("defaults"), DefaultKeys
    for name, slot in top.at("slots").entries.items():
        yield f"slot {name!r}", slot, SlotKeys
    for name, claim in top.at("claims").entries.items():
        yield f"claim {name!r}", claim, ClaimKeys
        for part, statement in claim.at("claims").entries.items():
            yield f"statement {part!r}", statement, StatementKeys


def _broken_rules(top: Node, source: Source) -> Iterator[Error]:
    """What is wrong with keys beside each other, and with references to other entries."""
    for name, node, model in _levels(top):
        for one, other, hint in model.apart:
            if {one, other} <= node.entries.keys():
                later = max(node.at(one).begin, node.at(other).begin)
                yield later, f"{name} gives both {one!r} and {other!r}", hint
        lacking = model.one_of and not {*model.one_of} & {*node.entries, *_meant(node, model)}
        if lacking and isinstance(node.value, dict):
            first = model.one_of[0]
            required = says_of(model.model_fields[first]).required
            yield node.begin, f"{name} lacks {first!r}", required
    for claim in top.at("claims").entries.values():
        yield from _of_cases(claim, source)
        for statement in claim.at("claims").entries.values():
            section, apart = statement.at("section"), "document" not in statement.entries
            if apart and section is not NOTHING and len(claim.at("sources").items) > 1:
                message = "it is not known which document this section is in"
                yield section.begin, message, "name it, 'document: …'"
    documents = top.at("documents").entries
    for _, node, _ in _levels(top):
        for named in (node, *node.at("sources").items):
            key, known = named.at("document"), [*documents]
            if isinstance(key.value, str) and key.value.strip() and key.value not in documents:
                names = "the documents are " + ", ".join(known[:10])
                hint = names if known else "list it under 'documents', with its title"
                hint = suggestion(key.value, known) or hint
                yield key.start, f"there is no document {key.value!r}", hint


def _of_cases(claim: Node, source: Source) -> Iterator[Error]:
    """Cases of other names than others, or of names that 'parameters' has too."""
    cases = [one for one in claim.at("cases").items if isinstance(one.value, dict)]
    counts = Counter(name for case in cases for name in case.entries)
    for name, one in {k: v for case in reversed(cases) for k, v in case.entries.items()}.items():
        try:
            _parameter(name)
        except PydanticCustomError as error:
            # `_parameter` always gives a context
            yield one.begin, *(error.context or {}).values()
        if grid := claim.at("parameters").entries.get(name):
            line = source.line_of(grid.begin)
            message = f"{name!r} is given under 'cases' and under 'parameters' ({line})"
            yield one.begin, message, "keep one of the two"
    for case in cases:
        if len(case.entries) in (0, len(counts)):  # an empty one is reported as empty
            continue
        lacking = [*itertools.islice((one for one in counts if one not in case.entries), 6)]
        given = ", ".join(map(repr, lacking[:5])) + (", …" if len(lacking) > 5 else "")
        message = f"this case gives no value for {given}, which another case has"
        slips = (suggestion(one, lacking) for one in case.entries if counts[one] == 1)
        hint = next(filter(None, slips), "every case names the same parameters")
        yield case.start, message, hint


def _truths(claims: Mapping[str, Claim], top: Node) -> Iterator[Error]:
    """A 'truth' that is not a claim or is false, or that a true claim names."""
    for name, claim in claims.items():
        if (meant := claim.truth) is None:
            continue
        node = top.at("claims").at(claim.entry)
        node = node if claim.family is None else node.at("claims").at(name[len(claim.entry) + 1 :])
        node = node.at("truth")
        if claim.expect == "verified":
            hint: str | None = "add 'expect: refuted', or take 'truth' out"
            yield node.start, "'truth' belongs to a claim that is false", hint
        elif meant not in claims:
            inside = [one for one in claims if one.startswith(f"{meant}.")]
            own = f"{claim.entry}."
            beside = [one.removeprefix(own) for one in claims if one.startswith(own)]
            hint = "name one of its statements: " + ", ".join(inside[:5])
            hint = hint if inside else suggestion(node.value, [*beside, *claims])
            yield node.start, f"there is no claim {node.value!r}", hint
        elif claims[meant].expect == "refuted":
            yield node.start, f"{meant} is false itself", "name the claim that holds"


def _too_many(top: Node) -> Iterator[Error]:
    """More cases or statements than a claim or a file may have."""
    counts, told = [], False

    def length(node: Node) -> int:  # of a grid, none of whose values is made
        if node.items:
            return sum(1 if isinstance(one.value, list) else length(one) for one in node.items)
        return values.count_values(node.value) if isinstance(node.value, str) else 1

    for claim in top.at("claims").entries.values():
        grid, cases, parts = (claim.at(name) for name in ("parameters", "cases", "claims"))
        sizes = [max(1, len(cases.items)), *map(length, grid.entries.values())]
        counts.append(math.prod(sizes) * max(1, len(parts.entries)))
        share = "make several claims of it: they may share its model by a name under 'models'"
        for node, what, hint in (
            (parts, "statements", share),
            (grid, "parameters", "a vector holds many numbers: [[0.5, -1, 3]]"),
        ):
            if len(node.entries) > MOST_STATEMENTS:
                message = f"there are {len(node.entries):,} {what}, and the most of one claim is "
                yield node.begin, f"{message}{MOST_STATEMENTS:,}", hint
                told = True
        if (count := math.prod(sizes)) > MOST_CASES:
            factors = " × ".join(str(size) for size in sizes if size > 1)
            message = f"the grid has {count:,} cases ({factors}), and the most is {MOST_CASES:,}"
            hint = "use fewer values of each, or list the points that matter under 'cases'"
            yield (grid if grid.entries else cases).begin, message, hint
            told = True
    if sum(counts) > MOST_CASES_IN_ALL and not told:
        message = f"the file has {sum(counts):,} cases, and the most is {MOST_CASES_IN_ALL:,}"
        yield top.at("claims").begin, message, "split it into several"


# ---- from the keys to a registry -----------------------------------------------------------------


def top_level(root: Node | None, report: Problems) -> Node:
    """The root mapping of a claims file.

    Raises:
        DropcheckError: the file is empty, or is not a mapping.
    """
    if root is not None and isinstance(root.value, dict):
        return root
    hint = f"a claims file begins with 'dropcheck: {FORMAT}', and 'claims:' below"
    if root is None or root.value is None:
        bare = "".join(report.source.lines).strip()
        message = "the file holds only comments" if "#" in bare else "the file is empty"
        report.add((0, 0), message, hint)
    elif root.value is not BROKEN:
        message = f"a claims file is a mapping of names to values, and this is {shown(root)}"
        report.add(root.start, message, hint)
    raise report.error()


def _plain(node: Node) -> Any:
    """The data of a node, in which a text knows its node and a decimal its digits."""
    value = node.value
    if isinstance(value, str):
        written = Written(value)
        written.node = node
        return written
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    decimal = isinstance(value, float) and math.isfinite(value)
    return WrittenNumber(node.text) if decimal else value


def registry_of(top: Node, report: Problems) -> Registry:
    """The registry of a mapping with the keys of a claims file.

    Raises:
        DropcheckError: all errors, including those that were reported before.
    """
    number = top.at("dropcheck")
    if type(number.value) is int and number.value != FORMAT:
        message = f"format {shown(number)} is not known: this version reads format {FORMAT}"
        report.add(number.start, message, "a newer dropcheck may read it")
        raise report.error()
    many = [*_too_many(top)]
    for error in many:
        report.add(*error)
    if many:  # values that are too many are not read
        raise report.error()
    for error in _broken_rules(top, report.source):
        report.add(*error)
    try:
        file = FileKeys.model_validate(_plain(top), context=report.source)
    except ValidationError as invalid:
        for one in invalid.errors(include_url=False, include_input=False):
            if said := _sentence(one, top):
                report.add(*said)
        raise report.error() from None
    if report:
        raise report.error()
    locate = report.source.location
    places = {name: locate(one.begin) for name, one in top.at("models").entries.items()}
    shared = SharedModels(file.models, places)
    claims: dict[str, Claim] = {}
    slots: dict[str, Slot] = {}
    for name, slot in file.slots.items():
        own: dict[str, Any] = dict.fromkeys(SlotKeys.model_fields) | slot.given()
        own["independent"] = own.pop("elements") is not None
        own["shape"] = own["gives"] if isinstance(own["gives"], tuple) else None
        own["gives"] = None if own["shape"] is not None else own["gives"]
        at = locate(top.at("slots").at(name).begin)
        slots[name] = Slot(name=name, location=at, **own)
    for claim in _claims(file, top, shared, report.source):
        claims[claim.id] = replace(claim, slots=slots)
    fractions = frozenset(_with_fractions(claims.values())) if slots else frozenset()
    for name, made in slots.items():  # all claims share the mapping
        slots[name] = replace(made, fractions=fractions.intersection(made.takes))
    for name, claim in claims.items():
        if claim.truth is not None:
            family = None if claim.family is None else claim.family.id
            claims[name] = replace(claim, truth=truth_id(claim.truth, family, claims))
    report.problems += shared.problems
    for error in _truths(claims, top):
        report.add(*error)
    if report:
        raise report.error()
    documents = {name: Document(name, **one.given()) for name, one in file.documents.items()}
    return Registry(report.source.name, documents, claims, shared.notes)


def _claims(file: FileKeys, top: Node, shared: SharedModels, source: Source) -> Iterator[Claim]:
    """The claims: one for each statement."""
    defaults = {} if file.defaults is ABSENT else file.defaults.given()
    for name, entry in file.claims.items():
        own, node = entry.given(), top.at("claims").at(name)
        if "model" in own:
            own["model"] = shared.completed(own["model"])
        named = (node.at("parameters"), *node.at("cases").items[:1])
        first = {key: one for each in named for key, one in each.entries.items()}
        own["parameter_locations"] = {key: source.location(one.begin) for key, one in first.items()}
        several: dict[str, StatementKeys] | None = own.pop("claims", None)
        if several is None:
            yield _claim(name, source.location(node.begin), None, defaults, own)
            continue
        stated = {
            part: Stated(f"{name}.{part}", one.claim, tolerant="tolerance" in one.given())
            for part, one in several.items()
        }
        family = Family(name, own["title"], tuple(stated.values()))
        for part, keys in several.items():
            # each gets a title of its own
            title = {"title": f"{family.title} ({part})"} if len(several) > 1 else {}
            at = source.location(node.at("claims").at(part).begin)
            yield _claim(stated[part].id, at, family, defaults, own, title | keys.given())


def _claim(id_: str, at: Location, family: Family | None, *levels: Mapping[str, Any]) -> Claim:
    """A claim with the values of all levels; later levels override earlier ones.

    The tags of a statement are added to those of its claim, which replace the default tags.
    """
    kept: dict[str, Any] = {name: one.default for name, one in ClaimKeys.model_fields.items()}
    for level in levels:
        kept |= level
        if "resolution" in level:  # it overrides a 'within' of an earlier level
            kept["within"] = None
    tags = [level["tags"] for level in levels[1:] if "tags" in level] or [kept["tags"]]
    kept["tags"] = tuple(dict.fromkeys(itertools.chain.from_iterable(tags)))
    kept["sources"] = _passages(*levels)
    kept["sharpness_given"] = any({"resolution", "within"} & level.keys() for level in levels)
    for name in ("document", "section", "claims"):
        del kept[name]
    return Claim(id=id_, family=family, statement=kept.pop("claim"), location=at, **kept)


def _passages(*levels: Mapping[str, Any]) -> tuple[Passage, ...]:
    """The passages a claim comes from; each level of values overrides those before it.

    >>> _passages({"document": "a", "section": "1"}, {"section": "2"})
    (Passage(document='a', section='2'),)
    """
    passages: tuple[Passage, ...] = ()
    for level in levels:
        if "sources" in level:
            passages = level["sources"]
        elif "document" in level or "section" in level:
            before = passages[0] if len(passages) == 1 else Passage()
            document = level.get("document", before.document)
            passages = (Passage(document, level.get("section", before.section)),)
    return passages


def _with_fractions(claims: Iterable[Claim]) -> Iterator[str]:
    """The parameters that have some value that is not a whole number."""
    for claim in claims:
        for grid in (claim.parameters, *(claim.cases or ())):
            for name, value in grid.items():
                several = value if isinstance(value, tuple) else (value,)
                if any(isinstance(one, float) and not one.is_integer() for one in several):
                    yield name
