"""One value an item of scores: by hand, against scipy, published figures, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

import verifyplan as vp
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.columns import keys
from verifyplan.errors import SettingsError, TableError

SCORES = pd.DataFrame(
    {
        "item": ["p", "p", "p", "q", "q", "r"],
        "worker": ["a", "b", "c", "a", "b", "a"],
        "score": [7, 8, 9.5, 4, 4.5, None],
        "truth": [8, 8, 8, 5, 5, None],
    }
)


def test_means_medians_and_errors_by_hand():
    result = vp.aggregate(SCORES, method="mean")
    assert result.scores["value"].tolist()[:2] == [pytest.approx(24.5 / 3), 4.25]
    assert np.isnan(result.scores["value"].iloc[2])
    assert result.scores["n"].tolist() == [3, 2, 0]
    measures = result.measures.set_index("measure")
    assert measures.loc["mean-absolute-error", "value"] == pytest.approx((1 / 6 + 0.75) / 2)
    assert measures.loc["mean-error", "value"] == pytest.approx((1 / 6 - 0.75) / 2)
    assert measures["n"].tolist() == [2, 2]
    assert result.notes == (
        "1 score is empty, and left out",
        "1 item without a score: no value",
        "the truth of 1 of 3 items is not known",
    )
    assert vp.aggregate(SCORES, method="median").scores["value"].tolist()[:2] == [8, 4.25]
    assert vp.aggregate(SCORES, method="median").scores["low"].isna().all()


def test_what_each_worker_gives_above_the_others():
    workers = vp.aggregate(SCORES, method="mean").workers.set_index("worker")
    assert workers["n"].tolist() == [2, 2, 1]
    assert workers.loc["a", "mean"] == 5.5
    assert workers.loc["a", "offset"] == pytest.approx(((7 - 8.75) + (4 - 4.5)) / 2)
    assert workers.loc["c", "offset"] == 2


def test_an_interval_has_the_spread_of_its_item_moderated_by_that_of_all():
    result = vp.aggregate(SCORES, method="mean").scores
    squares = np.array([np.var([7, 8, 9.5]) * 3, np.var([4, 4.5]) * 2])
    pooled = squares.sum() / 3
    for row, n, prior in ((0, 3, 1), (1, 2, 2)):  # the others have so many degrees of freedom, at most three
        variance = (prior * pooled + squares[row]) / (prior + n - 1)
        half = t.ppf(0.975, prior + n - 1) * np.sqrt(variance / n)
        assert result["high"][row] - result["value"][row] == pytest.approx(half)
        assert result["value"][row] - result["low"][row] == pytest.approx(half)


def test_an_interval_of_one_item_is_student_s():
    one = SCORES[SCORES["item"].eq("p")]
    row = vp.aggregate(one, method="mean").scores.iloc[0]
    low, high = t.interval(0.95, 2, loc=24.5 / 3, scale=np.std([7, 8, 9.5], ddof=1) / np.sqrt(3))
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
    same = vp.aggregate(one.assign(score=7), method="mean").scores.iloc[0]
    assert np.isnan(same["low"])


@pytest.mark.parametrize("n_workers", [2, 3, 5, 8])
def test_intervals_of_whole_scores_hold_what_more_workers_would_give(n_workers):
    """From 1 to 10, with a spread of .1 to 2 from item to item; their own variance alone holds it in 48 to 78 %."""
    rng = np.random.default_rng(n_workers)
    spread, middle = np.exp(rng.uniform(np.log(0.1), np.log(2), 4000)), rng.uniform(3, 9.5, 4000)
    scores = np.clip(np.rint(middle[:, None] + spread[:, None] * rng.standard_normal((4000, n_workers))), 1, 10)
    ends = norm.cdf((np.arange(1, 10) + 0.5 - middle[:, None]) / spread[:, None])
    expected = 10 - ends.sum(axis=1)
    table = pd.DataFrame(np.argwhere(scores > 0), columns=["item", "worker"]).assign(score=scores.ravel())
    found = vp.aggregate(table, method="mean").scores
    held = (found["low"] <= expected + 1e-9) & (expected - 1e-9 <= found["high"])
    assert 0.94 < held.mean() < 0.99


ANSWERS = pd.DataFrame(
    {
        "question": ["p"] * 4 + ["q"] * 4 + ["r"] * 2,
        "answer": [0, 0, 1, 1, 0, 0, 1, 1, 0, 0],
        "judge": list("ab") * 5,
        "score": [9, 8, 7, 7, 5, 6, 6, 5, 3, 3],
        "right": [1, 1, 0, 0, 1, 1, 0, 0, 1, 1],
    }
)
NAMES = {"item": ["question", "answer"], "worker": "judge", "truth": "right", "group": "question"}


def test_the_best_of_a_group_is_right_by_its_share_of_ties():
    result = vp.aggregate(ANSWERS, method="mean", **NAMES)
    assert result.measures["measure"].tolist() == ["best-is-right"]
    assert result.measures.iloc[0][["value", "n"]].tolist() == [0.75, 2]
    assert result.notes == (
        "1 group left out: all its items have one truth",
        "the best is tied in 1 group: each tied item counts for its share",
    )
    none = vp.aggregate(ANSWERS, method="mean", ties="none", **NAMES)
    assert none.measures["value"].tolist() == [0.5]
    assert "best is right: 75.0 % [" in str(result)
    lost = ANSWERS.assign(score=ANSWERS["score"].where(ANSWERS.index > 1))
    assert vp.aggregate(lost, method="mean", **NAMES).measures["n"].tolist() == [1]
    assert "1 group left out: an item has no value or no truth" in vp.aggregate(lost, method="mean", **NAMES).notes


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=5), st.sampled_from(["shared", "none"]))
def test_the_best_of_a_group_is_that_of_a_loop(rows, ties):
    """One score an answer; the first of three is right."""
    answers = [(n, place, score, place == 0) for n, row in enumerate(rows) for place, score in enumerate(row)]
    table = pd.DataFrame(answers, columns=["q", "a", "score", "truth"]).assign(worker="j")
    credit = [(row[0] == max(row)) / row.count(max(row)) for row in rows]
    expected = np.mean([each if ties == "shared" else each == 1 for each in credit])
    found = vp.aggregate(table, item=["q", "a"], group="q", method="median", ties=ties).measures
    assert found["value"].tolist() == [pytest.approx(expected)]


@pytest.mark.parametrize(("model", "right", "n"), [("gpt-5.4", 0.815, 1730), ("claude-haiku-4-5", 0.8484, 1761)])
def test_mean_scores_of_eight_repetitions_are_right_as_published(shared, model, right, n):
    """The source takes a tie for wrong; the majority of eight votes for the best is right in 71.1 and 69.5 %."""
    scores = pd.read_parquet(shared / "data" / "judge-scores" / "scores.parquet")
    chosen = scores["variant"].eq("base") & (scores["temperature"].eq(1) | scores["temperature"].isna())
    rows = scores[chosen & scores["model"].eq(model)].assign(right=lambda table: table["answer"].eq(0))
    names = {"item": ["item", "answer"], "worker": "repetition", "truth": "right", "group": "item"}
    [row] = vp.aggregate(rows, method="mean", ties="none", **names).measures.itertuples()
    assert (round(row.value, 4), row.n) == (pytest.approx(right, abs=5e-5), n)


def test_scores_of_dimensions_are_averaged_by_item():
    table = vp.datasets.example_scores()
    long = table.drop(columns="overall").rename_axis(index="item", columns="worker").stack().rename("score")
    long = long.reset_index().assign(truth=lambda rows: rows["item"].map(table["overall"]))
    long.attrs = table.attrs
    result = vp.aggregate(long, method="mean")
    expected = table.drop(columns="overall").mean(axis=1)
    np.testing.assert_allclose(result.scores["value"], expected)
    errors = (expected - table["overall"]).abs()
    low, high = t.interval(0.95, 39, loc=errors.mean(), scale=errors.sem())
    row = result.measures.iloc[0]
    assert (row["value"], row["low"], row["high"]) == tuple(pytest.approx(each) for each in (errors.mean(), low, high))
    assert str(result).splitlines()[:2] == [
        "mean: 40 items, 240 scores of 6 workers (synthetic)",
        "values: 3.167 to 8.167, their median 5.833",
    ]


def test_repeated_scores_and_rounds_follow_the_policy():
    table = pd.DataFrame({"item": "p", "worker": ["a", "a", "b"], "score": [2, 4, 6]})
    assert vp.aggregate(table, method="mean", duplicates="last").scores["value"].tolist() == [5]
    assert vp.aggregate(table, method="mean", duplicates="all").scores["value"].tolist() == [4]
    with pytest.raises(TableError, match="'a' labels item 'p' a second time"):
        vp.aggregate(table, method="mean")
    rounds = table.assign(round=[1, 2, 1])
    assert vp.aggregate(rounds, method="mean").scores["value"].tolist() == [4]
    assert vp.aggregate(rounds, method="mean", at="last").scores["value"].tolist() == [5]


def test_votes_whose_labels_are_numbers_are_scores():
    votes = vp.from_table(SCORES, item="item", worker="worker", label="score", truth="truth")
    read = vp.aggregate(votes, method="mean")
    pd.testing.assert_frame_equal(read.scores, vp.aggregate(SCORES, method="mean").scores)
    with pytest.raises(TableError) as error:
        vp.aggregate(vp.datasets.runs("contract"), method="mean")
    assert str(error.value) == (
        "votes: label: has 'false', 'true': no number. Fix: use method='majority', or give a table with score=."
    )


NUMBERS = "Fix: name a column of numbers, empty where a score was lost; for words use method='majority' and label=."


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"score": ["7", "high", 1, 2, 3, 4]}, {}, f"votes: score: 'high' is not a number (1 such row). {NUMBERS}"),
        ({"score": [True] * 6}, {}, f"votes: score: 'True' is not a number (6 such rows). {NUMBERS}"),
        ({"score": [1, np.inf, 1, 2, 3, 4]}, {}, f"votes: score: 'inf' is not a number (1 such row). {NUMBERS}"),
        ({"score": None}, {}, "votes: score: no score is given: every cell is empty. Fix: check the column."),
        (
            {"truth": [8, 9, 8, 5, 5, None]},
            {},
            "votes: truth: item 'p' has several: '8.0', '9.0' (1 such item). Fix: give each item one truth.",
        ),
        (
            {},
            {"score": "scor"},
            "votes: score: there is no column 'scor' (did you mean 'score'?). Fix: name one of its columns: "
            "'item', 'worker', 'score', 'truth'.",
        ),
    ],
)
def test_what_is_no_score_is_refused(changes, options, message):
    with pytest.raises(TableError) as error:
        vp.aggregate(SCORES.assign(**changes), method="mean", **options)
    assert str(error.value) == message


OF_LABELS = "Fix: use method='mean' or 'median', or leave it out."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "score"}, f"score: goes with scores, and 'majority' is of labels. {OF_LABELS}"),
        ({"group": "item", "method": "wawa"}, f"group: goes with scores, and 'wawa' is of labels. {OF_LABELS}"),
        (
            {"label": "score", "method": "mean"},
            "label: names a column of labels, and 'mean' is of scores. Fix: name the column of numbers by score=, or "
            "choose another method.",
        ),
        (
            {"ties": "first", "method": "median"},
            "ties: no item comes first among tied scores. Fix: use 'shared' or 'none'.",
        ),
    ],
)
def test_labels_and_scores_are_not_mixed(options, message):
    with pytest.raises(SettingsError) as error:
        vp.aggregate(SCORES, **options)
    assert str(error.value) == message


@pytest.mark.parametrize("name", ["scores", "workers", "measures"])
def test_tables_have_the_columns_that_are_documented(name):
    table = getattr(vp.aggregate(SCORES, method="mean"), name)
    declared = RESULT_TABLES[f"aggregate.{'scorers' if name == 'workers' else name}"]
    assert list(table.columns) == [column.name for column in declared]
    assert not table.duplicated(keys(declared)).any()


def test_texts_are_shown_as_text():
    shown = vp.aggregate(SCORES.replace({"p": "<b>p"}), method="mean")._repr_html_()
    assert "&lt;b&gt;p" in shown
    assert "<b>p" not in shown
