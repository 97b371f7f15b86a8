"""Draw plans as boxes in the columns of their waves, dependencies as arrows, and violations in red and in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import altair as alt
import pandas as pd

from verifyplan.charts.encodings import hover, inline, text_of, with_hover, x2_at, x_at, x_of, y_at, y_of
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, first_drawn, plain, sentences, short
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.theme import DARK_GREY, FAINT, INK, LINE, PAPER, RED_TEXT, SIZE, VERMILLION
from verifyplan.documents.dimensions.plan_check import PlanCheck, plan_check
from verifyplan.documents.dimensions.plan_graph import Edge, PlanGraph
from verifyplan.errors import InputError, Problem

TITLE = "Plans by wave, and what they wait for"
KEY = "A column is a wave; an arrow leads from a plan to one that waits for it. Dashed red boxes say what is wrong."
MAX_WAVES, MAX_ROWS = 9, 17
"""Columns and rows of boxes drawn at most: more would not fit on a screen."""
FIELDS = {
    "plan": "Plan",
    "phase": "Phase",
    "wave_text": "Wave",
    "title": "Title",
    "waits_for": "Waits for",
    "n_files": "Files",
    "wrong": "Wrong",
}
MAX_CHARACTERS = 60
"""Longest line in a box or name of a phase; what does not fit into the box is cut when it is drawn."""
BOX_PX, ROW_PX, HEAD_PX = 48, 62, 24
"""Pixels of a box in height, from one row to the next, and of the waves' names above."""
GAP_PX = 7
"""Pixels between a box's edge and its text."""
MAX_BOX_PX, MIN_BOX_PX, BETWEEN_PX = 178, 46, 44
"""Pixels across of a box by default at most and at least, and between two columns."""
LEAST_BOX_PX = 40
"""Pixels across of a box at least."""
ALL_PX = 1_000
"""Pixels across that the columns share before boxes get narrower."""
GUTTER_PX = 150
"""Pixels at the left for the names of phases, where there are several."""
LANES = 6
"""So many arrows run beside each other before the next one runs over the first."""


@chart
def plan_graph(data: PlanGraph | PlanCheck | str | PathLike[str], **options: Unpack[Options]) -> Figure:
    """Draw plans as labelled boxes, a column for each wave and a band for each phase, with arrows for dependencies.

    Reads a plan check, or its `graph`, or checks the plans at a path. Cycles, file conflicts and waves that the
    dependencies do not allow are drawn dashed, in red and in words. The first 9 waves are drawn, and the first phases
    that fit in 17 rows; the caption says how many plans are left out. Without plans, or with more
    than `limit`, the figure says so. Raises InputError for anything else, as runs, which have no such
    graph.

    >>> import tempfile, verifyplan as vp
    >>> planning = vp.datasets.sample_planning(tempfile.mkdtemp() + "/parcels")
    >>> figure = plan_graph(vp.documents.plan_check(planning))
    >>> figure.description
    'Graph of plans by wave. 01-01 in wave 1; 01-02 in wave 2 waits for 01-01.'
    """
    chosen = ChartOptions.of(options)
    every = _labelled(_graph_of(data), chosen)
    kept = _in_view(every)
    graph, whole = _part(every, kept), _table(every)
    if whole.empty:
        return empty(chosen, TITLE, "There are no plans to draw.", whole)
    if len(whole) > chosen.rows(len(whole)):
        message = f"{count(len(whole), 'plan')} are too many to draw: check one phase."
        return empty(chosen, TITLE, message, whole)
    rows = whole.iloc[kept].reset_index(drop=True)
    layout = lay_out(graph, chosen)
    boxes = with_hover(rows.assign(**layout.boxes), FIELDS)
    return figure(
        lambda: alt.LayerChart(
            layer=[_bands(layout), *_arrows(layout), *_boxes(boxes), *_texts(boxes, layout)],
            width=layout.width,
            height=layout.height,
        ),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=sentences(
            _caption(every, whole),
            first_drawn(len(rows), len(every.nodes), "plan", "of later waves, phases or rows"),
            _not_drawn(every, graph),
        ),
        data=rows,
        description=_description(rows),
    )


