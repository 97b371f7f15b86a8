"""Workers: closed forms, brute force, planted judges, panels of equals, words and errors."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.analysis.aggregation.dawid_skene import dawid_skene
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.standing_apart import standing_apart
from verifyplan.errors import SettingsError, TableError
from verifyplan.frames.panel_votes import votes_of_runs


def judged(accuracies: list[float], n: int = 200, rounds: int = 1, seed: int = 0) -> pd.DataFrame:
    """Independent judges of these accuracies on yes-no claims, in rounds: claim, judge, round, says, true."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2 == 0
    parts = []
    for number in range(rounds):
        for judge, accuracy in enumerate(accuracies):
            says = truth == (rng.random(n) < accuracy)
            part = pd.DataFrame({"claim": np.arange(n), "judge": f"judge-{judge + 1}", "round": number + 1})
            parts.append(part.assign(says=np.where(says, "yes", "no"), true=np.where(truth, "yes", "no")))
    return pd.concat(parts, ignore_index=True)


COLUMNS = {"item": "claim", "worker": "judge", "label": "says", "truth": "true", "round": "round"}
SMALL = pd.DataFrame(
    {
        "item": ["p"] * 4 + ["q"] * 4 + ["r"] * 3,
        "worker": [*"abcd", *"abcd", *"abc"],
        "label": [*"xxxy", *"xyyx", *"xyz"],
        "truth": ["x"] * 4 + ["y"] * 4 + ["z"] * 3,
    }
)


def rows(result: vp.results.Workers) -> pd.DataFrame:
    return result.table.set_index("worker")


def test_figures_of_three_labels_by_hand():
    table = rows(vp.workers(SMALL))
    assert table["accuracy"].tolist() == pytest.approx([1 / 3, 2 / 3, 1, 0])
    assert table["accuracy_n"].tolist() == [3, 3, 3, 2]
    # p: others of a say x, x, y: with them; of d x, x, x. q: others of a y, y, x; of b x, y, x; r: each alone
    assert table["agreement"].tolist() == pytest.approx([(1 + 0 + 0) / 3, (1 + 0 + 0) / 3, (1 + 0 + 0) / 3, 0])
    # p: 3 to 1 stays x whoever goes; q: a tie, which becomes whole without one; r: of three a third goes to the others
    assert table["influence"].tolist() == pytest.approx([(0 + 1 / 2 + 1 / 3) / 3] * 3 + [1 / 4])
    assert table["adds"].tolist() == pytest.approx(
        [(-1 / 2 - 1 / 6) / 3, (1 / 2 - 1 / 6) / 3, (1 / 2 + 1 / 3) / 3, -1 / 4]
    )
    assert "sensitivity" not in table
    assert "positive_rate" not in table


def test_recalls_have_every_label():
    recalls = vp.workers(SMALL).recalls.set_index(["worker", "label"])
    assert recalls.loc[("a", "x"), "recall"] == 1
    assert recalls.loc[("b", "z"), ["recall", "n"]].tolist() == [0, 1]
    assert recalls.loc[("d", "z"), "n"] == 0
    assert np.isnan(recalls.loc[("d", "z"), "recall"])
    assert list(recalls.columns) == ["recall", "low", "high", "n"]


def test_sensitivity_and_specificity_are_the_recalls_of_a_named_label():
    frame = judged([0.9, 0.7, 0.8], n=60)
    table = rows(vp.workers(frame, positive="no", **COLUMNS))
    recalls = vp.workers(frame, **COLUMNS).recalls.set_index(["label", "worker"])["recall"]
    assert table["sensitivity"].tolist() == recalls["no"].tolist()
    assert table["specificity"].tolist() == recalls["yes"].tolist()
    assert table["positive_rate"].tolist() == (frame["says"] == "no").groupby(frame["judge"]).mean().tolist()


