"""The ranking: what is drawn of scores under weights, and of where plans stood before."""

from __future__ import annotations

import re
import sys

import pandas as pd
import pytest

from verifyplan.charts.export import export
from verifyplan.charts.ranking import Rankings, ranking
from verifyplan.errors import InputError, TableError

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)> \x07 \u202e'
INFORMS = "The score informs and never decides a verdict."


def applied(rows: list[tuple]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["plan", "score", "final", "rank", "missing"])
    return table.astype({"final": "Int64", "rank": "Int64", "score": "float64"})


@pytest.fixture
def now() -> pd.DataFrame:
    return applied([("a", 7.25, 7, 2, ""), ("b", 8.5, 9, 1, ""), ("c", 6.0, 6, 3, ""), ("d", None, None, None, "wit")])


@pytest.fixture
def start() -> pd.DataFrame:
    return applied([("a", 8.0, 8, 1, ""), ("b", 7.5, 8, 2, ""), ("c", 6.0, 6, 3, ""), ("d", None, None, None, "wit")])


def middle(mark) -> float:
    return float(re.search(r"translate\(([-\d.]+)", mark.get("transform"))[1])


def height(mark) -> float:
    return float(re.search(r"translate\([-\d.]+,([-\d.]+)", mark.get("transform"))[1])


def test_dots_stand_at_their_scores_in_the_order_of_ranks(now, picture):
    drawn = picture(ranking(now))
    dots = [drawn.saying(f"Plan: {plan}", f"Rank: {rank}") for plan, rank in (("b", 1), ("a", 2), ("c", 3))]
    (b,), (a,), (c,) = dots
    assert height(b) < height(a) < height(c)
    scale = (middle(b) - middle(c)) / (8.5 - 6.0)
    assert middle(a) - middle(c) == pytest.approx(1.25 * scale, abs=0.1)
    assert drawn.saying("Plan: a", "Score: 7.25", "Final score: 7") == [a]
    assert {"score", "final", "rank", "8.50", "7.25", "6.00"} <= set(drawn.texts)
    assert "was" not in drawn.texts


def test_rings_and_a_column_show_where_plans_stood_at_the_start(now, start, picture):
    figure = ranking(now, start=start)
    path, ring, dot = picture(figure).saying("Plan: a", "Score at the start: 8.00", "Rank at the start: 1")
    assert middle(dot) < middle(ring)
    assert path.tag.endswith("path")
    assert "was" in picture(figure).texts
    assert "2 plans of 3 have another rank than under the starting weights (was)." in figure.caption
    assert figure.description == (
        "Dot chart of scores. b: 8.50, final 9, rank 1; it was 2. a: 7.25, final 7, rank 2; it was 1. c: 6.00, final 6,"
        " rank 3."
    )
    assert list(figure.data["was"].dropna()) == [1, 2, 3]


def test_the_same_weights_have_neither_rings_nor_words_of_change(start, picture):
    figure = ranking(start, start=start)
    assert len(picture(figure).marks) == 3
    assert "starting weights" not in figure.caption


def test_the_axis_can_be_held(now, picture):
    def scale(**options) -> float:
        drawn = picture(ranking(now, **options))
        (b,), (c,) = drawn.saying("Plan: b"), drawn.saying("Plan: c")
        return (middle(b) - middle(c)) / 2.5

    assert scale(domain=(1, 10)) == pytest.approx(scale() * 2.5 / 9, rel=0.02)


def test_the_caption_says_who_is_left_out_who_ties_and_who_has_no_rank(now):
    caption = ranking(now).caption
    for words in ("the scores of 3 plans (n)", "Without a rank, since a score is missing: 1 plan.", INFORMS):
        assert words in caption
    many = applied([(f"plan-{i}", 7.0, 7, 1, "") for i in range(50)])
    assert "The first 30 of 50 plans are drawn; 20 are left out." in ranking(many).caption
    assert "The first 12 of 50 plans are drawn; 38 are left out." in ranking(many, limit=12).caption
    assert "50 of them share a rank with another." in ranking(many).caption
    assert ranking(many, limit=99).description.count("rank 1") == 50


def scored(scores: list[float], start: float = 0.0) -> pd.DataFrame:
    ranks = pd.Series(scores).rank(ascending=False, method="min").astype(int)
    return applied(
        [(f"plan-{i}", s + start, round(s), r, "") for i, (s, r) in enumerate(zip(scores, ranks, strict=True))]
    )


def test_rankings_drawn_one_after_the_other_are_those_drawn_alone():
    start, rankings = scored([7.0, 5.0, 3.0] * 5), Rankings(domain=(1, 10), limit=12)
    for n in (0, 1, 2, 5, 1, 0):
        now = scored([7.0, 5.0 + n, 3.0 + n / 3] * 5)
        now.attrs["synthetic"] = n == 5
        again, alone = rankings.draw(now, start), ranking(now, start=start, domain=(1, 10), limit=12)
        assert again._repr_html_() == alone._repr_html_()
        pd.testing.assert_frame_equal(again.data, alone.data)
    few, alone = rankings.draw(scored([9.5, 2.0])), ranking(scored([9.5, 2.0]), domain=(1, 10))
    assert few._repr_html_() == alone._repr_html_()


def test_rankings_build_one_chart_for_many_drawings(monkeypatch):
    module = sys.modules[ranking.__module__]  # the package has the function under the module's name
    built, build = [], module._drawing
    monkeypatch.setattr(module, "_drawing", lambda *given: built.append(given) or build(*given))
    start, rankings = scored([7.0, 5.0, 3.0]), Rankings(domain=(1, 10))
    pictures = {rankings.draw(scored([7.0, 5.0, 3.0 + n / 10]), start)._repr_html_() for n in range(1, 9)}
    assert (len(built), len(pictures)) == (1, 8)


def test_rankings_say_and_refuse_what_a_ranking_does(now, start):
    without = now[now["rank"].isna()]
    assert Rankings().draw(without)._repr_html_() == ranking(without)._repr_html_()
    with pytest.raises(InputError, match="start: is not of the same plans in the same order"):
        Rankings().draw(now, start.iloc[::-1])


def test_nothing_to_rank_is_said(now):
    figure = ranking(now[now["rank"].isna()])
    assert figure.caption == "There is no plan with a score to draw."


def test_hostile_names_are_text(picture, tmp_path):
    table = applied([(HOSTILE, 7.0, 7, 1, ""), (HOSTILE + "2", 5.0, 5, 2, "")])
    html = ranking(table, start=table.assign(score=6.0))._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    picture(ranking(table))
    assert export(ranking(table), tmp_path / "x.svg").exists()


def test_generated_data_is_marked(now):
    now.attrs["synthetic"] = True
    assert "Synthetic data" in ranking(now).caption


def test_what_it_cannot_read_is_refused(now, start):
    with pytest.raises(TableError, match="data: column rank: is missing"):
        ranking(now.drop(columns="rank"))
    with pytest.raises(InputError, match="start: is not of the same plans in the same order"):
        ranking(now, start=start.iloc[::-1])
    with pytest.raises(InputError, match="data: must be a RunSet"):
        ranking([1])
