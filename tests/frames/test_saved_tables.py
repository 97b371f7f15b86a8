"""Saved tables are read again as they were; long texts when somebody first looks at them (rule E4)."""

from __future__ import annotations

import pickle
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import verifyplan as vp
from verifyplan.errors import TableError
from verifyplan.frames.late_texts import LateTexts
from verifyplan.frames.load import load
from verifyplan.frames.runset import TABLE_NAMES, RunSet


@pytest.fixture(scope="module")
def runs() -> RunSet:
    """Runs of votes, read from files, with lists, missing values and every class."""
    return vp.datasets.runs("contract")


@pytest.fixture
def saved(runs: RunSet, tmp_path: Path) -> Path:
    """The folder that they were saved in."""
    return runs.save(tmp_path / "saved")


def explanations(runs: RunSet) -> LateTexts:
    """Return the column of explanations as it is in memory."""
    column = runs.votes["explanation"].array
    assert isinstance(column, LateTexts)
    return column


def test_all_tables_are_read_again_as_they_were(runs, saved):
    again = load(saved)
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(runs, name), obj=name)


def test_texts_are_read_when_somebody_looks_at_them_and_not_to_classify(saved):
    again = load(saved)
    table = vp.classify(again.votes, mode="collaborative", max_rounds=2)
    assert len(table)
    assert not explanations(again).is_read
    assert again.votes["explanation"].iloc[0] == "Re-read it; could not break the claim."
    assert explanations(again).is_read


def test_analyses_give_the_same_before_and_after_saving(runs, saved):
    pd.testing.assert_frame_equal(vp.replay(load(saved), "recorded"), vp.replay(runs, "recorded"))


def test_what_is_made_of_late_texts_has_its_values(runs, saved):
    votes = load(saved).votes
    expected = runs.votes
    pd.testing.assert_frame_equal(votes.iloc[3:9], expected.iloc[3:9])
    by_text = load(saved).votes.copy().sort_values("explanation")
    pd.testing.assert_frame_equal(by_text, expected.sort_values("explanation"))
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(load(saved).votes)), expected)
    pd.testing.assert_frame_equal(pd.concat([load(saved).votes, expected]), pd.concat([expected, expected]))
    copied = load(saved).votes.copy()
    copied.loc[0, "explanation"] = "another"
    assert copied["explanation"].tolist() == ["another", *expected["explanation"].tolist()[1:]]


def test_votes_are_read_by_any_reader_of_parquet_with_their_texts_beside(runs, saved):
    (texts,) = saved.glob("votes-texts-*.parquet")
    assert "explanation" not in pq.read_schema(saved / "votes.parquet").names
    assert pd.read_parquet(texts)["explanation"].tolist() == runs.votes["explanation"].tolist()
    assert pd.read_parquet(saved / "votes.parquet")["worker"].tolist() == runs.votes["worker"].tolist()


def test_saving_again_leaves_one_file_of_texts(saved):
    load(saved).save(saved)
    assert len(list(saved.glob("votes-texts-*.parquet"))) == 1
    assert load(saved).votes["explanation"].notna().all()


def test_texts_that_are_gone_when_they_are_looked_at_are_an_error(saved):
    again = load(saved)
    load(saved).save(saved)
    with pytest.raises(TableError, match=r"votes-texts-.*: cannot be read any more .*\. Fix: load the folder again"):
        again.votes["explanation"].tolist()


def test_a_folder_without_its_texts_is_refused_at_once(saved):
    (texts,) = saved.glob("votes-texts-*.parquet")
    texts.unlink()
    with pytest.raises(TableError, match=r"votes-texts-.*: is missing: it holds the texts .* Fix: save the runs again"):
        load(saved)


def test_texts_of_other_rows_are_refused(saved):
    (texts,) = saved.glob("votes-texts-*.parquet")
    pd.read_parquet(texts).head(2).to_parquet(texts)
    with pytest.raises(TableError, match="has 2 texts for 84 rows"):
        load(saved).votes["explanation"].tolist()


def test_folders_of_before_have_their_texts_in_the_table(runs, saved):
    (texts,) = saved.glob("votes-texts-*.parquet")
    texts.unlink()
    runs.votes.to_parquet(saved / "votes.parquet", index=False)
    pd.testing.assert_frame_equal(load(saved).votes, runs.votes)
    assert not isinstance(load(saved).votes["explanation"].array, LateTexts)


def test_a_row_twice_is_refused_however_the_names_are_stored(runs, saved):
    twice = pd.concat([runs.votes, runs.votes.tail(1)])
    for votes in (twice, twice.astype({"run_id": "category", "finding_id": "category", "worker": "category"})):
        votes.to_parquet(saved / "votes.parquet", index=False)
        with pytest.raises(TableError, match="1 rows repeat the key of another"):
            load(saved)


def test_texts_have_their_values_where_pandas_looks_for_them(saved):
    """`LateTexts` stands on `_pa_array`, which is not public; it is there in pandas 3.0 and 3.1."""
    texts = load(saved).votes["explanation"].array
    assert "_pa_array" in vars(pd.array(["a"], dtype="str")), f"pandas {pd.__version__} keeps texts elsewhere"
    assert "_pa_array" not in vars(texts)
    assert texts._pa_array.to_pylist() == texts.__arrow_array__().to_pylist()
