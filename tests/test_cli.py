"""The command line: what it accepts, what it prints where, and its exit codes.

What draws is replaced by a stub here, so that every outcome can be had at will and at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from dropcheck.claims.registry import Case, Registry
from dropcheck.cli import main, values
from dropcheck.cli.app import app
from dropcheck.cli.arguments import glimpse, wants_json
from dropcheck.cli.output import emit, write_file
from dropcheck.cli.values import assignments
from dropcheck.errors import DropcheckError, Problem
from dropcheck.options import RUN_OPTIONS
from dropcheck.results import CaseResult, Guarantee, Outcome, Settings, Verdict

CLAIMS = """\
dropcheck: 1
claims:
  product-variance:
    title: 'A dot product [/x] :smile:'
    tags: [passes, attention]
    parameters: {dk: [16, 64]}
    model: |
      q ~ normal(0, 1)[dk]
      k ~ normal(0, 1)[dk]
    claim: Var(q @ k) == dk
  kept-share:
    title: A share
    tags: [fails]
    parameters: {keep_prob: [0.5], mu: 0}
    model: x ~ bernoulli(keep_prob) + mu
    claim: E(x) == 0.1
  open-question:
    title: A question
    tags: [hangs]
    parameters: {alpha: 1}
    model: x ~ normal(0, 1)
    claim: E(x) == 0 * alpha
  the-stub-errs:
    title: An error that shows only when drawn
    tags: [errs]
    model: x ~ normal(0, 1)
    claim: E(x) == 0
