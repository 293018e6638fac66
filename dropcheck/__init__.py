"""dropcheck: try mathematical claims by Monte Carlo simulation, with verdicts that hold."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes longer to import than all else here
if TYPE_CHECKING:
    from dropcheck.api import ClaimFailedError, InvalidClaimError, run, verify
    from dropcheck.code.decorator import implements
    from dropcheck.errors import DropcheckError
    from dropcheck.results import CaseResult

__version__ = "0.1.0"
__all__ = [
    "CaseResult",
    "ClaimFailedError",
    "DropcheckError",
    "InvalidClaimError",
    "__version__",
    "implements",
    "run",
    "verify",
]


def __getattr__(name: str) -> object:
    """The names above, imported when they are first asked for: the package itself costs nothing."""
    found: object
    if name in ("run", "verify", "ClaimFailedError", "InvalidClaimError"):
        from dropcheck import api

        found = getattr(api, name)
    elif name == "DropcheckError":
        from dropcheck.errors import DropcheckError

        found = DropcheckError
    elif name == "implements":
        from dropcheck.code.decorator import implements

        found = implements
    elif name == "CaseResult":
        from dropcheck.results import CaseResult

        found = CaseResult
    else:
        raise AttributeError(f"module 'dropcheck' has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