def test_of_claims_true_is_positive():
    frame = judged([0.9, 0.7, 0.8], n=40)
    frame = frame.assign(true=frame["true"] == "yes")
    words = {"yes": "agree", "no": "disagree"}
    runs = vp.from_votes(frame, item="claim", worker="judge", verdict="says", truth="true", verdicts=words)
    result = vp.workers(runs)
    assert result.positive == "true"
    expected = frame.assign(agree=frame["says"].eq("yes"))[frame["true"]].groupby("judge")["agree"].mean()
    assert rows(result)["sensitivity"].tolist() == expected.tolist()


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Small tables of up to three labels with lost votes and unknown truth."""
    n, k = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    cells = draw(st.lists(st.sampled_from(["x", "y", "z", "", None]), min_size=n * k, max_size=n * k))
    truth = draw(st.lists(st.sampled_from(["x", "y", ""]), min_size=n, max_size=n))
    frame = pd.DataFrame({"item": np.repeat(np.arange(n), k), "worker": [f"w{i}" for i in range(k)] * n,
                          "label": cells, "truth": np.repeat(truth, k)})  # fmt: skip
    frame["label"] = frame["label"].astype("object")
    kept = frame[frame["label"].notna()].replace({"": None})
    said = {*kept["label"].dropna()} & {*kept["truth"].dropna()}
    return kept if said else kept.assign(truth=None)


def majority(labels: list[str]) -> dict[str, float]:
    counts = pd.Series(labels, dtype="object").value_counts()
    top = counts[counts == counts.max()]
    return {name: 1 / len(top) for name in top.index}


@settings(max_examples=examples(24))
@given(tables(), st.randoms(use_true_random=False))
def test_a_loop_over_votes_gives_the_same_and_the_order_of_rows_does_not_count(frame, random):
    assume(frame["label"].notna().any())
    table = rows(vp.workers(frame))
    order = list(range(len(frame)))
    random.shuffle(order)
    again = rows(vp.workers(frame.iloc[order]))
    shares = [name for name in table if not name.startswith("closest")]
    pd.testing.assert_frame_equal(table[shares], again[shares], check_exact=False, rtol=1e-9, atol=1e-9)
    cast = frame.dropna(subset="label")
    for worker, row in table.iterrows():
        agreement, changed = [], []
        for item, label in cast.loc[cast["worker"] == worker, ["item", "label"]].itertuples(index=False):
            every = cast.loc[cast["item"] == item, "label"].tolist()
            others = cast.loc[(cast["item"] == item) & (cast["worker"] != worker), "label"].tolist()
            if not others:
                continue
            first, second = majority(every), majority(others)
            agreement.append(second.get(label, 0.0))
            changed.append(sum(abs(first.get(name, 0) - second.get(name, 0)) for name in "xyz") / 2)
        for name, values in (("agreement", agreement), ("influence", changed)):
            assert row[f"{name}_n"] == len(values)
            assert row[name] == pytest.approx(np.mean(values)) if values else np.isnan(row[name])


def test_every_interval_holds_its_value_within_its_range():
    table = rows(vp.workers(judged([0.95, 0.5, 0.8], n=50), positive="yes", **COLUMNS))
    shares = ("lost_rate", "accuracy", "agreement", "sensitivity", "specificity", "influence")
    for name in shares:
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()
        assert (table[f"{name}_low"] < table[f"{name}_high"]).all()
        assert table[[f"{name}_low", f"{name}_high"]].stack().between(0, 1).all()


@pytest.mark.parametrize("data", ["stdlib-claims/adversarial", "contract", "live-example/plan"])
def test_the_columns_are_declared_in_their_order(data):
    declared = list(vp.documentation("workers").index)
    table = vp.workers(data).table
    assert list(table.columns) == [name for name in declared if name in table]


def test_a_plain_table_has_no_columns_of_runs():
    columns = set(vp.workers(SMALL).table.columns)
    assert not columns & {"lazy_doubt_rate", "uncited_refute_rate", "calls", "failed_calls", "seconds", "cost"}


def test_reliability_without_truth_is_what_dawid_skene_thinks_of_a_workers_labels():
    frame = judged([0.9, 0.8, 0.7, 0.55], n=80).drop(columns=COLUMNS["truth"])
    votes = vp.from_table(frame, **{name: column for name, column in COLUMNS.items() if name != "truth"})
    fit = dawid_skene(votes.unit, votes.worker, votes.label, 80, 4, 2)
    own = fit.posteriors[votes.unit, votes.label]
    expected = [own[votes.worker == number].mean() for number in range(4)]
    table = rows(vp.workers(votes))
    assert table["dawid_skene"].tolist() == pytest.approx(expected, abs=1e-12)
    assert table["one_coin"].idxmin() == "judge-4"
    for name in ("one_coin", "dawid_skene"):
        assert table[name].between(table[f"{name}_low"], table[f"{name}_high"]).all()


def test_estimates_without_truth_are_left_out_beside_accuracy():
    columns = set(vp.workers(judged([0.9, 0.8, 0.7], n=40), **COLUMNS).table.columns)
    assert "accuracy" in columns
    assert not columns & {"one_coin", "dawid_skene"}


def test_the_bad_judge_of_two_hundred_claims_is_named():
    frame = judged([0.85, 0.85, 0.85, 0.85, 0.6], rounds=2)
    result = vp.workers(frame, **COLUMNS)
    assert result.unreliable == ("judge-5",)
    assert result.measure == "accuracy"
    lines = str(result).splitlines()
    assert lines[0].startswith("5 workers, 200 items, 1,000 votes: accuracy from ")
    assert " (n = 200) of judge-5 to " in lines[0]
    assert re.search(r"; majority 9\d\.\d % \[.*\] \(n = 200\), a tie counting as its share$", lines[0])
    assert re.match(r"unreliable: judge-5 \(accuracy .* \(n = 200\), \d\d\.\d points below the others \[", lines[1])


def test_the_bad_judge_is_named_by_verdicts_and_without_truth_too():
    frame = judged([0.85, 0.85, 0.85, 0.85, 0.6], rounds=2)
    verdicts = {"yes": "agree", "no": "disagree"}
    runs = vp.from_votes(
        frame.assign(true=frame["true"] == "yes"),
        item="claim",
        worker="judge",
        verdict="says",
        round="round",
        truth="true",
        verdicts=verdicts,
    )
    assert vp.workers(runs).unreliable == ("judge-5",)
    unknown = vp.workers(frame.drop(columns="true"), **{**COLUMNS, "truth": None})
    assert unknown.measure == "agreement"
    assert unknown.unreliable == ("judge-5",)
    assert unknown.majority is None
    assert unknown.recalls is None
    assert "No truth is known: a worker who is right alone agrees least with the others." in unknown.notes


def test_of_equal_judges_hardly_ever_one_is_named():
    """Judges who are equal and err together; with the margin even fewer are named than Holm's 5 %."""
    rng = np.random.default_rng(7)
    n, k, named, lenient = 100, 5, 0, 0
    unit, worker = np.repeat(np.arange(n), k), np.tile(np.arange(k), n)
    clusters = Clusters(np.zeros(n, dtype=np.int64), np.arange(n))
    for _ in range(100):
        hard = rng.random((n, 1)) < 0.2
        right = (rng.random((n, k)) < np.where(hard, 0.4, 0.9)).ravel().astype(float)
        apart = standing_apart(right, unit, worker, k, clusters)
        named += bool(apart.below or apart.above)
        level = [each for each in apart.gaps if not each.low <= 0 <= each.high]
        lenient += bool(level)
    assert named <= 2
    assert lenient > 5  # single intervals would have named some


