"""What each chart shows: numbers, order, names, and what is left out."""

from __future__ import annotations

import dataclasses
import re
from itertools import pairwise

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.charts import class_mix, queue, transitions, truth_metrics, vote_matrix
from verifyplan.charts.figure import spec
from verifyplan.charts.queue import HEIGHT_PX, NAME_GAP_PX
from verifyplan.charts.theme import CLASS_COLORS, MARK_COLORS
from verifyplan.errors import InputError, SettingsError, TableError
from verifyplan.protocol.vote import CLASSIFICATIONS

NAN = float("nan")


def rows_of(figure, *columns):
    """All rows that the chart draws, from every data set that has these columns."""
    sets = spec(figure.chart)["datasets"].values()
    return [tuple(row[c] for c in columns) for rows in sets for row in rows if set(columns) <= set(row)]


def found(part, key):
    """Every value of a key, anywhere in a chart's specification."""
    if isinstance(part, dict):
        own = [part[key]] if key in part else []
        return own + [hit for value in part.values() for hit in found(value, key)]
    return [hit for value in part for hit in found(value, key)] if isinstance(part, list) else []


def test_class_mix_shows_shares_intervals_and_counts(comparison, seen):
    text = seen(class_mix(comparison)).texts
    assert text.count("30.0 %") == 1
    assert text.count("21.0\N{EN DASH}40.0 %") == 1
    assert [t for t in text if t.endswith(" of 80")] == [f"{n} of 80" for n in (24, 30, 33, 15, 12, 22, 11, 13)]
    assert [t for t in text if t in CLASSIFICATIONS] == list(CLASSIFICATIONS)
    assert text.count("collaborative") == text.count("adversarial") == 4


def test_shares_are_drawn_from_none_to_all(comparison):
    for figure in (class_mix(comparison), truth_metrics(comparison)):
        axes = [x for x in found(spec(figure.chart), "x") if x.get("field") == "share" and "scale" in x]
        assert [x["scale"]["domain"] for x in axes] == [[0, 1]]


def test_class_colours_are_the_same_in_every_chart(comparison, grid_of, seen):
    assert set(CLASS_COLORS.values()) <= set(seen(class_mix(comparison)).values("fill"))
    for name, color in CLASS_COLORS.items():
        grid = grid_of(2, 2, 1).assign(classification=name, mark="verification-error")
        others = set(CLASS_COLORS.values()) - {color}
        fills = set(seen(vote_matrix(grid)).values("fill"))
        assert color in fills
        assert not fills & others


def test_captions_say_n_and_kind_of_interval(comparison, comparison_of):
    expected = "Intervals: 95 %, by clusters (12 runs)."
    for figure in (class_mix(comparison), truth_metrics(comparison)):
        assert expected in figure.caption
    both_ways = comparison_of(resampled="runs and claims")
    assert "Intervals: 95 %, by clusters (12 runs and their claims)." in class_mix(both_ways).caption
    assert "80 findings" in class_mix(comparison).caption
    assert "80 findings (n)" in transitions(comparison).caption


def test_transitions_count_moves_and_mark_the_diagonal(comparison, seen):
    figure = transitions(comparison)
    assert "47 (58.8 %) keep their class" in figure.caption
    assert "14 move nearer to full-consensus" in figure.caption
    assert "19 nearer to worker-unique" in figure.caption
    cells = rows_of(figure, "before", "after", "n", "move")
    assert ("partial-consensus", "contested", 12, "nearer to worker-unique") in cells
    assert ("contested", "partial-consensus", 2, "nearer to full-consensus") in cells
    totals = {cell for cell in rows_of(figure, "before", "after", "n") if "all" in cell}
    assert {("all", "contested", 22), ("partial-consensus", "all", 33), ("all", "all", 80)} <= totals
    assert seen(figure).values("stroke-width").count("2") == 4  # the outlined diagonal
    told = "From: partial-consensus under collaborative\nTo: contested under adversarial\nFindings: 12"
    assert f"{told}\nMove: nearer to worker-unique" in seen(figure).values("aria-label")


def test_transitions_of_three_conditions_say_to_take_two(comparison):
    three = dataclasses.replace(comparison, conditions=(*comparison.conditions, "third"))
    with pytest.raises(SettingsError, match=r"has 3\. Fix: take two of them, as \.between\('collaborative', 'adv"):
        transitions(three)


def test_advice_for_three_labelled_conditions_can_be_followed():
    three = vp.compare("contract", modes=["collaborative", "adversarial", "recorded"], resamples=10)
    labels = {three.conditions[0]: "Alpha"}
    with pytest.raises(SettingsError, match=re.escape(f".between({three.conditions[0]!r}, 'adversarial')")):
        transitions(three, labels=labels)
    figure = transitions(three.between(three.conditions[0], "adversarial"), labels=labels)
    assert (figure.data.index.name, figure.data.columns.name) == ("Alpha", "adversarial")


