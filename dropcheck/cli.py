"""The command line: each command is a function, and its parameters are its options.

Words that are no options are claims and files. What else is left over of a line of `run` or `plan`
are parameters of the claims: `--dk 512`.
"""

from __future__ import annotations

import errno
import inspect
import json
import os
import re
import shlex
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dropcheck import __version__, interrupt
from dropcheck.cli_output import (
    HERE,
    ExitCode,
    annotate,
    complain,
    deliver,
    print_out,
    printing_aside,
    report_problems,
    silence,
    workspace,
    write_file,
)
from dropcheck.errors import (
    DropcheckError,
    InternalError,
    Location,
    NothingSelected,
    Problem,
    as_own,
    in_file_order,
    nearest,
    reason,
    suggestion,
)
from dropcheck.options import REPEATED, VALUES, one_word, read_value, settings_of
from dropcheck.report.screen import is_terminal, terminal_of
from dropcheck.settings import OPTIONS, Option, Settings, flag_of, one_of

if TYPE_CHECKING:
    from dropcheck.claims.registry import Case, Claim, Registry
    from dropcheck.language.check import Chosen
    from dropcheck.report.cards import CheckedFile
    from dropcheck.results import CaseResult, RunResult

# ---- commands ------------------------------------------------------------------------------------

COMMANDS: dict[str, Callable[..., ExitCode]] = {}
Words = Annotated[list[str] | None, typer.Argument(metavar="CLAIMS", hidden=True)]


def parameter_of(option: Option) -> inspect.Parameter:
    """The parameter of a function that typer makes an option."""
    kind: Any = (str | None) if option.metavar else bool
    if option.several:
        kind = (list[str] | None) if option.metavar else int
    said = typer.Option(
        *option.spellings,
        rich_help_panel=option.panel,
        help=_told(option),
        metavar=option.metavar,
        show_default=False,
        count=kind is int,
    )
    default = None if option.metavar else kind()
    return _parameter(option.name, Annotated[kind, said], default)


def _told(option: Option) -> str:
    """What help says of an option."""
    if "{" not in option.text:
        return option.text
    from dropcheck.report.formats import PRINTED, WRITTEN

    return option.text.format(printed=", ".join(PRINTED), written=" ".join(WRITTEN))


def _parameter(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, _KEYWORD, annotation=annotation, default=default)


_KEYWORD = inspect.Parameter.KEYWORD_ONLY


class _Grouped(typer.core.TyperCommand):
    """A command whose help has its options in groups, without the time that rich takes to load."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            if record := option.get_help_record(ctx):
                panel = getattr(option, "rich_help_panel", None) or "Options"
                groups.setdefault(panel, []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _command(function: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    """Make a function a command; its help is the docstring."""
    COMMANDS[function.__name__.partition("_")[0]] = function
    return function


def program_of(command: str) -> Any:
    """The program as typer makes it, with the options of one command, or of all for a shell.

    A function of what is `given` has the options of the table.
    """
    app = typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="dropcheck init writes a claims file to begin with; dropcheck show lists the words "
        "of the language, and dropcheck show normal explains one.",
    )
    app.callback()(program)
    for name, function in COMMANDS.items():
        paragraphs = (inspect.getdoc(function) or "").split("\n\n")
        told = "\n\n".join(one.replace("\n", " ") for one in paragraphs)
        left_over = name in ("run", "plan")  # of which parameters of claims are options too
        settings = {"ignore_unknown_options": left_over, "allow_extra_args": left_over}
        own = function
        if "given" in inspect.signature(function).parameters:
            asked = command == name or "_DROPCHECK_COMPLETE" in os.environ
            own = _with_options(function, OPTIONS if asked else ())
        app.command(name, cls=_Grouped, help=told, context_settings=settings)(own)
    return typer.main.get_command(app)


def _with_options(function: Callable[..., ExitCode], options: Sequence[Option]) -> Any:
    """A function of typer's kind for one of what is given."""

    def command(ctx: typer.Context, **_: Any) -> ExitCode:
        return function(_given(ctx))

    name = function.__name__.partition("_")[0]
    own = [parameter_of(one) for one in options if name in one.of.split()]
    own = [_parameter("ctx", typer.Context), _parameter("claims", Words), *own]
    # typer reads options from a signature, which mypy knows of no function
    command.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in own}
    return command


def _print_version(wanted: bool) -> None:
    if wanted:
        print_out(f"dropcheck {__version__}\n")
        raise typer.Exit


