"""The tables that charts draw: who said what, and queues that shrink."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.charts.figure import spec
from verifyplan.errors import InputError

SCRIPT = {
    1: {"b": {"F": {"verdict": "agree"}, "G": {"verdict": "agree"}},
        "c": {"F": {"verdict": "refuted", "disagree_basis": "counter-evidence"}, "G": {"verdict": "agree"}}},
    2: {"b": {"F": {"verdict": "agree"}}, "c": "timeout"},
}  # fmt: skip


@pytest.fixture(scope="module")
def runs() -> vp.RunSet:
    rows = [{"finding_id": name, "summary": name, "evidence": "", "worker": "a"} for name in "FG"]
    settings = {"adversarial": True}
    backend = vp.agents.ScriptedBackend(SCRIPT)
    return vp.crossverify(rows, list("abc"), settings=settings, backend=backend, matcher=None, log_dir=None).frames


def test_a_grid_shows_discoverers_bases_and_failures(runs):
    grid = vp.analysis.vote_matrix(runs).set_index(["finding_id", "round", "worker"])["mark"]
    assert grid["F", 0, "a"] == "discovered"
    assert grid["F", 1, "c"] == "counter-evidence"
    assert grid["F", 2, "c"] == "verification-error"
    assert grid["G", 1, "b"] == "agree"
    assert len(grid) == 8


def test_a_grid_of_several_runs_asks_which(runs):
    with pytest.raises(InputError, match="'z' is not in this set"):
        vp.analysis.vote_matrix(runs, "z")


def test_queues_shrink_to_what_is_left(runs):
    table = vp.analysis.queue(runs)
    assert table["mode"].unique().tolist() == ["adversarial"]
    assert table[["round", "waiting", "resolved"]].values.tolist() == [[0, 2, 0], [1, 1, 1], [2, 0, 1]]


def test_a_table_of_votes_has_the_classes_of_its_mode_and_no_summary_is_written():
    votes = pd.DataFrame({"q": ["a", "a", "b", "b"], "w": ["x", "y"] * 2, "v": ["agree", "agree", "agree", "disagree"]})
    for mode in (None, "adversarial"):
        runs = vp.from_votes(votes, item="q", worker="w", verdict="v", mode=mode)
        grid = vp.analysis.vote_matrix(runs)
        classes = vp.replay(runs).set_index("finding_id")["classification"].astype("str")
        assert grid.drop_duplicates("finding_id")["classification"].tolist() == classes.tolist()
        figure = vp.charts.vote_matrix(runs)
        text = figure._repr_html_()
        assert "(empty)" not in text
        assert "not classed" not in text
        assert f"{mode or 'collaborative'} rules give the classes" in figure.caption


def test_votes_that_no_class_reads_are_counted_and_pale():
    rows = [("a", number, who, "agree") for number in (1, 2) for who in "xy"]
    rows += [("b", number, who, says) for number in (1, 2) for who, says in (("x", "agree"), ("y", "disagree"))]
    votes = pd.DataFrame(rows, columns=["q", "r", "w", "v"])
    runs = vp.from_votes(votes, item="q", worker="w", verdict="v", round="r")
    grid = vp.analysis.vote_matrix(runs)
    assert grid.attrs["later_votes"] == 2
    assert grid.attrs["decided_rounds"]["a"] == 1
    for labels in (None, {"a": "first"}):
        figure = vp.charts.vote_matrix(grid, labels=labels)
        assert "2 votes of later rounds, which are pale, do not count." in figure.caption
        assert json.dumps(spec(figure.chart)).count('"pale": true') == 2