def test_labels_are_in_the_tables_drawn_and_not_in_the_comparison():
    comparison = vp.compare("stdlib-claims/adversarial", resamples=10)
    before = str(comparison)
    labels = {"collaborative": "Alpha"}
    for figure in (class_mix(comparison, labels=labels), truth_metrics(comparison, labels=labels)):
        assert set(figure.data["condition"]) == {"Alpha", "adversarial"}
    assert str(comparison) == before
    assert set(comparison.mix["condition"]) == {"collaborative", "adversarial"}


def test_class_mix_and_truth_metrics_draw_any_number_of_conditions(seen):
    sets = {name: vp.datasets.runs("stdlib-claims/adversarial") for name in ("gpt", "claude", "gemini")}
    comparison = vp.compare(sets, resamples=5)
    for figure in (class_mix(comparison), truth_metrics(comparison)):
        assert {"gpt", "claude", "gemini"} <= set(seen(figure).texts)
    assert "under gpt and under claude and under gemini" in class_mix(comparison).caption


def test_truth_metrics_leave_out_what_has_no_denominator(comparison, comparison_of, seen):
    truth = comparison.truth.copy()
    truth.loc[0, ["value", "low", "high", "n"]] = [NAN, NAN, NAN, 0]
    figure = truth_metrics(comparison_of(truth=truth))
    assert "Left out, since their denominator is 0: precision under collaborative." in figure.caption
    assert len(rows_of(figure, "metric")) == 9
    assert "72.0 %" not in seen(figure).texts
    assert "Left out" not in truth_metrics(comparison).caption


def test_truth_metrics_show_no_line_where_there_is_no_interval(comparison, comparison_of, seen):
    truth = comparison.truth.assign(low=NAN, high=NAN)
    page = seen(truth_metrics(comparison_of(truth=truth)))
    assert "72.0 %" in page.texts
    assert not [text for text in page.texts if "\N{EN DASH}" in text]
    assert not [label for label in page.values("aria-label") if label.startswith("low: ")]


def test_class_mix_says_of_how_many_findings_the_class_is_open():
    rules = {"as run": {}, "third round": {"max_rounds": 3}}
    comparison = vp.compare("stdlib-claims/adversarial", rules=rules, resamples=10)
    n = int((comparison.findings["low_third round"] != comparison.findings["high_third round"]).sum())
    assert n
    figure = class_mix(comparison, labels={"third round": "three"})
    assert f"The class of {n} findings under three depends on votes that were never cast" in figure.caption
    assert "never cast" not in class_mix(vp.compare("llmbar/plain", resamples=10)).caption


def test_truth_metrics_draw_what_votes_never_cast_leave_open():
    rules = {"as run": {}, "third round": {"max_rounds": 3}}
    comparison = vp.compare("stdlib-claims/adversarial", rules=rules, resamples=10)
    figure = truth_metrics(comparison, labels={"third round": "three"})
    wide = comparison.bounds.query("metric == 'recall' and condition == 'third round'").iloc[0]
    drawn = {(row[0], row[1]): row[2:] for row in rows_of(figure, "label", "metric", "low_bound", "high_bound")}
    assert drawn["three", "recall"] == pytest.approx((wide["low_bound"], wide["high_bound"]))
    assert drawn["as run", "recall"] == (None, None)
    assert "Bars: the range that votes allow which a condition asks for and that were never cast." in figure.caption
    assert "three: recall 87.2 %, n = 360, by votes never cast 87.2\N{EN DASH}93.9 %" in figure.description
    closed = truth_metrics(vp.compare("llmbar/plain", resamples=10))
    assert "never cast" not in closed.caption + closed.description


def test_truth_metrics_without_truth_says_so(comparison_of):
    with pytest.raises(InputError, match="no finding's truth is known"):
        truth_metrics(comparison_of(truth=None))


def test_empty_comparisons_say_that_nothing_is_there(empty_comparison, seen):
    for chart in (class_mix, transitions, truth_metrics):
        figure = chart(empty_comparison)
        assert figure.caption.startswith("There ")
        assert figure.caption in seen(figure).texts


def test_empty_tables_say_that_nothing_is_there(queue_of, grid_of, seen):
    for figure in (queue(queue_of().iloc[:0]), vote_matrix(grid_of().iloc[:0])):
        assert figure.caption.startswith("There ")
        assert figure.caption in seen(figure).texts


