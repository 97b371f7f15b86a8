"""The accuracies of single workers in bundled votes of others, as their sources give them."""

from __future__ import annotations

import pytest

import verifyplan as vp


@pytest.mark.parametrize(
    ("table", "best", "accuracy", "n"),
    [
        ("llmbar/plain", "GPT-4/Vanilla", 0.829, 419),
        ("prover-verifier-samples", "claude-sonnet-4-6#4", 0.8232, 198),
    ],
)
def test_best_workers(table, best, accuracy, n):
    result = vp.workers(vp.datasets.votes(table)).table
    row = result.loc[result["accuracy"].idxmax()]
    assert (row["worker"], row["accuracy_n"]) == (best, n)
    assert row["accuracy"] == pytest.approx(accuracy, abs=1e-3)


@pytest.mark.parametrize(("at", "best", "accuracy"), [(0, "agent-2", 0.7222), (2, "agent-2", 0.8958)])
def test_rounds_of_debates(at, best, accuracy):
    result = vp.workers(vp.datasets.votes("debate-rounds"), at=at)
    row = result.table.loc[result.table["accuracy"].idxmax()]
    assert row["worker"] == best
    assert row["accuracy"] == pytest.approx(accuracy, abs=5e-5)
    assert result.majority.value == pytest.approx({0: 0.9151, 2: 0.9313}[at], abs=5e-5)


@pytest.mark.parametrize(("table", "majority"), [("rte", 0.8969), ("dog", 0.8222)])
def test_majorities_of_crowds_share_ties(table, majority):
    assert vp.workers(vp.datasets.votes(table)).majority.value == pytest.approx(majority, abs=5e-5)


def test_careless_people_of_a_crowd_are_named_and_others_are_not():
    result = vp.workers(vp.datasets.votes("rte"))
    assert set(result.unreliable) == {"5", "7", "8", "9"}
    table = result.table.set_index("worker")
    assert (table.loc[list(result.unreliable), "accuracy"] < 0.65).all()
    assert (table.loc[list(result.unreliable), "gap_high"] < -0.05).all()


@pytest.mark.parametrize(
    ("table", "worker", "best", "majority"),
    [
        ("judge-scores/base", "claude-haiku-4-5#0", 0.7226, 0.7026),
        ("judge-scores-balanced/base", "claude-haiku-4-5#0", 0.8455, 0.8443),
    ],
)
def test_five_models_on_the_items_that_all_judged(table, worker, best, majority):
    votes = vp.datasets.votes(table)
    votes = votes[votes["worker"].str.endswith("#0") & votes["label"].notna()]
    whole = votes.groupby("item")["worker"].transform("nunique").eq(5)
    result = vp.workers(votes[whole])
    row = result.table.loc[result.table["accuracy"].idxmax()]
    assert (row["worker"], row["accuracy_n"]) == (worker, 1651)
    assert row["accuracy"] == pytest.approx(best, abs=5e-5)
    assert result.majority.value == pytest.approx(majority, abs=5e-5)
    assert result.unreliable == ("gpt-5.4-nano#0",)
