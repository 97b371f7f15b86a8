"""Made-up scores: whole, in range, repeatable, marked, and made by the weights that they say."""

import pytest

import verifyplan as vp
from verifyplan.datasets.bundled import EXAMPLE_WEIGHTS
from verifyplan.errors import SettingsError
from verifyplan.protocol.records import DIMENSIONS


def test_the_same_seed_gives_the_same_scores_and_another_one_others():
    assert vp.datasets.example_scores().equals(vp.datasets.example_scores())
    assert not vp.datasets.example_scores(seed=8).equals(vp.datasets.example_scores())


def test_scores_are_whole_numbers_from_1_to_10_and_marked():
    scores = vp.datasets.example_scores(500)
    assert scores[list(DIMENSIONS)].isin(range(1, 11)).all(axis=None)
    assert scores["overall"].between(1, 10).all()
    assert scores.attrs == {"synthetic": True}


def test_a_fit_finds_the_weights_that_made_the_overall_score():
    scores = vp.datasets.example_scores(2000)
    fit = vp.weights.fit(scores[list(DIMENSIONS)], scores["overall"])
    assert fit.weights["weight"].tolist() == pytest.approx(EXAMPLE_WEIGHTS, abs=0.02)


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "3"])
def test_a_number_of_plans_that_is_none_is_refused(n):
    with pytest.raises(SettingsError, match="n: must be an integer of at least 1, got"):
        vp.datasets.example_scores(n)
