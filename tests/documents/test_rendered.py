"""What GitHub's own renderer makes of a marked document: the unmarked one, but for the comments."""

from __future__ import annotations

import re
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from fuzzed_documents import CELLS

from dropcheck.claims.yaml_places import Problems, decode
from dropcheck.documents.markdown_source import read_markdown
from dropcheck.documents.marks import Mark

TOP = Path(__file__).parents[2]
PAPER = "\n".join(CELLS)
MARKED = {
    "paper.md": PAPER,
    **{path.name: path.read_text(encoding="utf-8") for path in sorted((TOP / "docs").glob("*.md"))},
    "README.md": (TOP / "README.md").read_text(encoding="utf-8"),
}
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CLOSING = "<!-- /dropcheck -->"


def rendered(text: str) -> str:
    return str(cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))


def without_marks(text: str, name: str) -> str:
    """The document as it would be without dropcheck."""
    source = decode(text.encode(), name)
    marks = [one for one in read_markdown(source, Problems(source)).parts if isinstance(one, Mark)]
    kept = "\n".join(source.lines)
    starts = [0]
    for line in source.lines:
        starts.append(starts[-1] + len(line) + 1)
    for mark in reversed(marks):
        at = starts[mark.start[0]] + mark.start[1]
        rest = kept[kept.index("-->", at) + 3 :]
        kept = kept[:at] + (rest if mark.pair is None else rest.replace(_CLOSING, "", 1))
    return kept


@pytest.mark.parametrize("name", MARKED)
def test_rendered_it_is_the_unmarked_document_but_for_the_comments(name: str) -> None:
    text = MARKED[name]
    assert _COMMENT.sub("", rendered(text)) == _COMMENT.sub("", rendered(without_marks(text, name)))


def test_the_marks_are_the_comments_that_github_hides() -> None:
    """And the documents of this repository show no reader a mark."""
    seen = 0
    for name, text in MARKED.items():
        source = decode(text.encode(), name)
        parts = read_markdown(source, Problems(source)).parts
        hidden = re.findall(r"<!--\s*dropcheck\b[^>]*?:.*?-->", rendered(text), re.DOTALL)
        seen += sum(isinstance(one, Mark) for one in parts)
        assert len(hidden) >= sum(isinstance(one, Mark) for one in parts), name
    assert seen > 3