def program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Check mathematical claims by Monte Carlo simulation, with verdicts that hold."""


@_command
def run(given: Given) -> ExitCode:
    """Simulate claims and decide whether they hold: all, or those named.

    CLAIMS are ids of claims, globs of ids, claims files, documents, folders, and - for standard
    input.

    Each parameter of the claims is an option too, as --dk 512 or --p 0.1,0.2; dropcheck show lists
    those of a claim.
    """
    from dropcheck.reasons import Reason
    from dropcheck.report import Report
    from dropcheck.results import Outcome

    settings, outputs = settings_of(given.values), given.values["output"] or []
    _check_outputs(given, outputs)
    chosen = _chosen(given, settings.max_memory)
    if given.values["plot"]:
        from dropcheck.report.pictures import require_sweep

        require_sweep(chosen.cases)
    result = _judged(given, chosen, settings)
    report = Report(
        run=result,
        registry=chosen.registry,
        terminal=terminal_of(sys.stdout),
        **{name: given.values[name] for name in ("verbose", "quiet", "plot")},
        started=datetime.now(UTC) - timedelta(seconds=result.seconds),
        workspace=workspace(),
        command=shlex.join(["dropcheck", *given.line]),
    )
    problems = deliver(report, given.values["format"] or "table", outputs)
    if result.interrupted:
        return ExitCode.INTERRUPTED
    if any(case.reason is Reason.FAULT for case in result.cases):
        return ExitCode.INTERNAL
    if problems or result.count(Outcome.ERROR):
        return ExitCode.ERROR
    if given.values["exit_zero"]:
        return ExitCode.PASSED
    if result.count(Outcome.FAIL):
        return ExitCode.FAILED
    return ExitCode.UNDECIDED if result.count(Outcome.UNDECIDED) else ExitCode.PASSED


@_command
def plan(given: Given) -> ExitCode:
    """Say what a run would take: the draws and seconds to each verdict.

    Each case is judged by few draws; what these leave open is foreseen.
    """
    from dropcheck.planning import plan_cases
    from dropcheck.report.screen import progress
    from dropcheck.report.trials import plan_report

    settings = settings_of(given.values)
    chosen = _chosen(given, settings.max_memory)
    with (
        printing_aside(needed=bool(given.values["code"])),
        progress(len(chosen.cases), given.shows_progress()) as tally,
    ):
        planned = plan_cases(chosen, settings, notes=_notes(chosen), decided=tally.decided)
    print_out(plan_report(planned, terminal_of(sys.stdout)))
    return ExitCode.INTERRUPTED if planned.pilots.interrupted else ExitCode.PASSED


@_command
def list_claims(given: Given) -> ExitCode:
    """Print the claims of a file: a row for each."""
    from dropcheck.claims.select import select_claims
    from dropcheck.documents import ENDINGS
    from dropcheck.report.cards import claims_json, claims_table, coverage_table

    registry = _registry(given)
    terminal = terminal_of(sys.stdout)
    if given.values["unclaimed"]:
        documents = registry.coverage
        if given.patterns or given.tags:
            message = "option '--unclaimed' lists what is in no claim, and claims are named"
            raise DropcheckError(Problem(message, hint="name documents alone"))
        if not documents:
            message = f"option '--unclaimed' is for documents, and there is none in {registry.name}"
            raise DropcheckError(Problem(message, hint=f"a document ends in {', '.join(ENDINGS)}"))
        print_out(coverage_table(documents, terminal))
        return ExitCode.PASSED
    chosen = select_claims(registry, given.patterns, given.tags)
    print_out(
        claims_json(chosen, registry) if given.as_json else claims_table(chosen, registry, terminal)
    )
    return ExitCode.PASSED


@_command
def show(given: Given) -> ExitCode:
    """Print claims in full, or what words of the language mean.

    CLAIMS are ids of claims, globs of ids, files, and words: normal, ~=, or a key such as within.
    Without any, all words of the language are listed.
    """
    from dropcheck.claims.select import repeat_command, select_claims
    from dropcheck.report.cards import claim_cards
    from dropcheck.report.reference import meant, word_cards, words_called, words_text

    terminal = terminal_of(sys.stdout)
    if not given.texts["claims"] and not given.texts["file"]:
        print_out(words_text(terminal))
        return ExitCode.PASSED
    named = [words_called(one) for one in given.patterns]
    of_language = bool(named) and all(named) and not given.texts["file"]
    if of_language and not _are_claims(given.patterns, given.files):
        print_out(word_cards([word for several in named for word in several], terminal))
        return ExitCode.PASSED
    registry = _registry(given)
    try:
        chosen = select_claims(registry, given.patterns)
    except NothingSelected:
        raise
    except DropcheckError as error:
        close = meant(" ".join(given.patterns), registry.claims)
        hint = "dropcheck list shows every id, and dropcheck show every word"
        hint = f"did you mean {close!r}?" if close else hint
        raise DropcheckError([replace(one, hint=hint) for one in error.problems]) from None
    examples = {}
    for claim in chosen:
        bound = [f"--with={one}" for one in given.values["code"] or () if claim.column is not None]
        examples[claim.id] = repeat_command(claim.expand()[0], 0, given.files, bound)
    print_out(claim_cards(chosen, registry, examples, terminal))
    return ExitCode.PASSED


def _are_claims(words: Sequence[str], files: Sequence[str] = ()) -> bool:
    """Whether words are ids of claims, rather than folders or words of the language."""
    from dropcheck.claims.select import select_claims

    with suppress(DropcheckError):
        return bool(select_claims(_load(files), words))
    return False


@_command
def check(given: Given) -> ExitCode:
    """Read claims files and report every error, without simulating.

    CLAIMS are claims files, documents, folders, and - for standard input.
    """
    from dropcheck.report.cards import check_json, check_line

    checked = [_check_file(one) for one in _expanded(given.files or _usual(given)) or [""]]
    errors = [error for one in checked for error in one.errors]
    if given.as_json:
        print_out(check_json(checked))
    else:
        for one in checked:
            complain(one.errors, counted=False)  # the line below says how many
            complain(one.notes, "warning", counted=False)
            print_out(f"{check_line(one)}\n")
        annotate(errors)
    return ExitCode.ERROR if errors else ExitCode.PASSED


@_command
def mutate(given: Given) -> ExitCode:
    """Plant errors in claims and see that each is refuted.

    A claim that no error makes false says nothing. The exit code is 1 where a false mutant survives
    or a claim cannot fail or is itself refuted, and 4 where a claim or a mutant is undecided.
    """
    from dropcheck.language.check import choose
    from dropcheck.language.compile import CaseGraphs
    from dropcheck.mutation import ClaimResult, MutationRun, mutate_claims
    from dropcheck.report.screen import progress
    from dropcheck.report.trials import mutation_report

    settings = settings_of(given.values)
    graphs = CaseGraphs(settings.max_memory)
    registry = _registry(given)
    cases = choose(registry, graphs, given.patterns, given.tags).cases
    chosen = tuple({case.claim.id: case.claim for case in cases}.values())
    started, interrupted = time.perf_counter(), False
    done: list[ClaimResult] = []
    try:
        with progress(len(chosen), given.shows_progress()) as tally:
            for one in mutate_claims(chosen, settings, registry, graphs):
                done.append(one)
                tally.decided(1)
    except KeyboardInterrupt:
        interrupted = True
    result = MutationRun(
        registry=registry.name,
        settings=settings,
        claims=tuple(done),
        seconds=time.perf_counter() - started,
        interrupted=interrupted,
    )
    shown = {name: given.values[name] for name in ("verbose", "quiet")}
    print_out(mutation_report(result, terminal_of(sys.stdout), **shown))
    if interrupted:
        return ExitCode.INTERRUPTED
    if any(one.failed for one in done):
        return ExitCode.FAILED
    return ExitCode.UNDECIDED if any(one.undecided for one in done) else ExitCode.PASSED


@_command
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", hidden=True)] = Path("claims.yaml"),
    force: Annotated[
        bool,
        typer.Option("--force", help="Write the file even where there is one already."),
    ] = False,
) -> ExitCode:
    """Write a claims file to begin with.

    All its claims pass. FILE is claims.yaml where none is named. The schema that its first line
    names, for editors, is written beside it.
    """
    from importlib.resources import files

    from dropcheck.claims.claimsfile import SCHEMA_FILE, SCHEMA_TITLE

    if file.is_dir():
        hint = f"name the file in it: {file / 'claims.yaml'}"
        raise DropcheckError(Problem(f"{str(file)!r} is a folder", Location(str(file)), hint))
    file = file if file.suffix or not file.name else file.with_suffix(".yaml")
    beside = file.parent / SCHEMA_FILE
    if file.name == beside.name:
        message = f"{file.name!r} is the name of the schema beside the claims file"
        raise DropcheckError(Problem(message, hint="call the claims file claims.yaml"))
    if os.path.lexists(file) and not force:
        hint = "name another file, or give --force to write over it"
        raise DropcheckError(Problem(f"there is a file {str(file)!r} already", hint=hint))
    with suppress(OSError), beside.open(encoding="utf-8", errors="replace") as other:
        force = force or SCHEMA_TITLE in other.read(2**20)
    if os.path.lexists(beside) and not force:
        message = f"{str(beside)!r} is in the way: it is not dropcheck's schema"
        hint = "move it away, or give --force to write over it"
        raise DropcheckError(Problem(message, hint=hint))
    starter = files("dropcheck").joinpath("starter.yaml").read_text(encoding="utf-8")
    for path, text in ((file, starter), (beside, schema_text())):
        if problems := write_file(path, text):
            raise DropcheckError(problems)
    usual = os.path.normpath(file) == "claims.yaml"
    again = shlex.join(["dropcheck", "run", *([] if usual else [str(file)])])
    print_out(f"wrote {file}, and {beside} for editors\nrun it: {again}\n")
    return ExitCode.PASSED


@_command
def schema() -> ExitCode:
    """Print the JSON Schema of a claims file, for editors."""
    print_out(schema_text())
    return ExitCode.PASSED


def schema_text() -> str:
    """The schema as it is printed and published: in ASCII, with a line for each key."""
    from dropcheck.claims.claimsfile import claims_schema

    return json.dumps(claims_schema(), indent=2) + "\n"


# ---- what a line gives ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a line gives to a command.

    `texts` are its options as they are written, and `values` what these stand for; `parameters` are
    options that the command does not have, and `known` are the spellings of those that it has.
    """

    line: Sequence[str]
    command: str
    texts: Mapping[str, Any]
    values: Mapping[str, Any]
    files: Sequence[str]
    patterns: Sequence[str]  # ids and globs
    parameters: Sequence[tuple[str, str]]
    known: Sequence[str]

    @property
    def as_json(self) -> bool:
        """Whether JSON is to be printed."""
        return bool(self.values["format"] == "json")

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of which a claim must have one."""
        return tuple(self.values.get("tag") or ())

    def shows_progress(self) -> bool:
        """Whether progress is shown: on a terminal, if nothing speaks against it."""
        return not self.values["no_progress"] and is_terminal(sys.stderr)


def _given(ctx: typer.Context) -> Given:
    """What the line gives, and pyproject.toml where the line says nothing."""
    command, texts = ctx.info_name or "", dict(ctx.params)  # in the order of the line
    words, parameters = _left_over(texts["claims"] or ())
    values = _values(texts, command)
    defaults = {key.replace("tags", "tag"): text for key, text in project_defaults().items()}
    named = [one for one in words if command == "check" or is_file(one)]
    files = [*(texts["file"] or ()), *named]
    patterns = [one for one in words if one not in named]
    given = {"file": files, "tag": patterns} | {name: text for name, text in texts.items() if text}
    defaults = {
        name: text for name, text in defaults.items() if name in texts and not given.get(name)
    }
    once: dict[Path, str] = {}
    for one in (*files, *defaults.pop("file", ())):
        once.setdefault(Path(one).absolute(), one)
    return Given(
        line=ctx.obj["line"],
        command=command,
        texts=texts | defaults,
        values=values | _values(defaults, command),
        files=tuple(once.values()),
        patterns=tuple(patterns),
        parameters=parameters,
        known=_spellings(ctx),
    )


def _values(texts: Mapping[str, Any], command: str) -> dict[str, Any]:
    """What options stand for; the problems of all that are wrong are raised together."""
    values: dict[str, Any] = dict(texts)
    problems: list[Problem] = []
    for name, text in texts.items():
        try:
            if name == "format" and text is not None:
                others = "; -o FILE writes others" * (command == "run")
                known = one_word(*_formats(command), more=others)
                read_value(known, text, "option '--format'")
            elif name in VALUES and isinstance(text, str):
                values[name] = read_value(VALUES[name], text, f"option '{flag_of(name)}'")
            elif name == "output":
                values[name] = [_report_file(one) for one in text or ()]
        except DropcheckError as error:
            problems += error.problems
    if problems:
        raise DropcheckError(problems)
    return values


def _formats(command: str) -> Sequence[str]:
    """What a command prints."""
    if command != "run":
        return ("table", "json")
    from dropcheck.report.formats import PRINTED

    return [*PRINTED]


def _report_file(text: str) -> Path:
    from dropcheck.report.formats import WRITTEN, written_as

    if written_as(Path(text)) is None:
        ends = f"it must be a file that ends in {one_of([*WRITTEN])}"
        hint = suggestion(Path(text).suffix or f".{text[:100]}", WRITTEN)
        message = f"option '--output' cannot be {text[:100]!r}: {ends}"
        raise DropcheckError(Problem(message, hint=hint))
    return Path(text)


def _spellings(ctx: typer.Context) -> list[str]:
    return [name for one in ctx.command.get_params(ctx) for name in one.opts if name[:1] == "-"]


def _left_over(words: Sequence[str]) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """Words that are no options, and the options that typer does not know, with their texts.

    >>> _left_over(["qk", "--dk", "512", "--p=0.1"])
    (('qk',), [('--dk', '512'), ('--p', '0.1')])
    """
    plain: list[str] = []
    options: list[tuple[str, str]] = []
    left = deque(words)
    while left:
        name, equals, text = left.popleft().partition("=")
        if name[:1] != "-" or name == "-":
            plain.append(name + equals + text)
            continue
        if not equals and left and left[0][:2] != "--":
            text = left.popleft()
        options.append((name, text))
    return tuple(plain), options


def _joined(words: Sequence[str]) -> list[str]:
    """The line with `--p -0.5` as `--p=-0.5`: else typer would look for options of one letter.

    `--output-format`, which other programs have, is `--format`. What begins with `-` after `--` can
    only be a file.

    >>> _joined(["run", "--p", "-0x1", "-x", "--", "-y.yaml"])
    ['run', '--p=-0x1', '-x', '--', './-y.yaml']
    """
    joined: list[str] = []
    for written in words:
        word = re.sub(r"^--output-format\b", "--format", written)
        if "--" in joined:
            joined.append(f"./{word}" if re.match("-.", word) else word)
        elif joined and re.match(r"-[\d.(]", word) and re.fullmatch(r"--\w[\w-]*", joined[-1]):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def is_file(word: str) -> bool:
    """Whether a word names a file or a folder and not claims: by its ending, or a slash.

    A pack, such as `pack:dropout`, counts as a file; `dropout/values` is one of its ids, unless
    there is such a file. The id of one of several statements has a dot, but no slash and no such
    ending.

    >>> is_file("claims.yaml"), is_file("-"), is_file("dropout-*"), is_file("dropout.mean")
    (True, True, False, False)
    """
    from dropcheck.documents import ENDINGS
    from dropcheck.packs import PACK, pack_names

    if word in ("-", ".", "..") or word.startswith(PACK):
        return True
    if word.lower().endswith((".yaml", ".yml", *ENDINGS)):
        return True
    if "/" in word or os.sep in word:
        return word.partition("/")[0] not in pack_names() or Path(word).exists()
    return "." in word and Path(word).is_file()


# ---- the defaults of a project: [tool.dropcheck] in pyproject.toml -------------------------------


PROJECT = "pyproject.toml"
PROJECT_KEYS = ("file", "tags", "alpha", "resolution", "seed", "threads")


def project_defaults() -> dict[str, str | list[str]]:
    """What the nearest pyproject.toml upwards sets: a text by its key, for files and tags several.

    A file without the table is passed over. The search ends at the root of a repository.

    Raises:
        DropcheckError: the file cannot be read, or the table has a wrong key or value.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / PROJECT).is_file() and (found := _table_of(folder / PROJECT)) is not None:
            return found
        if (folder / ".git").exists():
            break
    return {}


