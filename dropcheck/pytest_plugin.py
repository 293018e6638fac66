"""The part of the pytest plugin that pytest imports at every start: its ini keys.

The rest is in `pytest_claims`, which is imported only where a file is configured.
"""

from __future__ import annotations

import pytest

from dropcheck.options import OPTIONS

FILES = "dropcheck_files"
IMPLEMENTATIONS = "dropcheck_implementations"
PLUGIN = "dropcheck-claims"
KEYS = {f"dropcheck_{option.name}": option for option in OPTIONS if option.ini}
"""The ini keys that set an option."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini keys: which files there are, and how their claims are checked."""
    parser.addini(
        FILES, "claims files and documents to collect: names or globs, from rootdir", "args", []
    )
    parser.addini(
        IMPLEMENTATIONS, "code to check beside the claims of these files, as --with", "args", []
    )
    for key, option in KEYS.items():
        default = option.ini_default
        parser.addini(key, f"{option.ini} [default: {default or 'none'}]", "string", default)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin of claims where files are configured."""
    if config.getini(FILES):
        from dropcheck.pytest_claims import ClaimsPlugin

        plugin = ClaimsPlugin(config, (FILES, IMPLEMENTATIONS), KEYS)
        config.pluginmanager.register(plugin, PLUGIN)
