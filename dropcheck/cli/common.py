"""Options that several commands have: declared once, read by the same rules."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from dropcheck.claims.values import percentage_hint
from dropcheck.cli import completion
from dropcheck.cli import option_values as values
from dropcheck.errors import Problem
from dropcheck.settings import accepted_threads, most_threads

if TYPE_CHECKING:  # imported where it is needed: `check` and `list` have no settings
    from dropcheck.results import Settings

_Value = TypeVar("_Value")

File = Annotated[
    str | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="The claims file, or 'shipped': the claims that ship with dropcheck. Otherwise "
        "claims.yaml here, otherwise (but not under CI) those that ship.",
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", metavar="TAG", help="Only claims with this tag.", autocompletion=completion.tags
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter by its name."),
]
Alpha = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        metavar="NUMBER",
        help="The chance that any verdict of a full run is wrong [default: 1e-6].",
    ),
]
Resolution = Annotated[
    str | None,
    typer.Option(
        "--resolution",
        metavar="NUMBER",
        help="How sharply to look, relative to each claim's scale, in place of its own.",
    ),
]
Seed = Annotated[
    str | None,
    typer.Option(
        "--seed",
        metavar="N|fresh",
        help="The seed of all draws [default: 0].",
        autocompletion=completion.among(["fresh"]),
    ),
]
Threads = Annotated[
    str | None,
    typer.Option("--threads", metavar="N", help="Threads to draw with; no result depends on it."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="What one draw of a claim may take: 500MB, 2GiB [default: 1GiB].",
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="table|json",
        help="What to print [default: table].",
        show_default=False,
        autocompletion=completion.formats,
    ),
]
RunFormat = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="|".join(values.RUN_FORMATS),
        help="What to print [default: table].",
        show_default=False,
        autocompletion=completion.run_formats,
    ),
]
RunOutputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a report to a file as well, of the kind that its ending says: "
        f"{' '.join(values.RUN_ENDINGS)}. May be given several times.",
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option("--output", "-o", metavar="FILE.json", help="Write the report to a file as well."),
]
NoCrossing = Annotated[
    bool,
    typer.Option(
        "--no-crossing",
        help="Draw anew for every value, also where independent draws could be paired.",
    ),
]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress on a terminal.")]


def claims_argument(
    text: str = "Ids or globs of claims; all of them where none is named.",
) -> typer.models.ArgumentInfo:
    """The argument that names claims, with completion."""
    argument: typer.models.ArgumentInfo = typer.Argument(
        help=text, metavar="CLAIMS", show_default=False, autocompletion=completion.claim_ids
    )
    return argument


Claims = Annotated[list[str] | None, claims_argument()]


def draws_option(text: str) -> typer.models.OptionInfo:
    """`--max-draws`, which each command spends in its own way."""
    option: typer.models.OptionInfo = typer.Option("--max-draws", metavar="N", help=text)
    return option


def time_option(text: str) -> typer.models.OptionInfo:
    """`--time-limit`, which each command spends in its own way."""
    option: typer.models.OptionInfo = typer.Option("--time-limit", metavar="TIME", help=text)
    return option


class Reader(values.Collector):
    """Reads the options that several commands have; None where one was not given, or is wrong."""

    def alpha(self, text: str | None) -> float | None:
        """An error rate."""
        accepted = "a number between 0 and 1"
        return self.read("--alpha", text, values.probability, accepted, percentage_hint)

    def seed(self, text: str | None) -> int | None:
        """A seed."""
        return self.read("--seed", text, values.seed, "a whole number, or fresh")

    def resolution(self, text: str | None) -> float | None:
        """A share of each claim's scale."""
        return self.read("--resolution", text, values.share, "a number above 0, such as 0.01 or 1%")

    def max_draws(self, text: str | None) -> int | None:
        """A number of draws."""
        return self.read("--max-draws", text, values.draws, "a whole number from 1 on")

    def time_limit(self, text: str | None) -> float | None:
        """Seconds."""
        return self.read(
            "--time-limit", text, values.seconds, "a time above 0, such as 10s, 500ms or 2m"
        )

    def threads(self, text: str | None, option: str = "--threads") -> int | None:
        """How many threads, or processes."""
        return self.read(option, text, values.whole(1, most_threads()), accepted_threads())

    def max_memory(self, text: str | None) -> int | None:
        """Bytes."""
        return self.read("--max-memory", text, values.size, "a size such as 500MB or 2GiB")

    def settings(
        self,
        *,
        alpha: str | None,
        seed: str | None,
        resolution: str | None = None,
        max_draws: str | None = None,
        time_limit: str | None = None,
        max_memory: str | None = None,
        threads: str | None = None,
        no_crossing: bool = False,
    ) -> Settings:
        """How to run, with the usual value for each option that was not given."""
        from dropcheck.results import Settings

        usual = Settings()
        return Settings(
            alpha=_or(self.alpha(alpha), usual.alpha),
            seed=_or(self.seed(seed), usual.seed),
            resolution=self.resolution(resolution),
            max_draws=self.max_draws(max_draws),
            time_limit=self.time_limit(time_limit),
            threads=self.threads(threads),
            max_memory=_or(self.max_memory(max_memory), usual.max_memory),
            crossing=not no_crossing,
        )

    def format(self, text: str) -> str:
        """The name of a format."""
        return self._format(text, values.FORMATS)

    def run_format(self, text: str) -> str:
        """The name of a format that a run can be told in."""
        return self._format(text, values.RUN_FORMATS)

    def _format(self, text: str, known: Sequence[str]) -> str:
        named = values.listed(known)
        return self.read("--format", text, values.one_of(known), named) or known[0]

    def outputs(self, texts: Iterable[str]) -> tuple[Path, ...]:
        """The files to write a run's reports to, each once."""
        wanted = f"a file that ends in {values.listed(values.RUN_ENDINGS)}"
        read = [self.read("--output", text, values.report_path, wanted) for text in texts]
        paths = tuple(path for path in read if path is not None)
        seen: dict[str, Path] = {}
        for path in paths:
            # by its real place, so that a link, or another spelling, is no other file
            first = seen.setdefault(os.path.realpath(path), path)
            if first is not path:
                message = f"option '--output' names one file twice: {str(first)!r}"
                also = f" and {str(path)!r}" if str(first) != str(path) else ""
                hint = "give each report a file of its own"
                self.problems.append(Problem(message + also, hint=hint))
        return paths


def _or(value: _Value | None, default: _Value) -> _Value:
    return default if value is None else value
