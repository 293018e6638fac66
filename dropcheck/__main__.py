"""`python -m dropcheck` is `dropcheck`."""

import sys

from dropcheck.cli import main

if __name__ == "__main__":
    sys.exit(main())
