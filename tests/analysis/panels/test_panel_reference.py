"""Panels of real votes against the reference figures of their sources (data/README.md)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp


def figures(worth: vp.results.PanelWorth) -> tuple[float, ...]:
    """Mean, majority with shared ties, best judge, correlation: rounded to four digits; effective votes to three."""
    names = ("mean-judge", "majority", "best-judge-in-sample", "error-correlation")
    rounded = tuple(round(worth.figure(name).value, 4) for name in names)
    return (worth.n_items, *rounded, round(worth.figure("effective-votes").value, 3))


def test_the_six_plain_judges_of_llmbar():
    worth = vp.panel("llmbar/plain")
    votes = worth.figure("effective-votes")
    assert round(votes.value, 2) == 2.16
    assert votes.low == pytest.approx(2.01, abs=0.02)
    assert votes.high == pytest.approx(2.32, abs=0.02)
    assert round(worth.figure("majority").value, 3) == 0.554
    assert round(worth.figure("best-judge").value, 3) == 0.829
    assert worth.in_short().startswith(
        "6 judges, worth 2.2 independent votes [2.0, 2.3]; the best single judge (GPT-4/Vanilla)"
    )


@pytest.fixture(scope="module")
def base() -> pd.DataFrame:
    return vp.datasets.votes("judge-scores/base")


def test_five_models_of_judge_scores(base):
    five = base[base["repetition"].eq(0)].assign(worker=base["model"])
    worth = vp.panel(five, items="common", correlation="plain")
    assert figures(worth) == (1_651, 0.6638, 0.7026, 0.7226, 0.3645, 2.034)
    assert worth.best_judge == "claude-haiku-4-5"
    assert len(worth.pairs) == 10


REPETITIONS = {
    "gpt-5.4": (1_727, 0.7225, 0.7258, 0.7302, 0.7376, 1.298),
    "gpt-5.4-mini": (1_724, 0.6596, 0.6555, 0.6705, 0.6425, 1.455),
    "gpt-5.4-nano": (1_694, 0.5230, 0.5021, 0.5325, 0.4261, 2.009),
    "claude-sonnet-4-6": (1_715, 0.7227, 0.7292, 0.7335, 0.6703, 1.405),
    "claude-haiku-4-5": (1_677, 0.7155, 0.7227, 0.7287, 0.5748, 1.593),
}


@pytest.mark.parametrize("model", REPETITIONS)
def test_eight_repetitions_of_a_model(model, base):
    own = base[base["model"].eq(model)]
    assert figures(vp.panel(own, items="common", correlation="plain")) == REPETITIONS[model]


def test_forty_judges(base):
    worth = vp.panel(base, items="common", correlation="plain")
    assert figures(worth) == (1_581, 0.6663, 0.7005, 0.7343, 0.4198, 2.302)
    assert len(worth.pairs) == 780


def test_balanced_claims_have_two_classes_of_truth():
    votes = vp.datasets.votes("judge-scores-balanced/base")
    five = votes[votes["repetition"].eq(0)].assign(worker=votes["model"])
    plain = vp.panel(five, items="common", correlation="plain")
    assert figures(plain) == (1_651, 0.8126, 0.8443, 0.8455, 0.4353, 1.824)
    assert vp.panel(five, items="common").figure("effective-votes").value > plain.figure("effective-votes").value


DEBATES = {
    ("debate", 0): (196, 0.8146, 0.8435, 0.8214, 0.5837, 1.384),
    ("debate", 1): (197, 0.8376, 0.8409, 0.8426, 0.8006, 1.153),
    ("debate", 2): (197, 0.8393, 0.8376, 0.8426, 0.9124, 1.062),
    ("debate-paper", 0): (197, 0.7919, 0.8139, 0.8020, 0.6540, 1.300),
    ("debate-paper", 2): (198, 0.8384, 0.8350, 0.8485, 0.8897, 1.079),
}


@pytest.mark.parametrize(("run", "at"), DEBATES)
def test_rounds_of_a_debate(run, at):
    votes = vp.datasets.votes("prover-verifier/debate")
    worth = vp.panel(votes[votes["run"].eq(run)], at=at, items="common", correlation="plain")
    assert figures(worth) == DEBATES[run, at]


def test_eight_samples_of_a_model():
    worth = vp.panel("prover-verifier-samples", items="all", correlation="plain")
    assert figures(worth) == (198, 0.7979, 0.8308, 0.8232, 0.6716, 1.403)


ROUNDS = {0: (432, 0.6667, 0.9151, 0.7222, -0.1446, 4.220), 2: (432, 0.8827, 0.9313, 0.8958, 0.4970, 1.505)}


@pytest.mark.parametrize("at", ROUNDS)
@pytest.mark.parametrize("correlation", ["plain", "within-truth"])
def test_open_answers_before_and_after_a_debate(at, correlation):
    """Each question has a truth of its own: all are one class, and both correlations are the same."""
    assert figures(vp.panel("debate-rounds", at=at, correlation=correlation)) == ROUNDS[at]


PANELS = {
    "two-turns": (80, 0.5401, 0.5521, 0.5750, 0.8395, 1.120),
    "three-turns": (80, 0.5474, 0.5542, 0.5570, 0.8397, 1.120),
}


@pytest.mark.parametrize("run", PANELS)
def test_judges_who_discuss(run):
    votes = vp.datasets.votes("judge-panel")
    assert figures(vp.panel(votes[votes["run"].eq(run)], items="all", correlation="plain")) == PANELS[run]


def test_people_who_judge_debates():
    """Few debates have two judges: pairs of votes are correlated, whoever gave them."""
    votes = vp.datasets.votes("debate-judges")
    votes = votes[votes["final"]]
    votes = votes[votes.groupby("item")["worker"].transform("size").ge(2)]
    votes = votes.assign(label=np.where(votes["belief_right"] > 0.5, "right", "wrong"), truth="right")
    worth = vp.panel(votes, at="last", correlation="pooled")
    r = worth.figure("error-correlation").value
    assert worth.n_items == 190
    assert round(r, 4) == 0.1476
    assert round(2 / (1 + r), 3) == 1.743
    assert "pairs of votes on one item" in " ".join(worth.notes)


@pytest.mark.parametrize(("name", "majority"), [("rte", 0.8969), ("dog", 0.8222)])
def test_crowds(name, majority):
    worth = vp.panel(name)
    assert round(worth.figure("majority").value, 4) == majority
    assert worth.order.empty
    assert f"{worth.n_judges} judges (10.0 vote on an item), worth" in str(worth)
    assert "judges are not ranked" in " ".join(worth.notes)
