"""One label an item: published figures, ties, missing votes, truth from outside, notes, and what is refused."""

from __future__ import annotations

import re
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import MACE, MajorityVote, Wawa
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.analysis.aggregation.crowds import by_crowd_kit, simulated
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.columns import keys

TIED = pd.DataFrame(
    {
        "item": ["p", "p", "q", "q", "q", "r"],
        "worker": ["a", "b", "a", "b", "c", "c"],
        "label": ["x", "y", "x", "x", "y", None],
        "truth": ["y", "y", "x", "x", "x", "x"],
    }
)


@pytest.mark.parametrize(
    ("name", "method", "accuracy"),
    [
        ("rte", "majority", 0.8969),
        ("dog", "majority", 0.8222),
        ("rte", "dawid-skene", 0.9275),
        ("dog", "dawid-skene", 0.8426),
        ("rte", "one-coin", 0.925),
        ("dog", "one-coin", 0.8302),
        ("llmbar/plain", "majority", 0.5525),
        ("llmbar/plain", "dawid-skene", 0.4869),
    ],
)
def test_accuracies_on_real_votes_are_those_that_are_known(name, method, accuracy):
    got = vp.aggregate(name, method=method).accuracy()
    assert round(got.value, 4) == accuracy
    assert got.low < got.value < got.high


def test_a_method_that_loses_to_the_majority_says_so():
    [note] = [note for note in vp.aggregate("llmbar/plain", method="dawid-skene").notes if "majority" in note]
    assert re.fullmatch(
        r"dawid-skene is right on 48\.7 % of 419 items, the plain majority on 55\.3 % "
        r"\(-6\.6 points \[-\d\.\d, -\d\.\d\]\): use method='majority'",
        note,
    )
    assert not [note for note in vp.aggregate("rte", method="dawid-skene").notes if "majority" in note]


@pytest.mark.parametrize("seed", range(5))
def test_workers_who_err_independently_get_no_note(seed):
    table = simulated(600, [0.9, 0.8, 0.75, 0.7, 0.65, 0.6], labels=3, seed=seed).drop(columns="truth")
    assert vp.aggregate(table, method="dawid-skene", iterations=2000).notes == ()


def test_without_truth_nothing_is_said_against_a_method():
    """No figure of the votes tells where it loses (docs/statistics.md); what it changes is said of every table."""
    together = pd.concat([simulated(400, [0.6, 0.6, 0.6], shared=1.0), simulated(400, [0.8] * 3).replace(
        {"worker": {"w0": "w3", "w1": "w4", "w2": "w5"}})])  # fmt: skip
    for table in (together, simulated(300, [0.8, 0.8, 0.8])):
        result = vp.aggregate(table.drop(columns="truth"), method="dawid-skene")
        assert result.notes == ()
        assert f"another label than the majority's: {result.n_moved} of" in str(result)


def test_labels_that_differ_from_the_majority_s_and_ties_that_are_decided_are_counted():
    """The last worker of four is always wrong where the others are split, so that its word turns round."""
    labels = {"p": "aaab", "q": "bbba", "r": "aabb", "s": "abab", "t": "---b"}
    rows = [(item, f"w{n}", letter) for item, word in labels.items() for n, letter in enumerate(word) if letter != "-"]
    table = pd.concat([pd.DataFrame(rows * 1, columns=["item", "worker", "label"]).assign(run=n) for n in range(20)])
    result = vp.aggregate(table, method="dawid-skene")
    majority = vp.aggregate(table)
    assert (majority.n_moved, majority.n_decided) == (None, None)
    tied, differ = majority.labels["tied"].eq(2), result.labels["label"].ne(majority.labels["label"])
    assert result.n_decided == int((tied & result.labels["tied"].eq(1)).sum()) == 40
    assert result.n_moved == int((differ & ~tied).sum()) == 20
    assert "another label than the majority's: 20 of 100 items, ties decided: 40" in str(result)


def test_the_number_of_iterations_and_whether_they_converged_are_said():
    result = vp.aggregate("rte", method="dawid-skene")
    assert result.converged
    assert f"\niterations: {result.iterations}, converged\n" in str(result)
    cut = vp.aggregate("rte", method="dawid-skene", iterations=3)
    assert (cut.iterations, cut.converged) == (3, False)
    assert "\niterations: 3, not converged\n" in str(cut)
    [note] = [note for note in cut.notes if note.startswith("not converged: iteration 3 still changed a posterior by ")]
    assert note.endswith("; raise iterations= to see whether labels change")
    assert (vp.aggregate("rte").iterations, vp.aggregate("rte").converged) == (None, None)


