"""The example votes are made up, and say so; what they are made to show can be seen in them."""

from __future__ import annotations

import pytest

import verifyplan as vp

COLUMNS = {"item": "claim", "worker": "judge", "verdict": "answer", "round": "round", "truth": "truth", "mode": "mode"}


def test_they_are_the_same_every_time_and_marked_as_synthetic():
    table = vp.datasets.example_votes()
    assert table.equals(vp.datasets.example_votes())
    assert table.attrs == {"synthetic": True}
    assert table.groupby("mode").size().to_dict() == {"collaborative": 2000, "adversarial": 2000}


def test_they_lead_to_the_bad_judge_and_to_a_difference_of_modes():
    table = vp.datasets.example_votes()
    words = {"yes": "agree", "no": "disagree"}
    sets = {mode: vp.from_votes(rows, **COLUMNS, verdicts=words) for mode, rows in table.groupby("mode")}
    assert all(runs.runs["synthetic"].all() for runs in sets.values())
    assert "unreliable: eve" in str(vp.workers(sets["collaborative"]))
    difference = vp.compare(sets).summary.set_index("metric").loc["false-consensus-rate"]
    assert difference["difference_low"] > 0  # collaborative, the second, accepts more false claims


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_a_number_of_claims_that_is_none_is_refused(n):
    with pytest.raises(vp.errors.SettingsError, match="must be an integer of at least 1"):
        vp.datasets.example_votes(n)