def test_nobody_stands_out_among_equals():
    result = vp.workers(judged([0.85] * 5, seed=1), **COLUMNS)
    assert result.unreliable == result.redundant == result.influential == ()
    assert result.standing_out() == (
        "nobody stands out: no worker is clearly unreliable or redundant, or clearly changes more majorities than the "
        "others"
    )


def test_one_good_judge_does_not_make_the_others_unreliable():
    assert vp.workers(judged([0.99, 0.6, 0.6, 0.6, 0.6], n=600), **COLUMNS).unreliable == ()


def test_workers_with_few_items_are_not_judged():
    frame = judged([1.0, 1.0, 1.0, 0.0], n=19)
    result = vp.workers(frame, **COLUMNS)
    assert result.unreliable == ()
    names = "judge-1, judge-2, judge-3, judge-4"
    assert f"{names} have fewer than 20 items, too few to judge." in result.notes
    assert vp.workers(judged([1.0, 1.0, 1.0, 0.0], n=20), **COLUMNS).unreliable == ("judge-4",)


def test_a_copy_of_another_judge_is_redundant():
    frame = judged([0.8, 0.8, 0.8, 0.8], n=300, seed=3)
    copy = frame[frame["judge"] == "judge-1"].assign(judge="judge-9")
    result = vp.workers(pd.concat([frame, copy]), **COLUMNS)
    table = rows(result)
    assert table.loc["judge-9", "closest"] == "judge-1"
    assert table.loc["judge-9", "closest_correlation"] == pytest.approx(1)
    assert set(result.redundant) <= {"judge-1", "judge-9"}
    assert bool(table.loc["judge-9", "redundant"]) == (not table.loc["judge-9", "adds_low"] > 0)


