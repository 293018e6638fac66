"""What show WORD says of each word is true, and the exit codes of mutate."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dropcheck
from dropcheck.cli import main
from dropcheck.report.reference import said_of, words, words_called
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS


def test_every_word_is_found_by_its_name_and_says_what_it_is() -> None:
    for group in words().values():
        for word in group:
            assert word in words_called(word.name)
            assert said_of(word)["is"] == word.summary


def _examples() -> dict[str, dict[str, str]]:
    """A claim for each word with an example: of a law the model, of a function the statement."""
    claims = {}
    for title, group in words().items():
        for number, word in enumerate(group if not title.startswith("keys") else ()):
            said = said_of(word)
            where = "model" if isinstance(word.meaning, Law) else "claim"
            claim = {where: said["example"]} if "example" in said else {}
            claim |= {label: said[label] for label in ("model", "claim") if label in said}
            if claim:
                name = f"{re.sub(r'[^a-z]+', '-', title)}-{number}"
                claims[name] = {"title": word.written, "claim": "1 == 1"} | claim
    return claims


def test_every_example_is_read_and_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slot = {
        "takes": ["x", "p"],
        "model": "m ~ bernoulli(1 - p)\ny = m * x / (1 - p)",
        "gives": "y",
        "gradient": "m / (1 - p)",
        "evaluation": "x",
    }
    claims = _examples()
    file = {"dropcheck": 1, "slots": {"dropout": slot}, "claims": claims}
    path = tmp_path / "claims.yaml"
    path.write_text(json.dumps(file), encoding="utf-8")
    main(["run", "all", "--file", str(path), "--max-draws", "200000", "--format", "json"])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    verdicts = {case["claim"]: case["verdict"] for case in told["cases"]}
    of_laws = ("statements-about-laws", "statements-4")  # which take more draws
    open_ones = [name for name, verdict in verdicts.items() if verdict != "verified"]
    assert verdicts.keys() == claims.keys()
    assert all(verdicts[name] != "refuted" and name.startswith(of_laws) for name in open_ones)


@pytest.mark.parametrize("name", sorted(LAWS))
def test_what_is_said_of_a_law_holds(name: str) -> None:
    [word] = (one for one in words_called(name) if one.meaning is LAWS[name])
    said = said_of(word)
    for label, operator in (("mean", "E"), ("sd", "Std")):
        if said.get(label, "none") != "none":
            zero = float(said[label]) == 0
            near_by = {"absolute": 0.1} if zero else 0.05
            dropcheck.verify(
                f"{operator}(x) == {said[label]}", model=said["example"], tolerance=near_by
            )
    ends = re.fullmatch(r"\D+ from (\S+) to (\S+)", said.get("values", ""))
    if ends is not None:
        low, high = ends.groups()
        dropcheck.verify(f"P(x < {low} - 1e-4) == 0", model=said["example"])
        dropcheck.verify(f"P(x > {high} + 1e-4) == 0", model=said["example"])
