"""Comma-separated values: exact text, and what other readers of it get."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.report import Report
from dropcheck.report.csv_report import COLUMNS, csv_report
from dropcheck.results import CaseResult, Passage


def csv_of(*cases: CaseResult) -> str:
    return csv_report(Report(run_of(*cases), Registry("claims.yaml", {}, {})))


def rows_of(*cases: CaseResult) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_of(*cases), newline="")))


def test_the_report_is_exactly_this() -> None:
    odd = replace(FAILED, title='A "title", quoted')
    assert csv_of(PASSED, odd) == (
        "claim,parameters,title,statement,document,section,tags,claimed_low,claimed_high,estimate,"
        "interval_low,interval_high,standard_error,confidence,scale,resolution,draws,seconds,"
        "guarantee,verdict,expect,result,reason,file,line,seed,repeat,exact,confirmed,within,"
        "left,middle,right,entry,note,written,rounding,column,dtype,of\r\n"
        "qk-variance,dk=512,The dot product of a query and a key has variance d_k,"
        "Var(q @ k) == dk,scaling-post,Similar Scaling,attention,512,512,511.83,509.11,514.57,"
        "0.45,0.999999991,512,0.01,262144,0.01,moments,verified,verified,pass,,claims.yaml,18,"
        "0,dropcheck run qk-variance --dk 512 --seed 0,,,5.12,,,,,,,,,,\r\n"
        'naive-dropout,p=0.3,"A ""title"", quoted",P(x > 3) >= 0.9,scaling-post,Similar Scaling,'
        "attention,0.9,,0.7004,0.691,0.7098,0.001,0.999999991,0.9,0.01,262144,0.01,moments,"
        "refuted,verified,fail,,claims.yaml,40,0,"
        "dropcheck run naive-dropout --p 0.3 --seed 0,,,,,,,,,,,,,\r\n"
    )


def test_a_run_without_cases_has_its_header() -> None:
    assert csv_of() == ",".join(COLUMNS) + "\r\n"


def test_numbers_come_back_as_they_were_and_nothing_stands_for_what_is_unknown() -> None:
    exact = replace(PASSED, estimate=0.1 + 0.2, interval=(None, 1 / 3), region=None)
    (row,) = rows_of(exact)
    assert float(row["estimate"]) == 0.1 + 0.2
    assert (row["interval_low"], float(row["interval_high"])) == ("", 1 / 3)
    assert (row["claimed_low"], row["claimed_high"]) == ("", "")
    (row,) = rows_of(replace(PASSED, estimate=float("nan"), interval=None, scale=float("inf")))
    assert row["estimate"] == row["interval_low"] == row["interval_high"] == row["scale"] == ""
    (row,) = rows_of(UNDECIDED)
    assert (row["claimed_low"], row["claimed_high"]) == ("0.405", "0.415")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-E(x) == 1", "@SUM(1)", "  =1", "\t=1", "＝1"])
def test_no_text_runs_in_a_spreadsheet(text: str) -> None:
    odd = replace(PASSED, title=text, statement=text, sources=(Passage(text),), repeat=text)
    (row,) = rows_of(odd)
    for column in ("title", "statement", "document", "repeat"):
        assert row[column] == f"'{text.strip()}"


def test_a_negative_number_stays_a_number() -> None:
    (row,) = rows_of(replace(PASSED, estimate=-1.5))
    assert row["estimate"] == "-1.5"


def test_a_text_that_looks_like_none_of_these_is_left_alone() -> None:
    (row,) = rows_of(replace(PASSED, title="a = b, - c"))
    assert row["title"] == "a = b, - c"


def test_a_user_s_text_is_one_field_of_one_line() -> None:
    hostile = 'a,"b"\r\n=cmd\x00\x1b[31m;\ttab'
    odd = replace(PASSED, title=hostile, parameters={"law": hostile}, tags=(hostile, "two"))
    text = csv_of(odd)
    assert text.count("\r\n") == 2
    assert len(rows_of(odd)) == 1
    (row,) = rows_of(odd)
    assert row["title"] == 'a,"b" =cmd\\x00\\x1b[31m; tab'
    assert set(row) == set(COLUMNS)
