"""The frame that charts of scores share: plans down, a panel from 1 to 10 for each dimension across."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.labels import short
from verifyplan.charts.pixels import x_of, y2_at, y_at
from verifyplan.charts.score_rows import LEAST, MOST
from verifyplan.charts.tables import inline, words
from verifyplan.charts.theme import FAINT, LINE, SIZE

UNIT, GAP, ROW = 9, 26, 21
"""Pixels from score to score, from panel to panel, and from plan to plan."""
PANEL = (MOST - LEAST) * UNIT
TICKS = (1, 4, 7, 10)
LINE_HEIGHT = 15
LETTERS, WIDEST = 13, 15
"""A dimension's name of more letters than the first is broken into two lines, of so many letters as the second."""


def panels(rows: pd.DataFrame, marks: list[alt.Chart], notes: dict[str, str] | None = None) -> alt.LayerChart:
    """The marks over their frame: lines at scores, the names of dimensions above, those of plans at the left.

    Reads `plan, name`, and is the data of the marks, which are charts without any, placed by `place` at `x:Q`. `notes`
    says something more under the name of a dimension.
    """
    height = ROW * rows["plan"].nunique()
    frame = _frame(list(dict.fromkeys(rows["name"])), notes or {}, height)
    y = row_of(rows)
    layers = [*frame, *(mark.encode(y=y) for mark in marks)]
    return alt.LayerChart(data=inline(rows), layer=layers, width=width_of(rows), height=height)


def row_of(rows: pd.DataFrame) -> alt.Y:
    """The rows of plans, in the order of the table."""
    scale = alt.Scale(domain=list(dict.fromkeys(rows["plan"])), type="band")
    axis = alt.Axis(grid=False, ticks=False, domain=False, labelLimit=0, labelPadding=14)
    return alt.Y(field="plan", type="nominal", scale=scale, axis=axis, title=None)


def place(rows: pd.DataFrame, score: str = "score") -> pd.Series[float]:
    """Where the scores of a column stand, in pixels from the left edge of the first panel."""
    left = {name: number * (PANEL + GAP) for number, name in enumerate(dict.fromkeys(rows["name"]))}
    return rows["name"].map(left).astype("float64") + (rows[score] - LEAST) * UNIT


def width_of(rows: pd.DataFrame) -> int:
    """Pixels across of all panels."""
    return int(rows["name"].nunique()) * (PANEL + GAP) - GAP


def _frame(names: list[str], notes: dict[str, str], height: int) -> list[alt.Chart]:
    corners = pd.DataFrame([(name, score) for name in names for score in TICKS])
    corners.columns = pd.Index(["name", "score"])
    ticks = alt.Chart(inline(corners.assign(x=place(corners)))).encode(x=x_of("x"))
    heads = _headings(names, notes)
    deepest = max(text.count("\n") for text in heads["text"])
    return [
        ticks.mark_rule(color=LINE, aria=False).encode(y=y_at(0), y2=y2_at(height)),
        ticks.mark_text(fontSize=SIZE - 1, color=FAINT, aria=False).encode(y=y_at(-10), text=words("score")),
        alt.Chart(inline(heads))
        .mark_text(align="left", lineBreak="\n", lineHeight=LINE_HEIGHT, fontWeight="bold", aria=False)
        .encode(x=x_of("x"), y=y_at(-28 - LINE_HEIGHT * deepest), text=words("text")),
    ]


def _headings(names: list[str], notes: dict[str, str]) -> pd.DataFrame:
    """The names of the dimensions, broken into as many lines each, so that they end at one height."""
    texts = [_lines(name, notes.get(name, "")) for name in names]
    deepest = max(map(len, texts))
    told = ["\n".join([""] * (deepest - len(lines)) + lines) for lines in texts]
    heads = pd.DataFrame({"name": names, "score": LEAST, "text": told})
    return heads.assign(x=place(heads))


def _lines(name: str, note: str) -> list[str]:
    """The name on two lines, broken at the space that makes the longer one shortest, and the note below."""
    words = name.split()
    ways = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    broken = min(ways, key=lambda two: max(map(len, two))) if ways and len(name) > LETTERS else (name,)
    return [*(short(line, WIDEST) for line in broken), *([note] if note else [])]
