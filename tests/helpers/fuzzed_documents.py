"""Documents of each format, and the same spoilt at random."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from dropcheck.documents import read_any
from dropcheck.errors import DropcheckError
from dropcheck.language.check import check_registry

TOP = Path(__file__).parents[2]
MODELS = """\
models:
  inverted: |
    x ~ normal(0, 1)
    m ~ bernoulli(1 - p)
    y = m * x / (1 - p)
  scores: "q, k ~ normal(0, 1)[d_k]"
"""
GAIN = "dropcheck #gain: ~= Std(y) / Std(x) - 1; model: inverted; p: 0.5"
VARIANCE = "dropcheck #variance: d_k: [16, 64]"
SCALED = "dropcheck #scaled: d_k: 64"
COMMENTED = "".join(f"% {line}\n" for line in MODELS.splitlines())
TEX = rf"""\documentclass{{article}}
%%dropcheck
{COMMENTED}
\title{{A paper}}
\begin{{document}}
\section{{Scaling of \emph{{dropout}}}}
It raises it by 41\% % {GAIN}
and so on.
\begin{{align}}
  \operatorname{{Var}}(q \cdot k) &= d_k \\ \label{{eq:v}} % {VARIANCE}
  \operatorname{{Var}}(q^\top k / \sqrt{{d_k}}) &= 1. % {SCALED}
\end{{align}}
\end{{document}}
"""
CELLS = (
    f"# A paper\n\n<!-- dropcheck\n{MODELS}-->\n",
    f"## Scaling of *dropout*\nIt raises it by **41%**<!-- {GAIN} -->\nand so on.\n\n"
    f"$\\operatorname{{Var}}(q \\cdot k) = d_k$<!-- {VARIANCE} -->,\n"
    f"$\\operatorname{{Var}}(q^\\top k / \\sqrt{{d_k}}) = 1$<!-- {SCALED} -->.",
)
_BOTH = ["dropcheck", ": ", " ~= ", " == ", ";", ":", "#a", "_", "$", "\\(", "\\)", "\n", "\n\n",
         "41%", "2/3", "{", "}", "[", "]", "|", "models:\n", "é", "\u202f", "\r\n", "\t", "&",
         "\\frac",          "/dropcheck", "\\", "\U0001d53c"]  # fmt: skip
_COMMENTS = ["<!--", "-->", "<!-- dropcheck: ", "<!-- dropcheck\n", "--", "--!>"]
_BITS = {
    ".md": [*_BOTH, *_COMMENTS, "> ", "- ", "```", "`", "~~~", "    ", "| ", "|---|", "![", "](x)",
            "<", ">", "</", "<p>", "<code>", "</code>", "<pre>", "<script>", "</script>", '"', "'",
            "<a b='", "&nbsp;", "&#", "<![CDATA[", "<td>"],
    ".tex": [*_BOTH, "%", "% dropcheck: ", "%%dropcheck\n", "\\%", "\\begin{align}", "\\end{align}",
             "\\begin{verbatim}", "\\end{verbatim}", "\\verb|", "\\[", "\\]", "\\\\", "\\iffalse",
             "\\fi", "\\url{", "\\section{", "\\end{document}", "$$"],
    ".ipynb": [*_BOTH, *_COMMENTS, '"', "\\n", "\\u", ",", "null", "1e9", '"cells":', "[[[["],
}  # fmt: skip


def notebook(*cells: str | list[str], **more: object) -> str:
    """A notebook with a cell of code, and Markdown cells."""
    code: object = {"cell_type": "code", "source": "8<!-- dropcheck: == 9 -->", "outputs": []}
    texts: list[object] = [
        {"cell_type": "markdown", "metadata": {}, "source": cell} for cell in cells
    ]
    made = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [code, *texts], **more}
    return json.dumps(made, indent=1)


def base_documents(ending: str) -> list[str]:
    """Documents that nobody has spoilt."""
    folders = (TOP / "docs", TOP / "tests" / "documents")
    pages = [
        path.read_text(encoding="utf-8")
        for folder in folders
        for path in sorted(folder.glob("*.md"))
    ]
    if ending == ".md":
        return [*pages, *["\n".join(CELLS)] * len(pages)]
    if ending == ".tex":
        return [TEX]
    return [notebook(*CELLS), notebook(*(text.splitlines(keepends=True) for text in CELLS))]


def spoilt(ending: str, seed: int, count: int) -> Iterator[str]:
    """Documents with some of their characters replaced."""
    chance = random.Random(seed)
    bases, pages = base_documents(ending), base_documents(".md")
    for _ in range(count):
        if ending == ".ipynb" and chance.random() < 0.8:  # its cells, rather than its JSON
            cells = [_spoilt(chance, chance.choice(pages), ".md") for _ in range(2)]
            yield notebook(cells[0], cells[1].splitlines(keepends=True))
        else:
            yield _spoilt(chance, chance.choice(bases), ending)


def _spoilt(chance: random.Random, text: str, ending: str) -> str:
    if len(text) > 3_000:
        start = chance.randrange(len(text) - 2_500)
        text = text[start : start + 2_500]
    for _ in range(chance.randint(0, 6)):
        place = chance.randrange(len(text) + 1)
        put = "".join(chance.choices(_BITS[ending], k=chance.randint(0, 2)))
        text = text[:place] + put + text[place + chance.randint(0, 6) :]
    return text


def hidden(ending: str, text: str) -> str:
    """A text where no carrier reads it: in code, verbatim, in a cell of code."""
    if ending == ".md":
        return f"{'`' * 200}\n{text}\n{'`' * 200}\n"
    if ending == ".tex":
        return f"\\begin{{comment}}\n{text.replace('{comment}', '')}\n\\end{{comment}}\n"
    cell = {"cell_type": "raw", "source": text}
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]})


def read_text(folder: Path, text: str, ending: str) -> int | None:
    """How many claims a text makes; None where it is refused, as it may be."""
    path = folder / f"spoilt{ending}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        registry = read_any(path, path.name)
        check_registry(registry)
    except DropcheckError as error:
        for problem in error.problems:
            where = problem.location
            assert where is None or where.file == path.name
        return None
    return len(registry.claims)
