"""The keys on the page about the claims file, made of the table that the reader uses.

`python tests/helpers/claims_file_page.py` writes them; read the difference before you commit it.
"""

from __future__ import annotations

from pathlib import Path

from dropcheck.claims.claimsfile import (
    CLAIM,
    DEFAULTS,
    DOCUMENT,
    FILE,
    PASSAGE,
    SLOT,
    STATEMENT,
    Key,
    KeyTable,
)

PAGE = Path(__file__).parents[2] / "docs" / "claims-file.md"
BEGIN, END = "## The keys\n", "## Good to know\n"

_TEXT = """\
## The keys

At the top of the file:

{file}

Under `documents`, each document has a key of its own, and under it:

{document}

Under `slots`, to which [code](code-under-test.md) is bound, each slot has a name, and under it:

{slot}

Under `claims`, each claim has its id, and under it:

{claim}

Under the `claims` of a claim, a statement that is more than its text may have:

{statement}

Under `sources`, each passage has:

{passage}

`defaults` may hold {defaults}: a claim that leaves one of them out has the value given there.

"""


def rows(level: KeyTable) -> str:
    """The keys of a level as a Markdown table."""
    head = "| key | holds | if left out | meaning |\n| --- | --- | --- | --- |"
    return "\n".join([head, *map(_row, level.keys)])


def _row(key: Key) -> str:
    absent = "an error" if key.required else f"`{key.default}`" if key.default else ""
    absent += f" without `{key.unless}`" if key.unless else ""
    return (
        f"| `{key.name}` | {key.kind.holds.replace(chr(39), '`')} | {absent} | {key.description} |"
    )


def section() -> str:
    """The part of the page that lists the keys."""
    names = [f"`{key.name}`" for key in DEFAULTS.keys]
    return _TEXT.format(
        file=rows(FILE),
        document=rows(DOCUMENT),
        slot=rows(SLOT),
        claim=rows(CLAIM),
        statement=rows(STATEMENT),
        passage=rows(PASSAGE),
        defaults=", ".join(names[:-1]) + " and " + names[-1],
    )


def page(text: str) -> str:
    """The page with the keys as the table has them."""
    before, _, rest = text.partition(BEGIN)
    return before + section() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
