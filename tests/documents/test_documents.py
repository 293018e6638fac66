"""A document is a registry: its marks, what they speak of, and where."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from fuzzed_documents import CELLS

from dropcheck.claims.registry import Registry
from dropcheck.claims.select import select_claims
from dropcheck.claims.yaml_places import Problems, decode
from dropcheck.documents import read_any
from dropcheck.documents.markdown import read_markdown
from dropcheck.documents.marks import HIDDEN, LONGEST_BEFORE, Mark, Page
from dropcheck.errors import DropcheckError, NothingSelected, Problem
from dropcheck.inference.region import Printed
from dropcheck.language.check import check_registry
from dropcheck.language.compile import lower_case, parse_claim

BLOCK = """\
<!-- dropcheck
models:
  inverted: |
    x ~ normal(0, 1)
    m ~ bernoulli(1 - p)
    y = m * x / (1 - p)
  scores: "q, k ~ normal(0, 1)[d_k]"
-->
"""
PAPER = f"""\
# A paper

{BLOCK}
## Dropout
Dividing by $1-p$ raises it by 41%<!-- dropcheck: ~= Std(y) / Std(x) - 1; model: inverted; p: 0.5 -->;
that it is kept is false<!-- dropcheck #sd-kept: Std(y) == Std(x); model: inverted; p: [0.1, 0.5]; expect: refuted -->.

## Attention
Scores have $\\operatorname{{Var}}(q \\cdot k) = d_k$<!-- dropcheck #qk-variance: d_k: [16, 64] -->, and the scaled ones
$\\operatorname{{Var}}(q^\\top k / \\sqrt{{d_k}}) = 1$<!-- dropcheck: d_k: 64 -->.
"""  # noqa: E501 - a paragraph of a paper


def read(tmp_path: Path, text: str, name: str = "paper.md") -> Registry:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_any(path, name)


def page_of(text: str) -> Page:
    return Page(Problems(decode(text.encode(), "a.md")))


def problems(tmp_path: Path, text: str) -> list[Problem]:
    try:
        registry = read(tmp_path, text)
    except DropcheckError as error:
        return list(error.problems)
    return list(check_registry(registry).problems)


def test_errors_of_keys_come_at_once_and_then_those_of_formulas_and_models(
    tmp_path: Path,
) -> None:
    formula = "$\\foo{y} = 1$<!-- dropcheck: ; model: x = 1 -->"
    other = "0<!-- dropcheck: E(q) == 0; {} -->"
    keys = problems(tmp_path, f"It is {formula}, {other.format('modle: 3; expect: maybe')}.")
    assert [one.hint == "did you mean 'model'?" for one in keys] == [True, False, False]
    language = problems(tmp_path, f"It is {formula}, {other.format('model: x = zz')}.")
    words = ["foo", "'q' is not defined", "'zz' is not defined"]
    assert all(any(word in one.message for one in language) for word in words), language


def test_a_paper(tmp_path: Path) -> None:
    registry = read(tmp_path, PAPER)
    assert check_registry(registry).problems == ()
    rounded, kept, variance, scaled = registry.claims.values()
    assert rounded.statement.text == "0.41 ~= Std(y) / Std(x) - 1"
    assert rounded.parameters == {"p": (0.5,)}
    assert (kept.id, kept.expect) == ("sd-kept", "refuted")
    assert (variance.id, variance.statement.text) == ("qk-variance", "Var(q @ k) == d_k")
    assert scaled.statement.text == "Var(q @ k / sqrt(d_k)) == 1"
    assert [claim.sources[0].section for claim in registry.claims.values()] == [
        "Dropout", "Dropout", "Attention", "Attention",
    ]  # fmt: skip
    (document,) = registry.documents.values()
    assert (document.key, document.title) == ("paper", "A paper")
    assert rounded.title.startswith("Dividing by $1-p$ raises it by 41%")


def test_an_id_that_is_not_given_stays_where_the_sentence_moves(tmp_path: Path) -> None:
    mark = "8<!-- dropcheck: == E(10 * b); model: b ~ bernoulli(q); q: 0.8 -->"
    before = read(tmp_path, f"# T\n\n## Here\nIt is {mark}.\n")
    after = read(tmp_path, f"# T\n\n## Here\nMuch else.\n\nNow it is {mark}, all the same.\n")
    assert list(before.claims) == list(after.claims)
    (name,) = before.claims
    assert name.startswith("here-")


WHERE = {
    "table": "| a | b |\n|---|---|\n| 8{} | 2 |\n",
    "list": "- one\n- it is 8{}, as said\n",
    "quote": "> it is\n> 8{}.\n",
    "heading": "## It is 8{}\n",
    "emphasis": "It is **8**{}.\n",
    "several lines": "It is\nor so 8{} and\non.\n",
    "code beside": "Not `8<!-- dropcheck: == 9 -->` but 8{}.\n",
    "windows": "It is 8{}.\r\nThe end.\r\n",
    "accents": "Écrit « 8{} ».\n",
    "list in a quote": "> - 8{}\n",
}


@pytest.mark.parametrize("where", WHERE)
def test_marks_are_read_where_text_may_stand(tmp_path: Path, where: str) -> None:
    mark = "<!-- dropcheck: == E(10 * b); model: b ~ bernoulli(q); q: 0.8; qqqq: 1 -->"
    text = WHERE[where].format(mark)
    registry = read(tmp_path, text)
    (claim,) = registry.claims.values()
    assert claim.statement.text == "E(10 * b) == 8"
    (note,) = check_registry(registry).notes
    lines = text.split("\n")
    place = claim.statement.locate(0, 0)
    assert place.line is not None
    assert place.column is not None
    assert lines[place.line - 1][place.column - 1 :].startswith("E(10 * b)")
    assert note.location is not None
    assert note.location.line is not None
    assert note.location.column is not None
    assert lines[note.location.line - 1][note.location.column - 1 :].startswith("qqqq")


NO_MARKS = [
    "```html\n8<!-- dropcheck: == 9 -->\n```\n",
    "    8<!-- dropcheck: == 9 -->\n",
    "`8<!-- dropcheck: == 9 -->`\n",
    "<!-- a comment -->\n\n8<!-- another: == 9 -->\n",
    "8 \\<!-- dropcheck: == 9 -->\n",
    "Of <code>8<!-- dropcheck: == 9 --></code>\n",
    "<pre>\n8<!-- dropcheck: == 9 -->\n</pre>\n",
    "<div>\n<code>8<!-- dropcheck: == 9 --></code>\n</div>\n",
    "nothing at all\n",
    "",
]


@pytest.mark.parametrize("text", NO_MARKS)
def test_there_are_no_marks_in_code(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).claims == {}


TWO_MODELS = """\
<!-- dropcheck
models:
  first: "x, e ~ normal(0, 1)"
  last: "y ~ normal(0, p)[2]"
