"""Draw which parts of a plan were challenged, and how badly."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis import challenges
from verifyplan.charts.encodings import apart, color_of, hover, inline, text_of, with_hover, x2_at, x_at
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, first_drawn, plain, sentences, short
from verifyplan.charts.options import MIN_ROW_PX, ChartOptions, Options, chart
from verifyplan.charts.theme import FAINT, INK, LINE, PALE, PAPER, SEVERITY_COLORS, SIZE, WIDTH, color_scale
from verifyplan.errors import InputError, Problem
from verifyplan.frames.load import Runs
from verifyplan.protocol.records import SEVERITIES

COUNTS = tuple(severity.lower() for severity in SEVERITIES)
COLUMNS = ("run_id", "section", "title", "level", "first", "last", "lines", "n", *COUNTS, "worst")
TITLE = "What of the plan was challenged"
KEY = "The plan from top to bottom, a block a section, as long as its lines; colour: the worst challenge"
STRIP_PX, LEAD_PX = 54, 26
"""Pixels across of the strip, and of the lines that lead from it to the names."""
COUNTS_PX = 120
"""Pixels across of the counts beside the names."""
MAX_SECTIONS = 56
"""Sections drawn at most."""
CHARACTER_PX = 7
"""Approximate pixels of a character."""
ROW_PX, MIN_HEIGHT_PX, MAX_HEIGHT_PX = 18, 220, 900
"""Pixels from name to name, and those of the whole strip, at least and, unless the names need more, at most."""
LINE_PX = 6
"""Pixels of one line of the plan, where that fits."""
FIELDS = {"title": "Section", "where": "Where", "text": "Challenges", "worst_text": "Worst"}
COLORS: dict[str, str] = {str(name): color for name, color in SEVERITY_COLORS.items()} | {"none": PALE}


@chart
def coverage(data: pd.DataFrame | Runs, *, run_id: str | None = None, **options: Unpack[Options]) -> Figure:
    """Draw a plan's sections as a strip from top to bottom, coloured by the worst challenge that cites a line of each.

    Reads what `analysis.coverage` returns, or makes it of runs. `run_id` may be left out where there is one run.
    Sections that nobody challenged are grey; of more than `limit` (56), the worst challenged are drawn. `width`
    is of the strip with the names and counts beside it; `labels` has names for sections. Raises InputError where it is
    not clear which run is meant.

    >>> sections = [("Goal", 1, 4, 0, 0, 0), ("Copy the table", 5, 19, 0, 1, 2), ("Switch over", 20, 31, 2, 1, 0),
    ...     ("Tell the users", 32, 36, 0, 0, 1), ("Clean up", 37, 44, 0, 0, 0)]
    >>> names = ["title", "first", "last", "blocking", "significant", "minor"]
    >>> table = pd.DataFrame(sections, columns=names).assign(run_id="r", level=2, section=range(1, 6))
    >>> table["lines"] = table["last"] - table["first"] + 1
    >>> table["n"] = table[["blocking", "significant", "minor"]].sum(axis=1)
    >>> table["worst"] = [None, "SIGNIFICANT", "BLOCKING", "MINOR", None]
    >>> table.attrs["synthetic"] = True
    >>> figure = coverage(table)
    >>> figure.description[:98]
    'Strip of 5 sections. Goal (lines 1-4): not challenged; Copy the table (lines 5-19): 1 significant,'
    """
    chosen = ChartOptions.of(options)
    whole = chosen.table(data, challenges.coverage, COLUMNS, "coverage", names=["title"])
    part = _one_run(whole, run_id)
    if part.empty:
        return empty(chosen, TITLE, "There is no section to draw.", part)
    every = _rows(part)
    worst = every.sort_values(list(COUNTS), ascending=False, kind="stable")
    rows = worst.head(chosen.rows(MAX_SECTIONS)).sort_index().reset_index(drop=True)
    elsewhere = dict(whole.attrs.get("elsewhere", {})).get(rows["run_id"].iloc[0], 0)
    each = rows["name"] + " (" + rows["where"] + "): " + rows["text"]
    bare = rows.loc[rows["n"] == 0, "lines"]
    strip = _Strip.of(rows, chosen)
    return figure(
        lambda: strip.draw(rows),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=sentences(
            f"The plan's {count(len(rows), 'section')} and the challenges that cite a line of each, whatever became"
            f" of them; n: {count(int(rows['n'].sum()), 'citation')} in {count(int(rows['lines'].sum()), 'line')}.",
            first_drawn(len(rows), len(every), "section", "which were challenged less"),
            f"Nobody challenged {count(len(bare), 'section')} ({count(int(bare.sum()), 'line')}), in grey."
            if len(bare)
            else "",
            f"Not drawn: {count(elsewhere, 'challenge')} that cite no line of the plan." if elsewhere else "",
        ),
        data=part,
        description=f"Strip of {count(len(rows), 'section')}. {'; '.join(each)}.",
    )


def _one_run(whole: pd.DataFrame, run_id: str | None) -> pd.DataFrame:
    have = list(dict.fromkeys(whole["run_id"]))
    if run_id is None and len(have) > 1:
        message = f"is needed: there are {len(have)} runs"
        raise InputError(Problem("run_id", message, f"name one: {', '.join(have[:5])}"))
    if run_id is not None and run_id not in have:
        raise InputError(Problem("run_id", f"{run_id!r} has no section here", f"use one of: {', '.join(have[:5])}"))
    return whole if run_id is None else whole[whole["run_id"] == run_id].reset_index(drop=True)


def _rows(chosen: pd.DataFrame) -> pd.DataFrame:
    """Return the sections in the order of the plan, with their names and counts in words."""
    rows = chosen.sort_values("first", kind="stable").reset_index(drop=True)
    challenged = rows["worst"].notna()
    return rows.astype({"worst": "object"}).assign(
        worst=rows["worst"].astype("object").where(challenged, "none"),
        name=[short(title, 48, keep_end=False) for title in rows["title"]],
        title=rows["title"].map(plain),
        text=[
            ", ".join(f"{n:,} {severity}" for severity, n in row.items() if n) or "not challenged"
            for row in rows[list(COUNTS)].to_dict("records")
        ],
        where=[
            f"line {first:,}" if first == last else f"lines {first:,}-{last:,}"
            for first, last in zip(rows["first"], rows["last"], strict=True)
        ],
    )


def spread(middles: list[float], gap: float, low: float, high: float) -> list[float]:
    """Place names beside the middle of their section, moved apart where two would overlap."""
    places = apart(middles, gap, low + gap / 2)
    ceiling = high - gap / 2
    for i in range(len(places) - 1, -1, -1):  # what was moved beyond the end comes back up
        places[i] = min(places[i], ceiling)
        ceiling = places[i] - gap
    return places


class _Strip(NamedTuple):
    """The size of the whole in pixels, how much of its width the strip takes, and where the counts begin."""

    width: float
    height: float
    strip: float
    numbers: float

    @classmethod
    def of(cls, rows: pd.DataFrame, options: ChartOptions) -> _Strip:
        """Return the size that the options say; a wider whole has a wider strip."""
        names = LEAD_PX + 6 + CHARACTER_PX * int(rows["name"].str.len().max()) + 20
        needed = STRIP_PX + names + COUNTS_PX
        width = options.px("width", max(WIDTH, needed), needed, "the names")
        strip = STRIP_PX if options.width is None else width - names - COUNTS_PX
        tall = min(MAX_HEIGHT_PX, LINE_PX * int(rows["lines"].sum()))
        height = options.px(
            "height", max(MIN_HEIGHT_PX, ROW_PX * len(rows), tall), MIN_ROW_PX * len(rows), count(len(rows), "section")
        )
        return cls(width, height, strip, strip + names)

    def draw(self, rows: pd.DataFrame) -> alt.LayerChart:
        """Draw a block for each section, and beside it the names and counts, with lines to those that do not fit.

        Reads `name, where, text, first, last, worst` and the texts of the tooltips, in the order of the plan.
        """
        low, high = int(rows["first"].min()) - 1, int(rows["last"].max())
        row = min(ROW_PX, self.height / len(rows))
        placed = rows.assign(top=rows["first"] - 1, middle=(rows["first"] - 1 + rows["last"]) / 2)
        placed = placed.assign(place=spread(list(placed["middle"]), row * (high - low) / self.height, low, high))
        placed = with_hover(placed.assign(worst_text=placed["worst"].replace("none", "")), FIELDS)
        base = alt.Chart(inline(placed))
        scale = alt.Scale(domain=[low, high], reverse=True, nice=False)
        label = "datum.value > 0 ? datum.label : ''"  # lines are counted from 1
        axis = alt.Axis(grid=False, ticks=False, domain=False, tickCount=6, tickMinStep=1, format=",d", labelExpr=label)
        blocks = base.mark_rect(stroke=PAPER, strokeWidth=1.5).encode(
            x=x_at(0),
            x2=x2_at(self.strip),
            y=alt.Y("top:Q", scale=scale, axis=axis, title="Line of the plan"),
            y2=alt.Y2("last:Q"),
            color=alt.Color("worst:N", scale=color_scale(COLORS), legend=None),
            **hover(FIELDS),
        )
        leads = base.mark_rule(color=LINE, aria=False).encode(
            x=x_at(self.strip + 2), x2=x2_at(self.strip + LEAD_PX), y=alt.Y("middle:Q"), y2=alt.Y2("place:Q")
        )
        layers = [blocks, leads, *self._texts(base)]
        return alt.LayerChart(layer=layers, width=self.width, height=self.height)

    def _texts(self, base: alt.Chart) -> list[alt.Chart]:
        """Write names in ink and counts in bold, both fainter where nobody challenged."""
        bare = "datum.worst === 'none'"
        ink = alt.when(bare).then(alt.value(FAINT)).otherwise(alt.value(INK))
        left = base.mark_text(align="left", baseline="middle", fontSize=SIZE, aria=False)
        bold = base.mark_text(align="left", baseline="middle", fontSize=SIZE, fontWeight="bold", aria=False)
        challenged, rest = bold.transform_filter(f"!({bare})"), left.transform_filter(bare)
        return [
            left.encode(x=x_at(self.strip + LEAD_PX + 6), y=alt.Y("place:Q"), text=text_of("name"), color=ink),
            challenged.encode(x=x_at(self.numbers), y=alt.Y("place:Q"), text=text_of("text")),
            rest.encode(x=x_at(self.numbers), y=alt.Y("place:Q"), text=text_of("text"), color=color_of(FAINT)),
        ]
