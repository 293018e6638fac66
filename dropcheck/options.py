"""Names of the options of `run`, and defaults that every layer knows: standard library only.

A parameter of such a name has no option of its own and is set by `--set`. What writes a command
to repeat a case needs to know them too, and stands below the command line; a test holds this list
to the options that there are.
"""

DEFAULT_MEMORY = 2**30
"""Bytes that one draw of a claim may take, together with what is fixed in it."""

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
