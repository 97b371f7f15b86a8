"""The graph of plans drawn: boxes in the columns of their waves, arrows that end at boxes, what is wrong in words."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.charts import plan_graph
from verifyplan.charts.export import export
from verifyplan.charts.figure import spec
from verifyplan.charts.options import ChartOptions
from verifyplan.charts.plan_graph import lay_out
from verifyplan.documents.dimensions.plan_graph import Conflict, Edge, PlanGraph, PlanNode, Unmet


def node(name, wave=1, phase="02-auth", derived=None, files=()):
    return PlanNode(name, phase, f"Build {name}", wave, derived or wave, tuple(files), f"{name}-PLAN.md")


@pytest.fixture
def graph():
    nodes = (
        node("02-01"),
        node("02-02"),
        node("02-03", 2),
        node("02-04", 3),
        node("02-05", 3),
        node("03-01", 1, "03-api"),
    )
    edges = (Edge(0, 2), Edge(2, 3), Edge(3, 4), Edge(4, 3), Edge(2, 5, across=True))
    return PlanGraph(nodes, edges, ((3, 4),), (Conflict("src/schema.py", (0, 1)),), (Unmet(5, 0, "01-09"),))


def test_each_plan_is_a_box_in_the_column_of_its_wave(graph, picture):
    drawn = picture(plan_graph(graph))
    (box,) = drawn.saying("Plan: 02-03", "Wave: 2", "Waits for: 02-01", "Phase: 02-auth")
    assert box.tag.endswith("path")
    assert {"wave 1", "wave 2", "wave 3", "02-03", "Build 02-03", "03-api"} <= set(drawn.texts)
    places = lay_out(graph, ChartOptions()).boxes
    assert places["x"][0] == places["x"][1] < places["x"][2] < places["x"][3] == places["x"][4]
    assert places["y"][5] > max(places["y"][:5])  # the second phase stands below the first


def test_what_is_wrong_is_said_in_words_and_dashed(graph, picture):
    drawn = picture(plan_graph(graph))
    for name, words in (
        ("02-01", "same file: schema.py"),
        ("02-04", "in a cycle"),
        ("03-01", "waits for 01-09, unknown here"),
    ):
        (box,) = drawn.saying(f"Plan: {name}", f"Wrong: {words}")
        assert box.get("stroke-dasharray")
    (right,) = drawn.saying("Plan: 02-03")
    assert not right.get("stroke-dasharray")
    assert [text for text in drawn.texts if text.startswith(("same file", "in a cycle", "waits for 01"))].count(
        "in a cycle"
    ) == 2


def test_caption_rows_and_description(graph):
    figure = plan_graph(graph)
    assert "6 plans (n) of 2 phases, 5 arrows, 1 of them across phases, which count for no wave." in figure.caption
    assert (
        "1 cycle; 1 file that several plans of one wave modify; 1 missing plan that others wait for." in figure.caption
    )
    assert list(figure.data["plan"]) == [one.plan_id for one in graph.nodes]
    assert figure.data.loc[4, "waits_for"] == "02-04"
    assert "02-04 in wave 3 waits for 02-03, 02-05 (in a cycle)" in figure.description


def test_a_wave_that_does_not_follow_is_told():
    figure = plan_graph(PlanGraph((node("1"), node("2", 3, derived=2)), (Edge(0, 1),), (), (), ()))
    assert "1 state another wave than the derived one." in figure.caption
    assert figure.data.loc[1, "wave_text"] == "3 (from dependencies: 2)"


@pytest.mark.parametrize(
    ("nodes", "words"), [(0, "There are no plans to draw."), (301, "301 plans are too many to draw")]
)
def test_nothing_and_too_much_are_told_in_words(nodes, words):
    figure = plan_graph(PlanGraph(tuple(node(str(n)) for n in range(nodes)), (), (), (), ()), limit=300)
    assert figure.caption.startswith(words)
    assert len(figure.data) == nodes


GRAPHS = st.lists(st.tuples(st.integers(1, 9), st.sampled_from(["01-a", "02-b", ""])), min_size=1, max_size=60).flatmap(
    lambda rows: st.tuples(
        st.just(rows),
        st.lists(st.tuples(st.integers(0, len(rows) - 1), st.integers(0, len(rows) - 1)), max_size=20, unique=True),
    )
)


@settings(max_examples=examples(40))
@given(GRAPHS)
def test_no_box_lies_on_another_and_no_arrow_crosses_one(drawn):
    rows, pairs = drawn
    nodes = tuple(node(f"p{n}", wave, phase) for n, (wave, phase) in enumerate(rows))
    edges = tuple(Edge(a, b, nodes[a].phase != nodes[b].phase) for a, b in pairs)
    layout = lay_out(PlanGraph(nodes, edges, (), (), ()), ChartOptions())
    boxes = list(zip(*(layout.boxes[side] for side in ("x", "x2", "y", "y2")), strict=True))
    for one, other in itertools.combinations(boxes, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]
    assert all(0 <= x < x2 <= layout.width and 0 <= y < y2 <= layout.height for x, x2, y, y2 in boxes)
    for _, points in layout.arrows.groupby("edge"):
        places = list(zip(points["x"], points["y"], strict=True))
        for (x1, y1), (x2, y2) in itertools.pairwise(places):
            for part in (0.25, 0.5, 0.75):
                x, y = x1 + part * (x2 - x1), y1 + part * (y2 - y1)
                assert not any(left < x < right and top < y < low for left, right, top, low in boxes)


def test_hostile_names_are_drawn_as_text(tmp_path, seen):
    odd = node('<script>"&\x07' * 30, phase="\u202e<b>")
    figure = plan_graph(PlanGraph((odd,), (), (), (), ()))
    page = seen(figure)
    assert page.scripts == []
    assert "script" not in page.tags
    assert export(figure, tmp_path / "g.svg").stat().st_size > 0


def test_a_layer_without_boxes_is_left_out(graph):
    """It would be a picture without a name to a screen reader."""

    def boxes(drawn: PlanGraph) -> int:
        return str(spec(plan_graph(drawn).chart)).count("'type': 'rect'")

    assert boxes(PlanGraph((node("02-01"), node("02-02")), (), (), (), ())) == 1
    assert boxes(graph) == 2