def test_the_answer_does_not_turn_on_the_number_of_iterations():
    """Of these judges' last statements Dawid-Skene needs a thousand iterations, and its accuracy falls until there."""
    votes = vp.datasets.votes("debate-judges")
    ended = votes[votes["final"].fillna(False)].drop(columns="round").drop_duplicates(["item", "worker"], keep="last")
    result = vp.aggregate(ended, method="dawid-skene")
    assert result.converged
    assert 1000 < result.iterations < 1500
    assert result.accuracy() == vp.aggregate(ended, method="dawid-skene", iterations=5000).accuracy()
    assert result.accuracy().value < vp.aggregate(ended, method="dawid-skene", iterations=50).accuracy().value


SHARED = "each of the tied labels counts for its share in the accuracy, and .labels shows the first"


@pytest.mark.parametrize(
    ("ties", "accuracy", "label", "note"),
    [
        ("shared", 0.75, "x", SHARED),
        ("first", 0.5, "x", "the first label in order counts"),
        ("none", 0.5, None, "they have no label, and count as wrong in the accuracy"),
    ],
)
def test_ties_count_as_asked(ties, accuracy, label, note):
    result = vp.aggregate(TIED, ties=ties)
    assert result.accuracy().value == accuracy
    assert result.accuracy().n == 2  # r has no vote
    first = result.labels.iloc[0]
    assert first[["posterior", "n", "tied"]].tolist() == [0.5, 2, 2]
    assert first["label"] == label or (label is None and pd.isna(first["label"]))
    assert f"1 item is tied: {note}" in result.notes


def test_missing_votes_are_counted_and_an_item_without_votes_has_no_label():
    result = vp.aggregate(TIED)
    assert result.notes[:3] == (
        "1 vote is empty, and is not counted",
        "1 item has no vote: no label, and left out of the accuracy",
        "labels with fewer than 5 votes: x (3), y (2)",
    )
    last = result.labels.iloc[2]
    assert pd.isna(last["label"])
    assert last[["n", "tied"]].tolist() == [0, 0]
    assert result.posteriors.loc[("all", "r")].isna().all()
    assert result.posteriors.loc[("all", "q")].to_dict() == {"x": 2 / 3, "y": 1 / 3}
    assert result.workers["n"].tolist() == [2, 2, 1]
    assert result.workers["accuracy"].tolist() == [0.75, 0.75, 0]


@pytest.mark.parametrize("method", ["majority", "dawid-skene", "one-coin", "wawa", "zero-based-skill"])
def test_one_label_and_one_worker_come_out_as_they_are(method):
    table = pd.DataFrame({"item": range(4), "worker": "a", "label": "yes"})
    result = vp.aggregate(table, method=method)
    assert result.labels["label"].tolist() == ["yes"] * 4
    assert result.labels["posterior"].tolist() == [1.0] * 4
    assert "every vote says 'yes': there is nothing to weigh" in result.notes
    if method != "majority":
        assert "1 of 1 worker gave fewer than 5 votes: how reliable they are is a guess" in result.notes


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20))
def test_majority_and_wawa_are_those_of_crowd_kit(rows):
    """But for ties under wawa: crowd-kit takes the one of them that the table names first."""
    table = pd.DataFrame(rows, columns=["item", "worker", "label"]).drop_duplicates(["item", "worker"])
    ours = vp.aggregate(table)
    theirs = by_crowd_kit(MajorityVote(), table).probas_.reindex(pd.unique(table["item"])).sort_index(axis=1)
    np.testing.assert_allclose(ours.posteriors, theirs, atol=1e-9)
    if ours.labels["tied"].max() == 1:
        skills = by_crowd_kit(Wawa(), table).skills_
        np.testing.assert_allclose(vp.aggregate(table, method="wawa").workers["skill"], skills.sort_index(), atol=1e-9)


def test_weighted_votes_are_shares_of_the_weights():
    result = vp.aggregate(simulated(200, [0.9, 0.8, 0.6, 0.6, 0.5]), method="zero-based-skill", ties="first")
    weights = result.workers["skill"].to_numpy()
    assert (np.diff(weights[:3]) < 0).all()
    votes = result.votes.matrix()
    np.testing.assert_allclose(result.posteriors["1"], ((votes == 1) * weights).sum(axis=1) / weights.sum(), atol=1e-12)


@pytest.mark.parametrize("method", ["glad", "mace", "m-msr"])
def test_methods_of_crowd_kit_run_through_it(method, monkeypatch):
    monkeypatch.setattr("crowdkit.aggregation.MACE", partial(MACE, n_restarts=1, n_iter=5))  # ten times fifty take long
    table = simulated(12, [0.95, 0.9, 0.8, 0.7])
    result = vp.aggregate(table, method=method)
    assert result.accuracy().value > 0.7
    assert result.workers["skill"].notna().all()
    assert result.confusion is None
    np.testing.assert_allclose(result.posteriors.sum(axis=1), 1)


