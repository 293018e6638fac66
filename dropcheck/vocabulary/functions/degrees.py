"""How functions scale: f(s · x) is s^degree · f(x) for every s >= 0, where f(x) is finite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dropcheck.vocabulary.function import Function

# in the first argument, whatever the others are
ALONE: Mapping[str, float] = {
    **dict.fromkeys(("negative", "abs", "relu", "leaky_relu"), 1.0),
    **dict.fromkeys(("sum", "mean", "max", "min", "median", "sort", "norm", "std"), 1.0),
    **dict.fromkeys(("cumsum", "cummax", "diff", "trace", "svdvals", "eigvalsh"), 1.0),
    **dict.fromkeys(("tril", "triu", "diag"), 1.0),
    "sqrt": 1 / 2,
    "cbrt": 1 / 3,
    "var": 2.0,
}
# in all arguments together
TOGETHER: Mapping[str, float] = dict.fromkeys(("+", "-", "maximum", "minimum"), 1.0)


def degree_alone(function: Function, options: Mapping[str, Any]) -> float | None:
    """The degree in the first argument; None where it is none, or not known."""
    if options.get("ord") == 0:  # a norm that counts
        return None
    return 1.0 if function.rearranges else ALONE.get(function.name)
