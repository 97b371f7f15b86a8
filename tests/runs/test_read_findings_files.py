"""Findings from CSV and JSON files: what is read, and how damage is told (rule H3)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from verifyplan.errors import InputError
from verifyplan.runs.read_findings import read_findings, read_plan_items

HEADER = "finding_id,summary,evidence,worker,category,truth,ticket_ids"
ROSTER = ["ann", "bob"]


def csv_file(folder: Path, *lines: str, header: str = HEADER, bom: str = "") -> Path:
    path = folder / "found.CSV"
    path.write_bytes((bom + "\n".join([header, *lines])).encode())
    return path


def json_file(folder: Path, text: str) -> Path:
    path = folder / "found.json"
    path.write_text(text)
    return path


def problems(path: Path | str, roster: list[str] = ROSTER) -> list[str]:
    with pytest.raises(InputError, match=r"Fix: ") as caught:
        read_findings(path, roster)
    return [str(problem).replace(str(path), "FILE") for problem in caught.value.problems]


@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_csv_with_every_column(tmp_path, bom):
    lines = ['F-1,"a claim,\nin ""two"" lines",m.py:3,ann,bug,Yes,T-1; T-2;', "F-2,other,,bob,,,"]
    first, second = read_findings(csv_file(tmp_path, *lines, bom=bom), ROSTER)
    assert first.model_dump() == {
        "finding_id": "F-1",
        "summary": 'a claim,\nin "two" lines',
        "evidence": "m.py:3",
        "worker": "ann",
        "category": "bug",
        "truth": True,
        "ticket_ids": ("T-1", "T-2"),
    }
    assert (second.evidence, second.category, second.truth, second.ticket_ids) == ("", None, None, ())


def test_csv_with_the_required_columns_alone_and_any_line_ends(tmp_path):
    path = tmp_path / "found.csv"
    for ends in ("\n", "\r\n", "\r"):
        path.write_bytes(ends.join(["worker,finding_id,summary", "ann,F-1,claim", ""]).encode())
        assert [f.finding_id for f in read_findings(str(path), ROSTER)] == ["F-1"]


def test_a_header_alone_holds_no_findings(tmp_path):
    assert read_findings(csv_file(tmp_path), ROSTER) == []


def test_csv_missing_columns_are_told_once_each(tmp_path):
    told = problems(csv_file(tmp_path, "F-1,x", "F-2,y", header="finding_id,text"))
    assert told == [
        f"FILE: has no column {name!r}. Fix: begin the file with a header that has finding_id, summary."
        for name in ("summary",)
    ]


def test_an_empty_csv_file_is_no_table(tmp_path):
    assert len(problems(csv_file(tmp_path, header=""))) == 2


def test_csv_column_twice(tmp_path):
    assert "has the column 'worker' twice" in problems(csv_file(tmp_path, header=HEADER + ",worker"))[0]


def test_csv_extra_column_and_ragged_rows_are_told_with_their_row(tmp_path):
    path = csv_file(tmp_path, "F-1,claim,ann", "F-2,claim,ann,b,c", "F-3,claim", header="finding_id,summary,worker")
    told = problems(path)
    assert len(told) == 2
    assert told[0].startswith("FILE[1]")
    assert "['b', 'c']" in told[0] or "None" in told[0]
    assert told[1].startswith("FILE[2].worker: is missing. Fix: name who found it, as in the other rows")
    told = problems(csv_file(tmp_path, "F-1,claim,ann,5", header="finding_id,summary,worker,score"))
    assert told[0].startswith("FILE[0].score: is not a column that is read, received '5'")


def test_csv_with_a_quote_that_never_ends(tmp_path):
    told = problems(csv_file(tmp_path, 'F-1,"claim,m.py:3,ann,,,', "F-2,claim,,ann,,,"))
    assert re.match(r"FILE: line 3: is not CSV \(unexpected end of data\)", told[0])


def test_csv_with_a_cell_beyond_the_limit_of_csv(tmp_path):
    told = problems(csv_file(tmp_path, f"F-1,{'x' * 200_000},,ann,,,"))
    assert re.match(r"FILE: line 2: is not CSV \(field larger than field limit", told[0])


def test_a_file_that_is_not_utf8_is_told_with_its_line(tmp_path):
    path = tmp_path / "found.csv"
    path.write_bytes(HEADER.encode() + b"\nF-1,caf\xe9,,ann,,,\n")
    assert problems(path) == ["FILE: line 2: byte 0xe9 is not UTF-8. Fix: save the file as UTF-8."]


def test_json_with_bom_and_truth_in_json(tmp_path):
    rows = [{"finding_id": "F-1", "summary": "s", "worker": "ann", "truth": False, "ticket_ids": ["T"]}]
    [one] = read_findings(json_file(tmp_path, "\ufeff" + json.dumps(rows)), ROSTER)
    assert (one.truth, one.ticket_ids) == (False, ("T",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "must hold a list, got a dict"),
        ("null", "must hold a list, got a NoneType"),
        ('"F-1"', "must hold a list, got a str"),
        ("", "is not JSON (Expecting value"),
        ("[{]", "is not JSON"),
        ("[" * 100_000, "is not JSON (maximum recursion depth exceeded"),
        ("[" + "9" * 5000 + "]", "is not JSON (Exceeds the limit"),
    ],
)
def test_json_that_holds_no_list(tmp_path, text, message):
    assert problems(json_file(tmp_path, text))[0].startswith(f"FILE: {message}")


@pytest.mark.parametrize("name", ["gone.csv", "folder", "nul\0.csv"])
def test_a_file_that_cannot_be_read(tmp_path, name):
    (tmp_path / "folder").mkdir()
    [told] = problems(f"{tmp_path}/{name}")
    assert "cannot be read" in told
    assert "Fix: name a CSV or JSON file that exists" in told


def test_plan_items_from_a_file(tmp_path):
    path = csv_file(tmp_path, "P-1,step,plan.md:3,no", header="finding_id,summary,evidence,truth")
    [item] = read_plan_items(path)
    assert (item.finding_id, item.evidence, item.truth) == ("P-1", "plan.md:3", False)
    with pytest.raises(InputError, match=r"has no column 'summary'\. Fix: begin the file with a header"):
        read_plan_items(csv_file(tmp_path, header="finding_id"))


def test_a_misspelt_column_is_told_with_the_one_that_was_meant(tmp_path):
    told = problems(csv_file(tmp_path, "F-1,claim,ann", header="finding_id,summary,wroker"))
    assert told[0].startswith("FILE[0].wroker: is not a column that is read (did you mean 'worker'?)")
    assert "give finding_id, summary, and if you like evidence, worker" in told[0]