def test_long_names_with_an_equal_start_are_told_apart(comparison_of, queue_of, seen):
    a, b = (f"adversarial, missing_basis=infer, max_rounds={n}, workers=alpha" for n in (2, 3))
    comparison = comparison_of(a, b)
    for figure in (class_mix(comparison), truth_metrics(comparison), queue(queue_of(a, b))):
        texts = seen(figure).texts
        assert "…max_rounds=2, workers=alpha" in texts
        assert "…max_rounds=3, workers=alpha" in texts
        names = rows_of(figure, "condition") + rows_of(figure, "mode")
        assert a in {name for (name,) in names}  # whole, for the tooltips
    assert "Class under …max_rounds=3, workers=al…" in seen(transitions(comparison)).texts


def test_rounds_name_lines_at_their_ends_without_overlap(queue_of, seen):
    table = pd.concat([queue_of("a", "b"), queue_of("c", "d")], ignore_index=True).assign(waiting=[80, 9, 0] * 4)
    places = sorted(place for _, place in rows_of(queue(table), "label", "place"))
    assert all(later - sooner >= NAME_GAP_PX * 80 / HEIGHT_PX - 1e-9 for sooner, later in pairwise(places))
    assert places[0] == 0
    page = seen(queue(queue_of()))
    assert page.texts.count("adversarial") == 2  # at the line's end and in the table
    assert [t for t in page.texts if t.startswith("(\N{MINUS SIGN}")] == [
        f"(\N{MINUS SIGN}{n})" for n in (56, 39, 15, 31)
    ]


def test_rounds_that_class_nothing_say_so(queue_of, seen):
    texts = seen(queue(queue_of().assign(resolved=[0, 71, 0, 0, 0, None]))).texts
    assert [text for text in texts if text.startswith("(")] == ["(\N{MINUS SIGN}71)", "(0)", "(0)"]


def test_rounds_say_runs_and_what_is_left_out(queue_of):
    assert "summed over each mode's runs (12 runs)" in queue(queue_of()).caption
    uneven = queue_of().assign(n_runs=[12, 12, 7] * 2, waiting=[80, 24, NAN] * 2)
    caption = queue(uneven).caption
    assert "Left out: 2 rows without a number." in caption
    assert "7 to 12 runs" in queue(uneven.assign(waiting=1)).caption


def test_rounds_are_in_order_however_the_table_is_sorted(queue_of, seen):
    texts = seen(queue(queue_of().iloc[::-1].reset_index(drop=True))).texts
    stages = [text for text in texts if text in {"as queued", "after round 1", "after round 2"}]
    assert stages == ["as queued", "after round 1", "after round 2"]


def test_vote_matrix_letters_marks_and_orders_findings_by_class(grid_of, seen):
    figure = vote_matrix(grid_of(8, 3, 2))
    texts = seen(figure).texts
    names = [text.split("\N{EN SPACE}")[0] for text in texts if text.startswith("F-")]
    assert names == ["F-001", "F-005", "F-002", "F-006", "F-003", "F-007", "F-004", "F-008"]
    assert [text for text in texts if text in CLASSIFICATIONS] == [name for name in CLASSIFICATIONS for _ in "12"]
    assert [text for text in texts if text.startswith("Round ")] == ["Round 1", "Round 2"]
    drawn = set(figure.data["mark"])
    assert {text for text in texts if text in MARK_COLORS} == drawn  # the key names what is drawn, nothing else
    letters = [text for text in texts if re.fullmatch("[ASCBDE•]", text)]
    assert letters.count("•") == 8 + 1  # one discoverer a finding, and the key
    assert len(letters) == len(figure.data) + len(drawn)


def test_vote_matrix_shows_who_found_what_before_the_rounds(grid_of, seen):
    grid = grid_of(4, 3, 2)
    figure = vote_matrix(grid.assign(round=grid["round"].where(grid["mark"] != "discovered", 0)))
    heads = [text for text in seen(figure).texts if text.startswith(("Round ", "Found by"))]
    assert heads == ["Found by", "Round 1", "Round 2"]
    assert figure.description.startswith("Table of votes on 4 findings by 3 workers in 2 rounds.")


def test_vote_matrix_draws_forty_four_findings_and_says_how_many_are_left_out(grid_of, seen):
    figure = vote_matrix(grid_of(75, 2, 1))
    assert "The first 44 of 75 findings are drawn; 31 are left out, on which fewer votes differ." in figure.caption
    assert len({text for text in seen(figure).texts if text.startswith("F-")}) == 44
    assert len(figure.data) == 150
    assert "left out" not in vote_matrix(grid_of(44, 2, 1)).caption


