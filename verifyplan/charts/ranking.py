"""Draw how plans rank under weights, and how they ranked under others."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.weights import scored
from verifyplan.charts.encodings import hover, inline, number_columns, text_of, with_hover, x_at, y_of
from verifyplan.charts.figure import SYNTHETIC, Figure, empty, figure, schema_checks_off, spec
from verifyplan.charts.labels import count, distinct_labels, first_drawn, sentences
from verifyplan.charts.options import ChartOptions, Options, Size, chart
from verifyplan.charts.theme import BLUE, FAINT, PAPER, SKY, WIDTH
from verifyplan.errors import InputError, Problem
from verifyplan.frames.load import Runs
from verifyplan.rules.scoring import INFORMS

COLUMNS = ("plan", "score", "final", "rank", "missing")
TITLE = "How the plans rank"
KEY = "Dot: the score under the chosen weights"
START_KEY = "ring: under the starting weights"
MAX_PLANS = 30
"""Plans drawn at most: more would not be read while a slider moves."""
MAX_NAME_CHARACTERS = 20
"""Longest name: measuring texts takes most of the time that the picture takes."""
FIELDS = {
    "plan": "Plan",
    "score_text": "Score",
    "final_text": "Final score",
    "rank_text": "Rank",
    "start_text": "Score at the start",
    "was_text": "Rank at the start",
}
DRAWN = ["name", "y", "score", "start", "before", "hover", *FIELDS]
"""The columns that the marks need."""
ROW_PX, PLOT_PX = 21, WIDTH - 150
"""Pixels from plan to plan, and across of the plot; the rest is for the numbers beside it."""


@chart
def ranking(
    data: pd.DataFrame | Runs,
    *,
    start: pd.DataFrame | Runs | None = None,
    domain: tuple[float, float] | None = None,
    **options: Unpack[Options],
) -> Figure:
    """Draw dots of each plan's score under weights, in the order of ranks, and of its score under the starting weights.

    Reads what `weights.apply` returns, or makes it of runs with the default weights: `plan, score, final, rank,
    missing`; `start` is the same of the same plans under other weights. Plans are in the order of their ranks, ties as
    in the table; `limit` of them are drawn (30). Plans without a rank are not drawn. The caption says who is left out.
    `domain` holds the ends of the axis, so that it stays while weights change (None: what the dots need). The score
    informs and never decides a verdict (rules A10, F4). Raises InputError where `start` is of other plans.

    >>> import verifyplan as vp
    >>> scores = vp.datasets.example_scores(12).drop(columns="overall")
    >>> others = {name: 0.5 if name == "risk_coverage" else 0.1 for name in scores}
    >>> figure = ranking(vp.weights.apply(scores, others), start=vp.weights.apply(scores))
    >>> figure.description[:70]
    'Dot chart of scores. plan-08: 9.30, final 9, rank 1. plan-07: 8.40, fi'
    """
    ranked = _ranked(data, start, domain, ChartOptions.of(options))
    return ranked if isinstance(ranked, Figure) else _figure(ranked)


class Rankings:
    """Draws `ranking` again and again, for one set of weights after another: the same pictures in less time.

    Building a chart takes almost as long as drawing it. So a chart is built once for each shape, and later only its
    rows and its description are put in place. `.chart` of its figures is a finished specification, to be drawn and
    not to be changed; `ranking` makes charts that can be changed.
    """

    def __init__(self, *, domain: tuple[float, float] | None = None, limit: int | None = None) -> None:
        self._domain, self._options = domain, ChartOptions(limit=limit)
        self._specs: dict[tuple[object, ...], dict[str, Any]] = {}

    def draw(self, now: pd.DataFrame, start: pd.DataFrame | None = None) -> Figure:
        """Return what `ranking` draws of the same tables; raises the same errors."""
        ranked = _ranked(now, start, self._domain, self._options)
        if isinstance(ranked, Figure):
            return ranked
        widths = tuple((column, max(map(len, ranked.drawn[column]))) for column in _columns(ranked.drawn))
        # all that a specification depends on, but for the rows and the description
        shape = (len(ranked.drawn), ranked.moved, ranked.synthetic, ranked.ends, widths)
        if shape not in self._specs:
            made = spec(_figure(ranked).chart)
            datasets = {name: rows for name, rows in made["datasets"].items() if name != made["data"]["name"]}
            self._specs[shape] = made | {"data": {}, "datasets": datasets}
        description = _description(ranked.drawn)
        with schema_checks_off():
            data = {"values": inline(ranked.drawn[DRAWN])["values"]}
        made = self._specs[shape] | {"data": data, "description": description}
        caption = sentences(ranked.caption, SYNTHETIC if ranked.synthetic else "")
        return Figure(_FinishedChart(made), caption, ranked.rows, description)


class _FinishedChart(alt.TopLevelMixin):
    """A finished specification in the place of a chart."""

    def __init__(self, made: dict[str, Any]) -> None:
        self._made = made

    def to_dict(self, *_: Any, **__: Any) -> dict[str, Any]:
        """Return the specification."""
        return dict(self._made)


class _Ranked(NamedTuple):
    """The rows and texts of a ranking."""

    rows: pd.DataFrame
    drawn: pd.DataFrame
    moved: bool
    """Whether a plan's score differs from that at the start."""
    ends: tuple[float, float]
    """Of the axis of scores."""
    options: ChartOptions
    size: Size
    caption: str
    synthetic: bool