-->
"""


def test_a_mark_of_another_model_than_the_last_is_told_which(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, TWO_MODELS + "0<!-- dropcheck: == E(x); p: 1 -->")
    assert problem.message == "'x' is not defined in 'last', the last model above this mark"
    assert problem.hint == "'first' defines it: write 'model: first' in the mark"
    for fine in ("E(x); model: first", "E(y[0:1]); p: 1", "E(y) * e; p: 1", "E(y) / x; p: 1; x: 2"):
        assert problems(tmp_path, f"{TWO_MODELS}0<!-- dropcheck: == {fine} -->") == []


def test_a_parameter_may_be_named_almost_as_a_key(tmp_path: Path) -> None:
    for used in ("== modes; modes: 8", "== 8; modes: 8; requires: modes > 1"):
        assert problems(tmp_path, f"8<!-- dropcheck: {used} -->") == []


def test_a_document_without_marks_has_nothing_to_run(tmp_path: Path) -> None:
    registry = read(tmp_path, "# Nothing is claimed here\n")
    with pytest.raises(NothingSelected, match=r"paper\.md holds no claim"):
        select_claims(registry, [], [])


def test_formulas_have_ids_of_their_own_wherever_they_stand(tmp_path: Path) -> None:
    first = "One is $x = 1$<!-- dropcheck: model: 'x = 1' -->."
    second = "Two is $x = 2$<!-- dropcheck: model: 'x = 1' -->."
    one = read(tmp_path, f"# T\n{first}\n{second}\n").claims
    other = read(tmp_path, f"# T\n{second}\n{first}\n").claims
    said = {name: claim.statement.text for name, claim in one.items()}
    assert said == {name: claim.statement.text for name, claim in other.items()}
    assert sorted(said.values()) == ["x == 1", "x == 2"]


def test_pairs_and_blanks(tmp_path: Path) -> None:
    text = (
        "A third is <!-- dropcheck #third: ~= 1 / 3 -->0.333<!-- /dropcheck --> and\n"
        "12<!-- dropcheck #few: 0.1 <= P(b <= _) <= 0.5; model: b ~ binomial(30, 0.5) --> too\n"
        "chain $n = 2 \\cdot 3 = 6$<!-- dropcheck #chain: n: 6 -->.\n"
    )
    claims = read(tmp_path, text).claims
    assert claims["third"].statement.text == "0.333 ~= 1 / 3"
    assert claims["few"].statement.text == "0.1 <= P(b <= 12) <= 0.5"
    assert claims["chain"].statement.text == "n == 2 * 3"
    assert claims["chain-2"].statement.text == "2 * 3 == 6"


@pytest.mark.parametrize(
    ("figure", "read_as", "half"),
    [
        ("1.3e3", "1.3e3", "50"),
        ("-1.30 × 10^3", "-1.30e3", "5"),
        (r"$1.3 \times 10^{3}$", "1.3e3", "50"),
        ("13e2", "1.3e3", "50"),
        ("130%", "1.30", "0.005"),
        ("1,300", "1300", "0.5"),
        ("1.43e-2", "0.0143", "0.00005"),
    ],
)
def test_a_figure_claims_the_digits_that_it_prints(
    tmp_path: Path, figure: str, read_as: str, half: str
) -> None:
    (claim,) = read(tmp_path, f"It is {figure}<!-- dropcheck: ~= 1 -->").claims.values()
    assert claim.statement.text == f"{read_as} ~= 1"
    assert claim.written is not None
    assert claim.written.unit == 2 * Decimal(half)
    found = Printed.of(read_as.lstrip("-"))
    assert found.unit == claim.written.unit


def test_a_model_serves_from_its_place_on(tmp_path: Path) -> None:
    block = "<!-- dropcheck\nmodels:\n  {}: y = {}\n-->\n"
    text = f"# T\n\n{block.format('a', 8)}\n8<!-- dropcheck #one: == y -->\n\n"
    text += "```dropcheck\nmodels: {b: y = 9}\n```\n\n9<!-- dropcheck #two: == y -->\n"
    claims = read(tmp_path, text).claims
    models = [claim.model.text for claim in claims.values() if claim.model is not None]
    assert models == ["y = 8", "y = 9"]


def test_blocks_give_parameters_notation_and_claims_of_their_own(tmp_path: Path) -> None:
    text = """\
