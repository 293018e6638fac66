"""`dropcheck.verify` and `dropcheck.run`: what is returned, raised and refused."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dropcheck
from dropcheck import ClaimFailedError, InvalidClaimError, verify
from dropcheck.errors import NothingSelected
from dropcheck.results import CaseResult, Guarantee, Outcome, Verdict

pytest_plugins = ["pytester"]

DROPOUT = """
    x ~ law            # whatever goes in
    m ~ bernoulli(1 - p)
    y = m * x / (1 - p)
"""
N = "x ~ normal(0, 1)"


# ---- what is returned and raised -----------------------------------------------------------------


def test_a_true_claim_returns_its_result_and_a_false_one_raises_it() -> None:
    found = verify("E(y) == mu", model=DROPOUT, law="normal(1, 2)", p=0.3, mu=1.0)
    assert (found.verdict, found.result) == (Verdict.VERIFIED, Outcome.PASS)
    assert found.parameters == {"law": "normal(1, 2)", "p": 0.3, "mu": 1.0}
    assert found.estimate == pytest.approx(1, abs=0.02)
    with pytest.raises(AssertionError) as caught:
        verify("E(y) == mu", model=DROPOUT, law="normal(1, 2)", p=0.3, mu=1.1)
    assert isinstance(caught.value, ClaimFailedError)
    assert caught.value.result.verdict is Verdict.REFUTED
    again = pickle.loads(pickle.dumps(caught.value))  # as to another process
    assert (str(again), again.result) == (str(caught.value), caught.value.result)


def test_failure_is_told_as_below_a_table() -> None:
    with pytest.raises(ClaimFailedError) as caught:
        verify("a + 1 == 4", a=2)
    frame = inspect.currentframe()
    assert frame is not None
    line = frame.f_lineno - 3
    place = f"tests/api/test_api.py:{line}"
    said = str(caught.value).replace(__file__, "tests/api/test_api.py")
    assert said == (
        "refuted: claimed 4, estimated 3\n\n"
        "FAIL: refuted  claim  a=2\n"
        "  statement   a + 1 == 4\n"
        "  claimed     4\n"
        "  estimated   3\n"
        "  interval    [3, 3]\n"
        "  distance    1 below, 25% of the scale\n"
        "  resolution  ±0: nothing is random, and what is not equal differs\n"
        "  confidence  1 - 1e-6\n"
        "  guarantee   arithmetic\n"
        "  draws       0\n"
        "  reading     false as stated: the interval misses what is claimed\n"
        f"  where       {place}"
    )


FEW: dict[str, Any] = {"model": N, "max_draws": 2000, "draws_only": True}


@pytest.mark.parametrize(
    ("claim", "options", "verdict", "error"),
    [
        ("Std(x) == 0.6", {"expect": "refuted"}, Verdict.REFUTED, None),
        ("Std(x) == 1", {"expect": "refuted"}, None, "verified, expected refuted"),
        ("E(x) == 0", FEW, None, r"^undecided: claimed 0, estimated .*\n\nundecided  claim\n"),
        ("E(x) == 0", {**FEW, "undecided": "pass"}, Verdict.UNDECIDED, None),
        ("E(x) == 2", {**FEW, "undecided": "pass"}, None, "refuted"),
        ("Var(x) == 1.02", {"within": 0.1, "draws_only": True}, Verdict.VERIFIED, None),
        ("Var(x) == 1.02", {"resolution": 0.005}, None, "refuted"),
        ("Var(x) == 1.04", {"tolerance": 0.05}, Verdict.VERIFIED, None),
        ("Var(x) == 1.06", {"tolerance": 0.05}, None, "refuted"),
        ("Var(x) == 0", {"tolerance": {"absolute": 1}}, Verdict.VERIFIED, None),
        ("E(log(abs(20 + x * w))) > 2", {}, None, "which counts only with --asymptotic"),
        ("E(log(abs(20 + x * w))) > 2", {"asymptotic": True}, Verdict.VERIFIED, None),
        ("E(x) == 0", {"within": 1e-9, "time_limit": 0.2, "undecided": "pass",
                       "draws_only": True}, Verdict.UNDECIDED, None),
    ],
)  # fmt: skip
def test_options_decide_what_is_asked_and_what_fails(
    claim: str, options: dict[str, Any], verdict: Verdict | None, error: str | None
) -> None:
    given = {"model": "x, w ~ normal(0, 1)" if "w" in claim else N, **options}
    if error is None:
        assert verify(claim, **given).verdict is verdict
    else:
        with pytest.raises(ClaimFailedError, match=error):
            verify(claim, **given)


def test_an_undecided_claim_may_be_skipped() -> None:
    with pytest.raises(unittest.SkipTest, match=r"^undecided: "):
        verify("E(x) == 0", undecided="skip", **FEW)


def test_every_entry_of_code_is_compared_and_none_needs_an_option() -> None:
    """Nothing says that entries of code have one law."""

    def sample(generator: np.random.Generator, count: int) -> dict[str, Any]:
        return {"y": generator.normal([0.0, 1.0, 2.0], 1.0, (count, 3))}

    assert verify("E(y) == [0, 1, 2]", sample=sample, within=0.01).verdict is Verdict.VERIFIED
    found = verify("E(mean(y)**2) == 4 / 3", sample=sample, within=0.02)
    assert (found.verdict, found.guarantee) == (Verdict.VERIFIED, Guarantee.ASYMPTOTIC)
    with pytest.raises(ClaimFailedError) as caught:
        verify("E(y) == 1", sample=sample)
    assert caught.value.result.entry in ((0,), (2,))


# ---- parameters and options ----------------------------------------------------------------------


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), "2", "4/2"])
def test_number_in_any_form(value: Any) -> None:
    assert verify("a == 2", a=value).parameters == {"a": 2.0}


def test_parameters_may_be_named_like_options() -> None:
    found = verify("alpha + seed == 3", parameters={"alpha": 1, "seed": 2}, alpha=0.01)
    assert found.confidence == 0.99
    assert verify("E(x) == alphas", model="x ~ normal(alphas, 1)", alphas=1).verdict
    with pytest.warns(UserWarning, match="dropcheck: the parameter 'a' of claim is not used") as w:
        verify("1 == 1", a=2)
    assert w[0].filename == __file__
    with pytest.raises(InvalidClaimError) as caught:
        verify("E(x) == 0", model=N, resolutoin=0.1)
    assert str(caught.value) == (
        "the parameter 'resolutoin' is not used\nhint: did you mean the option 'resolution'?"
    )


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "claim no text": ({"claim": 3}, "the claim is text, and not a value of type 'int'"),
    "model no text": ({"model": print}, "'model' is text, and not a value of type"),
    "alpha": ({"alpha": 2}, "option 'alpha' cannot be 2: it must be a number between 1e-30 and 1"),
    "seed no whole number": ({"seed": 1.5}, "option 'seed' cannot be 1.5"),
    "truth": ({"max_draws": True}, "option 'max_draws' cannot be True"),
    "no truth": ({"asymptotic": "yes"}, "it must be True or False"),
    "expect": ({"expect": "true"}, "'expect' cannot be 'true': it must be 'verified' or 'refuted'"),
    "undecided": ({"undecided": "maybe"}, "it must be 'fail', 'skip' or 'pass'"),
    "both": ({"within": 1, "resolution": 1}, "both 'resolution' and 'within' are given"),
    "tolerance": ({"tolerance": 2}, "must be a number between 0 and 1, or {'absolute': a number"),
    "absolute tolerance": ({"tolerance": {"absolute": 0}}, "option 'tolerance' cannot be {'abs"),
    "no tolerance": ({"tolerance": {"share": 0.1}}, "option 'tolerance' cannot be {'share'"),
    "tolerance of 0": ({"claim": "0 == 0", "tolerance": 0.1}, "is a share of this side, which is"),
    "value": ({"a": {}}, "'a' must be a number, a vector or a law, and is a mapping"),
    "value in a list": ({"a": ["b"]}, "'a' must be a number, and is 'b'"),
    "value infinite": ({"a": float("inf")}, "the parameter 'a' must be a finite number"),
    "value too large": ({"a": 10**400}, "the parameter 'a' must be a finite number"),
    "no mapping": ({"parameters": [1]}, "'parameters' is a mapping of names to values"),
    "slip of an option": ({"alpa": []}, "was the option 'alpha' meant?"),
    "name": ({"parameters": {"a b": 1}}, "the parameter 'a b' is not a name"),
    "keyword": ({"parameters": {"if": 1}}, "the parameter 'if' is a word of the language"),
    "constant": ({"inf": 3}, "'inf' is a constant of the language"),
    "twice": ({"parameters": {"a": 1}, "a": 2}, "the parameter 'a' is given twice"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_argument_is_told(bad: str) -> None:
    arguments, message = BAD[bad]
    given: dict[str, Any] = {"claim": "1 == 1", **arguments}
    with pytest.raises(InvalidClaimError) as caught:
        verify(given.pop("claim"), **given)
    assert message in str(caught.value)


# ---- errors in the texts -----------------------------------------------------------------------


def test_every_error_of_the_texts_is_told_where_it_stands() -> None:
    with pytest.raises(ValueError, match="is not a law") as caught:
        verify("E(z) == mu", model="\n    y ~ bernouli(p)\n", p=0.3)
    assert isinstance(caught.value, dropcheck.DropcheckError)
    assert str(caught.value) == (
        "model:2:9: 'bernouli' is not a law\n"
        "    y ~ bernouli(p)\n"
        "        ^\n"
        "    hint: did you mean 'bernoulli'?\n"
        "claim:1:3: 'z' is not defined\n"
        "    E(z) == mu\n"
        "      ^\n"
        "    hint: define it in 'model' or 'parameters'; names defined here: p, y\n"
        "claim:1:9: 'mu' is not defined\n"
        "    E(z) == mu\n"
        "            ^\n"
        "    hint: define it in 'model' or 'parameters'; names defined here: p, y"
    )


def test_errors_that_only_a_run_can_find_are_told() -> None:
    with pytest.raises(InvalidClaimError, match="NaN or infinite on every draw"):
        verify("E(log(-x)) == 0", model="x ~ uniform(1, 2)")
    with pytest.raises(InvalidClaimError, match="bernoulli: p"):
        verify("E(m) == p", model="m ~ bernoulli(p)", p=1.5)


@pytest.mark.parametrize("text", ["", "\x1b[31m", "x" * 100_000, "\u202e1 == 1", "1 == 1\x00"])
def test_hostile_text_is_an_error_and_never_obeyed(text: str) -> None:
    with pytest.raises(InvalidClaimError) as caught:
        verify(text)
    assert not set(str(caught.value)) & {"\x1b", "\u202e", "\x00"}
    assert len(str(caught.value)) < 1000


# ---- files ---------------------------------------------------------------------------------------

TEXT = """
dropcheck: 1
claims:
  one: {title: One, model: "x ~ normal(0, 1)", claim: E(x**2) == 1}
  two: {title: Two, model: "x ~ normal(0, 1)", claim: P(x > 0) == 0.6, expect: refuted}