def _graph_of(data: object) -> PlanGraph:
    if isinstance(data, str | PathLike):
        return plan_check(Path(data)).graph
    graph = data.graph if isinstance(data, PlanCheck) else data
    if not isinstance(graph, PlanGraph):
        fix = "give the check of the plans, as plan_check returns it, its graph, or the path of the plans"
        raise InputError(Problem("data", f"must be a graph of plans, got a {type(data).__name__}", fix))
    return graph


def _labelled(graph: PlanGraph, options: ChartOptions) -> PlanGraph:
    """Return the graph with the labels in the place of the names of plans and phases."""
    options.check_labels(name for node in graph.nodes for name in (node.plan_id, node.phase) if name)
    labels = options.labels or {}
    nodes = (
        node._replace(plan_id=labels.get(node.plan_id, node.plan_id), phase=labels.get(node.phase, node.phase))
        for node in graph.nodes
    )
    return graph._replace(nodes=tuple(nodes))


def _in_view(graph: PlanGraph) -> list[int]:
    """Return the positions of the plans in the first waves, and of the first phases and rows that fit."""
    waves = sorted({node.wave for node in graph.nodes})[:MAX_WAVES]
    places = [(at, node.phase, node.wave) for at, node in enumerate(graph.nodes) if node.wave in waves]
    depths = Counter((phase, wave) for _, phase, wave in places)
    left, taken = MAX_ROWS, Counter[tuple[str, int]]()
    rows: dict[str, int] = {}
    for phase in dict.fromkeys(phase for _, phase, _ in places):
        rows[phase] = min(left, max(n for (own, _), n in depths.items() if own == phase))
        left -= rows[phase]
    kept = []
    for at, phase, wave in places:
        taken[phase, wave] += 1
        kept += [at] if taken[phase, wave] <= rows[phase] else []
    return kept


def _part(graph: PlanGraph, kept: list[int]) -> PlanGraph:
    """Return the graph of these plans, and of what is between them."""
    new = {at: number for number, at in enumerate(kept)}
    edges = (edge for edge in graph.edges if edge.before in new and edge.after in new)
    shared = ((conflict, tuple(new[at] for at in conflict.plans if at in new)) for conflict in graph.conflicts)
    return PlanGraph(
        nodes=tuple(graph.nodes[at] for at in kept),
        edges=tuple(edge._replace(before=new[edge.before], after=new[edge.after]) for edge in edges),
        cycles=tuple(tuple(new[at] for at in cycle) for cycle in graph.cycles if all(at in new for at in cycle)),
        conflicts=tuple(conflict._replace(plans=plans) for conflict, plans in shared if len(plans) > 1),
        unmet=tuple(unmet._replace(plan=new[unmet.plan]) for unmet in graph.unmet if unmet.plan in new),
    )


def _table(graph: PlanGraph) -> pd.DataFrame:
    """Return one row per plan: `plan, phase, wave, derived, title, waits_for, n_files, wrong` and its wave in words."""
    names = [node.plan_id for node in graph.nodes]
    needs = [", ".join(names[before] for before in sorted(each)) for each in graph.needs()]
    rows = [
        (node.plan_id, node.phase, node.wave, node.derived, node.title, before, len(node.files), "; ".join(wrong))
        for node, before, wrong in zip(graph.nodes, needs, _violations(graph), strict=True)
    ]
    columns = ["plan", "phase", "wave", "derived", "title", "waits_for", "n_files", "wrong"]
    table = pd.DataFrame(rows, columns=columns).astype({"wave": int, "derived": "Int64", "n_files": int})
    derived = ["none" if node.derived is None else f"{node.derived}" for node in graph.nodes]
    waves = [
        f"{node.wave}" if f"{node.wave}" == text else f"{node.wave} (from dependencies: {text})"
        for node, text in zip(graph.nodes, derived, strict=True)
    ]
    return table.assign(wave_text=waves)