def test_without_whom_nothing_changes_is_redundant():
    n = 600
    truth = np.arange(n) % 2
    frame = pd.concat(
        pd.DataFrame({"item": np.arange(n), "worker": name, "label": np.where(np.arange(n) < wrong, 1 - truth, truth)})
        for name, wrong in (("a", 2), ("b", 2), ("c", 0), ("d", 0), ("e", 0))
    )
    result = vp.workers(frame.assign(truth=np.tile(truth, 5)))
    assert result.redundant == ("a", "b", "c", "d", "e")
    words = "redundant (if it alone is left out): a, b, c, d, e (5 of 5; the first: without it the majority changes in "
    assert words in str(result)


def test_whose_dissent_decides_the_class_is_influential():
    """Four judges who agree and one who says no to every third claim: collaborative classes hang on that one."""
    n = 120
    parts = [pd.DataFrame({"claim": np.arange(n), "judge": f"j{number}", "says": "agree"}) for number in range(4)]
    dissent = np.where(np.arange(n) % 3, "agree", "disagree")
    parts.append(pd.DataFrame({"claim": np.arange(n), "judge": "odd", "says": dissent}))
    runs = vp.from_votes(pd.concat(parts), item="claim", worker="judge", verdict="says", mode="collaborative")
    result = vp.workers(runs)
    assert result.decides == "class"
    assert result.influential == ("odd",)
    assert rows(result)["influence"].round(3).tolist() == [0, 0, 0, 0, 0.333]
    assert (
        "changes the class most often under collaborative rules): odd (without it the class changes in 33.3 % ["
        in str(result)
    )


def test_lost_votes_count_in_all_rounds_and_nowhere_else():
    frame = judged([0.9, 0.9, 0.9], n=30, rounds=2)
    frame.loc[frame["judge"].eq("judge-2") & frame["claim"].lt(3) & frame["round"].eq(1), "says"] = None
    result = vp.workers(frame, **COLUMNS)
    table = rows(result)
    assert table["asked"].tolist() == [60, 60, 60]
    assert table["lost"].tolist() == [0, 3, 0]
    assert table.loc["judge-2", "lost_rate"] == pytest.approx(0.05)
    assert table.loc["judge-2", "accuracy_n"] == 27
    assert "3 votes of 180 were lost and count nowhere else." in result.notes


def test_at_chooses_the_round():
    frame = judged([0.9, 0.9, 0.9], n=40, rounds=2)
    first, last = (vp.workers(frame, at=at, **COLUMNS) for at in ("first", "last"))
    for result, number in ((first, 1), (last, 2)):
        part = frame[frame["round"] == number]
        expected = part["says"].eq(part["true"]).groupby(part["judge"]).mean()
        assert rows(result)["accuracy"].tolist() == pytest.approx(expected.tolist())
    pd.testing.assert_frame_equal(rows(vp.workers(frame, at=2, **COLUMNS)), rows(last))
    note = "With several rounds, each worker's first label on an item counts (in Python, at='last' takes the last)."
    assert note in first.notes


def test_bases_and_citations_of_runs():
    votes = pd.DataFrame(
        {
            "item": ["f", "f", "g", "g", "h", "h"],
            "who": ["a", "b"] * 3,
            "says": ["disagree", "agree", "disagree", "agree", "disagree", "disagree"],
            "basis": ["burden-not-met", None, "counter-evidence", None, "counter-evidence", "counter-evidence"],
            "words": ["no proof", "", "see m.py:4", "", "it is wrong", "see n.py:9"],
        }
    )
    runs = vp.from_votes(
        votes, item="item", worker="who", verdict="says", basis="basis", explanation="words", mode="adversarial"
    )
    table = rows(vp.workers(runs))
    assert table["lazy_doubt_rate"].tolist() == pytest.approx([1 / 3, 0])
    assert table["lazy_doubt_rate_n"].tolist() == [3, 1]
    assert table["uncited_refute_rate"].tolist() == pytest.approx([1 / 2, 0])
    assert table["uncited_refute_rate_n"].tolist() == [2, 1]


