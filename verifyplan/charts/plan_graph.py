"""Plans as boxes in the columns of their waves, dependencies as arrows; what cannot be so is said in words."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from verifyplan.charts.captions import sentences
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.hover import hover, with_hover
from verifyplan.charts.labels import count, plain, short
from verifyplan.charts.plan_graph_layout import GAP, GUTTER, Layout, lay_out
from verifyplan.charts.tables import inline
from verifyplan.charts.theme import FAINT, INK, LINE, PAPER, SIZE, VERMILLION
from verifyplan.charts.unchecked import unchecked
from verifyplan.documents.dimensions.check import PlanCheck
from verifyplan.documents.dimensions.plan_graph import PlanGraph
from verifyplan.errors import InputError, Problem

TITLE = "Plans by wave, and what they wait for"
KEY = "A column is a wave; an arrow leads from a plan to one that waits for it. Dashed red boxes say what is wrong."
MOST = 300
"""So many plans are drawn at the most; nobody could read more."""
FIELDS = {
    "plan": "Plan",
    "phase": "Phase",
    "told": "Wave",
    "title": "Title",
    "waits_for": "Waits for",
    "n_files": "Files",
    "wrong": "Wrong",
}
LETTERS = 60
"""Letters of a line in a box; what does not fit into the box is cut when it is drawn."""
DARK_RED = "#a34700"


def plan_graph(graph: PlanGraph | PlanCheck) -> Figure:
    """Plans as labelled boxes, a column for each wave and a band for each phase, with arrows for dependencies.

    Reads a plan check, or its `graph`. Circles, file conflicts and waves that the dependencies do not allow are drawn
    dashed, in red and in words. Without plans, or with more than 300, the figure says so. Raises InputError for
    anything else, as a plan that was not checked.
    """
    graph = _graph_of(graph)
    if not graph.nodes:
        return empty(TITLE, "There are no plans to draw.", _table(graph))
    if len(graph.nodes) > MOST:
        return empty(TITLE, f"{count(len(graph.nodes), 'plan')} are too many to draw: check one phase.", _table(graph))
    rows, layout = _table(graph), lay_out(graph)
    with unchecked():
        return figure(
            _drawn(rows, layout),
            title=TITLE,
            subtitle=[KEY],
            caption=_caption(graph, rows),
            data=rows,
            description=_description(rows),
        )


def _graph_of(given: object) -> PlanGraph:
    graph = given.graph if isinstance(given, PlanCheck) else given
    if isinstance(graph, PlanGraph):
        return graph
    fix = "give the check of the plans, as plan_check returns it, or its graph"
    raise InputError(Problem("graph", f"is of type {type(given).__name__}, and no graph of plans", fix))


def _table(graph: PlanGraph) -> pd.DataFrame:
    """One row a plan: `plan, phase, wave, derived, title, waits_for, n_files, wrong` and what its box says."""
    names = [node.plan_id for node in graph.nodes]
    needs = [", ".join(names[before] for before in sorted(one)) for one in graph.needs()]
    rows = [
        (node.plan_id, node.phase, node.wave, node.derived, node.title, before, len(node.files), "; ".join(wrong))
        for node, before, wrong in zip(graph.nodes, needs, _wrong(graph), strict=True)
    ]
    columns = ["plan", "phase", "wave", "derived", "title", "waits_for", "n_files", "wrong"]
    table = pd.DataFrame(rows, columns=columns).astype({"wave": int, "derived": "Int64", "n_files": int})
    own = ["none" if node.derived is None else f"{node.derived}" for node in graph.nodes]
    told = [
        f"{node.wave}" if f"{node.wave}" == text else f"{node.wave} (from dependencies: {text})"
        for node, text in zip(graph.nodes, own, strict=True)
    ]
    return table.assign(told=told)


def _wrong(graph: PlanGraph) -> list[list[str]]:
    found: list[list[str]] = [[] for _ in graph.nodes]
    for circle in graph.circles:
        for at in circle:
            found[at].append("in a circle")
    for conflict in graph.conflicts:
        for at in conflict.plans:
            found[at].append(f"same file: {conflict.file.rpartition('/')[2] or conflict.file}")
    for edge in graph.edges:
        early = graph.nodes[edge.after].wave <= graph.nodes[edge.before].wave
        if early and not edge.across and not any(edge.after in circle for circle in graph.circles):
            found[edge.after].append("too early")
    for unmet in graph.unmet:
        found[unmet.plan].append(f"waits for {unmet.name}, unknown here")
    return [list(dict.fromkeys(one)) for one in found]


def _drawn(rows: pd.DataFrame, layout: Layout) -> alt.LayerChart:
    boxes = with_hover(rows.assign(**layout.boxes), FIELDS)
    parts = [_bands(layout), _arrows(layout), *_boxes(boxes), *_texts(boxes, layout)]
    layers = alt.LayerChart(layer=[part for part in parts if part is not None])
    return layers.properties(width=layout.width, height=layout.height)


def _at(name: str) -> dict[str, Any]:
    """The encoding of a place in pixels."""
    return {name: (alt.X if name == "x" else alt.Y)(f"{name}:Q", scale=None, axis=None)}


def _bands(layout: Layout) -> alt.LayerChart:
    """The names of waves above, of phases at the left, and lines between phases."""
    waves = alt.Chart(inline(layout.waves)).mark_text(color=FAINT, fontWeight="bold", aria=False)
    phases = alt.Chart(inline(layout.phases)).encode(**_at("y"))
    lines = phases.mark_rule(stroke=LINE, aria=False).encode(x=alt.value(0), x2=alt.value(layout.width))
    names = phases.mark_text(
        align="left", baseline="top", fontSize=SIZE - 1, color=FAINT, aria=False, dy=8, x=0, limit=GUTTER - GAP
    )
    parts = [waves.encode(**_at("x"), y=alt.value(8), text="name:N"), lines, names.encode(text="name:N")]
    return alt.LayerChart(layer=parts if len(layout.phases) > 1 else parts[:1])


def _arrows(layout: Layout) -> alt.LayerChart | None:
    if layout.arrows.empty:
        return None
    base = alt.Chart(inline(layout.arrows)).encode(**_at("x"), **_at("y"))
    color = alt.when("datum.wrong").then(alt.value(VERMILLION)).otherwise(alt.value("#6b7178"))
    dash = alt.when("datum.wrong").then(alt.value([4, 3])).otherwise(alt.value([1, 0]))
    lines = base.mark_line(strokeWidth=1.3, aria=False).encode(
        detail="edge:N", order="step:Q", color=color, strokeDash=dash
    )
    heads = base.transform_filter("datum.head").mark_point(
        shape="triangle-right", filled=True, size=60, opacity=1, xOffset=-4, aria=False
    )
    return alt.LayerChart(layer=[lines, heads.encode(color=color)])


def _boxes(rows: pd.DataFrame) -> list[alt.Chart]:
    """Boxes in ink, and over them those of plans with which something is wrong, dashed and in red.

    A layer without a box is left out: a screen reader would meet a picture without a name.
    """
    look: dict[str, Any] = {"fill": PAPER, "fillOpacity": 1, "cornerRadius": 4}
    looks: dict[bool, dict[str, Any]] = {False: {"stroke": INK, "strokeWidth": 1}}
    looks[True] = {"stroke": VERMILLION, "strokeWidth": 2, "strokeDash": [5, 3]}
    encoded: dict[str, Any] = {**_at("x"), "x2": "x2", **_at("y"), "y2": "y2", **hover(FIELDS)}
    parts = {wrong: rows[(rows["wrong"] != "") == wrong] for wrong in looks}
    return [
        alt.Chart(inline(part)).encode(**encoded).mark_rect(**look, **looks[wrong])
        for wrong, part in parts.items()
        if len(part)
    ]


def _texts(rows: pd.DataFrame, layout: Layout) -> list[alt.Chart]:
    """Up to three lines in each box: the plan's id, its title, and what is wrong; cut where the box ends."""
    told = pd.DataFrame(
        {
            "left": rows["x"] + GAP,
            "y": rows["y"],
            "line1": [short(plan, LETTERS) for plan in rows["plan"]],
            "line2": [short(title, LETTERS, keep_end=False) if title else "" for title in rows["title"]],
            "line3": [short(wrong, LETTERS, keep_end=False) if wrong else "" for wrong in rows["wrong"]],
        }
    )
    base = alt.Chart(inline(told)).encode(x=alt.X("left:Q", scale=None, axis=None), **_at("y"))
    look: dict[str, Any] = {"align": "left", "baseline": "top", "aria": False, "limit": layout.box - 2 * GAP}
    lines: list[dict[str, Any]] = [
        {"dy": 5, "fontWeight": "bold", "fontSize": SIZE},
        {"dy": 20, "fontSize": SIZE - 2, "color": FAINT},
        {"dy": 33, "fontSize": SIZE - 2, "color": DARK_RED, "fontWeight": "bold"},
    ]
    return [base.mark_text(**look, **line).encode(text=f"line{n}:N") for n, line in enumerate(lines, 1)]


