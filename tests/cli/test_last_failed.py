"""`--last-failed`: what did not pass is run again, and nothing on the way can harm a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_stub import CLAIMS, Cli, parameters_of

from dropcheck.claims.reader import SHIPPED_NAME, read_registry
from dropcheck.claims.registry import MOST_CASES, Registry
from dropcheck.cli import last_failed
from dropcheck.cli.last_failed import cache_folder, memory_of, recall


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def ran(cli: Cli, *arguments: str) -> tuple[list[str], str]:
    """The claims that a run tried, and what it said on standard error."""
    result = cli("run", *arguments, "--format", "json")
    return [case["claim"] for case in json.loads(result.out)["cases"]], result.err


SOUND = ("product-variance", "kept-share", "open-question")


def test_what_failed_or_was_undecided_is_run_again(cli: Cli) -> None:
    assert ran(cli, *SOUND)[0] == ["product-variance", "product-variance", *SOUND[1:]]
    again, said = ran(cli, "--last-failed")
    assert again == ["kept-share", "open-question"]
    assert said == "note: 2 cases did not pass when last run\n"


def test_where_nothing_failed_all_are_run_and_it_is_said(cli: Cli) -> None:
    for _ in range(2):  # nothing remembered; nothing failed
        claims, said = ran(cli, "product-variance", "--last-failed")
        assert claims == ["product-variance"] * 2
        assert "note: no case is remembered that did not pass: all are run\n" in said


def test_a_selection_without_any_of_them_runs_whole_and_it_is_said(cli: Cli) -> None:
    ran(cli, *SOUND)
    claims, said = ran(cli, "product-variance", "--last-failed")
    assert claims == ["product-variance"] * 2
    assert "the 2 cases that did not pass when last run are not among these" in said
    ran(cli, "open-question", "--last-failed")
    assert ran(cli, "kept-share", "--last-failed")[0] == ["kept-share"]


def test_a_case_that_passes_is_forgotten_and_others_are_kept(cli: Cli) -> None:
    ran(cli, *SOUND)
    text = Path("claims.yaml").read_text()
    Path("claims.yaml").write_text(text.replace("tags: [fails]", "tags: [passes]"))
    ran(cli, "kept-share")
    # the run of another case comes in between
    assert ran(cli, "--last-failed") == (
        ["open-question"],
        "note: 1 case did not pass when last run\n",
    )


def test_a_case_of_a_sweep_is_run_again_at_its_own_value(cli: Cli) -> None:
    ran(cli, "kept-share", "--mu", "3,4")
    out = cli("run", "kept-share", "--last-failed", "--format", "json").out
    assert parameters_of(out) == [{"keep_prob": 0.5, "mu": 3}, {"keep_prob": 0.5, "mu": 4}]
    out = cli("run", "kept-share", "--mu", "4,5", "--last-failed", "--format", "json").out
    assert parameters_of(out) == [{"keep_prob": 0.5, "mu": 4}]


def test_claims_that_are_gone_or_changed_are_left_out(cli: Cli) -> None:
    ran(cli, "kept-share", "open-question")
    text = Path("claims.yaml").read_text()
    Path("claims.yaml").write_text(text.replace("mu", "nu").replace("open-question", "other"))
    claims, said = ran(cli, "kept-share", "other", "--last-failed")
    assert claims == ["kept-share", "other"]
    assert "are not among these" in said
    # and they are forgotten
    known = recall(read_registry("claims.yaml"))
    assert {claim for claim, _ in known} == {"kept-share", "other"}


def test_files_do_not_share_a_memory(cli: Cli) -> None:
    Path("other.yaml").write_text(CLAIMS)
    ran(cli, "kept-share")
    assert "no case is remembered" in ran(cli, "kept-share", "-f", "other.yaml", "--last-failed")[1]
    # but the same file by another name does
    Path("link.yaml").symlink_to("claims.yaml")
    assert "1 case did not pass when last run" in ran(cli, "-f", "./link.yaml", "--last-failed")[1]


def test_several_files_are_remembered_together_in_whatever_order(cli: Cli) -> None:
    Path("other.yaml").write_text(re.sub(r"^  ([\w-]+):$", r"  my-\1:", CLAIMS, flags=re.MULTILINE))
    ran(cli, "*-share", "-f", "claims.yaml", "-f", "other.yaml")
    claims, said = ran(cli, "-f", "other.yaml", "-f", "claims.yaml", "--last-failed")
    assert (claims, said) == (
        ["my-kept-share", "kept-share"],
        "note: 2 cases did not pass when last run\n",
    )


def test_nothing_is_left_beside_the_claims(cli: Cli, cache: Path) -> None:
    ran(cli, "kept-share")
    assert sorted(path.name for path in Path().iterdir()) == [cache.name, "claims.yaml"]
    (memory,) = cache.rglob("*.json")
    text = memory.read_text()
    assert json.loads(text) == {
        "schema": 1,
        "file": "claims.yaml",
        "cases": [{"claim": "kept-share", "parameters": {"keep_prob": 0.5, "mu": 0.0}}],
    }


def test_where_nothing_failed_nothing_is_written(cli: Cli, cache: Path) -> None:
    ran(cli, "product-variance")
    assert not cache.exists()


HOSTILE: list[Any] = [
    b"",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b"9" * 10_000,
    b'{"schema": 2, "cases": []}',
    b'{"schema": 1, "cases": {"a": 1}}',
    b'{"schema": 1}',
    b"[1, 2]",
    json.dumps(
        {
            "schema": 1,
            "cases": [
                7,
                None,
                {"claim": 3, "parameters": {}},
                {"claim": "kept-share"},
                {"claim": "kept-share", "parameters": {"mu": [1]}},
                {"claim": "kept-share", "parameters": {"mu": True, "keep_prob": 0.5}},
                {"claim": "kept-share", "parameters": {"mu": 10**400, "keep_prob": 0.5}},
                {"claim": "kept-share", "parameters": {"mu": 0, "keep_prob": -1}},
                {"claim": "kept-share", "parameters": {"mu": "__import__('os')", "keep_prob": 1}},
                {"claim": "../../etc/passwd", "parameters": {}},
            ],
        }
    ).encode(),
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_a_memory_that_makes_no_sense_is_none(cli: Cli, cache: Path, content: bytes) -> None:
    ran(cli, "kept-share")
    (memory,) = cache.rglob("*.json")
    memory.write_bytes(content)
    result = cli("run", "kept-share", "open-question", "--last-failed")
    assert result.code == 1
    assert "all are run" in result.err or "all of these are run" in result.err
    assert "2 cases: 0 passed, 1 failed, 1 undecided" in result.out
    # and the run has mended it
    assert ran(cli, "open-question", "--last-failed")[0] == ["open-question"]


def test_a_memory_is_never_read_beyond_what_a_run_can_have(cli: Cli, cache: Path) -> None:
    ran(cli, "kept-share")
    (memory,) = cache.rglob("*.json")
    cases = [{"claim": "kept-share", "parameters": {"mu": n}} for n in range(MOST_CASES + 10)]
    memory.write_text(json.dumps({"schema": 1, "cases": cases}))
    assert len(recall(read_registry("claims.yaml"))) == MOST_CASES


def test_of_too_many_cases_the_newest_are_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    ran(cli, "kept-share")
    monkeypatch.setattr(last_failed, "MOST_CASES", 1)
    ran(cli, "open-question")
    assert [claim for claim, _ in recall(read_registry("claims.yaml"))] == ["open-question"]


@pytest.mark.parametrize("place", ["file", "folder in its place", "nowhere"])
def test_a_cache_that_cannot_be_written_is_no_error(
    cli: Cli, cache: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if place == "file":
        cache.write_text("in the way")
    elif place == "nowhere":
        monkeypatch.setenv("XDG_CACHE_HOME", "/proc/self/no")
    else:
        path = memory_of(read_registry("claims.yaml"))
        assert path is not None
        path.mkdir(parents=True)
    result = cli("run", "kept-share", "--last-failed")
    assert result.code == 1
    assert result.err == "note: no case is remembered that did not pass: all are run\n"


def test_an_interrupted_run_forgets_nothing(cli: Cli, verify: Any) -> None:
    ran(cli, *SOUND)

    def interrupt(*arguments: object, **options: object) -> Any:
        raise KeyboardInterrupt

    verify.verify_cases, simulate = interrupt, verify.verify_cases
    assert cli("run", *SOUND).code == 130
    verify.verify_cases = simulate
    assert ran(cli, "--last-failed")[0] == ["kept-share", "open-question"]


def test_what_is_no_file_has_no_memory(tmp_path: Path) -> None:
    assert memory_of(Registry("<text>", {}, {})) is None
    assert memory_of(Registry("/dev/stdin", {}, {})) is None
    assert memory_of(Registry("a\x00b", {}, {})) is None
    assert memory_of(Registry(str(tmp_path), {}, {})) is None
    assert memory_of(Registry(SHIPPED_NAME, {}, {})) is not None


@pytest.mark.parametrize(
    ("environ", "platform", "folder"),
    [
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "linux", "/x"),
        ({"XDG_CACHE_HOME": "x", "HOME": "/h"}, "linux", "/h/.cache"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Caches"),
        ({"LOCALAPPDATA": "/l", "HOME": "/h"}, "win32", "/l"),
        ({"HOME": "/h"}, "win32", None),
        ({}, "linux", None),
        ({"HOME": ""}, "darwin", None),
    ],
)
def test_the_cache_is_where_the_system_has_it(
    environ: dict[str, str], platform: str, folder: str | None
) -> None:
    assert cache_folder(environ, platform) == (None if folder is None else Path(folder))
