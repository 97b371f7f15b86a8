"""Files and tables of another shape than that of votes: read where they are clear, else refused with what to do."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from verifyplan.errors import InputError, TableError
from verifyplan.frames.from_table import from_table
from verifyplan.frames.table_files import read_table
from verifyplan.frames.table_shape import worker_columns
from verifyplan.frames.votes import from_votes

ROWS = "claim,judge,vote\nc1,ann,agree\nc2,bob,\n"


@pytest.mark.parametrize("mark", [";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_csv_whose_first_line_has_no_comma_is_read_by_what_parts_it(tmp_path, mark, suffix):
    path = tmp_path / f"votes{suffix}"
    content = f"\ufeff{ROWS}".replace(",", mark).encode()
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    (tmp_path / "plain.csv").write_text(ROWS)
    pd.testing.assert_frame_equal(read_table(path), read_table(tmp_path / "plain.csv"))


def test_a_comma_in_the_first_line_parts_it_whatever_else_is_there(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text('"claim; or so",judge\n"a;b",ann\n')
    assert read_table(path).to_dict("list") == {"claim; or so": ["a;b"], "judge": ["ann"]}
    path.write_text("claim; or so\nrows are locked\n")
    assert list(read_table(path)) == ["claim; or so"]
    path.write_text("score;judge\n0,9;ann\n")
    assert read_table(path).to_dict("list") == {"score": ["0,9"], "judge": ["ann"]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"PK", r"a\.xlsx: is a workbook of a spreadsheet\. Fix: save the sheet as CSV \(UTF-8\)"),
        ("a.csv", b"", r"a\.csv: is empty\. Fix: give a CSV whose first line names the columns"),
        ("a.csv", "claim\nJürgen\n".encode("latin-1"), r"is not text in UTF-8 \(.* at byte \d+\)\. Fix: save it as"),
        ("a.csv", ROWS.encode("utf-16"), r"is not text in UTF-8 \(.* at byte 0\)"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", r"is not a table \(Expected 2 fields in line 3, saw 3\)\. Fix: give each"),
        ("a.csv", b"a,b\n1,2,3\n1,2,3\n", r"has more cells in a line than names in the first"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_is_refused_with_what_to_do(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / name)


def test_a_table_that_was_read_by_the_wrong_separator_says_how_to_read_it():
    table = pd.DataFrame({"claim;judge;vote": ["c1;ann;agree"]})
    message = r"votes: has one column, 'claim;judge;vote': its cells are parted by semicolons, not by commas\. "
    message += r"Fix: read it by pandas\.read_csv\(path, sep=';'\)\.$"
    with pytest.raises(TableError, match=message):
        from_votes(table, item="claim", worker="judge", verdict="vote")
    with pytest.raises(TableError, match=message):
        from_table(table, item="claim", worker="judge", label="vote")


def test_a_table_with_a_column_a_worker_says_how_it_becomes_a_row_a_vote():
    wide = pd.DataFrame({"claim": ["c1", "c2"], "truth": [1, 0], "gpt": ["yes", "no"], "claude": ["no", None]})
    melt = "table.melt(id_vars=['claim', 'truth'], var_name='worker', value_name='{}')"
    with pytest.raises(TableError, match=r"votes: worker: there is no column 'judge'") as caught:
        from_votes(wide, item="claim", worker="judge", verdict="vote", truth="truth")
    assert f"; if 'gpt', 'claude' are workers, first make it a row a vote: {melt.format('verdict')}." in str(
        caught.value
    )
    with pytest.raises(TableError) as caught:
        from_table(wide, item="claim", worker="judge", label="vote", truth="truth")
    assert melt.format("label") in str(caught.value)
    long = eval(melt.format("verdict"), {"table": wide}).dropna(subset="verdict")
    runs = from_votes(
        long, item="claim", worker="worker", verdict="verdict", verdicts={"yes": "agree", "no": "disagree"}
    )
    assert runs.votes["worker"].tolist() == ["gpt", "gpt", "claude"]


def test_what_cannot_be_who_votes_is_refused():
    wide = pd.DataFrame({"claim": ["c1", "c2"], "gpt": ["agree", "refuted"], "claude": ["Agree", "agree"]})
    with pytest.raises(
        TableError, match=r"votes: worker: holds 'agree', 'refuted', which are verdicts\. Fix: name the"
    ):
        from_votes(wide, item="claim", worker="gpt", verdict="claude")
    with pytest.raises(TableError, match="votes: worker: names 'claim', as item does"):
        from_votes(wide, item="claim", worker="claim", verdict="gpt")
    with pytest.raises(TableError, match=r"votes: worker: must be the name of a column, got a list\. Fix: .*melt\("):
        from_votes(wide, item="claim", worker=["gpt", "claude"], verdict="vote")
    with pytest.raises(TableError, match=r"votes: verdict: must be the name of a column, got a Series\. Fix: name one"):
        from_votes(wide, item="claim", worker="gpt", verdict=wide["claude"])
    with pytest.raises(TableError, match=r"^votes: the table has no columns\. Fix: give one with a row a vote"):
        from_votes(pd.DataFrame(), item="claim", worker="judge", verdict="vote")


def test_a_long_table_with_a_wrong_name_says_nothing_of_that():
    table = pd.DataFrame({"claim": ["c1"] * 2, "Judge ": ["a", "b"], "vote": ["yes", "no"], "right": ["yes"] * 2})
    with pytest.raises(TableError, match=r"there is no column 'judge' \(did you mean 'Judge '\?\)") as caught:
        from_votes(table, item="claim", worker="judge", verdict="vote", truth="right")
    assert "melt" not in str(caught.value)
    assert worker_columns(table.astype("object").assign(claim=[["c"], ["d"]])) == ["vote", "right"]
