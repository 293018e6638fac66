"""The reader: what it yields, which file it reads, and files that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from claims_texts import GOOD, WHOLE, claim_of, file_with

from dropcheck.claims import reader
from dropcheck.claims.reader import load_registry, read_registries, read_registry, read_text
from dropcheck.claims.registry import Registry, Tolerance
from dropcheck.claims.yaml_places import LARGEST_FILE
from dropcheck.errors import DropcheckError, Problem

# ---- what is read --------------------------------------------------------------------------------


def files_of(registry: Registry) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.location.file for one in registry.claims.values()))


def test_a_whole_file() -> None:
    registry = read_text(WHOLE, "claims.yaml")
    assert registry.name == "claims.yaml"
    assert registry.documents["post"].date == "2024-02-13"
    assert registry.documents["post"].url == "https://example.org/scaling"
    first, second = registry.claims.values()
    assert first.title == "The dot product has variance d_k"
    assert first.statement.text == "Var(q @ k) == dk"
    assert first.parameters == {
        "dk": (16.0, 64.0, 256.0),
        "law": ("normal(0, 1)", "rademacher()"),
        "scale": (0.001,),
    }
    assert first.cases is None
    assert [text.text for text in first.requires] == ["dk > 0"]
    assert (first.expect, first.tolerance, first.resolution) == ("verified", None, 0.02)
    assert first.tags == ("attention", "no")
    assert first.note == "A sum of d_k terms."
    assert (first.location.line, first.location.column) == (14, 3)
    assert len(first.expand()) == 6
    assert second.cases == ({"p": 0.1, "n": 10.0}, {"p": 0.5, "n": 40.0})
    assert second.model is None
    assert (second.expect, second.tolerance, second.within) == ("refuted", Tolerance(0.005), 0.5)
    assert second.tags == ()  # its own, empty: the defaults' are not wanted
    place_of_n = second.parameter_locations["n"]
    assert (place_of_n.line, place_of_n.column) == (36, 18)


def test_defaults_fill_in_what_a_claim_leaves_out() -> None:
    defaults = "defaults: {within: 0.5, tags: [t], expect: refuted, section: S}\n"
    text = file_with("title: T\nclaim: 1 == 2").replace("claims:", defaults + "claims:")
    (claim,) = read_text(text).claims.values()
    assert (claim.within, claim.tags, claim.expect) == (0.5, ("t",), "refuted")
    assert [one.section for one in claim.sources] == ["S"]
    own = text.replace("    title", "    resolution: 0.1\n    expect: verified\n    title")
    (claim,) = read_text(own).claims.values()
    assert (claim.within, claim.resolution, claim.expect) == (None, 0.1, "verified")


@pytest.mark.parametrize(
    ("written", "number"),
    [("010", 10), ("0o10", 8), ("0x10", 16), ("1e-3", 0.001), ("-0.0", 0), (".5", 0.5), ("+3", 3)],
)
def test_numbers_by_the_core_rules(written: str, number: float) -> None:
    claim = claim_of(f"title: T\nclaim: p == p\nparameters: {{p: {written}}}")
    assert claim.parameters["p"] == (number,)


@pytest.mark.parametrize("words", ["no", "on", "yes", "off", "2024-02-13", "1:30", "1_0"])
def test_what_only_yaml_1_1_takes_for_something_else_is_text(words: str) -> None:
    assert claim_of(f"title: {words}\nclaim: 1 == 1").title == words


def test_line_ends_and_a_byte_order_mark_make_no_difference() -> None:
    expected = read_text(WHOLE)
    for text in ("\ufeff" + WHOLE, WHOLE.replace("\n", "\r\n")):
        registry = read_text(text)
        assert registry.claims.keys() == expected.claims.keys()
        for name, claim in registry.claims.items():
            assert claim.statement.places == expected.claims[name].statement.places


# ---- files that cannot be read -------------------------------------------------------------------


def file_problem(path: Path) -> Problem:
    with pytest.raises(DropcheckError) as caught:
        read_registry(path)
    (problem,) = caught.value.problems
    return problem


def test_a_file_of_unbounded_size(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    with path.open("wb") as stream:
        stream.truncate(LARGEST_FILE + 1)
    assert "larger than 16 MB" in file_problem(path).message


# ---- which registry ------------------------------------------------------------------------------


def test_the_registry_named_then_the_folder_s_then_the_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = tmp_path / "package" / "claims.yaml"
    shipped.parent.mkdir()
    shipped.write_text(GOOD)
    monkeypatch.setattr("importlib.resources.files", lambda _: shipped.parent)
    assert load_registry().name == "claims.yaml (shipped with dropcheck)"
    Path("claims.yaml").write_text(WHOLE)
    assert load_registry().name == "claims.yaml"
    assert "qk-variance" in load_registry().claims
    Path("other.yaml").write_text(GOOD)
    assert load_registry(["other.yaml"]).name == "other.yaml"
    with pytest.raises(DropcheckError, match=r"there is no file 'absent\.yaml'"):
        load_registry(["absent.yaml"])


# ---- several files -------------------------------------------------------------------------------


def written(folder: Path, name: str, identifier: str, more: str = "") -> str:
    """A file with one claim in the current folder; its name."""
    claim = f"claims: {{{identifier}: {{title: T, claim: 1 == 1, document: d}}}}"
    (folder / name).write_text(f"dropcheck: 1\ndocuments: {{d: {{title: D{more}}}}}\n{claim}\n")
    return name


def test_several_files_are_one_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("defaults.yaml").write_text(GOOD.replace("claims:", "defaults: {within: 2}\nclaims:"))
    first, second = written(tmp_path, "x.yaml", "b"), written(tmp_path, "y.yaml", "c")
    registry = read_registries(["defaults.yaml", first, second])
    assert registry.name == "defaults.yaml, x.yaml, y.yaml"
    assert files_of(registry) == ("defaults.yaml", "x.yaml", "y.yaml")
    assert [(one.id, one.location.file, one.within) for one in registry.claims.values()] == [
        ("a", "defaults.yaml", 2), ("b", "x.yaml", None), ("c", "y.yaml", None),
    ]  # fmt: skip
    assert list(registry.documents) == ["d"]
    assert load_registry(["defaults.yaml", first, second]) == registry


def test_one_file_or_the_same_twice_is_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = written(tmp_path, "x.yaml", "b")
    for again in (name, f"./{name}", tmp_path / name):
        assert read_registries([name, again]) == read_registries([name]) == read_registry(name)
    other = written(tmp_path, "y.yaml", "c")
    assert files_of(read_registries([name, other, name])) == (name, other)
    shipped = read_registries(["shipped", name])
    assert files_of(shipped) == (reader.SHIPPED_NAME, name)


def test_documents_of_one_key_stay_those_of_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [written(tmp_path, "x.yaml", "a"), written(tmp_path, "y.yaml", "b", ", date: today")]
    registry = read_registries(names)
    keys = [one.sources[0].document or "" for one in registry.claims.values()]
    found = [registry.documents[key].date for key in keys]
    assert found == [None, "today"]
    assert list(registry.documents) == ["d", "d (y.yaml)"]


def test_packs_that_share_ids_are_named_before_them() -> None:
    both = read_registries(["pack:dropout", "pack:attention"])
    assert {"dropout/mean-kept", "attention/mean-kept", "attention/calls"} <= both.claims.keys()
    assert all(claim.id == key for key, claim in both.claims.items())
    alone = read_registries(["pack:dropout"])
    assert "mean-kept" in alone.claims
    twice = read_registries(["pack:dropout", "pack:dropout"])
    assert twice.claims.keys() == alone.claims.keys()