def test_without_crowd_kit_its_methods_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)
    with pytest.raises(vp.errors.SettingsError) as error:
        vp.aggregate(TIED, method="glad")
    assert str(error.value) == (
        "method: 'glad' needs the package crowd-kit. Fix: pip install \"verifyplan[crowd]\", or use "
        'method="dawid-skene".'
    )


TRUTH = {"p": "y", "q": "y"}


@pytest.mark.parametrize(
    "truth", [TRUTH, pd.Series(TRUTH), pd.DataFrame({"item": ["p", "q", "q"], "truth": ["y"] * 3})]
)
def test_truth_can_come_from_elsewhere(truth):
    assert vp.aggregate(TIED.drop(columns="truth")).accuracy(truth)[::3] == (0.25, 2)


def test_truth_by_numbers_and_of_some_items_alone():
    table = pd.DataFrame({"item": [1, 1, 2, 3], "worker": ["a", "b", "a", "a"], "label": [0, 0, 1, 0]})
    assert vp.aggregate(table).accuracy({1: 0.0, 2: 7, 99: 1})[::3] == (0.5, 2)


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (None, "truth: no labelled item has a known truth. Fix: name its column by truth=, or give .accuracy() a "
               "mapping of items to labels."),
        ({"z": "x"}, "truth: no labelled item has a known truth. Fix: name its column by truth=, or give .accuracy() a "
                     "mapping of items to labels."),
        ({"p": "no"}, "truth: has 'no', but the votes have 'x', 'y'. Fix: use the same words in both."),
        (pd.Series(["x", "y"], index=["p", "p"]), "truth: gives item 'p' several labels. Fix: give each "
                                                  "item one truth."),
        (pd.DataFrame({"item": ["p"]}), "truth: the table has no column 'truth'. Fix: rename its columns, or give a "
                                        "Series of labels by item."),
        ("x", "truth: is a str, not a Mapping. Fix: give a mapping of items to labels, a Series by item, or a table."),
    ],
)  # fmt: skip
def test_a_truth_that_cannot_be_used_is_refused(truth, message):
    with pytest.raises(vp.errors.InputError) as error:
        vp.aggregate(TIED.drop(columns="truth")).accuracy(truth)
    assert str(error.value) == message


def test_arguments_are_checked_all_at_once():
    with pytest.raises(vp.errors.SettingsError) as error:
        vp.aggregate(TIED, method="david-skene", ties="random", iterations=0, tolerance=-1)
    assert str(error.value).splitlines() == [
        "method: 'david-skene' is not a method (did you mean 'dawid-skene'?). Fix: use 'majority', 'dawid-skene', "
        "'one-coin', 'wawa', 'zero-based-skill', 'glad', 'mace', 'm-msr', 'mean', 'median'.",
        "ties: must be one of 'shared', 'first', 'none', got 'random'. Fix: leave it out for 'shared'.",
        "iterations: must be a whole number of at least 1, got 0. Fix: leave it out.",
        "tolerance: must be a number of at least 0, got -1. Fix: try 1e-5.",
    ]


def test_a_table_without_any_label_is_refused():
    with pytest.raises(vp.errors.TableError) as error:
        vp.aggregate(TIED.assign(label=None))
    assert str(error.value) == "votes: have no label: every vote is empty. Fix: check which column label= names."


def test_repeated_votes_follow_the_policy():
    table = pd.DataFrame({"item": "p", "worker": ["a", "a", "b"], "label": ["x", "y", "y"]})
    assert vp.aggregate(table, duplicates="first").labels["tied"].tolist() == [2]
    assert vp.aggregate(table, duplicates="last").posteriors["y"].tolist() == [1]
    every = vp.aggregate(table, duplicates="all")
    assert every.posteriors["y"].tolist() == [2 / 3]
    assert every.notes[0] == "1 vote by workers who had labelled the item before in the same round, all counted"
    with pytest.raises(vp.errors.TableError, match="'a' labels item 'p' a second time"):
        vp.aggregate(table)


def test_a_round_can_be_chosen():
    table = pd.DataFrame({"item": "p", "worker": ["a", "b", "a"], "label": ["x", "x", "y"], "round": [1, 1, 2]})
    assert vp.aggregate(table).posteriors.to_numpy().tolist() == [[1, 0]]
    assert vp.aggregate(table, at="last").posteriors.to_numpy().tolist() == [[0.5, 0.5]]
    assert vp.aggregate(table, at=2).posteriors.to_numpy().tolist() == [[0, 1]]


