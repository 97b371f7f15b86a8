"""Weights fitted to the overall scores that people gave to 360 dialogue turns, in ../shared/data/scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.analysis import weights

DIMENSIONS = ["understandability", "naturalness", "coherence", "engagingness", "groundedness"]


@pytest.fixture(scope="module")
def turns(shared) -> pd.DataFrame:
    """One row a turn; six systems answer in each of 60 dialogues, one row after the other."""
    raw = pd.read_csv(shared / "data" / "scores" / "topical_chat_scores.csv")
    assert len(raw) == 360
    dialogue = raw["item"] // 6
    assert raw.groupby(dialogue)["system_id"].nunique().eq(6).all()
    return raw.assign(dialogue=dialogue)


@pytest.fixture(scope="module")
def fitted(turns) -> vp.results.WeightFit:
    return weights.fit(turns[DIMENSIONS], turns["overall"], groups=turns["dialogue"])


def test_the_simplex_costs_at_most_2_percent_of_what_an_unconstrained_fit_explains(turns, fitted):
    assert fitted.r2_cv >= fitted.r2_cv_linear - 0.02
    alone = weights.fit(turns[[*DIMENSIONS, "overall"]], "overall")
    assert alone.r2_cv >= alone.r2_cv_linear - 0.02


def test_the_unconstrained_fit_is_as_good_as_a_plain_cross_validation_by_numpy(turns, fitted):
    x, y = turns[DIMENSIONS].to_numpy(), turns["overall"].to_numpy()
    design, rng = np.column_stack([np.ones(len(y)), x]), np.random.default_rng(7)
    scores = []
    for _ in range(20):
        fold = (rng.permutation(60) % 10)[turns["dialogue"]]
        predicted = np.empty(len(y))
        for k in range(10):
            slopes = np.linalg.lstsq(design[fold != k], y[fold != k])[0]
            predicted[fold == k] = design[fold == k] @ slopes
        scores.append(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    assert fitted.r2_cv_linear == pytest.approx(np.mean(scores), abs=0.001)
    assert fitted.r2_cv_linear > 0.9


def test_it_says_how_sure_it_is_of_each_weight(fitted):
    table = fitted.weights.set_index("dimension")
    assert table.index.tolist() == DIMENSIONS
    assert table["weight"].sum() == pytest.approx(1)
    assert ((table["low"] <= table["weight"]) & (table["weight"] <= table["high"])).all()
    assert (table["high"] - table["low"]).between(0.01, 0.2).all()
    assert table["weight"].idxmax() == "engagingness"
    assert sum(fitted.exact().values()) == 1
    assert (fitted.n, fitted.n_groups) == (360, 60)
    assert fitted.notes == ()


def test_the_fitted_score_is_linear_in_what_people_said_overall(turns, fitted):
    low, high = np.array([fitted.ranges[name] for name in DIMENSIONS]).T
    score = weights.apply((turns[DIMENSIONS] - low) / (high - low), fitted.exact())["score"]
    predicted = fitted.intercept + fitted.scale * score
    assert np.corrcoef(predicted, turns["overall"])[0, 1] ** 2 == pytest.approx(fitted.r2, abs=1e-3)
    assert (predicted - turns["overall"]).mean() == pytest.approx(0, abs=1e-3)
