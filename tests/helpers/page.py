"""The page that the tests of the HTML report look at, and its parts as a parser finds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

from picture_cases import ALL_KINDS, HOSTILE
from report_cases import run_of

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.report import Report
from dropcheck.report.html import html_report
from dropcheck.results import Passage, RunResult

VOID = {"br", "hr", "input", "link", "meta"}

CLAIMS = """\
dropcheck: 1
documents:
  scaling-post:
    title: Scaling <in> "attention"
    date: 2024-02-13
    url: https://example.org/scaling?a=1&b=2
  sneaky: {title: Not a link, url: "javascript:alert(1)"}
claims:
  qk-variance:
    title: The dot product of a query and a key has variance d_k
    document: scaling-post
    note: Each of the <dk> terms has variance 1 & no more.
    parameters: {dk: [64, 512]}
    model: |
      q ~ normal(0, 1)[dk]
      k ~ normal(0, 1)[dk]
    requires: dk >= 1
    claim: Var(q @ k) == dk
  heavy-tail:
    title: A tail
    document: sneaky
    model: y ~ normal(0, 0.41)
    claim: 0.405 <= Std(y) <= 0.415
"""


def registry() -> Registry:
    return read_text(CLAIMS)


def run_of_all_kinds() -> RunResult:
    """Every kind of case; one claim has several, and one another document and tag."""
    first, *rest = ALL_KINDS
    several = [
        replace(
            first,
            parameters={"dk": dk},
            draws=int(1000 * dk),
            repeat=f"dropcheck run qk-variance --dk {dk:g} --seed 0",
        )
        for dk in (64.0, 512.0)
    ]
    rest[1] = replace(rest[1], sources=(Passage("sneaky"),), tags=("tails", "attention"))
    return run_of(*several, *rest)


def page() -> str:
    return html_report(Report(run_of_all_kinds(), registry()))


@dataclass
class Node:
    """An element with what is in it, in order."""

    name: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def all(self, name: str | None = None, **attributes: str) -> Iterator[Node]:
        """Every element below with this name and these attributes, in order."""
        for child in self.children:
            if isinstance(child, Node):
                wanted = {key.rstrip("_").replace("_", "-"): one for key, one in attributes.items()}
                if name in (None, child.name) and all(
                    child.attributes.get(key) == one for key, one in wanted.items()
                ):
                    yield child
                yield from child.all(name, **attributes)

    def one(self, name: str | None = None, **attributes: str) -> Node:
        found = list(self.all(name, **attributes))
        assert len(found) == 1, (name, attributes, len(found))
        return found[0]

    @property
    def text(self) -> str:
        """All text in it, with single spaces."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join(" ".join(parts).split())


class _Builder(HTMLParser):
    """Builds the tree, and holds every tag to be closed in its turn."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("document")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice: {names}"
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(text: str) -> Node:
    builder = _Builder()
    builder.feed(text)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1].name}> is not closed"
    return builder.open[0]


__all__ = ["HOSTILE", "Node", "page", "parse", "registry", "run_of_all_kinds"]
