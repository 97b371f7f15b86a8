"""Draw debates turn by turn: how the builder's diff grew, where it stayed the same, and how each debate ended."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.debates import COLUMNS, debates
from verifyplan.charts.encodings import (
    hover,
    inline,
    text_of,
    tooltip,
    unscaled,
    with_hover,
    x_at,
    x_of,
    y_at,
    y_of,
)
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, distinct_labels, first_drawn, sentences, short
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.theme import BLUE, DARK_GREY, FAINT, INK, LINE, ORANGE, PAPER, SIZE, VERMILLION
from verifyplan.errors import Problem, TableError
from verifyplan.frames.load import Runs

TITLE = "How the debates went"
KEY = "Lines of the builder's diff in each turn; in brackets, how many more or fewer than in the turn before"
SYNTHETIC = "Synthetic data: tasks or answers were made up, not observed."
MAX_DEBATES, MAX_TURNS = 17, 30
"""Debates and turns of each drawn at most: more would not fit on a screen."""
MAX_TASK_CHARACTERS = 34
FIELDS = {
    "run_id": "Debate",
    "task": "Task",
    "stage": "At",
    "text": "Lines of the diff",
    "opening": "Architect asks",
    "built": "Builder says",
    "verified": "Architect verifies",
    "ended": "Ended",
    "where": "In",
}
PLOT_PX, MIN_TURN_PX, MAX_TURN_PX = 360, 20, 130
"""Pixels across of all turns together, and of one by default at least and at most."""
LEAST_TURN_PX, LEAST_BAR_PX = 14, 12
"""Pixels of a turn and of the longest bar, at least."""
BAR_PX = {1: 110, 2: 70, 3: 60}
MANY_BAR_PX = 26
"""Pixels of the longest bar, by the number of debates; where they are more."""
ABOVE_PX, GAP_PX, TICK_PX = 20, 14, 6
"""Pixels for the numbers above a bar, between two debates, and of a tick."""
WIDE_PX = 62
"""Pixels of a turn below which only the last of a debate has its number written."""
CROSS = "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z"
"""The outline of an x; Vega's own cross is a plus."""
ENDS = {"CONVERGED": ("circle", BLUE), "FAILED": (CROSS, VERMILLION)}
OTHER_END = ("triangle-up", ORANGE)
"""Shape and colour of an end."""