def _table_of(path: Path) -> dict[str, str | list[str]] | None:
    """What a file sets; None where it has no such table."""
    import tomllib

    name = os.path.relpath(path)
    try:
        text = path.read_text(encoding="utf-8")
        written = tomllib.loads(text) if "dropcheck" in text else {}
    except (OSError, ValueError) as error:  # UnicodeDecodeError, TOMLDecodeError
        line = re.search(r"at line (\d+), column (\d+)", str(error))
        at = Location(name, int(line[1]), int(line[2])) if line else Location(name)
        raise DropcheckError(Problem(f"it cannot be read: {error}", at)) from None
    match written:
        case {"tool": {"dropcheck": dict() as table}}:
            try:
                return {
                    key: _project_value(key, value, path.parent) for key, value in table.items()
                }
            except DropcheckError as error:
                problems = [replace(one, location=Location(name)) for one in error.problems]
                raise DropcheckError(problems) from None
    return None


def _project_value(key: str, value: Any, folder: Path) -> str | list[str]:
    """The text or the texts of a value.

    Raises:
        DropcheckError: there is no such key, or it cannot have the value.
    """
    if key not in PROJECT_KEYS:
        hint = suggestion(key, PROJECT_KEYS) or f"the keys are {', '.join(PROJECT_KEYS)}"
        raise DropcheckError(Problem(f"[tool.dropcheck] has no key {key!r}", hint=hint))
    if key in ("file", "tags"):
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
            message = f"{key!r} must be a text or a list of texts, and is {value!r:.100}"
            raise DropcheckError(Problem(message))
        # a file is named as seen from this folder; words that stand for files are kept
        kept = {one for one in texts if key == "tags" or one == "shipped" or ":" in one}
        return [one if one in kept else os.path.relpath(folder / one) for one in texts]
    text = value if isinstance(value, str) else repr(value)
    read_value(VALUES[key], text, repr(key))
    return text


