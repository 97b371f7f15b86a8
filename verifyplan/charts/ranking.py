"""How plans rank under weights, and where they stood under others."""

from __future__ import annotations

from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from verifyplan.charts.beside import beside
from verifyplan.charts.captions import INFORMS, sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure, spec
from verifyplan.charts.hover import hover, with_hover
from verifyplan.charts.labels import count, shortened
from verifyplan.charts.pixels import x_at, y_of
from verifyplan.charts.tables import checked, inline, words
from verifyplan.charts.theme import BLUE, FAINT, PAPER, SKY, WIDTH
from verifyplan.charts.unchecked import unchecked
from verifyplan.errors import InputError, Problem, expect

COLUMNS = ("plan", "score", "final", "rank", "missing")
TITLE = "How the plans rank"
KEY = "Dot: the score under the chosen weights"
STARTED = "ring: under the starting weights"
PLANS = 30
"""Plans drawn at most: more would not be read while a slider moves."""
LETTERS = 20
"""Letters of a name at most: most of the time that the picture takes goes into measuring its texts."""
FIELDS = {
    "plan": "Plan",
    "told_score": "Score",
    "told_final": "Final score",
    "told_rank": "Rank",
    "told_start": "Score at the start",
    "told_was": "Rank at the start",
}
USED = ("name", "y", "score", "start", "before", "hover", *FIELDS)
"""What the marks need of each row."""
ROW, PLOT = 21, WIDTH - 150
"""Pixels from plan to plan, and across of the plot; the rest is for the numbers beside it."""


def ranking(
    now: pd.DataFrame,
    start: pd.DataFrame | None = None,
    *,
    domain: tuple[float, float] | None = None,
    most: int = PLANS,
) -> Figure:
    """Dots of each plan's score under weights, in the order of ranks, and where it stood under the starting weights.

    Reads what `weights.apply` returns, `plan, score, final, rank, missing`; `start` is the same of the same plans
    under other weights. Plans stand in the order of their ranks, ties as in the table; the first `most` are drawn, up
    to 30. Plans without a rank are not drawn. The caption says who is left out. `domain` holds the ends of the axis,
    so that it stays while weights change (None: what the dots need). The score informs and never decides a verdict
    (rules A10, F4). `attrs["synthetic"]` marks generated data. Raises TableError where a column is missing, InputError
    where `start` is of other plans.

    >>> row = {"plan": "p", "score": 7.5, "final": 8, "rank": 1, "missing": ""}
    >>> ranking(pd.DataFrame([row])).description
    'Dot chart of scores. p: 7.50, final 8, rank 1.'
    """
    found = _ranked(now, start, domain, most)
    return _nothing(now) if found is None else _figure(found)


class Rankings:
    """Draws `ranking` again and again, for one set of weights after another: the same pictures in less time.

    Building a chart takes almost as long as drawing it. So a chart is built once for each shape, and later only its
    rows and its description are put in place. `.chart` of its figures is a finished specification, to be drawn and
    not to be changed; `ranking` makes those that can be.
    """

    def __init__(self, *, domain: tuple[float, float] | None = None, most: int = PLANS) -> None:
        self._domain, self._most = domain, most
        self._specs: dict[_Shape, dict[str, Any]] = {}

    def draw(self, now: pd.DataFrame, start: pd.DataFrame | None = None) -> Figure:
        """What `ranking` draws of the same tables; raises what it raises."""
        found = _ranked(now, start, self._domain, self._most)
        if found is None:
            return _nothing(now)
        shape = found.shape()
        if shape not in self._specs:
            self._specs[shape] = _without_rows(spec(_figure(found).chart))
        description = _description(found.drawn)
        with unchecked():
            data = {"values": inline(found.drawn[list(USED)])["values"]}
        made = self._specs[shape] | {"data": data, "description": description}
        return Figure(_Finished(made), found.caption, found.rows, description)


def _without_rows(made: dict[str, Any]) -> dict[str, Any]:
    """The specification without the rows of the plot, which Altair keeps under a name of their own."""
    own = made["data"]["name"]
    datasets = {name: rows for name, rows in made["datasets"].items() if name != own}
    return made | {"data": {}, "datasets": datasets}


class _Finished(alt.TopLevelMixin):
    """A finished specification in the place of a chart."""

    def __init__(self, made: dict[str, Any]) -> None:
        self._made = made

    def to_dict(self, *_: Any, **__: Any) -> dict[str, Any]:
        """The specification."""
        return dict(self._made)


class _Shape(NamedTuple):
    """All that a specification depends on, but for the rows and the description."""

    rows: int
    moved: bool
    synthetic: bool
    ends: tuple[float, float]
    widths: tuple[tuple[str, int], ...]
    """The columns beside the plot, and how long the longest text of each is."""


class _Ranked(NamedTuple):
    """What is drawn and said of a ranking."""

    rows: pd.DataFrame
    drawn: pd.DataFrame
    moved: bool
    """Whether a plan's score differs from that at the start."""
    ends: tuple[float, float]
    caption: str
    synthetic: bool

    def shape(self) -> _Shape:
        """What the specification depends on."""
        widths = tuple((column, max(map(len, self.drawn[column]))) for column in _columns(self.drawn))
        return _Shape(len(self.drawn), self.moved, self.synthetic, self.ends, widths)


