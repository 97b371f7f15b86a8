"""Cells of CSV and TSV files are safe to open, and are read again as the texts that they were (rule H3)."""

from __future__ import annotations

import csv
import io
import re
import string
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.charts.export import export_set
from verifyplan.csv_cells import plain_cell, safe_cell
from verifyplan.frames.csv_tables import plain_table, safe_table, write_csv
from verifyplan.frames.table_files import read_table, table_of
from verifyplan.runs.read_findings import read_findings

BAD_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001
CONTROLS = {chr(code) for code in (*range(32), *range(127, 160))} - set("\t\n")

texts = st.text(
    st.one_of(st.sampled_from("'=+-@\\\t\r\n \x1b\x9bx1e.\"a,;＝"), st.characters(exclude_categories=["Cs"]))  # noqa: RUF001
)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and not set(text) - set("+-.eE" + string.digits)


@given(texts)
@example("'=1").via("the cell of =1")
@example("'\\x1b")
@example("'\\\x1b")
@example("''\\x")
@example("'-5")
@example("\\x1b\x1b")
def test_a_text_is_a_safe_cell_and_comes_back(text):
    cell = safe_cell(text)
    assert plain_cell(cell) == text
    assert is_number(cell) or not cell.lstrip(" ").startswith(BAD_STARTS)
    assert not set(cell) & CONTROLS
    assert cell == text or cell.startswith("'")


@pytest.mark.parametrize(
    "text", ["-5", "+3.25", "-1e-5", ".5", "-.5", "5", "F-1", "a = b", "it's", "'quoted'", "", "\\x1b"]
)
def test_numbers_and_ordinary_texts_are_left_alone(text):
    assert safe_cell(text) == text
    assert plain_cell(text) == text


@pytest.mark.parametrize(
    "text", ["fine;=1+1", "fine\t@SUM(A1)", "a\n=1+1", 'a;"=1+1', "a; +cmd|' /C calc'!A0", "a;-2+3+cmd|' /C'!A0"]
)
def test_no_program_that_parts_cells_elsewhere_finds_a_formula(text):
    cell = safe_cell(text)
    assert not any(part.strip(" \"'").startswith(BAD_STARTS) for part in re.split(r"[;\t\n]", cell)[1:])
    assert plain_cell(cell) == text


@pytest.mark.parametrize("text", ["one; two", "a list:\n- first\n- second", "from 3;-5 to 4;+2.5", "k\n---\nv"])
def test_lists_and_semicolons_are_left_alone(text):
    assert safe_cell(text) == text


@pytest.mark.parametrize(
    "cell", ["'quoted' word", "'tis", "'\\no code of ours", "'\\x1", "'-5", "'"], ids=repr
)  # fmt: skip
def test_cells_of_other_programs_stay(cell):
    assert plain_cell(cell) == cell


HOSTILE = '=HYPERLINK("http://x.example","a")', "@SUM(A1)", "+cmd|' /C calc'!A0", "- a list", "\x1b]0;title\x07", "\t=1"


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(texts.filter(bool), texts.filter(bool)), min_size=1), st.sampled_from([".csv", ".tsv"]))
def test_a_table_comes_back(tmp_path_factory, rows, suffix):
    path = tmp_path_factory.mktemp("written") / f"table{suffix}"
    table = pd.DataFrame(rows, columns=["=id", "b"], dtype="str").assign(n=-1, share=-0.5)
    table["c"] = table["b"].astype("category")
    table["o"] = pd.Series([None, *table["b"][1:]], dtype="object")
    assert write_csv(table, path) == path
    again = read_table(path)
    assert again.columns.tolist() == ["=id", "b", "n", "share", "c", "o"]
    for name in ("=id", "b", "c"):
        assert again[name].tolist() == table[name].tolist()
    assert again["o"].fillna("none").tolist() == ["none", *table["b"][1:]]
    assert set(again["n"]) | set(again["share"]) == {"-1", "-0.5"}
    with path.open(newline="", encoding="utf-8") as file:
        for cell in (cell for row in csv.reader(file, delimiter="," if suffix == ".csv" else "\t") for cell in row):
            assert is_number(cell) or not cell.lstrip(" ").startswith(BAD_STARTS)
            assert not set(cell) & CONTROLS