# ---- what is checked -----------------------------------------------------------------------------


def _registry(given: Given) -> Registry:
    """The claims of the files that are named, with a column for each implementation."""
    from dropcheck.claims.values import NUMBER_FORMATS

    registry = _load(given.files or _usual(given))
    formats = [one.strip() for one in (given.values.get("dtype") or "").split(",") if one.strip()]
    for name in formats:
        read_value(one_word(*NUMBER_FORMATS), name, "option '--dtype'")
    code = given.values.get("code")
    if formats and not code:
        message = "option '--dtype' is of code, and none is under test"
        raise DropcheckError(Problem(message, hint="name it: --with NAME"))
    if not code:
        return registry
    from dropcheck.code.slots import implementations_of, with_columns

    with printing_aside():
        return with_columns(registry, implementations_of(code, Path.cwd()), formats)


def _usual(given: Given) -> tuple[str, ...]:
    """The file where none is given: claims.yaml in this folder, or else those that ship."""
    from dropcheck.claims.reader import MISTAKEN_NAME, SHIPPED, USUAL_NAME

    looks = given.command in ("list", "show")
    if looks or Path(USUAL_NAME).is_file() or Path(MISTAKEN_NAME).is_file():
        return ()  # one with the mistaken name is reported when it is read
    automatic = {os.environ.get(name, "").strip().lower() for name in ("CI", "GITHUB_ACTIONS")}
    if automatic - {"", "0", "false"} or not (given.patterns or given.tags):
        hint = f"name a file: --file FILE; the claims that ship with dropcheck: --file {SHIPPED}"
        raise DropcheckError(Problem(f"there is no {USUAL_NAME} here", hint=hint))
    note = f"no {USUAL_NAME} here: these are the claims that ship with dropcheck"
    complain([Problem(note)], "note")
    return (SHIPPED,)


