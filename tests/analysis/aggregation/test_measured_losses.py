"""What docs/statistics.md says of Dawid-Skene beside the majority: how it was measured, and that it is so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from benchmarks.dawid_skene_losses import measured, moved, outcomes, separation, simulated
from benchmarks.score_coverage import covered, scores


def test_shares_of_labels_that_two_methods_give_apart():
    first = np.array([[1, 0], [0.5, 0.5], [0.9, 0.1], [np.nan, np.nan]])
    second = np.array([[1, 0], [0.9, 0.1], [0.1, 0.9], [np.nan, np.nan]])
    assert moved(first, second) == pytest.approx((0 + 0.5 + 1) / 3)


def test_a_threshold_is_chosen_on_other_sources_than_it_is_tried_on():
    """In `one` a high figure goes with losses, in `two` with gains: what each teaches, fails on the other."""
    gain = [-0.1, -0.1, 0.1, 0.1]
    found = pd.DataFrame({"source": ["one"] * 4 + ["two"] * 4, "gain": gain * 2, "figure": [4, 3, 2, 1, 1, 2, 3, 4]})
    row = separation(found, "figure")
    assert (row["one: area"], row["two: area"]) == (1, 0)
    assert (row["one: alarms"], row["two: alarms"]) == ("0 / 100", "0 / 100")


def test_gains_and_losses_of_sources_are_counted():
    found = pd.DataFrame(
        {"source": ["one"] * 3, "gain": [0.1, -0.1, 0.001], "low": [0.05, -0.2, -0.1], "high": [0.2, -0.05, 0.1]}
    ).assign(**{"labels moved from the majority's": [0.2, 0.2, 0]})
    assert outcomes(found).loc["one"].tolist() == [3, 1, 1, 1, 1, 1, 1]


def test_three_workers_are_too_few_and_eight_are_not():
    rng = np.random.default_rng(0)
    three, eight = (np.array([simulated(n, 0.0, rng) for _ in range(30)]) for n in (3, 8))
    assert three.mean() < -0.01
    assert eight.mean() > 0.01


def test_judges_of_pairs_that_mislead_lose_and_graders_of_answers_gain():
    judges = vp.datasets.votes("llmbar")
    models = judges[judges["set"].eq("LLMBar.Adversarial.Neighbor")].groupby("strategy", observed=True)
    loses = [vp.aggregate(rows, method="dawid-skene").accuracy().value - vp.aggregate(rows).accuracy().value
             for _, rows in models if rows["worker"].nunique() > 2]  # fmt: skip
    assert np.mean(np.array(loses) < -0.005) > 0.7
    graders = vp.datasets.votes("judge-scores-balanced/base").drop(columns="run")
    rows = graders[graders["repetition"].eq(0)]
    assert vp.aggregate(rows, method="dawid-skene").accuracy().low > vp.aggregate(rows).accuracy().value


def test_intervals_of_mean_scores_hold_more_than_those_of_an_item_alone():
    ours, alone = covered(*scores(3, 0.1, 2.0, np.random.default_rng(0)))
    assert ours > 0.93
    assert alone < 0.75


def test_further_tables_are_read_from_a_folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    truth = pd.DataFrame({"item": range(60), "truth": rng.integers(2, size=60)})
    labels = truth.loc[np.repeat(np.arange(60), 4)].assign(worker=list(range(4)) * 60)
    labels["label"] = np.where(rng.random(240) < 0.8, labels["truth"], 1 - labels["truth"])
    (tmp_path / "crowd").mkdir()
    labels[["item", "worker", "label"]].to_csv(tmp_path / "crowd" / "label.csv", index=False)
    truth.to_csv(tmp_path / "crowd" / "truth.csv", index=False)
    monkeypatch.setattr("benchmarks.dawid_skene_losses.bundled", lambda: iter(()))
    found = measured(tmp_path)
    assert found["source"].tolist() == ["crowds"]
    assert found["workers"].tolist() == [4]
