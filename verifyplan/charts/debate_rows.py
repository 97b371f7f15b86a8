"""The marks of the debates' chart: a strip of bars for each debate, its task at the left and its end at the right."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from verifyplan.charts.hover import hover, tooltip
from verifyplan.charts.pixels import x_at, x_of, y_at, y_of
from verifyplan.charts.tables import inline, words
from verifyplan.charts.theme import BLUE, FAINT, INK, LINE, ORANGE, PAPER, SIZE, VERMILLION

FIELDS = {
    "run_id": "Debate",
    "task": "Task",
    "stage": "At",
    "told": "Lines of the diff",
    "opening": "Architect asks",
    "built": "Builder says",
    "verified": "Architect verifies",
    "ended": "Ended",
    "where": "In",
}
ALL, LEAST, MOST = 360, 30, 130
"""Pixels across of all turns together, and of one at least and at most."""
TALLEST = {1: 110, 2: 70, 3: 60}
LOW = 26
"""Pixels of the longest bar, by the number of debates; where they are more."""
ABOVE, GAP, TICK = 20, 14, 6
"""Pixels for the numbers above a bar, between two debates, and of a tick."""
WIDE = 62
"""Pixels of a turn below which only the last of a debate has its number written."""
GREY = "#6b7178"
CROSSED = "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z"
"""The outline of an x; Vega's own cross is a plus."""
ENDS = {"CONVERGED": ("circle", BLUE), "FAILED": (CROSSED, VERMILLION)}
OTHER = ("triangle-up", ORANGE)
"""Shape and colour of an end."""


def debate_rows(rows: pd.DataFrame) -> alt.LayerChart:
    """A strip of bars for each debate, all on one scale.

    Reads `order, turn, diff_lines, same, last, told, named, run, ended, where`, the texts of `FIELDS` and `hover`;
    debates together, in their order.
    """
    turns, n = int(rows["turn"].max()), rows["order"].nunique()
    step = round(min(max(ALL / turns, LEAST), MOST))
    high = TALLEST.get(n, LOW)
    placed, width, pitch = _placed(rows, step, high), step * turns, high + ABOVE + GAP
    height = pitch * n - GAP
    layers = [
        *_heads(turns, step),
        *_scale(n, int(rows["diff_lines"].fillna(0).max()), (high, pitch, width)),
        _cells(),
        *_bars(),
        *_numbers(step),
        *_names(),
        *_ends(placed, width),
    ]
    return alt.LayerChart(data=inline(placed), layer=layers, width=width, height=height)


def _placed(rows: pd.DataFrame, step: int, high: int) -> pd.DataFrame:
    """The rows with their places in pixels: a bar's foot and top, and its cell."""
    most = max(int(rows["diff_lines"].fillna(0).max()), 1)
    lines = rows["diff_lines"].astype("Float64").fillna(0).astype(float)
    top = rows["order"] * (high + ABOVE + GAP)
    foot = top + ABOVE + high
    left = (rows["turn"] - 1) * step
    ends = ~rows.duplicated("order", keep="last")
    return rows.assign(
        x=left,
        x2=left + step,
        bar=left + step * 0.14,
        bar2=left + step * 0.86,
        middle=left + step / 2,
        top=top,
        foot=foot,
        y=foot - lines / most * high,
        line=foot - high / 2,
        told=rows["told"].where(ends | (step >= WIDE), ""),
        look=[_look(*row) for row in zip(rows["same"], rows["diff_lines"], rows["last"], rows["ended"], strict=True)],
        first=~rows.duplicated("order"),
        ends=ends,
    )


def _look(same: bool, lines: Any, last: bool, ended: str) -> str:
    """How a turn's bar is drawn."""
    if pd.isna(lines):
        return "none"
    if same:
        return "same"
    return "verified" if last and ended.startswith("CONVERGED") else "draft"


def _heads(turns: int, step: int) -> list[alt.Chart]:
    """The turns' numbers above their columns."""
    name = "turn {:,}" if step >= WIDE else "{:,}"
    heads = pd.DataFrame({"at": [(number + 0.5) * step for number in range(turns)]})
    heads["text"] = [name.format(number + 1) for number in range(turns)]
    text = alt.Chart(inline(heads)).mark_text(color=FAINT, fontWeight="bold", aria=False)
    layers = [text.encode(x=x_of("at"), y=y_at(-10), text=words("text"))]
    if step < WIDE:
        left = alt.Chart(inline(pd.DataFrame({"text": ["turn"]})))
        side = left.mark_text(align="right", color=FAINT, fontWeight="bold", aria=False)
        layers.append(side.encode(x=x_at(-12), y=y_at(-10), text=words("text")))
    return layers


