"""What marks say when they are pointed at, without scripts: the title of a mark is its datum, in every chart."""

from __future__ import annotations

import re
import threading

import altair as alt
import pandas as pd
import pytest
from altair.utils.schemapi import SchemaValidationError

from tests.frames.plan_events import records, whole
from verifyplan.analysis import challenges
from verifyplan.charts import (
    audit,
    challenge_pool,
    coverage,
    quality_scores,
    rank_stability,
    score_distributions,
    sensitivity,
    timeline,
)
from verifyplan.charts.encodings import with_hover
from verifyplan.charts.figure import Figure, schema_checks_off, spec, svg_text
from verifyplan.frames.run_tables import tables_of


@pytest.fixture(scope="module")
def runs():
    return tables_of(records(whole()), "r")


@pytest.fixture(scope="module")
def every(five, runs, scores_of):
    """Every chart of the package, by name."""
    scores = pd.concat([scores_of({"a": [4, 7, None, 9], "b": [8] * 6}), scores_of({"a": [4, 9, 5]}, "challenger")])
    sweep = {"plan": "p", "score": 7.5, "rank": 1, "kept_rank": 0.9, "low_rank": 1, "high_rank": 2, "first": 0.9}
    move = {"dimension": "tone", "weight": 0.1, "score": 7.5, "rank": 1, "base_score": 7.0, "base_rank": 1}
    moves = pd.DataFrame([move | {"plan": plan, "direction": way} for plan in "pq" for way in ("lower", "higher")])
    two = pd.concat([runs.iterations, runs.iterations.assign(run_id="s")])
    return five | {
        "challenge_pool": challenge_pool(challenges.challenge_pool(runs)),
        "coverage": coverage(challenges.coverage(runs)),
        "quality_scores": quality_scores(scores),
        "score_distributions": score_distributions(scores),
        "audit": audit(scores),
        "rank_stability": rank_stability(pd.DataFrame([sweep | {"above": 0.5}])),
        "sensitivity": sensitivity(moves),
        "tornado": sensitivity(moves, plan="p"),
        "timeline": timeline(runs),
        "timelines": timeline(two),
    }


@pytest.fixture(scope="module")
def pictures(every, picture):
    return {name: picture(figure) for name, figure in every.items()}


def test_the_title_of_a_mark_is_its_datum(every, pictures):
    for name, figure in every.items():
        drawn = pictures[name]
        data = spec(figure.chart)["datasets"].values()
        told = {row["hover"] for rows in data for row in rows if "hover" in row}
        assert drawn.marks, name
        assert drawn.titles == drawn.labels, name
        assert set(drawn.titles) <= told, name
        assert all(re.match(r"[A-Z][^\n:]*: ", title) for title in drawn.titles), name


def test_the_tooltip_of_a_live_chart_says_the_same(every):
    for name, figure in every.items():
        specification = spec(figure.chart)
        rows = [row for rows in specification["datasets"].values() for row in rows if "hover" in row]
        lists = [list(layer) for layer in _found(specification, "tooltip")]
        assert lists, name
        for row in rows:
            said = [
                "\n".join(
                    f"{line['title']}: {_number(row[line['field']])}"
                    for line in tooltip
                    if row[line["field"]] not in ("", None)
                )
                for tooltip in lists
                if all(line["field"] in row for line in tooltip)
            ]
            assert row["hover"] in said, name


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _found(part, key):
    if isinstance(part, dict):
        return ([part[key]] if key in part else []) + [hit for value in part.values() for hit in _found(value, key)]
    return [hit for value in part for hit in _found(value, key)] if isinstance(part, list) else []


def test_marks_without_words_let_the_pointer_through(pictures):
    for name, drawn in pictures.items():
        hidden = [e for e in drawn.root.iter() if "role-mark" in e.get("class", "") and e.get("aria-hidden")]
        assert hidden or name == "coverage", name
        assert all(e.get("pointer-events") == "none" for e in hidden), name


