"""The command line: flags to options to a run to a report and an exit code; no arithmetic."""

from dropcheck.cli.app import main

__all__ = ["main"]
