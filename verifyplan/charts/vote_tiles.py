"""The tiles of the vote matrix: a key, and a panel for each round."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.hover import hover, tooltip, with_hover
from verifyplan.charts.tables import inline
from verifyplan.charts.theme import (
    FAINT,
    INK,
    MARK_COLORS,
    MARK_LETTERS,
    PAPER,
    SIZE,
    class_colors,
    mark_colors,
)

STEP = 22
"""Pixels from tile to tile."""
FIELDS = {
    "finding_id": "Finding",
    "summary": "Summary",
    "worker": "Worker",
    "round": "Round",
    "mark": "Vote",
    "explanation": "Explanation",
    "classification": "Class",
}
NAMED = {"finding_id": "Finding", "summary": "Summary", "classification": "Class"}
DISCOVERED, AGREE = "datum.mark === 'discovered'", "datum.mark === 'agree'"


def vote_tiles(rows: pd.DataFrame) -> alt.VConcatChart:
    """The key above, then side by side the findings' names, a panel for each round, and the classes.

    Reads `finding, voter, mark, round, classification` and the texts of the tooltips, in the order drawn.
    """
    lettered = with_hover(rows.assign(letter=rows["mark"].map(MARK_LETTERS.__getitem__)), FIELDS)
    panels = [_panel(lettered, number) for number in sorted(set(rows["round"]))]
    row = alt.HConcatChart(hconcat=[_names(rows), *panels, _classes(rows)], spacing=18)
    own = alt.Resolve(scale={"color": "independent", "fill": "independent"})  # votes and classes differ in colours
    return alt.VConcatChart(vconcat=[_key(lettered), row.properties(resolve=own)], spacing=14, resolve=own)


def _finding(rows: pd.DataFrame) -> alt.Y:
    scale = alt.Scale(domain=list(dict.fromkeys(rows["finding"])), type="band", paddingInner=0.1)
    return alt.Y("finding:N", scale=scale, axis=None)


def _names(rows: pd.DataFrame) -> alt.Chart:
    """The findings' names, as wide as they are."""
    findings = with_hover(rows.drop_duplicates("finding")[["finding", *NAMED]], NAMED)
    base = alt.Chart(inline(findings), width=1, height=STEP * len(findings))
    names: alt.Chart = base.mark_text(align="left", x=0).encode(y=_finding(rows), text="finding:N", **hover(NAMED))
    return names


def _panel(rows: pd.DataFrame, number: int) -> alt.LayerChart:
    """One round's votes; round 0 has the discoverers."""
    workers = list(dict.fromkeys(rows.sort_index()["voter"]))
    axis = alt.Axis(orient="top", labelAngle=-45, domain=False, ticks=False, grid=False, labelLimit=160)
    scale = alt.Scale(domain=workers, type="band", paddingInner=0.1)
    base = alt.Chart(inline(rows[rows["round"] == number])).encode(
        x=alt.X("voter:N", scale=scale, axis=axis, title=None), y=_finding(rows)
    )
    layers = alt.LayerChart(layer=[_tiles(base), _letters(base).encode(**tooltip(FIELDS))])
    title = alt.Title(f"Round {number}" if number else "Found by", fontSize=SIZE, offset=6)
    height = STEP * rows["finding"].nunique()
    return layers.properties(title=title, width=STEP * len(workers), height=height)


def _tiles(base: alt.Chart) -> alt.Chart:
    tiles: alt.Chart = base.mark_rect(strokeWidth=1).encode(
        color=alt.Color("mark:N", scale=mark_colors(), legend=None),
        stroke=alt.when(DISCOVERED).then(alt.value(FAINT)).otherwise(alt.value("transparent")),
        **hover(FIELDS),
    )
    return tiles


def _letters(base: alt.Chart, right: int = 0) -> alt.Chart:
    """The marks' letters, in the ink that stands out from the tile."""
    ink = alt.when(AGREE).then(alt.value(PAPER)).otherwise(alt.value(INK))
    text = base.mark_text(fontSize=SIZE - 1, fontWeight="bold", xOffset=right, aria=False)
    letters: alt.Chart = text.encode(text="letter:N", color=ink)
    return letters


def _classes(rows: pd.DataFrame) -> alt.LayerChart:
    """The class of each finding, as a colour and in words."""
    findings = rows.drop_duplicates("finding")[["finding", "classification"]]
    base = alt.Chart(inline(findings)).encode(y=_finding(rows))
    swatch = base.mark_square(size=110, opacity=1, aria=False).encode(
        x=alt.value(6), color=alt.Color("classification:N", scale=class_colors(), legend=None)
    )
    name = base.mark_text(align="left", aria=False).encode(x=alt.value(18), text="classification:N")
    title = alt.Title("Class", fontSize=SIZE, offset=6)
    layers = alt.LayerChart(layer=[swatch, name])
    return layers.properties(title=title, width=1, height=STEP * len(findings))


def _key(rows: pd.DataFrame) -> alt.LayerChart:
    """What the letters mean: a tile and a name for each kind of vote that is drawn."""
    kinds = [mark for mark in MARK_COLORS if mark in set(rows["mark"])]
    places = [sum(40 + _width(before) for before in kinds[:i]) for i in range(len(kinds))]
    key = pd.DataFrame({"mark": kinds, "letter": [MARK_LETTERS[kind] for kind in kinds], "place": places})
    base = alt.Chart(inline(key)).encode(x=alt.X("place:Q", scale=None, axis=None))
    tile = base.mark_square(size=280, opacity=1, strokeWidth=1, xOffset=9, aria=False).encode(
        fill=alt.Fill("mark:N", scale=mark_colors(), legend=None),
        stroke=alt.when(DISCOVERED).then(alt.value(FAINT)).otherwise(alt.value("transparent")),
    )
    name = base.mark_text(align="left", xOffset=24, aria=False).encode(text="mark:N")
    return alt.LayerChart(layer=[tile, _letters(base, right=9), name]).properties(height=18)


def _width(word: str) -> float:
    """About how many pixels the word takes, in letters of the theme's size."""
    widths = dict.fromkeys("fijlt", 3.0) | dict.fromkeys("r-", 4.0) | dict.fromkeys("mw", 9.0)
    return sum(widths.get(letter, 6.6) for letter in word)