def _load(files: Iterable[str]) -> Registry:
    """The claims of files, of folders, and of standard input."""
    from dropcheck.claims.reader import read_registries, read_text
    from dropcheck.documents import read_any

    def read(path: str | Path, name: str) -> Registry:
        if path == "-":
            return read_text(sys.stdin.buffer.read() if sys.stdin else b"", "<stdin>")
        return read_any(path, name)

    return read_registries(_expanded(files), read)


def _expanded(files: Iterable[str]) -> list[str]:
    """The files, with those that hold claims in place of a folder."""
    from dropcheck.documents import in_folder

    expanded: list[str] = []
    for name in files:
        found = in_folder(name) if Path(name).is_dir() else [name]
        if found != [name]:
            complain([Problem(f"{name} holds {', '.join(found)}")], "note")
        expanded += found
    return expanded


def _chosen(given: Given, memory: int) -> Chosen:
    """The selected cases, once their claims are checked."""
    from dropcheck.claims.select import select_claims

    registry = _registry(given)
    overrides = _overrides(given, registry, select_claims(registry, given.patterns, given.tags))
    from dropcheck.language.check import choose
    from dropcheck.language.compile import CaseGraphs

    graphs = CaseGraphs(memory)
    return choose(registry, graphs, given.patterns, given.tags, overrides)


