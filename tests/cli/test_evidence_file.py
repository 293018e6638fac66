"""`--evidence`: files are read whole and written whole, and what is strange in one is an error."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dropcheck.cli import main
from dropcheck.cli.evidence_file import _checksum, merged, read_evidence, write_evidence
from dropcheck.errors import DropcheckError
from dropcheck.judging.evidence.held import packed
from dropcheck.report.numbers import count
from dropcheck.results.drawn import Kept, Unit

CLAIMS = """\
dropcheck: 1
claims:
  fine:
    title: A fair coin, to 0.4%
    model: m ~ bernoulli(0.5)
    claim: P(m == 1) == 0.5
    resolution: 0.004
  pair:
    title: Two statements of the same draws
    model: x, y ~ normal(0, 1)
    claims:
      a: E(x * y) == 0
      b: P(x > 0) == 0.5
      law: x * 1 ~ normal(0, 1)
"""


@pytest.fixture
def here(folder: Path) -> Path:
    (folder / "claims.yaml").write_text(CLAIMS)
    return folder


Called = tuple[int, dict[str, Any], str]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Called:
    code = main(["run", "--format", "json", *arguments])
    shown = capsys.readouterr()
    return code, json.loads(shown.out) if shown.out else {}, shown.err


def told(report: dict[str, Any]) -> list[Any]:
    keys = ("claim", "verdict", "interval", "estimate", "draws")
    return [[case[key] for key in keys] for case in report["cases"]]


def unit(number: int, seed: int = 1, sums: float = 0.5, night: str = "2026-01-01") -> Unit:
    text = packed(np.array([[sums, 2.0]]))
    return Unit(seed=seed, number=number, night=night, seconds=0.1, sums=text)


def kept(*units: Unit) -> Kept:
    return Kept("2026-01-02", {"case": {"model": units}})


# ---- from night to night ------------------------------------------------------------------------


def test_nights_of_three_machines_decide_together_in_any_order(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nights = ("--max-draws", "1.5e6", "--evidence")
    for machine in range(3):
        code, report, _ = run(capsys, "--seed", str(machine + 1), *nights, f"{machine}.json")
        assert code == 4
        assert report["cases"][0]["result"] == "undecided"
    shown = []
    for number in range(3):
        order = random.Random(number).sample(range(3), 3)
        files = [f"--evidence={machine}.json" for machine in order]
        to = f"--evidence=all-{number}.json"
        code, report, _ = run(capsys, to, *files, "--max-draws", "1", "pair.a", "fine")
        shown.append(told(report))
        evidence = report["cases"][0]["evidence"]
        assert (evidence["new"], evidence["draws"]) == (0, report["cases"][0]["draws"])
        assert evidence["nights"] in (1, 2)  # at midnight
        assert code == 0
    assert shown[0] == shown[1] == shown[2]
    whole = [(here / f"all-{number}.json").read_bytes() for number in range(3)]
    assert whole[0] == whole[1] == whole[2]


def test_the_same_file_goes_on_and_threads_make_no_difference(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--max-draws", "5e5", "--evidence")
    one = [told(run(capsys, *few, "one.json", "--threads", "1")[1]) for _ in range(3)]
    two = [told(run(capsys, *few, "two.json", "--threads", "2")[1]) for _ in range(3)]
    assert one == two
    assert one[0] != one[1]
    law = [case for night in one for case in night if case[0] == "pair.law"]
    assert law[0] == law[1] == law[2]  # judged by its own draws, each night


def test_a_statement_has_the_draws_that_it_has_alone(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--max-draws", "5e5", "--seed", "3", "--evidence")
    together = told(run(capsys, *few, "one.json")[1])
    for place, name in ((1, "pair.a"), (2, "pair.b"), (3, "pair.law")):
        assert told(run(capsys, *few, f"{place}.json", name)[1]) == [together[place]]


def test_the_table_says_of_how_many_nights(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "fine", "--evidence", "e.json", "--max-draws", "5e5", "--seed", "2"])
    shown = capsys.readouterr().out
    assert "evidence  " in shown.replace("evidence   ", "evidence  ")
    assert "1 night, " in shown
    assert " · evidence of 1 night · " in shown
    assert "--evidence=e.json" in shown  # in the command that repeats it


def test_every_report_says_what_earlier_runs_drew(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["fine", "--evidence", "e.json", "--max-draws", "5e5", "--exit-zero"]
    main(["run", *few, "--seed", "1", "-o", "r.csv"])
    assert "of earlier runs" not in capsys.readouterr().out
    assert (here / "r.csv").read_bytes().endswith(b",1,0\r\n")
    for name in ("html", "md", "xml", "csv", "json"):
        few += ["-o", f"r.{name}"]
    for shown_in in ("table", "github"):
        main(["run", *few, "--format", shown_in])
        assert re.search(r"evidence[ :].*1 night, [\d.]+k draws, ", capsys.readouterr().out)
    data = json.loads((here / "r.json").read_text())["cases"][0]
    earlier = data["evidence"]["earlier"]
    assert 0 < earlier < data["draws"]
    said = f"1 night, {count(data['draws'])} draws, {count(earlier)} of them of earlier runs"
    for name in ("html", "md", "xml"):
        assert said in (here / f"r.{name}").read_text()
    assert f",1,{earlier}\r\n".encode() in (here / "r.csv").read_bytes()


def test_a_plan_counts_what_is_kept(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def planned(*more: str) -> Any:
        assert main(["plan", "fine", "--format", "json", *more]) == 0
        return json.loads(capsys.readouterr().out)["cases"][0]

    whole = planned()
    assert whole == {**planned("--evidence", "e.json"), "seconds": whole["seconds"]}
    assert not (here / "e.json").exists()
    main(["run", "fine", "--evidence", "e.json", "--max-draws", "5e5"])
    before = (here / "e.json").read_bytes()
    capsys.readouterr()
    half = planned("--evidence", "e.json")
    assert half["evidence"]["earlier"] == half["evidence"]["draws"] > 0
    assert half["draws"] == whole["draws"] - half["evidence"]["draws"]
    assert (here / "e.json").read_bytes() == before
    main(["run", "fine", "--evidence", "e.json"])
    capsys.readouterr()
    assert planned("--evidence", "e.json")["draws"] == 0
    main(["plan", "fine", "--evidence", "e.json"])
    assert "decided by evidence of 1 night, " in " ".join(capsys.readouterr().out.split())


# ---- merging ------------------------------------------------------------------------------------


def test_merging_is_a_union() -> None:
    one, two = kept(unit(0), unit(2)).cases, kept(unit(1), unit(2), unit(0, seed=2)).cases
    whole = merged(one, two, "x")
    assert whole == merged(two, one, "x") == merged(whole, one, "x")
    assert [each.draws for each in whole["case"]["model"]] == [(1, 0), (1, 1), (1, 2), (2, 0)]


def test_the_same_draws_on_another_processor_are_the_same_to_rounding() -> None:
    one, two = kept(unit(0)).cases, kept(unit(0, sums=0.5 + 1e-15, night="2026-01-09")).cases
    assert merged(one, two, "x") == merged(two, one, "x")


def test_the_same_draws_with_other_sums_are_an_error() -> None:
    with pytest.raises(DropcheckError, match="'x' has other sums of the same draws of 'case'"):
        merged(kept(unit(0)).cases, kept(unit(0, sums=0.6)).cases, "x")


# ---- files --------------------------------------------------------------------------------------


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    assert write_evidence(path, kept(unit(0), unit(1)), []) == []
    assert read_evidence([path]).cases == kept(unit(0), unit(1)).cases
    before = path.stat().st_mtime_ns
    assert write_evidence(path, kept(unit(1)), []) == []
    assert path.stat().st_mtime_ns == before  # there was nothing to add


def _add(place: tuple[str, int]) -> int:
    return len(write_evidence(Path(place[0]), kept(unit(place[1])), []))


def test_runs_that_end_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        assert sum(pool.map(_add, [(str(path), number) for number in range(24)])) == 0
    assert len(read_evidence([path]).cases["case"]["model"]) == 24
    assert sorted(one.name for one in tmp_path.iterdir()) == ["e.json", "e.json.lock"]


def test_of_several_files_only_the_first_may_be_missing(tmp_path: Path) -> None:
    assert read_evidence([tmp_path / "no.json"]).cases == {}
    with pytest.raises(DropcheckError, match=r"there is no evidence '.*other\.json'"):
        read_evidence([tmp_path / "no.json", tmp_path / "other.json"])


def changed(change: Callable[[dict[str, Any]], None]) -> Callable[[str], str]:
    """The text of a file that somebody changed, with a checksum that fits."""

    def text(sound: str) -> str:
        whole = json.loads(sound)
        change(whole)
        if isinstance(whole.get("cases"), list):
            whole["checksum"] = _checksum(whole["cases"])
        return json.dumps(whole)

    return text


def of_unit(**entries: Any) -> Callable[[str], str]:
    return changed(lambda whole: whole["cases"][0]["units"][0].update(entries))


BROKEN: dict[str, tuple[Callable[[str], str], str]] = {
    "empty": (lambda _: "", "it is no JSON"),
    "half": (lambda text: text[: len(text) // 2], "it is no JSON"),
    "a digit": (lambda text: text.replace("0.1,", "0.2,", 1), "its checksum is another"),
    "claims": (lambda _: CLAIMS, "it is no JSON"),
    "a list": (lambda _: "[]", "it has no key 'dropcheck-evidence'"),
    "deep": (lambda _: "[" * 100_000, "it is no JSON"),
    "NaN": (lambda text: text.replace("0.1,", "NaN,", 1), "NaN is no number"),
    "version": (changed(lambda whole: whole.update({"dropcheck-evidence": 2})), "another version"),
    "no cases": (changed(lambda whole: whole.update(cases=3)), "its checksum is another"),
    "a case": (changed(lambda whole: whole["cases"].append({"case": 3})), "other keys"),
    "a name": (changed(lambda whole: whole["cases"][0].update(case=3)), "is no case"),
    "twice": (changed(lambda whole: whole["cases"].append(whole["cases"][0])), "twice"),
    "a unit": (changed(lambda whole: whole["cases"][0]["units"].append(4)), "other keys"),
    "a key": (of_unit(more=1), "other keys"),
    "a seed": (of_unit(seed=-1), "none that a run makes"),
    "a number": (of_unit(number=True), "none that a run makes"),
    "a large one": (of_unit(number=10**400), "none that a run makes"),
    "a night": (of_unit(night="yesterday"), "none that a run makes"),
    "seconds": (of_unit(seconds="1"), "none that a run makes"),
    "sums": (of_unit(sums=""), "none that a run makes"),
    "letters": (of_unit(sums="abcde"), "are no numbers"),
    "bytes": (of_unit(sums="AAAA"), "are no numbers"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_error_and_stays_as_it_is(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = here / "e.json"
    assert write_evidence(path, kept(unit(0), unit(1)), []) == []
    change, why = BROKEN[name]
    path.write_text(change(path.read_text()))
    before = path.read_bytes()
    code, _, said = run(capsys, "--evidence", "e.json")
    assert (code, path.read_bytes()) == (2, before)
    assert "'e.json' is no evidence that a run has written: " in said
    assert why in said
    assert said.count("error: ") == 1
    assert write_evidence(path, kept(unit(5)), []) != []
    assert path.read_bytes() == before


def test_units_of_another_shape_are_an_error(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("fine", "--max-draws", "5e5", "--evidence", "e.json")
    run(capsys, *few)
    path = here / "e.json"
    for sums in ([[1.0, 2.0]], [[-1.0]], [[0.5]], [[float("inf")]]):
        path.write_text(of_unit(sums=packed(np.array(sums)))(path.read_text()))
        code, _, said = run(capsys, *few)
        assert code == 2
        assert "the evidence of 'fine' is not what a run writes" in said


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "e.json"
    write_evidence(path, kept(unit(0)), [])
    size = path.stat().st_size
    monkeypatch.setattr("dropcheck.cli.evidence_file.MOST_BYTES", size)
    [problem] = write_evidence(path, kept(unit(1)), [])
    assert "the evidence is too large" in problem.message
    assert path.stat().st_size == size
    monkeypatch.setattr("dropcheck.cli.evidence_file.MOST_BYTES", size - 1)
    with pytest.raises(DropcheckError, match="is larger than"):
        read_evidence([path])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--evidence", "e.json", "--exact"], "'--evidence' keeps draws"),
        (["--evidence", "no/e.json"], "there is no folder 'no'"),
        (["--evidence", "e.json", "-o", "./e.json"], "name one file: 'e.json'"),
        (["--evidence", "claims.yaml"], "it is no JSON"),
    ],
)
def test_what_cannot_be_kept_is_said_before_a_draw(
    arguments: list[str], why: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = run(capsys, *arguments)
    assert code == 2
    assert why in said
    assert [one.name for one in here.iterdir()] == ["claims.yaml"]
