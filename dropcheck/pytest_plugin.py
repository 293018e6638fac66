"""The part of the pytest plugin that pytest imports at every start: its ini keys.

The rest is in `pytest_claims`, which is imported only where a file is configured.
"""

from __future__ import annotations

import pytest

FILES = "dropcheck_files"
IMPLEMENTATIONS = "dropcheck_implementations"
PLUGIN = "dropcheck-claims"
KEYS = {
    "alpha": ("the probability that any verdict of a file is wrong", "1e-6"),
    "resolution": ("the smallest difference to look for, in place of each claim's own", ""),
    "seed": ("the seed of all draws, or fresh", "0"),
    "max_draws": ("the limit of draws for each case: 1e6", ""),
    "time_limit": ("the time limit for each case: 10s, 500ms", ""),
    "asymptotic": (
        "whether the limit theorem judges what the model does not bound: true or false",
        "false",
    ),
    "draws_only": (
        "whether draws alone decide, where the model gives an exact value too: true or false",
        "false",
    ),
    "undecided": ("what an undecided case is: fail, skip or pass", "fail"),
}
"""The settings that an ini key gives, with its help text and its default."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini keys: which files there are, and how their claims are checked."""
    parser.addini(
        FILES, "claims files and documents to collect: names or globs, from rootdir", "args", []
    )
    parser.addini(
        IMPLEMENTATIONS, "code to check beside the claims of these files, as --with", "args", []
    )
    for name, (text, default) in KEYS.items():
        told = f"{text} [default: {default or 'none'}]"
        parser.addini(f"dropcheck_{name}", told, "string", default)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin of claims where files are configured."""
    if config.getini(FILES):
        from dropcheck.pytest_claims import ClaimsPlugin

        plugin = ClaimsPlugin(config, (FILES, IMPLEMENTATIONS), KEYS)
        config.pluginmanager.register(plugin, PLUGIN)
