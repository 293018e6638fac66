"""Names of the options of `run`, their defaults and bounds: standard library only, for every layer.

A parameter of such a name has no option of its own and is set by `--set`. What writes a command
to repeat a case needs to know them too, and stands below the command line; a test holds this list
to the options that there are.
"""

import os

DEFAULT_MEMORY = 2**30
"""Bytes that one draw of a claim may take, together with what is fixed in it."""

LEAST_MEMORY, MOST_MEMORY = 2**20, 2**60
"""Bounds of that number."""

MOST_DRAWS = 2**62
"""Draws that a budget may name: beyond it they could not be counted in 64 bits."""

MOST_SEED = 2**64 - 1
"""The last seed."""

THREADS_A_CORE = 16
"""Threads that may be asked for, for each core: with hundreds a run takes ten times as long."""

MOST_THREADS = 1024
"""Threads that may be asked for on a machine however large."""

SHORT_OPTIONS = frozenset("foqvx")
"""Letters that stand for options of `run`."""

RUN_OPTIONS = frozenset(
    {
        "alpha",
        "exit_zero",
        "fail_fast",
        "file",
        "format",
        "help",
        "last_failed",
        "math",
        "max_draws",
        "max_memory",
        "no_crossing",
        "no_progress",
        "output",
        "plot",
        "quiet",
        "resolution",
        "seed",
        "set",
        "tag",
        "threads",
        "time_limit",
        "verbose",
    }
)


def default_threads() -> int:
    """As many as this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def most_threads() -> int:
    """As many as may be asked for here."""
    return min(MOST_THREADS, THREADS_A_CORE * default_threads())


def accepted_threads() -> str:
    """The same in words."""
    return f"a whole number from 1 to {most_threads()}, at most {THREADS_A_CORE} a core"
