"""`init` writes a claims file that passes, and never writes over anybody's work."""

from __future__ import annotations

from pathlib import Path

import pytest

import dropcheck
from dropcheck.cli import main

Capsys = pytest.CaptureFixture[str]
SCHEMA = "claims.schema.json"
STARTER = (Path(dropcheck.__file__).parent / "starter.yaml").read_text(encoding="utf-8")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_starter_passes(folder: Path, capsys: Capsys) -> None:
    assert main(["init"]) == 0
    told = capsys.readouterr()
    assert told.out == (
        "wrote claims.yaml, and claims.schema.json for editors\nrun it: dropcheck run\n"
    )
    assert told.err == ""
    assert names(folder) == {"claims.yaml", SCHEMA}
    assert main(["check"]) == 0
    assert capsys.readouterr().out == "claims.yaml: 4 claims, 7 cases, no errors\n"
    assert main(["run"]) == 0
    assert "7 cases: 7 passed, 0 failed, 0 undecided" in capsys.readouterr().out


def test_the_starter_is_commented_and_names_the_schema_beside_it(
    folder: Path, capsys: Capsys
) -> None:
    assert main(["init"]) == 0
    lines = (folder / "claims.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# yaml-language-server: $schema={SCHEMA}"
    assert sum("#" in line for line in lines) > 15
    assert max(map(len, lines)) <= 80
    capsys.readouterr()
    assert main(["schema"]) == 0
    assert (folder / SCHEMA).read_text(encoding="utf-8") == capsys.readouterr().out


def test_what_its_comments_advise_works(folder: Path, capsys: Capsys) -> None:
    assert main(["init"]) == 0
    for command in (
        "run coin-spread --n 100,1000",
        "run --tag coins",
        "show coin-mean",
    ):
        assert f"dropcheck {command}" in STARTER
        assert main(command.split()) == 0
    capsys.readouterr()


def test_a_file_is_not_written_over(folder: Path, capsys: Capsys) -> None:
    (folder / "claims.yaml").write_text("mine")
    assert main(["init"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "there is a file 'claims.yaml' already" in told.err
    assert "--force" in told.err
    assert (folder / "claims.yaml").read_text() == "mine"
    assert names(folder) == {"claims.yaml"}


def test_a_link_that_leads_nowhere_is_in_the_way(folder: Path) -> None:
    (folder / "claims.yaml").symlink_to("elsewhere.yaml")
    assert main(["init"]) == 2
    assert names(folder) == {"claims.yaml"}


def test_somebody_elses_schema_is_not_written_over(folder: Path, capsys: Capsys) -> None:
    (folder / SCHEMA).write_text('{"title": "Insurance claims"}')
    assert main(["init"]) == 2
    assert "not dropcheck's schema" in capsys.readouterr().err
    assert names(folder) == {SCHEMA}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "is a folder"),
        ("none/claims.yaml", "could not be written"),
        (SCHEMA, "is the name of the schema"),
        ("claims.yaml/under", "could not be written"),
    ],
)
def test_what_cannot_be_written_is_told(name: str, said: str, folder: Path, capsys: Capsys) -> None:
    if name.startswith("claims.yaml/"):
        (folder / "claims.yaml").write_text("a file, no folder")
    before = names(folder)
    assert main(["init", str(folder / name)]) == 2
    told = capsys.readouterr()
    assert said in " ".join(told.err.split())
    assert "hint: " in told.err
    assert told.out == ""
    assert names(folder) == before


@pytest.mark.parametrize(
    ("named", "written"),
    [("notes", "notes.yaml"), ("claims", "claims.yaml"), ("notes.yml", "notes.yml")],
)
def test_a_name_without_an_ending_gets_one(
    folder: Path, capsys: Capsys, named: str, written: str
) -> None:
    assert main(["init", named]) == 0
    assert capsys.readouterr().out.startswith(f"wrote {written}, ")
    assert names(folder) == {written, SCHEMA}