def test_numbers_stay_numbers_and_tables_are_not_changed():
    table = pd.DataFrame({"n": [-1, 2], "text": ["=1", None], "many": pd.Categorical(["-x", "y"])})
    before = table.copy(deep=True)
    safe = safe_table(table)
    pd.testing.assert_frame_equal(table, before)
    assert safe["n"].dtype == table["n"].dtype
    assert safe["many"].tolist() == ["'-x", "y"]
    assert plain_table(safe)["many"].tolist() == ["-x", "y"]


def runs_of(text: str) -> vp.RunSet:
    frame = pd.DataFrame({"item": ["F-1", "F-1"], "worker": ["ann", "@bob"], "verdict": ["agree", "disagree"]})
    frame["explanation"] = [text, "fine"]
    return vp.from_votes(frame, item="item", worker="worker", verdict="verdict", explanation="explanation")


@pytest.mark.parametrize("text", HOSTILE)
def test_saved_tables_are_safe_and_raw_ones_are_as_they_were(tmp_path, text):
    runs = runs_of(text)
    votes = pd.read_csv(runs.save_csv(tmp_path / "safe") / "votes.csv")
    assert votes["explanation"][0].startswith("'")
    assert votes["worker"][1] == "'@bob"
    again = read_table(tmp_path / "safe" / "votes.csv")
    assert (again["explanation"][0], again["worker"][1]) == (text, "@bob")
    raw = pd.read_csv(runs.save_csv(tmp_path / "raw", raw=True) / "votes.csv")
    assert (raw["explanation"][0], raw["worker"][1]) == (text, "@bob")


def test_data_of_a_figure_is_safe_and_raw_on_request(tmp_path):
    figure = vp.charts.vote_matrix(runs_of("fine"))
    assert "'@bob" in export_set(figure, tmp_path / "safe", [])[0].read_text()
    raw = export_set(figure, tmp_path / "raw", [], raw=True)[0].read_text()
    assert "@bob" in raw
    assert "'@bob" not in raw


def test_findings_are_read_as_they_were_written(tmp_path):
    table = pd.DataFrame({"finding_id": ["F-1"], "summary": ["=1 is true"], "evidence": ["- a.py:3\n\x1b[31m"]})
    findings = read_findings(write_csv(table, tmp_path / "findings.csv"), [])
    assert [(finding.summary, finding.evidence) for finding in findings] == [("=1 is true", "- a.py:3\n\x1b[31m")]


def test_bytes_of_a_table_are_read_alike():
    assert table_of(b"finding_id,truth\n'=F,yes\n", "truth.csv")["finding_id"].tolist() == ["=F"]
    assert table_of(b"a\tb\n1\t'-x\n", "t.tsv").to_dict("list") == {"a": ["1"], "b": ["-x"]}


def test_commands_write_safe_tables(tmp_path, cli):
    votes = pd.DataFrame({"claim": ["=c", "=c"], "judge": ["ann", "bob"], "says": ["agree", "disagree"]})
    votes.to_csv(tmp_path / "votes.csv", index=False)
    columns = "item=claim,worker=judge,verdict=says"
    assert cli("replay", tmp_path / "votes.csv", "--columns", columns, "--out", tmp_path / "out.csv").code == 0
    assert pd.read_csv(tmp_path / "out.csv")["finding_id"].tolist() == ["'=c"]
    convert = ["convert", tmp_path / "votes.csv", "--columns", columns, "--to", "csv", "--out"]
    assert cli(*convert, tmp_path / "safe").code == cli(*convert, tmp_path / "raw", "--raw").code == 0
    ids = [pd.read_csv(tmp_path / name / "findings.csv")["finding_id"].tolist() for name in ("safe", "raw")]
    assert ids == [["'=c"], ["=c"]]
    rows = [
        {"finding_id": "F-1", "summary": "=c", "worker": "ann"},
        {"finding_id": "F-2", "summary": "b", "worker": "bob"},
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "findings.csv", index=False)
    shown = cli("crossverify", tmp_path / "findings.csv", "--workers", "ann=window,bob=search", "--show-merges")
    assert "=c" not in set(pd.read_csv(io.StringIO(shown.out)).astype("str").to_numpy().flat)
    assert not Path("out.csv").exists()