def _scale(n: int, most: int, sizes: tuple[int, int, int]) -> list[alt.Chart]:
    """A line at 0 below the bars of each debate and a tick at the most lines of all, with their numbers.

    A whole line there would run through the numbers of other bars.
    """
    high, pitch, width = sizes
    foot = [ABOVE + high + pitch * number for number in range(n)]
    lines = pd.DataFrame({"y": foot, "text": "0", "to": width})
    if most:
        tops = pd.DataFrame({"y": [place - high for place in foot], "text": f"{most:,}", "to": TICK})
        lines = pd.concat([lines, tops], ignore_index=True)
    base = alt.Chart(inline(lines.assign(**{"from": 0}))).encode(y=y_of("y"))
    rule = base.mark_rule(color=LINE, aria=False).encode(x=x_of("from"), x2="to")
    small = base.mark_text(align="right", fontSize=SIZE - 3, color=FAINT, aria=False)
    return [rule, small.encode(x=x_at(-5), text=words("text"))]


def _cells() -> alt.Chart:
    """What is pointed at: the whole place of a turn, since the bar of a blank diff has no height."""
    cell = alt.Chart().mark_rect(fill=PAPER, fillOpacity=0)
    placed: alt.Chart = cell.encode(x=x_of("x"), x2="x2", y=y_of("top"), y2="foot", **hover(FIELDS))
    return placed


def _bars() -> list[alt.Chart]:
    """The bars: filled, or hollow and dashed where the diff is the one of the turn before; a line shows one of 0."""
    base = alt.Chart().encode(x=x_of("bar"), x2="bar2", **tooltip(FIELDS))
    looks: dict[str, dict[str, Any]] = {
        "draft": {"fill": GREY, "stroke": GREY},
        "verified": {"fill": BLUE, "stroke": BLUE},
        "same": {"fill": PAPER, "stroke": VERMILLION, "strokeDash": [4, 3]},
    }
    bars = []
    for name, look in looks.items():
        own = base.transform_filter(f"datum.look === '{name}'").encode(y=y_of("y"))
        bars.append(own.mark_rect(aria=False, strokeWidth=2, **look).encode(y2="foot"))
    return bars


def _numbers(step: int) -> list[alt.Chart]:
    """Lines and their change above each bar; of narrow bars of the last alone, up to its right edge."""
    narrow = step < WIDE
    look: dict[str, Any] = {"align": "right" if narrow else "center", "fontSize": SIZE - 1, "aria": False, "dy": -9}
    text = alt.Chart().mark_text(**look)
    place = {"x": x_of("bar2" if narrow else "middle"), "y": y_of("y"), "text": words("told")}
    color = alt.when("datum.look === 'none'").then(alt.value(FAINT)).otherwise(alt.value(INK))
    return [text.encode(**place, color=color, **tooltip(FIELDS))]


def _names() -> list[alt.Chart]:
    """The task and, smaller, the debate's id, left of the bars."""
    base = alt.Chart().transform_filter("datum.first").encode(x=x_at(-40), y=y_of("line"))
    task = base.mark_text(align="right", aria=False, dy=-8).encode(text=words("named"))
    run = base.mark_text(align="right", aria=False, dy=8, color=FAINT, fontSize=SIZE - 1).encode(text=words("run"))
    return [task, run]


def _ends(placed: pd.DataFrame, width: int) -> list[alt.Chart]:
    """How each debate ended: a shape, the words, and below them the turn; to the right of the bars."""
    ends = placed.loc[placed["ends"], ["line", "ended", "where"]]
    kinds = [ENDS.get(end.split(" ")[0], OTHER) for end in ends["ended"]]
    drawn = ends.assign(shape=[shape for shape, _ in kinds], color=[color for _, color in kinds])
    base = alt.Chart(inline(drawn)).encode(y=y_of("line"))
    shape = base.mark_point(filled=True, size=90, opacity=1, aria=False, yOffset=-8).encode(
        x=x_at(width + 18),
        shape=alt.Shape(field="shape", type="nominal", scale=None),
        color=alt.Color(field="color", type="nominal", scale=None),
    )
    words_at = base.encode(x=x_at(width + 30))
    bold = words_at.mark_text(align="left", fontWeight="bold", aria=False, dy=-8).encode(text=words("ended"))
    small = words_at.mark_text(align="left", color=FAINT, fontSize=SIZE - 1, aria=False, dy=8)
    return [shape, bold, small.encode(text=words("where"))]