def _violations(graph: PlanGraph) -> list[list[str]]:
    """Return what is wrong with each plan, in words, each once."""
    violations: list[list[str]] = [[] for _ in graph.nodes]
    for cycle in graph.cycles:
        for at in cycle:
            violations[at].append("in a cycle")
    for conflict in graph.conflicts:
        for at in conflict.plans:
            violations[at].append(f"same file: {conflict.file.rpartition('/')[2] or conflict.file}")
    for edge in graph.edges:
        early = graph.nodes[edge.after].wave <= graph.nodes[edge.before].wave
        if early and not edge.across and not any(edge.after in cycle for cycle in graph.cycles):
            violations[edge.after].append("too early")
    for unmet in graph.unmet:
        violations[unmet.plan].append(f"waits for {unmet.name}, unknown here")
    return [list(dict.fromkeys(each)) for each in violations]


class Layout(NamedTuple):
    """Places in pixels: boxes by column name, a row a wave and a phase, points of arrows, and the whole."""

    boxes: dict[str, list[float]]  # x, x2, y, y2, in the order of the nodes
    waves: pd.DataFrame  # x, name
    phases: pd.DataFrame  # y, name
    arrows: pd.DataFrame  # edge, step, x, y, head, wrong
    box: float
    width: float
    height: float


def lay_out(graph: PlanGraph, options: ChartOptions) -> Layout:
    """Return the places of everything that is drawn; columns are waves, bands are phases, and no boxes overlap.

    Plans of a phase and wave are below each other in their order. An arrow leaves a box at its right and enters one
    at its left; between columns it runs beside the boxes, along rows in the space above them.
    """
    waves = sorted({node.wave for node in graph.nodes})
    columns = {wave: at for at, wave in enumerate(waves)}
    rows, tops = _rows_and_phases(graph)
    left = GUTTER_PX if len(tops) > 1 else 0
    default = min(MAX_BOX_PX, max(MIN_BOX_PX, ALL_PX / len(waves) - BETWEEN_PX))
    n, least = len(waves), left + len(waves) * (LEAST_BOX_PX + BETWEEN_PX)
    width = options.px("width", left + n * (default + BETWEEN_PX), least, count(n, "wave"))
    box = (width - left) / n - BETWEEN_PX
    deep, rest = max(rows) + 1, HEAD_PX + GAP_PX
    height = options.px("height", deep * ROW_PX + rest, deep * ROW_PX + rest, count(deep, "row of boxes"))
    pitch = (height - rest) / deep
    x: list[float] = [left + columns[node.wave] * (box + BETWEEN_PX) for node in graph.nodes]
    y: list[float] = [HEAD_PX + pitch * row + (ROW_PX - BOX_PX) for row in rows]
    boxes = {"x": x, "x2": [place + box for place in x], "y": y, "y2": [place + BOX_PX for place in y]}
    centres = [left + at * (box + BETWEEN_PX) + box / 2 for at in columns.values()]
    phases = [short(phase, MAX_CHARACTERS, keep_end=False) if phase else "" for phase in tops]
    return Layout(
        boxes=boxes,
        waves=pd.DataFrame({"x": centres, "name": [f"wave {wave}" for wave in waves]}),
        phases=pd.DataFrame({"y": [HEAD_PX + pitch * top + 4 for top in tops.values()], "name": phases}),
        arrows=_arrow_points(graph, boxes),
        box=box,
        width=width,
        height=height,
    )


