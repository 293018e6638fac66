"""Claims that the tests of mutation share."""

from __future__ import annotations

TOOTHLESS = "model: x ~ normal(0, 1)\nclaim: 0 * E(x) == 0 * E(x)"
HALF = """\
parameters: {p: 0.5}
model: m ~ bernoulli(1 - p)
claim: E(m) == 1 - p
resolution: 0.05"""
