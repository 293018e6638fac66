"""The page about the claims file lists the keys that the reader knows."""

from __future__ import annotations

from claims_file_page import PAGE, page, rows

from dropcheck.claims.claimsfile import CLAIM, LEVELS


def test_the_keys_on_the_page_are_those_of_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "python tests/helpers/claims_file_page.py writes it"


def test_every_key_has_a_row_with_what_it_holds_and_means() -> None:
    for level in LEVELS:
        for key, row in zip(level.keys, rows(level).splitlines()[2:], strict=True):
            name, holds, _, meaning = row.strip("| ").split(" | ")
            assert name == f"`{key.name}`"
            assert holds
            assert meaning == key.description


def test_a_row_shows_what_holds_where_the_key_is_left_out() -> None:
    left_out = {row.split(" | ")[0]: row.split(" | ")[2] for row in rows(CLAIM).splitlines()}
    assert left_out["| `title`"] == "an error"
    assert left_out["| `resolution`"] == "`0.01`"
    assert left_out["| `note`"] == ""