@chart
def debate(data: pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw a row of bars for each debate: the lines of the diff turn by turn, and the end beside them.

    Reads what `analysis.debates` returns, or makes it of runs; `limit` debates are drawn (17), and 30 turns of each at
    most. `labels` has names for tasks and runs. All bars have one scale, which begins at 0. A diff that equals that of
    the turn before is hollow, dashed and named so; a turn that brought no diff says that. `.data` is the whole table.
    Raises TableError where a column or the number of a turn is missing.

    >>> turns = [("r1", "purge.py", 1, 24, None, None), ("r1", "purge.py", 2, 31, 7, "CONVERGED VERIFIED"),
    ...     ("r2", "backup.py", 1, 40, None, None), ("r2", "backup.py", 2, 18, -22, None),
    ...     ("r2", "backup.py", 3, 18, 0, "FAILED NO_IMPROVEMENT")]
    >>> table = pd.DataFrame(
    ...     turns, columns=["run_id", "task", "turn", "diff_lines", "lines_more", "end"]
    ... )
    >>> texts = {"opening": "Write it.", "built": "Done.", "verified": "Read."}
    >>> texts |= {"n_messages": 3, "max_turns": 4}
    >>> table = table.assign(same_diff=table["lines_more"].eq(0), last=table["end"].notna(), **texts)
    >>> table.attrs["synthetic"] = True
    >>> figure = debate(table)
    >>> figure.description[:107]
    'Bars of the lines of diffs by turn, 2 debates. purge.py: turn 1: 24 lines; turn 2: 31 lines (+7); CONVERGED'
    """
    chosen = ChartOptions.of(options)
    whole = chosen.table(data, debates, COLUMNS, "debates", names=["run_id", "task"])
    if whole.empty:
        return empty(chosen, TITLE, "There is no debate to draw.", whole)
    if whole["turn"].isna().any():
        raise TableError(Problem("debates: column turn", "lacks a number", "give what analysis.debates returns"))
    rows = _rows(whole, chosen.rows(MAX_DEBATES))
    places = _DebatePlaces.of(int(rows["turn"].max()), rows["order"].nunique(), chosen)
    return figure(
        lambda: _drawing(rows, places),
        chosen,
        title=TITLE if whole["run_id"].nunique() > 1 else "How the debate went",
        subtitle=KEY,
        caption=_caption(whole, rows),
        data=whole,
        description=_description(rows),
        synthetic=SYNTHETIC if whole.attrs.get("synthetic") else "",
    )


class _DebatePlaces(NamedTuple):
    """The numbers of turns and debates, and pixels: across of a turn, of the longest bar, across of all turns."""

    turns: int
    n: int
    step: float
    bar: float

    @classmethod
    def of(cls, turns: int, n: int, options: ChartOptions) -> _DebatePlaces:
        """Return the places in the size that the options say."""
        rest = n * (ABOVE_PX + GAP_PX) - GAP_PX
        step = round(min(max(PLOT_PX / turns, MIN_TURN_PX), MAX_TURN_PX))
        width = options.px("width", step * turns, LEAST_TURN_PX * turns, count(turns, "turn"))
        tall = BAR_PX.get(n, MANY_BAR_PX) * n + rest
        height = options.px("height", tall, LEAST_BAR_PX * n + rest, count(n, "debate"))
        return cls(turns, n, width / turns, (height - rest) / n)

    @property
    def pitch(self) -> float:
        """Pixels from debate to debate."""
        return self.bar + ABOVE_PX + GAP_PX


def _rows(whole: pd.DataFrame, limit: int) -> pd.DataFrame:
    """Return the turns that are drawn, with their texts."""
    chosen = list(dict.fromkeys(whole["run_id"]))[:limit]
    rows = whole[whole["run_id"].isin(chosen) & (whole["turn"] <= MAX_TURNS)].astype({"turn": "int64"})
    rows = rows.assign(order=rows["run_id"].map(chosen.index)).sort_values(["order", "turn"], kind="stable")
    ends = whole.dropna(subset="end").drop_duplicates("run_id", keep="last").set_index("run_id")
    runs = distinct_labels(chosen, MAX_TASK_CHARACTERS)
    same = rows["same_diff"].astype("boolean").fillna(False).astype(bool)
    last_turns = rows["run_id"].map(ends["turn"]).fillna(rows["turn"])
    rows = rows.assign(
        named=[short(task, MAX_TASK_CHARACTERS, keep_end=False) for task in rows["task"]],
        run=rows["run_id"].astype(str).map(runs),
        stage=rows["turn"].map("turn {:,}".format),
        same=same,
        text=[_lines_text(*row) for row in zip(rows["diff_lines"], rows["lines_more"], same, strict=True)],
        ended=rows["run_id"].map(ends["end"]).fillna("broken off"),
        where=[
            f"turn {int(turn):,}" if pd.isna(most) else f"turn {int(turn):,} of at most {int(most):,}"
            for turn, most in zip(last_turns, rows["max_turns"], strict=True)
        ],
    )
    return with_hover(rows.reset_index(drop=True), FIELDS)


def _lines_text(lines: Any, more: Any, same: bool) -> str:
    """Return the text above a bar: its lines, and how they changed."""
    if pd.isna(lines):
        return "no diff"
    if same:
        return f"{int(lines):,} (same diff)"
    if pd.isna(more):
        return f"{int(lines):,}"
    change = f"{int(more):+,}".replace("-", "\N{MINUS SIGN}") if more else "changed"
    return f"{int(lines):,} ({change})"


def _caption(whole: pd.DataFrame, rows: pd.DataFrame) -> str:
    n, drawn = whole["run_id"].nunique(), rows["run_id"].nunique()
    ends = ", ".join(f"{number:,} {end}" for end, number in whole["end"].dropna().value_counts(sort=False).items())
    late = int((whole["turn"] > MAX_TURNS).sum())
    changed = rows["text"].str.endswith("(changed)").any()
    return sentences(
        f"Lines of the diff that the builder gave in each turn of {count(n, 'debate')}"
        f" (n = {count(len(whole), 'turn')}), on one scale from 0. Ends: {ends or 'none'}.",
        "(same diff): equal to that of the turn before, which ends a debate." if rows["same"].any() else "",
        "(changed): as many lines, but not the same ones." if changed else "",
        "The number of exchanged lines is unknown: the tables hold only a diff's length and digest.",
        first_drawn(drawn, n, "debate"),
        f"{count(late, 'turn')} after turn {MAX_TURNS} left out." if late else "",
        "Counts, so without intervals.",
    )


def _description(rows: pd.DataFrame) -> str:
    lines = []
    for _, part in rows.groupby("order", sort=False):
        with_unit = part["text"].str.replace(r"^([\d,]+)", r"\1 lines", regex=True)
        turns = "; ".join(part["stage"] + ": " + part["text"].where(part["diff_lines"].isna(), with_unit))
        lines.append(f"{part['named'].iloc[0]}: {turns}; {part['ended'].iloc[0]}")
    return f"Bars of the lines of diffs by turn, {count(len(lines), 'debate')}. {'. '.join(lines)}."


def _drawing(rows: pd.DataFrame, places: _DebatePlaces) -> alt.LayerChart:
    """Draw a strip of bars for each debate, all on one scale, its task at the left and its end at the right.

    Reads `order, turn, diff_lines, same, last, text, named, run, ended, where`, the texts of `FIELDS` and `hover`;
    debates together, in their order.
    """
    turns, n, step, bar = places
    placed, width = _placed(rows, places), step * turns
    feet = [ABOVE_PX + bar + places.pitch * number for number in range(n)]
    # the whole place of a turn is pointed at, since the bar of a blank diff has no height
    cell = alt.Chart().mark_rect(fill=PAPER, fillOpacity=0)
    layers = [
        *_heads(turns, step),
        *_scale(feet, bar, int(rows["diff_lines"].fillna(0).max()), width),
        cell.encode(x=x_of("x"), x2="x2", y=y_of("top"), y2="foot", **hover(FIELDS)),
        *_bars(),
        _numbers(step),
        *_names(),
        *_ends(placed, width),
    ]
    return alt.LayerChart(data=inline(placed), layer=layers, width=width, height=places.pitch * n - GAP_PX)


def _placed(rows: pd.DataFrame, places: _DebatePlaces) -> pd.DataFrame:
    """Return the rows with their places in pixels: a bar's foot and top, and its cell."""
    step, bar = places.step, places.bar
    most = max(int(rows["diff_lines"].fillna(0).max()), 1)
    lines = rows["diff_lines"].astype("Float64").fillna(0).astype(float)
    top = rows["order"] * places.pitch
    foot = top + ABOVE_PX + bar
    left = (rows["turn"] - 1) * step
    ends = ~rows.duplicated("order", keep="last")
    verified = rows["last"].astype(bool) & rows["ended"].str.startswith("CONVERGED")
    look = pd.Series("draft", rows.index).mask(verified, "verified").mask(rows["same"], "same")
    return rows.assign(
        x=left,
        x2=left + step,
        bar=left + step * 0.14,
        bar2=left + step * 0.86,
        middle=left + step / 2,
        top=top,
        foot=foot,
        y=foot - lines / most * bar,
        line=foot - bar / 2,
        text=rows["text"].where(ends | (step >= WIDE_PX), ""),
        look=look.mask(rows["diff_lines"].isna(), "none"),
        first=~rows.duplicated("order"),
        ends=ends,
    )


def _heads(turns: int, step: float) -> list[alt.Chart]:
    """Write the turns' numbers above their columns."""
    name = "turn {:,}" if step >= WIDE_PX else "{:,}"
    heads = pd.DataFrame({"at": [(number + 0.5) * step for number in range(turns)]})
    heads["text"] = [name.format(number + 1) for number in range(turns)]
    text = alt.Chart(inline(heads)).mark_text(color=FAINT, fontWeight="bold", aria=False)
    layers = [text.encode(x=x_of("at"), y=y_at(-10), text=text_of("text"))]
    if step < WIDE_PX:
        left = alt.Chart(inline(pd.DataFrame({"text": ["turn"]})))
        side = left.mark_text(align="right", color=FAINT, fontWeight="bold", aria=False)
        layers.append(side.encode(x=x_at(-12), y=y_at(-10), text=text_of("text")))
    return layers


def _scale(feet: list[float], bar: float, most: int, width: float) -> list[alt.Chart]:
    """Draw a line at 0 below the bars of each debate and a tick at the most lines of all, with their numbers.

    A whole line there would run through the numbers of other bars.
    """
    lines = pd.DataFrame({"y": feet, "text": "0", "to": width})
    if most:
        tops = pd.DataFrame({"y": [foot - bar for foot in feet], "text": f"{most:,}", "to": TICK_PX})
        lines = pd.concat([lines, tops], ignore_index=True)
    base = alt.Chart(inline(lines.assign(**{"from": 0}))).encode(y=y_of("y"))
    rule = base.mark_rule(color=LINE, aria=False).encode(x=x_of("from"), x2="to")
    small = base.mark_text(align="right", fontSize=SIZE - 3, color=FAINT, aria=False)
    return [rule, small.encode(x=x_at(-5), text=text_of("text"))]


def _bars() -> list[alt.Chart]:
    """Draw the bars: filled, or hollow and dashed for the diff of the turn before; one of 0 is a line."""
    base = alt.Chart().encode(x=x_of("bar"), x2="bar2", **tooltip(FIELDS))
    looks: dict[str, dict[str, Any]] = {
        "draft": {"fill": DARK_GREY, "stroke": DARK_GREY},
        "verified": {"fill": BLUE, "stroke": BLUE},
        "same": {"fill": PAPER, "stroke": VERMILLION, "strokeDash": [4, 3]},
    }
    bars = []
    for name, look in looks.items():
        own = base.transform_filter(f"datum.look === '{name}'").encode(y=y_of("y"))
        bars.append(own.mark_rect(aria=False, strokeWidth=2, **look).encode(y2="foot"))
    return bars


def _numbers(step: float) -> alt.Chart:
    """Write lines and their change above each bar; of narrow bars of the last alone, up to its right edge."""
    narrow = step < WIDE_PX
    look: dict[str, Any] = {"align": "right" if narrow else "center", "fontSize": SIZE - 1, "aria": False, "dy": -9}
    place = {"x": x_of("bar2" if narrow else "middle"), "y": y_of("y"), "text": text_of("text")}
    color = alt.when("datum.look === 'none'").then(alt.value(FAINT)).otherwise(alt.value(INK))
    numbers: alt.Chart = alt.Chart().mark_text(**look).encode(**place, color=color, **tooltip(FIELDS))
    return numbers


def _names() -> list[alt.Chart]:
    """Write the task and, smaller, the debate's id, left of the bars."""
    base = alt.Chart().transform_filter("datum.first").encode(x=x_at(-40), y=y_of("line"))
    task = base.mark_text(align="right", aria=False, dy=-8).encode(text=text_of("named"))
    run = base.mark_text(align="right", aria=False, dy=8, color=FAINT, fontSize=SIZE - 1).encode(text=text_of("run"))
    return [task, run]


def _ends(placed: pd.DataFrame, width: float) -> list[alt.Chart]:
    """Draw how each debate ended: a shape, the words, and below them the turn; to the right of the bars."""
    ends = placed.loc[placed["ends"], ["line", "ended", "where"]]
    kinds = [ENDS.get(end.split(" ")[0], OTHER_END) for end in ends["ended"]]
    drawn = ends.assign(shape=[shape for shape, _ in kinds], color=[color for _, color in kinds])
    base = alt.Chart(inline(drawn)).encode(y=y_of("line"))
    shape = base.mark_point(filled=True, size=90, opacity=1, aria=False, yOffset=-8).encode(
        x=x_at(width + 18), shape=unscaled(alt.Shape, "shape"), color=unscaled(alt.Color, "color")
    )
    words = base.encode(x=x_at(width + 30))
    bold = words.mark_text(align="left", fontWeight="bold", aria=False, dy=-8).encode(text=text_of("ended"))
    small = words.mark_text(align="left", color=FAINT, fontSize=SIZE - 1, aria=False, dy=8)
    return [shape, bold, small.encode(text=text_of("where"))]
