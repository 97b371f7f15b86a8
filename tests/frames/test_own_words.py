"""Words of a table's own for truth, and the lines that messages name."""

from __future__ import annotations

import io
import re

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import InputError, TableError
from verifyplan.frames.own_words import as_truth, own_truths, unread_truths
from verifyplan.frames.table_files import read_table

TABLE = pd.DataFrame(
    {
        "q": ["c1", "c1", "c2", "c3"],
        "who": ["a", "b", "a", "a"],
        "says": ["agree"] * 4,
        "gold": ["ok", "OK ", "bad", "?"],
    }
)
NAMES = {"item": "q", "worker": "who", "verdict": "says"}


@pytest.mark.parametrize(
    "words",
    [("true", "false"), ("YES", "No"), ("1", "0"), ("correct", "wrong"), ("Right", "wrong"), ("valid", "INVALID")],
)
def test_the_usual_words_for_truth_are_known_in_any_case(words):
    assert as_truth(pd.Series([*words, None, " "]), "here").tolist() == [True, False, pd.NA, pd.NA]
    assert unread_truths(pd.Series([*words])) == {}


def test_the_usual_words_are_not_known_beside_others():
    assert unread_truths(pd.Series(["right", "left"])) == {"right": 1, "left": 1}
    with pytest.raises(
        TableError, match=re.escape("here: holds 'left'. Fix: say what your words mean, as truths={'left'")
    ):
        as_truth(pd.Series(["right", "left"]), "here")


def test_votes_and_labels_have_words_for_truth_of_their_own():
    truths = {"ok": True, "Bad": False, "?": None}
    runs = vp.from_votes(TABLE, **NAMES, truth="gold", truths=truths)
    assert runs.findings["truth"].tolist() == [True, False, pd.NA]
    labels = TABLE.drop_duplicates("q")[["q", "gold"]]
    other = vp.from_votes(TABLE, **NAMES).with_truth(labels, truths)
    assert other.findings["truth"].tolist() == [True, False, pd.NA]


def test_words_for_truth_that_do_not_fit_are_all_listed():
    with pytest.raises(TableError) as caught:
        vp.from_votes(TABLE, **NAMES, truth="gold", truths={"ok": "true", "OK": False})
    assert [problem.place for problem in caught.value.problems] == ["votes: truths['OK']"]
    assert own_truths({"ok": True, "OK": False})[1][0].message == "means false and, in another spelling, the opposite"
    with pytest.raises(TableError, match="truths: is a list, not a mapping"):
        vp.from_votes(TABLE, **NAMES, truth="gold", truths=["ok"])


def test_labels_without_the_usual_columns_are_refused_with_those_that_they_have():
    labels = pd.DataFrame({"q": ["c1"], "gold": ["right"], "note": ["x"]})
    with pytest.raises(InputError, match="the columns finding_id and truth; this has 'q', 'gold', 'note'"):
        vp.from_votes(TABLE, **NAMES).with_truth(labels)


def test_a_message_names_the_line_of_a_file_and_the_index_of_a_table(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text('q,who,says,why\nc1,a,agree,"two\nlines"\nc1,b,,\n')
    named = {"item": "q", "worker": "who", "verdict": "says"}
    with pytest.raises(TableError, match=re.escape("is empty in 1 row, the first is line 4 (b on c1)")):
        vp.from_votes(read_table(path), **named)
    with pytest.raises(TableError, match=re.escape("is empty in 1 row, the first is row 1 (index) (b on c1)")):
        vp.from_votes(pd.read_csv(path), **named)


def test_a_word_that_pandas_reads_as_an_empty_cell_is_told_and_either_fix_works():
    text = "claim,judge,says\n1,a,agree\n1,b,N/A\n"
    columns = {"item": "claim", "worker": "judge", "verdict": "says"}
    words = {"N/A": "verification-error"}
    with pytest.raises(TableError, match=r"is empty in 1 row.*Fix: pandas.read_csv reads 'N/A'.*keep_default_na=False"):
        vp.from_votes(pd.read_csv(io.StringIO(text)), **columns, verdicts=words)
    with pytest.raises(TableError, match="Fix: write 'verification-error' for a vote"):
        vp.from_votes(pd.read_csv(io.StringIO(text)), **columns, verdicts={"yes": "agree"})
    whole = vp.from_votes(pd.read_csv(io.StringIO(text), keep_default_na=False), **columns, verdicts=words)
    blank = vp.from_votes(pd.read_csv(io.StringIO(text)), **columns, verdicts={"": "verification-error"})
    assert whole.votes["verdict"].tolist() == blank.votes["verdict"].tolist() == ["agree", "verification-error"]


def test_an_empty_cell_says_nothing_of_truth_whatever_the_words():
    assert as_truth(pd.Series(["", "holds", None]), "truth", {"": True, "holds": True}).tolist() == [pd.NA, True, pd.NA]