```yaml dropcheck
models: {dropped: "x ~ normal(3, 1)\\nm ~ bernoulli(1 - p)"}
parameters: {p: [0.1, 0.5]}
notation: {"\\\\text{Dropout}(X)": m * x}
claims:
  mean: {title: The mean, model: dropped, parameters: {p: 0.1}, claim: E(m * x) == 2.7}
```
$\\mathbb{E}[\\text{Dropout}(X)] = (1 - p) \\mathbb{E}[x]$<!-- dropcheck #written: -->
"""
    registry = read(tmp_path, text)
    assert check_registry(registry).problems == ()
    assert registry.claims["written"].statement.text == "E(m * x) == (1 - p) * E(x)"
    assert registry.claims["written"].parameters == {"p": (0.1, 0.5)}
    assert registry.claims["mean"].sources[0].document == "paper"


def test_what_a_document_prints_travels_with_the_claim(tmp_path: Path) -> None:
    claims = read(tmp_path, PAPER).claims
    rounded, kept, variance, _ = claims.values()
    assert rounded.written is not None
    figure = rounded.written
    assert (figure.text, figure.digits, figure.unit) == ("41%", Decimal("0.41"), Decimal("0.01"))
    assert (figure.percent, figure.rounded) == (True, True)
    assert figure.start.text is not None
    assert figure.start.column is not None
    assert figure.end.column is not None
    assert figure.start.text[figure.start.column - 1 : figure.end.column - 1] == "41%"
    assert kept.written is None
    assert variance.written is not None
    assert variance.written.text == r"$\operatorname{Var}(q \cdot k) = d_k$"
    assert variance.written.digits is None


def test_passages_show_what_is_read(tmp_path: Path) -> None:
    text = (
        "## 3.1 Here\n\n> 4.5 `4.6` <b x='4.7'>4.8</b> [4.9](x 5.0) <!-- 5.1 -->\n> 5.2\n\n"
        "| a 5.3 | `5.4 \\| 5.5` 5.6 |\n|---|---|\n| 5.7 | <!-- 5.8 --> 5.9 |\n\n"
        "```\n6.0\n```\n\n<div id='6.1'>\n6.2\n</div>\n"
    )
    page = page_of(text)
    shown = read_markdown(page).passages
    assert [one.heading for one in shown] == [True, *[False] * 4]
    for one in shown:  # each character stands where it is said to stand
        for character, at in zip(one.piece.text, one.piece.at, strict=False):
            assert character in (HIDDEN, page.text[at])
    seen = re.findall(r"\d\.\d", " ".join(one.piece.text for one in shown))
    assert seen == ["3.1", "4.5", "4.8", "4.9", "5.2", "5.3", "5.6", "5.7", "5.9", "6.2"]


def test_an_id_may_be_that_of_a_statement_of_a_claims_file(tmp_path: Path) -> None:
    text = (
        "<!-- dropcheck\nmodels: {m: y = p}\n-->\n\n"
        "2<!-- dropcheck #kept.mean: == y; p: 2 --> not 3"
        "<!-- dropcheck #kept.more: == y; p: 2; expect: refuted; truth: kept.mean -->: "
        "$y = p = 2$<!-- dropcheck #kept.both: p: 2 -->.\n"
    )
    claims = read(tmp_path, text).claims
    assert list(claims) == ["kept.mean", "kept.more", "kept.both", "kept.both-2"]
    assert [name for name, claim in claims.items() if claim.id != name] == []
    assert claims["kept.more"].truth == "kept.mean"


def test_a_mark_may_list_its_cases(tmp_path: Path) -> None:
    text = (
        "<!-- dropcheck\nmodels: {m: y = p * q}\nparameters: {p: 1, q: 1}\n-->\n\n"
        "6<!-- dropcheck #six: == y; cases: [{p: 2, q: 3}, {p: 1, q: 6}] -->\n"
        "2<!-- dropcheck #two: == y; cases: [{p: 2}] -->\n"
    )
    claims = read(tmp_path, text).claims
    six, two = claims["six"], claims["two"]
    assert [case.parameters for case in six.expand()] == [{"p": 2, "q": 3}, {"p": 1, "q": 6}]
    assert [case.parameters for case in two.expand()] == [{"p": 2, "q": 1}]


def test_parameters_reach_a_mark_through_models_of_models(tmp_path: Path) -> None:
    text = (
        "<!-- dropcheck\nmodels:\n  one: y = p\n  two: |\n    one\n    z = y\n"
        "  two-more: z = 2\n  three: |\n    two\n    w = z\nparameters: {p: 2}\n-->\n\n"
        "2<!-- dropcheck #deep: == w; model: three --> "
        "2<!-- dropcheck #flat: == z; model: two-more -->"
    )
    claims = read(tmp_path, text).claims
    assert [dict(claims[name].parameters) for name in ("deep", "flat")] == [{"p": (2,)}, {}]


def test_parameters_of_a_block_leave_alone_what_a_model_defines(tmp_path: Path) -> None:
    text = (
        "<!-- dropcheck\nmodels:\n  one: |\n    x, y ~ normal(a, 1)\n  two: z = x\n"
        "parameters: {x: 2, a: 1}\n-->\n\n"
        "1<!-- dropcheck #one: == E(x); model: one --> 2<!-- dropcheck #two: == z; model: two -->"
    )
    claims = read(tmp_path, text).claims
    assert [dict(claims[name].parameters) for name in ("one", "two")] == [{"a": (1,)}, {"x": (2,)}]


@pytest.mark.parametrize(
    ("given", "formula", "served", "read_as"),
    [
        ("k: 1", "E[d_k] = 0", {"k": (1,)}, "E(d[k - 1]) == 0"),
        ("k: 1, n_k: 4", "E[x] + n_k = 4", {"n_k": (4,)}, "E(x) + n_k == 4"),
        ("k: 1, nk: 4", "E[x] + n_k = 4", {"nk": (4,)}, "E(x) + nk == 4"),
        ("k: 1, s: 4", "E[x] + \\sigma = 4", {"s": (4,)}, "E(x) + s == 4"),
        ("k: 1", "E[d_i] = 1", {}, "E(d) == 1"),
    ],
)
def test_parameters_reach_what_stands_below_a_letter(
    given: str, formula: str, served: object, read_as: str, tmp_path: Path
) -> None:
    text = (
        "<!-- dropcheck\nmodels:\n  m: |\n    x ~ normal(0, 1)\n    d = [x, x + 1, x + 2]\n"
        f'parameters: {{{given}}}\nnotation: {{"\\\\sigma": s}}\n-->\n\n'
        f"${formula}$<!-- dropcheck #a: resolution: 0.01 -->"
    )
    claim = read(tmp_path, text).claims["a"]
    assert (dict(claim.parameters), claim.statement.text) == (served, read_as)


@pytest.mark.parametrize(
    ("formula", "entries"),
    [
        ("E[d_i] = 1", [(0,), (1,), (2,)]),  # false, though the mean of all elements is 1
        (r"P(d_i > 0) \le 1", [(0,), (1,), (2,)]),
        (r"\operatorname{Cov}(d_i, x) = 1", [(0,), (1,), (2,)]),
        ("E[z_i^2] = 1", []),  # of one law, so that one picked at random stands for each
        ("E[d_2] = 1", []),
    ],
)
def test_a_formula_says_of_each_element_what_it_says_of_any(
    formula: str, entries: object, tmp_path: Path
) -> None:
    text = (
        "<!-- dropcheck\nmodels:\n  m: |\n    x ~ normal(0, 1)\n    d = [x, x + 1, x + 2]\n"
        f"    z ~ normal(0, 1)[3]\n-->\n\n${formula}$<!-- dropcheck #a: note: none -->"
    )
    lowered = lower_case(parse_claim(read(tmp_path, text).claims["a"]), {})
    assert list(lowered.entries) == entries
    assert not [note for note in lowered.notes if "pooled" in note.message]


def test_the_title_of_a_cell_has_the_heads_of_its_row_and_column(tmp_path: Path) -> None:
    mark = "8<!-- dropcheck #{}: == 8 -->"
    text = f"| rate | mean | sd |\n|---|---|---|\n| p = 0.5 | 1 | {mark.format('b')} |\n"
    text += f"| {mark.format('a')} | 2 | 3 |\n\nIt is {mark.format('c')}, e.g. in Fig. 3. So.\n"
    claims = read(tmp_path, text).claims
    assert {name: claim.title for name, claim in claims.items()} == {
        "b": "p = 0.5, sd: 8", "a": "8", "c": "It is 8, e.g. in Fig. 3.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.md", "41<!-- dropcheck: == 41 -->, 5% of it, 42<!-- dropcheck: == 42 -->. 5"),
        ("p.md", "41<!-- dropcheck: == 41 --> 5 of all, 42<!-- dropcheck: == 42 -->x."),
        ("p.tex", "A 41 % dropcheck: == 41\n  5 of all."),
    ],
)
def test_what_follows_a_mark_is_no_part_of_its_figure(tmp_path: Path, name: str, text: str) -> None:
    assert len(read(tmp_path, text, name).claims) == text.count("dropcheck")


def test_a_sentence_is_looked_for_near_its_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[int] = []

    def sentence(before: str, after: str) -> str:
        looked_at.append(len(before) + len(after))
        return "it"

    monkeypatch.setattr("dropcheck.documents.markdown.sentence_at", sentence)
    marks = (f"A {at}<!-- dropcheck: == {at} --> b." for at in range(2000))
    assert len(read(tmp_path, " ".join(marks)).claims) == 2000
    assert max(looked_at) < 3 * LONGEST_BEFORE


# ---- as GitHub renders it ------------------------------------------------------------------------


TOP = Path(__file__).parents[2]
MARKED = {
    "paper.md": "\n".join(CELLS),
    **{
        path.name: path.read_text(encoding="utf-8")
        for folder in (TOP / "docs", Path(__file__).parent)
        for path in sorted(folder.glob("*.md"))
    },
    "README.md": (TOP / "README.md").read_text(encoding="utf-8"),
}
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CLOSING = "<!-- /dropcheck -->"


def rendered(text: str) -> str:
    return str(cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))


def without_marks(text: str) -> str:
    """The document as it would be without dropcheck."""
    page = page_of(text)
    kept = page.text
    for mark in reversed(read_markdown(page).parts):
        if isinstance(mark, Mark):
            kept = kept[: mark.comment.start] + (
                kept[mark.comment.end :]
                if mark.pair is None
                else kept[mark.comment.end :].replace(_CLOSING, "", 1)
            )
    return kept


@pytest.mark.parametrize("name", MARKED)
def test_rendered_it_is_the_unmarked_document_but_for_the_comments(name: str) -> None:
    text = MARKED[name]
    assert _COMMENT.sub("", rendered(text)) == _COMMENT.sub("", rendered(without_marks(text)))


def test_the_marks_are_the_comments_that_github_hides() -> None:
    """And the documents of this repository show no reader a mark."""
    seen = 0
    for name, text in MARKED.items():
        parts = read_markdown(page_of(text)).parts
        hidden = re.findall(r"<!--\s*dropcheck\b[^>]*?:.*?-->", rendered(text), re.DOTALL)
        seen += sum(isinstance(one, Mark) for one in parts)
        assert len(hidden) >= sum(isinstance(one, Mark) for one in parts), name
    assert seen > 3
