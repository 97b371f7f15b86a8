"""Draw how plan runs converge: what is unsettled at the end of each iteration, and the status that follows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any, Unpack

import altair as alt
import pandas as pd

from verifyplan.charts.encodings import (
    apart,
    hover,
    inline,
    names_of,
    text_of,
    tooltip,
    unscaled,
    with_hover,
    x_of,
    y2_at,
    y_at,
)
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, distinct_labels, first_drawn, sentences
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.theme import BLACK, FAINT, INK, LINE, ORANGE, PAPER, SIZE, VERMILLION, WIDTH
from verifyplan.errors import Problem, TableError
from verifyplan.frames.load import Runs
from verifyplan.frames.runset import RunSet

COLUMNS = (
    *("run_id", "iteration", "plan_status", "plan_verdict", "strong", "blocking_open", "significant_open"),
    *("n_new", "n_settled", "closed"),
)
TITLE = "How the runs converge"
KEY_SEVERAL = "Unsettled challenges at the end of each iteration: BLOCKING in red, SIGNIFICANT in orange"
KEY_ONE = "Challenges that are unsettled at the end of each iteration"
MAX_RUNS, MAX_ITERATIONS, MAX_STAGES = 40, 26, 9
"""Runs drawn at most, the first iterations of several, and the last of one: more would not fit on a screen."""
FIELDS = {
    "run_id": "Run",
    "stage": "At the end of",
    "blocking_open": "BLOCKING, unsettled",
    "significant_open": "SIGNIFICANT, unsettled",
    "word": "Status",
    "new": "Raised in it",
    "settled": "Settled in it",
}
LOOKS = {
    "BLOCKING": ("blocking_open", VERMILLION, "circle", (1, 0)),
    "SIGNIFICANT": ("significant_open", ORANGE, "diamond", (7, 4)),
}
"""Each severity's column, colour, shape and dash: two lines at one height are both seen."""
MAX_HEIGHT_PX, LINE_UNIT_PX, MIN_STAGE_PX, MAX_STAGE_PX = 190, 60, 104, 190
"""Pixels of the lines' plot, at most, and of one challenge in it; and across of an iteration, at least and at most."""
LEAST_HEIGHT_PX, LEAST_STAGE_PX = 60, 90
"""Pixels of the lines' plot, and across of an iteration, that options may choose at least."""
ROW_PX, BAR_UNIT_PX, MAX_BAR_PX = 22, 13, 90
"""Pixels from run to run, of one challenge in a bar, and of the longest bar of all, if that is less."""
COLUMNS_PX, MIN_COLUMN_PX, NARROW_PX = 900, 100, 28
"""Pixels across of all iterations of several runs, and of one at least; where they need more, columns are narrow and
the status is written at a run's end alone."""
CHARACTER_PX = 7.4
"""Approximate pixels of a character of the statuses."""


