"""Documents spoilt at random: read or refused, never with a traceback, no mark where there is none.

A hundred thousand of them are read by hand: `python tests/helpers/fuzzed_documents.py 1 25000 .md`.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fuzzed_documents import base_documents, hidden, read_text, spoilt
from markdown_it import MarkdownIt

from dropcheck.documents import ENDINGS
from dropcheck.documents.markdown import html_parts

READ = (".md", ".tex", ".ipynb")


@pytest.mark.parametrize("ending", READ)
def test_a_spoilt_document_is_read_or_refused(tmp_path: Path, ending: str) -> None:
    found = [read_text(tmp_path, text, ending) for text in spoilt(ending, 3, 80)]
    assert None in found
    assert any(found)


@pytest.mark.parametrize("ending", READ)
def test_no_mark_is_seen_in_code(tmp_path: Path, ending: str) -> None:
    for text in [*base_documents(ending)[-2:], *spoilt(ending, 4, 20)]:
        assert not read_text(tmp_path, hidden(ending, text), ending)


class _Comments(HTMLParser):
    """The comments that Python's own parser sees outside code."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.within = 0
        self.found: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the library calls it so
        self.within += tag in ("pre", "code")

    def handle_endtag(self, tag: str) -> None:
        self.within = max(0, self.within - (tag in ("pre", "code")))

    def handle_comment(self, data: str) -> None:
        if not self.within:
            self.found.append(data)


def test_comments_are_those_that_another_parser_sees() -> None:
    parser = MarkdownIt("commonmark").enable("table")
    for text in map(parser.render, base_documents(".md")):
        starts = [start for is_comment, start, _ in html_parts(text) if is_comment]
        ours = [re.match(r"<!--(.*?)-->", text[at:], re.DOTALL) for at in starts]
        assert [one[1] for one in ours if one is not None] == _Comments(text).found


LONG = {
    ".md": ["<!-- x ", "<p ", "<p b='", "<p>&#", "<p><", "<script>", "<!a ", "</p ", "<p><code>",
            "<p>8<!-- dropcheck: == 9 -->"],
    ".tex": ["%", "\\section{", "\\\\[", "\\begin{align}", "\\url{", "\\verb|", "$", "\\cite[", "{",
             "\\iffalse ", "\\emph{", "8 % dropcheck: == 9\n", "\\[ x % a\n", "\\lstinline[", "~"],
    ".ipynb": ["[", "{", '"', '{"a":', '"a",', "\\"],
}  # fmt: skip


def test_many_marks_in_one_formula_take_no_long_time(tmp_path: Path) -> None:
    rows = "".join(f"a &= {n} \\\\ % dropcheck #n{n}: expect: refuted\n" for n in range(3_000))
    assert read_text(tmp_path, f"\\begin{{align}}\n{rows}\\end{{align}}\n", ".tex") is None


@pytest.mark.parametrize(
    ("ending", "piece"), [(ending, piece) for ending, pieces in LONG.items() for piece in pieces]
)
def test_what_is_never_closed_takes_no_long_time(tmp_path: Path, ending: str, piece: str) -> None:
    """What takes time in the square of its length would take minutes here."""
    read_text(
        tmp_path, piece * min(200_000 // len(piece), 20_000 if len(piece) < 9 else 1_000), ending
    )
    assert ending in ENDINGS