def _caption(graph: PlanGraph, rows: pd.DataFrame) -> str:
    across = sum(edge.across for edge in graph.edges)
    stated = sum(node.declared is not None for node in graph.nodes)
    differ = sum(node.declared is not None and node.derived not in (None, node.declared) for node in graph.nodes)
    waits = [f"{count(len(graph.edges), 'arrow')}", f"{across:,} of them across phases, which count for no wave"]
    return sentences(
        f"{count(len(rows), 'plan')} (n) of {count(rows['phase'].nunique(), 'phase')},"
        f" {', '.join(waits if across else waits[:1])}.",
        f"Columns are waves: stated by {count(stated, 'plan')}, for the others what follows from the arrows;"
        f" {differ:,} state another wave than follows.",
        f"{count(len(graph.circles), 'circle')}; {count(len(graph.conflicts), 'file')} that several plans of one wave"
        f" modify; {count(len(graph.unmet), 'plan')} waited for and not here.",
    )


def _description(rows: pd.DataFrame) -> str:
    told = []
    for plan, wave, before, wrong in rows[["plan", "wave", "waits_for", "wrong"]].itertuples(index=False):
        waits = f" waits for {before}" if before else ""
        told.append(f"{plan} in wave {wave}{waits}{f' ({wrong})' if wrong else ''}")
    return plain(f"Graph of plans by wave. {'; '.join(told)}.")