@chart
def timeline(data: pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw the BLOCKING and SIGNIFICANT challenges that are unsettled at the end of each iteration, with its status.

    Reads the `iterations` of a RunSet, or the RunSet: `run_id, iteration, plan_status, plan_verdict, strong,
    blocking_open, significant_open, n_new, n_settled, closed`. One run is drawn as two lines over its iterations;
    several as rows of bars, the run with most left unsettled at its end first, ties by name; `limit` are drawn (40). An
    iteration that did not end is named so, and its counts are as they were left. Of one run the last 9 iterations are
    drawn, of several the first 26; the caption says how many are left out. Counts decide the verdict, scores
    never do (rule A3). Raises TableError where a column or a count is missing.

    >>> rows = [("backup", 1, "BLOCKED", 3, 4), ("backup", 2, "BLOCKED", 1, 2), ("backup", 3, "CLEAN", 0, 0),
    ...     ("roll-out", 1, "BLOCKED", 2, 1), ("roll-out", 2, "CONTESTED", 0, 2), ("search", 1, "CLEAN", 0, 0)]
    >>> names = ["run_id", "iteration", "plan_status", "blocking_open", "significant_open"]
    >>> table = pd.DataFrame(rows, columns=names)
    >>> table = table.assign(plan_verdict=None, strong=False, n_new=1, n_settled=0, closed=True)
    >>> table.attrs["synthetic"] = True
    >>> figure = timeline(table)
    >>> figure.description[:98]
    'Timeline of 3 runs. roll-out: iteration 1: 2 blocking, 1 significant, BLOCKED; iteration 2: 0 bloc'
    """
    chosen = ChartOptions.of(options)
    table = _read(data, chosen)
    if table.empty:
        return empty(chosen, TITLE, "There is no iteration to draw.", table)
    rows = _rows(table, chosen.rows(MAX_RUNS))
    several = table["run_id"].nunique() > 1
    blocking = rows["blocking_open"].map("{:,} blocking, ".format)
    significant = rows["significant_open"].map("{:,} significant, ".format)
    stages = (rows["stage"] + ": " + blocking + significant + rows["word"]).groupby(rows["run"], sort=False)
    each = [f"{run}: {text}" for run, text in stages.agg("; ".join).items()]
    draw = _bars_of_runs(rows, chosen) if several else _lines_of_a_run(rows, chosen)
    return figure(
        draw,
        chosen,
        title=TITLE if several else f"How {rows['run'].iloc[0]} converges",
        subtitle=KEY_SEVERAL if several else KEY_ONE,
        caption=_caption(table, rows),
        data=table,
        description=f"Timeline of {count(len(each), 'run')}. {'. '.join(each)}.",
    )


def _read(data: pd.DataFrame | Runs, options: ChartOptions) -> pd.DataFrame:
    plain = options.table(data, _iterations_of, COLUMNS, "iterations", names=["run_id"])
    counts = ("iteration", "blocking_open", "significant_open")
    lacking = [name for name in counts if plain[name].isna().any()]
    if lacking:
        fix = "give the iterations of a RunSet"
        raise TableError([Problem(f"iterations: column {name}", "lacks a number", fix) for name in lacking])
    return plain.astype(dict.fromkeys(counts, "int64"))


def _iterations_of(runs: RunSet) -> pd.DataFrame:
    table = runs.iterations.copy(deep=False)
    table.attrs["synthetic"] = bool(runs.runs["synthetic"].fillna(False).any())
    return table


def _rows(table: pd.DataFrame, limit: int) -> pd.DataFrame:
    """Return the iterations of the runs that are drawn, in the order drawn, with their texts."""
    whole = table.assign(run_id=table["run_id"].astype(str)).sort_values(["run_id", "iteration"], kind="stable")
    several = whole["run_id"].nunique() > 1
    whole = whole[whole["iteration"] <= MAX_ITERATIONS] if several else whole.tail(MAX_STAGES)
    ends = whole.drop_duplicates("run_id", keep="last").sort_values(
        ["blocking_open", "significant_open", "run_id"], ascending=[False, False, True], kind="stable"
    )
    chosen = list(ends["run_id"].head(limit))
    rows = whole[whole["run_id"].isin(chosen)].assign(order=lambda part: part["run_id"].map(chosen.index))
    rows = rows.sort_values(["order", "iteration"], kind="stable").reset_index(drop=True)
    columns = (rows[name] for name in ("plan_status", "plan_verdict", "strong", "closed"))
    rows = rows.assign(
        run=rows["run_id"].map(distinct_labels(chosen, 30)),
        stage=rows["iteration"].map("iteration {:,}".format),
        word=[_status_text(*row) for row in zip(*columns, strict=True)],
        new=rows["n_new"].map(_number_text),
        settled=rows["n_settled"].map(_number_text),
    )
    return with_hover(rows, FIELDS)


def _status_text(status: Any, verdict: Any, strong: Any, closed: Any) -> str:
    """Return an iteration's status, and the verdict where there is one."""
    if pd.isna(status):
        return "not ended" if pd.isna(closed) or not closed else "no status"
    end = "" if pd.isna(verdict) else f": {verdict}"
    return f"{status}{end}{' (strong)' if end and not pd.isna(strong) and strong else ''}"


def _number_text(value: Any) -> str:
    return "" if pd.isna(value) else f"{value:,.0f}"


def _caption(table: pd.DataFrame, rows: pd.DataFrame) -> str:
    n, drawn = table["run_id"].nunique(), rows["run_id"].nunique()
    last = table.sort_values("iteration", kind="stable").drop_duplicates("run_id", keep="last")
    open_ends = int((~last["closed"].fillna(False).astype(bool)).sum())
    order = " Runs with most left at their end come first." if n > 1 else ""
    rest = last[~last["run_id"].astype(str).isin(rows["run_id"])]
    most = int((rest["blocking_open"] + rest["significant_open"]).max()) if n > drawn else 0
    late = int(table["run_id"].astype(str).isin(rows["run_id"]).sum()) - len(rows)
    left = f"{most:,} unsettled or fewer" if most else "nothing unsettled"
    return sentences(
        f"BLOCKING and SIGNIFICANT challenges that are OPEN or UNRESOLVED at the end of each iteration of"
        f" {count(n, 'run')} (n = {count(len(table), 'iteration')}), and what these counts say of it: status and"
        f" verdict.{order}",
        first_drawn(drawn, n, "run", f"with {left} at their end"),
        f"{count(late, 'iteration')} {'after' if n > 1 else 'before'} these left out." if late else "",
        f"{count(open_ends, 'run')} broken off within an iteration." if open_ends else "",
        "Counts, so without intervals. Counts decide the verdict; scores never do.",
    )


def _lines_of_a_run(rows: pd.DataFrame, options: ChartOptions) -> Callable[[], alt.LayerChart]:
    """Return what draws the lines, in the size that the options say."""
    stages, most = rows["stage"].nunique(), max(int(rows[["blocking_open", "significant_open"]].max().max()), 1)
    step = round(min(max(WIDTH / stages, MIN_STAGE_PX), MAX_STAGE_PX))
    width = options.px("width", step * stages, LEAST_STAGE_PX * stages, count(stages, "iteration"))
    height = options.px("height", min(MAX_HEIGHT_PX, 30 + LINE_UNIT_PX * most), LEAST_HEIGHT_PX)
    return lambda: _lines(rows, width, height)


def _lines(rows: pd.DataFrame, width: float, height: float) -> alt.LayerChart:
    """Draw a line for each severity over the iterations of one run, named at its end; below, status and changes.

    Reads `stage, iteration, blocking_open, significant_open, word, new, settled` and the texts of `FIELDS`.
    """
    points = _points(rows)
    stages, most = list(rows["stage"]), max(int(points["n"].max()), 1)
    stage_axis = alt.Axis(labelAngle=0, grid=False, ticks=False, labelPadding=26, labelLimit=0)
    across = alt.Scale(domain=stages, type="point", padding=0.5)
    x = alt.X(field="stage", type="nominal", scale=across, title=None, axis=stage_axis)
    few: dict[str, Any] = {"values": list(range(most + 1))} if most < 6 else {"tickMinStep": 1, "tickCount": 5}
    ticks = alt.Axis(**few, format=",d", domain=False, ticks=False)
    y = alt.Y(field="n", type="quantitative", scale=alt.Scale(domain=[0, most]), axis=ticks, title="Unsettled")
    color, shape = unscaled(alt.Color, "color"), unscaled(alt.Shape, "shape")
    base = alt.Chart().encode(x=x)
    dash = unscaled(alt.StrokeDash, "dash")
    line = base.mark_line(strokeWidth=2.5, aria=False).encode(y=y, color=color, strokeDash=dash)
    dots = base.mark_point(filled=True, size=120, opacity=1).encode(y=y, color=color, shape=shape, **hover(FIELDS))
    numbers = [
        base.transform_filter(which).mark_text(dy=dy, fontWeight="bold", aria=False).encode(y=y, text=text_of("text"))
        for which, dy in (("datum.upper", -14), ("!datum.upper", 16))
    ]
    layers = [line, dots, *numbers, _names(points, most / height, width), *_below(rows, x, height)]
    return alt.LayerChart(data=inline(points), layer=layers, width=width, height=height)


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each severity and iteration, with its look and its number.

    Two points at one place have one number. The higher point of an iteration (`upper`) has its number above it; of
    equal ones, the first.
    """
    parts = [
        rows.assign(
            severity=name,
            n=rows[column],
            color=color,
            shape=shape,
            dash=pd.Series([list(dash)] * len(rows), dtype="object"),
        )
        for name, (column, color, shape, dash) in LOOKS.items()
    ]
    points = pd.concat(parts, ignore_index=True)
    stages = points.groupby("stage", sort=False)["n"]
    blocking, other = points["severity"] == "BLOCKING", stages.transform("sum") - points["n"]
    return points.assign(
        text=points["n"].map("{:,}".format).where((stages.transform("nunique") != 1) | blocking, ""),
        upper=(points["n"] > other) | ((points["n"] == other) & blocking),
    )


def _names(points: pd.DataFrame, pixel: float, width: float) -> alt.Chart:
    """Write the severities' names at the ends of their lines, apart where both end at one height."""
    last = points.drop_duplicates("severity", keep="last").sort_values("n", kind="stable")
    ends = last[["severity"]].assign(place=apart(last["n"].astype(float), 17 * pixel))
    text = alt.Chart(inline(ends)).mark_text(align="left", x=width + 2, aria=False)
    names: alt.Chart = text.encode(y=alt.Y(field="place", type="quantitative"), text=text_of("severity"))
    return names


def _below(rows: pd.DataFrame, x: alt.X, height: float) -> list[alt.Chart]:
    """Write below each iteration its status and verdict, on two lines, and how many challenges moved in it."""
    moved = rows["new"] + " raised, " + rows["settled"] + " settled"
    moved = moved.where((rows["new"] != "") & (rows["settled"] != ""), "")
    status = rows["word"].str.replace(": ", "\n", regex=False)
    text = alt.Chart(inline(pd.DataFrame({"stage": rows["stage"], "status": status, "moved": moved})))
    bold = text.mark_text(lineBreak="\n", fontWeight="bold", fontSize=SIZE - 1 if len(rows) > 3 else SIZE, aria=False)
    faint = text.mark_text(color=FAINT, fontSize=SIZE - 1, aria=False)
    return [
        bold.encode(x=x, y=y_at(height + 60), text=text_of("status")),
        faint.encode(x=x, y=y_at(height + 94), text=text_of("moved")),
    ]


def _bars_of_runs(rows: pd.DataFrame, options: ChartOptions) -> Callable[[], alt.LayerChart]:
    """Return what draws the bars, in the size that the options say: where it is wider, so are columns and bars."""
    row = options.row_px(rows["run"].nunique(), ROW_PX, "run")
    most = max(int((rows["blocking_open"] + rows["significant_open"]).max()), 1)
    unit = min(BAR_UNIT_PX, MAX_BAR_PX / most)
    rows = rows.assign(shown=rows["word"])
    needed = _edges(rows, unit, MIN_COLUMN_PX)
    if needed[-1] > COLUMNS_PX:
        ends = ~rows["run"].duplicated(keep="last")
        rows = rows.assign(shown=rows["word"].where(ends, ""))
        unit = min(unit, NARROW_PX / 2 / most)
        needed = _edges(rows, unit, NARROW_PX)
    wider = options.px("width", needed[-1], needed[-1], "the statuses") / needed[-1]
    return lambda: _bars(rows, unit * wider, [round(edge * wider) for edge in needed], row)


def _bars(rows: pd.DataFrame, unit: float, edges: list[int], row: float) -> alt.LayerChart:
    """Draw a row for each run: in each iteration a bar of what is unsettled, on one scale, and the status behind it.

    Reads the columns of `_lines_of_a_run`, and `run`.
    """
    base = alt.Chart().encode(y=names_of(rows, "run"))
    bars = [
        base.transform_filter(f"datum.{column} > 0")
        .mark_bar(height=row * 15 / ROW_PX, color=color, stroke=PAPER, strokeWidth=0.5)
        .encode(x=x_of(f"{column}_x"), x2=alt.X2(field=f"{column}_x2"), **hover(FIELDS))
        for column, color, *_ in LOOKS.values()
    ]
    numbers = [
        base.mark_text(fontSize=SIZE - 2, fontWeight="bold", color=BLACK, aria=False).encode(
            x=x_of(f"{column}_middle"), text=text_of(f"{column}_text"), **tooltip(FIELDS)
        )
        for column, *_ in LOOKS.values()
    ]
    status = base.mark_text(align="left", fontSize=SIZE - 1, color=INK)
    status = status.encode(x=x_of("text"), text=text_of("shown"), **hover(FIELDS))
    height = row * rows["run"].nunique()
    layers = [*_stage_columns(edges, height), *bars, *numbers, status]
    return alt.LayerChart(data=inline(_placed(rows, unit, edges)), layer=layers, width=edges[-1], height=height)


def _edges(rows: pd.DataFrame, unit: float, least: float) -> list[int]:
    """Return where the columns of the iterations begin, and the last one ends: each is as wide as its longest row.

    Narrow columns are as wide as their bars: the status at a run's end is written over the blank columns behind it.
    """
    bars = (rows["blocking_open"] + rows["significant_open"]) * unit
    words = CHARACTER_PX * rows["shown"].str.len()
    widest = (bars + (12 if least < MIN_COLUMN_PX else words + 40)).groupby(rows["iteration"]).max()
    widths = [max(widest.get(number, least), least) for number in range(1, int(rows["iteration"].max()) + 1)]
    edges = list(accumulate([0, *map(round, widths)]))
    ends = rows["iteration"].map(lambda number: edges[number - 1]) + bars + words + 20
    return [*edges[:-1], max(edges[-1], round(ends.max()))]


def _placed(rows: pd.DataFrame, unit: float, edges: list[int]) -> pd.DataFrame:
    """Return the rows with their places in pixels; a number is written where its bar has room."""
    left = rows["iteration"].map(lambda number: edges[number - 1]) + 8.0
    for column, *_ in LOOKS.values():
        right = left + rows[column] * unit
        wide = rows[column] * unit >= 8 * rows[column].map("{:,}".format).str.len()
        text = rows[column].map("{:,}".format).where(wide & (rows[column] > 0), "")
        rows = rows.assign(**{f"{column}_x": left, f"{column}_x2": right, f"{column}_text": text})
        rows = rows.assign(**{f"{column}_middle": (left + right) / 2})
        left = right
    bare = rows["blocking_open"] + rows["significant_open"] == 0
    return rows.assign(text=left + (~bare) * 6.0)


def _stage_columns(edges: list[int], height: float) -> list[alt.Chart]:
    """Write the iterations' names above their columns, or their numbers above narrow ones, with a line at the left."""
    name = "{}" if min(end - start for start, end in pairwise(edges)) < MIN_COLUMN_PX else "iteration {}"
    heads = pd.DataFrame({"at": edges[:-1], "text": [name.format(i + 1) for i in range(len(edges) - 1)]})
    base = alt.Chart(inline(heads))
    return [
        base.mark_rule(color=LINE, aria=False).encode(x=x_of("at"), y=y_at(0), y2=y2_at(height)),
        base.mark_text(align="left", dx=8, fontWeight="bold", aria=False).encode(
            x=x_of("at"), y=y_at(-10), text=text_of("text")
        ),
    ]
