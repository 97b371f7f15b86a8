"""Draw where findings move from one condition to the other, class by class."""

from __future__ import annotations

from typing import Any, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.comparison import Comparison
from verifyplan.charts.comparisons import LabelledComparison, no_votes_sentence, read_comparison
from verifyplan.charts.encodings import color_of, hover, inline, tooltip, with_hover
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, percent, sentences
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.theme import FAINT, INK, LINE, ORANGE, SIZE, SKY
from verifyplan.frames.load import Runs
from verifyplan.protocol.vote import CLASSIFICATIONS

TITLE = "Where findings move"
KEY = "Outlined: same class. Blue: nearer to full-consensus. Orange: nearer to worker-unique."
SAME, NEARER, FARTHER = "same class", "nearer to full-consensus", "nearer to worker-unique"
FIELDS = {"from_text": "From", "to_text": "To", "n": "Findings", "move": "Move"}
TOTAL = "all"
CELL_WIDTH_PX, CELL_HEIGHT_PX = 106, 46
"""Pixels across of a cell and from top to bottom."""
MAX_OPACITY = 0.5
"""Opacity of the fullest cell: text in the colours of any theme is read on it."""
MIN_CELL_WIDTH_PX, MIN_CELL_HEIGHT_PX = 44, 22


@chart
def transitions(data: Comparison | Runs, **options: Unpack[Options]) -> Figure:
    """Draw a 4 x 4 map of counts: classes under the first condition down, under the second across, with totals.

    Reads a comparison's `transitions`, with the classes as its index and columns, or compares both modes of runs.
    `width` and `height` are of all cells, and `limit` has no meaning. Findings that keep their class
    are in outlined cells on the diagonal; those that move are blue below it and orange above it, the
    deeper the more of the largest such cell. Missing classes count 0; without findings the figure says so.

    >>> import verifyplan as vp
    >>> figure = transitions(vp.compare("stdlib-claims", resamples=50))
    >>> figure.description[:60]
    'Table of findings by class under collaborative and under adv'
    """
    chosen = ChartOptions.of(options)
    chosen.refuse("limit", "all four classes are drawn")
    labelled = read_comparison(data, chosen)
    counts = labelled.transitions
    cells = _cells(counts)
    total = int(cells["n"].sum())
    if not total:
        return empty(chosen, TITLE, "There are no findings to follow.", counts)
    first, second = labelled.distinct_labels(80)
    moved = {move: int(cells.loc[cells["move"] == move, "n"].sum()) for move in (SAME, NEARER, FARTHER)}
    some = cells[cells["n"] > 0].sort_values("n", ascending=False, kind="stable")
    each = some["before"] + " to " + some["after"] + ": " + some["n"].map("{:,}".format)
    steps = len(CLASSIFICATIONS) + 1
    width = chosen.px("width", CELL_WIDTH_PX * steps, MIN_CELL_WIDTH_PX * steps)
    height = chosen.px("height", CELL_HEIGHT_PX * steps, MIN_CELL_HEIGHT_PX * steps)
    return figure(
        lambda: _map(labelled, cells, width, height),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=sentences(
            f"Classes of {count(total, 'finding')} (n) under {first} (down) and under {second} (across)."
            f" {moved[SAME]:,} ({percent(moved[SAME] / total, 1)}) keep their class (outlined diagonal);"
            f" {moved[NEARER]:,} move nearer to full-consensus (blue, below the diagonal),"
            f" {moved[FARTHER]:,} nearer to worker-unique (orange, above it).",
            no_votes_sentence(labelled),
            "Counts, so without intervals.",
        ),
        data=counts,
        description=f"Table of findings by class under {first} and under {second}. From and to: {'; '.join(each)}.",
        synthetic=labelled.comparison.synthetic,
    )


def _cells(counts: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell of the 4 x 4 table: `before, after, n, move`."""
    order = list(CLASSIFICATIONS)
    table = pd.DataFrame(counts.to_numpy(), list(map(str, counts.index)), list(map(str, counts.columns)))
    whole = table.reindex(index=order, columns=order).fillna(0).astype(int).to_numpy()
    cells = [
        (before, after, int(whole[i, j]), SAME if i == j else NEARER if j < i else FARTHER)
        for i, before in enumerate(order)
        for j, after in enumerate(order)
    ]
    return pd.DataFrame(cells, columns=["before", "after", "n", "move"])


def _map(labelled: LabelledComparison, cells: pd.DataFrame, width: float, height: float) -> alt.LayerChart:
    first, second = labelled.distinct_labels(26)
    from_text = cells["before"] + " under " + labelled.labels[0]
    to_text = cells["after"] + " under " + labelled.labels[1]
    most = cells["n"].groupby(cells["move"].eq(SAME)).transform("max").clip(lower=1)  # few move of many that stay
    rows = with_hover(cells.assign(from_text=from_text, to_text=to_text, depth=cells["n"] / most), FIELDS)
    wide = width >= CELL_WIDTH_PX * (len(CLASSIFICATIONS) + 1)
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("after:N", **_class_axis(second, orient="top", labelAngle=0 if wide else -35)),
        y=alt.Y("before:N", **_class_axis(first)),
    )
    moves = alt.Scale(domain=[SAME, NEARER, FARTHER], range=["#b9bec5", SKY, ORANGE])
    depth = alt.Scale(type="sqrt", domain=[0, 1], range=[0, MAX_OPACITY])
    tile = base.mark_rect(stroke=LINE, strokeWidth=1).encode(
        color=alt.Color("move:N", scale=moves, legend=None),
        fillOpacity=alt.FillOpacity("depth:Q", scale=depth, legend=None),
        **hover(FIELDS),
    )
    kept = base.transform_filter(f"datum.move === '{SAME}'")
    outline = kept.mark_rect(filled=False, stroke=INK, strokeWidth=2, aria=False)
    ink = alt.when("datum.n > 0").then(alt.value(INK)).otherwise(alt.value(FAINT))
    number = base.mark_text(fontSize=SIZE + 3, aria=False).encode(text=alt.Text("n:Q", format=",d"), color=ink)
    totals = number.properties(data=inline(_totals(cells))).encode(color=color_of(FAINT))
    layers = alt.LayerChart(layer=[tile, outline, number.encode(**tooltip(FIELDS)), totals])
    return layers.properties(width=width, height=height)


def _class_axis(condition: str, **look: str | int) -> dict[str, Any]:
    """Return an axis of the map: the classes under a condition, and the total."""
    scale = alt.Scale(domain=[*CLASSIFICATIONS, TOTAL])
    axis = {"domain": False, "ticks": False, "grid": False, "labelLimit": 200, **look}
    return {"scale": scale, "axis": alt.Axis.from_dict(axis), "title": f"Class under {condition}"}


def _totals(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the counts of each class under either condition, as an additional row and column of the map."""
    right = cells.groupby("before")["n"].sum().reset_index().assign(after=TOTAL)
    below = cells.groupby("after")["n"].sum().reset_index().assign(before=TOTAL)
    corner = pd.DataFrame({"before": [TOTAL], "after": [TOTAL], "n": [cells["n"].sum()]})
    return pd.concat([right, below, corner], ignore_index=True)
