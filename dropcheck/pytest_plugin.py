"""The pytest plugin, as far as pytest imports it at every start: its ini keys.

What they ask for is in `pytest_claims`, which nothing imports until a file is configured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dropcheck.options import OPTIONS

FILES = "dropcheck_files"
IMPLEMENTATIONS = "dropcheck_implementations"
PLUGIN = "dropcheck-claims"
IMPLEMENTS = "__dropcheck_implements__"  # what dropcheck.implements leaves at a function
KEYS = {f"dropcheck_{option.name}": option for option in OPTIONS if option.ini}
"""The ini keys that set an option."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini keys: which files, and how their claims are checked."""
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
    """Where files are configured, let them be collected."""
    if config.getini(FILES):
        _plugin(config)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Collector, name: str, obj: object
) -> Sequence[pytest.Collector] | None:
    """Functions that implement slots are tests of their claims, whatever they are called."""
    try:
        asked = vars(obj).get(IMPLEMENTS)
    except TypeError:  # what has no attributes of its own
        return None
    if not isinstance(asked, tuple):
        return None
    from dropcheck.pytest_functions import code_tests

    return code_tests(collector, name, obj, asked, _plugin(collector.config))


def _plugin(config: pytest.Config) -> Any:
    """The plugin of this session, made when the first claim is there to be checked."""
    from dropcheck.pytest_claims import ClaimsPlugin

    plugin: Any = config.pluginmanager.get_plugin(PLUGIN)
    if plugin is None:
        plugin = ClaimsPlugin(config, (FILES, IMPLEMENTATIONS), KEYS)
        config.pluginmanager.register(plugin, PLUGIN)
    return plugin
