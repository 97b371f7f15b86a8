"""Comparisons of voting rules: how they are named, what they are, and the ranges that votes never cast allow."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.errors import SettingsError
from verifyplan.protocol.vote import CLASSIFICATIONS, HELD

RUNS = vp.datasets.runs("stdlib-claims/adversarial").select(["part-01", "part-02"])
SMALL = pd.DataFrame(
    [
        (f"F{k}", worker, verdict, truth)
        for k, (verdicts, truth) in enumerate(
            [("aaa", True), ("ada", True), ("dad", False), ("ddd", False), ("aad", False), ("add", True)]
        )
        for worker, verdict in zip("xyz", verdicts, strict=True)
    ],
    columns=["item", "worker", "verdict", "truth"],
).assign(verdict=lambda t: t["verdict"].map({"a": "agree", "d": "disagree"}))


def small():
    return vp.from_votes(
        SMALL, item="item", worker="worker", verdict="verdict", truth="truth", mode="collaborative", max_rounds=1
    )


UNANIMOUS = {"all-agree", "all-others-disagree", "no-unanimity", "round-0", "no-votes"}


def test_rules_of_one_set_are_compared_by_their_names():
    rules = {"as run": vp.VotingRules(), "strict": "unanimous", "two": {"workers": ["search", "window"]}}
    comparison = vp.compare(RUNS, rules=rules, resamples=20)
    assert comparison.conditions == ("as run", "strict", "two")
    for name, value in rules.items():
        alone = vp.replay(RUNS, rules=value)
        for column in ("classification", "rule", "censored", "low", "high"):
            assert (
                comparison.findings[f"{column}_{name}"].astype("str").tolist() == alone[column].astype("str").tolist()
            )
    assert {"difference_strict", "difference_two"} <= set(comparison.summary)


def test_a_list_of_rules_names_itself():
    rules = ["adversarial", vp.VotingRules(), {"quorum": 2, "refutes": "sticky"}, {"refutes": "sticky"}]
    assert vp.compare(RUNS, rules=rules, resamples=20).conditions == (
        "adversarial",
        "as-recorded",
        "refutes sticky, quorum 2",
        "refutes sticky",
    )
    twice = vp.compare(RUNS, rules=["majority", vp.VotingRules(aggregate="majority")], resamples=20)
    assert twice.conditions == ("majority (1)", "majority (2)")


def test_a_file_names_its_rules(tmp_path):
    path = vp.VotingRules(quorum=3).save(tmp_path / "three votes.json")
    comparison = vp.compare(RUNS, rules=[path, "adversarial"], resamples=20)
    assert comparison.conditions == ("three votes", "adversarial")


def test_rounds_hold_for_rules_that_name_none():
    comparison = vp.compare(RUNS, rules={"a": "adversarial", "b": "majority"}, max_rounds=1, resamples=20)
    assert comparison.findings[["decided_round_a", "decided_round_b"]].to_numpy().max() == 1


def test_several_sets_take_rules_each_or_one_for_all():
    sets = {"one": RUNS, "two": vp.datasets.runs("stdlib-claims/collaborative").select(["part-01", "part-02"])}
    for rules in ("unanimous", ["unanimous", "unanimous"], {"one": "unanimous", "two": "unanimous"}):
        comparison = vp.compare(sets, rules=rules, resamples=20)
        assert comparison.conditions == ("one", "two")
        assert set(comparison.findings["rule_two"]) <= UNANIMOUS
    other = vp.compare(sets["one"], sets["two"], rules="unanimous", resamples=20)
    assert other.conditions == ("adversarial", "collaborative"), "sets without names are called by their modes"


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("unanimous", "rules: must be two rules or more, got 'unanimous'"),
        (3, "rules: must be two rules or more, got 3"),
        (["unanimous"], "rules: must name at least two conditions, got 1"),
        ({"refutes": "sticky", "quorum": 2}, "rules: names fields ('refutes', 'quorum') and not conditions"),
        ({"a": "unanimous", "b": {"quorum": "x"}}, "rules['b'].quorum: must be a number of votes, or a share"),
        ({"a": "unanimous", "": "majority"}, "rules: a condition must have a printable text as its name, got ''"),
    ],
    ids=str,
)
def test_what_names_no_rules_is_refused(rules, message):
    with pytest.raises(SettingsError) as raised:
        vp.compare(RUNS, rules=rules)
    assert str(raised.value.problems[0]).startswith(message)


def test_modes_and_rules_do_not_go_together():
    with pytest.raises(SettingsError, match="modes: does not go with rules"):
        vp.compare(RUNS, modes=["adversarial", "collaborative"], rules=["majority", "unanimous"])
    with pytest.raises(SettingsError, match="rules: must have an entry for each of 2 sets, got 3"):
        vp.compare({"a": RUNS, "b": RUNS}, rules=["majority"] * 3)


def test_where_every_vote_was_cast_there_are_no_bounds():
    comparison = vp.compare(small(), rules=["majority", "unanimous"], resamples=20)
    assert comparison.bounds.empty
    assert list(comparison.bounds) == [column.name for column in RESULT_TABLES["bounds"]]
    assert "votes never cast" not in str(comparison)


def test_bounds_of_a_metric_are_the_extremes_over_all_choices():
    comparison = vp.compare(small(), rules={"run": {}, "more": {"max_rounds": 2}}, resamples=20)
    findings, bounds = comparison.findings, comparison.bounds.set_index(["condition", "metric"])
    held = [name in HELD for name in CLASSIFICATIONS]
    choices = [
        [False, True] if low != high else [held[CLASSIFICATIONS.index(low)]]
        for low, high in zip(findings["low_more"], findings["high_more"], strict=True)
    ]
    truth = findings["truth"].to_numpy(dtype=bool)
    assert sum(len(options) == 2 for options in choices) == 2
    tried = [np.array(choice) for choice in itertools.product(*choices)]
    expected = {
        "held": [choice.mean() for choice in tried],
        "precision": [truth[choice].mean() for choice in tried if choice.any()],
        "recall": [choice[truth].mean() for choice in tried],
        "false-consensus-rate": [choice[~truth].mean() for choice in tried],
    }
    for metric, values in expected.items():
        row = bounds.loc[("more", metric)]
        assert (row["low_bound"], row["high_bound"]) == pytest.approx((min(values), max(values)))
        assert row["low"] <= row["low_bound"] <= row["value"] <= row["high_bound"] <= row["high"]
    plain = bounds.loc["run"]
    assert plain["low_bound"].equals(plain["high_bound"])
    assert plain["difference_low_bound"].isna().all()
    more = bounds.loc["more"]
    assert more.loc["held", "difference_low_bound"] == more.loc["held", "low_bound"] - plain.loc["held", "value"]
    assert "votes never cast under more (on 2 findings) could give: held 50.0 to 83.3 %" in str(comparison)
    assert any(
        note.startswith("What votes never cast could give is a range, not a confidence interval")
        for note in comparison.notes
    )
    assert set(comparison.bounds) == set(vp.documentation("bounds").index)


def test_findings_that_no_missing_vote_could_change_are_counted_apart():
    rules = {"run": {}, "two of three": {"workers": ["x", "y", "z", "late"], "aggregate": "any-refute"}}
    comparison = vp.compare(small(), rules=rules, resamples=20)
    note = next(note for note in comparison.notes if "censored" in note)
    assert "6 of 6 findings are censored" in note
    assert "For 5 of these, no missing vote could change the class." in note
    text = str(vp.explain(small(), "F3", rules=rules["two of three"]))
    assert "were never cast. Whatever they would have been, its class is the same." in text


def test_findings_that_are_held_and_censored_are_not_said_to_be_contested():
    comparison = vp.compare(
        small(), rules={"run": {}, "all rounds": {"pruning": "none", "max_rounds": 2}}, resamples=20
    )
    note = next(note for note in comparison.notes if "censored" in note)
    assert note.endswith("Censored findings keep the class that the votes so far give.")


def test_rules_that_cannot_change_a_class_say_why():
    comparison = vp.compare(small(), rules={"run": {}, "sticky": "sticky-refutes", "most": "majority"}, resamples=20)
    bare = vp.compare(small(), rules={"run": {}, "caveats": {"caveats": "as-agree"}}, resamples=20)
    why = "no vote is a supplement, so caveats has no effect."
    assert f"caveats gives every finding the same class as run: {why}" in bare.notes
    assert not any(note.startswith("most gives every") and "no effect" in note for note in comparison.notes)


def test_accuracy_has_the_bounds_that_its_findings_allow_and_the_conclusion_says_them():
    runs = vp.datasets.runs("stdlib-claims/adversarial")
    compared = vp.compare(runs, rules={"own": "as-recorded", "unanimous": "unanimous"}, resamples=20)
    found = compared.findings
    held = {end: found[f"{end}_unanimous"].isin(HELD) for end in ("low", "high")}
    truth = found["truth"].astype(bool)
    worst, best = (held["low"] & truth) | ~(held["high"] | truth), (held["high"] & truth) | ~(held["low"] | truth)
    row = compared.bounds.query("metric == 'accuracy' and condition == 'unanimous'").squeeze()
    assert (row["low_bound"], row["high_bound"]) == (pytest.approx(worst.mean()), pytest.approx(best.mean()))
    assert row["n_censored"] == (held["low"] != held["high"]).sum() == 58
    (line,) = [line for line in str(compared).splitlines() if line.startswith("accuracy: ")]
    assert line.endswith(
        ": a difference is shown by the votes that were cast; votes never cast could make it -6.4 to +1.7 points"
    )
    concluded = line.partition(", p ")[2]
    assert compared.in_words("accuracy").endswith(f", p {concluded}")
    changed = compared.bounds.query("metric == 'precision' and condition == 'unanimous'").squeeze()
    ends = (100 * changed[f"difference_{end}_bound"] for end in ("low", "high"))
    assert compared.in_words("precision").endswith(
        " by the votes that were cast; votes never cast could make it {:+.1f} to {:+.1f} points".format(*ends)
    )
