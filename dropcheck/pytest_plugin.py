"""The part of the pytest plugin that pytest imports at every start: its ini keys.

The rest is in `pytest_claims`, which is imported only where a file is configured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dropcheck.options import OPTIONS

FILES = "dropcheck_files"
IMPLEMENTATIONS = "dropcheck_implementations"
PLUGIN = "dropcheck-claims"
IMPLEMENTS = "__dropcheck_implements__"  # the attribute that dropcheck.implements sets
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
        _plugin(config)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Collector, name: str, obj: object
) -> Sequence[pytest.Collector] | None:
    """The tests of a function that implements slots, whatever its name is."""
    try:
        asked = vars(obj).get(IMPLEMENTS)
    except TypeError:  # the object has no `__dict__`
        return None
    if not isinstance(asked, tuple):
        return None
    from dropcheck.pytest_functions import code_tests

    return code_tests(collector, name, obj, asked, _plugin(collector.config))


def _plugin(config: pytest.Config) -> Any:
    """The plugin of this session, made when it is first needed."""
    from dropcheck.pytest_claims import ClaimsPlugin

    plugin: Any = config.pluginmanager.get_plugin(PLUGIN)
    if plugin is None:
        plugin = ClaimsPlugin(config, (FILES, IMPLEMENTATIONS), KEYS)
        config.pluginmanager.register(plugin, PLUGIN)
    return plugin