def _ranked(
    now: pd.DataFrame | Runs,
    start: pd.DataFrame | Runs | None,
    domain: tuple[float, float] | None,
    options: ChartOptions,
) -> _Ranked | Figure:
    """Return what to draw, or a figure that says that no plan has a rank."""
    rows = whole = options.table(now, scored.apply, COLUMNS, "data", names=["plan"])
    if start is not None:
        before = options.table(start, scored.apply, COLUMNS, "start", names=["plan"])
        if list(whole["plan"]) != list(before["plan"]):
            raise InputError(Problem("start", "is not of the same plans in the same order", "apply both to one table"))
        rows = whole.assign(start=before["score"], was=before["rank"])
    ranked = rows.dropna(subset=["score", "rank"]).sort_values("rank", kind="stable")
    if ranked.empty:
        return empty(options, TITLE, "There is no plan with a score to draw.", whole)
    chosen = ranked.head(options.rows(MAX_PLANS))
    size = options.size(len(chosen), "plan", (PLOT_PX, ROW_PX))
    drawn = _rows(chosen, size.row)
    moved = start is not None and bool((ranked["score"] != ranked["start"]).any())
    every = pd.concat([drawn["score"], drawn["start"]])
    caption = sentences(_caption(ranked, len(drawn), len(whole), start is not None), INFORMS)
    ends = domain or (float(every.min()), float(every.max()))
    synthetic = bool(whole.attrs.get("synthetic"))
    return _Ranked(rows, drawn, moved, ends, options, size, caption, synthetic)


def _figure(ranked: _Ranked) -> Figure:
    return figure(
        lambda: _drawing(ranked),
        ranked.options,
        title=TITLE,
        subtitle=f"{KEY}; {START_KEY}" if ranked.moved else KEY,
        caption=ranked.caption,
        data=ranked.rows,
        description=_description(ranked.drawn),
        synthetic=ranked.synthetic,
    )


def _rows(ranked: pd.DataFrame, row: float) -> pd.DataFrame:
    plans = ranked["plan"].astype(str)
    start = ranked["start"] if "start" in ranked else pd.Series(float("nan"), ranked.index)
    was = ranked["was"].map("{:,}".format) if "was" in ranked else pd.Series("", ranked.index)
    rank = ranked["rank"].map("{:,}".format)
    rows = ranked.assign(
        plan=plans,
        name=plans.map(distinct_labels(plans, MAX_NAME_CHARACTERS)),
        start=start,
        score_text=ranked["score"].map("{:.2f}".format),
        final_text=ranked["final"].map("{:,}".format),
        rank_text=rank,
        start_text=start.map("{:.2f}".format).where(start.notna(), ""),
        was_text=was,
        before=was.where(was != rank, ""),
        y=[row * (number + 0.5) for number in range(len(ranked))],
    )
    return with_hover(rows.reset_index(drop=True), FIELDS)


def _drawing(ranked: _Ranked) -> alt.LayerChart:
    """Draw the dots, what they moved by, and score and ranks in columns at the right.

    Plans are placed by pixels and their names are marks: an axis of names takes a third of the picture's time.
    """
    rows, (low, high) = ranked.drawn, ranked.ends
    margin = 0.04 * (high - low) or 0.5
    scale = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    ticks = alt.Axis(tickCount=8, domain=False, ticks=False, orient="top", labelOverlap=True)
    y = y_of("y")
    at = {
        name: alt.X(field=name, type="quantitative", scale=scale, axis=ticks, title="Weighted sum of the scores")
        for name in ("score", "start")
    }
    base = alt.Chart().encode(y=y)
    path = base.mark_bar(height=3, color=SKY).encode(x=at["score"], x2=alt.X2(field="start"), **hover(FIELDS))
    ring = base.mark_circle(size=50, color=PAPER, stroke=FAINT, strokeWidth=1.5, opacity=1)
    before = [path, ring.encode(x=at["start"], **hover(FIELDS))] if ranked.moved else []
    dot = base.mark_circle(size=90, color=BLUE, opacity=1).encode(x=at["score"], **hover(FIELDS))
    names = base.mark_text(align="right", aria=False).encode(x=x_at(-10), text=text_of("name"))
    layers = [*before, dot, names, *number_columns(rows, _columns(rows), ranked.size.width, y)]
    return alt.LayerChart(data=inline(rows[DRAWN]), layer=layers, width=ranked.size.width, height=ranked.size.height)


def _columns(rows: pd.DataFrame) -> dict[str, str]:
    """Return the columns beside the plot, with their headings."""
    columns = {"score_text": "score", "final_text": "final", "rank_text": "rank"}
    return columns | ({"before": "was"} if rows["before"].any() else {})


def _caption(ranked: pd.DataFrame, drawn: int, n: int, started: bool) -> str:
    changed = int((ranked["rank"] != ranked["was"]).sum()) if started else 0
    ties = int(ranked["rank"].duplicated(keep=False).sum())
    without = n - len(ranked)
    return sentences(
        f"Weighted sums of the scores of {count(len(ranked), 'plan')} (n), in the order of their ranks, 1 the best;"
        " final: the sum rounded half up. Exact sums, so without intervals.",
        first_drawn(drawn, len(ranked), "plan"),
        f"{count(changed, 'plan')} of {len(ranked):,} {'has' if changed == 1 else 'have'} another rank than under the"
        " starting weights (was)."
        if changed
        else "",
        f"{ties:,} of them share a rank with another." if ties else "",
        f"Without a rank, since a score is missing: {count(without, 'plan')}." if without else "",
    )


def _description(rows: pd.DataFrame) -> str:
    lines = rows["name"] + ": " + rows["score_text"] + ", final " + rows["final_text"] + ", rank " + rows["rank_text"]
    lines += ("; it was " + rows["before"]).where(rows["before"] != "", "")
    return f"Dot chart of scores. {'. '.join(lines)}."