def test_calls_time_and_cost_of_logged_runs():
    runs = vp.datasets.runs("live-example/plan")
    table = rows(vp.workers(runs))
    calls = runs.calls[runs.calls["role"] == "worker"].groupby("worker")
    assert table["calls"].tolist() == calls.size().tolist()
    assert table["seconds"].tolist() == pytest.approx((calls["duration_ms"].mean() / 1000).tolist())
    assert table["cost"].tolist() == pytest.approx(calls["cost"].sum().tolist())
    assert (table["cost_per_vote"] * table["asked"]).tolist() == pytest.approx(table["cost"].tolist())


def test_costs_of_a_table():
    frame = SMALL.assign(cost=[0.5, None, *[1.0] * 9])
    table = rows(vp.workers(frame))
    assert table["cost"].tolist() == [2.5, 2, 3, 2]
    assert table["cost_per_vote"].tolist() == pytest.approx([2.5 / 3, 1, 1, 1])


def test_votes_without_a_cost_are_counted():
    found = vp.workers(SMALL.assign(cost=[0.5, None, *[1.0] * 9]))
    assert "1 vote of 11 has no cost: totals cover the others only, and are too low." in found.notes
    assert not any("cost" in note for note in vp.workers(SMALL.assign(cost=1.0)).notes)


def test_one_worker_has_no_range():
    text = str(vp.workers(SMALL[SMALL["worker"].eq("a")]))
    assert text.startswith("1 worker, 3 items, 3 votes: accuracy 33.3 % [")
    assert " to " not in text.splitlines()[0]


def test_notes_name_what_a_reader_must_know():
    frame = judged([0.9, 0.9, 0.9], n=40)
    frame.loc[frame["judge"] == "judge-3", "says"] = "yes"
    notes = vp.workers(frame, **COLUMNS).notes
    both = ".recalls has 'no' and 'yes'; positive= adds sensitivity and specificity."
    assert f"No label is named as positive: {both}" in notes
    assert "judge-3 gave the same label to every item." in notes
    worse = vp.workers(judged([0.2, 0.9, 0.9], n=100), **COLUMNS).notes
    assert "The accuracy of judge-1 is below that of guessing among 2 labels (1 of 3)." in worse


def test_one_worker_has_nobody_to_compare_with():
    one = vp.workers(judged([0.9]), **COLUMNS)
    assert re.match(
        r"1 worker, 200 items, 200 votes: accuracy \d\d\.?\d* %.* of judge-1\nthere is only one worker", str(one)
    )
    assert " to " not in one.range_in_words()
    assert one.standing_out() == "there is only one worker, and nobody to compare with"
    alone = vp.workers(judged([0.9]).drop(columns="true"), **{**COLUMNS, "truth": None})
    assert str(alone).startswith(
        "1 worker, 200 items, 200 votes: no votes to compare\nthere is only one worker, and nobody"
    )


def test_no_votes_and_lost_votes_alone():
    nothing = vp.workers(vp.RunSet())
    assert str(nothing).startswith("0 workers, 0 items, 0 votes: no votes to compare\nnobody stands out")
    lost = pd.DataFrame({"item": [1, 2], "worker": ["a", "b"], "label": [None, None]})
    with pytest.raises(TableError, match=r"votes: label: all votes are empty \(2 votes\)"):
        vp.workers(lost)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"positive": "w"}, "positive: 'w' is not a label of these votes. Fix: use one of 'x', 'y', 'z'."),
        ({"positive": "x"}, "positive: is for votes with two labels, and these have 3 labels. Fix: leave it out."),
    ],
)
def test_a_positive_label_that_is_none(arguments, message):
    with pytest.raises(SettingsError, match=re.escape(message)):
        vp.workers(SMALL, **arguments)