def test_columns_are_named_and_runs_are_apart():
    table = pd.DataFrame({"q": ["p", "p"], "by": ["a", "a"], "says": [1, 2], "in": ["r1", "r2"]})
    result = vp.aggregate(table, item="q", worker="by", label="says", run="in")
    assert result.labels[["run", "item", "label"]].to_numpy().tolist() == [["r1", "p", "1"], ["r2", "p", "2"]]


def test_runs_are_aggregated_as_what_their_workers_say_of_claims():
    votes = vp.datasets.votes("llmbar/plain")
    result = vp.aggregate(votes, method="one-coin")
    verdict = votes["label"].map({1: "agree", 2: "disagree"}).fillna("verification-error")
    claims = votes.assign(verdict=verdict, right=votes["truth"].eq(1))
    runs = vp.from_votes(claims, item="item", worker="worker", verdict="verdict", truth="right")
    runs = vp.aggregate(runs, method="one-coin")
    assert runs.votes.labels == ("false", "true")
    assert runs.accuracy().value == pytest.approx(result.accuracy().value)
    assert [note for note in runs.notes if note.startswith("there is only one run: ")]
    assert not [note for note in result.notes if note.startswith("there is only one run: ")]


@pytest.mark.parametrize("name", ["labels", "workers", "confusion"])
def test_tables_have_the_columns_that_are_documented(name):
    table = getattr(vp.aggregate("dog", method="dawid-skene"), name)
    declared = RESULT_TABLES[f"aggregate.{name}"]
    assert list(table.columns) == list(vp.documentation(f"aggregate.{name}").index)
    assert not table.duplicated(keys(declared)).any()


def test_confusion_sums_to_one_and_is_how_often_the_worker_is_right():
    result = vp.aggregate("dog", method="one-coin")
    sums = result.confusion.groupby(["worker", "truth"])["probability"].sum()
    assert sums.max() < 1 + 1e-9  # a label that a worker never gave is left out of one-coin's matrices
    right = result.confusion.query("truth == label").groupby("worker")["probability"].max()
    expected = result.workers.set_index("worker")["accuracy"].clip(1e-10, 1 - 1e-10)
    np.testing.assert_allclose(right, expected.reindex(right.index), atol=1e-4)  # one iteration apart


def test_the_words_say_what_came_out():
    result = vp.aggregate(TIED)
    assert str(result).splitlines()[:3] == [
        "majority: 3 items, 5 votes of 3 workers",
        f"accuracy: 75.0 % [{100 * result.accuracy().low:.1f}, {100 * result.accuracy().high:.1f}] (n = 2)",
        "labels: x (2), y (0)",
    ]
    assert repr(result) == str(result)
    assert "accuracy:" not in str(vp.aggregate(TIED.drop(columns="truth")))
    shown = vp.aggregate(TIED.replace({"x": "<b>x"}))._repr_html_()
    assert "&lt;b&gt;x" in shown
    assert "<b>x" not in shown


def test_free_answers_have_a_majority_and_no_confusion_matrices():
    table = pd.DataFrame({"item": np.arange(4200) // 3, "worker": np.arange(4200) % 12, "label": np.arange(4200) // 2})
    result = vp.aggregate(table)
    assert result.labels["n"].eq(3).all()
    assert result.labels["posterior"].round(3).isin([0.667]).all()  # of three consecutive rows two are alike
    with pytest.raises(vp.errors.SettingsError) as error:
        vp.aggregate(table, method="dawid-skene")
    assert str(error.value) == (
        "method: 12 workers with 2,100 labels have confusion matrices of 52,920,000 cells, more than 50,000,000. "
        "Fix: use 'majority' or 'wawa', or join labels."
    )
    assert vp.workers(table).table["dawid_skene"].isna().all()


def test_of_many_labels_the_most_frequent_are_listed():
    table = pd.DataFrame({"item": range(30), "worker": "a", "label": [*range(15), *[14] * 15]})
    assert str(vp.aggregate(table)).splitlines()[1].startswith("labels: 14 (16), 0 (1), 1 (1), 2 (1)")
    assert "8 (1) and 5 more" in str(vp.aggregate(table))


def test_a_loss_that_may_be_chance_is_said_to_be():
    notes = vp.aggregate("judge-panel", method="dawid-skene").notes
    [note] = [note for note in notes if "the plain majority on" in note]
    assert note.endswith("]): no difference is shown here")
    assert "use method='majority'" not in " ".join(notes)
