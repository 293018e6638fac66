"""`schema`: the format of a claims file, for editors."""

from __future__ import annotations

import json

from dropcheck.cli.output import print_out


def schema() -> None:
    """Print the JSON Schema of a claims file (draft-07), for editors and other tools."""
    print_out(schema_text())


def schema_text() -> str:
    """The schema as it is printed and published: in ASCII, a key a line."""
    from dropcheck.claims.format import claims_schema

    return json.dumps(claims_schema(), indent=2) + "\n"
