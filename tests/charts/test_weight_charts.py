"""Rank stability, the tornado and fitted weights: what is drawn of the results on weights."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.charts import rank_stability, sensitivity, weights
from verifyplan.charts.theme import BLUE, ORANGE
from verifyplan.errors import InputError, TableError

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)> \x07 \u202e'
INFORMS = "The score informs and never decides a verdict."


@pytest.fixture
def sweep() -> pd.DataFrame:
    rows = [
        ("b", 8.25, 1, 0.9, 1, 2, 0.9, 1.0),
        ("a", 7.5, 2, 0.6, 1, 3, 0.1, 0.995),
        ("c", 6.0, 3, 0.7, 2, 3, 0.0, 0.2),
        ("d", None, None, None, None, None, None, None),
    ]
    table = pd.DataFrame(
        rows, columns=["plan", "score", "rank", "kept_rank", "low_rank", "high_rank", "first", "above"]
    )
    table = table.astype(dict.fromkeys(["rank", "low_rank", "high_rank"], "Int64"))
    table.attrs.update(draws=2000, concentration=50.0, seed=0, threshold=6.5)
    return table


def moves(plans: dict[str, float]) -> pd.DataFrame:
    """Of each plan a move up by the number when tone is raised, down when lowered, a tenth of it for depth."""
    rows = [
        (plan, name, way, weight, 7 + sign * size * step, 2 if size * step < 1 else 1, 7.0, 2)
        for plan, step in plans.items()
        for name, size in (("depth", 0.1), ("tone", 1))
        for way, sign, weight in (("lower", -1, 0.4), ("higher", 1, 0.6))
    ]
    columns = ["plan", "dimension", "direction", "weight", "score", "rank", "base_score", "base_rank"]
    table = pd.DataFrame(rows, columns=columns)
    table.attrs["by"] = 0.1
    return table


def _middle(mark) -> float:
    return float(re.search(r"translate\(([-\d.]+)", mark.get("transform"))[1])


def test_ranks_are_dots_on_bars_with_their_numbers(sweep, picture):
    figure = rank_stability(sweep)
    drawn = picture(figure)
    told = ["Plan: a", "Score: 7.50", "Rank: 2", "95 % of draws: ranks 1 to 3", "Keeps its rank: 60 %", "First: 10 %"]
    bar, dot = drawn.saying(*told, "At or above the threshold: >99 %")
    middles = [_middle(mark) for mark in drawn.marks if mark.get("transform")]  # 1, 2, 3, from best to worst
    assert middles[2] - middles[1] == pytest.approx(middles[1] - middles[0], abs=0.1)
    left = float(re.match(r"M([-\d.]+),", bar.get("d"))[1])
    assert left < middles[0] < middles[1] == pytest.approx(_middle(dot))
    assert {"90 %", "60 %", "70 %", "keeps rank", "first", "at threshold"} <= set(drawn.texts)
    assert figure.description.startswith("Dot chart of ranks. b: rank 1 (1 to 2), keeps it in 90 % of draws; a: rank 2")


def test_the_caption_says_how_weights_were_drawn_and_who_has_no_rank(sweep):
    caption = rank_stability(sweep).caption
    for words in (
        "Ranks of 3 plans (n).",
        "2,000 draws from a Dirichlet distribution, concentration 50.",
        "a score of 6.5 or more",
        "Without a rank, since a score is missing: 1 plan.",
        INFORMS,
    ):
        assert words in caption
    sweep.attrs.clear()
    assert "Dirichlet" not in rank_stability(sweep).caption


def test_columns_without_a_value_are_left_away(sweep, picture):
    texts = picture(rank_stability(sweep.assign(above=float("nan"), first=0.0))).texts
    assert "keeps rank" in texts
    assert not {"first", "at threshold"} & set(texts)


def test_ranks_of_200_plans_say_how_many_are_left_out(sweep, picture):
    many = pd.concat([sweep.iloc[[0]]] * 200, ignore_index=True)
    many = many.assign(plan=[f"p{i}" for i in range(200)], rank=range(1, 201), high_rank=range(2, 202))
    figure = rank_stability(many)
    assert "The first 40 of 200 plans are drawn; 160 are left out." in figure.caption
    assert len(picture(figure).marks) == 80
    assert len(figure.data) == 200


@pytest.mark.parametrize(
    ("most", "named"), [(1, [1, 2]), (12, list(range(1, 13))), (41, [1, 5, 10, 15, 20, 25, 30, 35, 40])]
)
def test_the_axis_names_rank_1_and_whole_ranks(sweep, picture, most, named):
    texts = picture(rank_stability(sweep.iloc[:1].assign(high_rank=most))).texts
    assert [int(text) for text in texts if text.isdigit()] == named


def test_the_tornado_of_one_plan_begins_at_its_score(picture):
    figure = sensitivity(moves({"p": 1.5, "q": 0.2}), plan="p")
    drawn = picture(figure)
    (up,) = drawn.saying(
        "Plan: p", "Dimension: tone", "Weight: raised", "Moved to: 0.60", "Score: 8.50", "Change: +1.50"
    )
    (down,) = drawn.saying("Dimension: tone", "Weight: lowered", "Score: 5.50", "Rank: 1 instead of 2")
    assert (up.get("fill"), down.get("fill")) == (BLUE, ORANGE)
    assert len(drawn.marks) == 4
    starts = [float(re.match(r"M([\d.]+),", mark.get("d"))[1]) for mark in (up, down)]
    widths = [float(re.search(r"h(-?[\d.]+)v", mark.get("d"))[1]) for mark in (up, down)]
    assert starts[0] == pytest.approx(starts[1] + widths[1], abs=0.01)  # one ends where the other begins: at the base
    assert widths[0] == pytest.approx(widths[1], abs=0.01)
    assert {"8.50 (w 0.60)", "5.50 (w 0.40)", "7.15 (w 0.60)"} <= set(drawn.texts)
    assert drawn.texts.index("tone") < drawn.texts.index("depth")  # the widest move on top
    told = ("(n = 1)", "7.00, and the axis does not begin at 0", "Its rank goes from 1 to 2.", "moved by 0.1", INFORMS)
    for words in told:
        assert words in figure.caption


def test_tiny_moves_look_tiny(picture):
    widths = [
        max(
            abs(float(re.search(r"h(-?[\d.]+)v", mark.get("d"))[1]))
            for mark in picture(sensitivity(moves({"p": step}))).marks
        )
        for step in (0.01, 2.0)
    ]
    assert widths[0] < widths[1] / 10


def test_the_tornado_of_all_plans_shows_mean_changes_and_ranks(picture):
    figure = sensitivity(moves({"p": 1.5, "q": 0.5, "r": 1.0}))
    drawn = picture(figure)
    (bar,) = drawn.saying("Dimension: tone", "Weight: raised", "Mean change: 1.000", "Change rank: 2 of 3 plans")
    (other,) = drawn.saying("Dimension: depth", "Weight: raised", "Mean change: 0.100", "Change rank: 0 of 3 plans")
    width = [float(re.search(r"h(-?[\d.]+)v", mark.get("d"))[1]) for mark in (bar, other)]
    assert width[0] == pytest.approx(10 * width[1], rel=0.01)  # from 0
    assert "2 of 3" in drawn.texts
    assert "2 of 3 do so at least once" in figure.caption


def test_plans_without_a_score_are_left_out_and_said(seen):
    table = moves({"p": 1.5, "q": 0.5, "r": 1.0})
    table.loc[table["plan"] == "q", ["score", "rank"]] = None
    assert "Left out, since a score is missing: 1 plan." in sensitivity(table).caption
    figure = sensitivity(table, plan="q")
    assert figure.caption == "There is no score to draw."
    assert figure.caption in seen(figure).texts


def test_a_plan_that_is_not_there_names_those_that_are():
    with pytest.raises(InputError, match=r"plan: 'x' is not in the table\. Fix: use one of: p, q"):
        sensitivity(moves({"p": 1, "q": 1}), plan="x")


def test_tables_that_lack_a_column_are_refused(sweep):
    with pytest.raises(TableError, match="rank_stability: column kept_rank: is missing"):
        rank_stability(sweep.drop(columns="kept_rank"))
    with pytest.raises(TableError, match="sensitivity: column base_rank: is missing"):
        sensitivity(moves({"p": 1}).drop(columns="base_rank"))
    with pytest.raises(InputError, match="data: must be a RunSet, a run, a path"):
        rank_stability([])
    with pytest.raises(InputError, match="data: must be a RunSet, a run, a path"):
        sensitivity([])


def test_empty_tables_say_that_nothing_is_there(sweep):
    assert rank_stability(sweep.iloc[:0]).caption == "There is no plan with a rank to draw."
    assert sensitivity(moves({"p": 1}).iloc[:0]).caption == "There is no score to draw."


def test_hostile_texts_are_text_and_generated_data_is_marked(sweep, seen):
    table = moves({HOSTILE: 1.0, "q": 1.0})
    table = table.assign(dimension=table["dimension"] + HOSTILE)
    sweep = sweep.assign(plan=sweep["plan"] + HOSTILE)
    for one in (table, sweep):
        one.attrs["synthetic"] = True
    fit = fit_of([("tone" + HOSTILE, 0.6, 0.4, 0.8), ("depth", 0.4, 0.2, 0.6)])
    for figure in (rank_stability(sweep), sensitivity(table), sensitivity(table, plan=HOSTILE), weights(fit)):
        page = seen(figure)
        assert not {"script", "img"} & set(page.tags)
        assert "\x07" not in page.text
        assert any("<script>" in label for label in page.values("aria-label"))
        assert "Synthetic data" in page.texts


def fit_of(rows: list[tuple[str, float, float | None, float | None]], **changed) -> vp.results.WeightFit:
    """A fit with these weights and intervals."""
    fit = vp.weights.fit(vp.datasets.example_scores(40), "overall", repeats=2, resamples=50)
    table = pd.DataFrame(rows, columns=["dimension", "weight", "low", "high"]).astype({"low": float, "high": float})
    return replace(fit, weights=table, **changed)


def test_fitted_weights_are_dots_on_lines_the_largest_on_top_beside_equal_weights(picture):
    fit = fit_of([("depth", 0.25, 0.1, 0.4), ("risk_coverage", 0.75, 0.6, 0.9), ("fixed", 0.0, None, None)])
    figure = weights(fit)
    told = "risk coverage: 0.750 (0.600 to 0.900); depth: 0.250 (0.100 to 0.400); fixed: 0.000 (not known)"
    assert figure.description == f"Dot chart of fitted weights. {told}. Equal weights: 0.333 each."
    drawn = picture(figure)
    [small] = drawn.saying("Dimension: depth", "Weight: 0.250", "95 % interval: 0.100 to 0.400")
    [large] = drawn.saying("Dimension: risk coverage", "Weight: 0.750")
    [fixed] = drawn.saying("Dimension: fixed", "Weight: 0.000", "95 % interval: not known")
    assert _middle(small) - _middle(fixed) == pytest.approx((_middle(large) - _middle(fixed)) / 3, abs=0.1)
    assert "Weights fitted to 40 overall scores (n), with 95 % intervals" in figure.caption
    assert "do not use" not in figure.caption


def test_a_fit_that_explains_nothing_says_so_first_and_anything_but_a_fit_is_refused():
    poor = fit_of([("depth", 1.0, 0.0, 1.0)], r2_cv=-0.1, r2_cv_spread=(-0.3, 0.1), scale=-2.0)
    caption = weights(poor).caption
    assert caption.startswith("The fit may explain nothing of scores that it has not seen: do not use these weights.")
    assert "The overall score falls as the dimensions rise." in caption
    with pytest.raises(InputError, match="data: must be a fit of weights, got a DataFrame"):
        weights(poor.weights)
