"""Real judges' verdicts as votes: 419 claims, 65 judges, read as ../shared/data/SOURCES.md says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp


@pytest.fixture(scope="module")
def judges(shared) -> vp.RunSet:
    raw = pd.read_csv(shared / "data" / "llmbar" / "votes.csv")
    raw = raw[raw["set"].str.startswith("LLMBar.")]
    stable = raw["vote"] == raw["vote_swapped"]
    first, second = raw["vote"] == 1, raw["vote"] == 2
    verdict = np.select([first & stable, first, second], ["agree", "supplement", "disagree"], "verification-error")
    basis = np.select([second & stable, second], ["counter-evidence", "burden-not-met"], None)
    table = raw.assign(
        claim=raw["set"] + "/" + raw["item"].astype("str"),
        judge=raw["model"] + "/" + raw["strategy"],
        says=verdict,
        basis=basis,
        true=raw["label"] == 1,
    )
    return vp.from_votes(table, item="claim", worker="judge", verdict="says", basis="basis", truth="true")


def test_every_claim_and_judge_is_there(judges):
    assert len(judges.findings) == 419
    assert judges.votes["worker"].nunique() == 65
    assert len(judges.votes) == 419 * 65


def test_both_modes_against_truth_agree_with_a_count_by_hand(judges):
    comparison = vp.compare(judges)
    votes = judges.votes.assign(truth=judges.votes["finding_id"].map(judges.findings.set_index("finding_id")["truth"]))
    counts = votes.groupby("finding_id").apply(_count, include_groups=False)
    for name, held in (("collaborative", _held_collaboratively), ("adversarial", _held_adversarially)):
        kept = held(counts)
        got = comparison.truth[comparison.truth["condition"] == name].set_index("metric")["value"]
        assert got["precision"] == pytest.approx((kept & counts["truth"]).sum() / kept.sum())
        assert got["recall"] == pytest.approx((kept & counts["truth"]).sum() / counts["truth"].sum())
        assert got["false-consensus-rate"] == pytest.approx((kept & ~counts["truth"]).sum() / (~counts["truth"]).sum())


def test_the_figures_that_the_notebook_quotes(judges):
    """10_compare_modes quotes these; a change here is a change there."""
    truth = vp.compare(judges).truth.set_index(["condition", "metric"])["value"].round(3)
    quoted = {
        ("collaborative", "precision"): 0.554,
        ("collaborative", "recall"): 0.718,
        ("collaborative", "false-consensus-rate"): 0.559,
        ("adversarial", "precision"): 0.842,
        ("adversarial", "recall"): 0.155,
        ("adversarial", "false-consensus-rate"): 0.028,
    }
    assert {key: truth[key] for key in quoted} == quoted


def _count(votes: pd.DataFrame) -> pd.Series:
    verdict, basis = votes["verdict"], votes["disagree_basis"]
    return pd.Series(
        {
            "n": (verdict != "verification-error").sum(),
            "disagree": (verdict == "disagree").sum(),
            "counter": (basis == "counter-evidence").sum(),
            "truth": bool(votes["truth"].iloc[0]),
        }
    )


def _held_collaboratively(counts: pd.DataFrame) -> pd.Series:
    return (counts["n"] > 0) & (counts["disagree"] * 2 < counts["n"])


def _held_adversarially(counts: pd.DataFrame) -> pd.Series:
    return (counts["n"] > 0) & (counts["counter"] == 0) & (counts["disagree"] * 2 <= counts["n"])