def _rows_and_phases(graph: PlanGraph) -> tuple[list[int], dict[str, int]]:
    """Return the row of each plan, and the first row of each phase."""
    within: list[int] = []
    taken: dict[tuple[str, int], int] = defaultdict(int)
    deepest: dict[str, int] = {}
    for node in graph.nodes:
        within.append(taken[node.phase, node.wave])
        taken[node.phase, node.wave] += 1
        deepest[node.phase] = max(deepest.get(node.phase, 0), taken[node.phase, node.wave])
    tops = dict(zip(deepest, accumulate([0, *deepest.values()]), strict=False))
    return [tops[node.phase] + row for node, row in zip(graph.nodes, within, strict=True)], tops


def _arrow_points(graph: PlanGraph, boxes: dict[str, list[float]]) -> pd.DataFrame:
    cycles = {at: number for number, cycle in enumerate(graph.cycles) for at in cycle}
    points = []
    for number, edge in enumerate(graph.edges):
        route = _route(edge, boxes)
        cycle = cycles.get(edge.before, -1)
        early = not edge.across and graph.nodes[edge.after].wave <= graph.nodes[edge.before].wave
        wrong = early or (cycle >= 0 and cycles.get(edge.after) == cycle)
        points += [(number, step, *place, step == len(route) - 1, wrong) for step, place in enumerate(route)]
    return pd.DataFrame(points, columns=["edge", "step", "x", "y", "head", "wrong"])


def _route(edge: Edge, boxes: dict[str, list[float]]) -> list[tuple[float, float]]:
    """Return the points of an arrow: straight to the next column, else along the space above the row of its end."""
    x1, y1 = boxes["x2"][edge.before], (boxes["y"][edge.before] + boxes["y2"][edge.before]) / 2
    x2, y2 = boxes["x"][edge.after], (boxes["y"][edge.after] + boxes["y2"][edge.after]) / 2
    lane = edge.after % LANES
    if 0 < x2 - x1 < BETWEEN_PX + 1:
        return [(x1, y1), (x1 + GAP_PX, y1), (x2 - 2 * GAP_PX, y2), (x2, y2)]
    out, into = x1 + 6 + 4 * lane, x2 - 12 - 4 * (LANES - 1 - lane) / 2
    above = boxes["y"][edge.after] - 3 - 1.6 * lane
    return [(x1, y1), (out, y1), (out, above), (into, above), (into, y2), (x2, y2)]


def _bands(layout: Layout) -> alt.LayerChart:
    """Draw the names of waves above, of phases at the left, and lines between phases."""
    waves = alt.Chart(inline(layout.waves)).mark_text(color=FAINT, fontWeight="bold", aria=False)
    phases = alt.Chart(inline(layout.phases)).encode(y=y_of("y"))
    lines = phases.mark_rule(stroke=LINE, aria=False).encode(x=x_at(0), x2=x2_at(layout.width))
    names = phases.mark_text(
        align="left", baseline="top", fontSize=SIZE - 1, color=FAINT, aria=False, dy=8, x=0, limit=GUTTER_PX - GAP_PX
    )
    parts = [waves.encode(x=x_of("x"), y=y_at(8), text=text_of("name")), lines, names.encode(text=text_of("name"))]
    return alt.LayerChart(layer=parts if len(layout.phases) > 1 else parts[:1])


def _arrows(layout: Layout) -> list[alt.LayerChart]:
    """Draw the arrows, dashed and red where a wave does not allow them; no layer without any."""
    if layout.arrows.empty:
        return []
    base = alt.Chart(inline(layout.arrows)).encode(x=x_of("x"), y=y_of("y"))
    color = alt.when("datum.wrong").then(alt.value(VERMILLION)).otherwise(alt.value(DARK_GREY))
    dash = alt.when("datum.wrong").then(alt.value([4, 3])).otherwise(alt.value([1, 0]))
    lines = base.mark_line(strokeWidth=1.3, aria=False).encode(
        detail=alt.Detail("edge:N"), order=alt.Order("step:Q"), color=color, strokeDash=dash
    )
    heads = base.transform_filter("datum.head").mark_point(
        shape="triangle-right", filled=True, size=60, opacity=1, xOffset=-4, aria=False
    )
    return [alt.LayerChart(layer=[lines, heads.encode(color=color)])]


