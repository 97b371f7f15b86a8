"""Any long table as the votes of a panel: what its cells mean, and every message about what cannot be read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifyplan as vp
from verifyplan.errors import InputError, SettingsError, TableError
from verifyplan.frames.from_table import as_panel_votes

TABLE = pd.DataFrame(
    {
        "q": [1, 1, 2, 2],
        "judge": list("abab"),
        "says": ["cat", "dog", "dog", "dog"],
        "right": ["cat", "cat", "dog", "dog"],
    }
)
NAMES = {"item": "q", "worker": "judge", "label": "says"}


def read(table: pd.DataFrame = TABLE, **names) -> vp.results.PanelVotes:
    before = table.copy(deep=True)
    votes = vp.from_table(table, **{**NAMES, **names})
    pd.testing.assert_frame_equal(table, before)
    return votes


def refused(message: str, table: pd.DataFrame = TABLE, **names) -> list[tuple[str, str]]:
    with pytest.raises(TableError, match=message) as caught:
        vp.from_table(table, **{**NAMES, **names})
    assert all(problem.fix for problem in caught.value.problems)
    return [(problem.place, problem.message) for problem in caught.value.problems]


def as_texts(votes) -> set[tuple]:
    """Each vote in words, so that tables whose rows stand in another order can be compared."""
    units = votes.units.astype("object").where(votes.units.notna(), None)
    labels = [*votes.labels, None]
    of = [tuple(row) for row in units[["run", "item", "truth"]].itertuples(index=False)]
    return {
        (*of[unit], votes.workers[worker], labels[label], int(number))
        for unit, worker, label, number in zip(votes.unit, votes.worker, votes.label, votes.round, strict=True)
    }


def test_columns_are_named_and_the_rest_is_left_out():
    votes = read(truth="right")
    assert (votes.labels, votes.workers) == (("cat", "dog"), ("a", "b"))
    assert votes.units.to_dict("list") == {"run": ["all"] * 2, "item": ["1", "2"], "truth": ["cat", "dog"]}
    assert votes.matrix().tolist() == [[0, 1], [1, 1]]
    assert votes.truth.tolist() == [0, 1]
    assert (votes.cost, votes.explanation, votes.runs, votes.synthetic) == (None, None, None, False)
    assert votes.round.tolist() == [1] * 4
    assert repr(votes) == "PanelVotes(2 workers, 2 items, 4 votes; labels 'cat', 'dog')"
    assert read().truth.tolist() == [-1, -1]


def test_every_column_is_read():
    table = TABLE.assign(
        turn=[0, 0, 0, 1], price=[0.5, None, 1, 2], why=["x", None, "y", "z"], day=["mon", "mon", "tue", "tue"]
    )
    table.attrs["synthetic"] = True
    votes = read(table, round="turn", cost="price", explanation="why", run="day")
    assert votes.round.tolist() == [0, 0, 0, 1]
    assert votes.cost is not None
    assert np.array_equal(votes.cost, [0.5, np.nan, 1, 2], equal_nan=True)
    assert votes.explanation is not None
    assert votes.explanation.fillna("").tolist() == ["x", "", "y", "z"]
    assert votes.units["run"].tolist() == ["mon", "tue"]
    assert votes.synthetic


def test_several_columns_name_an_item_a_worker_or_a_run():
    table = TABLE.assign(part=["x", "x", "y", "y"], model="m")
    votes = read(table, item=["part", "q"], worker=["model", "judge"], run=["part", "model"])
    assert votes.units["item"].tolist() == ["x/1", "y/2"]
    assert votes.workers == ("m/a", "m/b")
    assert votes.units["run"].tolist() == ["x/m", "y/m"]


def test_items_whose_parts_join_to_the_same_words_stay_apart():
    table = pd.DataFrame({"a": ["x", "x/y"], "b": ["y/z", "z"], "judge": "j", "says": "cat"})
    votes = vp.from_table(table, item=["a", "b"], worker="judge", label="says")
    assert votes.units["item"].tolist() == ["('x', 'y/z')", "('x/y', 'z')"]


def test_names_are_texts_in_which_1_is_1_0_and_spaces_do_not_count():
    table = TABLE.assign(q=pd.Series([1.0, "1", " 2", 2], dtype="object"), says=[" cat", "dog ", "dog", "dog"])
    assert as_texts(read(table)) == as_texts(read())
    labels = read(TABLE.assign(says=[1.0, 2.0, 10.0, 2.5])).labels
    assert labels == ("1", "2", "2.5", "10")
    assert read(TABLE.assign(says=["nan?", "inf", "3", "-2"])).labels == ("-2", "3", "inf", "nan?")


@pytest.mark.parametrize("kind", ["category", "string", "str", "object"])
def test_the_type_of_a_column_does_not_matter(kind):
    table = TABLE.assign(q=TABLE["q"].astype("str")).astype(kind)
    assert as_texts(read(table, truth="right")) == as_texts(read(truth="right"))


@pytest.mark.parametrize("empty", [None, np.nan, pd.NA, "", "  "])
def test_an_empty_label_is_a_lost_vote_and_an_empty_truth_is_not_known(empty):
    says, right = (
        pd.Series(["cat", empty, "dog", "dog"], dtype="object"),
        pd.Series(["cat", empty, empty, empty], dtype="object"),
    )
    votes = read(TABLE.assign(says=says, right=right), truth="right")
    assert votes.matrix().tolist() == [[0, -1], [1, 1]]
    assert votes.truth.tolist() == [0, -1]
    assert votes.units["truth"].isna().tolist() == [False, True]


def test_words_of_the_table_get_labels():
    table = TABLE.assign(says=["Yes", "no", "n/a", "1"], right=[1, 1, 0, 0])
    words = {"yes": "true", 1: "true", "no": "false", 0: "false", "n/a": None}
    votes = read(table, truth="right", labels=words)
    assert votes.labels == ("false", "true")
    assert votes.matrix().tolist() == [[1, 0], [-1, 1]]
    assert votes.units["truth"].tolist() == ["true", "false"]


def test_every_absent_column_is_listed_with_the_nearest():
    problems = refused(
        "Fix: name one of its columns: 'q', 'judge', 'says', 'right'", item=["q", "part"], worker="juge", truth="t"
    )
    assert problems == [
        ("votes: item", "there is no column 'part'"),
        ("votes: worker", "there is no column 'juge' (did you mean 'judge'?)"),
        ("votes: truth", "there is no column 't'"),
    ]
    twice = pd.concat([TABLE, TABLE[["judge"]]], axis=1)
    assert refused("2 columns", twice) == [("votes: worker", "there are 2 columns 'judge'")]
    assert refused("no column ''", item=[]) == [("votes: item", "there is no column ''")]


def test_columns_may_have_numbers_as_names():
    votes = vp.from_table(TABLE.set_axis([0, 1, 2, 3], axis=1), item=0, worker=1, label=2, truth=3)
    assert as_texts(votes) == as_texts(read(truth="right"))


def test_empty_names_and_bad_numbers_are_listed_at_once():
    table = TABLE.assign(
        q=[None, "", 2, 2], judge=["a", None, "a", "b"], run=["r", "r", None, "r"], turn=[1, -1, 0.5, None],
        price=["x", 1, np.inf, -2],
    )  # fmt: skip
    assert refused("Fix: ", table, run="run", round="turn", cost="price") == [
        ("votes: item", "is empty in 2 rows, the first is row 0"),
        ("votes: worker", "is empty in 1 row, the first is row 1"),
        ("votes: run", "is empty in 1 row, the first is row 2"),
        ("votes: round", "'-1.0' is not a round (3 rows)"),
        ("votes: cost", "'x' is not a cost (3 rows)"),
    ]


def test_values_that_are_no_names_are_refused():
    table = TABLE.assign(q=[[1], [1], [2], [2]], says=[{"a": 1}] * 4)
    assert [place for place, _ in refused("holds lists or other values that are not names", table)] == [
        "votes: item",
        "votes: label",
    ]


def test_two_truths_of_an_item_are_refused_unless_runs_tell_them_apart():
    table = TABLE.assign(right=["cat", "dog", "dog", "dog"], day=["mon", "tue", "mon", "tue"])
    assert refused("give each item one truth", table, truth="right") == [
        ("votes: truth", "item '1' has several: 'cat', 'dog' (1 such item)")
    ]
    assert read(table, truth="right", run="day").truth.tolist() == [0, 1, 1, 1]


def test_truth_in_other_words_than_labels_is_refused_and_a_class_nobody_chose_is_not():
    table = TABLE.assign(right=["feline", "feline", "canine", "canine"])
    choice = "<'canine' or 'feline' or"
    fix = rf"labels=\{{'cat': {choice} 'cat'>, 'dog': {choice} 'dog'>\}}, with the label that each word means"
    assert refused(fix, table, truth="right") == [
        ("votes: truth", "holds 'canine', 'feline', and no vote has such a label: votes say 'cat', 'dog'")
    ]
    rare = pd.DataFrame({"q": [1, 2, 3], "judge": "a", "says": ["cat", "dog", "dog"], "right": ["cat", "dog", "cow"]})
    assert read(rare, truth="right").labels == ("cat", "cow", "dog")


def test_a_second_vote_is_refused_or_counts_as_the_caller_says():
    table = pd.concat([TABLE, TABLE.head(1).assign(says="dog")], ignore_index=True)
    assert refused("name the column of the round or run, .* keep one: duplicates='first'", table) == [
        ("votes: worker", "'a' labels item '1' a second time (1 such row)")
    ]
    assert read(table, duplicates="first").matrix().tolist() == [[0, 1], [1, 1]]
    assert read(table, duplicates="last").matrix().tolist() == [[1, 1], [1, 1]]
    assert len(read(table, duplicates="all")) == 5
    assert len(read(table.assign(turn=[1, 1, 1, 1, 2]), round="turn")) == 5
    with pytest.raises(SettingsError, match=r"duplicates: 'frist' is not a policy\. Fix: use 'refuse', 'first'"):
        read(table, duplicates="frist")


def test_words_that_mean_two_things_and_tables_that_are_none_are_refused():
    assert refused("give each word one label", labels={"yes": "a", "Yes ": "b"}) == [
        ("votes: labels['Yes ']", "means 'b' and, in another spelling, 'a'")
    ]
    assert refused("write each word", labels=["yes"]) == [("votes: labels", "is a list, not a mapping")]
    assert refused("give at least one vote", TABLE.head(0)) == [("votes", "the table has no rows")]
    with pytest.raises(InputError, match=r"votes: is a list, not a DataFrame\. Fix: read the file first"):
        vp.from_table([1], **NAMES)


def test_an_analysis_takes_columns_by_their_own_names_or_by_its_arguments():
    table = TABLE.rename(columns={"q": "item", "judge": "worker", "says": "label", "right": "truth"})
    columns = dict.fromkeys(["item", "worker", "label", "truth", "round", "run", "cost", "explanation"])
    assert as_texts(as_panel_votes(table, columns)) == as_texts(read(truth="right"))
    named = {**columns, "item": "q", "worker": "judge", "label": "says"}
    assert as_texts(as_panel_votes(TABLE, named)) == as_texts(read())
    with pytest.raises(TableError, match="votes: worker: there is no column 'worker'"):
        as_panel_votes(TABLE, {**columns, "item": "q", "label": "says"})
    votes = read()
    assert as_panel_votes(votes, columns) is votes
    assert as_panel_votes("llmbar/plain", columns).workers[0] == "ChatGPT-0301/Vanilla"
    with pytest.raises(TableError, match="item: names a column, and only a table has columns"):
        as_panel_votes(votes, named)


rows = st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.sampled_from(["x", "y", "z", None]), st.integers(0, 2))
tables = st.lists(rows, min_size=1, max_size=30, unique_by=lambda row: (row[0], row[1], row[3]))


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(cells, random):
    """Rows in another order, with another index, are the same votes; every row is a vote."""
    truth = {item: random.choice("xyz") for item in range(5)}
    table = pd.DataFrame(cells, columns=["item", "worker", "label", "round"]).assign(
        truth=lambda t: t["item"].map(truth), run=lambda t: "r" + (t["item"] % 2).astype("str")
    )
    table.loc[table["label"].isna(), "label"] = "x"  # else the truths may be no label at all
    table.loc[0, "label"] = table.loc[0, "truth"]
    mixed = table.sample(frac=1, random_state=random.randint(0, 99))
    names = {name: name for name in table}
    meant = {label: label for label in "xyz"}
    one, other = (vp.from_table(rows, **names, labels=meant) for rows in (table, mixed))
    assert as_texts(one) == as_texts(other)
    assert len(one) == len(table) == len(as_texts(one))
    assert (one.labels, one.workers) == (other.labels, other.workers)
    assert [(unit.run, unit.item) for unit in one.units.itertuples()] == list(
        dict.fromkeys(zip(table["run"], table["item"].astype("str"), strict=True))
    )