""".replace("bernoulli(keep_prob) + mu", "normal(mu, keep_prob)")

VERDICTS = {
    "passes": (Verdict.VERIFIED, Outcome.PASS),
    "fails": (Verdict.REFUTED, Outcome.FAIL),
    "hangs": (Verdict.INCONCLUSIVE, Outcome.UNDECIDED),
}


def judged(case: Case, settings: Settings) -> CaseResult:
    claim = case.claim
    verdict, outcome = VERDICTS[claim.tags[0]]
    return CaseResult(
        claim=claim.id,
        parameters=dict(case.parameters),
        title=claim.title,
        statement=claim.statement.text,
        document=None,
        section=None,
        tags=claim.tags,
        claimed=1.0,
        estimate=1.0,
        interval=(0.99, 1.01),
        standard_error=0.001,
        confidence=1 - settings.alpha,
        scale=1.0,
        resolution=0.01,
        draws=1000,
        blocks=64,
        seconds=0.0,
        guarantee=Guarantee.ASYMPTOTIC,
        sampling="plain",
        verdict=verdict,
        expect=Verdict.VERIFIED,
        result=outcome,
        reason=None,
        more_draws=None,
        warnings=(),
        location=claim.location,
        repeat="",
    )


def stub(cases: Sequence[Case], settings: Settings, registry: Registry) -> Iterator[CaseResult]:
    """Judge by the first tag; the claim that errs does so once the rest are done."""
    assert registry.claims
    erring = [case for case in cases if case.claim.tags[0] == "errs"]
    for case in cases:
        if case not in erring:
            yield judged(case, settings)
    if erring:
        raise DropcheckError(Problem("undefined on every draw", erring[0].claim.location))


@dataclass(frozen=True)
class Called:
    code: int
    out: str
    err: str


Cli = Callable[..., Called]


@pytest.fixture
def verify(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types.ModuleType("dropcheck.verify")
    module.verify_cases = stub  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dropcheck.verify", module)
    return module


@pytest.fixture
def cli(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verify: Any,
) -> Cli:
    (tmp_path / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "DROPCHECK_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> Called:
        code = main(arguments)
        captured = capsys.readouterr()
        return Called(code, captured.out, captured.err)

    return call


def parameters_of(report: str) -> list[dict[str, Any]]:
    return [case["parameters"] for case in json.loads(report)["cases"]]


# exit codes


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["run", "product-variance"], 0),
        (["run", "kept-share"], 1),
        (["run", "kept-share", "open-question"], 1),
        (["run", "open-question"], 4),
        (["run", "kept-share", "--exit-zero"], 0),
        (["run", "open-question", "--exit-zero"], 0),
        (["run", "the-stub-errs"], 2),
        (["run", "the-stub-errs", "kept-share", "--exit-zero"], 2),
        (["run", "nothing-*"], 5),
        (["run", "--tag", "nothing"], 5),
        (["run", "--tag", "passes"], 0),
        (["run", "product-varianse"], 2),
        (["run", "--bogus", "3"], 2),
        (["run", "--file", "absent.yaml"], 2),
        (["run", "--alpha"], 2),
        (["runn"], 2),
        ([], 2),
        (["--version"], 0),
        (["--help"], 0),
        (["run", "--help"], 0),
        (["list"], 0),
        (["list", "nothing-*"], 5),
        (["show", "kept-share"], 0),
        (["show", "kept"], 2),
        (["check"], 0),
        (["check", "absent.yaml"], 2),
    ],
)
def test_exit_codes(cli: Cli, arguments: list[str], code: int) -> None:
    assert cli(*arguments).code == code


@pytest.mark.parametrize("format_name", ["table", "json"])
def test_an_error_on_the_way_outranks_a_failure_and_loses_no_result(
    cli: Cli, format_name: str
) -> None:
    result = cli("run", "kept-share", "the-stub-errs", "--format", format_name)
    assert result.code == 2
    assert "undefined on every draw" in result.err
    if format_name == "json":
        assert json.loads(result.out)["errors"][0]["line"] == 23
    else:
        assert "FAIL" in result.out


def test_an_interruption_prints_what_was_finished(cli: Cli, verify: Any) -> None:
    def interrupted(*arguments: Any) -> Iterator[CaseResult]:
        results = stub(*arguments)
        yield next(results)
        raise KeyboardInterrupt

    verify.verify_cases = interrupted
    result = cli("run", "product-variance", "--format", "json")
    assert result.code == 130
    report = json.loads(result.out)
    assert report["interrupted"] is True
    assert len(report["cases"]) == 1
    assert cli("run", "product-variance").out.splitlines()[-1].startswith("interrupted · 1 case:")


def test_an_internal_error_is_3_and_asks_for_a_report(
    cli: Cli, verify: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> Iterator[CaseResult]:
        raise ZeroDivisionError("a slip")

    verify.verify_cases = broken
    result = cli("run", "--format", "json")
    assert result.code == 3
    assert "internal error: ZeroDivisionError: a slip" in result.err
    assert "please report it" in result.err
    assert "Traceback" not in result.err
    assert "a slip" in json.loads(result.out)["errors"][0]["message"]
    monkeypatch.setenv("DROPCHECK_DEBUG", "1")
    assert "Traceback" in cli("run").err


def test_fail_fast_stops_at_the_first_failure(cli: Cli) -> None:
    everything = ["run", "product-variance", "kept-share", "open-question", "--format", "json"]
    assert len(parameters_of(cli(*everything).out)) == 4
    assert len(parameters_of(cli(*everything, "-x").out)) == 3


# parameters as options


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        (["product-variance"], [{"dk": 16}, {"dk": 64}]),
        (["product-variance", "--dk", "512"], [{"dk": 512}]),
        (["--dk=512", "product-variance"], [{"dk": 512}]),
        (["product-variance", "--dk", "2**3, 1e2"], [{"dk": 8}, {"dk": 100}]),
        (["product-variance", "--dk", "1", "--dk", "2"], [{"dk": 1}, {"dk": 2}]),
        (["product-variance", "--set", "dk=3"], [{"dk": 3}]),
        (["kept-share", "--mu", "-1"], [{"keep_prob": 0.5, "mu": -1}]),
        (["kept-share", "--mu=-1", "--keep_prob", "1/4"], [{"keep_prob": 0.25, "mu": -1}]),
        (["kept-share", "--keep-prob", "0.25"], [{"keep_prob": 0.25, "mu": 0}]),
        (["open-question", "--alpha", "0.01", "--set", "alpha=7"], [{"alpha": 7}]),
        (["--tag", "attention", "--dk", "5"], [{"dk": 5}]),
        (["product-*", "kept-share", "--dk", "5"], [{"dk": 5}, {"keep_prob": 0.5, "mu": 0}]),
    ],
)
def test_parameters_are_options(
    cli: Cli, arguments: list[str], parameters: list[dict[str, float]]
) -> None:
    result = cli("run", *arguments, "--format", "json")
    assert result.err == ""
    assert parameters_of(result.out) == parameters


def test_help_lists_the_parameters_with_their_grids(cli: Cli) -> None:
    help_text = cli("run", "product-variance", "--help").out
    assert "Parameters of the selected claims:\n  --dk VALUES  default 16, 64\n" in help_text
    assert "--keep_prob" not in help_text
    assert "--keep_prob, --keep-prob VALUES" in cli("run", "kept-share", "--help").out
    assert "--dk" not in cli("run", "--help").out


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (
            ["product-variance", "--dq", "3"],
            "there is no option '--dq', and product-variance has no such parameter",
            "did you mean '--dk'?",
        ),
        (
            ["product-variance", "--keep-prob", "3"],
            "there is no option '--keep-prob', and product-variance has no such parameter",
            "'keep_prob' is a parameter of kept-share",
        ),
        (
            ["product-variance", "--sede", "3"],
            "there is no option '--sede', and product-variance has no such parameter",
            "did you mean '--seed'?",
        ),
        (
            ["--zzzzzz", "3"],
            "there is no option '--zzzzzz', and no claim has such a parameter",
            "dropcheck run --help lists the options",
        ),
        (
            ["product-variance", "--set", "rho=3"],
            "option '--set' names 'rho', and no selected claim has such a parameter",
            "the parameters are dk",
        ),
        (
            ["product-variance", "--set", "dk"],
            "option '--set' cannot be 'dk': it must be NAME=VALUE",
            "for example --set dk=512",
        ),
        (
            ["product-varianse", "--dk", "3"],
            "there is no claim 'product-varianse' in claims.yaml",
            "did you mean 'product-variance'?",
        ),
    ],
)
def test_what_is_unknown_is_said_with_the_nearest_name(
    cli: Cli, arguments: list[str], message: str, hint: str
) -> None:
    result = cli("run", *arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err == f"error: {message}\nhint: {hint}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--alpha", "2"],
        ["--alpha", "0"],
        ["--alpha", "nan"],
        ["--seed", "x"],
        ["--seed", "-1"],
        ["--seed", "1.5"],
        ["--threads", "0"],
        ["--threads", "100000"],
        ["--max-draws", "-5"],
        ["--max-draws", "9**9**9"],
        ["--resolution", "0"],
        ["--resolution", "inf"],
        ["--time-limit", "0"],
        ["--time-limit", "10 parsecs"],
        ["--format", "xml"],
        ["--output", "a.txt"],
        ["--output", "-"],
        ["--dk", "banana"],
        ["--dk", ""],
    ],
)
def test_a_bad_value_is_one_message_with_option_and_value(cli: Cli, arguments: list[str]) -> None:
    result = cli("run", "product-variance", *arguments)
    assert result.code == 2
    assert result.out == ""
    errors = [line for line in result.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert arguments[0] in errors[0]
    assert arguments[1] in errors[0]


def test_all_bad_options_are_told_at_once(cli: Cli) -> None:
    result = cli("run", "--alpha", "2", "--seed", "x", "--threads", "0")
    assert result.err.count("error: ") == 3
    assert result.err.endswith("3 errors\n")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("500ms", 0.5), ("2m", 120), ("10", 10), ("1h", 3600), ("0.5", 0.5)],
)
def test_times_read_as_people_write_them(text: str, seconds: float) -> None:
    assert values.seconds(text) == seconds


def test_settings_reach_the_verifier(cli: Cli, verify: Any) -> None:
    seen: list[Settings] = []

    def spy(cases: Any, settings: Settings, registry: Any) -> Iterator[CaseResult]:
        seen.append(settings)
        return stub(cases, settings, registry)

    verify.verify_cases = spy
    cli(
        *("run", "product-variance", "--alpha", "1e-3", "--resolution", "0.05", "--seed", "2**70"),
        *("--max-draws", "2**20", "--time-limit", "500ms", "--threads", "2"),
    )
    assert not seen  # 2**70 is no seed
    cli(
        *("run", "product-variance", "--alpha", "1e-3", "--resolution", "0.05", "--seed", "7"),
        *("--max-draws", "2**20", "--time-limit", "500ms", "--threads", "2"),
    )
    assert seen == [Settings(1e-3, 7, 0.05, 2**20, 0.5, 2)]
    cli("run", "product-variance", "--seed", "fresh")
    cli("run", "product-variance", "--seed", "fresh")
    assert seen[1].seed != seen[2].seed  # by chance alike once in 2**32


def test_a_long_seed_keeps_every_digit() -> None:
    assert values.seed("9007199254740993") == 9007199254740993  # 2**53 + 1


def test_the_names_of_options_are_those_that_there_are() -> None:
    command: Any = get_command(app)
    names = {"help"} | {
        name.removeprefix("--").replace("-", "_")
        for param in command.commands["run"].params
        for name in (*param.opts, *param.secondary_opts)
        if name.startswith("--")
    }
    assert names == RUN_OPTIONS


def test_a_lenient_look_reads_what_click_reads() -> None:
    known = {"--file": True, "-f": True, "-x": False, "--quiet": False}
    found = glimpse(["a", "--quiet", "b", "--dk", "c", "-xfq", "--", "--dk"], known)
    assert found.positional == ("a", "b", "--dk")
    assert found.of("-f", "--file") == ("q",)
    assert found.flags == {"--quiet", "-x"}
    assert wants_json(["run", "--format", "json"])
    assert wants_json(["--format=json"])
    assert not wants_json(["run", "--format"])
    assert not wants_json(["run", "--", "--format", "json"])


def test_set_and_an_option_of_the_same_name_clash() -> None:
    with pytest.raises(DropcheckError, match="given twice"):
        assignments(["dk=1"], {"dk": "2"}, ["dk"])
    assert assignments(["dk=1", "dk=2"], {}, ["dk"]) == {"dk": "1,2"}


# what is printed where


def test_a_failure_prints_the_command_that_repeats_it(cli: Cli) -> None:
    result = cli("run", "kept-share", "-f", "claims.yaml", "--max-draws", "1e6", "--mu", "-1")
    command = (
        "dropcheck run kept-share --file claims.yaml --keep_prob 0.5 --mu=-1 --seed 0 "
        "--max-draws=1e6"
    )
    assert command in result.out
    again = cli(*command.split()[1:], "--format", "json")
    assert parameters_of(again.out) == [{"keep_prob": 0.5, "mu": -1}]
    assert json.loads(again.out)["cases"][0]["repeat"] == command


def test_quiet_prints_what_did_not_pass_and_the_summary(cli: Cli) -> None:
    quiet = cli("run", "product-variance", "-q").out
    assert quiet.startswith("2 cases: 2 passed")
    assert quiet.count("\n") == 1
    assert "FAIL" in cli("run", "kept-share", "-q").out


def test_a_registry_with_errors_is_told_as_such_and_not_as_an_unknown_option(cli: Cli) -> None:
    Path("bad.yaml").write_text(CLAIMS.replace("normal(0, 1)[dk]", "nomal(0, 1)[dk]"))
    result = cli("run", "product-variance", "--dk", "3", "-f", "bad.yaml")
    assert result.code == 2
    assert "bad.yaml:8:" in result.err
    assert "bad.yaml:9:" in result.err
    assert "did you mean 'normal'?" in result.err
    assert "2 errors" in result.err
    Path("bad.yaml").write_text("claims: [")
    broken = cli("run", "product-variance", "--dk", "3", "-f", "bad.yaml", "--format", "json")
    assert broken.code == 2
    assert json.loads(broken.out)["errors"][0]["file"] == "bad.yaml"
    assert cli("run", "-f", "bad.yaml", "--help").code == 0


def test_a_value_that_the_model_cannot_take_is_an_error(cli: Cli) -> None:
    result = cli("run", "product-variance", "--dk", "2.5")
    assert result.code == 2
    assert "claims.yaml:" in result.err


@pytest.mark.parametrize("arguments", [["--bogus", "1"], ["nonesuch"], ["--alpha", "7"]])
def test_under_json_every_error_is_json(cli: Cli, arguments: list[str]) -> None:
    result = cli("run", *arguments, "--format", "json")
    assert result.code == 2
    report = json.loads(result.out)
    assert report["schema"] == 1
    assert report["errors"][0]["message"]


def test_an_output_file_is_written_beside_the_table(cli: Cli) -> None:
    result = cli("run", "kept-share", "-o", "a.json", "--output", "b.json")
    assert result.code == 1
    assert "FAIL" in result.out
    for name in ("a.json", "b.json"):
        assert json.loads(Path(name).read_text())["summary"]["failed"] == 1
    assert sorted(path.name for path in Path().iterdir()) == ["a.json", "b.json", "claims.yaml"]


def test_a_place_that_cannot_be_written_loses_nothing(cli: Cli) -> None:
    Path("folder.json").mkdir()
    result = cli("run", "kept-share", "-o", "no/such/folder/a.json", "-o", "folder.json")
    assert result.code == 2
    assert "FAIL" in result.out
    assert "'no/such/folder/a.json' could not be written: no such file" in result.err
    assert "'folder.json' could not be written: is a directory" in result.err


def test_a_file_is_replaced_whole_and_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "b.json"
    link.symlink_to(target)
    assert write_file(link, "new") is None
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_list_show_and_check_as_json(cli: Cli) -> None:
    listed = json.loads(cli("list", "--format", "json").out)
    assert [claim["id"] for claim in listed["claims"]][:2] == ["product-variance", "kept-share"]
    shown = json.loads(cli("show", "kept-share", "--format", "json").out)
    assert shown["claims"][0]["parameters"] == {"keep_prob": [0.5], "mu": [0]}
    checked = json.loads(cli("check", "--format", "json").out)
    assert checked["files"] == [{"file": "claims.yaml", "claims": 4, "cases": 5}]
    assert checked["errors"] == []


def test_list_by_tag_and_pattern(cli: Cli) -> None:
    assert "kept-share" not in cli("list", "--tag", "attention").out
    assert "1 claim, 2 cases, claims.yaml" in cli("list", "product-*").out


def test_show_is_the_claim_as_written(cli: Cli) -> None:
    card = cli("show", "product-variance").out
    assert "title       A dot product [/x] :smile:\n" in card
    assert "q ~ normal(0, 1)[dk]\n" in card
    assert "example     dropcheck run product-variance --dk 16 --seed 0\n" in card


def test_check_notes_a_parameter_named_like_an_option(cli: Cli) -> None:
    result = cli("check")
    assert result.out == "claims.yaml: 4 claims, 5 cases, no errors, 1 note\n"
    assert "note: the parameter 'alpha' is named like an option of run" in result.err
    assert "it is set by --set alpha=VALUE only" in result.err


def test_check_reports_the_errors_of_all_files(cli: Cli) -> None:
    Path("b.yaml").write_text(CLAIMS.replace("E(x) == 0.1", "E(z) == 0.1"))
    result = cli("check", "claims.yaml", "b.yaml")
    assert result.code == 2
    assert "claims.yaml: 4 claims, 5 cases, no errors" in result.out
    assert "b.yaml: 4 claims, 5 cases, 1 error" in result.out
    assert "b.yaml:16:14: " in result.err


# completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("dropcheck run prod", "product-variance"),
        ("dropcheck run product-variance --d", "--dk"),
        ("dropcheck run -f claims.yaml kept-share --keep", "--keep_prob"),
        ("dropcheck show kept", "kept-share"),
        ("dropcheck run --tag att", "attention"),
        ("dropcheck run -f bad.yaml --see", "--seed"),
    ],
)
def test_completion(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, shell: str, words: str, offered: str
) -> None:
    Path("bad.yaml").write_text("claims: [")
    monkeypatch.setenv("_DROPCHECK_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", words)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    result = cli()
    assert result.code == 0
    assert offered in result.out


# a process of its own: pipes, encodings, imports

STUBBED = """
import sys, types
sys.path.insert(0, {tests!r})
from test_cli import stub
module = types.ModuleType("dropcheck.verify")
module.verify_cases = stub
sys.modules["dropcheck.verify"] = module
from dropcheck.cli import main
sys.exit(main(sys.argv[1:]))
"""


def process(
    folder: Path, *arguments: str, stubbed: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    (folder / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    root = str(Path(__file__).parent.parent)
    script = ["-c", STUBBED.format(tests=str(Path(__file__).parent))] if stubbed else ["-m"]
    command = [sys.executable, *script, *([] if stubbed else ["dropcheck"]), *arguments]
    environ = {**os.environ, "PYTHONPATH": root, **options.pop("env", {})}
    environ.pop("COLUMNS", None)
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run(
        command, cwd=folder, env=environ, stderr=subprocess.PIPE, text=True, check=False, **options
    )


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["run", "product-variance", "--help"], ["list"], ["show", "*"], ["check"]],
)
def test_looking_imports_neither_numpy_nor_scipy(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    script = (
        "import sys; from dropcheck.cli import main; code = main(sys.argv[1:]);"
        "heavy = {'numpy', 'scipy'} & set(sys.modules); print(sorted(heavy), file=sys.stderr);"
        "sys.exit(code)"
    )
    root = str(Path(__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("claim", "code"), [("product-variance", 0), ("kept-share", 1)])
def test_a_reader_that_goes_away_leaves_the_exit_code(
    tmp_path: Path, claim: str, code: int
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process(tmp_path, "run", claim, stubbed=True, stdout=writing)
    finally:
        os.close(writing)
    assert done.returncode == code
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = process(tmp_path, "run", "product-variance", stubbed=True, stdout=full)
    assert done.returncode == 2
    assert "could not be written" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
def test_no_encoding_stops_a_report(tmp_path: Path, encoding: str) -> None:
    done = process(
        tmp_path,
        *("run", "kept-share", "product-variance"),
        stubbed=True,
        env={"PYTHONIOENCODING": encoding},
        encoding=encoding,
    )
    assert done.returncode == 1
    assert ("─" in done.stdout) is (encoding == "utf-8")
    assert ("alpha 1e-6" in done.stdout) is (encoding != "utf-8")
    assert done.stderr == ""


def test_what_an_encoding_lacks_becomes_a_question_mark(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as stream:
        assert emit("维度 d\n", stream) is None
    assert (tmp_path / "out").read_text() == "?? d\n"


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_in_a_pipe_only_where_it_is_forced(
    tmp_path: Path, environ: dict[str, str], coloured: bool
) -> None:
    done = process(tmp_path, "run", "kept-share", stubbed=True, env=environ)
    assert ("\x1b[" in done.stdout) is coloured
