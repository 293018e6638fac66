"""Builds the registry of a document: its blocks and marks become keys of a claims file."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from dropcheck.claims.claimsfile import FORMAT, ClaimKeys, FileKeys, registry_of
from dropcheck.claims.registry import Claim, Registry, SourceText
from dropcheck.claims.values import WORDS
from dropcheck.claims.yaml_places import BROKEN, LineColumn, Node, Problems, compose_piece, decode
from dropcheck.documents.latex import LatexError, statements
from dropcheck.documents.markdown_source import read_markdown
from dropcheck.documents.marks import KeyBlock, Mark, Piece, Spoken, of_another_model, spoken_of
from dropcheck.documents.notebook_source import cells_of
from dropcheck.documents.tex_source import read_tex
from dropcheck.documents.unclaimed import Span, coverage_of
from dropcheck.errors import (
    DropcheckError,
    Problem,
    at_most,
    in_file_order,
    nearest,
    suggestion,
)
from dropcheck.language.check import check_registry
from dropcheck.language.compile import axes_in, parse_claim
from dropcheck.results import Written
from dropcheck.results.coverage import Printed

_NOTEBOOK, _LATEX = ".ipynb", ".tex"  # documents with other suffixes are Markdown
_FILE_KEYS = frozenset(FileKeys.model_fields) - {"dropcheck", "documents"}
_BLOCK_KEYS = _FILE_KEYS | {"parameters", "notation"}
_CLAIM_KEYS = frozenset(ClaimKeys.model_fields) - {"claim", "claims", "parameters"}
_KEY = re.compile(r"\s*(?P<key>[^\W\d][\w-]*)\s*:(?!=)\s*")
_SECOND_KEY = re.compile(r"[^\"'{\[|>][^\"'{\[]*,\s*[^\W\d][\w-]*\s*:\s")
_DEFINED = re.compile(
    r"^[ \t]*([^\W\d]\w*(?:[ \t]*,[ \t]*[^\W\d]\w*)*)[ \t]*(?:~|=(?!=))", re.MULTILINE
)
# An id as claims files give it to one of several statements, and a replacement for its dot.
_DOTTED = re.compile(r"[a-z0-9][a-z0-9-]*\.[a-z0-9][a-z0-9-]*")
_DOT = "--"
_PLACEHOLDER = "0 == 0"
_PI = re.compile(r"\\pi(?![A-Za-z])(?!\s*_)")
_OWN_PI = re.compile(r"\\pi\s*_\s*(\{[^{}]{1,20}\}|\\?\w+)|(?<=[$(\[])\\pi\s*(=(?!\s*3\.1)|\\in\b)")


def document_of(data: bytes, path: Path, name: str) -> Registry:
    """The claims of a document with these bytes; `name` is its name in messages.

    Raises:
        DropcheckError: it cannot be read, or its marks have errors: all of them.
    """
    source, ending = decode(data, name), path.suffix.lower()
    report = Problems(cells_of(source) if ending == _NOTEBOOK else source)
    carrier = read_tex if ending == _LATEX else read_markdown
    marked = carrier(report.source, report)
    builder = _Builder(report, _slug(path.stem) or "document")
    for part in marked.parts:
        if isinstance(part, KeyBlock):
            builder.add_block(part)
        else:
            builder.add_mark(part)
    if report and not builder.claims:
        raise report.error()
    registry = builder.registry(marked.title) if builder.claims else Registry(name, {}, {})
    claims = registry.claims.values()
    covered = coverage_of(report.source, marked.passages, builder.printed, claims)
    return replace(registry, coverage=(covered,))


class _Builder:
    """Collects what blocks and marks say, in the form of a claims file."""

    def __init__(self, report: Problems, document: str) -> None:
        self.report = report
        self.document = document
        self.models: dict[str, Node] = {}
        self.defaults: dict[str, Node] = {}
        self.claims: dict[str, Node] = {}
        self.parameters: dict[str, Node] = {}
        self.notation: dict[str, str] = {}
        self.formulas: dict[str, tuple[Piece, dict[str, str]]] = {}
        self.made: Counter[str] = Counter()  # how often each id was generated
        self.written: dict[str, Written] = {}  # the text that each mark is about, by claim
        self.printed: dict[Span, Printed] = {}  # its kind, by place
        self.dotted: dict[str, str] = {}  # the ids with a dot, by their replacements

    # ---- blocks --------------------------------------------------------------------------------

    def add_block(self, block: KeyBlock) -> None:
        node = self._composed(block.text, block.start)
        if node is None or node.value is BROKEN:
            return
        if not isinstance(node.value, dict):
            self.report.add(block.start, "a block is a mapping", "write 'models:', and lines below")
            return
        for key, entry in node.entries.items():
            at = entry.begin
            if key not in _BLOCK_KEYS:
                hint = suggestion(key, _BLOCK_KEYS)
                hint = hint or "a block may hold " + ", ".join(sorted(_BLOCK_KEYS))
                self.report.add(at, f"a block has no key {key!r}", hint)
            elif not isinstance(entry.value, dict):
                self.report.add(at, f"{key!r} is a mapping of names to values")
            elif key == "notation":
                self._note(entry)
            else:
                known: dict[str, Node] = getattr(self, key)
                for name, value in entry.entries.items():
                    if name in known and key != "parameters":
                        line = self.report.source.line_of(known[name].begin)
                        message = f"{name!r} is given twice: first on {line}"
                        self.report.add(value.begin, message, "rename it, or take it out")
                    known[name] = self._of_document(value) if key == "claims" else value

    def _note(self, tree: Node) -> None:
        for piece, entry in tree.entries.items():
            if not isinstance(entry.value, dict | list) and entry.text.strip():
                self.notation[piece] = entry.text
            else:
                self.report.add(entry.begin, "notation stands for an expression")

    def _of_document(self, entry: Node) -> Node:
        """A claim of a block, with this document as its source unless it has another."""
        if not isinstance(entry.value, dict) or {"document", "sources"} & set(entry.entries):
            return entry
        document = self._entry(self.document, entry.begin)
        return replace(entry, value={**entry.entries, "document": document})

    # ---- marks ---------------------------------------------------------------------------------

    def add_mark(self, mark: Mark) -> None:
        segments = list(mark.segments())
        keyed = bool(segments) and _KEY.match(segments[0].text) is not None
        stated = None if keyed or not segments else segments.pop(0)
        try:
            spoken = spoken_of(mark, stated)
        except LatexError as error:
            place = mark.start if error.column < 0 else mark.before.places[error.column]
            self.report.add(place, error.message, error.hint)
            return
        entries: dict[str, Node] = {}
        parameters: dict[str, Node] = {}
        for segment in segments:
            found = _KEY.match(segment.text)
            if found is None or _SECOND_KEY.match(segment.text, found.end()):
                message = f"{segment.text!r} is not one key with its value"
                self.report.add(segment.start, message, "write key: value, and ';' between")
                continue
            value = segment.part(found.end(), len(segment.text))
            node = self._composed(value, segment.start)
            if node is None:
                self.report.add(segment.start, f"{found['key']!r} has no value")
                continue
            kept = entries if found["key"] in _CLAIM_KEYS else parameters
            if found["key"] in kept:
                self.report.add(segment.start, f"{found['key']!r} is given twice")
            kept[found["key"]] = replace(node, key=segment.start)
        self._state(mark, spoken, entries, parameters)

    def _state(
        self, mark: Mark, spoken: Spoken, entries: dict[str, Node], parameters: dict[str, Node]
    ) -> None:
        chosen = "model" in entries
        if not chosen and self.models:
            entries["model"] = self._entry(list(self.models)[-1], mark.start)
        text = spoken.text or _PLACEHOLDER
        inside, defined = self._words_of(entries.get("model"))
        named = {*parameters, *self.parameters, *inside}
        words = spoken.words(self.notation, named) | inside
        misspelt = self._misspelt(entries, parameters, words)
        own = {*parameters, *_names_of_cases(entries), *defined}
        if not chosen and self.models and not misspelt:
            known = own | inside | set(self.parameters)
            if problem := of_another_model(spoken.text, known, self.models, self._words_of):
                self.report.add(mark.start, *problem)
                return
        parameters |= {
            name: entry
            for name, entry in self.parameters.items()
            if name in words and name not in own
        }
        if parameters:
            entries["parameters"] = _mapping(parameters, mark.start)
        entries["claim"] = self._entry(text, mark.start, self._written(spoken, text, mark))
        for key, value in (("document", self.document), ("section", mark.section)):
            if value and not {key, "sources"} & set(entries):
                entries[key] = self._entry(value, mark.start)
        said = text if spoken.formula is None else spoken.formula.text
        given = mark.id or self._made_id(mark, said, entries)
        name = self._undotted(given)
        if "title" not in entries:
            entries["title"] = self._entry(mark.sentence or given, mark.start)
        truth = entries.get("truth")
        if truth is not None and isinstance(truth.value, str):
            entries["truth"] = self._entry(self._undotted(truth.text), mark.start)
        if name in self.claims:
            line = self.report.source.line_of(self.claims[name].begin)
            message = f"the id {given!r} is given twice: first on {line}"
            self.report.add(mark.start, message, "give one of the two another #id")
            return
        self.claims[name] = _mapping(entries, mark.start)
        if spoken.formula is not None:
            self.formulas[name] = spoken.formula, dict(self.notation)
        if spoken.prints is not None:
            self.written[name] = spoken.written(self.report.source)
            kind = Printed.FORMULA if spoken.figure is None else Printed.FIGURE
            self.printed[spoken.prints.start, spoken.prints.places[-1]] = kind

    def _misspelt(
        self, entries: dict[str, Node], parameters: dict[str, Node], words: set[str]
    ) -> bool:
        """Report misspelled keys and correct them; return whether there are any."""
        said = [_shown(one) for one in entries.values()] + list(self.notation.values())
        used = words.union(*map(WORDS.findall, said))
        unused = {name: one for name, one in parameters.items() if name not in used}
        misspelt = False
        for name, entry in unused.items():
            key = nearest(name, _CLAIM_KEYS)
            if key is not None and not isinstance(entry.value, dict | list):
                message = f"{name!r} is neither a key nor used in the model or the claim"
                self.report.add(entry.begin, message, f"did you mean {key!r}?")
                entries.setdefault(key, parameters.pop(name))
                misspelt = True
        return misspelt

    def _written(self, spoken: Spoken, text: str, mark: Mark) -> SourceText:
        """The statement's text, with the places of its pieces."""
        source = self.report.source
        pieces = ((0, spoken.start or mark.start), *spoken.places)
        return SourceText.placed(text, *((column, source.location(at)) for column, at in pieces))

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

    def _made_id(self, mark: Mark, text: str, entries: Mapping[str, Node]) -> str:
        """An id made from statement, model and parameters: moving the sentence keeps it."""
        parts = [text, *(f"{key}={_shown(one)}" for key, one in sorted(entries.items())
                         if key in ("model", "parameters", "cases"))]  # fmt: skip
        digest = hashlib.blake2b("\n".join(parts).encode(), digest_size=3).hexdigest()
        name = f"{_slug(mark.section) or self.document}-{digest}"
        self.made[name] += 1
        count = self.made[name]
        return name if count == 1 else f"{name}--{count}"

    def _undotted(self, name: str) -> str:
        """The id, with a replacement for the dot, which claims files use for statements."""
        if not _DOTTED.fullmatch(name):
            return name
        written = name.replace(".", _DOT)
        self.dotted[written] = name
        return written

    # ---- both ----------------------------------------------------------------------------------

    def _entry(self, text: str, at: LineColumn, written: SourceText | None = None) -> Node:
        """The value of a text that we add at a place of the document."""
        written = written or SourceText.placed(text, (0, self.report.source.location(at)))
        return Node(value=text, text=text, start=at, last=at[0], style="'", key=at, written=written)

    def _composed(self, text: Piece, at: LineColumn) -> Node | None:
        """The nodes of a piece of YAML, with their places in the document; None if empty."""
        starts = [0]
        for line in text.text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)

        def place(position: LineColumn) -> LineColumn:
            line, column = position
            index = starts[min(line, len(starts) - 1)] + column
            return text.places[min(index, len(text.places) - 1)]

        return compose_piece(text.text, self.report, place, at)

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
            claim = replace(
                read,
                id=self.dotted.get(read.id, read.id),  # the id in the document
                truth=read.truth and self.dotted.get(read.truth, read.truth),
                written=self.written.get(name),
            )
            try:
                for one in self._with_formula(name, claim):
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

    def _with_formula(self, name: str, claim: Claim) -> Iterator[Claim]:
        """The claim, with its formula as its statement; a chain gives one claim for each link.

        Raises:
            DropcheckError: the formula or the model cannot be read.
        """
        if name not in self.formulas:
            yield claim
            return
        formula, notation = self.formulas[name]
        source = self.report.source
        axes = axes_in(parse_claim(claim), claim.expand()[0].parameters)
        try:
            refuse_doubtful_number(formula.text, source.text, axes, notation)
            texts = statements(formula.text, axes, notation)
        except LatexError as error:
            place = formula.places[min(error.column, len(formula.places) - 1)]
            raise DropcheckError(source.problem(place, error.message, error.hint)) from None
        for count, text in enumerate(texts, 1):
            written = SourceText.placed(text, (0, source.location(formula.start)))
            own = claim.id if count == 1 else f"{claim.id}-{count}"
            yield replace(claim, id=own, statement=written, formula=True)


