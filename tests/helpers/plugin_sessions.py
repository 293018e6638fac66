"""Sessions of pytest within pytest, over a claims file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dropcheck.claims.reader import read_text

CLAIMS = """\
dropcheck: 1
claims:
  mean-kept:
    title: Dropout that divides by 1 - p keeps the mean
    tags: [attention]
    parameters: {p: [0.1, 0.5], scale: 1}
    model: |
      m ~ bernoulli(1 - p)
      y = scale * m / (1 - p)
    claim: E(y) == scale
  sd-kept:
    title: It keeps the <deviation> "too"
    parameters: {p: 0.5}
    model: m ~ bernoulli(1 - p)
    claim: Std(m / (1 - p)) == 0.5
  heavy:
    title: Student's t with 2 degrees of freedom has variance 5
    model: x ~ student_t(2)
    claim: Var(x) == 5
  false-on-purpose:
    title: Half of one is one
    claim: 1 / 2 == 1
    expect: refuted
  laws:
    title: Both have mean 0
    parameters: {law: ["normal(0, 1)", "rademacher()"]}
    model: x ~ law
    claim: E(x) == 0
"""
IDS = [
    "claims.yaml::mean-kept[p=0.1,scale=1]",
    "claims.yaml::mean-kept[p=0.5,scale=1]",
    "claims.yaml::sd-kept[p=0.5]",
    "claims.yaml::heavy",
    "claims.yaml::false-on-purpose",
    "claims.yaml::laws[law=normal(0, 1)]",
    "claims.yaml::laws[law=rademacher()]",
]
INI = "[pytest]\ndropcheck_files = claims.yaml\n"

Pytester = pytest.Pytester

# what sessions within use is loaded outside them: they forget what they import
for library in (
    "hypothesis",
    "scipy.special",
    "dropcheck.running",
):
    import_module(library)
for library in ("slots", "calls", "adapters.numpy_adapter"):
    import_module(f"dropcheck.code.{library}")
import_module("dropcheck.code.slots")
read_text(CLAIMS)  # loads what it imports where it is called


def write(pytester: Pytester, ini: str, claims: str = CLAIMS, name: str = "claims.yaml") -> None:
    """A configuration and a claims file, written where the session within starts."""
    (pytester.path / "pytest.ini").write_text(ini, encoding="utf-8")
    (pytester.path / name).write_text(claims, encoding="utf-8")


def properties(path: Path) -> dict[str, dict[str, str]]:
    """The properties of each test case of a JUnit report."""
    return {
        case.attrib["name"]: {
            one.attrib["name"]: one.attrib["value"] for one in case.iterfind("properties/property")
        }
        for case in ElementTree.parse(path).iter("testcase")
    }