def test_every_chart_is_valid_vega_lite_though_its_parts_were_not_checked(every):
    for figure in every.values():
        assert figure.chart.to_dict(validate=True) == spec(figure.chart)


def test_no_two_elements_have_one_id(every):
    page = "".join(figure._repr_html_() for figure in every.values())
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))


def test_the_title_of_a_votes_tile_has_its_explanation_and_of_a_name_the_whole_summary(grid_of, picture):
    from verifyplan.charts import vote_matrix

    grid = grid_of(2, 2, 1).assign(summary="a summary of more than forty-six letters, which a label cannot hold")
    drawn = picture(vote_matrix(grid))
    assert drawn.saying("Finding: F-002", "Worker: worker-2", "Round: 1", "Explanation: see src/steps/migrate.py:11")
    names = drawn.saying(
        "Finding: F-002", "Summary: a summary of more than forty-six letters, which a label cannot hold"
    )
    assert sum(mark.tag.endswith("text") for mark in names) == 1


def test_titles_are_escaped():
    bar = alt.Chart(alt.InlineData(values=[{"x": 1, "t": '<b>&amp;</title><script>"'}])).mark_bar()
    svg = svg_text(spec(bar.encode(x="x:Q", description="t:N")), "")
    assert "<title>&lt;b&gt;&amp;amp;&lt;/title&gt;&lt;script&gt;&quot;</title>" in svg
    assert "<script" not in svg


def test_a_chart_of_ones_own_has_titles_on_marks_and_none_on_axes(picture):
    chart = alt.Chart(alt.InlineData(values=[{"x": 1, "y": "a"}])).mark_point().encode(x="x:Q", y="y:N")
    drawn = picture(Figure(chart, "", pd.DataFrame(), ""))
    assert drawn.titles == ["x: 1; y: a"]
    assert len([e for e in drawn.root.iter() if e.tag.endswith("}title")]) == 1
    assert len([e for e in drawn.root.iter() if e.get("aria-roledescription") == "axis"]) == 2


def test_values_are_cut_and_missing_ones_have_no_line():
    rows = pd.DataFrame({"a": ["x" * 500, None, " "], "n": [1.5, None, 2000.0], "b": [True, False, True]})
    told = with_hover(rows, {"a": "A", "n": "N", "b": "B"})
    assert list(told["hover"]) == [f"A: {'x' * 399}…\nN: 1.5\nB: True", "B: False", "N: 2000.0\nB: True"]
    assert told["a"].str.len().max() == 400
    assert list(told["n"].dropna()) == [1.5, 2000.0]  # numbers stay numbers


def _refused_by_altair() -> bool:
    try:
        alt.Axis(grid="no truth")
    except SchemaValidationError:
        return True
    return False


def test_parts_are_unchecked_within_the_block_alone():
    with schema_checks_off():
        assert not _refused_by_altair()
        with schema_checks_off():
            pass
        assert not _refused_by_altair()
    assert _refused_by_altair()
    with pytest.raises(ZeroDivisionError), schema_checks_off():
        1 / 0  # noqa: B018
    assert _refused_by_altair()


def test_threads_leave_altairs_check_as_it_was(scores_of):
    table = scores_of({"a": [4, 7, 5, 9, 1, 2]})
    threads = [threading.Thread(target=lambda: [quality_scores(table) for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert _refused_by_altair()


def test_what_is_written_over_a_mark_has_its_tooltip_in_a_live_chart(every):
    over = {"quality_scores": 1, "vote_matrix": 2, "transitions": 1, "timelines": 2, "challenge_pool": 1}
    for name, n in over.items():
        specification = spec(every[name].chart)
        silent = [unit for unit in _units(specification) if unit["mark"].get("aria") is False]
        texts = [unit for unit in silent if unit["mark"]["type"] == "text" and "tooltip" in unit["encoding"]]
        assert len(texts) >= n, name


def _units(part):
    own = [part] if "mark" in part else []
    return own + [
        unit for key in ("layer", "hconcat", "vconcat") for child in part.get(key, []) for unit in _units(child)
    ]