def refuse_doubtful_number(
    formula: str, document: str, axes: Mapping[str, int], notation: Mapping[str, str]
) -> None:
    r"""Refuse a π that may be the number, or a quantity that the document calls so, such as π_i.

    After a digit, as in 2π, it is the number.

    Raises:
        LatexError: the model has no pi, but the document gives π an index or begins a formula by
            π =.

    >>> refuse_doubtful_number(r"\sqrt{2\pi} = 2.5", r"weights $\pi_k$", {}, {})
    >>> refuse_doubtful_number(r"\operatorname{Var}(m) = \pi(1 - \pi)", "", {}, {})
    """
    own = _OWN_PI.search(document)
    if own is None or "pi" in axes or r"\pi" in notation:
        return
    for found in _PI.finditer(formula):
        if not formula[: found.start()].rstrip()[-1:].isdigit():
            raise LatexError(
                found.start(),
                rf"\pi may be the number 3.14159… or the document's own, as in {own[0].strip()!r}",
                r"""call it pi in the model, or say which: notation: {"\\pi": pi}""",
            )


def _names_of_cases(entries: Mapping[str, Node]) -> set[str]:
    """The names of the parameters in the cases of a mark."""
    cases = entries["cases"].items if "cases" in entries else []
    return {name for case in cases for name in case.entries}


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
