"""What rounds change, drawn: which steps and lines, and what the caption says of them."""

from __future__ import annotations

import pandas as pd

import verifyplan as vp
from verifyplan.charts import flips
from verifyplan.charts.figure import spec


def test_a_debate_draws_each_step_and_the_panel_by_round():
    votes = vp.datasets.votes("prover-verifier/debate")
    figure = flips(votes[votes["run"].eq("debate")])
    assert (
        "first → last: right → wrong 3.1 %, n = 479; first → last: wrong → right 26.6 %, n = 109" in figure.description
    )
    assert "majority is right: 84.4 % in round 0, 84.1 % in round 1, 83.8 % in round 2" in figure.description
    assert "The majority is right in 84.4 % at first (n = 196), 83.8 % at the end (n = 197). Two" in figure.caption
    assert "Each of these shares is of all items that have votes in its round, not of the same items." in figure.caption
    assert "The panel is worth 1.38 [1.26, 1.57] → 1.06 [1.03, 1.14] independent votes, in" in figure.caption
    assert len(spec(figure.chart)["vconcat"]) == 2
    assert list(figure.data["step"].unique()) == ["0 → 1", "1 → 2", "first → last"]


def test_a_single_worker_has_no_lines_and_two_rounds_are_drawn_once():
    votes = pd.DataFrame({"item": list("ppqq"), "worker": "w", "round": [0, 1] * 2, "label": list("abaa")})
    figure = flips(votes.assign(truth="a"))
    assert len(spec(figure.chart)["vconcat"]) == 1
    assert "0 → 1" not in figure.description
    assert spec(figure.chart)["title"]["subtitle"] == ["Votes of single workers; thin lines: 95 % intervals"]
    unjudged = flips(votes)
    assert "first → last: changed 50.0 %, n = 2" in unjudged.description
    assert unjudged.caption == "Dots: the share of votes that change (2 items; n: votes)."


def test_settled_items_are_said():
    votes = pd.DataFrame({"item": list("ppq"), "worker": "w", "round": [0, 1, 0], "label": list("aba"), "truth": "a"})
    assert "Of 2 votes, 1 are of items that were asked in one round: they keep their votes." in flips(votes).caption


def test_no_item_with_two_answers_is_said_in_words():
    votes = pd.DataFrame({"item": list("pq"), "worker": "w", "round": [0, 1], "label": "a", "truth": "a"})
    figure = flips(vp.flips(votes, carry=False))
    assert figure.caption == "No item has answers in two rounds: there is nothing to draw."
