"""Where the boxes and arrows of a graph of plans stand: columns are waves, bands are phases; nothing overlaps."""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import NamedTuple

import pandas as pd

from verifyplan.charts.labels import short
from verifyplan.documents.dimensions.plan_graph import Edge, PlanGraph

BOX, ROW, HEAD = 48, 62, 24
"""Pixels of a box in height, from one row to the next, and of the waves' names above."""
GAP = 7
"""Pixels between a box's edge and its text."""
WIDEST, NARROWEST, BETWEEN = 178, 62, 44
"""Pixels across of a box at most and at least, and between two columns."""
ALL = 1_060
"""Pixels across that the columns share before boxes get narrower."""
GUTTER = 150
"""Pixels at the left for the names of phases, where there are several."""
LANES = 6
"""So many arrows run beside each other before the next one runs over the first."""


class Layout(NamedTuple):
    """Places in pixels: boxes by column name, a row a wave and a phase, points of arrows, and the whole."""

    boxes: dict[str, list[float]]  # x, x2, y, y2, in the order of the nodes
    waves: pd.DataFrame  # x, name
    phases: pd.DataFrame  # y, name
    arrows: pd.DataFrame  # edge, step, x, y, head, wrong
    box: float
    width: float
    height: float


def lay_out(graph: PlanGraph) -> Layout:
    """The places of all that is drawn.

    Plans of a phase and wave stand below each other in their order. An arrow leaves a box at its right and enters one
    at its left; between columns it runs beside the boxes, along rows in the space above them.
    """
    waves = sorted({node.wave for node in graph.nodes})
    columns = {wave: at for at, wave in enumerate(waves)}
    box = min(WIDEST, max(NARROWEST, ALL / len(waves) - BETWEEN))
    rows, tops = _rows(graph)
    left = GUTTER if len(tops) > 1 else 0
    x: list[float] = [left + columns[node.wave] * (box + BETWEEN) for node in graph.nodes]
    y: list[float] = [HEAD + ROW * row + (ROW - BOX) for row in rows]
    boxes = {"x": x, "x2": [one + box for one in x], "y": y, "y2": [one + BOX for one in y]}
    centres = [left + at * (box + BETWEEN) + box / 2 for at in columns.values()]
    return Layout(
        boxes=boxes,
        waves=pd.DataFrame({"x": centres, "name": [f"wave {wave}" for wave in waves]}),
        phases=pd.DataFrame({"y": [HEAD + ROW * top + 4 for top in tops.values()], "name": [_name(p) for p in tops]}),
        arrows=_arrows(graph, boxes),
        box=box,
        width=left + len(waves) * (box + BETWEEN),
        height=HEAD + ROW * (max(rows) + 1) + GAP,
    )


def _name(phase: str) -> str:
    return short(phase, 60, keep_end=False) if phase else ""


def _rows(graph: PlanGraph) -> tuple[list[int], dict[str, int]]:
    """The row of each plan, and the first row of each phase."""
    within: list[int] = []
    taken: dict[tuple[str, int], int] = defaultdict(int)
    deepest: dict[str, int] = {}
    for node in graph.nodes:
        within.append(taken[node.phase, node.wave])
        taken[node.phase, node.wave] += 1
        deepest[node.phase] = max(deepest.get(node.phase, 0), taken[node.phase, node.wave])
    firsts = accumulate([0, *deepest.values()])
    tops = dict(zip(deepest, firsts, strict=False))
    return [tops[node.phase] + row for node, row in zip(graph.nodes, within, strict=True)], tops


def _arrows(graph: PlanGraph, boxes: dict[str, list[float]]) -> pd.DataFrame:
    circles = {at: number for number, circle in enumerate(graph.circles) for at in circle}
    points = []
    for number, edge in enumerate(graph.edges):
        route = _route(edge, boxes)
        circle = circles.get(edge.before, -1)
        early = not edge.across and graph.nodes[edge.after].wave <= graph.nodes[edge.before].wave
        wrong = early or (circle >= 0 and circles.get(edge.after) == circle)
        last = len(route) - 1
        points += [(number, step, *place, step == last, wrong) for step, place in enumerate(route)]
    return pd.DataFrame(points, columns=["edge", "step", "x", "y", "head", "wrong"])


def _route(edge: Edge, boxes: dict[str, list[float]]) -> list[tuple[float, float]]:
    """The points of an arrow: straight to the next column, else along the space above the row of its end."""
    x1, y1 = boxes["x2"][edge.before], (boxes["y"][edge.before] + boxes["y2"][edge.before]) / 2
    x2, y2 = boxes["x"][edge.after], (boxes["y"][edge.after] + boxes["y2"][edge.after]) / 2
    lane = edge.after % LANES
    if 0 < x2 - x1 <= BETWEEN:
        return [(x1, y1), (x1 + GAP, y1), (x2 - 2 * GAP, y2), (x2, y2)]
    out, into = x1 + 6 + 4 * lane, x2 - 12 - 4 * (LANES - 1 - lane) / 2
    above = boxes["y"][edge.after] - 3 - 1.6 * lane
    return [(x1, y1), (out, y1), (out, above), (into, above), (into, y2), (x2, y2)]