def _boxes(rows: pd.DataFrame) -> list[alt.Chart]:
    """Draw boxes in ink, and over them those of plans with violations, dashed and in red.

    A layer without a box is left out: a screen reader would meet a picture without a name.
    """
    look: dict[str, Any] = {"fill": PAPER, "fillOpacity": 1, "cornerRadius": 4}
    looks: dict[bool, dict[str, Any]] = {False: {"stroke": INK, "strokeWidth": 1}}
    looks[True] = {"stroke": VERMILLION, "strokeWidth": 2, "strokeDash": [5, 3]}
    encoded: dict[str, Any] = {"x": x_of("x"), "x2": "x2", "y": y_of("y"), "y2": "y2", **hover(FIELDS)}
    parts = {wrong: rows[(rows["wrong"] != "") == wrong] for wrong in looks}
    return [
        alt.Chart(inline(part)).encode(**encoded).mark_rect(**look, **looks[wrong])
        for wrong, part in parts.items()
        if len(part)
    ]


def _texts(rows: pd.DataFrame, layout: Layout) -> list[alt.Chart]:
    """Write up to three lines in each box: the plan's id, its title, and what is wrong; cut where the box ends."""
    texts = pd.DataFrame(
        {
            "left": rows["x"] + GAP_PX,
            "y": rows["y"],
            "line1": [short(plan, MAX_CHARACTERS) for plan in rows["plan"]],
            "line2": [short(title, MAX_CHARACTERS, keep_end=False) if title else "" for title in rows["title"]],
            "line3": [short(wrong, MAX_CHARACTERS, keep_end=False) if wrong else "" for wrong in rows["wrong"]],
        }
    )
    base = alt.Chart(inline(texts)).encode(x=x_of("left"), y=y_of("y"))
    look: dict[str, Any] = {"align": "left", "baseline": "top", "aria": False, "limit": layout.box - 2 * GAP_PX}
    lines: list[dict[str, Any]] = [
        {"dy": 5, "fontWeight": "bold", "fontSize": SIZE},
        {"dy": 20, "fontSize": SIZE - 2, "color": FAINT},
        {"dy": 33, "fontSize": SIZE - 2, "color": RED_TEXT, "fontWeight": "bold"},
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
        f"Columns are waves: stated by {count(stated, 'plan')}, for the others derived from the arrows;"
        f" {differ:,} state another wave than the derived one.",
        f"{count(len(graph.cycles), 'cycle')}; {count(len(graph.conflicts), 'file')} that several plans of one wave"
        f" modify; {count(len(graph.unmet), 'missing plan')} that others wait for.",
    )


def _not_drawn(every: PlanGraph, drawn: PlanGraph) -> str:
    """Return how much of what is wrong concerns plans that are left out; "" for nothing."""
    pairs = (
        (every.cycles, drawn.cycles, "cycle"),
        (every.conflicts, drawn.conflicts, "modified file"),
        (every.unmet, drawn.unmet, "missing plan"),
    )
    words = [count(len(whole) - len(part), noun) for whole, part, noun in pairs if len(part) < len(whole)]
    return f"Violations left out with them: {', '.join(words)}." if words else ""


def _description(rows: pd.DataFrame) -> str:
    lines = []
    for plan, wave, before, wrong in rows[["plan", "wave", "waits_for", "wrong"]].itertuples(index=False):
        waits = f" waits for {before}" if before else ""
        lines.append(f"{plan} in wave {wave}{waits}{f' ({wrong})' if wrong else ''}")
    return plain(f"Graph of plans by wave. {'; '.join(lines)}.")