def _notes(chosen: Chosen) -> tuple[str, ...]:
    """The notes of a check, each in a line that begins with its place."""
    from dropcheck.report.screen import place

    texts = (
        (one, f"{one.message} ({one.hint})" if one.hint else one.message) for one in chosen.notes
    )
    return tuple(": ".join(filter(None, (place(one.location), text))) for one, text in texts)


def _overrides(given: Given, registry: Registry, claims: Sequence[Claim]) -> dict[str, str]:
    """The texts of values that the line gives to parameters, by their names."""
    from dropcheck.claims.values import ACCEPTED

    known = {name for one in claims for name in one.parameter_names}
    texts: dict[str, list[str]] = {}
    for option, text in given.parameters:
        name = option.lstrip("-").replace("-", "_")
        if name not in known or option[:2] != "--":
            raise DropcheckError(_unknown(option, given, registry, claims))
        if not text:
            raise DropcheckError(Problem(f"option '{option}' needs a value", hint=ACCEPTED))
        texts.setdefault(name, []).append(text)
    for text in given.values.get("sets") or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            message = f"option '--set' cannot be {text[:100]!r}: it must be NAME=VALUE"
            raise DropcheckError(Problem(message, hint="for example --set dk=512"))
        texts.setdefault(name, []).append(value)
    return {name: ",".join(values) for name, values in texts.items()}


