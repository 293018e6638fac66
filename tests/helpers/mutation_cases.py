"""Claims that the tests of mutation share."""

from __future__ import annotations

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Claim, Registry

TOOTHLESS = "model: x ~ normal(0, 1)\nclaim: 0 * E(x) == 0 * E(x)"
HALF = """\
parameters: {p: 0.5}
model: m ~ bernoulli(1 - p)
claim: E(m) == 1 - p
resolution: 0.05"""


def registry_of(**claims: str) -> Registry:
    """A registry of claims given as the keys of each in YAML."""
    lines = ["dropcheck: 1", "claims:"]
    for name, text in claims.items():
        lines += [f"  {name}:", "    title: t", *(f"    {line}" for line in text.split("\n"))]
    return read_text("\n".join(lines))


def claim_of(text: str) -> Claim:
    """One claim, by its keys in YAML."""
    return registry_of(c=text).claims["c"]
