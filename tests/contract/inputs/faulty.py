"""dropcheck with a fault planted: the first JSON that is made raises what the argument names."""

import builtins
import json
import sys
from typing import NoReturn

from dropcheck.cli import main

dumps = json.dumps


def raising(*_: object, **__: object) -> NoReturn:
    """Raise it once."""
    json.dumps = dumps
    raise getattr(builtins, sys.argv[1])("planted")


if __name__ == "__main__":
    json.dumps = raising
    sys.exit(main(sys.argv[2:]))