def _unknown(option: str, given: Given, registry: Registry, claims: Sequence[Claim]) -> Problem:
    """The problem of an option that is none, and no parameter of the selected claims either."""
    name = option.lstrip("-").replace("-", "_")
    own = [*dict.fromkeys(f"--{one}" for claim in claims for one in claim.parameter_names)]
    problem = _no_such_option(option, (*given.known, *own), given.command)
    hint = f"dropcheck {given.command} --help lists the options"
    if others := [one.id for one in registry.claims.values() if name in one.parameter_names]:
        hint = f"{name!r} is a parameter of {', '.join(others[:3])}"
    elif own and {*given.patterns, *given.tags} - {"all"}:
        hint = f"the parameters are {', '.join(own[:8])}"
    message = f"{problem.message}, and no selected claim has such a parameter"
    return replace(problem, message=message, hint=problem.hint or hint)


def _no_such_option(option: str, known: Sequence[str], command: str) -> Problem:
    """The problem of an option that does not exist, with the nearest one."""
    bare = option.lstrip("-")
    near = nearest(option, [one for one in known if one[:2] == "--"])
    if bare in _formats(command) and "--format" in known:
        near = f"--format {bare}"
    elif f"-{bare}" in known:
        near = f"-{bare}"
    return Problem(
        f"there is no option '{option}'", hint=f"did you mean '{near}'?" if near else None
    )


def _check_file(name: str) -> CheckedFile:
    """All errors and notes that a file gives without any draw."""
    from dropcheck.report.cards import CheckedFile

    try:
        registry = _load([name] if name else [])
    except DropcheckError as error:
        file, errors = name or "claims.yaml", error.problems
        return CheckedFile(name=file, claims=None, cases=None, errors=errors, notes=())
    from dropcheck.language.check import check_registry

    checked = check_registry(registry)
    return CheckedFile(
        name=registry.name,
        claims=len(registry.claims),
        cases=registry.case_count,
        coverage=registry.coverage,
        errors=in_file_order(checked.problems),
        notes=in_file_order(checked.notes),
    )


# ---- a run ---------------------------------------------------------------------------------------


def _check_outputs(given: Given, outputs: Sequence[Path]) -> None:
    """Refuse what could not be written or shown after the draws."""
    from dropcheck.report.formats import PRINTED, require_libraries, written_as

    problems: list[Problem] = []
    # a link or another spelling may name the same file
    taken = {os.path.realpath(name): "the claims file" for name in given.files or ("claims.yaml",)}
    for path in outputs:
        real = os.path.realpath(path)
        if not Path(real).parent.is_dir():
            message = f"option '--output': there is no folder {str(path.parent)!r}"
            problems.append(Problem(message, hint=HERE))
        elif real in taken:
            message = f"option '--output': {str(path)!r} is {taken[real]}"
            problems.append(Problem(message, hint="give each report its own file"))
        taken.setdefault(real, "the file of another report")
    forms = [PRINTED[given.values["format"] or "table"], *map(written_as, outputs)]
    if given.values.get("plot") and not any(form.picture for form in forms if form):
        hint = "add '-o FILE.svg' or '-o FILE.png'"
        problems.append(Problem("option '--plot' draws curves in a picture", hint=hint))
    if given.values.get("exact") and given.values.get("draws_only"):
        hint = "keep one: the model decides alone, or the draws do"
        message = "options '--exact' and '--draws-only' exclude each other"
        problems.append(Problem(message, hint=hint))
    if problems:
        raise DropcheckError(problems)
    require_libraries(outputs)


def _judged(given: Given, chosen: Chosen, settings: Settings) -> RunResult:
    """The results of the cases, with progress."""
    from dropcheck.execution.pool import cluster
    from dropcheck.report.screen import progress
    from dropcheck.running import judge

    address, cases = given.values.get("scheduler"), len(chosen.cases)
    with (
        printing_aside(needed=bool(given.values.get("code"))),
        cluster(address) if address else nullcontext() as pool,
        progress(cases, given.shows_progress(), settings.time_limit) as tally,
    ):
        return judge(
            chosen,
            settings,
            lambda case, result: _repeat(given, case, settings, result),
            notes=_notes(chosen),
            pool=pool,
            processes=True,
            watch=tally.drew,
            decided=tally.decided,
            plans=tally.plans,
        )


