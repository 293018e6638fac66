"""The pytest plugin, as far as pytest imports it at every start: its ini keys.

What they ask for is in `pytest_claims`, which nothing imports until a file is configured.
"""

from __future__ import annotations

import pytest

FILES = "dropcheck_files"
KEYS = {
    "dropcheck_undecided": ("fail", "what an undecided case is: fail, skip or pass"),
    "dropcheck_alpha": ("1e-6", "the chance that any verdict of a file is wrong"),
    "dropcheck_seed": ("0", "the seed of all draws, or fresh"),
    "dropcheck_resolution": ("", "how sharply to look, in place of each claim's own"),
    "dropcheck_max_draws": ("", "the end of each case's budget in draws: 1e6"),
    "dropcheck_time_limit": ("", "the end of each case's budget in time: 10s, 500ms"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini keys: which files, and how their claims are tried."""
    parser.addini(FILES, "claims files to collect: names or globs, from rootdir", "args", [])
    for key, (default, what) in KEYS.items():
        parser.addini(key, f"{what} [default: {default or 'none'}]", "string", default)


def pytest_configure(config: pytest.Config) -> None:
    """Where files are configured, let them be collected."""
    if config.getini(FILES):
        from dropcheck.pytest_claims import ClaimsPlugin

        said = {key: config.getini(key) for key in KEYS}
        changed = {key: text for key, text in said.items() if text not in ("", KEYS[key][0])}
        plugin = ClaimsPlugin(config, FILES, changed)
        config.pluginmanager.register(plugin, "dropcheck-claims")
