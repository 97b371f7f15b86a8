"""Where findings move from one reading to the other, class by class."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from verifyplan.analysis.comparison import Comparison, expect_comparison
from verifyplan.charts.captions import readings, sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.hover import hover, tooltip, with_hover
from verifyplan.charts.labels import count, percent, plain
from verifyplan.charts.tables import inline
from verifyplan.charts.theme import FAINT, INK, LINE, ORANGE, SIZE, SKY
from verifyplan.charts.unchecked import unchecked
from verifyplan.protocol.vote import CLASSIFICATIONS

TITLE = "Where findings move"
KEY = "Outlined: same class. Blue: nearer to full-consensus. Orange: nearer to worker-unique."
SAME, NEARER, FARTHER = "same class", "nearer to full-consensus", "nearer to worker-unique"
FIELDS = {"told_from": "From", "told_to": "To", "n": "Findings", "move": "Move"}
TOTAL = "all"
CELL_WIDTH, CELL_HEIGHT = 106, 46


def transitions(comparison: Comparison) -> Figure:
    """A 4 x 4 map of counts: classes under `a` down, under `b` across, with totals.

    Reads `comparison.transitions`, with the classes as its index and columns. Findings that keep their class
    stand in outlined cells on the diagonal; those that move are blue below it and orange above it, the
    deeper the more. Classes that are missing count 0; without findings the figure says so.
    """
    expect_comparison(comparison)
    cells = _cells(comparison.transitions)
    if not cells["n"].sum():
        return empty(TITLE, "There are no findings to follow.", comparison.transitions)
    with unchecked():
        return figure(
            _map(comparison, cells),
            title=TITLE,
            subtitle=subtitle(KEY, comparison.synthetic),
            caption=_caption(comparison, cells),
            data=comparison.transitions,
            description=_description(comparison, cells),
        )


def _cells(counts: pd.DataFrame) -> pd.DataFrame:
    """One row a cell of the 4 x 4 table: `before, after, n, move`."""
    order = list(CLASSIFICATIONS)
    table = pd.DataFrame(counts.to_numpy(), list(map(str, counts.index)), list(map(str, counts.columns)))
    whole = table.reindex(index=order, columns=order).fillna(0).astype(int).to_numpy()
    cells = [
        (before, after, int(whole[i, j]), _move(i, j))
        for i, before in enumerate(order)
        for j, after in enumerate(order)
    ]
    return pd.DataFrame(cells, columns=["before", "after", "n", "move"])


def _move(before: int, after: int) -> str:
    if before == after:
        return SAME
    return NEARER if after < before else FARTHER


def _map(comparison: Comparison, cells: pd.DataFrame) -> alt.LayerChart:
    a, b = readings(comparison, 26)
    base = alt.Chart(inline(_told(comparison, cells))).encode(
        x=alt.X("after:N", **_classes(b, orient="top", labelAngle=0)),
        y=alt.Y("before:N", **_classes(a)),
    )
    ink = alt.when("datum.n > 0").then(alt.value(INK)).otherwise(alt.value(FAINT))
    number = base.mark_text(fontSize=SIZE + 3, aria=False).encode(text=alt.Text("n:Q", format=",d"), color=ink)
    totals = number.properties(data=inline(_totals(cells))).encode(color=alt.value(FAINT))
    layers = alt.LayerChart(layer=[*_tiles(base, int(cells["n"].max())), number.encode(**tooltip(FIELDS)), totals])
    steps = len(CLASSIFICATIONS) + 1
    return layers.properties(width=CELL_WIDTH * steps, height=CELL_HEIGHT * steps)


def _told(comparison: Comparison, cells: pd.DataFrame) -> pd.DataFrame:
    """The cells with their words for tooltips and for readers who hear them."""
    told_from = cells["before"] + " under " + plain(comparison.a)
    told_to = cells["after"] + " under " + plain(comparison.b)
    return with_hover(cells.assign(told_from=told_from, told_to=told_to), FIELDS)


def _classes(reading: str, **look: str | int) -> dict[str, Any]:
    """An axis of the map: the classes under a reading, and the total."""
    scale = alt.Scale(domain=[*CLASSIFICATIONS, TOTAL])
    axis = {"domain": False, "ticks": False, "grid": False, "labelLimit": 200, **look}
    return {"scale": scale, "axis": alt.Axis.from_dict(axis), "title": f"Class under {reading}"}


def _tiles(base: alt.Chart, most: int) -> list[alt.Chart]:
    """The coloured cells, as deep as the square root of the count, and the outlines of the diagonal."""
    moves = alt.Scale(domain=[SAME, NEARER, FARTHER], range=["#b9bec5", SKY, ORANGE])
    depth = alt.Scale(type="sqrt", domain=[0, most], range=[0, 1])
    tile = base.mark_rect(stroke=LINE, strokeWidth=1).encode(
        color=alt.Color("move:N", scale=moves, legend=None),
        fillOpacity=alt.FillOpacity("n:Q", scale=depth, legend=None),
        **hover(FIELDS),
    )
    kept = base.transform_filter(f"datum.move === '{SAME}'")
    return [tile, kept.mark_rect(filled=False, stroke=INK, strokeWidth=2, aria=False)]


def _totals(cells: pd.DataFrame) -> pd.DataFrame:
    """Counts of each class under either reading, as an additional row and column of the map."""
    right = cells.groupby("before")["n"].sum().reset_index().assign(after=TOTAL)
    below = cells.groupby("after")["n"].sum().reset_index().assign(before=TOTAL)
    corner = pd.DataFrame({"before": [TOTAL], "after": [TOTAL], "n": [cells["n"].sum()]})
    return pd.concat([right, below, corner], ignore_index=True)


def _caption(comparison: Comparison, cells: pd.DataFrame) -> str:
    total = int(cells["n"].sum())
    moved = {move: int(cells.loc[cells["move"] == move, "n"].sum()) for move in (SAME, NEARER, FARTHER)}
    a, b = readings(comparison, 80)
    return sentences(
        f"Classes of {count(total, 'finding')} (n) under {a} (down) and under {b} (across).",
        f"{moved[SAME]:,} ({percent(moved[SAME] / total)}) keep their class (outlined diagonal);"
        f" {moved[NEARER]:,} move nearer to full-consensus (blue, below the diagonal),"
        f" {moved[FARTHER]:,} nearer to worker-unique (orange, above it).",
        "Counts, so without intervals.",
        synthetic_is(comparison.synthetic),
    )


def _description(comparison: Comparison, cells: pd.DataFrame) -> str:
    some = cells[cells["n"] > 0].sort_values("n", ascending=False, kind="stable")
    told = some["before"] + " to " + some["after"] + ": " + some["n"].map("{:,}".format)
    a, b = readings(comparison, 80)
    return f"Table of findings by class under {a} and class under {b}. From and to: {'; '.join(told)}."