def _repeat(given: Given, case: Case, settings: Settings, result: CaseResult) -> str:
    """The command that repeats a case with the same draws and the same limits.

    Where the time limit ended the case, its number of draws is the limit instead.
    """
    from dropcheck.claims.select import repeat_command
    from dropcheck.code.slots import needed
    from dropcheck.results import Outcome

    said = {flag_of(name): given.texts.get(name) for name in REPEATED}
    options = {name: None if text is True else text for name, text in said.items() if text}
    by_clock = "--time-limit" in options and "--max-draws" not in options
    if by_clock and result.result is Outcome.UNDECIDED and result.draws:
        del options["--time-limit"]
        options["--max-draws"] = str(result.draws)
    words = [f"--with={one}" for one in needed(given.values.get("code") or (), case.claim)]
    words += [name if text is None else f"{name}={text}" for name, text in options.items()]
    return repeat_command(case, settings.seed, given.files, words)


# ---- the program ---------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> ExitCode:
    """Run the program and return its exit code; nothing is raised."""
    words = _joined(sys.argv[1:] if arguments is None else arguments)
    command = next(iter(words), "")
    asked = {"line": words, "command": command, "format": _format_of(words)}
    try:
        if command[:1] not in ("", "-") and command not in COMMANDS:
            hint = suggestion(command, COMMANDS) or "dropcheck --help lists the commands"
            if is_file(command):
                hint = f"did you mean dropcheck run {shlex.quote(command)}?"
            raise DropcheckError(Problem(f"there is no command {command!r}", hint=hint))
        made = program_of(command)
        given = words or ["--help"]
        code = made(given, prog_name="dropcheck", standalone_mode=False, obj=asked)
        return ExitCode(code or 0) if words else ExitCode.ERROR  # nothing was checked
    except NothingSelected as error:
        return _report(error.problems, asked, ExitCode.NOTHING_SELECTED)
    except typer.TyperException as error:
        return _report([_problem_of(error, command)], asked, ExitCode.ERROR)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit as stop:  # a shell asked for completion, or the reader of the output left
        gone = isinstance(stop.__context__, BrokenPipeError)
        return ExitCode.PASSED if gone or not stop.code else ExitCode.ERROR
    except Exception as error:  # an error of any kind must not look like a failed claim
        if interrupt.heard():
            return ExitCode.INTERRUPTED
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            silence(sys.stdout)  # typer writes help and completions to it
            problem = Problem(f"the report could not be written: {reason(error)}")
            return _report([problem], asked, ExitCode.ERROR)
        own = as_own(error)
        if not isinstance(own, InternalError):
            return _report(own.problems, asked, ExitCode.ERROR)
        told = [replace(one, message=f"internal error: {one.message}") for one in own.problems]
        return _report(told, asked, ExitCode.INTERNAL)


def _report(problems: Sequence[Problem], asked: Mapping[str, Any], code: ExitCode) -> ExitCode:
    """Report problems in the format that was asked for."""
    try:
        report_problems(problems, asked["format"])
    except MemoryError:
        os.write(2, b"error: there is not enough memory\n")
        return ExitCode.INTERNAL
    return code


def _format_of(words: Sequence[str]) -> str | None:
    """The format that a line asks for, also where typer cannot read the line."""
    for place, word in enumerate(words):
        name, equals, text = word.partition("=")
        if name == "--format":
            return text if equals else next(iter(words[place + 1 :]), None)
    return None


def _problem_of(error: typer.TyperException, command: str) -> Problem:
    """What typer found wrong."""
    ctx, option = getattr(error, "ctx", None), getattr(error, "option_name", "")
    asked = "dropcheck --help" if command[:1] == "-" else f"dropcheck {command} --help"
    if ctx is not None and hasattr(error, "possibilities"):
        problem = _no_such_option(option, _spellings(ctx), command)
        hint = problem.hint or f"{asked} lists the options"
        for one in program_of("run").commands["run"].params:
            if option in one.opts and command[:1] == "-":
                hint = f"it goes after the command: dropcheck run {option} {one.metavar}".rstrip()
        return replace(problem, hint=hint)
    message = str(error).rstrip(".").replace("requires an argument", "needs a value")
    message = re.sub(r"^Got unexpected .* \((.*)\)$", rf"{command} takes no argument '\1'", message)
    message = message[:1].lower() + message[1:]
    return Problem(message, hint=f"{asked} says what it takes")