def test_vote_matrix_shortens_in_labels_but_not_in_tooltips(grid_of, seen):
    story = "First line\nsecond line " + "and on and on " * 20
    figure = vote_matrix(grid_of(2, 2, 1).assign(summary=story, explanation=story))
    names = [text for text in seen(figure).texts if text.startswith("F-")]
    assert names[0].startswith("F-001\N{EN SPACE}First line second line and on")
    assert all(len(name) < 60 and name.endswith("…") for name in names)
    whole = " ".join(story.split())
    assert set(rows_of(figure, "summary", "explanation")) == {(whole, whole)}


def test_vote_matrix_takes_missing_texts_and_classes(grid_of, seen):
    page = seen(vote_matrix(grid_of(2, 2, 1).assign(explanation=None, summary=None, classification=None)))
    assert "not classed" in page.texts
    assert "None" not in page.text


def test_vote_matrix_of_many_workers_draws_the_first_and_says_so(grid_of):
    figure = vote_matrix(grid_of(60, 90, 1), limit=60)
    assert len(rows_of(figure, "letter", "voter")) == 60 * 36
    assert "The first 36 of 90 workers are drawn; 54 are left out." in figure.caption
    rounds = vote_matrix(grid_of(8, 2, 12))
    assert "The first 8 of 12 rounds are drawn; 4 are left out." in rounds.caption


@pytest.mark.parametrize(("chart", "table"), [(queue, "queue_of"), (vote_matrix, "grid_of")])
def test_a_missing_column_is_named(chart, table, request):
    rows = request.getfixturevalue(table)()
    last = rows.columns[-1]
    with pytest.raises(TableError, match=f"column {last}: is missing"):
        chart(rows.drop(columns=last))


def test_an_unknown_mark_is_named(grid_of):
    with pytest.raises(TableError, match=r"unknown: 'maybe'.*'agree'"):
        vote_matrix(grid_of().assign(mark="maybe"))


def test_generated_data_is_marked_in_caption_and_picture(comparison_of, queue_of, grid_of, seen):
    generated = comparison_of(synthetic=True)
    figures = [chart(generated) for chart in (class_mix, transitions, truth_metrics)]
    table, grid = queue_of(), grid_of()
    table.attrs["synthetic"] = grid.attrs["synthetic"] = True
    figures += [queue(table), vote_matrix(grid)]
    for figure in figures:
        assert "Synthetic data" in figure.caption
        assert "Synthetic data" in seen(figure).texts
    observed = [class_mix(comparison_of()), queue(queue_of()), vote_matrix(grid_of())]
    assert not [figure for figure in observed if "ynthetic" in figure._repr_html_()]


def test_names_that_no_file_can_hold_are_drawn_with_a_mark_in_their_place(comparison, seen):
    half = chr(0xD800)
    labels = {"collaborative": f"left{half}", "adversarial": f"right{chr(0)}"}
    figure = transitions(comparison, labels=labels)
    assert "Class under left?" in seen(figure).texts
    assert "Class under right\N{REPLACEMENT CHARACTER}" in seen(figure).texts
    figure._repr_html_().encode()


def test_charts_of_classes_say_where_no_vote_came(seen):
    table = pd.DataFrame(
        {"item": [*"aabb"], "worker": [*"xyxy"], "verdict": ["agree"] * 2 + ["verification-error"] * 2}
    )
    votes = vp.from_votes(table, item="item", worker="worker", verdict="verdict")
    comparison = vp.compare(votes, resamples=10)
    for figure in (class_mix(comparison), transitions(comparison)):
        assert "No vote counts on 1 finding under collaborative and 1 finding under adversarial" in figure.caption
    figure = vote_matrix(votes)
    assert "No vote came on 1 finding (so named beside the class): nobody rejected these." in figure.caption
    assert {"full-consensus", "worker-unique, no vote"} <= set(seen(figure).texts)
    whole = vp.compare("llmbar/plain", resamples=10)
    assert "No vote" not in class_mix(whole).caption + transitions(whole).caption


def test_the_vote_matrix_says_how_many_votes_came_after_the_deciding_round():
    rows = [("F", number, who, "agree") for number in (1, 2) for who in "ab"] + [("G", 1, "a", "agree")]
    table = pd.DataFrame(rows, columns=["item", "round", "who", "says"])
    names = {"item": "item", "worker": "who", "verdict": "says"}
    assert (
        "2 votes of later rounds, which are pale, do not count"
        in vote_matrix(vp.from_votes(table, round="round", **names)).caption
    )
    first = vp.from_votes(table[table["round"].eq(1)], round="round", **names)
    assert "later rounds" not in vote_matrix(first).caption
