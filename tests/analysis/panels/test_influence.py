"""Influence: what changes without a worker, against classifications and majorities made by hand and by replay."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import SettingsError, TableError
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import HELD

VOTES = pd.DataFrame(
    {
        "item": ["f"] * 3 + ["g"] * 3 + ["h"] * 2,
        "who": [*"abc", *"abc", *"ab"],
        "says": ["agree", "agree", "disagree", "agree", "disagree", "disagree", "agree", "agree"],
        "true": [True] * 3 + [False] * 3 + [True] * 2,
    }
)
TABLE = VOTES.rename(columns={"who": "worker", "says": "label"}).assign(
    truth=VOTES["true"].map({True: "agree", False: "disagree"})
)


def runs(**columns: str) -> RunSet:
    return vp.from_votes(
        VOTES, item="item", worker="who", verdict="says", mode="collaborative", truth="true", **columns
    )


def metric(result: vp.results.Influence, name: str) -> pd.DataFrame:
    return result.table[result.table["metric"] == name].set_index("worker")


def test_classes_by_hand():
    """f: partial (2 of 3), g: contested (1 of 3), h: full. Without a: f splits, g is rejected by all, h stays."""
    found = vp.influence(runs())
    changes = found.findings.set_index(["worker", "item"])[["with_all", "without"]].apply(tuple, axis=1).to_dict()
    assert changes == {
        ("a", "f"): ("partial-consensus", "contested"),
        ("a", "g"): ("contested", "worker-unique"),
        ("b", "f"): ("partial-consensus", "contested"),
        ("c", "f"): ("partial-consensus", "full-consensus"),
    }
    assert metric(found, "changed")["difference"].tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 2])
    assert metric(found, "changed")["n"].tolist() == [3, 3, 2]
    assert metric(found, "held")["with_all"].tolist() == pytest.approx([2 / 3] * 3)
    assert metric(found, "recall")["without"].tolist() == [0.5, 0.5, 1]
    assert metric(found, "false-consensus-rate")["difference"].tolist() == [0, 0, 0]
    assert found.decides == "class"


def test_a_finding_without_another_vote_is_without_class_of_its_own():
    alone = VOTES[(VOTES["item"] == "h") & (VOTES["who"] == "a")]
    found = vp.influence(vp.from_votes(alone, item="item", worker="who", verdict="says"))
    assert found.findings[["with_all", "without"]].to_numpy().tolist() == [["full-consensus", "worker-unique"]]


@pytest.mark.parametrize("data", ["stdlib-claims/adversarial", "contract"])
@pytest.mark.parametrize("mode", ["recorded", "collaborative"])
def test_leaving_out_is_replaying_with_the_votes_lost(data, mode):
    every = vp.datasets.runs(data)
    setting = vp.Setting(mode)
    found = vp.influence(every, setting=setting)
    with_all = setting.replay(every)
    for worker in found.table["worker"].unique()[:2]:
        own = every.votes["worker"].eq(worker) & ~every.votes["is_origin"].fillna(False).astype(bool)
        votes = every.votes.assign(
            verdict=every.votes["verdict"].mask(own, "verification-error"),
            disagree_basis=every.votes["disagree_basis"].mask(own),
        )
        tables = {name: getattr(every, name) for name in ("runs", "findings", "rounds", "dispatches")}
        without = setting.replay(RunSet(**tables, votes=votes))
        voted = with_all["rule"].ne("round-0").to_numpy()
        changed = with_all["classification"].astype(str).ne(without["classification"].astype(str)).to_numpy() & voted
        rows = found.findings[found.findings["worker"] == worker]
        assert rows["item"].tolist() == with_all.loc[changed, "finding_id"].tolist()
        assert rows["without"].tolist() == without.loc[changed, "classification"].tolist()
        assert rows["censored"].tolist() == without.loc[changed, "censored"].tolist()


def test_metrics_with_all_are_those_of_compare():
    found = vp.influence("stdlib-claims/adversarial")
    truth = vp.compare("stdlib-claims/adversarial", resamples=2).truth
    expected = truth[truth["condition"] == "adversarial"].set_index("metric")["value"]
    for name in ("precision", "recall", "f1", "false-consensus-rate", "false-demotion-rate"):
        assert metric(found, name)["with_all"].tolist() == pytest.approx([expected[name]] * 4), name


def test_majorities_by_hand():
    found = vp.influence(TABLE, positive="agree")
    assert found.decides == "majority"
    assert metric(found, "changed")["difference"].tolist() == pytest.approx([1 / 6, 1 / 3, 1 / 4])
    accuracy = metric(found, "accuracy")
    assert accuracy["with_all"].tolist() == [1, 1, 1]
    assert accuracy["without"].tolist() == pytest.approx([2.5 / 3, 2 / 3, 2.5 / 3])
    assert metric(found, "specificity")["without"].tolist() == [1, 0.5, 0.5]
    assert found.findings.set_index(["worker", "item"])["without"].to_dict() == {
        ("a", "f"): "agree or disagree",
        ("b", "f"): "agree or disagree",
        ("b", "g"): "agree or disagree",
        ("c", "g"): "agree or disagree",
    }


def test_a_table_without_truth_has_changes_alone():
    found = vp.influence(TABLE.drop(columns="truth"))
    assert found.table["metric"].unique().tolist() == ["changed"]


def test_the_last_vote_of_an_item_leaves_nothing():
    found = vp.influence(pd.DataFrame({"item": [1], "worker": ["a"], "label": ["x"]}))
    assert found.findings[["with_all", "without"]].to_numpy().tolist() == [["x", ""]]
    assert metric(found, "changed")["difference"].isna().all()
    assert metric(found, "changed")["n"].tolist() == [0]
    assert str(found) == (
        "1 worker, 1 item, one left out at a time: nothing to compare\nnote: a alone judged 1 item: "
        "without that worker it has no majority, and figures of majorities without it leave it out."
    )


def test_both_sides_are_of_the_items_that_others_judged_too():
    """Items that a alone judged, all of them wrong, change nothing of what a is worth on the others."""
    alone = pd.DataFrame({"item": range(30), "worker": "a", "label": "agree", "truth": "disagree"})
    found, common = vp.influence(pd.concat([TABLE, alone]), positive="agree"), vp.influence(TABLE, positive="agree")
    rows, expected = (each.table[each.table["worker"].eq("a")] for each in (found, common))
    shares = ["metric", "with_all", "without", "difference", "n"]
    pd.testing.assert_frame_equal(rows[shares], expected[shares])
    assert metric(found, "accuracy")["n"].tolist() == [3, 33, 33]
    assert found.notes == (
        "a alone judged 30 items: without that worker they have no majority, and figures of majorities "
        "without it leave them out.",
    )
    figures = ["adds", "adds_n", "influence", "influence_n"]
    added = vp.workers(pd.concat([TABLE, alone])).table[figures]
    pd.testing.assert_frame_equal(added, vp.workers(TABLE).table[figures])


def test_several_workers_who_judge_alone_are_named():
    alone = pd.DataFrame({"item": [7, 8, 9], "worker": list("bab"), "label": "agree", "truth": "agree"})
    notes = vp.influence(pd.concat([TABLE, alone])).notes
    assert notes[0].startswith("One worker alone judged each of 3 items (b, a): without that worker they have no")


def test_words_name_all_who_tie():
    pair = pd.DataFrame({"item": [1, 1, 2, 2], "worker": list("abab"), "label": list("xyxx")})
    text = str(vp.influence(pair))
    assert re.search(
        r"equally many change their majority without each worker: a: 25\.0 % \[.*\] \(n = 2\), b: 25", text
    )
    seven = pd.DataFrame({"item": 1, "worker": list("abcdefg"), "label": list("xxxxyyy")})
    text = str(vp.influence(seven))
    assert re.search(r"without a: 50.*, b: 50.*, c: 50.* and 1 more; fewest without e: 0.*, f: 0.*, g: 0", text)


def test_rows_in_any_order():
    shuffled = TABLE.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(vp.influence(TABLE).table, vp.influence(shuffled).table)


def test_the_columns_are_declared():
    for data in (TABLE, runs()):
        assert list(vp.influence(data).table.columns) == list(vp.documentation("influence").index)


def test_words():
    found = vp.influence("stdlib-claims/adversarial")
    text = str(found)
    assert re.match(
        r"4 workers, 720 findings \(synthetic\), one left out at a time: most change their class without quotation: "
        r"\d+\.\d % \[\d.*\] \(n = \d+\); fewest without window: ",
        text,
    )
    assert "note: Later votes of the others stay as they were: without a worker they might have been cast" in text
    assert re.search(r"note: \d+ of \d+ changes of class rest on a round that was never run \(censored\)\.", text)
    assert repr(found) == text
    nothing = vp.influence(pd.DataFrame({"item": [1] * 4, "worker": list("abcd"), "label": "x"}))
    assert str(nothing) == (
        "4 workers, 1 item, one left out at a time (even panel: only ties can change): no majority changes when a "
        "worker is left out"
    )
    assert str(vp.influence(RunSet())).startswith("0 workers, 0 findings, one left out at a time: nothing to compare")


def test_discoverers_are_said_to_stay():
    found = vp.influence("contract")
    assert "Discoverers of findings stay discoverers: only votes are left out." in found.notes


def test_names_are_shown_as_text():
    page = vp.influence(TABLE.replace({"worker": {"a": "<b>a"}}))._repr_html_()
    assert "&lt;b&gt;a" in page
    assert "<b>a" not in page


def test_settings_that_have_no_meaning():
    message = "setting: applies to runs, and a table of labels has no classes. Fix: leave it out, or read the table by"
    with pytest.raises(SettingsError, match=re.escape(message)):
        vp.influence(TABLE, setting=vp.Setting("adversarial"))
    with pytest.raises(SettingsError, match="mode: 'adverse' is unknown"):
        vp.influence(runs(), setting=vp.Setting("adverse"))
    with pytest.raises(TableError, match="item: names a column, and only a table has columns"):
        vp.influence(runs(), item="finding")


def test_many_workers_of_few_votes_each():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"item": np.repeat(np.arange(50), 3), "label": rng.choice(["x", "y"], 150)})
    table["worker"] = [f"w{number}" for number in rng.permutation(150)]
    changed = metric(vp.influence(table), "changed")
    assert changed["n"].eq(1).all()
    assert changed["difference"].isin([0, 0.5]).all()


@pytest.mark.parametrize("mode", ["collaborative", "adversarial"])
@pytest.mark.parametrize("max_rounds", [None, 1, 3])
def test_classes_without_a_worker_are_those_of_its_votes_lost(mode, max_rounds):
    """Tallies less own votes, against a replay of votes of which a worker's are errors; two rounds, some votes lost."""
    rng = np.random.default_rng(7)
    finding, round_, worker = (axis.ravel() for axis in np.indices((60, 2, 5)))
    kept = (rng.random(len(finding)) < 0.8) & ((round_ == 0) | (finding % 2 == 0)) | (worker == 4)
    kept &= (round_ == 0) | (finding % 3 > 0)
    words = rng.choice(["agree", "supplement", "disagree", "verification-error"], len(finding), p=[0.4, 0.2, 0.3, 0.1])
    columns = {"item": finding, "round": round_ + 1, "worker": np.array(list("abcde"))[worker], "verdict": words}
    votes = pd.DataFrame(columns)[kept].assign(basis=rng.choice(["counter-evidence", "burden-not-met"], kept.sum()))
    named = {name: name for name in votes} | {"mode": mode}
    recorded = vp.from_votes(votes, **named)
    found = vp.influence(recorded, setting=vp.Setting(max_rounds=max_rounds)).findings
    before = vp.replay(recorded, max_rounds=max_rounds).set_index("finding_id")["classification"]
    lost = pd.concat(
        votes.assign(left_out=name, verdict=votes["verdict"].mask(votes["worker"].eq(name), "verification-error"))
        for name in "abcde"
    )
    replayed = vp.replay(vp.from_votes(lost, **named, run="left_out"), max_rounds=max_rounds)
    for name in "abcde":
        after = replayed[replayed["run_id"].eq(name)].set_index("finding_id")["classification"].astype(str)
        changed = before.astype(str) != after
        own = found[found["worker"].eq(name)].set_index("item")["without"].astype(str)
        voted = votes[votes["worker"].eq(name) & votes["verdict"].ne("verification-error")]["item"].astype(str).unique()
        expected = after[changed & changed.index.isin(voted)]
        assert own.to_dict() == expected.to_dict()


