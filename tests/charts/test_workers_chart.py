"""The chart of workers: what it draws, when, whose names, and that no name lies over another."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.charts.figure import spec
from verifyplan.charts.point_labels import LINE_PX, WHISKER_PX, Plane, label_points, text_px


def judged(accuracies: list[float], n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    truth = np.arange(n) % 2
    parts = [
        pd.DataFrame({"item": np.arange(n), "worker": f"judge-{number:02}", "truth": truth}).assign(
            label=np.where(rng.random(n) < accuracy, truth, 1 - truth), cost=0.001 * (number + 1) ** 2
        )
        for number, accuracy in enumerate(accuracies)
    ]
    return pd.concat(parts, ignore_index=True).astype({"label": "str", "truth": "str"})


FIVE = judged([0.85, 0.85, 0.8, 0.85, 0.6])


def titles(figure: vp.results.Figure) -> str:
    return json.dumps(spec(figure.chart))


def test_accuracy_against_cost_where_costs_differ():
    figure = vp.charts.workers(FIVE)
    assert figure.description.startswith("Dot chart of accuracy and cost of workers. judge-")
    assert '"title": "Cost per vote"' in titles(figure)
    assert '"type": "log"' in titles(figure)
    even = vp.charts.workers(FIVE.assign(cost=1.0))
    assert even.description.startswith("Dot chart of the accuracy of workers. judge-")


def test_two_rates_where_a_label_is_positive():
    figure = vp.charts.workers(vp.workers(FIVE.drop(columns="cost"), positive="1"))
    assert figure.description.startswith("Dot chart of both rates of workers. judge-")
    assert "Sensitivity: share of 1 items labelled 1" in titles(figure)
    assert "dashed: guessing" in titles(figure)


def test_rows_else_and_of_many():
    figure = vp.charts.workers(FIVE.drop(columns="cost"))
    assert figure.description.startswith("Dot chart of the accuracy of workers. judge-")
    assert figure.description.endswith("unreliable.")
    many = vp.charts.workers(judged([0.8] * 25, n=40))
    assert many.description.startswith("Dot chart of the accuracy of workers. judge-")
    without = vp.charts.workers(FIVE.drop(columns=["cost", "truth"]))
    assert "Agreement with the majority of the others" in titles(without)


def test_the_caption_says_who_stands_out():
    caption = vp.charts.workers(FIVE).caption
    assert caption.startswith("5 workers, 200 items, 1,000 votes: accuracy from ")
    assert "Unreliable: judge-04 (accuracy " in caption
    nobody = vp.charts.workers(judged([0.8] * 4)).caption
    assert "Nobody stands out: no worker is clearly unreliable or redundant, or clearly changes more " in nobody


def test_labels_stand_in_the_caption_too():
    figure = vp.charts.workers(FIVE, labels={"judge-04": "Ours"})
    assert "Unreliable: Ours (" in figure.caption
    assert "Ours, unreliable" in titles(figure)


def test_those_who_stand_out_are_drawn_first():
    figure = vp.charts.workers(FIVE, limit=1)
    assert figure.caption.endswith("The first 1 of 5 workers are drawn; 4 are left out.")
    assert "judge-04" in figure.description


def test_no_votes():
    empty = vp.charts.workers(vp.RunSet())
    assert empty.caption == "There is no worker with a vote to compare."


def test_hostile_names_and_missing_costs():
    table = FIVE.replace({"worker": {"judge-00": "a\x07\n<b>" + "x" * 200}})
    table.loc[table["worker"] == "judge-01", "cost"] = None
    figure = vp.charts.workers(table)
    assert "\x07" not in figure.caption + figure.description
    assert figure.description.startswith("Dot chart of the accuracy of workers. ")
    assert "&lt;b&gt;" in figure._repr_html_() or "<b>" not in figure._repr_html_()


@pytest.mark.parametrize("n", [1, 9, 24])
def test_no_name_lies_over_another_or_over_a_dot(n):
    rng = np.random.default_rng(n)
    plane = Plane(500, 400, (0.0, 1.0), (0.0, 1.0))
    middle = rng.random((n, 2)) * 0.5 + 0.2
    points = pd.DataFrame(middle, columns=["x", "y"])
    points = points.assign(x_low=points["x"] - 0.1, x_high=points["x"] + 0.1)
    texts = [f"worker {number}" for number in range(n)]
    placed = label_points(plane, points, range(n), texts)
    assert len(placed) >= 0.8 * n
    middles = plane.pixels(placed[["x", "y"]].to_numpy())
    half = np.array([[text_px(text), LINE_PX] for text in placed["text"]]) / 2
    low, high = middles - half, middles + half
    assert (low >= -1e-6).all()
    assert (high <= np.array([500, 400]) + 1e-6).all()
    for number in range(len(placed)):
        over = ((low < high[number] - 1e-6) & (high > low[number] + 1e-6)).all(axis=1)
        assert over.sum() == 1
        dots = plane.pixels(points[["x", "y"]].to_numpy())
        assert not ((dots > low[number]) & (dots < high[number])).all(axis=1).any()


def test_names_of_capitals_keep_away_from_the_intervals_of_near_workers():
    plane = Plane(560, 400, (0.0, 1.0), (0.0, 1.0))
    points = pd.DataFrame({"x": [0.158, 0.145], "y": [0.91, 0.88]})
    ends = {f"{side}_{end}": points[side] + far for side in "xy" for end, far in (("low", -0.02), ("high", 0.02))}
    points = points.assign(**ends)
    placed = label_points(plane, points, [0, 1], ["GPT-4/WWMM-VANILLA", "GPT-4/MMWW"])
    middles = plane.pixels(placed[["x", "y"]].to_numpy())
    half = np.array([[text_px(text), LINE_PX] for text in placed["text"]]) / 2
    corners = points[["x_low", "x_high", "y_low", "y_high", "x", "y"]]
    for left, right, low, high, x, y in corners.itertuples(index=False):
        for line in ([[left, y], [right, y]], [[x, high], [x, low]]):
            first, last = plane.pixels(np.array(line))
            gaps = np.maximum(first - (middles + half), middles - half - last).max(axis=1)
            assert (gaps >= WHISKER_PX - 1e-6).all()


def test_values_are_the_inverse_of_pixels():
    plane = Plane(500, 400, (0.01, 10.0), (0.2, 0.9), log=True)
    points = np.array([[0.01, 0.2], [1.0, 0.5], [10.0, 0.9]])
    assert plane.values(plane.pixels(points)) == pytest.approx(points)
    assert plane.pixels(points)[0].tolist() == pytest.approx([0, 400])


def test_a_result_is_drawn_as_its_data_are():
    result = vp.workers(FIVE)
    votes = vp.from_table(FIVE, item="item", worker="worker", label="label", truth="truth", cost="cost")
    assert titles(vp.charts.workers(result)) == titles(vp.charts.workers(votes)) == titles(vp.charts.workers(FIVE))
