"""Saved tables are read again as they were, each when it is first asked for, long texts when looked at (rule E4)."""

from __future__ import annotations

import pickle
import shutil
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.errors import InputError, TableError
from verifyplan.frames.columns import FIRST_TABLES, typed
from verifyplan.frames.late_texts import LateTexts
from verifyplan.frames.load import load
from verifyplan.frames.runset import TABLE_NAMES, RunSet
from verifyplan.frames.saved_tables import _CODED, SAVED_TEXTS
from verifyplan.frames.text_codes import arrow_texts, text_codes
from verifyplan.protocol.vote import CLASSIFICATIONS


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


def tables_read(runs: RunSet) -> set[str]:
    """Return the names of the tables that are in memory."""
    return set(vars(runs)).intersection(TABLE_NAMES)


def test_all_tables_are_read_again_as_they_were(runs, saved):
    again = load(saved)
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(runs, name), obj=name)


def test_tables_are_read_when_they_are_asked_for(runs, saved):
    again = load(saved)
    assert repr(again) == repr(runs)
    assert len(again) == len(runs)
    assert not tables_read(again)
    assert again.votes is again.votes
    assert tables_read(again) == {"votes"}
    assert not hasattr(again, "vote")
    assert set(TABLE_NAMES) <= set(dir(load(saved))), "notebooks complete by these names"


def test_truth_and_replay_read_only_the_tables_that_they_need(runs, saved):
    truth = dict.fromkeys(runs.findings["finding_id"], True)
    again = load(saved).with_truth(truth)
    assert tables_read(again) == {"findings"}
    vp.replay(again, "collaborative")
    assert tables_read(again) <= set(FIRST_TABLES)
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(runs.with_truth(truth), name), obj=name)


def test_another_process_reads_the_tables_that_this_one_has_not_read(runs, saved):
    again = load(saved)
    assert len(again.votes)
    copy = pickle.loads(pickle.dumps(again))
    assert tables_read(copy) == {"votes"}
    pd.testing.assert_frame_equal(copy.findings, runs.findings)


def test_tables_that_were_saved_anew_or_removed_since_are_an_error(runs, saved):
    again = load(saved)
    runs.select(runs.runs["run_id"].head(3)).save(saved)
    with pytest.raises(TableError, match=r"votes\.parquet: was saved anew since it was loaded\. Fix: load the folder"):
        again.votes  # noqa: B018
    again = load(saved)
    shutil.rmtree(saved)
    with pytest.raises(TableError, match=r"runs\.parquet: cannot be read \(.*\)\. Fix: load the folder again"):
        again.runs  # noqa: B018


def test_a_table_that_is_damaged_within_is_an_error_when_it_is_read(saved):
    path = saved / "findings.parquet"
    data = path.read_bytes()
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    path.write_bytes(data[:4] + bytes(end - 4) + data[end:])
    again = load(saved)
    assert len(again.votes) == 84
    with pytest.raises(TableError, match=r"(?s)findings\.parquet: cannot be read \(.*\)\. Fix: load the folder"):
        again.findings  # noqa: B018


def test_a_table_with_rows_of_other_runs_is_refused_when_it_is_read(runs, saved):
    RunSet(runs=runs.runs.head(3), votes=runs.votes, findings=runs.findings.head(0)).save(saved)
    again = load(saved)
    assert len(again.runs) == 3
    with pytest.raises(TableError, match=r"votes\.parquet: has rows of runs that are not in runs\.parquet: '"):
        again.votes  # noqa: B018


TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = st.sampled_from(["ann", "bób", "", "日本"])
NAME_LISTS = st.lists(NAMES, max_size=4) | st.lists(NAMES, min_size=30, max_size=32)


@settings(max_examples=examples(5), deadline=None)  # each writes some twenty files, to the disk
@given(st.data())
def test_any_tables_are_read_again_as_they_were(data):
    n = data.draw(st.integers(0, 20))
    column = partial(st.lists, min_size=n, max_size=n)
    findings = {
        "run_id": ["r"] * n,
        "finding_id": data.draw(column(st.text(max_size=3).filter(str.isprintable), unique=True)),
        "summary": data.draw(column(TEXTS)),
        "category": data.draw(column(TEXTS)),
        "ticket_ids": data.draw(column(st.none() | NAME_LISTS)),
        "discoverers": data.draw(column(st.just(["ann"]))),
        "classification": data.draw(column(st.none() | st.sampled_from(CLASSIFICATIONS))),
        "truth": data.draw(column(st.none() | st.booleans())),
    } | data.draw(st.sampled_from([{}, {"mine": [0.5] * n}]))
    runs = RunSet(runs=typed("runs", {"run_id": ["r", "ß"]}), findings=typed("findings", findings))
    with TemporaryDirectory() as folder:
        again = load(runs.save(folder))
        for name in TABLE_NAMES:
            pd.testing.assert_frame_equal(getattr(again, name), getattr(runs, name), obj=name)


def test_lists_of_names_are_read_as_they_were_however_their_file_was_written(saved):
    names = [["ann", "bób"], None, [], ["bób"], ["cy"]]
    findings = {"run_id": ["r"] * 5, "finding_id": list("ABCDE"), "discoverers": names}
    runs = RunSet(runs=typed("runs", {"run_id": ["r"]}), findings=typed("findings", findings))
    runs.save(saved)
    written = pq.read_table(saved / "findings.parquet")
    for options in ({"row_group_size": 2}, {"use_dictionary": False}, {"use_compliant_nested_type": False}):
        pq.write_table(written, saved / "findings.parquet", **options)
        lists = load(saved).findings["discoverers"].tolist()
        assert [None if each is None else list(each) for each in lists] == names


