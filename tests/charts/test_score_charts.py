"""Quality scores, their distributions and the audit: what is drawn where, what is said, and what is left out."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from verifyplan.charts import audit, quality_scores, score_distributions
from verifyplan.charts.score_distributions import BAR_PX
from verifyplan.charts.score_table import GAP_PX, PANEL_PX
from verifyplan.charts.theme import ORANGE, VERMILLION
from verifyplan.errors import InputError, TableError
from verifyplan.frames.run_tables import tables_of

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)> \x07 \u202e'
CHARTS = (quality_scores, score_distributions, audit)
INFORMS = "The score informs and never decides a verdict."


@pytest.fixture
def scores(scores_of) -> pd.DataFrame:
    """Plan b is better than plan a; a has one refused score, and is audited: 2 of 5 dimensions are disputed."""
    own = scores_of({"a": [4, 7, None, 9, 10, 1], "b": [9, 9, 9, 9, 9, 9]})
    other = scores_of({"a": [4, 9, 5, 8, 6, 1]}, "challenger", "plan.md:8 says otherwise")
    table = pd.concat([own, other], ignore_index=True)
    apart = table["run_id"].eq("a") & table["dimension"].isin(["risk_coverage", "unknowns_coverage"])
    return table.assign(disputed=apart)


def at(mark) -> tuple[float, float]:
    """Where a mark stands."""
    found = re.search(r"translate\(([-\d.]+),([-\d.]+)\)", mark.get("transform"))
    return float(found[1]), float(found[2])


def test_each_score_is_a_dot_at_its_place_that_says_its_evidence(scores, picture):
    drawn = picture(quality_scores(scores))
    (dot,) = drawn.saying("Plan: a", "Dimension: risk coverage", "Score: 7", "Evidence: plan.md:3 says so")
    assert at(dot)[0] == PANEL_PX + GAP_PX + 6 * PANEL_PX / 9
    assert len([label for label in drawn.labels if "Score: 9" in label]) == 7
    (refused,) = drawn.saying("Plan: a", "Score: refused", "Refused: evidence is blank")
    assert "refused" in drawn.texts
    assert at(refused)[1] == pytest.approx(at(dot)[1], abs=5)


def test_plans_stand_in_the_order_of_their_means_which_are_written(scores, picture):
    figure = quality_scores(scores)
    drawn = picture(figure)
    (worse,), (better,) = (drawn.saying(f"Plan: {plan}", "Dimension: risk coverage") for plan in "ab")
    assert at(better)[1] < at(worse)[1]
    assert {"9.0", "6.2"} <= set(drawn.texts)
    assert figure.description.startswith("Dot chart of the scores of 2 plans. b: approach soundness 9, risk")
    assert "assumption validity refused" in figure.description


def test_what_the_challenger_disputes_is_ringed_and_said(scores, picture):
    drawn = picture(quality_scores(scores))
    rings = [mark for mark in drawn.marks if mark.get("stroke") == ORANGE]
    assert {mark.get("aria-label").split("\n")[1] for mark in rings} == {
        "Dimension: risk coverage",
        "Dimension: unknowns coverage",
    }
    assert all("Audit: the challenger differs by 2 or more" in mark.get("aria-label") for mark in rings)


def test_scores_are_written_into_dots_while_there_is_room(scores_of, picture):
    few, many = (scores_of({f"p{i:02d}": [8] * 6 for i in range(n)}) for n in (20, 21))
    assert picture(quality_scores(few)).texts.count("8") == 120
    drawn = picture(quality_scores(many))
    assert drawn.texts.count("8") == 0
    assert len(drawn.saying("Score: 8")) == 126


def test_captions_say_n_and_what_is_not_drawn(scores):
    caption = quality_scores(scores).caption
    for words in (
        "in 6 dimensions, given by the synthesizer to 2 plans (n = 11 scores)",
        "Ringed: the challenger differs by 2 or more (2 scores).",
        "Refused, and not in the means: 1 score.",
        "so without an interval.",
    ):
        assert words in caption
    short = scores[~((scores["run_id"] == "b") & (scores["dimension"] == "risk_coverage"))]
    assert "Never given: 1 score." in quality_scores(short).caption


def test_two_hundred_plans_leave_some_out_and_say_which(scores_of, picture):
    plans = {f"plan-{i:03d}": [10 - i // 25] * 6 for i in range(200)}
    figure = quality_scores(scores_of(plans))
    assert "The first 40 of 200 plans are drawn; 160 are left out, with means from 3.0 to 9.0." in figure.caption
    drawn = picture(figure)
    assert len(drawn.marks) == 240
    assert {label.split("\n")[0] for label in drawn.labels} == {f"Plan: plan-{i:03d}" for i in range(40)}
    assert len(figure.data) == 1200  # the data is whole
    both = pd.concat([scores_of(plans), scores_of({p: [5] * 6 for p in plans}, "challenger")])
    figure = audit(both)
    assert "The first 40 of 200 plans are drawn; 160 are left out, 24 points apart or less." in figure.caption
    assert len({label.split("\n")[0] for label in picture(figure).labels}) == 40


def test_distributions_count_plans_by_score_on_one_scale(scores_of, picture):
    figure = score_distributions(scores_of({"a": [1, 5], "b": [1, 6], "c": [10, None]}))
    drawn = picture(figure)
    bars = {label: mark for label, mark in zip(drawn.labels, drawn.marks, strict=True) if "Score: " in label}
    assert sorted(bars) == [
        "Dimension: approach soundness\nScore: 1\nPlans: 2\nShare: 2 of 3 plans",
        "Dimension: approach soundness\nScore: 10\nPlans: 1\nShare: 1 of 3 plans",
        "Dimension: risk coverage\nScore: 5\nPlans: 1\nShare: 1 of 2 plans",
        "Dimension: risk coverage\nScore: 6\nPlans: 1\nShare: 1 of 2 plans",
    ]
    heights = {label: abs(float(re.search(r"v(-?[\d.]+)h", mark.get("d"))[1])) for label, mark in bars.items()}
    two, *ones = heights.values()
    assert two == pytest.approx(BAR_PX, abs=0.01)
    assert [two / one for one in ones] == pytest.approx([2, 2, 2])
    assert {"median 1", "n = 3", "median 5.5", "n = 2"} <= set(drawn.texts)
    assert set(map(str, range(1, 11))) <= set(drawn.texts)  # the axis
    assert "(n = 5 scores)" in figure.caption
    assert "Left out: 1 score, refused or missing." in figure.caption


def test_the_author_is_chosen_and_never_mixed(scores):
    assert "(n = 6 scores)" in score_distributions(scores, by="challenger").caption
    assert set(quality_scores(scores, by="challenger").data["by"]) == {"challenger"}
    with pytest.raises(InputError, match=r"by: 'bob' gives no scores\. Fix: use 'synthesizer', 'challenger'"):
        quality_scores(scores, by="bob")


def test_the_audit_draws_both_scores_and_lines_where_they_differ(scores, picture):
    figure = audit(scores)
    drawn = picture(figure)
    lines = ["Plan: a", "Dimension: risk coverage", "Synthesizer: 7", "Challenger: 9", "Difference: disputed: 2 apart"]
    one, other = drawn.saying(*lines, "Challenger's evidence: plan.md:8 says otherwise")
    assert {at(one)[0], at(other)[0]} == {PANEL_PX + GAP_PX + 6 * PANEL_PX / 9, PANEL_PX + GAP_PX + 8 * PANEL_PX / 9}
    same = drawn.saying("Dimension: approach soundness", "Difference: the same score")
    assert len(same) == 2
    assert at(same[0]) == at(same[1])
    rules = [e.get("stroke") for e in drawn.root.iter() if e.tag.endswith("line") and e.get("stroke-width") == "3"]
    assert rules.count(VERMILLION) == 2  # risk coverage, unknowns coverage
    assert "integration feasibility 9 and 8; unknowns coverage 10 and 6, disputed" in figure.description


def test_a_plan_without_an_audit_is_said_and_never_drawn_as_agreement(scores, picture):
    figure = audit(scores)
    assert not [label for label in picture(figure).labels if "Plan: b" in label]
    assert "Not drawn, since none of their scores was audited: 1 plan." in figure.caption
    assert "n = 5 pairs of scores: 2 the same, 1 apart by 1, 2 by 2 or more (disputed)" in figure.caption
    assert "Without one of the two scores: 1 cell." in figure.caption
    (missing,) = picture(figure).saying("Dimension: assumption validity", "Difference: no score", "Challenger: 5")
    assert missing.tag.endswith("text")
    assert "neither wins" in figure.caption
    alone = audit(scores[scores["by"] == "synthesizer"])
    assert alone.caption == "There is no audit to draw (2 plans without one)."


def test_a_dimension_that_the_audit_left_out_is_not_audited(scores, picture):
    part = scores[~((scores["by"] == "challenger") & (scores["dimension"] == "risk_coverage"))]
    drawn = picture(audit(part))
    assert len(drawn.saying("Dimension: risk coverage", "Difference: not audited")) == 1
    assert "not audited" in drawn.texts


def test_every_caption_says_that_the_score_decides_nothing(scores):
    for chart in CHARTS:
        assert INFORMS in chart(scores).caption


def test_a_runset_is_read_as_its_scores_are():
    from tests.frames.plan_events import records, whole

    runs = tables_of(records(whole()), "r")
    for chart in (quality_scores, score_distributions):
        figure = chart(runs)
        assert figure.description == chart(runs.scores).description
        assert "Synthetic" not in chart(runs.scores).caption


def test_empty_tables_say_that_nothing_is_there(scores, seen):
    for chart in CHARTS:
        figure = chart(scores.iloc[:0])
        assert figure.caption.startswith("There is no ")
        assert figure.caption in seen(figure).texts


def test_a_plan_whose_scores_are_all_refused_comes_last_without_a_mean(scores_of, picture):
    figure = quality_scores(scores_of({"a": [None] * 6, "z": [2] * 6}))
    assert figure.description.endswith("constraint alignment refused; mean none.")
    assert picture(figure).texts.count("refused") == 6
    assert score_distributions(scores_of({"a": [None] * 6})).caption == "There is no score by the synthesizer to draw."


def test_what_is_no_score_is_refused_with_all_problems(scores):
    odd = scores.assign(score=scores["score"].astype("object"))
    odd.loc[0, "score"], odd.loc[1, "score"], odd.loc[2, "score"] = 11, 2.5, "ten"
    odd = pd.concat([odd, odd.iloc[[3]]])
    for chart in CHARTS:
        with pytest.raises(TableError) as caught:
            chart(odd)
        told = [str(problem) for problem in caught.value.problems]
        assert len(told) == 4
        fix = "give whole numbers from 1 to 10, or leave it empty."
        assert told[0] == f"scores: column score: 11 is not a score. Fix: {fix}"
        assert "1 rows repeat the key of another, the first at run_id a" in told[3]
        with pytest.raises(TableError, match="scores: column refused: is missing"):
            chart(scores.drop(columns="refused"))
        with pytest.raises(InputError, match="data: must be a RunSet, a run, a path"):
            chart([])


def test_generated_data_is_marked_in_picture_and_caption(scores, seen):
    for chart in CHARTS:
        assert "Synthetic" not in chart(scores).caption
    scores.attrs["synthetic"] = True
    for chart in CHARTS:
        assert "Synthetic data" in seen(chart(scores)).texts
        assert "Synthetic data: " in chart(scores).caption


def test_hostile_and_endless_texts_are_short_text(scores, seen):
    endless = HOSTILE + "and on " * 15_000
    table = scores.assign(
        evidence=endless,
        refused=scores["refused"].where(scores["refused"].isna(), endless),
        run_id=scores["run_id"] + endless,
        dimension=scores["dimension"] + endless,
    )
    for chart in CHARTS:
        figure = chart(table)
        page = seen(figure)
        assert not {"script", "img"} & set(page.tags)
        assert "\x07" not in page.text
        assert len(figure._repr_html_()) < 150_000
        assert any("<script>" in label for label in page.values("aria-label"))


def test_names_of_plans_that_begin_alike_are_told_apart(scores_of, picture):
    plans = {f"{'the migration of everything ' * 3}{i}": [i + 1] * 6 for i in range(3)}
    texts = picture(quality_scores(scores_of(plans))).texts
    names = [text for text in texts if "…" in text]
    assert len(set(names)) == 3


def test_charts_do_not_change_their_tables(scores):
    before = scores.copy(deep=True)
    for chart in CHARTS:
        chart(scores)
    pd.testing.assert_frame_equal(scores, before)
