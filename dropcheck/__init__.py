"""dropcheck: try mathematical claims by Monte Carlo simulation, with verdicts that hold."""

from __future__ import annotations

TYPE_CHECKING = False  # importing it from typing would take longer than all else here
if TYPE_CHECKING:
    from dropcheck.api import ClaimFailedError, InvalidClaimError, run, verify
    from dropcheck.errors import DropcheckError
    from dropcheck.results import CaseResult

__version__ = "1.0.0"
__all__ = [
    "CaseResult",
    "ClaimFailedError",
    "DropcheckError",
    "InvalidClaimError",
    "__version__",
    "run",
    "verify",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that importing the package is fast."""
    if name in ("run", "verify", "ClaimFailedError", "InvalidClaimError"):
        from dropcheck import api

        return getattr(api, name)
    if name == "DropcheckError":
        from dropcheck.errors import DropcheckError

        return DropcheckError
    if name == "CaseResult":
        from dropcheck.results import CaseResult

        return CaseResult
    raise AttributeError(f"module 'dropcheck' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
