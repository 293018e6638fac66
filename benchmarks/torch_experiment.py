"""The documents' experiment as they have it: 10,000 × 10,000 normals and a dropout mask.

Run in an environment with PyTorch; prints what it found and its own peak of memory as JSON.
"""

import json
import resource
import sys

import torch

side = int(sys.argv[1])
p = 0.5
torch.manual_seed(0)
if side:
    x = torch.randn(side, side)
    mask = torch.rand(side, side) > p
    y = x * mask / (1 - p)
    found = {"mean": y.mean().item(), "rise": (y.std() / x.std()).item() - 1}
else:  # the import alone, for what it takes by itself
    found = {}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sys.stdout.write(json.dumps({**found, "peak": peak * (1 if sys.platform == "darwin" else 1024)}))
