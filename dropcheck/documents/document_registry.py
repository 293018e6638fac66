"""The registry of a document, whose blocks and marks become keys; and what they leave out."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from dropcheck.claims.claimsfile import FORMAT, ClaimKeys, registry_of
from dropcheck.claims.registry import Claim, Registry, SourceText
from dropcheck.claims.values import WORDS
from dropcheck.claims.yaml_places import (
    BROKEN,
    LINE_END,
    LineColumn,
    Node,
    Problems,
    Source,
    checked,
    compose_piece,
    decode,
)
from dropcheck.documents.figures import FIGURE, FRACTION, NUMBERED, UnreadError
from dropcheck.documents.latex import EACH_STEP, statements
from dropcheck.documents.markdown import read_markdown
from dropcheck.documents.marks import (
    BLOCK_KEYS,
    HIDDEN,
    FormulaSpan,
    KeyBlock,
    Mark,
    Page,
    Piece,
    Prose,
    Spoken,
    formulas_in,
    spoken_of,
)
from dropcheck.documents.tex import read_tex
from dropcheck.errors import (
    DropcheckError,
    Location,
    NotebookCell,
    Problem,
    at_most,
    in_file_order,
    nearest,
    suggestion,
)
from dropcheck.language.check import check_registry
from dropcheck.language.compile import known_names, parse_claim
from dropcheck.results import Coverage, Printed, Unclaimed, Written

_NOTEBOOK, _LATEX = ".ipynb", ".tex"  # documents with other suffixes are Markdown
_CLAIM_KEYS = frozenset(ClaimKeys.model_fields) - {"claim", "claims", "parameters"}
_KEY = re.compile(r"\s*(?P<key>[^\W\d][\w-]*)\s*:(?!=)\s*")
_SECOND_KEY = re.compile(r"[^\"'{\[|>][^\"'{\[]*,\s*[^\W\d][\w-]*\s*:\s")
_DEFINED = re.compile(
    r"^[ \t]*([^\W\d]\w*(?:[ \t]*,[ \t]*[^\W\d]\w*)*)[ \t]*(?:~|=(?!=))", re.MULTILINE
)
LONGEST_DOCUMENT = 2_000_000  # a book; each mark and figure takes time and memory
_PLACEHOLDER = "0 == 0"
_PI = re.compile(r"\\pi(?![A-Za-z])(?!\s*_)")
_OWN_PI = re.compile(r"\\pi\s*_\s*(\{[^{}]{1,20}\}|\\?\w+)|(?<=[$(\[])\\pi\s*(=(?!\s*3\.1)|\\in\b)")


def document_of(data: bytes, path: Path, name: str) -> Registry:
    """The claims of a document with these bytes; `name` is its name in messages.

    Raises:
        DropcheckError: it cannot be read, or its marks have errors: all of them.
    """
    source, ending = decode(data, name), path.suffix.lower()
    source = cells_of(source) if ending == _NOTEBOOK else source
    if len(source.text) > LONGEST_DOCUMENT:
        limit = f"the document has more than {LONGEST_DOCUMENT:,} characters, the most that is read"
        raise DropcheckError(Problem(limit, Location(name), "divide it into several files"))
    page = Page(Problems(source))
    marked = read_tex(page) if ending == _LATEX else read_markdown(page)
    builder = _Builder(page, _slug(path.stem) or "document")
    for part in marked.parts:
        if isinstance(part, KeyBlock):
            builder.add_block(part)
        else:
            builder.add_mark(part)
    if page.report and not builder.claims:
        raise page.report.error()
    registry = builder.registry(marked.title) if builder.claims else Registry(name, {}, {})
    spoken = [one for one, _ in builder.marks.values()]
    return replace(registry, coverage=(coverage_of(page, marked.passages, spoken),))


class _Builder:
    """Collects what blocks and marks say, in the form of a claims file."""

    def __init__(self, page: Page, document: str) -> None:
        self.page = page
        self.report = page.report
        self.document = document
        self.models: dict[str, Node] = {}
        self.defaults: dict[str, Node] = {}
        self.claims: dict[str, Node] = {}
        self.parameters: dict[str, Node] = {}
        self.notation: dict[str, str] = {}
        # by their ids, with the notation for a formula
        self.marks: dict[str, tuple[Spoken, Mapping[str, str]]] = {}
        self.made: Counter[str] = Counter()  # how often each id was generated

    # ---- blocks --------------------------------------------------------------------------------

    def add_block(self, block: KeyBlock) -> None:
        node = self._composed(block.text, block.start)
        if node is None or node.value is BROKEN:
            return
        if not isinstance(node.value, dict):
            self.page.refuse(block.start, "a block is a mapping", "write 'models:' and lines below")
            return
        for key, entry in node.entries.items():
            at = entry.begin
            if key not in BLOCK_KEYS:
                hint = suggestion(key, BLOCK_KEYS)
                hint = hint or "a block may hold " + ", ".join(sorted(BLOCK_KEYS))
                self.report.add(at, f"a block has no key {key!r}", hint)
            elif not isinstance(entry.value, dict):
                self.report.add(at, f"{key!r} is a mapping of names to values")
            elif key == "notation":
                for piece, one in entry.entries.items():
                    if isinstance(one.value, dict | list) or not one.text.strip():
                        self.report.add(one.begin, "notation stands for an expression")
                    self.notation[piece] = one.text
            else:
                known: dict[str, Node] = getattr(self, key)
                for name, value in entry.entries.items():
                    if name in known and key != "parameters":
                        line = self.report.source.line_of(known[name].begin)
                        message = f"{name!r} is given twice: first on {line}"
                        self.report.add(value.begin, message, "rename it, or take it out")
                    known[name] = value
                    own = key == "claims" and isinstance(value.value, dict)
                    if own and not {"document", "sources"} & value.entries.keys():
                        document = self._entry(self.document, value.begin)
                        keys = {**value.entries, "document": document}
                        known[name] = replace(value, value=keys)

    # ---- marks ---------------------------------------------------------------------------------

    def add_mark(self, mark: Mark) -> None:
        segments = list(mark.segments())
        keyed = bool(segments) and _KEY.match(segments[0].text) is not None
        stated = None if keyed or not segments else segments.pop(0)
        comment = mark.comment
        if stated is not None and stated.text in self.models:
            message = f"{stated.text!r} is a model, and no statement"
            self.page.refuse(stated.start, message, f"write model: {stated.text}")
            return
        try:
            spoken = spoken_of(mark, stated)
        except UnreadError as error:
            at = comment.start if error.column < 0 else comment.before.at[error.column]
            self.page.refuse(at, error.message, error.hint)
            return
        entries: dict[str, Node] = {}
        parameters: dict[str, Node] = {}
        for segment in segments:
            found = _KEY.match(segment.text)
            if found is None or _SECOND_KEY.match(segment.text, found.end()):
                message = f"{segment.text!r} is not one key with its value"
                self.page.refuse(segment.start, message, "write key: value, and ';' between")
                continue
            value = segment.part(found.end(), len(segment.text))
            node = self._composed(value, segment.start)
            if node is None:
                self.page.refuse(segment.start, f"{found['key']!r} has no value")
                continue
            kept = entries if found["key"] in _CLAIM_KEYS else parameters
            if found["key"] in kept:
                self.page.refuse(segment.start, f"{found['key']!r} is given twice")
            kept[found["key"]] = replace(node, key=self.page.place(segment.start))
        if spoken.is_formula and "steps" in parameters and parameters["steps"].text == EACH_STEP:
            spoken = replace(spoken, each_step=True)
            del parameters["steps"]
        self._state(mark, spoken, entries, parameters)

    def _state(
        self, mark: Mark, spoken: Spoken, entries: dict[str, Node], parameters: dict[str, Node]
    ) -> None:
        comment, statement = mark.comment, spoken.statement
        start = self.page.place(comment.start)
        chosen = "model" in entries
        if not chosen and self.models:
            entries["model"] = self._entry(list(self.models)[-1], start)
        inside, defined = self._words_of(entries.get("model"))
        words = self._words_in(spoken, {*parameters, *self.parameters, *inside}) | inside
        self._correct(entries, parameters, words)
        cases = entries["cases"].items if "cases" in entries else []
        own = {*parameters, *defined, *(name for case in cases for name in case.entries)}
        parameters |= {
            name: entry
            for name, entry in self.parameters.items()
            if name in words and name not in own
        }
        if parameters:
            entries["parameters"] = _mapping(parameters, start)
        stated = _PLACEHOLDER if spoken.is_formula else statement.text
        placed = SourceText.placed(stated, (0, self.page.location(comment.start)))
        if not spoken.is_formula:
            placed = self.page.placed(statement)
        entries["claim"] = self._entry(stated, start, placed)
        for key, value in (("document", self.document), ("section", comment.section)):
            if value and not {key, "sources"} & set(entries):
                entries[key] = self._entry(value, start)
        name = mark.id or self._made_id(comment.section, statement.text, entries)
        if "title" not in entries:
            entries["title"] = self._entry(comment.title or name, start)
        if name in self.claims:
            line = self.report.source.line_of(self.claims[name].begin)
            message = f"the id {name!r} is given twice: first on {line}"
            self.report.add(start, message, "give one of the two another #id")
            return
        self.claims[name] = _mapping(entries, start)
        self.marks[name] = spoken, dict(self.notation)

    def _words_in(self, spoken: Spoken, known: set[str]) -> set[str]:
        """The words that may be names: `d_k` if that or `dk` is known, and otherwise d and k."""
        text = spoken.statement.text
        if not spoken.is_formula:
            return set(WORDS.findall(text))
        said = [
            text.replace("\\", " "),
            *(self.notation[one] for one in self.notation if one in text),
        ]
        names: set[str] = set()
        for word in WORDS.findall(" ".join(said)):
            names |= {word, word.replace("_", "")} & known or {word, *word.split("_")}
        return names

    def _correct(
        self, entries: dict[str, Node], parameters: dict[str, Node], words: set[str]
    ) -> None:
        """Report misspelled keys, and correct them."""
        said = [_shown(one) for one in entries.values()] + list(self.notation.values())
        used = words.union(*map(WORDS.findall, said))
        unused = {name: one for name, one in parameters.items() if name not in used}
        for name, entry in unused.items():
            key = nearest(name, _CLAIM_KEYS)
            if key is not None and not isinstance(entry.value, dict | list):
                message = f"{name!r} is neither a key nor used in the model or the claim"
                self.report.add(entry.begin, message, f"did you mean {key!r}?")
                entries.setdefault(key, parameters.pop(name))

    def _words_of(self, model: Node | None) -> tuple[set[str], set[str]]:
        """The words of a model, with those of the models it names; and the names it defines."""
        words: set[str] = set()
        defined: set[str] = set()
        seen: set[str] = set()
        texts = [model] if model is not None else []
        while texts:
            text = texts.pop().text
            words |= set(WORDS.findall(text))
            defined |= {one for names in _DEFINED.findall(text) for one in WORDS.findall(names)}
            named = {line.strip() for line in text.split("\n")} & set(self.models) - seen
            texts += [self.models[name] for name in named]
            seen |= named
        return words, defined

    def _made_id(self, section: str, text: str, entries: Mapping[str, Node]) -> str:
        """An id made from statement, model and parameters: moving the sentence keeps it."""
        parts = [text, *(f"{key}={_shown(one)}" for key, one in sorted(entries.items())
                         if key in ("model", "parameters", "cases"))]  # fmt: skip
        digest = hashlib.blake2b("\n".join(parts).encode(), digest_size=3).hexdigest()
        name = f"{_slug(section) or self.document}-{digest}"
        self.made[name] += 1
        return name if self.made[name] == 1 else f"{name}--{self.made[name]}"

    # ---- both ----------------------------------------------------------------------------------

    def _entry(self, text: str, at: LineColumn, written: SourceText | None = None) -> Node:
        """The value of a text that we add at a place of the document."""
        written = written or SourceText.placed(text, (0, self.report.source.location(at)))
        return Node(value=text, text=text, start=at, style="'", key=at, written=written)

    def _composed(self, text: Piece, at: int) -> Node | None:
        """The nodes of a piece of YAML, with their places in the document; None if empty."""
        starts = [0, *accumulate(len(line) + 1 for line in text.text.split("\n"))]

        def place(position: LineColumn) -> LineColumn:
            index = starts[min(position[0], len(starts) - 1)] + position[1]
            return self.page.place(text.at[min(index, len(text.at) - 1)])

        return compose_piece(text.text, self.report, place, self.page.place(at))

    def registry(self, title: str) -> Registry:
        """The registry of everything that was collected.

        Raises:
            DropcheckError: all its errors.
        """
        start = (0, 0)
        document = _mapping({"title": self._entry(title, start)}, start)
        top = {
            "dropcheck": Node(value=FORMAT, text=str(FORMAT), start=start, key=start),
            "documents": _mapping({self.document: document}, start),
        }
        for key in ("models", "defaults", "claims"):
            if entries := getattr(self, key):
                top[key] = _mapping(entries, start)
        problems: list[Problem] = []
        registry = registry_of(_mapping(top, start), self.report)
        claims: dict[str, Claim] = {}
        for name, read in registry.claims.items():
            try:
                for one in (
                    self._of_mark(read, *self.marks[name]) if name in self.marks else (read,)
                ):
                    if one.id in claims:
                        message = f"the id {one.id!r} is given twice"
                        hint = "give one of the two another #id"
                        problems.append(Problem(message, one.location, hint))
                    claims[one.id] = one
            except DropcheckError as error:
                problems.extend(error.problems)
        registry = replace(registry, claims=claims)
        if problems:  # those of formulas are of the language: all of these are reported at once
            problems.extend(check_registry(registry).problems)
            raise DropcheckError(at_most(in_file_order(problems)))
        return registry

    def _of_mark(
        self, claim: Claim, spoken: Spoken, notation: Mapping[str, str]
    ) -> Iterator[Claim]:
        """The claim of a mark; a formula is a chain, which gives one claim for each link.

        Raises:
            DropcheckError: the formula or the model cannot be read.
        """
        formula, figure, printed = spoken.statement, spoken.figure, spoken.printed
        if printed is not None:
            written = Written(
                text=printed.text,
                start=self.page.location(printed.start),
                end=self.page.location(printed.end),
                digits=None if figure is None else figure.digits,
                unit=None if figure is None else figure.unit,
                percent=figure is not None and figure.percent,
                rounded=spoken.rounded,
            )
            claim = replace(claim, written=written)
        if not spoken.is_formula:
            yield claim
            return
        names = known_names(parse_claim(claim), claim.expand()[0].parameters)
        try:
            refuse_doubtful_number(formula.text, self.page.source.text, names, notation)
            texts = statements(
                formula.text,
                names,
                notation,
                last_row=spoken.last_row,
                each=spoken.each_step,
            )
        except UnreadError as error:
            at = self.page.location(formula.at[min(error.column, len(formula.at) - 1)])
            raise DropcheckError(Problem(error.message, at, error.hint)) from None
        for count, text in enumerate(texts, 1):
            # where its parts stand in the formula is not known, so that all are at its beginning
            start = self.page.location(formula.start)
            stated = SourceText.placed(text, *((at, start) for at in range(len(text) + 1)))
            own = claim.id if count == 1 else f"{claim.id}-{count}"
            yield replace(claim, id=own, statement=stated, formula=True)


def refuse_doubtful_number(
    formula: str, document: str, names: Collection[str], notation: Mapping[str, str]
) -> None:
    r"""Refuse a π that may be the number, or a quantity that the document calls so, such as π_i.

    After a digit, as in 2π, it is the number.

    Raises:
        UnreadError: the model has no pi, but the document gives π an index or begins a formula by
            π =.

    >>> refuse_doubtful_number(r"\sqrt{2\pi} = 2.5", r"weights $\pi_k$", {}, {})
    >>> refuse_doubtful_number(r"\operatorname{Var}(m) = \pi(1 - \pi)", "", {}, {})
    """
    if "pi" in names or r"\pi" in notation:
        return
    for found in _PI.finditer(formula):
        own = _OWN_PI.search(document)
        if own is not None and not formula[: found.start()].rstrip()[-1:].isdigit():
            raise UnreadError(
                found.start(),
                rf"\pi may be the number 3.14159… or the document's own, as in {own[0].strip()!r}",
                r"""call it pi in the model, or say which: notation: {"\\pi": pi}""",
            )


def _mapping(entries: dict[str, Node], at: LineColumn) -> Node:
    """A mapping that we make, at a place of the document."""
    return Node(value=entries, start=at, key=at)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-")


def _shown(node: Node) -> str:
    """The text of a node, without places."""
    if isinstance(node.value, list):
        return f"[{','.join(map(_shown, node.items))}]"
    if isinstance(node.value, dict):
        return ",".join(f"{name}:{_shown(one)}" for name, one in node.entries.items())
    return node.text


# ---- notebooks -----------------------------------------------------------------------------------

# https://nbformat.readthedocs.io/en/latest/format_description.html
NBFORMAT = 4


def cells_of(source: Source) -> Source:
    """The Markdown cells of a notebook as one text, with places that count within each cell.

    Args:
        source: the file.

    Raises:
        DropcheckError: it is not a notebook that can be read, or holds a forbidden character.
    """
    try:
        notebook = json.loads(source.text, parse_int=float)  # int() refuses some numbers of JSON
    except json.JSONDecodeError as error:
        message = f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        place = (error.lineno - 1, error.colno - 1)
        raise DropcheckError(
            source.problem(place, message, "a notebook is saved as JSON")
        ) from None
    except RecursionError:
        notebook = None
    found = notebook if isinstance(notebook, dict) else {}
    cells = found.get("cells")
    if found.get("nbformat") != NBFORMAT or not isinstance(cells, list):
        message = f"this is no notebook of nbformat {NBFORMAT}"
        hint = "open it in Jupyter and save it"
        raise DropcheckError(source.problem((0, 0), message, hint))
    lines: list[str] = []
    read: list[NotebookCell] = []
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "markdown":
            continue
        given = cell.get("source")
        pieces = given if isinstance(given, list) else [given]
        text = "".join(one for one in pieces if isinstance(one, str))
        if not text:
            continue
        read.append(NotebookCell(number, len(lines)))
        lines += LINE_END.split(text)
    return checked(Source(source.name, "\n".join(lines), tuple(lines), tuple(read)))


# ---- what is not claimed -------------------------------------------------------------------------
#
# The figures and formulas of a document that no mark is about.
#
# A figure is a number with a decimal point, a percent sign, a power of ten or a thousands
# separator, or a fraction below 1; a formula counts if it has a relation. Numbers that only look
# like figures (of sections, versions, dates, addresses) are left out, and so are whole numbers,
# most of which count or name something. A mark may still be about any of these.


WORDS_AROUND = 40  # characters of context on either side
_NUMBER = re.compile(rf"(?=\.?[0-9]){FIGURE}")
_SIGNS = "-\N{MINUS SIGN}"
# A number is no figure where it is a part of a name, a version or a date: `A1`, `x_1.5`, `gpt-3.5`,
# `1.0.68`, `3.12rc1`, `12.05.`. A unit may follow a figure, `1.5x` or `16.5ms`; with digits after
# the letters it is a name.
_HYPHEN = "[-\N{HYPHEN}\N{NON-BREAKING HYPHEN}]"
_TOKEN = re.compile(
    r"(?<![^\W_])(?<![#@\\])(?<![^\W_][_.,:/'’])"
    rf"(?<![^\W\d_]{_HYPHEN})(?<!\.{_HYPHEN})(?:{FRACTION}(?![0-9])|{_NUMBER.pattern})"
    r"(?P<more>[.,:/][0-9][\w.:/-]*|\.[A-Za-z][\w.-]*|[_@]\w[\w.-]*"
    r"|[A-Za-z]+[0-9][\w.-]*|-?(?:rc|alpha|beta|dev|post)\b[\w.-]*)?"
)

# Texts that are not prose anywhere: addresses, and the attributes of Pandoc.
_ADDRESSES = tuple(
    (sign, re.compile(address, re.IGNORECASE))
    for sign, address in (
        ("://", r"[a-z][\w+.-]{1,15}://[^\s<>]{1,2000}"),
        ("", r"(?:www\.|doi:|arxiv:|mailto:)[^\s<>]{1,2000}"),
        ("@", r"[\w.+-]{1,64}@[\w.-]{1,255}"),
        ("10.", r"\b10\.\d{4,9}/[^\s<>]{1,500}"),
        ("{", r"\{(?:[#.][\w-]|[\w-]{1,40}=)[^{}\n]{0,500}\}"),
        ("{{", r"\{\{[^{}\n]{0,500}\}\}"),
    )
)
"""Each with a text that it must contain: most passages lack it, and need no search."""
_NUMBERED = re.compile(rf"{NUMBERED}[\s~\N{{NO-BREAK SPACE}}(\[*_]*(?:[<>=≥≤~^!]{{1,2}}\s?)?\Z")
_LONGEST_WORD = 24
# The text between two numbers of one list: "Sections 3.2, 3.3 and 4.1".
_LISTED = re.compile(r"[\s~,;()\[\]*_]*(?:(?:and|or|to|through|&|[-–—])[\s~(\[*_]*)?\Z")
_HEADING = re.compile(r"[\s#>*_]*(?:[A-Z]\.)?\Z")
_TIME = re.compile(r"\s?(?:[ap]\.?m\b|[AP]M\b)")


_Item = tuple[Printed, int, int]
"""The kind of a figure or formula in a passage, and where it begins and ends."""


def coverage_of(page: Page, passages: Iterable[Prose], marks: Iterable[Spoken]) -> Coverage:
    """Which figures and formulas of a document are claimed, by its prose and its marks."""
    about = [(one, one.printed) for one in marks if one.printed is not None]
    figures = {(printed.start, printed.end): one.figure is not None for one, printed in about}
    return Coverage(
        file=page.source.name,
        claimed_figures=sum(figures.values()),
        claimed_formulas=len(figures) - sum(figures.values()),
        unclaimed=tuple(_unclaimed_in(passages, sorted(figures), page)),
    )


def _unclaimed_in(
    passages: Iterable[Prose], spans: list[tuple[int, int]], page: Page
) -> Iterator[Unclaimed]:
    """The figures and formulas that no mark is about, in order."""
    starts = [start for start, _ in spans]
    for passage in passages:
        piece = passage.piece
        for kind, first, last in _items(piece.text, heading=passage.heading):
            start, end = piece.at[first], piece.at[last]
            before = bisect_left(starts, end)
            if before and spans[before - 1][1] > start:
                continue  # a part of it is claimed
            yield Unclaimed(
                kind=kind,
                text=_words(piece.text[first:last]).strip(),
                location=page.location(start),
                before=_before(piece.text, first),
                after=_after(piece.text, last),
            )


def _items(text: str, *, heading: bool) -> Iterator[_Item]:
    """The figures and formulas of a passage, in order."""
    prose = text
    for sign, address in _ADDRESSES:
        if sign in prose:
            prose = address.sub(lambda found: HIDDEN * len(found.group()), prose)
    at = 0
    for formula in formulas_in(prose):
        yield from _figures(prose, at, formula.start, heading=heading)
        yield from _of_formula(prose, formula)
        at = formula.end
    yield from _figures(prose, at, len(prose), heading=heading)


def _of_formula(text: str, formula: FormulaSpan) -> Iterator[_Item]:
    """A formula with a relation, or one that is only a figure."""
    if formula.has_relation:
        yield Printed.FORMULA, formula.start, formula.end
        return
    inner = text[formula.inner_start : formula.inner_end]
    bare = inner.strip().lstrip(_SIGNS)
    found = _TOKEN.fullmatch(bare)
    if found is not None and not found["more"] and _is_decimal(found):
        start = formula.inner_start + inner.find(bare)
        yield Printed.FIGURE, start, start + len(bare)


def _figures(text: str, first: int, end: int, *, heading: bool) -> Iterator[_Item]:
    """The figures of prose between two indices."""
    named = -1  # where the last number ends that only numbers something
    for found in _TOKEN.finditer(text, first, end):
        start = found.start()
        if found["more"]:
            continue
        listed = named >= 0 and _LISTED.match(text, named, start) is not None
        if listed or _NUMBERED.search(text, max(0, start - _LONGEST_WORD), start) is not None:
            named = found.end()
            continue
        named = -1
        in_heading = heading and _HEADING.match(text, 0, start) is not None
        if _is_decimal(found) and not in_heading and _TIME.match(text, found.end()) is None:
            sign = start > first and text[start - 1] in _SIGNS
            signed = sign and not (start - 1 > first and text[start - 2].isalnum())
            yield Printed.FIGURE, start - signed, found.end()


def _is_decimal(found: re.Match[str]) -> bool:
    """Whether a number is more than a whole number."""
    if found["number"] is None:
        return int(found["above"] or 0) < int(found["below"] or 1)
    plain = found["number"].isdigit()
    return not plain or any(found[name] for name in ("e", "power", "raised", "percent"))


def _before(text: str, start: int) -> str:
    """The words before an index, on one line."""
    words = _words(text[max(0, start - 4 * WORDS_AROUND) : start])
    return words if len(words) <= WORDS_AROUND else words[-WORDS_AROUND:].partition(" ")[2]


def _after(text: str, end: int) -> str:
    """The words after an index, on one line."""
    words = _words(text[end : end + 4 * WORDS_AROUND])
    return words if len(words) <= WORDS_AROUND else words[:WORDS_AROUND].rpartition(" ")[0]


def _words(part: str) -> str:
    """The visible text, with at most one space at each end."""
    shown = " ".join(part.replace(HIDDEN, "").split())
    return f"{' ' if part[:1].isspace() else ''}{shown}{' ' if part[-1:].isspace() else ''}"
