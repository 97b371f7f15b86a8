"""Agreement and cost: against figures from the literature, and against counts by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp


def runs_of(table: list[str], labels: dict[str, str]) -> vp.RunSet:
    """One row a worker, one letter an item; a dot is no vote."""
    rows = [
        {"item": f"i{i:02d}", "who": f"w{w}", "says": labels[letter]}
        for w, row in enumerate(table)
        for i, letter in enumerate(row)
        if letter != "."
    ]
    return vp.from_votes(pd.DataFrame(rows), item="item", worker="who", verdict="says")


def measure(runs: vp.RunSet, name: str) -> pd.Series:
    table = vp.agreement(runs)
    return table[table["measure"] == name].iloc[0]


def test_alpha_of_krippendorffs_own_example():
    """Krippendorff 2011, example B: two observers, ten units, alpha = 0.692 with four categories.

    Ours has three verdicts, so the example's fourth category, used once by both, is left out: 9 units.
    """
    runs = runs_of(["aabbcbcab", "bababbcab"], {"a": "agree", "b": "supplement", "c": "disagree"})
    a, b = np.array(list("aabbcbcab")), np.array(list("bababbcab"))
    n = 18
    counts = np.array([np.sum(a == x) + np.sum(b == x) for x in "abc"])
    observed = 2 * np.sum(a != b) / n
    expected = 1 - np.sum(counts * (counts - 1)) / (n * (n - 1))
    got = measure(runs, "krippendorff-alpha")
    assert got["value"] == pytest.approx(1 - observed / expected)
    assert got["n"] == 9


def test_alpha_of_the_binary_example_with_missing_votes():
    """Krippendorff 2011, example A: two observers, ten units, binary: alpha = 0.095."""
    runs = runs_of(["0100000010", "1110010000"], {"0": "agree", "1": "disagree"})
    assert measure(runs, "krippendorff-alpha")["value"] == pytest.approx(0.095, abs=5e-4)


def test_cohens_kappa_by_hand_and_on_shared_findings_only():
    runs = runs_of(["aaaddd..", "aaddda.d"], {"a": "agree", "d": "disagree"})
    got = measure(runs, "cohen-kappa")
    assert (got["worker_a"], got["worker_b"], got["n"]) == ("w0", "w1", 6)
    assert got["value"] == pytest.approx((4 / 6 - 0.5) / 0.5)


def test_fleiss_kappa_uses_findings_with_the_most_common_number_of_votes():
    runs = runs_of(["aadd.", "aadda", "aadd."], {"a": "agree", "d": "disagree"})
    got = measure(runs, "fleiss-kappa")
    assert (got["value"], got["n"]) == (1.0, 4)


def test_errors_are_no_opinions_and_unanimity_is_not_defined():
    labels = {"a": "agree", "e": "verification-error"}
    runs = runs_of(["aaa", "aae"], labels)
    assert measure(runs, "krippendorff-alpha")[["value", "n"]].isna().tolist() == [True, False]
    assert np.isnan(measure(runs, "fleiss-kappa")["value"])
    assert np.isnan(measure(runs, "cohen-kappa")["value"])


def test_no_votes_at_all():
    empty = runs_of(["a"], {"a": "verification-error"})
    table = vp.agreement(empty)
    assert table["measure"].tolist() == ["krippendorff-alpha", "fleiss-kappa"]
    assert table["value"].isna().all()


def test_a_comparison_carries_both_for_each_condition():
    sets = [vp.datasets.runs(f"stdlib-claims/{mode}") for mode in ("collaborative", "adversarial")]
    comparison = vp.compare(*sets, resamples=20)
    assert comparison.agreement["condition"].unique().tolist() == ["collaborative", "adversarial"]
    calls = comparison.cost.set_index(["condition", "measure"])["value"]
    for name, runs in zip(("collaborative", "adversarial"), sets, strict=True):
        assert calls[name, "calls"] == (runs.dispatches["status"] == "completed").sum()
        assert calls[name, "votes"] == len(runs.votes)
