"""The findings that a comparison found to differ."""

from __future__ import annotations

import verifyplan as vp
from verifyplan.protocol.vote import HELD


def test_changed_lists_the_findings_whose_class_differs_and_the_rules_that_decided():
    both = vp.compare("stdlib-claims/adversarial", resamples=20)
    changed = both.changed
    assert list(changed) == [
        "run_id", "finding_id", "classification_collaborative", "classification_adversarial",
        "held_collaborative", "held_adversarial", "why",
    ]  # fmt: skip
    counts = both.transitions.to_numpy()
    assert len(changed) == int(counts.sum() - counts.trace()) > 12
    assert (
        changed["classification_collaborative"]
        .astype("str")
        .ne(changed["classification_adversarial"].astype("str"))
        .all()
    )
    assert changed["held_adversarial"].equals(changed["classification_adversarial"].isin(HELD))
    whole = both.findings.set_index(["run_id", "finding_id"]).loc[
        list(zip(changed["run_id"], changed["finding_id"], strict=True))
    ]
    assert changed["why"].iloc[0] == f"{whole['rule_collaborative'].iloc[0]} -> {whole['rule_adversarial'].iloc[0]}"
    assert "The findings whose class differs:" not in both._repr_html_()


def test_few_findings_that_changed_are_shown_in_a_notebook_and_three_conditions_have_a_column_each():
    runs = vp.datasets.runs("stdlib-claims/adversarial")
    one = runs.select([runs.runs["run_id"].iloc[0]])
    few = vp.compare(one, resamples=20)
    assert ("The findings whose class differs:" in few._repr_html_()) == (0 < len(few.changed) <= 12)
    three = vp.compare(one, rules=["adversarial", "collaborative", "majority"], resamples=20).changed
    assert {"held_adversarial", "held_collaborative", "held_majority"} <= set(three)
    assert three["why"].str.count(" -> ").eq(2).all()


def test_nothing_that_changed_is_an_empty_table():
    runs = vp.datasets.runs("stdlib-claims/adversarial")
    same = vp.compare({"a": runs, "b": runs}, resamples=20)
    assert len(same.changed) == 0
    assert "why" in same.changed
    assert "The findings whose class differs:" not in same._repr_html_()