def test_columns_and_rounds_that_are_absent():
    with pytest.raises(TableError, match="votes: worker: there is no column 'judge'"):
        vp.workers(SMALL, worker="judge")
    with pytest.raises(TableError, match=r"at: there is no round 3\. Fix: use 'first', 'last', or '1'\."):
        vp.workers(SMALL, at=3)


def test_names_are_shown_as_text():
    result = vp.workers(SMALL.replace({"worker": {"a": "<b>a"}}))
    page = result._repr_html_()
    assert "<b>a" not in page
    assert "&lt;b&gt;a" in page
    assert repr(result) == str(result)


def test_part_of_the_votes_of_runs_are_a_table():
    votes = votes_of_runs(vp.datasets.runs("stdlib-claims/adversarial"))
    assert vp.workers(votes).decides == "class"
    part = vp.workers(votes.at("last"))
    assert part.decides == "majority"
    assert "lazy_doubt_rate" not in part.table


def test_each_way_to_stand_out_has_a_line_of_its_own():
    lines = str(vp.workers(judged([0.85] * 5, seed=1), **COLUMNS)).splitlines()
    assert lines[1:4] == [
        "unreliable: none shown",
        "redundant (if it alone is left out): none shown",
        "influential (changes the majority most often): none shown",
    ]
    few = str(vp.workers(judged([0.85] * 5, n=36, seed=1), **COLUMNS)).splitlines()
    assert few[1] == "unreliable: none shown (with 36 items, only large differences can be shown)"


def test_workers_are_printed_in_few_columns_of_which_none_is_hidden():
    result = vp.workers(judged([0.9] * 4 + [0.6], seed=1), **COLUMNS)
    lines = str(result).splitlines()
    [head] = [number for number, line in enumerate(lines) if line.startswith("worker ")]
    assert re.split(r"  +", lines[head]) == ["worker", "n", "accuracy", "majority changes without it", "stands out as"]
    rows = [re.split(r"  +", line) for line in lines[head + 1 : head + 6]]
    accuracy = result.table.set_index("worker")["accuracy"].sort_values(ascending=False, kind="stable")
    assert [row[0] for row in rows] == accuracy.index.tolist()
    assert [float(row[2].split()[0]) for row in rows] == pytest.approx(100 * accuracy, abs=0.06)
    assert rows[-1][0] == "judge-5"
    assert rows[-1][-1].split(", ")[0] == "unreliable"
    assert max(map(len, lines[head : head + 6])) <= 100
    page = result._repr_html_()
    assert (page.count("<th>"), page.count("<tr")) == (5, 6)
    assert len(result.table.columns) > 20


def test_more_than_ten_workers_are_counted_and_refer_to_the_panel():
    many = judged([0.8] * 12, seed=2)
    assert "\nand 2 more in .table\n" in str(vp.workers(many, **COLUMNS))
    assert "which judges the majority can do without is another question: see panel" in str(vp.workers(many, **COLUMNS))
    assert "\nand 2 more in .judges\n" in str(vp.panel(many, **COLUMNS))


@pytest.mark.parametrize("lost", ["own votes", "errors"])
def test_a_run_without_a_vote_that_counts_changes_nothing(lost):
    said = {"item": ["i", "i", "j", "j", "k", "k"], "worker": list("ababab"), "says": ["agree", "disagree"] * 3}
    votes = pd.DataFrame(said).assign(run=[1, 1, 1, 1, 2, 2], mode=["collaborative"] * 4 + ["adversarial"] * 2)
    of_first = votes["run"].eq(1)
    if lost == "errors":
        votes["says"] = votes["says"].where(of_first, "verification-error")
    votes["found"] = [None if is_first or lost == "errors" else ["a", "b"] for is_first in of_first]
    names = {"item": "item", "worker": "worker", "verdict": "says", "run": "run", "mode": "mode"}
    expected = vp.workers(vp.from_votes(votes[of_first], **names)).table
    both = vp.workers(vp.from_votes(votes, **names, discoverers="found")).table
    pd.testing.assert_frame_equal(both[["agreement", "influence"]], expected[["agreement", "influence"]])
    alone = votes[~of_first].assign(found=[["a", "b"]] * 2)
    assert len(vp.workers(vp.from_votes(alone, **names, discoverers="found")).table) == 0
