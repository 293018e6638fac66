"""Methods of distributions that are asked of the same numbers again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any


@lru_cache(maxsize=4096)
def _found(method: Callable[..., Any], *arguments: Any) -> Any:
    return method(*arguments)


def remembered(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is often asked of the same numbers; of arrays it is computed each time."""

    @wraps(method)
    def asked(*arguments: Any) -> Any:
        try:
            return _found(method, *arguments)
        except TypeError:  # arrays are not hashed
            return method(*arguments)

    return asked