def test_n_of_f1_counts_what_is_true_or_held_with_the_worker_or_without():
    runs = vp.datasets.runs("stdlib-claims/adversarial")
    found, with_all = vp.influence(runs), vp.replay(runs)
    changed = found.findings.query("worker == 'search'").set_index(["run", "item"])["without"]
    key = pd.MultiIndex.from_frame(with_all[["run_id", "finding_id"]])
    without = pd.Series(with_all["classification"].astype("object").to_numpy(), key)
    without.update(changed)
    held = with_all["classification"].isin(HELD).to_numpy() | without.isin(HELD).to_numpy()
    n = found.table.query("worker == 'search'").set_index("metric")["n"]
    assert (n["precision"], n["f1"]) == (held.sum(), (held | with_all["truth"].to_numpy(dtype=bool)).sum())
    assert n["f1"] < len(with_all)


@pytest.mark.parametrize(("n_workers", "labels", "even"), [(4, 2, True), (5, 2, False), (4, 3, False)])
def test_of_an_even_number_of_votes_on_two_labels_only_ties_change_and_it_is_said(n_workers, labels, even):
    said = np.random.default_rng(n_workers).integers(labels, size=(60, n_workers))
    item, worker = (axis.ravel() for axis in np.indices(said.shape))
    votes = pd.DataFrame({"item": item, "worker": worker, "label": said.ravel()})
    found, table = vp.influence(votes), vp.workers(votes)
    tied = set(np.flatnonzero((said == 1).sum(axis=1) * 2 == n_workers))
    assert (set(found.findings["item"].astype(int)) <= tied) == even
    assert (found.is_even, table.is_even) == (even, even)
    assert ("one left out at a time (even panel: only ties can change): " in str(found)) == even
    assert ("  majority changes without it (even panel: only ties can)  " in str(table)) == even


def test_a_lost_vote_or_two_leave_a_panel_even_and_classes_of_runs_are_no_majorities():
    assert vp.workers("llmbar/plain").is_even, "5 of 2,514 votes of six judges are lost"
    assert not vp.influence("stdlib-claims/adversarial").is_even
