"""Drawing: a compiled case and a stream in, sums of blocks out."""

from __future__ import annotations

import os
import sys

# Spans are drawn on threads of our own; a second layer of threads inside each small matrix product
# only gets in their way (measured: up to forty times slower). The libraries read this as they are
# loaded, so it is set only where numpy is not loaded yet, and never over a user's own choice.
if "numpy" not in sys.modules:
    for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(_name, "1")
