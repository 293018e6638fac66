"""dropcheck: try mathematical claims by Monte Carlo simulation, with verdicts that hold."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes longer to import than all else here
if TYPE_CHECKING:
    from dropcheck.api import ClaimFailedError, InvalidClaimError, verify
    from dropcheck.errors import DropcheckError
    from dropcheck.results import CaseResult

__version__ = "0.1.0"
__all__ = [
    "CaseResult",
    "ClaimFailedError",
    "DropcheckError",
    "InvalidClaimError",
    "__version__",
    "verify",
]


def __getattr__(name: str) -> object:
    """The names above, imported when they are first asked for: the package itself costs nothing."""
    if name in ("verify", "ClaimFailedError", "InvalidClaimError"):
        from dropcheck import api as home
    elif name == "DropcheckError":
        from dropcheck import errors as home  # type: ignore[no-redef]
    elif name == "CaseResult":
        from dropcheck import results as home  # type: ignore[no-redef]
    else:
        raise AttributeError(f"module 'dropcheck' has no attribute {name!r}")
    found: object = getattr(home, name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