def test_texts_are_read_when_somebody_looks_at_them_and_to_classify_only_where_votes_are_lost(saved):
    again = load(saved)
    first_lost = int(again.votes["verdict"].eq("verification-error").argmax())
    table = vp.classify(again.votes.iloc[:first_lost], mode="collaborative", max_rounds=1)
    assert len(table)
    assert not explanations(again).is_read
    assert again.votes["explanation"].iloc[0] == "Re-read it; could not break the claim."
    assert explanations(again).is_read


def test_analyses_give_the_same_before_and_after_saving(runs, saved):
    pd.testing.assert_frame_equal(vp.replay(load(saved), "recorded"), vp.replay(runs, "recorded"))
    assert str(vp.workers(load(saved))) == str(vp.workers(runs))
    assert str(vp.compare(load(saved), load(saved))) == str(vp.compare(runs, runs))


@pytest.mark.parametrize("rows", [slice(None), slice(40, 3, -2), slice(0, 0)])
def test_names_have_the_codes_that_their_texts_would_have(runs, saved, rows):
    for table, column in product(("votes", "findings"), ("run_id", "finding_id", "worker", "origin_worker")):
        if column in getattr(runs, table):
            texts, late = (getattr(each, table)[column].iloc[rows] for each in (runs, load(saved)))
            assert isinstance(late.array, LateTexts)
            codes, names = text_codes(arrow_texts(late))
            assert not late.array.is_read or late.isna().any()
            expected, of = text_codes(arrow_texts(texts))
            assert codes.tolist() == expected.tolist()
            assert names.to_pylist() == of.to_pylist()
            pd.testing.assert_series_equal(late, texts)


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


def test_other_readers_see_the_same_table_in_other_encodings(runs, saved):
    for name in FIRST_TABLES:
        path, table = saved / f"{name}.parquet", getattr(runs, name)
        as_pandas_writes_it = saved / "other.parquet"
        coded = {column: "category" for column in _CODED if column in table}
        table.drop(columns=[*SAVED_TEXTS.get(name, ())]).astype(coded).to_parquet(as_pandas_writes_it, index=False)
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(as_pandas_writes_it), obj=name)
        required = {field.name for field in pq.read_schema(path) if not field.nullable}
        assert required == {column for column in pd.read_parquet(path) if table[column].notna().all()}


def test_a_table_that_is_changed_in_place_is_not_changed_elsewhere(runs, saved):
    again = load(saved)
    again.votes.loc[0, ["round", "is_origin", "verdict", "iteration"]] = [7, True, "supplement", 3]
    assert again.votes.loc[0, ["round", "is_origin", "verdict", "iteration"]].tolist() == [7, True, "supplement", 3]
    pd.testing.assert_frame_equal(again.votes.tail(-1), runs.votes.tail(-1))
    pd.testing.assert_frame_equal(load(saved).votes, runs.votes)


def test_an_empty_table_is_not_opened_unless_its_file_is_another_one(runs, saved):
    path = saved / "calls.parquet"
    path.write_bytes(bytes(path.stat().st_size))
    assert load(saved).calls.empty
    path.write_bytes(bytes(path.stat().st_size + 1))
    with pytest.raises(TableError, match=r"calls\.parquet: cannot be read"):
        load(saved)
    runs.runs[["run_id"]].head(1).assign(call_id="c", agent="a").to_parquet(path, index=False)
    assert len(load(saved).calls) == 1


def test_saving_again_leaves_one_file_of_texts(saved):
    load(saved).save(saved)
    assert len(list(saved.glob("votes-texts-*.parquet"))) == 1
    assert load(saved).votes["explanation"].notna().all()


def test_texts_that_are_gone_when_they_are_looked_at_are_an_error(saved):
    votes = load(saved).votes
    load(saved).save(saved)
    with pytest.raises(TableError, match=r"votes-texts-.*: cannot be read any more .*\. Fix: load the folder again"):
        votes["explanation"].tolist()


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


@pytest.mark.parametrize(("name", "column"), [("votes", "explanation"), ("findings", "evidence")])
def test_folders_of_before_have_their_texts_in_the_table(runs, saved, name, column):
    (texts,) = saved.glob(f"{name}-texts-*.parquet")
    texts.unlink()
    table = getattr(runs, name)
    table.to_parquet(saved / f"{name}.parquet", index=False)
    pd.testing.assert_frame_equal(getattr(load(saved), name), table)
    assert not isinstance(getattr(load(saved), name)[column].array, LateTexts)


def test_texts_are_those_that_the_table_had_when_it_was_saved(runs, tmp_path):
    findings = runs.findings.drop(columns="summary")
    again = load(RunSet(runs=runs.runs, findings=findings).save(tmp_path)).findings
    assert again["summary"].isna().all()
    assert again["evidence"].tolist() == findings["evidence"].tolist()


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


def test_texts_of_a_table_that_another_program_wrote_without_metadata_are_not_lost_unseen(tmp_path):
    saved = vp.datasets.runs("contract").save(tmp_path / "saved [1]")
    path = saved / "votes.parquet"
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)
    with pytest.raises(TableError, match=r"votes\.parquet: does not say which file has its texts.* Fix: keep the meta"):
        load(saved)
    (texts,) = saved.glob("votes-texts-*.parquet")
    texts.unlink()
    assert load(saved).votes["explanation"].isna().all()


def test_a_file_name_is_refused_as_the_folder_of_tables(tmp_path):
    runs = vp.datasets.runs("contract")
    with pytest.raises(InputError, match=r"one\.parquet: is the name of a file.*Fix: name it 'one'"):
        runs.save(tmp_path / "one.parquet")
    assert list(tmp_path.iterdir()) == []
    assert len(load(runs.save(tmp_path / "one"))) == len(runs)