def _ranked(
    now: pd.DataFrame, start: pd.DataFrame | None, domain: tuple[float, float] | None, most: int
) -> _Ranked | None:
    """What to draw; None where no plan has a rank."""
    whole, synthetic = _read(now, "now"), bool(now.attrs.get("synthetic"))
    rows = whole if start is None else _with_start(whole, _read(start, "start"))
    ranked = rows.dropna(subset=["score", "rank"]).sort_values("rank", kind="stable")
    if ranked.empty:
        return None
    drawn = _rows(ranked.head(max(1, min(most, PLANS))))
    moved = start is not None and bool((ranked["score"] != ranked["start"]).any())
    said = _caption(ranked, len(drawn), len(whole), start is not None)
    caption = sentences(said, INFORMS, synthetic_is(synthetic))
    return _Ranked(rows, drawn, moved, domain or _ends(drawn), caption, synthetic)


def _nothing(now: pd.DataFrame) -> Figure:
    return empty(TITLE, "There is no plan with a score to draw.", _read(now, "now"))


def _figure(found: _Ranked) -> Figure:
    key = f"{KEY}; {STARTED}" if found.moved else KEY
    with unchecked():
        return figure(
            _drawn(found.drawn, found.moved, found.ends),
            title=TITLE,
            subtitle=subtitle(key, found.synthetic),
            caption=found.caption,
            data=found.rows,
            description=_description(found.drawn),
        )


def _read(table: pd.DataFrame, name: str) -> pd.DataFrame:
    expect(table, pd.DataFrame, name, "give what weights.apply(scores) returns")
    return checked(table, COLUMNS, name)


def _with_start(now: pd.DataFrame, start: pd.DataFrame) -> pd.DataFrame:
    """The plans with `start` and `was`, their score and rank under the starting weights."""
    if list(now["plan"]) != list(start["plan"]):
        raise InputError(Problem("start", "is not of the same plans in the same order", "apply both to one table"))
    return now.assign(start=start["score"], was=start["rank"])


def _rows(ranked: pd.DataFrame) -> pd.DataFrame:
    plans = ranked["plan"].astype(str)
    start = ranked["start"] if "start" in ranked else pd.Series(float("nan"), ranked.index)
    was = ranked["was"].map("{:,}".format) if "was" in ranked else pd.Series("", ranked.index)
    rank = ranked["rank"].map("{:,}".format)
    rows = ranked.assign(
        plan=plans,
        name=plans.map(shortened(plans, LETTERS)),
        start=start,
        told_score=ranked["score"].map("{:.2f}".format),
        told_final=ranked["final"].map("{:,}".format),
        told_rank=rank,
        told_start=start.map("{:.2f}".format).where(start.notna(), ""),
        told_was=was,
        before=was.where(was != rank, ""),
        y=[ROW * (row + 0.5) for row in range(len(ranked))],
    )
    return with_hover(rows.reset_index(drop=True), FIELDS)


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    """The least and the greatest score that is drawn."""
    every = pd.concat([rows["score"], rows["start"]])
    return float(every.min()), float(every.max())


def _drawn(rows: pd.DataFrame, moved: bool, domain: tuple[float, float]) -> alt.LayerChart:
    """The dots, what they moved by, and score and ranks in columns at the right.

    Plans stand at pixels and their names are marks: an axis of names takes a third of the time of the whole picture.
    """
    low, high = domain
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
    before = [path, ring.encode(x=at["start"], **hover(FIELDS))] if moved else []
    dot = base.mark_circle(size=90, color=BLUE, opacity=1).encode(x=at["score"], **hover(FIELDS))
    names = base.mark_text(align="right", aria=False).encode(x=x_at(-10), text=words("name"))
    layers = [*before, dot, names, *beside(rows, _columns(rows), PLOT, y)]
    return alt.LayerChart(data=inline(rows[list(USED)]), layer=layers, width=PLOT, height=ROW * len(rows))


def _columns(rows: pd.DataFrame) -> dict[str, str]:
    """The columns beside the plot, with their headings."""
    columns = {"told_score": "score", "told_final": "final", "told_rank": "rank"}
    return columns | ({"before": "was"} if rows["before"].any() else {})


def _caption(ranked: pd.DataFrame, drawn: int, n: int, started: bool) -> str:
    changed = int((ranked["rank"] != ranked["was"]).sum()) if started else 0
    ties = int(ranked["rank"].duplicated(keep=False).sum())
    left_out, without = len(ranked) - drawn, n - len(ranked)
    return sentences(
        f"Weighted sums of the scores of {count(len(ranked), 'plan')} (n), in the order of their ranks, 1 the best;"
        " final: the sum rounded half up. Exact sums, so without intervals.",
        f"The first {drawn} are drawn, {left_out:,} left out." if left_out > 0 else "",
        f"{count(changed, 'plan')} of {len(ranked):,} {'has' if changed == 1 else 'have'} another rank than under the"
        " starting weights (was)."
        if changed
        else "",
        f"{ties:,} of them share a rank with another." if ties else "",
        f"Without a rank, for a score is missing: {count(without, 'plan')}." if without else "",
    )


def _description(rows: pd.DataFrame) -> str:
    told = rows["name"] + ": " + rows["told_score"] + ", final " + rows["told_final"] + ", rank " + rows["told_rank"]
    told += ("; it was " + rows["before"]).where(rows["before"] != "", "")
    return f"Dot chart of scores. {'. '.join(told)}."
