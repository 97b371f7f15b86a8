"""The chart of a panel: discs that are filled as many as the votes are worth, rows in order, words."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.charts.figure import spec


def values(figure: vp.results.Figure) -> str:
    return json.dumps(spec(figure.chart))


def discs(figure: vp.results.Figure) -> list[float]:
    """How much of each disc is filled."""
    drawn = spec(figure.chart)
    data = drawn["vconcat"][0]["layer"][0]["data"]
    return [row["filled"] for row in data.get("values", drawn.get("datasets", {}).get(data.get("name")))]


def test_discs_are_filled_as_the_votes_are_worth():
    figure = vp.charts.panel("llmbar/plain")
    assert sum(discs(figure)) == pytest.approx(2.1577, abs=1e-4)
    assert len(discs(figure)) == 6
    assert "6 judges are worth 2.2 independent votes [2.0, 2.3]" in values(figure)


def test_the_caption_says_the_answer_and_what_erring_together_costs():
    figure = vp.charts.panel("llmbar/plain")
    assert figure.caption.startswith("6 judges, worth 2.2 independent votes [2.0, 2.3]; the best single judge (GPT-4/")
    assert "would reach 61.8 %: erring together costs 6.4 points [4.1, 8.6] (mean correlation of " in figure.caption
    assert "errors within each class of truth: 0.36)." in figure.caption
    assert "fewer judges" not in values(figure)  # GPT-4 alone is the smaller panel


def test_guessing_among_the_labels_is_a_named_line():
    judges = vp.panel("llmbar/plain")
    assert judges.chance == 0.5
    figure = vp.charts.panel(judges)
    assert values(figure).count("guessing 50 %") == 2
    assert "grey line: guessing among 2 labels" in figure.caption
    no_truth = vp.panel(pd.DataFrame({"item": [1, 1, 2, 2], "worker": list("abab"), "label": list("xxxy")}))
    assert no_truth.chance is None
    assert "guessing" not in values(vp.charts.panel(no_truth))


def test_more_votes_than_judges_are_no_number():
    figure = vp.charts.panel("debate-rounds")
    assert discs(figure) == [1, 1, 1]
    assert "3 judges are worth more than 3 independent votes [2.1, more than 3]" in values(figure)
    why = "(they err together less than independent judges would)"
    assert figure.caption.startswith(f"3 judges, worth more than 3 independent votes [2.1, more than 3] {why}; ")
    assert "more than" not in vp.charts.panel("llmbar/plain").caption
    assert "not erring together gains" in figure.caption


def test_a_number_that_is_left_open_has_no_discs():
    votes = vp.datasets.votes("llmbar/plain")
    few = votes[votes["item"].isin(votes["item"].unique()[:12])]
    assert len(discs(vp.charts.panel(few))) == 6
    assert "against the majority, so no effect is shown (mean" in vp.charts.panel(few).caption
    worth = vp.panel(few)
    open_ = worth.summary.assign(low=worth.summary["low"].mask(worth.summary["figure"].eq("effective-votes"), 1.01))
    figure = vp.charts.panel(replace(worth, summary=open_.assign(high=open_["high"].clip(lower=6.5))))
    assert figure.caption.startswith(
        "6 judges, worth from 1.0 to more than 6 independent votes (they have too few common"
    )
    assert "Votes as discs" not in values(figure)


def test_without_truth_agreement_is_drawn():
    votes = vp.datasets.votes("llmbar/plain").drop(columns="truth")
    figure = vp.charts.panel(votes)
    assert figure.description.startswith("Dot chart of agreement. ")
    assert "no number of independent votes is claimed." in figure.caption
    assert "independent votes" not in values(figure)
    assert isinstance(figure.data, pd.DataFrame)


def test_of_a_crowd_the_votes_of_an_item_are_drawn():
    figure = vp.charts.panel("rte")
    assert len(discs(figure)) == 10
    assert "The 10.0 votes on an item are worth 7.6 independent votes" in figure.description
