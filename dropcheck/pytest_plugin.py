"""The pytest plugin, as far as pytest imports it at every start: its ini keys.

What they ask for is in `pytest_claims`, which nothing imports until a file is configured.
"""

from __future__ import annotations

import pytest

from dropcheck.options import OPTIONS

FILES = "dropcheck_files"
KEYS = {f"dropcheck_{option.name}": option for option in OPTIONS if option.ini}
"""The ini keys that set an option."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini keys: which files, and how their claims are checked."""
    parser.addini(
        FILES, "claims files and documents to collect: names or globs, from rootdir", "args", []
    )
    for key, option in KEYS.items():
        default = option.ini_default
        parser.addini(key, f"{option.ini} [default: {default or 'none'}]", "string", default)


def pytest_configure(config: pytest.Config) -> None:
    """Where files are configured, let them be collected."""
    if config.getini(FILES):
        from dropcheck.pytest_claims import ClaimsPlugin

        config.pluginmanager.register(ClaimsPlugin(config, FILES, KEYS), "dropcheck-claims")