"""


def test_claims_of_files_are_run_on_any_executor(tmp_path: Path) -> None:
    def cases(**how: Any) -> list[CaseResult]:
        found = dropcheck.run(file, **how)
        return [replace(one, seconds=0, more_seconds=None) for one in found.cases]

    file = tmp_path / "a.yaml"
    file.write_text(TEXT, encoding="utf-8")
    assert [one.result.value for one in cases(threads=1)] == ["pass", "pass"]
    with ThreadPoolExecutor(2) as executor:
        assert cases(executor=executor, workers=2) == cases(threads=1)
    assert [one.claim for one in cases(claims="t*")] == ["two"]
    with pytest.raises(NothingSelected):
        cases(claims="q*")
    with pytest.raises(dropcheck.DropcheckError, match="alpha"):
        cases(alpha=2.0)
    file.write_text(TEXT.replace("normal(0, 1)", "nromal(0, 1)"), encoding="utf-8")
    with pytest.raises(dropcheck.DropcheckError) as raised:
        cases()
    assert len(raised.value.problems) == 2


# ---- the package ---------------------------------------------------------------------------------


def test_the_package_offers_its_names_and_imports_nothing_before_they_are_used() -> None:
    probe = (
        "import sys; before = set(sys.modules); import dropcheck; "
        "print(sorted(set(sys.modules) - before)); dropcheck.verify; print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == ["['__future__', 'dropcheck']", "False"]
    assert {*dropcheck.__all__} <= {name for name in dir(dropcheck) if hasattr(dropcheck, name)}
    with pytest.raises(AttributeError, match="has no attribute 'verfy'"):
        dropcheck.verfy  # noqa: B018 - looking is what is tried


TESTS = """
import dropcheck

def holds(claim, **more):
    return dropcheck.verify(claim, **more)

def test_true():
    dropcheck.verify("1 == 1")

def test_false():
    dropcheck.verify("1 == 2")

def test_undecided():
    few = {"max_draws": 2000, "draws_only": True}
    dropcheck.verify("E(x) == 0", model="x ~ normal(0, 1)", undecided="skip", **few)

def test_bad():
    dropcheck.verify("1 = 2")
"""


def test_under_pytest_the_traceback_ends_at_the_tests_own_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    found = pytester.runpytest()
    found.assert_outcomes(passed=1, failed=2, skipped=1)
    found.stdout.fnmatch_lines(
        [
            '>       dropcheck.verify("1 == 2")',
            "E       dropcheck.api.ClaimFailedError: refuted: claimed 2, estimated 1",
            "E       ",
            "E       FAIL: refuted  claim",
            "E         statement   1 == 2",
            '>       dropcheck.verify("1 = 2")',
            "E       dropcheck.api.InvalidClaimError: claim:1:3: *",
        ]
    )
    found.stdout.no_fnmatch_line("*check_options*")
    found.stdout.no_fnmatch_line("*raise ClaimFailedError*")
