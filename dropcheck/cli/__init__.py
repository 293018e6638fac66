"""The command line: flags, options, a run, its report and an exit code; no arithmetic."""

from dropcheck.cli.app import main

__all__ = ["main"]
