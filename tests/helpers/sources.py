"""The package's modules as syntax trees, parsed when they are first asked for and once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "dropcheck"


@cache
def trees() -> dict[Path, ast.Module]:
    """The tree of every module, by its path within the package."""
    return {
        path.relative_to(PACKAGE): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }
