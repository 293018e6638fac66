"""The key `tolerance`: a share of what is claimed, or an absolute number."""

from __future__ import annotations

from dropcheck.claims.kinds import Field, Key, Kind, Level, number
from dropcheck.claims.nodes import Tree
from dropcheck.claims.registry import Tolerance

ABSOLUTE = "{absolute: 0.05}"
_ABOVE = f"a number of its own is 'tolerance: {ABSOLUTE}'"

_SHARE = number(
    f"a share greater than 0 and less than 1, or {ABSOLUTE}",
    below=1,
    if_larger=f"0.05 is 'within 5%'; {_ABOVE}",
)

LEVEL = Level(
    "tolerance",
    description="A tolerance that is no share of what is claimed.",
    keys=(
        Key("absolute", number(), examples=(0.05,),
            description="Part of the claim: `L == R` give or take this number.",
            required=f"write 'tolerance: {ABSOLUTE}'"),
    ),
)  # fmt: skip


def _read_tolerance(field: Field) -> Tolerance:
    if isinstance(field.node, Tree):
        return Tolerance(LEVEL.kind.read(field).get("absolute"), absolute=True)
    return Tolerance(_SHARE.read(field))


TOLERANCE = Kind(_SHARE.holds, {"anyOf": [_SHARE.schema, LEVEL.kind.schema]}, _read_tolerance)
